#include "sampler/sampler.h"

#include "sampler/alerts.h"
#include "sampler/marks.h"
#include "base/clock.h"
#include "base/confine.h"
#include "base/log.h"
#include "base/thread.h"
#include "push/push.h"
#include "source/kernel/pid.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#define COLLECTOR_COLUMNS(X, t)                                                                    \
    X(t, name, "colName", KEY, STRING, NONE, 0,                                                    \
      "Collector, 'pitot' for the total, or 'governor', 'clock', 'journal', 'starved', 'late' "    \
      "for "                                                                                       \
      "an event",                                                                                  \
      .title = "Collector", .heading = "COLLECTOR", .role = PT_ROLE_NAME, .words = "overhead")     \
    X(t, action, "colAction", INFO, STRING, NONE, 0, "Description of the event", .title = "Event") \
    X(t, calls, "colCalls", COUNTER, I64, COUNT, 0, "Calls", .title = "Calls",                     \
      .combine = PT_COMBINE_NONE, .lasts_s = 30)                                                   \
    X(t, rows, "colRows", COUNTER, I64, COUNT, 0, "Rows returned", .title = "Rows",                \
      .combine = PT_COMBINE_NONE, .lasts_s = 30)                                                   \
    X(t, took, "colTime", COUNTER, I64, NANOSECONDS, 0, "Wall time of calls",                      \
      .title = "Time in calls", .heading = "TIME", .form = PT_FORM_SHARE,                          \
      .better = PT_LOWER_IS_BETTER, .combine = PT_COMBINE_NONE, .lasts_s = 30,                     \
      .words = "overhead wall")                                                                    \
    X(t, worst, "colWorst", GAUGE, I64, NANOSECONDS, 0, "Longest call since the last row",         \
      .title = "Longest call", .heading = "WORST", .better = PT_LOWER_IS_BETTER,                   \
      .combine = PT_COMBINE_NONE, .lasts_s = 30, .words = "overhead")                              \
    X(t, errors, "colErrors", COUNTER, I64, COUNT, 0, "Calls that failed",                         \
      .title = "Failed calls", .heading = "ERRORS", .better = PT_LOWER_IS_BETTER,                  \
      .combine = PT_COMBINE_NONE, .lasts_s = 30)                                                   \
    X(t, status, "colStatus", GAUGE, I64, NONE, 0, "Result of the last call: 0 or an errno",       \
      .title = "Last result", .importance = PT_RAW, .combine = PT_COMBINE_NONE, .lasts_s = 30,     \
      .words = "errno")                                                                            \
    X(t, level, "colLevel", GAUGE, I64, NONE, 0, "Thinning: sampled at every 2^level-th tick",     \
      .title = "Thinning level", .better = PT_LOWER_IS_BETTER, .combine = PT_COMBINE_NONE,         \
      .lasts_s = 30, .words = "governor")                                                          \
    X(t, cpu, "colCpuTime", COUNTER, I64, NANOSECONDS, 0, "CPU time of Pitot and its helpers",     \
      .title = "CPU used by Pitot, cores", .heading = "CORES", .form = PT_FORM_CORES,              \
      .better = PT_LOWER_IS_BETTER, .importance = PT_HEADLINE, .combine = PT_COMBINE_NONE,         \
      .lasts_s = 30, .words = "overhead")                                                          \
    X(t, rss, "colRss", GAUGE, I64, BYTES, 0, "Memory of Pitot", .title = "Memory of Pitot",       \
      .heading = "RSS", .family = "Memory of Pitot", .better = PT_LOWER_IS_BETTER,                 \
      .importance = PT_HEADLINE, .combine = PT_COMBINE_NONE, .lasts_s = 30,                        \
      .words = "overhead resident")                                                                \
    X(t, peak, "colPeakRss", GAUGE, I64, BYTES, 0,                                                 \
      "Peak memory of Pitot so far, or of its largest helper if that is more",                     \
      .title = "Memory of Pitot, peak", .family = "Memory of Pitot", .better = PT_LOWER_IS_BETTER, \
      .combine = PT_COMBINE_NONE, .lasts_s = 30, .words = "overhead resident")                     \
    X(t, fds, "colDescriptors", GAUGE, I64, COUNT, 0, "Open file descriptors of Pitot",            \
      .title = "Open files of Pitot", .better = PT_LOWER_IS_BETTER, .combine = PT_COMBINE_NONE,    \
      .lasts_s = 30, .words = "descriptors")                                                       \
    X(t, late, "colLateTicks", COUNTER, I64, COUNT, 0, "Ticks skipped because they were late",     \
      .title = "Late ticks", .heading = "LATE", .family = "Ticks missed",                          \
      .better = PT_LOWER_IS_BETTER, .importance = PT_HEADLINE, .combine = PT_COMBINE_NONE,         \
      .lasts_s = 30, .words = "overhead")                                                          \
    X(t, dropped, "colDroppedTicks", COUNTER, I64, COUNT, 0,                                       \
      "Ticks dropped because samples could not be written fast enough", .title = "Dropped ticks",  \
      .heading = "DROPPED", .family = "Ticks missed", .better = PT_LOWER_IS_BETTER,                \
      .combine = PT_COMBINE_NONE, .lasts_s = 30, .words = "overhead")                              \
    X(t, ticks, "colTicks", COUNTER, I64, COUNT, 0,                                                \
      "Ticks due so far: each is a sample, late or dropped", .title = "Ticks due",                 \
      .importance = PT_RAW, .combine = PT_COMBINE_NONE, .lasts_s = 30)                             \
    X(t, starved, "colRunDelay", COUNTER, I64, NANOSECONDS, 0,                                     \
      "Time the sampler was ready to run but waited for a CPU",                                    \
      .title = "Pitot waiting for a CPU", .form = PT_FORM_SHARE, .better = PT_LOWER_IS_BETTER,     \
      .combine = PT_COMBINE_NONE, .lasts_s = 30, .words = "starved schedstat delay")               \
    X(t, lateness, "colLateness", GAUGE, I64, NANOSECONDS, 0, "Largest delay of a tick so far",    \
      .title = "Largest delay of a tick", .better = PT_LOWER_IS_BETTER,                            \
      .combine = PT_COMBINE_NONE, .lasts_s = 30, .words = "jitter")                                \
    X(t, kernel, "colKernelMemory", GAUGE, I64, BYTES, 0,                                          \
      "Kernel memory of the files kept open, estimated", .title = "Kernel memory of open files",   \
      .family = "Memory of Pitot", .better = PT_LOWER_IS_BETTER, .combine = PT_COMBINE_NONE,       \
      .lasts_s = 30, .words = "overhead")

