#include "gputrace/nsys.h"

#include "base/buf.h"
#include "gputrace/sqlite.h"

#include <errno.h>
#include <stdio.h>

/* Columns of the tables, each at its index in a query. */
enum {
    START,
    END,
    DEVICE,
    STREAM,
    CORRELATION,
    GLOBAL_PID,
    GLOBAL_THREAD,
    NAME, /* text */
    DETAIL,
    BYTES,
    GRID,
    BLOCK = GRID + 3,
    REGISTERS = BLOCK + 3,
    STATIC_SHARED,
    DYNAMIC_SHARED,
    COLUMN_COUNT
};

static const char *const common_columns[COLUMN_COUNT] = {
    [START] = "start",
    [END] = "end",
    [DEVICE] = "deviceId",
    [STREAM] = "streamId",
    [CORRELATION] = "correlationId",
    [GLOBAL_PID] = "globalPid",
    [GLOBAL_THREAD] = "globalTid",
    [BYTES] = "bytes",
    [GRID] = "gridX",
    [GRID + 1] = "gridY",
    [GRID + 2] = "gridZ",
    [BLOCK] = "blockX",
    [BLOCK + 1] = "blockY",
    [BLOCK + 2] = "blockZ",
    [REGISTERS] = "registersPerThread",
    [STATIC_SHARED] = "staticSharedMemory",
    [DYNAMIC_SHARED] = "dynamicSharedMemory",
};

/* CUpti_ActivityMemcpyKind */
static struct pt_str copy_name(int64_t kind) {
    static const char *const names[] = {
        [1] = "host to device",  [2] = "device to host",   [3] = "host to array",
        [4] = "array to host",   [5] = "array to array",   [6] = "array to device",
        [7] = "device to array", [8] = "device to device", [9] = "host to host",
        [10] = "device to peer",
    };
    bool is_known = kind > 0 && kind < (int64_t)PT_COUNT(names);
    return pt_str_from(is_known ? names[kind] : "other copy");
}

static struct pt_str memset_name(int64_t unused) {
    (void)unused;
    return PT_STR("memset");
}

/* CUpti_ActivitySynchronizationType */
static struct pt_str wait_name(int64_t type) {
    static const char *const names[] = { "wait", "wait for event", "stream waits for event",
                                         "wait for stream", "wait for device" };
    bool is_known = type > 0 && type < (int64_t)PT_COUNT(names);
    return pt_str_from(names[is_known ? type : 0]);
}

/* A graph of kernels, recorded as one event. */
static struct pt_str graph_name(int64_t id) {
    (void)id;
    return PT_STR("CUDA graph");
}

struct source {
    const char *table;
    enum pt_timeline_kind kind;
    /* Names are texts of StringIds, by the first of these columns that exists... */
    const char *name_ids[3];
    const char *name_text; /* ...or are in this column */
    /* ...or follow from a number. */
    const char *detail;
    struct pt_str (*name_of)(int64_t detail);
    const char *where; /* or NULL */
};

/* NVTX: 59 is a range of one thread, 60 one that any thread may end. */
static const struct source sources[] = {
    { "CUPTI_ACTIVITY_KIND_KERNEL", PT_TIMELINE_KERNEL,
      .name_ids = { "demangledName", "shortName", "mangledName" } },
    { "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", PT_TIMELINE_KERNEL, .detail = "graphId",
      .name_of = graph_name },
    { "CUPTI_ACTIVITY_KIND_MEMCPY", PT_TIMELINE_COPY, .detail = "copyKind", .name_of = copy_name },
    { "CUPTI_ACTIVITY_KIND_MEMSET", PT_TIMELINE_COPY, .detail = "value", .name_of = memset_name },
    { "CUPTI_ACTIVITY_KIND_RUNTIME", PT_TIMELINE_CALL, .name_ids = { "nameId" } },
    { "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION", PT_TIMELINE_CALL, .detail = "syncType",
      .name_of = wait_name },
    { "NVTX_EVENTS", PT_TIMELINE_RANGE, .name_ids = { "textId" }, .name_text = "text",
      .where = "eventType" },
};

