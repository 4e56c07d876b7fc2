#include "serve/access.h"

#include "base/log.h"
#include "base/str.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

void pt_access_init(struct pt_access *g) {
    *g = (struct pt_access){ 0 };
    pthread_mutex_init(&g->lock, NULL);
}

void pt_access_release(struct pt_access *g) {
    explicit_bzero(g->token, sizeof g->token);
    pthread_mutex_destroy(&g->lock);
}

static bool is_token(const char *text) {
    size_t length = strlen(text);
    for (size_t i = 0; i < length; i++)
        if (text[i] <= ' ' || text[i] > '~')
            return false;
    return length >= PT_TOKEN_MIN && length <= PT_TOKEN_MAX;
}

static int read_token(int fd, const char *path, char token[PT_TOKEN_MAX + 2], struct pt_err *err) {
    struct stat st;
    if (fstat(fd, &st))
        return pt_fail(err, -errno, "cannot read %s: %s", path, strerror(errno));
    if (!S_ISREG(st.st_mode))
        return pt_fail(err, -EINVAL, "the token file %s is not a regular file", path);
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return pt_fail(err, -EPERM, "the token file %s belongs to another user", path);
    if (st.st_mode & 077)
        return pt_fail(err, -EPERM, "other users can read the token file %s (run chmod 600 on it)",
                       path);
    ssize_t length = read(fd, token, PT_TOKEN_MAX + 1);
    if (length < 0)
        return pt_fail(err, -errno, "cannot read %s: %s", path, strerror(errno));
    token[length] = 0;
    token[strcspn(token, "\r\n")] = 0;
    if (is_token(token))
        return 0;
    return pt_fail(err, -EINVAL,
                   "%s does not hold a token (one line of %d to %d visible characters)", path,
                   PT_TOKEN_MIN, PT_TOKEN_MAX);
}

int pt_access_load(struct pt_access *g, const char *path, struct pt_err *err) {
    char token[PT_TOKEN_MAX + 2];
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return pt_fail(err, -errno, "cannot read the token file %s: %s", path, strerror(errno));
    int rc = read_token(fd, path, token, err);
    close(fd);
    if (!rc) {
        pthread_mutex_lock(&g->lock);
        pt_str_copy(g->token, sizeof g->token, pt_str_from(token));
        pthread_mutex_unlock(&g->lock);
    }
    explicit_bzero(token, sizeof token);
    return rc;
}

bool pt_token_is(const char *token, const char *given) {
    char expected[PT_TOKEN_MAX + 1] = { 0 }, found[PT_TOKEN_MAX + 1] = { 0 };
    unsigned difference = strlen(token) != strlen(given);
    pt_str_copy(expected, sizeof expected, pt_str_from(token));
    pt_str_copy(found, sizeof found, pt_str_from(given));
    for (size_t i = 0; i < sizeof expected; i++)
        difference |= (unsigned char)expected[i] ^ (unsigned char)found[i];
    return difference == 0;
}

/* The entry of an address. If it has none, or an old one: an empty one, in the place of the oldest
 * if `is_needed`, else NULL. Call this and the next with the lock held. */
static struct pt_access_failures *failures_of(struct pt_access *g, const char *from, int64_t now_ns,
                                              bool is_needed) {
    char key[sizeof g->failures[0].from];
    struct in6_addr address;
    pt_str_copy(key, sizeof key, pt_str_from(from));
    if (inet_pton(AF_INET6, from, &address) == 1) {
        memset(&address.s6_addr[8], 0, 8);
        inet_ntop(AF_INET6, &address, key, sizeof key);
    }
    struct pt_access_failures *oldest = &g->failures[0];
    for (size_t i = 0; i < PT_ACCESS_ADDRESSES; i++) {
        struct pt_access_failures *f = &g->failures[i];
        if (f->count > 0 && now_ns - f->since_ns < PT_ACCESS_WINDOW_NS && strcmp(f->from, key) == 0)
            return f;
        if (f->since_ns < oldest->since_ns)
            oldest = f;
    }
    if (!is_needed)
        return NULL;
    *oldest = (struct pt_access_failures){ .since_ns = now_ns };
    pt_str_copy(oldest->from, sizeof oldest->from, pt_str_from(key));
    return oldest;
}

static unsigned check_token(struct pt_access *g, const char *from, const char *authorization,
                            int64_t now_ns) {
    struct pt_str bearer = PT_STR("Bearer ");
    struct pt_access_failures *f = failures_of(g, from, now_ns, false);
    if (f && f->count >= PT_ACCESS_FAILURES)
        return 429;
    if (strncasecmp(authorization, bearer.at, bearer.len) == 0 &&
        pt_token_is(g->token, authorization + bearer.len))
        return 0;
    f = failures_of(g, from, now_ns, true);
    if (++f->count == PT_ACCESS_FAILURES)
        pt_log(PT_LOG_WARNING, "%d wrong tokens from %s; refusing its requests for a minute",
               PT_ACCESS_FAILURES, from);
    return 401;
}

unsigned pt_access_admits(struct pt_access *g, enum pt_access_level level, const char *from,
                          const char *authorization, int64_t now_ns) {
    if (level == PT_ACCESS_OPEN || (level == PT_ACCESS_READ && g->is_loopback))
        return 0;
    pthread_mutex_lock(&g->lock);
    unsigned status = !g->token[0]    ? 403
                      : authorization ? check_token(g, from, authorization, now_ns)
                                      : 401;
    pthread_mutex_unlock(&g->lock);
    return status;
}
