/* libpitot/component.h -- a histogram for each name of spans:
 *
 *     pitot_component_seconds{component="prefill"}
 *
 * Fed with the spans that libpitot/span_history.h keeps, not where they are recorded. */
#ifndef PT_LIBPITOT_COMPONENT_H
#define PT_LIBPITOT_COMPONENT_H

#include <stdbool.h>

/* Spans that end from now on are counted, or not. */
void pt_components_set(bool is_on);
/* Counts those that came since the last call. */
void pt_components_feed(void);

#endif
