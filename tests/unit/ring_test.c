/* Rings of journals: their bound, what is kept, what a killed writer leaves; causes of death. */
#include "tree_fixture.h"

#include "record/blackbox.h"
#include "analyze/death.h"
#include "store/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#define SECOND INT64_C(1000000000)
#define BOUND  65536

#define NOISE_COLUMNS(X, t)                       \
    X(t, key, "nKey", KEY, I64, NONE, 0, "Which") \
    X(t, value, "nValue", GAUGE, I64, COUNT, 0, "A random word")
PT_TABLE(noise, PT_TABLE_FILE("noise", NULL), "Noise", NOISE_COLUMNS, "a test");

#define MARK_COLUMNS(X, t) X(t, text, "mText", INFO, STRING, NONE, 0, "What was marked")
PT_TABLE(mark, PT_TABLE_FILE("marks", NULL), "Marks", MARK_COLUMNS, "a test");

static const struct pt_table *const tables[] = { &noise_table, &mark_table };
static const struct pt_schema schema = { tables, PT_COUNT(tables) };
static const uint8_t uuid[16] = { 9, 8, 7 };

static uint64_t disk_use(const char *path) {
    uint64_t bytes = 0;
    char segment[PATH_MAX];
    struct stat st;
    for (uint64_t number = 0; pt_ring_next_segment(path, &number);) {
        pt_ring_segment_path(path, number, segment);
        assert_int_equal(stat(segment, &st), 0);
        bytes += (uint64_t)st.st_size;
    }
    return bytes;
}

/* Sample n is at n seconds. */
static void fill(struct pt_sample *s, int n) {
    pt_sample_clear(s);
    s->mono_ns = n * SECOND;
    s->wall_ns = (INT64_C(1700000000) + n) * SECOND;
    for (int i = 0; i < 8; i++) {
        pt_batch_add_row(&s->batches[0]);
        pt_set_i64(&s->batches[0], noise_key, i);
        pt_set_i64(&s->batches[0], noise_value, (n * 8 + i) * INT64_C(2654435761) % 1000003);
        pt_set_time(&s->batches[0], 0, s->mono_ns);
    }
}

static void write_samples(struct pt_ring *r, int from, int to) {
    struct pt_sample s;
    pt_sample_init(&s, &schema);
    for (int n = from; n < to; n++) {
        fill(&s, n);
        assert_int_equal(pt_ring_write(r, &s), 0);
        assert_true(disk_use(r->path) <= BOUND + BOUND / pt_ring_recording.segments);
    }
    pt_sample_release(&s);
}

static void create(struct pt_ring *r, const char *name) {
    struct pt_err err = { "" };
    if (pt_ring_create(r, tree_path(&tree, name), BOUND, uuid, &schema, &err))
        fail_msg("%s", err.text);
    assert_int_equal(pt_ring_note(r, PT_STR("static"), PT_STR("{}")), 0);
}

/* Reads all; the samples are those from *first to *last, one after the other. */
static void check_read(const char *path, int *first, int *last, bool is_complete) {
    struct pt_journal_reader reader;
    struct pt_sample s;
    struct pt_err err = { "" };
    if (pt_journal_open(&reader, path, &err))
        fail_msg("%s", err.text);
    pt_sample_init(&s, &reader.schema);
    *first = -1;
    int before = -1;
    while (pt_journal_next(&reader, &s) > 0) {
        if (s.batches[0].row_count == 0)
            continue;
        int n = (int)(s.mono_ns / SECOND);
        if (*first < 0)
            *first = n;
        else
            assert_int_equal(n, before + 1);
        assert_int_equal(s.batches[0].row_count, 8);
        assert_int_equal(pt_get_i64(&s.batches[0], 7, noise_value),
                         (n * 8 + 7) * INT64_C(2654435761) % 1000003);
        before = n;
    }
    *last = before;
    assert_int_equal(reader.is_complete, is_complete);
    assert_int_equal(reader.skipped_bytes, 0);
    assert_string_equal(pt_journal_note_find(&reader, "static")->text, "{}");
    pt_sample_release(&s);
    pt_journal_reader_close(&reader);
}

