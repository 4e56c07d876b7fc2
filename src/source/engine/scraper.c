#include "source/engine/scraper.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mask.h"
#include "base/mem.h"
#include "source/engine/discover.h"
#include "source/engine/page_set.h"
#include "source/engine/sniff.h"
#include "source/kernel/pid.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#define LOOK_PERIOD_NS    PT_NS_PER_SECOND /* search interval for new sockets, in the end */
#define FIRST_LOOK_NS     (100 * PT_NS_PER_MS)
#define SNIFF_TIMEOUT     (300 * PT_NS_PER_MS)
#define FAILURES_GONE     5
#define FAILURES_REPORTED 2                      /* of an engine that never answered */
#define GONE_PERIOD_NS    (5 * PT_NS_PER_SECOND) /* scrape interval of an engine that is gone */
/* Until metrics with effects are read: while all slots are in use; after a request whose end was
 * missed, while others run; and when none runs, so that others can read their averages before. */
#define FULL_PERIOD_NS (5 * PT_NS_PER_SECOND)
#define BUSY_PERIOD_NS (15 * PT_NS_PER_SECOND)
#define IDLE_PERIOD_NS (60 * PT_NS_PER_SECOND)
#define RAW_ROWS_MAX   100000
#define RAW_TEXT_MAX   ((size_t)64 << 20)
#define GROWTHS_MAX    65536 /* several minutes of sixteen engines */
#define ACCEPT         "text/plain;version=0.0.4;q=1,application/openmetrics-text;q=0.5"

struct endpoint {
    struct pt_http_request request;
    char url[PT_SCRAPE_URL_BYTES], unix_path[PT_SCRAPE_UNIX_BYTES];
    bool is_known; /* it was an engine once; endpoints given by the user are scraped before that */
    bool has_answered;    /* in this round */
    bool has_slots;       /* in this round */
    uint64_t live_fields; /* that this round's slots gave */
    bool has_warned;
    bool is_unreachable; /* and it was said */
    bool is_recorded;    /* it belongs to the recorded processes */
    bool is_young;       /* it started during the run: nobody else reads it yet */
    int failure_count;
    int64_t tried_ns;
    int64_t metrics_ns; /* when its metrics were read last */
    int64_t gap_ns;     /* when the slots missed the end of a request; 0: they did not */
    pid_t pid;          /* 0: unknown */
    bool has_new_facts;
    struct pt_page_set pages;
    struct pt_engine_reading now, before;
    struct pt_engine_delta delta;
    struct pt_scraped shown; /* under the lock */
};

/* Series not used by a field. */
struct raw {
    struct pt_scraped_raw *rows;
    size_t count, capacity;
    struct pt_buf text;
};

struct pt_scraper {
    struct pt_scrape_options o;
    pthread_t thread;
    bool has_thread;
    pthread_mutex_t lock; /* guards what is shown, raw rows, growths and the end */
    pthread_cond_t wake, last_is_there;
    bool must_stop, has_last;
    int64_t last_by_ns; /* deadline of a last scrape; 0: none */

    struct endpoint endpoints[PT_SCRAPE_ENGINES];
    size_t endpoint_count; /* written by the thread under the lock */
    struct pt_scraped all; /* under the lock */

    struct raw raw;                   /* under the lock */
    struct pt_bucket_growths growths; /* under the lock */

    /* Of the thread alone. */
    struct pt_http_client client;
    bool has_client, has_no_client;
    struct pt_engine_parser parser;
    struct pt_engine_reading combined;
    struct pt_classic_histogram combined_latencies[PT_ENGINE_LATENCY_COUNT];
    struct pt_discovery discovery;
    int64_t looked_ns, look_period_ns; /* most engines start soon after their command */
    struct raw fresh;                  /* of the answer being parsed */
    uint32_t raw_engine;
};

/* The port after the last colon, if there is one: "host", "host:8000", "user:pw@[::1]:8000". */
static bool is_port_possible(struct pt_str authority) {
    const char *end = authority.at + authority.len, *at = end;
    while (at > authority.at && !strchr(":]@", at[-1]))
        at--;
    if (at == authority.at || at[-1] != ':')
        return true;
    struct pt_scan digits = { .at = at, .end = end };
    uint64_t port = pt_scan_u64(&digits);
    return !digits.failed && digits.at == end && port >= 1 && port <= UINT16_MAX;
}

