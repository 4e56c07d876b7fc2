/* format/metrics/label.h -- names and labels, made fit for an exposition.
 *
 * One bad character makes a server refuse all of an exposition, so what a program gave is made
 * good, or left out. */
#ifndef PT_FORMAT_METRICS_LABEL_H
#define PT_FORMAT_METRICS_LABEL_H

#include "base/str.h"

/* Of a metric: other characters than [a-zA-Z0-9_:] become _, and so does a digit at the start.
 * `into` holds raw.len + 1 bytes. Returns the length. */
size_t pt_metric_name_clean(char *into, struct pt_str raw);

/* Counters are called with _total by the writers: the name without it. */
struct pt_str pt_counter_family(struct pt_str name);

/* Of labels as in the text, `model="a", kind="b"`, possibly cut in the middle: those that are
 * whole, without blanks; a name that was there before, or is `reserved` (NULL: none), is left out.
 * `into` holds raw.len bytes. Returns the length. */
size_t pt_labels_clean(char *into, struct pt_str raw, const char *reserved);

/* Takes the first label off clean labels; the value is still escaped. False at the end. */
bool pt_labels_next(struct pt_str *labels, struct pt_str *name, struct pt_str *value);
/* \\ \" \n of a value; `into` holds value.len bytes. */
struct pt_str pt_label_unescape(struct pt_str value, char *into);

#endif
