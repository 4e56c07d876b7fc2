/* What held a run back: for each verdict a run in which it holds, and one that is nearly the same
 * and in which it does not. */
#include "tracks.h"

#include "analyze/verdict.h"
#include "base/buf.h"
#include "profile/files/profile_writers.h"
#include "report/cpu_hotspots.h"
#include "report/explain_text.h"
#include "report/leak_stack.h"
#include "report/rules_page.h"

#include <jansson.h>
#include <math.h>
#include <unistd.h>

#define MB 1048576.0

/* A machine with two idle CPUs, and a recorded command that does nothing. */
static const struct track idle_machine[] = {
    { "cpu", NULL, "vCpuTimeUserMode", 'c', 2, 0 },
    { "cpu", NULL, "vCpuTimeKernelMode", 'c', 1, 0 },
    { "cpu", NULL, "vCpuIdleTime", 'c', 197, 0 },
    { "cpu", NULL, "vCpuSteal", 'c', 0, 0 },
    { "cpu", NULL, "vCpuTimeIOWait", 'c', 0, 0 },
    { "cpu", NULL, "vThreadsRunnable", 'g', 1, 0 },
    { "core", "0", "cpuIdleTime", 'c', 98, 0 },
    { "core", "1", "cpuIdleTime", 'c', 99, 0 },
    { "pressure", "cpu", "psiSomeTotal", 'c', 0, 0 },
    { "pressure", "memory", "psiSomeTotal", 'c', 0, 0 },
    { "pressure", "io", "psiSomeTotal", 'c', 0, 0 },
    { "mem", NULL, "vMemoryTotal", 'g', 16000 * MB, 0 },
    { "mem", NULL, "vMemoryFree", 'g', 12000 * MB, 0 },
    { "mem", NULL, "vOomKills", 'c', 0, 0 },
    { "mem", NULL, "vMajorPageFault", 'c', 0, 0 },
    { "mem", NULL, "vMemoryAnon", 'g', 1000 * MB, 0 },
    { "container", "/own", "cIsRecorded", 'g', 1, 0 },
    { "container", "/own", "cCpuTime", 'c', 0.01e9, 0 },
    { "container", "/own", "cCpuPressureSome", 'c', 0, 0 },
    { "container", "/own", "cMemoryPressureSome", 'c', 0, 0 },
    { "container", "/own", "cIoPressureSome", 'c', 0, 0 },
    { "container", "/other", "cIsRecorded", 'g', 0, 0 },
    { "container", "/other", "cCpuTime", 'c', 1.9e9, 0 },
    { "container", "/other", "cCpuPressureSome", 'c', 0.9e6, 0 },
    { "process_totals", NULL, "pTreeResidentSetSize", 'g', 100 * MB, 0 },
    { "drive", "sda", "dIOTime", 'c', 10, 0 },
    { "disk", NULL, "vDiskReadBytes", 'c', 1000, 0 },
    { "disk", NULL, "vDiskWriteBytes", 'c', 1000, 0 },
    { "net", NULL, "vNetworkBytesRecvd", 'c', 1000, 0 },
    { "net", NULL, "vNetworkBytesSent", 'c', 1000, 0 },
    { "net", NULL, "vNetworkDropsRecvd", 'c', 0, 0 },
    { "interface", "eth0", "iIsCounted", 'g', 1, 0 },
    { "interface", "eth0", "iBytesRecvd", 'c', 1000, 0 },
    { "interface", "eth0", "iBytesSent", 'c', 1000, 0 },
    { "collector", "pitot", "colCpuTime", 'c', 0.002e9, 0 },
    { "collector", "pitot", "colLateTicks", 'c', 0, 0 },
    { "collector", "cpu", "colTime", 'c', 0.001e9, 0 },
    { 0 },
};

#define BUSY_CPUS                                                                                 \
    { "cpu", NULL, "vCpuTimeUserMode", 'c', 195, 0 }, { "cpu", NULL, "vCpuIdleTime", 'c', 4, 0 }, \
        { "core", "0", "cpuIdleTime", 'c', 2, 0 }, { "core", "1", "cpuIdleTime", 'c', 2, 0 },     \
        { "cpu", NULL, "vThreadsRunnable", 'g', 5, 0 }, {                                         \
        "pressure", "cpu", "psiSomeTotal", 'c', 0.6e6, 0                                          \
    }
#define HALF_CPUS                                                                                  \
    { "cpu", NULL, "vCpuTimeUserMode", 'c', 100, 0 }, { "cpu", NULL, "vCpuIdleTime", 'c', 99, 0 }, \
        { "core", "0", "cpuIdleTime", 'c', 1, 0 }, {                                               \
        "core", "1", "cpuIdleTime", 'c', 98, 0                                                     \
    }
#define ENGINE(running, waiting, kv)                                     \
    { "engine", NULL, "system_requests_running", 'g', running, 0 },      \
        { "engine", NULL, "system_requests_waiting", 'g', waiting, 0 },  \
        { "engine", NULL, "cache_kv_usage_percent", 'g', kv, 0 },        \
        { "engine", NULL, "system_preemptions_total", 'c', 0, 0 },       \
        { "engine", NULL, "tokens_generation_total", 'c', 500, 0 },      \
        { "engine", NULL, "latency_e2e_s_sum", 'c', 20, 0 },             \
        { "engine", NULL, "latency_queue_s_sum", 'c', 0.1, 0 },          \
        { "engine", NULL, "latency_prefill_s_sum", 'c', 1, 0 },          \
        { "engine", NULL, "latency_decode_s_sum", 'c', 18, 0 },          \
        { "engine", NULL, "latency_inter_token_s_p50", 'g', 0.02, 0 }, { \
        "engine", NULL, "latency_inter_token_s_p99", 'g', 0.03, 0        \
    }
#define GPU(util, mem_util, used_mb, watts)                                                        \
    { "gpu", "0", "gUtilizationGpu", 'g', util, 0 },                                               \
        { "gpu", "0", "gUtilizationMem", 'g', mem_util, 0 },                                       \
        { "gpu", "0", "gMemoryUsedMb", 'g', used_mb, 0 },                                          \
        { "gpu", "0", "gMemoryTotalMb", 'g', 80000, 0 },                                           \
        { "gpu", "0", "gPowerDrawW", 'g', watts, 0 }, { "gpu", "0", "gPowerLimitW", 'g', 700, 0 }, \
        { "gpu", "0", "gTemperatureC", 'g', 60, 0 }, { "gpu", "0", "gClockSmMhz", 'g', 1900, 0 },  \
        { "gpu", "0", "gViolationPower", 'c', 0, 0 },                                              \
        { "gpu", "0", "gPcieGeneration", 'g', 4, 0 }, { "gpu", "0", "gPcieWidth", 'g', 16, 0 },    \
        { "gpu", "0", "gPcieRxKbps", 'g', 1000, 0 }, {                                             \
        "gpu", "0", "gPcieTxKbps", 'g', 1000, 0                                                    \
    }
