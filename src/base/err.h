/* base/err.h -- error messages for people, set where the cause is known: open(), option parsing. */
#ifndef PT_BASE_ERR_H
#define PT_BASE_ERR_H

#include "base/attr.h"

struct pt_err {
    char text[512];
};

/* Sets the text (err may be NULL), without secrets and control characters, and returns `rc`, so
 * that callers write `return pt_fail(err, -errno, "open %s: %s", path, strerror(errno));` */
int pt_fail(struct pt_err *err, int rc, const char *format, ...) PT_PRINTF(3, 4);

#endif
