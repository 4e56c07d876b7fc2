#include "source/engine/page_set.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <netinet/in.h>
#include <stdio.h>
#include <strings.h>
#include <unistd.h>

#define TRIES          3
#define PAGE_MAX_BYTES ((size_t)1 << 20)

/* "user:pw@[::1]:8000" -> "::1" */
static struct pt_str host_of(const char *url) {
    const char *start = strstr(url, "://");
    start = start ? start + 3 : url;
    size_t length = strcspn(start, "/");
    for (size_t i = 0; i < length; i++)
        if (start[i] == '@') {
            length -= i + 1;
            start += i + 1;
            i = (size_t)-1;
        }
    if (length > 0 && *start == '[')
        return (struct pt_str){ start + 1, strcspn(start + 1, "]/") };
    return (struct pt_str){ start, strcspn(start, ":/") };
}

static bool has_address(const struct ifaddrs *list, const char *host) {
    struct in_addr v4;
    struct in6_addr v6;
    bool is_v4 = inet_pton(AF_INET, host, &v4) == 1, is_v6 = inet_pton(AF_INET6, host, &v6) == 1;
    for (const struct ifaddrs *at = list; at; at = at->ifa_next) {
        if (!at->ifa_addr)
            continue;
        if (is_v4 && at->ifa_addr->sa_family == AF_INET &&
            memcmp(&((const struct sockaddr_in *)(const void *)at->ifa_addr)->sin_addr, &v4,
                   sizeof v4) == 0)
            return true;
        if (is_v6 && at->ifa_addr->sa_family == AF_INET6 &&
            memcmp(&((const struct sockaddr_in6 *)(const void *)at->ifa_addr)->sin6_addr, &v6,
                   sizeof v6) == 0)
            return true;
    }
    return false;
}

bool pt_url_is_local(const char *url, const char *unix_path) {
    char host[256], own[256] = "";
    struct ifaddrs *list = NULL;
    if (unix_path && *unix_path)
        return true;
    pt_str_copy(host, sizeof host, host_of(url));
    if (strncmp(host, "127.", 4) == 0 || strcmp(host, "::1") == 0 ||
        strcasecmp(host, "localhost") == 0)
        return true;
    if (gethostname(own, sizeof own - 1) == 0 && strcasecmp(host, own) == 0)
        return true;
    bool is_own = getifaddrs(&list) == 0 && has_address(list, host);
    if (list)
        freeifaddrs(list);
    return is_own;
}

void pt_page_set_init(struct pt_page_set *set, const char *url, const char *unix_path) {
    const char *authority = strstr(url, "://");
    set->is_local = authority && pt_url_is_local(url, unix_path);
    for (int i = 0; i < PT_PAGE_COUNT && set->is_local; i++) {
        size_t length = (size_t)(authority - url) + 3 + strcspn(authority + 3, "/");
        int n = snprintf(set->urls[i], sizeof set->urls[i], "%.*s%s", (int)length, url,
                         pt_engine_pages[i].path);
        set->is_over[i] = n < 0 || (size_t)n >= sizeof set->urls[i];
        set->requests[i] = (struct pt_http_request){ .url = set->urls[i],
                                                     .unix_path = unix_path,
                                                     .accept = "application/json",
                                                     .body_max_bytes = PAGE_MAX_BYTES };
    }
}

void pt_page_set_release(struct pt_page_set *set) {
    for (int i = 0; i < PT_PAGE_COUNT; i++)
        pt_http_request_release(&set->requests[i]);
}

bool pt_page_set_is_due(const struct pt_page_set *set, enum pt_engine_page_id page,
                        enum pt_engine_kind kind, bool is_busy) {
    if (!set->is_local || set->is_over[page] || !(pt_engine_pages[page].kinds >> kind & 1))
        return false;
    bool may_wake = page == PT_PAGE_SLOTS && (set->facts.may_sleep || set->facts.is_sleeping);
    return !may_wake || is_busy;
}

int pt_page_set_take(struct pt_page_set *set, enum pt_engine_page_id page) {
    const struct pt_http_request *r = &set->requests[page];
    struct pt_str body = pt_buf_as_str(&r->body);
    bool is_slots = page == PT_PAGE_SLOTS;
    int rc = r->error;
    if (!rc)
        rc = is_slots ? pt_slots_read(body, &set->slots)
                      : pt_engine_page_read(page, body, &set->facts);
    set->try_count[page] = rc ? set->try_count[page] + 1 : 0;
    bool has_failed = set->try_count[page] >= TRIES;
    /* a page that it does not have (404, 501) or does not give to everybody (401) */
    bool is_refused = r->error && r->status >= 400 && r->status != 503;
    set->is_over[page] = is_refused || (!is_slots && (!rc || has_failed));
    if (is_slots)
        set->has_slots = !is_refused && (!rc || (set->has_slots && !has_failed));
    return rc;
}
