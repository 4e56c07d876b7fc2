/* Samples all the way to a receiver: what is taken, refused, repeated and left for the next run. */
#include "test.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "http_modules.h"
#include "push/push.h"
#include "push/snappy.h"

#include <dirent.h>
#include <ftw.h>
#include <pthread.h>
#include <unistd.h>

#define LOAD_COLUMNS(X, t)                            \
    X(t, name, "lName", KEY, STRING, NONE, 0, "Name") \
    X(t, value, "lValue", GAUGE, F64, RATIO, 0, "Its value")
PT_TABLE(load, PT_TABLE_FILE("load", NULL), "Load", LOAD_COLUMNS, "nowhere");

static const struct pt_table *tables[2] = { &load_table, NULL };
static const struct pt_schema schema = { tables, 2 };

struct receiver {
    struct pt_http_server server;
    pthread_mutex_t lock;
    unsigned statuses[8]; /* of the next requests; then 204 */
    size_t status_count, next;
    size_t requests;
    bool hangs;
    struct pt_http_exchange *held; /* the one that is not answered */
};

struct fixture {
    char directory[64];
    struct receiver receiver;
    struct pt_push *push;
    struct pt_sample sample;
    int64_t second;
};

static void receive(void *user, struct pt_http_exchange *x) {
    struct receiver *r = user;
    pthread_mutex_lock(&r->lock);
    unsigned status = r->next < r->status_count ? r->statuses[r->next++] : 204;
    r->requests++;
    bool hangs = r->hangs && !r->held;
    if (hangs)
        r->held = x;
    pthread_mutex_unlock(&r->lock);
    if (!hangs)
        pt_http_reply(x, status, "text/plain", PT_STR(""));
}

static const struct pt_http_route routes[] = { { "POST", "/api/v1/write", receive } };

static void open_receiver(struct receiver *r, const char *listen) {
    struct pt_http_server_options options = {
        .listen = listen, .routes = routes, .route_count = 1, .user = r
    };
    struct pt_err err;
    if (pt_http_server_open(&r->server, &options, &err))
        fail_msg("%s", err.text);
}

static void set_statuses(struct receiver *r, size_t count, const unsigned *statuses) {
    pthread_mutex_lock(&r->lock);
    memcpy(r->statuses, statuses, count * sizeof *statuses);
    r->status_count = count;
    r->next = 0;
    pthread_mutex_unlock(&r->lock);
}

static void open_push(struct fixture *f, const char *url) {
    struct pt_push_options options = { .remote_write = url,
                                       .otlp = "off",
                                       .state_directory = f->directory };
    struct pt_err err;
    if (pt_push_open(&f->push, &options, &schema, &err))
        fail_msg("%s", err.text);
    assert_non_null(f->push);
}

/* Two points, `seconds` after the last ones. */
static void push_sample_after(struct fixture *f, int64_t seconds) {
    struct pt_sample *s = &f->sample;
    pt_sample_clear(s);
    f->second += seconds;
    s->wall_ns = f->second * PT_NS_PER_SECOND;
    s->mono_ns = s->wall_ns;
    for (int i = 0; i < 2; i++) {
        pt_batch_add_row(&s->batches[0]);
        pt_set_time(&s->batches[0], 0, s->mono_ns);
        pt_set_str(&s->batches[0], load_name, i ? PT_STR("b") : PT_STR("a"));
        pt_set_f64(&s->batches[0], load_value, (double)f->second);
    }
    pt_push_sample(f->push, s);
}

/* Ten seconds after the last one: each is a request of its own. */
static void push_sample(struct fixture *f) {
    push_sample_after(f, 10);
}

static int64_t count_of(struct fixture *f, const char *column) {
    pt_sample_clear(&f->sample);
    pt_push_fill(f->push, &f->sample);
    return pt_get_i64(&f->sample.batches[1], 0, pt_table_find(pt_push_table, column));
}

