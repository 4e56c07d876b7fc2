/* push/snappy.h -- snappy's block format, which remote write requires. Uses libsnappy, in a module
 * that is loaded with the first remote-write receiver. */
#ifndef PT_PUSH_SNAPPY_H
#define PT_PUSH_SNAPPY_H

#include "base/buf.h"
#include "base/module.h"

/* What the module "snappy" exports. Both append to `into`; -EBADMSG if the bytes are not snappy or
 * would expand to more than `most`. */
#define PT_SNAPPY_VERSION 1

struct pt_snappy_interface {
    void (*compress)(struct pt_str bytes, struct pt_buf *into);
    int (*uncompress)(struct pt_str bytes, size_t most, struct pt_buf *into);
};

/* Loads the module for good. 0 or -errno with a message. */
int pt_snappy_open(const struct pt_snappy_interface **snappy, struct pt_err *err) PT_MUST_CHECK;

#endif
