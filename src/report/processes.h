/* report/processes.h -- the process tree of a run with the resources each process used. */
#ifndef PT_REPORT_PROCESSES_H
#define PT_REPORT_PROCESSES_H

#include "base/json.h"
#include "report/entities.h"

/* The member "processes", null if none were recorded. Call pt_report_entities_choose() before. */
void pt_report_processes_write(const struct pt_report_entities *entities, int64_t start_ns,
                               struct pt_json *j);

#endif
