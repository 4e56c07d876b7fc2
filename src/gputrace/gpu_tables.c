#include "gputrace/gpu_tables.h"

/* Each row is an event, not a continuing entity: without keys the journal does not search for the
 * row it continues, which is slow among thousands of equal ones. */
#define SOURCE "GPU vendor's profiler"

#define GPU_KERNEL_COLUMNS(X, t)                                                                \
    X(t, device, "gkDevice", INFO, I64, NONE, 0, "GPU number assigned by the profiler",         \
      .title = "GPU", .role = PT_ROLE_GPU, .heading = "GPU")                                    \
    X(t, stream, "gkStream", INFO, I64, NONE, 0, "Stream or queue", .title = "Stream",          \
      .role = PT_ROLE_THREAD, .heading = "STREAM")                                              \
    X(t, name, "gkName", INFO, STRING, NONE, 0, "Function, demangled; or CUDA graph",           \
      .title = "Kernel", .heading = "KERNEL", .role = PT_ROLE_NAME, .words = "function")        \
    X(t, start, "gkStart", INFO, I64, NANOSECONDS, 0, "Start time, CLOCK_MONOTONIC",            \
      .title = "Start", .importance = PT_RAW, .role = PT_ROLE_START)                            \
    X(t, duration, "gkDuration", INFO, I64, NANOSECONDS, 0, "Duration", .title = "Duration",    \
      .role = PT_ROLE_DURATION, .heading = "TIME")                                              \
    X(t, pid, "gkPid", INFO, I64, NONE, 0, "Process that launched it", .title = "Process id",   \
      .heading = "PID")                                                                         \
    X(t, grid, "gkGrid", INFO, STRING, NONE, 0, "Grid size: 256x1x1", .title = "Grid size",     \
      .heading = "GRID")                                                                        \
    X(t, block, "gkBlock", INFO, STRING, NONE, 0, "Block size: 128x1x1", .title = "Block size", \
      .heading = "BLOCK")                                                                       \
    X(t, registers, "gkRegisters", INFO, I64, COUNT, 0, "Registers per thread",                 \
      .title = "Registers per thread")                                                          \
    X(t, shared, "gkSharedMemory", INFO, I64, BYTES, 0, "Shared memory (LDS) per block",        \
      .title = "Shared memory per block", .words = "lds")                                       \
    X(t, correlation, "gkCorrelation", INFO, I64, NONE, 0,                                      \
      "Correlation id, same as that of the call that launched it", .title = "Correlation id",   \
      .importance = PT_RAW)

PT_TABLE(gpu_kernel, PT_TABLE_ROWS(EVENTS, "gpu_kernels", NULL),
         "Kernels that GPUs ran (pitot gpu)", GPU_KERNEL_COLUMNS, SOURCE);

#define GPU_COPY_COLUMNS(X, t)                                                                  \
    X(t, device, "gmDevice", INFO, I64, NONE, 0, "GPU number assigned by the profiler",         \
      .title = "GPU", .role = PT_ROLE_GPU, .heading = "GPU")                                    \
    X(t, stream, "gmStream", INFO, I64, NONE, 0, "Stream or queue", .title = "Stream",          \
      .role = PT_ROLE_THREAD, .heading = "STREAM")                                              \
    X(t, direction, "gmDirection", INFO, STRING, NONE, 0, "host to device, ..., memset",        \
      .title = "Direction", .heading = "DIRECTION", .role = PT_ROLE_NAME,                       \
      .words = "memcpy memset")                                                                 \
    X(t, start, "gmStart", INFO, I64, NANOSECONDS, 0, "Start time, CLOCK_MONOTONIC",            \
      .title = "Start", .importance = PT_RAW, .role = PT_ROLE_START)                            \
    X(t, duration, "gmDuration", INFO, I64, NANOSECONDS, 0, "Duration", .title = "Duration",    \
      .role = PT_ROLE_DURATION, .heading = "TIME")                                              \
    X(t, bytes, "gmBytes", INFO, I64, BYTES, 0, "How much", .title = "Size", .heading = "SIZE") \
    X(t, pid, "gmPid", INFO, I64, NONE, 0, "Process that requested it", .title = "Process id",  \
      .heading = "PID")                                                                         \
    X(t, correlation, "gmCorrelation", INFO, I64, NONE, 0,                                      \
      "Correlation id, same as that of the call that requested it", .title = "Correlation id",  \
      .importance = PT_RAW)

PT_TABLE(gpu_copy, PT_TABLE_ROWS(EVENTS, "gpu_copies", NULL),
         "Memory that GPUs copied or set (pitot gpu)", GPU_COPY_COLUMNS, SOURCE);

