#include "base/options.h"

#include "base/clock.h"
#include "base/fs.h"
#include "base/mem.h"
#include "base/scan.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <ini.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *suffix;
    double ns;
} duration_units[] = {
    { "ns", 1 },   { "us", 1e3 },   { "ms", 1e6 },   { "s", 1e9 },
    { "m", 60e9 }, { "min", 60e9 }, { "h", 3600e9 }, { "d", 86400e9 },
};

/* Digits with at most one point: no sign, exponent or hexadecimal. Returns the text after the
 * number, or NULL. */
static const char *take_number(const char *text, double *value) {
    char digits[64], *end;
    size_t length = strspn(text, "0123456789.");
    if (length == 0 || length >= sizeof digits)
        return NULL;
    pt_str_copy(digits, sizeof digits, (struct pt_str){ text, length });
    *value = strtod(digits, &end);
    return end == digits + length ? text + length : NULL;
}

int pt_duration_parse(const char *text, int64_t bare_unit_ns, int64_t *ns, struct pt_err *err) {
    double value, unit = 0;
    const char *suffix = take_number(text, &value);
    if (!suffix)
        return pt_fail(err, -EINVAL, "'%s' is not a duration (examples: 100ms, 1s, 5m, 2h)", text);
    if (!*suffix)
        unit = (double)bare_unit_ns;
    for (size_t i = 0; i < PT_COUNT(duration_units); i++)
        if (strcmp(suffix, duration_units[i].suffix) == 0)
            unit = duration_units[i].ns;
    if (unit == 0)
        return pt_fail(err, -EINVAL, "'%s' has an unknown unit (use us, ms, s, m, h or d)", text);
    if (value * unit >= 9e18)
        return pt_fail(err, -EINVAL, "'%s' is too long", text);
    *ns = (int64_t)llround(value * unit);
    return 0;
}

int pt_bytes_parse(const char *text, int64_t *bytes, struct pt_err *err) {
    static const char units[] = "kmgt";
    double value, unit = 1;
    const char *suffix = take_number(text, &value);
    const char *found = suffix && *suffix ? strchr(units, tolower((unsigned char)*suffix)) : NULL;
    if (found)
        unit = (double)(INT64_C(1) << 10 * (found - units + 1));
    if (!suffix || (*suffix && (!found || suffix[1])) || value * unit >= 9e18)
        return pt_fail(err, -EINVAL, "'%s' is not a size (examples: 65536, 512k, 64M, 2G)", text);
    *bytes = (int64_t)llround(value * unit);
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
    const char *rest = take_number(text, value);
    if (!rest || (*rest && strcmp(rest, "%") != 0))
        return pt_fail(err, -EINVAL, "'%s' is not a percentage (examples: 5, 5%%)", text);
    return 0;
}

/* The options being set. Each layer (file, environment, command line) replaces the lists of the
 * previous layer and appends to its own. */
struct parsing {
    const struct pt_option_table *table;
    void *values;
    bool *is_list_begun; /* per option, in this layer */
};

static void begin_layer(struct parsing *p) {
    memset(p->is_list_begun, 0, p->table->option_count * sizeof *p->is_list_begun);
}

static void list_clear(struct pt_option_list *list) {
    while (list->count > 0)
        pt_free((char *)list->items[--list->count]);
}

static void list_add(struct parsing *p, const struct pt_option *o, struct pt_option_list *list,
                     const char *item) {
    bool *is_begun = &p->is_list_begun[o - p->table->options];
    if (!*is_begun)
        list_clear(list);
    *is_begun = true;
    pt_grow(&list->items, &list->capacity, list->count + 1, sizeof *list->items);
    list->items[list->count++] = pt_strdup(item);
}

static void *value_of(const struct pt_option *o, void *values) {
    return (char *)values + o->offset;
}

static int parse_number(enum pt_option_kind kind, const char *text, int64_t *value,
                        struct pt_err *err) {
    switch (kind) {
    case PT_OPTION_MS:
        return pt_duration_parse(text, PT_NS_PER_MS, value, err);
    case PT_OPTION_S:
        return pt_duration_parse(text, PT_NS_PER_SECOND, value, err);
    case PT_OPTION_BYTES:
        return pt_bytes_parse(text, value, err);
    default:
        return parse_i64(text, value, err);
    }
}

