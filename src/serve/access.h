/* serve/access.h -- who may ask for what: the token.
 *
 * A token is a line of at least 16 characters in a file that only its owner can read. It comes with
 * a request as "Authorization: Bearer TOKEN". */
#ifndef PT_SERVE_ACCESS_H
#define PT_SERVE_ACCESS_H

#include "base/err.h"

#include <pthread.h>
#include <stdbool.h>

#define PT_TOKEN_MIN 16
#define PT_TOKEN_MAX 256

/* What a route needs. */
enum pt_guard_level {
    PT_GUARD_OPEN, /* nothing: pages without data, is it alive */
    PT_GUARD_READ, /* the token, but for those who listen on this machine only */
    PT_GUARD_ACT,  /* the token, always: what starts or stops something */
};

struct pt_guard {
    pthread_mutex_t lock;
    char token[PT_TOKEN_MAX + 1]; /* guarded by it; "" if there is none */
    bool is_loopback;             /* the server cannot be reached from elsewhere */
};

void pt_guard_init(struct pt_guard *g);
void pt_guard_release(struct pt_guard *g);
/* Reads the file; with words the old token stays. */
int pt_guard_load(struct pt_guard *g, const char *path, struct pt_err *err) PT_MUST_CHECK;

/* 0, 401 (no or another token) or 403 (there is none that would do). */
unsigned pt_guard_admits(struct pt_guard *g, enum pt_guard_level level, const char *authorization);

/* Takes the same time whatever `given` is; both are cut at PT_TOKEN_MAX. */
bool pt_token_is(const char *token, const char *given);

#endif
