/* top/session.h -- `pitot top` from its first sample to its last key: live or a recorded run, on a
 * terminal or as text. */
#ifndef PT_TOP_SESSION_H
#define PT_TOP_SESSION_H

#include "collect/collector.h"

struct pt_top_options {
    const char *journal; /* of a run; NULL: what happens now */
    int64_t start_ns;    /* where in the run */
    int64_t interval_ns; /* of samples; of a run as text: between those that are printed */
    int64_t most;        /* screens; 0: no limit */
    const char *panel, *sort, *filter; /* or NULL */
    bool is_tree;
    /* What is watched now. */
    const struct pt_fs *fs;
    const char *alerts; /* file of alert rules; NULL: the defaults */
    struct pt_target target;
    struct pt_engine_options engines;
};

/* Returns when the user quits or the run is over. 0 or -errno with words. */
int pt_top_run(const struct pt_top_options *options, struct pt_err *err) PT_MUST_CHECK;

#endif