static int set_number(const struct pt_option *o, const char *text, int64_t *value,
                      struct pt_err *err) {
    int64_t minimum = INT64_MIN;
    int rc = parse_number(o->kind, text, value, err);
    if (!rc && o->minimum)
        rc = parse_number(o->kind, o->minimum, &minimum, err);
    if (!rc && *value < minimum)
        rc = pt_fail(err, -EINVAL, "'%s' is too small (at least %s)", text, o->minimum);
    return rc;
}

static int set_value(struct parsing *p, const struct pt_option *o, const char *text,
                     struct pt_err *err) {
    void *at = value_of(o, p->values);
    switch (o->kind) {
    case PT_OPTION_FLAG:
        return parse_flag(text, at, err);
    case PT_OPTION_COUNT:
        if (!*text)
            return ++*(int64_t *)at, 0;
        return parse_i64(text, at, err);
    case PT_OPTION_TEXT:
        pt_free(*(char **)at);
        *(char **)at = pt_strdup(text);
        return 0;
    case PT_OPTION_LIST:
        list_add(p, o, at, text);
        return 0;
    case PT_OPTION_PERCENT:
        return parse_percent(text, at, err);
    case PT_OPTION_I64:
    case PT_OPTION_MS:
    case PT_OPTION_S:
    case PT_OPTION_BYTES:
        return set_number(o, text, at, err);
    }
    return -EINVAL;
}

/* Sets a value; the error message names the place of a wrong one. */
static int set_from(struct parsing *p, const struct pt_option *o, const char *text,
                    const char *where, struct pt_err *err) {
    struct pt_err reason = { "" };
    int rc = set_value(p, o, text, &reason);
    return rc ? pt_fail(err, rc, "%s: %s", where, reason.text) : 0;
}

static int set_defaults(struct parsing *p, struct pt_err *err) {
    for (size_t i = 0; i < p->table->option_count; i++) {
        const struct pt_option *o = &p->table->options[i];
        if (!o->default_text || !pt_option_applies(p->table, o))
            continue;
        int rc = set_from(p, o, o->default_text, o->name, err);
        if (rc)
            return rc;
    }
    return 0;
}

/* A configuration file that inih reads line by line. */
struct file_reading {
    struct parsing *parsing;
    struct pt_scan text;
    int line, failed_line;
    struct pt_err reason; /* of the failure */
};

static void fail_file(struct file_reading *r, const char *format, const char *name) {
    if (r->failed_line)
        return;
    r->failed_line = r->line;
    pt_fail(&r->reason, -EINVAL, format, name);
}

/* Behaves like fgets(3). */
static char *next_line(char *into, int capacity, void *user) {
    struct file_reading *r = user;
    struct pt_scan line;
    if (!pt_scan_line(&r->text, &line))
        return NULL;
    r->line++;
    struct pt_str rest = pt_scan_rest(&line);
    if (rest.len >= (size_t)capacity)
        fail_file(r, "the line is too long%s", "");
    return pt_str_copy(into, (size_t)capacity, rest);
}

/* Accepts keys before any section and keys in the section of this command. */
static int file_entry(void *user, const char *section, const char *name, const char *value) {
    struct file_reading *r = user;
    struct parsing *p = r->parsing;
    if (*section && strcmp(section, p->table->command_name) != 0)
        return 1;
    bool is_known = false;
    for (size_t i = 0; i < p->table->option_count; i++) {
        const struct pt_option *o = &p->table->options[i];
        struct pt_err reason = { "" };
        if (strcmp(o->name, name) != 0)
            continue;
        is_known = true;
        if (pt_option_applies(p->table, o) && set_from(p, o, value, name, &reason))
            fail_file(r, "%s", reason.text);
    }
    if (!is_known)
        fail_file(r, "unknown key '%s'", name);
    return 1;
}

static int read_text(struct parsing *p, struct pt_str text, const char *path, struct pt_err *err) {
    struct file_reading r = { .parsing = p, .text = pt_scan_of(text) };
    begin_layer(p);
    int bad_line = ini_parse_stream(next_line, &r, file_entry, &r);
    if (bad_line > 0 && (!r.failed_line || bad_line < r.failed_line))
        return pt_fail(err, -EINVAL, "%s:%d: not a 'key = value' line", path, bad_line);
    if (r.failed_line)
        return pt_fail(err, -EINVAL, "%s:%d: %s", path, r.failed_line, r.reason.text);
    return 0;
}

