/* Finding the ports of a recorded command, in a /proc made here, and the engines behind them. */
#include "test.h"
#include "http_modules.h"
#include "tree.h"

#include "base/clock.h"
#include "base/log.h"
#include "source/engine/discover.h"
#include "source/engine/scraper.h"

#include <pthread.h>
#include <unistd.h>

#define PATIENCE_NS (60 * PT_NS_PER_SECOND)
#define ROOT        500
#define LOOPBACK    "0100007F"
#define LOOPBACK_6  "00000000000000000000000001000000"
#define ELSEWHERE   "0200A8C0"

/* A made /proc, written as sockets and processes are added. */
struct machine {
    struct tree tree;
    struct pt_fs fs;
    char tcp[16384], tcp6[4096];
    struct pt_discovery d;
};

static void link_to(struct machine *m, const char *target, const char *name) {
    assert_int_equal(symlink(target, tree_path(&m->tree, name)), 0);
}

static void machine_start(struct machine *m) {
    char sys[PATH_MAX];
    memset(m, 0, sizeof *m);
    tree_make(&m->tree);
    tree_directory(&m->tree, "proc/self/ns");
    tree_directory(&m->tree, "proc/net");
    tree_directory(&m->tree, "sys");
    link_to(m, "net:[1]", "proc/self/ns/net");
    snprintf(sys, sizeof sys, "%s", tree_path(&m->tree, "sys"));
    assert_int_equal(pt_fs_open(&m->fs, tree_path(&m->tree, "proc"), sys, "/", NULL), 0);
}

static void machine_stop(struct machine *m) {
    pt_discovery_release(&m->d);
    pt_fs_close(&m->fs);
    tree_remove(&m->tree);
}

/* A listening socket. Its inode is the port, and of IPv6 the port + 100000. */
static void listen_at(struct machine *m, uint16_t port, const char *address) {
    bool is_ipv6 = strlen(address) > 8;
    char *text = is_ipv6 ? m->tcp6 : m->tcp;
    size_t used = strlen(text), capacity = is_ipv6 ? sizeof m->tcp6 : sizeof m->tcp;
    int n = snprintf(text + used, capacity - used,
                     "   0: %s:%04X 0:0000 0A 00000000:00000000 00:00000000 00000000 0 0 %d 1\n",
                     address, port, port + (is_ipv6 ? 100000 : 0));
    assert_true(n > 0 && used + (size_t)n < capacity);
    tree_put(&m->tree, is_ipv6 ? "proc/net/tcp6" : "proc/net/tcp", text);
}

static void open_socket(struct machine *m, pid_t pid, int inode) {
    char name[64], target[32];
    snprintf(name, sizeof name, "proc/%d/fd", (int)pid);
    tree_directory(&m->tree, name);
    snprintf(name, sizeof name, "proc/%d/fd/%d", (int)pid, inode);
    snprintf(target, sizeof target, "socket:[%d]", inode);
    link_to(m, target, name);
}

static void add_process(struct machine *m, pid_t pid, pid_t parent, const char *cgroup,
                        const char *network) {
    char name[64], text[256];
    snprintf(name, sizeof name, "proc/%d/stat", (int)pid);
    snprintf(text, sizeof text,
             "%d (x) S %d 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 7 4096 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 "
             "17 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n",
             (int)pid, (int)parent);
    tree_put(&m->tree, name, text);
    snprintf(name, sizeof name, "proc/%d/cgroup", (int)pid);
    snprintf(text, sizeof text, "0::%s\n", cgroup);
    tree_put(&m->tree, name, text);
    snprintf(name, sizeof name, "proc/%d/ns", (int)pid);
    tree_directory(&m->tree, name);
    snprintf(name, sizeof name, "proc/%d/ns/net", (int)pid);
    link_to(m, network, name);
}

/* A process with one socket. */
static void add_server(struct machine *m, pid_t pid, pid_t parent, const char *cgroup,
                       const char *network, uint16_t port) {
    add_process(m, pid, parent, cgroup, network);
    listen_at(m, port, LOOPBACK);
    open_socket(m, pid, port);
}

