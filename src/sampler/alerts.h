/* sampler/alerts.h -- alerts of a recording: applies rules to each sample; changes become rows. */
#ifndef PT_SAMPLER_ALERTS_H
#define PT_SAMPLER_ALERTS_H

#include "analyze/watch.h"

extern const struct pt_table *const pt_alert_table;

struct pt_alerts {
    struct pt_watch watch;
    struct pt_sample changes; /* rows of `.alerts` only */
    uint32_t table;
};

/* Reads the rules of the file, or uses the defaults if `path` is NULL. 0 or -errno with a
 * message. */
int pt_alerts_open(struct pt_alerts *a, const char *path, const struct pt_schema *schema,
                   struct pt_err *err) PT_MUST_CHECK;
void pt_alerts_close(struct pt_alerts *a);
/* True: `a->changes` holds the alerts that fired or cleared with this sample. */
bool pt_alerts_check(struct pt_alerts *a, const struct pt_sample *sample);

#endif