static void wait_for_count(struct fixture *f, const char *column, int64_t least) {
    struct timespec moment = { 0, PT_NS_PER_MS };
    while (count_of(f, column) < least)
        nanosleep(&moment, NULL);
}

static void close_push(struct fixture *f) {
    pt_push_close(f->push, pt_mono_ns() + 20 * PT_NS_PER_SECOND);
    f->push = NULL;
}

static int file_count;

static int count_file(const char *path, const struct stat *status, int type, struct FTW *place) {
    (void)path;
    (void)status;
    (void)place;
    file_count += type == FTW_F;
    return 0;
}

static int files_left(const struct fixture *f) {
    file_count = 0;
    nftw(f->directory, count_file, 16, FTW_PHYS);
    return file_count;
}

static void test_all_taken(void **state) {
    struct fixture *f = *state;
    open_push(f, f->receiver.server.url);
    for (int i = 0; i < 10; i++)
        push_sample(f);
    wait_for_count(f, "pushPoints", 20);
    assert_int_equal(count_of(f, "pushRequests"), 10);
    assert_int_equal(count_of(f, "pushStatus"), 204);
    assert_int_equal(count_of(f, "pushFailures"), 0);
    close_push(f);
    assert_int_equal(files_left(f), 0);
    assert_int_equal(f->receiver.requests, 11); /* the first one was 2.0, then 1.0 */
}

/* A request has the samples of five seconds, and the first one goes at once. */
static void test_collected(void **state) {
    struct fixture *f = *state;
    open_push(f, f->receiver.server.url);
    push_sample_after(f, 1);
    wait_for_count(f, "pushPoints", 2);
    for (int i = 0; i < 4; i++)
        push_sample_after(f, 1);
    assert_int_equal(count_of(f, "pushWaiting"), 0);
    assert_int_equal(count_of(f, "pushRequests"), 1);
    push_sample_after(f, 1);
    wait_for_count(f, "pushPoints", 12);
    for (int i = 0; i < 2; i++)
        push_sample_after(f, 3);
    wait_for_count(f, "pushPoints", 16); /* a third would be too late */
    assert_int_equal(count_of(f, "pushRequests"), 3);
    close_push(f);
}

static void test_tried_again(void **state) {
    struct fixture *f = *state;
    set_statuses(&f->receiver, 4, (unsigned[]){ 503, 204, 500, 429 });
    open_push(f, f->receiver.server.url);
    push_sample(f);
    push_sample(f);
    wait_for_count(f, "pushPoints", 4);
    assert_int_equal(count_of(f, "pushFailures"), 3);
    assert_int_equal(count_of(f, "pushRejected"), 0);
    close_push(f);
    assert_int_equal(files_left(f), 0);
}

static void test_refused(void **state) {
    struct fixture *f = *state;
    set_statuses(&f->receiver, 2, (unsigned[]){ 400, 400 }); /* as 2.0 and as 1.0 */
    open_push(f, f->receiver.server.url);
    push_sample(f);
    wait_for_count(f, "pushRejected", 2);
    push_sample(f);
    wait_for_count(f, "pushPoints", 2);
    assert_int_equal(count_of(f, "pushRejected"), 2);
    close_push(f);
    assert_int_equal(files_left(f), 0);
}

static void test_next_run(void **state) {
    struct fixture *f = *state;
    char url[128], *listen = url + sizeof "http://" - 1;
    snprintf(url, sizeof url, "%s", f->receiver.server.url);
    pt_http_server_close(&f->receiver.server);
    open_push(f, url);
    for (int i = 0; i < 3; i++)
        push_sample(f);
    wait_for_count(f, "pushFailures", 1);
    pt_push_flush(f->push); /* the end of both series: one more request */
    wait_for_count(f, "pushWaiting", 4);
    pt_push_close(f->push, pt_mono_ns());
    assert_int_equal(files_left(f), 1);
    open_receiver(&f->receiver, listen);
    open_push(f, url);
    wait_for_count(f, "pushPoints", 8);
    assert_int_equal(count_of(f, "pushRequests"), 4);
    close_push(f);
    assert_int_equal(files_left(f), 0);
}

