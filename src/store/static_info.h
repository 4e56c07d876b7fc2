/* store/static_info.h -- static_<uuid>.json: what does not change during a run.
 *
 * The machine, its limits, Pitot's own settings and the command that is recorded. Secrets in
 * arguments, variables, tags and the kernel's command line are masked. Unknown values are null.
 * Times: `start_time` in Unix milliseconds, `boot_time` in Unix seconds as the kernel has it.
 * `vCpuCache` are the caches the first CPU uses, not sums over all CPUs. */
#ifndef PT_STORE_STATIC_INFO_H
#define PT_STORE_STATIC_INFO_H

#include "base/fs.h"
#include "base/json.h"
#include "base/out.h"

/* All arrays end with NULL and may be NULL themselves; everything is borrowed. */
struct pt_static_options {
    const struct pt_fs *fs;
    const char *uuid;
    int64_t start_wall_ns, interval_ns;
    char *const *own_argv;
    char *const *command; /* NULL: nothing was started */
    const char *working_directory;
    char *const *environment;     /* of the command; only names known to matter are written */
    char *const *own_environment; /* of Pitot: contains the rank */
    const char *const *collectors, *const *formats;
    const char *const *tags; /* "name=value" */
    /* Writes the members about GPUs, "nvidia" among them; NULL: there is none. */
    void (*put_gpus)(struct pt_json *j, void *state);
    void *gpus;
    /* Writes the member "engines"; NULL: none is known (yet). */
    void (*put_engines)(struct pt_json *j, void *state);
    void *engines;
};

/* Writes the whole file; errors stay in `out`. */
void pt_static_write(struct pt_out *out, const struct pt_static_options *o);

#endif
