/* cmd/command.h -- the subcommands and the options they take, each declared once. */
#ifndef PT_CMD_COMMAND_H
#define PT_CMD_COMMAND_H

#include "base/options.h"

enum pt_command_id {
    PT_COMMAND_RECORD,
    PT_COMMAND_EXPORT,
    PT_COMMAND_ENERGY,
    PT_COMMAND_REPORT,
    PT_COMMAND_CPU,
    PT_COMMAND_HEAP,
    PT_COMMAND_EXPLAIN,
    PT_COMMAND_DIFF,
    PT_COMMAND_MARK,
    PT_COMMAND_SCHEMA,
    PT_COMMAND_DOCTOR,
    PT_COMMAND_DEMO,
    PT_COMMAND_DOCS,
    PT_COMMAND_VERSION,
    PT_COMMAND_COUNT
};

struct pt_command_options {
    const char *output, *formats, *container, *collect, *no_collect, *run;
    const char *procfs, *sysfs, *rootfs;
    const char *region, *carbon_intensity, *pue, *price_kwh, *price_hour, *currency;
    int64_t interval_ns, duration_ns, verbosity;
    bool processes, is_quiet, as_json, as_markdown, wants_help, wants_report;
    double max_overhead_percent;
    struct pt_option_list pids, tags, engines;
    bool wants_raw_engine;
    const char *alerts, *baseline;
    struct pt_option_list gates;
    double minimum_change_percent;
    int64_t demo_seconds_ns, demo_threads, demo_requests, demo_concurrency;
    bool demo_serve, demo_self_load;
    const char *demo_listen, *demo_load;
    struct pt_option_list profile_outputs;
    const char *lines;
    const char *profile; /* kind of the one to export; file of the one to report */
    int64_t cpu_hz;
    const char *cpu_method;
    int64_t rate_hz, stack_kib, top_rows;
    bool wants_off_cpu, wants_python;
    const char *heap_mean, *heap_metric;
    bool wants_leaks, counts_mmap, wants_python_malloc;
};

struct pt_command {
    const char *name, *operands, *summary;
    /* `operands` are the arguments that are no options. Returns the exit code. */
    int (*run)(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv);
    const char *details; /* paragraphs after the options in --help, or NULL */
    int usage_exit;      /* exit code for wrong options */
};

extern const struct pt_command pt_commands[PT_COMMAND_COUNT];
extern const struct pt_option pt_command_option_list[];
extern const size_t pt_command_option_count;

/* Prints the man page, or completion for bash. cmd/docs.c */
void pt_docs_man(struct pt_out *out);
void pt_docs_bash(struct pt_out *out);

int pt_cmd_record(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv);
int pt_cmd_export(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv);
int pt_cmd_energy(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv);
int pt_cmd_report(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv);
/* Profiles that were written before. cmd/cpu_files.c */
int pt_cmd_cpu_show(const struct pt_command_options *o, char **operands);
int pt_cmd_cpu_diff(const struct pt_command_options *o, char **operands);
int pt_cmd_cpu(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv);
int pt_cmd_heap(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv);
int pt_cmd_explain(const struct pt_command_options *o, char **operands, bool has_dashes,
                   char **argv);
int pt_cmd_diff(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv);
int pt_cmd_mark(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv);
int pt_cmd_schema(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv);
int pt_cmd_doctor(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv);
int pt_cmd_demo(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv);
int pt_cmd_docs(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv);
int pt_cmd_version(const struct pt_command_options *o, char **operands, bool has_dashes,
                   char **argv);

/* Says what is wrong with the operands; returns the exit code for it. */
int pt_command_misused(enum pt_command_id id, const char *format, ...) PT_PRINTF(2, 3);

/* Ends output to stdout: `code`, or 1 with a message if it could not be written. */
int pt_command_close(struct pt_out *out, int code);

/* METRICS.md. cmd/schema.c */
void pt_schema_markdown(struct pt_out *out);

/* Puts the assumptions that were given over those of `basis`. 0 or -EINVAL. cmd/energy.c */
struct pt_energy_basis;
int pt_command_energy_basis(const struct pt_command_options *o, struct pt_energy_basis *basis,
                            struct pt_err *err) PT_MUST_CHECK;

/* Opens the roots that --path.* name; prints what is wrong. 0 or -errno. */
struct pt_fs;
int pt_command_open_fs(const struct pt_command_options *o, struct pt_fs *fs) PT_MUST_CHECK;

#endif
