/* http/server_head.h -- can the head of a request be read in one way only? For the server's module
 * only.
 *
 * libmicrohttpd accepts forms that a proxy in front of it may read differently, so that one request
 * becomes two: several lengths or hosts, chunks, lines ended by a bare line feed, folded lines,
 * zeros. This check refuses all of them. */
#ifndef PT_HTTP_SERVER_HEAD_H
#define PT_HTTP_SERVER_HEAD_H

#include "base/str.h"

struct pt_http_head {
    const char *next; /* where the next line must begin; NULL: the library checks lines itself */
    unsigned seen;    /* bits: headers that may occur once */
    bool is_bad, is_chunked;
};

/* True for a path with an optional query, without control characters, escaped or not. */
bool pt_http_target_is_clean(struct pt_str target);
/* Call for each header, in their order. */
void pt_http_head_add(struct pt_http_head *h, struct pt_str name, struct pt_str value);
/* 0, or the status to refuse the request with: 400 or 411. `end` is where its body begins. */
unsigned pt_http_head_end(const struct pt_http_head *h, const char *end);

#endif
