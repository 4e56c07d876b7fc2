/* record/recorder_open.c -- the start of a recording: names, targets, command, sampler, journal. */
#include "record/recorder_state.h"

#include "launch/descriptors.h"
#include "launch/environment.h"
#include "launch/signals.h"
#include "base/clock.h"
#include "source/kernel/cgroup.h"
#include "store/run.h"

#include <errno.h>
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

static int open_targets(struct pt_recorder *r, struct pt_err *err) {
    const struct pt_recorder_options *o = r->o;
    for (int i = 0; i < o->pid_count; i++) {
        r->target_fds[i] = (int)syscall(SYS_pidfd_open, o->pids[i], 0);
        if (r->target_fds[i] < 0)
            return pt_fail(err, -errno, "cannot watch process %d: %s", (int)o->pids[i],
                           errno == ESRCH ? "no such process" : strerror(errno));
        r->target.pids[r->target.pid_count++] = o->pids[i];
    }
    if (!o->container)
        return 0;
    int rc = pt_cgroup_find(&o->fs, pt_str_from(o->container), r->target.container,
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

/* The directory of Pitot's own cgroup in a v2 hierarchy; false if there is none. */
static bool own_cgroup(const struct pt_fs *fs, char directory[PATH_MAX]) {
    struct pt_cgroup_layout layout = { 0 };
    struct pt_text text = { 0 };
    struct pt_scan scan;
    bool is_found = false;
    if (fs->is_live && !pt_cgroup_layout_open(&layout, fs) && layout.v2_plus_one > 0 &&
        !pt_fs_read(fs->proc, "self/cgroup", &text, &scan)) {
        const struct pt_cgroup_mount *mount = &layout.mounts[layout.v2_plus_one - 1];
        struct pt_cgroup_member member;
        char relative[PATH_MAX];
        while (!is_found && pt_cgroup_member_next(&scan, &member))
            is_found = member.is_v2 && pt_cgroup_relative(mount, member.path, relative) &&
                       snprintf(directory, PATH_MAX, "%s/%s", mount->point, relative) < PATH_MAX;
    }
    pt_text_release(&text);
    pt_cgroup_layout_close(&layout);
    return is_found;
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
    char parent[PATH_MAX], name[64];
    bool has_cgroup = own_cgroup(&r->o->fs, parent);
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
        .cgroup_parent = has_cgroup ? parent : NULL,
        .cgroup_name = name,
        .signal_mask = &r->old_mask,
        .descriptor_limit = r->has_raised_limit ? &r->old_limit : NULL,
    };
    int rc = pt_child_create(&r->child, &options, err);
    pt_environment_release(&environment);
    if (!rc)
        r->target.pids[r->target.pid_count++] = r->child.pid;
    return rc;
}

/* CPU time of profiles, which is not the sampler's. */
static int64_t profiles_cpu_ns(const void *recorder) {
    const struct pt_recorder *r = recorder;
    return pt_run_profile_cpu_ns(&r->profile) + pt_run_heap_cpu_ns(&r->heap);
}

static int open_sampler(struct pt_recorder *r, struct pt_err *err) {
    struct pt_sampler_options options = { .interval_ns = r->o->interval_ns,
                                          .budget = r->o->max_overhead,
                                          .fs = &r->o->fs,
                                          .target = &r->target,
                                          .engines = &r->o->engines,
                                          .regions = r->regions.path[0] ? r->regions.path : NULL,
                                          .fd_budget = pt_descriptors_budget(),
                                          .other_cpu_ns = profiles_cpu_ns,
                                          .other = r };
    memcpy(options.is_enabled, r->o->is_enabled, sizeof options.is_enabled);
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
                                              .program = r->o->command ? r->o->command[0] : NULL,
                                              .directory = r->o->directory,
                                              .name = r->uuid_text };
    if (r->o->cpu_hz > 0)
        pt_run_profile_choose(&r->profile, &options);
}

int pt_recorder_open(struct pt_recorder *r, struct pt_err *err) {
    r->has_raised_limit = pt_descriptors_raise(&r->old_limit);
    int rc = name_files(r, err);
    if (!rc) {
        r->signal_fd = pt_signals_block(&r->old_mask, err);
        rc = r->signal_fd < 0 ? r->signal_fd : 0;
    }
    if (!rc)
        rc = open_targets(r, err);
    if (!rc)
        rc = choose_argv(r, err);
    if (!rc) {
        choose_profile(r);
        rc = create_child(r, err);
    }
    pt_signals_ignore();
    if (!rc)
        rc = open_sampler(r, err);
    if (!rc)
        rc = pt_ring_create(&r->ring, r->journal_path, r->o->blackbox.bound_bytes, r->uuid,
                            &r->sampler.schema, err);
    if (rc)
        return rc;
    pt_marks_open(&r->marks, r->journal_path);
    pt_status_init(&r->status, &r->sampler.schema, !r->o->is_quiet, r->o->command != NULL);
    /* before the sampler, which excludes its cost */
    pt_run_profile_start(&r->profile, r->target.pids, (size_t)r->target.pid_count);
    pt_run_heap_start(&r->heap);
    rc = pt_sampler_start(&r->sampler, err);
    if (rc)
        return rc;
    r->start_ns = r->sampler.start_ns;
    r->start_wall_ns = pt_wall_ns();
    return 0;
}
