#include "serve/service.h"

#include "launch/descriptors.h"
#include "launch/signals.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/module.h"
#include "base/scan.h"
#include "serve/routes.h"
#include "store/run.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#define CONNECTION_MAX  256
#define TIMEOUT_SECONDS 30
#define BODY_BYTES      4096 /* no request needs more */
#define UNREAD_BYTES    ((size_t)1 << 20)
#define PUSH_GRACE_NS   (5 * PT_NS_PER_SECOND) /* to send the rest at the end */
#define TEND_MS         1000
#define LARGE_BYTES     (128 << 10) /* blocks of this size are returned to the kernel when freed */
#define CERTIFICATE_MAX (1 << 20)
#define ACTIVATION_FD   3

static unsigned admits(void *user, const struct pt_http_route *route, const char *from,
                       const char *authorization) {
    struct pt_service *s = user;
    return pt_access_admits(&s->guard, (enum pt_access_level)route->guard, from, authorization,
                            pt_mono_ns());
}

/* Requests that start or stop something are logged whatever their result, also with -q. */
static void on_done(void *user, const struct pt_http_done *done) {
    struct pt_service *s = user;
    pt_metrics_route_count(&s->metrics, done->path, done->status, done->took_ns);
    if (*done->path && strcmp(done->method, "GET") != 0)
        pt_log(PT_LOG_AUDIT, "%s %s%s from %s: %u", done->method, done->path, done->note,
               done->from, done->status);
}

static void on_problem(void *user, const char *text) {
    (void)user;
    pt_log(PT_LOG_DEBUG, "%s", text);
}

static int read_pem(const char *path, struct pt_text *text, const char **pem, struct pt_err *err) {
    struct pt_scan scan;
    int rc = pt_fs_read(AT_FDCWD, path, text, &scan);
    if (rc)
        return pt_fail(err, rc, "cannot read %s: %s", path, strerror(-rc));
    struct pt_str all = pt_scan_rest(&scan);
    if (all.len > CERTIFICATE_MAX || memchr(all.at, 0, all.len))
        return pt_fail(err, -EINVAL, "%s is not a PEM file", path);
    pt_grow(&text->at, &text->capacity, all.len + 1, 1);
    text->at[all.len] = 0;
    *pem = text->at;
    return 0;
}

static int64_t number_in(const char *variable) {
    const char *text = getenv(variable);
    struct pt_scan s = pt_scan_of(pt_str_from(text ? text : ""));
    int64_t number = pt_scan_i64(&s);
    return s.failed || s.at != s.end ? 0 : number;
}

/* The socket that systemd passed (sd_listen_fds(3)), not open if there is none. 0 or -errno with a
 * message (-EINVAL: there are several). Removes the variables from the environment. */
static int take_activation(struct pt_fd *socket, struct pt_err *err) {
    int64_t count = number_in("LISTEN_PID") == getpid() ? number_in("LISTEN_FDS") : 0;
    unsetenv("LISTEN_PID");
    unsetenv("LISTEN_FDS");
    unsetenv("LISTEN_FDNAMES");
    if (count <= 0)
        return 0;
    if (count > 1)
        return pt_fail(err, -EINVAL, "systemd passed %d sockets, only one is supported",
                       (int)count);
    int flags = fcntl(ACTIVATION_FD, F_GETFL);
    if (flags < 0 || fcntl(ACTIVATION_FD, F_SETFD, FD_CLOEXEC) ||
        fcntl(ACTIVATION_FD, F_SETFL, flags | O_NONBLOCK))
        return pt_fail(err, -errno, "LISTEN_FDS does not name an open socket");
    *socket = pt_fd_of(ACTIVATION_FD);
    return 0;
}

