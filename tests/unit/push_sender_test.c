/* The thread that sends: how long it waits, what it counts, what it leaves behind. Its protocol is
 * scripted; nobody listens where it posts to. */
#include "test.h"

#include "base/clock.h"
#include "base/log.h"
#include "http_modules.h"
#include "push/sender.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <unistd.h>

#define CALLS_MAX 16

/* One entry per request that is sent. */
struct script {
    struct pt_push_sender *sender;
    struct pt_push_judgement verdicts[CALLS_MAX];
    int64_t set_wait_ns[CALLS_MAX]; /* the wait that the sender is given; 0: leave it */
    int refused;                    /* this call cannot be prepared; 0: all can */
    bool waits_for_end;             /* the first call lasts until the sender is being closed */

    int calls;
    int64_t wait_ns[CALLS_MAX]; /* that the sender had */
    char bodies[CALLS_MAX][16];
};

static const char *url_of(const struct pt_push_settings *settings) {
    return settings->remote_write;
}

static int64_t timeout_of(const struct pt_push_settings *settings) {
    (void)settings;
    return PT_NS_PER_SECOND;
}

static void pack(void *state, struct pt_str request, struct pt_buf *into) {
    (void)state;
    pt_buf_str(into, request);
}

static int prepare(void *state, struct pt_str packed, int64_t time_ns, struct pt_push_post *post) {
    struct script *s = state;
    (void)time_ns;
    assert_true(s->calls < CALLS_MAX);
    for (bool is_closing = !s->waits_for_end || s->calls > 0; !is_closing;) {
        nanosleep(&(struct timespec){ 0, PT_NS_PER_MS }, NULL);
        pthread_mutex_lock(&s->sender->lock);
        is_closing = s->sender->deadline_ns != 0;
        pthread_mutex_unlock(&s->sender->lock);
    }
    s->wait_ns[s->calls] = s->sender->wait_ns;
    pt_str_copy(s->bodies[s->calls], sizeof s->bodies[0], packed);
    if (s->set_wait_ns[s->calls])
        s->sender->wait_ns = s->set_wait_ns[s->calls];
    *post = (struct pt_push_post){ .body = packed, .type = "text/plain" };
    return ++s->calls == s->refused ? -EBADMSG : 0;
}

static struct pt_push_judgement judge(void *state, const struct pt_http_request *answer) {
    const struct script *s = state;
    assert_int_equal(answer->status, 0);
    return s->verdicts[s->calls - 1];
}

static const struct pt_push_protocol scripted = { .name = "scripted",
                                                  .url = url_of,
                                                  .timeout_ns = timeout_of,
                                                  .pack = pack,
                                                  .prepare = prepare,
                                                  .judge = judge };

static char directory[64];
static struct pt_push_settings settings = { .remote_write = (char[]){ "http://127.0.0.1:1/" } };

static int open_sender(struct pt_push_sender *sender, struct script *script, const char *queue,
                       struct pt_err *err) {
    struct pt_push_sender_options options = {
        .protocol = &scripted, .protocol_state = script, .settings = &settings, .directory = queue
    };
    script->sender = sender;
    return pt_push_sender_open(sender, &options, err);
}

static void put(struct pt_push_sender *sender, const char *text, uint32_t points) {
    struct pt_push_request request = { .time_ns = 1,
                                       .point_count = points,
                                       .bytes = pt_str_from(text) };
    pt_push_sender_put(sender, &request);
}

static void close_sender(struct pt_push_sender *sender) {
    pt_push_sender_close(sender, pt_mono_ns() + 60 * PT_NS_PER_SECOND);
    assert_null(sender->options.protocol);
}

/* Waits until nothing is left to be sent. */
static void wait_until_sent(struct pt_push_sender *sender, uint64_t points,
                            struct pt_push_counts *counts) {
    struct timespec moment = { 0, PT_NS_PER_MS };
    do {
        nanosleep(&moment, NULL);
        pt_push_sender_counts(sender, counts);
    } while (counts->accepted_points + counts->rejected_points < points ||
             counts->waiting_requests > 0);
}

