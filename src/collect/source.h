/* collect/source.h -- helpers shared by several collectors. */
#ifndef PT_COLLECT_SOURCE_H
#define PT_COLLECT_SOURCE_H

#include "base/clock.h"
#include "collect/collector.h"

#include <unistd.h>

/* Converts USER_HZ ticks to centiseconds; the two are equal on every usual kernel. */
static inline int64_t pt_ticks_to_cs(int64_t ticks, long ticks_per_second) {
    return ticks_per_second == 100 ? ticks : (int64_t)((__int128)ticks * 100 / ticks_per_second);
}

/* CPU times advance in hundredths of a second, the load every five seconds, and vmstat costs as
 * much as all other files together. At shorter intervals they are read only this often; rows in
 * between repeat the last values with the time of the real read. */
#define PT_FINEST_NS (10 * PT_NS_PER_MS)

static inline bool pt_is_fine_due(const struct pt_context *context) {
    if (context->interval_ns >= PT_FINEST_NS)
        return true;
    return context->tick % (uint64_t)(PT_FINEST_NS / context->interval_ns) == 0;
}

/* True at most once per `period_ns`; keeps the time of the last true in `*last_ns` (0 = never). */
static inline bool pt_is_due(int64_t *last_ns, int64_t now_ns, int64_t period_ns) {
    if (*last_ns && now_ns - *last_ns < period_ns)
        return false;
    *last_ns = now_ns;
    return true;
}

/* A sum over disks or interfaces. It is known only if every part is known. */
struct pt_total {
    int64_t value;
    bool has_parts, is_broken;
};

static inline void pt_total_add(struct pt_total *t, bool is_known, int64_t part) {
    t->has_parts = true;
    if (!is_known || __builtin_add_overflow(t->value, part, &t->value))
        t->is_broken = true;
}

static inline void pt_total_set(const struct pt_total *t, struct pt_batch *rows, int column) {
    if (t->has_parts && !t->is_broken)
        pt_set_i64(rows, column, t->value);
}

#endif
