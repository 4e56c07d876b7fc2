/* serve/file_answer.h -- answers with a whole file: pages that Pitot wrote. The path never comes
 * from the request. */
#ifndef PT_SERVE_FILE_ANSWER_H
#define PT_SERVE_FILE_ANSWER_H

#include "base/attr.h"
#include "http/server.h"

#define PT_FILE_ANSWER_BYTES (INT64_C(64) << 20)

/* Pages are sandboxed: their scripts run, but cannot access this server. 0, or -errno without an
 * answer. */
int pt_answer_file(struct pt_http_exchange *x, const char *path, const char *type) PT_MUST_CHECK;

#endif
