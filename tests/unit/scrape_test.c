/* Finding inference engines and scraping them, against peers made here that misbehave. */
#include "test.h"
#include "http_modules.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "source/kernel/tcp_listen.h"
#include "source/engine/discover.h"
#include "source/engine/scraper.h"
#include "source/engine/sniff.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define PATIENCE_NS (60 * PT_NS_PER_SECOND) /* for what is expected to come */
#define PERIOD_NS   (100 * PT_NS_PER_MS)
#define VLLM        "vllm:num_requests_running 1\n"

static struct pt_fs fs;

/* A server that answers each connection once, as scripted. */
enum manner {
    ENGINE,   /* an exposition whose counters grow from answer to answer */
    STANDING, /* the same, but they stand still */
    FIXED,    /* the bytes of `answer` */
    SILENT,   /* nothing, until the other side gives up */
    CLOSING,  /* nothing, and the end */
    CUT,      /* less than was announced */
    ENDLESS,
};

struct peer {
    struct pt_http_address address;
    char url[160];
    int fd;
    pthread_t thread;
    pthread_mutex_t lock;
    enum manner manner;
    const char *answer;
    double kv_usage;
    int step;
    int answer_count;
};

static void send_text(int fd, const char *text) {
    for (size_t left = strlen(text); left > 0;) {
        ssize_t n = send(fd, text, left, MSG_NOSIGNAL);
        if (n <= 0)
            return;
        text += n;
        left -= (size_t)n;
    }
}

static void send_body(int fd, const char *body, size_t announced) {
    char head[160];
    snprintf(head, sizeof head,
             "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n"
             "Content-Length: %zu\r\nConnection: close\r\n\r\n",
             announced);
    send_text(fd, head);
    send_text(fd, body);
}

/* All first tokens took from 0.1 to 0.2 s. */
static void send_engine(int fd, int step, double kv_usage, size_t missing) {
    char body[2048];
    int n = snprintf(
        body, sizeof body,
        "# TYPE vllm:num_requests_running gauge\n"
        "vllm:num_requests_running{model_name=\"m\"} 2.0\n"
        "vllm:num_requests_waiting{model_name=\"m\"} 3.0\n"
        "vllm:kv_cache_usage_perc{model_name=\"m\"} %g\n"
        "vllm:request_success_total{finished_reason=\"stop\",model_name=\"m\"} %d.0\n"
        "vllm:request_success_total{finished_reason=\"length\",model_name=\"m\"} %d.0\n"
        "vllm:prompt_tokens_total{model_name=\"m\"} %d.0\n"
        "vllm:generation_tokens_total{model_name=\"m\"} %d.0\n"
        "vllm:time_to_first_token_seconds_bucket{le=\"0.1\",model_name=\"m\"} 0.0\n"
        "vllm:time_to_first_token_seconds_bucket{le=\"0.2\",model_name=\"m\"} %d.0\n"
        "vllm:time_to_first_token_seconds_bucket{le=\"+Inf\",model_name=\"m\"} %d.0\n"
        "vllm:time_to_first_token_seconds_count{model_name=\"m\"} %d.0\n"
        "vllm:time_to_first_token_seconds_sum{model_name=\"m\"} %g\n"
        "vllm:cache_config_info{block_size=\"16\"} 1.0\n"
        "my_own_series{color=\"red\"} 7.5\n",
        kv_usage, step, 2 * step, 10 * step, 20 * step, 3 * step, 3 * step, 3 * step, 0.45 * step);
    assert(n > 0 && (size_t)n < sizeof body);
    send_body(fd, body, (size_t)n + missing);
}

static void wait_for_end(int fd) {
    char byte;
    while (read(fd, &byte, 1) > 0)
        ;
}

