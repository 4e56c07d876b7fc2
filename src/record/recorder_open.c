/* record/recorder_open.c -- the start of a recording: names, targets, command, sampler, journal. */
#include "record/recorder_state.h"

#include "launch/descriptors.h"
#include "launch/environment.h"
#include "launch/outlast.h"
#include "launch/signals.h"
#include "base/clock.h"
#include "base/log.h"
#include "source/kernel/cgroup.h"
#include "source/kernel/pid.h"
#include "store/leftovers.h"
#include "store/run.h"

#include <errno.h>
#include <fcntl.h>
#include <pitot/pitot.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#define HEAP_STACK_BYTES (32u << 10)

static int name_files(struct pt_recorder *r, struct pt_err *err) {
    uuid_generate_random(r->uuid);
    uuid_unparse_lower(r->uuid, r->uuid_text);
    int rc = pt_run_make_directory(r->o->directory, &r->made_directory_from, err);
    if (rc)
        return rc;
    if (r->made_directory_from == 0)
        pt_leftovers_remove(r->o->directory);
    char directory[PATH_MAX];
    if (!realpath(r->o->directory, directory))
        return pt_fail(err, -errno, "cannot enter %s: %s", r->o->directory, strerror(errno));
    const char *extension = r->o->blackbox.bound_bytes > 0 ? PT_RING_EXTENSION : PT_RUN_EXTENSION;
    if (snprintf(r->journal_path, PATH_MAX, "%s/%s%s", directory, r->uuid_text, extension) >=
            PATH_MAX ||
        snprintf(r->static_path, PATH_MAX, "%s/static_%s.json", directory, r->uuid_text) >=
            PATH_MAX)
        return pt_fail(err, -ENAMETOOLONG, "the path of the output directory is too long");
    return 0;
}

/* Of a process of another user these files are unreadable. */
static void warn_of_unreadable(const struct pt_recorder_options *o, pid_t pid) {
    static const struct {
        const char *file, *what;
    } files[] = { { "io", "its disk I/O" }, { "smaps_rollup", "its PSS" } };
    char path[48], missing[64] = "";
    for (size_t i = 0; i < PT_COUNT(files); i++) {
        struct pt_file file = { 0 };
        snprintf(path, sizeof path, "%d/%s", (int)pid, files[i].file);
        int rc = pt_file_open(&file, o->fs.proc, path);
        pt_file_close(&file);
        if (rc == -EACCES || rc == -EPERM)
            snprintf(missing + strlen(missing), sizeof missing - strlen(missing), "%s%s",
                     *missing ? " and " : "", files[i].what);
    }
    if (*missing)
        pt_log(PT_LOG_WARNING,
               "process %d belongs to another user: %s cannot be read (run as root or grant "
               "CAP_SYS_PTRACE)",
               (int)pid, missing);
}

static int open_targets(struct pt_recorder *r, struct pt_err *err) {
    const struct pt_recorder_options *o = r->o;
    int rc;
    for (int i = 0; i < o->pid_count; i++) {
        /* process ids of another /proc may be those of another namespace */
        if (o->fs.is_live)
            r->target_fds[i] = (int)syscall(SYS_pidfd_open, o->pids[i], 0);
        rc = pt_pid_check(&o->fs, o->pids[i], &r->target.start_ticks[i], err);
        if (rc)
            return rc;
        if (o->fs.is_live && r->target_fds[i] < 0)
            return pt_fail(err, -errno, "cannot watch process %d: %s", (int)o->pids[i],
                           strerror(errno));
        warn_of_unreadable(o, o->pids[i]);
        r->target.pids[r->target.pid_count++] = o->pids[i];
    }
    if (o->pid_count > 0)
        pt_subject_of_pids(&r->subject, &o->fs, o->pids, o->pid_count);
    else if (o->container)
        pt_subject_of_container(&r->subject, o->container);
    else if (!o->command)
        r->subject.kind = PT_SUBJECT_MACHINE;
    if (!o->container)
        return 0;
    rc = pt_cgroup_find(&o->fs, pt_str_from(o->container), r->target.container,
                        sizeof r->target.container);
    if (rc)
        return pt_fail(
            err, rc, "cannot find container '%s': %s", o->container,
            rc == -ENOTUNIQ
                ? "several match (give more of the id)"
                : "no match (give its id, the start of the id, its name or cgroup path)");
    pid_t pids[PT_TARGET_PIDS];
    int count = pt_cgroup_pids(&o->fs, r->target.container, pids, PT_TARGET_PIDS);
    for (int i = 0; i < count && r->target.pid_count < PT_TARGET_PIDS; i++)
        r->target.pids[r->target.pid_count++] = pids[i];
    return 0;
}

/* Directories of Pitot's own cgroups. */
struct own_groups {
    char v2[PATH_MAX]; /* or "" */
    char v1[PT_CHILD_CONTROLLERS][PATH_MAX];
    int v1_count;
};

