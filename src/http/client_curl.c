/* The module "http-client": http/client.h on libcurl's multi interface. */
#include "http/client.h"

#include "base/clock.h"

#include <assert.h>
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define ASK_MS 100 /* between two calls of on_wait */

/* A handle of curl, used for one request of each run. */
struct transfer {
    CURL *easy;
    struct curl_slist *headers;
    struct pt_http_request *request;
    bool is_open, is_too_large, is_given_up;
    char problem[CURL_ERROR_SIZE];
};

struct client {
    CURLM *multi;
    struct transfer **transfers; /* pointers: curl keeps their addresses */
    size_t transfer_count, transfer_capacity;
    size_t open_count; /* in the present run */
};

static const struct {
    CURLoption option;
    long value;
} switches[] = {
    { CURLOPT_NOSIGNAL, 1 },       { CURLOPT_FOLLOWLOCATION, 0 },
    { CURLOPT_QUICK_EXIT, 1 }, /* a resolver that hangs must not hold us */
    { CURLOPT_HTTP09_ALLOWED, 0 }, { CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1 },
    { CURLOPT_TCP_NODELAY, 1 },    { CURLOPT_TCP_KEEPALIVE, 1 },
};

static const struct {
    CURLoption option;
    const char *value;
} settings[] = {
    { CURLOPT_PROTOCOLS_STR, "http,https" },
    { CURLOPT_ACCEPT_ENCODING, "gzip" },
    { CURLOPT_PROXY, "" }, /* ignores the environment */
    { CURLOPT_USERAGENT, "pitot/" PITOT_VERSION },
};

static const struct {
    CURLcode code;
    int error;
} errors[] = {
    { CURLE_OPERATION_TIMEDOUT, -ETIMEDOUT },
    { CURLE_COULDNT_CONNECT, -ECONNREFUSED },
    { CURLE_COULDNT_RESOLVE_HOST, -EHOSTUNREACH },
    { CURLE_FILESIZE_EXCEEDED, -EFBIG },
    { CURLE_WRITE_ERROR, -ECANCELED },
    { CURLE_PARTIAL_FILE, -EPIPE },
    { CURLE_GOT_NOTHING, -EPIPE },
    { CURLE_RECV_ERROR, -EPIPE },
    { CURLE_SEND_ERROR, -EPIPE },
    { CURLE_BAD_CONTENT_ENCODING, -EBADMSG },
    { CURLE_WEIRD_SERVER_REPLY, -EBADMSG },
    { CURLE_UNSUPPORTED_PROTOCOL, -EBADMSG }, /* text without a status line counts as HTTP/0.9 */
    { CURLE_URL_MALFORMAT, -EINVAL },
    { CURLE_PEER_FAILED_VERIFICATION, -EACCES },
};

static size_t body_max_bytes(const struct pt_http_request *r) {
    return r->body_max_bytes ? r->body_max_bytes : PT_HTTP_BODY_MAX_BYTES;
}

static int64_t timeout_ns(const struct pt_http_request *r) {
    return r->timeout_ns > 0 ? r->timeout_ns : PT_HTTP_TIMEOUT_NS;
}

/* Doubles, but never beyond what the body may have. */
static void make_room(struct pt_buf *b, size_t need, size_t most) {
    if (need <= b->capacity)
        return;
    size_t grown = b->capacity ? b->capacity : 4096;
    while (grown < need)
        grown *= 2;
    b->capacity = grown < most ? grown : most;
    b->at = pt_realloc(b->at, b->capacity);
}

static bool keep(struct transfer *t, struct pt_str piece) {
    struct pt_http_request *r = t->request;
    size_t most = body_max_bytes(r);
    if (piece.len > most - r->body.len) {
        t->is_too_large = true;
        return false;
    }
    make_room(&r->body, r->body.len + piece.len, most);
    pt_buf_str(&r->body, piece);
    return true;
}

static bool is_success(CURL *easy) {
    long status = 0;
    curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
    return status >= 200 && status < 300;
}

static size_t write_piece(char *at, size_t size, size_t count, void *user) {
    struct transfer *t = user;
    struct pt_str piece = { at, size * count };
    bool goes_on = t->request->on_data && is_success(t->easy)
                       ? t->request->on_data(t->request, piece)
                       : keep(t, piece);
    return goes_on ? piece.len : CURL_WRITEFUNC_ERROR;
}

static void add_header(struct transfer *t, const char *line) {
    t->headers = curl_slist_append(t->headers, line);
}

