/* analyze/rules_disk.c -- waiting for storage. */
#include "analyze/verdict.h"

#define S(name) PT_SIGNAL_##name

const struct pt_rule pt_rules_disk[] = {
    {
        .id = "disk-bound",
        .title = "Disk-bound: the command waits for a disk",
        .forms = { { { { S(OWN_IO_PRESSURE), '>', 0.25, 0.6 }, { S(DISK_BUSY), '>', 0.4, 0.8 } } },
                   { { { S(OWN_IO_PRESSURE), '>', 0.25, 0.6 },
                       { S(DISK_RATE), '>', 4 << 20, 64 << 20 } } },
                   /* the machine as a whole */
                   { { { S(IO_PRESSURE), '>', 0.4, 0.7 },
                       { S(DISK_BUSY), '>', 0.7, 0.95 },
                       { S(MACHINE_BUSY), '<', 0.5, 0.3 } } } },
        .against = { { S(OWN_CPU_SHARE), '>', 0.75 },
                     { S(OWN_MEMORY_PRESSURE), '>', 0.25 },
                     { S(MEM_SWAP), '>', 100 },
                     { S(OWN_IO_PRESSURE), '<', 0.05 } },
        .advice =
            "Read less, or from faster storage: keep weights in the page cache (a warm-up read, "
            "more memory) or on local NVMe, use larger sequential reads (readahead, safetensors, "
            "direct I/O); write logs and checkpoints asynchronously. A second start from the page "
            "cache shows the most that can be gained.",
    },
    { 0 },
};
