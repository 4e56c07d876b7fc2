#include "top/session.h"

#include "sampler/alerts.h"
#include "launch/descriptors.h"
#include "sampler/sampler.h"
#include "launch/signals.h"
#include "base/clock.h"
#include "base/mem.h"
#include "store/run.h"
#include "top/replay.h"
#include "top/screen.h"
#include "top/top_view.h"

#include <errno.h>
#include <fcntl.h>
#include <langinfo.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define BUDGET        0.05                    /* of one CPU: the governor's */
#define PLAIN_COLUMNS 120                     /* unless COLUMNS is set */
#define LONG_NS       (60 * PT_NS_PER_SECOND) /* nothing to wait for */
#define FOLLOW_NS     (250 * PT_NS_PER_MS)    /* between checks of a run that may still grow */
#define DRAWN_NS      (40 * PT_NS_PER_MS)     /* a fast replay is not drawn more often */
#define SEEK_NS       (10 * PT_NS_PER_SECOND)
#define FAR_SEEK_NS   (60 * PT_NS_PER_SECOND)
#define SLOWEST       0.125
#define FASTEST       256.0
#define COLUMNS_MIN   20
#define COLUMNS_MAX   1000

struct session {
    const struct pt_top_options *o;
    struct pt_sampler *sampler; /* NULL: a run is replayed */
    struct pt_alerts alerts;    /* of the sampler's samples */
    struct pt_replay replay;
    struct pt_top_model model;
    struct pt_top_view view;
    struct pt_top_view_source source;
    struct pt_canvas canvas;
    const struct pt_screen *screen; /* NULL: text */
    struct pt_out out;
    char name[256];
    int signal_fd;
    int stderr_copy, messages_fd; /* messages logged while the screen is on are printed after it */
    sigset_t old_mask;
    int64_t play_ns, played_at_ns; /* time in the run that is shown, and the clock at that time */
    int64_t printed_ns, shown_count;
    bool must_quit, must_draw;
};

static bool is_over(const struct session *s) {
    return s->o->update_limit > 0 && s->shown_count >= s->o->update_limit;
}

/* Messages must not overwrite the screen: they wait in a pipe; if it is full, they are dropped. */
static void hold_messages(struct session *s) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
        return;
    s->stderr_copy = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0);
    if (s->stderr_copy >= 0)
        dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
    s->messages_fd = ends[0];
}

static void print_messages(struct session *s) {
    char text[4096];
    ssize_t n;
    if (s->stderr_copy >= 0) {
        dup2(s->stderr_copy, STDERR_FILENO);
        close(s->stderr_copy);
    }
    while (s->messages_fd >= 0 && (n = read(s->messages_fd, text, sizeof text)) > 0)
        (void)!write(STDERR_FILENO, text, (size_t)n);
    if (s->messages_fd >= 0)
        close(s->messages_fd);
}

static void update_position(struct session *s) {
    int64_t next_ns;
    if (s->sampler)
        return;
    pt_subject_read(&s->source.subject, &s->replay.reader);
    s->source.position_ns = s->model.rates.mono_ns - s->replay.first_ns;
    s->source.length_ns = s->replay.last_ns - s->replay.first_ns;
    s->source.is_at_end = !pt_replay_peek(&s->replay, &next_ns) && s->replay.reader.is_complete;
}

static void print_text(struct session *s) {
    const char *given = getenv("COLUMNS");
    struct pt_scan text = pt_scan_of(pt_str_from(given ? given : ""));
    int64_t columns = pt_scan_i64(&text);
    if (text.failed || columns < COLUMNS_MIN || columns > COLUMNS_MAX)
        columns = PLAIN_COLUMNS;
    update_position(s);
    pt_canvas_clear(&s->canvas, pt_top_view_rows(&s->view, &s->model), (int)columns);
    int rows = pt_top_view_draw(&s->view, &s->model, &s->source, &s->canvas);
    if (s->shown_count > 0)
        pt_out_char(&s->out, '\n');
    pt_canvas_print(&s->canvas, rows, &s->out);
    s->must_quit |= pt_out_flush(&s->out) != 0;
    s->printed_ns = s->model.rates.mono_ns;
    s->shown_count++;
}

static void see(struct session *s, const struct pt_sample *sample) {
    pt_top_model_add(&s->model, sample);
    pt_top_view_update(&s->view, &s->model);
}