static void a_ring_stays_within_its_bound(void **state) {
    (void)state;
    struct pt_ring r;
    int first, last;
    create(&r, "x.ring");
    write_samples(&r, 1, 4000);
    assert_true(r.removed_count > 10);
    assert_true(disk_use(r.path) > BOUND / 2);
    assert_int_equal(pt_ring_close(&r), 0);
    check_read(r.path, &first, &last, true);
    assert_true(first > 1);
    assert_int_equal(last, 3999);
}

/* A writer that is gone closes nothing. */
static void a_killed_writer_leaves_a_readable_ring(void **state) {
    (void)state;
    struct pt_ring r;
    int first, last;
    create(&r, "x.ring");
    write_samples(&r, 1, 2000);
    check_read(r.path, &first, &last, false);
    assert_int_equal(last, 1999);
    pt_ring_close(&r);
}

static void a_reader_follows_a_writer_from_segment_to_segment(void **state) {
    (void)state;
    struct pt_ring r;
    struct pt_journal_reader reader;
    struct pt_sample s;
    struct pt_err err = { "" };
    create(&r, "x.ring");
    write_samples(&r, 1, 2);
    assert_int_equal(pt_journal_open(&reader, r.path, &err), 0);
    pt_sample_init(&s, &reader.schema);
    for (int n = 1; n < 2000; n++) {
        assert_int_equal(pt_journal_next(&reader, &s), 1);
        assert_int_equal(s.mono_ns, n * SECOND);
        assert_int_equal(pt_journal_next(&reader, &s), 0);
        write_samples(&r, n + 1, n + 2);
    }
    assert_true(r.number > 10);
    pt_sample_release(&s);
    pt_journal_reader_close(&reader);
    pt_ring_close(&r);
}

/* Copies the first `bytes` of a segment to the segment with another number; -1: all of them. */
static void copy_segment(const char *ring, uint64_t from, uint64_t to, ssize_t bytes) {
    char path[PATH_MAX], text[BOUND];
    pt_ring_segment_path(ring, from, path);
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, text, sizeof text);
    assert_true(n > 0 && n > bytes);
    close(fd);
    pt_ring_segment_path(ring, to, path);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    n = bytes < 0 ? n : bytes;
    assert_int_equal(write(fd, text, (size_t)n), n);
    close(fd);
}

/* The header of a segment is there before its schema, and both before its samples. */
static void a_segment_that_has_only_begun_is_waited_for(void **state) {
    (void)state;
    struct pt_ring r;
    struct pt_journal_reader reader;
    struct pt_sample s;
    struct pt_err err = { "" };
    create(&r, "x.ring");
    write_samples(&r, 1, 3);
    uint64_t number = r.number;
    char *path = pt_strdup(r.path);
    assert_int_equal(pt_ring_close(&r), 0);
    assert_int_equal(pt_journal_open(&reader, path, &err), 0);
    pt_sample_init(&s, &reader.schema);
    for (int n = 1; n < 3; n++) {
        assert_int_equal(pt_journal_next(&reader, &s), 1);
        assert_int_equal(s.mono_ns, n * SECOND);
    }
    assert_int_equal(pt_journal_next(&reader, &s), 0);
    assert_true(reader.is_complete);
    static const ssize_t sizes[] = { 0, 10, 32, 40 };
    for (size_t i = 0; i < PT_COUNT(sizes); i++) {
        copy_segment(path, number, number + 1, sizes[i]);
        assert_int_equal(pt_journal_next(&reader, &s), 0);
        assert_int_equal(reader.segment, number);
        assert_true(reader.is_complete);
    }
    copy_segment(path, number, number + 1, -1); /* now it is whole */
    for (int n = 1; n < 3; n++) {
        assert_int_equal(pt_journal_next(&reader, &s), 1);
        assert_int_equal(s.mono_ns, n * SECOND);
        assert_int_equal(reader.segment, number + 1);
    }
    assert_int_equal(pt_journal_next(&reader, &s), 0);
    assert_int_equal(reader.skipped_bytes + reader.tail_bytes, 0);
    pt_sample_release(&s);
    pt_journal_reader_close(&reader);
    pt_free(path);
}

static void overwrite(const char *ring, uint64_t number, size_t bytes) {
    static const char zeros[BOUND];
    char path[PATH_MAX];
    pt_ring_segment_path(ring, number, path);
    int fd = open(path, O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, zeros, bytes, 0), bytes);
    close(fd);
}