static int by_port(const void *a, const void *b) {
    return ((const struct pt_discovered_port *)a)->port -
           ((const struct pt_discovered_port *)b)->port;
}

/* Looks, and compares the ports in ascending order: "8000 8001:6", those with :6 of IPv6 only. */
static void check_ports(struct machine *m, const pid_t *roots, int root_count,
                        const char *expected) {
    char found[1024] = "";
    m->d.sockets_hash = 0;
    assert_true(pt_discovery_look(&m->d, &m->fs, roots, root_count));
    qsort(m->d.ports, m->d.port_count, sizeof m->d.ports[0], by_port);
    for (size_t i = 0; i < m->d.port_count; i++)
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%u%s", i ? " " : "",
                 m->d.ports[i].port, m->d.ports[i].is_ipv6_only ? ":6" : "");
    assert_string_equal(found, expected);
}

static void a_tree_is_the_descendants_of_its_roots(void **state) {
    (void)state;
    struct machine m;
    machine_start(&m);
    add_server(&m, ROOT, 1, "/", "net:[1]", 9001);
    add_server(&m, ROOT + 1, ROOT, "/", "net:[1]", 9002);
    add_server(&m, ROOT + 2, ROOT + 1, "/", "net:[1]", 9003);
    add_server(&m, 600, 1, "/", "net:[1]", 9004);
    add_server(&m, 700, 1, "/", "net:[1]", 9005); /* the second root */
    add_server(&m, 800, getpid(), "/", "net:[1]", 9006);
    add_server(&m, getpid(), 1, "/", "net:[1]", 9007);
    const pid_t roots[] = { ROOT, 700 };
    check_ports(&m, roots, 2, "9001 9002 9003 9005 9006"); /* an orphan is our child */
    check_ports(&m, roots, 1, "9001 9002 9003 9006");
    check_ports(&m, NULL, 0, "9001 9002 9003 9004 9005 9006"); /* of all but ourselves */
    machine_stop(&m);
}

#define DEPTH 64 /* generations, from the root to the last one that counts */

static void a_tree_has_an_end(void **state) {
    (void)state;
    struct machine m;
    machine_start(&m);
    for (int i = 0; i <= DEPTH; i++)
        add_process(&m, ROOT + i, i ? ROOT + i - 1 : 1, "/", "net:[1]");
    listen_at(&m, 9001, LOOPBACK);
    listen_at(&m, 9002, LOOPBACK);
    open_socket(&m, ROOT + DEPTH - 1, 9001);
    open_socket(&m, ROOT + DEPTH, 9002);
    const pid_t root = ROOT;
    check_ports(&m, &root, 1, "9001");
    machine_stop(&m);
}

/* A daemon leaves its parents, but not the cgroup that was made for the command. */
static void a_daemon_is_found_by_the_cgroup_of_the_command(void **state) {
    (void)state;
    static const struct {
        const char *of_root, *of_daemon, *ports;
    } cases[] = {
        { "/user.slice/pitot-1", "/user.slice/pitot-1", "9001 9002" },
        { "/user.slice/pitot-1", "/user.slice/pitot-1/below", "9001 9002" },
        { "/user.slice/pitot-1", "/user.slice/pitot-2", "9001" },
        { "/user.slice/pitot-1", "/user.slice", "9001" },
        { "/user.slice/shell", "/user.slice/shell", "9001" }, /* shared with others */
        { "/user.slice/apitot-1", "/user.slice/apitot-1", "9001" },
        { "/pitot-1/shell", "/pitot-1/shell", "9001" },
        { "/", "/", "9001" },
    };
    const pid_t root = ROOT;
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct machine m;
        machine_start(&m);
        add_server(&m, ROOT, 1, cases[i].of_root, "net:[1]", 9001);
        add_server(&m, 600, 1, cases[i].of_daemon, "net:[1]", 9002);
        check_ports(&m, &root, 1, cases[i].ports);
        machine_stop(&m);
    }
}

