#include "store/own_cost.h"

#include "base/clock.h"
#include "base/confine.h"

#include <stdio.h>
#include <sys/resource.h>

static int64_t cpu_ns_of(const struct rusage *u) {
    return (u->ru_utime.tv_sec + u->ru_stime.tv_sec) * PT_NS_PER_SECOND +
           (u->ru_utime.tv_usec + u->ru_stime.tv_usec) * 1000;
}

/* ru_maxrss would be that of the program that Pitot was started by, if that was larger. */
static int64_t own_peak(int proc, struct pt_text *text) {
    struct pt_scan status, line;
    struct rusage usage;
    int64_t bytes = 0;
    if (!pt_fs_read(proc, "self/status", text, &status))
        while (bytes == 0 && pt_scan_line(&status, &line))
            if (pt_scan_take(&line, PT_STR("VmHWM:"))) {
                pt_scan_blanks(&line);
                bytes = pt_scan_i64(&line) * 1024;
            }
    if (bytes == 0 && !getrusage(RUSAGE_SELF, &usage))
        bytes = usage.ru_maxrss * 1024;
    return bytes;
}

void pt_own_cost_measure(struct pt_own_cost *c, int proc, struct pt_text *text, int64_t start_ns,
                         int64_t command_ns) {
    struct rusage children = { 0 };
    /* those that run first: one that ends now is counted by the kernel then */
    struct pt_confined_cost helpers = pt_confined_cost(proc);
    getrusage(RUSAGE_CHILDREN, &children);
    int64_t helpers_ns = cpu_ns_of(&children) - command_ns + helpers.running_ns;
    *c = (struct pt_own_cost){ .peak_bytes = own_peak(proc, text),
                               .cpu_ns = pt_clock_ns(CLOCK_PROCESS_CPUTIME_ID) +
                                         (helpers_ns > 0 ? helpers_ns : 0),
                               .mono_ns = pt_mono_ns(),
                               .wall_ns = pt_wall_ns() };
    c->elapsed_ns = c->mono_ns - start_ns;
    const int64_t peaks[] = { helpers.rss_bytes, helpers.ended_peak_bytes };
    for (size_t i = 0; i < PT_COUNT(peaks); i++)
        c->peak_bytes = peaks[i] > c->peak_bytes ? peaks[i] : c->peak_bytes;
}

double pt_own_cost_share(const struct pt_own_cost *c) {
    return c->elapsed_ns > 0 ? (double)c->cpu_ns / (double)c->elapsed_ns : 0;
}

static const struct {
    const char *key;
    size_t offset;
} fields[] = {
    { "cpu_ns", offsetof(struct pt_own_cost, cpu_ns) },
    { "peak_bytes", offsetof(struct pt_own_cost, peak_bytes) },
    { "elapsed_ns", offsetof(struct pt_own_cost, elapsed_ns) },
    { "mono_ns", offsetof(struct pt_own_cost, mono_ns) },
    { "wall_ns", offsetof(struct pt_own_cost, wall_ns) },
};

void pt_own_cost_write(const struct pt_own_cost *c, struct pt_buf *text) {
    for (size_t i = 0; i < PT_COUNT(fields); i++) {
        char line[64];
        int64_t value;
        memcpy(&value, (const char *)c + fields[i].offset, sizeof value);
        int n = snprintf(line, sizeof line, "%s %lld\n", fields[i].key, (long long)value);
        pt_buf_bytes(text, line, (size_t)n);
    }
}

bool pt_own_cost_find(struct pt_own_cost *c, const struct pt_journal_reader *reader) {
    const struct pt_journal_note *note = pt_journal_note_find(reader, PT_COST_NOTE);
    *c = (struct pt_own_cost){ 0 };
    if (!note)
        return false;
    struct pt_scan lines = pt_scan_of((struct pt_str){ note->text, note->text_len }), line;
    size_t found = 0;
    while (pt_scan_line(&lines, &line)) {
        struct pt_str key = pt_scan_word(&line);
        pt_scan_blanks(&line);
        int64_t value = pt_scan_i64(&line);
        for (size_t i = 0; !line.failed && i < PT_COUNT(fields); i++)
            if (pt_str_eq(key, pt_str_from(fields[i].key))) {
                memcpy((char *)c + fields[i].offset, &value, sizeof value);
                found++;
            }
    }
    return found == PT_COUNT(fields);
}
