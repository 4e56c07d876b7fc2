/* analyze/rules_memory.c -- memory limits, pressure, swap, leaks, OOM kills. */
#include "analyze/leak.h"
#include "analyze/verdict.h"

#define S(name) PT_FIGURE_##name

/* Signs of a memory shortage: usage near a limit, hits of the limit, pressure. */
#define SHORTAGE                                                          \
    {                                                                     \
        { S(OWN_MEMORY_SHARE), '>', 0.8 }, { S(OWN_LIMIT_HITS), '>', 0 }, \
            { S(OWN_MEMORY_PRESSURE), '>', 0.02 }, {                      \
            S(MEM_PRESSURE), '>', 0.05                                    \
        }                                                                 \
    }

const struct pt_rule pt_rules_memory[] = {
    {
        .id = "oom-killed",
        .title = "Out of memory: the kernel killed one of its processes",
        .is_event = true,
        .looks_at = S(MEM_OOM_KILLS),
        .forms = { { .needs = { { S(OWN_OOM_KILLS), '>', 0 } }, SHORTAGE, 0.97 },
                   { .needs = { { S(OWN_OOM_KILLS), '>', 0 } }, .ceiling = 0.4 },
                   /* the kernel may have killed a process outside the command */
                   { .needs = { { S(MEM_OOM_KILLS), '>', 0 } }, SHORTAGE, 0.5 },
                   { .needs = { { S(MEM_OOM_KILLS), '>', 0 } }, .ceiling = 0.4 } },
        .advice =
            "Raise the memory limit (Kubernetes limits.memory, docker --memory, systemd "
            "MemoryMax=), or use less memory: smaller batches, fewer workers, a shorter context, "
            "lower-precision weights. A limit above the peak avoids the kill; with the same limit "
            "it will happen again.",
        .explains = { "memory-limit", "memory-pressure", "memory-leak" },
    },
    {
        .id = "memory-limit",
        .title = "Memory-limited: running at its cgroup memory limit",
        .forms = { { { { S(OWN_MEMORY_SHARE), '>', 0.85, 0.95 },
                       { S(OWN_LIMIT_HITS), '>', 0, 20 } } },
                   { { { S(OWN_MEMORY_SHARE), '>', 0.85, 0.95 },
                       { S(OWN_MEMORY_PRESSURE), '>', 0.02, 0.2 } } } },
        /* dropped pages are not needed again; or the whole machine is short of memory */
        .against = { { S(OWN_MEMORY_PRESSURE), '<', 0.01 }, { S(MEM_AVAILABLE), '<', 0.03 } },
        .advice = "Raise the memory limit (Kubernetes limits.memory, docker --memory, systemd "
                  "MemoryMax=), or keep less in memory: smaller caches and batches, fewer workers. "
                  "Files then stay in the page cache and are not read again.",
        .explains = { "memory-pressure", "disk-bound" },
    },
    {
        .id = "memory-pressure",
        .title = "Memory pressure: programs wait while the kernel reclaims memory",
        .forms = { { { { S(OWN_MEMORY_PRESSURE), '>', 0.1, 0.4 },
                       { S(MEM_SCAN), '>', 100, 5000 } } },
                   { { { S(OWN_MEMORY_PRESSURE), '>', 0.1, 0.4 },
                       { S(MEM_MAJOR_FAULTS), '>', 50, 1000 } } },
                   { { { S(MEM_PRESSURE), '>', 0.1, 0.4 }, { S(MEM_AVAILABLE), '<', 0.1, 0.03 } } },
                   { { { S(OWN_MEMORY_PRESSURE), '>', 0.1, 0.4 },
                       { S(OWN_LIMIT_HITS), '>', 1, 50 } } } },
        .against = { { S(OWN_MEMORY_PRESSURE), '<', 0.02 }, { S(MEM_AVAILABLE), '>', 0.9 } },
        .advice =
            "Add memory (a larger machine, limits.memory, MemoryMax=), or use less: smaller "
            "batches and caches, fewer workers (num_workers, engine replicas), other programs on "
            "other machines. The time lost is about the memory pressure.",
    },
    {
        .id = "swapping",
        .title = "Swapping: memory is moved to swap and back",
        .forms = { { { { S(MEM_SWAP), '>', 100, 2000 },
                       { S(MEM_SWAP_USED), '>', 1 << 20, 64 << 20 },
                       { S(MEM_PRESSURE), '>', 0.05, 0.3 } } },
                   { { { S(MEM_SWAP), '>', 100, 2000 },
                       { S(MEM_SWAP_USED), '>', 1 << 20, 64 << 20 },
                       { S(MEM_MAJOR_FAULTS), '>', 50, 500 } } } },
        .against = { { S(MEM_AVAILABLE), '>', 0.5 } },
        .advice =
            "Add memory or use less; if latency matters, disable swap for this service "
            "(memory.swap.max=0) or lock its pages. Access to swapped memory is a thousand times "
            "slower.",
        .explains = { "memory-pressure", "disk-bound" },
    },
    {
        .id = "memory-leak",
        .title = "Memory leak suspected: memory grows steadily",
        .evaluate = pt_find_memory_leak,
        .looks_at = S(OWN_RSS),
        .forms = PT_LEAK_FORMS,
        .never = PT_LEAK_NEVER,
        /* memory also grows while files load and while requests queue */
        .against = { { S(OWN_IO_PRESSURE), '>', 0.1 }, { S(ENGINE_WAITING), '>', 1 } },
        .advice =
            "Find what is kept: `pitot record --heap` shows the call stack that allocates it; "
            "check caches without a limit, lists of results, unfreed tensors. Until then, restart "
            "before the limit is reached. Without the leak, memory stays level.",
        .note =
            "The trend is that of own.rss, without the first quarter of the run. The second count "
            "is own.anon, or mem.anon if own.anon does not confirm it.",
    },
    { 0 },
};