static void ports_of_another_network_are_left_out(void **state) {
    (void)state;
    struct machine m;
    const pid_t root = ROOT;
    machine_start(&m);
    add_server(&m, ROOT, 1, "/", "net:[1]", 9001);
    add_server(&m, ROOT + 1, ROOT, "/", "net:[2]", 9002);
    check_ports(&m, &root, 1, "9001");
    assert_int_equal(unlink(tree_path(&m.tree, "proc/501/ns/net")), 0); /* unknown: may be ours */
    check_ports(&m, &root, 1, "9001 9002");
    add_server(&m, ROOT + 2, ROOT, "/", "net:[2]", 9003);
    check_ports(&m, &root, 1, "9001 9002");
    assert_int_equal(unlink(tree_path(&m.tree, "proc/self/ns/net")), 0);
    check_ports(&m, &root, 1, "9001 9002 9003");
    machine_stop(&m);
}

static void a_port_is_of_ipv6_only_if_nobody_has_it_in_ipv4(void **state) {
    (void)state;
    struct machine m;
    const pid_t root = ROOT;
    machine_start(&m);
    add_server(&m, ROOT, 1, "/", "net:[1]", 9001);
    add_process(&m, ROOT + 1, ROOT, "/", "net:[1]");
    listen_at(&m, 9001, LOOPBACK_6);
    listen_at(&m, 9002, LOOPBACK_6);
    listen_at(&m, 9003, LOOPBACK_6);
    listen_at(&m, 9004, ELSEWHERE);
    open_socket(&m, ROOT + 1, 109001);
    open_socket(&m, ROOT + 1, 109002);
    open_socket(&m, ROOT, 109003);
    open_socket(&m, ROOT + 1, 109003);
    open_socket(&m, ROOT + 1, 9004);
    check_ports(&m, &root, 1, "9001 9002:6 9003:6");
    listen_at(&m, 9002, LOOPBACK);
    open_socket(&m, ROOT + 1, 9002);
    check_ports(&m, &root, 1, "9001 9002 9003:6");
    machine_stop(&m);
}

static void the_number_of_ports_is_limited(void **state) {
    (void)state;
    struct machine m;
    const pid_t root = ROOT;
    machine_start(&m);
    add_process(&m, ROOT, 1, "/", "net:[1]");
    for (int i = 0; i <= PT_DISCOVER_PORTS; i++) {
        listen_at(&m, (uint16_t)(9000 + i), LOOPBACK);
        open_socket(&m, ROOT, 9000 + i);
    }
    assert_true(pt_discovery_look(&m.d, &m.fs, &root, 1));
    assert_int_equal(m.d.port_count, PT_DISCOVER_PORTS);
    machine_stop(&m);
}

/* Nobody can be seen who has them, as in a container: the ports that engines usually have. */
static void usual_ports_are_asked_without_a_tree(void **state) {
    (void)state;
    static const uint16_t ports[] = { 8000, 8002, 8080, 30000, 22 };
    struct machine m;
    const pid_t root = 1;
    machine_start(&m);
    for (size_t i = 0; i < PT_COUNT(ports); i++)
        listen_at(&m, ports[i], LOOPBACK);
    check_ports(&m, NULL, 0, "8000 8002 8080 30000");
    check_ports(&m, &root, 1, ""); /* a tree has its own ports only */
    machine_stop(&m);
}

static void processes_are_searched_when_sockets_change(void **state) {
    (void)state;
    struct machine m;
    const pid_t root = ROOT;
    machine_start(&m);
    assert_false(pt_discovery_look(&m.d, &m.fs, &root, 1)); /* there is no table of sockets */
    add_server(&m, ROOT, 1, "/", "net:[1]", 9001);
    assert_true(pt_discovery_look(&m.d, &m.fs, &root, 1));
    assert_int_equal(m.d.port_count, 1);
    assert_false(pt_discovery_look(&m.d, &m.fs, &root, 1));
    listen_at(&m, 9002, LOOPBACK); /* of another process */
    assert_true(pt_discovery_look(&m.d, &m.fs, &root, 1));
    assert_int_equal(m.d.port_count, 1);
    m.tcp[0] = 0;
    listen_at(&m, 9002, LOOPBACK);
    assert_true(pt_discovery_look(&m.d, &m.fs, &root, 1));
    assert_int_equal(m.d.port_count, 0);
    char *port = strstr(m.tcp, ":232A"); /* 9002: the same inode at another port */
    memcpy(port, ":232B", 5);
    tree_put(&m.tree, "proc/net/tcp", m.tcp);
    assert_true(pt_discovery_look(&m.d, &m.fs, &root, 1));
    machine_stop(&m);
}

