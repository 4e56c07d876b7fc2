#include "serve/access.h"

#include "base/str.h"

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

unsigned pt_access_admits(struct pt_access *g, enum pt_access_level level,
                          const char *authorization) {
    if (level == PT_ACCESS_OPEN || (level == PT_ACCESS_READ && g->is_loopback))
        return 0;
    struct pt_str bearer = PT_STR("Bearer ");
    bool is_bearer = authorization && strncasecmp(authorization, bearer.at, bearer.len) == 0;
    pthread_mutex_lock(&g->lock);
    bool is_set = g->token[0] != 0;
    bool is_admitted = is_set && is_bearer && pt_token_is(g->token, authorization + bearer.len);
    pthread_mutex_unlock(&g->lock);
    return is_admitted ? 0 : is_set ? 401 : 403;
}
