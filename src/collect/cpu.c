/* collect/cpu.c -- CPU time, load and frequency of the machine and of each CPU. */
#include "collect/collector.h"
#include "collect/source.h"
#include "source/kernel/cpu_times.h"
#include "source/kernel/keyed.h"

#include <errno.h>
#include <stdio.h>

enum { STAT, LOADAVG, CPUFREQ };

#define CPU_COLUMNS(X, t)                                                                         \
    X(t, time, "vCpuTime", COUNTER, I64, CENTISECONDS, STAT, "CPU time, user + kernel mode",      \
      .title = "CPU used, cores", .heading = "CORES", .form = PT_FORM_CORES,                      \
      .better = PT_LOWER_IS_BETTER, .importance = PT_HEADLINE,                                    \
      .words = "busy utilization processor load")                                                 \
    X(t, user, "vCpuTimeUserMode", COUNTER, I64, CENTISECONDS, STAT,                              \
      "CPU time in user mode, without nice processes", .title = "CPU, user",                      \
      .family = "CPU time by mode, cores", .is_stacked = true, .form = PT_FORM_CORES,             \
      .better = PT_LOWER_IS_BETTER)                                                               \
    X(t, kernel, "vCpuTimeKernelMode", COUNTER, I64, CENTISECONDS, STAT,                          \
      "CPU time in kernel mode, without interrupts", .title = "CPU, kernel",                      \
      .family = "CPU time by mode, cores", .is_stacked = true, .form = PT_FORM_CORES,             \
      .better = PT_LOWER_IS_BETTER, .words = "system sys")                                        \
    X(t, idle, "vCpuIdleTime", COUNTER, I64, CENTISECONDS, STAT, "CPU time spent idle",           \
      .title = "CPU, idle, cores", .form = PT_FORM_CORES)                                         \
    X(t, iowait, "vCpuTimeIOWait", COUNTER, I64, CENTISECONDS, STAT,                              \
      "CPU time spent idle while a disk request of this CPU was pending",                         \
      .title = "CPU, I/O wait", .family = "CPU time by mode, cores", .is_stacked = true,          \
      .form = PT_FORM_CORES, .better = PT_LOWER_IS_BETTER, .importance = PT_HEADLINE,             \
      .words = "disk waiting")                                                                    \
    X(t, irq, "vCpuTimeIntSrvc", COUNTER, I64, CENTISECONDS, STAT,                                \
      "CPU time serving hardware interrupts", .title = "CPU, hardware interrupts",                \
      .family = "CPU time by mode, cores", .is_stacked = true, .form = PT_FORM_CORES,             \
      .words = "irq")                                                                             \
    X(t, softirq, "vCpuTimeSoftIntSrvc", COUNTER, I64, CENTISECONDS, STAT,                        \
      "CPU time serving soft interrupts", .title = "CPU, soft interrupts",                        \
      .family = "CPU time by mode, cores", .is_stacked = true, .form = PT_FORM_CORES)             \
    X(t, nice, "vCpuNice", COUNTER, I64, CENTISECONDS, STAT, "CPU time of nice processes",        \
      .title = "CPU, nice", .family = "CPU time by mode, cores", .is_stacked = true,              \
      .form = PT_FORM_CORES, .words = "low priority")                                             \
    X(t, steal, "vCpuSteal", COUNTER, I64, CENTISECONDS, STAT,                                    \
      "CPU time the hypervisor gave to others while this machine was ready to run",               \
      .title = "CPU, steal", .family = "CPU time by mode, cores", .is_stacked = true,             \
      .form = PT_FORM_CORES, .better = PT_LOWER_IS_BETTER, .importance = PT_HEADLINE,             \
      .words = "hypervisor vm stolen")                                                            \
    X(t, context_switches, "vCpuContextSwitches", COUNTER, I64, COUNT, STAT, "Context switches",  \
      .title = "Context switches", .better = PT_LOWER_IS_BETTER, .words = "scheduler")            \
    X(t, load, "vLoadAvg", GAUGE, F64, NONE, LOADAVG, "1-minute load average",                    \
      .title = "Load, 1 minute", .family = "Load average", .better = PT_LOWER_IS_BETTER,          \
      .importance = PT_HEADLINE, .words = "queue")                                                \
    X(t, mhz, "vCpuMhz", GAUGE, F64, MEGAHERTZ, CPUFREQ,                                          \
      "Current frequency, average over the CPUs; read at most once per second",                   \
      .title = "CPU frequency", .lasts_s = 30, .words = "clock mhz ghz turbo throttling")         \
    X(t, load5, "vLoadAvg5", GAUGE, F64, NONE, LOADAVG, "5-minute load average",                  \
      .title = "Load, 5 minutes", .family = "Load average", .better = PT_LOWER_IS_BETTER)         \
    X(t, load15, "vLoadAvg15", GAUGE, F64, NONE, LOADAVG, "15-minute load average",               \
      .title = "Load, 15 minutes", .family = "Load average", .better = PT_LOWER_IS_BETTER)        \
    X(t, threads, "vThreads", GAUGE, I64, COUNT, LOADAVG, "Threads on the machine",               \
      .title = "Threads")                                                                         \
    X(t, runnable, "vThreadsRunnable", GAUGE, I64, COUNT, LOADAVG,                                \
      "Threads running or ready to run", .title = "Threads running or ready",                     \
      .family = "Threads by state", .words = "run queue")                                         \
    X(t, blocked, "vProcessesBlocked", GAUGE, I64, COUNT, STAT, "Threads waiting for a disk",     \
      .title = "Threads waiting for a disk", .family = "Threads by state",                        \
      .better = PT_LOWER_IS_BETTER, .words = "uninterruptible")                                   \
    X(t, forks, "vForks", COUNTER, I64, COUNT, STAT, "Processes and threads created since boot",  \
      .title = "Forks", .words = "processes started", .otel = "system.process.created {process}") \
    X(t, interrupts, "vInterrupts", COUNTER, I64, COUNT, STAT, "Hardware interrupts served",      \
      .title = "Interrupts", .family = "Interrupts", .words = "irq")                              \
    X(t, soft_interrupts, "vSoftInterrupts", COUNTER, I64, COUNT, STAT, "Soft interrupts served", \
      .title = "Soft interrupts", .family = "Interrupts", .words = "softirq")                     \
    X(t, guest, "vCpuGuest", COUNTER, I64, CENTISECONDS, STAT,                                    \
      "CPU time running virtual machines; also counted in user mode",                             \
      .title = "CPU, virtual machines, cores", .form = PT_FORM_CORES, .words = "kvm")