bool pt_scrape_url(const char *given, char *url, size_t capacity, char *unix_path,
                   size_t unix_capacity) {
    int n;
    unix_path[0] = 0;
    if (strncmp(given, "unix:", 5) == 0) {
        n = snprintf(unix_path, unix_capacity, "%s", given + 5);
        return n > 0 && (size_t)n < unix_capacity &&
               (size_t)snprintf(url, capacity, "http://localhost/metrics") < capacity;
    }
    const char *scheme = strstr(given, "://");
    const char *host = scheme ? scheme + 3 : given;
    const char *path = strchr(host, '/');
    bool has_path = path && path[1], is_port = *given && !given[strspn(given, "0123456789")];
    if (scheme && strncmp(given, "http://", 7) != 0 && strncmp(given, "https://", 8) != 0)
        return false;
    const char *missing = scheme ? "" : is_port ? "http://127.0.0.1:" : "http://";
    n = snprintf(url, capacity, "%s%.*s%s", missing,
                 has_path ? (int)strlen(given) : (int)((path ? path : host + strlen(host)) - given),
                 given, has_path ? "" : "/metrics");
    if (!*host || path == host || n <= 0 || (size_t)n >= capacity)
        return false;
    const char *authority = strstr(url, "://") + 3;
    return is_port_possible((struct pt_str){ authority, strcspn(authority, "/") });
}

static struct endpoint *add_endpoint(struct pt_scraper *s, const char *given) {
    if (s->endpoint_count == PT_SCRAPE_ENGINES)
        return NULL;
    struct endpoint *e = &s->endpoints[s->endpoint_count];
    *e = (struct endpoint){ 0 };
    if (!pt_scrape_url(given, e->url, sizeof e->url, e->unix_path, sizeof e->unix_path))
        return NULL;
    e->request = (struct pt_http_request){ .url = e->url,
                                           .unix_path = e->unix_path[0] ? e->unix_path : NULL,
                                           .accept = ACCEPT };
    /* For storing and logging: the URL without its password. */
    struct pt_buf masked = { 0 };
    pt_mask_text(&masked, pt_str_from(e->unix_path[0] ? given : e->url));
    pt_str_copy(e->shown.url, sizeof e->shown.url, pt_buf_as_str(&masked));
    pt_buf_release(&masked);
    pt_page_set_init(&e->pages, e->url, e->request.unix_path);
    e->shown.is_local = e->pages.is_local;
    pthread_mutex_lock(&s->lock);
    s->endpoint_count++;
    pthread_mutex_unlock(&s->lock);
    return e;
}

static bool has_endpoint(const struct pt_scraper *s, uint16_t port) {
    char text[16];
    snprintf(text, sizeof text, ":%u/", port);
    for (size_t i = 0; i < s->endpoint_count; i++)
        if (strstr(s->endpoints[i].url, text))
            return true;
    return false;
}

/* Did the process start after Pitot? */
static bool is_younger_than_run(struct pt_scraper *s, pid_t pid) {
    struct pt_pid_stat own, stat;
    struct pt_text *text = &s->discovery.text;
    return pid && !pt_pid_read_stat(s->o.fs->proc, getpid(), text, &own) &&
           !pt_pid_read_stat(s->o.fs->proc, pid, text, &stat) &&
           stat.start_ticks >= own.start_ticks;
}

static void add_discovered(struct pt_scraper *s, const struct pt_discovered_port *p,
                           const char *path) {
    char url[128];
    snprintf(url, sizeof url, "http://%s:%u%s", p->is_ipv6_only ? "[::1]" : "127.0.0.1", p->port,
             path);
    struct endpoint *e = add_endpoint(s, url);
    if (!e)
        return;
    pt_log(PT_LOG_INFO, "found an inference engine at %s", url);
    e->is_recorded = s->o.root_count > 0;
    e->pid = p->pid;
    e->is_young = is_younger_than_run(s, p->pid);
}

static void sniff_port(struct pt_scraper *s, const struct pt_discovered_port *p) {
    static const char *const paths[] = { "/metrics", "/prometheus/metrics", "/v1/metrics" };
    bool is_loading = false;
    for (size_t i = 0; i < PT_COUNT(paths) && !is_loading; i++) {
        int rc = pt_sniff(p->port, p->is_ipv6_only, paths[i], SNIFF_TIMEOUT);
        if (rc < 0) /* a busy machine: it may still be loading */
            return;
        is_loading = rc == PT_SNIFFED_LOADING;
        if (rc == PT_SNIFFED_ENGINE) {
            add_discovered(s, p, paths[i]);
            break;
        }
    }
    /* ports of unrelated programs are not asked that often */
    pt_discovery_set_loading(&s->discovery, p->port, is_loading && s->o.root_count > 0);
}

/* Silent ports (e.g. of a collective library) must not delay scraping: the rest of the ports waits
 * for the next round. */