PT_TABLE(collector, PT_TABLE_OWN("collectors"), "Pitot's own overhead and events",
         COLLECTOR_COLUMNS, "Pitot");

#define GOVERN_PERIOD_NS PT_NS_PER_SECOND
#define LATE_PERIOD_NS   PT_NS_PER_SECOND
#define REPORT_PERIOD_NS (10 * PT_NS_PER_SECOND)
#define JUMP_NS          (100 * PT_NS_PER_MS) /* of the wall clock; larger ones are events */
/* An open /proc or cgroup file holds a struct file, an inode, a dentry and a
 * seq_file with a page once read. */
#define KERNEL_BYTES_PER_FD 5600

uint32_t pt_sampler_tables(const struct pt_table *tables[PT_SAMPLER_TABLES]) {
    uint32_t n = 0;
    for (int i = 0; pt_collectors[i]; i++)
        for (int k = 0; k < PT_COLLECTOR_TABLES && pt_collectors[i]->tables[k]; k++)
            tables[n++] = pt_collectors[i]->tables[k];
    tables[n++] = &collector_table;
    tables[n++] = pt_mark_table;
    tables[n++] = pt_alert_table;
    tables[n++] = pt_push_table;
    return n;
}

/* Knobs of the governor: the parts of collectors, then the collectors. */
static int make_knobs(struct pt_sampler *s) {
#define PART_KNOB(constant, name_) { name_, 1, 0 },
    static const struct pt_governor_knob parts[] = { PT_COLLECTOR_PARTS(PART_KNOB) };
    static const struct {
        int level_count, rank;
    } kept[] = {
        [PT_KEEP_DEFAULT] = { PT_GOVERNOR_LEVELS, 1 },
        [PT_KEEP_LAST] = { 3, 2 },
        [PT_KEEP_ALWAYS] = { 0, 0 },
    };
    memcpy(s->knobs, parts, sizeof parts);
    for (int i = 0; i < s->collector_count; i++) {
        const struct pt_collector *type = s->collectors[i].type;
        s->knobs[PT_PART_COUNT + i] =
            (struct pt_governor_knob){ type->name, kept[type->keep].level_count,
                                       kept[type->keep].rank };
    }
    return PT_PART_COUNT + s->collector_count;
}