static void send_without_end(int fd) {
    static char line[8192];
    memset(line, 'x', sizeof line - 1);
    send_text(fd, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n");
    for (size_t sent = 0; sent < (100u << 20); sent += sizeof line - 1)
        if (send(fd, line, sizeof line - 1, MSG_NOSIGNAL) <= 0)
            return;
}

static void answer(struct peer *p, int fd) {
    pthread_mutex_lock(&p->lock);
    enum manner manner = p->manner;
    int step = manner == ENGINE ? ++p->step : p->step;
    const char *fixed = p->answer;
    double kv_usage = p->kv_usage;
    pthread_mutex_unlock(&p->lock);
    if (manner == FIXED)
        send_text(fd, fixed);
    if (manner == ENGINE || manner == STANDING || manner == CUT)
        send_engine(fd, step, kv_usage, manner == CUT ? 100 : 0);
    if (manner == SILENT)
        wait_for_end(fd);
    if (manner == ENDLESS)
        send_without_end(fd);
    pthread_mutex_lock(&p->lock);
    p->answer_count++;
    pthread_mutex_unlock(&p->lock);
}

static void *peer_main(void *user) {
    struct peer *p = user;
    int fd;
    while ((fd = accept(p->fd, NULL, NULL)) >= 0) {
        if (read_head(fd))
            answer(p, fd);
        close(fd);
    }
    return NULL;
}

/* At the address it had before, or at a new one. */
static void peer_start(struct peer *p) {
    if (p->address.length == 0)
        assert_int_equal(pt_http_address_parse(&p->address, "0", NULL), 0);
    p->fd = pt_http_address_listen(&p->address, NULL);
    assert_true(p->fd >= 0);
    assert_int_equal(fcntl(p->fd, F_SETFL, 0), 0);
    pt_http_address_print(&p->address, p->url, sizeof p->url);
    pthread_mutex_init(&p->lock, NULL);
    assert_int_equal(pthread_create(&p->thread, NULL, peer_main, p), 0);
}

static void peer_stop(struct peer *p) {
    shutdown(p->fd, SHUT_RDWR);
    pthread_join(p->thread, NULL);
    close(p->fd);
    pthread_mutex_destroy(&p->lock);
}

static void tell(struct peer *p, enum manner manner, const char *fixed) {
    pthread_mutex_lock(&p->lock);
    p->manner = manner;
    p->answer = fixed;
    pthread_mutex_unlock(&p->lock);
}

static void set_step(struct peer *p, int step) {
    pthread_mutex_lock(&p->lock);
    p->step = step;
    pthread_mutex_unlock(&p->lock);
}

static uint16_t port_of(const struct peer *p) {
    return ntohs(p->address.v4.sin_port);
}

/* A scraper of given peers and what was last taken from it. */
struct scraping {
    struct pt_scraper *scraper;
    struct pt_scraped engines[PT_SCRAPE_ENGINES], all;
    size_t count;
};

static void scraping_start_with(struct scraping *g, struct peer *const *peers, size_t count,
                                int64_t period_ns, bool wants_raw) {
    const char *urls[PT_SCRAPE_ENGINES];
    for (size_t i = 0; i < count; i++)
        urls[i] = peers[i]->url;
    struct pt_scrape_options o = {
        .fs = &fs, .urls = urls, .url_count = count, .period_ns = period_ns, .wants_raw = wants_raw
    };
    *g = (struct scraping){ 0 };
    assert_int_equal(pt_scraper_new(&g->scraper, &o, NULL), 0);
}

static void scraping_start(struct scraping *g, struct peer *const *peers, size_t count,
                           bool wants_raw) {
    scraping_start_with(g, peers, count, PERIOD_NS, wants_raw);
}

typedef bool condition_fn(const struct scraping *g, int64_t after_ns);

/* Takes until the condition holds. `after_ns` is for it to compare with. */
static void await(struct scraping *g, condition_fn *holds, int64_t after_ns) {
    int64_t deadline_ns = pt_mono_ns() + PATIENCE_NS;
    for (;;) {
        g->count = pt_scraper_take(g->scraper, g->engines, &g->all);
        if (holds(g, after_ns))
            return;
        assert_true(pt_mono_ns() < deadline_ns);
        nanosleep(&(struct timespec){ .tv_nsec = 2 * PT_NS_PER_MS }, NULL);
    }
}

static bool is_up(const struct scraping *g, int64_t after_ns) {
    return g->engines[0].state == PT_SCRAPE_UP && g->engines[0].mono_ns > after_ns;
}

static bool is_up_with_quantiles(const struct scraping *g, int64_t after_ns) {
    return is_up(g, after_ns) &&
           !isnan(g->engines[0].quantiles[PT_ENGINE_TTFT][PT_ENGINE_P50].value) &&
           g->all.mono_ns >= g->engines[0].mono_ns;
}

static bool is_failing(const struct scraping *g, int64_t after_ns) {
    (void)after_ns;
    return g->engines[0].state != PT_SCRAPE_UP && g->all.mono_ns == 0;
}

static bool is_gone(const struct scraping *g, int64_t after_ns) {
    (void)after_ns;
    return g->engines[0].state == PT_SCRAPE_GONE;
}

static double value_of(const struct pt_scraped *e, enum pt_engine_field field) {
    assert_true(e->present >> field & 1);
    return e->values[field];
}

#define assert_number(actual, expected) assert_number_at(actual, expected, __LINE__)

static void assert_number_at(double actual, double expected, int line) {
    if (!(actual > expected - 1e-9 && actual < expected + 1e-9))
        fail_msg("line %d: %g, expected %g", line, actual, expected);
}

/* What send_engine() says at one and the same step. */
static void check_engine(const struct pt_scraped *e) {
    double step = value_of(e, PT_ENGINE_REQUESTS_FINISHED) / 3;
    assert_true(step >= 0);
    assert_number(value_of(e, PT_ENGINE_REQUESTS_RUNNING), 2);
    assert_number(value_of(e, PT_ENGINE_REQUESTS_WAITING), 3);
    assert_number(value_of(e, PT_ENGINE_TOKENS_PROMPT), 10 * step);
    assert_number(value_of(e, PT_ENGINE_TOKENS_GENERATION), 20 * step);
    assert_number(value_of(e, PT_ENGINE_TTFT_COUNT), 3 * step);
    assert_false(e->present >> PT_ENGINE_E2E_COUNT & 1);
}

static void check_quantiles(const struct pt_scraped *e) {
    const struct pt_quantile *q = e->quantiles[PT_ENGINE_TTFT];
    assert_number(q[PT_ENGINE_P50].value, 0.15);
    assert_number(q[PT_ENGINE_P90].value, 0.19);
    assert_number(q[PT_ENGINE_P95].value, 0.195);
    assert_number(q[PT_ENGINE_P99].value, 0.199);
    assert_number(q[PT_ENGINE_P50].width, 0.1);
    assert_true(isnan(e->quantiles[PT_ENGINE_E2E][PT_ENGINE_P50].value));
}

struct expected_socket {
    uint64_t inode;
    uint16_t port;
    bool is_reachable;
};

static void check_sockets(const char *text, bool is_ipv6, const struct expected_socket *expected,
                          size_t count) {
    struct pt_scan scan = pt_scan_of(pt_str_from(text));
    struct pt_tcp_socket socket;
    for (size_t i = 0; i < count; i++) {
        assert_true(pt_tcp_listen_next(&scan, is_ipv6, &socket));
        assert_int_equal(socket.inode, expected[i].inode);
        assert_int_equal(socket.port, expected[i].port);
        assert_int_equal(socket.is_ipv6, is_ipv6);
        assert_int_equal(socket.is_reachable_on_loopback, expected[i].is_reachable);
    }
    assert_false(pt_tcp_listen_next(&scan, is_ipv6, &socket));
}

#define HEAD                                                                      \
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt" \
    "   uid  timeout inode\n"
#define REST(inode)                                                                        \
    " 00000000:00000000 00:00000000 00000000     0        0 " inode " 1 0000000000000000 " \
    "100 0 0 10 0\n"

static void listening_sockets_are_read(void **state) {
    (void)state;
    static const struct expected_socket expected[] = {
        { 111, 8000, true }, { 222, 22, true }, { 333, 80, false }, { 444, 65535, true }
    };
    check_sockets(
        HEAD "   0: 0100007F:1F40 00000000:0000 0A" REST(
            "111") "   1: 00000000:0016 00000000:0000 "
                   "0A" REST(
                       "222") "   2: "
                              "0200A8C0:0050 "
                              "00000000:0000 "
                              "0A" REST("333") "   3: 0100007F:1F40 0100007F:C001 01" REST(
                                  "555") "   4: "
                                         "010000"
                                         "7F:"
                                         "C001 "
                                         "010000"
                                         "7F:"
                                         "1F40 "
                                         "0"
                                         "6" REST("0") "  10: 3500007F:FFFF 00000000:0000 0A" REST(
                                             "444"),
        false, expected, PT_COUNT(expected));
}

static void listening_sockets_of_ipv6_are_read(void **state) {
    (void)state;
#define ZERO "00000000000000000000000000000000:0000"
    static const struct expected_socket expected[] = {
        { 1, 8000, true }, { 2, 8000, true }, { 3, 8000, false }, { 4, 8000, true }
    };
    check_sockets(HEAD
                  "   0: 00000000000000000000000000000000:1F40 " ZERO
                  " 0A" REST("1") "   1: 00000000000000000000000001000000:1F40 " ZERO " 0A" REST(
                      "2") "   2: 000080FE00000000FF005450B6E8F2FE:1F40 " ZERO
                           " 0A" REST("3") "   3: 0000000000000000FFFF00000100007F:1F40 " ZERO
                                           " 0A" REST("4"),
                  true, expected, PT_COUNT(expected));
}

static void broken_lines_of_sockets_are_left_out(void **state) {
    (void)state;
    static const struct expected_socket expected[] = { { 7, 1, true } };
    check_sockets("", false, NULL, 0);
    check_sockets("\n\n:\n::\n", false, NULL, 0);
    check_sockets("   0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 0 0 0", false,
                  NULL, 0);
    check_sockets(
        "   0: 0100007F:11F40 00000000:0000 0A" REST(
            "1") "   1: 0100007F:XYZ 00000000:0000 "
                 "0A" REST(
                     "2") "   2: 0100007F:1F40 "
                          "00000000:0000 ZZ" REST("3") "   3: 0100007F:1F40 00000000:0000 0A" REST(
                              "999999999999999999999"
                              "99") "   4: "
                                    "0100007F:1F40 "
                                    "00000000:0000 "
                                    "0A" REST("-4") "   5: 0100007F:0001 00000000:0000 0A" REST(
                                        "7"),
        false, expected, PT_COUNT(expected));
}

struct search {
    uint16_t port;
    int found_count;
};

static void look_for_port(void *user, const struct pt_tcp_socket *socket) {
    struct search *s = user;
    s->found_count += socket->port == s->port && socket->is_reachable_on_loopback;
}

static void sockets_are_found_by_their_process(void **state) {
    (void)state;
    struct pt_http_address address;
    struct pt_tcp_sockets sockets = { 0 };
    struct pt_text text = { 0 };
    assert_int_equal(pt_http_address_parse(&address, "0", NULL), 0);
    int fd = pt_http_address_listen(&address, NULL);
    assert_true(fd >= 0);
    struct search mine = { .port = ntohs(address.v4.sin_port) };
    assert_int_equal(pt_tcp_sockets_read(&sockets, &fs, 0, &text), 0);
    assert_int_equal(pt_tcp_sockets_of(&sockets, &fs, getpid(), look_for_port, &mine), 0);
    assert_int_equal(mine.found_count, 1);
    struct pt_fs not_live = fs; /* reads the files instead of asking the kernel */
    not_live.is_live = false;
    assert_int_equal(pt_tcp_sockets_read(&sockets, &not_live, 0, &text), 0);
    assert_int_equal(pt_tcp_sockets_of(&sockets, &fs, getpid(), look_for_port, &mine), 0);
    assert_int_equal(mine.found_count, 2);
    mine.found_count = 1;
    close(fd);
    assert_int_equal(pt_tcp_sockets_read(&sockets, &fs, getpid(), &text), 0);
    assert_int_equal(pt_tcp_sockets_of(&sockets, &fs, getpid(), look_for_port, &mine), 0);
    assert_int_equal(mine.found_count, 1);
    assert_int_equal(pt_tcp_sockets_of(&sockets, &fs, INT32_MAX, look_for_port, &mine), -ENOENT);
    pt_tcp_sockets_release(&sockets);
    pt_text_release(&text);
}

static bool has_port(const struct pt_discovery *d, uint16_t port) {
    for (size_t i = 0; i < d->port_count; i++)
        if (d->ports[i].port == port && !d->ports[i].is_ipv6_only)
            return true;
    return false;
}

/* Of a tree below this process, which is itself left out. */
static void ports_of_a_tree_are_told_from_our_own(void **state) {
    (void)state;
    struct pt_http_address inner, outer;
    struct pt_discovery d = { 0 };
    assert_int_equal(pt_http_address_parse(&inner, "0", NULL), 0);
    assert_int_equal(pt_http_address_parse(&outer, "0", NULL), 0);
    int inner_fd = pt_http_address_listen(&inner, NULL);
    assert_true(inner_fd >= 0);
    pid_t root = fork();
    assert_true(root >= 0);
    if (root == 0) {
        pause();
        _exit(0);
    }
    close(inner_fd);
    int outer_fd = pt_http_address_listen(&outer, NULL);
    assert_true(outer_fd >= 0);
    assert_true(pt_discovery_look(&d, &fs, &root, 1));
    assert_true(has_port(&d, ntohs(inner.v4.sin_port)));
    assert_false(has_port(&d, ntohs(outer.v4.sin_port)));
    kill(root, SIGKILL);
    waitpid(root, NULL, 0);
    close(outer_fd);
    assert_true(pt_discovery_look(&d, &fs, &root, 1));
    assert_int_equal(d.port_count, 0);
    pt_discovery_release(&d);
}

static void addresses_of_engines_are_completed(void **state) {
    (void)state;
    static const struct {
        const char *given, *url, *unix_path;
    } cases[] = {
        { "localhost:8000", "http://localhost:8000/metrics", "" },
        { "8.8.8.8", "http://8.8.8.8/metrics", "" },
        { "localhost:8000/", "http://localhost:8000/metrics", "" },
        { "http://localhost:8000", "http://localhost:8000/metrics", "" },
        { "http://localhost:8000/", "http://localhost:8000/metrics", "" },
        { "http://localhost:8000/metrics", "http://localhost:8000/metrics", "" },
        { "https://host/prometheus/metrics", "https://host/prometheus/metrics", "" },
        { "[::1]:80/x?y=z", "http://[::1]:80/x?y=z", "" },
        { "unix:/run/engine.sock", "http://localhost/metrics", "/run/engine.sock" },
        { "8000", "http://127.0.0.1:8000/metrics", "" },
    };
    char url[64], unix_path[32];
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        assert_true(pt_scrape_url(cases[i].given, url, sizeof url, unix_path, sizeof unix_path));
        assert_string_equal(url, cases[i].url);
        assert_string_equal(unix_path, cases[i].unix_path);
    }
}

