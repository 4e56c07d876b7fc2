/* format/metrics/families.h -- a sample as families of metrics, for scrapers and receivers.
 *
 *     struct pt_families f;
 *     pt_families_init(&f, &schema, &(struct pt_families_options){ 0 });
 *     pt_families_each(&f, &sample, put_family, &exposition);
 *     pt_families_release(&f);
 *
 * Names and labels are those of model/metric.h. Rows of app_metric have their own names; if several
 * processes report the same one, counters and histograms are summed, and gauges get their pid as a
 * label. Tables of events are omitted. Keeps its memory: after the first samples nothing is
 * allocated. */
#ifndef PT_FORMAT_METRICS_FAMILIES_H
#define PT_FORMAT_METRICS_FAMILIES_H

#include "model/sample.h"
#include "format/metrics/family.h"

struct pt_families_options {
    bool has_processes; /* also rows of single processes, with their pid as a label */
};

typedef void pt_family_fn(void *user, const struct pt_family *family);

struct pt_families {
    const struct pt_schema *schema; /* borrowed */
    struct pt_families_options options;
    struct pt_families_state *state;
};

void pt_families_init(struct pt_families *f, const struct pt_schema *schema,
                      const struct pt_families_options *options);
void pt_families_release(struct pt_families *f);

/* Calls `each` with every family that has a value in the sample, in the order of the schema. Its
 * argument is valid until it returns. */
void pt_families_each(struct pt_families *f, const struct pt_sample *sample, pt_family_fn *each,
                      void *user);

#endif
