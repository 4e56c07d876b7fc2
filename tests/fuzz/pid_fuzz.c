/* Feeds arbitrary bytes to every parser of /proc/PID files and of process events; the first byte
 * chooses which. What a parser says it found must lie within the bytes. */
#include "source/kernel/pid.h"
#include "source/kernel/proc_events.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_true) {
    if (!is_true)
        abort();
}

static void check_inside(struct pt_str piece, struct pt_str whole) {
    check(piece.len == 0 || (piece.at >= whole.at && piece.at + piece.len <= whole.at + whole.len));
}

static void fuzz_stat(struct pt_str text) {
    struct pt_pid_stat stat;
    if (pt_pid_parse_stat(pt_scan_of(text), &stat))
        return;
    check_inside(stat.name, text);
    check(stat.user_ticks >= 0 && stat.start_ticks >= 0 && stat.virtual_bytes >= 0);
}

static void fuzz_statm(struct pt_str text) {
    int64_t pages;
    if (pt_pid_parse_statm(pt_scan_of(text), &pages) == 0)
        check(pages >= 0);
}

static void fuzz_io(struct pt_str text) {
    struct pt_pid_io io;
    if (pt_pid_parse_io(pt_scan_of(text), &io) == 0)
        check(io.read_bytes >= 0 && io.write_bytes >= 0);
}

static void fuzz_status(struct pt_str text) {
    struct pt_pid_values values;
    if (pt_pid_parse_status(pt_scan_of(text), &values) == 0)
        check(values.present >> PT_STATUS_COUNT == 0);
}

static void fuzz_rollup(struct pt_str text) {
    struct pt_pid_values values;
    if (pt_pid_parse_smaps_rollup(pt_scan_of(text), &values) == 0)
        check(values.present >> PT_ROLLUP_COUNT == 0);
}

static void fuzz_cgroup(struct pt_str text) {
    struct pt_str path;
    if (pt_pid_parse_cgroup(pt_scan_of(text), &path) == 0)
        check_inside(path, text);
}

static void fuzz_connector(struct pt_str text) {
    struct pt_proc_event event;
    if (pt_proc_connector_parse(text, &event))
        check(event.kind <= PT_PROC_EXIT);
}

static void fuzz_taskstats(struct pt_str text) {
    struct pt_proc_event event;
    if (pt_taskstats_parse(text, &event))
        check(event.kind == PT_PROC_RECORD && event.cpu_ns >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static void (*const parsers[])(struct pt_str text) = {
        fuzz_stat,   fuzz_statm,  fuzz_io,        fuzz_status,
        fuzz_rollup, fuzz_cgroup, fuzz_connector, fuzz_taskstats,
    };
    if (size == 0)
        return 0;
    /* '0' chooses the first, so that the corpus is readable. */
    parsers[(uint8_t)(data[0] - '0') % PT_COUNT(parsers)](
        (struct pt_str){ (const char *)data + 1, size - 1 });
    return 0;
}
