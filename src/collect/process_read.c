#include "collect/process_read.h"

#include "base/clock.h"
#include "base/mask.h"
#include "base/digits.h"

#include <errno.h>
#include <unistd.h>

#define FULL_PERIOD_NS     (5 * PT_NS_PER_SECOND) /* values may change without it running */
#define RECORDED_PERIOD_NS PT_NS_PER_SECOND       /* the same, of the recorded tree... */
#define TREE_PER_PERIOD    500                    /* ... if it has fewer processes than this */
#define ROLLUP_PERIOD_NS   (30 * PT_NS_PER_SECOND)
#define LAST_ROLLUPS_NS    (100 * PT_NS_PER_MS)    /* of the last tick, which reads all again */
#define KEEP_IDLE_FILES_NS (60 * PT_NS_PER_SECOND) /* open files cost kernel memory */
#define COMMAND_AGAIN_NS   PT_NS_PER_SECOND        /* for a name that is set soon after the start */
#define THREADS_PER_SECOND 128                     /* read for context switches, per process */

#define COMMAND_BYTES      4096
#define CUT_BYTES          512 /* read beyond that, for masking */

enum { FILE_STAT, FILE_STATM, FILE_IO };

void pt_process_reader_begin(struct pt_process_reader *r, const struct pt_context *context) {
    bool is_live = context->fs->is_live;
    pt_file_pool_trim(&r->pool, context->fd_budget,
                      is_live ? context->now_ns - KEEP_IDLE_FILES_NS : INT64_MIN);
    pt_process_set_begin(&r->set);
    if (r->may_roll_up)
        r->rolled_up_to = 0;
    r->may_roll_up = true;
}

void pt_process_reader_release(struct pt_process_reader *r) {
    pt_process_set_release(&r->set, &r->pool);
    pt_file_pool_release(&r->pool);
    pt_thread_reader_release(&r->threads);
}

/* "PID/file" */
static const char *path_of(char into[48], pid_t pid, const char *file) {
    size_t n = pt_digits_i64(into, pid);
    into[n] = '/';
    return pt_str_copy(into + n + 1, 48 - n - 1, pt_str_from(file)) - n - 1;
}

/* Ticks come about every interval: what is due within half an interval is due now. */
static bool is_due(const struct pt_context *context, int64_t due_ns) {
    return due_ns <= context->now_ns + context->interval_ns / 2;
}

/* Spreads work that was first done for all processes at once over the period. */
static int64_t next_due(const struct pt_context *context, const struct pt_process *p,
                        int64_t period_ns) {
    return context->now_ns + (p->is_new ? period_ns * (1 + p->pid % 64) / 64 : period_ns);
}

/* Reads a file of the slot. Files of processes that do not run are not worth keeping open. */
static int read_file(struct pt_process_reader *r, const struct pt_context *context,
                     struct pt_process *p, int index, bool is_kept, struct pt_scan *text) {
    static const char *const names[] = { "stat", "statm", "io" };
    char path[48];
    if (pt_file_slot_keeps(&p->files, index))
        return pt_file_pool_read(&r->pool, &p->files, index, context->fs->proc, NULL, text);
    path_of(path, p->pid, names[index]);
    if (is_kept)
        return pt_file_pool_read(&r->pool, &p->files, index, context->fs->proc, path, text);
    return pt_file_pool_read_once(&r->pool, context->fs->proc, path, text);
}

static int read_once(struct pt_process_reader *r, const struct pt_context *context,
                     const struct pt_process *p, const char *file, struct pt_scan *text) {
    char path[48];
    return pt_file_pool_read_once(&r->pool, context->fs->proc, path_of(path, p->pid, file), text);
}

void pt_process_note_exec(struct pt_process *p) {
    p->command_due_ns = p->rollup_due_ns = 0;
    p->times[PT_PROCESS_ROLLUP] = 0;
}

