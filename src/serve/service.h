/* serve/service.h -- the life of `pitot serve`: the sampler of a recording; its samples are shown
 * to scrapers and browsers, and kept as history.
 *
 * Three threads meet here. The main thread takes samples from the sampler and owns the history; the
 * server's thread answers from the latest rows (`lock`); the worker reads files for answers that
 * take longer. */
#ifndef PT_SERVE_SERVICE_H
#define PT_SERVE_SERVICE_H

#include "sampler/alert_command.h"
#include "sampler/alerts.h"
#include "sampler/sampler.h"
#include "http/server.h"
#include "push/push.h"
#include "serve/actions.h"
#include "serve/alert_log.h"
#include "serve/access.h"
#include "serve/latest.h"
#include "serve/metrics_route.h"
#include "serve/engine_probe.h"
#include "serve/stream.h"
#include "serve/webhook.h"
#include "serve/worker.h"
#include "store/segments.h"

#define PT_SERVICE_PORT "9477"

struct pt_service_options {
    const char *listen;
    int64_t interval_ns;
    bool is_enabled[PT_SAMPLER_COLLECTORS];
    double max_overhead; /* share of one CPU; 0 = no governor */
    struct pt_fs fs;
    struct pt_engine_options engines;
    const char *regions; /* directory of libpitot's files, or NULL */
    const char *token_file, *certificate_file, *key_file; /* or NULL */
    const char *state_directory;
    uint64_t history_bytes; /* 0: no history */
    int64_t history_age_ns;
    const char *runs_directory; /* of recorded runs, or NULL: none are shown */
    const char *alerts;         /* file of rules; NULL: the defaults */
    const char *alert_command;  /* shell command, or NULL */
    const char *webhook;        /* URL for alerts, or NULL */
    bool allows_private_webhook;
    const char *probe; /* URL of an engine, or NULL */
    int64_t probe_interval_ns;
    struct pt_push_options push; /* receivers of samples */
};

struct pt_service {
    const struct pt_service_options *o;
    struct pt_target target;
    struct pt_sampler sampler;
    struct pt_segments segments;
    struct pt_stream stream;
    struct pt_worker worker;
    struct pt_access guard;
    struct pt_probe probe;
    struct pt_alert_command alert_command; /* of the main thread */
    struct pt_webhook webhook;
    struct pt_push *push; /* of the main thread */
    struct pt_actions actions;
    struct pt_http_server http;

    pthread_mutex_t lock;
    /* Below: guarded by the lock. The main thread writes, others only read. */
    struct pt_latest latest;
    struct pt_alerts alerts;
    struct pt_alert_log alert_log;
    struct pt_metrics_route metrics;

    int signal_fd;
    bool must_stop, has_history;
    int write_error; /* of the history; 0: writing works */
};

/* Serves until SIGINT or SIGTERM. Returns the exit code of the process. */
int pt_service_run(const struct pt_service_options *options);

#endif
