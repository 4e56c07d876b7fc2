/* format/metrics/family_writers.h -- the writers behind format/metrics/exposition.h: one family per
 * call. */
#ifndef PT_FORMAT_METRICS_FAMILY_WRITERS_H
#define PT_FORMAT_METRICS_FAMILY_WRITERS_H

#include "base/json.h"
#include "format/metrics/family.h"

void pt_family_text(struct pt_out *out, const struct pt_family *family, bool is_openmetrics);
void pt_family_proto(struct pt_out *out, const struct pt_family *family);
void pt_family_json(struct pt_json *j, const struct pt_family *family);

#endif