/* A missing file, or one that belongs to another user (sudo keeps HOME), is not an error. */
static int read_file(struct parsing *p, const char *path, struct pt_err *err) {
    struct pt_text buffer = { 0 };
    struct pt_scan text;
    int rc = pt_fs_read(AT_FDCWD, path, &buffer, &text);
    if (!rc)
        rc = read_text(p, pt_scan_rest(&text), path, err);
    else if (rc == -ENOENT || rc == -ENOTDIR || rc == -EACCES)
        rc = 0;
    else
        pt_fail(err, rc, "cannot read %s: %s", path, strerror(-rc));
    pt_text_release(&buffer);
    return rc;
}

static int read_files(struct parsing *p, struct pt_err *err) {
    int rc = read_file(p, "/etc/pitot/pitot.conf", err);
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    char *path = config && *config ? pt_asprintf("%s/pitot/pitot.conf", config)
                 : home            ? pt_asprintf("%s/.config/pitot/pitot.conf", home)
                                   : NULL;
    if (!rc && path)
        rc = read_file(p, path, err);
    pt_free(path);
    return rc;
}

void pt_option_variable(const struct pt_option *option, char *into, size_t capacity) {
    int n = option->variable ? snprintf(into, capacity, "%s", option->variable)
                             : snprintf(into, capacity, "PITOT_%s", option->name);
    for (int i = 0; i < n && i < (int)capacity; i++)
        into[i] = (char)(into[i] == '-' || into[i] == '.' ? '_' : toupper((unsigned char)into[i]));
}

static int read_environment(struct parsing *p, struct pt_err *err) {
    begin_layer(p);
    for (size_t i = 0; i < p->table->option_count; i++) {
        const struct pt_option *o = &p->table->options[i];
        char variable[64];
        pt_option_variable(o, variable, sizeof variable);
        const char *text = pt_option_applies(p->table, o) ? getenv(variable) : NULL;
        if (!text || !*text)
            continue;
        int rc = set_from(p, o, text, variable, err);
        if (rc)
            return rc;
    }
    return 0;
}

static bool takes_argument(const struct pt_option *o) {
    return o->kind != PT_OPTION_FLAG && o->kind != PT_OPTION_COUNT;
}

/* The name with the longest common prefix is probably the one that was meant. */
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

struct getopt_table {
    struct option *longs;
    char *shorts;
};

/* The code of a long option is its index plus one of these. */
#define FIRST_LONG 256
#define NEGATED    0x10000

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
        int rule = !takes_argument(o) ? no_argument
                   : o->implied       ? optional_argument
                                      : required_argument;
        g->longs[n++] = (struct option){ o->name, rule, NULL, FIRST_LONG + (int)i };
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

static void release_getopt(struct getopt_table *g) {
    for (struct option *o = g->longs; o->name; o++)
        if (o->val >= NEGATED)
            pt_free((char *)o->name);
    pt_free(g->longs);
    pt_free(g->shorts);
}

/* The option for a code of getopt: a letter, or an index plus one of the constants above. */
static const struct pt_option *option_of(const struct pt_option_table *t, int code) {
    if (code >= FIRST_LONG)
        return &t->options[code >= NEGATED ? code - NEGATED : code - FIRST_LONG];
    for (size_t i = 0; i < t->option_count; i++)
        if (pt_option_applies(t, &t->options[i]) && t->options[i].short_name == code)
            return &t->options[i];
    return NULL;
}

static int refuse(const struct pt_option_table *t, const char *word, struct pt_err *err) {
    if (optopt >= FIRST_LONG)
        return pt_fail(err, -EINVAL, "option --%s takes no value", option_of(t, optopt)->name);
    if (optopt)
        return pt_fail(err, -EINVAL, "unknown option -%c; see pitot %s --help", optopt,
                       t->command_name);
    const char *meant = nearest(t, word + strspn(word, "-"));
    return pt_fail(err, -EINVAL, "unknown option %s%s%s; see pitot %s --help", word,
                   meant ? ", did you mean --" : "", meant ? meant : "", t->command_name);
}

static int set_from_command_line(struct parsing *p, int code, const char *argument,
                                 struct pt_err *err) {
    const struct pt_option *o = option_of(p->table, code);
    char where[64];
    snprintf(where, sizeof where, "--%s", o->name);
    if (!argument)
        argument = code >= NEGATED ? "no" : o->implied ? o->implied : "";
    return set_from(p, o, argument, where, err);
}