/* Of v1, the command gets groups that count but do not share anything out: in a `cpu` group its
 * threads would together weigh as much as one thread outside. */
static bool is_counting(const struct pt_cgroup_layout *layout, const struct pt_cgroup_member *m) {
    uint32_t wanted = 1u << PT_CGROUP_MEMORY | 1u << PT_CGROUP_BLKIO | 1u << PT_CGROUP_PIDS |
                      (layout->v2_plus_one ? 0u : 1u << PT_CGROUP_CPUACCT);
    uint32_t sharing = 1u << PT_CGROUP_CPU | 1u << PT_CGROUP_CPUSET;
    return m->controllers & wanted && !(m->controllers & sharing);
}

/* Before Linux 5.11, limits of a v1 memory group may not hold in the groups below it. */
static bool limits_hold_below(const char *directory) {
    char path[PATH_MAX], value[16];
    return snprintf(path, sizeof path, "%s/memory.use_hierarchy", directory) < PATH_MAX &&
           (pt_fs_read_line(AT_FDCWD, path, value, sizeof value) || value[0] == '1');
}

static void find_own_groups(const struct pt_fs *fs, struct own_groups *own) {
    struct pt_cgroup_layout layout = { 0 };
    struct pt_cgroup_member member;
    struct pt_text text = { 0 };
    struct pt_scan scan;
    char relative[PATH_MAX];
    own->v2[0] = 0;
    own->v1_count = 0;
    if (!fs->is_live || pt_cgroup_layout_open(&layout, fs))
        return;
    bool has_text = !pt_fs_read(fs->proc, "self/cgroup", &text, &scan);
    while (has_text && pt_cgroup_member_next(&scan, &member)) {
        int mount = member.is_v2 ? layout.v2_plus_one : 0;
        for (int c = 0; c < PT_CGROUP_CONTROLLER_COUNT && is_counting(&layout, &member); c++)
            if (member.controllers >> c & 1)
                mount = layout.v1_plus_one[c];
        const struct pt_cgroup_mount *m = mount ? &layout.mounts[mount - 1] : NULL;
        if (!m || !pt_cgroup_relative(m, member.path, relative) ||
            (!member.is_v2 && own->v1_count == PT_CHILD_CONTROLLERS))
            continue;
        char *into = member.is_v2 ? own->v2 : own->v1[own->v1_count];
        bool fits = snprintf(into, PATH_MAX, "%s/%s", m->point, relative) < PATH_MAX;
        if (member.is_v2)
            own->v2[0] = fits ? own->v2[0] : 0;
        else
            own->v1_count += fits && limits_hold_below(into);
    }
    pt_text_release(&text);
    pt_cgroup_layout_close(&layout);
}

/* The arguments to run: the command, or the tool that runs it. */
static int choose_argv(struct pt_recorder *r, struct pt_err *err) {
    const struct pt_recorder_options *o = r->o;
    r->argv = o->command;
    if (!o->gpu_tool)
        return 0;
    int rc = pt_gpu_trace_prepare(&r->gpu, o->gpu_tool, o->gpu_tool_path, r->journal_path,
                                  o->command, err);
    r->argv = r->gpu.command;
    return rc;
}

static int create_child(struct pt_recorder *r, struct pt_err *err) {
    if (!r->o->command)
        return 0;
    pt_regions_make(&r->regions, r->uuid_text);
    char name[sizeof r->target.own_group];
    struct own_groups own;
    find_own_groups(&r->o->fs, &own);
    snprintf(name, sizeof name, PT_CHILD_CGROUP_PREFIX "%s", r->uuid_text);
    struct pt_environment environment;
    pt_environment_init(&environment);
    pt_environment_set(&environment, pt_asprintf(PT_RUN_VARIABLE "=%s", r->journal_path));
    pt_environment_set(&environment, pt_asprintf(PITOT_REGION_VARIABLE "=%s", r->regions.path));
    for (size_t i = 0; i < PT_GPU_TRACE_VARIABLES && r->gpu.variables[i]; i++)
        pt_environment_set(&environment, pt_strdup(r->gpu.variables[i]));
    pt_run_profile_prepare(&r->profile, &environment);
    struct pt_heap_session_options heap = { .fs = &r->o->fs,
                                            .mean_bytes = r->o->heap_mean_bytes,
                                            .stack_bytes = HEAP_STACK_BYTES,
                                            .counts_mmap = r->o->heap_counts_mmap,
                                            .wants_python_malloc = r->o->heap_wants_python,
                                            .command = r->o->command };
    if (r->o->wants_heap)
        pt_run_heap_open(&r->heap, &heap, r->o->directory, r->uuid_text, &environment);
    struct pt_child_options options = {
        .fs = &r->o->fs,
        .argv = r->argv,
        .environment = environment.at,
        .cgroup_parent = own.v2[0] ? own.v2 : NULL,
        .cgroup_name = name,
        .signal_mask = &r->old_mask,
        .descriptor_limit = r->has_raised_limit ? &r->old_limit : NULL,
    };
    for (int i = 0; i < own.v1_count; i++)
        options.controller_parents[i] = own.v1[i];
    int rc = pt_child_create(&r->child, &options, err);
    pt_environment_release(&environment);
    if (!rc)
        r->target.pids[r->target.pid_count++] = r->child.pid;
    return rc;
}