PT_TABLE(cpu, PT_TABLE_MAIN("cpu"), "CPU of the machine", CPU_COLUMNS, "/proc/stat",
         "/proc/loadavg", "sysfs cpufreq, else /proc/cpuinfo");

#define CORE_COLUMNS(X, t)                                                                         \
    X(t, number, "cpuNumber", KEY, I64, NONE, STAT, "CPU number", .title = "CPU",                  \
      .heading = "CPU", .role = PT_ROLE_NAME, .otel = "cpu.logical_number")                        \
    X(t, time, "cpuTime", COUNTER, I64, CENTISECONDS, STAT, "CPU time, user + kernel mode",        \
      .title = "CPU used", .heading = "USED", .form = PT_FORM_SHARE, .better = PT_LOWER_IS_BETTER, \
      .importance = PT_HEADLINE, .words = "busy utilization core")                                 \
    X(t, user, "cpuTimeUserMode", COUNTER, I64, CENTISECONDS, STAT, "CPU time in user mode",       \
      .title = "CPU, user", .heading = "USER", .family = "CPU time by mode, of one CPU",           \
      .is_stacked = true, .form = PT_FORM_SHARE, .better = PT_LOWER_IS_BETTER,                     \
      .otel = "system.cpu.time cpu.mode=user")                                                     \
    X(t, kernel, "cpuTimeKernelMode", COUNTER, I64, CENTISECONDS, STAT, "CPU time in kernel mode", \
      .title = "CPU, kernel", .heading = "KERNEL", .family = "CPU time by mode, of one CPU",       \
      .is_stacked = true, .form = PT_FORM_SHARE, .better = PT_LOWER_IS_BETTER,                     \
      .words = "system sys", .otel = "system.cpu.time cpu.mode=system")                            \
    X(t, idle, "cpuIdleTime", COUNTER, I64, CENTISECONDS, STAT, "CPU time spent idle",             \
      .title = "CPU, idle", .heading = "IDLE", .form = PT_FORM_SHARE,                              \
      .otel = "system.cpu.time cpu.mode=idle")                                                     \
    X(t, iowait, "cpuTimeIOWait", COUNTER, I64, CENTISECONDS, STAT,                                \
      "CPU time spent idle with I/O pending", .title = "CPU, I/O wait", .heading = "IOWAIT",       \
      .family = "CPU time by mode, of one CPU", .is_stacked = true, .form = PT_FORM_SHARE,         \
      .better = PT_LOWER_IS_BETTER, .words = "disk waiting",                                       \
      .otel = "system.cpu.time cpu.mode=iowait")                                                   \
    X(t, irq, "cpuTimeIntSrvc", COUNTER, I64, CENTISECONDS, STAT,                                  \
      "CPU time serving hardware interrupts", .title = "CPU, hardware interrupts",                 \
      .heading = "IRQ", .family = "CPU time by mode, of one CPU", .is_stacked = true,              \
      .form = PT_FORM_SHARE, .otel = "system.cpu.time cpu.mode=interrupt")                         \
    X(t, softirq, "cpuTimeSoftIntSrvc", COUNTER, I64, CENTISECONDS, STAT,                          \
      "CPU time serving soft interrupts", .title = "CPU, soft interrupts", .heading = "SOFTIRQ",   \
      .family = "CPU time by mode, of one CPU", .is_stacked = true, .form = PT_FORM_SHARE,         \
      .otel = "system.cpu.time cpu.mode=softirq")                                                  \
    X(t, nice, "cpuNice", COUNTER, I64, CENTISECONDS, STAT, "CPU time of nice processes",          \
      .title = "CPU, nice", .heading = "NICE", .family = "CPU time by mode, of one CPU",           \
      .is_stacked = true, .form = PT_FORM_SHARE, .words = "low priority",                          \
      .otel = "system.cpu.time cpu.mode=nice")                                                     \
    X(t, steal, "cpuSteal", COUNTER, I64, CENTISECONDS, STAT, "CPU time taken by the hypervisor",  \
      .title = "CPU, steal", .heading = "STEAL", .family = "CPU time by mode, of one CPU",         \
      .is_stacked = true, .form = PT_FORM_SHARE, .better = PT_LOWER_IS_BETTER,                     \
      .words = "hypervisor vm stolen", .otel = "system.cpu.time cpu.mode=steal")                   \
    X(t, mhz, "cpuMhz", GAUGE, F64, MEGAHERTZ, 1, "Current frequency", .title = "CPU frequency",   \
      .heading = "FREQ", .lasts_s = 30, .words = "clock mhz ghz turbo throttling",                 \
      .otel = "system.cpu.frequency")

