#include "gputrace/torch.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/json_walk.h"
#include "base/scan.h"

#include <errno.h>
#include <strings.h>

/* Absolute times are after the year 2001, relative ones below 31 years. */
#define ABSOLUTE_NS (1000000000 * PT_NS_PER_SECOND)

/* Fields of an event; `number` is stored in one of its members. */
enum field {
    OTHER,
    PHASE,
    CATEGORY,
    NAME,
    PID,
    THREAD,
    START,
    DURATION,
    DEVICE,
    STREAM,
    CORRELATION,
    BYTES,
    REGISTERS,
    SHARED,
    GRID,
    BLOCK = GRID + 3,
    FIELD_COUNT = BLOCK + 3
};

static const struct {
    const char *path;
    int field;
} fields[] = {
    { "ph", PHASE },
    { "cat", CATEGORY },
    { "name", NAME },
    { "pid", PID },
    { "tid", THREAD },
    { "ts", START },
    { "dur", DURATION },
    { "args.device", DEVICE },
    { "args.stream", STREAM },
    { "args.correlation", CORRELATION },
    { "args.bytes", BYTES },
    { "args.registers per thread", REGISTERS },
    { "args.shared memory", SHARED },
    { "args.grid.0", GRID },
    { "args.grid.1", GRID + 1 },
    { "args.grid.2", GRID + 2 },
    { "args.block.0", BLOCK },
    { "args.block.1", BLOCK + 1 },
    { "args.block.2", BLOCK + 2 },
};

/* Categories of Kineto, current and old; and processes of the older profiler. Others (arrows,
 * copies of ranges on the device) are not events. */
static const struct {
    const char *word;
    enum pt_timeline_kind kind;
} categories[] = {
    { "kernel", PT_TIMELINE_KERNEL },         { "CUDA functions", PT_TIMELINE_KERNEL },
    { "gpu_memcpy", PT_TIMELINE_COPY },       { "memcpy", PT_TIMELINE_COPY },
    { "gpu_memset", PT_TIMELINE_COPY },       { "memset", PT_TIMELINE_COPY },
    { "cuda_runtime", PT_TIMELINE_CALL },     { "cuda_driver", PT_TIMELINE_CALL },
    { "runtime", PT_TIMELINE_CALL },          { "hip_runtime", PT_TIMELINE_CALL },
    { "cpu_op", PT_TIMELINE_RANGE },          { "operator", PT_TIMELINE_RANGE },
    { "user_annotation", PT_TIMELINE_RANGE }, { "CPU functions", PT_TIMELINE_RANGE },
};

struct trace {
    struct pt_timeline *timeline;
    struct {
        size_t at, len;
    } values[FIELD_COUNT]; /* of the event being read, in `text` */
    struct pt_buf text;
    uint64_t index; /* number of the event */
    bool has_event, is_trace;
    int64_t base_ns; /* baseTimeNanoseconds; PT_TIMELINE_NONE: absent */
    bool has_clock;
    int64_t clock_shift_ns; /* from times of the file to CLOCK_MONOTONIC */
    int32_t pid;            /* the process that it belongs to */
    size_t first;           /* index of the first event that this file added */
};

/* Empty: the event has no such field. */
static struct pt_str value_of(const struct trace *t, int field) {
    size_t at = t->values[field].at, len = t->values[field].len;
    return len > 0 ? (struct pt_str){ (const char *)t->text.at + at, len } : PT_STR("");
}

/* 12.5 -> 12500; false if it is not such a number. */
static bool microseconds(struct pt_str text, int64_t *ns) {
    struct pt_scan s = pt_scan_of(text);
    int64_t whole = pt_scan_i64(&s), rest = 0;
    bool has_point = pt_scan_take(&s, PT_STR("."));
    for (int64_t unit = 100; has_point && s.at < s.end && *s.at >= '0' && *s.at <= '9'; unit /= 10)
        rest += (*s.at++ - '0') * unit;
    return !s.failed && s.at == s.end && !__builtin_mul_overflow(whole, 1000, ns) &&
           !__builtin_add_overflow(*ns, whole < 0 ? -rest : rest, ns);
}

static int64_t number(struct pt_str text) {
    struct pt_scan s = pt_scan_of(text);
    int64_t value = pt_scan_i64(&s);
    return s.failed || value < 0 ? PT_TIMELINE_NONE : value;
}

static int32_t small(struct pt_str text) {
    int64_t value = number(text);
    return value <= INT32_MAX ? (int32_t)value : PT_TIMELINE_NONE;
}

static bool find_kind(struct pt_str word, enum pt_timeline_kind *kind) {
    for (size_t i = 0; i < PT_COUNT(categories); i++)
        if (word.len == strlen(categories[i].word) &&
            strncasecmp(word.at, categories[i].word, word.len) == 0) {
            *kind = categories[i].kind;
            return true;
        }
    return false;
}

static uint32_t size_of(struct trace *t, int first) {
    int64_t size[3];
    for (int i = 0; i < 3; i++)
        size[i] = number(value_of(t, first + i));
    return pt_timeline_size_plus_one(t->timeline, size);
}

