#include "source/kernel/pid.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>

static bool is_whole(const struct pt_scan *text) {
    return !text->failed && text->at < text->end && text->end[-1] == '\n';
}

/* One blank separates the numbers of stat. `*all` collects their bits, so that one test at the end
 * finds a value that does not fit in an int64_t. */
static int64_t next_number(struct pt_scan *s, uint64_t *all) {
    uint64_t value = pt_scan_u64(s);
    *all |= value;
    return (int64_t)value;
}

/* comm may hold ')' and newlines: it ends at the last ')' of the text. */
static struct pt_str take_name(struct pt_scan *s) {
    (void)pt_scan_until(s, '(');
    const char *close = s->failed ? NULL : memrchr(s->at, ')', (size_t)(s->end - s->at));
    if (!close) {
        s->failed = true;
        return PT_STR("");
    }
    struct pt_str name = { s->at, (size_t)(close - s->at) };
    s->at = close + 1;
    return name;
}

/* Fields 39 and 42; kernels before 2.6.18 ended earlier. */
static void parse_stat_tail(struct pt_scan s, struct pt_pid_stat *stat) {
    stat->last_cpu = stat->block_delay_ticks = -1;
    pt_scan_skip(&s, 14); /* rsslim to exit_signal */
    int64_t last_cpu = pt_scan_i64(&s);
    if (!s.failed)
        stat->last_cpu = last_cpu;
    pt_scan_skip(&s, 2); /* rt_priority, policy */
    int64_t delay = pt_scan_i64(&s);
    if (!s.failed)
        stat->block_delay_ticks = delay;
}

int pt_pid_parse_stat(struct pt_scan s, struct pt_pid_stat *stat) {
    if (!is_whole(&s))
        return -EINVAL;
    uint64_t all = 0;
    stat->name = take_name(&s);
    struct pt_str state = pt_scan_word(&s);
    stat->state = state.len == 1 ? state.at[0] : '?';
    stat->parent = next_number(&s, &all);
    pt_scan_skip(&s, 5); /* pgrp session tty_nr tpgid flags */
    stat->minor_faults = next_number(&s, &all);
    pt_scan_skip(&s, 1);
    stat->major_faults = next_number(&s, &all);
    pt_scan_skip(&s, 1);
    stat->user_ticks = next_number(&s, &all);
    stat->kernel_ticks = next_number(&s, &all);
    stat->children_user_ticks = next_number(&s, &all);
    stat->children_kernel_ticks = next_number(&s, &all);
    pt_scan_skip(&s, 2); /* priority nice */
    stat->threads = next_number(&s, &all);
    pt_scan_skip(&s, 1);
    stat->start_ticks = next_number(&s, &all);
    stat->virtual_bytes = next_number(&s, &all);
    pt_scan_skip(&s, 1); /* rss: rougher than that of statm */
    if (s.failed || all >> 63)
        return -EINVAL;
    parse_stat_tail(s, stat);
    return 0;
}

int pt_pid_read_stat(int proc, pid_t pid, struct pt_text *text, struct pt_pid_stat *stat) {
    char path[32];
    struct pt_scan scan;
    snprintf(path, sizeof path, "%d/stat", (int)pid);
    int rc = pt_fs_read(proc, path, text, &scan);
    return rc ? rc : pt_pid_parse_stat(scan, stat);
}

int pt_pid_parse_schedstat(struct pt_scan text, int64_t *run_delay_ns) {
    if (!is_whole(&text))
        return -EINVAL;
    pt_scan_skip(&text, 1);
    *run_delay_ns = pt_scan_i64(&text);
    return text.failed || *run_delay_ns < 0 ? -EINVAL : 0;
}

int pt_pid_parse_statm(struct pt_scan s, int64_t *resident_pages) {
    if (!is_whole(&s))
        return -EINVAL;
    pt_scan_skip(&s, 1);
    *resident_pages = pt_scan_i64(&s);
    return s.failed || *resident_pages < 0 ? -EINVAL : 0;
}

static int64_t number_after(struct pt_scan *s, struct pt_str key) {
    if (!pt_scan_take(s, key))
        s->failed = true;
    uint64_t value = pt_scan_u64(s);
    if (!pt_scan_take(s, PT_STR("\n")) || value > INT64_MAX)
        s->failed = true;
    return (int64_t)value;
}

int pt_pid_parse_io(struct pt_scan s, struct pt_pid_io *io) {
    io->read_chars = number_after(&s, PT_STR("rchar: "));
    io->write_chars = number_after(&s, PT_STR("wchar: "));
    (void)number_after(&s, PT_STR("syscr: "));
    (void)number_after(&s, PT_STR("syscw: "));
    io->read_bytes = number_after(&s, PT_STR("read_bytes: "));
    io->write_bytes = number_after(&s, PT_STR("write_bytes: "));
    return s.failed ? -EINVAL : 0;
}

struct key {
    struct pt_str text;
    int field;
    bool is_last_word; /* take the last number of the line, not the first */
};

static const struct key status_keys[] = {
    { { "Uid", 3 }, PT_STATUS_UID, false },
    { { "NSpid", 5 }, PT_STATUS_NS_PID, true },
    { { "VmHWM", 5 }, PT_STATUS_PEAK_RESIDENT, false },
    { { "RssAnon", 7 }, PT_STATUS_RSS_ANON, false },
    { { "RssFile", 7 }, PT_STATUS_RSS_FILE, false },
    { { "RssShmem", 8 }, PT_STATUS_RSS_SHMEM, false },
    { { "VmSwap", 6 }, PT_STATUS_SWAP, false },
    { { "voluntary_ctxt_switches", 23 }, PT_STATUS_VOLUNTARY, false },
    { { "nonvoluntary_ctxt_switches", 26 }, PT_STATUS_NONVOLUNTARY, false },
};

