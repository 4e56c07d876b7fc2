/* report/cpu_hotspots.h -- adds the CPU profile of a run to its explanation: the share of time in
 * locks per window, and the functions that use the CPU time. */
#ifndef PT_REPORT_CPU_HOTSPOTS_H
#define PT_REPORT_CPU_HOTSPOTS_H

#include "analyze/verdict.h"
#include "profile/files/profile_readers.h"

/* {0}: without a profile, these functions do nothing. */
struct pt_cpu_hotspots {
    struct pt_profile_file *file;
    uint8_t *states; /* per stack: profile/model/classify.h */
};

void pt_cpu_hotspots_open(struct pt_cpu_hotspots *c, const char *journal);
void pt_cpu_hotspots_close(struct pt_cpu_hotspots *c);

/* Sets the signals that come from profiles. */
void pt_cpu_hotspots_signal(const struct pt_cpu_hotspots *c, struct pt_signals *signals);
/* Names functions in verdicts about CPU time. */
void pt_cpu_hotspots_add(const struct pt_cpu_hotspots *c, struct pt_explanation *x);

#endif
