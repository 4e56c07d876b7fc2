/* gputrace/sqlite.h -- reads a SQLite file of another program. Uses libsqlite3, in the module
 * "sqlite", which is loaded when the first file is opened. Files are opened read-only; their
 * definitions (views, triggers) are not trusted. */
#ifndef PT_GPUTRACE_SQLITE_H
#define PT_GPUTRACE_SQLITE_H

#include "base/module.h"
#include "base/str.h"

#include <stdbool.h>

/* A row of a result, valid during the callback. */
struct pt_sqlite_row {
    const struct pt_sqlite_interface *module;
    void *statement;
};

/* False ends the query. */
typedef bool pt_sqlite_row_function(void *arg, const struct pt_sqlite_row *row);

/* What the module exports. */
#define PT_SQLITE_VERSION 1

struct pt_sqlite_interface {
    void *(*open)(const char *path, struct pt_err *err); /* NULL: error, with a message */
    void (*close)(void *file);
    bool (*has_column)(void *file, const char *table, const char *column); /* "": the table */
    int (*query)(void *file, const char *sql, pt_sqlite_row_function *take, void *arg,
                 struct pt_err *err);
    /* The value of a column; `otherwise`, or an empty text, if it is null or has another type. */
    int64_t (*integer)(void *statement, int column, int64_t otherwise);
    struct pt_str (*text)(void *statement, int column);
};

struct pt_sqlite {
    const struct pt_sqlite_interface *module;
    void *file;
};

/* 0 or -errno with a message. */
int pt_sqlite_open(struct pt_sqlite *s, const char *path, struct pt_err *err) PT_MUST_CHECK;
void pt_sqlite_close(struct pt_sqlite *s);
bool pt_sqlite_has_table(const struct pt_sqlite *s, const char *table);
bool pt_sqlite_has_column(const struct pt_sqlite *s, const char *table, const char *column);
int pt_sqlite_query(const struct pt_sqlite *s, const char *sql, pt_sqlite_row_function *take,
                    void *arg, struct pt_err *err) PT_MUST_CHECK;
int64_t pt_sqlite_integer(const struct pt_sqlite_row *row, int column, int64_t otherwise);
struct pt_str pt_sqlite_text(const struct pt_sqlite_row *row, int column);

#endif