static void discover(struct pt_scraper *s, int64_t now_ns) {
    if (!s->o.must_discover)
        return;
    if (now_ns - s->looked_ns >= s->look_period_ns) {
        s->looked_ns = now_ns;
        s->look_period_ns = s->look_period_ns == 0                   ? FIRST_LOOK_NS
                            : s->look_period_ns < LOOK_PERIOD_NS / 2 ? 2 * s->look_period_ns
                                                                     : LOOK_PERIOD_NS;
        (void)pt_discovery_look(&s->discovery, s->o.fs, s->o.roots, s->o.root_count);
    }
    for (size_t i = 0; i < s->discovery.port_count && pt_mono_ns() - now_ns < SNIFF_TIMEOUT; i++)
        if (!has_endpoint(s, s->discovery.ports[i].port) &&
            pt_discovery_is_due(&s->discovery, s->discovery.ports[i].port, now_ns))
            sniff_port(s, &s->discovery.ports[i]);
}

static bool open_client(struct pt_scraper *s) {
    struct pt_err err = { "" };
    if (!s->has_client && !s->has_no_client) {
        s->has_client = pt_http_client_open(&s->client, &err) == 0;
        s->has_no_client = !s->has_client;
        if (s->has_no_client)
            pt_log(PT_LOG_WARNING, "inference engines will not be recorded: %s", err.text);
    }
    return s->has_client;
}

static void keep_raw(void *user, struct pt_str name, struct pt_str labels, double value) {
    struct pt_scraper *s = user;
    struct raw *raw = &s->fresh;
    if (raw->count == RAW_ROWS_MAX)
        return;
    pt_grow(&raw->rows, &raw->capacity, raw->count + 1, sizeof *raw->rows);
    raw->rows[raw->count++] = (struct pt_scraped_raw){
        .engine = s->raw_engine,
        .name = (uint32_t)raw->text.len,
        .value = value,
    };
    struct pt_scraped_raw *row = &raw->rows[raw->count - 1];
    pt_mask_text(&raw->text, name);
    row->labels = (uint32_t)raw->text.len;
    row->name_len = row->labels - row->name;
    pt_mask_text(&raw->text, labels);
    row->labels_len = (uint32_t)raw->text.len - row->labels;
}

static void clear_raw(struct raw *raw) {
    raw->count = 0;
    raw->text.len = 0;
}

static void release_raw(struct raw *raw) {
    pt_free(raw->rows);
    pt_buf_release(&raw->text);
}

/* Under the lock. Drops whole scrapes that nobody took. */
static void show_raw(struct pt_scraper *s) {
    const struct raw *from = &s->fresh;
    struct raw *to = &s->raw;
    if (to->count + from->count > RAW_ROWS_MAX || to->text.len + from->text.len > RAW_TEXT_MAX)
        return;
    pt_grow(&to->rows, &to->capacity, to->count + from->count, sizeof *to->rows);
    for (size_t i = 0; i < from->count; i++) {
        struct pt_scraped_raw *row = &to->rows[to->count++];
        *row = from->rows[i];
        row->name += (uint32_t)to->text.len;
        row->labels += (uint32_t)to->text.len;
    }
    pt_buf_str(&to->text, pt_buf_as_str(&from->text));
}

/* A value that would be taken for several is quoted, as in the text of the engine. */
static const char *quoted(struct pt_str value, char into[512]) {
    bool needs_quotes = false;
    for (size_t i = 0; i < value.len; i++)
        needs_quotes |= strchr(",\"\\\n", value.at[i]) != NULL;
    size_t used = 0;
    if (needs_quotes)
        into[used++] = '"';
    for (size_t i = 0; i < value.len && used < 508; i++) {
        if (strchr("\"\\\n", value.at[i]))
            into[used++] = '\\';
        into[used++] = (char)(value.at[i] == '\n' ? 'n' : value.at[i]);
    }
    if (needs_quotes)
        into[used++] = '"';
    into[used] = 0;
    return into;
}

/* "model_name=x, cache_config.block_size=16" */
static void describe(const struct pt_engine_reading *r, const struct pt_engine_facts *facts,
                     struct pt_scraped *shown) {
    size_t used = 0;
    shown->config[0] = 0;
    pt_str_copy(shown->model, sizeof shown->model, pt_str_from(facts->model));
    for (size_t i = 0; i < r->info_count; i++) {
        struct pt_engine_info info = pt_engine_info(r, i);
        if (info.family.len == 0 && pt_str_eq(info.key, PT_STR("model_name")))
            pt_str_copy(shown->model, sizeof shown->model, info.value);
        char value[512];
        int n = snprintf(shown->config + used, sizeof shown->config - used, "%s%.*s%s%.*s=%s",
                         used ? ", " : "", (int)info.family.len, info.family.at,
                         info.family.len ? "." : "", (int)info.key.len, info.key.at,
                         quoted(info.value, value));
        if (n < 0 || used + (size_t)n >= sizeof shown->config) {
            shown->config[used] = 0;
            return;
        }
        used += (size_t)n;
    }
    int n = snprintf(shown->config + used, sizeof shown->config - used, "%s%s",
                     used && facts->text[0] ? ", " : "", facts->text);
    if (n < 0 || used + (size_t)n >= sizeof shown->config)
        shown->config[used] = 0;
}