static int64_t command_ns(const void *recorder) {
    const struct pt_recorder *r = recorder;
    return r->child.reaped_cpu_ns;
}

void pt_recorder_cost(void *recorder, struct pt_own_cost *cost) {
    const struct pt_recorder *r = recorder;
    struct pt_text text = { 0 };
    pt_own_cost_measure(cost, r->o->fs.is_live ? r->o->fs.proc : -1, &text, r->start_ns,
                        command_ns(r));
    pt_text_release(&text);
}

static int open_sampler(struct pt_recorder *r, struct pt_err *err) {
    struct pt_sampler_options options = { .interval_ns = r->o->interval_ns,
                                          .budget = r->o->max_overhead,
                                          .fs = &r->o->fs,
                                          .target = &r->target,
                                          .engines = &r->o->engines,
                                          .regions = r->regions.path[0] ? r->regions.path : NULL,
                                          .fd_budget = pt_descriptors_budget(),
                                          .command_ns = command_ns,
                                          .other = r };
    memcpy(options.is_enabled, r->o->is_enabled, sizeof options.is_enabled);
    /* what is recorded must be known: by a v2 cgroup of its own, or by its processes */
    bool has_group = r->child.cgroup_path[0] != 0;
    for (int i = 0; pt_collectors[i]; i++)
        if (pt_collectors[i]->knows_tree && !options.is_enabled[i] && r->o->may_add_processes &&
            r->target.pid_count > 0 && !has_group)
            options.is_enabled[i] = r->target.is_tree_only = true;
    int rc = pt_sampler_init(&r->sampler, &options, err);
    if (rc)
        return rc;
    pt_sample_init(&r->mark_sample, &r->sampler.schema);
    r->mark_table = (uint32_t)pt_schema_find(&r->sampler.schema, pt_mark_table->name);
    rc = pt_alerts_open(&r->alerts, r->o->alerts, &r->sampler.schema, err);
    return rc ? rc : pt_push_open(&r->push, &r->o->push, &r->sampler.schema, err);
}

/* Before the command is created: it may change its environment. */
static void choose_profile(struct pt_recorder *r) {
    struct pt_run_profile_options options = { .fs = &r->o->fs,
                                              .rate_hz = r->o->cpu_hz,
                                              .method = r->o->cpu_method,
                                              .command = r->o->command,
                                              .directory = r->o->directory,
                                              .name = r->uuid_text };
    if (r->o->cpu_hz > 0)
        pt_run_profile_choose(&r->profile, &options);
}

int pt_recorder_open(struct pt_recorder *r, struct pt_err *err) {
    r->has_raised_limit = pt_descriptors_raise(&r->old_limit);
    int rc = name_files(r, err);
    if (!rc) {
        r->signal_fd = pt_signals_block(r->o->command != NULL, &r->old_mask, err);
        rc = r->signal_fd < 0 ? r->signal_fd : 0;
        pt_outlast_set(&r->stopping, r->signal_fd);
    }
    if (!rc)
        pt_stopping_open(&r->stopping, r->o->command ? &r->child : NULL, r->o->grace_ns);
    if (!rc)
        rc = open_targets(r, err);
    if (!rc)
        rc = choose_argv(r, err);
    if (!rc) {
        choose_profile(r);
        rc = create_child(r, err);
    }
    /* profiles are processes, which are created before there are threads */
    if (!rc) {
        pt_run_profile_start(&r->profile, r->target.pids, (size_t)r->target.pid_count);
        pt_run_heap_start(&r->heap);
    }
    pt_signals_ignore();
    if (!rc)
        rc = open_sampler(r, err);
    if (!rc)
        rc = pt_ring_create(&r->ring, r->journal_path, r->o->blackbox.bound_bytes, r->uuid,
                            &r->sampler.schema, err);
    /* collectors come last, so that a lack of descriptors or threads costs only optional parts */
    if (!rc)
        rc = pt_sampler_open(&r->sampler, err);
    if (rc)
        return rc;
    pt_marks_open(&r->marks, r->journal_path);
    pt_status_init(&r->status, &r->sampler.schema, !r->o->is_quiet, r->o->command != NULL);
    if (r->o->command && pt_child_join(&r->child))
        snprintf(r->target.own_group, sizeof r->target.own_group, PT_CHILD_CGROUP_PREFIX "%s",
                 r->uuid_text);
    pt_sampler_start(&r->sampler);
    r->start_ns = r->sampler.start_ns;
    r->start_wall_ns = pt_wall_ns();
    return 0;
}
