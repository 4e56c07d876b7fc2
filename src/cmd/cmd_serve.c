#include "base/clock.h"
#include "base/log.h"
#include "cmd/command.h"
#include "serve/service.h"

#include <errno.h>
#include <pitot/pitot.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MIN_INTERVAL_NS (10 * PT_NS_PER_MS)
#define MIN_PROBE_NS    PT_NS_PER_SECOND

/* The default is the directory that systemd provides, else that of the XDG rules. */
static int choose_state_directory(const char *given, char into[PATH_MAX], struct pt_err *err) {
    const char *systemd = getenv("STATE_DIRECTORY"), *xdg = getenv("XDG_STATE_HOME"),
               *home = getenv("HOME");
    int length = 0;
    if (given)
        length = snprintf(into, PATH_MAX, "%s", given);
    else if (systemd && *systemd)
        length = snprintf(into, PATH_MAX, "%.*s", (int)strcspn(systemd, ":"), systemd);
    else if (xdg && *xdg == '/')
        length = snprintf(into, PATH_MAX, "%s/pitot", xdg);
    else if (geteuid() == 0)
        length = snprintf(into, PATH_MAX, "/var/lib/pitot");
    else if (home && *home)
        length = snprintf(into, PATH_MAX, "%s/.local/state/pitot", home);
    if (length <= 0 || length >= PATH_MAX)
        return pt_fail(err, -EINVAL, "no usable directory for the history (give --state-dir)");
    return 0;
}

static int check(const struct pt_command_options *o, struct pt_service_options *s,
                 struct pt_err *err) {
    struct pt_http_address address;
    if (o->interval_ns < MIN_INTERVAL_NS)
        return pt_fail(err, -EINVAL, "--interval: must be at least 10 ms");
    if (o->probe_interval_ns < MIN_PROBE_NS)
        return pt_fail(err, -EINVAL, "--probe-interval: must be at least 1 s");
    if (!o->tls_certificate != !o->tls_key)
        return pt_fail(err, -EINVAL, "--tls-cert and --tls-key: give both or neither");
    if (o->history_bytes > 0 && (uint64_t)o->history_bytes < PT_SEGMENTS_BYTES_MIN)
        return pt_fail(err, -EINVAL, "--history: must be at least 1M, or 0 for none");
    int rc = pt_http_address_parse(&address, o->listen, err);
    return rc ? rc : pt_command_collectors(o, s->is_enabled, err);
}

int pt_cmd_serve(const struct pt_command_options *o, char **operands, bool has_dashes,
                 char **argv) {
    (void)has_dashes;
    (void)argv;
    char state_directory[PATH_MAX];
    const char *engine_url;
    struct pt_err err = { "" };
    struct pt_service_options s = {
        .listen = o->listen,
        .interval_ns = o->interval_ns,
        .regions = getenv(PITOT_REGION_VARIABLE),
        .max_overhead = o->max_overhead_percent / 100,
        .token_file = o->token_file,
        .certificate_file = o->tls_certificate,
        .key_file = o->tls_key,
        .state_directory = state_directory,
        .history_bytes = (uint64_t)o->history_bytes,
        .history_age_ns = o->history_age_ns,
        .runs_directory = o->runs,
        .alerts = o->alerts,
        .alert_command = o->alert_command,
        .webhook = o->webhook,
        .allows_private_webhook = o->allows_private_webhook,
        .probe = o->probe,
        .probe_interval_ns = o->probe_interval_ns,
    };
    if (*operands)
        return pt_command_misused(PT_COMMAND_SERVE, "unexpected argument '%s'", *operands);
    if (check(o, &s, &err) || choose_state_directory(o->state_directory, state_directory, &err) ||
        pt_command_engines(o, &s.engines, &engine_url, &err) || pt_command_push(o, &s.push, &err))
        return pt_command_misused(PT_COMMAND_SERVE, "%s", err.text);
    s.push.state_directory = state_directory;
    if (pt_command_open_fs(o, &s.fs))
        return 1;
    int code = pt_service_run(&s);
    pt_fs_close(&s.fs);
    return code;
}
