/* serve/actions.h -- recordings and profiles that the API starts: each is a `pitot` of its own, so
 * that what goes wrong there harms nothing here. One of each kind at a time. */
#ifndef PT_SERVE_ACTIONS_H
#define PT_SERVE_ACTIONS_H

#include "base/err.h"
#include "http/server.h"

#include <limits.h>
#include <pthread.h>
#include <sys/types.h>

enum pt_action_kind { PT_ACTION_RECORDING, PT_ACTION_PROFILE, PT_ACTION_COUNT };

struct pt_action {
    pid_t pid; /* 0: none runs */
    int64_t start_ms, end_ms;
    int64_t target_pid, seconds, rate_hz; /* as asked for; 0: not */
    bool has_run;
    int exit_code; /* of the last one */
};

struct pt_actions {
    char program[PATH_MAX];
    const char *runs_directory, *state_directory; /* borrowed; the first may be NULL */
    pthread_mutex_t lock;
    struct pt_action list[PT_ACTION_COUNT]; /* guarded by it */
};

void pt_actions_init(struct pt_actions *a, const char *runs_directory, const char *state_directory);
/* Ends what still runs, and waits for it. */
void pt_actions_release(struct pt_actions *a);
/* After SIGCHLD. */
void pt_actions_reap(struct pt_actions *a);

/* Handlers; the user is a struct pt_service. */
void pt_actions_tell_recording(void *service, struct pt_http_exchange *x);
void pt_actions_start_recording(void *service, struct pt_http_exchange *x);
void pt_actions_stop_recording(void *service, struct pt_http_exchange *x);
void pt_actions_tell_profile(void *service, struct pt_http_exchange *x);
void pt_actions_start_profile(void *service, struct pt_http_exchange *x);
void pt_actions_show_profile(void *service, struct pt_http_exchange *x);

#endif