static void note_effects(const struct endpoint *e, struct pt_scraped *shown) {
    const char *effect = pt_engine_metrics_effect(e->now.kind);
    shown->note[0] = 0;
    if (effect)
        snprintf(shown->note, sizeof shown->note, "%s; %s", effect,
                 e->pages.has_slots ? "Pitot reads /slots instead, and /metrics rarely"
                                    : "Pitot reads it at every scrape, because there is no /slots");
}

static void show_reading(struct pt_scraped *shown, const struct pt_engine_reading *r,
                         const struct pt_classic_histogram latencies[PT_ENGINE_LATENCY_COUNT]) {
    shown->kind = r->kind;
    shown->mono_ns = r->mono_ns;
    shown->present = r->present;
    memcpy(shown->values, r->values, sizeof shown->values);
    for (int l = 0; l < PT_ENGINE_LATENCY_COUNT; l++)
        for (int q = 0; q < PT_ENGINE_QUANTILE_COUNT; q++)
            shown->quantiles[l][q] =
                pt_classic_histogram_quantile(&latencies[l], pt_engine_quantiles[q]);
}

static void warn_of_missing(struct endpoint *e) {
    uint64_t missing = pt_engine_missing(&e->now);
    if (!missing || e->has_warned)
        return;
    e->has_warned = true;
    for (int i = 0; i < PT_ENGINE_FIELD_COUNT; i++)
        if (missing >> i & 1)
            pt_log(PT_LOG_WARNING, "%s (%s) does not export %s; the column stays empty",
                   e->shown.url, pt_engine_kind_name(e->now.kind), pt_engine_fields[i].name);
}

static void swap_readings(struct pt_engine_reading *a, struct pt_engine_reading *b) {
    struct pt_engine_reading kept = *a;
    *a = *b;
    *b = kept;
}

/* The body of a successful answer; false: there is none. */
static bool parse_answer(struct pt_scraper *s, struct endpoint *e, char *problem, size_t capacity) {
    struct pt_err err = { "" };
    swap_readings(&e->now, &e->before);
    s->parser.content_type = pt_str_from(e->request.content_type);
    s->parser.raw = s->o.wants_raw ? keep_raw : NULL;
    s->parser.raw_user = s;
    s->raw_engine = (uint32_t)(e - s->endpoints);
    clear_raw(&s->fresh);
    e->now.mono_ns = e->request.end_ns;
    if (!pt_engine_parse(&s->parser, pt_buf_as_str(&e->request.body), &e->now, &err)) {
        if (e->now.kind != PT_ENGINE_UNKNOWN || e->is_known)
            return true;
        snprintf(err.text, sizeof err.text, "not a known engine");
    }
    swap_readings(&e->now, &e->before);
    snprintf(problem, capacity, "%s", err.text);
    return false;
}

/* An engine of the recorded processes that refuses connections has ended, which is not a fault. One
 * that was never reached is reported early. */
static void log_failure(const struct pt_scraper *s, struct endpoint *e, bool has_gone,
                        const char *problem) {
    bool is_late = e->failure_count >= FAILURES_REPORTED || s->o.period_ns > PT_NS_PER_SECOND;
    if (e->is_known && e->is_recorded && e->request.error == -ECONNREFUSED) {
        if (has_gone)
            pt_log(PT_LOG_INFO, "the engine at %s has ended", e->shown.url);
    } else if (!e->is_unreachable && (has_gone || (!e->is_known && is_late))) {
        e->is_unreachable = true;
        pt_log(PT_LOG_WARNING, "cannot read the engine at %s: %s", e->shown.url, problem);
    }
}

static void fail_endpoint(struct pt_scraper *s, struct endpoint *e, const char *problem) {
    bool is_loading = e->request.error && e->request.status == 503;
    e->failure_count += !is_loading;
    if (!e->is_known && (is_loading || e->request.error == -ECONNREFUSED))
        e->is_young = true;
    pthread_mutex_lock(&s->lock);
    enum pt_scrape_state state = is_loading                         ? PT_SCRAPE_LOADING
                                 : e->failure_count < FAILURES_GONE ? PT_SCRAPE_FAILING
                                                                    : PT_SCRAPE_GONE;
    bool has_gone = state == PT_SCRAPE_GONE && e->shown.state != PT_SCRAPE_GONE;
    e->shown.state = state;
    pt_str_copy(e->shown.problem, sizeof e->shown.problem, pt_str_from(problem));
    pthread_mutex_unlock(&s->lock);
    if (!is_loading)
        log_failure(s, e, has_gone, problem);
}

