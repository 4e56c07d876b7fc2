/* base/options.h -- the options of a command, declared once in a table.
 *
 * A row gives the flag, the environment variable (PITOT_<NAME>), the key in the configuration file,
 * the line in --help, in the man page and in the shell completion. The command line overrides the
 * environment, which overrides the file, which overrides the default. */
#ifndef PT_BASE_OPTIONS_H
#define PT_BASE_OPTIONS_H

#include "base/err.h"
#include "base/out.h"

#include <stdint.h>

enum pt_option_kind {
    PT_OPTION_FLAG,    /* bool; --name and --no-name */
    PT_OPTION_COUNT,   /* int64_t; incremented each time */
    PT_OPTION_TEXT,    /* const char *, a copy */
    PT_OPTION_LIST,    /* struct pt_option_list; repeatable */
    PT_OPTION_I64,     /* int64_t */
    PT_OPTION_MS,      /* int64_t nanoseconds; a bare number is milliseconds */
    PT_OPTION_S,       /* int64_t nanoseconds; a bare number is seconds */
    PT_OPTION_PERCENT, /* double; "5" or "5%" */
    PT_OPTION_BYTES,   /* int64_t; 65536, 512k, 64M, 2G */
};

struct pt_option_list {
    const char **items;
    size_t count, capacity;
};

struct pt_option {
    const char *name;
    char short_name; /* or 0 */
    enum pt_option_kind kind;
    uint32_t commands;        /* bit mask: the commands that accept it */
    size_t offset;            /* of the value in the options struct */
    const char *default_text; /* parsed like any other value; NULL = zero */
    const char *argument;     /* placeholder in help: DIR */
    const char *help;
    /* The values it accepts, NULL after the last; help lists them. Or NULL. */
    const char *(*choice)(size_t index);
    const char *variable; /* environment variable if it is not PITOT_<NAME>; or NULL */
    const char *implied;  /* value of --name without =VALUE; or NULL */
    const char *minimum;  /* of a number, parsed like any other value; or NULL */
};

struct pt_option_table {
    const struct pt_option *options;
    size_t option_count;
    uint32_t command; /* bit of the command being parsed */
    const char *command_name;
    bool ends_at_operand; /* options after the first operand belong to the operand */
};

/* Sets the defaults, then the configuration files, then the environment, then the command line;
 * `values` must be zeroed first, and must be released even after a failure. A list replaces the
 * list of an earlier layer. On success `*first_operand` is the index of the first argument that is
 * not an option (the one after "--" if there is one; then `*has_dashes` is set). 0, or -EINVAL with
 * a message that names the wrong option and the remedy. */
int pt_options_parse(const struct pt_option_table *table, void *values, int argc, char **argv,
                     int *first_operand, bool *has_dashes, struct pt_err *err) PT_MUST_CHECK;
/* Parses only the text of a configuration file; `path` is for messages. */
int pt_options_parse_text(const struct pt_option_table *table, void *values, struct pt_str text,
                          const char *path, struct pt_err *err) PT_MUST_CHECK;
void pt_options_release(const struct pt_option_table *table, void *values);

/* "100ms", "1.5s", "2m", "1h", "250us"; a number without a unit is in `bare_unit_ns`. */
int pt_duration_parse(const char *text, int64_t bare_unit_ns, int64_t *ns,
                      struct pt_err *err) PT_MUST_CHECK;

/* "65536", "512k", "64M", "2G": powers of 1024, in either case. */
int pt_bytes_parse(const char *text, int64_t *bytes, struct pt_err *err) PT_MUST_CHECK;

/* "parquet, csv, tsv", cut to fit. */
void pt_choices_join(const char *(*choice)(size_t index), char *into, size_t capacity);
/* Its help and the values it accepts. */
void pt_option_describe(const struct pt_option *option, char *into, size_t capacity);
/* The text after its name in help: " DIR", "[=HZ]", "". */
void pt_option_argument(const struct pt_option *option, char *into, size_t capacity);
/* The option lines of --help. */
void pt_options_help(const struct pt_option_table *table, struct pt_out *out);

/* PITOT_MAX_OVERHEAD for max-overhead. */
void pt_option_variable(const struct pt_option *option, char *into, size_t capacity);

static inline bool pt_option_applies(const struct pt_option_table *t, const struct pt_option *o) {
    return (o->commands & t->command) != 0;
}

#endif
