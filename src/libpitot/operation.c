/* Life of an operation: readings are taken at both ends, memory and GPU also in between, on the
 * library's own thread. */
#include "base/clock.h"
#include "libpitot/flops_counter.h"
#include "libpitot/gpu_watch.h"
#include "libpitot/leak_check.h"
#include "libpitot/machine_usage.h"
#include "libpitot/process_usage.h"
#include "libpitot/profiler.h"
#include "libpitot/ticker.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define NO_NAME "operation"

/* The readings at one end. */
struct instant {
    uint64_t reset_count; /* before it was read */
    struct pt_process_usage process;
    struct pt_machine_usage machine;
    struct pt_gpu_mark gpu;
    double gpu_mb;
};

/* Open operations of all profilers are in one list. */
struct pt_operation {
    struct pt_operation *next;
    struct pt_profiler *profiler; /* NULL: abandoned */
    struct pt_record *record;
    uint64_t event, generation;
    struct instant begin;
    double rapl_joules; /* at the start */
    struct pt_flops_counter counter;
    double flops; /* added by the program; NAN: none */
    double peak_ram_mb, peak_gpu_mb;
    /* The kernel's peak is valid for this operation if it is above `mark_mb`. */
    double mark_mb;
    bool is_peak_exact; /* so far: it was valid at all times */
    uint64_t steps;
    struct pt_memory_series samples, step_samples;
    pt_span span;
};

static struct pt_operation nothing; /* the handle if there is no memory */
static struct pt_operation *open_operations;
static uint64_t reset_count; /* number of resets of the kernel's peak */

static double highest(double a, double b) {
    return fmax(a, b); /* a number, if one of them is */
}

/* The GPU is not read unless the profiler watches it. */
static double read_gpu_mb(const pt_profiler *p) {
    struct pt_gpu_now now;
    if (!p->watches_gpu || !pt_gpu_watch_read(&now))
        return NAN;
    return isnan(now.process_memory_mb) ? now.memory_used_mb : now.process_memory_mb;
}

static void read_gpu(const pt_profiler *p, struct instant *at) {
    at->gpu_mb = read_gpu_mb(p);
    if (p->watches_gpu)
        pt_gpu_watch_mark(&at->gpu);
}

/* Takes the kernel's peak; returns whether it is valid. */
static bool take_mark(struct pt_operation *op, double mark_mb) {
    if (!(mark_mb > op->mark_mb))
        return false;
    op->peak_ram_mb = highest(op->peak_ram_mb, mark_mb);
    return true;
}

/* Resets the peak for a new operation; the others take it before. False: not possible. */
static bool reset_mark(double mark_mb) {
    for (struct pt_operation *op = open_operations; op; op = op->next)
        op->is_peak_exact &= take_mark(op, mark_mb);
    if (!pt_process_reset_highest())
        return false;
    reset_count++;
    for (struct pt_operation *op = open_operations; op; op = op->next)
        op->mark_mb = -1;
    return true;
}

static void begin_memory(struct pt_operation *op, bool may_reset) {
    double ram_mb = op->begin.process.ram_mb, mark_mb = op->begin.process.highest_ram_mb;
    bool is_new = (may_reset && reset_mark(mark_mb)) || mark_mb <= ram_mb;
    op->mark_mb = is_new ? -1 : mark_mb;
    op->is_peak_exact = !isnan(mark_mb);
    op->peak_ram_mb = ram_mb;
}

static struct pt_operation *make(pt_profiler *p) {
    struct pt_operation *op = calloc(1, sizeof *op);
    if (!op)
        return NULL;
    op->profiler = p;
    op->flops = op->rapl_joules = NAN;
    return op;
}

/* Time and memory of the process come last: reading disturbs them most. */
static void open_operation(struct pt_operation *op, struct pt_record *record,
                           struct pt_kernel_text *buffer) {
    pt_profiler *p = op->profiler;
    op->record = record;
    op->generation = pt_profilers_generation();
    op->event = pt_profilers_event();
    if (p->options.track_carbon)
        op->rapl_joules = pt_energy_use_rapl(&p->energy);
    pt_process_usage_read(&op->begin.process, buffer);
    begin_memory(op, p->options.exact_peak);
    op->next = open_operations;
    open_operations = op;
}

