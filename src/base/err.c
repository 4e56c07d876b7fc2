#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

int pt_fail(struct pt_err *err, int rc, const char *format, ...) {
    if (!err)
        return rc;
    va_list args;
    va_start(args, format);
    vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    return rc;
}
