/* profile/sample/python_gil.h -- the lock of a Python interpreter, read while the program runs on:
 * does a thread hold it, and do others wait for it. Pure but for the reader that is given.
 *
 * Python only notes a wish for the lock after 5 ms, and takes the note away as soon as the lock is
 * given up. Who waits sleeps on a condition of the C library, which counts its sleepers. */
#ifndef PT_PROFILE_SAMPLE_PYTHON_GIL_H
#define PT_PROFILE_SAMPLE_PYTHON_GIL_H

#include "inside/preload/python_frame.h"
#include "profile/model/profile.h"

/* Which forms of the condition it cannot be, by all that was read; {0} at first. */
struct pt_gil_form {
    uint8_t excluded;
};

/* Its address, by the state of a thread. 0: it is not known. */
uint64_t pt_python_find_gil(const struct pt_python_layout *l, const struct pt_memory_reader *m,
                            uint64_t runtime, uint64_t thread);

/* PT_GIL_* of the thread; 0: it cannot be told. */
uint32_t pt_python_read_gil(const struct pt_python_layout *l, const struct pt_memory_reader *m,
                            uint64_t gil, uint64_t thread, struct pt_gil_form *form);

#endif
