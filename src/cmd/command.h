/* cmd/command.h -- the subcommands and the options they take, each declared once. */
#ifndef PT_CMD_COMMAND_H
#define PT_CMD_COMMAND_H

#include "base/options.h"
#include "demo/settings.h"
#include "push/push_settings.h"

#include <sys/types.h>

enum pt_command_id {
    PT_COMMAND_RECORD,
    PT_COMMAND_EXPORT,
    PT_COMMAND_ENERGY,
    PT_COMMAND_REPORT,
    PT_COMMAND_CPU,
    PT_COMMAND_HEAP,
    PT_COMMAND_GPU,
    PT_COMMAND_SYMBOLIZE,
    PT_COMMAND_EXPLAIN,
    PT_COMMAND_DIFF,
    PT_COMMAND_MERGE,
    PT_COMMAND_REPAIR,
    PT_COMMAND_TOP,
    PT_COMMAND_MARK,
    PT_COMMAND_SCHEMA,
    PT_COMMAND_SERVE,
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
    int64_t interval_ns, duration_ns, grace_ns, verbosity;
    bool processes, is_quiet, as_json, as_markdown, wants_help, wants_report;
    double max_overhead_percent;
    struct pt_option_list pids, tags, engines;
    bool wants_raw_engine;
    int64_t ttft_objective_ns, inter_token_objective_ns;
    const char *alerts, *alert_command;
    int64_t blackbox_bytes, blackbox_keep_ns;
    bool must_keep;
    struct pt_option_list gates, baselines;
    double minimum_change_percent;
    struct pt_demo_settings demo;
    struct pt_option_list profile_outputs, debug_directories;
    const char *lines;
    const char *profile; /* kind to export; file to report */
    int64_t cpu_hz;
    const char *cpu_method;
    int64_t rate_hz, stack_kib, top_rows;
    bool wants_off_cpu, wants_python;
    const char *heap_mean, *heap_metric, *gpu_tool;
    bool wants_leaks, counts_mmap, wants_python_malloc;
    const char *remote_write, *otlp, *push_token_file;
    struct pt_option_list push_labels;
    bool pushes_processes, pushes_native;
    const char *listen, *token_file, *tls_certificate, *tls_key, *state_directory, *runs;
    const char *webhook, *probe;
    int64_t history_bytes, history_age_ns, probe_interval_ns;
    bool allows_private_webhook;
    const char *panel, *sort, *filter;
    int64_t top_count, start_ns;
    bool as_tree;
};

struct pt_command {
    const char *name, *operands, *summary;
    /* `operands` are the arguments that are not options. Returns the exit code. */
    int (*run)(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv);
    const char *details; /* paragraphs after the options in --help, or NULL */
    int usage_exit;      /* exit code for usage errors */
};

extern const struct pt_command pt_commands[PT_COMMAND_COUNT];
extern const struct pt_option pt_command_option_list[];
extern const size_t pt_command_option_count;

/* Prints the man page, bash completion, or OTEL.md. cmd/cmd_docs.c */
void pt_docs_man(struct pt_out *out);
void pt_docs_bash(struct pt_out *out);
void pt_docs_otel(struct pt_out *out);

int pt_cmd_record(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv);
/* The same for another command that records. cmd/cmd_record.c */
int pt_command_record(enum pt_command_id id, const struct pt_command_options *o, char **operands,
                      bool has_dashes, char **argv);
int pt_cmd_export(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv);
int pt_cmd_energy(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv);
int pt_cmd_report(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv);
int pt_cmd_cpu(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv);
int pt_cmd_heap(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv);
int pt_cmd_gpu(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv);
int pt_cmd_symbolize(const struct pt_command_options *o, char **operands, bool has_dashes,
                     char **argv);
/* 512k, 64K, 2m, 65536; 'all' is 0. 0 or -EINVAL with a message. cmd/cmd_heap.c */
int pt_command_heap_mean(const char *text, uint64_t *mean_bytes, struct pt_err *err) PT_MUST_CHECK;
/* Reads a profile from a file and puts the value of --metric first. 0 or -errno with a message.
 * cmd/cmd_heap.c */
struct pt_profile_file;
int pt_command_heap_file(const struct pt_command_options *o, const char *path,
                         struct pt_profile_file *into, struct pt_err *err) PT_MUST_CHECK;
int pt_cmd_explain(const struct pt_command_options *o, char **operands, bool has_dashes,
                   char **argv);
int pt_cmd_diff(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv);
int pt_cmd_merge(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv);
int pt_cmd_repair(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv);
int pt_cmd_top(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv);
int pt_cmd_mark(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv);
int pt_cmd_schema(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv);
int pt_cmd_serve(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv);
int pt_cmd_doctor(const struct pt_command_options *o, char **operands, bool has_dashes,
                  char **argv);
int pt_cmd_demo(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv);
int pt_cmd_docs(const struct pt_command_options *o, char **operands, bool has_dashes, char **argv);
int pt_cmd_version(const struct pt_command_options *o, char **operands, bool has_dashes,
                   char **argv);

/* Prints a usage error; returns its exit code. */
int pt_command_misused(enum pt_command_id id, const char *format, ...) PT_PRINTF(2, 3);

/* Prints the message of a failure; returns `code`. */
int pt_command_fail(const struct pt_err *err, int code);

/* Closes output to stdout. Returns `code`, or 1 with a message if writing failed. */
int pt_command_close(struct pt_out *out, int code);

/* METRICS.md. cmd/cmd_schema.c */
/* Every table that Pitot can record. */
const struct pt_schema *pt_known_schema(void);
void pt_schema_markdown(struct pt_out *out);

/* Overrides `basis` with the assumptions given as options. 0 or -EINVAL. cmd/cmd_energy.c */
struct pt_energy_basis;
int pt_command_energy_basis(const struct pt_command_options *o, struct pt_energy_basis *basis,
                            struct pt_err *err) PT_MUST_CHECK;

/* Reads the push options; borrows their text. 0 or -errno with a message. cmd/cmd_record.c */
int pt_command_push(const struct pt_command_options *o, struct pt_push_options *push,
                    struct pt_err *err) PT_MUST_CHECK;

/* --pid (at most PT_TARGET_PIDS), and --engine or VLLM_METRICS_URL, which `*url` keeps ("auto" and
 * "off" cannot be combined). 0 or -errno with a message. cmd/sampling_options.c */
struct pt_engine_options;
int pt_command_pids(const struct pt_option_list *list, pid_t *pids, int *count,
                    struct pt_err *err) PT_MUST_CHECK;
int pt_command_engines(const struct pt_command_options *o, struct pt_engine_options *engines,
                       const char **url, struct pt_err *err) PT_MUST_CHECK;

/* --collect, --no-collect and --processes, by index of pt_collectors[]. 0 or -EINVAL.
 * cmd/sampling_options.c */
int pt_command_collectors(const struct pt_command_options *o, bool *is_enabled,
                          struct pt_err *err) PT_MUST_CHECK;

/* Finds the journal of RUN, up to PATH_MAX bytes; warns if it is the newest of several. 0 or -errno
 * with a message. */
int pt_command_find_run(const char *run, char *journal, struct pt_err *err) PT_MUST_CHECK;

/* Opens the roots of --path.*; prints what failed. 0 or -errno. */
struct pt_fs;
int pt_command_open_fs(const struct pt_command_options *o, struct pt_fs *fs) PT_MUST_CHECK;

#endif