/* The buckets as the engine counts them: tables have only their growth. */
static void keep_buckets(struct pt_scraper *s, const struct pt_engine_reading *r) {
    for (int l = 0; l < PT_ENGINE_LATENCY_COUNT; l++) {
        const struct pt_engine_histogram *h = &r->latencies[l];
        char name[64], label[48];
        snprintf(name, sizeof name, "latency_%s_s_bucket", pt_engine_latency_names[l]);
        for (size_t i = 0; i < h->count; i++) {
            if (isinf(h->buckets[i].le))
                snprintf(label, sizeof label, "le=\"+Inf\"");
            else
                snprintf(label, sizeof label, "le=\"%.15g\"", h->buckets[i].le);
            keep_raw(s, pt_str_from(name), pt_str_from(label), h->buckets[i].cumulative);
        }
    }
}

/* "" if there are none. */
static void describe_bad_lines(const struct pt_engine_reading *r, char *into, size_t capacity) {
    into[0] = 0;
    if (r->bad_line_count > 0)
        snprintf(into, capacity, "%u bad line%s left out: %.80s", r->bad_line_count,
                 r->bad_line_count == 1 ? "" : "s", r->first_bad.text);
}

/* Of the process that listens, if it is known. */
static void read_arguments(struct pt_scraper *s, struct endpoint *e) {
    char path[32];
    struct pt_scan words;
    snprintf(path, sizeof path, "%d/cmdline", (int)e->pid);
    if (e->pid && !pt_fs_read(s->o.fs->proc, path, &s->discovery.text, &words))
        pt_engine_facts_add_arguments(&e->pages.facts, e->now.kind, pt_scan_rest(&words));
}

static void take_answer(struct pt_scraper *s, struct endpoint *e) {
    char problem[128];
    if (e->request.error || !parse_answer(s, e, problem, sizeof problem)) {
        fail_endpoint(s, e, e->request.error ? e->request.words : problem);
        return;
    }
    if (e->is_unreachable || e->failure_count >= FAILURES_GONE)
        pt_log(PT_LOG_INFO, "the engine at %s answers%s", e->shown.url,
               e->is_known ? " again" : "");
    e->failure_count = 0;
    bool is_first = !e->is_known;
    e->is_known = e->has_answered = true;
    e->is_unreachable = false;
    e->metrics_ns = e->now.mono_ns;
    e->gap_ns = 0;
    if (is_first) {
        read_arguments(s, e);
        e->has_new_facts = true;
    }
    if (e->now.kind == PT_ENGINE_LLAMACPP)
        pt_slots_take_metrics(&e->pages.live, &e->now);
    pt_engine_delta(&e->before, &e->now, &e->delta);
    if (s->o.wants_raw)
        keep_buckets(s, &e->now);
    pthread_mutex_lock(&s->lock);
    show_raw(s);
    pt_bucket_growths_add(&s->growths, (uint32_t)(e - s->endpoints), &e->delta, e->now.mono_ns,
                          GROWTHS_MAX);
    pthread_mutex_unlock(&s->lock);
}

/* Pages besides the metrics. */

static double now_value(const struct endpoint *e, enum pt_engine_field field) {
    return pt_engine_has(&e->now, field) ? e->now.values[field] : 0;
}

static bool is_busy(const struct endpoint *e) {
    return now_value(e, PT_ENGINE_REQUESTS_RUNNING) + now_value(e, PT_ENGINE_REQUESTS_WAITING) > 0;
}

static void take_page(struct endpoint *e, enum pt_engine_page_id page) {
    int rc = pt_page_set_take(&e->pages, page);
    e->has_new_facts |= !rc && page != PT_PAGE_SLOTS;
    if (rc || page != PT_PAGE_SLOTS)
        return;
    e->has_slots = true;
    e->now.mono_ns = e->pages.requests[page].end_ns;
    e->live_fields = pt_slots_take(&e->pages.live, &e->pages.slots, e->has_answered,
                                   e->pages.facts.has_one_cache, &e->now);
    if (e->pages.live.has_gap && !e->gap_ns)
        e->gap_ns = e->now.mono_ns;
}

/* After the metrics: a request that ends in between is counted late, not twice. */
static void ask_pages(struct pt_scraper *s, int64_t timeout_ns) {
    struct pt_http_request requests[PT_SCRAPE_ENGINES * PT_PAGE_COUNT];
    struct {
        struct endpoint *endpoint;
        enum pt_engine_page_id page;
    } asked[PT_SCRAPE_ENGINES * PT_PAGE_COUNT];
    size_t count = 0;
    for (size_t i = 0; i < s->endpoint_count; i++) {
        struct endpoint *e = &s->endpoints[i];
        e->has_slots = false;
        for (int p = 0; p < PT_PAGE_COUNT; p++) {
            enum pt_engine_page_id page = (enum pt_engine_page_id)p;
            if (!e->is_known || e->failure_count > 0 ||
                !pt_page_set_is_due(&e->pages, page, e->now.kind, is_busy(e)))
                continue;
            asked[count].endpoint = e;
            asked[count].page = page;
            requests[count] = e->pages.requests[page];
            requests[count++].timeout_ns = timeout_ns;
        }
    }
    if (count > 0)
        pt_http_client_run(&s->client, requests, count);
    for (size_t i = 0; i < count; i++) {
        asked[i].endpoint->pages.requests[asked[i].page] = requests[i];
        take_page(asked[i].endpoint, asked[i].page);
    }
}

