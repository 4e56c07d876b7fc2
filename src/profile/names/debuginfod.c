#include "profile/names/debuginfod.h"

#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TIMEOUT_NS (300 * PT_NS_PER_SECOND)
#define FILE_MAX   ((size_t)4 << 30)

int pt_debuginfod_open(struct pt_debuginfod *d, struct pt_err *err) {
    const char *urls = getenv("DEBUGINFOD_URLS");
    *d = (struct pt_debuginfod){ .urls = urls && *urls ? urls : NULL };
    return d->urls ? pt_http_client_open(&d->client, err) : 0;
}

void pt_debuginfod_close(struct pt_debuginfod *d) {
    pt_http_client_close(&d->client);
    d->urls = NULL;
}

static bool write_piece(struct pt_http_request *r, struct pt_str piece) {
    int *fd = r->user;
    while (piece.len > 0) {
        ssize_t n = write(*fd, piece.at, piece.len);
        if (n <= 0)
            return false;
        piece = pt_str_skip(piece, (size_t)n);
    }
    return true;
}

static int fetch_from(struct pt_debuginfod *d, struct pt_str server, const char *build_id) {
    /* an unnamed file on disk, because it may be large */
    const char *directory = getenv("TMPDIR");
    int fd =
        open(directory && *directory ? directory : "/tmp", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    char *url = pt_asprintf("%.*s/buildid/%s/debuginfo", (int)server.len, server.at, build_id);
    struct pt_http_request request = { .url = url,
                                       .timeout_ns = TIMEOUT_NS,
                                       .body_max_bytes = FILE_MAX,
                                       .on_data = write_piece,
                                       .user = &fd };
    pt_http_client_run(&d->client, &request, 1);
    pt_log(PT_LOG_INFO, "%s: %s", url, request.error ? request.words : "found");
    if (request.error) {
        close(fd);
        fd = -1;
    }
    pt_http_request_release(&request);
    pt_free(url);
    return fd;
}

int pt_debuginfod_fetch(void *debuginfod, const char *build_id) {
    struct pt_debuginfod *d = debuginfod;
    int fd = -1;
    for (const char *at = d->urls; fd < 0 && at && *at;) {
        size_t length = strcspn(at, " ");
        struct pt_str server = { at, length };
        if (pt_str_ends(server, PT_STR("/")))
            server.len--;
        if (server.len > 0)
            fd = fetch_from(d, server, build_id);
        at += length;
        at += strspn(at, " ");
    }
    return fd;
}
