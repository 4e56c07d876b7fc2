/* libpitot/kernel_text.h -- kernel files, read inside other people's programs.
 *
 * Opened for each read: a kept descriptor of /proc/self is the parent's after fork(), and programs
 * close descriptors that they do not know. Lack of memory is an error and does not abort. */
#ifndef PT_LIBPITOT_KERNEL_TEXT_H
#define PT_LIBPITOT_KERNEL_TEXT_H

#include "base/attr.h"
#include "base/scan.h"

/* {0} is empty. */
struct pt_kernel_text {
    char *at;
    size_t capacity;
};

/* The whole file, or the part that fits in `limit` bytes; `text` borrows the buffer until its next
 * use. 0 or -errno. */
int pt_kernel_text_read(struct pt_kernel_text *t, const char *path, size_t limit,
                        struct pt_scan *text) PT_MUST_CHECK;
void pt_kernel_text_release(struct pt_kernel_text *t);

/* The value of "VmRSS:     1234 kB" for the key "VmRSS:"; false: there is no such line. */
bool pt_kernel_text_find(struct pt_scan text, struct pt_str key, int64_t *value);

#endif
