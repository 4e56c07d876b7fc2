#include "doctor/doctor.h"

#include "doctor/doctor_finding.h"
#include "base/json.h"
#include "base/mask.h"

#include <errno.h>
#include <stdio.h>
#include <sys/param.h>

struct check {
    const char *id, *title;
    void (*run)(const struct pt_fs *fs, struct pt_finding *f);
    bool is_essential; /* missing: nothing can be recorded */
};

/* In the order of printing; the modules follow. */
static const struct check checks[] = {
    { "kernel", "Kernel", pt_check_kernel, false },
    { "procfs", "/proc", pt_check_procfs, true },
    { "output", "Output directory", pt_check_output, true },
    { "tick", "Time per tick", pt_check_tick, false },
    { "clock", "Clock source", pt_check_clock, false },
    { "memory", "Memory", pt_check_memory, false },
    { "nofile", "Open files", pt_check_nofile, false },
    { "priority", "Sampler priority", pt_check_priority, false },
    { "hidepid", "Other processes", pt_check_hidepid, false },
    { "process_io", "Process I/O", pt_check_process_io, false },
    { "smaps", "Process PSS", pt_check_smaps, false },
    { "proc_events", "Process events", pt_check_proc_events, false },
    { "taskstats", "Exit accounting", pt_check_taskstats, false },
    { "diskstats", "Disk counters", pt_check_diskstats, false },
    { "pressure", "Pressure (PSI)", pt_check_pressure, false },
    { "cgroup", "Control groups", pt_check_cgroup, false },
    { "own_cgroup", "Cgroup per command", pt_check_own_cgroup, false },
    { "cpufreq", "CPU frequency", pt_check_cpufreq, false },
    { "perf", "CPU sampling (perf)", pt_check_perf, false },
    { "cpu_profile", "CPU profiles", pt_check_cpu_profile, false },
    { "confined", "Confined helper", pt_check_confined, false },
    { "pmu", "Hardware counters", pt_check_pmu, false },
    { "kptr", "Kernel symbols", pt_check_kptr, false },
    { "rapl", "CPU energy", pt_check_rapl, false },
    { "nvml", "NVIDIA GPUs", pt_check_nvml, false },
    { "dri", "AMD and Intel GPUs", pt_check_dri, false },
    { "gpu_tools", "GPU profilers", pt_check_gpu_tools, false },
};

static const char *const state_names[] = { "ok", "limited", "missing" };
static const char *const state_colours[] = { "\033[32m", "\033[33m", "\033[31m" };
static const char *const verdicts[] = {
    "Everything is available.",
    "Recording works; whatever is not ok stays empty in the files.",
    "Recording would fail.",
};

/* The result of all checks. */
struct summary {
    int counts[3];
    int exit_code;
};

/* A finished check. */
struct row {
    char id[32];
    const char *title;
    bool is_essential;
    struct pt_finding finding;
};

/* Are a private module and its library installed? */
static void check_module(const struct pt_module_info *info, struct pt_finding *f) {
    const struct pt_module *module;
    struct pt_err err;
    char remedy[96] = "give this user the right to read the file";
    int rc = pt_module_look(info->name, &module, &err);
    if (rc) {
        if (rc != -EACCES)
            snprintf(remedy, sizeof remedy, "apt-get install %s", info->package);
        pt_finding_bad(f, PT_DOCTOR_MISSING, remedy, "%s", err.text);
        return;
    }
    pt_finding_ok(f, "%s%s%s, %s", module->library, module->library_version ? "/" : "",
                  module->library_version ? module->library_version() : "", info->use);
}

/* False after the last. */
static bool make_row(struct row *row, size_t number, const struct pt_fs *fs) {
    if (number < PT_COUNT(checks)) {
        const struct check *check = &checks[number];
        *row = (struct row){ .title = check->title, .is_essential = check->is_essential };
        pt_str_copy(row->id, sizeof row->id, pt_str_from(check->id));
        check->run(fs, &row->finding);
        return true;
    }
    const struct pt_module_info *module = &pt_module_infos[number - PT_COUNT(checks)];
    if (!module->name)
        return false;
    *row = (struct row){ .title = module->title };
    pt_str_copy(row->id, sizeof row->id, pt_str_from(module->name));
    for (char *at = row->id; (at = strchr(at, '-'));)
        *at = '_';
    check_module(module, &row->finding);
    return true;
}

static void add_to_summary(struct summary *s, const struct row *row) {
    s->counts[row->finding.state]++;
    if (row->finding.state == PT_DOCTOR_MISSING && row->is_essential)
        s->exit_code = 2;
    else if (row->finding.state != PT_DOCTOR_OK)
        s->exit_code = MAX(s->exit_code, 1);
}

static int title_width(void) {
    size_t width = 0;
    for (size_t i = 0; i < PT_COUNT(checks); i++)
        width = MAX(width, strlen(checks[i].title));
    for (const struct pt_module_info *m = pt_module_infos; m->name; m++)
        width = MAX(width, strlen(m->title));
    return (int)width;
}

static void write_table(const struct pt_fs *fs, bool use_colour, struct pt_out *out,
                        struct summary *s) {
    int width = title_width();
    struct row row;
    for (size_t i = 0; make_row(&row, i, fs); i++) {
        add_to_summary(s, &row);
        const struct pt_finding *f = &row.finding;
        if (use_colour)
            pt_out_style(out, state_colours[f->state]);
        pt_out_printf(out, "%-7s", state_names[f->state]);
        if (use_colour)
            pt_out_style(out, "\033[0m");
        pt_out_printf(out, "  %-*s  %s\n", width, row.title, f->found);
        if (f->state != PT_DOCTOR_OK)
            pt_out_printf(out, "%*s-> %s\n", width + 11, "", f->remedy);
    }
    pt_out_printf(out, "\n%d ok, %d limited, %d missing. %s\n", s->counts[PT_DOCTOR_OK],
                  s->counts[PT_DOCTOR_LIMITED], s->counts[PT_DOCTOR_MISSING],
                  verdicts[s->exit_code]);
}

static void put_row(struct pt_json *j, const struct row *row) {
    const struct pt_finding *f = &row->finding;
    pt_json_object(j, NULL);
    pt_json_text(j, "id", row->id);
    pt_json_text(j, "title", row->title);
    pt_json_text(j, "state", state_names[f->state]);
    pt_json_bool(j, "is_essential", row->is_essential);
    pt_json_text(j, "found", f->found);
    pt_json_text(j, "remedy", f->state == PT_DOCTOR_OK ? NULL : f->remedy);
    pt_json_end(j);
}

static void write_json(const struct pt_fs *fs, struct pt_out *out, struct summary *s) {
    struct pt_json j = { .out = out, .indent = 2, .mask = pt_mask_value };
    struct row row;
    pt_json_object(&j, NULL);
    pt_json_text(&j, "version", PITOT_VERSION);
    pt_json_array(&j, "checks");
    for (size_t i = 0; make_row(&row, i, fs); i++) {
        add_to_summary(s, &row);
        put_row(&j, &row);
    }
    pt_json_end(&j);
    for (int state = PT_DOCTOR_OK; state <= PT_DOCTOR_MISSING; state++)
        pt_json_i64(&j, state_names[state], s->counts[state]);
    pt_json_i64(&j, "exit_code", s->exit_code);
    pt_json_end(&j);
}

int pt_doctor_run(const struct pt_fs *fs, bool as_json, bool use_colour, struct pt_out *out) {
    struct summary s = { 0 };
    if (as_json)
        write_json(fs, out, &s);
    else
        write_table(fs, use_colour, out, &s);
    return s.exit_code;
}