static void set_headers(struct transfer *t) {
    const struct pt_http_request *r = t->request;
    char line[256];
    if (r->accept) {
        snprintf(line, sizeof line, "Accept: %s", r->accept);
        add_header(t, line);
    }
    if (r->post.len > 0) {
        snprintf(line, sizeof line, "Content-Type: %s",
                 r->post_type ? r->post_type : "application/json");
        add_header(t, line);
        add_header(t, "Expect:");
    }
    for (size_t i = 0; i < r->header_count; i++)
        add_header(t, r->headers[i]);
    curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers);
}

static void set_method(CURL *easy, struct pt_str post) {
    if (post.len == 0) {
        curl_easy_setopt(easy, CURLOPT_HTTPGET, 1L);
        return;
    }
    curl_easy_setopt(easy, CURLOPT_POST, 1L);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)post.len);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, post.at);
}

static void start(struct client *c, struct transfer *t) {
    struct pt_http_request *r = t->request;
    pt_buf_clear(&r->body);
    r->error = r->status = 0;
    r->words[0] = r->content_type[0] = r->answer_value[0] = t->problem[0] = 0;
    r->retry_after_ns = 0;
    t->is_too_large = t->is_given_up = false;
    curl_easy_setopt(t->easy, CURLOPT_URL, r->url);
    curl_easy_setopt(t->easy, CURLOPT_UNIX_SOCKET_PATH, r->unix_path);
    curl_easy_setopt(t->easy, CURLOPT_TIMEOUT_MS,
                     (long)((timeout_ns(r) + PT_NS_PER_MS - 1) / PT_NS_PER_MS));
    curl_easy_setopt(t->easy, CURLOPT_MAXFILESIZE_LARGE,
                     (curl_off_t)(r->on_data ? 0 : body_max_bytes(r)));
    set_method(t->easy, r->post);
    set_headers(t);
    r->start_ns = pt_mono_ns();
    CURLMcode code = curl_multi_add_handle(c->multi, t->easy);
    assert(code == CURLM_OK); /* otherwise out of memory, or a handle is used twice */
    (void)code;
    t->is_open = true;
    c->open_count++;
}

static void set_error(struct transfer *t, int error, const char *words) {
    t->request->error = error;
    pt_str_copy(t->request->words, sizeof t->request->words, pt_str_from(words));
}

static void judge(struct transfer *t, CURLcode code) {
    struct pt_http_request *r = t->request;
    char words[96];
    if (t->is_given_up) {
        set_error(t, -ECANCELED, "request cancelled");
    } else if (t->is_too_large || code == CURLE_FILESIZE_EXCEEDED) {
        snprintf(words, sizeof words, "the answer is larger than %zu bytes", body_max_bytes(r));
        set_error(t, -EFBIG, words);
    } else if (code == CURLE_OPERATION_TIMEDOUT) {
        snprintf(words, sizeof words, "no complete answer within %lld ms",
                 (long long)(timeout_ns(r) / PT_NS_PER_MS));
        set_error(t, -ETIMEDOUT, words);
    } else if (code == CURLE_SSL_CACERT_BADFILE) {
        set_error(t, -EIO, "cannot read the trusted certificates (SSL_CERT_FILE)");
    } else if (code) {
        int error = -EIO;
        for (size_t i = 0; i < PT_COUNT(errors); i++)
            if (errors[i].code == code)
                error = errors[i].error;
        set_error(t, error, *t->problem ? t->problem : curl_easy_strerror(code));
    } else if (!is_success(t->easy)) {
        bool is_redirect = r->status >= 300 && r->status < 400;
        snprintf(words, sizeof words, "HTTP status %d%s", r->status,
                 is_redirect ? " (redirects are not followed)" : "");
        set_error(t, -EREMOTEIO, words);
    }
}

/* What the head of the answer says. */
static void keep_head(struct transfer *t) {
    struct pt_http_request *r = t->request;
    struct curl_header *header;
    long status = 0;
    const char *content_type = NULL;
    curl_off_t retry_after_s = 0;
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(t->easy, CURLINFO_CONTENT_TYPE, &content_type);
    curl_easy_getinfo(t->easy, CURLINFO_RETRY_AFTER, &retry_after_s);
    r->status = (int)status;
    r->retry_after_ns = retry_after_s * PT_NS_PER_SECOND;
    pt_str_copy(r->content_type, sizeof r->content_type,
                pt_str_from(content_type ? content_type : ""));
    if (r->answer_header &&
        !curl_easy_header(t->easy, r->answer_header, 0, CURLH_HEADER, -1, &header))
        pt_str_copy(r->answer_value, sizeof r->answer_value, pt_str_from(header->value));
}