static int open_guard(struct pt_service *s, struct pt_fd handed_over, struct pt_err *err) {
    int rc = s->o->token_file ? pt_access_load(&s->guard, s->o->token_file, err) : 0;
    if (rc)
        return rc;
    struct pt_http_address a = { .length = sizeof a };
    socklen_t length = sizeof a;
    s->guard.is_loopback =
        pt_fd_is_open(handed_over)
            ? getsockname(pt_fd_get(handed_over), &a.any, &length) == 0 &&
                  pt_http_address_is_loopback(&a)
            : pt_http_address_parse(&a, s->o->listen, NULL) || pt_http_address_is_loopback(&a);
    if (s->guard.is_loopback || s->o->token_file)
        return 0;
    return pt_fail(
        err, -EACCES,
        "%s is reachable from other machines: this requires --token-file (a line of 16 or "
        "more characters, mode 600)",
        pt_fd_is_open(handed_over) ? "the socket" : s->o->listen);
}

static int open_http(struct pt_service *s, struct pt_err *err) {
    struct pt_text certificate = { 0 }, key = { 0 };
    struct pt_http_server_options options = { .listen = s->o->listen,
                                              .routes = pt_routes,
                                              .route_count = pt_route_count,
                                              .user = s,
                                              .body_max_bytes = BODY_BYTES,
                                              .unread_max_bytes = UNREAD_BYTES,
                                              .connection_max = CONNECTION_MAX,
                                              .timeout_seconds = TIMEOUT_SECONDS,
                                              .on_problem = on_problem,
                                              .admits = admits,
                                              .on_done = on_done };
    int rc = take_activation(&options.listen_fd, err);
    if (!rc)
        rc = open_guard(s, options.listen_fd, err);
    if (rc)
        return rc;
    options.allows_others = !s->guard.is_loopback;
    if (s->o->certificate_file) {
        struct stat st;
        if (stat(s->o->key_file, &st) == 0 && (st.st_mode & 077))
            pt_log(PT_LOG_WARNING, "other users can read the key %s (run chmod 600 on it)",
                   s->o->key_file);
        rc = read_pem(s->o->certificate_file, &certificate, &options.certificate, err);
        if (!rc)
            rc = read_pem(s->o->key_file, &key, &options.key, err);
    }
    if (!rc)
        rc = pt_http_server_open(&s->http, &options, err);
    if (key.at)
        explicit_bzero(key.at, key.capacity);
    pt_text_release(&certificate);
    pt_text_release(&key);
    return rc;
}

static int open_sampler(struct pt_service *s, struct pt_err *err) {
    struct pt_sampler_options options = { .interval_ns = s->o->interval_ns,
                                          .budget = s->o->max_overhead,
                                          .fs = &s->o->fs,
                                          .target = &s->target,
                                          .engines = &s->o->engines,
                                          .regions = s->o->regions,
                                          .fd_budget = pt_descriptors_budget() };
    memcpy(options.is_enabled, s->o->is_enabled, sizeof options.is_enabled);
    int rc = pt_sampler_init(&s->sampler, &options, err);
    return rc ? rc : pt_sampler_open(&s->sampler, err);
}

static int open_history(struct pt_service *s, struct pt_err *err) {
    struct pt_segments_options options = { .directory = s->o->state_directory,
                                           .bytes_max = s->o->history_bytes,
                                           .age_max_ns = s->o->history_age_ns };
    size_t made_from;
    if (!s->o->history_bytes)
        return pt_run_make_directory(s->o->state_directory, &made_from, err);
    int rc = pt_segments_open(&s->segments, &options, &s->sampler.schema, err);
    s->has_history = !rc;
    return rc;
}

