/* History in segments: bounded, found again by time, whole after a writer was killed. */
#include "tree_fixture.h"

#include "base/clock.h"
#include "store/segments.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#define THING_COLUMNS(X, t)                           \
    X(t, id, "tId", KEY, STRING, NONE, 0, "which")    \
    X(t, count, "tCount", COUNTER, I64, COUNT, 0, "") \
    X(t, noise, "tNoise", GAUGE, I64, COUNT, 0, "")
PT_TABLE(thing, PT_TABLE_FILE("things", NULL), "things", THING_COLUMNS, "file");
static const struct pt_table *const tables[] = { &thing_table };
static const struct pt_schema schema = { tables, 1 };

static uint64_t noise(int64_t second) {
    uint64_t x = (uint64_t)second * UINT64_C(0x9e3779b97f4a7c15);
    return (x ^ x >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
}

/* The sample of a second; its rows say which it is. */
static void fill(struct pt_sample *s, int64_t second, int rows) {
    pt_sample_clear(s);
    s->wall_ns = second * PT_NS_PER_SECOND;
    s->mono_ns = second * PT_NS_PER_SECOND;
    for (int i = 0; i < rows; i++) {
        char id[16];
        snprintf(id, sizeof id, "thing %d", i);
        pt_batch_add_row(&s->batches[0]);
        pt_set_time(&s->batches[0], 0, s->mono_ns);
        pt_set_str(&s->batches[0], thing_id, pt_str_from(id));
        pt_set_i64(&s->batches[0], thing_count, second);
        pt_set_i64(&s->batches[0], thing_noise, (int64_t)noise(second * 100 + i));
    }
}

static void write_seconds(struct pt_segments *segments, int64_t first, int64_t count, int rows) {
    struct pt_sample s;
    pt_sample_init(&s, &schema);
    for (int64_t i = 0; i < count; i++) {
        fill(&s, first + i, rows);
        assert_int_equal(pt_segments_write(segments, &s), 0);
    }
    pt_sample_release(&s);
}

static void open_segments(struct pt_segments *segments, uint64_t bytes, int64_t age_ns) {
    struct pt_segments_options o = { tree.root, bytes, age_ns };
    struct pt_err err = { "" };
    if (pt_segments_open(segments, &o, &schema, &err))
        fail_msg("%s", err.text);
}

/* What there is on disk. */
struct extent {
    size_t count;
    uint64_t bytes, start_ms;
};

static struct extent extent(void) {
    struct pt_ring_list list;
    assert_int_equal(pt_ring_list(&pt_segments_kind, tree.root, &list), 0);
    struct extent found = { list.count, 0, list.count > 0 ? list.at[0].number : 0 };
    for (size_t i = 0; i < list.count; i++)
        found.bytes += list.at[i].bytes;
    pt_free(list.at);
    return found;
}

struct found {
    int64_t first, last, count;
    bool is_ordered, stops;
};

static bool find(void *arg, const struct pt_sample *s) {
    struct found *f = arg;
    int64_t second = pt_get_i64(&s->batches[0], 0, thing_count);
    if (f->count++ == 0)
        f->first = second;
    else
        f->is_ordered &= second > f->last;
    f->last = second;
    return !f->stops;
}

static struct found find_all(int64_t from, int64_t to) {
    struct found f = { .is_ordered = true };
    assert_int_equal(
        pt_segments_read(tree.root, from * PT_NS_PER_SECOND, to * PT_NS_PER_SECOND, find, &f), 0);
    return f;
}

static void every_sample_of_a_span_is_found(void **state) {
    (void)state;
    struct pt_segments segments;
    open_segments(&segments, 1 << 20, 0);
    write_seconds(&segments, 1000, 3000, 20);
    assert_true(extent().count > 3);
    int64_t oldest = find_all(0, 5000).first;
    static const int64_t spans[][2] = { { 3990, 3999 }, { 3500, 3500 }, { 3201, 3777 } };
    for (size_t i = 0; i < PT_COUNT(spans); i++) {
        assert_true(spans[i][0] > oldest);
        struct found f = find_all(spans[i][0], spans[i][1]);
        assert_int_equal(f.first, spans[i][0]);
        assert_int_equal(f.last, spans[i][1]);
        assert_int_equal(f.count, spans[i][1] - spans[i][0] + 1);
        assert_true(f.is_ordered);
    }
    assert_int_equal(find_all(0, oldest - 1).count, 0);
    assert_int_equal(find_all(4000, 9000).count, 0);
    struct found one = { .stops = true };
    assert_int_equal(pt_segments_read(tree.root, 0, INT64_MAX, find, &one), 0);
    assert_int_equal(one.count, 1);
    pt_segments_close(&segments);
}

static void size_has_a_bound(void **state) {
    (void)state;
    struct pt_segments segments;
    open_segments(&segments, 1 << 20, 0);
    for (int64_t round = 0; round < 40; round++) {
        write_seconds(&segments, 1000 + round * 500, 500, 20);
        assert_true(extent().bytes <= 1 << 20);
    }
    assert_true(segments.ring.removed_count > 10);
    struct found f = find_all(0, 1000000);
    assert_int_equal(f.last, 1000 + 40 * 500 - 1);
    assert_int_equal(f.count, f.last - f.first + 1); /* what is left has no hole */
    pt_segments_close(&segments);
}

static void age_has_a_bound(void **state) {
    (void)state;
    struct pt_segments segments;
    open_segments(&segments, 64 << 20, 800 * PT_NS_PER_SECOND);
    write_seconds(&segments, 1000, 5000, 1);
    int64_t kept = 6000 - find_all(0, 10000).first;
    assert_in_range(kept, 800, 1000);
    pt_segments_close(&segments);
}

static void a_restart_goes_on_with_what_was_there(void **state) {
    (void)state;
    struct pt_segments segments;
    for (int round = 0; round < 5; round++) {
        open_segments(&segments, 8 << 20, 0);
        write_seconds(&segments, 1000 + round * 10, 10, 2);
        pt_segments_close(&segments);
    }
    struct found f = find_all(0, 2000);
    assert_int_equal(f.count, 50);
    assert_int_equal(f.first, 1000);
    assert_true(f.is_ordered);
    assert_int_equal(extent().count, 5);
    assert_int_equal(extent().start_ms, 1000 * 1000);
}

static void segments_that_begin_at_one_instant_are_told_apart(void **state) {
    (void)state;
    struct pt_segments segments;
    for (int round = 0; round < 3; round++) {
        open_segments(&segments, 8 << 20, 0);
        write_seconds(&segments, 1000, 1, 1);
        pt_segments_close(&segments);
    }
    assert_int_equal(find_all(0, 2000).count, 3);
}

/* The child says after how many samples it is to be killed; then it goes on writing. */
static void a_writer_that_is_killed_loses_nothing_it_wrote(void **state) {
    (void)state;
    int pipe_fds[2];
    assert_int_equal(pipe(pipe_fds), 0);
    pid_t child = fork();
    if (child == 0) {
        struct pt_segments segments;
        struct pt_segments_options o = { tree.root, 1 << 20, 0 };
        struct pt_sample s;
        pt_sample_init(&s, &schema);
        if (pt_segments_open(&segments, &o, &schema, NULL))
            _exit(1);
        for (int64_t second = 1000;; second++) {
            fill(&s, second, 3);
            if (pt_segments_write(&segments, &s) || write(pipe_fds[1], &second, sizeof second) < 0)
                _exit(1);
        }
    }
    int64_t written = 0;
    while (written < 2500)
        assert_int_equal(read(pipe_fds[0], &written, sizeof written), sizeof written);
    kill(child, SIGKILL);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    close(pipe_fds[1]);
    while (read(pipe_fds[0], &written, sizeof written) == sizeof written)
        continue; /* all that it said */
    close(pipe_fds[0]);

    struct found f = find_all(0, 1000000);
    assert_int_equal(f.first, 1000);
    assert_true(f.last >= written);
    assert_int_equal(f.count, f.last - f.first + 1);
    struct pt_segments segments;
    open_segments(&segments, 1 << 20, 0); /* its lock went with it */
    write_seconds(&segments, f.last + 1, 1, 3);
    assert_int_equal(find_all(0, 1000000).count, f.count + 1);
    pt_segments_close(&segments);
}

static void there_is_one_writer(void **state) {
    (void)state;
    struct pt_segments first, second;
    struct pt_segments_options o = { tree.root, 1 << 20, 0 };
    struct pt_err err;
    open_segments(&first, 1 << 20, 0);
    assert_int_equal(pt_segments_open(&second, &o, &schema, &err), -EBUSY);
    assert_non_null(strstr(err.text, "another program is writing the history"));
    pt_segments_close(&first);
    open_segments(&second, 1 << 20, 0);
    pt_segments_close(&second);
}

static void files_of_others_are_left_alone(void **state) {
    (void)state;
    static const char *const names[] = { "history-.pitot", "history-12x.pitot", "run.pitot",
                                         "history-12.pitot.bak" };
    struct pt_segments segments;
    open_segments(&segments, 1 << 20, PT_NS_PER_SECOND);
    for (size_t i = 0; i < PT_COUNT(names); i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", tree.root, names[i]);
        FILE *f = fopen(path, "w");
        assert_non_null(f);
        fclose(f);
    }
    write_seconds(&segments, 1000, 100, 20);
    for (size_t i = 0; i < PT_COUNT(names); i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", tree.root, names[i]);
        assert_int_equal(access(path, F_OK), 0);
    }
    pt_segments_close(&segments);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TREE(every_sample_of_a_span_is_found,
                  "every sample of a span of time is found, no other"),
        WITH_TREE(size_has_a_bound, "the size has a bound, and the newest samples are kept"),
        WITH_TREE(age_has_a_bound, "the age has a bound"),
        WITH_TREE(a_restart_goes_on_with_what_was_there, "a restart goes on with what was there"),
        WITH_TREE(segments_that_begin_at_one_instant_are_told_apart,
                  "segments that begin at one instant are told apart"),
        WITH_TREE(a_writer_that_is_killed_loses_nothing_it_wrote,
                  "a writer that is killed loses nothing it wrote"),
        WITH_TREE(there_is_one_writer, "there is one writer at a time"),
        WITH_TREE(files_of_others_are_left_alone, "files of others are left alone"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
