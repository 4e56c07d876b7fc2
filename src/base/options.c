#include "base/options.h"

#include "base/clock.h"
#include "base/mem.h"
#include "base/scan.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <ini.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static const struct {
    const char *suffix;
    double ns;
} duration_units[] = {
    { "ns", 1 },   { "us", 1e3 },   { "ms", 1e6 },   { "s", 1e9 },
    { "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 },
};

int pt_duration_parse(const char *text, int64_t bare_unit_ns, int64_t *ns, struct pt_err *err) {
    char *end;
    double value = strtod(text, &end), unit = 0;
    if (end == text || !(isdigit((unsigned char)*text) || *text == '.'))
        return pt_fail(err, -EINVAL, "'%s' is not a duration: write 100ms, 1s, 5m or 2h", text);
    if (!*end)
        unit = (double)bare_unit_ns;
    for (size_t i = 0; i < PT_COUNT(duration_units); i++)
        if (strcmp(end, duration_units[i].suffix) == 0)
            unit = duration_units[i].ns;
    if (unit == 0)
        return pt_fail(err, -EINVAL, "'%s' has an unknown unit: use us, ms, s, m, h or d", text);
    double total = value * unit;
    if (!isfinite(total) || total >= 9e18)
        return pt_fail(err, -EINVAL, "'%s' is too long a duration", text);
    *ns = (int64_t)llround(total);
    return 0;
}

static int parse_flag(const char *text, bool *value, struct pt_err *err) {
    static const char *const yes[] = { "", "1", "true", "yes", "on" };
    static const char *const no[] = { "0", "false", "no", "off" };
    for (size_t i = 0; i < PT_COUNT(yes); i++)
        if (strcasecmp(text, yes[i]) == 0)
            return *value = true, 0;
    for (size_t i = 0; i < PT_COUNT(no); i++)
        if (strcasecmp(text, no[i]) == 0)
            return *value = false, 0;
    return pt_fail(err, -EINVAL, "'%s' is neither yes nor no", text);
}

static int parse_i64(const char *text, int64_t *value, struct pt_err *err) {
    struct pt_scan s = pt_scan_of(pt_str_from(text));
    *value = pt_scan_i64(&s);
    if (s.failed || s.at != s.end)
        return pt_fail(err, -EINVAL, "'%s' is not a whole number", text);
    return 0;
}

static int parse_percent(const char *text, double *value, struct pt_err *err) {
    char *end;
    *value = strtod(text, &end);
    if (end == text || !isfinite(*value) || *value < 0 || (*end && strcmp(end, "%") != 0))
        return pt_fail(err, -EINVAL, "'%s' is not a percentage: write 5 or 5%%", text);
    return 0;
}

static void list_add(struct pt_option_list *list, const char *item) {
    pt_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items[list->count++] = item;
}

static int set_value(const struct pt_option *o, void *values, const char *text,
                     struct pt_err *err) {
    void *at = (char *)values + o->offset;
    switch (o->kind) {
    case PT_OPTION_FLAG:
        return parse_flag(text, at, err);
    case PT_OPTION_COUNT:
        if (!*text)
            return ++*(int64_t *)at, 0;
        return parse_i64(text, at, err);
    case PT_OPTION_TEXT:
        *(const char **)at = text;
        return 0;
    case PT_OPTION_LIST:
        list_add(at, text);
        return 0;
    case PT_OPTION_I64:
        return parse_i64(text, at, err);
    case PT_OPTION_MS:
        return pt_duration_parse(text, PT_NS_PER_MS, at, err);
    case PT_OPTION_S:
        return pt_duration_parse(text, PT_NS_PER_SECOND, at, err);
    case PT_OPTION_PERCENT:
        return parse_percent(text, at, err);
    }
    return -EINVAL;
}

/* Sets a value and says where a wrong one came from. */
static int set_from(const struct pt_option *o, void *values, const char *text, const char *where,
                    struct pt_err *err) {
    struct pt_err reason = { "" };
    int rc = set_value(o, values, text, &reason);
    return rc ? pt_fail(err, rc, "%s: %s", where, reason.text) : 0;
}

static int set_defaults(const struct pt_option_table *t, void *values, struct pt_err *err) {
    for (size_t i = 0; i < t->option_count; i++) {
        const struct pt_option *o = &t->options[i];
        if (!o->default_text || !pt_option_applies(t, o))
            continue;
        int rc = set_from(o, values, o->default_text, o->name, err);
        if (rc)
            return rc;
    }
    return 0;
}

struct file_reading {
    const struct pt_option_table *table;
    void *values;
    struct pt_err *err;
    int rc;
};

/* Keys before any section, or in the section of this command. */
static int file_entry(void *user, const char *section, const char *name, const char *value) {
    struct file_reading *r = user;
    if (*section && strcmp(section, r->table->command_name) != 0)
        return 1;
    bool is_known = false;
    for (size_t i = 0; i < r->table->option_count && !r->rc; i++) {
        const struct pt_option *o = &r->table->options[i];
        if (strcmp(o->name, name) != 0)
            continue;
        is_known = true;
        if (pt_option_applies(r->table, o))
            r->rc = set_from(o, r->values, pt_strdup(value), name, r->err);
    }
    if (is_known)
        return r->rc == 0;
    r->rc = pt_fail(r->err, -EINVAL, "unknown key '%s'", name);
    return 0;
}

static int read_file(const struct pt_option_table *t, void *values, const char *path,
                     struct pt_err *err) {
    struct pt_err reason = { "" };
    struct file_reading r = { t, values, &reason, 0 };
    if (access(path, R_OK))
        return 0;
    int line = ini_parse(path, file_entry, &r);
    if (r.rc || line > 0)
        return pt_fail(err, -EINVAL, "%s:%d: %s", path, line > 0 ? line : 1,
                       r.rc ? reason.text : "not a 'key = value' line");
    return 0;
}

static int read_files(const struct pt_option_table *t, void *values, struct pt_err *err) {
    int rc = read_file(t, values, "/etc/pitot/pitot.conf", err);
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char *path = config && *config ? pt_asprintf("%s/pitot/pitot.conf", config)
                 : home            ? pt_asprintf("%s/.config/pitot/pitot.conf", home)
                                   : NULL;
    if (!rc && path)
        rc = read_file(t, values, path, err);
    pt_free(path);
    return rc;
}

void pt_option_variable(const struct pt_option *option, char *into, size_t capacity) {
    int n = snprintf(into, capacity, "PITOT_%s", option->name);
    for (int i = 0; i < n && i < (int)capacity; i++)
        into[i] = (char)(into[i] == '-' || into[i] == '.' ? '_' : toupper((unsigned char)into[i]));
}

static int read_environment(const struct pt_option_table *t, void *values, struct pt_err *err) {
    for (size_t i = 0; i < t->option_count; i++) {
        char variable[64];
        pt_option_variable(&t->options[i], variable, sizeof variable);
        const char *text = pt_option_applies(t, &t->options[i]) ? getenv(variable) : NULL;
        if (!text || !*text)
            continue;
        int rc = set_from(&t->options[i], values, text, variable, err);
        if (rc)
            return rc;
    }
    return 0;
}

static bool takes_argument(const struct pt_option *o) {
    return o->kind != PT_OPTION_FLAG && o->kind != PT_OPTION_COUNT;
}

/* Longest common start, as a measure of what was meant. */
static const char *nearest(const struct pt_option_table *t, const char *word) {
    const char *best = NULL;
    size_t best_length = 1;
    for (size_t i = 0; i < t->option_count; i++) {
        size_t n = 0;
        const char *name = t->options[i].name;
        while (name[n] && name[n] == word[n])
            n++;
        if (pt_option_applies(t, &t->options[i]) && n > best_length) {
            best_length = n;
            best = name;
        }
    }
    return best;
}

static int unknown_option(const struct pt_option_table *t, char **argv, int index, int letter,
                          struct pt_err *err) {
    if (letter)
        return pt_fail(err, -EINVAL, "unknown option -%c; see pitot %s --help", letter,
                       t->command_name);
    const char *word = argv[index];
    const char *meant = nearest(t, word + strspn(word, "-"));
    return pt_fail(err, -EINVAL, "unknown option %s%s%s; see pitot %s --help", word,
                   meant ? ", did you mean --" : "", meant ? meant : "", t->command_name);
}

struct getopt_table {
    struct option *longs;
    char *shorts;
};

#define NEGATED 0x10000

static void build_getopt(const struct pt_option_table *t, struct getopt_table *g) {
    size_t n = 0, letters = 0;
    g->longs = pt_calloc(2 * t->option_count + 1, sizeof *g->longs);
    g->shorts = pt_calloc(2 * t->option_count + 3, 1);
    if (t->ends_at_operand)
        g->shorts[letters++] = '+';
    g->shorts[letters++] = ':';
    for (size_t i = 0; i < t->option_count; i++) {
        const struct pt_option *o = &t->options[i];
        if (!pt_option_applies(t, o))
            continue;
        g->longs[n++] = (struct option){ o->name, takes_argument(o), NULL, 256 + (int)i };
        if (o->kind == PT_OPTION_FLAG)
            g->longs[n++] =
                (struct option){ pt_asprintf("no-%s", o->name), 0, NULL, NEGATED + (int)i };
        if (!o->short_name)
            continue;
        g->shorts[letters++] = o->short_name;
        if (takes_argument(o))
            g->shorts[letters++] = ':';
    }
}

static void release_getopt(const struct pt_option_table *t, struct getopt_table *g) {
    (void)t;
    for (struct option *o = g->longs; o->name; o++)
        if (o->val >= NEGATED)
            pt_free((char *)o->name);
    pt_free(g->longs);
    pt_free(g->shorts);
}

static int find_short(const struct pt_option_table *t, int letter) {
    for (size_t i = 0; i < t->option_count; i++)
        if (pt_option_applies(t, &t->options[i]) && t->options[i].short_name == letter)
            return (int)i;
    return -1;
}

static int set_from_command_line(const struct pt_option_table *t, void *values, int code,
                                 const char *argument, struct pt_err *err) {
    bool is_negated = code >= NEGATED;
    int i = is_negated ? code - NEGATED : code >= 256 ? code - 256 : find_short(t, code);
    const struct pt_option *o = &t->options[i];
    char where[64];
    snprintf(where, sizeof where, "--%s", o->name);
    return set_from(o, values, is_negated ? "no" : argument ? argument : "", where, err);
}

/* A list given on the command line replaces one from the file or environment. */
static void forget_list(const struct pt_option_table *t, void *values, int code, bool *is_fresh) {
    int i = code >= 256 ? code - 256 : find_short(t, code);
    if (i < 0 || t->options[i].kind != PT_OPTION_LIST || is_fresh[i])
        return;
    is_fresh[i] = true;
    ((struct pt_option_list *)((char *)values + t->options[i].offset))->count = 0;
}

static int read_command_line(const struct pt_option_table *t, void *values, int argc, char **argv,
                             struct pt_err *err) {
    struct getopt_table g;
    bool *is_fresh = pt_calloc(t->option_count, sizeof *is_fresh);
    build_getopt(t, &g);
    optind = 0;
    opterr = 0;
    int code, rc = 0;
    while (!rc && (code = getopt_long(argc, argv, g.shorts, g.longs, NULL)) != -1) {
        if (code == '?')
            rc = unknown_option(t, argv, optind - 1, optopt < 256 ? optopt : 0, err);
        else if (code == ':')
            rc = pt_fail(err, -EINVAL, "option %s needs a value", argv[optind - 1]);
        else {
            if (code < NEGATED)
                forget_list(t, values, code, is_fresh);
            rc = set_from_command_line(t, values, code, optarg, err);
        }
    }
    release_getopt(t, &g);
    pt_free(is_fresh);
    return rc;
}

int pt_options_parse(const struct pt_option_table *t, void *values, int argc, char **argv,
                     int *first_operand, bool *has_dashes, struct pt_err *err) {
    int rc = set_defaults(t, values, err);
    if (!rc)
        rc = read_files(t, values, err);
    if (!rc)
        rc = read_environment(t, values, err);
    if (!rc)
        rc = read_command_line(t, values, argc, argv, err);
    *first_operand = optind;
    *has_dashes = !rc && optind > 0 && optind <= argc && strcmp(argv[optind - 1], "--") == 0;
    return rc;
}

void pt_options_release(const struct pt_option_table *t, void *values) {
    for (size_t i = 0; i < t->option_count; i++)
        if (t->options[i].kind == PT_OPTION_LIST)
            pt_free(((struct pt_option_list *)((char *)values + t->options[i].offset))->items);
}

void pt_options_help(const struct pt_option_table *t, struct pt_out *out) {
    for (size_t i = 0; i < t->option_count; i++) {
        const struct pt_option *o = &t->options[i];
        char flag[64], shorts[8] = "    ";
        if (!pt_option_applies(t, o))
            continue;
        if (o->short_name)
            snprintf(shorts, sizeof shorts, "-%c, ", o->short_name);
        snprintf(flag, sizeof flag, "%s--%s%s%s", shorts, o->name, o->argument ? " " : "",
                 o->argument ? o->argument : "");
        pt_out_printf(out, "  %-30s %s", flag, o->help);
        if (o->default_text && takes_argument(o))
            pt_out_printf(out, " [%s]", o->default_text);
        pt_out_char(out, '\n');
    }
}
