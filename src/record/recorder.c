#include "record/recorder_state.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "launch/outlast.h"
#include "source/kernel/cgroup.h"
#include "source/kernel/cpuinfo.h"
#include "source/kernel/pid.h"
#include "store/run.h"
#include "store/static_field.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

void pt_recorder_note_write(struct pt_recorder *r, int rc) {
    if (rc) {
        r->has_lost = true;
        if (rc != r->write_error)
            pt_log(PT_LOG_ERROR, "cannot write %s: %s; samples are lost until writing works again",
                   r->journal_path, strerror(-rc));
    } else if (r->write_error) {
        pt_log(PT_LOG_WARNING, "writing to %s works again", r->journal_path);
    }
    r->write_error = rc;
}

/* Keeps the minutes before, with a mark that gives the reason as the last sample. */
static void keep(struct pt_recorder *r, const struct pt_cause *cause, bool is_end) {
    if (r->o->blackbox.bound_bytes == 0)
        return;
    pt_mark_fill(&r->mark_sample, r->mark_table, pt_str_from(cause->text));
    r->has_lost |= pt_blackbox_keep(&r->blackbox, cause, &r->mark_sample, is_end) != 0;
}

static void keep_on_request(struct pt_recorder *r, const char *who, const char *text) {
    struct pt_cause cause = { .kind = PT_CAUSE_REQUEST };
    snprintf(cause.text, sizeof cause.text, "%s: %.200s", who, text);
    keep(r, &cause, false);
}

static void keep_if_worth(struct pt_recorder *r, const struct pt_sample *sample) {
    struct pt_cause cause;
    if (pt_blackbox_see(&r->blackbox, sample, &cause))
        keep(r, &cause, false);
}

static void write_samples(struct pt_recorder *r) {
    struct pt_sample *sample;
    while ((sample = pt_sample_queue_take(&r->sampler.queue))) {
        pt_push_fill(r->push, sample);
        pt_recorder_note_write(r, pt_ring_write(&r->ring, sample));
        if (pt_alerts_check(&r->alerts, sample)) {
            pt_recorder_note_write(r, pt_ring_write(&r->ring, &r->alerts.changes));
            pt_alert_command_add(&r->alert_command, &r->alerts.changes);
            keep_if_worth(r, &r->alerts.changes);
        }
        keep_if_worth(r, sample);
        pt_death_see(&r->death, sample);
        pt_status_see(&r->status, sample);
        pt_push_sample(r->push, sample);
        if (pt_engine_infos_add(&r->engines, sample))
            pt_recorder_write_static(r);
        pt_sample_queue_give_back(&r->sampler.queue, sample);
    }
}

static void write_marks(struct pt_recorder *r) {
    char text[PT_MARK_SPACE];
    struct pt_str mark;
    bool must_keep;
    while (pt_marks_next(&r->marks, &mark, &must_keep, text)) {
        pt_mark_fill(&r->mark_sample, r->mark_table, mark);
        pt_recorder_note_write(r, pt_ring_write(&r->ring, &r->mark_sample));
        pt_log(PT_LOG_INFO, "mark: %s", mark.at);
        if (must_keep)
            keep_on_request(r, "mark", mark.at);
    }
}

static struct pt_given count_of(int count) {
    return (struct pt_given){ count > 0, count };
}

/* Properties of the machine for power models; the rest stays unknown. */
static void describe_machine(const struct pt_fs *fs, struct pt_energy_basis *b) {
    struct pt_text buffer = { 0 };
    struct pt_scan text;
    struct pt_cpuinfo cpu;
    int64_t bytes;
    if (!pt_fs_read(fs->proc, "cpuinfo", &buffer, &text)) {
        pt_cpuinfo_parse(text, &cpu);
        pt_str_copy(b->cpu_type, sizeof b->cpu_type, pt_str_from(cpu.type));
        b->cpu_threads = count_of(cpu.processor_count);
        b->cpu_sockets = count_of(cpu.socket_count);
        bool is_guest = cpu.is_guest || faccessat(fs->proc, "device-tree/hypervisor", F_OK, 0) == 0;
        b->is_guest = (struct pt_given){ is_guest || cpu.is_x86, is_guest };
    }
    if (!pt_fs_read(fs->proc, "meminfo", &buffer, &text) &&
        !pt_static_find_kib(text, PT_STR("MemTotal:"), &bytes) && bytes > 0)
        b->memory_bytes = (struct pt_given){ true, (double)bytes };
    pt_text_release(&buffer);
}

static void write_energy_basis(struct pt_recorder *r) {
    struct pt_buf text = { 0 };
    r->energy = r->o->energy;
    r->energy.has_command = (struct pt_given){ true, r->o->command != NULL };
    describe_machine(&r->o->fs, &r->energy);
    pt_energy_basis_write(&r->energy, &text);
    pt_recorder_note_write(r, pt_ring_note(&r->ring, PT_STR(PT_ENERGY_NOTE), pt_buf_as_str(&text)));
    pt_buf_release(&text);
}

