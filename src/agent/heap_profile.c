#include "agent/heap_profile.h"

#include "agent/child.h"
#include "agent/environment.h"
#include "agent/heap_files.h"
#include "agent/recorder.h"
#include "agent/regions.h"
#include "agent/signals.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/module.h"
#include "profile/leaks.h"
#include "profile/top.h"
#include "profile/writers.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>
#include <uuid.h>

#define READ_EVERY_MS 10 /* the ring of a process must not be full before */
#define LIBRARY       "libpitot-heap"

extern char **environ;

struct run {
    const struct pt_heap_profile_options *o;
    char uuid[37], library[PATH_MAX];
    struct pt_child child;
    struct pt_regions regions;
    struct pt_heap heap;
    struct pt_heap_files files;
    int signal_fd;
    sigset_t old_mask;
    int stop_requests;
};

static int block_signals(struct run *r, struct pt_err *err) {
    r->signal_fd = pt_signals_block(&r->old_mask, err);
    return r->signal_fd < 0 ? r->signal_fd : 0;
}

static int create_child(struct run *r, struct pt_err *err) {
    struct pt_environment e;
    pt_environment_init(&e, environ);
    pt_environment_preload(&e, r->library);
    pt_environment_set(&e, PT_HEAP_DIRECTORY, "%s", r->regions.path);
    pt_environment_set(&e, PT_HEAP_MEAN, "%" PRIu64, r->o->mean_bytes);
    pt_environment_set(&e, PT_HEAP_STACK, "%zu", r->o->stack_bytes);
    pt_environment_set(&e, PT_HEAP_ARENAS, "%d", r->o->counts_mmap);
    if (r->o->wants_python_malloc)
        pt_environment_set(&e, "PYTHONMALLOC", "malloc");
    struct pt_child_options c = {
        .fs = &r->o->fs, .argv = r->o->command, .environment = e.at, .signal_mask = &r->old_mask
    };
    int rc = pt_child_create(&r->child, &c, err);
    pt_environment_release(&e);
    return rc;
}

static void end_command(struct run *r, const struct signalfd_siginfo *info) {
    bool came_from_terminal = info->ssi_code == SI_KERNEL;
    if (r->stop_requests++ > 0)
        pt_child_kill_tree(&r->child);
    else if (!came_from_terminal)
        pt_child_signal(&r->child, (int)info->ssi_signo);
}

static void handle_signal(struct run *r, const struct signalfd_siginfo *info) {
    switch (info->ssi_signo) {
    case SIGCHLD:
        pt_child_reap(&r->child);
        return;
    case SIGINT:
    case SIGTERM:
    case SIGHUP:
    case SIGQUIT:
        end_command(r, info);
        return;
    default:
        if (info->ssi_code != SI_KERNEL)
            pt_child_signal(&r->child, (int)info->ssi_signo);
    }
}

static void wait_for_end(struct run *r) {
    struct signalfd_siginfo info;
    while (!r->child.has_ended) {
        struct pollfd polled = { .fd = r->signal_fd, .events = POLLIN };
        poll(&polled, 1, READ_EVERY_MS);
        while (read(r->signal_fd, &info, sizeof info) == sizeof info)
            handle_signal(r, &info);
        pt_heap_files_look(&r->files);
        pt_heap_files_read(&r->files, false);
    }
    pt_child_collect(&r->child);
    pt_heap_files_look(&r->files);
    pt_heap_files_read(&r->files, true);
    pt_heap_advance(&r->heap, pt_mono_ns());
}

static void set_meta(struct run *r) {
    struct pt_profile_meta *meta = &r->heap.recording.profile.meta;
    char mean[PT_LEAKS_BYTES_TEXT];
    size_t used = 0;
    for (size_t i = 0; r->o->command[i] && used < sizeof meta->command - 1; i++)
        used += (size_t)snprintf(meta->command + used, sizeof meta->command - used, "%s%s",
                                 i ? " " : "", r->o->command[i]);
    if (r->o->mean_bytes == 0)
        snprintf(meta->way, sizeof meta->way, "preload: every allocation");
    else
        snprintf(meta->way, sizeof meta->way, "preload: a sample for each %s on average",
                 pt_leaks_bytes_text((double)r->o->mean_bytes, mean));
    meta->start_wall_ns = r->files.first_wall_ns;
}

/* Why there is nothing to show; NULL if there is. */
static const char *nothing_recorded(const struct run *r) {
    if (r->files.seen_count == 0)
        return "nothing was recorded: the program is static, or setuid, or did not load "
               "libpitot-heap.so";
    if (r->heap.sample_count > 0)
        return NULL;
    if (r->files.own_malloc_count == r->files.seen_count)
        return "nothing was recorded: the program brings its own malloc, which cannot be replaced";
    return r->o->mean_bytes == 0
               ? "nothing was recorded: nothing was allocated"
               : "no sample was taken: too little was allocated by malloc; use --heap all";
}