/* With slots alone, fields that only the metrics have are unknown: they were not read again. */
static void publish(struct pt_scraper *s, struct endpoint *e) {
    if (e->pages.facts.request_capacity > 0 &&
        !pt_engine_has(&e->now, PT_ENGINE_REQUEST_CAPACITY)) {
        e->now.values[PT_ENGINE_REQUEST_CAPACITY] = e->pages.facts.request_capacity;
        e->now.present |= UINT64_C(1) << PT_ENGINE_REQUEST_CAPACITY;
    }
    warn_of_missing(e);
    pthread_mutex_lock(&s->lock);
    e->shown.state = PT_SCRAPE_UP;
    describe_bad_lines(&e->now, e->shown.problem, sizeof e->shown.problem);
    if (e->has_answered)
        e->shown.took_ns = e->request.end_ns - e->request.start_ns;
    show_reading(&e->shown, &e->now, e->delta.latencies);
    if (!e->has_answered)
        e->shown.present = e->live_fields;
    if (e->has_new_facts)
        describe(&e->now, &e->pages.facts, &e->shown);
    e->has_new_facts = false;
    note_effects(e, &e->shown);
    pthread_mutex_unlock(&s->lock);
}

static void publish_all(struct pt_scraper *s) {
    for (size_t i = 0; i < s->endpoint_count; i++)
        if (s->endpoints[i].has_answered || s->endpoints[i].has_slots)
            publish(s, &s->endpoints[i]);
}

/* Reading the metrics of some engines has effects on others who read them: then they are read when
 * the slots do not say enough. An engine that was started by the recorded command ends with it, so
 * that a last read may come too late. */
static bool needs_metrics(const struct pt_scraper *s, const struct endpoint *e, int64_t now_ns) {
    if (!e->is_known || e->failure_count > 0 || !e->pages.has_slots ||
        !pt_engine_metrics_effect(e->now.kind))
        return true;
    const struct pt_slots_live *live = &e->pages.live;
    bool is_full = pt_slots_are_full(live), is_ours = e->is_young;
    if (!live->has_gap && !is_full && !e->pages.facts.may_sleep)
        return false;
    if (is_ours || is_full || e->pages.facts.may_sleep)
        return now_ns - e->metrics_ns >=
               (is_full && !is_ours ? FULL_PERIOD_NS : s->o.period_ns / 2);
    return now_ns - e->gap_ns >= (is_busy(e) ? BUSY_PERIOD_NS : IDLE_PERIOD_NS);
}

/* The latencies of the engines that answered in this round. */
static void combine_latencies(struct pt_scraper *s) {
    for (int l = 0; l < PT_ENGINE_LATENCY_COUNT; l++) {
        pt_classic_histogram_clear(&s->combined_latencies[l]);
        for (size_t i = 0; i < s->endpoint_count; i++)
            if (s->endpoints[i].has_answered)
                pt_classic_histogram_merge(&s->combined_latencies[l],
                                           &s->endpoints[i].delta.latencies[l]);
    }
}

/* An engine that fails for a moment is included with its last values: counters of the sum must not
 * jump back and forth. */
static void combine(struct pt_scraper *s) {
    const struct pt_engine_reading *readings[PT_SCRAPE_ENGINES];
    const struct endpoint *only = NULL;
    size_t count = 0;
    bool is_any_up = false;
    for (size_t i = 0; i < s->endpoint_count; i++) {
        const struct endpoint *e = &s->endpoints[i];
        if (!e->is_known || e->shown.state == PT_SCRAPE_GONE)
            continue;
        readings[count++] = &e->now;
        only = e;
        is_any_up |= e->shown.state == PT_SCRAPE_UP;
    }
    pt_engine_combine(readings, count, &s->combined);
    combine_latencies(s);
    pthread_mutex_lock(&s->lock);
    show_reading(&s->all, &s->combined, s->combined_latencies);
    if (count == 1)
        s->all.present &= only->shown.present;
    if (!is_any_up)
        s->all.mono_ns = 0;
    pthread_mutex_unlock(&s->lock);
}