PT_TABLE(core, PT_TABLE_PARTS("cpu", "cpus", "cpus"), "Each CPU", CORE_COLUMNS, "/proc/stat",
         "sysfs cpufreq, else /proc/cpuinfo");

/* The columns for a field of /proc/stat, for the machine and for one CPU; -1 = none. */
static const struct {
    int machine, core;
} columns_of[PT_CPU_TIME_COUNT] = {
    [PT_CPU_USER] = { cpu_user, core_user },
    [PT_CPU_NICE] = { cpu_nice, core_nice },
    [PT_CPU_SYSTEM] = { cpu_kernel, core_kernel },
    [PT_CPU_IDLE] = { cpu_idle, core_idle },
    [PT_CPU_IOWAIT] = { cpu_iowait, core_iowait },
    [PT_CPU_IRQ] = { cpu_irq, core_irq },
    [PT_CPU_SOFTIRQ] = { cpu_softirq, core_softirq },
    [PT_CPU_STEAL] = { cpu_steal, core_steal },
    [PT_CPU_GUEST] = { cpu_guest, -1 },
    [PT_CPU_GUEST_NICE] = { -1, -1 },
};

static const int counter_columns[PT_STAT_COUNTER_COUNT] = {
    [PT_STAT_INTERRUPTS] = cpu_interrupts,
    [PT_STAT_CONTEXT_SWITCHES] = cpu_context_switches,
    [PT_STAT_BOOT_TIME] = -1,
    [PT_STAT_FORKS] = cpu_forks,
    [PT_STAT_RUNNING] = -1,
    [PT_STAT_BLOCKED] = cpu_blocked,
    [PT_STAT_SOFT_INTERRUPTS] = cpu_soft_interrupts,
};

#define FREQUENCY_PERIOD_NS PT_NS_PER_SECOND
/* Reading /proc/cpuinfo queries every CPU: its cost grows with their number. */
#define CPUINFO_PERIOD_NS (10 * PT_NS_PER_SECOND)

