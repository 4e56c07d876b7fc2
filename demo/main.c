/* demo/main.c -- the demo engine, a program of its own that `pitot demo` runs: a small transformer
 * decoder, alone, as a server, or as the client of one. */
#include "base/clock.h"
#include "base/log.h"
#include "demo/load.h"
#include "demo/run.h"
#include "demo/server.h"
#include "demo/settings.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#define CONCURRENCY_MAX 64
#define THREADS_MAX     64

enum { USAGE_EXIT = 2 };

/* `pitot` has read these already, but hands on all that it was given. */
struct all_settings {
    struct pt_demo_settings demo;
    bool is_quiet;
    int64_t verbosity;
};

#define ROW(name, kind, field, default_text, argument, help) \
    { name, 0, kind, 1, offsetof(struct all_settings, demo.field), default_text, argument, help }
static const struct pt_option options[] = {
    PT_DEMO_OPTIONS(ROW),
    { "quiet", 'q', PT_OPTION_FLAG, 1, offsetof(struct all_settings, is_quiet), NULL, NULL,
      "print only errors" },
    { "verbose", 'v', PT_OPTION_COUNT, 1, offsetof(struct all_settings, verbosity), NULL, NULL,
      "print more" },
};

static double seconds_of(const struct pt_demo_settings *s) {
    return (double)s->seconds_ns / (double)PT_NS_PER_SECOND;
}

static int run_alone(const struct pt_demo_settings *s, struct pt_out *out, struct pt_err *err) {
    struct pt_demo_options o = { .seconds = seconds_of(s),
                                 .deployment.worker_count = (size_t)s->threads,
                                 .request_count = (size_t)s->requests,
                                 .concurrency = (size_t)s->concurrency };
    return pt_demo_run(&o, out, NULL, err);
}

static int run_load(const struct pt_demo_settings *s, const char *url, struct pt_out *out,
                    struct pt_err *err) {
    struct pt_load_options o = { .url = url,
                                 .seconds = seconds_of(s),
                                 .request_count = (size_t)s->requests,
                                 .concurrency = (size_t)s->concurrency };
    struct pt_load_result result;
    int rc = pt_load_run(&o, &result, err);
    if (!rc)
        pt_load_print(&o, &result, out);
    return rc;
}

/* Waits for Ctrl+C, SIGTERM or the end of the time, if there is one. */
static void await_end(const sigset_t *signals, int64_t limit_ns) {
    int64_t end_ns = pt_mono_ns() + limit_ns;
    for (;;) {
        int64_t left_ns = limit_ns > 0 ? end_ns - pt_mono_ns() : PT_NS_PER_SECOND;
        if (left_ns <= 0)
            return;
        struct timespec left = { left_ns / PT_NS_PER_SECOND, left_ns % PT_NS_PER_SECOND };
        if (sigtimedwait(signals, NULL, &left) > 0)
            return;
    }
}

static int serve(const struct pt_demo_settings *s, struct pt_out *out, struct pt_err *err) {
    struct pt_demo_server server;
    struct pt_deployment_options o = { .worker_count = (size_t)s->threads };
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    /* before there are threads, which inherit it */
    if (!s->self_load)
        pthread_sigmask(SIG_BLOCK, &signals, NULL);
    int rc = pt_demo_server_open(&server, s->listen, &o, err);
    if (rc)
        return rc;
    pt_out_printf(out, "%s\n", server.http.url);
    pt_out_flush(out);
    if (s->self_load)
        rc = run_load(s, server.http.url, out, err);
    else
        await_end(&signals, s->seconds_ns);
    pt_demo_server_close(&server);
    return rc;
}

static const char *misuse(const struct pt_demo_settings *s) {
    if (s->threads < 0 || s->threads > THREADS_MAX)
        return "--threads takes 1 to 64, 0 = one per CPU";
    if (s->concurrency < 0 || s->concurrency > CONCURRENCY_MAX)
        return "--concurrency takes 1 to 64";
    if (s->requests < 0)
        return "--requests takes a positive number";
    if (s->load && s->serve)
        return "--load needs a running server; --serve --self-load starts its own";
    if (s->self_load && !s->serve)
        return "--self-load needs --serve";
    return NULL;
}

static int run(const struct pt_demo_settings *s) {
    struct pt_err err = { "" };
    struct pt_out out;
    pt_out_borrow(&out, STDOUT_FILENO);
    int rc = s->serve  ? serve(s, &out, &err)
             : s->load ? run_load(s, s->load, &out, &err)
                       : run_alone(s, &out, &err);
    if (rc)
        pt_log(PT_LOG_ERROR, "%s", err.text);
    int write_rc = pt_out_close(&out);
    if (write_rc)
        pt_log(PT_LOG_ERROR, "cannot write to standard output: %s", strerror(-write_rc));
    return rc || write_rc ? 1 : 0;
}

int main(int argc, char **argv) {
    struct pt_option_table table = { options, PT_COUNT(options), 1, "demo", false };
    struct all_settings s = { 0 };
    struct pt_err err = { "" };
    int first, code = USAGE_EXIT;
    bool has_dashes;
    if (pt_options_parse(&table, &s, argc, argv, &first, &has_dashes, &err))
        pt_log(PT_LOG_ERROR, "%s", err.text);
    else if (argv[first])
        pt_log(PT_LOG_ERROR, "unexpected argument '%s'; see pitot demo --help", argv[first]);
    else if (misuse(&s.demo))
        pt_log(PT_LOG_ERROR, "%s; see pitot demo --help", misuse(&s.demo));
    else
        code = run(&s.demo);
    pt_options_release(&table, &s);
    return code;
}
