/* cmd/sampling_options.c -- options of all commands that sample: what to watch, by which
 * collectors. */
#include "base/place.h"
#include "base/scan.h"
#include "cmd/command.h"
#include "collect/collector.h"
#include "source/engine/scraper.h"

#include <errno.h>
#include <stdlib.h>

int pt_command_pids(const struct pt_option_list *list, pid_t *pids, int *count,
                    struct pt_err *err) {
    if (list->count > PT_TARGET_PIDS)
        return pt_fail(err, -EINVAL, "--pid: at most %d processes", PT_TARGET_PIDS);
    for (size_t i = 0; i < list->count; i++) {
        struct pt_scan s = pt_scan_of(pt_str_from(list->items[i]));
        int64_t pid = pt_scan_i64(&s);
        if (s.failed || s.at != s.end || pid < 1 || pid > INT32_MAX)
            return pt_fail(err, -EINVAL, "--pid: '%s' is not a process id", list->items[i]);
        pids[(*count)++] = (pid_t)pid;
    }
    return 0;
}

static bool is_engine_word(const char *text) {
    return strcmp(text, "auto") == 0 || strcmp(text, "off") == 0;
}

/* Up to the path, which is not what is wrong and may hold a secret. */
static int without_path(const char *url) {
    const char *host = strstr(url, "://");
    host = host ? host + 3 : url;
    return (int)(host - url + (ptrdiff_t)strcspn(host, "/?#"));
}

static int check_engine_urls(const struct pt_engine_options *engines, struct pt_err *err) {
    char url[PT_SCRAPE_URL_BYTES], path[PT_SCRAPE_UNIX_BYTES];
    if (engines->url_count > PT_SCRAPE_ENGINES)
        return pt_fail(err, -E2BIG, "--engine: at most %d engines", PT_SCRAPE_ENGINES);
    for (size_t i = 0; i < engines->url_count; i++) {
        if (is_engine_word(engines->urls[i]))
            return pt_fail(err, -EINVAL, "--engine: '%s' cannot be combined with others",
                           engines->urls[i]);
        if (!pt_scrape_url(engines->urls[i], url, sizeof url, path, sizeof path))
            return pt_fail(err, -EINVAL,
                           "--engine: '%.*s' is not an address (PORT, HOST:PORT, http://, https:// "
                           "or unix:PATH; ports are 1 to 65535)",
                           without_path(engines->urls[i]), engines->urls[i]);
    }
    return 0;
}

int pt_command_engines(const struct pt_command_options *o, struct pt_engine_options *engines,
                       const char **url, struct pt_err *err) {
    const struct pt_option_list *given = &o->engines;
    engines->wants_raw = o->wants_raw_engine;
    engines->ttft_objective_ns = o->ttft_objective_ns;
    engines->inter_token_objective_ns = o->inter_token_objective_ns;
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

/* Switches each collector of a comma-separated list on or off. */
static int switch_collectors(bool *is_enabled, const char *list, bool value, struct pt_err *err) {
    for (const char *at = list;; at++) {
        struct pt_str name = { at, strcspn(at, ",") };
        int i = 0;
        while (pt_collectors[i] && !pt_str_eq(pt_str_from(pt_collectors[i]->name), name))
            i++;
        if (!pt_collectors[i]) {
            char known[160];
            pt_choices_join(pt_collector_name, known, sizeof known);
            return pt_fail(err, -EINVAL, "unknown collector '%.*s' (one of: %s)", (int)name.len,
                           name.at, known);
        }
        is_enabled[i] = value;
        at += name.len;
        if (!*at)
            return 0;
    }
}

int pt_command_collectors(const struct pt_command_options *o, bool *is_enabled,
                          struct pt_err *err) {
    for (int i = 0; pt_collectors[i]; i++)
        is_enabled[i] = !o->collect && !pt_collectors[i]->is_optional;
    int rc = o->collect ? switch_collectors(is_enabled, o->collect, true, err) : 0;
    if (!rc && o->processes)
        rc = switch_collectors(is_enabled, "processes", true, err);
    if (!rc && o->no_collect)
        rc = switch_collectors(is_enabled, o->no_collect, false, err);
    bool has_any = false;
    for (int i = 0; pt_collectors[i]; i++) {
        has_any |= is_enabled[i];
        /* command lines of all users */
        pt_files_are_private |= is_enabled[i] && strcmp(pt_collectors[i]->name, "processes") == 0;
    }
    if (!rc && !has_any)
        rc = pt_fail(err, -EINVAL,
                     "--no-collect: nothing is left to record (leave out fewer collectors)");
    return rc;
}
