/* analyze/signal.h -- signals: the inputs of verdicts.
 *
 * A signal is one number per window, derived from the series of a run, such as the share of the KV
 * cache in use. `own` is the recorded command (its cgroup or its processes), `others` the rest of
 * the machine. NAN is unknown. */
#ifndef PT_ANALYZE_SIGNAL_H
#define PT_ANALYZE_SIGNAL_H

#include "analyze/figure.h"
#include "analyze/window.h"

/* X(constant, name, format, help) */
#define PT_SIGNALS(X)                                                                              \
    X(CPU_BUSY, "cpu.busy", PERCENT, "share of CPU time in which CPUs were busy")                  \
    X(MACHINE_BUSY, "machine.busy", PERCENT, "cpu.busy of a run without a recorded command")       \
    X(CPU_STEAL, "cpu.steal", PERCENT, "CPU time the hypervisor gave to other guests")             \
    X(CPU_IOWAIT, "cpu.iowait", PERCENT, "time CPUs were idle with a pending disk request")        \
    X(CPU_RUNNABLE, "cpu.runnable", PLAIN, "runnable threads per CPU")                             \
    X(CPU_PRESSURE, "cpu.pressure", PERCENT,                                                       \
      "time in which a task on the machine waited for a CPU")                                      \
    X(CPU_COUNT, "cpu.count", PLAIN, "CPUs of the machine")                                        \
    X(CORE_BUSIEST, "core.busiest", PERCENT, "busy time of the busiest CPU")                       \
    X(OWN_CPU, "own.cpu", PERCENT, "CPU time of the command, in percent of one CPU")               \
    X(OWN_CPU_SHARE, "own.cpu_share", PERCENT, "its CPU time, in percent of its CPUs or quota")    \
    X(OWN_CPU_PRESSURE, "own.cpu_pressure", PERCENT,                                               \
      "time in which one of its tasks waited for a CPU")                                           \
    X(OWN_QUOTA_USE, "own.quota_use", PERCENT, "its CPU time, in percent of its quota")            \
    X(OWN_THROTTLED, "own.throttled", PERCENT, "quota periods in which it was throttled")          \
    X(OWN_THROTTLED_TIME, "own.throttled_time", PERCENT, "time throttled, in percent of one CPU")  \
    X(OWN_HOTTEST, "own.hottest_process", PERCENT, "its busiest process, in percent of one CPU")   \
    X(OWN_SWITCHES, "own.switches", PER_S, "voluntary context switches of its threads")            \
    X(PYTHON_CPU, "python.cpu", PERCENT, "its busiest Python process, in percent of one CPU")      \
    X(PYTHON_THREADS, "python.threads", PLAIN, "threads of its busiest Python process")            \
    X(PYTHON_SWITCHES, "python.switches", PER_S, "voluntary context switches of these threads")    \
    X(PROFILE_LOCK, "profile.lock", PERCENT, "CPU time spent on acquiring and releasing locks")    \
    X(PROFILE_GIL, "profile.gil", PERCENT,                                                         \
      "Python's CPU time while other threads waited for the GIL")                                  \
    X(OTHERS_CPU, "others.cpu", PERCENT, "CPU time of other processes, in percent of all CPUs")    \
    X(MEM_AVAILABLE, "mem.available", PERCENT, "memory available for new work")                    \
    X(MEM_PRESSURE, "mem.pressure", PERCENT,                                                       \
      "time in which a task on the machine waited for memory")                                     \
    X(MEM_SCAN, "mem.direct_scan", PER_S, "pages scanned in direct reclaim")                       \
    X(MEM_REFAULT, "mem.refault", PER_S, "file pages read again soon after being dropped")         \
    X(MEM_SWAP, "mem.swap", PER_S, "pages read from and written to swap")                          \
    X(MEM_SWAP_USED, "mem.swap_used", BYTES, "swap in use")                                        \
    X(MEM_MAJOR_FAULTS, "mem.major_faults", PER_S, "page faults that read from disk")              \
    X(MEM_OOM_KILLS, "mem.oom_kills", PLAIN, "processes the OOM killer ended")                     \
    X(MEM_ANON, "mem.anon", BYTES, "anonymous memory of the machine")                              \
    X(MEM_ANON_GROWTH, "mem.anon_growth", BYTES_PER_S, "growth of the machine's anonymous memory") \
    X(OWN_RSS, "own.rss", BYTES, "resident memory of its processes")                               \
    X(OWN_RSS_GROWTH, "own.rss_growth", BYTES_PER_S, "growth of its resident memory")              \
    X(OWN_ANON, "own.anon", BYTES, "anonymous memory of its cgroup")                               \
    X(OWN_ANON_GROWTH, "own.anon_growth", BYTES_PER_S, "growth of its anonymous memory")           \
    X(OWN_MEMORY_SHARE, "own.memory_share", PERCENT,                                               \
      "its memory, in percent of its tightest limit")                                              \
    X(OWN_LIMIT_HITS, "own.limit_hits", PER_S, "times its memory reached the limit")               \
    X(OWN_OOM_KILLS, "own.oom_kills", PLAIN, "processes the OOM killer ended in its cgroup")       \
    X(OWN_MEMORY_PRESSURE, "own.memory_pressure", PERCENT,                                         \
      "time in which one of its tasks waited for memory")                                          \
    X(OWN_IO_PRESSURE, "own.io_pressure", PERCENT,                                                 \
      "time in which one of its tasks waited for a disk")                                          \
    X(IO_PRESSURE, "io.pressure", PERCENT,                                                         \
      "time in which a task on the machine waited for a disk")                                     \
    X(DISK_BUSY, "disk.busy", PERCENT, "time in which the busiest disk had pending requests")      \
    X(DISK_QUEUE, "disk.queue", PLAIN, "pending requests of the busiest disk")                     \
    X(DISK_RATE, "disk.rate", BYTES_PER_S, "bytes read and written by all disks")                  \
    X(DISK_BLOCKED, "disk.blocked", PLAIN, "threads waiting for a disk")                           \
    X(NET_RATE, "net.rate", BYTES_PER_S, "bytes received and sent")                                \
    X(NET_LINK_SHARE, "net.link_share", PERCENT, "busiest interface, in percent of its speed")     \
    X(NET_DROPS, "net.drops", PER_S, "dropped packets and packet errors")                          \
    X(ENGINE_RUNNING, "engine.running", PLAIN, "requests being processed")                         \
    X(ENGINE_WAITING, "engine.waiting", PLAIN, "requests in the queue")                            \
    X(ENGINE_KV, "engine.kv_cache", PERCENT, "share of the KV cache in use")                       \
    X(ENGINE_PREEMPTIONS, "engine.preemptions", PER_S, "requests preempted to free KV cache")      \
    X(ENGINE_TOKENS, "engine.tokens", PER_S, "tokens generated")                                   \
    X(ENGINE_PROMPT_TOKENS, "engine.prompt_tokens", PER_S, "prompt tokens processed")              \
    X(ENGINE_FINISHED, "engine.finished", PER_S, "requests finished")                              \
    X(ENGINE_QUEUE_SHARE, "engine.queue_share", PERCENT,                                           \
      "share of request time spent in the queue")                                                  \
    X(ENGINE_PREFILL_SHARE, "engine.prefill_share", PERCENT,                                       \
      "prefill, in percent of prefill and decode time")                                            \
    X(ENGINE_TTFT, "engine.ttft", SECONDS, "median time to the first token")                       \
    X(ENGINE_TOKEN_SPREAD, "engine.inter_token_spread", PLAIN,                                     \
      "p99 over median of the time between tokens")                                                \
    X(WORKER_COUNT, "worker.count", PLAIN, "engines with work")                                    \
    X(WORKER_PACE, "worker.pace", PLAIN,                                                           \
      "time between tokens of the slowest engine, over the median")                                \
    X(WORKER_RATE, "worker.rate", PLAIN, "tokens of that engine, over the median")                 \
    X(RANK_PACE, "rank.pace", PLAIN, "step time of the slowest rank, over the median of others")   \
    X(RANK_SLOWEST, "rank.slowest", PERCENT, "steps in which this rank was the slowest")           \
    X(RANK_STEPS, "rank.steps", PLAIN, "steps that most ranks took part in")                       \
    X(RANK_EXCESS, "rank.slowest_excess", PERCENT,                                                 \
      "rank.slowest, scaled: 0 is chance, 100 is every step")                                      \
    X(GPU_UTIL, "gpu.util", PERCENT, "time in which a kernel ran")                                 \
    X(GPU_MEM_UTIL, "gpu.memory_util", PERCENT, "time in which GPU memory was read or written")    \
    X(GPU_DRAM, "gpu.dram_bandwidth", PERCENT, "memory bandwidth, in percent of the maximum")      \
    X(GPU_SM, "gpu.sm_active", PERCENT, "multiprocessors with active work")                        \
    X(GPU_TENSOR, "gpu.tensor_active", PERCENT, "use of the tensor cores")                         \
    X(GPU_MEMORY_SHARE, "gpu.memory_share", PERCENT, "GPU memory in use, fullest GPU")             \
    X(GPU_MEMORY, "gpu.memory", BYTES, "GPU memory in use, all GPUs")                              \
    X(GPU_MEMORY_GROWTH, "gpu.memory_growth", BYTES_PER_S, "growth of GPU memory in use")          \
    X(GPU_PROCESS_MEMORY, "gpu.process_memory", BYTES, "GPU memory of its processes")              \
    X(GPU_PROCESS_GROWTH, "gpu.process_growth", BYTES_PER_S,                                       \
      "growth of GPU memory of its processes")                                                     \
    X(GPU_PROCESS_SHARE, "gpu.process_share", PERCENT,                                             \
      "GPU memory of its processes, in percent of all")                                            \
    X(GPU_POWER_SHARE, "gpu.power_share", PERCENT,                                                 \
      "power of the highest GPU, in percent of its limit")                                         \
    X(GPU_THROTTLED, "gpu.throttled", PERCENT, "time slowed down by power or heat")                \
    X(GPU_CLOCK_SHARE, "gpu.clock_share", PERCENT, "clock, in percent of its maximum in the run")  \
    X(GPU_TEMPERATURE, "gpu.temperature", PLAIN, "degrees Celsius, hottest GPU")                   \
    X(GPU_PCIE_SHARE, "gpu.pcie_share", PERCENT,                                                   \
      "PCIe traffic, in percent of the link's capacity")                                           \
    X(TREND_GROWTH, "trend.growth", BYTES, "growth of the memory along its trend line")            \
    X(TREND_GROWTH_SHARE, "trend.growth_share", PERCENT,                                           \
      "trend.growth, in percent of the memory at its start")                                       \
    X(TREND_FIT, "trend.fit", PLAIN, "R² of the trend line: 1 is a straight line")                 \
    X(TREND_EVENNESS, "trend.slowest_quarter", PERCENT,                                            \
      "growth in its slowest quarter, in percent of the mean of all")                              \
    X(TREND_SECONDS, "trend.time", SECONDS, "length of the trend line")                            \
    X(WITNESS_FIT, "witness.fit", PLAIN, "R² of the trend line of the second count")               \
    X(WITNESS_DISAGREEMENT, "witness.disagreement", PLAIN,                                         \
      "faster over slower growth of the two counts")                                               \
    X(WITNESS_CHANGE, "witness.change", PERCENT,                                                   \
      "growth or decline of the second count, in percent of the growth")                           \
    X(PITOT_CPU, "pitot.cpu", PERCENT, "CPU time of Pitot, in percent of one CPU")                 \
    X(PITOT_SHARE, "pitot.share", PERCENT,                                                         \
      "CPU time of Pitot, in percent of all recorded CPU time")                                    \
    X(PITOT_LATE, "pitot.late_ticks", PER_S, "late or dropped ticks of Pitot")                     \
    X(PITOT_CALLS, "pitot.collecting", PERCENT, "time spent in Pitot's collectors")

