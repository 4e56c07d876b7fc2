#include "libpitot/memory_track.h"

#include "base/clock.h"
#include "libpitot/monitor_lock.h"
#include "libpitot/overhead.h"
#include "libpitot/process_usage.h"
#include "libpitot/ticker.h"

#include <math.h>

#define POINTS_KEPT 4096 /* half an hour at the usual interval */

/* Guarded by libpitot/monitor_lock.h. */
static struct {
    int64_t interval_ns; /* 0: off */
    int tick_id;
    struct pt_memory_point points[POINTS_KEPT]; /* number n is at n % POINTS_KEPT */
    uint64_t first, end;
} track;

void pt_memory_track_sample(void *unused) {
    (void)unused;
    pt_monitor_lock();
    bool is_on = track.interval_ns > 0;
    pt_monitor_unlock();
    if (!is_on || !pt_overhead_allows(PT_PART_MEMORY))
        return;
    struct pt_memory_point point = { pt_mono_ns(), pt_process_ram_mb() };
    pt_overhead_add_memory(pt_mono_ns() - point.time_ns);
    if (isnan(point.mb))
        return;
    pt_monitor_lock();
    track.points[track.end++ % POINTS_KEPT] = point;
    if (track.end - track.first > POINTS_KEPT)
        track.first = track.end - POINTS_KEPT;
    pt_monitor_unlock();
}

/* Sets the interval; returns the ticker's entry, which must not be called under the guard. */
static int exchange(int64_t interval_ns) {
    pt_monitor_lock();
    int id = track.tick_id;
    if (interval_ns == 0) {
        track.tick_id = 0;
        track.first = track.end;
    }
    track.interval_ns = interval_ns;
    pt_monitor_unlock();
    return id;
}

/* If two threads added one at once, one is removed again. */
static int begin(int64_t interval_ns) {
    int id = pt_ticker_add(pt_memory_track_sample, NULL, interval_ns);
    if (id < 0)
        return id;
    pt_monitor_lock();
    bool is_needed = track.interval_ns > 0 && track.tick_id == 0;
    if (is_needed)
        track.tick_id = id;
    pt_monitor_unlock();
    if (!is_needed)
        pt_ticker_remove(id);
    return 0;
}

int pt_memory_track_set(int64_t interval_ns) {
    int id = exchange(interval_ns);
    if (interval_ns == 0)
        pt_ticker_remove(id);
    else if (id)
        pt_ticker_set_interval(id, interval_ns);
    else
        return begin(interval_ns);
    return 0;
}

size_t pt_memory_track_read(uint64_t from, struct pt_memory_point *into, size_t capacity,
                            uint64_t *next) {
    size_t count = 0;
    pt_monitor_lock();
    for (from = from < track.first ? track.first : from; from < track.end && count < capacity;)
        into[count++] = track.points[from++ % POINTS_KEPT];
    pt_monitor_unlock();
    *next = from;
    return count;
}