static void print_sum(const char *name, struct pt_heap_sum sum, struct pt_out *out) {
    char bytes[PT_LEAKS_BYTES_TEXT], error[PT_LEAKS_BYTES_TEXT];
    pt_out_printf(out, "%-10s %s", name, pt_leaks_bytes_text(sum.bytes, bytes));
    if (sum.variance >= 1)
        pt_out_printf(out, " +- %s", pt_leaks_bytes_text(sqrt(sum.variance), error));
    pt_out_printf(out, " in %.0f blocks", fabs(sum.count));
}

/* Live bytes over time, in eighths of the highest. */
static void print_time_line(const struct pt_heap *h, struct pt_out *out) {
    static const char *const levels[] = { "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█" };
    const struct pt_heap_series *s = &h->total_series;
    double most = 0;
    for (uint32_t i = 0; i < s->filled; i++)
        most = fmax(most, (double)s->at[i]);
    if (s->filled < 2 || most <= 0)
        return;
    pt_out_text(out, "live       ");
    for (uint32_t i = 0; i < s->filled; i++)
        pt_out_text(out, levels[(size_t)fmin(7, fmax(0, 8 * (double)s->at[i] / most))]);
    pt_out_printf(out, " (%.3g s each)\n", (double)h->window_ns / 1e9);
}

static struct pt_heap_sum left_over(const struct pt_heap *h) {
    struct pt_heap_sum all = { 0 };
    for (size_t i = 0; i < h->group_count; i++) {
        all.bytes += h->groups[i].live.bytes + h->groups[i].left.bytes;
        all.count += h->groups[i].live.count + h->groups[i].left.count;
        all.variance += h->groups[i].live.variance + h->groups[i].left.variance;
    }
    return all;
}

static double share_of(uint64_t lost, int64_t kept) {
    return 100.0 * (double)lost / ((double)lost + (double)kept);
}

static void print_losses(const struct pt_heap *h, struct pt_out *out) {
    struct pt_heap_losses lost = pt_heap_losses(h);
    if (lost.allocations > 0)
        pt_out_printf(out,
                      "lost: %" PRIu64
                      " samples (%.1f %%), as the ring was full: sums are too low; "
                      "use a larger --heap\n",
                      lost.allocations, share_of(lost.allocations, h->sample_count));
    if (lost.frees > 0)
        pt_out_printf(out, "lost: %" PRIu64 " frees; what they freed looks live\n", lost.frees);
    if (lost.untracked > 0)
        pt_out_printf(out, "not followed to their end: %" PRIu64 " allocations\n", lost.untracked);
    if (lost.stacks > 0)
        pt_out_printf(out, "without a stack: %" PRIu64 " allocations\n", lost.stacks);
}

static void print_figures(const struct run *r, struct pt_out *out) {
    const struct pt_heap *h = &r->heap;
    const struct pt_profile_meta *m = &h->recording.profile.meta;
    pt_out_printf(out, "heap: %s\n", m->way);
    pt_out_printf(out, "samples: %" PRId64 " of %zu processes", h->sample_count,
                  r->files.seen_count);
    if (m->unwound > 0)
        pt_out_printf(out, "; %.1f %% of their stacks reach the root",
                      100.0 * (double)m->rooted / (double)m->unwound);
    pt_out_char(out, '\n');
    print_losses(h, out);
    print_sum("allocated", h->total_allocated, out);
    pt_out_char(out, '\n');
    print_sum("peak", h->total_peak, out);
    pt_out_printf(out, ", after %.3g s\n", (double)(h->peak_mono_ns - h->start_mono_ns) / 1e9);
    print_sum("not freed", left_over(h), out);
    pt_out_char(out, '\n');
    print_time_line(h, out);
}

static void print_tables(const struct run *r, struct pt_out *out) {
    const struct pt_profile *p = &r->heap.recording.profile;
    size_t rows = r->o->top_rows;
    if (rows > 0) {
        struct pt_top top;
        struct pt_top_style style = pt_top_style_of(STDERR_FILENO);
        pt_out_printf(out, "%s bytes by function:\n", p->types[0].name);
        pt_top_make(&top, p);
        pt_top_print(&top, p, rows, &style, out);
        pt_top_release(&top);
    }
    if (r->o->wants_leaks) {
        struct pt_leaks leaks;
        pt_leaks_find(&leaks, &r->heap);
        pt_leaks_print(&leaks, p, rows ? rows : SIZE_MAX, out);
        pt_leaks_release(&leaks);
    }
}

