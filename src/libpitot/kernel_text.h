/* libpitot/kernel_text.h -- files of the kernel, read inside other people's programs.
 *
 * Opened for each read: a kept descriptor of /proc/self is the parent's after fork(), and programs
 * close descriptors that they do not know. Memory that is missing is an error, not the end. */
#ifndef PT_LIBPITOT_KERNEL_TEXT_H
#define PT_LIBPITOT_KERNEL_TEXT_H

#include "base/attr.h"
#include "base/scan.h"

/* {0} is empty. */
struct pt_kernel_text {
    char *at;
    size_t capacity;
};

/* The whole file, or what of it fits `limit` bytes; `text` borrows the buffer until its next use.
 * 0 or -errno. */
int pt_kernel_text_read(struct pt_kernel_text *t, const char *path, size_t limit,
                        struct pt_scan *text) PT_MUST_CHECK;
void pt_kernel_text_release(struct pt_kernel_text *t);

/* "VmRSS:     1234 kB" of a text for the key "VmRSS:"; false: there is no such line. */
bool pt_kernel_text_find(struct pt_scan text, struct pt_str key, int64_t *value);

#endif