static void call_collector(struct pt_sampler *s, struct pt_sampler_collector *c,
                           struct pt_sample *sample) {
    bool is_its_turn = (s->context.tick & ((UINT64_C(1) << c->level) - 1)) == 0;
    if (!c->is_on || !is_its_turn)
        return;
    int64_t before_ns = pt_mono_ns();
    struct pt_batch *rows = &sample->batches[c->first_table];
    int rc = c->type->collect(c->state, &s->context, rows);
    if (rc == -ENODATA) {
        c->is_on = false;
        pt_log(PT_LOG_INFO, "%s: not available on this machine, switched off", c->type->name);
    } else if (rc && rc != c->status) {
        pt_log(PT_LOG_WARNING, "%s: %s; its values are missing until it works again", c->type->name,
               strerror(-rc));
    }
    c->error_count += rc != 0 && rc != -ENODATA;
    c->status = rc;
    int64_t took_ns = pt_mono_ns() - before_ns;
    c->took_ns += took_ns;
    if (took_ns > c->worst_ns)
        c->worst_ns = took_ns;
    c->call_count++;
    for (int k = 0; k < PT_COLLECTOR_TABLES && c->type->tables[k]; k++)
        c->row_count += rows[k].row_count;
}

static void add_self_row(struct pt_sampler *s, struct pt_sample *sample, const char *name) {
    struct pt_batch *b = &sample->batches[s->self_table];
    pt_batch_add_row(b);
    pt_set_time(b, 0, sample->mono_ns);
    pt_set_str(b, collector_name, pt_str_from(name));
}

static void add_event(struct pt_sampler *s, struct pt_sample *sample, const char *name,
                      const char *text) {
    add_self_row(s, sample, name);
    pt_set_str(&sample->batches[s->self_table], collector_action, pt_str_from(text));
    pt_log(PT_LOG_INFO, "%s: %s", name, text);
}

static void report_collector(struct pt_sampler *s, struct pt_sampler_collector *c,
                             struct pt_sample *sample) {
    struct pt_batch *b = &sample->batches[s->self_table];
    add_self_row(s, sample, c->type->name);
    pt_set_i64(b, collector_calls, (int64_t)c->call_count);
    pt_set_i64(b, collector_rows, (int64_t)c->row_count);
    pt_set_i64(b, collector_took, c->took_ns);
    pt_set_i64(b, collector_worst, c->worst_ns);
    pt_set_i64(b, collector_errors, (int64_t)c->error_count);
    pt_set_i64(b, collector_status, -c->status);
    pt_set_i64(b, collector_level, c->level);
    c->worst_ns = 0;
}

/* Since Linux 6.2 the size of the directory is their number; before, count them. */
static int64_t open_descriptors(const struct pt_fs *fs) {
    struct stat st;
    if (!fs->is_live || fstatat(fs->proc, "self/fd", &st, 0))
        return -1;
    if (st.st_size > 0)
        return st.st_size;
    DIR *directory = pt_fs_list(fs->proc, "self/fd");
    int64_t count = -1; /* without the descriptor of the directory */
    for (struct dirent *e; directory && (e = readdir(directory));)
        count += e->d_name[0] != '.';
    if (directory)
        closedir(directory);
    return count;
}

/* `helpers` in bytes */
static void report_memory(struct pt_sampler *s, struct pt_batch *b, int64_t helpers) {
    struct rusage usage;
    int64_t resident_pages;
    char statm[128];
    if (s->options.fs->is_live &&
        !pt_fs_read_line(s->options.fs->proc, "self/statm", statm, sizeof statm)) {
        struct pt_scan text = pt_scan_of(pt_str_from(statm));
        pt_scan_skip(&text, 1);
        resident_pages = pt_scan_i64(&text);
        if (!text.failed)
            pt_set_i64(b, collector_rss, resident_pages * sysconf(_SC_PAGESIZE) + helpers);
    } else if (!getrusage(RUSAGE_SELF, &usage)) {
        pt_set_i64(b, collector_rss, usage.ru_maxrss * 1024 + helpers);
    }
    int64_t fds = open_descriptors(s->options.fs);
    if (fds >= 0) {
        pt_set_i64(b, collector_fds, fds);
        pt_set_i64(b, collector_kernel, fds * KERNEL_BYTES_PER_FD);
    }
}