static void finish(struct client *c, struct transfer *t, CURLcode code) {
    struct pt_http_request *r = t->request;
    r->end_ns = pt_mono_ns();
    keep_head(t);
    judge(t, code);
    curl_multi_remove_handle(c->multi, t->easy);
    curl_slist_free_all(t->headers);
    t->headers = NULL;
    t->is_open = false;
    c->open_count--;
    if (r->on_end && r->on_end(r))
        start(c, t);
}

static void finish_ended(struct client *c) {
    CURLMsg *message;
    int left;
    while ((message = curl_multi_info_read(c->multi, &left))) {
        struct transfer *t;
        if (message->msg != CURLMSG_DONE)
            continue;
        CURLcode code = message->data.result; /* the message goes with the handle */
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&t);
        finish(c, t, code);
    }
}

/* Trusts these certificates instead of the system's. OpenSSL, Go and the curl program use the same
 * variable; libcurl leaves it to the programs. */
static void set_trusted(CURL *easy) {
    const char *file = secure_getenv("SSL_CERT_FILE");
    if (!file || !*file)
        return;
    curl_easy_setopt(easy, CURLOPT_CAINFO, file);
    curl_easy_setopt(easy, CURLOPT_CAPATH, NULL); /* else the system's are trusted as well */
}

static struct transfer *transfer_new(void) {
    struct transfer *t = pt_calloc(1, sizeof *t);
    t->easy = curl_easy_init();
    for (size_t i = 0; i < PT_COUNT(switches); i++)
        curl_easy_setopt(t->easy, switches[i].option, switches[i].value);
    for (size_t i = 0; i < PT_COUNT(settings); i++)
        curl_easy_setopt(t->easy, settings[i].option, settings[i].value);
    set_trusted(t->easy);
    curl_easy_setopt(t->easy, CURLOPT_PRIVATE, t);
    curl_easy_setopt(t->easy, CURLOPT_ERRORBUFFER, t->problem);
    curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, write_piece);
    curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, t);
    return t;
}

/* Calls the on_wait functions. True if there is one. */
static bool ask(struct client *c, size_t count) {
    bool is_asked = false;
    for (size_t i = 0; i < count; i++) {
        struct transfer *t = c->transfers[i];
        if (!t->is_open || !t->request->on_wait)
            continue;
        is_asked = true;
        t->is_given_up = !t->request->on_wait(t->request);
        if (t->is_given_up)
            finish(c, t, CURLE_ABORTED_BY_CALLBACK);
    }
    return is_asked;
}

static void client_run(void *state, struct pt_http_request *requests, size_t count) {
    struct client *c = state;
    int running;
    pt_grow(&c->transfers, &c->transfer_capacity, count, sizeof *c->transfers);
    while (c->transfer_count < count)
        c->transfers[c->transfer_count++] = transfer_new();
    for (size_t i = 0; i < count; i++) {
        c->transfers[i]->request = &requests[i];
        start(c, c->transfers[i]);
    }
    for (;;) {
        curl_multi_perform(c->multi, &running);
        finish_ended(c);
        bool is_asked = ask(c, count);
        if (c->open_count == 0)
            return;
        curl_multi_poll(c->multi, NULL, 0, is_asked ? ASK_MS : 1000, NULL);
    }
}

static void *client_open(void) {
    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        return NULL;
    CURLM *multi = curl_multi_init();
    if (!multi)
        return NULL;
    struct client *c = pt_calloc(1, sizeof *c);
    c->multi = multi;
    return c;
}

static void client_close(void *state) {
    struct client *c = state;
    for (size_t i = 0; i < c->transfer_count; i++) {
        curl_easy_cleanup(c->transfers[i]->easy);
        pt_free(c->transfers[i]);
    }
    curl_multi_cleanup(c->multi);
    pt_free(c->transfers);
    pt_free(c);
}

static const char *library_version(void) {
    return curl_version_info(CURLVERSION_NOW)->version;
}

static const struct pt_http_client_interface interface = { client_open, client_run, client_close };

PT_MODULE(PT_HTTP_CLIENT_VERSION, &interface, "libcurl", library_version);