static size_t size_of(const char *ring, uint64_t number) {
    char path[PATH_MAX];
    struct stat st;
    pt_ring_segment_path(ring, number, path);
    assert_int_equal(stat(path, &st), 0);
    return (size_t)st.st_size;
}

/* Number of samples; `missing`: how many in the middle are not there. */
static int count_samples(const char *path, int *missing) {
    struct pt_journal_reader reader;
    struct pt_sample s;
    struct pt_err err = { "" };
    int count = 0, last = 0;
    if (pt_journal_open(&reader, path, &err))
        fail_msg("%s", err.text);
    pt_sample_init(&s, &reader.schema);
    *missing = 0;
    for (; pt_journal_next(&reader, &s) > 0; count++) {
        int n = (int)(s.mono_ns / SECOND);
        assert_true(n > last);
        *missing += last ? n - last - 1 : 0;
        last = n;
    }
    pt_sample_release(&s);
    pt_journal_reader_close(&reader);
    return count;
}

static void a_damaged_segment_costs_only_itself(void **state) {
    (void)state;
    struct pt_ring r;
    int missing;
    create(&r, "d.ring");
    write_samples(&r, 1, 1500);
    assert_int_equal(pt_ring_close(&r), 0);
    uint64_t first = 0;
    assert_true(pt_ring_next_segment(r.path, &first));
    int all = count_samples(r.path, &missing);
    assert_int_equal(missing, 0);
    overwrite(r.path, first, 20);      /* the header */
    overwrite(r.path, first + 1, 100); /* header and schema */
    assert_int_equal(count_samples(r.path, &missing), all);
    assert_int_equal(missing, 0);
    overwrite(r.path, first + 1, size_of(r.path, first + 1));
    int left = count_samples(r.path, &missing);
    assert_true(left < all && missing > 0);
    assert_int_equal(left + missing, all);
}

static void fill_mark(struct pt_sample *s, int n, const char *text) {
    pt_sample_clear(s);
    s->mono_ns = n * SECOND;
    s->wall_ns = (INT64_C(1700000000) + n) * SECOND;
    pt_batch_add_row(&s->batches[1]);
    pt_set_str(&s->batches[1], mark_text, pt_str_from(text));
}

static void what_is_kept_outlives_the_ring(void **state) {
    (void)state;
    struct pt_ring r;
    struct pt_sample mark;
    struct pt_err err = { "" };
    int first, last;
    create(&r, "x.ring");
    write_samples(&r, 1, 1000);
    pt_sample_init(&mark, &schema);
    fill_mark(&mark, 1000, "why");
    char *kept = pt_strdup(tree_path(&tree, "kept.ring"));
    assert_int_equal(pt_ring_keep(&r, 900 * SECOND, kept, &mark, PT_STR(PT_CAUSE_NOTE),
                                  PT_STR("{\"kind\": \"alert\", \"text\": \"hot\"}"), &err),
                     0);
    write_samples(&r, 1000, 4000);
    assert_int_equal(pt_ring_close(&r), 0);
    check_read(r.path, &first, &last, true);
    assert_true(first > 1000);
    check_read(kept, &first, &last, true);
    assert_true(first <= 900 && first > 1);
    assert_int_equal(last, 999);

    struct pt_journal_reader reader;
    struct pt_cause cause;
    assert_int_equal(pt_journal_open(&reader, kept, &err), 0);
    while (pt_journal_next(&reader, (pt_sample_release(&mark),
                                     pt_sample_init(&mark, &reader.schema), &mark)) > 0)
        continue;
    pt_cause_read(&cause, &reader);
    assert_int_equal(cause.kind, PT_CAUSE_ALERT);
    assert_string_equal(cause.text, "hot");
    pt_sample_release(&mark);
    pt_journal_reader_close(&reader);
    pt_free(kept);
}

