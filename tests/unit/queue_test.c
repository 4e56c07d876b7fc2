/* Samples on their way from one thread to another. */
#include "test.h"

#include "sampler/sample_queue.h"

#include <poll.h>
#include <pthread.h>

#define NUMBER_COLUMNS(X, t) X(t, value, "value", GAUGE, I64, NONE, 0, "A number")
PT_TABLE(number, PT_TABLE_MAIN("number"), "Numbers", NUMBER_COLUMNS, "nowhere");

static const struct pt_table *const tables[] = { &number_table };
static const struct pt_schema schema = { tables, 1 };

static int open_queue(void **state) {
    struct pt_sample_queue *q = pt_calloc(1, sizeof *q);
    *state = q;
    return pt_sample_queue_init(q, &schema);
}

static int close_queue(void **state) {
    pt_sample_queue_release(*state);
    pt_free(*state);
    return 0;
}

/* The row is what a collector would leave behind. */
static bool put_number(struct pt_sample_queue *q, int64_t number) {
    struct pt_sample *s = pt_sample_queue_take_free(q);
    if (!s)
        return false;
    assert_int_equal(s->batches[0].row_count, 0);
    pt_batch_add_row(&s->batches[0]);
    pt_set_i64(&s->batches[0], number_value, number);
    s->mono_ns = number;
    pt_sample_queue_put(q, s, number % 10 != 0);
    return true;
}

static bool take_number(struct pt_sample_queue *q, int64_t *number) {
    struct pt_sample *s = pt_sample_queue_take(q);
    if (!s)
        return false;
    *number = pt_get_i64(&s->batches[0], 0, number_value);
    assert_int_equal(s->mono_ns, *number);
    pt_sample_queue_give_back(q, s);
    return true;
}

static bool is_readable(const struct pt_sample_queue *q) {
    struct pollfd p = { .fd = q->event_fd, .events = POLLIN };
    return poll(&p, 1, 0) == 1;
}

static void samples_leave_in_the_order_they_came(void **state) {
    struct pt_sample_queue *q = *state;
    int64_t number;
    for (int64_t i = 0, next = 0; i < 500; i += 5) { /* the ring turns several times */
        for (int k = 0; k < 5; k++)
            assert_true(put_number(q, i + k));
        for (int k = 0; k < 5; k++, next++) {
            assert_true(take_number(q, &number));
            assert_int_equal(number, next);
        }
    }
    assert_false(take_number(q, &number));
}

static void a_full_queue_refuses_instead_of_waiting(void **state) {
    struct pt_sample_queue *q = *state;
    int64_t number;
    for (int i = 0; i < PT_SAMPLE_QUEUE_LENGTH; i++)
        assert_true(put_number(q, i));
    assert_false(put_number(q, 1000));
    assert_true(take_number(q, &number));
    assert_int_equal(number, 0);
    assert_true(put_number(q, 64));
    for (int64_t i = 1; i <= PT_SAMPLE_QUEUE_LENGTH; i++) {
        assert_true(take_number(q, &number));
        assert_int_equal(number, i);
    }
}

static void the_sample_last_given_back_is_used_first(void **state) {
    struct pt_sample_queue *q = *state;
    struct pt_sample *a = pt_sample_queue_take_free(q), *b = pt_sample_queue_take_free(q);
    assert_true(a != b);
    pt_sample_queue_give_back(q, a);
    pt_sample_queue_give_back(q, b);
    assert_ptr_equal(pt_sample_queue_take_free(q), b);
    assert_ptr_equal(pt_sample_queue_take_free(q), a);
}

static void the_event_is_readable_while_samples_wait(void **state) {
    struct pt_sample_queue *q = *state;
    int64_t number;
    assert_false(is_readable(q));
    put_number(q, 1);
    put_number(q, 2);
    assert_true(is_readable(q));
    take_number(q, &number);
    assert_true(is_readable(q));
    take_number(q, &number);
    assert_false(is_readable(q));
    assert_false(take_number(q, &number));
    put_number(q, 3);
    assert_true(is_readable(q));
}

/* Numbers that end in 0 do not wake. */
static void a_sample_that_wakes_nobody_is_found_with_the_next(void **state) {
    struct pt_sample_queue *q = *state;
    int64_t number;
    put_number(q, 10);
    put_number(q, 20);
    assert_false(is_readable(q));
    put_number(q, 21);
    assert_true(is_readable(q));
    for (int i = 0; i < 3; i++)
        assert_true(take_number(q, &number));
    assert_int_equal(number, 21);
    assert_false(is_readable(q));
    for (int i = 0; i <= PT_SAMPLE_QUEUE_LENGTH / 2; i++)
        put_number(q, 10); /* half full: now it matters */
    assert_true(is_readable(q));
}

#define HAMMERED 200000

struct producer {
    struct pt_sample_queue *queue;
    int64_t put_count, dropped_count;
};

static void *produce(void *user) {
    struct producer *p = user;
    for (int64_t i = 1; i <= HAMMERED; i++) {
        if (put_number(p->queue, i))
            p->put_count++;
        else
            p->dropped_count++;
    }
    while (!put_number(p->queue, HAMMERED + 1)) /* the last one must arrive */
        sched_yield();
    return NULL;
}

static void two_threads_lose_and_reorder_nothing(void **state) {
    struct pt_sample_queue *q = *state;
    struct producer p = { .queue = q };
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, produce, &p), 0);
    int64_t number = 0, last = 0, taken_count = 0;
    while (last <= HAMMERED) {
        struct pollfd event = { .fd = q->event_fd, .events = POLLIN };
        poll(&event, 1, -1); /* a lost wake-up would hang here */
        while (take_number(q, &number)) {
            assert_true(number > last);
            last = number;
            taken_count++;
        }
    }
    pthread_join(thread, NULL);
    assert_int_equal(taken_count, p.put_count + 1);
    assert_int_equal(p.put_count + p.dropped_count, HAMMERED);
    assert_int_equal(q->free_count, PT_SAMPLE_QUEUE_LENGTH);
}

#define QUEUE_TEST(function, sentence) \
    { sentence, function, open_queue, close_queue, NULL }

int main(void) {
    const struct CMUnitTest tests[] = {
        QUEUE_TEST(samples_leave_in_the_order_they_came, "samples leave in the order they came"),
        QUEUE_TEST(a_full_queue_refuses_instead_of_waiting,
                   "a full queue refuses instead of waiting"),
        QUEUE_TEST(the_sample_last_given_back_is_used_first,
                   "the sample last given back is used first"),
        QUEUE_TEST(the_event_is_readable_while_samples_wait,
                   "the event is readable while samples wait"),
        QUEUE_TEST(a_sample_that_wakes_nobody_is_found_with_the_next,
                   "a sample that wakes nobody is found with the next one"),
        QUEUE_TEST(two_threads_lose_and_reorder_nothing, "two threads lose and reorder nothing"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