static void waits_double_up_to_half_a_minute(void **state) {
    static struct pt_push_sender sender;
    struct script script = {
        .verdicts = { { PT_PUSH_RETRY },
                      { PT_PUSH_RETRY },
                      { PT_PUSH_ACCEPTED },
                      { PT_PUSH_RETRY },
                      { PT_PUSH_ACCEPTED } },
        .set_wait_ns = { [3] = 20 * PT_NS_PER_SECOND },
    };
    struct pt_push_counts counts;
    struct pt_err err = { "" };
    struct timespec moment = { 0, PT_NS_PER_MS };
    (void)state;
    assert_int_equal(open_sender(&sender, &script, directory, &err), 0);
    put(&sender, "one", 2);
    wait_until_sent(&sender, 2, &counts);
    assert_int_equal(counts.failed_tries, 2);
    put(&sender, "two", 3);
    do {
        nanosleep(&moment, NULL);
        pt_push_sender_counts(&sender, &counts);
    } while (counts.failed_tries < 3);
    close_sender(&sender); /* which tries once more, at once */
    assert_int_equal(script.calls, 5);
    assert_int_equal(script.wait_ns[0], 0);
    assert_int_equal(script.wait_ns[1], PT_NS_PER_SECOND / 10);
    assert_int_equal(script.wait_ns[2], PT_NS_PER_SECOND / 5);
    assert_int_equal(script.wait_ns[3], 0); /* what was taken ends the waits */
    assert_int_equal(script.wait_ns[4], 30 * PT_NS_PER_SECOND);
    assert_string_equal(script.bodies[2], "one");
    assert_string_equal(script.bodies[4], "two");
}

static void points_are_counted_once(void **state) {
    static struct pt_push_sender sender;
    struct script script = {
        .verdicts = { { PT_PUSH_ACCEPTED },
                      { PT_PUSH_ACCEPTED, .rejected_points = 2, .words = PT_STR("two were old") },
                      { PT_PUSH_ACCEPTED, .rejected_points = 100 },
                      { PT_PUSH_AGAIN },
                      { PT_PUSH_ACCEPTED },
                      { PT_PUSH_REJECTED, .words = PT_STR("no") } },
        .refused = 7,
    };
    struct pt_push_counts counts;
    struct pt_err err = { "" };
    (void)state;
    assert_int_equal(open_sender(&sender, &script, directory, &err), 0);
    for (uint32_t i = 0; i < 6; i++)
        put(&sender, "request", 10);
    wait_until_sent(&sender, 60, &counts);
    assert_int_equal(counts.accepted_requests, 4);
    assert_int_equal(counts.accepted_points, 10 + 8 + 0 + 10);
    assert_int_equal(counts.rejected_points, 2 + 10 + 10 + 10);
    assert_int_equal(counts.failed_tries, 0);
    assert_int_equal(counts.dropped_points, 0);
    assert_int_equal(counts.queue_bytes, 0);
    assert_int_equal(counts.oldest_ns, 0);
    assert_int_equal(counts.last_status, 0);
    close_sender(&sender);
    assert_int_equal(script.calls, 7);
}

static int saved_stderr, log_fd;

static void begin_log(void) {
    char path[96];
    snprintf(path, sizeof path, "%s/log", directory);
    log_fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
    assert_true(log_fd >= 0);
    fflush(stderr);
    saved_stderr = dup(STDERR_FILENO);
    dup2(log_fd, STDERR_FILENO);
}

static void end_log(char *into, size_t size) {
    dup2(saved_stderr, STDERR_FILENO);
    close(saved_stderr);
    ssize_t n = pread(log_fd, into, size - 1, 0);
    into[n > 0 ? n : 0] = 0;
    close(log_fd);
}

static void what_waits_is_told_at_the_start_and_the_end(void **state) {
    static struct pt_push_sender sender;
    struct script script = { 0 };
    struct pt_push_counts counts;
    struct pt_err err = { "" };
    char text[4096], queue[96];
    struct timespec moment = { 0, PT_NS_PER_MS };
    enum pt_log_level before = pt_log_level;
    (void)state;
    for (int i = 0; i < CALLS_MAX; i++)
        script.verdicts[i].verdict = PT_PUSH_RETRY;
    snprintf(queue, sizeof queue, "%s/queue", directory);
    pt_log_level = PT_LOG_INFO;
    begin_log();
    assert_int_equal(open_sender(&sender, &script, queue, &err), 0);
    close_sender(&sender);
    end_log(text, sizeof text);
    assert_string_equal(text, "");

    assert_int_equal(open_sender(&sender, &script, queue, &err), 0);
    begin_log();
    put(&sender, "one", 7);
    do {
        nanosleep(&moment, NULL);
        pt_push_sender_counts(&sender, &counts);
    } while (counts.failed_tries < 1);
    close_sender(&sender);
    end_log(text, sizeof text);
    assert_non_null(strstr(text, "7 points"));
    assert_non_null(strstr(text, queue));

    script = (struct script){ .verdicts = { { PT_PUSH_ACCEPTED } } };
    begin_log();
    assert_int_equal(open_sender(&sender, &script, queue, &err), 0);
    wait_until_sent(&sender, 7, &counts);
    close_sender(&sender);
    end_log(text, sizeof text);
    pt_log_level = before;
    assert_non_null(strstr(text, "1 "));
    assert_non_null(strstr(text, settings.remote_write));
}