/* The client runs an array of requests; those of the endpoints are moved there and back. */
static void ask(struct pt_scraper *s, struct endpoint *const *asked, size_t count,
                int64_t timeout_ns) {
    struct pt_http_request requests[PT_SCRAPE_ENGINES];
    for (size_t i = 0; i < count; i++) {
        requests[i] = asked[i]->request;
        requests[i].timeout_ns = timeout_ns;
    }
    pt_http_client_run(&s->client, requests, count);
    for (size_t i = 0; i < count; i++)
        asked[i]->request = requests[i];
    for (size_t i = 0; i < s->endpoint_count; i++)
        s->endpoints[i].has_answered = false;
}

/* An engine that the user expects; a refused connection costs next to nothing. */
static bool is_awaited(const struct endpoint *e) {
    return !e->is_known && e->request.error == -ECONNREFUSED;
}

static void scrape(struct pt_scraper *s, int64_t now_ns) {
    struct endpoint *asked[PT_SCRAPE_ENGINES];
    size_t count = 0;
    for (size_t i = 0; i < s->endpoint_count; i++) {
        struct endpoint *e = &s->endpoints[i];
        if (e->failure_count >= FAILURES_GONE && now_ns - e->tried_ns < GONE_PERIOD_NS &&
            !is_awaited(e))
            continue;
        if (!needs_metrics(s, e, now_ns))
            continue;
        e->tried_ns = now_ns;
        asked[count++] = e;
    }
    if (s->endpoint_count == 0 || !open_client(s))
        return;
    ask(s, asked, count, 0);
    for (size_t i = 0; i < count; i++)
        take_answer(s, asked[i]);
    ask_pages(s, 0);
    publish_all(s);
    combine(s);
}

/* An engine that ended with its command is not a failure: its last values stay. */
static void scrape_last(struct pt_scraper *s, int64_t timeout_ns) {
    struct endpoint *asked[PT_SCRAPE_ENGINES];
    size_t count = 0;
    bool is_any_new = false;
    for (size_t i = 0; i < s->endpoint_count; i++)
        if (s->endpoints[i].shown.state == PT_SCRAPE_UP)
            asked[count++] = &s->endpoints[i];
    if (count == 0 || timeout_ns <= 0)
        return;
    int64_t end_ns = pt_mono_ns() + timeout_ns;
    ask(s, asked, count, timeout_ns);
    for (size_t i = 0; i < count; i++) {
        if (asked[i]->request.error)
            continue;
        take_answer(s, asked[i]);
        is_any_new = true;
    }
    if (!is_any_new)
        return;
    if (end_ns > pt_mono_ns())
        ask_pages(s, end_ns - pt_mono_ns());
    publish_all(s);
    combine(s);
}

static struct timespec timespec_of(int64_t ns) {
    return (struct timespec){ ns / PT_NS_PER_SECOND, ns % PT_NS_PER_SECOND };
}

/* Under the lock. */
static bool is_ending(const struct pt_scraper *s) {
    return s->must_stop || s->last_by_ns;
}

static bool goes_on(struct pt_scraper *s) {
    pthread_mutex_lock(&s->lock);
    bool is_over = is_ending(s);
    pthread_mutex_unlock(&s->lock);
    return !is_over;
}

static void wait_until(struct pt_scraper *s, int64_t mono_ns) {
    struct timespec at = timespec_of(mono_ns);
    pthread_mutex_lock(&s->lock);
    while (!is_ending(s) && pthread_cond_timedwait(&s->wake, &s->lock, &at) != ETIMEDOUT)
        ;
    pthread_mutex_unlock(&s->lock);
}

/* A server that loads its model is asked between scrapes, too. */
static int64_t next_look_ns(const struct pt_scraper *s, int64_t next_ns) {
    int64_t soon_ns = pt_mono_ns() + PT_DISCOVER_LOADING_NS;
    return pt_discovery_is_loading(&s->discovery) && soon_ns < next_ns ? soon_ns : next_ns;
}

static void *run(void *user) {
    struct pt_scraper *s = user;
    pthread_setname_np(pthread_self(), "pitot-engines");
    /* no engine starts this fast, and a short command need not wait for a look at all processes */
    if (s->endpoint_count == 0)
        wait_until(s, pt_mono_ns() + FIRST_LOOK_NS);
    size_t scraped_count = 0;
    for (int64_t next_ns = pt_mono_ns(); goes_on(s);) {
        int64_t now_ns = pt_mono_ns();
        discover(s, now_ns);
        if (now_ns >= next_ns || s->endpoint_count > scraped_count) {
            scrape(s, now_ns);
            scraped_count = s->endpoint_count;
            next_ns =
                next_ns + s->o.period_ns > pt_mono_ns() ? next_ns + s->o.period_ns : pt_mono_ns();
        }
        wait_until(s, next_look_ns(s, next_ns));
    }
    pthread_mutex_lock(&s->lock);
    int64_t last_by_ns = s->last_by_ns;
    pthread_mutex_unlock(&s->lock);
    if (last_by_ns)
        scrape_last(s, last_by_ns - pt_mono_ns());
    pthread_mutex_lock(&s->lock);
    s->has_last = true;
    pthread_cond_signal(&s->last_is_there);
    pthread_mutex_unlock(&s->lock);
    return NULL;
}

