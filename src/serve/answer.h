/* serve/answer.h -- answers: JSON, buffers, files, errors. */
#ifndef PT_SERVE_ANSWER_H
#define PT_SERVE_ANSWER_H

#include "base/attr.h"
#include "base/json.h"
#include "http/server.h"

#define PT_TYPE_JSON "application/json"
#define PT_TYPE_HTML "text/html; charset=utf-8"
#define PT_TYPE_TEXT "text/plain; charset=utf-8"

/* Collects JSON in memory; `user` is for `write`. */
typedef void pt_answer_function(void *user, struct pt_json *j);
void pt_answer_json(struct pt_http_exchange *x, unsigned status, pt_answer_function *write,
                    void *user);
/* Takes the memory of `body`, without a copy. */
void pt_answer_buf(struct pt_http_exchange *x, const char *type, struct pt_buf *body,
                   const struct pt_http_header *headers, size_t count);
/* {"error": "..."} */
void pt_answer_error(struct pt_http_exchange *x, unsigned status, const char *words);
/* Answers with a whole file of at most 64 MiB, a page that Pitot wrote; `path` must not come from
 * the request. Pages are sandboxed: their scripts run, but cannot access this server. 0, or -errno
 * without an answer. */
int pt_answer_file(struct pt_http_exchange *x, const char *path, const char *type) PT_MUST_CHECK;

#endif
