/* collect/pressure.c -- pressure stall information: the share of time in which
 * some or all tasks waited for a CPU, for memory or for a disk. */
#include "collect/collector.h"
#include "collect/source.h"
#include "source/kernel/psi.h"

#include <errno.h>

#define PRESSURE_COLUMNS(X, t)                                                                  \
    X(t, resource, "psiResource", KEY, STRING, NONE, 0, "cpu, memory, io or irq",               \
      .title = "Resource", .heading = "RESOURCE", .role = PT_ROLE_NAME, .words = "psi")         \
    X(t, some_total, "psiSomeTotal", COUNTER, I64, MICROSECONDS, 0,                             \
      "Time in which at least one task waited for the resource", .title = "Some tasks waiting", \
      .heading = "SOME", .family = "Pressure", .form = PT_FORM_SHARE,                           \
      .better = PT_LOWER_IS_BETTER, .importance = PT_HEADLINE, .combine = PT_COMBINE_NONE,      \
      .words = "psi stall contention")                                                          \
    X(t, some_avg10, "psiSomeAvg10", GAUGE, F64, PERCENT, 0,                                    \
      "Share of the last 10 s in which at least one task waited",                               \
      .title = "Some tasks waiting, 10 s", .heading = "SOME 10s",                               \
      .family = "Pressure, averages of the kernel", .better = PT_LOWER_IS_BETTER,               \
      .importance = PT_RAW, .combine = PT_COMBINE_NONE, .words = "psi")                         \
    X(t, some_avg60, "psiSomeAvg60", GAUGE, F64, PERCENT, 0,                                    \
      "Share of the last 60 s in which at least one task waited",                               \
      .title = "Some tasks waiting, 60 s", .heading = "SOME 60s",                               \
      .family = "Pressure, averages of the kernel", .better = PT_LOWER_IS_BETTER,               \
      .importance = PT_RAW, .combine = PT_COMBINE_NONE, .words = "psi")                         \
    X(t, some_avg300, "psiSomeAvg300", GAUGE, F64, PERCENT, 0,                                  \
      "Share of the last 300 s in which at least one task waited",                              \
      .title = "Some tasks waiting, 300 s", .heading = "SOME 300s",                             \
      .family = "Pressure, averages of the kernel", .better = PT_LOWER_IS_BETTER,               \
      .importance = PT_RAW, .combine = PT_COMBINE_NONE, .words = "psi")                         \
    X(t, full_total, "psiFullTotal", COUNTER, I64, MICROSECONDS, 0,                             \
      "Time in which all tasks waited for the resource at once", .title = "All tasks waiting",  \
      .heading = "FULL", .family = "Pressure", .form = PT_FORM_SHARE,                           \
      .better = PT_LOWER_IS_BETTER, .importance = PT_HEADLINE, .combine = PT_COMBINE_NONE,      \
      .words = "psi stall contention")                                                          \
    X(t, full_avg10, "psiFullAvg10", GAUGE, F64, PERCENT, 0,                                    \
      "Share of the last 10 s in which all tasks waited", .title = "All tasks waiting, 10 s",   \
      .heading = "FULL 10s", .family = "Pressure, averages of the kernel",                      \
      .better = PT_LOWER_IS_BETTER, .importance = PT_RAW, .combine = PT_COMBINE_NONE,           \
      .words = "psi")                                                                           \
    X(t, full_avg60, "psiFullAvg60", GAUGE, F64, PERCENT, 0,                                    \
      "Share of the last 60 s in which all tasks waited", .title = "All tasks waiting, 60 s",   \
      .heading = "FULL 60s", .family = "Pressure, averages of the kernel",                      \
      .better = PT_LOWER_IS_BETTER, .importance = PT_RAW, .combine = PT_COMBINE_NONE,           \
      .words = "psi")                                                                           \
    X(t, full_avg300, "psiFullAvg300", GAUGE, F64, PERCENT, 0,                                  \
      "Share of the last 300 s in which all tasks waited", .title = "All tasks waiting, 300 s", \
      .heading = "FULL 300s", .family = "Pressure, averages of the kernel",                     \
      .better = PT_LOWER_IS_BETTER, .importance = PT_RAW, .combine = PT_COMBINE_NONE,           \
      .words = "psi")

PT_TABLE(pressure, PT_TABLE_FIXED("pressure", "pressure"),
         "Pressure stall information: waiting for CPU, memory and disks", PRESSURE_COLUMNS,
         "/proc/pressure");

static const struct {
    const char *name, *path;
} resources[] = {
    { "cpu", "pressure/cpu" },
    { "memory", "pressure/memory" },
    { "io", "pressure/io" },
    { "irq", "pressure/irq" },
};

struct pressure_state {
    struct pt_file files[PT_COUNT(resources)];
    bool is_missing[PT_COUNT(resources)];
};

static void pressure_close(void *state) {
    struct pressure_state *s = state;
    for (size_t i = 0; i < PT_COUNT(resources); i++)
        pt_file_close(&s->files[i]);
}

static void set_line(struct pt_batch *rows, const struct pt_pressure_line *line, int total) {
    if (!line->is_present)
        return;
    pt_set_i64(rows, total, line->total_us);
    pt_set_f64(rows, total + 1, line->avg10);
    pt_set_f64(rows, total + 2, line->avg60);
    pt_set_f64(rows, total + 3, line->avg300);
}

static int pressure_collect(void *state, const struct pt_context *context, struct pt_batch *rows) {
    struct pressure_state *s = state;
    int failure = 0;
    for (size_t i = 0; i < PT_COUNT(resources); i++) {
        struct pt_scan text;
        if (s->is_missing[i])
            continue;
        int rc = pt_file_read_kept(&s->files[i], context->fs->proc, resources[i].path,
                                   context->text, &text);
        /* The kernel has PSI or not (it can be disabled at boot): it does not appear later. */
        s->is_missing[i] = rc == -ENOENT || rc == -EOPNOTSUPP || rc == -EACCES;
        if (rc && !s->is_missing[i])
            failure = rc;
        if (rc)
            continue;
        struct pt_pressure pressure;
        pt_pressure_parse(text, &pressure);
        pt_batch_add_row(rows);
        pt_set_time(rows, 0, pt_mono_ns());
        pt_set_str(rows, pressure_resource, pt_str_from(resources[i].name));
        set_line(rows, &pressure.some, pressure_some_total);
        set_line(rows, &pressure.full, pressure_full_total);
    }
    return failure ? failure : rows->row_count > 0 ? 0 : -ENODATA;
}

const struct pt_collector pt_pressure_collector = {
    .name = "pressure",
    .help = "pressure stall information (PSI)",
    .tables = { &pressure_table },
    .state_size = sizeof(struct pressure_state),
    .collect = pressure_collect,
    .close = pressure_close,
};