static struct pt_operation *begin(pt_profiler *p, const char *name) {
    struct pt_kernel_text buffer = { 0 };
    struct pt_operation *op = make(p);
    if (!op)
        return NULL;
    pt_profilers_lock();
    struct pt_record *record = pt_profiler_record(p, name);
    pt_profilers_unlock();
    if (!record) {
        free(op);
        return NULL;
    }
    pt_ticker_wake();
    if (p->options.estimate_flops)
        (void)!pt_flops_counter_open(&op->counter);
    read_gpu(p, &op->begin);
    op->peak_gpu_mb = op->begin.gpu_mb;
    pt_machine_usage_read(&op->begin.machine, &buffer);
    op->span = pt_span_begin_once_(&record->span_name, record->name); /* no name while off */
    pt_profilers_lock();
    open_operation(op, record, &buffer);
    if (op->profiler->options.detailed_memory)
        pt_memory_series_add(&op->samples, 0, op->peak_ram_mb);
    pt_profilers_unlock();
    pt_kernel_text_release(&buffer);
    return op;
}

pt_operation *pt_operation_begin(pt_profiler *p, const char *name) {
    int saved_errno = errno;
    pt_operation *op = p ? begin(p, name && *name ? name : NO_NAME) : NULL;
    errno = saved_errno;
    return op ? op : &nothing;
}

static bool is_open(const struct pt_operation *op) {
    return op->profiler && op->generation == pt_profilers_generation();
}

static double seconds_since(const struct pt_operation *op) {
    return (double)(pt_mono_ns() - op->begin.process.time_ns) / (double)PT_NS_PER_SECOND;
}

void pt_operations_tick(void *profiler) {
    pt_profiler *p = profiler;
    double ram_mb = pt_process_ram_mb(), gpu_mb = read_gpu_mb(p);
    bool is_detailed = p->options.detailed_memory, has_open = false;
    pt_profilers_lock();
    for (struct pt_operation *op = open_operations; op; op = op->next) {
        if (op->profiler != p || !is_open(op))
            continue;
        has_open = true;
        op->peak_ram_mb = highest(op->peak_ram_mb, ram_mb);
        op->peak_gpu_mb = highest(op->peak_gpu_mb, gpu_mb);
        if (is_detailed && !isnan(ram_mb))
            pt_memory_series_add(&op->samples, seconds_since(op), ram_mb);
    }
    if (has_open && p->options.track_carbon)
        (void)pt_energy_use_rapl(&p->energy);
    pt_profilers_unlock();
}

static void take_step(struct pt_operation *op) {
    op->steps++;
    if (!op->profiler->options.detailed_memory || !pt_memory_series_wants(&op->step_samples))
        return;
    double ram_mb = pt_process_ram_mb();
    op->peak_ram_mb = highest(op->peak_ram_mb, ram_mb);
    if (!isnan(ram_mb))
        pt_memory_series_add(&op->step_samples, (double)op->steps, ram_mb);
}

void pt_operation_step(pt_operation *op) {
    if (!op || op == &nothing)
        return;
    pt_profilers_lock();
    if (is_open(op))
        take_step(op);
    pt_profilers_unlock();
}

void pt_operation_add_flops(pt_operation *op, double flops) {
    if (!op || op == &nothing || !isfinite(flops))
        return;
    pt_profilers_lock();
    op->flops = (isnan(op->flops) ? 0 : op->flops) + flops;
    pt_profilers_unlock();
}

static void find_leak(const struct pt_operation *op, pt_performance *p) {
    struct pt_leak_result leak =
        pt_leak_test(op->step_samples.x, op->step_samples.mb, op->step_samples.count);
    bool has_steps = leak.verdict != PT_LEAK_UNKNOWN;
    if (!has_steps)
        leak = pt_leak_test(op->samples.x, op->samples.mb, op->samples.count);
    p->memory.memory_leak_detected = leak.verdict;
    p->memory.growth_mb_per_step = has_steps ? leak.slope : NAN;
    p->memory.growth_mb_per_second = has_steps ? NAN : leak.slope;
    p->memory.growth_error_mb = leak.slope_error;
}

