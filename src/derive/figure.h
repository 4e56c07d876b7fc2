/* derive/figure.h -- the catalogue of figures: every number that summary, report, dashboard, top,
 * rules and comparisons speak of, defined once.
 *
 * A figure has a name, a title, a form and a better direction; derive/figure.c says from which
 * columns it comes. Its value over any time is a sum over a weight, and both are added up from
 * sample to sample: a rate is growth over seconds, a share is busy time over all time, a level is
 * value times seconds over seconds. So the same run, time and figure give the same number wherever
 * it is printed. The value of a latency is a quantile of the histogram of that time. */
#ifndef PT_DERIVE_FIGURE_H
#define PT_DERIVE_FIGURE_H

#include "base/names.h"
#include "derive/classic_histogram.h"
#include "derive/rates.h"
#include "derive/span_role.h"
#include "model/form.h"

/* X(constant, name, title, form, better, how ranks of a merged run are combined, importance, help).
 * The part of the name before the dot is the owner: `own` is the recorded command (its cgroup
 * or its processes), `others` the rest of the machine. Headlines come in the order in which they
 * are shown: the workload first. */
#define PT_FIGURES(X)                                                                              \
    X(ENGINE_TOKENS, "engine.tokens", "Tokens generated", PER_S, HIGHER_IS_BETTER, RANKS_ADDED,    \
      HEADLINE, "tokens generated")                                                                \
    X(ENGINE_GOODPUT, "engine.goodput", "Goodput, at most", PER_S, HIGHER_IS_BETTER, RANKS_ADDED,  \
      HEADLINE, "requests that meet both latency objectives; modelled, at most this many")         \
    X(ENGINE_TTFT_P50, "engine.ttft_p50", "First token, p50", SECONDS, LOWER_IS_BETTER,            \
      RANKS_MERGED, HEADLINE, "median of the time to the first token")                             \
    X(ENGINE_TTFT_P99, "engine.ttft_p99", "First token, p99", SECONDS, LOWER_IS_BETTER,            \
      RANKS_MERGED, HEADLINE, "99th percentile of the time to the first token")                    \
    X(ENGINE_INTER_TOKEN_P50, "engine.inter_token_p50", "Inter-token, p50", SECONDS,               \
      LOWER_IS_BETTER, RANKS_MERGED, HEADLINE, "median of the time between tokens")                \
    X(ENGINE_INTER_TOKEN_P99, "engine.inter_token_p99", "Inter-token, p99", SECONDS,               \
      LOWER_IS_BETTER, RANKS_MERGED, HEADLINE, "99th percentile of the time between tokens")       \
    X(ENGINE_RUNNING, "engine.running", "Requests running", NUMBER, NO_DIRECTION, RANKS_ADDED,     \
      HEADLINE, "requests being processed")                                                        \
    X(ENGINE_WAITING, "engine.waiting", "Requests waiting", NUMBER, LOWER_IS_BETTER, RANKS_ADDED,  \
      HEADLINE, "requests in the queue")                                                           \
    X(ENGINE_KV, "engine.kv_cache", "KV cache", SHARE, NO_DIRECTION, RANKS_AVERAGED, HEADLINE,     \
      "share of the KV cache in use")                                                              \
    X(TRAIN_STEP_TIME, "train.step_time", "Step time", SECONDS, LOWER_IS_BETTER, RANKS_AVERAGED,   \
      HEADLINE, "mean time of a training step: spans named step or train_step")                    \
    X(TRAIN_DATA_WAIT, "train.data_wait", "Data wait per step", SECONDS, LOWER_IS_BETTER,          \
      RANKS_AVERAGED, HEADLINE, "time in spans that load data, per step")                          \
    X(TRAIN_COLLECTIVE_WAIT, "train.collective_wait", "Collectives per step", SECONDS,             \
      LOWER_IS_BETTER, RANKS_AVERAGED, HEADLINE,                                                   \
      "time in spans of collective operations, per step")                                          \
    X(OWN_CPU, "own.cpu", "Command: CPU", CORES, LOWER_IS_BETTER, RANKS_ADDED, HEADLINE,           \
      "CPU time of the command")                                                                   \
    X(OWN_RSS, "own.rss", "Command: memory", BYTES, LOWER_IS_BETTER, RANKS_ADDED, HEADLINE,        \
      "resident memory of its processes")                                                          \
    X(OWN_PEAK_MEMORY, "own.peak_memory", "Command: peak memory", BYTES, LOWER_IS_BETTER,          \
      RANKS_ADDED, HEADLINE, "highest resident memory of its processes")                           \
    X(GPU_UTIL, "gpu.util", "GPU busy", SHARE, HIGHER_IS_BETTER, MACHINES_AVERAGED, HEADLINE,      \
      "time in which a kernel ran")                                                                \
    X(GPU_MEMORY, "gpu.memory", "GPU memory", BYTES, LOWER_IS_BETTER, MACHINES_ADDED, HEADLINE,    \
      "GPU memory in use, all GPUs")                                                               \
    X(GPU_POWER, "gpu.power", "GPU power", WATTS, LOWER_IS_BETTER, MACHINES_ADDED, HEADLINE,       \
      "power of all GPUs")                                                                         \
    X(CPU_BUSY, "cpu.busy", "CPU, of the machine", SHARE, LOWER_IS_BETTER, MACHINES_AVERAGED,      \
      HEADLINE, "share of CPU time in which CPUs were busy")                                       \
    X(CPU_LOAD, "cpu.load", "Load", NUMBER, LOWER_IS_BETTER, MACHINES_AVERAGED, HEADLINE,          \
      "1-minute load average")                                                                     \
    X(MEM_USED, "mem.used", "Memory used", BYTES, LOWER_IS_BETTER, MACHINES_ADDED, HEADLINE,       \
      "memory in use, without caches")                                                             \
    X(DISK_READ, "disk.read", "Disk read", BYTES_PER_S, NO_DIRECTION, MACHINES_ADDED, HEADLINE,    \
      "bytes read by all disks")                                                                   \
    X(DISK_WRITTEN, "disk.written", "Disk written", BYTES_PER_S, NO_DIRECTION, MACHINES_ADDED,     \
      HEADLINE, "bytes written by all disks")                                                      \
    X(NET_RECEIVED, "net.received", "Net received", BYTES_PER_S, NO_DIRECTION, MACHINES_ADDED,     \
      HEADLINE, "bytes received")                                                                  \
    X(NET_SENT, "net.sent", "Net sent", BYTES_PER_S, NO_DIRECTION, MACHINES_ADDED, HEADLINE,       \
      "bytes sent")                                                                                \
    X(MEM_TOTAL, "mem.total", "Memory of the machine", BYTES, NO_DIRECTION, MACHINES_ADDED,        \
      DETAIL, "memory that the kernel can use")                                                    \
    X(MACHINE_BUSY, "machine.busy", "CPU, of the machine", SHARE, NO_DIRECTION, MACHINES_AVERAGED, \
      DETAIL, "the same, if nothing but the machine is recorded")                                  \
    X(CPU_STEAL, "cpu.steal", "CPU stolen", SHARE, LOWER_IS_BETTER, MACHINES_AVERAGED, DETAIL,     \
      "CPU time the hypervisor gave to other guests")                                              \
    X(CPU_IOWAIT, "cpu.iowait", "CPU idle for disks", SHARE, LOWER_IS_BETTER, MACHINES_AVERAGED,   \
      DETAIL, "time CPUs were idle with a pending disk request")                                   \
    X(CPU_RUNNABLE, "cpu.runnable", "Runnable threads per CPU", NUMBER, LOWER_IS_BETTER,           \
      MACHINES_AVERAGED, DETAIL, "runnable threads per CPU")                                       \
    X(CPU_PRESSURE, "cpu.pressure", "CPU pressure", SHARE, LOWER_IS_BETTER, MACHINES_AVERAGED,     \
      DETAIL, "time in which a task on the machine waited for a CPU")                              \
    X(CPU_COUNT, "cpu.count", "CPUs", NUMBER, NO_DIRECTION, MACHINES_ADDED, DETAIL,                \
      "CPUs of the machine")                                                                       \
    X(CORE_BUSIEST, "core.busiest", "Busiest CPU", SHARE, NO_DIRECTION, MACHINES_AVERAGED, DETAIL, \
      "busy time of the busiest CPU")                                                              \
    X(OWN_CPU_SHARE, "own.cpu_share", "Command: CPU, of its limit", SHARE, NO_DIRECTION,           \
      RANKS_AVERAGED, DETAIL, "its CPU time, as a share of its CPUs or quota")                     \
    X(OWN_CPU_PRESSURE, "own.cpu_pressure", "Command: CPU pressure", SHARE, LOWER_IS_BETTER,       \
      RANKS_AVERAGED, DETAIL, "time in which one of its tasks waited for a CPU")                   \
    X(OWN_RUN_DELAY, "own.run_delay", "Command: waiting for a CPU", NUMBER, LOWER_IS_BETTER,       \
      RANKS_ADDED, DETAIL, "its threads that were ready to run but waited for a CPU")              \
    X(OWN_QUOTA_USE, "own.quota_use", "Command: CPU, of its quota", SHARE, LOWER_IS_BETTER,        \
      RANKS_AVERAGED, DETAIL, "its CPU time as a share of its quota")                              \
    X(OWN_THROTTLED, "own.throttled", "Command: throttled periods", SHARE, LOWER_IS_BETTER,        \
      RANKS_AVERAGED, DETAIL, "quota periods in which it was throttled")                           \
    X(OWN_THROTTLED_TIME, "own.throttled_time", "Command: throttled", CORES, LOWER_IS_BETTER,      \
      RANKS_ADDED, DETAIL, "time throttled")                                                       \
    X(OWN_HOTTEST, "own.hottest_process", "Command: busiest process", CORES, NO_DIRECTION,         \
      RANKS_ADDED, DETAIL, "its busiest process")                                                  \
    X(OWN_SWITCHES, "own.switches", "Command: context switches", PER_S, LOWER_IS_BETTER,           \
      RANKS_ADDED, DETAIL, "voluntary context switches of its threads")                            \
    X(PYTHON_CPU, "python.cpu", "Python: CPU", CORES, NO_DIRECTION, RANKS_ADDED, DETAIL,           \
      "its busiest Python process")                                                                \
    X(PYTHON_THREADS, "python.threads", "Python: threads", NUMBER, NO_DIRECTION, RANKS_AVERAGED,   \
      DETAIL, "threads of its busiest Python process")                                             \
    X(PYTHON_SWITCHES, "python.switches", "Python: context switches", PER_S, LOWER_IS_BETTER,      \
      RANKS_ADDED, DETAIL, "voluntary context switches of these threads")                          \
    X(PROFILE_LOCK, "profile.lock", "Time in locks", SHARE, LOWER_IS_BETTER, RANKS_AVERAGED,       \
      DETAIL, "CPU time spent on acquiring and releasing locks")                                   \
    X(PROFILE_GIL, "profile.gil", "Waits for the GIL", SHARE, LOWER_IS_BETTER, RANKS_AVERAGED,     \
      DETAIL, "Python's CPU time while other threads waited for the GIL")                          \
    X(OTHERS_CPU, "others.cpu", "Others: CPU, of the machine", SHARE, LOWER_IS_BETTER,             \
      MACHINES_AVERAGED, DETAIL, "CPU time of other processes, as a share of all CPUs")            \
    X(MEM_AVAILABLE, "mem.available", "Memory available", SHARE, HIGHER_IS_BETTER,                 \
      MACHINES_AVERAGED, DETAIL, "memory available for new work")                                  \
    X(MEM_PRESSURE, "mem.pressure", "Memory pressure", SHARE, LOWER_IS_BETTER, MACHINES_AVERAGED,  \
      DETAIL, "time in which a task on the machine waited for memory")                             \
    X(MEM_SCAN, "mem.direct_scan", "Direct reclaim", PER_S, LOWER_IS_BETTER, MACHINES_ADDED,       \
      DETAIL, "pages scanned in direct reclaim")                                                   \
    X(MEM_REFAULT, "mem.refault", "File pages read again", PER_S, LOWER_IS_BETTER, MACHINES_ADDED, \
      DETAIL, "file pages read again soon after being dropped")                                    \
    X(MEM_SWAP, "mem.swap", "Swapped pages", PER_S, LOWER_IS_BETTER, MACHINES_ADDED, DETAIL,       \
      "pages read from and written to swap")                                                       \
    X(MEM_SWAP_USED, "mem.swap_used", "Swap used", BYTES, LOWER_IS_BETTER, MACHINES_ADDED, DETAIL, \
      "swap in use")                                                                               \
    X(MEM_MAJOR_FAULTS, "mem.major_faults", "Major faults", PER_S, LOWER_IS_BETTER,                \
      MACHINES_ADDED, DETAIL, "page faults that read from disk")                                   \
    X(MEM_OOM_KILLS, "mem.oom_kills", "OOM kills", NUMBER, LOWER_IS_BETTER, MACHINES_AVERAGED,     \
      DETAIL, "processes the OOM killer ended")                                                    \
    X(MEM_ANON, "mem.anon", "Anonymous memory", BYTES, LOWER_IS_BETTER, MACHINES_ADDED, DETAIL,    \
      "anonymous memory of the machine")                                                           \
    X(MEM_ANON_GROWTH, "mem.anon_growth", "Growth of anonymous memory", BYTES_PER_S,               \
      LOWER_IS_BETTER, MACHINES_ADDED, DETAIL, "growth of the machine's anonymous memory")         \
    X(OWN_RSS_GROWTH, "own.rss_growth", "Command: growth of memory", BYTES_PER_S, LOWER_IS_BETTER, \
      RANKS_ADDED, DETAIL, "growth of its resident memory")                                        \
    X(OWN_ANON, "own.anon", "Command: anonymous memory", BYTES, LOWER_IS_BETTER, RANKS_ADDED,      \
      DETAIL, "anonymous memory of its cgroup")                                                    \
    X(OWN_ANON_GROWTH, "own.anon_growth", "Command: growth, anonymous", BYTES_PER_S,               \
      LOWER_IS_BETTER, RANKS_ADDED, DETAIL, "growth of its anonymous memory")                      \
    X(OWN_MEMORY_SHARE, "own.memory_share", "Command: memory, of its limit", SHARE,                \
      LOWER_IS_BETTER, RANKS_AVERAGED, DETAIL, "its memory, as a share of its tightest limit")     \
    X(OWN_LIMIT_HITS, "own.limit_hits", "Command: memory limit reached", PER_S, LOWER_IS_BETTER,   \
      RANKS_ADDED, DETAIL, "times its memory reached the limit")                                   \
    X(OWN_OOM_KILLS, "own.oom_kills", "Command: OOM kills", NUMBER, LOWER_IS_BETTER,               \
      RANKS_AVERAGED, DETAIL, "processes the OOM killer ended in its cgroup")                      \
    X(OWN_MEMORY_PRESSURE, "own.memory_pressure", "Command: memory pressure", SHARE,               \
      LOWER_IS_BETTER, RANKS_AVERAGED, DETAIL, "time in which one of its tasks waited for memory") \
    X(OWN_IO_PRESSURE, "own.io_pressure", "Command: disk pressure", SHARE, LOWER_IS_BETTER,        \
      RANKS_AVERAGED, DETAIL, "time in which one of its tasks waited for a disk")                  \
    X(IO_PRESSURE, "io.pressure", "Disk pressure", SHARE, LOWER_IS_BETTER, MACHINES_AVERAGED,      \
      DETAIL, "time in which a task on the machine waited for a disk")                             \
    X(DISK_BUSY, "disk.busy", "Busiest disk", SHARE, LOWER_IS_BETTER, MACHINES_AVERAGED, DETAIL,   \
      "time in which the busiest disk had pending requests")                                       \
    X(DISK_QUEUE, "disk.queue", "Disk queue", NUMBER, LOWER_IS_BETTER, MACHINES_AVERAGED, DETAIL,  \
      "pending requests of the busiest disk")                                                      \
    X(DISK_RATE, "disk.rate", "Disk traffic", BYTES_PER_S, NO_DIRECTION, MACHINES_ADDED, DETAIL,   \
      "bytes read and written by all disks")                                                       \
    X(DISK_BLOCKED, "disk.blocked", "Threads waiting for disks", NUMBER, LOWER_IS_BETTER,          \
      MACHINES_ADDED, DETAIL, "threads waiting for a disk")                                        \
    X(NET_RATE, "net.rate", "Net traffic", BYTES_PER_S, NO_DIRECTION, MACHINES_ADDED, DETAIL,      \
      "bytes received and sent")                                                                   \
    X(NET_BUSIEST, "net.busiest", "Busiest interface", BYTES_PER_S, NO_DIRECTION,                  \
      MACHINES_AVERAGED, DETAIL, "bytes in one direction of the busiest interface")                \
    X(NET_LINK_SHARE, "net.link_share", "Net, of the link", SHARE, LOWER_IS_BETTER,                \
      MACHINES_AVERAGED, DETAIL, "busiest interface, as a share of its speed")                     \
    X(NET_DROPS, "net.drops", "Net drops and errors", PER_S, LOWER_IS_BETTER, MACHINES_ADDED,      \
      DETAIL, "dropped packets and packet errors")                                                 \
    X(ENGINE_PREEMPTIONS, "engine.preemptions", "Preemptions", PER_S, LOWER_IS_BETTER,             \
      RANKS_ADDED, DETAIL, "requests preempted to free KV cache")                                  \
    X(ENGINE_PROMPT_TOKENS, "engine.prompt_tokens", "Prompt tokens", PER_S, HIGHER_IS_BETTER,      \
      RANKS_ADDED, DETAIL, "prompt tokens processed")                                              \
    X(ENGINE_FINISHED, "engine.finished", "Requests finished", PER_S, HIGHER_IS_BETTER,            \
      RANKS_ADDED, DETAIL, "requests finished")                                                    \
    X(ENGINE_QUEUE_SHARE, "engine.queue_share", "Time in the queue", SHARE, LOWER_IS_BETTER,       \
      RANKS_AVERAGED, DETAIL, "share of request time spent in the queue")                          \
    X(ENGINE_PREFILL_SHARE, "engine.prefill_share", "Time in prefill", SHARE, NO_DIRECTION,        \
      RANKS_AVERAGED, DETAIL, "prefill as a share of prefill and decode time")                     \
    X(ENGINE_TOKEN_SPREAD, "engine.inter_token_spread", "Spread of inter-token times", NUMBER,     \
      LOWER_IS_BETTER, RANKS_AVERAGED, DETAIL, "p99 over median of the time between tokens")       \
    X(ENGINE_QUEUE_RATIO, "engine.queue_ratio", "Waiting per running request", NUMBER,             \
      LOWER_IS_BETTER, RANKS_AVERAGED, DETAIL,                                                     \
      "requests in the queue per request being processed")                                         \
    X(ENGINE_BATCH_SHARE, "engine.batch_share", "Request capacity used", SHARE, NO_DIRECTION,      \
      RANKS_AVERAGED, DETAIL, "requests being processed as a share of those that can be at once")  \
    X(ENGINE_PREFILL_BUSY, "engine.prefill_busy", "Prefill batches", SHARE, NO_DIRECTION,          \
      RANKS_AVERAGED, DETAIL, "share of time in which the engine processes batches of prompts")    \
    X(ENGINE_REMOTE, "engine.remote", "Engines of other machines", NUMBER, NO_DIRECTION,           \
      RANKS_ADDED, DETAIL, "engines that run on another machine")                                  \
    X(WORKER_COUNT, "worker.count", "Engines with work", NUMBER, NO_DIRECTION, RANKS_AVERAGED,     \
      DETAIL, "engines with work")                                                                 \
    X(WORKER_PACE, "worker.pace", "Slowest engine: inter-token", NUMBER, LOWER_IS_BETTER,          \
      RANKS_AVERAGED, DETAIL, "time between tokens of the slowest engine, over the median")        \
    X(WORKER_RATE, "worker.rate", "Slowest engine: tokens", NUMBER, NO_DIRECTION, RANKS_AVERAGED,  \
      DETAIL, "tokens of that engine, over the median")                                            \
    X(RANK_PACE, "rank.pace", "Slowest rank: step time", NUMBER, LOWER_IS_BETTER, RANKS_AVERAGED,  \
      DETAIL, "step time of the slowest rank, over the median of others")                          \
    X(RANK_SLOWEST, "rank.slowest", "Slowest rank: its steps", SHARE, LOWER_IS_BETTER,             \
      RANKS_AVERAGED, DETAIL, "steps in which this rank was the slowest")                          \
    X(RANK_STEPS, "rank.steps", "Steps of all ranks", NUMBER, NO_DIRECTION, RANKS_AVERAGED,        \
      DETAIL, "steps that most ranks took part in")                                                \
    X(RANK_EXCESS, "rank.slowest_excess", "Slowest rank: beyond chance", SHARE, LOWER_IS_BETTER,   \
      RANKS_AVERAGED, DETAIL, "rank.slowest, scaled: 0 is chance, 100 is every step")              \
    X(GPU_MEM_UTIL, "gpu.memory_util", "GPU memory busy", SHARE, NO_DIRECTION, MACHINES_AVERAGED,  \
      DETAIL, "time in which GPU memory was read or written")                                      \
    X(GPU_DRAM, "gpu.dram_bandwidth", "GPU memory bandwidth", SHARE, NO_DIRECTION,                 \
      MACHINES_AVERAGED, DETAIL, "memory bandwidth as a share of the maximum")                     \
    X(GPU_SM, "gpu.sm_active", "GPU multiprocessors", SHARE, HIGHER_IS_BETTER, MACHINES_AVERAGED,  \
      DETAIL, "multiprocessors with active work")                                                  \
    X(GPU_TENSOR, "gpu.tensor_active", "GPU tensor cores", SHARE, HIGHER_IS_BETTER,                \
      MACHINES_AVERAGED, DETAIL, "use of the tensor cores")                                        \
    X(GPU_MEMORY_SHARE, "gpu.memory_share", "Fullest GPU", SHARE, LOWER_IS_BETTER,                 \
      MACHINES_AVERAGED, DETAIL, "GPU memory in use, fullest GPU")                                 \
    X(GPU_MEMORY_TOTAL, "gpu.memory_total", "GPU memory, total", BYTES, NO_DIRECTION,              \
      MACHINES_ADDED, DETAIL, "memory of all GPUs")                                                \
    X(GPU_MEMORY_GROWTH, "gpu.memory_growth", "Growth of GPU memory", BYTES_PER_S,                 \
      LOWER_IS_BETTER, MACHINES_ADDED, DETAIL, "growth of GPU memory in use")                      \
    X(GPU_PROCESS_MEMORY, "gpu.process_memory", "Command: GPU memory", BYTES, LOWER_IS_BETTER,     \
      RANKS_ADDED, DETAIL, "GPU memory of its processes")                                          \
    X(GPU_PROCESS_GROWTH, "gpu.process_growth", "Command: growth, GPU memory", BYTES_PER_S,        \
      LOWER_IS_BETTER, RANKS_ADDED, DETAIL, "growth of GPU memory of its processes")               \
    X(GPU_PROCESS_SHARE, "gpu.process_share", "Command: share of GPU memory", SHARE, NO_DIRECTION, \
      RANKS_AVERAGED, DETAIL, "GPU memory of its processes as a share of all")                     \
    X(GPU_POWER_SHARE, "gpu.power_share", "GPU power, of its limit", SHARE, LOWER_IS_BETTER,       \
      MACHINES_AVERAGED, DETAIL, "highest power of a GPU as a share of its limit")                 \
    X(GPU_THROTTLED, "gpu.throttled", "GPU throttled", SHARE, LOWER_IS_BETTER, MACHINES_AVERAGED,  \
      DETAIL, "time slowed down by power or heat")                                                 \
    X(GPU_CLOCK_SHARE, "gpu.clock_share", "GPU clock", SHARE, HIGHER_IS_BETTER, MACHINES_AVERAGED, \
      DETAIL, "clock as a share of its maximum in the run")                                        \
    X(GPU_TEMPERATURE, "gpu.temperature", "Hottest GPU", CELSIUS, LOWER_IS_BETTER,                 \
      MACHINES_AVERAGED, DETAIL, "temperature of the hottest GPU")                                 \
    X(GPU_PCIE_SHARE, "gpu.pcie_share", "PCIe, of the link", SHARE, LOWER_IS_BETTER,               \
      MACHINES_AVERAGED, DETAIL, "PCIe traffic as a share of the link's capacity")                 \
    X(TREND_GROWTH, "trend.growth", "Growth", BYTES, LOWER_IS_BETTER, RANKS_ADDED, DETAIL,         \
      "growth of the memory along its trend line")                                                 \
    X(TREND_GROWTH_SHARE, "trend.growth_share", "Growth, of the start", SHARE, LOWER_IS_BETTER,    \
      RANKS_AVERAGED, DETAIL, "trend.growth, in percent of the memory at its start")               \
    X(TREND_FIT, "trend.fit", "Fit of the trend", NUMBER, NO_DIRECTION, RANKS_AVERAGED, DETAIL,    \
      "R² of the trend line: 1 is a straight line")                                                \
    X(TREND_EVENNESS, "trend.slowest_quarter", "Slowest quarter", SHARE, NO_DIRECTION,             \
      RANKS_AVERAGED, DETAIL, "growth in its slowest quarter, in percent of the mean of all")      \
    X(TREND_SECONDS, "trend.time", "Length of the trend", SECONDS, NO_DIRECTION, RANKS_AVERAGED,   \
      DETAIL, "length of the trend line")                                                          \
    X(WITNESS_FIT, "witness.fit", "Second count: fit", NUMBER, NO_DIRECTION, RANKS_AVERAGED,       \
      DETAIL, "R² of the trend line of the second count")                                          \
    X(WITNESS_DISAGREEMENT, "witness.disagreement", "Second count: disagreement", NUMBER,          \
      NO_DIRECTION, RANKS_AVERAGED, DETAIL, "faster over slower growth of the two counts")         \
    X(WITNESS_CHANGE, "witness.change", "Second count: change", SHARE, NO_DIRECTION,               \
      RANKS_AVERAGED, DETAIL, "growth or decline of the second count, in percent of the growth")   \
    X(PITOT_CPU, "pitot.cpu", "Pitot, of one CPU", SHARE, LOWER_IS_BETTER, RANKS_AVERAGED, DETAIL, \
      "CPU time of Pitot, of one CPU")                                                             \
    X(PITOT_SHARE, "pitot.share", "Pitot, of all CPU time", SHARE, LOWER_IS_BETTER,                \
      RANKS_AVERAGED, DETAIL, "CPU time of Pitot, as a share of all recorded CPU time")            \
    X(PITOT_LATE, "pitot.late_ticks", "Pitot: late ticks", NUMBER, LOWER_IS_BETTER, RANKS_ADDED,   \
      DETAIL, "ticks that were skipped because they were late")                                    \
    X(PITOT_DROPPED, "pitot.dropped_ticks", "Pitot: dropped ticks", NUMBER, LOWER_IS_BETTER,       \
      RANKS_ADDED, DETAIL, "ticks that could not be written")                                      \
    X(PITOT_STARVED, "pitot.starved", "Pitot: waiting for a CPU", SECONDS, LOWER_IS_BETTER,        \
      RANKS_ADDED, DETAIL, "time Pitot was ready to sample but waited for a CPU")                  \
    X(PITOT_LOST, "pitot.lost_ticks", "Pitot: late or dropped ticks", PER_S, LOWER_IS_BETTER,      \
      RANKS_ADDED, DETAIL, "late or dropped ticks of Pitot")                                       \
    X(PITOT_CALLS, "pitot.collecting", "Pitot: collecting", SHARE, LOWER_IS_BETTER,                \
      RANKS_AVERAGED, DETAIL, "time spent in Pitot's collectors")                                  \
    X(ENGINE_TTFT_P90, "engine.ttft_p90", "First token, p90", SECONDS, LOWER_IS_BETTER,            \
      RANKS_MERGED, DETAIL, "90th percentile of the time to the first token")                      \
    X(ENGINE_TTFT_P95, "engine.ttft_p95", "First token, p95", SECONDS, LOWER_IS_BETTER,            \
      RANKS_MERGED, DETAIL, "95th percentile of the time to the first token")                      \
    X(ENGINE_INTER_TOKEN_P90, "engine.inter_token_p90", "Inter-token, p90", SECONDS,               \
      LOWER_IS_BETTER, RANKS_MERGED, DETAIL, "90th percentile of the time between tokens")         \
    X(ENGINE_INTER_TOKEN_P95, "engine.inter_token_p95", "Inter-token, p95", SECONDS,               \
      LOWER_IS_BETTER, RANKS_MERGED, DETAIL, "95th percentile of the time between tokens")         \
    X(ENGINE_E2E_P50, "engine.e2e_p50", "Whole request, p50", SECONDS, LOWER_IS_BETTER,            \
      RANKS_MERGED, DETAIL, "median of the time of a whole request")                               \
    X(ENGINE_E2E_P90, "engine.e2e_p90", "Whole request, p90", SECONDS, LOWER_IS_BETTER,            \
      RANKS_MERGED, DETAIL, "90th percentile of the time of a whole request")                      \
    X(ENGINE_E2E_P95, "engine.e2e_p95", "Whole request, p95", SECONDS, LOWER_IS_BETTER,            \
      RANKS_MERGED, DETAIL, "95th percentile of the time of a whole request")                      \
    X(ENGINE_E2E_P99, "engine.e2e_p99", "Whole request, p99", SECONDS, LOWER_IS_BETTER,            \
      RANKS_MERGED, DETAIL, "99th percentile of the time of a whole request")                      \
    X(PITOT_MEMORY, "pitot.memory", "Pitot: memory", BYTES, LOWER_IS_BETTER, RANKS_ADDED, DETAIL,  \
      "resident memory of Pitot")

