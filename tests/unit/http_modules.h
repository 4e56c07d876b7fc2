/* tests/unit/http_modules.h -- whether the HTTP modules were built; without them there is nothing
 * to test: the program returns SKIPPED. */
#ifndef PT_TEST_HTTP_MODULES_H
#define PT_TEST_HTTP_MODULES_H

#include "test.h"

#include "http/client.h"
#include "http/server.h"

#include <unistd.h>

#define SKIPPED 77

/* Reads a request without a body, as a server does. */
static inline bool read_head(int fd) {
    char text[4096];
    size_t length = 0;
    while (length < sizeof text - 1) {
        ssize_t n = read(fd, text + length, sizeof text - 1 - length);
        if (n <= 0)
            return false;
        length += (size_t)n;
        text[length] = 0;
        if (strstr(text, "\r\n\r\n"))
            return true;
    }
    return false;
}

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