static void take_stat(struct pt_process *p, const struct pt_pid_stat *stat) {
    /* The name changes after exec, and if a program renames itself. */
    if (!pt_str_eq(stat->name, p->stat.name)) {
        pt_str_copy(p->name, sizeof p->name, stat->name);
        pt_process_note_exec(p);
        p->has_no_io = false;
    }
    if (stat->state == 'Z')
        p->times[PT_PROCESS_ROLLUP] = 0; /* its memory is gone */
    size_t len = stat->name.len < sizeof p->name - 1 ? stat->name.len : sizeof p->name - 1;
    p->stat = *stat;
    p->has_start = true;
    p->stat.name = (struct pt_str){ p->name, len };
}

/* 0; -ESRCH: it has ended; -ESTALE: another process has the pid. */
static int read_stat(struct pt_process_reader *r, const struct pt_context *context,
                     struct pt_process *p, bool is_kept) {
    struct pt_scan text;
    struct pt_pid_stat stat;
    int64_t now_ns = pt_mono_ns();
    p->times[PT_PROCESS_STAT] = 0;
    int rc = read_file(r, context, p, FILE_STAT, is_kept, &text);
    if (rc == -ESRCH || rc == -ENOENT)
        return pt_file_slot_keeps(&p->files, FILE_STAT) ? -ESTALE : -ESRCH;
    if (rc || pt_pid_parse_stat(text, &stat))
        return 0;
    if (p->has_start && stat.start_ticks != p->stat.start_ticks)
        return -ESTALE;
    take_stat(p, &stat);
    p->times[PT_PROCESS_STAT] = now_ns;
    return 0;
}

static void read_statm(struct pt_process_reader *r, const struct pt_context *context,
                       struct pt_process *p, bool is_kept) {
    struct pt_scan text;
    int64_t now_ns = pt_mono_ns();
    int rc = read_file(r, context, p, FILE_STATM, is_kept, &text);
    if (!rc)
        rc = pt_pid_parse_statm(text, &p->resident_pages);
    p->times[PT_PROCESS_STATM] = rc ? 0 : now_ns;
}

static void read_io(struct pt_process_reader *r, const struct pt_context *context,
                    struct pt_process *p, bool is_kept) {
    struct pt_scan text;
    if (p->has_no_io)
        return;
    int64_t now_ns = pt_mono_ns();
    int rc = read_file(r, context, p, FILE_IO, is_kept, &text);
    p->has_no_io = rc && rc != -EMFILE && rc != -ENFILE;
    if (!rc)
        rc = pt_pid_parse_io(text, &p->io);
    p->times[PT_PROCESS_IO] = rc ? 0 : now_ns;
}

/* CPU time of any process without a file; the clock id is that of clock_getcpuclockid(3). */
static bool read_cpu_clock(pid_t pid, int64_t *cpu_ns) {
    struct timespec t;
    if (clock_gettime((clockid_t)(~(unsigned)pid << 3 | 2), &t))
        return false;
    *cpu_ns = t.tv_sec * PT_NS_PER_SECOND + t.tv_nsec;
    return true;
}

/* Whether the process may have changed since the last read. If its CPU clock has not advanced, it
 * has not: its counters are as good as new. */
static bool has_run(const struct pt_context *context, struct pt_process *p) {
    if (!context->fs->is_live)
        return true;
    int64_t now_ns = pt_mono_ns(), cpu_ns;
    if (!read_cpu_clock(p->pid, &cpu_ns)) {
        p->times[PT_PROCESS_CLOCK] = 0;
        return true;
    }
    bool is_same = p->times[PT_PROCESS_CLOCK] && p->times[PT_PROCESS_STAT] && cpu_ns == p->cpu_ns;
    p->times[PT_PROCESS_CLOCK] = now_ns;
    p->cpu_ns = cpu_ns;
    if (!is_same)
        return true;
    p->times[PT_PROCESS_STAT] = now_ns;
    if (p->times[PT_PROCESS_IO])
        p->times[PT_PROCESS_IO] = now_ns;
    return false;
}