#define PT_FIGURE_ENUM_(constant, ...) PT_FIGURE_##constant,
enum pt_figure_id { PT_FIGURES(PT_FIGURE_ENUM_) PT_FIGURE_COUNT };

/* How the values of ranks are combined; the first rank of a machine reports for it. */
enum pt_figure_together {
    PT_RANKS_ADDED,
    PT_RANKS_AVERAGED,
    PT_MACHINES_ADDED,
    PT_MACHINES_AVERAGED,
    PT_RANKS_MERGED, /* their histograms, of which the value is a quantile */
};

struct pt_figure {
    const char *name, *title;
    enum pt_form form;
    enum pt_direction better;
    enum pt_figure_together together;
    enum pt_importance importance;
    const char *help;
};

extern const struct pt_figure pt_figures[PT_FIGURE_COUNT];

/* "97.3 %" */
static inline void pt_figure_print(enum pt_figure_id id, double value, char *into,
                                   size_t capacity) {
    pt_form_print(pt_figures[id].form, value, into, capacity);
}

/* By name; -1: none. */
int pt_figure_find(const char *name);

/* Latencies of which engines have histograms. */
enum pt_latency_id { PT_LATENCY_TTFT, PT_LATENCY_INTER_TOKEN, PT_LATENCY_E2E, PT_LATENCY_COUNT };

