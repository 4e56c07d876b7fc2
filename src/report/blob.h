/* report/blob.h -- the numbers of a report: 32-bit floats, compressed, in base64.
 *
 * An array is written as four runs of bytes, the highest bytes of all values first: similar bytes
 * are adjacent, so that zlib compresses well. NAN is unknown. */
#ifndef PT_REPORT_BLOB_H
#define PT_REPORT_BLOB_H

#include "base/buf.h"
#include "base/out.h"

/* {0} is empty. */
struct pt_blob {
    struct pt_buf bytes;
};

enum pt_blob_precision {
    PT_BLOB_EXACT,   /* all 24 bits of a float */
    PT_BLOB_ROUNDED, /* 13 bits: one part in 8192, for charts */
};

/* Adds `values[0]`, `values[stride]`, ... minus `base`; returns their offset, in floats. */
size_t pt_blob_add(struct pt_blob *b, const double *values, size_t count, size_t stride,
                   double base, enum pt_blob_precision precision);

/* 0 or -errno. */
int pt_blob_write(const struct pt_blob *b, struct pt_out *out) PT_MUST_CHECK;
void pt_blob_release(struct pt_blob *b);

#endif