static void what_is_no_address_is_refused(void **state) {
    (void)state;
    static const char *const wrong[] = {
        "",
        "/",
        "/metrics",
        "http://",
        "http:///metrics",
        "ftp://127.0.0.1:8000",
        "unix:",
        "unix:/a/path/that/does/not/fit/anywhere",
        "http://a-name-that-is-much-longer-than-what-there-is-room-for.example:8000",
    };
    char url[64], unix_path[32];
    for (size_t i = 0; i < PT_COUNT(wrong); i++)
        if (pt_scrape_url(wrong[i], url, sizeof url, unix_path, sizeof unix_path))
            fail_msg("'%s' was taken for %s", wrong[i], url);
}

static void engines_are_known_by_names_at_the_start_of_lines(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_engine;
    } cases[] = {
        { "", false },
        { "\n\n", false },
        { VLLM, true },
        { "vllm:num_requests_running{engine=\"0\"} 1\n", true },
        { "HTTP/1.1 200 OK\r\nServer: x\r\n\r\n# HELP a b\n# TYPE vllm:x gauge\n", true },
        { "sglang:num_running_reqs 1\r\n", true },
        { "llamacpp:requests_processing 1", true },
        { " vllm:num_requests_running 1\n", false },
        { "see vllm:num_requests_running\n", false },
        { "# HELP vllm:num_requests_running x\n", false },
        { "python_info{x=\"vllm:num_requests_running\"} 1\n", false },
        { "go_goroutines 7\nprocess_cpu_seconds_total 1\n", false },
        { "<html>vllm</html>\n", false },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++)
        if (pt_sniff_text(pt_str_from(cases[i].text)) != cases[i].is_engine)
            fail_msg("%s", cases[i].text);
}

