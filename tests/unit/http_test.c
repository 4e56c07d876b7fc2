/* The HTTP client and server, against each other and against peers that misbehave. */
#include "test.h"
#include "http_client_fixture.h"

#include "base/attr.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT     "text/plain; charset=utf-8"
#define PATIENCE (INT64_C(60) * 1000000000) /* for what is expected to come */

/* A peer that answers every request with the same bytes, whatever they are. */
struct peer {
    struct pt_http_address address;
    char url[160];
    int fd;
    struct pt_str answer;
    bool ends_after_answer, is_silent;
    int connection_count, request_count; /* read after the thread has ended */
    pthread_t thread;
};

static void send_all(int fd, struct pt_str bytes) {
    while (bytes.len > 0) {
        ssize_t n = send(fd, bytes.at, bytes.len, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        bytes = pt_str_skip(bytes, (size_t)n);
    }
}

static void *peer_main(void *user) {
    struct peer *p = user;
    int fd;
    while ((fd = accept(p->fd, NULL, NULL)) >= 0) {
        p->connection_count++;
        while (read_head(fd)) {
            p->request_count++;
            if (!p->is_silent)
                send_all(fd, p->answer);
            if (p->ends_after_answer)
                break;
        }
        close(fd);
    }
    return NULL;
}

static void peer_start(struct peer *p) {
    assert_int_equal(pt_http_address_parse(&p->address, "0", NULL), 0);
    p->fd = pt_http_address_listen(&p->address, NULL);
    assert_true(p->fd >= 0);
    assert_int_equal(fcntl(p->fd, F_SETFL, 0), 0);
    pt_http_address_print(&p->address, p->url, sizeof p->url);
    assert_int_equal(pthread_create(&p->thread, NULL, peer_main, p), 0);
}

/* Connections of the client must have ended. */
static void peer_stop(struct peer *p) {
    shutdown(p->fd, SHUT_RDWR);
    pthread_join(p->thread, NULL);
    close(p->fd);
}

static void restart_client(void) {
    pt_http_client_close(&client);
    assert_int_equal(pt_http_client_open(&client, NULL), 0);
}

/* Asks a peer once; the connection ends with the client. */
static void ask(struct peer *p, struct pt_http_request *r) {
    peer_start(p);
    r->url = p->url;
    if (!r->timeout_ns)
        r->timeout_ns = PATIENCE;
    pt_http_client_run(&client, r, 1);
    restart_client();
    peer_stop(p);
}

static void a_get_gives_status_type_and_body_over_one_connection(void **state) {
    (void)state;
    struct peer p = { .answer = PT_STR("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n"
                                       "Content-Length: 6\r\n\r\nhello\n") };
    struct pt_http_request r = { .timeout_ns = PATIENCE };
    peer_start(&p);
    r.url = p.url;
    for (int i = 0; i < 3; i++) {
        pt_http_client_run(&client, &r, 1);
        assert_int_equal(r.error, 0);
        assert_int_equal(r.status, 200);
        assert_string_equal(r.content_type, "text/plain");
        assert_str_eq(pt_buf_as_str(&r.body), "hello\n");
        assert_true(r.end_ns >= r.start_ns);
    }
    restart_client();
    peer_stop(&p);
    assert_int_equal(p.connection_count, 1);
    assert_int_equal(p.request_count, 3);
    pt_http_request_release(&r);
}

static void a_peer_that_hangs_holds_up_nobody_else(void **state) {
    (void)state;
    struct peer silent = { .is_silent = true };
    struct peer p = { .answer = PT_STR("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") };
    struct pt_http_request r[2] = { { .timeout_ns = 50000000 }, { .timeout_ns = PATIENCE } };
    peer_start(&silent);
    peer_start(&p);
    r[0].url = silent.url;
    r[1].url = p.url;
    pt_http_client_run(&client, r, 2);
    assert_int_equal(r[0].error, -ETIMEDOUT);
    assert_string_equal(r[0].words, "no complete answer within 50 ms");
    assert_int_equal(r[0].status, 0);
    assert_int_equal(r[1].error, 0);
    assert_str_eq(pt_buf_as_str(&r[1].body), "ok");
    restart_client();
    peer_stop(&silent);
    peer_stop(&p);
    pt_http_request_release(&r[0]);
    pt_http_request_release(&r[1]);
}

static void the_default_timeout_ends_a_hanging_request(void **state) {
    (void)state;
    struct peer p = { .is_silent = true };
    peer_start(&p);
    struct pt_http_request r = { .url = p.url };
    pt_http_client_run(&client, &r, 1);
    restart_client();
    peer_stop(&p);
    assert_int_equal(r.error, -ETIMEDOUT);
    assert_string_equal(r.words, "no complete answer within 500 ms");
}

static void a_body_stays_below_its_limit(void **state) {
    (void)state;
    static char large[300000];
    memset(large, 'x', sizeof large);
    static const char head[] = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n";
    memcpy(large, head, sizeof head - 1);
    struct peer announced = { .answer =
                                  PT_STR("HTTP/1.1 200 OK\r\nContent-Length: 70000\r\n\r\n") };
    struct peer endless = { .answer = { large, sizeof large }, .ends_after_answer = true };
    struct pt_http_request r = { .body_max_bytes = 70000 - 1 };
    ask(&announced, &r);
    assert_int_equal(r.error, -EFBIG);
    assert_string_equal(r.words, "the answer is larger than 69999 bytes");
    ask(&endless, &r);
    assert_int_equal(r.error, -EFBIG);
    assert_true(r.body.capacity <= 69999);
    r.body_max_bytes = sizeof large - sizeof head + 1;
    ask(&endless, &r);
    assert_int_equal(r.error, 0);
    assert_int_equal(r.body.len, r.body_max_bytes);
    assert_int_equal(r.body.capacity, r.body_max_bytes);
    pt_http_request_release(&r);
}

/* Deflate, by hand: one block of fixed codes that says "a zero, and 258 more of the last byte" over
 * and over. */
struct bits {
    uint8_t *at;
    size_t count;
};

static void put_bits(struct bits *b, unsigned value, int count) {
    for (int i = 0; i < count; i++, b->count++)
        b->at[b->count / 8] |= (uint8_t)((value >> i & 1) << b->count % 8);
}

/* Codes go in with their first bit first. */
static void put_code(struct bits *b, unsigned code, int length) {
    for (int i = length - 1; i >= 0; i--)
        put_bits(b, code >> i & 1, 1);
}

static uint32_t crc32_of_zeros(size_t count) {
    uint32_t crc = ~UINT32_C(0);
    for (size_t i = 0; i < count * 8; i++)
        crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
    return ~crc;
}

/* An answer whose body is 1 + 258 * `repeats` zeros. */
static struct pt_str gzip_answer(size_t repeats) {
    static const char head[] = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
                               "Connection: close\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\xff";
    uint8_t *bytes = calloc(1, sizeof head + repeats * 2 + 32);
    memcpy(bytes, head, sizeof head - 1);
    struct bits b = { bytes, (sizeof head - 1) * 8 };
    put_bits(&b, 3, 3);    /* the last block, fixed codes */
    put_code(&b, 0x30, 8); /* byte 0 */
    for (size_t i = 0; i < repeats; i++) {
        put_code(&b, 0xc5, 8); /* 258 bytes */
        put_code(&b, 0, 5);    /* from 1 byte back */
    }
    put_code(&b, 0, 7);
    b.count = (b.count + 7) / 8 * 8;
    size_t length = 1 + 258 * repeats;
    put_bits(&b, length < 1000000 ? crc32_of_zeros(length) : 0, 32);
    put_bits(&b, (uint32_t)length, 32);
    return (struct pt_str){ (char *)bytes, b.count / 8 };
}

static void gzip_is_undone(void **state) {
    (void)state;
    struct peer p = { .answer = gzip_answer(4), .ends_after_answer = true };
    struct pt_http_request r = { 0 };
    ask(&p, &r);
    assert_int_equal(r.error, 0);
    assert_int_equal(r.body.len, 1 + 258 * 4);
    for (size_t i = 0; i < r.body.len; i++)
        assert_int_equal(r.body.at[i], 0);
    pt_http_request_release(&r);
    free((void *)(uintptr_t)p.answer.at);
}

static void a_gzip_bomb_does_not_go_off(void **state) {
    (void)state;
    struct peer p = { .answer = gzip_answer(400000), .ends_after_answer = true };
    struct pt_http_request r = { 0 };
    assert_true(p.answer.len < PT_HTTP_BODY_MAX_BYTES / 16);
    ask(&p, &r);
    assert_int_equal(r.error, -EFBIG);
    assert_true(r.body.capacity <= PT_HTTP_BODY_MAX_BYTES);
    pt_http_request_release(&r);
    free((void *)(uintptr_t)p.answer.at);
}

static void redirects_are_not_followed(void **state) {
    (void)state;
    struct peer other = { .answer = PT_STR("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n") };
    peer_start(&other);
    char answer[256];
    snprintf(answer, sizeof answer,
             "HTTP/1.1 302 Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", other.url);
    struct peer p = { .answer = pt_str_from(answer) };
    struct pt_http_request r = { 0 };
    ask(&p, &r);
    peer_stop(&other);
    assert_int_equal(r.error, -EREMOTEIO);
    assert_int_equal(r.status, 302);
    assert_string_equal(r.words, "HTTP status 302 (redirects are not followed)");
    assert_int_equal(other.connection_count, 0);
    pt_http_request_release(&r);
}

static void odd_answers_are_told_apart(void **state) {
    (void)state;
    static const struct {
        struct pt_str answer;
        int error, status;
    } cases[] = {
        { PT_STR("SSH-2.0-OpenSSH_9.2\r\n\r\n"), -EBADMSG, 0 },
        { PT_STR(""), -EPIPE, 0 },
        { PT_STR("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nonly this"), -EPIPE, 200 },
        { PT_STR("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhe"), -EPIPE, 200 },
        { PT_STR("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nno gzip at all"), -EBADMSG,
          200 },
        { PT_STR("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy"), -EREMOTEIO, 503 },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct peer p = { .answer = cases[i].answer, .ends_after_answer = true };
        struct pt_http_request r = { 0 };
        ask(&p, &r);
        assert_int_equal(r.error, cases[i].error);
        assert_int_equal(r.status, cases[i].status);
        assert_true(strlen(r.words) > 0);
        pt_http_request_release(&r);
    }
}

static void only_http_is_spoken(void **state) {
    (void)state;
    static const char *const urls[] = {
        "file:///etc/passwd",     "ftp://127.0.0.1/x", "dict://127.0.0.1/", "", "http://",
        "http://127.0.0.1:99999/"
    };
    for (size_t i = 0; i < PT_COUNT(urls); i++) {
        struct pt_http_request r = { .url = urls[i] };
        pt_http_client_run(&client, &r, 1);
        assert_true(r.error < 0);
        assert_int_equal(r.body.len, 0);
    }
}

static void a_closed_port_is_refused(void **state) {
    (void)state;
    struct peer p = { 0 };
    peer_start(&p);
    peer_stop(&p);
    struct pt_http_request r = { .url = p.url, .timeout_ns = PATIENCE };
    pt_http_client_run(&client, &r, 1);
    assert_int_equal(r.error, -ECONNREFUSED);
}

/* The server under test; /later and /stream hand their exchange to the test. */
struct fixture {
    struct pt_http_server server;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    struct pt_http_exchange *handed_on;
    int gone_count;
};

static void say_hello(void *user, struct pt_http_exchange *x) {
    (void)user;
    pt_http_reply(x, 200, TEXT, PT_STR("hello\n"));
}

static void echo(void *user, struct pt_http_exchange *x) {
    (void)user;
    pt_http_reply(x, 200, TEXT, x->body);
}

static void hand_on(void *user, struct pt_http_exchange *x) {
    struct fixture *f = user;
    pthread_mutex_lock(&f->lock);
    f->handed_on = x;
    pthread_cond_signal(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

static void on_gone(void *user) {
    struct fixture *f = user;
    pthread_mutex_lock(&f->lock);
    f->gone_count++;
    pthread_cond_signal(&f->changed);
    pthread_mutex_unlock(&f->lock);
}

static void stream(void *user, struct pt_http_exchange *x) {
    pt_http_begin(x, "text/event-stream", on_gone, user);
    hand_on(user, x);
}

static struct pt_http_exchange *take_exchange(struct fixture *f) {
    pthread_mutex_lock(&f->lock);
    while (!f->handed_on)
        pthread_cond_wait(&f->changed, &f->lock);
    struct pt_http_exchange *x = f->handed_on;
    f->handed_on = NULL;
    pthread_mutex_unlock(&f->lock);
    return x;
}

static void await_gone(struct fixture *f) {
    pthread_mutex_lock(&f->lock);
    while (f->gone_count == 0)
        pthread_cond_wait(&f->changed, &f->lock);
    pthread_mutex_unlock(&f->lock);
}

/* Answers with the parameters and a header of the request. */
static void tell_query(void *user, struct pt_http_exchange *x) {
    (void)user;
    char text[256];
    const char *a = pt_http_parameter(x, "a"), *b = pt_http_parameter(x, "b"),
               *accept = pt_http_request_header(x, "accept");
    snprintf(text, sizeof text, "a=%s b=%s accept=%s\n", a ? a : "(none)", b ? b : "(none)",
             accept ? accept : "(none)");
    pt_http_reply(x, 200, TEXT, pt_str_from(text));
}

static struct pt_http_content *shared; /* what /shared answers with */

static void share(void *user, struct pt_http_exchange *x) {
    (void)user;
    pt_http_reply_content(x, shared);
}

static void say_much(void *user, struct pt_http_exchange *x) {
    static char text[1 << 20];
    (void)user;
    memset(text, 'x', sizeof text);
    pt_http_reply(x, 200, TEXT, (struct pt_str){ text, sizeof text });
}

static const struct pt_http_route routes[] = {
    { "GET", "/much", say_much },
    { "GET", "/query", tell_query },
    { "GET", "/shared", share },
    { "GET", "/guarded", say_hello, 1 },
    { "POST", "/guarded/act", say_hello, 2 },
    { "GET", "/hello", say_hello },
    { "POST", "/echo", echo },
    { "GET", "/later", hand_on },
    { "GET", "/stream", stream },
};

static void serve(struct fixture *f, struct pt_http_server_options o) {
    *f = (struct fixture){ .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };
    o.routes = routes;
    o.route_count = PT_COUNT(routes);
    o.user = f;
    struct pt_err err = { "" };
    if (pt_http_server_open(&f->server, &o, &err))
        fail_msg("%s", err.text);
}

static int connect_to(const struct fixture *f) {
    int fd = socket(f->server.address.any.sa_family, SOCK_STREAM, 0);
    assert_int_equal(connect(fd, &f->server.address.any, f->server.address.length), 0);
    return fd;
}

/* Reads until `end` was there, or the connection has ended. */
static void read_until(int fd, const char *end, char *text, size_t capacity) {
    size_t length = 0;
    text[0] = 0;
    while (length < capacity - 1 && (!end || !strstr(text, end))) {
        ssize_t n = read(fd, text + length, capacity - 1 - length);
        if (n <= 0)
            return;
        length += (size_t)n;
        text[length] = 0;
    }
}

/* Sends bytes and returns the status of the answer, 0 if there is none. */
static int raw_status(const struct fixture *f, const char *request, char *text, size_t capacity) {
    int fd = connect_to(f), status = 0;
    send_all(fd, pt_str_from(request));
    read_until(fd, "\r\n\r\n", text, capacity);
    close(fd);
    if (strncmp(text, "HTTP/1.1 ", 9) == 0)
        status = (int)strtol(text + 9, NULL, 10);
    return status;
}

static void get(const struct fixture *f, const char *path, struct pt_http_request *r) {
    char url[256];
    snprintf(url, sizeof url, "%s%s", f->server.url, path);
    r->url = url;
    r->timeout_ns = PATIENCE;
    pt_http_client_run(&client, r, 1);
}

static void client_and_server_speak_over_tcp(void **state) {
    (void)state;
    struct fixture f;
    serve(&f, (struct pt_http_server_options){ 0 });
    assert_true(pt_http_url_is_loopback(pt_str_from(f.server.url)));
    struct pt_http_request r = { 0 };
    get(&f, "/hello", &r);
    assert_int_equal(r.error, 0);
    assert_string_equal(r.content_type, TEXT);
    assert_str_eq(pt_buf_as_str(&r.body), "hello\n");
    r.post = PT_STR("{\"a\":1}");
    get(&f, "/echo", &r);
    assert_int_equal(r.error, 0);
    assert_str_eq(pt_buf_as_str(&r.body), "{\"a\":1}");
    pt_http_request_release(&r);
    pt_http_server_close(&f.server);
}

static void client_and_server_speak_over_a_unix_socket(void **state) {
    (void)state;
    char path[64], listen[80];
    snprintf(path, sizeof path, "/tmp/pitot-http-%d.sock", (int)getpid());
    snprintf(listen, sizeof listen, "unix:%s", path);
    struct fixture f, second;
    serve(&f, (struct pt_http_server_options){ .listen = listen });
    struct pt_http_request r = { .url = "http://any.name/hello", .unix_path = path };
    pt_http_client_run(&client, &r, 1);
    assert_int_equal(r.error, 0);
    assert_str_eq(pt_buf_as_str(&r.body), "hello\n");
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);

    struct pt_err err;
    struct pt_http_server_options o = { .listen = listen };
    assert_int_equal(pt_http_server_open(&second.server, &o, &err), -EADDRINUSE);
    assert_int_equal(stat(path, &st), 0);
    restart_client();
    pt_http_server_close(&f.server);
    assert_int_equal(stat(path, &st), -1);

    struct pt_http_address left_behind;
    assert_int_equal(pt_http_address_parse(&left_behind, listen, NULL), 0);
    close(pt_http_address_listen(&left_behind, NULL));
    serve(&f, (struct pt_http_server_options){ .listen = listen });
    pt_http_client_run(&client, &r, 1);
    assert_int_equal(r.error, 0);
    pt_http_request_release(&r);
    pt_http_server_close(&f.server);
}

static void bad_requests_get_the_right_status(void **state) {
    (void)state;
    static const struct {
        const char *request;
        int status;
    } cases[] = {
        { "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n", 200 },
        { "HEAD /hello HTTP/1.1\r\nHost: localhost\r\n\r\n", 200 },
        { "GET /hello HTTP/1.1\r\nHost: 127.0.0.1:80\r\n\r\n", 200 },
        { "GET /hello HTTP/1.1\r\nHost: [::1]:80\r\n\r\n", 200 },
        { "GET /hello HTTP/1.1\r\nHost: evil.example\r\n\r\n", 403 },
        { "GET /hello HTTP/1.1\r\nHost: 127.0.0.1.evil.example\r\n\r\n", 403 },
        { "GET /hello HTTP/1.1\r\nHost: localhost:80@evil\r\n\r\n", 400 },
        { "GET /hello HTTP/1.1\r\nHost: 10.0.0.1\r\n\r\n", 403 },
        { "GET /hello HTTP/1.1\r\n\r\n", 400 },
        { "GET /nothing HTTP/1.1\r\nHost: localhost\r\n\r\n", 404 },
        { "GET /hello/../hello HTTP/1.1\r\nHost: localhost\r\n\r\n", 404 },
        { "DELETE /hello HTTP/1.1\r\nHost: localhost\r\n\r\n", 405 },
        { "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 101\r\n\r\n", 413 },
        { "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
          413 },
        { "garbage\r\n\r\n", 0 },
    };
    struct fixture f;
    char text[4096];
    serve(&f, (struct pt_http_server_options){ .body_max_bytes = 100 });
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        int status = raw_status(&f, cases[i].request, text, sizeof text);
        if (status != cases[i].status && !(cases[i].status == 0 && status == 400))
            fail_msg("%s: %d instead of %d", cases[i].request, status, cases[i].status);
        if (status == 405)
            assert_non_null(strstr(text, "Allow: GET\r\n"));
        if (status == 200)
            assert_non_null(strstr(text, "X-Content-Type-Options: nosniff\r\n"));
    }
    pt_http_server_close(&f.server);
}

static void queries_and_headers_are_for_the_handler(void **state) {
    (void)state;
    static const struct {
        const char *head, *answer;
    } cases[] = {
        { "GET /query HTTP/1.1\r\n", "a=(none) b=(none) accept=(none)\n" },
        { "GET /query?a=1&b= HTTP/1.1\r\nAccept: x/y\r\n", "a=1 b= accept=x/y\n" },
        { "GET /query?b&a=%2f%3D+x HTTP/1.1\r\n", "a=/= x b= accept=(none)\n" },
        { "GET /query?a=1&a=2 HTTP/1.1\r\n", "a=1 b=(none) accept=(none)\n" },
        { "GET /query?&&=&a==&%7a HTTP/1.1\r\n", "a== b=(none) accept=(none)\n" },
    };
    struct fixture f;
    char request[512], text[4096];
    serve(&f, (struct pt_http_server_options){ 0 });
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        snprintf(request, sizeof request, "%sHost: localhost\r\n\r\n", cases[i].head);
        int fd = connect_to(&f);
        send_all(fd, pt_str_from(request));
        read_until(fd, cases[i].answer, text, sizeof text);
        close(fd);
        if (!strstr(text, cases[i].answer))
            fail_msg("%s: %s", cases[i].head, text);
    }
    pt_http_server_close(&f.server);
}

