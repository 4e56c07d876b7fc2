/* report/report_page.h -- a run as one self-contained page: opens from disk, asks the network for
 * nothing.
 *
 * The journal is read twice: to see how long the run is and which things matter, then to draw them.
 * docs/REPORT.md says what is in the page. */
#ifndef PT_REPORT_REPORT_PAGE_H
#define PT_REPORT_REPORT_PAGE_H

#include "analyze/energy_basis.h"
#include "base/err.h"

struct pt_report_options {
    const char *journal;
    const char *path;    /* of the page; what was there is replaced */
    const char *profile; /* of CPU time; NULL: <uuid>.cpu.pitotprof beside the journal, if there */
    /* of memory it is always <uuid>.heap.pitotprof */
    const struct pt_energy_basis *assumed; /* over what was given when recording, or NULL */
};

/* Does this build have the page? -ENOENT with words about what is missing. */
int pt_report_check(struct pt_err *err) PT_MUST_CHECK;
/* 0 or -errno with words. */
int pt_report_write(const struct pt_report_options *o, struct pt_err *err) PT_MUST_CHECK;

#endif
