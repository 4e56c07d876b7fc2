#include "base/err.h"

#include "base/mask.h"

#include <stdarg.h>

int pt_fail(struct pt_err *err, int rc, const char *format, ...) {
    if (!err)
        return rc;
    va_list args;
    va_start(args, format);
    pt_mask_message(err->text, sizeof err->text, format, args);
    va_end(args);
    return rc;
}