/* Is the figure a quantile of a latency? */
bool pt_figure_is_quantile(enum pt_figure_id id, enum pt_latency_id *latency, double *level);

/* The figure that is 100 % of it; -1: none, or not known in advance. */
int pt_figure_limit(enum pt_figure_id id);

/* "ranks added", "machines averaged" */
const char *pt_figure_together_name(enum pt_figure_together together);

/* Is its value over a time the highest one, not a sum over a weight? */
bool pt_figure_is_peak(enum pt_figure_id id);

/* Is it a rate, whose sum over time is an amount: tokens, bytes? */
bool pt_figure_is_amount(enum pt_figure_id id);

/* What one sample says of a figure. */
struct pt_figure_value {
    double value;       /* the newest; NAN: unknown, or too old */
    double sum, weight; /* what this sample adds; weight 0: nothing new */
    int64_t from_ns, to_ns;
};

/* What was observed between two scrapes. */
struct pt_latency_growth {
    struct pt_classic_histogram histogram;
    int64_t from_ns, to_ns; /* equal: nothing new */
};

/* The figures of a run, sample after sample. */
struct pt_figure_stream {
    struct pt_rates rates;
    struct pt_figure_value now[PT_FIGURE_COUNT];
    int64_t covered_ns[PT_FIGURE_COUNT];                  /* up to here a figure is known */
    struct pt_figure_place *places;                       /* of the columns, in the schema */
    struct pt_latency_growth latencies[PT_LATENCY_COUNT]; /* of this sample */
    int histograms; /* table of the schema; -1: an older journal, with quantiles only */
    bool has_latency[PT_LATENCY_COUNT];           /* seen in this run */
    struct pt_figure_value held[PT_FIGURE_COUNT]; /* of the last scrape or the last steps */
    struct pt_figure_steps {
        int table, name, duration; /* of spans; table -1: none */
        struct pt_names names;     /* seen so far, with their roles */
        enum pt_span_role *roles;
        size_t role_capacity;
        bool has_role[PT_SPAN_ROLE_COUNT];
        double seconds[PT_SPAN_ROLE_COUNT]; /* since the last step */
    } steps;
    double peak_memory_mark; /* highest mark of a process so far */
};

