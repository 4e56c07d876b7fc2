#include "format/rows/sink.h"

#include "base/mem.h"
#include "format/rows/flat_files.h"

/* In the order of --help. */
#define FORMATS(X) \
    X(parquet)     \
    X(csv)         \
    X(tsv)         \
    X(jsonl)       \
    X(json)        \
    X(trace)

#define DECLARE(name) extern const struct pt_sink_type pt_##name##_sink;
#define ADDRESS(name) &pt_##name##_sink,
FORMATS(DECLARE)
const struct pt_sink_type *const pt_sink_types[] = { FORMATS(ADDRESS) NULL };

const struct pt_sink_type *pt_sink_find(struct pt_str name) {
    for (const struct pt_sink_type *const *type = pt_sink_types; *type; type++)
        if (pt_str_eq(name, pt_str_from((*type)->name)))
            return *type;
    return NULL;
}

const char *pt_sink_name(size_t index) {
    return pt_sink_types[index] ? pt_sink_types[index]->name : NULL;
}

int pt_sink_open(struct pt_sink *sink, const struct pt_sink_type *type,
                 const struct pt_sink_target *target, struct pt_err *err) {
    size_t state_size = type->format ? sizeof(struct pt_tables) : type->state_size;
    *sink = (struct pt_sink){ type, pt_calloc(1, state_size) };
    int rc = type->format ? pt_tables_open(sink->state, type, target, err)
                          : type->open(sink->state, target, err);
    if (rc) {
        pt_free(sink->state);
        *sink = (struct pt_sink){ 0 };
    }
    return rc;
}

int pt_sink_write(struct pt_sink *sink, const struct pt_sample *sample) {
    return sink->type->format ? pt_tables_write(sink->state, sample)
                              : sink->type->write(sink->state, sample);
}

int pt_sink_close(struct pt_sink *sink, struct pt_err *err) {
    if (!sink->type)
        return 0;
    int rc = sink->type->format ? pt_tables_close(sink->state, err)
                                : sink->type->close(sink->state, err);
    pt_free(sink->state);
    *sink = (struct pt_sink){ 0 };
    return rc;
}
