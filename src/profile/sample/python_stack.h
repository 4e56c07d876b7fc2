/* profile/sample/python_stack.h -- reads the frames of a Python thread and the names of its code
 * objects from memory that changes at the same time: no number is trusted, every loop is bounded.
 * Pure except for the given memory reader. */
#ifndef PT_PROFILE_SAMPLE_PYTHON_STACK_H
#define PT_PROFILE_SAMPLE_PYTHON_STACK_H

#include "base/buf.h"
#include "inside/preload/python_frame.h"

#define PT_PYTHON_DEPTH_MAX   512
#define PT_PYTHON_THREADS_MAX 4096

/* Finds the state of a thread by its kernel thread id. 0: not a Python thread. */
uint64_t pt_python_find_thread(const struct pt_python_layout *l, const struct pt_memory_reader *m,
                               uint64_t runtime, int32_t tid);

/* Is this still the state of that thread? */
bool pt_python_is_thread(const struct pt_python_layout *l, const struct pt_memory_reader *m,
                         uint64_t thread, int32_t tid);

/* Stores the frames, leaf first, and returns their count. */
size_t pt_python_frames(const struct pt_python_layout *l, const struct pt_memory_reader *m,
                        uint64_t thread, struct pt_python_frame frames[PT_PYTHON_DEPTH_MAX]);

/* Appends characters of `width` bytes as UTF-8. */
void pt_python_add_text(struct pt_buf *into, const uint8_t *text, size_t length, size_t width);

/* Appends a str as UTF-8, or the payload of a bytes object. False: another object. */
bool pt_python_read_text(const struct pt_python_layout *l, const struct pt_memory_reader *m,
                         uint64_t object, struct pt_buf *into);
bool pt_python_read_bytes(const struct pt_memory_reader *m, uint64_t object, struct pt_buf *into);

#endif