struct cpu_state {
    struct pt_file stat, loadavg;
    struct pt_keyed counters;
    long ticks_per_second;
    double *mhz; /* by CPU number; 0 = unknown */
    size_t mhz_capacity;
    int64_t mhz_due_ns, mhz_read_ns;
    bool has_no_cpufreq;
    struct pt_batch last_machine, last_cores; /* kept only below PT_FINEST_NS */
};

static int cpu_open(void *state, const struct pt_context *context, struct pt_err *err) {
    struct cpu_state *s = state;
    (void)context;
    (void)err;
    s->ticks_per_second = sysconf(_SC_CLK_TCK);
    pt_batch_init(&s->last_machine, &cpu_table);
    pt_batch_init(&s->last_cores, &core_table);
    return 0;
}

static void cpu_close(void *state) {
    struct cpu_state *s = state;
    pt_file_close(&s->stat);
    pt_file_close(&s->loadavg);
    pt_free(s->mhz);
    pt_batch_release(&s->last_machine);
    pt_batch_release(&s->last_cores);
}

static void set_times(const struct cpu_state *s, const struct pt_cpu_times *times, bool is_core,
                      struct pt_batch *rows) {
    struct pt_total user_and_kernel = { 0 };
    for (int i = 0; i < PT_CPU_TIME_COUNT; i++) {
        int column = is_core ? columns_of[i].core : columns_of[i].machine;
        bool is_known = pt_fields_has(times->present, i);
        if (column >= 0 && is_known)
            pt_set_i64(rows, column, pt_ticks_to_cs(times->ticks[i], s->ticks_per_second));
        if (i == PT_CPU_USER || i == PT_CPU_SYSTEM)
            pt_total_add(&user_and_kernel, is_known, is_known ? times->ticks[i] : 0);
    }
    user_and_kernel.value = pt_ticks_to_cs(user_and_kernel.value, s->ticks_per_second);
    pt_total_set(&user_and_kernel, rows, is_core ? core_time : cpu_time);
}

static void set_counters(struct cpu_state *s, struct pt_scan text, struct pt_batch *rows) {
    int64_t values[PT_STAT_COUNTER_COUNT];
    bool is_present[PT_STAT_COUNTER_COUNT];
    pt_keyed_read(&s->counters, pt_stat_keys, PT_STAT_COUNTER_COUNT, text, values, is_present);
    for (int i = 0; i < PT_STAT_COUNTER_COUNT; i++)
        if (is_present[i] && counter_columns[i] >= 0)
            pt_set_i64(rows, counter_columns[i], values[i]);
}

static int collect_stat(struct cpu_state *s, const struct pt_context *context,
                        struct pt_batch *machine, struct pt_batch *cores) {
    struct pt_scan text;
    int rc = pt_file_read_kept(&s->stat, context->fs->proc, "stat", context->text, &text);
    if (rc)
        return rc;
    int64_t now_ns = pt_mono_ns();
    pt_set_time(machine, STAT, now_ns);

    struct pt_cpu_times times;
    while (pt_cpu_times_next(&text, &times)) {
        if (times.cpu < 0) {
            set_times(s, &times, false, machine);
            continue;
        }
        pt_batch_add_row(cores);
        pt_set_time(cores, STAT, now_ns);
        pt_set_i64(cores, core_number, times.cpu);
        set_times(s, &times, true, cores);
    }
    set_counters(s, text, machine);
    return 0;
}

static void collect_load(struct cpu_state *s, const struct pt_context *context,
                         struct pt_batch *rows) {
    struct pt_scan text;
    struct pt_loadavg load;
    if (pt_file_read_kept(&s->loadavg, context->fs->proc, "loadavg", context->text, &text) ||
        pt_loadavg_parse(text, &load))
        return;
    pt_set_time(rows, LOADAVG, pt_mono_ns());
    pt_set_f64(rows, cpu_load, load.one);
    pt_set_f64(rows, cpu_load5, load.five);
    pt_set_f64(rows, cpu_load15, load.fifteen);
    pt_set_i64(rows, cpu_threads, load.total);
    pt_set_i64(rows, cpu_runnable, load.running);
}

