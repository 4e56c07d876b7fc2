/* sampler/alert_command.h -- runs the user's command when an alert fires or clears.
 *
 * Its environment describes the alert: PITOT_ALERT_RULE, _ENTITY, _METRIC, _STATE (on or off),
 * _VALUE, _THRESHOLD, _TIME (Unix milliseconds) and _RUN (the journal). One runs at a time, the
 * others are queued; the recording never waits, and a command that takes too long is killed. */
#ifndef PT_SAMPLER_ALERT_COMMAND_H
#define PT_SAMPLER_ALERT_COMMAND_H

#include "model/sample.h"

#include <sys/types.h>

#define PT_ALERT_COMMAND_WAITING    64 /* more are dropped and counted */
#define PT_ALERT_COMMAND_TIMEOUT_NS (30 * INT64_C(1000000000))
#define PT_ALERT_COMMAND_VARIABLES  8

/* Names and values, "PITOT_ALERT_RULE=hot". */
struct pt_alert_call {
    char *variables[PT_ALERT_COMMAND_VARIABLES + 1];
};

/* {0} with a command is ready for use; without a command it does nothing. */
struct pt_alert_command {
    const char *command; /* for /bin/sh; borrowed, like: */
    const char *run;
    struct pt_alert_call waiting[PT_ALERT_COMMAND_WAITING];
    size_t first, count;
    pid_t pid; /* of the running command; 0: none */
    int64_t started_ns;
    uint64_t failed_count, dropped_count;
    int nice_value;     /* of the command; Pitot may have a higher priority itself */
    int64_t timeout_ns; /* 0: PT_ALERT_COMMAND_TIMEOUT_NS */
};

/* Queues one call per row of `.alerts` in the sample, and starts the first if none runs. */
void pt_alert_command_add(struct pt_alert_command *c, const struct pt_sample *changes);
/* Checks whether the running command has ended or takes too long; starts the next. */
void pt_alert_command_check(struct pt_alert_command *c, int64_t now_ns);
/* The latest time for the next check; INT64_MAX: not needed. */
int64_t pt_alert_command_deadline(const struct pt_alert_command *c);
/* Waits for the queued calls up to the timeout of one; then kills, and logs failures. */
void pt_alert_command_finish(struct pt_alert_command *c);

#endif
