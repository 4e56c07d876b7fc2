/* report/spans.h -- spans for the timeline of a report: totals per name, and the longest spans. */
#ifndef PT_REPORT_SPANS_H
#define PT_REPORT_SPANS_H

#include "base/json.h"
#include "model/sample.h"
#include "report/blob.h"
#include "base/names.h"

#define PT_REPORT_SPANS_MAX 20000

struct pt_report_span {
    int64_t start_ns, duration_ns;
    uint32_t name, thread;
};

struct pt_report_span_total {
    uint64_t count;
    int64_t total_ns, longest_ns;
};

struct pt_report_spans {
    int table;                                    /* of the schema, or -1 */
    int pid, thread, name, start, duration, rank; /* rank: in a merged run, or -1 */
    uint64_t seen_count;
    struct pt_names names, threads;
    struct pt_report_span_total *totals; /* by name */
    size_t total_capacity;
    struct pt_report_span *heap; /* min-heap by duration */
    size_t kept_count, capacity;
};

void pt_report_spans_init(struct pt_report_spans *s, const struct pt_schema *schema);
void pt_report_spans_release(struct pt_report_spans *s);
void pt_report_spans_add(struct pt_report_spans *s, const struct pt_sample *sample);
/* The member "spans", null if there are none. Sorts the spans: do not add more afterwards. */
void pt_report_spans_write(struct pt_report_spans *s, int64_t start_ns, struct pt_json *j,
                           struct pt_blob *blob);

#endif