#define GPU_CALL_COLUMNS(X, t)                                                               \
    X(t, pid, "gcPid", INFO, I64, NONE, 0, "Process", .title = "Process id",                 \
      .role = PT_ROLE_PROCESS, .heading = "PID")                                             \
    X(t, thread, "gcThread", INFO, I64, NONE, 0, "Thread", .title = "Thread",                \
      .role = PT_ROLE_THREAD)                                                                \
    X(t, name, "gcName", INFO, STRING, NONE, 0, "Function, or the object waited for",        \
      .title = "Function", .heading = "FUNCTION", .role = PT_ROLE_NAME, .words = "cuda hip") \
    X(t, start, "gcStart", INFO, I64, NANOSECONDS, 0, "Start time, CLOCK_MONOTONIC",         \
      .title = "Start", .importance = PT_RAW, .role = PT_ROLE_START)                         \
    X(t, duration, "gcDuration", INFO, I64, NANOSECONDS, 0, "Duration", .title = "Duration", \
      .role = PT_ROLE_DURATION, .heading = "TIME")                                           \
    X(t, device, "gcDevice", INFO, I64, NONE, 0, "GPU waited for", .title = "GPU",           \
      .heading = "GPU")                                                                      \
    X(t, stream, "gcStream", INFO, I64, NONE, 0, "Stream waited for", .title = "Stream",     \
      .heading = "STREAM")                                                                   \
    X(t, correlation, "gcCorrelation", INFO, I64, NONE, 0,                                   \
      "Correlation id, same as that of the activity it started", .title = "Correlation id",  \
      .importance = PT_RAW)

PT_TABLE(gpu_call, PT_TABLE_ROWS(EVENTS, "gpu_calls", NULL),
         "CUDA or HIP runtime calls, and waiting (pitot gpu)", GPU_CALL_COLUMNS, SOURCE);

#define GPU_RANGE_COLUMNS(X, t)                                                                \
    X(t, pid, "grPid", INFO, I64, NONE, 0, "Process", .title = "Process id",                   \
      .role = PT_ROLE_PROCESS, .heading = "PID")                                               \
    X(t, thread, "grThread", INFO, I64, NONE, 0, "Thread", .title = "Thread",                  \
      .role = PT_ROLE_THREAD)                                                                  \
    X(t, name, "grName", INFO, STRING, NONE, 0, "Name given by the program", .title = "Range", \
      .heading = "RANGE", .role = PT_ROLE_NAME, .words = "nvtx roctx operator")                \
    X(t, start, "grStart", INFO, I64, NANOSECONDS, 0, "Start time, CLOCK_MONOTONIC",           \
      .title = "Start", .importance = PT_RAW, .role = PT_ROLE_START)                           \
    X(t, duration, "grDuration", INFO, I64, NANOSECONDS, 0, "Duration", .title = "Duration",   \
      .role = PT_ROLE_DURATION, .heading = "TIME")

PT_TABLE(gpu_range, PT_TABLE_ROWS(EVENTS, "gpu_ranges", NULL),
         "NVTX and ROCTx ranges, torch operators (pitot gpu)", GPU_RANGE_COLUMNS, SOURCE);

#define GPU_GAP_COLUMNS(X, t)                                                                     \
    X(t, device, "ggDevice", INFO, I64, NONE, 0, "GPU number assigned by the profiler",           \
      .title = "GPU", .role = PT_ROLE_GPU, .heading = "GPU")                                      \
    X(t, start, "ggStart", INFO, I64, NANOSECONDS, 0, "Start time, CLOCK_MONOTONIC",              \
      .title = "Start", .importance = PT_RAW, .role = PT_ROLE_START)                              \
    X(t, duration, "ggDuration", INFO, I64, NANOSECONDS, 0, "Duration without a kernel",          \
      .title = "Duration", .role = PT_ROLE_DURATION, .heading = "TIME")                           \
    X(t, copying, "ggCopying", INFO, I64, NANOSECONDS, 0, "Time spent copying memory in the gap", \
      .title = "Time spent copying")                                                              \
    X(t, before, "ggBefore", INFO, STRING, NONE, 0, "Kernel before the gap",                      \
      .title = "Kernel before", .role = PT_ROLE_NAME)                                             \
    X(t, after, "ggAfter", INFO, STRING, NONE, 0, "Kernel after the gap", .title = "Kernel after")

PT_TABLE(gpu_gap, PT_TABLE_ROWS(EVENTS, "gpu_gaps", NULL),
         "Gaps between kernels of a GPU (pitot gpu)", GPU_GAP_COLUMNS, SOURCE);

enum { KERNELS, COPIES, CALLS, RANGES, GAPS };

const struct pt_table *const pt_timeline_tables[PT_TIMELINE_TABLES] = {
    [KERNELS] = &gpu_kernel_table, [COPIES] = &gpu_copy_table, [CALLS] = &gpu_call_table,
    [RANGES] = &gpu_range_table,   [GAPS] = &gpu_gap_table,
};

static void set_known(struct pt_batch *rows, int column, int64_t value) {
    if (value != PT_TIMELINE_NONE)
        pt_set_i64(rows, column, value);
}

static void set_name(struct pt_batch *rows, int column, const struct pt_timeline *t,
                     uint32_t name) {
    pt_set_str(rows, column, t->names.list[name]);
}

