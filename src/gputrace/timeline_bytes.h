/* gputrace/timeline_bytes.h -- a timeline as messages between two processes. */
#ifndef PT_GPUTRACE_TIMELINE_BYTES_H
#define PT_GPUTRACE_TIMELINE_BYTES_H

#include "base/buf.h"
#include "gputrace/timeline.h"

#define PT_TIMELINE_EVENTS_AT_ONCE ((size_t)64 << 10)

void pt_timeline_put_names(const struct pt_timeline *t, struct pt_buf *into);
/* The events from number `first` on, as many as fit into a message; returns their count. */
size_t pt_timeline_put_events(const struct pt_timeline *t, size_t first, struct pt_buf *into);

/* Trust nothing; false: not such a message. Names come first, into an empty timeline. */
bool pt_timeline_get_names(struct pt_timeline *t, struct pt_str message) PT_MUST_CHECK;
bool pt_timeline_get_events(struct pt_timeline *t, struct pt_str message) PT_MUST_CHECK;

#endif