/* Of an answer only the first line is shown, and of a long one its start. */
static void what_was_refused_is_told_in_the_receivers_words(void **state) {
    static struct pt_push_sender sender;
    static char long_words[300], cut[201];
    struct pt_push_counts counts;
    struct pt_err err = { "" };
    char text[4096], expected[512];
    (void)state;
    memset(long_words, 'w', sizeof long_words);
    memset(cut, 'w', sizeof cut - 1);
    const struct {
        struct pt_str words;
        const char *shown;
    } cases[] = {
        { PT_STR("out of order"), "out of order" },
        { PT_STR("bad label\nstack trace"), "bad label" },
        { PT_STR("\x1b[2Jcleared"), "" },
        { { long_words, sizeof long_words }, cut },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct script script = { .verdicts = { { PT_PUSH_REJECTED, .words = cases[i].words } } };
        assert_int_equal(open_sender(&sender, &script, directory, &err), 0);
        begin_log();
        put(&sender, "one", 7);
        wait_until_sent(&sender, 7, &counts);
        close_sender(&sender);
        end_log(text, sizeof text);
        snprintf(expected, sizeof expected, "server%s%s\n", cases[i].shown[0] ? ": " : "",
                 cases[i].shown);
        if (!strstr(text, " refused 7 points: ") || !strstr(text, expected))
            fail_msg("%s is not in %s", expected, text);
    }
}

static int count_of(const char *text, const char *word) {
    int count = 0;
    for (; (text = strstr(text, word)); text++)
        count++;
    return count;
}

/* The first time, and whenever a receiver has something to say without refusing anything. */
static void points_that_were_left_out_are_told_once(void **state) {
    static struct pt_push_sender sender;
    struct script script = {
        .verdicts = { { PT_PUSH_ACCEPTED },
                      { PT_PUSH_ACCEPTED, .rejected_points = 2, .words = PT_STR("two were old") },
                      { PT_PUSH_ACCEPTED, .rejected_points = 3, .words = PT_STR("three were old") },
                      { PT_PUSH_ACCEPTED, .words = PT_STR("please upgrade") } },
    };
    struct pt_push_counts counts;
    struct pt_err err = { "" };
    char text[4096];
    (void)state;
    assert_int_equal(open_sender(&sender, &script, directory, &err), 0);
    begin_log();
    for (int i = 0; i < 4; i++)
        put(&sender, "request", 10);
    wait_until_sent(&sender, 40, &counts);
    close_sender(&sender);
    end_log(text, sizeof text);
    assert_int_equal(count_of(text, "accepted a request"), 2);
    assert_non_null(strstr(text, "except for 2 points: two were old\n"));
    assert_non_null(strstr(text, "except for 0 points: please upgrade\n"));
}

static void a_sender_without_a_queue_is_closed(void **state) {
    static struct pt_push_sender sender;
    struct script script = { 0 };
    struct pt_err err = { "" };
    (void)state;
    assert_int_equal(open_sender(&sender, &script, "/proc/pitot", &err), -ENOENT);
    assert_true(err.text[0]);
    assert_null(sender.options.protocol);
    assert_false(sender.has_thread);
}

/* Each is sent before the next is put. */
static void requests_one_by_one_take_the_memory_of_one(void **state) {
    static struct pt_push_sender sender;
    struct script script = { .verdicts = { { PT_PUSH_ACCEPTED },
                                           { PT_PUSH_ACCEPTED },
                                           { PT_PUSH_ACCEPTED },
                                           { PT_PUSH_ACCEPTED },
                                           { PT_PUSH_ACCEPTED } } };
    struct pt_push_counts counts;
    struct pt_err err = { "" };
    (void)state;
    assert_int_equal(open_sender(&sender, &script, directory, &err), 0);
    for (uint32_t i = 1; i <= 5; i++) {
        put(&sender, "request", 1);
        wait_until_sent(&sender, i, &counts);
    }
    assert_true(sender.handover[0].bytes.capacity > 0);
    for (int i = 1; i < PT_PUSH_HANDOVER_MAX; i++)
        assert_int_equal(sender.handover[i].bytes.capacity, 0);
    close_sender(&sender);
}

