#include "http/reach.h"

#include "base/scan.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <string.h>

static const struct {
    uint32_t network;
    int bits;
} private_v4[] = {
    { 0x00000000, 8 },  /* this network */
    { 0x0a000000, 8 },  /* 10/8 */
    { 0x64400000, 10 }, /* 100.64/10 */
    { 0x7f000000, 8 },  /* loopback */
    { 0xa9fe0000, 16 }, /* link-local */
    { 0xac100000, 12 }, /* 172.16/12 */
    { 0xc0a80000, 16 }, /* 192.168/16 */
    { 0xe0000000, 3 },  /* multicast, reserved, broadcast */
};

static bool is_private_v4(uint32_t address) {
    for (size_t i = 0; i < PT_COUNT(private_v4); i++)
        if (address >> (32 - private_v4[i].bits) ==
            private_v4[i].network >> (32 - private_v4[i].bits))
            return true;
    return false;
}

/* The last four bytes of a mapped, translated (64:ff9b::/96) or compatible address are IPv4. */
static bool has_private_v4_inside(const struct in6_addr *a) {
    static const uint8_t translated[12] = { 0, 0x64, 0xff, 0x9b };
    uint32_t v4 = (uint32_t)a->s6_addr[12] << 24 | (uint32_t)a->s6_addr[13] << 16 |
                  (uint32_t)a->s6_addr[14] << 8 | a->s6_addr[15];
    return (IN6_IS_ADDR_V4MAPPED(a) || IN6_IS_ADDR_V4COMPAT(a) ||
            memcmp(a, translated, sizeof translated) == 0) &&
           is_private_v4(v4);
}

static bool is_private_v6(const struct in6_addr *a) {
    return IN6_IS_ADDR_LOOPBACK(a) || IN6_IS_ADDR_UNSPECIFIED(a) || IN6_IS_ADDR_LINKLOCAL(a) ||
           IN6_IS_ADDR_SITELOCAL(a) || IN6_IS_ADDR_MULTICAST(a) || (a->s6_addr[0] & 0xfe) == 0xfc ||
           has_private_v4_inside(a);
}

bool pt_http_is_private(const struct sockaddr *address) {
    switch (address->sa_family) {
    case AF_INET:
        return is_private_v4(ntohl(((const struct sockaddr_in *)address)->sin_addr.s_addr));
    case AF_INET6:
        return is_private_v6(&((const struct sockaddr_in6 *)address)->sin6_addr);
    default:
        return true;
    }
}

/* The host of a URL, without brackets and port. */
static bool host_of(struct pt_str url, char *host, size_t capacity) {
    struct pt_scan s = pt_scan_of(url);
    if (!pt_scan_take(&s, PT_STR("http://")) && !pt_scan_take(&s, PT_STR("https://")))
        return false;
    struct pt_str authority = { s.at, 0 };
    while (s.at + authority.len < s.end && !strchr("/?#", s.at[authority.len]))
        authority.len++;
    if (authority.len == 0 || memchr(authority.at, '@', authority.len))
        return false;
    bool is_bracketed = *authority.at == '[';
    struct pt_scan rest = pt_scan_of(pt_str_skip(authority, is_bracketed));
    struct pt_str name = { rest.at, 0 };
    char end = is_bracketed ? ']' : ':';
    while (rest.at + name.len < rest.end && rest.at[name.len] != end)
        name.len++;
    pt_str_copy(host, capacity, name);
    return name.len > 0 && name.len < capacity;
}

int pt_http_url_is_public(struct pt_str url) {
    char host[256];
    struct addrinfo *found, hints = { .ai_socktype = SOCK_STREAM };
    if (!host_of(url, host, sizeof host))
        return -EINVAL;
    if (getaddrinfo(host, NULL, &hints, &found))
        return -EHOSTUNREACH;
    bool is_private = false;
    for (const struct addrinfo *a = found; a; a = a->ai_next)
        is_private |= pt_http_is_private(a->ai_addr);
    freeaddrinfo(found);
    return is_private ? -EACCES : 0;
}