#define WORKER(url, pace, rate)                                          \
    { "engines", url, "system_requests_running", 'g', 4, 0 },            \
        { "engines", url, "latency_inter_token_s_p50", 'g', pace, 0 }, { \
        "engines", url, "tokens_generation_total", 'c', rate, 0          \
    }

struct scenario {
    const char *sentence, *id;
    struct track holds[32], differs[8]; /* the second run: with these instead */
};

static const struct scenario scenarios[] = {
    { "C234: all CPUs busy with the command is cpu-bound; the same with idle CPUs is not",
      "cpu-bound",
      { BUSY_CPUS, { "container", "/own", "cCpuTime", 'c', 1.9e9, 0 } },
      { HALF_CPUS, { "container", "/own", "cCpuTime", 'c', 0.5e9, 0 } } },
    { "C234: one busy core and nothing else is single-thread-bound; two half busy ones are not",
      "single-thread-bound",
      { HALF_CPUS, { "container", "/own", "cCpuTime", 'c', 0.98e9, 0 } },
      { { "core", "0", "cpuIdleTime", 'c', 50, 0 }, { "core", "1", "cpuIdleTime", 'c', 49, 0 } } },
    { "C234: Python threads that take turns on one core are gil-bound; idle ones are not",
      "gil-bound",
      { HALF_CPUS,
        { "container", "/own", "cCpuTime", 'c', 0.98e9, 0 },
        { "process", "python3", "pCpuTimeNs", 'c', 0.97e9, 0 },
        { "process", "python3", "pNumThreads", 'g', 4, 0 },
        { "process", "python3", "pVoluntaryContextSwitches", 'c', 600, 0 } },
      { { "process", "python3", "pVoluntaryContextSwitches", 'c', 5, 0 } } },
    { "C234: the same threads of another language are not gil-bound",
      "single-thread-bound",
      { HALF_CPUS,
        { "container", "/own", "cCpuTime", 'c', 0.98e9, 0 },
        { "process", "server", "pCpuTimeNs", 'c', 0.97e9, 0 },
        { "process", "server", "pNumThreads", 'g', 4, 0 },
        { "process", "server", "pVoluntaryContextSwitches", 'c', 600, 0 } },
      { { "core", "0", "cpuIdleTime", 'c', 50, 0 },
        { "core", "1", "cpuIdleTime", 'c', 49, 0 },
        { "container", "/own", "cCpuTime", 'c', 0.5e9, 0 },
        { "process", "server", "pCpuTimeNs", 'c', 0.5e9, 0 } } },
    { "C234: a profile in which others want the GIL is gil-bound; one in which they do not is not",
      "gil-bound",
      { HALF_CPUS,
        { "container", "/own", "cCpuTime", 'c', 0.98e9, 0 },
        { "profile", NULL, "profile.gil", 'g', 0.9, 0 } },
      { { "profile", NULL, "profile.gil", 'g', 0.02, 0 } } },
    { "C234: CPU time in locks with many switches is lock-contention; switches alone are not",
      "lock-contention",
      { HALF_CPUS,
        { "container", "/own", "cCpuTime", 'c', 0.9e9, 0 },
        { "profile", NULL, "profile.lock", 'g', 0.3, 0 },
        { "process", "server", "pVoluntaryContextSwitches", 'c', 30000, 0 } },
      { { "profile", NULL, "profile.lock", 'g', 0.01, 0 } } },
    { "C234: a quota that stops it is cpu-throttled; one that it does not reach is not",
      "cpu-throttled",
      { HALF_CPUS,
        { "container", "/own", "cCpuTime", 'c', 0.49e9, 0 },
        { "container", "/own", "cCpuTightestLimit", 'g', 0.5, 0 },
        { "container", "/own", "cCpuPeriods", 'c', 10, 0 },
        { "container", "/own", "cCpuThrottledPeriods", 'c', 8, 0 },
        { "container", "/own", "cCpuThrottledTime", 'c', 0.5e9, 0 } },
      { { "container", "/own", "cCpuThrottledPeriods", 'c', 0.2, 0 },
        { "container", "/own", "cCpuThrottledTime", 'c', 0.001e9, 0 } } },
    { "C234: a neighbour on the CPUs is cpu-steal; one that leaves room is not",
      "cpu-steal",
      { BUSY_CPUS,
        { "container", "/own", "cCpuTime", 'c', 0.3e9, 0 },
        { "container", "/own", "cCpuPressureSome", 'c', 0.7e6, 0 } },
      { { "container", "/own", "cCpuPressureSome", 'c', 0.02e6, 0 } } },
    { "C234: a fifth of its time behind a neighbour is cpu-steal too; a twentieth is not",
      "cpu-steal",
      { BUSY_CPUS,
        { "container", "/own", "cCpuTime", 'c', 0.75e9, 0 },
        { "container", "/own", "cCpuPressureSome", 'c', 0.2e6, 0 } },
      { { "container", "/own", "cCpuPressureSome", 'c', 0.05e6, 0 } } },
    { "C234: a hypervisor that takes CPUs is cpu-steal; a trace of it is not",
      "cpu-steal",
      { { "container", "/own", "cCpuTime", 'c', 1.2e9, 0 },
        { "cpu", NULL, "vCpuSteal", 'c', 50, 0 },
        { "cpu", NULL, "vCpuIdleTime", 'c', 20, 0 },
        { "cpu", NULL, "vCpuTimeUserMode", 'c', 130, 0 },
        { "pressure", "cpu", "psiSomeTotal", 'c', 0.5e6, 0 } },
      { { "cpu", NULL, "vCpuSteal", 'c', 2, 0 } } },
    { "C234: waiting for memory is memory-pressure; a full machine that waits for nothing is not",
      "memory-pressure",
      { { "pressure", "memory", "psiSomeTotal", 'c', 0.5e6, 0 },
        { "container", "/own", "cMemoryPressureSome", 'c', 0.5e6, 0 },
        { "mem", NULL, "vMemoryFree", 'g', 300 * MB, 0 },
        { "mem", NULL, "vPgScanDirect", 'c', 9000, 0 } },
      { { "pressure", "memory", "psiSomeTotal", 'c', 0.001e6, 0 },
        { "container", "/own", "cMemoryPressureSome", 'c', 0.001e6, 0 } } },
    { "C234: pages to and from swap are swapping; swap that lies still is not",
      "swapping",
      { { "mem", NULL, "vSwapIn", 'c', 3000, 0 },
        { "mem", NULL, "vSwapOut", 'c', 3000, 0 },
        { "mem", NULL, "vSwapUsed", 'g', 900 * MB, 0 },
        { "mem", NULL, "vMemoryFree", 'g', 300 * MB, 0 },
        { "pressure", "memory", "psiSomeTotal", 'c', 0.3e6, 0 } },
      { { "mem", NULL, "vSwapIn", 'c', 1, 0 }, { "mem", NULL, "vSwapOut", 'c', 0, 0 } } },
    { "C234: hits of a full limit are memory-limit; a limit far away is not",
      "memory-limit",
      { { "container", "/own", "cWorkingSet", 'g', 970 * MB, 0 },
        { "container", "/own", "cMemoryTightestLimit", 'g', 1000 * MB, 0 },
        { "container", "/own", "cMemoryLimitHits", 'c', 50, 0 },
        { "container", "/own", "cMemoryPressureSome", 'c', 0.05e6, 0 } },
      { { "container", "/own", "cWorkingSet", 'g', 500 * MB, 0 } } },
    { "C234: a kill at the limit is oom-killed; a kill in another cgroup is not surely ours",
      "oom-killed",
      { { "container", "/own", "cWorkingSet", 'g', 990 * MB, 0 },
        { "container", "/own", "cMemoryTightestLimit", 'g', 1000 * MB, 0 },
        { "container", "/own", "cOomKills", 'c', 0.02, 0 },
        { "mem", NULL, "vOomKills", 'c', 0.02, 0 } },
      { { "container", "/own", "cOomKills", 'c', 0, 0 } } },
    { "C234: steady growth of two counts is memory-leak; growth that only one sees is not",
      "memory-leak",
      { { "process_totals", NULL, "pTreeResidentSetSize", 'g', 100 * MB, 2 * MB },
        { "container", "/own", "cMemoryAnon", 'g', 90 * MB, 2 * MB } },
      { { "container", "/own", "cMemoryAnon", 'g', 90 * MB, 0 } } },
    { "C234: a busy disk that it waits for is disk-bound; one that others use is not",
      "disk-bound",
      { { "container", "/own", "cIoPressureSome", 'c', 0.7e6, 0 },
        { "pressure", "io", "psiSomeTotal", 'c', 0.8e6, 0 },
        { "drive", "sda", "dIOTime", 'c', 980, 0 },
        { "disk", NULL, "vDiskReadBytes", 'c', 300 * MB, 0 } },
      { { "container", "/own", "cIoPressureSome", 'c', 0.01e6, 0 } } },
    { "C234: a full link is network-bound; a tenth of it is not",
      "network-bound",
      { { "net", NULL, "vNetworkBytesRecvd", 'c', 120e6, 0 },
        { "interface", "eth0", "iBytesRecvd", 'c', 120e6, 0 } },
      { { "net", NULL, "vNetworkBytesRecvd", 'c', 12e6, 0 },
        { "interface", "eth0", "iBytesRecvd", 'c', 12e6, 0 } } },
    { "C234: a full link beside others that keep the CPUs busy is network-bound; with room is not",
      "network-bound",
      { { "net", NULL, "vNetworkBytesRecvd", 'c', 120e6, 0 },
        { "interface", "eth0", "iBytesRecvd", 'c', 120e6, 0 },
        BUSY_CPUS },
      { { "net", NULL, "vNetworkBytesRecvd", 'c', 12e6, 0 },
        { "interface", "eth0", "iBytesRecvd", 'c', 12e6, 0 } } },
    { "C234: requests that wait for most of their time are queue-bound; a short queue is not",
      "queue-bound",
      { ENGINE(64, 100, 0.6), { "engine", NULL, "latency_queue_s_sum", 'c', 14, 0 } },
      { { "engine", NULL, "system_requests_waiting", 'g', 0.2, 0 },
        { "engine", NULL, "latency_queue_s_sum", 'c', 0.1, 0 } } },
    { "C234: without latencies, a long queue before one slot is queue-bound; a short one is not",
      "queue-bound",
      { { "engine", NULL, "system_requests_running", 'g', 1, 0 },
        { "engine", NULL, "system_requests_waiting", 'g', 9.67, 0 },
        { "engine", NULL, "tokens_generation_total", 'c', 200, 0 } },
      { { "engine", NULL, "system_requests_waiting", 'g', 0.5, 0 } } },
    { "C234: without a KV cache, full slots and a queue are batch-too-small; free slots are not",
      "batch-too-small",
      { { "engine", NULL, "system_requests_running", 'g', 1, 0 },
        { "engine", NULL, "system_requests_waiting", 'g', 9.67, 0 },
        { "engine", NULL, "system_requests_capacity", 'g', 1, 0 },
        { "engine", NULL, "tokens_generation_total", 'c', 200, 0 } },
      { { "engine", NULL, "system_requests_capacity", 'g', 8, 0 } } },
    { "C234: without latencies, an engine busy with prompts is prefill-interference",
      "prefill-interference",
      { { "engine", NULL, "system_requests_running", 'g', 4, 0 },
        { "engine", NULL, "tokens_generation_total", 'c', 200, 0 },
        { "engine", NULL, "latency_batch_prefill_s_sum", 'c', 0.8, 0 } },
      { { "engine", NULL, "latency_batch_prefill_s_sum", 'c', 0.1, 0 } } },
    { "C234: a full cache with preemptions is kv-cache-full; a full one without is not",
      "kv-cache-full",
      { ENGINE(30, 20, 0.99), { "engine", NULL, "system_preemptions_total", 'c', 2, 0 } },
      { { "engine", NULL, "system_preemptions_total", 'c', 0, 0 },
        { "engine", NULL, "system_requests_waiting", 'g', 0, 0 } } },
    { "C234: a queue with room in the cache is batch-too-small; a large batch is not",
      "batch-too-small",
      { ENGINE(4, 30, 0.1), { "engine", NULL, "latency_queue_s_sum", 'c', 14, 0 } },
      { { "engine", NULL, "system_requests_running", 'g', 100, 0 } } },
    { "C234: uneven tokens and much prefill are prefill-interference; even tokens are not",
      "prefill-interference",
      { ENGINE(20, 0, 0.5),
        { "engine", NULL, "latency_inter_token_s_p99", 'g', 0.3, 0 },
        { "engine", NULL, "latency_prefill_s_sum", 'c', 12, 0 } },
      { { "engine", NULL, "latency_inter_token_s_p99", 'g', 0.03, 0 } } },
    { "C234: an engine without work is client-limited; one with a full batch is not",
      "client-limited",
      { ENGINE(0.1, 0, 0.01) },
      { { "engine", NULL, "system_requests_running", 'g', 20, 0 } } },
    { "C234: one slow engine of four is a straggler; four alike have none",
      "straggler",
      { ENGINE(20, 0, 0.5), WORKER("a", 0.02, 500), WORKER("b", 0.021, 490), WORKER("c", 0.02, 505),
        WORKER("d", 0.05, 200) },
      { WORKER("d", 0.02, 500) } },
    { "C234: the slow engine may be any of them, also the first",
      "straggler",
      { ENGINE(20, 0, 0.5), WORKER("a", 0.05, 200), WORKER("b", 0.021, 490), WORKER("c", 0.02, 505),
        WORKER("d", 0.02, 500) },
      { WORKER("a", 0.02, 500) } },
    { "C234: a slow engine among others of different pace is a straggler by their median",
      "straggler",
      { ENGINE(20, 0, 0.5), WORKER("a", 0.022, 480), WORKER("b", 0.05, 200),
        WORKER("c", 0.018, 520), WORKER("d", 0.02, 500) },
      { WORKER("b", 0.02, 500) } },
    { "C234: a recorder that takes a sixth of a CPU is observer-overhead; a quiet one is not",
      "observer-overhead",
      { HALF_CPUS,
        { "collector", "pitot", "colCpuTime", 'c', 0.16e9, 0 },
        { "collector", "cpu", "colTime", 'c', 0.15e9, 0 } },
      { { "collector", "pitot", "colCpuTime", 'c', 0.01e9, 0 } } },
    { "C234: observer-overhead counts on an idle machine; beside ten busy CPUs it does not",
      "observer-overhead",
      { { "collector", "pitot", "colCpuTime", 'c', 0.16e9, 0 },
        { "collector", "cpu", "colTime", 'c', 0.15e9, 0 } },
      { { "container", "/own", "cCpuTime", 'c', 10e9, 0 } } },
    { "C234: an idle GPU beside a busy thread is gpu-starved; beside an idle host it is not",
      "gpu-starved",
      { HALF_CPUS, GPU(15, 5, 30000, 150), { "container", "/own", "cCpuTime", 'c', 0.99e9, 0 } },
      { { "container", "/own", "cCpuTime", 'c', 0.05e9, 0 } } },
    { "C234: busy tensor cores are gpu-compute-bound; a GPU that waits for memory is not",
      "gpu-compute-bound",
      { GPU(99, 40, 60000, 660),
        { "gpu", "0", "gTensorActive", 'g', 75, 0 },
        { "gpu", "0", "gDramBandwidth", 'g', 30, 0 } },
      { { "gpu", "0", "gTensorActive", 'g', 15, 0 },
        { "gpu", "0", "gDramBandwidth", 'g', 85, 0 },
        { "gpu", "0", "gUtilizationMem", 'g', 85, 0 } } },
    { "C234: a busy memory bus is gpu-bandwidth-bound; a half idle one is not",
      "gpu-bandwidth-bound",
      { GPU(97, 85, 60000, 450),
        { "gpu", "0", "gTensorActive", 'g', 15, 0 },
        { "gpu", "0", "gDramBandwidth", 'g', 82, 0 } },
      { { "gpu", "0", "gDramBandwidth", 'g', 30, 0 },
        { "gpu", "0", "gUtilizationMem", 'g', 30, 0 } } },
    { "C234: GPU memory full of one process is gpu-memory-full; an engine's empty reserve is not",
      "gpu-memory-full",
      { GPU(80, 50, 79500, 400), { "gpu_process", "0/7", "gUsedMemoryMb", 'g', 79000, 0 } },
      { { "engine", NULL, "cache_kv_usage_percent", 'g', 0.2, 0 } } },
    { "C234: time lost to the power limit is gpu-throttled; none lost is not",
      "gpu-throttled",
      { GPU(99, 40, 60000, 699), { "gpu", "0", "gViolationPower", 'c', 0.6e9, 0 } },
      { { "gpu", "0", "gViolationPower", 'c', 0, 0 } } },
    { "C234: heat is gpu-throttled where the driver says nothing of power; a cool GPU is not",
      "gpu-throttled",
      { { "gpu", "0", "gUtilizationGpu", 'g', 98, 0 },
        { "gpu", "0", "gTemperatureC", 'g', 89, 0 },
        { "gpu", "0", "gViolationThermal", 'c', 0.6e9, 0 } },
      { { "gpu", "0", "gViolationThermal", 'c', 0, 0 } } },
    { "C234: a full link to a waiting GPU is pcie-bound; an empty one is not",
      "pcie-bound",
      { GPU(30, 20, 40000, 200), { "gpu", "0", "gPcieRxKbps", 'g', 27e6, 0 } },
      { { "gpu", "0", "gPcieRxKbps", 'g', 1e6, 0 } } },
    { "C234: GPU memory that grows with its process is gpu-memory-leak; a level one is not",
      "gpu-memory-leak",
      { GPU(50, 20, 10000, 300),
        { "gpu", "0", "gMemoryUsedMb", 'g', 10000, 50 },
        { "gpu_process", "0/7", "gUsedMemoryMb", 'g', 9500, 50 } },
      { { "gpu", "0", "gMemoryUsedMb", 'g', 10000, 0 } } },
};