/* Nobody waits for a receiver that does not answer: what does not fit is counted. */
static void test_hangs(void **state) {
    struct fixture *f = *state;
    f->receiver.hangs = true;
    open_push(f, f->receiver.server.url);
    for (int i = 0; i < 500; i++)
        push_sample(f);
    struct timespec moment = { 0, PT_NS_PER_MS };
    while (2 * count_of(f, "pushWaiting") + count_of(f, "pushDropped") < 1000)
        nanosleep(&moment, NULL);
    assert_int_equal(2 * count_of(f, "pushWaiting") + count_of(f, "pushDropped"), 1000);
    assert_int_equal(count_of(f, "pushPoints"), 0);
    pt_push_close(f->push, pt_mono_ns());
    f->push = NULL;
    assert_int_equal(files_left(f), 1);
}

static void test_nothing_to_do(void **state) {
    struct pt_push *push;
    struct pt_push_options options = { .otlp = "off" };
    struct pt_err err;
    (void)state;
    assert_int_equal(pt_push_open(&push, &options, &schema, &err), 0);
    assert_null(push);
    pt_push_flush(push);
    pt_push_close(push, 0);
}

/* After the first requests the thread that takes samples allocates only what a list grows by. */
static void test_steady(void **state) {
    struct fixture *f = *state;
    open_push(f, f->receiver.server.url);
    for (int i = 0; i < 200; i++) {
        push_sample(f);
        wait_for_count(f, "pushRequests", i + 1);
    }
    uint64_t before = pt_mem_allocation_count();
    for (int i = 0; i < 50; i++) {
        push_sample(f);
        wait_for_count(f, "pushRequests", 201 + i);
    }
    assert_true(pt_mem_allocation_count() - before <= 50); /* the output of each request */
    close_push(f);
}

static int set_up(void **state) {
    struct fixture *f = calloc(1, sizeof *f);
    snprintf(f->directory, sizeof f->directory, "/tmp/push_send_test.XXXXXX");
    tables[1] = pt_push_table;
    pthread_mutex_init(&f->receiver.lock, NULL);
    open_receiver(&f->receiver, NULL);
    pt_sample_init(&f->sample, &schema);
    f->second = 1000;
    *state = f;
    return mkdtemp(f->directory) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place) {
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

static int tear_down(void **state) {
    struct fixture *f = *state;
    pt_push_close(f->push, 0);
    pthread_mutex_lock(&f->receiver.lock);
    struct pt_http_exchange *held = f->receiver.held;
    pthread_mutex_unlock(&f->receiver.lock);
    if (held)
        pt_http_reply(held, 204, "text/plain", PT_STR(""));
    pt_http_server_close(&f->receiver.server);
    pt_sample_release(&f->sample);
    nftw(f->directory, remove_entry, 16, FTW_PHYS | FTW_DEPTH);
    free(f);
    return 0;
}

#define SEND_TEST(function, sentence) \
    { sentence, function, set_up, tear_down, NULL }

int main(void) {
    const struct pt_snappy_interface *snappy;
    struct pt_err err;
    if (!has_http_modules() || pt_snappy_open(&snappy, &err))
        return SKIPPED;
    pt_log_level = PT_LOG_ERROR;
    const struct CMUnitTest tests[] = {
        SEND_TEST(test_all_taken, "what is taken is counted and leaves the disk"),
        SEND_TEST(test_collected, "a request has the samples of five seconds"),
        SEND_TEST(test_tried_again, "what fails for now is tried again until it is taken"),
        SEND_TEST(test_refused, "what is refused for good is counted and holds nothing up"),
        SEND_TEST(test_next_run, "what a receiver that is down did not get is for the next run"),
        SEND_TEST(test_hangs, "a receiver that hangs makes nobody wait"),
        PT_TEST(test_nothing_to_do, "without a receiver there is nothing"),
        SEND_TEST(test_steady, "a steady sample allocates nothing but its request"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
