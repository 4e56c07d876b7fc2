/* serve/alert_log.h -- the latest alerts that fired or cleared, one line of JSON each.
 *
 *     {"time":1763268392000,"host":"node7","rule":"kv-cache-full","entity":"","metric":
 *      "engine.cache_kv_usage_percent","state":"on","threshold":0.95,"value":0.97} */
#ifndef PT_SERVE_ALERT_LOG_H
#define PT_SERVE_ALERT_LOG_H

#include "base/json.h"
#include "model/sample.h"

#define PT_ALERT_LOG_LENGTH 100

struct pt_alert_log {
    char host[64];
    char *lines[PT_ALERT_LOG_LENGTH]; /* a ring */
    size_t next;
};

void pt_alert_log_init(struct pt_alert_log *l);
void pt_alert_log_release(struct pt_alert_log *l);

/* Adds a row of the table of alerts; returns the line. */
const char *pt_alert_log_add(struct pt_alert_log *l, const struct pt_batch *rows, uint32_t row,
                             int64_t wall_ns);

/* The answer of /api/alerts: rules, their current states, and the log. `service` is a struct
 * pt_service; its lock is held. */
void pt_alert_log_put(void *service, struct pt_json *j);

#endif
