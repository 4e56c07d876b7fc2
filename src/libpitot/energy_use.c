#include "libpitot/energy_use.h"

#include "analyze/carbon.h"
#include "analyze/power_model.h"
#include "base/clock.h"
#include "source/kernel/cpuinfo.h"

#include <math.h>
#include <stdlib.h>

#define JOULES_PER_KWH 3.6e6
#define FILE_LIMIT     (4u << 20)
/* As in docs/ENERGY.md for RAPL packages; NVML specifies 5 %. */
#define MEASURED_LOW  0.95
#define MEASURED_HIGH 1.05

static const char procfs[] = "/proc", sysfs[] = "/sys", rootfs[] = "/",
                  cpu_path[] = "/proc/cpuinfo", memory_path[] = "/proc/meminfo";

static void describe(struct pt_energy_basis *b, struct pt_kernel_text *buffer) {
    struct pt_scan text;
    struct pt_cpuinfo cpu;
    int64_t kib;
    if (!pt_kernel_text_read(buffer, cpu_path, FILE_LIMIT, &text)) {
        pt_cpuinfo_parse(text, &cpu);
        pt_str_copy(b->cpu_type, sizeof b->cpu_type, pt_str_from(cpu.type));
        b->cpu_threads = (struct pt_given){ cpu.processor_count > 0, cpu.processor_count };
        b->cpu_sockets = (struct pt_given){ cpu.socket_count > 0, cpu.socket_count };
        b->is_guest = (struct pt_given){ cpu.is_x86, cpu.is_guest };
    }
    if (!pt_kernel_text_read(buffer, memory_path, FILE_LIMIT, &text) &&
        pt_kernel_text_find(text, PT_STR("MemTotal:"), &kib))
        b->memory_bytes = (struct pt_given){ true, (double)kib * 1024 };
}

void pt_energy_use_open(struct pt_energy_use *e, struct pt_kernel_text *buffer) {
    struct pt_fs fs;
    const char *region = secure_getenv("PITOT_CARBON_REGION");
    *e = (struct pt_energy_use){ 0 };
    describe(&e->basis, buffer);
    if (region)
        (void)!pt_energy_basis_set(&e->basis, PT_STR("region"), pt_str_from(region), NULL);
    if (pt_fs_open(&fs, procfs, sysfs, rootfs, NULL))
        return;
    (void)!pt_rapl_open(&e->rapl, &fs);
    pt_fs_close(&fs);
}

void pt_energy_use_close(struct pt_energy_use *e) {
    pt_rapl_close(&e->rapl);
}

/* Files are not kept open: the program may close them and reuse their descriptors. */
double pt_energy_use_rapl(struct pt_energy_use *e) {
    struct pt_fs fs;
    double joules = NAN;
    if (e->rapl.zone_count == 0 || pt_fs_open(&fs, procfs, sysfs, rootfs, NULL))
        return NAN;
    for (size_t i = 0; i < e->rapl.zone_count; i++) {
        struct pt_rapl_zone *zone = &e->rapl.zones[i];
        /* The platform counter includes both, but does not move on many machines; cores are parts
         * of packages. */
        struct pt_str domain = pt_str_from(zone->domain);
        bool is_counted =
            pt_str_starts(domain, PT_STR("package")) || pt_str_starts(domain, PT_STR("dram"));
        if (is_counted && !pt_rapl_read(&e->rapl, zone, &fs, pt_mono_ns()))
            joules = (isnan(joules) ? 0 : joules) + (double)zone->counter.total_uj / 1e6;
        pt_file_close(&zone->file);
    }
    pt_fs_close(&fs);
    return joules;
}

/* CPU time of the process divided by that of all. The machine's is counted in ticks: a short
 * interval may have none. */
static double part_of_cpu(const struct pt_energy_inputs *in) {
    double busy_s = fmax(in->busy_s, in->cpu_s);
    return busy_s > 0 ? in->cpu_s / busy_s : 0;
}

static struct pt_estimate sum_of(const struct pt_energy_basis *b,
                                 const struct pt_energy_inputs *in) {
    struct pt_estimate sum = { 0 }, part;
    if (!isnan(in->rapl_joules)) {
        sum = pt_estimate_of(in->rapl_joules * part_of_cpu(in), MEASURED_LOW, MEASURED_HIGH,
                             PT_MEASURED, "RAPL");
    } else {
        struct pt_estimate full = pt_power_full(b);
        double share =
            isnan(in->cpu_percent) ? PT_POWER_SHARE_UNKNOWN : pt_power_share(in->cpu_percent / 100);
        sum = pt_estimate_scaled(&full, share * in->wall_s * part_of_cpu(in));
        struct pt_estimate all = pt_power_memory(b);
        part = pt_estimate_scaled(&all, in->wall_s * in->ram_mb / in->memory_mb);
        pt_estimate_add(&sum, &part);
    }
    part = pt_estimate_of(in->gpu_power_w * in->wall_s, MEASURED_LOW, MEASURED_HIGH, PT_MEASURED,
                          "GPU");
    pt_estimate_add(&sum, &part);
    return sum;
}

static double below_percent(const struct pt_estimate *e) {
    return e->value > 0 ? (1 - e->low / e->value) * 100 : NAN;
}

static double above_percent(const struct pt_estimate *e) {
    return e->value > 0 ? (e->high / e->value - 1) * 100 : NAN;
}

void pt_energy_use_estimate(const struct pt_energy_basis *basis, const struct pt_energy_inputs *in,
                            pt_performance *p) {
    struct pt_estimate energy = sum_of(basis, in);
    struct pt_estimate intensity =
        pt_carbon_intensity(basis->region[0] ? pt_carbon_find(pt_str_from(basis->region)) : NULL);
    struct pt_estimate kwh = pt_estimate_scaled(&energy, 1 / JOULES_PER_KWH);
    struct pt_estimate carbon = pt_estimate_times(&kwh, &intensity);
    if (!pt_estimate_is_known(&energy))
        return;
    p->energy.energy_joules = energy.value;
    p->energy.source = energy.provenance == PT_MEASURED ? PT_ENERGY_MEASURED : PT_ENERGY_MODELLED;
    p->energy.error_low_percent = below_percent(&energy);
    p->energy.error_high_percent = above_percent(&energy);
    p->energy.carbon_grams = carbon.value;
    p->energy.carbon_error_low_percent = below_percent(&carbon);
    p->energy.carbon_error_high_percent = above_percent(&carbon);
}
