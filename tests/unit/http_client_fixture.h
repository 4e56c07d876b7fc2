/* tests/unit/http_client_fixture.h -- one client for all tests of a program: `client`. */
#ifndef PT_TEST_HTTP_CLIENT_FIXTURE_H
#define PT_TEST_HTTP_CLIENT_FIXTURE_H

#include "http_modules.h"

static struct pt_http_client client;

static int open_client(void **state) {
    (void)state;
    return pt_http_client_open(&client, NULL);
}

static int close_client(void **state) {
    (void)state;
    pt_http_client_close(&client);
    return 0;
}

#endif