static int open_parts(struct pt_service *s, struct pt_err *err) {
    const struct pt_schema *schema = &s->sampler.schema;
    int rc = pt_alerts_open(&s->alerts, s->o->alerts, schema, err);
    pt_alert_log_init(&s->alert_log);
    pt_latest_init(&s->latest, schema);
    pt_metrics_route_init(&s->metrics, schema);
    pt_stream_init(&s->stream, schema);
    pt_actions_init(&s->actions, s->o->runs_directory, s->o->state_directory);
    if (!rc)
        rc = open_history(s, err);
    if (!rc)
        rc = pt_push_open(&s->push, &s->o->push, schema, err);
    if (!rc)
        rc = pt_worker_start(&s->worker, err);
    if (!rc && s->o->webhook)
        rc = pt_webhook_start(&s->webhook, s->o->webhook, s->o->allows_private_webhook, err);
    if (!rc && s->o->probe)
        rc = pt_probe_start(&s->probe, s->o->probe, s->o->probe_interval_ns, err);
    return rc;
}

/* Signals first: threads inherit the mask. */
static int start(struct pt_service *s, struct pt_err *err) {
    struct rlimit old_limit;
    sigset_t old_mask;
    umask(077); /* recorded data is private to its owner */
    (void)pt_descriptors_raise(&old_limit);
    mallopt(M_MMAP_THRESHOLD, LARGE_BYTES);
    s->signal_fd = pt_signals_block(false, &old_mask, err);
    if (s->signal_fd < 0)
        return s->signal_fd;
    pt_signals_ignore();
    int rc = open_sampler(s, err);
    if (!rc)
        rc = open_parts(s, err);
    if (!rc)
        rc = open_http(s, err);
    if (!rc)
        pt_sampler_start(&s->sampler);
    return rc;
}

static void write_history(struct pt_service *s, const struct pt_sample *sample) {
    if (!s->has_history)
        return;
    int rc = pt_segments_write(&s->segments, sample);
    if (rc && rc != s->write_error)
        pt_log(PT_LOG_ERROR,
               "cannot write the history in %s: %s; samples are lost until writing works again",
               s->segments.ring.path, strerror(-rc));
    else if (!rc && s->write_error)
        pt_log(PT_LOG_WARNING, "writing to %s works again", s->segments.ring.path);
    s->write_error = rc;
}

static void publish_alerts(struct pt_service *s) {
    const struct pt_batch *rows = &s->alerts.changes.batches[s->alerts.table];
    for (uint32_t i = 0; i < rows->row_count; i++) {
        pthread_mutex_lock(&s->lock);
        const char *line = pt_alert_log_add(&s->alert_log, rows, i, s->alerts.changes.wall_ns);
        pthread_mutex_unlock(&s->lock);
        pt_stream_send(&s->stream, "alert", pt_str_from(line));
        pt_webhook_send(&s->webhook, line);
    }
    pt_alert_command_add(&s->alert_command, &s->alerts.changes);
    write_history(s, &s->alerts.changes);
}

static void take_samples(struct pt_service *s) {
    struct pt_sample *sample;
    while ((sample = pt_sample_queue_take(&s->sampler.queue))) {
        pt_push_fill(s->push, sample);
        pthread_mutex_lock(&s->lock);
        pt_latest_update(&s->latest, sample);
        bool has_changes = pt_alerts_check(&s->alerts, sample);
        pthread_mutex_unlock(&s->lock);
        write_history(s, sample);
        pt_push_sample(s->push, sample);
        if (has_changes)
            publish_alerts(s);
        pt_stream_publish(&s->stream, &s->latest);
        pt_sample_queue_give_back(&s->sampler.queue, sample);
        if (s->latest.sample_count == 1) /* the first one has opened the history */
            pt_module_settle();
    }
}

/* SIGHUP: on failure the old rules or token stay. */
static void reload(struct pt_service *s) {
    struct pt_alerts fresh;
    struct pt_err err = { "" };
    bool has_rules =
        s->o->alerts && !pt_alerts_open(&fresh, s->o->alerts, &s->sampler.schema, &err);
    if (has_rules) {
        pthread_mutex_lock(&s->lock);
        pt_alerts_close(&s->alerts);
        s->alerts = fresh;
        pthread_mutex_unlock(&s->lock);
    } else if (s->o->alerts) {
        pt_log(PT_LOG_ERROR, "%s; keeping the old rules", err.text);
        pt_alerts_close(&fresh);
    }
    bool has_token = s->o->token_file && !pt_access_load(&s->guard, s->o->token_file, &err);
    if (s->o->token_file && !has_token)
        pt_log(PT_LOG_ERROR, "%s; keeping the old token", err.text);
    pt_log(PT_LOG_WARNING, "SIGHUP: read %s; options and certificates need a restart",
           has_rules && has_token ? "the alert rules and the token"
           : has_rules            ? "the alert rules"
           : has_token            ? "the token"
                                  : "nothing");
}

