/* sampler/alert_command.h -- runs a command of the user's when an alert goes on or off.
 *
 * What happened is in its environment: PITOT_ALERT_RULE, _ENTITY, _METRIC, _STATE (on or off),
 * _VALUE, _THRESHOLD, _TIME (Unix milliseconds) and _RUN (the journal). One runs at a time, the
 * others wait for it; the recording waits for none, and one that takes too long is killed. */
#ifndef PT_SAMPLER_ALERT_COMMAND_H
#define PT_SAMPLER_ALERT_COMMAND_H

#include "model/sample.h"

#include <sys/types.h>

#define PT_ALERT_COMMAND_WAITING    64 /* more are dropped, and counted */
#define PT_ALERT_COMMAND_TIMEOUT_NS (30 * INT64_C(1000000000))
#define PT_ALERT_COMMAND_VARIABLES  8

/* Names and values, "PITOT_ALERT_RULE=hot". */
struct pt_alert_call {
    char *variables[PT_ALERT_COMMAND_VARIABLES + 1];
};

/* {0} with a command is ready; without one it does nothing. */
struct pt_alert_command {
    const char *command; /* for /bin/sh; borrowed, as is: */
    const char *run;
    struct pt_alert_call waiting[PT_ALERT_COMMAND_WAITING];
    size_t first, count;
    pid_t pid; /* of the one that runs; 0: none */
    int64_t started_ns;
    uint64_t failed_count, dropped_count;
    int64_t timeout_ns; /* 0: PT_ALERT_COMMAND_TIMEOUT_NS */
};

/* Queues a call for each row of `.alerts` in the sample, and starts the first if none runs. */
void pt_alert_command_see(struct pt_alert_command *c, const struct pt_sample *changes);
/* Looks whether the one that runs has ended or takes too long, and starts the next. */
void pt_alert_command_check(struct pt_alert_command *c, int64_t now_ns);
/* When it has to be checked, at the latest; INT64_MAX: no need. */
int64_t pt_alert_command_deadline(const struct pt_alert_command *c);
/* Waits for the rest, as long as one may take; then kills, and says what failed. */
void pt_alert_command_finish(struct pt_alert_command *c);

#endif