static void apply(struct pt_sampler *s, const struct pt_governor_action *action) {
    if (action->knob < PT_PART_COUNT)
        s->thinning.is_off[action->knob] = action->level > 0;
    else
        s->collectors[action->knob - PT_PART_COUNT].level = action->level;
}

static void step_governor(struct pt_sampler *s, struct pt_sample *sample, double seconds,
                          double used) {
    double cost[PT_GOVERNOR_KNOBS] = { 0 };
    for (int k = 0; k < PT_PART_COUNT; k++)
        cost[k] = (double)s->part_costs.ns[k] / 1e9;
    for (int i = 0; i < s->collector_count; i++) {
        const struct pt_sampler_collector *c = &s->collectors[i];
        if (c->is_on)
            cost[PT_PART_COUNT + i] = (double)(c->took_ns - c->governed_ns) / 1e9;
    }
    struct pt_governor_action action;
    if (!pt_governor_step(&s->governor, seconds, used, cost, &action))
        return;
    apply(s, &action);
    char text[160];
    const struct pt_governor_knob *knob = &s->knobs[action.knob];
    if (knob->level_count == 1)
        snprintf(text, sizeof text, "%s %s: Pitot used %.1f %% of one CPU, budget %.1f %%",
                 knob->name, action.is_restored ? "on again" : "off", s->governor.mean * 100,
                 s->governor.budget * 100);
    else
        snprintf(text, sizeof text,
                 "%s sampled at every %d. tick: Pitot used %.1f %% of one CPU, budget %.1f %%",
                 knob->name, 1 << action.level, s->governor.mean * 100, s->governor.budget * 100);
    add_event(s, sample, "governor", text);
}

/* Time in which the sampler thread was ready to run but did not; -1: unknown. */
static int64_t run_delay_ns(struct pt_sampler *s) {
    struct pt_scan text;
    int64_t ns;
    if (!pt_file_is_open(&s->schedstat) || pt_file_read(&s->schedstat, &s->text, &text) ||
        pt_pid_parse_schedstat(text, &ns))
        return -1;
    return ns;
}

/* Says why ticks were skipped, at most once a second: Pitot got no CPU, or a tick took long. */
static void explain_late(struct pt_sampler *s, struct pt_sample *sample) {
    uint64_t missed = s->late_count - s->explained_count;
    if (missed == 0 ||
        (!s->must_stop && s->last_late_ns && sample->mono_ns - s->last_late_ns < LATE_PERIOD_NS))
        return;
    int64_t delay_ns = run_delay_ns(s), took_ns = 0, waited_ns = delay_ns - s->explained_delay_ns;
    for (int i = 0; i < s->collector_count; i++)
        took_ns += s->collectors[i].took_ns;
    char text[96];
    bool is_starved = delay_ns >= 0 && waited_ns >= took_ns - s->explained_took_ns - waited_ns;
    int n = snprintf(text, sizeof text, "%llu tick%s skipped: ", (unsigned long long)missed,
                     missed == 1 ? "" : "s");
    if (is_starved)
        snprintf(text + n, sizeof text - (size_t)n, "Pitot waited %.0f ms for a CPU",
                 (double)waited_ns / 1e6);
    else
        snprintf(text + n, sizeof text - (size_t)n, "sampling took %.0f ms",
                 (double)(took_ns - s->explained_took_ns) / 1e6);
    add_event(s, sample, is_starved ? "starved" : "late", text);
    s->explained_count = s->late_count;
    s->explained_delay_ns = delay_ns;
    s->explained_took_ns = took_ns;
    s->last_late_ns = sample->mono_ns;
    s->last_report_ns = 0; /* no rate is taken across a gap: the cost is known again after it */
}

/* Once a second. */
static void govern(struct pt_sampler *s, struct pt_sample *sample) {
    int64_t elapsed_ns = sample->mono_ns - s->last_govern_ns;
    if (s->last_govern_ns && elapsed_ns < GOVERN_PERIOD_NS)
        return;
    int64_t cpu_ns = pt_clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    if (s->last_govern_ns)
        step_governor(s, sample, (double)elapsed_ns / 1e9, (double)(cpu_ns - s->last_cpu_ns) / 1e9);
    for (int i = 0; i < s->collector_count; i++)
        s->collectors[i].governed_ns = s->collectors[i].took_ns;
    s->part_costs = (struct pt_part_costs){ 0 };
    s->last_govern_ns = sample->mono_ns;
    s->last_cpu_ns = cpu_ns;
}

