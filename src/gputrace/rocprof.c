#include "gputrace/rocprof.h"

#include "base/buf.h"
#include "base/scan.h"

#include <ctype.h>
#include <errno.h>

enum {
    AGENT,
    SOURCE_AGENT,
    TARGET_AGENT,
    QUEUE,
    STREAM,
    PROCESS,
    THREAD,
    CORRELATION,
    START,
    END,
    KERNEL_NAME,
    DIRECTION,
    FUNCTION,
    DOMAIN,
    GRID,
    BLOCK = GRID + 3,
    LDS = BLOCK + 3,
    REGISTERS,
    COLUMN_COUNT
};

static const char *const column_names[COLUMN_COUNT] = {
    [AGENT] = "Agent_Id",
    [SOURCE_AGENT] = "Source_Agent_Id",
    [TARGET_AGENT] = "Destination_Agent_Id",
    [QUEUE] = "Queue_Id",
    [STREAM] = "Stream_Id",
    [PROCESS] = "Process_Id",
    [THREAD] = "Thread_Id",
    [CORRELATION] = "Correlation_Id",
    [START] = "Start_Timestamp",
    [END] = "End_Timestamp",
    [KERNEL_NAME] = "Kernel_Name",
    [DIRECTION] = "Direction",
    [FUNCTION] = "Function",
    [DOMAIN] = "Domain",
    [GRID] = "Grid_Size_X",
    [GRID + 1] = "Grid_Size_Y",
    [GRID + 2] = "Grid_Size_Z",
    [BLOCK] = "Workgroup_Size_X",
    [BLOCK + 1] = "Workgroup_Size_Y",
    [BLOCK + 2] = "Workgroup_Size_Z",
    [LDS] = "LDS_Block_Size",
    [REGISTERS] = "VGPR_Count",
};

#define FIELDS_MAX 64

/* The fields of one line, without quotes. */
struct line {
    struct pt_buf text; /* of all fields, concatenated */
    size_t starts[FIELDS_MAX + 1];
    int count;
};

struct file {
    struct pt_timeline *timeline;
    int columns[COLUMN_COUNT]; /* of the columns; -1: none */
    struct line line;
};

static struct pt_str field(const struct line *l, int place) {
    if (place < 0 || place >= l->count || l->starts[place] == l->starts[place + 1])
        return PT_STR("");
    return (struct pt_str){ (const char *)l->text.at + l->starts[place],
                            l->starts[place + 1] - l->starts[place] };
}

/* Quoted text may contain commas and line ends; two quotes are one. */
static bool take_quoted(struct pt_scan *s, struct pt_buf *into) {
    s->at++;
    while (s->at < s->end) {
        const char *quote = memchr(s->at, '"', (size_t)(s->end - s->at));
        if (!quote)
            return false;
        pt_buf_bytes(into, s->at, (size_t)(quote - s->at));
        s->at = quote + 1;
        if (s->at == s->end || *s->at != '"')
            return true;
        pt_buf_u8(into, '"');
        s->at++;
    }
    return false;
}

static bool take_field(struct pt_scan *s, struct pt_buf *into) {
    if (s->at < s->end && *s->at == '"')
        return take_quoted(s, into);
    const char *start = s->at;
    while (s->at < s->end && *s->at != ',' && *s->at != '\n' && *s->at != '\r')
        s->at++;
    pt_buf_bytes(into, start, (size_t)(s->at - start));
    return true;
}

/* False at the end of the text, or if it is not CSV (`s->failed`). */
static bool take_line(struct pt_scan *s, struct line *l) {
    pt_buf_clear(&l->text);
    l->count = 0;
    if (s->at >= s->end)
        return false;
    while (l->count < FIELDS_MAX && take_field(s, &l->text)) {
        l->starts[++l->count] = l->text.len;
        if (s->at >= s->end || *s->at != ',')
            break;
        s->at++;
    }
    if (s->at < s->end && *s->at == '\r')
        s->at++;
    s->failed |= s->at < s->end && *s->at != '\n';
    s->at += s->at < s->end;
    return !s->failed;
}

static struct pt_str value(const struct file *f, int column) {
    return field(&f->line, f->columns[column]);
}

/* 4, or "Agent 4". */
static int64_t number(const struct file *f, int column) {
    struct pt_scan s = pt_scan_of(value(f, column));
    (void)pt_scan_take(&s, PT_STR("Agent "));
    uint64_t n = pt_scan_u64(&s);
    return s.failed || n > INT64_MAX ? PT_TIMELINE_NONE : (int64_t)n;
}

