/* libpitot/component.h -- one histogram per span name:
 *
 *     pitot_component_seconds{component="prefill"}
 *
 * Filled from the spans in libpitot/span_history.h, not where they are recorded. */
#ifndef PT_LIBPITOT_COMPONENT_H
#define PT_LIBPITOT_COMPONENT_H

#include <stdbool.h>

/* Switches counting of spans that end from now on. */
void pt_components_set(bool is_on);
/* Counts the spans since the last call. */
void pt_components_feed(void);

#endif
