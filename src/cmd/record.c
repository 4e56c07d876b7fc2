#include "agent/recorder.h"
#include "base/clock.h"
#include "base/log.h"
#include "cmd/command.h"
#include "profile/perf_event.h"
#include "report/html.h"
#include "scrape/scraper.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define MIN_INTERVAL_NS PT_NS_PER_MS

static int unknown_collector(struct pt_str name, struct pt_err *err) {
    char known[160];
    pt_choices_join(pt_collector_name, known, sizeof known);
    return pt_fail(err, -EINVAL, "unknown collector '%.*s': choose from %s", (int)name.len, name.at,
                   known);
}

/* Switches every collector of a comma list. */
static int switch_collectors(bool *is_enabled, const char *list, bool value, struct pt_err *err) {
    for (const char *at = list;; at++) {
        struct pt_str name = { at, strcspn(at, ",") };
        int i = 0;
        while (pt_collectors[i] && !pt_str_eq(pt_str_from(pt_collectors[i]->name), name))
            i++;
        if (!pt_collectors[i])
            return unknown_collector(name, err);
        is_enabled[i] = value;
        at += name.len;
        if (!*at)
            return 0;
    }
}

static int choose_collectors(const struct pt_command_options *o, bool *is_enabled,
                             struct pt_err *err) {
    for (int i = 0; pt_collectors[i]; i++)
        is_enabled[i] = !o->collect && !pt_collectors[i]->is_optional;
    int rc = o->collect ? switch_collectors(is_enabled, o->collect, true, err) : 0;
    if (!rc && o->processes)
        rc = switch_collectors(is_enabled, "processes", true, err);
    if (!rc && o->no_collect)
        rc = switch_collectors(is_enabled, o->no_collect, false, err);
    return rc;
}

static int choose_pids(const struct pt_option_list *list, struct pt_recorder_options *r,
                       struct pt_err *err) {
    if (list->count > PT_TARGET_PIDS)
        return pt_fail(err, -EINVAL, "--pid can be given at most %d times", PT_TARGET_PIDS);
    for (size_t i = 0; i < list->count; i++) {
        struct pt_scan s = pt_scan_of(pt_str_from(list->items[i]));
        int64_t pid = pt_scan_i64(&s);
        if (s.failed || s.at != s.end || pid < 1 || pid > INT32_MAX)
            return pt_fail(err, -EINVAL, "--pid: '%s' is not a process id", list->items[i]);
        r->pids[r->pid_count++] = (pid_t)pid;
    }
    return 0;
}

static int check_tags(const struct pt_option_list *tags, struct pt_err *err) {
    for (size_t i = 0; i < tags->count; i++) {
        const char *equals = strchr(tags->items[i], '=');
        if (!equals || equals == tags->items[i])
            return pt_fail(err, -EINVAL, "--tag: '%s' is not of the form key=value",
                           tags->items[i]);
    }
    return 0;
}

static bool is_engine_word(const char *text) {
    return strcmp(text, "auto") == 0 || strcmp(text, "off") == 0;
}

static int check_engine_urls(const struct pt_engine_options *engines, struct pt_err *err) {
    char url[PT_SCRAPE_URL_BYTES], path[PT_SCRAPE_UNIX_BYTES];
    if (engines->url_count > PT_SCRAPE_ENGINES)
        return pt_fail(err, -E2BIG, "--engine: %d are the most", PT_SCRAPE_ENGINES);
    for (size_t i = 0; i < engines->url_count; i++) {
        if (is_engine_word(engines->urls[i]))
            return pt_fail(err, -EINVAL, "--engine: '%s' stands alone", engines->urls[i]);
        if (!pt_scrape_url(engines->urls[i], url, sizeof url, path, sizeof path))
            return pt_fail(
                err, -EINVAL,
                "--engine: '%s' is no address: PORT, HOST:PORT, http://, https:// or unix:PATH",
                engines->urls[i]);
    }
    return 0;
}

/* --engine, or VLLM_METRICS_URL; "auto" and "off" stand alone. `*url` keeps the variable. */
static int choose_engines(const struct pt_option_list *given, struct pt_engine_options *engines,
                          const char **url, struct pt_err *err) {
    *url = getenv("VLLM_METRICS_URL");
    if (given->count == 0) {
        bool has_url = *url && **url;
        engines->must_discover = !has_url;
        engines->urls = url;
        engines->url_count = has_url;
    } else if (given->count == 1 && is_engine_word(given->items[0])) {
        engines->must_discover = strcmp(given->items[0], "auto") == 0;
    } else {
        engines->urls = given->items;
        engines->url_count = given->count;
    }
    return check_engine_urls(engines, err);
}

static int check_profile(const struct pt_command_options *o, struct pt_recorder_options *r,
                         struct pt_err *err) {
    if (o->cpu_hz < 0 || o->cpu_hz > PT_PERF_RATE_MAX)
        return pt_fail(err, -EINVAL, "--cpu: from 1 to %d samples a second, or 0 for none",
                       PT_PERF_RATE_MAX);
    if (o->cpu_hz > 0 && !r->command && o->pids.count == 0 && !o->container)
        return pt_fail(err, -EINVAL, "--cpu: needs a command, --pid or --container to profile");
    return pt_cpu_method_parse(o->cpu_method, &r->cpu_method, err);
}

static int check(const struct pt_command_options *o, struct pt_recorder_options *r,
                 struct pt_err *err) {
    if (o->interval_ns < MIN_INTERVAL_NS)
        return pt_fail(err, -EINVAL, "--interval: the shortest is 1 ms");
    if (r->command && (o->pids.count > 0 || o->container))
        return pt_fail(err, -EINVAL, "give either a command or --pid/--container, not both");
    int rc = check_profile(o, r, err);
    if (!rc)
        rc = pt_export_formats_parse(&r->formats, o->formats, err);
    if (!rc)
        rc = choose_collectors(o, r->is_enabled, err);
    if (!rc)
        rc = choose_pids(&o->pids, r, err);
    if (!rc)
        rc = check_tags(&o->tags, err);
    if (!rc)
        rc = pt_command_energy_basis(o, &r->energy, err);
    return rc;
}

int pt_cmd_record(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv) {
    struct pt_recorder_options r = {
        .directory = o->output,
        .interval_ns = o->interval_ns,
        .duration_ns = o->duration_ns,
        .max_overhead = o->max_overhead_percent / 100,
        .container = o->container,
        .cpu_hz = o->cpu_hz,
        .alerts = o->alerts,
        .tags = o->tags.items,
        .tag_count = o->tags.count,
        .command = *operands ? operands : NULL,
        .own_argv = argv,
        .is_quiet = o->is_quiet,
        .wants_report = o->wants_report,
    };
    struct pt_err err = { "" };
    const char *engine_url;
    r.engines.wants_raw = o->wants_raw_engine;
    if (has_dashes && !r.command)
        return pt_command_misused(PT_COMMAND_RECORD, "there is no command after --");
    if (o->wants_report && pt_report_check(&err))
        return pt_command_misused(PT_COMMAND_RECORD, "--report: %s", err.text);
    if (choose_engines(&o->engines, &r.engines, &engine_url, &err) || check(o, &r, &err))
        return pt_command_misused(PT_COMMAND_RECORD, "%s", err.text);
    if (pt_command_open_fs(o, &r.fs))
        return PT_EXIT_OWN_FAILURE;
    int code = pt_recorder_run(&r);
    pt_fs_close(&r.fs);
    return code;
}
