/* format/metrics/remote_write.h -- Prometheus remote-write requests, before compression.
 *
 * Written as io.prometheus.write.v2.Request (2.0): each text is stored once in a symbol table. For
 * a receiver that supports only 1.0 the bytes are converted to prometheus.WriteRequest. */
#ifndef PT_FORMAT_METRICS_REMOTE_WRITE_H
#define PT_FORMAT_METRICS_REMOTE_WRITE_H

#include "base/buf.h"
#include "base/intern.h"
#include "format/metrics/point.h"

#define PT_RW_LABEL_MAX 1024 /* bytes of a value; longer ones are omitted */

struct pt_rw_series {
    struct pt_str labels; /* clean, sorted by name, including __name__ */
    enum pt_family_kind kind;
    struct pt_str help, unit;
    const struct pt_point *points;
    size_t point_count;
};

/* {0} is valid; keeps its memory from request to request. */
struct pt_rw_writer {
    struct pt_intern index;
    struct pt_buf texts; /* of the symbols */
    struct pt_rw_symbol *symbols;
    size_t symbol_count, symbol_capacity;
    uint32_t *refs; /* of all series: name, value, name, value, ... */
    size_t ref_count, ref_capacity;
    struct pt_rw_refs *series; /* where the labels of each series start */
    size_t series_capacity;
};

void pt_rw_writer_release(struct pt_rw_writer *w);

/* Appends a request to `into`. */
void pt_rw_write(struct pt_rw_writer *w, const struct pt_rw_series *series, size_t count,
                 struct pt_buf *into);

/* Appends a 2.0 request as 1.0. 0 or -EBADMSG. */
int pt_rw_downgrade(struct pt_str request, bool has_metadata, struct pt_buf *into) PT_MUST_CHECK;

#endif
