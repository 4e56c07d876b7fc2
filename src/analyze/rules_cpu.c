/* analyze/rules_cpu.c -- CPU limits: all CPUs, one thread, locks, the quota, other processes. */
#include "analyze/verdict.h"

#define S(name) PT_FIGURE_##name

const struct pt_rule pt_rules_cpu[] = {
    {
        .id = "cpu-bound",
        .title = "CPU-bound: the command keeps all its CPUs busy",
        .forms = { { { { S(OWN_CPU_SHARE), '>', 0.75, 0.95 }, { S(CPU_BUSY), '>', 0.8, 0.97 } } },
                   { { { S(OWN_CPU_SHARE), '>', 0.75, 0.95 },
                       { S(OWN_CPU_PRESSURE), '>', 0.1, 0.5 } } },
                   /* the machine as a whole, where no command was recorded */
                   { { { S(MACHINE_BUSY), '>', 0.9, 0.98 },
                       { S(CPU_PRESSURE), '>', 0.2, 0.6 } } } },
        .against = { { S(OTHERS_CPU), '>', 0.5 },
                     { S(OWN_THROTTLED), '>', 0.1 },
                     { S(CPU_STEAL), '>', 0.1 } },
        .advice =
            "Use more or faster CPUs (a larger instance, a wider cpuset), or do less work: "
            "compiled or vectorised code (torch.compile, NumPy instead of loops), a smaller or "
            "quantised model, no more workers than CPUs. Twice the CPUs give at most twice the "
            "throughput. `pitot cpu` shows the functions to start with.",
    },
    {
        .id = "single-thread-bound",
        .title = "Single-thread-bound: one thread is always busy while other CPUs are idle",
        .forms = { { { { S(OWN_HOTTEST), '>', 0.85, 0.97 },
                       { S(OWN_CPU), '<', 1.25 },
                       { S(CORE_BUSIEST), '>', 0.8, 0.95 },
                       { S(CPU_BUSY), '<', 0.9, 0.7 },
                       { S(CPU_COUNT), '>', 1 } } },
                   { { { S(OWN_CPU), '>', 0.85, 0.97 },
                       { S(OWN_CPU), '<', 1.1 },
                       { S(CORE_BUSIEST), '>', 0.85, 0.97 },
                       { S(CPU_BUSY), '<', 0.9, 0.7 },
                       { S(CPU_COUNT), '>', 1 } } },
                   /* other processes are busy, but the command never waits for a CPU */
                   { { { S(OWN_HOTTEST), '>', 0.9, 0.97 },
                       { S(OWN_CPU), '<', 1.1 },
                       { S(OWN_CPU_PRESSURE), '<', 0.15, 0.03 },
                       { S(CPU_COUNT), '>', 1 } } },
                   /* the same without process data: could be two threads of half a CPU each */
                   { { { S(OWN_CPU), '>', 0.9, 0.97 },
                       { S(OWN_CPU), '<', 1.1 },
                       { S(OWN_CPU_PRESSURE), '<', 0.15, 0.03 },
                       { S(CPU_COUNT), '>', 1 } },
                     .ceiling = 0.5 } },
        .against = { { S(OWN_CPU_PRESSURE), '>', 0.3 },
                     { S(OWN_THROTTLED), '>', 0.1 },
                     { S(OWN_IO_PRESSURE), '>', 0.3 } },
        .advice =
            "Spread the work over more threads or processes (engine workers, data-loader "
            "num_workers, OMP_NUM_THREADS), or make the hot thread do less; in Python also check "
            "the GIL. The limit with all CPUs is this throughput times their number.",
    },
    {
        .id = "gil-bound",
        .title = "GIL contention: threads of a Python process wait for the interpreter lock",
        .forms = { { { { S(PYTHON_SWITCHES), '>', 120, 400 },
                       { S(PYTHON_CPU), '>', 0.8, 0.97 },
                       { S(PYTHON_CPU), '<', 1.3 },
                       { S(PYTHON_THREADS), '>', 1.5 } } },
                   { { { S(PROFILE_GIL), '>', 0.2, 0.6 }, { S(PYTHON_CPU), '>', 0.7, 0.95 } } },
                   { { { S(PROFILE_GIL), '>', 0.2, 0.6 }, { S(OWN_CPU), '>', 0.7, 0.95 } } } },
        .against = { { S(OWN_THROTTLED), '>', 0.1 }, { S(OWN_IO_PRESSURE), '>', 0.3 } },
        .advice =
            "Use processes instead of threads (multiprocessing, engine workers, data-loader "
            "workers), or code that releases the lock: NumPy, torch, a C extension, a "
            "free-threaded Python. Pure Python work can become faster by a factor of up to the "
            "number of CPUs.",
        .note = "A thread that waits for the GIL wakes every 5 ms: 200 switches per second are one "
                "such thread.",
        .explains = { "single-thread-bound", "cpu-bound", "lock-contention" },
    },
    {
        .id = "lock-contention",
        .title = "Lock contention: threads wait for a lock",
        .forms = { { { { S(PROFILE_LOCK), '>', 0.08, 0.3 },
                       { S(OWN_SWITCHES), '>', 1000, 10000 } } } },
        .against = { { S(PYTHON_SWITCHES), '>', 120 } },
        .advice =
            "Hold the lock for less time or split it: move work out of the locked section, use "
            "one lock per shard, process batches instead of single items, use fewer threads; if "
            "it is malloc's lock, set MALLOC_ARENA_MAX or use another allocator. The gain is the "
            "lock's share of CPU time plus the time spent waiting.",
        .explains = { "cpu-bound" },
    },
    {
        .id = "cpu-throttled",
        .title = "CPU throttled by its cgroup quota",
        .forms = { { { { S(OWN_THROTTLED), '>', 0.1, 0.5 },
                       { S(OWN_QUOTA_USE), '>', 0.7, 0.95 } } },
                   { { { S(OWN_THROTTLED), '>', 0.1, 0.5 },
                       { S(OWN_THROTTLED_TIME), '>', 0.05, 0.3 },
                       { S(OWN_CPU_PRESSURE), '>', 0.05, 0.2 } } } },
        /* throttled in many periods, but only for a negligible time */
        .against = { { S(OWN_THROTTLED_TIME), '<', 0.01 }, { S(OWN_QUOTA_USE), '<', 0.5 } },
        .advice =
            "Raise the CPU limit (Kubernetes limits.cpu, docker --cpus, systemd CPUQuota=) or "
            "start no more threads than it allows (OMP_NUM_THREADS, workers). This removes "
            "latency spikes of up to one period, usually 100 ms.",
        .explains = { "cpu-bound", "single-thread-bound", "cpu-steal" },
    },
    {
        .id = "cpu-steal",
        .title = "CPU contention: other processes or the hypervisor (steal) use the CPUs this "
                 "command needs",
        .forms = { { { { S(CPU_STEAL), '>', 0.05, 0.2 },
                       { S(CPU_PRESSURE), '>', 0.1, 0.4 },
                       { S(OWN_CPU), '>', 0.25 } } },
                   { { { S(CPU_STEAL), '>', 0.05, 0.2 },
                       { S(CPU_PRESSURE), '>', 0.1, 0.4 },
                       { S(MACHINE_BUSY), '>', 0.25 } } },
                   { { { S(OTHERS_CPU), '>', 0.35, 0.6 },
                       { S(OWN_CPU_PRESSURE), '>', 0.15, 0.5 },
                       { S(CPU_BUSY), '>', 0.85, 0.97 } } },
                   /* a process in a cgroup with others has no pressure of its own */
                   { { { S(OTHERS_CPU), '>', 0.35, 0.6 },
                       { S(OWN_RUN_DELAY), '>', 0.15, 0.5 },
                       { S(CPU_BUSY), '>', 0.85, 0.97 } } } },
        .against = { { S(OWN_THROTTLED), '>', 0.1 }, { S(OWN_CPU_SHARE), '>', 0.75 } },
        .advice =
            "Separate the workloads: another machine, dedicated CPUs (cpuset, taskset), a higher "
            "weight (cpu.weight, nice); for steal, a larger or dedicated instance. The time spent "
            "waiting for a CPU becomes time for work.",
        .explains = { "cpu-bound" },
    },
    { 0 },
};
