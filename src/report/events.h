/* report/events.h -- events of a run: marks, alerts, actions of Pitot. */
#ifndef PT_REPORT_EVENTS_H
#define PT_REPORT_EVENTS_H

#include "base/json.h"
#include "model/sample.h"

#define PT_REPORT_EVENTS_MAX 2000

struct pt_report_event {
    int64_t time_ns;
    const char *kind;
    char *text;
};

/* {0} is empty. */
struct pt_report_events {
    struct pt_report_event *list;
    size_t count, capacity;
    uint64_t left_out_count;
};

/* Are all rows of the table events? */
bool pt_report_events_has(const struct pt_table *table);

void pt_report_events_add(struct pt_report_events *e, const struct pt_sample *sample);
void pt_report_events_write(const struct pt_report_events *e, int64_t start_ns, struct pt_json *j);
void pt_report_events_release(struct pt_report_events *e);

#endif