static void take_samples(struct session *s) {
    struct pt_sample *sample;
    while ((sample = pt_sample_queue_take(&s->sampler->queue))) {
        bool is_wanted = !s->source.is_paused && !is_over(s);
        if (is_wanted)
            see(s, sample);
        if (is_wanted && pt_alerts_check(&s->alerts, sample)) /* a recorded run holds its own */
            see(s, &s->alerts.changes);
        pt_sample_queue_give_back(&s->sampler->queue, sample);
        if (!is_wanted)
            continue;
        s->must_draw = true;
        if (s->screen)
            s->shown_count++;
        else if (s->model.sample_count > 1) /* the first sample has no rates */
            print_text(s);
    }
    s->must_quit |= is_over(s);
}

static void feed_until(struct session *s, int64_t mono_ns) {
    const struct pt_sample *sample;
    while ((sample = pt_replay_until(&s->replay, mono_ns)))
        see(s, sample);
}

static void seek(struct session *s, int64_t mono_ns) {
    if (mono_ns > s->replay.last_ns)
        mono_ns = s->replay.last_ns;
    if (mono_ns < s->replay.first_ns)
        mono_ns = s->replay.first_ns;
    pt_top_model_clear(&s->model);
    pt_top_view_forget(&s->view);
    pt_replay_seek(&s->replay, mono_ns);
    feed_until(s, mono_ns);
    s->play_ns = mono_ns;
    if (s->model.sample_count == 0 && pt_replay_peek(&s->replay, &mono_ns))
        feed_until(s, s->play_ns = mono_ns); /* no samples are left of that time */
    s->played_at_ns = pt_mono_ns();
    s->must_draw = true;
}

static void play(struct session *s) {
    int64_t now_ns = pt_mono_ns(), next_ns;
    uint64_t before = s->model.sample_count;
    if (s->source.is_paused) {
        s->played_at_ns = now_ns;
        return;
    }
    s->play_ns += (int64_t)((double)(now_ns - s->played_at_ns) * s->source.speed);
    s->played_at_ns = now_ns;
    feed_until(s, s->play_ns);
    if (!pt_replay_peek(&s->replay, &next_ns) && s->play_ns > s->replay.last_ns)
        s->play_ns = s->replay.last_ns; /* waits for more samples */
    if (s->model.sample_count == before)
        return;
    s->must_draw = true;
    s->shown_count++;
    s->must_quit |= is_over(s);
}

/* How long to sleep until the next sample of the run is due. */
static int64_t replay_wait_ns(struct session *s) {
    int64_t next_ns;
    if (s->source.is_paused)
        return LONG_NS;
    if (!pt_replay_peek(&s->replay, &next_ns))
        return FOLLOW_NS;
    int64_t wait_ns = (int64_t)((double)(next_ns - s->play_ns) / s->source.speed);
    return wait_ns < DRAWN_NS ? DRAWN_NS : wait_ns > LONG_NS ? LONG_NS : wait_ns;
}

static void change_speed(struct session *s, double factor) {
    double speed = s->source.speed * factor;
    if (speed >= SLOWEST && speed <= FASTEST)
        s->source.speed = speed;
}

static void handle_request(struct session *s, enum pt_top_view_request request) {
    int64_t next_ns;
    switch (request) {
    case PT_REQUEST_NONE:
        return;
    case PT_REQUEST_QUIT:
        s->must_quit = true;
        return;
    case PT_REQUEST_PAUSE:
        s->source.is_paused = !s->source.is_paused;
        return;
    case PT_REQUEST_BACK:
        seek(s, s->play_ns - SEEK_NS);
        return;
    case PT_REQUEST_FORWARD:
        seek(s, s->play_ns + SEEK_NS);
        return;
    case PT_REQUEST_FAR_BACK:
        seek(s, s->play_ns - FAR_SEEK_NS);
        return;
    case PT_REQUEST_FAR_FORWARD:
        seek(s, s->play_ns + FAR_SEEK_NS);
        return;
    case PT_REQUEST_START:
        seek(s, s->replay.first_ns);
        return;
    case PT_REQUEST_END:
        seek(s, s->replay.last_ns);
        return;
    case PT_REQUEST_STEP_BACK:
        s->source.is_paused = true;
        seek(s, s->model.rates.mono_ns - 1);
        return;
    case PT_REQUEST_STEP:
        s->source.is_paused = true;
        if (pt_replay_peek(&s->replay, &next_ns))
            feed_until(s, s->play_ns = next_ns);
        return;
    case PT_REQUEST_FASTER:
        change_speed(s, 2);
        return;
    case PT_REQUEST_SLOWER:
        change_speed(s, 0.5);
        return;
    }
}