static double *mhz_of(struct cpu_state *s, int64_t cpu) {
    if (cpu < 0 || cpu > 65535)
        return NULL;
    size_t before = s->mhz_capacity;
    pt_grow(&s->mhz, &s->mhz_capacity, (size_t)cpu + 1, sizeof *s->mhz);
    for (size_t i = before; i < s->mhz_capacity; i++)
        s->mhz[i] = 0;
    return &s->mhz[cpu];
}

static void read_cpufreq(struct cpu_state *s, const struct pt_context *context,
                         const struct pt_batch *cores) {
    bool has_any = false;
    for (size_t i = 0; i < s->mhz_capacity; i++)
        s->mhz[i] = 0; /* do not repeat the old value if the new one cannot be read */
    for (uint32_t row = 0; row < cores->row_count; row++) {
        int64_t cpu = pt_get_i64(cores, row, core_number), khz;
        double *mhz = mhz_of(s, cpu);
        char path[96];
        snprintf(path, sizeof path, "devices/system/cpu/cpu%lld/cpufreq/scaling_cur_freq",
                 (long long)cpu);
        if (!mhz || pt_fs_read_i64(context->fs->sys, path, &khz))
            continue;
        *mhz = (double)khz / 1000;
        has_any = true;
    }
    s->has_no_cpufreq = !has_any;
}

/* "processor : 3" ... "cpu MHz : 2299.998", a block per CPU. */
static void read_cpuinfo(struct cpu_state *s, const struct pt_context *context) {
    struct pt_scan text, line;
    if (pt_fs_read(context->fs->proc, "cpuinfo", context->text, &text))
        return;
    double *mhz = NULL;
    while (pt_scan_line(&text, &line)) {
        if (pt_scan_take(&line, PT_STR("processor"))) {
            pt_scan_until(&line, ':');
            int64_t cpu = pt_scan_i64(&line);
            mhz = line.failed ? NULL : mhz_of(s, cpu);
        } else if (mhz && pt_scan_take(&line, PT_STR("cpu MHz"))) {
            pt_scan_until(&line, ':');
            *mhz = pt_scan_f64(&line);
        }
    }
}

static void collect_frequency(struct cpu_state *s, const struct pt_context *context,
                              struct pt_batch *machine, struct pt_batch *cores) {
    int64_t period_ns = s->has_no_cpufreq ? CPUINFO_PERIOD_NS : FREQUENCY_PERIOD_NS;
    if (pt_is_due(&s->mhz_due_ns, context->now_ns, period_ns)) {
        read_cpufreq(s, context, cores);
        if (s->has_no_cpufreq)
            read_cpuinfo(s, context);
        s->mhz_read_ns = pt_mono_ns();
    }
    double sum = 0;
    int count = 0;
    for (uint32_t row = 0; row < cores->row_count; row++) {
        size_t cpu = (size_t)pt_get_i64(cores, row, core_number);
        if (cpu >= s->mhz_capacity || s->mhz[cpu] <= 0)
            continue;
        sum += s->mhz[cpu];
        count++;
        pt_batch_set_at_f64(cores, row, core_mhz, s->mhz[cpu]);
        pt_batch_set_at_time(cores, row, 1, s->mhz_read_ns);
    }
    if (count == 0)
        return;
    pt_set_f64(machine, cpu_mhz, sum / count);
    pt_set_time(machine, CPUFREQ, s->mhz_read_ns);
}

static int cpu_collect(void *state, const struct pt_context *context, struct pt_batch *rows) {
    struct cpu_state *s = state;
    struct pt_batch *machine = &rows[0], *cores = &rows[1];
    if (!pt_is_fine_due(context) && s->last_machine.row_count > 0) {
        pt_batch_copy(machine, &s->last_machine);
        pt_batch_copy(cores, &s->last_cores);
        return 0;
    }
    pt_batch_add_row(machine);
    int rc = collect_stat(s, context, machine, cores);
    collect_load(s, context, machine);
    collect_frequency(s, context, machine, cores);
    if (context->interval_ns < PT_FINEST_NS) {
        pt_batch_copy(&s->last_machine, machine);
        pt_batch_copy(&s->last_cores, cores);
    }
    return rc;
}

const struct pt_collector pt_cpu_collector = {
    .name = "cpu",
    .help = "CPU time, load, frequency; machine and each CPU",
    .keep = PT_KEEP_LAST,
    .tables = { &cpu_table, &core_table },
    .state_size = sizeof(struct cpu_state),
    .open = cpu_open,
    .collect = cpu_collect,
    .close = cpu_close,
};