/* /dev/shm is never the file system of /tmp: there are no links from one to the other. */
static void what_is_kept_elsewhere_is_copied(void **state) {
    (void)state;
    struct pt_ring r;
    struct pt_sample mark;
    struct pt_err err = { "" };
    struct stat st;
    int first, last;
    char kept[64], segment[PATH_MAX];
    snprintf(kept, sizeof kept, "/dev/shm/pitot-ring-test-%d", (int)getpid());
    create(&r, "x.ring");
    write_samples(&r, 1, 1000);
    pt_sample_init(&mark, &schema);
    fill_mark(&mark, 1000, "why");
    mode_t mask = umask(022);
    assert_int_equal(pt_ring_keep(&r, 900 * SECOND, kept, &mark, PT_STR("k"), PT_STR("{}"), &err),
                     0);
    umask(mask);
    write_samples(&r, 1000, 1100);
    check_read(kept, &first, &last, true);
    assert_true(first <= 900 && first > 1);
    assert_int_equal(last, 999);
    uint64_t number = 0, same = 0;
    while (pt_ring_next_segment(kept, &number)) {
        struct stat copied;
        pt_ring_segment_path(kept, number, segment);
        assert_int_equal(stat(segment, &copied), 0);
        assert_int_equal(copied.st_mode & 0777, 0644);
        pt_ring_segment_path(r.path, number, segment);
        same += stat(segment, &st) == 0 && st.st_size == copied.st_size;
    }
    assert_true(same > 0);
    pt_ring_remove(kept);
    assert_int_equal(access(kept, F_OK), -1);
    pt_sample_release(&mark);
    assert_int_equal(pt_ring_close(&r), 0);
}

/* A failure removes what was begun, and recording goes on. */
static void a_ring_that_cannot_be_kept_goes_on(void **state) {
    (void)state;
    struct pt_ring r;
    struct pt_sample mark;
    struct pt_err err = { "" };
    char segment[PATH_MAX], words[PATH_MAX + 128];
    int first, last;
    create(&r, "x.ring");
    write_samples(&r, 1, 1000);
    pt_sample_init(&mark, &schema);
    fill_mark(&mark, 1000, "why");
    assert_int_equal(pt_ring_keep(&r, 0, r.path, &mark, PT_STR("k"), PT_STR("{}"), &err), -EEXIST);
    snprintf(words, sizeof words, "cannot create %s: %s", r.path, strerror(EEXIST));
    assert_string_equal(err.text, words);
    char *kept = pt_strdup(tree_path(&tree, "kept.ring"));
    pt_ring_segment_path(r.path, r.ended.at[r.ended.count / 2].number, segment);
    assert_int_equal(unlink(segment), 0);
    assert_int_equal(pt_ring_keep(&r, 0, kept, &mark, PT_STR("k"), PT_STR("{}"), &err), -ENOENT);
    snprintf(words, sizeof words, "cannot keep the recording in %s: %s", kept, strerror(ENOENT));
    assert_string_equal(err.text, words);
    assert_int_equal(access(kept, F_OK), -1);
    write_samples(&r, 1000, 4000);
    assert_int_equal(pt_ring_close(&r), 0);
    check_read(r.path, &first, &last, true);
    assert_int_equal(last, 3999);
    pt_sample_release(&mark);
    pt_free(kept);
}

static void a_ring_without_a_bound_is_one_journal(void **state) {
    (void)state;
    struct pt_ring r;
    struct pt_err err = { "" };
    struct pt_sample s;
    assert_int_equal(pt_ring_create(&r, tree_path(&tree, "x.pitot"), 0, uuid, &schema, &err), 0);
    pt_sample_init(&s, &schema);
    for (int n = 1; n < 3000; n++) {
        fill(&s, n);
        assert_int_equal(pt_ring_write(&r, &s), 0);
    }
    pt_sample_release(&s);
    assert_int_equal(r.number, 0);
    assert_int_equal(pt_ring_close(&r), 0);
    struct stat st;
    assert_int_equal(stat(r.path, &st), 0);
    assert_true(S_ISREG(st.st_mode));
}

static void the_minutes_before_are_kept_once(void **state) {
    (void)state;
    struct pt_ring r;
    struct pt_sample mark;
    create(&r, "x.ring");
    struct pt_blackbox b = { .o = { BOUND, 60 * SECOND },
                             .directory = tree_path(&tree, ""),
                             .ring = &r };
    const struct pt_cause alert = { PT_CAUSE_ALERT, "alert hot fired" };
    char *directory = pt_strdup(b.directory);
    b.directory = directory;
    write_samples(&r, 1, 100);
    pt_sample_init(&mark, &schema);
    for (int n = 100; n < 200; n += 10) {
        fill_mark(&mark, n, alert.text);
        assert_int_equal(pt_blackbox_keep(&b, &alert, &mark, false), 0);
        write_samples(&r, n, n + 10);
    }
    assert_int_equal(b.kept_count, 2); /* at 100 and 160 */
    assert_int_equal(pt_blackbox_keep(&b, &alert, &mark, true), 0);
    assert_int_equal(b.kept_count, 3);
    pt_sample_release(&mark);
    pt_ring_close(&r);
    pt_free(directory);
}

