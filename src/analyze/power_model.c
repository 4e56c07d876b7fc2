#include "analyze/power_model.h"

#include <math.h>
#include <string.h>

/* TDP as the vendor states it and threads, both of one socket. A name that contains another
 * name is listed before it. */
static const struct cpu {
    const char *name;
    double watts, threads;
} cpus[] = {
    { "EPYC 9965", 500, 384 },
    { "EPYC 9755", 500, 256 },
    { "EPYC 9654", 360, 192 },
    { "EPYC 9554", 360, 128 },
    { "EPYC 9354", 280, 64 },
    { "EPYC 7763", 280, 128 },
    { "EPYC 7742", 225, 128 },
    { "EPYC 7713", 225, 128 },
    { "EPYC 7702", 200, 128 },
    { "EPYC 7543", 225, 64 },
    { "EPYC 7402", 180, 48 },
    { "EPYC 7R13", 225, 96 },
    { "EPYC 7B12", 240, 128 },
    { "Platinum 8592+", 350, 128 },
    { "Platinum 8558P", 350, 96 },
    { "Platinum 8558U", 300, 96 },
    { "Platinum 8558", 330, 96 },
    { "Platinum 8480+", 350, 112 },
    { "Platinum 8470N", 300, 104 },
    { "Platinum 8470", 350, 104 },
    { "Platinum 8380H", 250, 56 },
    { "Platinum 8380", 270, 80 },
    { "Platinum 8375C", 300, 64 },
    { "Platinum 8358P", 240, 64 },
    { "Platinum 8358", 250, 64 },
    { "Platinum 8280", 205, 56 },
    { "Platinum 8275CL", 240, 48 },
    { "Platinum 8259CL", 210, 48 },
    { "Platinum 8175M", 240, 48 },
    { "Gold 6338N", 185, 64 },
    { "Gold 6338T", 165, 48 },
    { "Gold 6338", 205, 64 },
    { "Gold 6248R", 205, 48 },
    { "Gold 6248", 150, 40 },
    { "Gold 6230R", 150, 52 },
    { "Gold 6230", 125, 40 },
    { "Gold 6148", 150, 40 },
    { "E5-2690 v4", 135, 28 },
    { "E5-2686 v4", 145, 36 },
    { "E5-2680 v4", 120, 28 },
    { "Threadripper PRO 5975WX", 280, 64 },
    { "Ryzen 9 7950X3D", 120, 32 },
    { "Ryzen 9 7950X", 170, 32 },
    { "Ryzen 9 5950X", 105, 32 },
    { "Ryzen 9 5900X", 105, 24 },
    { "Ryzen 9 3900X", 105, 24 },
    { "Ryzen 7 5800X", 105, 16 },
    { "i9-13900K", 125, 32 },
    { "i9-11900K", 125, 16 },
    { "i9-10900K", 125, 20 },
    { "i7-8700K", 95, 12 },
    { "i7-1165G7", 28, 8 },
};

#define DEFAULT_SOCKET_WATTS 85
/* A large server's 350 W over its 128 threads. */
#define DEFAULT_THREAD_WATTS (350.0 / 128)

/* Error of the model, by what is known. The first row is the middle 90 % of 86 comparisons with
 * RAPL (docs/ENERGY.md); the others are estimates: neighbours, overcommitment and
 * turbo in a virtual machine, and processors of 15 to 350 W behind the default. */
static const struct {
    double low, high;
} known_host = { 0.4, 1.4 }, known_guest = { 0.3, 2 }, unknown_host = { 0.1, 4 },
  unknown_guest = { 0.2, 3 };

/* 5 W per module; modules of 64 GB at the low end, of 8 GB at the high end. */
#define MEMORY_WATTS_PER_GB 0.375
#define MEMORY_LOW          (5.0 / 64 / MEMORY_WATTS_PER_GB)
#define MEMORY_HIGH         (5.0 / 8 / MEMORY_WATTS_PER_GB)

double pt_power_share(double busy) {
    double u = fmin(fmax(busy, 0), 1);
    return 0.1 + 0.9 * (u <= 0.5 ? u * 5 / 3 : 5.0 / 6 + (u - 0.5) / 3);
}

struct pt_estimate pt_power_full(const struct pt_energy_basis *b) {
    const struct cpu *cpu = NULL;
    for (size_t i = 0; i < PT_COUNT(cpus) && !cpu; i++)
        if (strstr(b->cpu_type, cpus[i].name))
            cpu = &cpus[i];
    if (b->is_guest.value > 0 && b->cpu_threads.is_given) {
        double threads = b->cpu_threads.value;
        return cpu ? pt_estimate_of(cpu->watts * threads / cpu->threads, known_guest.low,
                                    known_guest.high, PT_MODELLED,
                                    "virtual machine: %.0f of %.0f threads of a %s, TDP %.0f W",
                                    threads, cpu->threads, cpu->name, cpu->watts)
                   : pt_estimate_of(DEFAULT_THREAD_WATTS * threads, unknown_guest.low,
                                    unknown_guest.high, PT_MODELLED,
                                    "virtual machine, unknown CPU: %.0f threads of %.1f W", threads,
                                    DEFAULT_THREAD_WATTS);
    }
    double sockets = b->cpu_sockets.is_given ? b->cpu_sockets.value : 1;
    return cpu ? pt_estimate_of(cpu->watts * sockets, known_host.low, known_host.high, PT_MODELLED,
                                "%s: TDP %.0f W x %.0f sockets", cpu->name, cpu->watts, sockets)
               : pt_estimate_of(DEFAULT_SOCKET_WATTS * sockets, unknown_host.low, unknown_host.high,
                                PT_MODELLED, "unknown CPU: default TDP %d W x %.0f sockets",
                                DEFAULT_SOCKET_WATTS, sockets);
}

struct pt_estimate pt_power_memory(const struct pt_energy_basis *b) {
    if (!b->memory_bytes.is_given)
        return (struct pt_estimate){ 0 };
    double gigabytes = b->memory_bytes.value / (1024.0 * 1024 * 1024);
    return pt_estimate_of(gigabytes * MEMORY_WATTS_PER_GB, MEMORY_LOW, MEMORY_HIGH, PT_MODELLED,
                          "%.1f GB x %.3f W", gigabytes, MEMORY_WATTS_PER_GB);
}
