/* serve/access.h -- access control: which routes need the token.
 *
 * A token is a line of at least 16 characters in a file that only its owner can read. Clients send
 * it as "Authorization: Bearer TOKEN". An address that sends too many wrong ones is refused for a
 * while, whatever it sends. */
#ifndef PT_SERVE_ACCESS_H
#define PT_SERVE_ACCESS_H

#include "base/err.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define PT_TOKEN_MIN        16
#define PT_TOKEN_MAX        256

#define PT_ACCESS_FAILURES  10 /* wrong tokens of an address within a minute */
#define PT_ACCESS_WINDOW_NS (INT64_C(60) * 1000000000)
#define PT_ACCESS_ADDRESSES 128 /* that are remembered; then the oldest is forgotten */

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
    struct pt_access_failures {
        char from[48];
        int64_t since_ns;
        unsigned count;
    } failures[PT_ACCESS_ADDRESSES]; /* guarded by `lock` */
};

void pt_access_init(struct pt_access *g);
void pt_access_release(struct pt_access *g);
/* Reads the file. On failure the old token stays. */
int pt_access_load(struct pt_access *g, const char *path, struct pt_err *err) PT_MUST_CHECK;

/* 0, 401 (missing or wrong token), 403 (the server has no token) or 429 (too many wrong ones).
 * `from` is the address of the client; a network of 64 bits counts as one IPv6 address. */
unsigned pt_access_admits(struct pt_access *g, enum pt_access_level level, const char *from,
                          const char *authorization, int64_t now_ns);

/* Compares in constant time; both are cut at PT_TOKEN_MAX. */
bool pt_token_is(const char *token, const char *given);

#endif
