#include "gputrace/sqlite.h"

#include <errno.h>

int pt_sqlite_open(struct pt_sqlite *s, const char *path, struct pt_err *err) {
    const void *interface;
    *s = (struct pt_sqlite){ 0 };
    int rc = pt_module_open("sqlite", PT_SQLITE_VERSION, &interface, err);
    if (rc)
        return rc;
    s->module = interface;
    s->file = s->module->open(path, err);
    return s->file ? 0 : -EBADMSG;
}

void pt_sqlite_close(struct pt_sqlite *s) {
    if (s->file)
        s->module->close(s->file);
    *s = (struct pt_sqlite){ 0 };
}

bool pt_sqlite_has_table(const struct pt_sqlite *s, const char *table) {
    return s->module->has_column(s->file, table, "");
}

bool pt_sqlite_has_column(const struct pt_sqlite *s, const char *table, const char *column) {
    return s->module->has_column(s->file, table, column);
}

int pt_sqlite_query(const struct pt_sqlite *s, const char *sql, pt_sqlite_row_function *take,
                    void *arg, struct pt_err *err) {
    return s->module->query(s->file, sql, take, arg, err);
}

int64_t pt_sqlite_integer(const struct pt_sqlite_row *row, int column, int64_t otherwise) {
    return row->module->integer(row->statement, column, otherwise);
}

struct pt_str pt_sqlite_text(const struct pt_sqlite_row *row, int column) {
    return row->module->text(row->statement, column);
}