/* Ten samples per second: in the first second all in Python, in the second none. */
static void only_samples_that_tell_of_the_gil_count(void **state) {
    (void)state;
    static const struct pt_profile_value_type type = { "cpu", PT_PROFILE_SAMPLES };
    struct pt_profile_file file = { 0 };
    struct pt_cpu_hotspots places = { .file = &file };
    struct pt_windows *w = pt_calloc(1, sizeof *w);
    double locks[2] = { NAN, NAN }, gil[2] = { NAN, NAN };
    struct pt_signals signals = { .windows = w, .count = 2 };
    signals.values[PT_FIGURE_PROFILE_LOCK] = locks;
    signals.values[PT_FIGURE_PROFILE_GIL] = gil;
    w->count = 2;
    w->windows[0] = (struct pt_window){ 0, 1000 };
    w->windows[1] = (struct pt_window){ 1000, 2000 };
    pt_profile_init(&file.profile, &type, 1);
    for (int i = 0; i < 20; i++) {
        struct pt_profile_sample s = { .time_ns = i * 100,
                                       .thread = PT_PROFILE_NONE,
                                       .stack = PT_PROFILE_NONE };
        if (i < 10)
            s.gil = i < 4 ? PT_GIL_CONTENDED : i < 7 ? PT_GIL_KNOWN | PT_GIL_WANTED : PT_GIL_KNOWN;
        assert_true(pt_profile_sample(&file.profile, &s, &(const int64_t){ 1 }));
    }
    pt_cpu_hotspots_signal(&places, &signals);
    assert_float_equal(gil[0], 0.4, 1e-9);
    assert_true(isnan(gil[1]));
    assert_float_equal(locks[1], 0, 1e-9);
    pt_profile_release(&file.profile);
    pt_free(w);
}

