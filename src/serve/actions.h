/* serve/actions.h -- recordings and profiles started through the API. Each is a separate `pitot`
 * process, so that its failure does not affect the server. One of each kind at a time. */
#ifndef PT_SERVE_ACTIONS_H
#define PT_SERVE_ACTIONS_H

#include "base/err.h"
#include "http/server.h"

#include <limits.h>
#include <pthread.h>
#include <sys/types.h>

enum pt_action_kind { PT_ACTION_RECORDING, PT_ACTION_PROFILE, PT_ACTION_COUNT };

struct pt_action {
    pid_t pid; /* 0: not running */
    int64_t start_ms, end_ms;
    int64_t target_pid, seconds, rate_hz; /* as requested; 0: not given */
    bool has_run;
    int exit_code; /* of the last process */
};

struct pt_actions {
    char program[PATH_MAX];
    const char *runs_directory, *state_directory; /* borrowed; the first may be NULL */
    pthread_mutex_t lock;
    struct pt_action list[PT_ACTION_COUNT]; /* guarded by `lock` */
};

void pt_actions_init(struct pt_actions *a, const char *runs_directory, const char *state_directory);
/* Ends running processes and waits for them. */
void pt_actions_release(struct pt_actions *a);
/* Call after SIGCHLD. */
void pt_actions_reap(struct pt_actions *a);

/* Handlers; the user is a struct pt_service. */
void pt_actions_get_recording(void *service, struct pt_http_exchange *x);
void pt_actions_start_recording(void *service, struct pt_http_exchange *x);
void pt_actions_stop_recording(void *service, struct pt_http_exchange *x);
void pt_actions_get_profile(void *service, struct pt_http_exchange *x);
void pt_actions_start_profile(void *service, struct pt_http_exchange *x);
void pt_actions_show_profile(void *service, struct pt_http_exchange *x);

#endif
