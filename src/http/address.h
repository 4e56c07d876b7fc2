/* http/address.h -- where a server listens, and which names mean this machine.
 *
 *     8080   127.0.0.1:0   localhost:8080   [::1]:8080   unix:/run/pitot.sock */
#ifndef PT_HTTP_ADDRESS_H
#define PT_HTTP_ADDRESS_H

#include "base/err.h"
#include "base/str.h"

#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/un.h>

struct pt_http_address {
    union {
        struct sockaddr any;
        struct sockaddr_in v4;
        struct sockaddr_in6 v6;
        struct sockaddr_un local;
    };
    socklen_t length;
};

/* Accepts numeric addresses and localhost; a port alone means 127.0.0.1, port 0 any free port. */
int pt_http_address_parse(struct pt_http_address *a, const char *text,
                          struct pt_err *err) PT_MUST_CHECK;

/* Reachable from this machine only. */
bool pt_http_address_is_loopback(const struct pt_http_address *a);

/* Binds and listens. Replaces a UNIX socket without a listener; only the owner may connect to it.
 * Sets the port of the address. Returns the descriptor or -errno. */
int pt_http_address_listen(struct pt_http_address *a, struct pt_err *err) PT_MUST_CHECK;

/* http://127.0.0.1:41234 or unix:/run/pitot.sock */
void pt_http_address_print(const struct pt_http_address *a, char *into, size_t capacity);

/* For a Host header or the authority of a URL, with or without a port. A web page that resolved its
 * own name to 127.0.0.1 (DNS rebinding) still sends that name. */
bool pt_http_host_is_loopback(struct pt_str host);

/* True for http://HOST... if HOST is this machine; false with a user and password. */
bool pt_http_url_is_loopback(struct pt_str url);

#endif