static void put_memory(struct pt_operation *op, const struct instant *end, pt_performance *p) {
    /* A peak from before a reset was taken then. */
    bool says_something =
        end->reset_count != reset_count || take_mark(op, end->process.highest_ram_mb);
    op->peak_ram_mb = highest(op->peak_ram_mb, end->process.ram_mb);
    op->peak_gpu_mb = highest(op->peak_gpu_mb, end->gpu_mb);
    p->memory.initial_ram_mb = op->begin.process.ram_mb;
    p->memory.final_ram_mb = end->process.ram_mb;
    p->memory.peak_ram_mb = op->peak_ram_mb;
    p->memory.is_peak_exact = op->is_peak_exact && says_something;
    p->memory.peak_gpu_mb = op->peak_gpu_mb;
    p->memory.steps = op->steps;
    find_leak(op, p);
}

static void put_times(const struct pt_process_usage *begin, const struct pt_process_usage *end,
                      pt_performance *p) {
    p->timing.wall_time_s = (double)(end->time_ns - begin->time_ns) / (double)PT_NS_PER_SECOND;
    p->timing.user_time_s = end->user_s - begin->user_s;
    p->timing.system_time_s = end->system_s - begin->system_s;
    p->timing.cpu_time_s = p->timing.user_time_s + p->timing.system_time_s;
}

static double per_second(double amount, double seconds) {
    return seconds > 0 ? amount / seconds : NAN;
}

/* Work reported by the program has priority over the CPU's counters. */
static void put_compute(const struct pt_operation *op, const struct pt_gpu_since *gpu,
                        pt_performance *p) {
    double wall_s = p->timing.wall_time_s, counted = pt_flops_counter_read(&op->counter);
    p->compute.estimated_flops = isnan(op->flops) ? counted : op->flops;
    p->compute.flops_per_second = per_second(p->compute.estimated_flops, wall_s);
    p->compute.flops_source = !isnan(op->flops) ? PT_FLOPS_ANALYTICAL
                              : isnan(counted)  ? PT_FLOPS_NONE
                                                : PT_FLOPS_COUNTED;
    p->compute.gpu_utilization_percent = gpu->utilization_percent;
    p->compute.cpu_utilization_percent = per_second(p->timing.cpu_time_s, wall_s) * 100;
}

static void put_system(const struct instant *begin, const struct instant *end, pt_performance *p) {
    p->system.cpu_percent = pt_machine_cpu_percent(&begin->machine, &end->machine);
    p->system.memory_percent = end->machine.memory_percent;
    p->system.disk_io_percent = pt_machine_disk_percent(&begin->machine, &end->machine);
    p->system.network_io_mb = pt_machine_network_mb(&begin->machine, &end->machine);
    p->system.disk_read_mb = end->process.disk_read_mb - begin->process.disk_read_mb;
    p->system.disk_write_mb = end->process.disk_write_mb - begin->process.disk_write_mb;
}

static void put_energy(struct pt_operation *op, const struct instant *end,
                       const struct pt_gpu_since *gpu, pt_performance *p) {
    p->energy.energy_joules = p->energy.error_low_percent = p->energy.error_high_percent = NAN;
    p->energy.carbon_grams = NAN;
    p->energy.carbon_error_low_percent = p->energy.carbon_error_high_percent = NAN;
    if (!op->profiler->options.track_carbon)
        return;
    struct pt_energy_inputs in = {
        .wall_s = p->timing.wall_time_s,
        .cpu_s = p->timing.cpu_time_s,
        .busy_s = pt_machine_busy_seconds(&op->begin.machine, &end->machine),
        .cpu_percent = p->system.cpu_percent,
        .rapl_joules = pt_energy_use_rapl(&op->profiler->energy) - op->rapl_joules,
        .gpu_power_w = gpu->power_w,
        .ram_mb = end->process.ram_mb,
        .memory_mb = end->machine.memory_mb,
    };
    pt_energy_use_estimate(&op->profiler->energy.basis, &in, p);
}