struct reading {
    struct pt_timeline *timeline;
    const struct source *source;
    int64_t session_start_ns;
    size_t found; /* tables found */
};

static void put(struct pt_buf *sql, const char *text) {
    pt_buf_str(sql, pt_str_from(text));
}

/* t."gridX", or NULL if this version has no such column. */
static void put_column(const struct pt_sqlite *s, const char *table, const char *column,
                       struct pt_buf *sql) {
    bool is_there = column && pt_sqlite_has_column(s, table, column);
    put(sql, is_there ? "t.\"" : "NULL");
    if (!is_there)
        return;
    put(sql, column);
    put(sql, "\"");
}

static const char *name_id(const struct pt_sqlite *s, const struct source *source) {
    for (size_t i = 0; i < PT_COUNT(source->name_ids) && source->name_ids[i]; i++)
        if (pt_sqlite_has_column(s, source->table, source->name_ids[i]))
            return source->name_ids[i];
    return NULL;
}

static void put_query(const struct pt_sqlite *s, const struct source *source, struct pt_buf *sql) {
    const char *id = name_id(s, source);
    bool has_strings = id && pt_sqlite_has_table(s, "StringIds");
    for (int i = 0; i < COLUMN_COUNT; i++) {
        put(sql, i == 0 ? "SELECT " : ", ");
        if (i == NAME) {
            put(sql, has_strings ? "COALESCE(" : "");
            put_column(s, source->table, source->name_text, sql);
            put(sql, has_strings ? ", n.value)" : "");
        } else {
            put_column(s, source->table, i == DETAIL ? source->detail : common_columns[i], sql);
        }
    }
    put(sql, " FROM ");
    put(sql, source->table);
    put(sql, " AS t");
    if (has_strings) {
        put(sql, " LEFT JOIN StringIds AS n ON n.id = ");
        put_column(s, source->table, id, sql);
    }
    if (source->where && pt_sqlite_has_column(s, source->table, source->where)) {
        put(sql, " WHERE ");
        put_column(s, source->table, source->where, sql);
        put(sql, " IN (59, 60)");
    }
    pt_buf_u8(sql, 0);
}

static int32_t small(const struct pt_sqlite_row *row, int column) {
    int64_t value = pt_sqlite_integer(row, column, PT_TIMELINE_NONE);
    return value >= 0 && value <= INT32_MAX ? (int32_t)value : PT_TIMELINE_NONE;
}

static void set_launch(struct pt_timeline *t, struct pt_timeline_event *e,
                       const struct pt_sqlite_row *row) {
    int64_t size[3];
    for (int i = 0; i < 3; i++)
        size[i] = pt_sqlite_integer(row, GRID + i, PT_TIMELINE_NONE);
    e->grid_plus_one = pt_timeline_size_plus_one(t, size);
    for (int i = 0; i < 3; i++)
        size[i] = pt_sqlite_integer(row, BLOCK + i, PT_TIMELINE_NONE);
    e->block_plus_one = pt_timeline_size_plus_one(t, size);
    e->registers = small(row, REGISTERS);
    int32_t fixed = small(row, STATIC_SHARED), asked = small(row, DYNAMIC_SHARED);
    if (fixed >= 0 && asked >= 0 && fixed <= INT32_MAX - asked)
        e->shared_bytes = fixed + asked;
}