static void print_summary(const struct run *r) {
    struct pt_out out;
    if (r->o->is_quiet || !pt_log_is_ready(1000))
        return;
    pt_out_borrow(&out, STDERR_FILENO);
    print_figures(r, &out);
    print_tables(r, &out);
    (void)pt_out_close(&out);
}

static int write_file(const struct run *r, const char *path) {
    struct pt_err err;
    int rc = pt_profile_write(&r->heap.recording.profile, path, &err);
    if (rc)
        pt_log(PT_LOG_ERROR, "%s", err.text);
    return rc;
}

/* Interactive if there is a writer for that. */
static int write_default(const struct run *r) {
    char path[80];
    const char *ending = pt_profile_writer_for(".html") ? ".html" : ".folded";
    snprintf(path, sizeof path, "pitot-heap-%s%s", r->uuid, ending);
    int rc = write_file(r, path);
    if (!rc && !r->o->is_quiet && pt_log_is_ready(1000)) {
        struct pt_out out;
        pt_out_borrow(&out, STDERR_FILENO);
        pt_out_printf(&out, "profile    %s\n", path);
        (void)pt_out_close(&out);
    }
    return rc;
}

static int write_files(const struct run *r) {
    int rc = 0;
    if (r->o->output_count == 0)
        return write_default(r);
    for (size_t i = 0; i < r->o->output_count; i++)
        if (write_file(r, r->o->outputs[i]))
            rc = -EIO;
    return rc;
}

static int finish(struct run *r) {
    const char *why = nothing_recorded(r);
    if (why) {
        pt_log(PT_LOG_ERROR, "%s", why);
        return -ENODATA;
    }
    if (r->files.own_malloc_count > 0)
        pt_log(PT_LOG_WARNING, "%zu of %zu processes bring their own malloc and are missing",
               r->files.own_malloc_count, r->files.seen_count);
    set_meta(r);
    pt_heap_finish(&r->heap, r->o->metric);
    print_summary(r);
    return write_files(r);
}

static uint32_t add_process(void *state, const struct pt_heap_source *s) {
    return pt_heap_add_process(state, s);
}

static void read_process(void *state, uint32_t process, struct pt_heap_source *s, bool is_over) {
    pt_heap_read(state, process, s, is_over, pt_mono_ns());
}

static int prepare(struct run *r, struct pt_err *err) {
    uuid_t uuid;
    uuid_generate_random(uuid);
    uuid_unparse_lower(uuid, r->uuid);
    int rc = pt_module_find(LIBRARY, r->library, sizeof r->library);
    if (rc)
        return pt_fail(err, rc, LIBRARY ".so is not installed");
    if (strpbrk(r->library, ": "))
        return pt_fail(err, -EINVAL, "%s: LD_PRELOAD takes no path with blanks or colons",
                       r->library);
    pt_regions_make(&r->regions, r->uuid);
    if (!r->regions.path[0])
        return pt_fail(err, -EIO, "cannot make a directory in /dev/shm for what is recorded");
    pt_heap_files_init(&r->files, r->regions.fd_plus_one - 1, PT_HEAP_FILE_ENDING,
                       (struct pt_heap_files_reader){ add_process, read_process, &r->heap });
    return block_signals(r, err);
}

static int run_to_end(struct run *r, struct pt_err *err) {
    int rc = prepare(r, err);
    if (!rc)
        rc = create_child(r, err);
    pt_signals_ignore();
    if (rc) {
        pt_log(PT_LOG_ERROR, "%s", err->text);
        return PT_EXIT_OWN_FAILURE;
    }
    rc = pt_child_release(&r->child, r->o->command[0], err);
    if (rc) {
        pt_log(PT_LOG_ERROR, "%s", err->text);
        return rc == -ENOENT ? PT_EXIT_NOT_FOUND : PT_EXIT_CANNOT_RUN;
    }
    wait_for_end(r);
    rc = finish(r);
    int code = pt_child_exit_code(&r->child);
    return rc && code == 0 ? PT_EXIT_OWN_FAILURE : code;
}

int pt_heap_profile_run(const struct pt_heap_profile_options *options) {
    struct run r = { .o = options, .signal_fd = -1 };
    r.child = (struct pt_child){ .pid_fd = -1, .barrier_fd = -1, .error_fd = -1 };
    struct pt_err err = { "" };
    pt_heap_init(&r.heap, &options->fs);
    int code = run_to_end(&r, &err);
    pt_heap_files_release(&r.files);
    pt_regions_remove(&r.regions);
    pt_heap_release(&r.heap);
    pt_child_close(&r.child);
    if (r.signal_fd >= 0)
        close(r.signal_fd);
    return code;
}
