/* profile/sample/python_gil.h -- reads the lock of a Python interpreter while the program runs:
 * does a thread hold it, and do others wait for it. Pure except for the given memory reader.
 *
 * Python records a request for the lock only after 5 ms, and removes it as soon as the lock is
 * released. But waiting threads sleep on a condition variable of the C library, which counts its
 * waiters. */
#ifndef PT_PROFILE_SAMPLE_PYTHON_GIL_H
#define PT_PROFILE_SAMPLE_PYTHON_GIL_H

#include "inside/preload/python_frame.h"
#include "profile/model/profile.h"

/* Versions of the condition variable that are excluded by what was read so far; {0} at first. */
struct pt_gil_form {
    uint8_t excluded;
};

/* The address of the lock, from the state of a thread. 0: unknown. */
uint64_t pt_python_find_gil(const struct pt_python_layout *l, const struct pt_memory_reader *m,
                            uint64_t runtime, uint64_t thread);

/* PT_GIL_* of the thread; 0: unknown. */
uint32_t pt_python_read_gil(const struct pt_python_layout *l, const struct pt_memory_reader *m,
                            uint64_t gil, uint64_t thread, struct pt_gil_form *form);

#endif