/* What a profile would say: tracks of the table "profile" are signals by name. */
static void set_profile_signals(const struct track_set *set, struct pt_signals *signals) {
    for (size_t t = 0; t < set->count; t++)
        for (int id = 0; id < PT_FIGURE_COUNT; id++)
            if (strcmp(set->tracks[t].table, "profile") == 0 &&
                strcmp(set->tracks[t].column, pt_figures[id].name) == 0)
                for (size_t i = 0; i < signals->count; i++)
                    signals->values[id][i] = set->tracks[t].value;
}

static void explain_tracks(struct track_set *set, double seconds, struct pt_explanation *x) {
    char path[] = "/tmp/pitot-verdict-XXXXXX";
    struct pt_journal_reader reader = { 0 };
    struct pt_windows *w = pt_calloc(1, sizeof *w);
    struct pt_signals signals;
    struct pt_err err = { "" };
    tracks_write(set, seconds, 0.5, path);
    assert_int_equal(pt_journal_open(&reader, path, &err), 0);
    pt_windows_init(w, &reader.schema, pt_signal_wants);
    assert_int_equal(pt_windows_read(w, &reader), 0);
    pt_signals_make(&signals, w, 125e6);
    set_profile_signals(set, &signals);
    pt_explain(x, &signals);
    pt_signals_release(&signals);
    pt_windows_release(w);
    pt_free(w);
    pt_journal_reader_close(&reader);
    unlink(path);
}

