#include "base/clock.h"
#include "base/log.h"
#include "cmd/command.h"
#include "demo/load.h"
#include "demo/run.h"
#include "demo/server.h"

#include <signal.h>
#include <unistd.h>

#define CONCURRENCY_MAX 64

static double seconds_of(const struct pt_command_options *o) {
    return (double)o->demo_seconds_ns / (double)PT_NS_PER_SECOND;
}

static int run_alone(const struct pt_command_options *o, struct pt_out *out, struct pt_err *err) {
    struct pt_demo_options options = { .seconds = seconds_of(o),
                                       .deployment.worker_count = (size_t)o->demo_threads,
                                       .request_count = (size_t)o->demo_requests,
                                       .concurrency = (size_t)o->demo_concurrency };
    return pt_demo_run(&options, out, NULL, err);
}

static int run_load(const struct pt_command_options *o, const char *url, struct pt_out *out,
                    struct pt_err *err) {
    struct pt_load_options options = { .url = url,
                                       .seconds = seconds_of(o),
                                       .request_count = (size_t)o->demo_requests,
                                       .concurrency = (size_t)o->demo_concurrency };
    struct pt_load_result result;
    int rc = pt_load_run(&options, &result, err);
    if (!rc)
        pt_load_print(&options, &result, out);
    return rc;
}

/* Ctrl+C, SIGTERM or the end of the time, if there is one. */
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

static int serve(const struct pt_command_options *o, struct pt_out *out, struct pt_err *err) {
    struct pt_demo_server server;
    struct pt_deployment_options options = { .worker_count = (size_t)o->demo_threads };
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    /* before there are threads, which inherit it */
    if (!o->demo_self_load)
        pthread_sigmask(SIG_BLOCK, &signals, NULL);
    int rc = pt_demo_server_open(&server, o->demo_listen, &options, err);
    if (rc)
        return rc;
    pt_out_printf(out, "%s\n", server.http.url);
    pt_out_flush(out);
    if (o->demo_self_load)
        rc = run_load(o, server.http.url, out, err);
    else
        await_end(&signals, o->demo_seconds_ns);
    pt_demo_server_close(&server);
    return rc;
}

static const char *misuse(const struct pt_command_options *o) {
    if (o->demo_threads < 0 || o->demo_threads > 64)
        return "--threads takes 1 to 64, 0 = one for each CPU";
    if (o->demo_concurrency < 0 || o->demo_concurrency > CONCURRENCY_MAX)
        return "--concurrency takes 1 to 64";
    if (o->demo_requests < 0)
        return "--requests takes a positive number";
    if (o->demo_load && o->demo_serve)
        return "--load takes a server that runs already; --serve --self-load has both";
    if (o->demo_self_load && !o->demo_serve)
        return "--self-load needs --serve";
    return NULL;
}

int pt_cmd_demo(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv) {
    (void)has_dashes;
    (void)argv;
    if (*operands)
        return pt_command_misused(PT_COMMAND_DEMO, "unexpected argument '%s'", *operands);
    const char *wrong = misuse(o);
    if (wrong)
        return pt_command_misused(PT_COMMAND_DEMO, "%s", wrong);
    struct pt_err err = { "" };
    struct pt_out out;
    pt_out_borrow(&out, STDOUT_FILENO);
    int rc = o->demo_serve  ? serve(o, &out, &err)
             : o->demo_load ? run_load(o, o->demo_load, &out, &err)
                            : run_alone(o, &out, &err);
    if (rc)
        pt_log(PT_LOG_ERROR, "%s", err.text);
    return pt_command_close(&out, rc ? 1 : 0);
}
