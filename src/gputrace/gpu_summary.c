#include "gputrace/gpu_summary.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdlib.h>

#define DEVICES_SHOWN 64
#define NAME_WIDTH    64

static int by_total(const void *a, const void *b) {
    const struct pt_timeline_total *x = a, *y = b;
    if (x->total_ns != y->total_ns)
        return x->total_ns > y->total_ns ? -1 : 1;
    return x->name < y->name ? -1 : x->name > y->name;
}

/* The sum of the times of millions of events, each of up to 52 days, may exceed 64 bits. */
static void add_time(int64_t *sum_ns, int64_t ns) {
    if (__builtin_add_overflow(*sum_ns, ns, sum_ns))
        *sum_ns = INT64_MAX;
}

void pt_timeline_totals_make(struct pt_timeline_totals *s, const struct pt_timeline *t,
                             enum pt_timeline_kind kind) {
    *s = (struct pt_timeline_totals){ 0 };
    s->list = pt_calloc(t->names.count + 1, sizeof *s->list);
    for (size_t i = 0; i < t->count; i++) {
        const struct pt_timeline_event *e = &t->events[i];
        if (e->kind != kind)
            continue;
        struct pt_timeline_total *total = &s->list[e->name];
        total->count++;
        add_time(&total->total_ns, e->duration_ns);
        total->longest_ns = e->duration_ns > total->longest_ns ? e->duration_ns : total->longest_ns;
        if (e->bytes == PT_TIMELINE_NONE || total->bytes == PT_TIMELINE_NONE ||
            __builtin_add_overflow(total->bytes, e->bytes, &total->bytes))
            total->bytes = PT_TIMELINE_NONE;
        add_time(&s->total_ns, e->duration_ns);
    }
    for (uint32_t name = 0; name < t->names.count; name++) {
        s->list[name].name = name;
        if (s->list[name].count > 0)
            s->list[s->count++] = s->list[name];
    }
    if (s->count > 0)
        qsort(s->list, s->count, sizeof *s->list, by_total);
}

void pt_timeline_totals_release(struct pt_timeline_totals *s) {
    pt_free(s->list);
    *s = (struct pt_timeline_totals){ 0 };
}

static struct pt_timeline_device *device_of(struct pt_timeline_device *list, size_t count,
                                            int32_t device) {
    for (size_t i = 0; i < count; i++)
        if (list[i].device == device)
            return &list[i];
    return NULL;
}

static int by_device(const void *a, const void *b) {
    const struct pt_timeline_device *x = a, *y = b;
    return (x->device > y->device) - (x->device < y->device);
}

size_t pt_timeline_devices(const struct pt_timeline *t, struct pt_timeline_device *into,
                           size_t capacity) {
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct pt_timeline_event *e = &t->events[i];
        if (e->kind != PT_TIMELINE_KERNEL || e->device == PT_TIMELINE_NONE)
            continue;
        struct pt_timeline_device *d = device_of(into, count, e->device);
        if (!d && count < capacity) {
            d = &into[count++];
            *d = (struct pt_timeline_device){ .device = e->device };
        }
        if (d) {
            int64_t end_ns = e->start_ns + e->duration_ns;
            d->first_ns =
                d->kernel_count == 0 || e->start_ns < d->first_ns ? e->start_ns : d->first_ns;
            d->last_ns = d->kernel_count == 0 || end_ns > d->last_ns ? end_ns : d->last_ns;
            d->kernel_count++;
        }
    }
    for (size_t i = 0; i < t->gap_count; i++) {
        struct pt_timeline_device *d = device_of(into, count, t->gaps[i].device);
        if (d)
            d->idle_ns += t->gaps[i].duration_ns;
    }
    if (count > 1)
        qsort(into, count, sizeof *into, by_device);
    return count;
}

static void put_time(struct pt_out *out, int64_t ns) {
    static const struct {
        double ns;
        const char *unit;
    } units[] = { { 1e9, "s " }, { 1e6, "ms" }, { 1e3, "us" }, { 1, "ns" } };
    size_t i = 0;
    while (i + 1 < PT_COUNT(units) && (double)ns < units[i].ns)
        i++;
    pt_out_printf(out, "%8.2f %s", (double)ns / units[i].ns, units[i].unit);
}

/* Names of templates are long: their beginning is most useful. */
static void put_name(struct pt_out *out, struct pt_str name) {
    struct pt_str shown = { name.at, name.len > NAME_WIDTH ? NAME_WIDTH : name.len };
    if (shown.len < name.len)
        shown.len = pt_utf8_valid_length(shown);
    pt_out_utf8(out, shown);
    pt_out_text(out, shown.len < name.len ? "...\n" : "\n");
}