static const struct pt_verdict *find_verdict(const struct pt_explanation *x, const char *id) {
    for (int i = 0; i < x->verdict_count; i++)
        if (strcmp(x->verdicts[i].rule->id, id) == 0)
            return &x->verdicts[i];
    return NULL;
}

static void explain_lists(const struct track *first, const struct track *second,
                          struct pt_explanation *x) {
    struct track_set *set = pt_calloc(1, sizeof *set);
    tracks_add(set, idle_machine);
    tracks_add(set, first);
    if (second)
        tracks_add(set, second);
    explain_tracks(set, 60, x);
    pt_free(set);
}

static void a_verdict_holds_where_it_should_and_not_where_it_should_not(void **state) {
    const struct scenario *s = *state;
    struct pt_explanation x;
    explain_lists(s->holds, NULL, &x);
    assert_int_equal(x.status, PT_EXPLAIN_BOUND);
    assert_string_equal(x.verdicts[0].rule->id, s->id);
    const struct pt_verdict *v = find_verdict(&x, s->id);
    assert_true(v->confidence >= PT_VERDICT_CONFIDENT && v->confidence <= 1);
    assert_true(v->signal_count >= 2);
    for (int i = 0; i < v->signal_count; i++)
        assert_true(v->signals[i].to > v->signals[i].from && !isnan(v->signals[i].value));

    explain_lists(s->holds, s->differs, &x);
    v = find_verdict(&x, s->id);
    if (v && v->confidence >= PT_VERDICT_CONFIDENT)
        fail_msg("%s with confidence %g", s->id, v->confidence);
}

static void an_idle_machine_is_held_back_by_nothing(void **state) {
    (void)state;
    struct pt_explanation x;
    explain_lists((const struct track[]){ { 0 } }, NULL, &x);
    assert_int_equal(x.status, PT_EXPLAIN_NOTHING);
    assert_int_equal(x.verdict_count, 0);
}

static void a_run_of_a_second_is_too_short(void **state) {
    (void)state;
    struct track_set *set = pt_calloc(1, sizeof *set);
    struct pt_explanation x;
    tracks_add(set, idle_machine);
    explain_tracks(set, 1, &x);
    assert_int_equal(x.status, PT_EXPLAIN_INCONCLUSIVE);
    assert_non_null(strstr(x.because, "too short"));
    pt_free(set);
}

static void without_cpu_times_nothing_is_certain(void **state) {
    (void)state;
    struct track_set *set = pt_calloc(1, sizeof *set);
    struct pt_explanation x;
    tracks_add(set, (const struct track[]){ { "mem", NULL, "vMemoryTotal", 'g', 16000 * MB, 0 },
                                            { "mem", NULL, "vMemoryFree", 'g', 12000 * MB, 0 },
                                            { 0 } });
    explain_tracks(set, 60, &x);
    assert_int_equal(x.status, PT_EXPLAIN_INCONCLUSIVE);
    assert_string_equal(x.because, "the run has no CPU times of the machine");
    assert_int_equal(x.verdict_count, 0);
    pt_free(set);
}

static void steal_does_not_hold_back_what_sleeps(void **state) {
    (void)state;
    static const struct track steal[] = { { "cpu", NULL, "vCpuSteal", 'c', 50, 0 },
                                          { "cpu", NULL, "vCpuIdleTime", 'c', 20, 0 },
                                          { "cpu", NULL, "vCpuTimeUserMode", 'c', 130, 0 },
                                          { "pressure", "cpu", "psiSomeTotal", 'c', 0.5e6, 0 },
                                          { 0 } };
    struct pt_explanation x;
    explain_lists(steal, NULL, &x);
    assert_int_equal(x.status, PT_EXPLAIN_NOTHING);
}

static void a_kill_elsewhere_is_no_confident_verdict(void **state) {
    (void)state;
    struct pt_explanation x;
    explain_lists((const struct track[]){ { "mem", NULL, "vOomKills", 'c', 0.02, 0 }, { 0 } }, NULL,
                  &x);
    assert_int_equal(x.status, PT_EXPLAIN_INCONCLUSIVE);
}

/* Two windows at 99 %, one at 20 %, five at 85 %. */
static void a_number_is_that_of_the_time_beside_it(void **state) {
    (void)state;
    static const double shares[] = { 0.99, 0.99, 0.2, 0.85, 0.85, 0.85, 0.85, 0.85 };
    struct pt_windows *w = pt_calloc(1, sizeof *w);
    struct pt_signals signals = { .windows = w, .count = PT_COUNT(shares), .seconds = 8 };
    struct pt_explanation x;
    double unknown[PT_COUNT(shares)], own[PT_COUNT(shares)], busy[PT_COUNT(shares)];
    for (size_t i = 0; i < PT_COUNT(shares); i++) {
        w->windows[w->count++] =
            (struct pt_window){ (int64_t)i * 1000000000, (int64_t)(i + 1) * 1000000000 };
        unknown[i] = NAN;
        own[i] = shares[i];
        busy[i] = 0.98;
    }
    for (int id = 0; id < PT_FIGURE_COUNT; id++)
        signals.values[id] = unknown;
    signals.values[PT_FIGURE_OWN_CPU_SHARE] = own;
    signals.values[PT_FIGURE_CPU_BUSY] = busy;
    pt_explain(&x, &signals);
    const struct pt_verdict *v = find_verdict(&x, "cpu-bound");
    assert_non_null(v);
    assert_true(fabs(v->signals[0].from - 3) < 1e-9 && fabs(v->signals[0].to - 8) < 1e-9);
    assert_true(fabs(v->signals[0].value - 0.85) < 1e-9);
    assert_true(fabs(v->share - 7.0 / 8) < 1e-9);
    pt_free(w);
}