static int sniff(enum manner manner, const char *answer, int64_t timeout_ns) {
    struct peer p = { .manner = manner, .answer = answer };
    peer_start(&p);
    int rc = pt_sniff(port_of(&p), false, "/metrics", timeout_ns);
    peer_stop(&p);
    return rc;
}

static void sniffing_tells_engines_from_others(void **state) {
    (void)state;
    assert_int_equal(sniff(ENGINE, NULL, PATIENCE_NS), 1);
    assert_int_equal(sniff(FIXED, "HTTP/1.0 200 OK\r\n\r\n" VLLM, PATIENCE_NS), 1);
    assert_int_equal(sniff(FIXED, "HTTP/1.1 200 OK\r\n\r\nup 1\n", PATIENCE_NS), 0);
    assert_int_equal(sniff(FIXED, "HTTP/1.1 404 Not Found\r\n\r\n", PATIENCE_NS), 0);
    assert_int_equal(sniff(FIXED, "HTTP/1.1 503 Service Unavailable\r\n\r\n", PATIENCE_NS),
                     PT_SNIFFED_LOADING);
    assert_int_equal(sniff(FIXED, "SSH-2.0-OpenSSH_9.2p1\r\n" VLLM, PATIENCE_NS), 0);
    assert_int_equal(sniff(FIXED, "*", PATIENCE_NS), 0);
    assert_int_equal(sniff(ENDLESS, NULL, PATIENCE_NS), 0);
}

/* An engine that loads its weights for minutes is found when it is ready. */
static void a_port_is_asked_thirty_times(void **state) {
    (void)state;
    struct pt_discovery d = { 0 };
    int64_t now_ns = 5 * PT_NS_PER_SECOND;
    for (int i = 0; i < 30; i++) {
        if (!pt_discovery_is_due(&d, 8000, now_ns))
            fail_msg("not asked for the %dth time", i + 1);
        assert_false(pt_discovery_is_due(&d, 8000, now_ns));
        assert_false(pt_discovery_is_due(&d, 8000, now_ns + 10 * PT_NS_PER_SECOND - 1));
        now_ns += 10 * PT_NS_PER_SECOND;
    }
    assert_false(pt_discovery_is_due(&d, 8000, now_ns));
    assert_false(pt_discovery_is_due(&d, 8000, now_ns + 3600 * PT_NS_PER_SECOND));
    assert_true(pt_discovery_is_due(&d, 8001, now_ns)); /* each port by itself */
    pt_discovery_release(&d);
}

static void a_port_that_loads_is_asked_twice_a_second(void **state) {
    (void)state;
    struct pt_discovery d = { .ports = { { .port = 8000 } }, .port_count = 1 };
    int64_t now_ns = 5 * PT_NS_PER_SECOND;
    assert_false(pt_discovery_is_loading(&d));
    for (int i = 0; i < 1000; i++) {
        assert_true(pt_discovery_is_due(&d, 8000, now_ns));
        pt_discovery_set_loading(&d, 8000, true);
        assert_true(pt_discovery_is_loading(&d));
        assert_false(pt_discovery_is_due(&d, 8000, now_ns + PT_DISCOVER_LOADING_NS - 1));
        now_ns += PT_DISCOVER_LOADING_NS;
    }
    assert_true(pt_discovery_is_due(&d, 8000, now_ns));
    d.port_count = 0; /* it ended */
    assert_false(pt_discovery_is_loading(&d));
    pt_discovery_release(&d);
}

/* More ports than are remembered: the one that was asked longest ago is forgotten. */
static void the_port_that_was_asked_longest_ago_is_forgotten(void **state) {
    (void)state;
    struct pt_discovery d = { 0 };
    for (uint16_t i = 0; i < PT_DISCOVER_PORTS; i++)
        assert_true(pt_discovery_is_due(&d, (uint16_t)(100 + i), (i == 7 ? 1 : 2 + i)));
    assert_true(pt_discovery_is_due(&d, 9000, 100));
    assert_false(pt_discovery_is_due(&d, 100, 101));
    assert_false(pt_discovery_is_due(&d, 9000, 101));
    assert_true(pt_discovery_is_due(&d, 107, 102));
    pt_discovery_release(&d);
}

static void sniffing_gives_up(void **state) {
    (void)state;
    assert_int_equal(sniff(SILENT, NULL, 50 * PT_NS_PER_MS), -ETIMEDOUT);
    assert_int_equal(sniff(CLOSING, NULL, PATIENCE_NS), -ECONNRESET);
    struct peer p = { 0 };
    peer_start(&p);
    peer_stop(&p);
    assert_int_equal(pt_sniff(port_of(&p), false, "/metrics", PATIENCE_NS), -ECONNREFUSED);
}

static void nothing_to_scrape_is_no_data(void **state) {
    (void)state;
    struct pt_scraper *none = NULL;
    struct pt_err err = { "" };
    assert_int_equal(pt_scraper_new(&none, &(struct pt_scrape_options){ .fs = &fs }, &err),
                     -ENODATA);
    const char *const wrong[] = { "localhost:1", "http://" };
    struct pt_scrape_options o = { .fs = &fs, .urls = wrong, .url_count = 2, .period_ns = 1 };
    assert_int_equal(pt_scraper_new(&none, &o, &err), -EINVAL);
    assert_null(none);
    pt_scraper_free(none);
}