/* Every ten seconds, and at the first and last tick: the cost of each collector and of Pitot. */
static void report_cost(struct pt_sampler *s, struct pt_sample *sample) {
    if (s->last_report_ns && sample->mono_ns - s->last_report_ns < REPORT_PERIOD_NS &&
        !s->must_stop)
        return;
    for (int i = 0; i < s->collector_count; i++)
        if (s->collectors[i].is_on || s->collectors[i].call_count > 0)
            report_collector(s, &s->collectors[i], sample);
    struct pt_batch *b = &sample->batches[s->self_table];
    struct pt_confined_cost helpers = pt_confined_cost(s->options.fs->proc);
    add_self_row(s, sample, "pitot");
    pt_set_i64(b, collector_calls, (int64_t)s->taken_count);
    struct pt_own_cost cost;
    int64_t command_ns = s->options.command_ns ? s->options.command_ns(s->options.other) : 0;
    pt_own_cost_measure(&cost, s->options.fs->is_live ? s->options.fs->proc : -1, &s->text,
                        s->start_ns, command_ns);
    pt_set_i64(b, collector_cpu, cost.cpu_ns);
    pt_set_i64(b, collector_peak, cost.peak_bytes);
    pt_set_i64(b, collector_late, (int64_t)s->late_count);
    pt_set_i64(b, collector_dropped, (int64_t)s->dropped_count);
    pt_set_i64(b, collector_lateness, s->worst_lateness_ns);
    if (s->due_count > 0)
        pt_set_i64(b, collector_ticks, (int64_t)s->due_count);
    int64_t starved_ns = run_delay_ns(s);
    if (starved_ns >= 0)
        pt_set_i64(b, collector_starved, starved_ns);
    report_memory(s, b, helpers.rss_bytes);
    s->last_report_ns = sample->mono_ns;
}

/* Reads all clocks at the same time: false if the thread was interrupted between them each time, so
 * that their differences have no meaning. The wall clock keeps its distance from the monotonic one
 * until somebody sets it, and the sample keeps that of the sample before while the reads do not
 * contradict it: a value that is older than both samples then has the same Unix time in both. */
static bool read_clocks(struct pt_sampler *s, struct pt_sample *sample, int64_t *boot_ns) {
    int64_t error_ns = 0;
    for (int attempt = 0; attempt < 3; attempt++) {
        sample->mono_ns = pt_mono_ns();
        sample->wall_ns = pt_wall_ns();
        *boot_ns = pt_clock_ns(CLOCK_BOOTTIME);
        error_ns = pt_mono_ns() - sample->mono_ns;
        if (error_ns < PT_NS_PER_MS)
            break;
    }
    if (!s->wall_offset_ns)
        s->wall_offset_ns = sample->wall_ns - sample->mono_ns, s->wall_error_ns = error_ns;
    int64_t excess_ns = sample->wall_ns - sample->mono_ns - s->wall_offset_ns;
    if (excess_ns >= -s->wall_error_ns && excess_ns <= error_ns)
        sample->wall_ns -= excess_ns;
    else
        s->wall_error_ns = error_ns;
    return error_ns < PT_NS_PER_MS;
}

/* Suspend moves CLOCK_BOOTTIME but not CLOCK_MONOTONIC; a set clock moves only the wall. */
static void watch_clocks(struct pt_sampler *s, struct pt_sample *sample, int64_t boot_ns) {
    int64_t boot_offset = boot_ns - sample->mono_ns;
    int64_t wall_offset = sample->wall_ns - sample->mono_ns;
    int64_t slept = s->boot_offset_ns ? boot_offset - s->boot_offset_ns : 0;
    int64_t jumped = s->wall_offset_ns ? wall_offset - s->wall_offset_ns - slept : 0;
    char text[96];
    if (slept > JUMP_NS) {
        snprintf(text, sizeof text, "the machine was suspended for %.1f s", (double)slept / 1e9);
        add_event(s, sample, "clock", text);
    } else {
        slept = 0;
    }
    if (llabs(jumped) > JUMP_NS) {
        snprintf(text, sizeof text, "the wall clock jumped by %+.3f s", (double)jumped / 1e9);
        add_event(s, sample, "clock", text);
    }
    s->wall_offset_ns = wall_offset;
    if (slept || !s->boot_offset_ns)
        s->boot_offset_ns = boot_offset;
}

