/* report/processes.h -- the processes of a run as a tree: who started whom, and what each used. */
#ifndef PT_REPORT_PROCESSES_H
#define PT_REPORT_PROCESSES_H

#include "base/json.h"
#include "report/things.h"

/* The member "processes", null if none were recorded. `things` have been ranked. */
void pt_report_processes_write(const struct pt_things *things, int64_t start_ns, struct pt_json *j);

#endif