static void write_subject(struct pt_recorder *r) {
    struct pt_buf text = { 0 };
    pt_subject_write(&r->subject, &text);
    pt_recorder_note_write(r,
                           pt_ring_note(&r->ring, PT_STR(PT_SUBJECT_NOTE), pt_buf_as_str(&text)));
    pt_buf_release(&text);
}

static void ask_to_stop(struct pt_recorder *r, const char *reason) {
    if (!r->must_stop)
        r->end_reason = reason;
    r->must_stop = true;
}

static void handle_signal(struct pt_recorder *r, const struct signalfd_siginfo *info) {
    if (info->ssi_signo == SIGCHLD)
        pt_alert_command_check(&r->alert_command, pt_mono_ns());
    if (info->ssi_signo == SIGUSR1 && r->o->blackbox.bound_bytes > 0)
        keep_on_request(r, "signal", "SIGUSR1");
    else if (pt_stopping_take(&r->stopping, info))
        ask_to_stop(r, "interrupted");
}

static void check_container(struct pt_recorder *r, int64_t now_ns) {
    if (!r->o->container || now_ns - r->looked_ns < PT_NS_PER_SECOND)
        return;
    r->looked_ns = now_ns;
    pid_t pid;
    if (pt_cgroup_pids(&r->o->fs, r->target.container, &pid, 1) <= 0)
        ask_to_stop(r, "the container ended");
}

static void check_targets(struct pt_recorder *r, const struct pollfd *polled) {
    int alive = 0;
    for (int i = 0; i < r->o->pid_count; i++) {
        if (r->target_fds[i] >= 0 && polled[i].revents) {
            close(r->target_fds[i]);
            r->target_fds[i] = -1;
        }
        alive += r->target_fds[i] >= 0;
    }
    if (r->o->pid_count > 0 && alive == 0 && r->o->fs.is_live)
        ask_to_stop(r, "the watched process ended");
}

/* Processes of another /proc have no descriptors: they are looked up once a second. */
static void check_foreign_targets(struct pt_recorder *r, int64_t now_ns) {
    struct pt_err err;
    int alive = 0;
    if (r->o->pid_count == 0 || r->o->fs.is_live || now_ns - r->looked_ns < PT_NS_PER_SECOND)
        return;
    r->looked_ns = now_ns;
    for (int i = 0; i < r->o->pid_count; i++) {
        int64_t start_ticks;
        alive += !pt_pid_check(&r->o->fs, r->o->pids[i], &start_ticks, &err) &&
                 start_ticks == r->target.start_ticks[i];
    }
    if (alive == 0)
        ask_to_stop(r, "the watched process ended");
}

static int64_t next_deadline(const struct pt_recorder *r, int64_t now_ns) {
    int64_t deadline = now_ns + 60 * PT_NS_PER_SECOND;
    if (r->o->duration_ns && !r->is_past_duration && r->start_ns + r->o->duration_ns < deadline)
        deadline = r->start_ns + r->o->duration_ns;
    int64_t command_ns = pt_alert_command_deadline(&r->alert_command);
    deadline = command_ns < deadline ? command_ns : deadline;
    bool must_look = r->o->container || (r->o->pid_count > 0 && !r->o->fs.is_live);
    if (must_look && r->looked_ns + PT_NS_PER_SECOND < deadline)
        deadline = r->looked_ns + PT_NS_PER_SECOND;
    int64_t stopping_ns = pt_stopping_deadline(&r->stopping);
    deadline = stopping_ns < deadline ? stopping_ns : deadline;
    return deadline > now_ns ? deadline : now_ns;
}

static void wait_for_events(struct pt_recorder *r) {
    struct pollfd polled[3 + PT_TARGET_PIDS] = {
        { .fd = r->signal_fd, .events = POLLIN },
        { .fd = r->sampler.queue.event_fd, .events = POLLIN },
        { .fd = r->marks.fd, .events = POLLIN },
    };
    for (int i = 0; i < r->o->pid_count; i++)
        polled[3 + i] = (struct pollfd){ .fd = r->target_fds[i], .events = POLLIN };
    int64_t now_ns = pt_mono_ns(), left_ns = next_deadline(r, now_ns) - now_ns;
    struct timespec timeout = { left_ns / PT_NS_PER_SECOND, left_ns % PT_NS_PER_SECOND };
    if (ppoll(polled, (nfds_t)(3 + r->o->pid_count), &timeout, NULL) <= 0)
        return;
    struct signalfd_siginfo info;
    while (polled[0].revents && read(r->signal_fd, &info, sizeof info) == sizeof info)
        handle_signal(r, &info);
    if (polled[1].revents)
        write_samples(r);
    if (polled[2].revents)
        write_marks(r);
    check_targets(r, polled + 3);
}

