/* analyze/rules_cpu.c -- too little CPU: all of them, one, the quota, or others in the way. */
#include "analyze/verdict.h"

#define S(name) PT_SIGNAL_##name

const struct pt_rule pt_rules_cpu[] = {
    {
        .id = "cpu-bound",
        .title = "All CPUs that the command may use are busy with it",
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
            "More or faster CPUs (a larger instance, a wider cpuset), or less to do: compiled or "
            "vectorised code (torch.compile, NumPy instead of loops), a smaller or quantised "
            "model, no more workers than CPUs. Twice the CPUs bring at most twice the "
            "throughput. `pitot cpu` shows which functions to begin with.",
    },
    {
        .id = "single-thread-bound",
        .title = "One thread is busy all the time while other CPUs are idle",
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
                   /* others keep the rest of the machine busy, but it never waits for a CPU */
                   { { { S(OWN_HOTTEST), '>', 0.9, 0.97 },
                       { S(OWN_CPU), '<', 1.1 },
                       { S(OWN_CPU_PRESSURE), '<', 0.15, 0.03 },
                       { S(CPU_COUNT), '>', 1 } } },
                   /* the same without processes: may be two threads of half a CPU */
                   { { { S(OWN_CPU), '>', 0.9, 0.97 },
                       { S(OWN_CPU), '<', 1.1 },
                       { S(OWN_CPU_PRESSURE), '<', 0.15, 0.03 },
                       { S(CPU_COUNT), '>', 1 } },
                     .ceiling = 0.5 } },
        .against = { { S(OWN_CPU_PRESSURE), '>', 0.3 },
                     { S(OWN_THROTTLED), '>', 0.1 },
                     { S(OWN_IO_PRESSURE), '>', 0.3 } },
        .advice =
            "Spread the work: more threads or processes (engine workers, data-loader "
            "num_workers, OMP_NUM_THREADS), or make the one hot thread do less; in Python also "
            "check the GIL. With all CPUs the limit is their number times this throughput.",
    },
    {
        .id = "gil-bound",
        .title = "Threads of a Python process wait for each other's interpreter lock",
        .forms = { { { { S(PYTHON_SWITCHES), '>', 120, 400 },
                       { S(PYTHON_CPU), '>', 0.8, 0.97 },
                       { S(PYTHON_CPU), '<', 1.3 },
                       { S(PYTHON_THREADS), '>', 1.5 } } },
                   { { { S(PROFILE_GIL), '>', 0.2, 0.6 }, { S(PYTHON_CPU), '>', 0.7, 0.95 } } },
                   { { { S(PROFILE_GIL), '>', 0.2, 0.6 }, { S(OWN_CPU), '>', 0.7, 0.95 } } } },
        .against = { { S(OWN_THROTTLED), '>', 0.1 }, { S(OWN_IO_PRESSURE), '>', 0.3 } },
        .advice =
            "Processes instead of threads (multiprocessing, engine workers, data-loader workers), "
            "or code that gives the lock up: NumPy, torch, a C extension, a free-threaded Python. "
            "Work that is all Python gains as many times as there are CPUs.",
        .note = "A thread that waits for the GIL wakes every 5 ms: 200 switches per second are one "
                "such thread.",
        .explains = { "single-thread-bound", "cpu-bound", "lock-contention" },
    },
    {
        .id = "lock-contention",
        .title = "Threads spend their time on getting a lock",
        .forms = { { { { S(PROFILE_LOCK), '>', 0.08, 0.3 },
                       { S(OWN_SWITCHES), '>', 1000, 10000 } } } },
        .against = { { S(PYTHON_SWITCHES), '>', 120 } },
        .advice =
            "Hold it for less, or have more of them: move work out of the locked part, one lock "
            "for each shard, batches instead of single items, fewer threads than contend now; "
            "MALLOC_ARENA_MAX or another allocator if it is malloc's. The lock's share of CPU "
            "time and the time spent waiting come back.",
        .explains = { "cpu-bound" },
    },
    {
        .id = "cpu-throttled",
        .title = "The CPU quota of its cgroup stops it again and again",
        .forms = { { { { S(OWN_THROTTLED), '>', 0.1, 0.5 },
                       { S(OWN_QUOTA_USE), '>', 0.7, 0.95 } } },
                   { { { S(OWN_THROTTLED), '>', 0.1, 0.5 },
                       { S(OWN_THROTTLED_TIME), '>', 0.05, 0.3 },
                       { S(OWN_CPU_PRESSURE), '>', 0.05, 0.2 } } } },
        /* stopped at the end of many periods, but for no time worth mentioning */
        .against = { { S(OWN_THROTTLED_TIME), '<', 0.01 }, { S(OWN_QUOTA_USE), '<', 0.5 } },
        .advice =
            "Raise the CPU limit (Kubernetes limits.cpu, docker --cpus, systemd CPUQuota=) or "
            "start no more threads than it allows (OMP_NUM_THREADS, workers). Latency spikes of "
            "up to a period, mostly 100 ms, go away.",
        .explains = { "cpu-bound", "single-thread-bound", "cpu-steal" },
    },
    {
        .id = "cpu-steal",
        .title = "Others have the CPUs that it wants: a neighbour here, or the hypervisor",
        .forms = { { { { S(CPU_STEAL), '>', 0.05, 0.2 },
                       { S(CPU_PRESSURE), '>', 0.1, 0.4 },
                       { S(OWN_CPU), '>', 0.25 } } },
                   { { { S(CPU_STEAL), '>', 0.05, 0.2 },
                       { S(CPU_PRESSURE), '>', 0.1, 0.4 },
                       { S(MACHINE_BUSY), '>', 0.25 } } },
                   { { { S(OTHERS_CPU), '>', 0.35, 0.6 },
                       { S(OWN_CPU_PRESSURE), '>', 0.15, 0.5 },
                       { S(CPU_BUSY), '>', 0.85, 0.97 } } } },
        .against = { { S(OWN_THROTTLED), '>', 0.1 }, { S(OWN_CPU_SHARE), '>', 0.75 } },
        .advice = "Move it or them: another machine, CPUs of its own (cpuset, taskset), a higher "
                  "weight (cpu.weight, nice); for steal a larger or dedicated instance. What it "
                  "waited for a CPU comes back as work.",
        .explains = { "cpu-bound" },
    },
    { 0 },
};