/* Does the stream read the rows of this table? */
bool pt_figure_stream_reads(const struct pt_figure_stream *s, int table);

/* Does a figure use this column? */
bool pt_figure_wants(const struct pt_table *table, const struct pt_column *column);

void pt_figure_stream_init(struct pt_figure_stream *s,
                           const struct pt_schema *schema); /* borrows */
void pt_figure_stream_release(struct pt_figure_stream *s);
/* Before a jump in time. */
void pt_figure_stream_clear(struct pt_figure_stream *s);
/* False: the sample has only events, nothing has changed. */
bool pt_figure_stream_add(struct pt_figure_stream *s, const struct pt_sample *sample);

static inline bool pt_figure_is_known(const struct pt_figure_stream *s, enum pt_figure_id id) {
    return s->now[id].value == s->now[id].value;
}

/* Busy share of a CPU, by its row in the table of CPUs; NAN: unknown. */
double pt_figure_core_busy(const struct pt_figure_stream *s, uint32_t core);

/* Sums of one figure over any time. {0} is empty. */
struct pt_figure_sums {
    double sum, weight, peak;
    bool is_known;
};

/* Adds what a sample, a window or a time slot says of a figure to a sum and a weight. Of quantiles
 * without histograms, as in journals of 0.1, the worst counts. */
void pt_figure_accumulate(enum pt_figure_id id, double *sum, double *weight, double more_sum,
                          double more_weight);

/* All figures over any time. {0} is empty. */
struct pt_figure_totals {
    struct pt_figure_sums sums[PT_FIGURE_COUNT];
    struct pt_classic_histogram latencies[PT_LATENCY_COUNT];
};

void pt_figure_totals_release(struct pt_figure_totals *t);
void pt_figure_totals_add(struct pt_figure_totals *t, const struct pt_figure_stream *s);
/* The value over that time; NAN: unknown. */
double pt_figure_totals_value(const struct pt_figure_totals *t, enum pt_figure_id id);

#endif