static const struct key rollup_keys[] = {
    { { "Pss", 3 }, PT_ROLLUP_PSS, false },
    { { "Pss_Anon", 8 }, PT_ROLLUP_PSS_ANON, false },
    { { "Pss_File", 8 }, PT_ROLLUP_PSS_FILE, false },
    { { "Pss_Shmem", 9 }, PT_ROLLUP_PSS_SHMEM, false },
    { { "SwapPss", 7 }, PT_ROLLUP_SWAP_PSS, false },
};

_Static_assert(PT_STATUS_COUNT <= PT_PID_VALUES && PT_ROLLUP_COUNT <= PT_PID_VALUES, "room");

static void parse_value(struct pt_scan line, const struct key *key, struct pt_pid_values *values) {
    int64_t value = pt_scan_i64(&line);
    pt_scan_blanks(&line);
    while (key->is_last_word && !line.failed && line.at < line.end) {
        value = pt_scan_i64(&line);
        pt_scan_blanks(&line);
    }
    bool is_kib = pt_scan_take(&line, PT_STR("kB"));
    if (line.failed || (is_kib && __builtin_mul_overflow(value, 1024, &value)))
        return;
    values->at[key->field] = value;
    values->present |= UINT32_C(1) << key->field;
}

static int parse_values(struct pt_scan text, const struct key *keys, size_t key_count,
                        struct pt_pid_values *values) {
    struct pt_scan line;
    *values = (struct pt_pid_values){ 0 };
    if (!is_whole(&text))
        return -EINVAL;
    while (pt_scan_line(&text, &line)) {
        struct pt_str name = pt_scan_until(&line, ':');
        for (size_t i = 0; i < key_count; i++)
            if (pt_str_eq(name, keys[i].text))
                parse_value(line, &keys[i], values);
    }
    return values->present ? 0 : -EINVAL;
}

int pt_pid_parse_status(struct pt_scan text, struct pt_pid_values *values) {
    return parse_values(text, status_keys, PT_COUNT(status_keys), values);
}

int pt_pid_parse_smaps_rollup(struct pt_scan text, struct pt_pid_values *values) {
    return parse_values(text, rollup_keys, PT_COUNT(rollup_keys), values);
}

/* How much a line of /proc/PID/cgroup says; the highest wins. */
static int cgroup_rank(struct pt_str controllers, struct pt_str path) {
    if (path.len <= 1)
        return 0;
    if (controllers.len == 0)
        return 3;
    return pt_str_eq(controllers, PT_STR("memory")) ? 2 : 1;
}

int pt_pid_parse_cgroup(struct pt_scan text, struct pt_str *path) {
    struct pt_scan line;
    int best = -1;
    if (!is_whole(&text))
        return -EINVAL;
    while (pt_scan_line(&text, &line)) {
        (void)pt_scan_until(&line, ':');
        struct pt_str controllers = pt_scan_until(&line, ':');
        int rank = cgroup_rank(controllers, pt_scan_rest(&line));
        if (line.failed || rank <= best)
            continue;
        best = rank;
        *path = pt_scan_rest(&line);
    }
    return best < 0 ? -EINVAL : 0;
}

/* The process that a thread belongs to; 0: unknown. */
static pid_t process_of_thread(const struct pt_fs *fs, pid_t thread, struct pt_text *text) {
    char path[32];
    struct pt_scan lines, line;
    snprintf(path, sizeof path, "%d/status", (int)thread);
    if (!pt_fs_read(fs->proc, path, text, &lines))
        while (pt_scan_line(&lines, &line))
            if (pt_scan_take(&line, PT_STR("Tgid:"))) {
                pt_scan_blanks(&line);
                int64_t pid = pt_scan_i64(&line);
                return line.failed ? 0 : (pid_t)pid;
            }
    return 0;
}

int pt_pid_check(const struct pt_fs *fs, pid_t pid, int64_t *start_ticks, struct pt_err *err) {
    struct pt_text text = { 0 };
    struct pt_pid_stat stat;
    pid_t process = 0;
    int rc = pt_pid_read_stat(fs->proc, pid, &text, &stat);
    bool is_hidden = rc && fs->is_live && (!kill(pid, 0) || errno == EPERM);
    if (!rc)
        process = process_of_thread(fs, pid, &text);
    pt_text_release(&text);
    if (is_hidden)
        return pt_fail(err, -EACCES,
                       "cannot watch process %d: /proc hides it (run as root, or mount /proc "
                       "without hidepid)",
                       (int)pid);
    if (rc)
        return pt_fail(err, rc, "cannot watch process %d: %s", (int)pid,
                       rc == -ENOENT || rc == -ESRCH ? "no such process" : strerror(-rc));
    if (process && process != pid)
        return pt_fail(err, -EINVAL,
                       "cannot watch process %d: it is a thread of process %d (use --pid %d)",
                       (int)pid, (int)process, (int)process);
    if (stat.state == 'Z' && stat.threads <= 1)
        return pt_fail(err, -ESRCH,
                       "cannot watch process %d: it has ended (a zombie until its parent %lld "
                       "waits for it)",
                       (int)pid, (long long)stat.parent);
    *start_ticks = stat.start_ticks;
    return 0;
}