static void many_requests_share_one_content(void **state) {
    (void)state;
    static const struct pt_http_header headers[] = { { "X-Own", "yes" },
                                                     { "Cache-Control", "no-cache" } };
    struct fixture f;
    struct pt_buf body = { 0 };
    struct pt_http_request r = { 0 };
    char text[4096];
    serve(&f, (struct pt_http_server_options){ 0 });
    pt_buf_str(&body, PT_STR("the same for all"));
    shared = pt_http_content_new(&f.server, 201, TEXT, &body, headers, PT_COUNT(headers));
    assert_non_null(shared);
    assert_null(body.at);
    for (int i = 0; i < 20; i++) {
        get(&f, "/shared", &r);
        assert_int_equal(r.status, 201);
        assert_str_eq(pt_buf_as_str(&r.body), "the same for all");
    }
    assert_int_equal(
        raw_status(&f, "HEAD /shared HTTP/1.1\r\nHost: localhost\r\n\r\n", text, sizeof text), 201);
    assert_non_null(strstr(text, "X-Own: yes\r\n"));
    assert_non_null(strstr(text, "Cache-Control: no-cache\r\n"));
    assert_null(strstr(text, "no-store"));
    assert_non_null(strstr(text, "X-Content-Type-Options: nosniff\r\n"));
    pt_http_request_release(&r);
    pt_http_content_free(&f.server, shared);
    pt_http_server_close(&f.server);
}

