/* serve/access.h -- access control: which routes need the token.
 *
 * A token is a line of at least 16 characters in a file that only its owner can read. Clients send
 * it as "Authorization: Bearer TOKEN". */
#ifndef PT_SERVE_ACCESS_H
#define PT_SERVE_ACCESS_H

#include "base/err.h"

#include <pthread.h>
#include <stdbool.h>

#define PT_TOKEN_MIN 16
#define PT_TOKEN_MAX 256

/* What a route needs. */
enum pt_access_level {
    PT_ACCESS_OPEN, /* nothing: pages without data, liveness */
    PT_ACCESS_READ, /* the token, unless the server listens on loopback only */
    PT_ACCESS_ACT,  /* the token, always: routes that start or stop something */
};

struct pt_access {
    pthread_mutex_t lock;
    char token[PT_TOKEN_MAX + 1]; /* guarded by `lock`; "" if there is none */
    bool is_loopback;             /* the server is not reachable from other machines */
};

void pt_access_init(struct pt_access *g);
void pt_access_release(struct pt_access *g);
/* Reads the file. On failure the old token stays. */
int pt_access_load(struct pt_access *g, const char *path, struct pt_err *err) PT_MUST_CHECK;

/* 0, 401 (missing or wrong token) or 403 (the server has no token). */
unsigned pt_access_admits(struct pt_access *g, enum pt_access_level level,
                          const char *authorization);

/* Compares in constant time; both are cut at PT_TOKEN_MAX. */
bool pt_token_is(const char *token, const char *given);

#endif