int pt_scraper_new(struct pt_scraper **scraper, const struct pt_scrape_options *o,
                   struct pt_err *err) {
    if (!o->must_discover && o->url_count == 0)
        return -ENODATA;
    struct pt_scraper *s = pt_calloc(1, sizeof *s);
    s->o = *o;
    s->discovery.is_eager = o->root_count > 0;
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->wake, &monotonic);
    pthread_cond_init(&s->last_is_there, &monotonic);
    pthread_condattr_destroy(&monotonic);
    pthread_mutex_init(&s->lock, NULL);
    for (size_t i = 0; i < o->url_count; i++)
        if (!add_endpoint(s, o->urls[i])) {
            pt_scraper_free(s);
            return pt_fail(err, -EINVAL, "--engine: '%s' is not an address, or there are too many",
                           o->urls[i]);
        }
    int rc = pthread_create(&s->thread, NULL, run, s);
    s->has_thread = rc == 0;
    if (rc) {
        pt_scraper_free(s);
        return pt_fail(err, -rc, "cannot start a thread: %s", strerror(rc));
    }
    *scraper = s;
    return 0;
}

void pt_scraper_finish(struct pt_scraper *s, int64_t patience_ns) {
    bool is_any_up = false;
    int64_t by_ns = pt_mono_ns() + patience_ns;
    struct timespec at = timespec_of(by_ns);
    pthread_mutex_lock(&s->lock);
    for (size_t i = 0; i < s->endpoint_count; i++)
        is_any_up |= s->endpoints[i].shown.state == PT_SCRAPE_UP;
    if (is_any_up) {
        s->last_by_ns = by_ns;
        pthread_cond_signal(&s->wake);
    }
    while (is_any_up && !s->has_last &&
           pthread_cond_timedwait(&s->last_is_there, &s->lock, &at) != ETIMEDOUT)
        ;
    pthread_mutex_unlock(&s->lock);
}

void pt_scraper_free(struct pt_scraper *s) {
    if (!s)
        return;
    if (s->has_thread) {
        pthread_mutex_lock(&s->lock);
        s->must_stop = true;
        pthread_cond_signal(&s->wake);
        pthread_mutex_unlock(&s->lock);
        pthread_join(s->thread, NULL);
    }
    for (size_t i = 0; i < s->endpoint_count; i++) {
        pt_http_request_release(&s->endpoints[i].request);
        pt_page_set_release(&s->endpoints[i].pages);
        pt_engine_reading_release(&s->endpoints[i].now);
        pt_engine_reading_release(&s->endpoints[i].before);
        pt_engine_delta_release(&s->endpoints[i].delta);
    }
    if (s->has_client)
        pt_http_client_close(&s->client);
    pt_engine_reading_release(&s->combined);
    for (int l = 0; l < PT_ENGINE_LATENCY_COUNT; l++)
        pt_classic_histogram_release(&s->combined_latencies[l]);
    pt_engine_parser_release(&s->parser);
    pt_discovery_release(&s->discovery);
    release_raw(&s->raw);
    release_raw(&s->fresh);
    pt_bucket_growths_release(&s->growths);
    pthread_cond_destroy(&s->wake);
    pthread_cond_destroy(&s->last_is_there);
    pthread_mutex_destroy(&s->lock);
    pt_free(s);
}

size_t pt_scraper_take(struct pt_scraper *s, struct pt_scraped engines[PT_SCRAPE_ENGINES],
                       struct pt_scraped *all) {
    pthread_mutex_lock(&s->lock);
    size_t count = s->endpoint_count;
    *all = s->all;
    for (size_t i = 0; i < count; i++)
        engines[i] = s->endpoints[i].shown;
    pthread_mutex_unlock(&s->lock);
    return count;
}

size_t pt_scraper_take_raw(struct pt_scraper *s, struct pt_scraped_raw **rows, size_t *capacity,
                           struct pt_buf *text) {
    struct raw given = { .rows = *rows, .capacity = *capacity, .text = *text };
    clear_raw(&given);
    pthread_mutex_lock(&s->lock);
    struct raw taken = s->raw;
    s->raw = given;
    pthread_mutex_unlock(&s->lock);
    *rows = taken.rows;
    *capacity = taken.capacity;
    *text = taken.text;
    return taken.count;
}

void pt_scraper_take_growths(struct pt_scraper *s, struct pt_bucket_growths *growths) {
    struct pt_bucket_growths given = *growths;
    pt_bucket_growths_clear(&given);
    pthread_mutex_lock(&s->lock);
    *growths = s->growths;
    s->growths = given;
    pthread_mutex_unlock(&s->lock);
}