/* `*has_dashes`: the options ended with "--", and that was not the value of an option. */
static int read_command_line(struct parsing *p, int argc, char **argv, bool *has_dashes,
                             struct pt_err *err) {
    struct getopt_table g;
    build_getopt(p->table, &g);
    begin_layer(p);
    optind = 0;
    opterr = 0;
    const char *last_value = NULL;
    int code, rc = 0;
    while (!rc && (code = getopt_long(argc, argv, g.shorts, g.longs, NULL)) != -1) {
        last_value = optarg;
        if (code == '?')
            rc = refuse(p->table, argv[optind - 1], err);
        else if (code == ':')
            rc = pt_fail(err, -EINVAL, "option --%s needs a value",
                         option_of(p->table, optopt)->name);
        else
            rc = set_from_command_line(p, code, optarg, err);
    }
    release_getopt(&g);
    const char *before = optind > 0 && optind <= argc ? argv[optind - 1] : "";
    *has_dashes = !rc && strcmp(before, "--") == 0 && before != last_value;
    return rc;
}

int pt_options_parse(const struct pt_option_table *t, void *values, int argc, char **argv,
                     int *first_operand, bool *has_dashes, struct pt_err *err) {
    struct parsing p = { t, values, pt_calloc(t->option_count, sizeof *p.is_list_begun) };
    *has_dashes = false;
    int rc = set_defaults(&p, err);
    if (!rc)
        rc = read_files(&p, err);
    if (!rc)
        rc = read_environment(&p, err);
    if (!rc)
        rc = read_command_line(&p, argc, argv, has_dashes, err);
    pt_free(p.is_list_begun);
    *first_operand = optind;
    return rc;
}

int pt_options_parse_text(const struct pt_option_table *t, void *values, struct pt_str text,
                          const char *path, struct pt_err *err) {
    struct parsing p = { t, values, pt_calloc(t->option_count, sizeof *p.is_list_begun) };
    int rc = read_text(&p, text, path, err);
    pt_free(p.is_list_begun);
    return rc;
}

void pt_options_release(const struct pt_option_table *t, void *values) {
    for (size_t i = 0; i < t->option_count; i++) {
        void *at = value_of(&t->options[i], values);
        if (t->options[i].kind == PT_OPTION_TEXT) {
            pt_free(*(char **)at);
            *(char **)at = NULL;
        } else if (t->options[i].kind == PT_OPTION_LIST) {
            list_clear(at);
            pt_free(((struct pt_option_list *)at)->items);
            *(struct pt_option_list *)at = (struct pt_option_list){ 0 };
        }
    }
}

void pt_choices_join(const char *(*choice)(size_t index), char *into, size_t capacity) {
    size_t used = 0;
    into[0] = 0;
    for (size_t i = 0; choice(i) && used < capacity; i++)
        used += (size_t)snprintf(into + used, capacity - used, "%s%s", i ? ", " : "", choice(i));
}

void pt_option_describe(const struct pt_option *o, char *into, size_t capacity) {
    char choices[256] = "";
    if (o->choice)
        pt_choices_join(o->choice, choices, sizeof choices);
    snprintf(into, capacity, "%s%s%s", o->help, o->choice ? ": " : "", choices);
}

void pt_option_argument(const struct pt_option *o, char *into, size_t capacity) {
    snprintf(into, capacity,
             !o->argument ? "%s"
             : o->implied ? "[=%s]"
                          : " %s",
             o->argument ? o->argument : "");
}

void pt_options_help(const struct pt_option_table *t, struct pt_out *out) {
    for (size_t i = 0; i < t->option_count; i++) {
        const struct pt_option *o = &t->options[i];
        char flag[64], shorts[8] = "    ", description[512], argument[32];
        if (!pt_option_applies(t, o))
            continue;
        if (o->short_name)
            snprintf(shorts, sizeof shorts, "-%c, ", o->short_name);
        pt_option_argument(o, argument, sizeof argument);
        snprintf(flag, sizeof flag, "%s--%s%s", shorts, o->name, argument);
        pt_option_describe(o, description, sizeof description);
        pt_out_printf(out, "  %-30s %s", flag, description);
        if (o->default_text && takes_argument(o))
            pt_out_printf(out, " [%s]", o->default_text);
        pt_out_char(out, '\n');
    }
}