/* A server on the loopback interface that has metrics at one path, and 404 at others. */
struct server {
    struct pt_http_address address;
    const char *path, *body;
    pthread_t thread;
    int fd;
};

static void *server_main(void *user) {
    struct server *s = user;
    int fd;
    while ((fd = accept(s->fd, NULL, NULL)) >= 0) {
        char request[4096] = "", answer[512], wanted[64];
        ssize_t n = 0;
        for (size_t used = 0; !strstr(request, "\r\n\r\n") && used < sizeof request - 1;
             used += (size_t)n)
            if ((n = read(fd, request + used, sizeof request - 1 - used)) <= 0)
                break;
        snprintf(wanted, sizeof wanted, "GET %s HTTP", s->path);
        bool is_found = strncmp(request, wanted, strlen(wanted)) == 0;
        const char *body = is_found ? s->body : "";
        int length = snprintf(answer, sizeof answer,
                              "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
                              "Connection: close\r\n\r\n%s",
                              is_found ? "200 OK" : "404 Not Found", strlen(body), body);
        assert_true(send(fd, answer, (size_t)length, MSG_NOSIGNAL) <= length);
        close(fd);
    }
    return NULL;
}

static void server_start(struct server *s, const char *address, const char *path,
                         const char *body) {
    *s = (struct server){ .path = path, .body = body };
    assert_int_equal(pt_http_address_parse(&s->address, address, NULL), 0);
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

static uint16_t port_of(const struct server *s) {
    return ntohs(s->address.v4.sin_port);
}

/* Takes until `count` engines are up. */
static void await_engines(struct pt_scraper *s, struct pt_scraped engines[PT_SCRAPE_ENGINES],
                          size_t count) {
    int64_t deadline_ns = pt_mono_ns() + PATIENCE_NS;
    for (size_t up_count = 0; up_count < count;) {
        struct pt_scraped all;
        size_t found = pt_scraper_take(s, engines, &all);
        assert_in_range(found, 0, count);
        up_count = 0;
        for (size_t i = 0; i < found; i++)
            up_count += engines[i].state == PT_SCRAPE_UP;
        assert_true(pt_mono_ns() < deadline_ns);
        nanosleep(&(struct timespec){ .tv_nsec = 2 * PT_NS_PER_MS }, NULL);
    }
}

static const struct pt_scraped *engine_at(const struct pt_scraped *engines, size_t count,
                                          const char *url) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(engines[i].url, url) == 0)
            return &engines[i];
    fail_msg("no engine at %s", url);
    return NULL;
}

#define VLLM "vllm:num_requests_running 5\n"

/* Two engines and two others; a second look, as sockets come, finds none of them twice. */
static void engines_behind_the_ports_are_scraped(void **state) {
    (void)state;
    struct server usual, deeper, other, late;
    struct pt_scraped engines[PT_SCRAPE_ENGINES];
    struct pt_scraper *scraper;
    struct machine m;
    char url[64];
    const pid_t root = ROOT;
    machine_start(&m);
    server_start(&usual, "0", "/metrics", VLLM);
    server_start(&deeper, "0", "/prometheus/metrics", "sglang:num_running_reqs 7\n");
    server_start(&other, "0", "/metrics", "go_goroutines 7\n");
    add_server(&m, ROOT, 1, "/", "net:[1]", port_of(&usual));
    add_server(&m, ROOT + 1, ROOT, "/", "net:[1]", port_of(&deeper));
    add_server(&m, ROOT + 2, ROOT, "/", "net:[1]", port_of(&other));
    struct pt_scrape_options o = { .fs = &m.fs,
                                   .must_discover = true,
                                   .roots = &root,
                                   .root_count = 1,
                                   .period_ns = 20 * PT_NS_PER_MS };
    assert_int_equal(pt_scraper_new(&scraper, &o, NULL), 0);
    await_engines(scraper, engines, 2);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/metrics", port_of(&usual));
    const struct pt_scraped *e = engine_at(engines, 2, url);
    assert_int_equal(e->kind, PT_ENGINE_VLLM);
    assert_true(e->values[PT_ENGINE_REQUESTS_RUNNING] == 5);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/prometheus/metrics", port_of(&deeper));
    e = engine_at(engines, 2, url);
    assert_int_equal(e->kind, PT_ENGINE_SGLANG);
    assert_true(e->values[PT_ENGINE_REQUESTS_RUNNING] == 7);
    server_start(&late, "0", "/metrics", "llamacpp:requests_processing 3\n");
    add_server(&m, ROOT + 3, ROOT, "/", "net:[1]", port_of(&late));
    await_engines(scraper, engines, 3);
    snprintf(url, sizeof url, "http://127.0.0.1:%u/metrics", port_of(&late));
    assert_int_equal(engine_at(engines, 3, url)->kind, PT_ENGINE_LLAMACPP);
    pt_scraper_free(scraper);
    server_stop(&usual);
    server_stop(&deeper);
    server_stop(&other);
    server_stop(&late);
    machine_stop(&m);
}