/* There is no thread that takes them from the list. */
static void a_full_list_refuses_instead_of_waiting(void **state) {
    static struct pt_push_sender sender;
    struct pt_push_counts counts;
    (void)state;
    pthread_mutex_init(&sender.lock, NULL);
    pthread_cond_init(&sender.is_changed, NULL);
    for (int i = 0; i < PT_PUSH_HANDOVER_MAX; i++)
        put(&sender, "x", 3);
    pt_push_sender_counts(&sender, &counts);
    assert_int_equal(counts.dropped_points, 0);
    put(&sender, "x", 3);
    put(&sender, "x", 4);
    pt_push_sender_counts(&sender, &counts);
    assert_int_equal(counts.dropped_points, 7);
    assert_int_equal(sender.handover_count, 64);
    pt_push_sender_close(&sender, 0);
}

/* Sends two requests, of which the first is accepted while the sender is closed. */
static void close_between(struct script *script, int64_t patience_ns) {
    static struct pt_push_sender sender;
    struct pt_err err = { "" };
    script->waits_for_end = true;
    assert_int_equal(open_sender(&sender, script, directory, &err), 0);
    put(&sender, "one", 1);
    put(&sender, "two", 1);
    pt_push_sender_close(&sender, pt_mono_ns() + patience_ns);
}

static void a_receiver_that_fails_at_the_end_is_tried_again(void **state) {
    struct script script = { .verdicts = { { PT_PUSH_ACCEPTED },
                                           { PT_PUSH_RETRY },
                                           { PT_PUSH_RETRY },
                                           { PT_PUSH_ACCEPTED } } };
    (void)state;
    close_between(&script, 60 * PT_NS_PER_SECOND);
    assert_int_equal(script.calls, 4);
    assert_string_equal(script.bodies[3], "two");
}

/* The wait would end after the deadline: the request stays in the queue for the next run. */
static void the_end_does_not_wait_longer_than_it_may(void **state) {
    static struct pt_push_sender sender;
    struct script script = { .verdicts = { { PT_PUSH_ACCEPTED }, { PT_PUSH_RETRY } },
                             .set_wait_ns = { [1] = 20 * PT_NS_PER_SECOND } };
    struct script next = { .verdicts = { { PT_PUSH_ACCEPTED } } };
    struct pt_push_counts counts;
    struct pt_err err = { "" };
    (void)state;
    close_between(&script, 20 * PT_NS_PER_SECOND);
    assert_int_equal(script.calls, 2);
    assert_int_equal(open_sender(&sender, &next, directory, &err), 0);
    wait_until_sent(&sender, 1, &counts);
    close_sender(&sender);
    assert_int_equal(next.calls, 1);
    assert_string_equal(next.bodies[0], "two");
}

static int make_directory(void **state) {
    (void)state;
    snprintf(directory, sizeof directory, "/tmp/push_sender_test.XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place) {
    (void)status;
    (void)type;
    (void)place;
    return remove(path);
}

static int remove_directory(void **state) {
    (void)state;
    return nftw(directory, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

#define SENDER_TEST(function, sentence) \
    { sentence, function, make_directory, remove_directory, NULL }

int main(void) {
    const struct CMUnitTest tests[] = {
        SENDER_TEST(waits_double_up_to_half_a_minute, "waits double, up to half a minute"),
        SENDER_TEST(points_are_counted_once, "points are taken, rejected or counted otherwise"),
        SENDER_TEST(what_waits_is_told_at_the_start_and_the_end,
                    "what waits is reported at the start and at the end, nothing else is"),
        SENDER_TEST(what_was_refused_is_told_in_the_receivers_words,
                    "what was refused is reported with the first line of the answer"),
        SENDER_TEST(points_that_were_left_out_are_told_once,
                    "points that a receiver left out are reported once"),
        SENDER_TEST(a_receiver_that_fails_at_the_end_is_tried_again,
                    "a receiver that fails at the end is tried again"),
        SENDER_TEST(the_end_does_not_wait_longer_than_it_may,
                    "the end does not wait longer than it may; what is left is sent later"),
        SENDER_TEST(a_sender_without_a_queue_is_closed, "a sender without a queue is closed"),
        SENDER_TEST(requests_one_by_one_take_the_memory_of_one,
                    "requests that are sent one by one take the memory of one"),
        SENDER_TEST(a_full_list_refuses_instead_of_waiting,
                    "a full list refuses instead of waiting"),
    };
    if (!has_http_modules())
        return SKIPPED;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
