#include "push/push_settings.h"

#include "base/clock.h"
#include "base/mask.h"
#include "base/options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define OTLP_TIMEOUT_NS   (10 * PT_NS_PER_SECOND)
#define REMOTE_WRITE_PATH "/api/v1/write"
#define OTLP_PATH         "/v1/metrics"

/* Environment variables; empty counts as unset. */
static const char *variable(const char *name) {
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

/* The variable for metrics has priority over the one for all signals. */
static const char *otlp_variable(const char *what) {
    char name[64];
    snprintf(name, sizeof name, "OTEL_EXPORTER_OTLP_METRICS_%s", what);
    const char *value = variable(name);
    if (value)
        return value;
    snprintf(name, sizeof name, "OTEL_EXPORTER_OTLP_%s", what);
    return variable(name);
}

/* The part of a URL after its host; NULL: not an HTTP URL. */
static const char *path_of(const char *url) {
    const char *host = strncmp(url, "http://", 7) == 0    ? url + 7
                       : strncmp(url, "https://", 8) == 0 ? url + 8
                                                          : NULL;
    if (!host || !*host || strchr("/?#", *host))
        return NULL;
    return host + strcspn(host, "/?#");
}

static int check_url(const char *option, const char *url, struct pt_err *err) {
    if (path_of(url))
        return 0;
    return pt_fail(err, -EINVAL, "%s: '%s' is not a URL (examples: http://HOST:PORT, https://HOST)",
                   option, url);
}

static int find_remote_write(struct pt_push_settings *s, const char *url, struct pt_err *err) {
    if (!url || !*url)
        return 0;
    int rc = check_url("--remote-write", url, err);
    if (rc)
        return rc;
    const char *path = path_of(url);
    bool is_bare = *path == 0 || strcmp(path, "/") == 0;
    s->remote_write =
        is_bare ? pt_asprintf("%.*s" REMOTE_WRITE_PATH, (int)(path - url), url) : pt_strdup(url);
    return 0;
}

/* The value is a base URL, unless it ends with the path of a metrics endpoint. */
static char *otlp_endpoint(const char *base) {
    struct pt_str url = pt_str_from(base);
    if (pt_str_ends(url, PT_STR(OTLP_PATH)))
        return pt_strdup(base);
    while (url.len > 0 && url.at[url.len - 1] == '/')
        url.len--;
    return pt_asprintf("%.*s" OTLP_PATH, (int)url.len, url.at);
}

/* The variables may be meant for the recorded program: unusable values must not prevent
 * recording. */
static bool can_use_endpoint(struct pt_push_settings *s, const char *url) {
    const char *protocol = otlp_variable("PROTOCOL");
    if (!path_of(url))
        snprintf(s->warning, sizeof s->warning,
                 "OTEL_EXPORTER_OTLP_ENDPOINT: '%s' is not an HTTP URL; samples are not sent there",
                 url);
    else if (protocol && strcmp(protocol, "http/protobuf") != 0)
        snprintf(s->warning, sizeof s->warning,
                 "OTEL_EXPORTER_OTLP_PROTOCOL is '%s', but Pitot supports only http/protobuf; "
                 "samples are not sent (set --otlp URL or --otlp off)",
                 protocol);
    return s->warning[0] == 0;
}

static int find_otlp(struct pt_push_settings *s, const char *url, struct pt_err *err) {
    if (url && strcmp(url, "off") == 0)
        return 0;
    if (!url || !*url) {
        const char *endpoint = variable("OTEL_EXPORTER_OTLP_METRICS_ENDPOINT");
        const char *base = variable("OTEL_EXPORTER_OTLP_ENDPOINT");
        const char *given = endpoint ? endpoint : base;
        if (given && can_use_endpoint(s, given))
            s->otlp = endpoint ? pt_strdup(endpoint) : otlp_endpoint(base);
        return 0;
    }
    s->otlp = otlp_endpoint(url);
    return check_url("--otlp", url, err);
}

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    char lower = (char)(c | 0x20);
    return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

/* Decodes %20 and the like, in place. */
static void decode_percent(char *text) {
    char *to = text;
    for (const char *from = text; *from; from++) {
        int high = *from == '%' ? hex_digit(from[1]) : -1;
        int low = high >= 0 ? hex_digit(from[2]) : -1;
        *to++ = low >= 0 ? (char)(high << 4 | low) : *from;
        from += low >= 0 ? 2 : 0;
    }
    *to = 0;
}

static char *trimmed(struct pt_str s) {
    while (s.len > 0 && strchr(" \t", *s.at))
        s = pt_str_skip(s, 1);
    while (s.len > 0 && strchr(" \t", s.at[s.len - 1]))
        s.len--;
    return pt_strndup(s);
}

/* name=value,name=value, percent-encoded, as in OTEL_* variables; items of another form are
 * ignored, as their specification says. */
static void read_pairs(const char *text, struct pt_push_label **pairs, size_t *count,
                       size_t *capacity) {
    for (const char *at = text; at && *at; at += *at == ',') {
        size_t length = strcspn(at, ",");
        const char *equals = memchr(at, '=', length);
        if (equals && equals > at) {
            struct pt_str value = { equals + 1, length - (size_t)(equals + 1 - at) };
            pt_grow(pairs, capacity, *count + 1, sizeof **pairs);
            struct pt_push_label *pair = &(*pairs)[(*count)++];
            pair->name = trimmed((struct pt_str){ at, (size_t)(equals - at) });
            pair->value = trimmed(value);
            decode_percent(pair->value);
        }
        at += length;
    }
}

/* Receivers get them with every series. */
static void hide_secrets(struct pt_push_label *pairs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        struct pt_buf masked = { 0 };
        pt_mask_value(&masked, pt_str_from(pairs[i].name), pt_str_from(pairs[i].value));
        pt_free(pairs[i].value);
        pairs[i].value = pt_strndup(pt_buf_as_str(&masked));
        pt_buf_release(&masked);
    }
}