static void take_signals(struct session *s) {
    struct signalfd_siginfo info;
    while (read(s->signal_fd, &info, sizeof info) == sizeof info) {
        s->must_draw = true;
        if (info.ssi_signo == SIGTSTP) { /* Ctrl+Z: restore the terminal for the shell */
            if (s->screen)
                s->screen->suspend();
            kill(getpid(), SIGSTOP); /* continues here after fg */
            if (s->screen)
                s->screen->resume();
            s->played_at_ns = pt_mono_ns();
        } else if (info.ssi_signo == SIGCONT && s->screen) {
            s->screen->resume();
        } else if (info.ssi_signo != SIGWINCH && info.ssi_signo != SIGCONT) {
            s->must_quit = true;
        }
    }
}

static void wait_for_events(struct session *s) {
    struct pollfd polled[] = {
        { .fd = s->signal_fd, .events = POLLIN },
        { .fd = s->screen ? STDIN_FILENO : -1, .events = POLLIN },
        { .fd = s->sampler ? s->sampler->queue.event_fd : -1, .events = POLLIN },
    };
    int64_t wait_ns = s->sampler ? LONG_NS : replay_wait_ns(s);
    if (poll(polled, PT_COUNT(polled), (int)(wait_ns / PT_NS_PER_MS)) < 0)
        return;
    if (polled[0].revents)
        take_signals(s);
    if (polled[1].revents & (POLLHUP | POLLERR | POLLNVAL))
        s->must_quit = true; /* the terminal is gone */
    int key;
    while (polled[1].revents && !s->must_quit && (key = s->screen->key()) != PT_KEY_NONE) {
        handle_request(s, pt_top_view_press(&s->view, &s->model, s->source.is_replay, key));
        s->must_draw = true;
    }
    if (polled[2].revents)
        take_samples(s);
}

static void print_run(struct session *s) {
    const struct pt_sample *sample;
    seek(s, s->replay.first_ns + s->o->start_ns);
    if (s->model.sample_count > 1)
        print_text(s);
    while (!s->must_quit && !is_over(s) && (sample = pt_replay_until(&s->replay, INT64_MAX))) {
        see(s, sample);
        bool is_due = !s->printed_ns || s->model.rates.mono_ns - s->printed_ns >= s->o->interval_ns;
        if (s->model.sample_count > 1 && is_due)
            print_text(s);
        take_signals(s);
    }
}

static void run(struct session *s) {
    if (!s->sampler && !s->screen) {
        print_run(s);
        return;
    }
    if (!s->sampler)
        seek(s, s->replay.first_ns + s->o->start_ns);
    s->must_draw = true;
    while (!s->must_quit) {
        if (s->must_draw && s->screen) {
            int rows, columns;
            update_position(s);
            s->screen->size(&rows, &columns);
            pt_canvas_clear(&s->canvas, rows, columns);
            pt_top_view_draw(&s->view, &s->model, &s->source, &s->canvas);
            s->screen->show(&s->canvas);
        }
        s->must_draw = false;
        wait_for_events(s);
        if (!s->sampler)
            play(s);
    }
}

static int open_live(struct session *s, struct pt_err *err) {
    struct rlimit old_limit;
    pt_descriptors_raise(&old_limit);
    struct pt_sampler_options options = { .interval_ns = s->o->interval_ns,
                                          .budget = BUDGET,
                                          .fs = s->o->fs,
                                          .target = &s->o->target,
                                          .engines = &s->o->engines,
                                          .fd_budget = pt_descriptors_budget() };
    for (int i = 0; pt_collectors[i]; i++)
        options.is_enabled[i] = true;
    s->sampler = pt_calloc(1, sizeof *s->sampler);
    if (gethostname(s->name, sizeof s->name - 1))
        snprintf(s->name, sizeof s->name, "this machine");
    int rc = pt_sampler_init(s->sampler, &options, err);
    if (!rc)
        rc = pt_sampler_open(s->sampler, err);
    return rc ? rc : pt_alerts_open(&s->alerts, s->o->alerts, &s->sampler->schema, err);
}

