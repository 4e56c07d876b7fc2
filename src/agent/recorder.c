#include "agent/recorder.h"

#include "agent/alert_command.h"
#include "agent/alerts.h"
#include "agent/descriptors.h"
#include "agent/engine_infos.h"
#include "agent/environment.h"
#include "agent/gpu_trace.h"
#include "agent/machine.h"
#include "agent/marks.h"
#include "agent/regions.h"
#include "agent/run_heap.h"
#include "agent/run_profile.h"
#include "agent/signals.h"
#include "agent/status.h"
#include "agent/stopping.h"
#include "base/clock.h"
#include "base/log.h"
#include "collect/gpu.h"
#include "kernel/cgroup.h"
#include "push/push.h"
#include "report/html.h"
#include "report/summary.h"
#include "store/run.h"
#include "store/static_info.h"

#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <langinfo.h>
#include <pitot/pitot.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <uuid.h>

#define PRINT_WAIT_MS    1000                   /* for whoever reads stderr */
#define PUSH_GRACE_NS    (5 * PT_NS_PER_SECOND) /* for what is not sent at the end */
#define HEAP_STACK_BYTES (32u << 10)

struct recorder {
    const struct pt_recorder_options *o;
    uuid_t uuid;
    char uuid_text[37];
    char journal_path[PATH_MAX], static_path[PATH_MAX];
    size_t made_directory_from; /* see pt_run_make_directory() */

    struct pt_target target;
    struct pt_sampler sampler;
    struct pt_ring ring; /* where samples go */
    struct pt_blackbox blackbox;
    struct pt_death_watch death;
    struct pt_energy_basis energy;
    struct pt_child child;
    struct pt_stopping stopping;
    struct pt_marks marks;
    struct pt_alerts alerts;
    struct pt_alert_command alert_command;
    struct pt_regions regions;
    struct pt_status status;
    struct pt_push *push;
    struct pt_run_profile profile;
    struct pt_run_heap heap;
    struct pt_gpu_trace gpu;
    struct pt_sample mark_sample;
    uint32_t mark_table;

    int signal_fd;
    sigset_t old_mask;
    struct rlimit old_limit;
    bool has_raised_limit;
    int target_fds[PT_TARGET_PIDS];

    struct pt_engine_infos engines;
    int64_t start_wall_ns;
    int64_t start_ns, container_checked_ns;
    bool must_stop;
    int write_error; /* of the journal, now */
    bool has_lost;   /* something of Pitot's own went wrong */
    const char *end_reason;
};

static int block_signals(struct recorder *r, struct pt_err *err) {
    r->signal_fd = pt_signals_block(&r->old_mask, err);
    return r->signal_fd < 0 ? r->signal_fd : 0;
}