static bool is_label_name(struct pt_str name) {
    for (size_t i = 0; i < name.len; i++) {
        char c = name.at[i];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
        if (!is_letter && !(i > 0 && c >= '0' && c <= '9'))
            return false;
    }
    return name.len > 0 && !pt_str_starts(name, PT_STR("__"));
}

static struct pt_push_label *find_label(struct pt_push_settings *s, struct pt_str name) {
    for (size_t i = 0; i < s->label_count; i++)
        if (pt_str_eq(pt_str_from(s->labels[i].name), name))
            return &s->labels[i];
    return NULL;
}

/* An empty value removes a default. */
static int set_label(struct pt_push_settings *s, const char *given, struct pt_err *err) {
    const char *equals = strchr(given, '=');
    struct pt_str name = { given, equals ? (size_t)(equals - given) : 0 };
    if (!equals || !is_label_name(name))
        return pt_fail(err, -EINVAL, "--push-label: '%s' is not of the form name=value", given);
    struct pt_push_label *label = find_label(s, name);
    if (!label) {
        if (s->label_count == PT_PUSH_LABELS_MAX)
            return pt_fail(err, -E2BIG, "--push-label: at most %d labels", PT_PUSH_LABELS_MAX);
        label = &s->labels[s->label_count++];
        label->name = pt_strndup(name);
    }
    pt_free(label->value);
    label->value = pt_strdup(equals + 1);
    return 0;
}

