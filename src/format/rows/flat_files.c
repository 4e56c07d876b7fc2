#include "format/rows/flat_files.h"

#include "base/mem.h"

enum stage { WAITING, WRITING, FAILED };

struct pt_table_file {
    const struct pt_view *view;
    char *path;
    enum stage stage;
    struct pt_out out;
    struct pt_view_row row;
    void *state; /* of the format */
};

static char *path_of(const struct pt_sink_target *target, const struct pt_view *view,
                     const char *extension) {
    const char *dot = view->file[0] ? "." : "";
    return pt_asprintf("%s/%s%s%s.%s", target->directory, target->name, dot, view->file, extension);
}

/* Keeps only the first failure. */
static void note_failure(struct pt_tables *t, const struct pt_table_file *f, int error) {
    if (!t->error)
        t->error = pt_fail(&t->words, error, "cannot write %s: %s", f->path, strerror(-error));
}

static void begin(struct pt_tables *t, struct pt_table_file *f) {
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

static void write_rows(struct pt_tables *t, struct pt_table_file *f,
                       const struct pt_sample *sample) {
    uint32_t row_count = pt_view_row_count(f->view, sample);
    if (row_count > 0 && f->stage == WAITING)
        begin(t, f);
    if (f->stage != WRITING)
        return;
    for (uint32_t i = 0; i < row_count; i++) {
        pt_view_read(f->view, sample, i, &f->row);
        t->format->row(f->state, &f->row);
    }
    if (f->out.error)
        note_failure(t, f, f->out.error);
}

static void finish(struct pt_tables *t, struct pt_table_file *f) {
    if (f->stage == WRITING) {
        t->format->end(f->state);
        int rc = pt_out_close(&f->out);
        if (rc)
            note_failure(t, f, rc);
    }
    pt_view_row_release(&f->row);
    pt_free(f->state);
    pt_free(f->path);
}

int pt_tables_open(struct pt_tables *t, const struct pt_sink_type *type,
                   const struct pt_sink_target *target, struct pt_err *err) {
    const struct pt_views *views = target->views;
    t->format = type->format;
    t->files = pt_calloc(views->view_count, sizeof *t->files);
    t->file_count = views->view_count;
    for (uint32_t i = 0; i < views->view_count; i++) {
        t->files[i].view = &views->views[i];
        t->files[i].path = path_of(target, &views->views[i], type->name);
    }
    begin(t, &t->files[0]);
    return t->error ? pt_tables_close(t, err) : 0;
}

int pt_tables_write(struct pt_tables *t, const struct pt_sample *sample) {
    for (uint32_t i = 0; i < t->file_count; i++)
        write_rows(t, &t->files[i], sample);
    return t->error;
}

int pt_tables_close(struct pt_tables *t, struct pt_err *err) {
    for (uint32_t i = 0; i < t->file_count; i++)
        finish(t, &t->files[i]);
    pt_free(t->files);
    if (t->error && err)
        *err = t->words;
    return t->error;
}