static void kills_are_counted(void **state) {
    (void)state;
    static const struct track kills[] = {
        { "container", "/own", "cWorkingSet", 'g', 990 * MB, 0 },
        { "container", "/own", "cMemoryTightestLimit", 'g', 1000 * MB, 0 },
        { "container", "/own", "cOomKills", 'c', 0.05, 0 },
        { "mem", NULL, "vOomKills", 'c', 0.05, 0 },
        { 0 },
    };
    struct pt_explanation x;
    explain_lists(kills, NULL, &x);
    assert_int_equal(x.verdicts[0].signals[0].signal, PT_FIGURE_OWN_OOM_KILLS);
    assert_true(x.verdicts[0].signals[0].value == 3); /* one in twenty seconds, for a minute */
}

static void the_signals_are_the_numbers_of_the_run(void **state) {
    (void)state;
    struct pt_explanation x;
    explain_lists(scenarios[0].holds, NULL, &x);
    const struct pt_verdict *v = &x.verdicts[0];
    assert_int_equal(v->signals[0].signal, PT_FIGURE_OWN_CPU_SHARE);
    assert_true(fabs(v->signals[0].value - 0.95) < 1e-6);
    assert_true(fabs(v->signals[1].value - 196.0 / 200) < 1e-6);
    assert_true(v->share > 0.95 && v->share <= 1);
}

static void an_explained_verdict_comes_after_its_cause(void **state) {
    (void)state;
    static const struct track both[] = { ENGINE(30, 20, 0.99),
                                         { "engine", NULL, "system_preemptions_total", 'c', 2, 0 },
                                         { "engine", NULL, "latency_queue_s_sum", 'c', 14, 0 },
                                         { 0 } };
    struct pt_explanation x;
    explain_lists(both, NULL, &x);
    assert_string_equal(x.verdicts[0].rule->id, "kv-cache-full");
    assert_non_null(find_verdict(&x, "queue-bound"));
}

static void the_json_has_the_promised_shape(void **state) {
    (void)state;
    struct pt_explanation x;
    struct pt_buf text = { 0 };
    struct pt_out out;
    explain_lists(scenarios[0].holds, NULL, &x);
    pt_out_memory(&out, &text);
    pt_explain_print_json(&(struct pt_explained_run){ .explanation = x, .uuid = "uuid" }, &out);
    assert_int_equal(pt_out_close(&out), 0);
    json_t *root = json_loadb((const char *)text.at, text.len, 0, NULL);
    assert_non_null(root);
    assert_string_equal(json_string_value(json_object_get(root, "status")), "bound");
    json_t *v = json_array_get(json_object_get(root, "verdicts"), 0);
    assert_string_equal(json_string_value(json_object_get(v, "id")), "cpu-bound");
    assert_true(json_number_value(json_object_get(v, "share")) > 0.9);
    assert_true(json_is_number(json_object_get(v, "confidence")));
    assert_true(json_is_array(json_object_get(v, "against")));
    assert_true(json_is_string(json_object_get(v, "advice")));
    json_t *signal = json_array_get(json_object_get(v, "signals"), 0);
    assert_string_equal(json_string_value(json_object_get(signal, "metric")), "own.cpu_share");
    assert_true(json_is_number(json_object_get(signal, "from")));
    assert_true(json_is_number(json_object_get(signal, "to")));
    assert_string_equal(json_string_value(json_object_get(signal, "text")), "95.0 %");
    json_decref(root);
    pt_buf_release(&text);
}

static void the_text_fits_a_screen(void **state) {
    (void)state;
    struct pt_explanation x;
    struct pt_buf text = { 0 };
    struct pt_out out;
    explain_lists(scenarios[0].holds, NULL, &x);
    pt_out_memory(&out, &text);
    pt_explain_print(&(struct pt_explained_run){ .explanation = x, .uuid = "uuid" }, &out);
    pt_out_char(&out, 0);
    assert_int_equal(pt_out_close(&out), 0);
    const char *line = (const char *)text.at;
    int lines = 0;
    for (; *line; line++)
        lines += *line == '\n';
    assert_true(lines < 50);
    assert_non_null(strstr((const char *)text.at, "Bottleneck: cpu-bound\n"));
    pt_buf_release(&text);
}

static bool contradicts(const struct pt_condition *need, const struct pt_condition *against) {
    return need->signal == against->signal && need->direction != against->direction &&
           (need->direction == '>' ? need->threshold >= against->threshold
                                   : need->threshold <= against->threshold);
}

/* Can anything speak against this form, or does each condition of its rule contradict it? */
static bool can_be_doubted(const struct pt_rule *rule, const struct pt_rule_form *form) {
    for (int a = 0; a < PT_RULE_CONDITIONS && rule->against[a].direction; a++) {
        bool can_hold = true;
        for (int n = 0; n < PT_RULE_CONDITIONS && form->needs[n].direction; n++)
            can_hold &= !contradicts(&form->needs[n], &rule->against[a]);
        if (can_hold)
            return true;
    }
    return false;
}

static void every_verdict_can_be_doubted(void **state) {
    (void)state;
    const struct pt_rule *rule;
    for (size_t i = 0; (rule = pt_rule_at(i)); i++) {
        /* that the kernel killed is a fact: a kill elsewhere is told apart by the rule itself */
        if (rule->is_event)
            continue;
        if (!can_be_doubted(rule, &rule->forms[0]))
            fail_msg("%s: nothing is looked for against it", rule->id);
        for (int f = 1; f < PT_RULE_FORMS && rule->forms[f].needs[0].direction; f++)
            if (!can_be_doubted(rule, &rule->forms[f]))
                fail_msg("%s: nothing is looked for against form %d", rule->id, f);
    }
}

/* The machine's memory falls while that of the command grows: it tells of others. */
static void a_leak_that_nobody_can_confirm_is_a_weak_sign(void **state) {
    (void)state;
    static const struct track leak[] = {
        { "process_totals", NULL, "pTreeResidentSetSize", 'g', 100 * MB, 2 * MB },
        { "mem", NULL, "vMemoryAnon", 'g', 5000 * MB, -9 * MB },
        { 0 },
    };
    struct pt_explanation x;
    explain_lists(leak, NULL, &x);
    assert_int_equal(x.status, PT_EXPLAIN_INCONCLUSIVE);
    assert_string_equal(x.verdicts[0].rule->id, "memory-leak");
    assert_true(x.verdicts[0].signal_count >= 2);
}