static int32_t small(const struct file *f, int column) {
    int64_t n = number(f, column);
    return n <= INT32_MAX ? (int32_t)n : PT_TIMELINE_NONE;
}

/* MEMORY_COPY_HOST_TO_DEVICE: host to device. */
static uint32_t direction_name(struct pt_timeline *t, struct pt_str direction) {
    char text[64];
    struct pt_str prefix = PT_STR("MEMORY_COPY_");
    if (pt_str_starts(direction, prefix))
        direction = pt_str_skip(direction, prefix.len);
    pt_str_copy(text, sizeof text, direction);
    for (char *p = text; *p; p++)
        *p = *p == '_' ? ' ' : (char)tolower((unsigned char)*p);
    return pt_names_add(&t->names, pt_str_from(text));
}

static void set_copy(const struct file *f, struct pt_timeline_event *e) {
    struct pt_str direction = value(f, DIRECTION);
    bool is_to_device = pt_str_ends(direction, PT_STR("HOST_TO_DEVICE"));
    e->name = direction_name(f->timeline, direction);
    e->device = small(f, is_to_device ? TARGET_AGENT : SOURCE_AGENT);
}

static void set_kernel(const struct file *f, struct pt_timeline_event *e) {
    int64_t grid[3], block[3];
    for (int i = 0; i < 3; i++) {
        grid[i] = number(f, GRID + i);
        block[i] = number(f, BLOCK + i);
    }
    e->name = pt_names_add(&f->timeline->names, value(f, KERNEL_NAME));
    e->device = small(f, AGENT);
    e->grid_plus_one = pt_timeline_size_plus_one(f->timeline, grid);
    e->block_plus_one = pt_timeline_size_plus_one(f->timeline, block);
    e->shared_bytes = small(f, LDS);
    e->registers = small(f, REGISTERS);
}

static enum pt_timeline_kind kind_of(const struct file *f) {
    if (f->columns[KERNEL_NAME] >= 0)
        return PT_TIMELINE_KERNEL;
    if (f->columns[DIRECTION] >= 0)
        return PT_TIMELINE_COPY;
    return pt_str_starts(value(f, DOMAIN), PT_STR("MARKER")) ? PT_TIMELINE_RANGE : PT_TIMELINE_CALL;
}

static void add_event(struct file *f) {
    struct pt_timeline_event e = pt_timeline_event_of(kind_of(f));
    int64_t end_ns = number(f, END);
    e.start_ns = number(f, START);
    e.duration_ns = end_ns - e.start_ns;
    if (e.start_ns < 0 || end_ns < e.start_ns) {
        f->timeline->left_out++;
        return;
    }
    e.pid = small(f, PROCESS);
    e.thread = small(f, THREAD);
    e.stream = small(f, f->columns[STREAM] >= 0 ? STREAM : QUEUE);
    e.correlation = number(f, CORRELATION);
    if (e.kind == PT_TIMELINE_KERNEL)
        set_kernel(f, &e);
    else if (e.kind == PT_TIMELINE_COPY)
        set_copy(f, &e);
    else
        e.name = pt_names_add(&f->timeline->names, value(f, FUNCTION));
    pt_timeline_add(f->timeline, &e);
}

int pt_rocprof_read(struct pt_timeline *t, struct pt_str text) {
    struct pt_scan s = pt_scan_of(text);
    struct file f = { .timeline = t };
    bool has_header = take_line(&s, &f.line);
    for (int c = 0; c < COLUMN_COUNT; c++) {
        f.columns[c] = -1;
        for (int i = 0; i < f.line.count; i++)
            if (pt_str_eq(field(&f.line, i), pt_str_from(column_names[c])))
                f.columns[c] = i;
    }
    bool is_known =
        has_header && f.columns[START] >= 0 && f.columns[END] >= 0 &&
        (f.columns[KERNEL_NAME] >= 0 || f.columns[DIRECTION] >= 0 || f.columns[FUNCTION] >= 0);
    while (is_known && take_line(&s, &f.line))
        if (f.line.text.len > 0)
            add_event(&f);
    pt_buf_release(&f.line.text);
    t->clock = PT_TIMELINE_BOOTTIME;
    return is_known && !s.failed ? 0 : -EBADMSG;
}
