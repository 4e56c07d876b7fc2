/* collect/collector.h -- a collector fills the rows of its tables once per tick.
 *
 * A collector is const data: its functions and tables. Its state is zeroed memory that the sampler
 * allocates. pt_collectors[] lists all collectors. */
#ifndef PT_COLLECT_COLLECTOR_H
#define PT_COLLECT_COLLECTOR_H

#include "base/err.h"
#include "base/fs.h"
#include "model/batch.h"

#include <sys/types.h>

#define PT_TARGET_PIDS 64

/* What is being recorded. Written before the sampler starts, then only read. */
struct pt_target {
    pid_t pids[PT_TARGET_PIDS];          /* roots of the recorded tree: the command, or --pid */
    int64_t start_ticks[PT_TARGET_PIDS]; /* of these processes since boot; 0: unknown */
    int pid_count;                       /* 0: the machine is recorded */
    bool is_tree_only;   /* only processes of the recorded tree get rows (without -p) */
    char own_group[64];  /* name of the cgroups that were created for the command, or "" */
    char container[256]; /* --container: id prefix or path, or "" */
};

/* Parts of collectors that the governor switches off before it thins any of them. */
#define PT_COLLECTOR_PARTS(X) \
    X(PSS, "pss")             \
    X(COMMAND_LINES, "command lines")

#define PT_PART_ENUM_(constant, name) PT_PART_##constant,
enum pt_collector_part { PT_COLLECTOR_PARTS(PT_PART_ENUM_) PT_PART_COUNT };

/* Parts that the governor has switched off; written by the sampler thread only. */
struct pt_thinning {
    bool is_off[PT_PART_COUNT];
};

/* Time of the parts that the governor can switch off; collectors add to it. */
struct pt_part_costs {
    int64_t ns[PT_PART_COUNT];
};

/* What happens to a collector if Pitot's overhead exceeds its budget. */
enum pt_keep {
    PT_KEEP_DEFAULT, /* it is sampled less often; the most expensive collector first */
    PT_KEEP_LAST,    /* the same, but only after all others, and not as far */
    PT_KEEP_ALWAYS,  /* what it reads is lost unless it is read at every tick */
};

/* Which inference engines are scraped: --engine; and what is expected of them. */
struct pt_engine_options {
    bool must_discover; /* detect them on the loopback interface */
    bool wants_raw;     /* keep series without a column */
    const char *const *urls;
    size_t url_count;
    int64_t ttft_objective_ns, inter_token_objective_ns; /* of goodput */
};

struct pt_context {
    const struct pt_fs *fs;
    /* Buffer for the file being read; shared, so that it stays in the CPU cache. */
    struct pt_text *text;
    const struct pt_target *target;
    const struct pt_thinning *thinning;
    const struct pt_engine_options *engines; /* or NULL: none */
    struct pt_part_costs *part_costs;        /* or NULL: not measured */
    const char *regions;                     /* directory of libpitot's files, or NULL: none */
    bool is_last;                            /* this is the last tick */
    int64_t interval_ns;
    int64_t now_ns; /* CLOCK_MONOTONIC of this tick */
    uint64_t tick;  /* 0, 1, 2, ... */
    int fd_budget;  /* descriptors that a collector may keep open */
};

#define PT_COLLECTOR_TABLES 4

struct pt_collector {
    const char *name; /* also --collect NAME */
    const char *help;
    bool is_optional; /* off by default (processes) */
    bool knows_tree;  /* can be limited to the recorded tree: pt_target.is_tree_only */
    enum pt_keep keep;
    const struct pt_table *tables[PT_COLLECTOR_TABLES]; /* NULL-terminated */
    size_t state_size;
    int (*open)(void *state, const struct pt_context *context, struct pt_err *err); /* or NULL */
    /* `rows[i]` belongs to tables[i] and is empty. 0; -ENODATA: this machine has none, disable the
     * collector silently; other -errno: logged when it changes. Rows already added stay. */
    int (*collect)(void *state, const struct pt_context *context, struct pt_batch *rows);
    void (*close)(void *state); /* or NULL */
};

extern const struct pt_collector *const pt_collectors[]; /* NULL-terminated; collectors.c */
const char *pt_collector_name(size_t index); /* of pt_collectors[]; NULL after the last */

#endif
