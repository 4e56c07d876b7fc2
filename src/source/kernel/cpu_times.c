#include "source/kernel/cpu_times.h"

#include <errno.h>

const struct pt_str pt_stat_keys[PT_STAT_COUNTER_COUNT] = {
    [PT_STAT_INTERRUPTS] = { "intr", 4 },         [PT_STAT_CONTEXT_SWITCHES] = { "ctxt", 4 },
    [PT_STAT_BOOT_TIME] = { "btime", 5 },         [PT_STAT_FORKS] = { "processes", 9 },
    [PT_STAT_RUNNING] = { "procs_running", 13 },  [PT_STAT_BLOCKED] = { "procs_blocked", 13 },
    [PT_STAT_SOFT_INTERRUPTS] = { "softirq", 7 },
};

/* The digits after "cpu": none on the line of all CPUs. */
static bool scan_number(struct pt_scan *line, int64_t *cpu) {
    *cpu = -1;
    if (line->at < line->end && *line->at == ' ')
        return true;
    return pt_fields_next(line, cpu);
}

bool pt_cpu_times_next(struct pt_scan *text, struct pt_cpu_times *times) {
    struct pt_scan before = *text, line;
    while (pt_scan_line(text, &line)) {
        if (!pt_scan_take(&line, PT_STR("cpu"))) {
            *text = before;
            return false;
        }
        if (scan_number(&line, &times->cpu)) {
            times->present = pt_fields_scan(&line, times->ticks, PT_CPU_TIME_COUNT);
            return true;
        }
        before = *text;
    }
    return false;
}

int pt_loadavg_parse(struct pt_scan text, struct pt_loadavg *load) {
    load->one = pt_fields_hundredths(&text);
    load->five = pt_fields_hundredths(&text);
    load->fifteen = pt_fields_hundredths(&text);
    load->running = pt_scan_i64(&text);
    if (!pt_scan_take(&text, PT_STR("/")))
        text.failed = true;
    load->total = pt_scan_i64(&text);
    return text.failed ? -EINVAL : 0;
}
