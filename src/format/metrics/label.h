/* format/metrics/label.h -- names and labels, made valid for an exposition.
 *
 * One bad character makes a server reject the whole exposition, so invalid names and labels are
 * corrected or omitted. */
#ifndef PT_FORMAT_METRICS_LABEL_H
#define PT_FORMAT_METRICS_LABEL_H

#include "base/str.h"

/* Of a metric: replaces characters other than [a-zA-Z0-9_:], and a digit at the start, with _.
 * `into` holds raw.len + 1 bytes. Returns the length. */
size_t pt_metric_name_clean(char *into, struct pt_str raw);

/* The writers add _total to counters: the name without it. */
struct pt_str pt_counter_family(struct pt_str name);

/* From labels as text, `model="a", kind="b"`, possibly cut in the middle: the complete ones,
 * without blanks; duplicate names and `reserved` (NULL: none) are omitted. `into` holds raw.len
 * bytes. Returns the length. */
size_t pt_labels_clean(char *into, struct pt_str raw, const char *reserved);

/* Removes the first label from clean labels; the value is still escaped. False at the end. */
bool pt_labels_next(struct pt_str *labels, struct pt_str *name, struct pt_str *value);
/* \\ \" \n of a value; `into` holds value.len bytes. */
struct pt_str pt_label_unescape(struct pt_str value, char *into);

#endif
