/* libpitot/drain.h -- destinations of an output inside the program: memory, a file, a gzip file.
 *
 *     struct pt_text_memory m = { 0 };
 *     pt_out_through(&out, buffer, pt_drain_memory, &m);
 *
 * Lack of memory and of disk space are errors that stick to the output. */
#ifndef PT_LIBPITOT_DRAIN_H
#define PT_LIBPITOT_DRAIN_H

#include "base/out.h"

#include <zlib.h>

/* Plain malloc(): the caller of the library frees it. */
struct pt_text_memory {
    char *at;
    size_t length, capacity;
};
int pt_drain_memory(void *memory, const void *bytes, size_t n);

/* The argument is a pointer to the descriptor. */
int pt_drain_descriptor(void *fd, const void *bytes, size_t n);

/* gzip, into a descriptor. */
struct pt_gzip {
    int fd;
    z_stream stream;
    unsigned char bytes[32768];
};
int pt_gzip_begin(struct pt_gzip *g, int fd) PT_MUST_CHECK;
int pt_drain_gzip(void *gzip, const void *bytes, size_t n);
/* Writes the pending output if `is_complete`, and releases. */
int pt_gzip_end(struct pt_gzip *g, bool is_complete) PT_MUST_CHECK;

#endif
