/* libpitot/trace_export.c -- writes the spans that the process still holds to a Chrome trace
 * file. */
#include "libpitot/trace_export.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/place.h"
#include "libpitot/drain.h"
#include "libpitot/span_history.h"
#include "libpitot/memory_track.h"
#include "libpitot/metric_families.h"
#include "format/trace/flow.h"
#include "format/trace/lane.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pitot/export.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPANS_AT_ONCE  1024
#define POINTS_AT_ONCE 64
#define THREADS_MAX    4096 /* threads with names looked up */
#define NAME_CAPACITY  (sizeof((struct pt_region_name *)NULL)->text + 1)

struct trace {
    struct pt_trace to;
    struct pt_region region;
    uint32_t pid;
    int64_t first_ns;             /* start of the first span */
    struct pt_flow_point *points; /* spans with a request */
    size_t point_count, point_capacity;
    uint32_t threads[THREADS_MAX]; /* in the order of their first spans */
    uint32_t thread_count;
    struct pt_lanes lanes;
    char names[PT_REGION_NAMES][NAME_CAPACITY]; /* "": not looked up yet */
    struct pt_history_span spans[SPANS_AT_ONCE];
    char buffer[PT_OUT_BUFFER];
};

static struct pt_str name_of(struct trace *t, uint64_t number) {
    if (number >= PT_REGION_NAMES)
        return PT_STR("");
    char *name = t->names[number];
    if (!*name)
        pt_region_copy_name(&t->region, (uint32_t)number, name);
    return pt_str_from(name);
}

static void note_thread(struct trace *t, uint32_t thread) {
    for (uint32_t i = 0; i < t->thread_count; i++)
        if (t->threads[i] == thread)
            return;
    if (t->thread_count < THREADS_MAX)
        t->threads[t->thread_count++] = thread;
}

/* Without memory for flows the trace has none. */
static void note_request(struct trace *t, const struct pt_trace_span *span) {
    if (t->point_count == t->point_capacity) {
        size_t capacity = t->point_capacity ? 2 * t->point_capacity : SPANS_AT_ONCE;
        struct pt_flow_point *more = realloc(t->points, capacity * sizeof *more);
        if (!more)
            return;
        t->points = more;
        t->point_capacity = capacity;
    }
    t->points[t->point_count++] = (struct pt_flow_point){
        .request = span->request, .start_ns = span->start_ns, .pid = t->pid, .thread = span->thread
    };
}

static void write_span(struct trace *t, const struct pt_history_span *span) {
    static const char *const works[] = { "argument", "samples", "tokens", "flows" };
    int64_t start_ns = span->start_ns;
    uint32_t lane = pt_lanes_place(&t->lanes, t->pid, span->thread, &start_ns, span->end_ns);
    struct pt_trace_span event = {
        .name = name_of(t, span->name),
        .pid = t->pid,
        .thread = pt_lane_thread(span->thread, lane),
        .start_ns = start_ns,
        .duration_ns = span->end_ns - start_ns,
        .has_request = span->flags & PT_REGION_HAS_REQUEST,
        .request = span->request,
    };
    if (span->flags & PT_REGION_HAS_ARGUMENT) {
        event.argument_key = works[span->flags >> PT_REGION_WORK_SHIFT & PT_REGION_WORK_MASK];
        event.argument = span->argument;
    } else if (span->flags & PT_REGION_HAS_TEXT) {
        event.text = name_of(t, (uint64_t)span->argument);
    }
    t->first_ns = start_ns < t->first_ns ? start_ns : t->first_ns;
    pt_trace_span(&t->to, &event);
    if (event.has_request)
        note_request(t, &event);
}

/* Spans that end during the export are for the next time. */
static void write_spans(struct trace *t, uint64_t from, uint64_t end) {
    uint32_t last_thread = 0;
    while (from < end && !t->to.out->error) {
        size_t count = pt_history_read(from, t->spans, SPANS_AT_ONCE, &from);
        if (count == 0)
            return;
        for (size_t i = 0; i < count; i++) {
            if (t->spans[i].thread != last_thread)
                note_thread(t, last_thread = t->spans[i].thread);
            write_span(t, &t->spans[i]);
        }
    }
}

/* Current values of counters and gauges. */
static void write_metrics(struct trace *t, int64_t now_ns) {
    struct pt_metric_families_view view;
    if (pt_metric_families_read(&view))
        return;
    for (size_t i = 0; i < view.family_count; i++) {
        const struct pt_family *family = &view.families[i];
        for (size_t k = 0; k < family->series_count && family->kind != PT_FAMILY_HISTOGRAM; k++) {
            const struct pt_series *series = &family->series[k];
            char name[512];
            int length = snprintf(name, sizeof name, series->labels.len > 0 ? "%.*s{%.*s}" : "%.*s",
                                  (int)family->name.len, family->name.at, (int)series->labels.len,
                                  series->labels.at);
            pt_trace_counter(&t->to, t->pid, now_ns, (struct pt_str){ name, (size_t)length },
                             series->is_integer ? (double)series->integer : series->value);
        }
    }
    pt_metric_families_release(&view);
}

