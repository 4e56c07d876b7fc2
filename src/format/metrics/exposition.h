/* format/metrics/exposition.h -- families of metrics in the formats that scrapers read.
 *
 *     struct pt_exposition e;
 *     pt_exposition_begin(&e, &out, PT_OPENMETRICS);
 *     pt_exposition_family(&e, &family); ...
 *     pt_exposition_end(&e);
 *
 * Errors stick to `out`. A family comes once, with all of its series. */
#ifndef PT_FORMAT_METRICS_EXPOSITION_H
#define PT_FORMAT_METRICS_EXPOSITION_H

#include "base/json.h"
#include "format/metrics/family.h"

#include <pitot/export.h>

struct pt_exposition {
    struct pt_out *out; /* borrowed */
    enum pt_exposition_format format;
    struct pt_json json;
};

void pt_exposition_begin(struct pt_exposition *e, struct pt_out *out,
                         enum pt_exposition_format format);
void pt_exposition_family(struct pt_exposition *e, const struct pt_family *family);
void pt_exposition_end(struct pt_exposition *e);

/* The Content-Type of a format. */
const char *pt_exposition_type(enum pt_exposition_format format);
/* The format an Accept header prefers: the highest q, and the first of equal ones. PT_PROMETHEUS
 * for NULL or if no known format is accepted. */
enum pt_exposition_format pt_exposition_negotiate(const char *accept);

#endif
