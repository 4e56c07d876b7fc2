#include "libpitot/drain.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define LEVEL 1 /* traces shrink to a tenth with it, and it is four times as fast as the default */
#define GZIP  (15 + 16)

int pt_drain_memory(void *memory, const void *bytes, size_t n) {
    struct pt_text_memory *m = memory;
    if (m->length + n > m->capacity) {
        size_t capacity = m->capacity ? m->capacity : n;
        while (capacity < m->length + n)
            capacity *= 2;
        char *larger = realloc(m->at, capacity);
        if (!larger)
            return -ENOMEM;
        m->at = larger;
        m->capacity = capacity;
    }
    memcpy(m->at + m->length, bytes, n);
    m->length += n;
    return 0;
}

int pt_drain_descriptor(void *fd, const void *bytes, size_t n) {
    const char *at = bytes;
    while (n > 0) {
        ssize_t done = write(*(const int *)fd, at, n);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return done < 0 ? -errno : -EIO;
        at += done;
        n -= (size_t)done;
    }
    return 0;
}

int pt_gzip_begin(struct pt_gzip *g, int fd) {
    g->fd = fd;
    g->stream = (z_stream){ 0 };
    int rc = deflateInit2(&g->stream, LEVEL, Z_DEFLATED, GZIP, MAX_MEM_LEVEL, Z_DEFAULT_STRATEGY);
    return rc == Z_OK ? 0 : -ENOMEM;
}

/* All of the input, and with Z_FINISH also the pending output. */
static int deflate_all(struct pt_gzip *g, int flush) {
    int rc = 0;
    do {
        g->stream.next_out = g->bytes;
        g->stream.avail_out = sizeof g->bytes;
        if (deflate(&g->stream, flush) == Z_STREAM_ERROR)
            return -EIO;
        rc = pt_drain_descriptor(&g->fd, g->bytes, sizeof g->bytes - g->stream.avail_out);
    } while (!rc && g->stream.avail_out == 0);
    return rc;
}

int pt_drain_gzip(void *gzip, const void *bytes, size_t n) {
    struct pt_gzip *g = gzip;
    g->stream.next_in = (unsigned char *)(uintptr_t)bytes; /* zlib only reads it */
    g->stream.avail_in = (unsigned)n;
    return deflate_all(g, Z_NO_FLUSH);
}

int pt_gzip_end(struct pt_gzip *g, bool is_complete) {
    int rc = is_complete ? deflate_all(g, Z_FINISH) : 0;
    deflateEnd(&g->stream);
    return rc;
}
