/* The table of settings, and their sources: code, PITOT_* variables, a file:
 *
 *     # of the training job
 *     enable_metrics = true
 *     profiler_trace_dir = /var/tmp/traces */
#include "libpitot/config_settings.h"

#include "base/attr.h"
#include "base/digits.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#define FILE_SIZE     65536
#define PREFIX        "PITOT_"
#define CONFIG_NAME   "PITOT_CONFIG"
#define VARIABLE_SIZE 64
#define MESSAGE_SIZE  256

enum type { BOOL, INT, DOUBLE, TEXT };

struct field {
    const char *name;
    enum type type;
    size_t offset;
    double first; /* the default; not for texts */
    double min, max;
    const char *first_text;
};

#define AT(member) offsetof(pt_config, member)
#define TEXT_SIZE  sizeof(((pt_config *)NULL)->profiler_trace_dir)

static const struct field fields[] = {
    { "enable_metrics", BOOL, AT(enable_metrics), 0, 0, 1, NULL },
    { "enable_profiler", BOOL, AT(enable_profiler), 0, 0, 1, NULL },
    { "enable_gpu_monitoring", BOOL, AT(enable_gpu_monitoring), 0, 0, 1, NULL },
    { "collect_timing", BOOL, AT(collect_timing), 1, 0, 1, NULL },
    { "collect_throughput", BOOL, AT(collect_throughput), 1, 0, 1, NULL },
    { "collect_memory_basic", BOOL, AT(collect_memory_basic), 1, 0, 1, NULL },
    { "collect_gpu_utilization", BOOL, AT(collect_gpu_utilization), 0, 0, 1, NULL },
    { "collect_memory_detailed", BOOL, AT(collect_memory_detailed), 0, 0, 1, NULL },
    { "collect_component_profiling", BOOL, AT(collect_component_profiling), 0, 0, 1, NULL },
    { "profiler_record_shapes", BOOL, AT(profiler_record_shapes), 0, 0, 1, NULL },
    { "profiler_profile_memory", BOOL, AT(profiler_profile_memory), 0, 0, 1, NULL },
    { "profiler_with_stack", BOOL, AT(profiler_with_stack), 0, 0, 1, NULL },
    { "profiler_export_interval", INT, AT(profiler_export_interval), 1000, 1, INT_MAX, NULL },
    { "profiler_trace_dir", TEXT, AT(profiler_trace_dir), 0, 1, TEXT_SIZE - 1, "traces" },
    { "metrics_log_interval", INT, AT(metrics_log_interval), 10, 1, INT_MAX, NULL },
    { "gpu_monitor_interval", DOUBLE, AT(gpu_monitor_interval), 1.0, 0.1, 3600, NULL },
    { "memory_cleanup_check_interval", INT, AT(memory_cleanup_check_interval), 50, 1, INT_MAX,
      NULL },
    { "auto_disable_on_slow", BOOL, AT(auto_disable_on_slow), 1, 0, 1, NULL },
    { "performance_threshold", DOUBLE, AT(performance_threshold), 0.05, 0.0001, 1, NULL },
    { "debug_mode", BOOL, AT(debug_mode), 0, 0, 1, NULL },
    { "min_duration", DOUBLE, AT(min_duration), 0.001, 0, 3600, NULL },
    { "history_spans", INT, AT(history_spans), 200000, 0, 100000000, NULL },
    { "memory_interval", DOUBLE, AT(memory_interval), 0.5, 0.01, 3600, NULL },
};

static size_t size_of(const struct field *field) {
    static const size_t sizes[] = {
        [BOOL] = sizeof(bool), [INT] = sizeof(int), [DOUBLE] = sizeof(double), [TEXT] = TEXT_SIZE
    };
    return sizes[field->type];
}

/* A program built for an earlier version has a shorter struct. */
static bool has_field(const pt_config *config, const struct field *field) {
    return field->offset + size_of(field) <= config->size;
}

/* A program built for a later version has a longer one. */
static size_t known_size(const pt_config *config) {
    return config->size < sizeof *config ? config->size : sizeof *config;
}

static void *place_of(pt_config *config, const struct field *field) {
    return (char *)config + field->offset;
}

static void put_number(pt_config *config, const struct field *field, double value) {
    void *place = place_of(config, field);
    if (field->type == BOOL)
        *(bool *)place = value != 0;
    else if (field->type == INT)
        *(int *)place = (int)value;
    else
        *(double *)place = value;
}

static double get_number(const pt_config *config, const struct field *field) {
    const void *place = (const char *)config + field->offset;
    if (field->type == BOOL)
        return *(const bool *)place;
    return field->type == INT ? *(const int *)place : *(const double *)place;
}