static void a_good_engine_is_up_with_all_its_values(void **state) {
    (void)state;
    struct peer p = { .manner = ENGINE, .kv_usage = 0.25 };
    struct scraping g;
    int64_t start_ns = pt_mono_ns();
    peer_start(&p);
    scraping_start(&g, (struct peer *[]){ &p }, 1, false);
    await(&g, is_up_with_quantiles, start_ns);
    const struct pt_scraped *e = &g.engines[0];
    assert_int_equal(g.count, 1);
    assert_int_equal(e->kind, PT_ENGINE_VLLM);
    assert_string_equal(e->model, "m");
    assert_non_null(strstr(e->config, "cache_config.block_size=16"));
    assert_string_equal(e->problem, "");
    assert_non_null(strstr(e->url, "/metrics"));
    assert_true(e->took_ns > 0 && e->took_ns < e->mono_ns - start_ns);
    assert_true(e->mono_ns <= pt_mono_ns());
    check_engine(e);
    assert_number(value_of(e, PT_ENGINE_KV_USAGE), 0.25);
    check_quantiles(e);
    check_engine(&g.all);
    check_quantiles(&g.all);
    double finished = value_of(e, PT_ENGINE_REQUESTS_FINISHED);
    await(&g, is_up, e->mono_ns);
    assert_true(value_of(e, PT_ENGINE_REQUESTS_FINISHED) > finished);
    pt_scraper_free(g.scraper);
    peer_stop(&p);
}

/* Labels that describe it: quoted if they have a separator, and as many as have room. */
static void the_configuration_is_whole_pairs(void **state) {
    (void)state;
    static char text[4096];
    char long_value[901], expected[1024];
    memset(long_value, 'x', sizeof long_value - 1);
    long_value[sizeof long_value - 1] = 0;
    snprintf(text, sizeof text,
             "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nConnection: close\r\n\r\n" VLLM
             "vllm:cache_config_info{a=\"1,2\",b=\"say \\\"hi\\\"\",c=\"two\\nlines\"} 1\n"
             "vllm:lora_requests_info{first=\"%.400s\",second=\"%.400s\",third=\"%.400s\","
             "fourth=\"%.400s\",fifth=\"%.400s\"} 1\n",
             long_value, long_value, long_value, long_value, long_value);
    struct peer p = { .manner = FIXED, .answer = text };
    struct scraping g;
    peer_start(&p);
    scraping_start(&g, (struct peer *[]){ &p }, 1, false);
    await(&g, is_up, 0);
    const char *config = g.engines[0].config;
    if (!strstr(config, "cache_config.a=\"1,2\", cache_config.b=\"say \\\"hi\\\"\", "
                        "cache_config.c=\"two\\nlines\""))
        fail_msg("%s", config);
    snprintf(expected, sizeof expected, "fourth=%.400s", long_value);
    assert_string_equal(config + strlen(config) - strlen(expected), expected);
    pt_scraper_free(g.scraper);
    peer_stop(&p);
}

static void a_bad_answer_makes_it_fail_until_the_next_good_one(void **state) {
    (void)state;
    static const struct {
        enum manner manner;
        const char *answer, *problem;
    } cases[] = {
        { SILENT, NULL, "500 ms" },
        { CLOSING, NULL, "" },
        { CUT, NULL, "" },
        { ENDLESS, NULL, "" },
        { FIXED, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n{\"not\": \"metrics\"}\n", "line 1" },
        { FIXED, "SSH-2.0-OpenSSH_9.2p1\r\n", "" },
        { FIXED, "HTTP/1.1 500 Oh No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n", "500" },
        { FIXED,
          "HTTP/1.1 302 Found\r\nLocation: /\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
          "302" },
    };
    struct peer p = { .manner = ENGINE, .kv_usage = 0.25 };
    struct scraping g;
    peer_start(&p);
    scraping_start(&g, (struct peer *[]){ &p }, 1, false);
    const struct pt_scraped *e = &g.engines[0];
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        await(&g, is_up_with_quantiles, e->mono_ns);
        tell(&p, cases[i].manner, cases[i].answer);
        await(&g, is_failing, 0);
        int64_t last_ns = e->mono_ns;
        if (!e->problem[0] || !strstr(e->problem, cases[i].problem))
            fail_msg("case %zu: %s", i, e->problem);
        check_engine(e); /* what it said last */
        tell(&p, ENGINE, NULL);
        await(&g, is_up, last_ns);
        assert_string_equal(e->problem, "");
        check_engine(e);
    }
    pt_scraper_free(g.scraper);
    peer_stop(&p);
}

static void an_engine_that_goes_away_may_come_back(void **state) {
    (void)state;
    struct peer p = { .manner = ENGINE, .kv_usage = 0.25, .step = 1000 };
    struct scraping g;
    peer_start(&p);
    scraping_start(&g, (struct peer *[]){ &p }, 1, false);
    await(&g, is_up_with_quantiles, 0);
    peer_stop(&p);
    await(&g, is_failing, 0);
    int64_t last_ns = g.engines[0].mono_ns;
    await(&g, is_gone, 0);
    assert_int_equal(g.engines[0].mono_ns, last_ns);
    assert_int_equal(g.all.mono_ns, 0);
    p.step = 0;
    p.manner = STANDING;
    peer_start(&p);
    await(&g, is_up, last_ns);
    assert_number(value_of(&g.engines[0], PT_ENGINE_REQUESTS_FINISHED), 0);
    assert_true(isnan(g.engines[0].quantiles[PT_ENGINE_TTFT][PT_ENGINE_P50].value));
    pt_scraper_free(g.scraper);
    peer_stop(&p);
}

static void an_engine_that_was_never_there_fails_and_is_gone(void **state) {
    (void)state;
    struct peer p = { 0 };
    struct scraping g;
    peer_start(&p);
    peer_stop(&p);
    scraping_start(&g, (struct peer *[]){ &p }, 1, false);
    await(&g, is_gone, 0);
    assert_int_equal(g.engines[0].mono_ns, 0);
    assert_int_equal(g.all.mono_ns, 0);
    assert_true(g.engines[0].problem[0]);
    pt_scraper_free(g.scraper);
}

static bool has_few_finished(const struct scraping *g, int64_t after_ns) {
    return is_up(g, after_ns) && value_of(&g->engines[0], PT_ENGINE_REQUESTS_FINISHED) < 300;
}

