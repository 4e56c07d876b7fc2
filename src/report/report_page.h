/* report/report_page.h -- a run as one self-contained HTML page that needs no network.
 *
 * The journal is read twice: first to find its length and the entities to show, then to draw.
 * docs/REPORT.md describes the page. */
#ifndef PT_REPORT_REPORT_PAGE_H
#define PT_REPORT_REPORT_PAGE_H

#include "analyze/energy_basis.h"
#include "base/err.h"
#include "store/own_cost.h"

struct pt_report_options {
    const char *journal;
    const char *path;    /* of the page; an existing file is replaced */
    const char *profile; /* of CPU time; NULL: <uuid>.cpu.pitotprof next to the journal, if any */
    /* the heap profile is always <uuid>.heap.pitotprof */
    const struct pt_energy_basis *assumed; /* overrides the recorded assumptions, or NULL */
    /* What the run has cost Pitot until the page is complete; NULL: what the journal says. */
    void (*cost)(void *user, struct pt_own_cost *cost);
    void *user;
};

/* Does this build have the page? 0 or -ENOENT with a message. */
int pt_report_check(struct pt_err *err) PT_MUST_CHECK;
/* 0 or -errno with a message. */
int pt_report_write(const struct pt_report_options *o, struct pt_err *err) PT_MUST_CHECK;

#endif