/* Applies the options to the view. */
static int set_view(struct session *s, struct pt_err *err) {
    const struct pt_top_options *o = s->o;
    const struct pt_schema *schema = s->sampler ? &s->sampler->schema : &s->replay.reader.schema;
    pt_top_model_init(&s->model, schema);
    pt_top_view_init(&s->view, schema);
    s->view.is_plain = !s->screen;
    s->view.is_tree = o->is_tree;
    s->view.is_own = o->target.pid_count > 0;
    if (o->panel && !pt_top_view_choose_panel(&s->view, schema, o->panel))
        return pt_fail(err, -EINVAL, "--panel: unknown table '%s' (see pitot schema)", o->panel);
    snprintf(pt_top_view_filter(&s->view), PT_VIEW_FILTER, "%s", o->filter ? o->filter : "");
    if (o->sort && !pt_top_view_sort_by(&s->view, schema, o->sort))
        return pt_fail(err, -EINVAL, "--sort: unknown column '%s' in this panel (see pitot schema)",
                       o->sort);
    return 0;
}

static int open_session(struct session *s, struct pt_err *err) {
    const int handled[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGWINCH, SIGTSTP, SIGCONT };
    const char *kind = getenv("TERM");
    const void *screen = NULL;
    int rc = 0;
    if (isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && kind && strcmp(kind, "dumb") != 0)
        rc = pt_module_open("terminal", PT_SCREEN_VERSION, &screen, err);
    s->screen = screen;
    if (!rc && s->o->journal) { /* before signals are blocked: Ctrl+C ends reading a long run */
        char directory[PATH_MAX], name[NAME_MAX + 1];
        rc = pt_replay_open(&s->replay, s->o->journal, err);
        s->source.is_replay = !rc;
        pt_run_split(s->o->journal, directory, name);
        snprintf(s->name, sizeof s->name, "%.8s", name);
    }
    if (rc)
        return rc;
    /* before any thread starts: threads inherit the mask */
    s->signal_fd = pt_signals_watch(handled, PT_COUNT(handled), &s->old_mask, err);
    pt_signals_ignore();
    if (s->signal_fd < 0)
        return s->signal_fd;
    rc = s->o->journal ? 0 : open_live(s, err);
    return rc ? rc : set_view(s, err);
}

static int begin(struct session *s, struct pt_err *err) {
    if (s->screen) {
        const char *no_colour = getenv("NO_COLOR");
        hold_messages(s);
        int rc = s->screen->open(!no_colour || !*no_colour, err);
        if (rc) {
            s->screen = NULL;
            return rc;
        }
    }
    if (s->sampler)
        pt_sampler_start(s->sampler);
    return 0;
}

static void release(struct session *s) {
    if (s->screen)
        s->screen->close();
    print_messages(s);
    /* these borrow the schema of those below */
    if (s->view.orders) {
        pt_top_view_release(&s->view);
        pt_top_model_release(&s->model);
    }
    if (s->sampler) {
        pt_alerts_close(&s->alerts);
        pt_sampler_stop(s->sampler);
        pt_sampler_release(s->sampler);
        pt_free(s->sampler);
    }
    if (s->source.is_replay)
        pt_replay_close(&s->replay);
    pt_canvas_release(&s->canvas);
    if (s->signal_fd >= 0)
        close(s->signal_fd);
}

int pt_top_run(const struct pt_top_options *options, struct pt_err *err) {
    struct session *s = pt_calloc(1, sizeof *s);
    s->o = options;
    s->signal_fd = s->stderr_copy = s->messages_fd = -1;
    s->source =
        (struct pt_top_view_source){ .name = s->name, .subject = s->o->subject, .speed = 1 };
    s->canvas.is_utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
    pt_out_show(&s->out, STDOUT_FILENO);
    int rc = open_session(s, err);
    if (!rc)
        rc = begin(s, err);
    else
        s->screen = NULL; /* it was not opened */
    if (!rc)
        run(s);
    int out_rc = pt_out_close(&s->out);
    release(s);
    pt_free(s);
    if (!rc && out_rc && out_rc != -EPIPE)
        rc = pt_fail(err, out_rc, "cannot write to standard output: %s", strerror(-out_rc));
    return rc;
}