static void counters_that_go_back_give_no_quantiles(void **state) {
    (void)state;
    struct peer p = { .manner = ENGINE, .kv_usage = 0.25, .step = 1000 };
    struct scraping g;
    peer_start(&p);
    scraping_start(&g, (struct peer *[]){ &p }, 1, false);
    await(&g, is_up_with_quantiles, 0);
    tell(&p, STANDING, NULL);
    set_step(&p, 5);
    await(&g, has_few_finished, g.engines[0].mono_ns);
    check_engine(&g.engines[0]);
    assert_number(value_of(&g.engines[0], PT_ENGINE_REQUESTS_FINISHED), 15);
    assert_true(isnan(g.engines[0].quantiles[PT_ENGINE_TTFT][PT_ENGINE_P50].value));
    tell(&p, ENGINE, NULL);
    await(&g, is_up_with_quantiles, g.engines[0].mono_ns);
    check_quantiles(&g.engines[0]);
    pt_scraper_free(g.scraper);
    peer_stop(&p);
}

static bool are_both_up(const struct scraping *g, int64_t after_ns) {
    return is_up(g, after_ns) && g->engines[1].state == PT_SCRAPE_UP &&
           g->all.mono_ns >= g->engines[0].mono_ns && g->all.mono_ns >= g->engines[1].mono_ns &&
           g->engines[1].mono_ns > after_ns;
}

static bool does_second_fail(const struct scraping *g, int64_t after_ns) {
    return is_up(g, after_ns) && g->engines[1].state == PT_SCRAPE_FAILING &&
           g->all.mono_ns >= g->engines[0].mono_ns;
}

static bool is_second_gone(const struct scraping *g, int64_t after_ns) {
    return is_up(g, after_ns) && g->engines[1].state == PT_SCRAPE_GONE &&
           g->all.mono_ns >= g->engines[0].mono_ns;
}

static void two_engines_are_taken_as_one(void **state) {
    (void)state;
    struct peer a = { .manner = STANDING, .kv_usage = 0.25, .step = 100 };
    struct peer b = { .manner = STANDING, .kv_usage = 0.75, .step = 7 };
    struct scraping g;
    peer_start(&a);
    peer_start(&b);
    scraping_start(&g, (struct peer *[]){ &a, &b }, 2, false);
    await(&g, are_both_up, 0);
    assert_int_equal(g.count, 2);
    assert_number(value_of(&g.all, PT_ENGINE_REQUESTS_FINISHED), 321);
    assert_number(value_of(&g.all, PT_ENGINE_TOKENS_GENERATION), 2140);
    assert_number(value_of(&g.all, PT_ENGINE_REQUESTS_RUNNING), 4);
    assert_number(value_of(&g.all, PT_ENGINE_KV_USAGE), 0.75); /* the fuller one */
    assert_number(value_of(&g.engines[1], PT_ENGINE_REQUESTS_FINISHED), 21);
    tell(&b, CLOSING, NULL);
    await(&g, does_second_fail, 0);
    assert_number(value_of(&g.all, PT_ENGINE_REQUESTS_FINISHED), 321);
    await(&g, is_second_gone, 0);
    await(&g, is_second_gone, g.engines[0].mono_ns); /* its end is seen before the sums follow */
    assert_number(value_of(&g.all, PT_ENGINE_REQUESTS_FINISHED), 300);
    assert_number(value_of(&g.all, PT_ENGINE_KV_USAGE), 0.25);
    pt_scraper_free(g.scraper);
    peer_stop(&a);
    peer_stop(&b);
}

static bool is_raw_text(const struct pt_buf *text, uint32_t at, uint32_t length, const char *s) {
    struct pt_str piece = { (const char *)text->at + at, length };
    return pt_str_eq(piece, pt_str_from(s));
}

static void series_without_a_field_are_kept_when_asked_for(void **state) {
    (void)state;
    struct peer p = { .manner = ENGINE, .kv_usage = 0.25 };
    struct scraping g;
    struct pt_scraped_raw *rows = NULL;
    struct pt_buf text = { 0 };
    size_t capacity = 0;
    peer_start(&p);
    scraping_start(&g, (struct peer *[]){ &p }, 1, true);
    for (int round = 0; round < 3; round++) {
        await(&g, is_up, g.engines[0].mono_ns);
        size_t count = pt_scraper_take_raw(g.scraper, &rows, &capacity, &text), own_count = 0;
        for (size_t i = 0; i < count; i++) {
            assert_int_equal(rows[i].engine, 0);
            if (!is_raw_text(&text, rows[i].name, rows[i].name_len, "my_own_series"))
                continue;
            assert_true(is_raw_text(&text, rows[i].labels, rows[i].labels_len, "color=\"red\""));
            assert_number(rows[i].value, 7.5);
            own_count++;
        }
        assert_true(own_count > 0);
    }
    pt_scraper_free(g.scraper);
    peer_stop(&p);
    pt_free(rows);
    pt_buf_release(&text);
}

static void series_of_a_broken_answer_are_dropped(void **state) {
    (void)state;
    struct peer p = { .manner = FIXED,
                      .answer = "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" VLLM
                                "my_own_series 1\n}{\n" };
    struct scraping g;
    struct pt_scraped_raw *rows = NULL;
    struct pt_buf text = { 0 };
    size_t capacity = 0;
    peer_start(&p);
    scraping_start(&g, (struct peer *[]){ &p }, 1, true);
    await(&g, is_failing, 0);
    assert_int_equal(pt_scraper_take_raw(g.scraper, &rows, &capacity, &text), 0);
    pt_scraper_free(g.scraper);
    peer_stop(&p);
    pt_free(rows);
    pt_buf_release(&text);
}

#define NEVER_NS (3600 * PT_NS_PER_SECOND) /* no second scrape but the last */

static bool are_all_up(const struct scraping *g) {
    bool are_up = true;
    for (size_t i = 0; i < g->count; i++)
        are_up &= g->engines[i].state == PT_SCRAPE_UP && g->all.mono_ns >= g->engines[i].mono_ns;
    return are_up;
}

static bool is_first_scrape_over(const struct scraping *g, int64_t after_ns) {
    (void)after_ns;
    bool has_failed = false;
    for (size_t i = 0; i < g->count; i++)
        has_failed |= g->engines[i].state == PT_SCRAPE_FAILING;
    return has_failed || are_all_up(g);
}