static void write_events(struct trace *t, struct pt_out *out, uint64_t from) {
    uint64_t end = pt_history_end();
    pt_trace_begin(&t->to, out);
    pt_trace_process(&t->to, t->pid, pt_str_from(program_invocation_short_name));
    if (pt_history_region(&t->region))
        write_spans(t, from, end);
    pt_flows_write(&t->to, t->points, t->point_count);
    uint32_t sort_index = 0;
    for (uint32_t i = 0; i < t->thread_count; i++) {
        char path[64], name[PT_REGION_OWNER_NAME]; /* current name, or that at its first call */
        snprintf(path, sizeof path, "/proc/self/task/%u/comm", t->threads[i]);
        if (pt_fs_read_line(AT_FDCWD, path, name, PT_REGION_OWNER_NAME) &&
            !pt_history_thread_name(t->threads[i], name))
            name[0] = '\0';
        sort_index =
            pt_lanes_name(&t->to, &t->lanes, t->pid, t->threads[i], pt_str_from(name), sort_index);
    }
    int64_t now_ns = pt_mono_ns();
    t->first_ns = now_ns < t->first_ns ? now_ns : t->first_ns;
    /* Memory during the spans, and now. */
    struct pt_memory_point points[POINTS_AT_ONCE];
    uint64_t next = 0;
    size_t count;
    pt_memory_track_sample(NULL);
    while ((count = pt_memory_track_read(next, points, POINTS_AT_ONCE, &next)) > 0)
        for (size_t i = 0; i < count; i++)
            if (points[i].time_ns >= t->first_ns)
                pt_trace_counter(&t->to, t->pid, points[i].time_ns, PT_STR("resident memory (MB)"),
                                 points[i].mb);
    write_metrics(t, now_ns);
    pt_trace_end(&t->to);
}

static int write_plain(struct trace *t, int fd, uint64_t from) {
    struct pt_out out;
    pt_out_through(&out, t->buffer, pt_drain_descriptor, &fd);
    write_events(t, &out, from);
    return pt_out_flush(&out);
}

static int write_gzip(struct trace *t, int fd, uint64_t from) {
    struct pt_gzip *gzip = malloc(sizeof *gzip);
    int rc = gzip ? pt_gzip_begin(gzip, fd) : -ENOMEM;
    if (!rc) {
        struct pt_out out;
        pt_out_through(&out, t->buffer, pt_drain_gzip, gzip);
        write_events(t, &out, from);
        rc = pt_out_flush(&out);
        int last = pt_gzip_end(gzip, !rc);
        rc = rc ? rc : last;
    }
    free(gzip);
    return rc;
}

static int write_to(int fd, bool is_gzip, uint64_t from) {
    struct trace *t = calloc(1, sizeof *t);
    if (!t)
        return -ENOMEM;
    t->pid = (uint32_t)getpid();
    t->first_ns = INT64_MAX;
    int rc = is_gzip ? write_gzip(t, fd, from) : write_plain(t, fd, from);
    free(t->points);
    free(t);
    return rc;
}

/* By the rule of base/place.h, under a temporary name until it is complete. A FIFO or device is
 * written in place. */
static int write_file(const char *path, uint64_t from) {
    bool is_gzip = pt_str_ends(pt_str_from(path), PT_STR(".gz"));
    struct pt_place place;
    int rc = pt_place_open(&place, path);
    if (rc)
        return rc;
    int kind = pt_place_look(&place);
    int fd = kind < 0 ? kind : kind > 0 ? pt_place_open_special(&place) : pt_place_create(&place);
    rc = fd < 0 ? fd : write_to(fd, is_gzip, from);
    if (fd >= 0 && close(fd) && !rc)
        rc = -errno;
    if (kind == 0 && fd >= 0 && rc)
        pt_place_remove(&place);
    else if (kind == 0 && !rc)
        rc = pt_place_publish(&place);
    pt_place_close(&place);
    return rc;
}

int pt_trace_write_since(const char *path, uint64_t from) {
    int saved_errno = errno;
    int rc = strcmp(path, "-") == 0 ? write_to(STDOUT_FILENO, false, from) : write_file(path, from);
    errno = saved_errno;
    return rc;
}

int pt_write_trace(const char *path) {
    return path ? pt_trace_write_since(path, 0) : -EINVAL;
}