void pt_config_init_(pt_config *config, size_t size) {
    memset(config, 0, size);
    config->size = (uint32_t)size;
    for (size_t i = 0; i < PT_COUNT(fields); i++) {
        if (!has_field(config, &fields[i]))
            continue;
        if (fields[i].type == TEXT)
            pt_str_copy(place_of(config, &fields[i]), TEXT_SIZE, pt_str_from(fields[i].first_text));
        else
            put_number(config, &fields[i], fields[i].first);
    }
}

static int parse_bool(struct pt_str text, double *value) {
    static const struct {
        const char *word;
        int value;
    } words[] = {
        { "true", 1 },  { "1", 1 }, { "yes", 1 }, { "on", 1 },
        { "false", 0 }, { "0", 0 }, { "no", 0 },  { "off", 0 },
    };
    for (size_t i = 0; i < PT_COUNT(words); i++)
        if (text.len == strlen(words[i].word) && !strncasecmp(text.at, words[i].word, text.len)) {
            *value = words[i].value;
            return 0;
        }
    return -EINVAL;
}

static int parse_number(const struct field *field, struct pt_str text, double *value) {
    struct pt_scan scan = pt_scan_of(text);
    if (field->type == BOOL)
        return parse_bool(text, value);
    *value = field->type == INT ? (double)pt_scan_i64(&scan) : pt_scan_f64(&scan);
    bool is_read = !scan.failed && scan.at == scan.end;
    return is_read && *value >= field->min && *value <= field->max ? 0 : -EINVAL;
}

/* "a whole number from 1 to 10". Returns `into`. */
static const char *describe(const struct field *field, char into[MESSAGE_SIZE]) {
    char min[PT_DIGITS_MAX] = "", max[PT_DIGITS_MAX] = "";
    min[pt_digits_f64(min, field->min)] = '\0';
    max[pt_digits_f64(max, field->max)] = '\0';
    if (field->type == BOOL)
        snprintf(into, MESSAGE_SIZE, "true or false");
    else if (field->type == TEXT)
        snprintf(into, MESSAGE_SIZE, "a text of %s to %s bytes", min, max);
    else
        snprintf(into, MESSAGE_SIZE, "a %s from %s to %s",
                 field->type == INT ? "whole number" : "number", min, max);
    return into;
}

static int set_field(pt_config *config, const struct field *field, struct pt_str value,
                     char message[MESSAGE_SIZE]) {
    char allowed[MESSAGE_SIZE], shown[64];
    double number = 0;
    bool is_text = field->type == TEXT;
    bool fits = value.len >= (size_t)field->min && value.len <= (size_t)field->max &&
                !memchr(value.at, 0, value.len);
    if (is_text ? !fits : parse_number(field, value, &number)) {
        snprintf(message, MESSAGE_SIZE, "%s: \"%s\" is not %s", field->name,
                 pt_str_copy(shown, sizeof shown, value), describe(field, allowed));
        return -EINVAL;
    }
    if (!has_field(config, field))
        return 0;
    if (is_text)
        pt_str_copy(place_of(config, field), TEXT_SIZE, value);
    else
        put_number(config, field, number);
    return 0;
}

static int set(pt_config *config, struct pt_str key, struct pt_str value,
               char message[MESSAGE_SIZE]) {
    char shown[64];
    for (size_t i = 0; i < PT_COUNT(fields); i++)
        if (pt_str_eq(key, pt_str_from(fields[i].name)))
            return set_field(config, &fields[i], value, message);
    snprintf(message, MESSAGE_SIZE, "%s: unknown setting", pt_str_copy(shown, sizeof shown, key));
    return -EINVAL;
}

static void say(char *into, size_t capacity, const char *where, const char *message) {
    if (into && capacity > 0)
        snprintf(into, capacity, "%s%s", where, message);
}

int pt_config_set(pt_config *config, const char *key, const char *value, char *message,
                  size_t capacity) {
    char wrong[MESSAGE_SIZE] = "";
    int rc = set(config, pt_str_from(key), pt_str_from(value), wrong);
    say(message, capacity, "", wrong);
    return rc;
}

static struct pt_str trim(struct pt_str s) {
    while (s.len > 0 && strchr(" \t\r", s.at[0]) && s.at[0])
        s = pt_str_skip(s, 1);
    while (s.len > 0 && strchr(" \t\r", s.at[s.len - 1]) && s.at[s.len - 1])
        s.len--;
    return s;
}

static int parse_line(pt_config *config, struct pt_scan line, char message[MESSAGE_SIZE]) {
    char shown[64];
    struct pt_str text = trim(pt_scan_rest(&line));
    if (text.len == 0 || text.at[0] == '#' || text.at[0] == ';')
        return 0;
    struct pt_scan scan = pt_scan_of(text);
    struct pt_str key = trim(pt_scan_until(&scan, '='));
    if (!scan.failed)
        return set(config, key, trim(pt_scan_rest(&scan)), message);
    snprintf(message, MESSAGE_SIZE, "\"%s\" is not KEY = VALUE",
             pt_str_copy(shown, sizeof shown, text));
    return -EINVAL;
}