/* The lock is held. */
static void measure(struct pt_operation *op, const struct instant *end, pt_performance *p) {
    struct pt_gpu_since gpu = { NAN, NAN };
    *p = (pt_performance){ 0 };
    pt_str_copy(p->operation, sizeof p->operation, pt_str_from(op->record->name));
    if (op->profiler->watches_gpu)
        pt_gpu_watch_between(&op->begin.gpu, &end->gpu, &gpu);
    put_times(&op->begin.process, &end->process, p);
    put_memory(op, end, p);
    put_compute(op, &gpu, p);
    put_system(&op->begin, end, p);
    put_energy(op, end, &gpu, p);
}

/* Time first: the other readings are not part of the operation. */
static void read_end(const pt_profiler *p, struct instant *end) {
    struct pt_kernel_text buffer = { 0 };
    pt_profilers_lock();
    end->reset_count = reset_count;
    pt_profilers_unlock();
    pt_process_usage_read(&end->process, &buffer);
    pt_machine_usage_read(&end->machine, &buffer);
    read_gpu(p, end);
    pt_kernel_text_release(&buffer);
}

static void close_operation(struct pt_operation *op) {
    struct pt_operation **at = &open_operations;
    while (*at && *at != op)
        at = &(*at)->next;
    if (*at)
        *at = op->next;
}

static void keep_result(struct pt_operation *op, const struct instant *end, bool has_succeeded) {
    struct pt_record *record = op->record;
    if (op->profiler->options.detailed_memory && !isnan(end->process.ram_mb))
        pt_memory_series_add(&op->samples, seconds_since(op), end->process.ram_mb);
    measure(op, end, &record->result);
    record->result.is_complete = true;
    record->result.has_failed = !has_succeeded;
    record->event = pt_profilers_event();
    record->total_s += record->result.timing.wall_time_s;
    pt_memory_series_release(&record->samples);
    record->samples = op->samples;
    op->samples = (struct pt_memory_series){ 0 };
}

static void release(struct pt_operation *op) {
    pt_flops_counter_close(&op->counter);
    pt_memory_series_release(&op->samples);
    pt_memory_series_release(&op->step_samples);
    free(op);
}

/* The profiler of an open operation; NULL: it is abandoned, or the parent's. */
static pt_profiler *profiler_of(const struct pt_operation *op) {
    pt_profilers_lock();
    pt_profiler *p = is_open(op) ? op->profiler : NULL;
    pt_profilers_unlock();
    return p;
}

void pt_operation_end(pt_operation *op, bool has_succeeded) {
    int saved_errno = errno;
    struct instant end = { 0 };
    if (!op || op == &nothing)
        return;
    pt_profiler *p = profiler_of(op);
    if (p) {
        pt_span_end(&op->span);
        read_end(p, &end);
    }
    pt_profilers_lock();
    close_operation(op);
    if (p)
        keep_result(op, &end, has_succeeded);
    pt_profilers_unlock();
    release(op);
    errno = saved_errno;
}

void pt_operations_abandon(pt_profiler *p) {
    struct pt_operation **at = &open_operations;
    while (*at) {
        struct pt_operation *op = *at;
        if (op->profiler != p) {
            at = &op->next;
            continue;
        }
        *at = op->next;
        op->profiler = NULL;
        op->record = NULL;
    }
}

/* The newest come first. */
uint64_t pt_operations_find(pt_profiler *p, const char *name,
                            const struct pt_memory_series **samples) {
    for (struct pt_operation *op = open_operations; op; op = op->next)
        if (op->profiler == p && is_open(op) &&
            (!name || strncmp(op->record->name, name, sizeof op->record->name - 1) == 0)) {
            *samples = &op->samples;
            return op->event;
        }
    return 0;
}

static struct pt_operation *find_by_event(uint64_t event) {
    struct pt_operation *op = open_operations;
    while (op && op->event != event)
        op = op->next;
    return op;
}

bool pt_operations_measure(pt_profiler *p, uint64_t event, pt_performance *into) {
    struct instant end = { 0 };
    read_end(p, &end);
    pt_profilers_lock();
    struct pt_operation *op = find_by_event(event);
    if (op)
        measure(op, &end, into);
    pt_profilers_unlock();
    return op != NULL;
}
