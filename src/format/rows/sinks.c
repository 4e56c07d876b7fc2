#include "format/rows/sink.h"

#include "base/mem.h"

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

/* A flat format has one file per view:
 *
 *     <directory>/<name>.csv               the main view; exists even without rows
 *     <directory>/<name>.containers.csv    other views, from their first row on
 *
 * A file that fails is dropped and named at close; the others continue. */
enum stage { WAITING, WRITING, FAILED, COMPLETE };

struct flat_file {
    const struct pt_view *view;
    char *path;
    enum stage stage;
    struct pt_out out;
    struct pt_view_row row;
    void *state; /* of the format */
};

struct flat_files {
    const struct pt_table_format *format;
    struct flat_file *files; /* one per view */
    uint32_t file_count;
    int error; /* 0 or the first error: */
    struct pt_err words;
};

/* Keeps only the first failure. */
static void note_failure(struct flat_files *t, const struct flat_file *f, int error) {
    if (!t->error)
        t->error = pt_fail(&t->words, error, "cannot write %s: %s", f->path, strerror(-error));
}

static void begin_file(struct flat_files *t, struct flat_file *f) {
    f->stage = FAILED;
    int rc = pt_out_create(&f->out, f->path, NULL);
    if (rc) {
        note_failure(t, f, rc);
        return;
    }
    f->state = pt_calloc(1, t->format->state_size);
    rc = t->format->begin(f->state, f->view, &f->out);
    if (rc) {
        note_failure(t, f, rc);
        pt_out_discard(&f->out);
        return;
    }
    pt_view_row_init(&f->row, f->view);
    f->stage = WRITING;
}

/* What the files of a sink hold together is bounded: the largest gives way. */
#define SINK_MEMORY (5u << 19)

static void limit_memory(struct flat_files *t) {
    size_t bytes = 0, most = 0;
    struct flat_file *largest = NULL;
    for (uint32_t i = 0; t->format->memory && i < t->file_count; i++) {
        struct flat_file *f = &t->files[i];
        size_t held = f->stage == WRITING ? t->format->memory(f->state) : 0;
        bytes += held;
        if (held > most) {
            most = held;
            largest = f;
        }
    }
    if (bytes > SINK_MEMORY)
        t->format->shrink(largest->state);
}

static int write_files(struct flat_files *t, const struct pt_sample *sample) {
    for (uint32_t i = 0; i < t->file_count; i++) {
        struct flat_file *f = &t->files[i];
        uint32_t row_count = pt_view_row_count(f->view, sample);
        if (row_count > 0 && f->stage == WAITING)
            begin_file(t, f);
        if (f->stage != WRITING)
            continue;
        for (uint32_t row = 0; row < row_count; row++) {
            pt_view_read(f->view, sample, row, &f->row);
            t->format->row(f->state, &f->row);
        }
        if (f->out.error)
            note_failure(t, f, f->out.error);
    }
    limit_memory(t);
    return t->error;
}

static void complete_file(struct flat_files *t, struct flat_file *f) {
    if (f->stage == WRITING) {
        t->format->end(f->state);
        int rc = pt_out_close(&f->out);
        if (rc)
            note_failure(t, f, rc);
        f->stage = COMPLETE;
    }
}

static int close_files(struct flat_files *t, struct pt_err *err) {
    for (uint32_t i = 0; i < t->file_count; i++) {
        struct flat_file *f = &t->files[i];
        complete_file(t, f);
        pt_view_row_release(&f->row);
        pt_free(f->state);
        pt_free(f->path);
    }
    pt_free(t->files);
    if (t->error && err)
        *err = t->words;
    return t->error;
}

static int open_files(struct flat_files *t, const struct pt_sink_type *type,
                      const struct pt_sink_target *target, struct pt_err *err) {
    const struct pt_views *views = target->views;
    t->format = type->format;
    t->files = pt_calloc(views->view_count, sizeof *t->files);
    t->file_count = views->view_count;
    for (uint32_t i = 0; i < views->view_count; i++) {
        const struct pt_view *view = &views->views[i];
        t->files[i].view = view;
        t->files[i].path = pt_asprintf("%s/%s%s%s.%s", target->directory, target->name,
                                       view->file[0] ? "." : "", view->file, type->name);
    }
    begin_file(t, &t->files[0]);
    return t->error ? close_files(t, err) : 0;
}

int pt_sink_open(struct pt_sink *sink, const struct pt_sink_type *type,
                 const struct pt_sink_target *target, struct pt_err *err) {
    size_t state_size = type->format ? sizeof(struct flat_files) : type->state_size;
    *sink = (struct pt_sink){ type, pt_calloc(1, state_size) };
    int rc = type->format ? open_files(sink->state, type, target, err)
                          : type->open(sink->state, target, err);
    if (rc) {
        pt_free(sink->state);
        *sink = (struct pt_sink){ 0 };
    }
    return rc;
}

int pt_sink_write(struct pt_sink *sink, const struct pt_sample *sample) {
    return sink->type->format ? write_files(sink->state, sample)
                              : sink->type->write(sink->state, sample);
}

void pt_sink_complete_others(struct pt_sink *sink, uint32_t table) {
    struct flat_files *t = sink->type->format ? sink->state : NULL;
    for (uint32_t i = 0; t && i < t->file_count; i++)
        if (t->files[i].view->table != table)
            complete_file(t, &t->files[i]);
}

int pt_sink_close(struct pt_sink *sink, struct pt_err *err) {
    if (!sink->type)
        return 0;
    int rc =
        sink->type->format ? close_files(sink->state, err) : sink->type->close(sink->state, err);
    pt_free(sink->state);
    *sink = (struct pt_sink){ 0 };
    return rc;
}
