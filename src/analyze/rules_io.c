/* analyze/rules_io.c -- limits of storage and network. */
#include "analyze/verdict.h"

#define S(name) PT_FIGURE_##name

const struct pt_rule pt_rules_io[] = {
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
    {
        .id = "network-bound",
        .title = "Network-bound: the network is full or drops packets",
        .forms = { { { { S(NET_LINK_SHARE), '>', 0.7, 0.9 },
                       { S(NET_RATE), '>', 1 << 20, 8 << 20 },
                       { S(CPU_BUSY), '<', 0.8, 0.5 } } },
                   /* CPUs may be busy with other processes: the command does not wait for them */
                   { { { S(NET_LINK_SHARE), '>', 0.7, 0.9 },
                       { S(NET_RATE), '>', 1 << 20, 8 << 20 },
                       { S(OWN_CPU_SHARE), '<', 0.5, 0.25 } } },
                   { { { S(NET_DROPS), '>', 1, 50 },
                       { S(NET_RATE), '>', 8 << 20, 64 << 20 },
                       { S(CPU_BUSY), '<', 0.8, 0.5 } } } },
        .against = { { S(OWN_CPU_SHARE), '>', 0.75 },
                     { S(OWN_IO_PRESSURE), '>', 0.3 },
                     { S(OWN_CPU_PRESSURE), '>', 0.5 } },
        .advice = "Send less, or use more bandwidth: compression, larger messages, weights from a "
                  "nearer mirror, a faster or second interface, larger MTU and socket buffers. The "
                  "link's speed is the limit: at 90 % of it, only sending less helps.",
    },
    { 0 },
};
