/* The figures of one operation, as a line and as JSON. */
#include "base/attr.h"
#include "base/json.h"

#include <pitot/operation.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MB_PER_GB  1024
#define AT(member) offsetof(pt_performance, member)
#define NUMBER(section, name) \
    { #name, AT(section.name) }

struct number {
    const char *key;
    size_t offset; /* of a double */
};

static const struct number memory_numbers[] = {
    NUMBER(memory, initial_ram_mb),     NUMBER(memory, peak_ram_mb),
    NUMBER(memory, final_ram_mb),       NUMBER(memory, peak_gpu_mb),
    NUMBER(memory, growth_mb_per_step), NUMBER(memory, growth_mb_per_second),
    NUMBER(memory, growth_error_mb),
}, timing_numbers[] = {
    NUMBER(timing, wall_time_s),
    NUMBER(timing, cpu_time_s),
    NUMBER(timing, user_time_s),
    NUMBER(timing, system_time_s),
}, compute_numbers[] = {
    NUMBER(compute, estimated_flops),
    NUMBER(compute, flops_per_second),
    NUMBER(compute, gpu_utilization_percent),
    NUMBER(compute, cpu_utilization_percent),
}, system_numbers[] = {
    NUMBER(system, cpu_percent),   NUMBER(system, memory_percent), NUMBER(system, disk_io_percent),
    NUMBER(system, network_io_mb), NUMBER(system, disk_read_mb),   NUMBER(system, disk_write_mb),
}, energy_numbers[] = {
    NUMBER(energy, energy_joules),
    NUMBER(energy, error_low_percent),
    NUMBER(energy, error_high_percent),
    NUMBER(energy, carbon_grams),
    NUMBER(energy, carbon_error_low_percent),
    NUMBER(energy, carbon_error_high_percent),
};

/* A decimal point in any locale of the program. */
static void print_tenths(double value, char *into, size_t capacity) {
    long long tenths = (long long)llround(value * 10);
    snprintf(into, capacity, "%lld.%lld", tenths / 10, tenths % 10);
}

static void print_memory(double mb, char *into, size_t capacity) {
    char number[32];
    bool is_gb = round(mb * 10) / 10 >= MB_PER_GB;
    if (!isfinite(mb) || mb < 0 || mb > 1e15) {
        snprintf(into, capacity, "unknown");
        return;
    }
    print_tenths(is_gb ? mb / MB_PER_GB : mb, number, sizeof number);
    snprintf(into, capacity, "%s %s", number, is_gb ? "GB" : "MB");
}

char *pt_performance_summary(const pt_performance *p, char *into, size_t capacity) {
    char memory[48], seconds[32] = "unknown", gpu[48] = "";
    double wall_s = p->timing.wall_time_s, percent = p->compute.gpu_utilization_percent;
    if (capacity == 0)
        return into;
    print_memory(p->memory.peak_ram_mb, memory, sizeof memory);
    if (wall_s >= 0 && wall_s < 1e15)
        print_tenths(wall_s, seconds, sizeof seconds - 1);
    if (percent >= 0 && percent <= 100)
        snprintf(gpu, sizeof gpu, ", GPU Util: %lld%%", (long long)llround(percent));
    snprintf(into, capacity, "Peak RAM: %s, Wall Time: %s%s%s", memory, seconds,
             seconds[0] == 'u' ? "" : "s", gpu);
    return into;
}

static void put_numbers(struct pt_json *j, const pt_performance *p, const struct number *numbers,
                        size_t count) {
    for (size_t i = 0; i < count; i++) {
        double value;
        memcpy(&value, (const char *)p + numbers[i].offset, sizeof value);
        pt_json_f64(j, numbers[i].key, value);
    }
}

static void put_memory(struct pt_json *j, const pt_performance *p) {
    pt_json_object(j, "memory");
    put_numbers(j, p, memory_numbers, PT_COUNT(memory_numbers));
    pt_json_bool(j, "is_peak_exact", p->memory.is_peak_exact);
    if (p->memory.memory_leak_detected == PT_LEAK_UNKNOWN)
        pt_json_null(j, "memory_leak_detected");
    else
        pt_json_bool(j, "memory_leak_detected", p->memory.memory_leak_detected == PT_LEAK_YES);
    pt_json_i64(j, "steps", (int64_t)p->memory.steps);
    pt_json_end(j);
}

static void put_section(struct pt_json *j, const char *key, const pt_performance *p,
                        const struct number *numbers, size_t count) {
    pt_json_object(j, key);
    put_numbers(j, p, numbers, count);
    pt_json_end(j);
}

static void put_compute(struct pt_json *j, const pt_performance *p) {
    static const char *const sources[] = { NULL, "counted", "analytical" };
    pt_json_object(j, "compute");
    put_numbers(j, p, compute_numbers, PT_COUNT(compute_numbers));
    pt_json_text(j, "flops_source", sources[p->compute.flops_source]);
    pt_json_end(j);
}

static void put_energy(struct pt_json *j, const pt_performance *p) {
    static const char *const sources[] = { NULL, "measured", "modelled" };
    pt_json_object(j, "energy");
    put_numbers(j, p, energy_numbers, PT_COUNT(energy_numbers));
    pt_json_text(j, "source", sources[p->energy.source]);
    pt_json_end(j);
}

static void put_performance(struct pt_out *out, const pt_performance *p) {
    struct pt_json j = { .out = out };
    pt_json_object(&j, NULL);
    pt_json_text(&j, "operation", p->operation);
    pt_json_bool(&j, "is_complete", p->is_complete);
    pt_json_bool(&j, "has_failed", p->has_failed);
    put_memory(&j, p);
    put_section(&j, "timing", p, timing_numbers, PT_COUNT(timing_numbers));
    put_compute(&j, p);
    put_section(&j, "system", p, system_numbers, PT_COUNT(system_numbers));
    put_energy(&j, p);
    pt_json_end(&j);
}

/* The text is far shorter than the buffer of an output: it is never flushed. */
char *pt_performance_json(const pt_performance *p) {
    int saved_errno = errno;
    struct pt_out out = { .buffer = malloc(PT_OUT_BUFFER), .fd = -1 };
    char *shorter = NULL;
    if (out.buffer) {
        put_performance(&out, p);
        out.buffer[out.used] = 0;
        shorter = realloc(out.buffer, out.used + 1);
    }
    errno = saved_errno;
    return shorter ? shorter : out.buffer;
}