static int by_name(const void *a, const void *b) {
    const struct pt_push_label *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static void drop_empty_labels(struct pt_push_settings *s) {
    size_t kept = 0;
    for (size_t i = 0; i < s->label_count; i++) {
        if (*s->labels[i].value) {
            s->labels[kept++] = s->labels[i];
            continue;
        }
        pt_free(s->labels[i].name);
        pt_free(s->labels[i].value);
    }
    s->label_count = kept;
}

/* Which process of a job this is, according to its launcher. */
static const char *rank(void) {
    static const char *const variables[] = { "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                             "RANK" };
    for (size_t i = 0; i < PT_COUNT(variables); i++)
        if (variable(variables[i]))
            return variable(variables[i]);
    return NULL;
}

static int set_default(struct pt_push_settings *s, const char *name, const char *value) {
    char text[512];
    struct pt_err err;
    snprintf(text, sizeof text, "%s=%s", name, value);
    return set_label(s, text, &err);
}

static void host_name(char *into, size_t capacity) {
    if (gethostname(into, capacity - 1))
        snprintf(into, capacity, "localhost");
    into[capacity - 1] = 0;
}

static int find_labels(struct pt_push_settings *s, const struct pt_push_options *o,
                       struct pt_err *err) {
    char host[256];
    host_name(host, sizeof host);
    int rc = set_default(s, "job", "pitot");
    if (!rc)
        rc = set_default(s, "instance", host);
    if (!rc && rank())
        rc = set_default(s, "rank", rank());
    for (size_t i = 0; i < o->label_count && !rc; i++)
        rc = set_label(s, o->labels[i], err);
    if (rc)
        return rc;
    drop_empty_labels(s);
    hide_secrets(s->labels, s->label_count);
    qsort(s->labels, s->label_count, sizeof *s->labels, by_name);
    return 0;
}

static bool has_attribute(const struct pt_push_settings *s, const char *name) {
    for (size_t i = 0; i < s->attribute_count; i++)
        if (strcmp(s->attributes[i].name, name) == 0)
            return true;
    return false;
}

static void add_attribute(struct pt_push_settings *s, const char *name, const char *value) {
    if (!value || !*value || has_attribute(s, name))
        return;
    pt_grow(&s->attributes, &s->attribute_capacity, s->attribute_count + 1, sizeof *s->attributes);
    s->attributes[s->attribute_count++] =
        (struct pt_push_label){ pt_strdup(name), pt_strdup(value) };
}

/* The first source that has a value wins. */
static void find_attributes(struct pt_push_settings *s, const struct pt_push_options *o) {
    char host[256];
    host_name(host, sizeof host);
    for (size_t i = 0; i < o->label_count; i++) {
        char name[256];
        const char *equals = strchr(o->labels[i], '=');
        pt_str_copy(name, sizeof name,
                    (struct pt_str){ o->labels[i], (size_t)(equals - o->labels[i]) });
        add_attribute(s, name, equals + 1);
    }
    add_attribute(s, "service.name", variable("OTEL_SERVICE_NAME"));
    read_pairs(variable("OTEL_RESOURCE_ATTRIBUTES"), &s->attributes, &s->attribute_count,
               &s->attribute_capacity);
    add_attribute(s, "service.name", "pitot");
    add_attribute(s, "service.version", PITOT_VERSION);
    add_attribute(s, "host.name", host);
    add_attribute(s, "rank", rank());
    hide_secrets(s->attributes, s->attribute_count);
}

static int find_state_directory(struct pt_push_settings *s, const char *given, struct pt_err *err) {
    const char *state = variable("XDG_STATE_HOME"), *home = variable("HOME");
    if (given && *given)
        s->state_directory = pt_strdup(given);
    else if (state && *state == '/')
        s->state_directory = pt_asprintf("%s/pitot", state);
    else if (home)
        s->state_directory = pt_asprintf("%s/.local/state/pitot", home);
    else
        return pt_fail(err, -EINVAL,
                       "no directory for the push queue: HOME is not set (use --state-dir)");
    return 0;
}

static void find_otlp_details(struct pt_push_settings *s) {
    const char *timeout = otlp_variable("TIMEOUT"), *compression = otlp_variable("COMPRESSION");
    struct pt_err why;
    read_pairs(otlp_variable("HEADERS"), &s->headers, &s->header_count, &s->header_capacity);
    s->is_otlp_plain = compression && strcmp(compression, "none") == 0;
    s->otlp_timeout_ns = OTLP_TIMEOUT_NS;
    if (!timeout || (!pt_duration_parse(timeout, PT_NS_PER_MS, &s->otlp_timeout_ns, &why) &&
                     s->otlp_timeout_ns > 0))
        return;
    s->otlp_timeout_ns = OTLP_TIMEOUT_NS;
    snprintf(s->warning, sizeof s->warning,
             "OTEL_EXPORTER_OTLP_TIMEOUT: '%s' is not a number of milliseconds; using 10 s",
             timeout);
}

int pt_push_settings_read(struct pt_push_settings *s, const struct pt_push_options *options,
                          struct pt_err *err) {
    *s = (struct pt_push_settings){ .has_processes = options->has_processes,
                                    .has_native = options->has_native,
                                    .bounds = options->bounds };
    int rc = find_remote_write(s, options->remote_write, err);
    if (!rc)
        rc = find_otlp(s, options->otlp, err);
    if (!rc)
        rc = find_labels(s, options, err);
    if (rc || (!s->remote_write && !s->otlp))
        return rc;
    find_attributes(s, options);
    if (options->token_file)
        s->token_file = pt_strdup(options->token_file);
    if (s->otlp)
        find_otlp_details(s);
    return find_state_directory(s, options->state_directory, err);
}

static void release_pairs(struct pt_push_label *pairs, size_t count) {
    for (size_t i = 0; i < count; i++) {
        pt_free(pairs[i].name);
        pt_free(pairs[i].value);
    }
}

void pt_push_settings_release(struct pt_push_settings *s) {
    release_pairs(s->labels, s->label_count);
    release_pairs(s->attributes, s->attribute_count);
    release_pairs(s->headers, s->header_count);
    pt_free(s->attributes);
    pt_free(s->headers);
    pt_free(s->remote_write);
    pt_free(s->otlp);
    pt_free(s->state_directory);
    pt_free(s->token_file);
    *s = (struct pt_push_settings){ 0 };
}

void pt_push_url_shown(const char *url, char *into, size_t capacity) {
    const char *path = path_of(url), *host = strstr(url, "://");
    const char *at = path && host ? memrchr(host, '@', (size_t)(path - host)) : NULL;
    if (at)
        snprintf(into, capacity, "%.*s%s", (int)(host + 3 - url), url, at + 1);
    else
        snprintf(into, capacity, "%s", url);
}