void pt_sampler_tick(struct pt_sampler *s, struct pt_sample *sample) {
    int64_t boot_ns;
    if (read_clocks(s, sample, &boot_ns))
        watch_clocks(s, sample, boot_ns);
    s->context.now_ns = sample->mono_ns;
    s->context.is_last = s->must_stop;
    for (int i = 0; i < s->collector_count; i++)
        call_collector(s, &s->collectors[i], sample);
    govern(s, sample);
    explain_late(s, sample);
    report_cost(s, sample);
    s->context.tick++;
}

/* Waking the main thread costs about as much as a whole host tick. Samples at shorter intervals are
 * handed over in groups; a killed recorder then loses the last group. */
#define WAKE_PERIOD_NS (5 * PT_NS_PER_MS)

static void take_sample(struct pt_sampler *s) {
    struct pt_sample *sample = pt_sample_queue_take_free(&s->queue);
    if (!sample) {
        s->dropped_count++;
        s->context.tick++;
        return;
    }
    pt_sampler_tick(s, sample);
    s->taken_count++;
    s->last_ns = sample->mono_ns;
    bool must_wake = s->must_stop || s->options.interval_ns >= WAKE_PERIOD_NS ||
                     sample->mono_ns - s->last_wake_ns >= WAKE_PERIOD_NS;
    if (must_wake)
        s->last_wake_ns = sample->mono_ns;
    pt_sample_queue_put(&s->queue, sample, must_wake);
}

/* Most formats have times in milliseconds, and a rate divides by their difference. */
#define APART_NS PT_NS_PER_MS

static struct timespec timespec_of(int64_t ns) {
    return (struct timespec){ ns / PT_NS_PER_SECOND, ns % PT_NS_PER_SECOND };
}

static void sleep_until(int64_t mono_ns) {
    struct timespec until = timespec_of(mono_ns);
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
        continue;
}

/* Is this tick too soon after the last sample, because that one came late? */
static bool is_too_close(const struct pt_sampler *s) {
    int64_t now_ns = pt_mono_ns(), half_ns = s->options.interval_ns / 2;
    bool is_same_ms = (now_ns + s->wall_offset_ns) / PT_NS_PER_MS ==
                      (s->last_ns + s->wall_offset_ns) / PT_NS_PER_MS;
    return is_same_ms || now_ns - s->last_ns < (half_ns < APART_NS ? half_ns : APART_NS);
}

static void *run(void *user) {
    struct pt_sampler *s = user;
    uint64_t expirations, ticks = 0;
    pthread_setname_np(pthread_self(), "pitot-sampler");
    while (sem_wait(&s->start))
        continue;
    if (s->must_stop)
        return NULL;
    if (s->options.fs->is_live)
        (void)!pt_file_open(&s->schedstat, s->options.fs->proc, "thread-self/schedstat");
    int rc = pt_thread_hurry();
    if (rc)
        pt_log(PT_LOG_INFO,
               "cannot raise the priority of the sampler: %s; under load, samples may be late (run "
               "as root or grant CAP_SYS_NICE)",
               strerror(-rc));
    sleep_until(s->start_ns);
    s->due_count = 1;
    take_sample(s);
    while (!s->must_stop) {
        if (read(s->timer_fd, &expirations, sizeof expirations) != sizeof expirations)
            continue;
        if (s->must_stop)
            break;
        ticks += expirations;
        s->due_count += expirations;
        s->late_count += expirations - 1;
        int64_t lateness = pt_mono_ns() - (s->start_ns + (int64_t)ticks * s->options.interval_ns);
        if (lateness > s->worst_lateness_ns)
            s->worst_lateness_ns = lateness;
        if (is_too_close(s))
            s->late_count++;
        else
            take_sample(s);
    }
    uint64_t due = (uint64_t)((pt_mono_ns() - s->start_ns) / s->options.interval_ns);
    s->late_count += due > ticks ? due - ticks : 0;
    s->due_count += (due > ticks ? due - ticks : 0) + 1;
    sleep_until(s->last_ns + APART_NS);
    take_sample(s);
    return NULL;
}