static uint64_t own_ticks(const struct pt_process *p) {
    return (uint64_t)p->stat.user_ticks + (uint64_t)p->stat.kernel_ticks;
}

static void note_activity(struct pt_process_reader *r, const struct pt_context *context,
                          struct pt_process *p) {
    pt_file_pool_activate(&r->pool, &p->files, context->now_ns);
    p->ran_since_status = p->ran_since_switches = true;
}

/* Between readings of what can change while a process does not run. */
static int64_t full_period_ns(const struct pt_process_reader *r, const struct pt_process *p) {
    int64_t recorded_ns = RECORDED_PERIOD_NS * (1 + r->tree_count / TREE_PER_PERIOD);
    return p->is_recorded && recorded_ns < FULL_PERIOD_NS ? recorded_ns : FULL_PERIOD_NS;
}

/* The CPU clock is read before stat: if the process runs in between, the clock differs in the next
 * tick and stat is read again. */
static int read_fast(struct pt_process_reader *r, const struct pt_context *context,
                     struct pt_process *p) {
    bool ran = has_run(context, p) || p->is_new;
    if (!ran && !is_due(context, p->full_due_ns))
        return 0;
    if (p->is_new || (ran && context->fs->is_live))
        note_activity(r, context, p);
    /* Most processes are asleep when first seen, and will not be read soon. */
    bool is_kept = !context->fs->is_live || (ran && !p->is_new);
    uint64_t ticks = own_ticks(p);
    int rc = read_stat(r, context, p, is_kept);
    if (rc)
        return rc;
    if (!context->fs->is_live && own_ticks(p) != ticks)
        note_activity(r, context, p);
    read_statm(r, context, p, is_kept);
    if (ran) /* changes only when the process runs */
        read_io(r, context, p, is_kept);
    p->full_due_ns = next_due(context, p, full_period_ns(r, p));
    return 0;
}

void pt_process_read(struct pt_process_reader *r, const struct pt_context *context,
                     struct pt_process *p) {
    int rc = read_fast(r, context, p);
    if (rc == -ESTALE) {
        pt_process_set_renew(&r->set, p, &r->pool);
        rc = read_fast(r, context, p);
    }
    p->is_gone = rc != 0;
}

static void read_cgroup(struct pt_process_reader *r, const struct pt_context *context,
                        struct pt_process *p) {
    struct pt_scan text;
    struct pt_str path;
    pt_buf_clear(&p->cgroup);
    if (!read_once(r, context, p, "cgroup", &text) && !pt_pid_parse_cgroup(text, &path))
        pt_mask_text(&p->cgroup, path);
}

/* Outside the recorded tree they are those of the main thread. */
static void take_main_switches(struct pt_process *p) {
    if (p->is_recorded)
        return;
    bool has_both = pt_pid_has(&p->status, PT_STATUS_VOLUNTARY) &&
                    pt_pid_has(&p->status, PT_STATUS_NONVOLUNTARY);
    p->switches = (struct pt_switches){ p->status.at[PT_STATUS_VOLUNTARY],
                                        p->status.at[PT_STATUS_NONVOLUNTARY] };
    p->times[PT_PROCESS_SWITCHES] = has_both ? p->times[PT_PROCESS_STATUS] : 0;
}

static void read_status(struct pt_process_reader *r, const struct pt_context *context,
                        struct pt_process *p) {
    struct pt_scan text;
    if (!is_due(context, p->status_due_ns) || !(p->ran_since_status || p->is_recorded))
        return;
    int64_t now_ns = pt_mono_ns();
    int rc = read_once(r, context, p, "status", &text);
    if (!rc)
        rc = pt_pid_parse_status(text, &p->status);
    p->times[PT_PROCESS_STATUS] = rc ? 0 : now_ns;
    if (rc)
        p->status = (struct pt_pid_values){ 0 };
    take_main_switches(p);
    read_cgroup(r, context, p);
    p->ran_since_status = false;
    p->status_due_ns = next_due(context, p, full_period_ns(r, p));
}