static int name_files(struct recorder *r, struct pt_err *err) {
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

/* Nothing was recorded: leave no trace of the attempt. */
static void remove_files(struct recorder *r) {
    pt_ring_remove(r->journal_path);
    unlink(r->static_path);
    pt_run_heap_remove(&r->heap);
    pt_run_remove_directory(r->o->directory, r->made_directory_from);
}

static int open_targets(struct recorder *r, struct pt_err *err) {
    const struct pt_recorder_options *o = r->o;
    for (int i = 0; i < o->pid_count; i++) {
        r->target_fds[i] = (int)syscall(SYS_pidfd_open, o->pids[i], 0);
        if (r->target_fds[i] < 0)
            return pt_fail(err, -errno, "cannot watch process %d: %s", (int)o->pids[i],
                           errno == ESRCH ? "there is no such process" : strerror(errno));
        r->target.pids[r->target.pid_count++] = o->pids[i];
    }
    if (!o->container)
        return 0;
    int rc = pt_cgroup_find(&o->fs, pt_str_from(o->container), r->target.container,
                            sizeof r->target.container);
    if (rc)
        return pt_fail(err, rc, "no container '%s': %s", o->container,
                       rc == -ENOTUNIQ ? "several match, give more of its id"
                                       : "give its id, the start of it, its name or cgroup path");
    pid_t pids[PT_TARGET_PIDS];
    int count = pt_cgroup_pids(&o->fs, r->target.container, pids, PT_TARGET_PIDS);
    for (int i = 0; i < count && r->target.pid_count < PT_TARGET_PIDS; i++)
        r->target.pids[r->target.pid_count++] = pids[i];
    return 0;
}

/* The directory of Pitot's own cgroup in a v2 hierarchy; false where there is none. */
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

static void open_heap(struct recorder *r, struct pt_environment *environment) {
    struct pt_heap_session_options options = { .fs = &r->o->fs,
                                               .mean_bytes = r->o->heap_mean_bytes,
                                               .stack_bytes = HEAP_STACK_BYTES,
                                               .counts_mmap = r->o->heap_counts_mmap,
                                               .wants_python_malloc = r->o->heap_wants_python,
                                               .command = r->o->command };
    if (r->o->wants_heap)
        pt_run_heap_open(&r->heap, &options, r->o->directory, r->uuid_text, environment);
}

/* The environment of the command: ours, where the run is and where libpitot's files go. */
static void make_environment(struct recorder *r, struct pt_environment *environment) {
    pt_environment_init(environment);
    pt_environment_set(environment, pt_asprintf(PT_RUN_VARIABLE "=%s", r->journal_path));
    pt_environment_set(environment, pt_asprintf(PITOT_REGION_VARIABLE "=%s", r->regions.path));
    for (size_t i = 0; i < PT_GPU_TRACE_VARIABLES && r->gpu.variables[i]; i++)
        pt_environment_set(environment, pt_strdup(r->gpu.variables[i]));
    pt_run_profile_prepare(&r->profile, environment);
    open_heap(r, environment);
}

/* What is run: the command, or the tool that runs it. */
static char *const *what_runs(const struct recorder *r) {
    return r->gpu.command ? r->gpu.command : r->o->command;
}

/* Before the command is created: it is a part of the tool's command. */
static int prepare_gpu_trace(struct recorder *r, struct pt_err *err) {
    const struct pt_recorder_options *o = r->o;
    return o->gpu_tool ? pt_gpu_trace_prepare(&r->gpu, o->gpu_tool, o->gpu_tool_path,
                                              r->journal_path, o->command, err)
                       : 0;
}

static int create_child(struct recorder *r, struct pt_err *err) {
    if (!r->o->command)
        return 0;
    pt_regions_make(&r->regions, r->uuid_text);
    char parent[PATH_MAX], name[64];
    bool has_cgroup = own_cgroup(&r->o->fs, parent);
    snprintf(name, sizeof name, PT_CHILD_CGROUP_PREFIX "%s", r->uuid_text);
    struct pt_environment environment;
    make_environment(r, &environment);
    struct pt_child_options options = {
        .fs = &r->o->fs,
        .argv = what_runs(r),
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

/* What profiles cost beside the sampler. */
static int64_t profiles_cpu_ns(const void *recorder) {
    const struct recorder *r = recorder;
    return pt_run_profile_cpu_ns(&r->profile) + pt_run_heap_cpu_ns(&r->heap);
}

static int open_sampler(struct recorder *r, struct pt_err *err) {
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

static void note_write(struct recorder *r, int rc) {
    if (rc) {
        r->has_lost = true;
        if (rc != r->write_error)
            pt_log(PT_LOG_ERROR, "cannot write %s: %s; samples are lost until there is room again",
                   r->journal_path, strerror(-rc));
    } else if (r->write_error) {
        pt_log(PT_LOG_WARNING, "writing to %s works again", r->journal_path);
    }
    r->write_error = rc;
}

/* Keeps what was before, with a mark that says why as its last sample. */
static void keep(struct recorder *r, const struct pt_cause *cause, bool is_end) {
    if (r->o->blackbox.bound_bytes == 0)
        return;
    pt_mark_fill(&r->mark_sample, r->mark_table, pt_str_from(cause->text));
    r->has_lost |= pt_blackbox_keep(&r->blackbox, cause, &r->mark_sample, is_end) != 0;
}

static void keep_on_request(struct recorder *r, const char *who, const char *text) {
    struct pt_cause cause = { .kind = PT_CAUSE_REQUEST };
    snprintf(cause.text, sizeof cause.text, "%s: %.200s", who, text);
    keep(r, &cause, false);
}

static void keep_if_worth(struct recorder *r, const struct pt_sample *sample) {
    struct pt_cause cause;
    if (pt_blackbox_see(&r->blackbox, sample, &cause))
        keep(r, &cause, false);
}

static void write_static(struct recorder *r);

static void write_samples(struct recorder *r) {
    struct pt_sample *sample;
    while ((sample = pt_sample_queue_take(&r->sampler.queue))) {
        pt_push_fill(r->push, sample);
        note_write(r, pt_ring_write(&r->ring, sample));
        if (pt_alerts_see(&r->alerts, sample)) {
            note_write(r, pt_ring_write(&r->ring, &r->alerts.changes));
            pt_alert_command_see(&r->alert_command, &r->alerts.changes);
            keep_if_worth(r, &r->alerts.changes);
        }
        keep_if_worth(r, sample);
        pt_death_see(&r->death, sample);
        pt_status_see(&r->status, sample);
        pt_push_sample(r->push, sample);
        if (pt_engine_infos_see(&r->engines, sample))
            write_static(r);
        pt_sample_queue_give_back(&r->sampler.queue, sample);
    }
}

static void write_marks(struct recorder *r) {
    char text[PT_MARK_MAX + 1];
    struct pt_str mark;
    while (pt_marks_next(&r->marks, &mark, text)) {
        bool must_keep = mark.len > 0 && mark.at[0] == PT_MARK_KEEP;
        mark = pt_str_skip(mark, must_keep);
        pt_mark_fill(&r->mark_sample, r->mark_table, mark);
        note_write(r, pt_ring_write(&r->ring, &r->mark_sample));
        pt_log(PT_LOG_INFO, "mark: %s", mark.at);
        if (must_keep)
            keep_on_request(r, "mark", mark.at);
    }
}

static void note_file(struct recorder *r, const char *key, const char *path) {
    struct pt_text text = { 0 };
    struct pt_scan scan;
    if (!pt_fs_read(AT_FDCWD, path, &text, &scan))
        note_write(r, pt_ring_note(&r->ring, pt_str_from(key), pt_scan_rest(&scan)));
    pt_text_release(&text);
}

/* Of a collector that is on, or NULL. */
static void *collector_state(const struct pt_sampler *s, const struct pt_collector *type) {
    for (int i = 0; i < s->collector_count; i++)
        if (s->collectors[i].type == type && s->collectors[i].is_on)
            return s->collectors[i].state;
    return NULL;
}

static void write_static(struct recorder *r) {
    const struct pt_recorder_options *o = r->o;
    const char *collectors[PT_SAMPLER_COLLECTORS + 1] = { 0 };
    const char *formats[PT_EXPORT_FORMATS + 1] = { 0 };
    char directory[PATH_MAX];
    for (int i = 0, n = 0; pt_collectors[i]; i++)
        if (o->is_enabled[i])
            collectors[n++] = pt_collectors[i]->name;
    for (int i = 0; i < o->formats.count; i++)
        formats[i] = o->formats.types[i]->name;
    const char **tags = pt_calloc(o->tag_count + 1, sizeof *tags);
    if (o->tag_count > 0)
        memcpy(tags, o->tags, o->tag_count * sizeof *tags);
    struct pt_static_options options = {
        .fs = &o->fs,
        .uuid = r->uuid_text,
        .start_wall_ns = r->start_wall_ns,
        .interval_ns = o->interval_ns,
        .own_argv = o->own_argv,
        .command = o->command,
        .working_directory = getcwd(directory, sizeof directory),
        .environment = o->command ? environ : NULL,
        .own_environment = environ,
        .collectors = collectors,
        .formats = formats,
        .tags = tags,
        .put_gpus = pt_gpu_put_static,
        .gpus = collector_state(&r->sampler, &pt_gpu_collector),
        .put_engines = pt_engine_infos_put,
        .engines = &r->engines,
    };
    struct pt_out out;
    struct pt_err err;
    int rc = pt_out_create(&out, r->static_path, &err);
    if (!rc) {
        pt_static_write(&out, &options);
        rc = pt_out_close(&out);
        pt_fail(&err, rc, "cannot write %s: %s", r->static_path, strerror(-rc));
    }
    if (rc) {
        pt_log(PT_LOG_ERROR, "%s", err.text);
        r->has_lost = true;
    } else {
        note_file(r, "static", r->static_path);
    }
    pt_free(tags);
}

static void write_energy_basis(struct recorder *r) {
    struct pt_buf text = { 0 };
    r->energy = r->o->energy;
    r->energy.has_command = (struct pt_given){ true, r->o->command != NULL };
    pt_machine_describe(&r->o->fs, &r->energy);
    pt_energy_basis_write(&r->energy, &text);
    note_write(r, pt_ring_note(&r->ring, PT_STR(PT_ENERGY_NOTE), pt_buf_as_str(&text)));
    pt_buf_release(&text);
}

static void ask_to_stop(struct recorder *r, const char *reason) {
    if (!r->must_stop)
        r->end_reason = reason;
    r->must_stop = true;
}

static void handle_signal(struct recorder *r, const struct signalfd_siginfo *info) {
    if (info->ssi_signo == SIGCHLD)
        pt_alert_command_check(&r->alert_command, pt_mono_ns());
    if (info->ssi_signo == SIGUSR1 && r->o->blackbox.bound_bytes > 0)
        keep_on_request(r, "signal", "SIGUSR1");
    else if (pt_stopping_take(&r->stopping, info))
        ask_to_stop(r, "interrupted");
}

static void handle_signals(struct recorder *r) {
    struct signalfd_siginfo info;
    while (read(r->signal_fd, &info, sizeof info) == sizeof info)
        handle_signal(r, &info);
}

static void check_container(struct recorder *r, int64_t now_ns) {
    if (!r->o->container || now_ns - r->container_checked_ns < PT_NS_PER_SECOND)
        return;
    r->container_checked_ns = now_ns;
    pid_t pid;
    if (pt_cgroup_pids(&r->o->fs, r->target.container, &pid, 1) <= 0)
        ask_to_stop(r, "the container ended");
}

static void check_targets(struct recorder *r, const struct pollfd *polled) {
    int alive = 0;
    for (int i = 0; i < r->o->pid_count; i++) {
        if (r->target_fds[i] >= 0 && polled[i].revents) {
            close(r->target_fds[i]);
            r->target_fds[i] = -1;
        }
        alive += r->target_fds[i] >= 0;
    }
    if (r->o->pid_count > 0 && alive == 0)
        ask_to_stop(r, "the watched process ended");
}

static int64_t next_deadline(const struct recorder *r, int64_t now_ns) {
    int64_t deadline = now_ns + 60 * PT_NS_PER_SECOND;
    if (r->o->duration_ns && r->start_ns + r->o->duration_ns < deadline)
        deadline = r->start_ns + r->o->duration_ns;
    int64_t command_ns = pt_alert_command_deadline(&r->alert_command);
    deadline = command_ns < deadline ? command_ns : deadline;
    if (r->o->container && r->container_checked_ns + PT_NS_PER_SECOND < deadline)
        deadline = r->container_checked_ns + PT_NS_PER_SECOND;
    int64_t stopping_ns = pt_stopping_deadline(&r->stopping);
    deadline = stopping_ns < deadline ? stopping_ns : deadline;
    return deadline > now_ns ? deadline : now_ns;
}

static void wait_for_events(struct recorder *r, bool is_recording) {
    struct pollfd polled[3 + PT_TARGET_PIDS] = {
        { .fd = r->signal_fd, .events = POLLIN },
        { .fd = is_recording ? r->sampler.queue.event_fd : -1, .events = POLLIN },
        { .fd = is_recording ? r->marks.fd : -1, .events = POLLIN },
    };
    for (int i = 0; i < r->o->pid_count; i++)
        polled[3 + i] = (struct pollfd){ .fd = r->target_fds[i], .events = POLLIN };
    int64_t now_ns = pt_mono_ns(), left_ns = next_deadline(r, now_ns) - now_ns;
    struct timespec timeout = { left_ns / PT_NS_PER_SECOND, left_ns % PT_NS_PER_SECOND };
    if (ppoll(polled, (nfds_t)(3 + r->o->pid_count), &timeout, NULL) <= 0)
        return;
    if (polled[0].revents)
        handle_signals(r);
    if (polled[1].revents)
        write_samples(r);
    if (polled[2].revents)
        write_marks(r);
    check_targets(r, polled + 3);
}

/* Why the command ended, unless it ended well: said in the journal, and a reason to keep it. */
static void note_death(struct recorder *r) {
    struct pt_cause cause;
    struct pt_buf text = { 0 };
    if (!r->o->command || !r->child.has_ended)
        return;
    pt_death_find(&r->death, r->child.wait_status, &cause);
    if (cause.kind == PT_CAUSE_NONE)
        return;
    pt_cause_write(&cause, &text);
    note_write(r, pt_ring_note(&r->ring, PT_STR(PT_CAUSE_NOTE), pt_buf_as_str(&text)));
    pt_buf_release(&text);
    keep(r, &cause, true);
}

static void record(struct recorder *r) {
    while (!r->must_stop) {
        wait_for_events(r, true);
        int64_t now_ns = pt_mono_ns();
        pt_stopping_escalate(&r->stopping, now_ns);
        pt_alert_command_check(&r->alert_command, now_ns);
        check_container(r, now_ns);
        if (r->o->command && r->child.has_ended)
            ask_to_stop(r, "the command ended");
        if (r->o->duration_ns && now_ns - r->start_ns >= r->o->duration_ns)
            ask_to_stop(r, "the duration is over");
    }
    pt_sampler_stop(&r->sampler);
    pt_run_profile_stop(&r->profile);
    pt_child_collect(&r->child);
    pt_run_heap_stop(&r->heap);
    write_samples(r);
    write_marks(r);
    note_death(r);
    pt_alert_command_finish(&r->alert_command);
    pt_push_flush(r->push);
}

/* After -d the command goes on without us; its exit code is still ours to hand on. */
static void wait_for_command(struct recorder *r) {
    if (r->o->command && !r->child.has_ended)
        pt_log(PT_LOG_WARNING, "recording is over; waiting for the command (process %d) to end",
               (int)r->child.pid);
    while (r->o->command && !r->child.has_ended) {
        wait_for_events(r, false);
        pt_stopping_escalate(&r->stopping, pt_mono_ns());
    }
    pt_child_collect(&r->child);
}

static int run_command(struct recorder *r, struct pt_err *err) {
    struct pollfd first = { .fd = r->sampler.queue.event_fd, .events = POLLIN };
    poll(&first, 1, 5000); /* the sample at t = 0 shows the machine before the command */
    write_samples(r);
    if (!r->o->command)
        return 0;
    return pt_child_release(&r->child, what_runs(r)[0], err);
}

/* Before the command is made, whose environment it may change. */
static void choose_profile(struct recorder *r) {
    struct pt_run_profile_options options = { .fs = &r->o->fs,
                                              .rate_hz = r->o->cpu_hz,
                                              .method = r->o->cpu_method,
                                              .program = r->o->command ? r->o->command[0] : NULL,
                                              .directory = r->o->directory,
                                              .name = r->uuid_text };
    if (r->o->cpu_hz > 0)
        pt_run_profile_choose(&r->profile, &options);
}

static int start(struct recorder *r, struct pt_err *err) {
    r->has_raised_limit = pt_descriptors_raise(&r->old_limit);
    int rc = name_files(r, err);
    if (!rc)
        rc = block_signals(r, err);
    if (!rc)
        rc = open_targets(r, err);
    if (!rc)
        rc = prepare_gpu_trace(r, err);
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
    /* before the sampler, which leaves out what it costs */
    pt_run_profile_start(&r->profile, r->target.pids, (size_t)r->target.pid_count);
    pt_run_heap_start(&r->heap);
    rc = pt_sampler_start(&r->sampler, err);
    if (rc)
        return rc;
    r->start_ns = r->sampler.start_ns;
    r->start_wall_ns = pt_wall_ns();
    return run_command(r, err);
}

struct ending {
    struct recorder *recorder;
    struct pt_summary summary;
};

static void begin_summary(void *user, const struct pt_journal_reader *reader) {
    struct ending *e = user;
    pt_summary_init(&e->summary, &reader->schema);
}

static void add_to_summary(void *user, const struct pt_sample *sample) {
    struct ending *e = user;
    pt_summary_add(&e->summary, sample);
}

static void describe_command(const struct recorder *r, char *into, size_t capacity) {
    struct pt_cause cause;
    pt_death_find(&r->death, r->child.wait_status, &cause);
    if (!r->o->command)
        snprintf(into, capacity, "%s", r->end_reason ? r->end_reason : "");
    else if (!r->child.has_ended)
        snprintf(into, capacity, "the command still runs");
    else if (cause.kind == PT_CAUSE_NONE)
        snprintf(into, capacity, "the command exited with 0");
    else
        snprintf(into, capacity, "%s", cause.text);
}

static void print_summary(void *user, const struct pt_journal_reader *reader) {
    struct ending *e = user;
    struct recorder *r = e->recorder;
    if (!r->o->is_quiet && pt_log_is_ready(PRINT_WAIT_MS)) {
        struct pt_out out;
        char what[sizeof(struct pt_cause)];
        double seconds = (double)(e->summary.last_mono_ns - e->summary.first_mono_ns) / 1e9;
        describe_command(r, what, sizeof what);
        e->summary.energy_basis = r->energy;
        pt_out_borrow(&out, STDERR_FILENO);
        pt_out_printf(&out, "\nRecorded %.1f s, %llu samples; %s.\n", seconds,
                      (unsigned long long)e->summary.sample_count, what);
        if (reader->lost_sample_count > 0)
            pt_out_printf(&out, "%llu samples could not be written.\n",
                          (unsigned long long)reader->lost_sample_count);
        pt_summary_print(&e->summary, &out, strcmp(nl_langinfo(CODESET), "UTF-8") == 0);
        pt_out_close(&out);
    }
    pt_summary_release(&e->summary);
}

/* The run is whole without the page: what keeps it from being written is told, no more. */
static bool write_report(struct recorder *r) {
    struct pt_err err = { "" };
    char path[PATH_MAX];
    if (!r->o->wants_report)
        return false;
    struct pt_report_options options = { .journal = r->journal_path, .path = path };
    int rc = snprintf(path, sizeof path, "%s/%s.html", r->o->directory, r->uuid_text) < PATH_MAX
                 ? pt_report_write(&options, &err)
                 : pt_fail(&err, -ENAMETOOLONG, "the path of the report is too long");
    if (rc) {
        pt_log(PT_LOG_ERROR, "%s", err.text);
        r->has_lost = true;
    }
    return !rc;
}

/* Of a black box nothing else is made: its other formats would have no bound. */
static const struct pt_export_formats *formats_of(const struct recorder *r) {
    static const struct pt_export_formats none = { .count = 0 };
    return r->o->blackbox.bound_bytes > 0 ? &none : &r->o->formats;
}

static void print_files(const struct recorder *r, bool has_report) {
    if (r->o->is_quiet || !pt_log_is_ready(PRINT_WAIT_MS))
        return;
    const struct pt_export_formats *formats = formats_of(r);
    char list[128];
    snprintf(list, sizeof list, r->o->blackbox.bound_bytes > 0 ? "ring" : "pitot");
    for (int i = 0; i < formats->count; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), ", %s", formats->types[i]->name);
    if (has_report)
        snprintf(list + strlen(list), sizeof list - strlen(list), ", html");
    struct pt_out out;
    pt_out_borrow(&out, STDERR_FILENO);
    pt_out_printf(&out, "Files: %s/%s.* (%s)\n", r->o->directory, r->uuid_text, list);
    pt_run_profile_print(&r->profile, &out);
    pt_run_heap_print(&r->heap, &out);
    pt_gpu_trace_print(&r->gpu, r->o->gpu_rows, &out);
    (void)pt_out_close(&out);
}

/* Closes the journal and makes everything else from it. */
static void finish(struct recorder *r) {
    pt_status_release(&r->status);
    struct pt_str reason = pt_str_from(r->end_reason ? r->end_reason : "");
    note_write(r, pt_ring_note(&r->ring, PT_STR("end"), reason));
    int rc = pt_ring_close(&r->ring);
    if (rc && rc != r->write_error)
        pt_log(PT_LOG_ERROR, "cannot write %s: %s", r->journal_path, strerror(-rc));
    r->has_lost |= rc != 0;
    r->has_lost |= pt_gpu_trace_import(&r->gpu, r->journal_path) != 0;

    struct ending ending = { .recorder = r };
    struct pt_export_observer observer = { &ending, begin_summary, add_to_summary, print_summary };
    struct pt_export_result result;
    struct pt_err err = { "" };
    rc = pt_export(r->journal_path, formats_of(r), r->o->directory, r->uuid_text, &observer,
                   &result, &err);
    if (rc) {
        pt_log(PT_LOG_ERROR, "%s; the journal %s is kept: pitot export makes the files from it",
               err.text, r->journal_path);
        r->has_lost = true;
    }
    r->has_lost |= pt_run_profile_save(&r->profile, r->o->command, r->target.pids,
                                       (size_t)r->target.pid_count) != 0;
    r->has_lost |= pt_run_heap_save(&r->heap) != 0;
    print_files(r, write_report(r));
    pt_push_close(r->push, pt_mono_ns() + PUSH_GRACE_NS);
    r->push = NULL;
}

static void release(struct recorder *r) {
    pt_push_close(r->push, 0);
    pt_regions_remove(&r->regions);
    pt_status_release(&r->status);
    pt_marks_close(&r->marks);
    pt_run_profile_release(&r->profile);
    pt_run_heap_release(&r->heap);
    pt_gpu_trace_release(&r->gpu);
    pt_alerts_close(&r->alerts);
    if (r->sampler.collector_count > 0)
        pt_sampler_release(&r->sampler);
    if (r->mark_sample.batches)
        pt_sample_release(&r->mark_sample);
    for (int i = 0; i < r->o->pid_count; i++)
        if (r->target_fds[i] >= 0)
            close(r->target_fds[i]);
    if (r->signal_fd >= 0)
        close(r->signal_fd);
    pt_child_close(&r->child);
}

/* What could not be started leaves no half run behind. */
static int give_up(struct recorder *r, int rc, const struct pt_err *err) {
    pt_sampler_stop(&r->sampler);
    pt_status_release(&r->status);
    bool is_exec_failure = r->child.pid > 0 && r->sampler.start_ns && r->child.barrier_fd < 0;
    if (r->ring.schema)
        (void)pt_ring_close(&r->ring);
    pt_marks_close(&r->marks); /* else its FIFO keeps the directory from being removed */
    pt_gpu_trace_release(&r->gpu);
    if (r->journal_path[0])
        remove_files(r);
    pt_log(PT_LOG_ERROR, "%s", err->text);
    release(r);
    if (!is_exec_failure)
        return PT_EXIT_OWN_FAILURE;
    return pt_child_failure_code(rc);
}

static int exit_code(const struct recorder *r) {
    int code = r->o->command ? pt_child_exit_code(&r->child) : 0;
    return code == 0 && r->has_lost ? PT_EXIT_OWN_FAILURE : code;
}

int pt_recorder_run(const struct pt_recorder_options *options) {
    struct recorder *r = pt_calloc(1, sizeof *r);
    struct pt_err err = { "" };
    r->o = options;
    r->alert_command.command = options->alert_command;
    r->alert_command.run = r->journal_path;
    r->blackbox = (struct pt_blackbox){ options->blackbox, options->directory, &r->ring, 0, 0, 0 };
    r->signal_fd = r->marks.fd = -1;
    pt_child_init(&r->child);
    /* a profiler of GPUs writes its report when the command has ended, which may take minutes */
    r->stopping = (struct pt_stopping){ .child = options->command ? &r->child : NULL,
                                        .is_patient = options->gpu_tool != NULL };
    for (int i = 0; i < PT_TARGET_PIDS; i++)
        r->target_fds[i] = -1;

    int code, rc = start(r, &err);
    if (rc) {
        code = give_up(r, rc, &err);
    } else {
        write_static(r);
        write_energy_basis(r);
        record(r);
        finish(r);
        wait_for_command(r);
        release(r);
        code = exit_code(r);
    }
    pt_free(r);
    return code;
}