/* If the command failed: a mark in the journal, and a reason to keep the last minutes. */
static void note_death(struct pt_recorder *r) {
    struct pt_cause cause;
    struct pt_buf text = { 0 };
    if (!r->o->command || !r->child.has_ended || r->is_past_duration)
        return;
    pt_death_find(&r->death, r->child.wait_status, &cause);
    if (cause.kind == PT_CAUSE_NONE)
        return;
    pt_cause_write(&cause, &text);
    pt_recorder_note_write(r, pt_ring_note(&r->ring, PT_STR(PT_CAUSE_NOTE), pt_buf_as_str(&text)));
    pt_buf_release(&text);
    keep(r, &cause, true);
}

static bool has_passed(const struct pt_recorder *r, int64_t now_ns) {
    return r->o->duration_ns && now_ns - r->start_ns >= r->o->duration_ns && !r->is_past_duration;
}

/* A command is recorded until it has ended. */
static void end_at_duration(struct pt_recorder *r, int64_t now_ns) {
    r->is_past_duration = true;
    if (r->o->command && !r->child.has_ended)
        pt_stopping_begin(&r->stopping, now_ns);
    else
        ask_to_stop(r, "the duration has passed");
}

static void record(struct pt_recorder *r) {
    /* samples must be in the journal before somebody is killed for taking the CPUs */
    (void)!pt_thread_hurry();
    while (!r->must_stop) {
        wait_for_events(r);
        int64_t now_ns = pt_mono_ns();
        pt_stopping_escalate(&r->stopping, now_ns);
        pt_alert_command_check(&r->alert_command, now_ns);
        check_container(r, now_ns);
        check_foreign_targets(r, now_ns);
        if (r->o->command && r->child.has_ended)
            ask_to_stop(r, r->is_past_duration ? "the duration has passed" : "the command ended");
        if (has_passed(r, now_ns))
            end_at_duration(r, now_ns);
    }
    pt_sampler_stop(&r->sampler);
    pt_run_profile_stop(&r->profile);
    pt_child_collect(&r->child);
    pt_run_heap_stop(&r->heap);
    write_samples(r);
    write_marks(r);
    note_death(r);
    pt_alert_command_finish(&r->alert_command);
    (void)setpriority(PRIO_PROCESS, 0, r->alert_command.nice_value);
    pt_push_flush(r->push);
}

static int start(struct pt_recorder *r, struct pt_err *err) {
    int rc = pt_recorder_open(r, err);
    if (rc)
        return rc;
    struct pollfd first = { .fd = r->sampler.queue.event_fd, .events = POLLIN };
    poll(&first, 1, 5000); /* the sample at t = 0 shows the machine before the command */
    write_samples(r);
    if (!r->o->command)
        return 0;
    return pt_child_release(&r->child, r->argv[0], err);
}

static void release(struct pt_recorder *r) {
    pt_outlast_set(NULL, -1);
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
    pt_stopping_close(&r->stopping);
    pt_child_close(&r->child);
}

/* A recording that failed to start leaves no incomplete run. */
static int give_up(struct pt_recorder *r, int rc, const struct pt_err *err) {
    pt_sampler_stop(&r->sampler);
    pt_status_release(&r->status);
    bool is_exec_failure = r->child.pid > 0 && r->sampler.start_ns && r->child.barrier_fd < 0;
    if (r->ring.schema)
        (void)pt_ring_close(&r->ring);
    pt_marks_close(&r->marks); /* else its FIFO would prevent removing the directory */
    pt_gpu_trace_release(&r->gpu);
    if (r->journal_path[0]) {
        pt_ring_remove(r->journal_path);
        unlink(r->static_path);
        pt_run_heap_remove(&r->heap);
        pt_run_remove_directory(r->o->directory, r->made_directory_from);
    }
    pt_log(PT_LOG_ERROR, "%s", err->text);
    release(r);
    return is_exec_failure ? pt_child_failure_code(rc) : PT_EXIT_OWN_FAILURE;
}

int pt_recorder_run(const struct pt_recorder_options *options) {
    struct pt_recorder *r = pt_calloc(1, sizeof *r);
    struct pt_err err = { "" };
    r->o = options;
    r->alert_command.command = options->alert_command;
    r->alert_command.run = r->journal_path;
    r->alert_command.nice_value = getpriority(PRIO_PROCESS, 0);
    r->blackbox = (struct pt_blackbox){ options->blackbox, options->directory, &r->ring, 0, 0, 0 };
    r->signal_fd = r->marks.fd = -1;
    pt_child_init(&r->child);
    for (int i = 0; i < PT_TARGET_PIDS; i++)
        r->target_fds[i] = -1;

    int code, rc = start(r, &err);
    if (rc) {
        code = give_up(r, rc, &err);
    } else {
        pt_recorder_write_static(r);
        write_energy_basis(r);
        write_subject(r);
        record(r);
        pt_recorder_finish(r);
        release(r);
        code = r->o->command ? pt_child_exit_code(&r->child) : 0;
        if (code == 0 && r->has_lost)
            code = PT_EXIT_OWN_FAILURE;
    }
    pt_stopping_end_alike(&r->stopping);
    pt_free(r);
    return code;
}
