/* Any bytes as what a client sends to the server, JSON bodies too. The server must not handle more
 * requests than a strict reader finds in them: else a proxy would see others than the server. */
#include "base/mem.h"
#include "http/server.h"

#include <assert.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>

#define BODY_MAX 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct pt_http_server server;
static atomic_int handled_count;

struct fields {
    char *text;
    int64_t number;
    double fraction;
    bool is_so;
};

static const struct pt_http_field fields[] = {
    { "text", PT_HTTP_TEXT, offsetof(struct fields, text) },
    { "number", PT_HTTP_I64, offsetof(struct fields, number) },
    { "fraction", PT_HTTP_F64, offsetof(struct fields, fraction) },
    { "is_so", PT_HTTP_BOOL, offsetof(struct fields, is_so) },
};

static void handle(void *user, struct pt_http_exchange *x) {
    (void)user;
    struct fields values = { 0 };
    struct pt_err err = { "" };
    assert(x->body.len <= BODY_MAX);
    int rc = pt_http_read_json(x, fields, PT_COUNT(fields), &values, &err);
    assert(!rc == !err.text[0]);
    pt_free(values.text);
    const char *parameter = pt_http_parameter(x, "a");
    for (size_t i = 0; parameter && parameter[i]; i++)
        assert((unsigned char)parameter[i] >= ' ' && parameter[i] != 0x7f);
    atomic_fetch_add(&handled_count, 1);
    pt_http_reply(x, 200, "text/plain", PT_STR("ok\n"));
}

static void answer_probe(void *user, struct pt_http_exchange *x) {
    (void)user;
    pt_http_reply(x, 200, "text/plain", PT_STR("pong"));
}

static const struct pt_http_route routes[] = { { "GET", "/a", handle },
                                               { "POST", "/a", handle },
                                               { "GET", "/probe", answer_probe } };

static void close_server(void) {
    pt_http_server_close(&server);
}

static int connect_to_server(void) {
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, &server.address.any, server.address.length))
        abort();
    return fd;
}

/* When it returns, the server has looked at all that was sent before. */
static void probe(void) {
    static const char request[] = "GET /probe HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    char answer[4096];
    int fd = connect_to_server();
    if (send(fd, request, sizeof request - 1, MSG_NOSIGNAL) != sizeof request - 1)
        abort();
    while (read(fd, answer, sizeof answer) > 0)
        continue;
    close(fd);
}

static void open_server(void) {
    static char listen[64];
    struct pt_err err = { "" };
    snprintf(listen, sizeof listen, "unix:/tmp/pitot-request-fuzz-%d", getpid());
    struct pt_http_server_options o = { .listen = listen,
                                        .routes = routes,
                                        .route_count = PT_COUNT(routes),
                                        .body_max_bytes = BODY_MAX };
    if (pt_http_server_open(&server, &o, &err)) {
        fprintf(stderr, "%s\n", err.text);
        exit(77); /* no libmicrohttpd here: left out */
    }
    atexit(close_server);
}

/* Takes a line that ends with CRLF and has no other control characters but tabs. */
static bool take_line(struct pt_str *rest, struct pt_str *line) {
    *line = (struct pt_str){ rest->at, 0 };
    while (line->len < rest->len && rest->at[line->len] != '\r') {
        unsigned char c = (unsigned char)rest->at[line->len++];
        if ((c < ' ' && c != '\t') || c == 0x7f)
            return false;
    }
    if (line->len + 1 >= rest->len || rest->at[line->len + 1] != '\n')
        return false;
    *rest = pt_str_skip(*rest, line->len + 2);
    return true;
}

static bool is_named(struct pt_str line, const char *name) {
    size_t length = strlen(name);
    return line.len > length && strncasecmp(line.at, name, length) == 0 && line.at[length] == ':';
}

/* Requests that nobody can read in another way, up to the first that somebody can. */
static int count_requests(struct pt_str rest) {
    for (int count = 0;; count++) {
        struct pt_str line;
        while (rest.len > 0 && (rest.at[0] == '\n' || pt_str_starts(rest, PT_STR("\r\n"))))
            rest = pt_str_skip(rest, rest.at[0] == '\n' ? 1 : 2);
        bool is_new = take_line(&rest, &line) && pt_str_ends(line, PT_STR(" HTTP/1.1"));
        if (!is_new && !pt_str_ends(line, PT_STR(" HTTP/1.0")))
            return count;
        int hosts = 0, lengths = 0;
        size_t body = 0;
        for (;;) {
            if (!take_line(&rest, &line))
                return count;
            if (line.len == 0)
                break;
            size_t name = 0;
            while (name < line.len && line.at[name] > ' ' && line.at[name] != ':')
                name++;
            if (name == 0 || name == line.len || line.at[name] != ':' ||
                is_named(line, "transfer-encoding"))
                return count;
            hosts += is_named(line, "host");
            if (!is_named(line, "content-length"))
                continue;
            lengths++;
            for (size_t i = name + 1; i < line.len; i++)
                if (line.at[i] >= '0' && line.at[i] <= '9' && body <= BODY_MAX)
                    body = body * 10 + (size_t)(line.at[i] - '0');
                else if (line.at[i] != ' ' && line.at[i] != '\t')
                    return count;
        }
        if (hosts > 1 || (is_new && hosts == 0) || lengths > 1 || body > BODY_MAX ||
            body > rest.len)
            return count;
        rest = pt_str_skip(rest, body);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (!server.state)
        open_server();
    struct pt_str bytes = { size ? (const char *)data : "", size };
    atomic_store(&handled_count, 0);
    int fd = connect_to_server();
    for (struct pt_str rest = bytes; rest.len > 0;) {
        ssize_t n = send(fd, rest.at, rest.len, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n <= 0)
            break; /* refused, or it does not read on */
        rest = pt_str_skip(rest, (size_t)n);
    }
    /* libmicrohttpd does not see the end of a stream that comes together with data */
    probe();
    probe();
    shutdown(fd, SHUT_WR);
    char answer[4096];
    while (read(fd, answer, sizeof answer) > 0)
        continue;
    close(fd);
    /* once read, these look like line ends in libmicrohttpd 0.9; no proxy passes them on */
    bool is_odd = memchr(bytes.at, 0, bytes.len) || memmem(bytes.at, bytes.len, "\n:\n", 3);
    assert(is_odd || atomic_load(&handled_count) <= count_requests(bytes));
    return 0;
}