static void an_engine_of_ipv6_is_scraped(void **state) {
    (void)state;
    struct server s;
    struct pt_scraped engines[PT_SCRAPE_ENGINES];
    struct pt_scraper *scraper;
    struct pt_http_address probe;
    struct machine m;
    char url[64];
    const pid_t root = ROOT;
    assert_int_equal(pt_http_address_parse(&probe, "[::1]:0", NULL), 0);
    int fd = pt_http_address_listen(&probe, NULL);
    if (fd < 0) /* a machine without IPv6 */
        skip();
    close(fd);
    machine_start(&m);
    server_start(&s, "[::1]:0", "/metrics", VLLM);
    add_process(&m, ROOT, 1, "/", "net:[1]");
    listen_at(&m, port_of(&s), LOOPBACK_6);
    open_socket(&m, ROOT, port_of(&s) + 100000);
    struct pt_scrape_options o = { .fs = &m.fs,
                                   .must_discover = true,
                                   .roots = &root,
                                   .root_count = 1,
                                   .period_ns = 20 * PT_NS_PER_MS };
    assert_int_equal(pt_scraper_new(&scraper, &o, NULL), 0);
    await_engines(scraper, engines, 1);
    snprintf(url, sizeof url, "http://[::1]:%u/metrics", port_of(&s));
    assert_int_equal(engine_at(engines, 1, url)->kind, PT_ENGINE_VLLM);
    pt_scraper_free(scraper);
    server_stop(&s);
    machine_stop(&m);
}

int main(void) {
    pt_log_level = PT_LOG_ERROR;
    const struct CMUnitTest tests[] = {
        PT_TEST(a_tree_is_the_descendants_of_its_roots,
                "C125: a tree is its roots, their descendants and orphans; we are not part of it"),
        PT_TEST(a_tree_has_an_end, "C125: a tree is followed for 64 generations"),
        PT_TEST(a_daemon_is_found_by_the_cgroup_of_the_command,
                "C125: a daemon is found by the cgroup that was made for the command"),
        PT_TEST(ports_of_another_network_are_left_out,
                "C125: ports of another network namespace are left out"),
        PT_TEST(a_port_is_of_ipv6_only_if_nobody_has_it_in_ipv4,
                "C125: a port is of IPv6 only if nobody has it in IPv4"),
        PT_TEST(the_number_of_ports_is_limited, "C125: at most 64 ports are looked at"),
        PT_TEST(usual_ports_are_asked_without_a_tree,
                "C125: without a command the usual ports of engines are asked"),
        PT_TEST(processes_are_searched_when_sockets_change,
                "C125: processes are searched when sockets change"),
        PT_TEST(engines_behind_the_ports_are_scraped,
                "C125: engines behind the ports are scraped, each once, at either path"),
        PT_TEST(an_engine_of_ipv6_is_scraped, "C125: an engine of IPv6 only is scraped"),
    };
    return !has_http_modules() ? SKIPPED : cmocka_run_group_tests(tests, NULL, NULL);
}