static void handle_signals(struct pt_service *s) {
    struct signalfd_siginfo info;
    while (read(s->signal_fd, &info, sizeof info) == sizeof info)
        switch (info.ssi_signo) {
        case SIGHUP:
            reload(s);
            break;
        case SIGCHLD:
            pt_actions_reap(&s->actions);
            pt_alert_command_check(&s->alert_command, pt_mono_ns());
            break;
        case SIGINT:
        case SIGTERM:
        case SIGQUIT:
            s->must_stop = true;
        }
}

static void serve(struct pt_service *s) {
    int64_t tended_ns = 0;
    while (!s->must_stop) {
        struct pollfd polled[] = { { .fd = s->signal_fd, .events = POLLIN },
                                   { .fd = s->sampler.queue.event_fd, .events = POLLIN } };
        if (poll(polled, PT_COUNT(polled), TEND_MS) < 0 && errno != EINTR)
            break;
        if (polled[0].revents)
            handle_signals(s);
        if (polled[1].revents)
            take_samples(s);
        int64_t now_ns = pt_mono_ns();
        if (now_ns - tended_ns < TEND_MS * PT_NS_PER_MS)
            continue;
        tended_ns = now_ns;
        pt_http_server_tend(&s->http);
        pt_stream_tend(&s->stream, now_ns);
        pt_alert_command_check(&s->alert_command, now_ns);
    }
}

static void stop(struct pt_service *s) {
    struct pt_http_server http = s->http; /* contents are released after it has closed */
    pt_sampler_stop(&s->sampler);
    if (s->latest.now.batches)
        take_samples(s);
    pt_push_flush(s->push);
    pt_http_server_close(&s->http);
    pt_alert_command_finish(&s->alert_command);
    pt_probe_stop(&s->probe);
    pt_webhook_stop(&s->webhook);
    pt_worker_stop(&s->worker);
    pt_push_close(s->push, pt_mono_ns() + PUSH_GRACE_NS);
    if (s->latest.now.batches) {
        pt_actions_release(&s->actions);
        pt_stream_release(&s->stream);
        pt_metrics_route_release(&s->metrics, &http);
        pt_latest_release(&s->latest);
        pt_alert_log_release(&s->alert_log);
        pt_alerts_close(&s->alerts);
    }
    pt_segments_close(&s->segments);
    if (s->sampler.collector_count > 0)
        pt_sampler_release(&s->sampler);
    pt_access_release(&s->guard);
    if (s->signal_fd >= 0)
        close(s->signal_fd);
    pthread_mutex_destroy(&s->lock);
}

int pt_service_run(const struct pt_service_options *options) {
    struct pt_service *s = pt_calloc(1, sizeof *s);
    struct pt_err err = { "" };
    s->o = options;
    s->signal_fd = -1;
    s->alert_command = (struct pt_alert_command){ .command = options->alert_command, .run = "" };
    pthread_mutex_init(&s->lock, NULL);
    pt_access_init(&s->guard);
    int rc = start(s, &err);
    if (rc) {
        pt_log(PT_LOG_ERROR, "%s", err.text);
    } else {
        struct pt_out out; /* for the program that started it */
        pt_out_show(&out, STDOUT_FILENO);
        pt_out_printf(&out, "%s\n", s->http.url);
        (void)pt_out_close(&out);
        serve(s);
    }
    stop(s);
    pt_free(s);
    return rc ? 1 : 0;
}