static void read_switches(struct pt_process_reader *r, const struct pt_context *context,
                          struct pt_process *p) {
    if (!p->is_recorded || !is_due(context, p->switches_due_ns))
        return;
    int64_t now_ns = pt_mono_ns();
    /* threads that did not run have neither switched nor got a CPU after waiting for it */
    if (!p->ran_since_switches && p->times[PT_PROCESS_SWITCHES]) {
        p->times[PT_PROCESS_SWITCHES] = p->times[PT_PROCESS_CLOCK];
        return;
    }
    p->ran_since_switches = !context->fs->is_live;
    int rc = pt_thread_switches_read(&p->threads, &r->threads, &r->pool, context->fs->proc, p->pid,
                                     &p->switches);
    p->times[PT_PROCESS_SWITCHES] = rc ? 0 : now_ns;
    int64_t seconds = 1 + (int64_t)r->threads.ids.count / THREADS_PER_SECOND;
    p->switches_due_ns = context->now_ns + seconds * PT_NS_PER_SECOND;
}

static void take_command_line(struct pt_process_reader *r, const struct pt_context *context,
                              struct pt_process *p) {
    struct pt_scan text;
    pt_buf_clear(&p->command_line);
    if (read_once(r, context, p, "cmdline", &text))
        return;
    struct pt_str words = pt_scan_rest(&text);
    bool is_cut = words.len > COMMAND_BYTES + CUT_BYTES;
    if (is_cut)
        words.len = COMMAND_BYTES + CUT_BYTES;
    pt_mask_arguments(&p->command_line, words);
    struct pt_buf *line = &p->command_line;
    if (is_cut && line->len > CUT_BYTES) /* its end may be a secret that was cut and not known */
        line->len -= CUT_BYTES;
    line->len = line->len < COMMAND_BYTES ? line->len : COMMAND_BYTES;
}

/* Read when first seen, again a second later, and after every exec. */
static void read_command_line(struct pt_process_reader *r, const struct pt_context *context,
                              struct pt_process *p) {
    if (context->thinning->is_off[PT_PART_COMMAND_LINES] || p->command_due_ns == INT64_MAX ||
        !is_due(context, p->command_due_ns))
        return;
    bool is_again = p->command_due_ns != 0;
    p->command_due_ns = is_again ? INT64_MAX : context->now_ns + COMMAND_AGAIN_NS;
    int64_t now_ns = pt_mono_ns();
    take_command_line(r, context, p);
    if (context->part_costs)
        context->part_costs->ns[PT_PART_COMMAND_LINES] += pt_mono_ns() - now_ns;
}

static void read_rollup(struct pt_process_reader *r, const struct pt_context *context,
                        struct pt_process *p) {
    struct pt_scan text;
    if (!p->is_recorded || context->thinning->is_off[PT_PART_PSS])
        return;
    if (context->is_last
            ? pt_mono_ns() - context->now_ns > LAST_ROLLUPS_NS
            : !r->may_roll_up || p->pid <= r->rolled_up_to || !is_due(context, p->rollup_due_ns))
        return;
    r->may_roll_up = false;
    r->rolled_up_to = p->pid;
    int64_t now_ns = pt_mono_ns();
    int rc = read_once(r, context, p, "smaps_rollup", &text);
    if (!rc)
        rc = pt_pid_parse_smaps_rollup(text, &p->rollup);
    p->times[PT_PROCESS_ROLLUP] = rc ? 0 : now_ns;
    p->rollup_due_ns = context->now_ns + ROLLUP_PERIOD_NS;
    if (context->part_costs)
        context->part_costs->ns[PT_PART_PSS] += pt_mono_ns() - now_ns;
}

void pt_process_read_slow(struct pt_process_reader *r, const struct pt_context *context,
                          struct pt_process *p) {
    read_status(r, context, p);
    read_switches(r, context, p);
    read_command_line(r, context, p);
    read_rollup(r, context, p);
}