static bool take_row(void *arg, const struct pt_sqlite_row *row) {
    struct reading *r = arg;
    struct pt_timeline *t = r->timeline;
    struct pt_timeline_event e = pt_timeline_event_of(r->source->kind);
    int64_t start_ns = pt_sqlite_integer(row, START, -1), end_ns = pt_sqlite_integer(row, END, -1);
    if (start_ns < 0 || end_ns < start_ns ||
        __builtin_add_overflow(start_ns, r->session_start_ns, &e.start_ns)) {
        t->left_out++; /* a range open at the end has none */
        return true;
    }
    e.duration_ns = end_ns - start_ns;
    e.device = small(row, DEVICE);
    e.stream = small(row, STREAM);
    e.correlation = pt_sqlite_integer(row, CORRELATION, PT_TIMELINE_NONE);
    e.bytes = pt_sqlite_integer(row, BYTES, PT_TIMELINE_NONE);
    /* Serialised ids: 8 bits of hardware, 8 of virtual machine, 24 of process, 24 of thread. */
    int64_t thread = pt_sqlite_integer(row, GLOBAL_THREAD, 0);
    int64_t process = thread ? thread : pt_sqlite_integer(row, GLOBAL_PID, 0);
    if (process)
        e.pid = (int32_t)(process >> 24 & 0xffffff);
    if (thread)
        e.thread = (int32_t)(thread & 0xffffff);
    if (e.kind == PT_TIMELINE_KERNEL)
        set_launch(t, &e, row);
    struct pt_str name = r->source->name_of
                             ? r->source->name_of(pt_sqlite_integer(row, DETAIL, PT_TIMELINE_NONE))
                             : pt_sqlite_text(row, NAME);
    e.name = pt_names_add(&t->names, name.len > 0 ? name : PT_STR("?"));
    pt_timeline_add(t, &e);
    return true;
}

static bool take_session_start(void *arg, const struct pt_sqlite_row *row) {
    struct reading *r = arg;
    r->session_start_ns = pt_sqlite_integer(row, 0, 0);
    return false;
}

static int read_session_start(const struct pt_sqlite *s, struct reading *r, struct pt_err *err) {
    if (!pt_sqlite_has_column(s, "TARGET_INFO_SESSION_START_TIME", "utcEpochNs"))
        return 0;
    return pt_sqlite_query(s, "SELECT utcEpochNs FROM TARGET_INFO_SESSION_START_TIME",
                           take_session_start, r, err);
}

static int read_source(const struct pt_sqlite *s, struct reading *r, const struct source *source,
                       struct pt_err *err) {
    if (!pt_sqlite_has_column(s, source->table, "start") ||
        !pt_sqlite_has_column(s, source->table, "end"))
        return 0;
    struct pt_buf sql = { 0 };
    r->found++;
    r->source = source;
    put_query(s, source, &sql);
    int rc = pt_sqlite_query(s, (const char *)sql.at, take_row, r, err);
    pt_buf_release(&sql);
    return rc;
}

static int read_all(const struct pt_sqlite *s, struct reading *r, const char *path,
                    struct pt_err *err) {
    struct pt_err reason = { "" };
    int rc = read_session_start(s, r, &reason);
    for (size_t i = 0; !rc && i < PT_COUNT(sources); i++)
        rc = read_source(s, r, &sources[i], &reason);
    if (rc)
        return pt_fail(err, rc, "cannot read %s: %s", path, reason.text);
    /* Every export has one of these tables. */
    if (r->found == 0 && !pt_sqlite_has_table(s, "StringIds") &&
        !pt_sqlite_has_table(s, "META_DATA_EXPORT"))
        return pt_fail(err, -EBADMSG,
                       "%s is not a SQLite export of Nsight Systems: it has none of "
                       "its tables",
                       path);
    return 0;
}

int pt_nsys_read(struct pt_timeline *t, const char *path, struct pt_err *err) {
    struct pt_sqlite s;
    struct reading r = { .timeline = t };
    int rc = pt_sqlite_open(&s, path, err);
    if (!rc)
        rc = read_all(&s, &r, path, err);
    t->clock = r.session_start_ns > 0 ? PT_TIMELINE_WALL : PT_TIMELINE_UNKNOWN_CLOCK;
    pt_sqlite_close(&s);
    return rc;
}
