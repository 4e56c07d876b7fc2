/* libpitot/energy_use.h -- energy and carbon of this process.
 *
 * Processor and memory: the RAPL counters of the machine if they are readable, else the model of
 * analyze/power_model.h. Both are of the whole machine; the share of this process is its CPU time
 * divided by that of all (RAPL, processor) and its resident memory divided by all memory (model of
 * the memory). GPU: the power of the GPUs that this process uses, see libpitot/gpu_watch.h. */
#ifndef PT_LIBPITOT_ENERGY_USE_H
#define PT_LIBPITOT_ENERGY_USE_H

#include "analyze/energy_basis.h"
#include "source/kernel/rapl.h"
#include "libpitot/kernel_text.h"

#include <pitot/operation.h>

/* {0} measures nothing. */
struct pt_energy_use {
    struct pt_rapl rapl;
    struct pt_energy_basis basis;
};

/* Finds counters and describes the machine; the region is PITOT_CARBON_REGION. */
void pt_energy_use_open(struct pt_energy_use *e, struct pt_kernel_text *buffer);
void pt_energy_use_close(struct pt_energy_use *e);

/* Joules of packages and memory so far, from RAPL; NAN: no readable counter. Must be called
 * regularly: counters wrap around. */
double pt_energy_use_rapl(struct pt_energy_use *e);

/* Changes between two instants; unknown is NAN. */
struct pt_energy_inputs {
    double wall_s, cpu_s; /* of the process */
    double busy_s;        /* of all CPUs */
    double cpu_percent;   /* of the machine */
    double rapl_joules, gpu_power_w;
    double ram_mb, memory_mb; /* of the process, of the machine */
};

void pt_energy_use_estimate(const struct pt_energy_basis *basis, const struct pt_energy_inputs *in,
                            pt_performance *p);

#endif
