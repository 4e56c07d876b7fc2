/* The module "sqlite": the only code that uses libsqlite3. */
#include "gputrace/sqlite.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>

/* Limit on the size of a value in a foreign file. */
#define VALUE_MAX_BYTES (1 << 20)

static void *open_file(const char *path, struct pt_err *err) {
    sqlite3 *db = NULL;
    int rc = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL);
    if (rc == SQLITE_OK) {
        sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
        sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
        sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
        sqlite3_limit(db, SQLITE_LIMIT_LENGTH, VALUE_MAX_BYTES);
        sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
        /* a confined process creates no files */
        rc = sqlite3_exec(db, "PRAGMA temp_store = MEMORY; SELECT count(*) FROM sqlite_master",
                          NULL, NULL, NULL);
    }
    if (rc == SQLITE_OK)
        return db;
    pt_fail(err, -EBADMSG, "cannot read %s: %s", path,
            db ? sqlite3_errmsg(db) : sqlite3_errstr(rc));
    sqlite3_close(db);
    return NULL;
}

static void close_file(void *file) {
    sqlite3_close(file);
}

static bool has_column(void *file, const char *table, const char *column) {
    return sqlite3_table_column_metadata(file, NULL, table, *column ? column : NULL, NULL, NULL,
                                         NULL, NULL, NULL) == SQLITE_OK;
}

static const struct pt_sqlite_interface interface;

static int query(void *file, const char *sql, pt_sqlite_row_function *take, void *arg,
                 struct pt_err *err) {
    sqlite3_stmt *statement = NULL;
    int rc = sqlite3_prepare_v2(file, sql, -1, &statement, NULL);
    struct pt_sqlite_row row = { &interface, statement };
    bool goes_on = true;
    while (rc == SQLITE_OK && goes_on) {
        int step = sqlite3_step(statement);
        if (step == SQLITE_ROW)
            goes_on = take(arg, &row);
        else if (step == SQLITE_DONE)
            goes_on = false;
        else
            rc = step;
    }
    if (rc != SQLITE_OK)
        pt_fail(err, -EBADMSG, "%s", sqlite3_errmsg(file));
    sqlite3_finalize(statement);
    return rc == SQLITE_OK ? 0 : -EBADMSG;
}

static int64_t integer(void *statement, int column, int64_t otherwise) {
    return sqlite3_column_type(statement, column) == SQLITE_INTEGER
               ? sqlite3_column_int64(statement, column)
               : otherwise;
}

static struct pt_str text(void *statement, int column) {
    if (sqlite3_column_type(statement, column) != SQLITE_TEXT)
        return PT_STR("");
    const char *at = (const char *)sqlite3_column_text(statement, column);
    return at ? (struct pt_str){ at, (size_t)sqlite3_column_bytes(statement, column) } : PT_STR("");
}

static const struct pt_sqlite_interface interface = {
    .open = open_file,
    .close = close_file,
    .has_column = has_column,
    .query = query,
    .integer = integer,
    .text = text,
};

PT_MODULE(PT_SQLITE_VERSION, &interface, "libsqlite", sqlite3_libversion);