/* On a busy machine the one scrape may come to nothing: then with a new scraper. */
static void scrape_once(struct scraping *g, struct peer *const *peers, size_t count) {
    for (;;) {
        scraping_start_with(g, peers, count, NEVER_NS, false);
        await(g, is_first_scrape_over, 0);
        if (are_all_up(g))
            return;
        pt_scraper_free(g->scraper);
    }
}

static void the_last_scrape_has_the_last_counters(void **state) {
    (void)state;
    struct peer good = { .manner = STANDING, .kv_usage = 0.5, .step = 1 }, ended = good;
    struct scraping g;
    peer_start(&good);
    peer_start(&ended);
    scrape_once(&g, (struct peer *[]){ &good, &ended }, 2);
    assert_number(value_of(&g.all, PT_ENGINE_REQUESTS_FINISHED), 6);
    peer_stop(&ended);
    set_step(&good, 10);
    pt_scraper_finish(g.scraper, PATIENCE_NS);
    g.count = pt_scraper_take(g.scraper, g.engines, &g.all);
    assert_number(value_of(&g.engines[0], PT_ENGINE_REQUESTS_FINISHED), 30);
    assert_int_equal(g.engines[1].state, PT_SCRAPE_UP);
    assert_number(value_of(&g.engines[1], PT_ENGINE_REQUESTS_FINISHED), 3);
    assert_number(value_of(&g.all, PT_ENGINE_REQUESTS_FINISHED), 33);
    pt_scraper_free(g.scraper);
    peer_stop(&good);
}

static void without_a_last_answer_what_was_said_before_stays(void **state) {
    (void)state;
    static const enum manner manners[] = { SILENT, CLOSING, CUT };
    struct scraping g;
    for (size_t i = 0; i < PT_COUNT(manners); i++) {
        struct peer p = { .manner = STANDING, .kv_usage = 0.5, .step = 1 };
        peer_start(&p);
        scrape_once(&g, (struct peer *[]){ &p }, 1);
        tell(&p, manners[i], NULL);
        pt_scraper_finish(g.scraper, 50 * PT_NS_PER_MS);
        g.count = pt_scraper_take(g.scraper, g.engines, &g.all);
        assert_int_equal(g.engines[0].state, PT_SCRAPE_UP);
        assert_string_equal(g.engines[0].problem, "");
        check_engine(&g.engines[0]);
        pt_scraper_free(g.scraper);
        peer_stop(&p);
    }
}

static void a_last_scrape_of_nobody_does_not_wait(void **state) {
    (void)state;
    struct peer p = { .manner = SILENT };
    struct scraping g;
    peer_start(&p);
    scraping_start(&g, (struct peer *[]){ &p }, 1, false);
    await(&g, is_gone, 0);
    pt_scraper_finish(g.scraper, NEVER_NS); /* or the test never ends */
    pt_scraper_free(g.scraper);
    peer_stop(&p);
}

/* Sums the growth of the first tokens; every interval begins where the last one ended. */
struct growth {
    struct pt_bucket_growths taken;
    double count, seconds;
};

static void take_growth(struct scraping *g, struct growth *sum) {
    pt_scraper_take_growths(g->scraper, &sum->taken);
    for (size_t i = 0; i < sum->taken.count; i++) {
        const struct pt_bucket_growth *b = &sum->taken.list[i];
        assert_int_equal(b->engine, 0);
        assert_int_equal(b->latency, PT_ENGINE_TTFT);
        assert_true(b->above == 0.1 && b->le == 0.2);
        assert_true(b->count > 0 && b->count % 3 == 0);
        assert_true(i == 0 || b->mono_ns > sum->taken.list[i - 1].mono_ns);
        sum->count += (double)b->count;
        sum->seconds += b->seconds;
    }
}

static bool has_grown_by_ten(const struct scraping *g, int64_t after_ns) {
    return is_up(g, after_ns) && value_of(&g->engines[0], PT_ENGINE_TTFT_COUNT) >= 45;
}

/* Takes now after several scrapes, now several times between two. */
static void growth_is_handed_over_once(void **state) {
    (void)state;
    struct peer p = { .manner = STANDING, .kv_usage = 0.25, .step = 5 };
    struct scraping g;
    struct growth sum = { 0 };
    peer_start(&p);
    scraping_start_with(&g, (struct peer *[]){ &p }, 1, PT_NS_PER_MS, false);
    await(&g, is_up, 0);
    take_growth(&g, &sum);
    assert_number(sum.count, 0); /* the first scrape is where to start */
    tell(&p, ENGINE, NULL);
    await(&g, has_grown_by_ten, 0);
    for (int i = 0; i < 20; i++)
        take_growth(&g, &sum);
    int64_t grown_ns = g.engines[0].mono_ns;
    await(&g, is_up, grown_ns);
    tell(&p, CLOSING, NULL); /* what grows in the meantime is counted later */
    await(&g, is_failing, 0);
    take_growth(&g, &sum);
    set_step(&p, 1000);
    tell(&p, STANDING, NULL);
    await(&g, is_up, g.engines[0].mono_ns);
    pt_scraper_finish(g.scraper, PATIENCE_NS);
    take_growth(&g, &sum);
    take_growth(&g, &sum);
    g.count = pt_scraper_take(g.scraper, g.engines, &g.all);
    assert_number(value_of(&g.engines[0], PT_ENGINE_TTFT_COUNT), 3000);
    assert_number(sum.count, 3000 - 15);
    pt_scraper_free(g.scraper);
    peer_stop(&p);
    pt_bucket_growths_release(&sum.taken);
}

#define FIRST_TOKENS(first, a, second, b, all)                            \
    "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" VLLM                   \
    "vllm:time_to_first_token_seconds_bucket{le=\"" first "\"} " #a "\n"  \
    "vllm:time_to_first_token_seconds_bucket{le=\"" second "\"} " #b "\n" \
    "vllm:time_to_first_token_seconds_bucket{le=\"+Inf\"} " #all "\n"

/* 10 from 0 to 0.1 s and 10 from 0.1 to 0.5 s; 20 from 0.1 to 0.2 s. The sum is linear in between:
 * 10 up to 0.1, 32.5 up to 0.2, 40 up to 0.5. */
