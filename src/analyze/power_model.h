/* analyze/power_model.h -- power of processor and memory without energy counters.
 *
 * Processor: P = P_full * share(u), u being the busy part of its time. P_full is the vendor's TDP
 * of all sockets; in a virtual machine the TDP of one socket times virtual CPUs over its threads.
 *
 *     share(u) = 0.1 + 0.9 * f(u)        f(u) = u * 5/3              for u <= 1/2
 *                                               5/6 + (u - 1/2) / 3  above
 *
 * so 10 % of P_full when idle, 85 % at half load, 100 % at full load. docs/ENERGY.md compares it
 * with counters. */
#ifndef PT_ANALYZE_POWER_MODEL_H
#define PT_ANALYZE_POWER_MODEL_H

#include "analyze/energy_basis.h"
#include "analyze/estimate.h"

/* For unknown utilisation. */
#define PT_POWER_SHARE_UNKNOWN 0.5

/* Part of P_full at `busy` 0 to 1. */
double pt_power_share(double busy);

/* Watts of the processor at full load. Always known: the default is 85 W per socket. */
struct pt_estimate pt_power_full(const struct pt_energy_basis *b);

/* Watts of the memory; unknown if its size is. */
struct pt_estimate pt_power_memory(const struct pt_energy_basis *b);

#endif