int pt_settings_parse(pt_config *config, struct pt_scan text, const char *source, char *message,
                      size_t capacity) {
    pt_config changed;
    char wrong[MESSAGE_SIZE] = "", where[PATH_MAX + 32];
    struct pt_scan line;
    memset(&changed, 0, sizeof changed);
    memcpy(&changed, config, known_size(config));
    for (int number = 1; pt_scan_line(&text, &line); number++) {
        int rc = parse_line(&changed, line, wrong);
        if (!rc)
            continue;
        snprintf(where, sizeof where, "%s:%d: ", source, number);
        say(message, capacity, where, wrong);
        return rc;
    }
    memcpy(config, &changed, known_size(config));
    say(message, capacity, "", "");
    return 0;
}

/* Up to FILE_SIZE bytes; returns their number, or -errno. */
static ssize_t read_whole(const char *path, char *into) {
    size_t length = 0;
    ssize_t n = 0;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return -errno;
    do {
        n = read(fd, into + length, FILE_SIZE - length);
        length += n > 0 ? (size_t)n : 0;
    } while ((n > 0 && length < FILE_SIZE) || (n < 0 && errno == EINTR));
    ssize_t rc = n < 0 ? -errno : length == FILE_SIZE ? -EFBIG : (ssize_t)length;
    close(fd);
    return rc;
}

int pt_config_read_file(pt_config *config, const char *path, char *message, size_t capacity) {
    int saved_errno = errno;
    char *text = malloc(FILE_SIZE);
    ssize_t length = text ? read_whole(path, text) : -ENOMEM;
    int rc = length < 0 ? (int)length : 0;
    if (rc) {
        char reason[MESSAGE_SIZE];
        snprintf(reason, sizeof reason, ": %s", strerror(-rc));
        say(message, capacity, path, reason);
    } else {
        struct pt_str whole = { text, (size_t)length };
        rc = pt_settings_parse(config, pt_scan_of(whole), path, message, capacity);
    }
    free(text);
    errno = saved_errno;
    return rc;
}

/* PITOT_ENABLE_METRICS for enable_metrics. */
static void name_variable(const struct field *field, char into[VARIABLE_SIZE]) {
    size_t at = (size_t)snprintf(into, VARIABLE_SIZE, "%s", PREFIX);
    for (const char *c = field->name; *c && at + 1 < VARIABLE_SIZE; c++)
        into[at++] = (char)(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
    into[at] = '\0';
}

static int read_variables(pt_config *config, char *message, size_t capacity) {
    for (size_t i = 0; i < PT_COUNT(fields); i++) {
        char name[VARIABLE_SIZE], wrong[MESSAGE_SIZE] = "";
        name_variable(&fields[i], name);
        const char *value = secure_getenv(name);
        if (!value || !set_field(config, &fields[i], trim(pt_str_from(value)), wrong))
            continue;
        say(message, capacity, "environment: ", wrong);
        return -EINVAL;
    }
    return 0;
}

int pt_config_read_environment(pt_config *config, char *message, size_t capacity) {
    const char *path = secure_getenv(CONFIG_NAME);
    pt_config changed;
    int rc = 0;
    memset(&changed, 0, sizeof changed);
    memcpy(&changed, config, known_size(config));
    say(message, capacity, "", "");
    if (path && *path)
        rc = pt_config_read_file(&changed, path, message, capacity);
    if (!rc)
        rc = read_variables(&changed, message, capacity);
    if (!rc)
        memcpy(config, &changed, known_size(config));
    return rc;
}

bool pt_settings_in_environment(void) {
    const char *path = secure_getenv(CONFIG_NAME);
    bool is_set = path && *path;
    for (size_t i = 0; i < PT_COUNT(fields) && !is_set; i++) {
        char name[VARIABLE_SIZE];
        name_variable(&fields[i], name);
        is_set = secure_getenv(name);
    }
    return is_set;
}

static bool is_in_range(const pt_config *config, const struct field *field) {
    if (field->type == TEXT) {
        size_t length = strnlen((const char *)config + field->offset, TEXT_SIZE);
        return length >= 1 && length < TEXT_SIZE;
    }
    double value = get_number(config, field);
    return value >= field->min && value <= field->max;
}

int pt_settings_check(const pt_config *config, char *message, size_t capacity) {
    for (size_t i = 0; i < PT_COUNT(fields); i++) {
        char allowed[MESSAGE_SIZE], wrong[2 * MESSAGE_SIZE];
        if (!has_field(config, &fields[i]) || is_in_range(config, &fields[i]))
            continue;
        snprintf(wrong, sizeof wrong, "%s: not %s", fields[i].name, describe(&fields[i], allowed));
        say(message, capacity, "", wrong);
        return -EINVAL;
    }
    return 0;
}