static void engines_with_different_bounds_have_one_histogram(void **state) {
    (void)state;
    struct peer a = { .manner = FIXED, .answer = FIRST_TOKENS("0.1", 5, "0.5", 5, 5) };
    struct peer b = { .manner = FIXED, .answer = FIRST_TOKENS("0.1", 7, "0.2", 8, 9) };
    struct scraping g;
    struct pt_bucket_growths taken = { 0 };
    peer_start(&a);
    peer_start(&b);
    scrape_once(&g, (struct peer *[]){ &a, &b }, 2);
    tell(&a, FIXED, FIRST_TOKENS("0.1", 15, "0.5", 25, 25));
    tell(&b, FIXED, FIRST_TOKENS("0.1", 7, "0.2", 28, 29));
    pt_scraper_finish(g.scraper, PATIENCE_NS);
    pt_scraper_take_growths(g.scraper, &taken);
    g.count = pt_scraper_take(g.scraper, g.engines, &g.all);
    static const struct pt_bucket_growth expected[] = {
        { .engine = 0, .above = 0, .le = 0.1, .count = 10 },
        { .engine = 0, .above = 0.1, .le = 0.5, .count = 10 },
        { .engine = 1, .above = 0.1, .le = 0.2, .count = 20 },
    };
    assert_int_equal(taken.count, PT_COUNT(expected));
    for (size_t i = 0; i < taken.count; i++) {
        assert_int_equal(taken.list[i].engine, expected[i].engine);
        assert_true(taken.list[i].above == expected[i].above && taken.list[i].le == expected[i].le);
        assert_int_equal(taken.list[i].count, expected[i].count);
    }
    const struct pt_quantile *q = g.all.quantiles[PT_ENGINE_TTFT];
    assert_number(q[PT_ENGINE_P50].value, 0.1 + 0.1 * 10 / 22.5);
    assert_number(q[PT_ENGINE_P50].width, 0.1);
    assert_number(q[PT_ENGINE_P90].value, 0.2 + 0.3 * 3.5 / 7.5);
    assert_number(q[PT_ENGINE_P90].width, 0.3);
    assert_number(g.engines[1].quantiles[PT_ENGINE_TTFT][PT_ENGINE_P50].value, 0.15);
    pt_scraper_free(g.scraper);
    peer_stop(&a);
    peer_stop(&b);
    pt_bucket_growths_release(&taken);
}

static void an_engine_is_scraped_over_a_unix_socket(void **state) {
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "unix:/tmp/pitot-scrape-test-%d", (int)getpid());
    struct peer p = { .manner = ENGINE, .kv_usage = 0.25 };
    struct scraping g;
    assert_int_equal(pt_http_address_parse(&p.address, path, NULL), 0);
    peer_start(&p);
    scraping_start(&g, (struct peer *[]){ &p }, 1, false);
    await(&g, is_up_with_quantiles, 0);
    assert_string_equal(g.engines[0].url, path);
    check_engine(&g.engines[0]);
    pt_scraper_free(g.scraper);
    peer_stop(&p);
    unlink(path + 5);
}

static int open_fs(void **state) {
    (void)state;
    pt_log_level = PT_LOG_ERROR;
    return pt_fs_open(&fs, "/proc", "/sys", "/", NULL);
}

static int close_fs(void **state) {
    (void)state;
    pt_fs_close(&fs);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(listening_sockets_are_read, "C125: listening sockets are read"),
        PT_TEST(listening_sockets_of_ipv6_are_read, "C125: listening sockets of IPv6 are read"),
        PT_TEST(broken_lines_of_sockets_are_left_out, "C125: broken lines of sockets are left out"),
        PT_TEST(sockets_are_found_by_their_process, "C125: sockets are found by their process"),
        PT_TEST(ports_of_a_tree_are_told_from_our_own,
                "C125: ports of a tree are told from our own"),
        PT_TEST(addresses_of_engines_are_completed, "C128: addresses of engines are completed"),
        PT_TEST(what_is_no_address_is_refused, "C128: what is not an address is refused"),
        PT_TEST(engines_are_known_by_names_at_the_start_of_lines,
                "C127: engines are known by names at the start of lines"),
        PT_TEST(sniffing_tells_engines_from_others, "C125: sniffing tells engines from others"),
        PT_TEST(a_port_is_asked_thirty_times,
                "C125: a port without an engine is asked again every 10 s, 30 times in all"),
        PT_TEST(a_port_that_loads_is_asked_twice_a_second,
                "C125: a port that answers 503 is asked twice a second until it is ready"),
        PT_TEST(the_port_that_was_asked_longest_ago_is_forgotten,
                "C125: of too many ports the one that was asked longest ago is forgotten"),
        PT_TEST(sniffing_gives_up, "C125 C128: sniffing gives up on those who say nothing"),
        PT_TEST(nothing_to_scrape_is_no_data, "C126: nothing to scrape means no data"),
        PT_TEST(a_good_engine_is_up_with_all_its_values,
                "C117 C118 C119 C120 C121 C122 C123 C125 C129: a good engine is up with all its "
                "values, and quantiles of what came between two scrapes"),
        PT_TEST(the_configuration_is_whole_pairs,
                "C127: the configuration of an engine has whole pairs, quoted where needed"),
        PT_TEST(a_bad_answer_makes_it_fail_until_the_next_good_one,
                "C126 C128: a bad answer makes it fail until the next good one"),
        PT_TEST(an_engine_that_goes_away_may_come_back,
                "C126: an engine that goes away fails, is gone, and may come back"),
        PT_TEST(an_engine_that_was_never_there_fails_and_is_gone,
                "C126: an engine that was never there fails and is gone"),
        PT_TEST(counters_that_go_back_give_no_quantiles,
                "C129: counters that go back give no quantiles"),
        PT_TEST(growth_is_handed_over_once,
                "C316: growth of histograms is handed over once, whenever it is taken"),
        PT_TEST(engines_with_different_bounds_have_one_histogram,
                "C127 C316: engines with different bounds have one histogram together"),
        PT_TEST(two_engines_are_taken_as_one,
                "C117 C119 C120: two engines are taken as one, also when one fails for a moment"),
        PT_TEST(series_without_a_field_are_kept_when_asked_for,
                "C127: series without a field are kept when asked for"),
        PT_TEST(series_of_a_broken_answer_are_dropped,
                "C126: series of a broken answer are dropped"),
        PT_TEST(the_last_scrape_has_the_last_counters,
                "C120: the last scrape has the last counters"),
        PT_TEST(without_a_last_answer_what_was_said_before_stays,
                "C126: without a last answer what was said before stays"),
        PT_TEST(a_last_scrape_of_nobody_does_not_wait,
                "C126: a last scrape of nobody does not wait"),
        PT_TEST(an_engine_is_scraped_over_a_unix_socket,
                "C125: an engine is scraped over a UNIX socket"),
    };
    return !has_http_modules() ? SKIPPED : cmocka_run_group_tests(tests, open_fs, close_fs);
}