static void a_leak_is_told_by_its_pace(void **state) {
    (void)state;
    struct pt_explanation x;
    static const struct track leak[] = {
        { "process_totals", NULL, "pTreeResidentSetSize", 'g', 100 * MB, 2 * MB },
        { "container", "/own", "cMemoryAnon", 'g', 90 * MB, 1.9 * MB },
        { 0 },
    };
    explain_lists(leak, NULL, &x);
    const struct pt_verdict *v = find_verdict(&x, "memory-leak");
    assert_non_null(v);
    assert_int_equal(v->signals[0].signal, PT_FIGURE_OWN_RSS_GROWTH);
    assert_true(fabs(v->signals[0].value / MB - 2) < 0.01);
    assert_int_equal(v->signals[1].signal, PT_FIGURE_OWN_RSS);
    assert_true(fabs(v->signals[1].value / MB - 220) < 2);
    assert_int_equal(v->signals[2].signal, PT_FIGURE_OWN_ANON_GROWTH);
    assert_true(fabs(v->signals[2].value / MB - 1.9) < 0.01);
}

/* Rules are data: what holds for all of them. */
static void every_rule_is_whole(void **state) {
    (void)state;
    const struct pt_rule *rule, *other;
    for (size_t i = 0; (rule = pt_rule_at(i)); i++) {
        assert_true(rule->title && rule->advice);
        assert_true(rule->forms[0].needs[1].direction || rule->forms[0].signs[0].direction);
        for (size_t k = 0; k < i; k++)
            assert_string_not_equal(pt_rule_at(k)->id, rule->id);
        for (int e = 0; e < (int)PT_COUNT(rule->explains) && rule->explains[e]; e++) {
            bool is_known = false;
            for (size_t k = 0; (other = pt_rule_at(k)); k++)
                is_known |= strcmp(other->id, rule->explains[e]) == 0;
            assert_true(is_known);
        }
        bool is_tried = false;
        for (size_t k = 0; k < PT_COUNT(scenarios); k++)
            is_tried |= strcmp(scenarios[k].id, rule->id) == 0;
        if (!is_tried)
            fail_msg("no run tries %s", rule->id);
    }
}

static void look_for_conditions(const char *page, const struct pt_condition *list, int most) {
    for (int i = 0; i < most && list[i].direction; i++) {
        const char *name = pt_figures[list[i].signal].name;
        char words[128], row[160];
        pt_condition_print(&list[i], words, sizeof words);
        snprintf(row, sizeof row, "| `%s` |%s |", name, words + strlen(name));
        if (!strstr(page, row))
            fail_msg("the page does not have %s", row);
    }
}

static void the_page_has_every_verdict_with_its_conditions(void **state) {
    (void)state;
    struct pt_buf text = { 0 };
    struct pt_out out;
    const struct pt_rule *rule;
    pt_out_memory(&out, &text);
    pt_rules_page_print(&out);
    pt_out_char(&out, 0);
    assert_int_equal(pt_out_close(&out), 0);
    const char *page = (const char *)text.at;
    for (size_t i = 0; (rule = pt_rule_at(i)); i++) {
        char heading[64];
        snprintf(heading, sizeof heading, "\n### %s\n", rule->id);
        const char *section = strstr(page, heading);
        assert_non_null(section);
        const char *end = strstr(section + 1, "\n### ");
        char *own = end ? strndup(section, (size_t)(end - section)) : strdup(section);
        assert_true(strstr(own, rule->title) && strstr(own, rule->advice));
        for (int f = 0; f < PT_RULE_FORMS; f++) {
            look_for_conditions(own, rule->forms[f].needs, PT_RULE_CONDITIONS);
            look_for_conditions(own, rule->forms[f].signs, PT_RULE_SIGNS);
        }
        look_for_conditions(own, &rule->never, 1);
        look_for_conditions(own, rule->against, PT_RULE_CONDITIONS);
        free(own);
    }
    for (int i = 0; i < PT_FIGURE_COUNT; i++)
        assert_non_null(strstr(page, pt_figures[i].name));
    pt_buf_release(&text);
}

/* A profile of memory beside a journal: one stack that grows, or none. */
static void write_heap(const char *path, bool has_leak) {
    static const struct pt_profile_value_type types[] = { { "live", PT_PROFILE_BYTES } };
    struct pt_profile p;
    struct pt_err err;
    pt_profile_init(&p, types, 1);
    uint32_t stack = PT_PROFILE_NONE;
    const char *const names[] = { "main", "serve", "remember", "PyBytes_New" };
    for (size_t i = 0; i < PT_COUNT(names); i++) {
        struct pt_profile_function f = { .name = pt_profile_string(&p, pt_str_from(names[i])),
                                         .module = PT_PROFILE_NONE,
                                         .kind =
                                             i == 1 || i == 2 ? PT_KIND_PYTHON : PT_KIND_NATIVE };
        struct pt_profile_frame frame = { .function = pt_profile_function(&p, f),
                                          .module = PT_PROFILE_NONE,
                                          .line = i == 2 ? 17 : 0 };
        stack = pt_profile_stack(&p, stack, pt_profile_frame(&p, frame));
    }
    struct pt_profile_growth growth = { .stack = stack, .slope = 3 << 20, .bytes = 90 << 20 };
    if (has_leak)
        pt_profile_growth(&p, &growth);
    assert_int_equal(pt_profile_write(&p, path, &err), 0);
    pt_profile_release(&p);
}

static void a_leak_is_told_by_its_stack(void **state) {
    (void)state;
    char directory[] = "/tmp/pitot-leak-XXXXXX", journal[64], heap[64];
    struct pt_explanation x = { .verdict_count = 2 };
    x.verdicts[0].rule = pt_rule_find("cpu-bound");
    x.verdicts[1].rule = pt_rule_find("memory-leak");
    assert_non_null(mkdtemp(directory));
    snprintf(journal, sizeof journal, "%s/run.pitot", directory);
    snprintf(heap, sizeof heap, "%s/run.heap.pitotprof", directory);
    pt_leak_stack_add(&x, journal); /* there is no profile */
    assert_string_equal(x.verdicts[1].where, "");
    write_heap(heap, true);
    pt_leak_stack_add(&x, journal);
    assert_string_equal(x.verdicts[0].where, "");
    assert_string_equal(x.verdicts[1].where, "PyBytes_New < remember:17 < serve (3.0 MiB/s, "
                                             "90.0 MiB live near the end)");
    write_heap(heap, false);
    pt_leak_stack_add(&x, journal);
    assert_non_null(strstr(x.verdicts[1].where, "no call stack of the heap profile grows"));
    unlink(heap);
    rmdir(directory);
}

/* Windows */

static bool wants_all(const struct pt_table *table, const struct pt_column *column) {
    (void)table;
    (void)column;
    return true;
}

#define GRID_COLUMNS(X, t)                              \
    X(t, key, "key", KEY, STRING, NONE, 0, "")          \
    X(t, counter, "counter", COUNTER, I64, NONE, 0, "") \
    X(t, gauge, "gauge", GAUGE, F64, NONE, 0, "")
PT_TABLE(grid, PT_TABLE_FILE("grid", NULL), "", GRID_COLUMNS, "test");
static const struct pt_table *const grid_tables[] = { &grid_table };
static const struct pt_schema grid_schema = { grid_tables, 1 };