/* Status as waitpid(2) gives it. */
static int exited(int code) {
    return code << 8;
}

static const struct pt_death_watch quiet = {
    { 3, 3, true }, { 5, 5, true }, { 10, 10, true }, 64 << 20
};

static void check_death(struct pt_death_watch w, int status, enum pt_cause_kind kind,
                        const char *words) {
    struct pt_cause cause;
    pt_death_find(&w, status, &cause);
    assert_int_equal(cause.kind, kind);
    if (!strstr(cause.text, words))
        fail_msg("'%s' does not say '%s'", cause.text, words);
}

static void causes_of_death_are_told_apart(void **state) {
    (void)state;
    check_death(quiet, exited(0), PT_CAUSE_NONE, "");
    check_death(quiet, exited(3), PT_CAUSE_EXIT, "exited with 3");
    check_death(quiet, SIGSEGV, PT_CAUSE_SIGNAL, "signal 11");
    check_death(quiet, SIGKILL, PT_CAUSE_SIGNAL, "signal 9");
    struct pt_death_watch w = quiet;
    w.own_kills.last = 4;
    w.machine_kills.last = 11;
    check_death(w, SIGKILL, PT_CAUSE_OOM_KILL, "machine was out of memory");
    check_death(w, SIGTERM, PT_CAUSE_SIGNAL, "signal 15");
    check_death(w, exited(1), PT_CAUSE_EXIT, "after the OOM killer ended 1 of its processes");
    w.limit_hits.last = 47;
    check_death(w, SIGKILL, PT_CAUSE_MEMORY_LIMIT, "limit of 64 MiB (reached 42 times)");
    w = quiet;
    w.machine_kills.last = 11;
    check_death(w, SIGKILL, PT_CAUSE_OOM_KILL, "most likely");
    w.limit_hits.last = 47; /* it was at its limit, but the kill was not counted there */
    check_death(w, SIGKILL, PT_CAUSE_OOM_KILL, "most likely");
    w.own_kills.is_known = false;
    check_death(w, SIGKILL, PT_CAUSE_OOM_KILL, "most likely");
    w = quiet;
    w.limit_hits.last = 47;
    check_death(w, SIGKILL, PT_CAUSE_SIGNAL, "signal 9");
    check_death((struct pt_death_watch){ 0 }, SIGKILL, PT_CAUSE_SIGNAL, "signal 9");
    w = quiet;
    w.limit_hits.last = 6;
    check_death(w, exited(1), PT_CAUSE_EXIT, "reached the limit 1 times");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TREE(a_ring_stays_within_its_bound, "a ring stays within its bound and a segment"),
        WITH_TREE(a_killed_writer_leaves_a_readable_ring, "a killed writer leaves a readable ring"),
        WITH_TREE(a_reader_follows_a_writer_from_segment_to_segment,
                  "a reader follows a writer from segment to segment"),
        WITH_TREE(a_segment_that_has_only_begun_is_waited_for,
                  "a segment that has only begun is waited for"),
        WITH_TREE(a_damaged_segment_costs_only_itself,
                  "C324: a damaged segment of a ring costs only itself"),
        WITH_TREE(what_is_kept_outlives_the_ring, "what is kept outlives the ring, with its cause"),
        WITH_TREE(what_is_kept_elsewhere_is_copied,
                  "what is kept in another file system is copied"),
        WITH_TREE(a_ring_that_cannot_be_kept_goes_on,
                  "a ring that cannot be kept says why and goes on"),
        WITH_TREE(a_ring_without_a_bound_is_one_journal, "a ring without a bound is one journal"),
        WITH_TREE(the_minutes_before_are_kept_once, "the same minutes are kept once"),
        PT_TEST(causes_of_death_are_told_apart, "causes of death are told apart"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