int pt_sampler_init(struct pt_sampler *s, const struct pt_sampler_options *options,
                    struct pt_err *err) {
    *s = (struct pt_sampler){ .options = *options, .timer_fd = -1 };
    for (int i = 0; pt_collectors[i]; i++) {
        struct pt_sampler_collector *c = &s->collectors[s->collector_count++];
        c->type = pt_collectors[i];
        c->first_table = s->self_table;
        c->is_on = options->is_enabled[i];
        for (int k = 0; k < PT_COLLECTOR_TABLES && c->type->tables[k]; k++)
            s->self_table++; /* follows the tables of all collectors */
    }
    s->schema = (struct pt_schema){ s->tables, pt_sampler_tables(s->tables) };
    s->context = (struct pt_context){ .fs = options->fs,
                                      .text = &s->text,
                                      .target = options->target,
                                      .thinning = &s->thinning,
                                      .engines = options->engines,
                                      .regions = options->regions,
                                      .part_costs = &s->part_costs,
                                      .interval_ns = options->interval_ns,
                                      .fd_budget = options->fd_budget };
    pt_governor_init(&s->governor, options->budget, s->knobs, make_knobs(s));
    int rc = pt_sample_queue_init(&s->queue, &s->schema);
    if (rc)
        return pt_fail(err, rc, "cannot create a queue: %s", strerror(-rc));
    s->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
    if (s->timer_fd < 0)
        return pt_fail(err, -errno, "cannot create a timer: %s", strerror(errno));
    sem_init(&s->start, 0, 0);
    rc = pt_thread_start(&s->thread, run, s);
    s->has_thread = rc == 0;
    return rc ? pt_fail(err, rc, "cannot start the sampler thread: %s", strerror(-rc)) : 0;
}

int pt_sampler_open(struct pt_sampler *s, struct pt_err *err) {
    for (int i = 0; i < s->collector_count; i++) {
        struct pt_sampler_collector *c = &s->collectors[i];
        struct pt_err reason = { "" };
        c->state = pt_calloc(1, c->type->state_size + 1);
        int rc = c->is_on && c->type->open ? c->type->open(c->state, &s->context, &reason) : 0;
        if (rc == -EINVAL)
            return pt_fail(err, rc, "%s", reason.text);
        c->is_on = c->is_on && rc == 0;
        if (rc && rc != -ENODATA)
            pt_log(PT_LOG_WARNING, "%s: %s; recording without it", c->type->name,
                   reason.text[0] ? reason.text : strerror(-rc));
    }
    return 0;
}

/* Short intervals start early in a millisecond of the wall clock, so that a tick that is a little
 * late still falls into its own. */
static int64_t schedule_start(int64_t interval_ns) {
    int64_t now_ns = pt_mono_ns();
    if (interval_ns >= 2 * APART_NS)
        return now_ns;
    return now_ns + APART_NS - pt_wall_ns() % APART_NS + APART_NS / 10;
}

void pt_sampler_start(struct pt_sampler *s) {
    s->start_ns = schedule_start(s->options.interval_ns);
    struct itimerspec schedule = { .it_value = timespec_of(s->start_ns + s->options.interval_ns),
                                   .it_interval = timespec_of(s->options.interval_ns) };
    timerfd_settime(s->timer_fd, TFD_TIMER_ABSTIME, &schedule, NULL);
    s->is_running = true;
    sem_post(&s->start);
}

/* Releases descriptors and memory that only ticks need. */
static void close_collectors(struct pt_sampler *s) {
    for (int i = 0; i < s->collector_count; i++) {
        struct pt_sampler_collector *c = &s->collectors[i];
        if (c->state && c->type->close)
            c->type->close(c->state);
        pt_free(c->state);
        c->state = NULL;
    }
}

void pt_sampler_stop(struct pt_sampler *s) {
    if (!s->is_running)
        return;
    s->must_stop = true;
    struct itimerspec now = { .it_value = { 0, 1 } }; /* wakes the thread */
    timerfd_settime(s->timer_fd, 0, &now, NULL);
    pthread_join(s->thread, NULL);
    s->has_thread = s->is_running = false;
    close_collectors(s);
}

void pt_sampler_release(struct pt_sampler *s) {
    if (s->has_thread) { /* it was not started */
        s->must_stop = true;
        sem_post(&s->start);
        pthread_join(s->thread, NULL);
        s->has_thread = false;
    }
    close_collectors(s);
    pt_file_close(&s->schedstat);
    pt_text_release(&s->text);
    pt_sample_queue_release(&s->queue);
    if (s->timer_fd >= 0)
        close(s->timer_fd);
}
