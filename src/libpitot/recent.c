#include "libpitot/recent.h"

#include "base/clock.h"
#include "libpitot/span_history.h"

#include <pitot/config.h>

#define TIMINGS_MAX     1000
#define THROUGHPUTS_MAX 1000
#define SPANS_AT_ONCE   256

static int64_t min_duration_ns = PT_NS_PER_MS;

void pt_recent_set_min_duration(double seconds) {
    int64_t ns = seconds > 0 && seconds < 1e9 ? (int64_t)(seconds * 1e9) : 0;
    __atomic_store_n(&min_duration_ns, ns, __ATOMIC_RELAXED);
}

/* A view: which spans it contains, and how one is converted. */
struct view {
    bool (*has)(const struct pt_history_span *span);
    void (*fill)(void *into, const struct pt_history_span *span, const struct pt_region *region);
    size_t size; /* of what is filled */
};

/* From the newest to the oldest, so that only as many as needed are read; `into` is filled from its
 * end. Returns how many. */
static size_t fill_backwards(const struct view *view, uint8_t *into, size_t capacity) {
    struct pt_history_span spans[SPANS_AT_ONCE];
    struct pt_region region;
    size_t filled = 0;
    if (!pt_history_region(&region))
        return 0;
    for (uint64_t end = pt_history_end(); end > 0 && filled < capacity;) {
        uint64_t wanted = end > SPANS_AT_ONCE ? end - SPANS_AT_ONCE : 0, next;
        size_t count = pt_history_read(wanted, spans, (size_t)(end - wanted), &next);
        if (next > end) /* all of these are gone */
            break;
        for (size_t i = count; i-- > 0 && filled < capacity;)
            if (view->has(&spans[i]))
                view->fill(into + (capacity - ++filled) * view->size, &spans[i], &region);
        end = next - count > wanted ? 0 : wanted;
    }
    return filled;
}

static size_t read_view(const struct view *view, void *into, size_t capacity, size_t limit) {
    uint8_t *bytes = into;
    capacity = capacity < limit ? capacity : limit;
    size_t count = fill_backwards(view, bytes, capacity);
    if (count > 0)
        memmove(bytes, bytes + (capacity - count) * view->size, count * view->size);
    return count;
}

static double wall_seconds(const struct pt_history_span *span) {
    return (double)pt_history_wall_ns(span->end_ns) / 1e9;
}

static bool is_long(const struct pt_history_span *span) {
    return span->end_ns - span->start_ns >= __atomic_load_n(&min_duration_ns, __ATOMIC_RELAXED);
}

static void fill_timing(void *into, const struct pt_history_span *span,
                        const struct pt_region *region) {
    pt_timing *timing = into;
    pt_region_copy_name(region, span->name, timing->name);
    timing->seconds = (double)(span->end_ns - span->start_ns) / 1e9;
    timing->wall_time = wall_seconds(span);
}

static enum pt_work work_of(const struct pt_history_span *span) {
    return span->flags >> PT_REGION_WORK_SHIFT & PT_REGION_WORK_MASK;
}

static bool has_throughput(const struct pt_history_span *span) {
    return work_of(span) && span->end_ns > span->start_ns;
}

static void fill_throughput(void *into, const struct pt_history_span *span,
                            const struct pt_region *region) {
    pt_throughput *throughput = into;
    pt_region_copy_name(region, span->name, throughput->name);
    throughput->per_second = (double)span->argument * 1e9 / (double)(span->end_ns - span->start_ns);
    throughput->wall_time = wall_seconds(span);
    throughput->work = work_of(span);
}

size_t pt_recent_timings(pt_timing *into, size_t capacity) {
    pt_config config;
    pt_config_get(&config);
    if (!config.collect_timing)
        return 0;
    const struct view view = { is_long, fill_timing, sizeof *into };
    return read_view(&view, into, capacity, TIMINGS_MAX);
}

size_t pt_recent_throughputs(pt_throughput *into, size_t capacity) {
    pt_config config;
    pt_config_get(&config);
    if (!config.collect_throughput)
        return 0;
    const struct view view = { has_throughput, fill_throughput, sizeof *into };
    return read_view(&view, into, capacity, THROUGHPUTS_MAX);
}
