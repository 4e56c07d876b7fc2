/* analyze/rules_memory.c -- too little memory, or ever more of it. */
#include "analyze/leak.h"
#include "analyze/verdict.h"

#define S(name) PT_SIGNAL_##name

/* That memory was short: a full limit or machine, hits of the limit. */
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
        .title = "The kernel killed a process of it because memory ran out",
        .is_event = true,
        .looks_at = S(MEM_OOM_KILLS),
        .forms = { { .needs = { { S(OWN_OOM_KILLS), '>', 0 } }, SHORTAGE, 0.97 },
                   { .needs = { { S(OWN_OOM_KILLS), '>', 0 } }, .ceiling = 0.4 },
                   /* a kill elsewhere on the machine is not ours */
                   { .needs = { { S(MEM_OOM_KILLS), '>', 0 } }, SHORTAGE, 0.5 },
                   { .needs = { { S(MEM_OOM_KILLS), '>', 0 } }, .ceiling = 0.4 } },
        .advice = "Raise the memory limit (Kubernetes limits.memory, docker --memory, systemd "
                  "MemoryMax=), or need less: smaller batches, fewer workers, a shorter context, "
                  "lower-precision weights. With room above its peak it is not killed; at the same "
                  "limit it will be again.",
        .explains = { "memory-limit", "memory-pressure", "memory-leak" },
    },
    {
        .id = "memory-limit",
        .title = "It works at the memory limit of its cgroup",
        .forms = { { { { S(OWN_MEMORY_SHARE), '>', 0.85, 0.95 },
                       { S(OWN_LIMIT_HITS), '>', 0, 20 } } },
                   { { { S(OWN_MEMORY_SHARE), '>', 0.85, 0.95 },
                       { S(OWN_MEMORY_PRESSURE), '>', 0.02, 0.2 } } } },
        /* what was dropped is needed by nobody; or it is the machine that is too small */
        .against = { { S(OWN_MEMORY_PRESSURE), '<', 0.01 }, { S(MEM_AVAILABLE), '<', 0.03 } },
        .advice =
            "Raise the memory limit (Kubernetes limits.memory, docker --memory, systemd "
            "MemoryMax=), or keep less: smaller caches, batches, fewer workers. Page cache that "
            "is thrown out and read again comes back as speed.",
        .explains = { "memory-pressure", "disk-bound" },
    },
    {
        .id = "memory-pressure",
        .title = "Programs wait while the kernel looks for memory",
        .forms = { { { { S(OWN_MEMORY_PRESSURE), '>', 0.1, 0.4 },
                       { S(MEM_SCAN), '>', 100, 5000 } } },
                   { { { S(OWN_MEMORY_PRESSURE), '>', 0.1, 0.4 },
                       { S(MEM_MAJOR_FAULTS), '>', 50, 1000 } } },
                   { { { S(MEM_PRESSURE), '>', 0.1, 0.4 }, { S(MEM_AVAILABLE), '<', 0.1, 0.03 } } },
                   { { { S(OWN_MEMORY_PRESSURE), '>', 0.1, 0.4 },
                       { S(OWN_LIMIT_HITS), '>', 1, 50 } } } },
        .against = { { S(OWN_MEMORY_PRESSURE), '<', 0.02 }, { S(MEM_AVAILABLE), '>', 0.9 } },
        .advice =
            "More memory (a larger machine, limits.memory, MemoryMax=), or less in it: smaller "
            "batches and caches, fewer workers (num_workers, engine replicas), other programs "
            "elsewhere. The time lost is about the memory pressure.",
    },
    {
        .id = "swapping",
        .title = "Memory is moved to swap and back",
        .forms = { { { { S(MEM_SWAP), '>', 100, 2000 },
                       { S(MEM_SWAP_USED), '>', 1 << 20, 64 << 20 },
                       { S(MEM_PRESSURE), '>', 0.05, 0.3 } } },
                   { { { S(MEM_SWAP), '>', 100, 2000 },
                       { S(MEM_SWAP_USED), '>', 1 << 20, 64 << 20 },
                       { S(MEM_MAJOR_FAULTS), '>', 50, 500 } } } },
        .against = { { S(MEM_AVAILABLE), '>', 0.5 } },
        .advice =
            "More memory or less use of it; for latency turn swap off for this service "
            "(memory.swap.max=0) or lock its pages. Work that waits for swap is a thousand times "
            "slower than memory.",
        .explains = { "memory-pressure", "disk-bound" },
    },
    {
        .id = "memory-leak",
        .title = "Its memory grows steadily and does not come back",
        .evaluate = pt_find_memory_leak,
        .looks_at = S(OWN_RSS),
        .forms = PT_LEAK_FORMS,
        .never = PT_LEAK_NEVER,
        /* what loads grows, and what waits in a queue is kept for a reason */
        .against = { { S(OWN_IO_PRESSURE), '>', 0.1 }, { S(ENGINE_WAITING), '>', 1 } },
        .advice =
            "Find what is kept: `pitot record --heap` names the stack that allocates it; look at "
            "caches without a limit, lists of results, unfreed tensors. Until then restart it "
            "before the limit is reached. With it gone, memory stays level.",
        .note =
            "The trend is that of own.rss, without the first quarter of the run. The count made "
            "elsewhere is own.anon, or mem.anon if own.anon does not confirm it.",
    },
    { 0 },
};
