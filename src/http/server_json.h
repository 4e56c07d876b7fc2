/* http/server_json.h -- the fields of a JSON object. For the server's module only. */
#ifndef PT_HTTP_SERVER_JSON_H
#define PT_HTTP_SERVER_JSON_H

#include "http/server.h"

int pt_http_json_read(struct pt_str text, const struct pt_http_field *fields, size_t count,
                      void *into, struct pt_err *err);

#endif
