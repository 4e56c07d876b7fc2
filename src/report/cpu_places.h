/* report/cpu_places.h -- what a CPU profile that was taken with a run adds to its explanation: how
 * much time goes into locks, window by window, and which code it is all about. */
#ifndef PT_REPORT_CPU_PLACES_H
#define PT_REPORT_CPU_PLACES_H

#include "analyze/verdict.h"
#include "profile/files/profile_readers.h"

/* {0}: there is no profile, and the functions do nothing. */
struct pt_cpu_places {
    struct pt_profile_file *file;
    uint8_t *states; /* of each stack: profile/model/classify.h */
};

void pt_cpu_places_open(struct pt_cpu_places *c, const char *journal);
void pt_cpu_places_close(struct pt_cpu_places *c);

/* Sets the signals that are made of profiles. */
void pt_cpu_places_signal(const struct pt_cpu_places *c, struct pt_signals *signals);
/* Tells verdicts on CPU time where it goes. */
void pt_cpu_places_add(const struct pt_cpu_places *c, struct pt_explanation *x);

#endif