static void add_kernel(const struct pt_timeline *t, const struct pt_timeline_event *e,
                       struct pt_batch *rows) {
    set_known(rows, gpu_kernel_device, e->device);
    set_known(rows, gpu_kernel_stream, e->stream);
    set_name(rows, gpu_kernel_name, t, e->name);
    pt_set_i64(rows, gpu_kernel_start, e->start_ns);
    pt_set_i64(rows, gpu_kernel_duration, e->duration_ns);
    set_known(rows, gpu_kernel_pid, e->pid);
    if (e->grid_plus_one)
        set_name(rows, gpu_kernel_grid, t, e->grid_plus_one - 1);
    if (e->block_plus_one)
        set_name(rows, gpu_kernel_block, t, e->block_plus_one - 1);
    set_known(rows, gpu_kernel_registers, e->registers);
    set_known(rows, gpu_kernel_shared, e->shared_bytes);
    set_known(rows, gpu_kernel_correlation, e->correlation);
}

static void add_copy(const struct pt_timeline *t, const struct pt_timeline_event *e,
                     struct pt_batch *rows) {
    set_known(rows, gpu_copy_device, e->device);
    set_known(rows, gpu_copy_stream, e->stream);
    set_name(rows, gpu_copy_direction, t, e->name);
    pt_set_i64(rows, gpu_copy_start, e->start_ns);
    pt_set_i64(rows, gpu_copy_duration, e->duration_ns);
    set_known(rows, gpu_copy_bytes, e->bytes);
    set_known(rows, gpu_copy_pid, e->pid);
    set_known(rows, gpu_copy_correlation, e->correlation);
}

static void add_call(const struct pt_timeline *t, const struct pt_timeline_event *e,
                     struct pt_batch *rows) {
    set_known(rows, gpu_call_pid, e->pid);
    set_known(rows, gpu_call_thread, e->thread);
    set_name(rows, gpu_call_name, t, e->name);
    pt_set_i64(rows, gpu_call_start, e->start_ns);
    pt_set_i64(rows, gpu_call_duration, e->duration_ns);
    set_known(rows, gpu_call_device, e->device);
    set_known(rows, gpu_call_stream, e->stream);
    set_known(rows, gpu_call_correlation, e->correlation);
}

static void add_range(const struct pt_timeline *t, const struct pt_timeline_event *e,
                      struct pt_batch *rows) {
    set_known(rows, gpu_range_pid, e->pid);
    set_known(rows, gpu_range_thread, e->thread);
    set_name(rows, gpu_range_name, t, e->name);
    pt_set_i64(rows, gpu_range_start, e->start_ns);
    pt_set_i64(rows, gpu_range_duration, e->duration_ns);
}

static void add_gap(const struct pt_timeline *t, const struct pt_timeline_gap *gap,
                    struct pt_batch *rows) {
    pt_batch_add_row(rows);
    pt_set_time(rows, 0, gap->start_ns);
    pt_set_i64(rows, gpu_gap_device, gap->device);
    pt_set_i64(rows, gpu_gap_start, gap->start_ns);
    pt_set_i64(rows, gpu_gap_duration, gap->duration_ns);
    pt_set_i64(rows, gpu_gap_copying, gap->copying_ns);
    set_name(rows, gpu_gap_before, t, gap->before);
    set_name(rows, gpu_gap_after, t, gap->after);
}

static void add_event(const struct pt_timeline *t, const struct pt_timeline_event *e,
                      struct pt_batch *batches) {
    static const struct {
        int table;
        void (*add)(const struct pt_timeline *, const struct pt_timeline_event *,
                    struct pt_batch *);
    } kinds[PT_TIMELINE_KINDS] = {
        [PT_TIMELINE_KERNEL] = { KERNELS, add_kernel },
        [PT_TIMELINE_COPY] = { COPIES, add_copy },
        [PT_TIMELINE_CALL] = { CALLS, add_call },
        [PT_TIMELINE_RANGE] = { RANGES, add_range },
    };
    struct pt_batch *rows = &batches[kinds[e->kind].table];
    pt_batch_add_row(rows);
    pt_set_time(rows, 0, e->start_ns);
    kinds[e->kind].add(t, e, rows);
}

static bool has_event(const struct pt_timeline_cursor *at, int64_t until_ns) {
    const struct pt_timeline *t = at->timeline;
    return at->event < t->count &&
           t->events[at->event].start_ns + t->events[at->event].duration_ns <= until_ns;
}

static bool has_gap(const struct pt_timeline_cursor *at, int64_t until_ns) {
    const struct pt_timeline *t = at->timeline;
    return at->gap < t->gap_count &&
           t->gaps[at->gap].start_ns + t->gaps[at->gap].duration_ns <= until_ns;
}

bool pt_timeline_fill(void *cursor, int64_t until_ns, struct pt_batch *batches) {
    struct pt_timeline_cursor *at = cursor;
    const struct pt_timeline *t = at->timeline;
    int room = PT_TIMELINE_ROWS_AT_ONCE;
    for (; room > 0 && has_event(at, until_ns); room--)
        add_event(t, &t->events[at->event++], batches);
    for (; room > 0 && has_gap(at, until_ns); room--)
        add_gap(t, &t->gaps[at->gap++], &batches[GAPS]);
    return has_event(at, until_ns) || has_gap(at, until_ns);
}
