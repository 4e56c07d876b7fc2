/* libpitot/flops_counter.h -- floating-point operations of this process, from CPU counters.
 *
 * Intel: FP_ARITH_INST_RETIRED by width, where a multiply-add counts twice; AMD: retired SSE and
 * AVX operations. Counts all threads that exist at the start, and their children. AMX and GPU work
 * is not included. Most virtual machines have no such counters. */
#ifndef PT_LIBPITOT_FLOPS_COUNTER_H
#define PT_LIBPITOT_FLOPS_COUNTER_H

#include "base/attr.h"

#include <stddef.h>
#include <stdint.h>

/* {0} counts nothing. */
struct pt_flops_counter {
    struct pt_flops_event *events;
    size_t event_count;
};

/* 0; -ENOENT: this CPU has none; other -errno: not allowed, or too many threads. */
int pt_flops_counter_open(struct pt_flops_counter *c) PT_MUST_CHECK;
/* So far; NAN if nothing is counted. */
double pt_flops_counter_read(const struct pt_flops_counter *c);
void pt_flops_counter_close(struct pt_flops_counter *c);

/* The extrapolated value of a counter that did not run all the time; NAN if it never ran. */
double pt_flops_scale(uint64_t count, uint64_t enabled_ns, uint64_t running_ns);

#endif
