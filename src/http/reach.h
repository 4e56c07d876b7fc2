/* http/reach.h -- does a URL lead out of this machine and its private networks? */
#ifndef PT_HTTP_REACH_H
#define PT_HTTP_REACH_H

#include "base/attr.h"
#include "base/str.h"

#include <stdbool.h>
#include <sys/socket.h>

/* Loopback, private, link-local, carrier-grade NAT, multicast, unspecified. */
bool pt_http_is_private(const struct sockaddr *address);

/* Looks the host up, which may take a while. 0: all its addresses are public ones; -EACCES: one is
 * not; -EINVAL: not an http:// or https:// URL with a host and without a user; -EHOSTUNREACH:
 * unknown host. */
int pt_http_url_is_public(struct pt_str url) PT_MUST_CHECK;

#endif
