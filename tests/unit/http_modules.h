/* tests/unit/http_modules.h -- whether the HTTP modules were built; without them there is nothing
 * to test: the program returns SKIPPED. */
#ifndef PT_TEST_HTTP_MODULES_H
#define PT_TEST_HTTP_MODULES_H

#include "test.h"

#include "http/client.h"
#include "http/server.h"

#define SKIPPED 77

static inline bool has_http_modules(void) {
    const void *interface;
    struct pt_err err;
    if (pt_module_open("http-client", PT_HTTP_CLIENT_VERSION, &interface, &err) == 0 &&
        pt_module_open("http-server", PT_HTTP_SERVER_VERSION, &interface, &err) == 0)
        return true;
    fprintf(stderr, "%s\n", err.text);
    return false;
}

#endif
