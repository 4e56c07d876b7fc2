#include "libpitot/regression.h"

#include "analyze/change_point.h"
#include "base/clock.h"
#include "base/str.h"
#include "libpitot/monitor_lock.h"

#include <stdio.h>

/* Guarded by libpitot/monitor_lock.h. */
static struct watched {
    pt_regression found;
    bool is_on;
    int64_t last_ns;
    struct pt_shift_watch watch;
} watched[PT_REGRESSION_NAMES];
static size_t watched_count;

static struct watched *find(const char *name) {
    for (size_t i = 0; i < watched_count; i++)
        if (strncmp(watched[i].found.name, name, sizeof watched[i].found.name - 1) == 0)
            return &watched[i];
    if (watched_count == PT_REGRESSION_NAMES)
        return NULL;
    struct watched *added = &watched[watched_count++];
    pt_str_copy(added->found.name, sizeof added->found.name, pt_str_from(name));
    return added;
}

bool pt_regression_step(const char *name, uint64_t number, int64_t now_ns, pt_regression *found) {
    bool is_new = false;
    pt_monitor_lock();
    struct watched *w = find(name);
    if (w && w->last_ns) {
        struct pt_change_point change;
        double seconds = (double)(now_ns - w->last_ns) / (double)PT_NS_PER_SECOND;
        enum pt_shift shift = pt_shift_add(&w->watch, seconds, &change);
        if (shift) {
            /* A level that falls again ends the regression, even if it does not fall all the way:
             * the rest is the new level to compare with. */
            is_new = w->is_on = shift == PT_SHIFT_ROSE;
            w->found.step = number > change.at ? number - change.at + 1 : 1;
            w->found.before = change.before;
            w->found.after = change.after;
            w->found.p = change.p;
            w->found.since = (double)pt_wall_ns() / (double)PT_NS_PER_SECOND;
        }
        *found = w->found;
    }
    if (w)
        w->last_ns = now_ns;
    pt_monitor_unlock();
    return is_new;
}

void pt_regression_describe(const pt_regression *r, char *into, size_t capacity) {
    snprintf(into, capacity,
             "step time of %.32s rose from %.4g ms to %.4g ms at step %llu (p = %.1g)", r->name,
             r->before * 1000, r->after * 1000, (unsigned long long)r->step, r->p);
}

uint32_t pt_regression_list(pt_regression into[PT_REGRESSION_NAMES]) {
    uint32_t on = 0;
    for (size_t i = 0; i < watched_count; i++) {
        into[i] = watched[i].found;
        on |= (uint32_t)watched[i].is_on << i;
    }
    return on;
}

size_t pt_regressions(pt_regression *into, size_t capacity) {
    pt_regression all[PT_REGRESSION_NAMES];
    size_t count = 0;
    pt_monitor_lock();
    uint32_t on = pt_regression_list(all);
    pt_monitor_unlock();
    for (size_t i = 0; i < PT_REGRESSION_NAMES; i++) {
        if (!(on >> i & 1))
            continue;
        if (count < capacity)
            into[count] = all[i];
        count++;
    }
    return count;
}