static void add_grid(struct pt_windows *w, double seconds, int64_t counter, double gauge) {
    struct pt_sample s;
    pt_sample_init(&s, &grid_schema);
    s.mono_ns = (int64_t)(seconds * 1e9) + 1;
    pt_batch_add_row(&s.batches[0]);
    pt_set_time(&s.batches[0], 0, s.mono_ns);
    pt_set_str(&s.batches[0], grid_key, PT_STR("a"));
    pt_set_i64(&s.batches[0], grid_counter, counter);
    pt_set_f64(&s.batches[0], grid_gauge, gauge);
    pt_windows_add(w, &s);
    pt_sample_release(&s);
}

static double grid_at(const struct pt_windows *w, const char *column, size_t window) {
    size_t place = 0;
    return pt_series_at(pt_windows_series(w, pt_windows_next(w, 0, &place), column), window);
}

static void rates_are_growth_over_time_and_resets_are_unknown(void **state) {
    (void)state;
    struct pt_windows *w = pt_calloc(1, sizeof *w);
    pt_windows_init(w, &grid_schema, wants_all);
    add_grid(w, 0, 100, 1);
    add_grid(w, 1, 110, 3);
    add_grid(w, 2, 5, 5); /* reset */
    add_grid(w, 3, 25, 7);
    assert_int_equal(w->count, 3);
    assert_true(grid_at(w, "counter", 0) == 10);
    assert_true(isnan(grid_at(w, "counter", 1)));
    assert_true(grid_at(w, "counter", 2) == 20);
    assert_true(fabs(grid_at(w, "gauge", 0) - 3) < 1e-6); /* the first sample covers no time */
    assert_true(grid_at(w, "gauge", 2) == 7);
    pt_windows_release(w);
    pt_free(w);
}

static void a_gap_has_no_window_and_no_rate(void **state) {
    (void)state;
    struct pt_windows *w = pt_calloc(1, sizeof *w);
    pt_windows_init(w, &grid_schema, wants_all);
    for (int i = 0; i < 5; i++)
        add_grid(w, i, i * 10, 1);
    for (int i = 0; i < 5; i++)
        add_grid(w, 100 + i, 100000 + i * 10, 1);
    assert_int_equal(w->gap_count, 1);
    double seconds = 0;
    for (size_t i = 0; i < w->count; i++) {
        seconds += pt_window_seconds(&w->windows[i]);
        double rate = grid_at(w, "counter", i);
        assert_true(isnan(rate) || fabs(rate - 10) < 1e-6);
    }
    assert_true(fabs(seconds - 8) < 1e-6);
    pt_windows_release(w);
    pt_free(w);
}

static void a_long_run_keeps_its_means_in_bounded_windows(void **state) {
    (void)state;
    struct pt_windows *w = pt_calloc(1, sizeof *w);
    pt_windows_init(w, &grid_schema, wants_all);
    for (int i = 0; i < 10000; i++)
        add_grid(w, i, (int64_t)i * 7, 2);
    assert_true(w->count <= PT_WINDOW_MAX && w->count > PT_WINDOW_MAX / 4);
    double seconds = 0;
    for (size_t i = 0; i < w->count; i++) {
        assert_true(fabs(grid_at(w, "counter", i) - 7) < 1e-9);
        assert_true(grid_at(w, "gauge", i) == 2);
        seconds += pt_window_seconds(&w->windows[i]);
    }
    assert_true(fabs(seconds - 9999) < 1e-6);
    pt_windows_release(w);
    pt_free(w);
}

int main(void) {
    static const struct CMUnitTest others[] = {
        PT_TEST(an_idle_machine_is_held_back_by_nothing,
                "C234: an idle command is held back by nothing"),
        PT_TEST(without_cpu_times_nothing_is_certain,
                "C236: a run without CPU times is inconclusive"),
        PT_TEST(a_run_of_a_second_is_too_short,
                "C234: a run of a second is too short for a verdict"),
        PT_TEST(steal_does_not_hold_back_what_sleeps,
                "C234: a hypervisor that takes CPUs does not hold back a command that sleeps"),
        PT_TEST(a_kill_elsewhere_is_no_confident_verdict,
                "C234: a process killed elsewhere gives no confident verdict"),
        PT_TEST(a_number_is_that_of_the_time_beside_it,
                "C234: the number of a signal is that of the time beside it"),
        PT_TEST(kills_are_counted, "C234: how many processes were killed is a count, not a rate"),
        PT_TEST(the_signals_are_the_numbers_of_the_run, "C234: signals are the numbers of the run"),
        PT_TEST(only_samples_that_tell_of_the_gil_count,
                "C234: of the GIL only samples count that tell of it; without any it is unknown"),
        PT_TEST(an_explained_verdict_comes_after_its_cause,
                "C234: what another verdict explains comes after it"),
        PT_TEST(the_json_has_the_promised_shape,
                "C236: the JSON has ids, shares, signals and advice"),
        PT_TEST(the_text_fits_a_screen, "C236: the text begins with the verdict and fits a screen"),
        PT_TEST(a_leak_is_told_by_its_stack,
                "C234: a leak names the stack that grows, if there is a heap profile"),
        PT_TEST(every_verdict_can_be_doubted,
                "C234: in each form of each rule something can speak against it"),
        PT_TEST(a_leak_that_nobody_can_confirm_is_a_weak_sign,
                "C234: growth that cannot be confirmed beside restless others is a weak sign"),
        PT_TEST(a_leak_is_told_by_its_pace, "C234: a leak is found by how fast memory grows"),
        PT_TEST(every_rule_is_whole,
                "C236: every rule has a title, advice, two signals and a test"),
        PT_TEST(
            the_page_has_every_verdict_with_its_conditions,
            "C238: the page of verdicts has every verdict with its conditions, and every signal"),
        PT_TEST(
            rates_are_growth_over_time_and_resets_are_unknown,
            "the rate of a counter is its growth over its own time; after a reset it is unknown"),
        PT_TEST(a_gap_has_no_window_and_no_rate, "a gap in a run has no window and no rate"),
        PT_TEST(a_long_run_keeps_its_means_in_bounded_windows,
                "a long run has wider windows with the same means"),
    };
    struct CMUnitTest tests[PT_COUNT(scenarios) + PT_COUNT(others)];
    memcpy(tests, others, sizeof others);
    for (size_t i = 0; i < PT_COUNT(scenarios); i++)
        tests[PT_COUNT(others) + i] = (struct CMUnitTest){
            .name = scenarios[i].sentence,
            .test_func = a_verdict_holds_where_it_should_and_not_where_it_should_not,
            .initial_state = (void *)(uintptr_t)&scenarios[i],
        };
    return cmocka_run_group_tests_name("verdict", tests, NULL, NULL);
}