static void set_place(const struct trace *t, struct pt_timeline_event *e) {
    bool is_old = value_of(t, CATEGORY).len == 0;
    bool is_device = e->kind == PT_TIMELINE_KERNEL || e->kind == PT_TIMELINE_COPY;
    if (!is_device) {
        e->pid = is_old ? PT_TIMELINE_NONE : small(value_of(t, PID));
        e->thread = small(value_of(t, THREAD));
        return;
    }
    e->device = small(value_of(t, is_old ? THREAD : DEVICE));
    e->stream = small(value_of(t, STREAM));
}

/* A range of Pitot's hook has the time in its name. */
static bool take_clock(struct trace *t, struct pt_str name, int64_t start_ns) {
    struct pt_scan s = pt_scan_of(name);
    if (!pt_scan_take(&s, PT_STR(PT_TORCH_CLOCK)))
        return false;
    int64_t mono_ns = pt_scan_i64(&s);
    t->has_clock |= !s.failed && !__builtin_sub_overflow(mono_ns, start_ns, &t->clock_shift_ns);
    pt_scan_blanks(&s);
    t->pid = small(pt_scan_rest(&s));
    return true;
}

static void add_event(struct trace *t) {
    struct pt_str category = value_of(t, t->values[CATEGORY].len > 0 ? CATEGORY : PID);
    struct pt_timeline_event e;
    enum pt_timeline_kind kind;
    if (!t->has_event || !pt_str_eq(value_of(t, PHASE), PT_STR("X")) || !find_kind(category, &kind))
        return;
    e = pt_timeline_event_of(kind);
    if (!microseconds(value_of(t, START), &e.start_ns) ||
        !microseconds(value_of(t, DURATION), &e.duration_ns)) {
        t->timeline->left_out++;
        return;
    }
    struct pt_str name = t->values[NAME].len > 0 ? value_of(t, NAME) : PT_STR("?");
    if (take_clock(t, name, e.start_ns))
        return;
    e.name = pt_names_add(&t->timeline->names, name);
    e.correlation = number(value_of(t, CORRELATION));
    e.bytes = number(value_of(t, BYTES));
    e.registers = small(value_of(t, REGISTERS));
    e.shared_bytes = small(value_of(t, SHARED));
    e.grid_plus_one = size_of(t, GRID);
    e.block_plus_one = size_of(t, BLOCK);
    set_place(t, &e);
    pt_timeline_add(t->timeline, &e);
}

static void forget_values(struct trace *t) {
    memset(t->values, 0, sizeof t->values);
    pt_buf_clear(&t->text);
}

static int field_of(struct pt_str path) {
    for (size_t i = 0; i < PT_COUNT(fields); i++)
        if (pt_str_eq(path, pt_str_from(fields[i].path)))
            return fields[i].field;
    return OTHER;
}

/* "traceEvents.12.name", or "12.name" in a file that is only the array. */
static void take_value(void *arg, const char *path, struct pt_json_value value) {
    struct trace *t = arg;
    struct pt_scan s = pt_scan_of(pt_str_from(path));
    if (strcmp(path, "baseTimeNanoseconds") == 0)
        t->base_ns = number(value.text);
    (void)pt_scan_take(&s, PT_STR("traceEvents."));
    uint64_t index = pt_scan_u64(&s);
    if (s.failed || !pt_scan_take(&s, PT_STR(".")))
        return;
    if (index != t->index || !t->has_event) {
        add_event(t);
        forget_values(t);
        t->index = index;
        t->has_event = true;
    }
    int field = field_of(pt_scan_rest(&s));
    if (field == OTHER)
        return;
    t->values[field].at = t->text.len;
    t->values[field].len = value.text.len;
    pt_buf_str(&t->text, value.text);
    t->is_trace |= field == PHASE;
}

static bool is_absolute(const struct trace *t) {
    for (size_t i = t->first; i < t->timeline->count; i++)
        if (t->timeline->events[i].start_ns < ABSOLUTE_NS)
            return false;
    return t->timeline->count > t->first;
}

static void set_clock(struct trace *t) {
    if (t->has_clock) {
        /* The older profiler does not record the process. */
        for (size_t i = t->first; i < t->timeline->count; i++)
            if (t->timeline->events[i].pid == PT_TIMELINE_NONE)
                t->timeline->events[i].pid = t->pid;
        pt_timeline_move(t->timeline, t->first, t->clock_shift_ns);
        t->timeline->clock = PT_TIMELINE_MONOTONIC;
        return;
    }
    if (t->base_ns > 0)
        pt_timeline_move(t->timeline, t->first, t->base_ns);
    t->timeline->clock =
        t->base_ns > 0 || is_absolute(t) ? PT_TIMELINE_WALL : PT_TIMELINE_UNKNOWN_CLOCK;
}

int pt_torch_read(struct pt_timeline *t, struct pt_str text) {
    struct trace trace = {
        .timeline = t, .first = t->count, .pid = PT_TIMELINE_NONE, .base_ns = PT_TIMELINE_NONE
    };
    int rc = pt_json_walk(text, take_value, &trace);
    add_event(&trace);
    set_clock(&trace);
    pt_buf_release(&trace.text);
    return rc == 0 && trace.is_trace ? 0 : -EBADMSG;
}
