/* sampler/alerts.h -- alerts of a recording: rules watched while samples come, changes as rows. */
#ifndef PT_SAMPLER_ALERTS_H
#define PT_SAMPLER_ALERTS_H

#include "analyze/watch.h"

extern const struct pt_table *const pt_alert_table;

struct pt_alerts {
    struct pt_watch watch;
    struct pt_sample changes; /* rows of `.alerts` alone */
    uint32_t table;
};

/* Rules of the file, or the defaults if there is none. 0 or -errno with words. */
int pt_alerts_open(struct pt_alerts *a, const char *path, const struct pt_schema *schema,
                   struct pt_err *err) PT_MUST_CHECK;
void pt_alerts_close(struct pt_alerts *a);
/* True: `a->changes` holds what went on or off with this sample. */
bool pt_alerts_see(struct pt_alerts *a, const struct pt_sample *sample);

#endif
