#include "inside/region/tick_clock.h"

#include <math.h>

#define NS_PER_SECOND 1e9
#define REASONABLE    0x1p60

static struct pt_tick_bend *bend_at(struct pt_tick_clock *c, uint64_t number) {
    return &c->bends[number % PT_TICK_BENDS];
}

static double ticks_between(uint64_t from, uint64_t to) {
    return (double)(int64_t)(to - from);
}

static double along(const struct pt_tick_bend *bend, uint64_t ticks) {
    return bend->ns + ticks_between(bend->ticks, ticks) * bend->ns_per_tick;
}

static void add_bend(struct pt_tick_clock *c, uint64_t ticks, double ns, double ns_per_tick) {
    *bend_at(c, c->bend_count++) = (struct pt_tick_bend){ ticks, ns, ns_per_tick };
}

void pt_tick_clock_begin(struct pt_tick_clock *c, uint64_t ticks, int64_t mono_ns) {
    *c = (struct pt_tick_clock){
        .first_ticks = ticks, .first_ns = mono_ns, .used_ticks = ticks, .read_ticks = ticks
    };
}

/* From where the line was used last to where the clock will be at the next bend, at its speed since
 * the last one: so errors of the readings move the line by no more than themselves. */
static void bend(struct pt_tick_clock *c, uint64_t ticks, double now_ns, double ahead_ns) {
    struct pt_tick_bend *last = bend_at(c, c->bend_count - 1);
    uint64_t from = (int64_t)(c->used_ticks - last->ticks) > 0 ? c->used_ticks : last->ticks;
    double from_ns = along(last, from);
    double measured = (now_ns - c->read_ns) / ticks_between(c->read_ticks, ticks);
    double rate =
        (now_ns + ahead_ns - from_ns) / (ticks_between(from, ticks) + ahead_ns / measured);
    if (!(rate > measured / 2 &&
          rate < measured * 2)) /* the clock was set, or the ticks are invalid */
        rate = measured;
    if (from == last->ticks)
        last->ns_per_tick = rate; /* times after it have not been used */
    else
        add_bend(c, from, from_ns, rate);
}

void pt_tick_clock_follow(struct pt_tick_clock *c, uint64_t ticks, int64_t mono_ns) {
    double now_ns = (double)mono_ns - (double)c->first_ns;
    /* Less often as the rate is better known, so that those kept reach back for minutes. */
    double between_ns = now_ns / 16 > NS_PER_SECOND ? NS_PER_SECOND : now_ns / 16;
    if (!(now_ns > c->read_ns && now_ns < REASONABLE && ticks_between(c->read_ticks, ticks) > 0))
        return;
    if (c->bend_count == 0)
        add_bend(c, c->first_ticks, 0, now_ns / ticks_between(c->first_ticks, ticks));
    else if (now_ns - c->read_ns >= between_ns)
        bend(c, ticks, now_ns, between_ns);
    else
        return;
    c->read_ticks = ticks;
    c->read_ns = now_ns;
}

/* The last bend that is not after these ticks; the first one kept if all are after them. */
static const struct pt_tick_bend *find_bend(struct pt_tick_clock *c, uint64_t ticks) {
    uint64_t oldest = c->bend_count > PT_TICK_BENDS ? c->bend_count - PT_TICK_BENDS : 0;
    uint64_t number = c->bend_count - 1;
    while (number > oldest && (int64_t)(bend_at(c, number)->ticks - ticks) > 0)
        number--;
    return bend_at(c, number);
}

int64_t pt_tick_clock_ns(struct pt_tick_clock *c, uint64_t ticks) {
    if (c->bend_count == 0)
        return ticks == c->first_ticks ? c->first_ns : 0;
    double ns = along(find_bend(c, ticks), ticks);
    if (!(fabs(ns) < REASONABLE && fabs((double)c->first_ns) < REASONABLE))
        return 0;
    if ((int64_t)(ticks - c->used_ticks) > 0)
        c->used_ticks = ticks;
    return c->first_ns + (int64_t)ns;
}