static unsigned admit(void *user, const struct pt_http_route *route, const char *from,
                      const char *authorization) {
    (void)user;
    assert_string_equal(from, "127.0.0.1");
    if (route->guard == 0 || (authorization && strcmp(authorization, "Bearer right") == 0))
        return 0;
    return route->guard == 1 ? 401 : 403;
}

static void who_is_not_admitted_is_refused_before_the_body(void **state) {
    (void)state;
    static const struct {
        const char *request;
        int status;
    } cases[] = {
        { "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n", 200 },
        { "GET /guarded HTTP/1.1\r\nHost: localhost\r\n\r\n", 401 },
        { "GET /guarded HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer wrong\r\n\r\n", 401 },
        { "GET /guarded HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer right\r\n\r\n", 200 },
        { "POST /guarded/act HTTP/1.1\r\nHost: localhost\r\nContent-Length: 50\r\n\r\n", 403 },
        { "DELETE /guarded HTTP/1.1\r\nHost: localhost\r\n\r\n", 405 },
    };
    struct fixture f;
    char text[4096];
    serve(&f, (struct pt_http_server_options){ .admits = admit });
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        int status = raw_status(&f, cases[i].request, text, sizeof text);
        if (status != cases[i].status)
            fail_msg("%s: %d", cases[i].request, status);
        if (status == 401)
            assert_non_null(strstr(text, "WWW-Authenticate: Bearer\r\n"));
    }
    pt_http_server_close(&f.server);
}