#define PT_SIGNAL_ENUM_(constant, ...) PT_SIGNAL_##constant,
enum pt_signal_id { PT_SIGNALS(PT_SIGNAL_ENUM_) PT_SIGNAL_COUNT };

struct pt_signal_info {
    const char *name;
    enum pt_figure_format format;
    const char *help;
};

extern const struct pt_signal_info pt_signal_infos[PT_SIGNAL_COUNT];

/* Shares are kept as 0 to 1; signals of format PERCENT are shown times 100. */
struct pt_signals {
    const struct pt_windows *windows; /* borrowed */
    size_t count;                     /* of windows */
    double *values[PT_SIGNAL_COUNT];  /* `count` each */
    double seconds;                   /* sum over all windows */
};

/* Do signals use this column? For pt_windows_init(). */
bool pt_signal_wants(const struct pt_table *table, const struct pt_column *column);
/* `link_bytes_per_s`: speed of the fastest interface, NAN if unknown. */
void pt_signals_make(struct pt_signals *s, const struct pt_windows *w, double link_bytes_per_s);
void pt_signals_release(struct pt_signals *s);

/* The option needed to record it ("-p"), or NULL. */
const char *pt_signal_option(enum pt_signal_id id);
bool pt_signal_is_known(const struct pt_signals *s, enum pt_signal_id id); /* in any window */
/* "97.3 %" */
void pt_signal_print(enum pt_signal_id id, double value, char *into, size_t capacity);

#endif