static double percent(int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

static void print_devices(const struct pt_timeline *t, struct pt_out *out) {
    struct pt_timeline_device devices[DEVICES_SHOWN];
    size_t count = pt_timeline_devices(t, devices, DEVICES_SHOWN);
    for (size_t i = 0; i < count; i++) {
        const struct pt_timeline_device *d = &devices[i];
        int64_t span_ns = d->last_ns - d->first_ns;
        pt_out_printf(out,
                      "GPU %d: kernels ran %.1f %% of the %.3f s from the first to the last "
                      "(%" PRIu64 " kernels)\n",
                      (int)d->device, percent(span_ns - d->idle_ns, span_ns), (double)span_ns / 1e9,
                      d->kernel_count);
    }
}

/* Ranges nest, so shares of their sum would mean little. */
static void print_totals(const struct pt_timeline *t, const struct pt_timeline_totals *totals,
                         const char *title, bool has_shares, size_t rows, struct pt_out *out) {
    if (totals->count == 0)
        return;
    pt_out_printf(out, "\n       time  %s     count         mean  %s\n",
                  has_shares ? "  share" : "", title);
    for (size_t i = 0; i < totals->count && i < rows; i++) {
        const struct pt_timeline_total *row = &totals->list[i];
        put_time(out, row->total_ns);
        if (has_shares)
            pt_out_printf(out, "  %5.1f %%", percent(row->total_ns, totals->total_ns));
        pt_out_printf(out, "  %8" PRIu64 "  ", row->count);
        put_time(out, row->total_ns / (int64_t)row->count);
        pt_out_text(out, "  ");
        put_name(out, t->names.list[row->name]);
    }
    if (totals->count > rows)
        pt_out_printf(out, "  and %zu more\n", totals->count - rows);
}

/* GB are 1e9 bytes, as for bus speeds. */
static void print_copies(const struct pt_timeline *t, const struct pt_timeline_totals *totals,
                         struct pt_out *out) {
    if (totals->count == 0)
        return;
    pt_out_text(out, "\n       time          MB      GB/s     count  copies\n");
    for (size_t i = 0; i < totals->count; i++) {
        const struct pt_timeline_total *row = &totals->list[i];
        put_time(out, row->total_ns);
        if (row->bytes == PT_TIMELINE_NONE || row->total_ns == 0)
            pt_out_printf(out, "  %10s  %8s", "-", "-");
        else
            pt_out_printf(out, "  %10.2f  %8.2f", (double)row->bytes / 1e6,
                          (double)row->bytes / (double)row->total_ns);
        pt_out_printf(out, "  %8" PRIu64 "  ", row->count);
        put_name(out, t->names.list[row->name]);
    }
}

static int by_duration(const void *a, const void *b) {
    const struct pt_timeline_gap *x = a, *y = b;
    if (x->duration_ns != y->duration_ns)
        return x->duration_ns > y->duration_ns ? -1 : 1;
    return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
}

static void print_gaps(const struct pt_timeline *t, int64_t start_ns, size_t rows,
                       struct pt_out *out) {
    if (t->gap_count == 0)
        return;
    struct pt_timeline_gap *gaps = pt_calloc(t->gap_count, sizeof *gaps);
    memcpy(gaps, t->gaps, t->gap_count * sizeof *gaps);
    qsort(gaps, t->gap_count, sizeof *gaps, by_duration);
    pt_out_text(out, "\n        gap        at      GPU  copying  before\n");
    for (size_t i = 0; i < t->gap_count && i < rows; i++) {
        put_time(out, gaps[i].duration_ns);
        pt_out_printf(out, "  %9.3f s  %3d  %5.1f %%  ",
                      (double)(gaps[i].start_ns - start_ns) / 1e9, (int)gaps[i].device,
                      percent(gaps[i].copying_ns, gaps[i].duration_ns));
        put_name(out, t->names.list[gaps[i].after]);
    }
    pt_free(gaps);
}

void pt_timeline_print(const struct pt_timeline *t, int64_t start_ns, size_t rows,
                       struct pt_out *out) {
    struct pt_timeline_totals totals[PT_TIMELINE_KINDS];
    for (int kind = 0; kind < PT_TIMELINE_KINDS; kind++)
        pt_timeline_totals_make(&totals[kind], t, (enum pt_timeline_kind)kind);
    pt_out_text(out, "\n");
    print_devices(t, out);
    if (totals[PT_TIMELINE_KERNEL].count == 0)
        pt_out_text(out, "No kernel ran on a GPU.\n");
    print_totals(t, &totals[PT_TIMELINE_KERNEL], "kernels", true, rows, out);
    print_copies(t, &totals[PT_TIMELINE_COPY], out);
    print_totals(t, &totals[PT_TIMELINE_CALL], "calls", true, rows, out);
    print_totals(t, &totals[PT_TIMELINE_RANGE], "ranges", false, rows, out);
    print_gaps(t, start_ns, rows, out);
    if (t->left_out > 0)
        pt_out_printf(out, "%zu events omitted: too many, or without an end\n", t->left_out);
    for (int kind = 0; kind < PT_TIMELINE_KINDS; kind++)
        pt_timeline_totals_release(&totals[kind]);
}
