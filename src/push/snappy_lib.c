/* The module "snappy": push/snappy.h on libsnappy. */
#include "push/snappy.h"

#include <errno.h>
#include <snappy-c.h>

static void compress(struct pt_str bytes, struct pt_buf *into) {
    size_t n = snappy_max_compressed_length(bytes.len);
    char *at = (char *)pt_buf_reserve(into, n);
    if (snappy_compress(bytes.at, bytes.len, at, &n) == SNAPPY_OK)
        into->len += n; /* cannot fail: the buffer is large enough */
}

static int uncompress(struct pt_str bytes, size_t most, struct pt_buf *into) {
    size_t n;
    if (snappy_uncompressed_length(bytes.at, bytes.len, &n) != SNAPPY_OK || n > most)
        return -EBADMSG;
    char *at = (char *)pt_buf_reserve(into, n);
    if (snappy_uncompress(bytes.at, bytes.len, at, &n) != SNAPPY_OK)
        return -EBADMSG;
    into->len += n;
    return 0;
}

static const struct pt_snappy_interface interface = { compress, uncompress };

PT_MODULE(PT_SNAPPY_VERSION, &interface, "libsnappy", NULL);
