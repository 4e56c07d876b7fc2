/* Fetching debug files from servers made here. */
#include "test.h"
#include "http_modules.h"

#include "base/log.h"
#include "profile/names/debuginfod.h"

#include <fcntl.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#define FILE_BYTES 300000 /* several pieces */

/* Has one file, and 404 for everything else. */
struct server {
    struct pt_http_address address;
    const char *path;
    pthread_t thread;
    int fd;
    int asked; /* how often */
};

static char byte_at(size_t i) {
    return (char)(i * 31 % 251);
}

static void send_all(int fd, const char *bytes, size_t length) {
    while (length > 0) {
        ssize_t n = send(fd, bytes, length, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        bytes += n;
        length -= (size_t)n;
    }
}

static char body[FILE_BYTES]; /* complete before the first server starts */

static void *server_main(void *user) {
    struct server *s = user;
    int fd;
    while ((fd = accept(s->fd, NULL, NULL)) >= 0) {
        char request[4096] = "", wanted[128], head[128];
        ssize_t n = read(fd, request, sizeof request - 1);
        snprintf(wanted, sizeof wanted, "GET %s HTTP", s->path);
        bool is_found = n > 0 && strncmp(request, wanted, strlen(wanted)) == 0;
        s->asked++;
        snprintf(head, sizeof head,
                 "HTTP/1.1 %s\r\nContent-Length: %d\r\nConnection: close\r\n\r\n",
                 is_found ? "200 OK" : "404 Not Found", is_found ? FILE_BYTES : 0);
        send_all(fd, head, strlen(head));
        if (is_found)
            send_all(fd, body, sizeof body);
        close(fd);
    }
    return NULL;
}

static void server_start(struct server *s, const char *path) {
    *s = (struct server){ .path = path };
    for (size_t i = 0; body[1] == 0 && i < sizeof body; i++)
        body[sizeof body - 1 - i] = byte_at(sizeof body - 1 - i);
    assert_int_equal(pt_http_address_parse(&s->address, "0", NULL), 0);
    s->fd = pt_http_address_listen(&s->address, NULL);
    assert_true(s->fd >= 0);
    assert_int_equal(fcntl(s->fd, F_SETFL, 0), 0);
    assert_int_equal(pthread_create(&s->thread, NULL, server_main, s), 0);
}

static void server_stop(struct server *s) {
    shutdown(s->fd, SHUT_RDWR);
    pthread_join(s->thread, NULL);
    close(s->fd);
}

static int port_of(const struct server *s) {
    return ntohs(s->address.v4.sin_port);
}

/* Servers are asked one after the other, until one has the file. */
static void the_first_server_with_the_file_is_used(void **state) {
    (void)state;
    struct server none, has_it, also;
    struct pt_debuginfod d;
    struct pt_err err;
    char urls[256];
    server_start(&none, "/nothing");
    server_start(&has_it, "/sub/buildid/abcd/debuginfo");
    server_start(&also, "/buildid/abcd/debuginfo");
    snprintf(urls, sizeof urls,
             " http://127.0.0.1:%d  http://127.0.0.1:%d/sub/ http://127.0.0.1:%d", port_of(&none),
             port_of(&has_it), port_of(&also));
    setenv("DEBUGINFOD_URLS", urls, 1);
    assert_int_equal(pt_debuginfod_open(&d, &err), 0);
    int fd = pt_debuginfod_fetch(&d, "abcd");
    assert_true(fd >= 0);
    assert_int_equal(lseek(fd, 0, SEEK_END), FILE_BYTES);
    char bytes[1024];
    for (size_t at = 0; at < FILE_BYTES; at += sizeof bytes) {
        ssize_t n = pread(fd, bytes, sizeof bytes, (off_t)at);
        assert_true(n > 0);
        for (size_t i = 0; i < (size_t)n; i++)
            assert_int_equal(bytes[i], byte_at(at + i));
    }
    close(fd);
    assert_int_equal(pt_debuginfod_fetch(&d, "ef01"), -1); /* nobody has it */
    setenv("TMPDIR", "/nonexistent", 1);
    assert_int_equal(pt_debuginfod_fetch(&d, "abcd"), -1); /* nowhere to put it */
    unsetenv("TMPDIR");
    pt_debuginfod_close(&d);
    server_stop(&none);
    server_stop(&has_it);
    server_stop(&also);
    assert_int_equal(none.asked, 2);
    assert_int_equal(has_it.asked, 2);
    assert_int_equal(also.asked, 1); /* only for what the others do not have */
}

int main(void) {
    pt_log_level = PT_LOG_ERROR;
    const struct CMUnitTest tests[] = {
        PT_TEST(the_first_server_with_the_file_is_used,
                "C242: debuginfod servers are asked one after the other"),
    };
    return !has_http_modules() ? SKIPPED : cmocka_run_group_tests(tests, NULL, NULL);
}
