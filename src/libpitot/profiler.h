/* libpitot/profiler.h -- the data of a profiler: one record per operation name.
 *
 * All of it is guarded by one lock for all profilers, because all operations share the peak memory
 * that the kernel keeps for the process. No function of the ticker, the GPU watch or the probe is
 * called while it is held: fork() takes their locks in any order. */
#ifndef PT_LIBPITOT_PROFILER_H
#define PT_LIBPITOT_PROFILER_H

#include "libpitot/energy_use.h"
#include "libpitot/memory_series.h"

#include <pitot/operation.h>

#define PT_PROFILER_NAMES 1024

struct pt_record {
    char name[64];
    pt_name span_name; /* 0: not registered yet */
    double total_s;
    uint64_t event; /* when the result came, as a count of all begins and ends; 0: none yet */
    pt_performance result;
    struct pt_memory_series samples; /* of that result */
};

struct pt_profiler {
    pt_profiler_options options;
    struct pt_record **records; /* in the order of their first use */
    size_t record_count, record_capacity;
    struct pt_energy_use energy;
    bool watches_gpu;
    int tick_id; /* 0: none yet */
};

void pt_profilers_lock(void);
void pt_profilers_unlock(void);
/* A new event; the lock is held. */
uint64_t pt_profilers_event(void);
/* Counts the forks that led to this process; the lock is held. */
uint64_t pt_profilers_generation(void);

/* The record of that name, created if needed; NULL: no memory. The lock is held. */
struct pt_record *pt_profiler_record(pt_profiler *profiler, const char *name);

/* Below: functions of operations, for the profiler; see operation.c. */
void pt_operations_tick(void *profiler);
/* The lock is held. */
void pt_operations_abandon(pt_profiler *profiler);
/* The start of the newest open operation of that name (NULL: any); 0: none. Its samples may be
 * copied. The lock is held. */
uint64_t pt_operations_find(pt_profiler *profiler, const char *name,
                            const struct pt_memory_series **samples);
/* Its figures so far. False: it has ended. The lock is not held. */
bool pt_operations_measure(pt_profiler *profiler, uint64_t event, pt_performance *p);

#endif
