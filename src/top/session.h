/* top/session.h -- the life of `pitot top`: live or a recorded run, on a terminal or as text. */
#ifndef PT_TOP_SESSION_H
#define PT_TOP_SESSION_H

#include "collect/collector.h"
#include "store/subject.h"

struct pt_top_options {
    const char *journal;  /* of a run; NULL: live */
    int64_t start_ns;     /* position in the run */
    int64_t interval_ns;  /* between samples; for a run as text, between printed ones */
    int64_t update_limit; /* screens; 0: no limit */
    const char *panel, *sort, *filter; /* or NULL */
    bool is_tree;
    /* For live samples. */
    const struct pt_fs *fs;
    const char *alerts; /* file of alert rules; NULL: the defaults */
    struct pt_target target;
    struct pt_subject subject;
    struct pt_engine_options engines;
};

/* Returns when the user quits or the run is over. 0 or -errno with a message. */
int pt_top_run(const struct pt_top_options *options, struct pt_err *err) PT_MUST_CHECK;

#endif