/* Bytes come, but never a whole request: only tending ends that. */
static void who_sends_byte_by_byte_is_cut_off(void **state) {
    (void)state;
    struct fixture f;
    char text[4096];
    serve(&f, (struct pt_http_server_options){ .timeout_seconds = 1 });
    int slow = connect_to(&f), stream_fd = connect_to(&f);
    send_all(stream_fd, PT_STR("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    struct pt_http_exchange *x = take_exchange(&f);
    send_all(slow, PT_STR("GET /hello HTTP/1.1\r\nHost: localhost\r\nX-Slow: "));
    char byte;
    ssize_t n = -1;
    while (n < 0) {
        if (send(slow, "x", 1, MSG_NOSIGNAL) < 0)
            break;
        pt_http_server_tend(&f.server);
        n = recv(slow, &byte, 1, MSG_DONTWAIT);
        usleep(10000);
    }
    close(slow);
    assert_int_equal(pt_http_push(x, PT_STR("still here")), 0); /* streams may take their time */
    read_until(stream_fd, "still here", text, sizeof text);
    assert_non_null(strstr(text, "still here"));
    pt_http_end(x);
    close(stream_fd);
    pt_http_server_close(&f.server);
}

static void a_socket_may_be_handed_over(void **state) {
    (void)state;
    struct pt_http_address address;
    struct fixture f;
    struct pt_http_request r = { 0 };
    assert_int_equal(pt_http_address_parse(&address, "127.0.0.1:0", NULL), 0);
    int fd = pt_http_address_listen(&address, NULL);
    assert_true(fd >= 0);
    serve(&f, (struct pt_http_server_options){ .listen_fd = pt_fd_of(fd) });
    get(&f, "/hello", &r);
    assert_str_eq(pt_buf_as_str(&r.body), "hello\n");
    pt_http_request_release(&r);
    restart_client();
    pt_http_server_close(&f.server);

    struct pt_err err;
    assert_int_equal(pt_http_address_parse(&address, "0.0.0.0:0", NULL), 0);
    fd = pt_http_address_listen(&address, NULL);
    struct pt_http_server_options o = { .listen_fd = pt_fd_of(fd) };
    assert_int_equal(pt_http_server_open(&f.server, &o, &err), -EACCES);
    close(fd);
}

static void a_head_without_end_is_cut(void **state) {
    (void)state;
    struct fixture f;
    char text[4096];
    static char request[40000] = "GET /hello HTTP/1.1\r\nHost: localhost\r\nX: ";
    size_t length = strlen(request);
    memset(request + length, 'x', sizeof request - 1 - length);
    serve(&f, (struct pt_http_server_options){ 0 });
    assert_int_not_equal(raw_status(&f, request, text, sizeof text), 200);
    pt_http_server_close(&f.server);
}

/* Connections that overflow the queue of a busy machine would come in another order. */
static void await_accepted(int listening) {
    struct tcp_info info = { 0 };
    socklen_t length = sizeof info;
    do {
        sched_yield();
        assert_int_equal(getsockopt(listening, IPPROTO_TCP, TCP_INFO, &info, &length), 0);
    } while (info.tcpi_unacked > 0); /* of a socket that listens: not yet accepted */
}

/* Nobody tends the server, and no timeout passes: room is made by those who come. */
static void connections_beyond_the_limit_close_the_oldest(void **state) {
    (void)state;
    enum { LIMIT = 64, KEPT = LIMIT - LIMIT / 4, ALL = 300 };
    static const char request[] = "GET /hello HTTP/1.1\r\nHost: localhost\r\n\r\n";
    static const size_t sent[] = { 0, 1, 30, sizeof request - 3, sizeof request - 1 };
    struct fixture f;
    struct pt_http_address address;
    int fds[ALL];
    char text[4096];
    assert_int_equal(pt_http_address_parse(&address, "127.0.0.1:0", NULL), 0);
    int fd = pt_http_address_listen(&address, NULL), listening = dup(fd);
    serve(&f,
          (struct pt_http_server_options){ .connection_max = LIMIT, .listen_fd = pt_fd_of(fd) });
    for (size_t k = 0; k < PT_COUNT(sent); k++) {
        bool is_whole = sent[k] == sizeof request - 1;
        for (int i = 0; i < ALL; i++) {
            fds[i] = connect_to(&f);
            await_accepted(listening);
            send_all(fds[i], (struct pt_str){ request, sent[k] });
            if (is_whole) /* answered, later closed */
                read_until(fds[i], "hello\n", text, sizeof text);
        }
        for (int i = 0; i < ALL - KEPT; i++)
            read_until(fds[i], NULL, text, sizeof text);
        for (int i = ALL - KEPT; i < ALL; i++) {
            send_all(fds[i], pt_str_skip(PT_STR(request), is_whole ? 0 : sent[k]));
            read_until(fds[i], "hello\n", text, sizeof text);
            assert_non_null(strstr(text, "hello\n"));
            close(fds[i]);
        }
        for (int i = 0; i < ALL - KEPT; i++)
            close(fds[i]);
    }
    close(listening);
    pt_http_server_close(&f.server);
}

static void answers_that_nobody_reads_have_a_limit(void **state) {
    (void)state;
    enum { ALL = 100, MOST = 64 }; /* of 1 MiB each */
    static char text[(1 << 20) + 4096];
    struct fixture f;
    int fds[ALL];
    serve(&f, (struct pt_http_server_options){ .connection_max = 256 });
    for (int i = 0; i < ALL; i++) {
        fds[i] = connect_to(&f);
        send_all(fds[i], PT_STR("GET /much HTTP/1.1\r\nHost: localhost\r\n"
                                "Connection: close\r\n\r\n"));
        assert_int_equal(recv(fds[i], text, 15, MSG_WAITALL), 15);
    }
    for (int i = 0; i < ALL; i++) {
        read_until(fds[i], NULL, text, sizeof text);
        bool is_whole = strlen(text) > 1 << 20;
        if (is_whole != (i >= ALL - MOST))
            fail_msg("answer %d: %zu bytes", i, strlen(text));
        close(fds[i]);
    }
    pt_http_server_close(&f.server);
}

static void another_thread_may_answer_later(void **state) {
    (void)state;
    struct fixture f;
    char text[4096];
    serve(&f, (struct pt_http_server_options){ 0 });
    int fd = connect_to(&f);
    send_all(fd, PT_STR("GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    struct pt_http_exchange *x = take_exchange(&f);
    assert_string_equal(x->path, "/later");
    pt_http_reply(x, 201, "application/json", PT_STR("{}"));
    read_until(fd, "{}", text, sizeof text);
    assert_int_equal(strncmp(text, "HTTP/1.1 201 ", 13), 0);
    assert_non_null(strstr(text, "Content-Length: 2\r\n"));
    assert_non_null(strstr(text, "Content-Type: application/json\r\n"));
    close(fd);
    pt_http_server_close(&f.server);
}

static void pieces_of_a_stream_arrive_one_by_one(void **state) {
    (void)state;
    struct fixture f;
    char text[4096];
    serve(&f, (struct pt_http_server_options){ 0 });
    int fd = connect_to(&f);
    send_all(fd, PT_STR("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    struct pt_http_exchange *x = take_exchange(&f);
    for (int i = 0; i < 100; i++) {
        char piece[32];
        snprintf(piece, sizeof piece, "<piece %d>", i);
        assert_int_equal(pt_http_push(x, pt_str_from(piece)), 0);
        read_until(fd, piece, text, sizeof text);
        assert_non_null(strstr(text, piece));
    }
    pt_http_end(x);
    read_until(fd, "0\r\n\r\n", text, sizeof text);
    assert_non_null(strstr(text, "0\r\n\r\n"));
    assert_int_equal(f.gone_count, 0);
    close(fd);
    pt_http_server_close(&f.server);
}

static void push_until_gone(struct fixture *f, struct pt_http_exchange *x) {
    static const char piece[1000] = { 0 };
    size_t pushed = 0;
    while (pt_http_push(x, (struct pt_str){ piece, sizeof piece }) == 0)
        pushed += sizeof piece;
    assert_true(pushed < (64u << 20));
    await_gone(f);
    pt_http_end(x);
}

static void a_reader_that_goes_away_is_noticed(void **state) {
    (void)state;
    struct fixture f;
    serve(&f, (struct pt_http_server_options){ 0 });
    int fd = connect_to(&f);
    send_all(fd, PT_STR("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    struct pt_http_exchange *x = take_exchange(&f);
    close(fd);
    push_until_gone(&f, x);
    pt_http_server_close(&f.server);
    assert_int_equal(f.gone_count, 1);
}

static void a_reader_that_does_not_read_is_cut_off(void **state) {
    (void)state;
    struct fixture f;
    serve(&f, (struct pt_http_server_options){ .unread_max_bytes = 10000, .timeout_seconds = 1 });
    int fd = connect_to(&f);
    send_all(fd, PT_STR("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    push_until_gone(&f, take_exchange(&f));
    close(fd);
    pt_http_server_close(&f.server);
    assert_int_equal(f.gone_count, 1);
}

static void closing_cuts_open_streams_and_waiting_requests(void **state) {
    (void)state;
    struct fixture f;
    serve(&f, (struct pt_http_server_options){ 0 });
    int fds[] = { connect_to(&f), connect_to(&f) };
    send_all(fds[0], PT_STR("GET /stream HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    struct pt_http_exchange *open = take_exchange(&f);
    assert_int_equal(pt_http_push(open, PT_STR("begun")), 0);
    send_all(fds[1], PT_STR("GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n"));
    struct pt_http_exchange *waiting = take_exchange(&f);
    pt_http_server_close(&f.server);
    assert_int_equal(f.gone_count, 1);
    assert_int_equal(pt_http_push(open, PT_STR("more")), -EPIPE);
    pt_http_end(open);
    pt_http_reply(waiting, 200, TEXT, PT_STR("too late"));
    close(fds[0]);
    close(fds[1]);
}

struct collected {
    char text[256];
    size_t length;
    int end_count;
};

static bool collect(struct pt_http_request *r, struct pt_str piece) {
    struct collected *c = r->user;
    if (c->length + piece.len < sizeof c->text)
        memcpy(c->text + c->length, piece.at, piece.len);
    c->length += piece.len;
    return c->length < 18;
}

static bool ask_again(struct pt_http_request *r) {
    struct collected *c = r->user;
    return ++c->end_count < 10 && !r->error;
}

static void a_request_may_be_sent_again_and_its_data_taken_as_it_comes(void **state) {
    (void)state;
    struct fixture f;
    serve(&f, (struct pt_http_server_options){ 0 });
    struct collected c = { "", 0, 0 };
    struct pt_http_request r = { .on_data = collect, .on_end = ask_again, .user = &c };
    get(&f, "/hello", &r);
    assert_string_equal(c.text, "hello\nhello\nhello\n");
    assert_int_equal(c.end_count, 3);
    assert_int_equal(r.error, -ECANCELED);
    assert_int_equal(r.body.len, 0);
    c = (struct collected){ "", 0, 0 };
    get(&f, "/nothing", &r);
    assert_int_equal(c.length, 0);
    assert_int_equal(r.error, -EREMOTEIO);
    assert_str_eq(pt_buf_as_str(&r.body), "not found\n");
    pt_http_request_release(&r);
    pt_http_server_close(&f.server);
}

static void addresses_are_read_strictly(void **state) {
    (void)state;
    static const struct {
        const char *text, *url;
    } good[] = {
        { "8080", "http://127.0.0.1:8080" },       { "127.0.0.1:0", "http://127.0.0.1:0" },
        { "localhost:80", "http://127.0.0.1:80" }, { "[::1]:65535", "http://[::1]:65535" },
        { "0.0.0.0:80", "http://0.0.0.0:80" },     { "unix:/tmp/x", "unix:/tmp/x" },
        { "127.9.9.9:1", "http://127.9.9.9:1" },
    };
    static const char *const bad[] = { "",           "x",          "127.0.0.1", "127.0.0.1:65536",
                                       "[::1]",      ":80",        "unix:",     "example.com:80",
                                       "1.2.3.4:-1", "1.2.3.4:1x", "[::1:80",   "-1" };
    struct pt_http_address a;
    struct pt_err err;
    char text[160];
    for (size_t i = 0; i < PT_COUNT(good); i++) {
        assert_int_equal(pt_http_address_parse(&a, good[i].text, &err), 0);
        pt_http_address_print(&a, text, sizeof text);
        assert_string_equal(text, good[i].url);
        assert_int_equal(pt_http_address_is_loopback(&a), strncmp(good[i].text, "0.", 2) != 0);
    }
    for (size_t i = 0; i < PT_COUNT(bad); i++)
        if (pt_http_address_parse(&a, bad[i], &err) != -EINVAL)
            fail_msg("'%s' was taken", bad[i]);
}

static void loopback_urls_are_told_from_others(void **state) {
    (void)state;
    static const char *const own[] = { "http://127.0.0.1", "http://localhost:80/x?y",
                                       "http://[::1]:80/", "http://127.1.2.3:1#x" };
    static const char *const foreign[] = { "http://10.0.0.1/",
                                           "http://localhost@evil/",
                                           "http://localhost:1@evil/",
                                           "https://127.0.0.1/",
                                           "http://127.0.0.1.evil/",
                                           "http://[::2]/",
                                           "http://",
                                           "127.0.0.1",
                                           "http://0.0.0.0/",
                                           "http://0x7f000001/" };
    for (size_t i = 0; i < PT_COUNT(own); i++)
        assert_true(pt_http_url_is_loopback(pt_str_from(own[i])));
    for (size_t i = 0; i < PT_COUNT(foreign); i++)
        if (pt_http_url_is_loopback(pt_str_from(foreign[i])))
            fail_msg("%s was taken", foreign[i]);
}

static void others_are_not_served_unless_asked_for(void **state) {
    (void)state;
    struct pt_http_server server;
    struct pt_err err;
    struct pt_http_server_options o = { .listen = "0.0.0.0:0" };
    assert_int_equal(pt_http_server_open(&server, &o, &err), -EACCES);
    assert_string_equal(err.text, "0.0.0.0:0 is not a loopback address");
}

static void write_file(const char *path, const char *text) {
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static void a_missing_module_is_told_with_its_package(void **state) {
    (void)state;
    char directory[] = "/tmp/pitot-http-XXXXXX", path[64];
    char *modules = strdup(getenv("PITOT_MODULES"));
    struct pt_http_client c;
    struct pt_err err;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/http-client.so", directory);
    setenv("PITOT_MODULES", directory, 1);
    assert_int_equal(pt_http_client_open(&c, &err), -ENOENT);
    assert_string_equal(err.text, "the module http-client.so is not installed; it needs the "
                                  "package libcurl4");
    pt_http_client_close(&c);
    write_file(path, "not a library");
    assert_int_equal(pt_http_client_open(&c, &err), -ELIBACC);
    assert_non_null(strstr(err.text, "install the package libcurl4"));
    unlink(path);
    rmdir(directory);
    setenv("PITOT_MODULES", modules, 1);
    free(modules);
}

struct fields {
    char *text;
    int64_t integer;
    double number;
    bool is_set;
};

static void json_fields_are_read_by_kind(void **state) {
    (void)state;
    static const struct pt_http_field table[] = {
        { "text", PT_HTTP_TEXT, offsetof(struct fields, text) },
        { "integer", PT_HTTP_I64, offsetof(struct fields, integer) },
        { "number", PT_HTTP_F64, offsetof(struct fields, number) },
        { "is_set", PT_HTTP_BOOL, offsetof(struct fields, is_set) },
    };
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "null",
        "{\"text\":1}",
        "{\"integer\":1.5}",
        "{\"integer\":\"1\"}",
        "{\"integer\":99999999999999999999}",
        "{\"is_set\":0}",
        "{\"number\":true}",
        "{\"integer\":1,\"integer\":2}",
        "{} x",
    };
    const struct pt_http_server_interface *module;
    const void *interface;
    assert_int_equal(pt_module_open("http-server", PT_HTTP_SERVER_VERSION, &interface, NULL), 0);
    module = interface;
    struct fields f = { .integer = 7 };
    struct pt_err err;
    struct pt_str text = PT_STR(
        "{\"text\":\"a\\u00e9\",\"integer\":null,\"number\":3,\"is_set\":true,\"other\":[]}");
    assert_int_equal(module->read_json(text, table, PT_COUNT(table), &f, &err), 0);
    assert_string_equal(f.text, "a\xc3\xa9");
    assert_int_equal(f.integer, 7);
    assert_true(f.number > 2.9 && f.number < 3.1);
    assert_true(f.is_set);
    for (size_t i = 0; i < PT_COUNT(bad); i++)
        if (module->read_json(pt_str_from(bad[i]), table, PT_COUNT(table), &f, &err) != -EINVAL)
            fail_msg("%s was taken", bad[i]);
    pt_free(f.text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(a_get_gives_status_type_and_body_over_one_connection,
                "C125: a GET gives status, type and body, over one connection"),
        PT_TEST(a_peer_that_hangs_holds_up_nobody_else,
                "C128: a peer that hangs holds up nobody else"),
        PT_TEST(the_default_timeout_ends_a_hanging_request,
                "C128: the timeout of 500 ms ends a hanging request"),
        PT_TEST(a_body_stays_below_its_limit, "C125: a body stays below its limit"),
        PT_TEST(gzip_is_undone, "C125: gzip is undone"),
        PT_TEST(a_gzip_bomb_does_not_go_off, "C125: a gzip bomb does not go off"),
        PT_TEST(redirects_are_not_followed, "C125: redirects are not followed"),
        PT_TEST(odd_answers_are_told_apart, "C125: odd answers are told apart"),
        PT_TEST(only_http_is_spoken, "C125: only HTTP is spoken"),
        PT_TEST(a_closed_port_is_refused, "C125: a closed port is refused"),
        PT_TEST(client_and_server_speak_over_tcp, "C125: client and server speak over TCP"),
        PT_TEST(client_and_server_speak_over_a_unix_socket,
                "C125: client and server speak over a UNIX socket"),
        PT_TEST(bad_requests_get_the_right_status, "bad requests get the right status"),
        PT_TEST(queries_and_headers_are_for_the_handler, "queries and headers are for the handler"),
        PT_TEST(many_requests_share_one_content, "many requests share one content"),
        PT_TEST(who_is_not_admitted_is_refused_before_the_body,
                "who is not admitted is refused before the body"),
        PT_TEST(who_sends_byte_by_byte_is_cut_off, "who sends byte by byte is cut off"),
        PT_TEST(a_socket_may_be_handed_over, "a socket may be handed over"),
        PT_TEST(a_head_without_end_is_cut, "a head without end is cut"),
        PT_TEST(connections_beyond_the_limit_close_the_oldest,
                "connections beyond the limit close the oldest that makes the server wait"),
        PT_TEST(answers_that_nobody_reads_have_a_limit, "answers that nobody reads have a limit"),
        PT_TEST(another_thread_may_answer_later, "another thread may answer later"),
        PT_TEST(pieces_of_a_stream_arrive_one_by_one, "pieces of a stream arrive one by one"),
        PT_TEST(a_reader_that_goes_away_is_noticed, "a reader that goes away is noticed"),
        PT_TEST(a_reader_that_does_not_read_is_cut_off, "a reader that does not read is cut off"),
        PT_TEST(closing_cuts_open_streams_and_waiting_requests,
                "closing cuts open streams and waiting requests"),
        PT_TEST(a_request_may_be_sent_again_and_its_data_taken_as_it_comes,
                "a request may be sent again, and its data taken as it comes"),
        PT_TEST(addresses_are_read_strictly, "addresses are read strictly"),
        PT_TEST(loopback_urls_are_told_from_others, "loopback URLs are told from others"),
        PT_TEST(others_are_not_served_unless_asked_for, "others are not served unless asked for"),
        PT_TEST(a_missing_module_is_told_with_its_package,
                "a missing module is reported with its package"),
        PT_TEST(json_fields_are_read_by_kind, "JSON fields are read by kind"),
    };
    return !has_http_modules() ? SKIPPED : cmocka_run_group_tests(tests, open_client, close_client);
}
