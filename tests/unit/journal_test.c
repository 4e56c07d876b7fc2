/* The journal: what goes in comes out, and nothing else ever does. */
#include "test.h"
#include "short_io.h"

#include "base/clock.h"
#include "base/crc32c.h"
#include "store/journal.h"
#include "store/journal_delta.h"
#include "store/journal_format.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define HOST_COLUMNS(X, t)                                           \
    X(t, time, "hTime", COUNTER, I64, CENTISECONDS, 0, "a counter")  \
    X(t, used, "hUsed", GAUGE, I64, BYTES, 1, "whole pages, mostly") \
    X(t, sent, "hSent", COUNTER, I64, BYTES, 1, "bytes of any size") \
    X(t, load, "hLoad", GAUGE, F64, RATIO, 2, "two decimals")        \
    X(t, share, "hShare", GAUGE, F64, RATIO, 2, "any double")        \
    X(t, note, "hNote", INFO, STRING, NONE, 0, "text")
PT_TABLE(host, PT_TABLE_MAIN("host"), "host", HOST_COLUMNS, "first", "second", "third");

#define THING_COLUMNS(X, t)                            \
    X(t, id, "tId", KEY, STRING, NONE, 0, "which")     \
    X(t, part, "tPart", KEY, I64, NONE, 0, "of which") \
    X(t, label, "tLabel", INFO, STRING, NONE, 0, "")   \
    X(t, bytes, "tBytes", COUNTER, I64, BYTES, 0, "")  \
    X(t, any, "tAny", GAUGE, I64, COUNT, 1, "")        \
    X(t, ratio, "tRatio", GAUGE, F64, PERCENT, 1, "")
PT_TABLE(thing, PT_TABLE_FILE("things", "things"), "things", THING_COLUMNS, "file", "other");

#define MARK_COLUMNS(X, t) X(t, text, "mText", INFO, STRING, NONE, 0, "what happened")
PT_TABLE(mark, PT_TABLE_FILE("marks", NULL), "marks", MARK_COLUMNS, "none");

#define WIDE_COUNT 130
static struct pt_column wide_columns[WIDE_COUNT];
static char wide_names[WIDE_COUNT][8];
static const char *const wide_sources[] = { "wide" };
static struct pt_table wide_table = { .name = "wide",
                                      .file = "wide",
                                      .help = "more columns than two words have bits",
                                      .columns = wide_columns,
                                      .sources = wide_sources,
                                      .column_count = WIDE_COUNT,
                                      .source_count = 1 };

enum { HOST, THING, MARK, WIDE, TABLE_COUNT };
static const struct pt_table *const tables[] = { &host_table, &thing_table, &mark_table,
                                                 &wide_table };
static const struct pt_schema schema = { tables, TABLE_COUNT };
static const uint8_t uuid[16] = { 0xde, 0xad, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14 };

static char path[64];

static uint64_t random_state;

static uint64_t random_bits(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static uint32_t below(uint32_t limit) {
    return (uint32_t)(random_bits() >> 33) % limit;
}

static bool one_in(uint32_t n) {
    return below(n) == 0;
}

static int64_t any_integer(void) {
    static const int64_t odd[] = { INT64_MIN, INT64_MAX, INT64_MIN + 1, -1, 0, 512, -512, 1024 };
    uint32_t shift = below(64);
    switch (below(3)) {
    case 0:
        return odd[below(PT_COUNT(odd))];
    case 1:
        return below(100000);
    default:
        return (int64_t)(random_bits() >> shift);
    }
}

static double any_double(void) {
    static const double odd[] = { 0.0, -0.0, 1e308, -1e308, 4.9e-324, 0.001, 1099511627.776, 1e9 };
    switch (below(3)) {
    case 0:
        return odd[below(PT_COUNT(odd))];
    case 1:
        return (double)below(100000) / 100;
    default:
        return (double)below(1000) / 7;
    }
}

static struct pt_str any_text(void) {
    static const char text[] =
        "a text of some length with a \0 in it and \xff\xfe that is not UTF-8";
    uint32_t first = below(sizeof text);
    return (struct pt_str){ text + first, below((uint32_t)sizeof text - first) };
}

static void any_cell(struct pt_batch *b, int column) {
    if (one_in(6))
        return;
    if (b->table->columns[column].type == PT_I64)
        pt_set_i64(b, column, any_integer());
    else if (b->table->columns[column].type == PT_F64)
        pt_set_f64(b, column, any_double());
    else
        pt_set_str(b, column, any_text());
}

/* A cell of the row before it in `from`, if there is one. */
static void copy_cell(struct pt_batch *b, int column, const struct pt_batch *from, uint32_t row) {
    if (row >= from->row_count || pt_is_null(from, row, column))
        return;
    if (b->table->columns[column].type == PT_STRING)
        pt_set_str(b, column, pt_get_str(from, row, column));
    else
        pt_set_cell_(b, column, pt_batch_cells(from, row)[column]);
}

static void any_times(struct pt_batch *b, const struct pt_batch *before, uint32_t row,
                      int64_t mono_ns) {
    for (int i = 0; i < b->table->source_count; i++) {
        if (row < before->row_count && one_in(4)) {
            pt_set_time(b, i, pt_get_time(before, row, i));
        } else if (!one_in(5)) {
            int64_t later_us = below(one_in(9) ? 900000 : 20);
            pt_set_time(b, i, mono_ns + 1000 * later_us + below(999));
        }
    }
}

/* A row like row `from_row` of `before`, with some cells changed. */
static void add_row(struct pt_batch *b, const struct pt_batch *before, uint32_t from_row,
                    int64_t mono_ns) {
    pt_batch_add_row(b);
    bool is_same = one_in(3);
    for (int i = 0; i < b->table->column_count; i++) {
        if (is_same || b->table->columns[i].kind == PT_KEY || !one_in(4))
            copy_cell(b, i, before, from_row);
        else
            any_cell(b, i);
    }
    any_times(b, before, from_row, mono_ns);
}

static void set_key(struct pt_batch *b) {
    char id[16];
    snprintf(id, sizeof id, "thing-%u", below(40));
    if (!one_in(10))
        pt_set_str(b, thing_id, pt_str_from(id));
    pt_set_i64(b, thing_part, below(3));
}

/* Things stay, vanish, appear, change places; keys may even be there twice. */
static void fill_things(struct pt_batch *b, const struct pt_batch *before, int64_t mono_ns) {
    for (uint32_t i = 0; i < before->row_count; i++) {
        if (!one_in(12))
            add_row(b, before, i, mono_ns);
        if (one_in(15))
            add_row(b, before, below(before->row_count), mono_ns);
    }
    while (b->row_count < 20 || one_in(3)) {
        add_row(b, before, UINT32_MAX, mono_ns);
        set_key(b);
    }
    if (b->row_count > 40)
        b->row_count = 25;
}

static void fill_sample(struct pt_sample *s, const struct pt_sample *before) {
    pt_sample_clear(s);
    s->mono_ns = before->mono_ns + 1000000000 + (int64_t)below(100000);
    s->wall_ns = s->mono_ns + INT64_C(1700000000000000000) + (int64_t)below(500);
    for (int i = 0; i < TABLE_COUNT; i++) {
        if (i == THING)
            fill_things(&s->batches[i], &before->batches[i], s->mono_ns);
        else if (!one_in(4))
            add_row(&s->batches[i], &before->batches[i], 0, s->mono_ns);
    }
}

static void check_cell(const struct pt_batch *a, const struct pt_batch *b, uint32_t row,
                       int column) {
    assert_int_equal(pt_is_null(a, row, column), pt_is_null(b, row, column));
    if (pt_is_null(a, row, column))
        return;
    if (a->table->columns[column].type == PT_STRING)
        assert_true(pt_str_eq(pt_get_str(a, row, column), pt_get_str(b, row, column)));
    else
        assert_int_equal(pt_batch_cells(a, row)[column].word, pt_batch_cells(b, row)[column].word);
}

static void check_batch(const struct pt_batch *a, const struct pt_batch *b) {
    assert_int_equal(a->row_count, b->row_count);
    for (uint32_t row = 0; row < a->row_count; row++) {
        for (int i = 0; i < a->table->source_count; i++)
            assert_int_equal(pt_get_time(a, row, i) / 1000 * 1000, pt_get_time(b, row, i));
        for (int i = 0; i < a->table->column_count; i++)
            check_cell(a, b, row, i);
    }
}

static void check_sample(const struct pt_sample *written, const struct pt_sample *read) {
    assert_int_equal(written->mono_ns, read->mono_ns);
    assert_int_equal(written->wall_ns, read->wall_ns);
    for (int i = 0; i < TABLE_COUNT; i++)
        check_batch(&written->batches[i], &read->batches[i]);
}

/* A journal and what was written to it. */
#define RUN_MAX 700
struct run {
    struct pt_journal journal;
    struct pt_sample samples[RUN_MAX], start;
    uint64_t end[RUN_MAX]; /* of the file after each sample */
    bool is_key[RUN_MAX];
    uint64_t schema_end;
    uint32_t count;
};

static void begin_run(struct run *run, uint64_t seed) {
    random_state = seed;
    unlink(path);
    struct pt_err err;
    assert_int_equal(pt_journal_create(&run->journal, path, uuid, &schema, &err), 0);
    run->schema_end = run->journal.byte_count;
    run->count = 0;
    pt_sample_init(&run->start, &schema);
}

/* The next sample, not written yet. */
static struct pt_sample *next_sample(struct run *run) {
    struct pt_sample *s = &run->samples[run->count];
    pt_sample_init(s, &schema);
    fill_sample(s, run->count ? s - 1 : &run->start);
    return s;
}

/* The next sample is a key sample. */
static void forget_key(struct pt_journal *j) {
    if (j->lane_count > 0)
        j->lanes[0].samples_since_key = 0;
}

static void write_samples(struct run *run, uint32_t count, uint32_t key_every) {
    for (uint32_t i = 0; i < count; i++) {
        if (key_every && run->count % key_every == 0)
            forget_key(&run->journal);
        run->is_key[run->count] =
            run->journal.lane_count == 0 || run->journal.lanes[0].samples_since_key == 0;
        assert_int_equal(pt_journal_write(&run->journal, next_sample(run)), 0);
        run->end[run->count++] = run->journal.byte_count;
    }
}

static void end_run(struct run *run) {
    pt_journal_close(&run->journal);
    for (uint32_t i = 0; i < run->count; i++)
        pt_sample_release(&run->samples[i]);
    pt_sample_release(&run->start);
}

static struct run run;

static void open_reader(struct pt_journal_reader *r, struct pt_sample *s) {
    struct pt_err err = { "" };
    int rc = pt_journal_open(r, path, &err);
    if (rc)
        fail_msg("%s", err.text);
    pt_sample_init(s, &r->schema);
}

static void close_reader(struct pt_journal_reader *r, struct pt_sample *s) {
    pt_sample_release(s);
    pt_journal_reader_close(r);
}

static void what_is_written_is_read(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        begin_run(&run, seed);
        write_samples(&run, RUN_MAX, 0);
        struct pt_journal_reader r;
        struct pt_sample s;
        open_reader(&r, &s);
        for (uint32_t i = 0; i < run.count; i++) {
            assert_int_equal(pt_journal_next(&r, &s), 1);
            check_sample(&run.samples[i], &s);
        }
        assert_int_equal(pt_journal_next(&r, &s), 0);
        assert_false(r.is_complete);
        end_run(&run);
        assert_int_equal(pt_journal_next(&r, &s), 0);
        assert_true(r.is_complete);
        assert_int_equal(r.tail_bytes, 0);
        assert_int_equal(r.skipped_bytes, 0);
        assert_memory_equal(r.uuid, uuid, 16);
        close_reader(&r, &s);
    }
}

/* Every sample in one of four lanes. */
static void write_lanes(struct run *r, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        struct pt_sample *s = next_sample(r);
        assert_int_equal(pt_journal_write_lane(&r->journal, below(4) * 300, s), 0);
        r->end[r->count++] = r->journal.byte_count;
    }
}

static void lanes_do_not_mix(void **state) {
    (void)state;
    begin_run(&run, 5);
    write_lanes(&run, RUN_MAX);
    struct pt_journal_reader r;
    struct pt_sample s;
    open_reader(&r, &s);
    for (uint32_t i = 0; i < run.count; i++) {
        assert_int_equal(pt_journal_next(&r, &s), 1);
        check_sample(&run.samples[i], &s);
    }
    assert_int_equal(pt_journal_next(&r, &s), 0);
    assert_int_equal(r.skipped_bytes, 0);
    close_reader(&r, &s);
    end_run(&run);
}

/* A sample takes next to nothing if the one before of its lane was the same. */
static void each_lane_has_its_own_differences(void **state) {
    (void)state;
    begin_run(&run, 6);
    struct pt_sample *a = next_sample(&run);
    run.count++;
    struct pt_sample *b = next_sample(&run);
    run.count++;
    uint64_t before = 0;
    for (int i = 0; i < 20; i++) {
        before = run.journal.byte_count;
        assert_int_equal(pt_journal_write_lane(&run.journal, (uint32_t)(i % 2), i % 2 ? a : b), 0);
    }
    assert_true(run.journal.byte_count - before < 64);
    end_run(&run);
}

static void the_schema_travels_with_the_run(void **state) {
    (void)state;
    begin_run(&run, 1);
    struct pt_journal_reader r;
    struct pt_sample s;
    open_reader(&r, &s);
    assert_int_equal(r.schema.table_count, TABLE_COUNT);
    for (int i = 0; i < TABLE_COUNT; i++) {
        const struct pt_table *a = tables[i], *b = r.schema.tables[i];
        assert_string_equal(a->name, b->name);
        assert_string_equal(a->file, b->file);
        assert_int_equal(a->section == NULL, b->section == NULL);
        assert_int_equal(a->source_count, b->source_count);
        assert_string_equal(a->sources[0], b->sources[0]);
        assert_int_equal(a->column_count, b->column_count);
        for (int c = 0; c < a->column_count; c++) {
            assert_string_equal(a->columns[c].name, b->columns[c].name);
            assert_string_equal(a->columns[c].short_name, b->columns[c].short_name);
            assert_string_equal(a->columns[c].help, b->columns[c].help);
            assert_int_equal(a->columns[c].kind, b->columns[c].kind);
            assert_int_equal(a->columns[c].type, b->columns[c].type);
            assert_int_equal(a->columns[c].unit, b->columns[c].unit);
            assert_int_equal(a->columns[c].source, b->columns[c].source);
        }
    }
    close_reader(&r, &s);
    end_run(&run);
}

static void whole_records_before_a_cut_are_read(void **state) {
    (void)state;
    begin_run(&run, 5);
    write_samples(&run, 12, 5);
    uint64_t size = run.journal.byte_count;
    for (uint64_t cut = size; cut-- > 0;) {
        assert_int_equal(truncate(path, (off_t)cut), 0);
        struct pt_journal_reader r;
        struct pt_sample s;
        if (cut < run.schema_end) {
            struct pt_err err = { "" };
            assert_int_equal(pt_journal_open(&r, path, &err), -ENODATA);
            assert_non_null(strstr(err.text, "has no data yet"));
            continue;
        }
        open_reader(&r, &s);
        uint64_t whole = run.schema_end;
        uint32_t i = 0;
        for (; i < run.count && run.end[i] <= cut; i++) {
            assert_int_equal(pt_journal_next(&r, &s), 1);
            check_sample(&run.samples[i], &s);
            whole = run.end[i];
        }
        assert_int_equal(pt_journal_next(&r, &s), 0);
        if (i < run.count && run.is_key[i] && cut >= whole + PT_RECORD_SYNC_SIZE)
            whole += PT_RECORD_SYNC_SIZE; /* it is whole too */
        assert_int_equal(r.tail_bytes, cut - whole);
        assert_int_equal(r.skipped_bytes, 0);
        close_reader(&r, &s);
    }
    end_run(&run);
}

/* Reads the journal with a byte changed at `offset`. Samples not touched by it must be there. */
static void check_damaged(uint64_t offset) {
    uint32_t hit = 0, resumed = 0; /* first sample that may be missing, first that must be there */
    while (hit < run.count && run.end[hit] <= offset)
        hit++;
    for (resumed = hit + 1; resumed < run.count && !run.is_key[resumed];)
        resumed++;
    if (offset < run.schema_end)
        resumed = 0; /* header and schema are known from elsewhere */
    struct pt_journal_reader r;
    struct pt_sample s;
    open_reader(&r, &s);
    uint32_t i = 0;
    while (pt_journal_next(&r, &s) == 1) {
        while (i < run.count && run.samples[i].mono_ns != s.mono_ns) {
            assert_true(i >= hit && i < resumed);
            i++;
        }
        assert_true(i < run.count);
        check_sample(&run.samples[i++], &s);
    }
    assert_true(i == run.count || (i >= hit && resumed >= run.count));
    assert_true(r.skipped_bytes + r.tail_bytes > 0);
    close_reader(&r, &s);
}

static void one_changed_byte_never_gives_a_wrong_value(void **state) {
    (void)state;
    static const uint8_t masks[] = { 0x01, 0x80, 0xff, 0x10 };
    /* a run that was cut off and has one copy of the schema, which this program knows; and one that
     * ended and has two */
    for (int has_ended = 0; has_ended < 2; has_ended++) {
        begin_run(&run, 6);
        pt_schema_install(has_ended ? NULL : &schema);
        write_samples(&run, 12, 4);
        uint64_t size = run.journal.byte_count;
        if (has_ended)
            assert_int_equal(pt_journal_close(&run.journal), 0);
        int fd = open(path, O_RDWR);
        assert_true(fd >= 0);
        for (uint64_t offset = 0; offset < size; offset++) {
            uint8_t byte, changed;
            assert_int_equal(pread(fd, &byte, 1, (off_t)offset), 1);
            changed = byte ^ masks[offset % PT_COUNT(masks)];
            assert_int_equal(pwrite(fd, &changed, 1, (off_t)offset), 1);
            check_damaged(offset);
            assert_int_equal(pwrite(fd, &byte, 1, (off_t)offset), 1);
        }
        close(fd);
        end_run(&run);
    }
    pt_schema_install(NULL);
}

static void set_size_limit(rlim_t bytes) {
    struct rlimit limit;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static uint64_t file_size(void) {
    struct stat st;
    assert_int_equal(stat(path, &st), 0);
    return (uint64_t)st.st_size;
}

static void ignore(int number) {
    struct sigaction action = { .sa_handler = SIG_IGN };
    assert_int_equal(sigaction(number, &action, NULL), 0);
}

static void a_full_disk_costs_the_samples_that_do_not_fit(void **state) {
    (void)state;
    ignore(SIGXFSZ);
    begin_run(&run, 7);
    write_samples(&run, 5, 0);
    uint64_t size = run.journal.byte_count;
    set_size_limit(size + 30);
    for (int i = 0; i < 3; i++) {
        struct pt_sample *lost = next_sample(&run);
        assert_int_equal(pt_journal_write(&run.journal, lost), -EFBIG);
        pt_sample_release(lost);
        assert_int_equal(file_size(), size);
    }
    assert_int_equal(pt_journal_note(&run.journal, PT_STR("tag"), PT_STR("a text too long for 30")),
                     -EFBIG);
    set_size_limit(RLIM_INFINITY);
    write_samples(&run, 5, 0);
    assert_true(run.is_key[5]);
    assert_int_equal(run.journal.sample_count, 10);
    assert_int_equal(run.journal.lost_sample_count, 3);
    assert_int_equal(pt_journal_close(&run.journal), 0);

    struct pt_journal_reader r;
    struct pt_sample s;
    open_reader(&r, &s);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(pt_journal_next(&r, &s), 1);
        check_sample(&run.samples[i], &s);
    }
    assert_int_equal(pt_journal_next(&r, &s), 0);
    assert_true(r.is_complete);
    assert_int_equal(r.lost_sample_count, 3);
    assert_int_equal(r.skipped_bytes + r.tail_bytes, 0);
    close_reader(&r, &s);
    end_run(&run);
}

static void what_cannot_be_cut_back_is_not_written_to_again(void **state) {
    (void)state;
    ignore(SIGPIPE);
    begin_run(&run, 8);
    write_samples(&run, 2, 0);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_true(dup2(ends[1], pt_fd_get(run.journal.fd)) >= 0);
    close(ends[0]);
    close(ends[1]);
    for (int i = 0; i < 2; i++) {
        struct pt_sample *lost = next_sample(&run);
        assert_int_equal(pt_journal_write(&run.journal, lost), -EPIPE);
        pt_sample_release(lost);
    }
    assert_int_equal(run.journal.stopped, -EPIPE);
    assert_int_equal(pt_journal_close(&run.journal), -EPIPE);
    end_run(&run);
}

static void append_bytes(const void *bytes, size_t n) {
    int fd = open(path, O_WRONLY | O_APPEND);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
}

/* Rewrites the version in the header, with its checksum. */
static void set_version(uint16_t major, uint16_t minor) {
    uint8_t header[32];
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pread(fd, header, sizeof header, 0), sizeof header);
    memcpy(header + 8, &major, 2);
    memcpy(header + 10, &minor, 2);
    uint32_t crc = pt_crc32c(0, header, 28);
    memcpy(header + 28, &crc, 4);
    assert_int_equal(pwrite(fd, header, sizeof header, 0), sizeof header);
    close(fd);
}

static void append_record(uint8_t type, struct pt_str payload) {
    struct pt_buf b = { 0 };
    pt_buf_u8(&b, type);
    pt_buf_lstr(&b, payload);
    pt_buf_u32(&b, pt_crc32c(0, b.at, b.len));
    append_bytes(b.at, b.len);
    pt_buf_release(&b);
}

static void records_of_a_newer_minor_version_are_passed_over(void **state) {
    (void)state;
    begin_run(&run, 9);
    set_version(PT_JOURNAL_MAJOR, 9);
    write_samples(&run, 2, 0);
    append_record('z', PT_STR("something this version knows nothing of"));
    append_record('D', PT_STR("\x7f\x7f right checksum, nonsense inside"));
    write_samples(&run, 1, 0); /* follows the nonsense, so nobody can tell what it says */
    write_samples(&run, 1, 1);
    static const uint32_t readable[] = { 0, 1, 3 };
    struct pt_journal_reader r;
    struct pt_sample s;
    open_reader(&r, &s);
    assert_int_equal(r.minor, 9);
    for (uint32_t i = 0; i < PT_COUNT(readable); i++) {
        assert_int_equal(pt_journal_next(&r, &s), 1);
        check_sample(&run.samples[readable[i]], &s);
    }
    assert_int_equal(pt_journal_next(&r, &s), 0);
    assert_int_equal(r.skipped_sample_count, 1);
    assert_int_equal(r.unknown_record_count, 1);
    assert_true(r.skipped_bytes > 0);
    close_reader(&r, &s);
    end_run(&run);
}

static void a_newer_major_version_is_refused_in_words(void **state) {
    (void)state;
    begin_run(&run, 9);
    set_version(PT_JOURNAL_MAJOR + 1, 0);
    struct pt_journal_reader r;
    struct pt_err err;
    assert_int_equal(pt_journal_open(&r, path, &err), -EPROTONOSUPPORT);
    assert_non_null(strstr(err.text, "newer Pitot"));
    assert_non_null(strstr(err.text, "3.0"));
    end_run(&run);
}

/* A journal as version 1 wrote it: the schema once, as it is, and sync records without its name. */
static void journals_of_version_1_are_read(void **state) {
    (void)state;
    begin_run(&run, 9);
    struct pt_buf payload = { 0 }, note = { 0 };
    struct pt_sample *written = next_sample(&run);
    run.count++;
    struct pt_delta *d = pt_delta_new(&schema);
    assert_int_equal(truncate(path, PT_JOURNAL_HEADER), 0);
    set_version(1, 0);
    pt_journal_put_schema(&schema, &payload);
    append_record(PT_RECORD_SCHEMA, pt_buf_as_str(&payload));
    append_record(PT_RECORD_SYNC, (struct pt_str){ (const char *)uuid, sizeof uuid });
    pt_buf_lstr(&note, PT_STR("tag"));
    pt_buf_str(&note, PT_STR("k=v"));
    append_record(PT_RECORD_NOTE, pt_buf_as_str(&note));
    append_bytes("damage", 6);
    append_record(PT_RECORD_SYNC, (struct pt_str){ (const char *)uuid, sizeof uuid });
    pt_buf_clear(&payload);
    pt_delta_encode(d, written, &payload);
    append_record(PT_RECORD_KEY, pt_buf_as_str(&payload));
    struct pt_journal_reader r;
    struct pt_sample s;
    open_reader(&r, &s);
    assert_int_equal(r.major, 1);
    assert_string_equal(pt_journal_note_find(&r, "tag")->text, "k=v");
    assert_int_equal(pt_journal_next(&r, &s), 1);
    check_sample(written, &s);
    assert_int_equal(r.skipped_bytes, 6);
    close_reader(&r, &s);
    pt_delta_free(d);
    pt_buf_release(&payload);
    pt_buf_release(&note);
    end_run(&run);
}

static void a_second_writer_is_refused(void **state) {
    (void)state;
    begin_run(&run, 10);
    write_samples(&run, 1, 0);
    struct pt_journal second;
    struct pt_err err;
    assert_int_equal(pt_journal_create(&second, path, uuid, &schema, &err), -EEXIST);
    assert_int_equal(pt_journal_close(&second), 0);
    assert_int_equal(file_size(), run.journal.byte_count);
    end_run(&run);
}

static void a_steady_write_allocates_nothing(void **state) {
    (void)state;
    begin_run(&run, 11);
    write_samples(&run, 40, 20);
    uint64_t before = pt_mem_allocation_count();
    for (int round = 0; round < 10; round++)
        for (uint32_t i = 0; i < 40; i++) {
            if (i % 20 == 0)
                forget_key(&run.journal);
            assert_int_equal(pt_journal_write(&run.journal, &run.samples[i]), 0);
        }
    assert_int_equal(pt_mem_allocation_count(), before);
    end_run(&run);
}

static void a_running_journal_can_be_followed(void **state) {
    (void)state;
    begin_run(&run, 12);
    struct pt_journal_reader r;
    struct pt_sample s;
    open_reader(&r, &s);
    for (uint32_t i = 0; i < 20; i++) {
        assert_int_equal(pt_journal_next(&r, &s), 0);
        assert_int_equal(r.tail_bytes, 0);
        write_samples(&run, 1, 0);
        assert_int_equal(pt_journal_next(&r, &s), 1);
        check_sample(&run.samples[i], &s);
    }
    append_bytes("D\x40 part", 7); /* a record on its way, which the writer then takes back */
    assert_int_equal(pt_journal_next(&r, &s), 0);
    assert_int_equal(r.tail_bytes, 7);
    assert_int_equal(truncate(path, (off_t)run.journal.byte_count), 0);
    write_samples(&run, 1, 0);
    assert_int_equal(pt_journal_next(&r, &s), 1);
    check_sample(&run.samples[20], &s);
    assert_int_equal(r.tail_bytes, 0);
    close_reader(&r, &s);
    end_run(&run);
}

static void notes_are_found_by_key(void **state) {
    (void)state;
    begin_run(&run, 13);
    assert_int_equal(pt_journal_note(&run.journal, PT_STR("static"), PT_STR("{}")), 0);
    assert_int_equal(pt_journal_note(&run.journal, PT_STR("tag"), PT_STR("a=1")), 0);
    assert_int_equal(pt_journal_note(&run.journal, PT_STR("tag"), PT_STR("b=2")), 0);
    write_samples(&run, 2, 0);
    assert_int_equal(pt_journal_note(&run.journal, PT_STR("end"), PT_STR("command exited")), 0);
    struct pt_journal_reader r;
    struct pt_sample s;
    open_reader(&r, &s);
    assert_int_equal(r.note_count, 3);
    assert_string_equal(pt_journal_note_find(&r, "static")->text, "{}");
    assert_string_equal(pt_journal_note_find(&r, "tag")->text, "b=2");
    assert_string_equal(r.notes[1].text, "a=1");
    assert_null(pt_journal_note_find(&r, "end"));
    while (pt_journal_next(&r, &s) == 1)
        ;
    assert_string_equal(pt_journal_note_find(&r, "end")->text, "command exited");
    assert_int_equal(r.sample_count, 2);
    close_reader(&r, &s);
    end_run(&run);
}

static void an_absurd_length_takes_no_memory(void **state) {
    (void)state;
    begin_run(&run, 14);
    write_samples(&run, 1, 0);
    append_bytes("D\xff\xff\xff\x7f", 5); /* 256 MiB less one */
    append_bytes("12345678901234567890", 20);
    struct pt_journal_reader r;
    struct pt_sample s;
    open_reader(&r, &s);
    assert_int_equal(pt_journal_next(&r, &s), 1);
    assert_int_equal(pt_journal_next(&r, &s), 0);
    assert_int_equal(r.tail_bytes, 25);
    assert_true(r.buffer_capacity <= 1 << 20);
    close_reader(&r, &s);
    end_run(&run);
}

/* Every sample in one of four lanes, of which each starts afresh now and then. */
static void write_lanes_with_keys(uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint32_t lane = below(4);
        if (lane < run.journal.lane_count && one_in(3))
            run.journal.lanes[lane].samples_since_key = 0;
        assert_int_equal(pt_journal_write_lane(&run.journal, lane, next_sample(&run)), 0);
        run.end[run.count++] = run.journal.byte_count;
    }
}

/* Sample n is at n seconds and says so. */
static uint64_t write_number(uint32_t lane, int64_t n, bool is_key) {
    struct pt_sample s;
    pt_sample_init(&s, &schema);
    s.mono_ns = s.wall_ns = n * INT64_C(1000000000);
    pt_batch_add_row(&s.batches[HOST]);
    pt_set_i64(&s.batches[HOST], host_time, n * n);
    if (is_key && lane < run.journal.lane_count)
        run.journal.lanes[lane].samples_since_key = 0;
    uint64_t before = run.journal.byte_count;
    assert_int_equal(pt_journal_write_lane(&run.journal, lane, &s), 0);
    pt_sample_release(&s);
    return run.journal.byte_count - before;
}

/* Sample 2 is lost, and sample 4 is a difference to it. */
static void damage_in_one_lane_gives_no_wrong_value_in_another(void **state) {
    (void)state;
    static const int64_t readable[] = { 0, 1, 3, 5, 6 };
    begin_run(&run, 16);
    write_number(0, 0, true);
    write_number(1, 1, true);
    uint64_t lost = write_number(0, 2, false), end = run.journal.byte_count;
    write_number(1, 3, true);
    write_number(0, 4, false);
    write_number(1, 5, false);
    write_number(0, 6, true);
    int fd = open(path, O_RDWR);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "\x55", 1, (off_t)end - 3), 1);
    close(fd);
    struct pt_journal_reader r;
    struct pt_sample s;
    open_reader(&r, &s);
    for (size_t i = 0; i < PT_COUNT(readable); i++) {
        assert_int_equal(pt_journal_next(&r, &s), 1);
        assert_int_equal(s.mono_ns, readable[i] * 1000000000);
        assert_int_equal(pt_get_i64(&s.batches[HOST], 0, host_time), readable[i] * readable[i]);
    }
    assert_int_equal(pt_journal_next(&r, &s), 0);
    assert_int_equal(r.skipped_bytes, lost);
    assert_int_equal(r.skipped_sample_count, 1);
    close_reader(&r, &s);
    end_run(&run);
}

/* A reader takes 256 KiB at a time: the sync record may lie across their end. */
static void reading_resumes_wherever_the_damage_ends(void **state) {
    (void)state;
    enum { CHUNK = 256 << 10 };
    char *junk = pt_calloc(1, CHUNK + 30);
    memset(junk, 0xff, CHUNK + 30);
    for (size_t end = CHUNK - 30; end < CHUNK + 30; end++) {
        begin_run(&run, 17);
        write_samples(&run, 1, 0);
        size_t bytes = end - run.journal.byte_count;
        append_bytes(junk, bytes);
        write_samples(&run, 1, 1);
        struct pt_journal_reader r;
        struct pt_sample s;
        open_reader(&r, &s);
        for (uint32_t i = 0; i < 2; i++) {
            assert_int_equal(pt_journal_next(&r, &s), 1);
            check_sample(&run.samples[i], &s);
        }
        assert_int_equal(pt_journal_next(&r, &s), 0);
        assert_int_equal(r.skipped_bytes, bytes);
        assert_int_equal(r.skipped_sample_count, 0);
        assert_int_equal(r.tail_bytes, 0);
        close_reader(&r, &s);
        end_run(&run);
    }
    pt_free(junk);
}

/* Of all bytes but the packed schemas, which depend on the version of the compressor. */
static uint32_t crc_of_file(uint64_t *byte_count) {
    static uint8_t bytes[1 << 20];
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    ssize_t n = read(fd, bytes, sizeof bytes);
    close(fd);
    assert_true(n > (ssize_t)PT_JOURNAL_HEADER && n < (ssize_t)sizeof bytes);
    uint32_t crc = pt_crc32c(0, bytes, PT_JOURNAL_HEADER);
    *byte_count = PT_JOURNAL_HEADER;
    struct pt_bytes in = { bytes + PT_JOURNAL_HEADER, bytes + n, false };
    while (in.at < in.end) {
        const uint8_t *start = in.at;
        uint8_t type = pt_bytes_u8(&in);
        (void)pt_bytes_lstr(&in);
        (void)pt_bytes_u32(&in);
        assert_false(in.failed);
        if (type == PT_RECORD_PACKED_SCHEMA)
            continue;
        crc = pt_crc32c(crc, start, (size_t)(in.at - start));
        *byte_count += (uint64_t)(in.at - start);
    }
    return crc;
}

/* Things that are read one after the other, `stride_us` apart. */
static void write_strides(int64_t stride_us) {
    struct pt_sample s;
    pt_sample_init(&s, &schema);
    s.mono_ns = s.wall_ns = 1000000000;
    for (int i = 0; i < 6; i++) {
        pt_batch_add_row(&s.batches[THING]);
        pt_set_i64(&s.batches[THING], thing_part, i);
        pt_set_time(&s.batches[THING], 0, s.mono_ns + i * stride_us * 1000);
    }
    assert_int_equal(pt_journal_write(&run.journal, &s), 0);
    pt_sample_release(&s);
}

/* docs/JOURNAL.md specifies every byte: other bytes are another version of the format. */
static void the_bytes_of_the_format_stay(void **state) {
    (void)state;
    begin_run(&run, 18);
    assert_int_equal(pt_journal_note(&run.journal, PT_STR("static"), PT_STR("{}")), 0);
    write_samples(&run, 300, 0);
    write_lanes_with_keys(100);
    for (int64_t stride_us = -1; stride_us < 70; stride_us++)
        write_strides(stride_us);
    end_run(&run);
    uint64_t byte_count;
    uint32_t crc = crc_of_file(&byte_count);
    assert_int_equal(byte_count, 265619);
    assert_int_equal(crc, 0xbea2f6f2);
}

/* A table of two columns and no times; a sample of it is a few bytes. */
static const struct pt_column small_columns[] = {
    { "sNumber", "number", PT_GAUGE, PT_I64, PT_NONE, 0, "" },
    { "sRatio", "ratio", PT_GAUGE, PT_F64, PT_NONE, 0, "" },
};
static const struct pt_table small_table = {
    .name = "small", .file = "small", .help = "", .columns = small_columns, .column_count = 2
};
static const struct pt_table *const small_tables[] = { &small_table };
static const struct pt_schema small_schema = { small_tables, 1 };

#define BYTES(...) \
    { { __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ }) }

struct coded {
    uint8_t bytes[20];
    size_t len;
};

/* Decodes the samples one after the other; returns what the last one gives. */
static int decode_all(const struct coded *samples, size_t count, struct pt_sample *s) {
    struct pt_delta *d = pt_delta_new(&small_schema);
    int rc = 0;
    for (size_t i = 0; i < count; i++) {
        struct pt_bytes in = { samples[i].bytes, samples[i].bytes + samples[i].len, false };
        assert_int_equal(rc, 0);
        pt_sample_clear(s);
        rc = pt_delta_decode(d, &in, s);
    }
    pt_delta_free(d);
    return rc;
}

/* Two clocks; the table; its rows: a new one of 5, a new one of 10 and 1.5. */
static const struct coded two_rows = BYTES(2, 4, 0, 2, 3, 1, 10, 3, 3, 20, 0xf0, 0x2e);

static void samples_have_the_bytes_of_the_specification(void **state) {
    (void)state;
    static const struct {
        struct coded sample; /* after two_rows */
        uint32_t rows;
        int64_t number[3];
        double ratio[3]; /* 0: null */
    } cases[] = {
        { BYTES(0, 0), 0, { 0 }, { 0 } },
        { BYTES(0, 0, 0, 2, 4), 2, { 5, 10 }, { 0, 1.5 } },            /* two the same */
        { BYTES(0, 0, 0, 1, 0), 1, { 5 }, { 0 } },                     /* the first one */
        { BYTES(0, 0, 0, 1, 10, 0), 1, { 10 }, { 1.5 } },              /* jump by 1 */
        { BYTES(0, 0, 0, 2, 10, 0, 14, 0), 2, { 10, 5 }, { 1.5, 0 } }, /* and by -2 */
        { BYTES(0, 0, 0, 2, 1, 1, 4, 0), 2, { 7, 10 }, { 0, 1.5 } },   /* 5 + 2 */
        { BYTES(0, 0, 0, 2, 1, 1, 3, 0), 2, { 3, 10 }, { 0, 1.5 } },   /* 5 - 2 */
        { BYTES(0, 0, 0, 2, 5, 2, 0, 0xd0, 0x0f, 0), 2, { 5, 10 }, { 0.5, 1.5 } }, /* appears */
        { BYTES(0, 0, 0, 2, 0, 5, 2, 0), 2, { 5, 10 }, { 0, 0 } },                 /* disappears */
        { BYTES(0, 0, 0, 2, 0, 1, 2, 0xe6, 0x07), 2, { 5, 10 }, { 0, 1.25 } },     /* thousandths */
        { BYTES(0, 0, 0, 2, 0, 1, 2, 97, 0x0c), 2, { 5, 10 }, { 0, 1.25 } }, /* one byte XORed */
        { BYTES(0, 0, 0, 3, 4, 3, 1, 2), 3, { 5, 10, 1 }, { 0, 1.5, 0 } },   /* a new one */
    };
    struct pt_sample s;
    pt_sample_init(&s, &small_schema);
    assert_int_equal(decode_all(&two_rows, 1, &s), 0);
    assert_int_equal(s.mono_ns, 1);
    assert_int_equal(s.wall_ns, 3);
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        const struct coded both[] = { two_rows, cases[i].sample };
        const struct pt_batch *b = &s.batches[0];
        assert_int_equal(decode_all(both, 2, &s), 0);
        assert_int_equal(s.mono_ns, 2);
        assert_int_equal(s.wall_ns, 4);
        assert_int_equal(b->row_count, cases[i].rows);
        for (uint32_t row = 0; row < b->row_count; row++) {
            assert_int_equal(pt_get_i64(b, row, 0), cases[i].number[row]);
            assert_int_equal(pt_is_null(b, row, 1), cases[i].ratio[row] == 0);
            if (cases[i].ratio[row] != 0)
                assert_true(pt_get_f64(b, row, 1) == cases[i].ratio[row]);
        }
    }
    /* The only known row, as plain changes: the cells that changed are remembered. */
    static const struct coded plain[] = { BYTES(0, 0, 0, 1, 3, 1, 10), BYTES(0, 0, 1, 1, 4),
                                          BYTES(0, 0, 1, 0, 4) };
    assert_int_equal(decode_all(plain, 3, &s), 0);
    assert_int_equal(pt_get_i64(&s.batches[0], 0, 0), 9);
    pt_sample_release(&s);
}

static void bytes_that_are_not_a_sample_are_refused(void **state) {
    (void)state;
    static const struct coded cases[] = {
        /* after two_rows */
        BYTES(0),                                 /* one clock */
        BYTES(0, 0, 2, 1, 3, 1, 2),               /* a second table */
        BYTES(0, 0, 1, 0),                        /* the only known row, but there are two */
        BYTES(0, 0, 0, 0),                        /* no row */
        BYTES(0, 0, 0, 1, 4),                     /* two the same, of one */
        BYTES(0, 0, 0, 1, 9, 0),                  /* a change that is not known */
        BYTES(0, 0, 0, 1, 7, 1, 2),               /* two new ones */
        BYTES(0, 0, 0, 1, 18, 0),                 /* jump behind the last row */
        BYTES(0, 0, 0, 1, 6, 0),                  /* jump before the first one */
        BYTES(0, 0, 0, 2, 10, 0, 6, 0),           /* a row continued twice */
        BYTES(0, 0, 0, 3, 4, 0),                  /* a row that is not known */
        BYTES(0, 0, 0, 1, 1, 4, 0),               /* change in a third column */
        BYTES(0, 0, 0, 1, 1, 2, 0),               /* change of a null */
        BYTES(0, 0, 0, 1, 5, 2, 2, 0),            /* change of a cell that appears */
        BYTES(0, 0, 0, 1, 3, 4, 0),               /* presence of a third column */
        BYTES(0, 0, 0, 1, 1, 1),                  /* no cell */
        BYTES(0, 0, 0, 1, 10, 1, 2, 99, 8, 0x40), /* infinity */
        BYTES(0, 0, 0, 1, 10, 1, 2, 115, 0, 0),   /* bytes seven and eight of a double */
        BYTES(0, 0, 0, 1, 10, 1, 2, 97),          /* no such byte */
    };
    struct pt_sample s;
    pt_sample_init(&s, &small_schema);
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        const struct coded both[] = { two_rows, cases[i] };
        if (decode_all(both, 2, &s) != -EBADMSG)
            fail_msg("case %zu is taken", i);
    }
    pt_sample_release(&s);
}

/* Doubles are kept as thousandths up to 2^40 of them; two_rows ends with 1500. */
static int decode_thousandths(int64_t difference, struct pt_sample *s) {
    struct coded both[] = { two_rows, BYTES(0, 0, 0, 1, 10, 1, 2) };
    struct pt_buf cell = { 0 };
    pt_buf_varint(&cell, pt_zigzag(difference) << 1);
    memcpy(both[1].bytes + both[1].len, cell.at, cell.len);
    both[1].len += cell.len;
    pt_buf_release(&cell);
    return decode_all(both, 2, s);
}

static void thousandths_have_their_bounds(void **state) {
    (void)state;
    const int64_t most = INT64_C(1) << 40;
    struct pt_sample s;
    pt_sample_init(&s, &small_schema);
    assert_int_equal(decode_thousandths(most - 1500, &s), 0);
    assert_true(pt_get_f64(&s.batches[0], 0, 1) == (double)most / 1000);
    assert_int_equal(decode_thousandths(most - 1499, &s), -EBADMSG);
    assert_int_equal(decode_thousandths(-most - 1500, &s), 0);
    assert_int_equal(decode_thousandths(-most - 1501, &s), -EBADMSG);
    pt_sample_release(&s);
    int64_t thousandths;
    assert_true(pt_delta_thousandths(-0.25, &thousandths) && thousandths == -250);
    assert_true(pt_delta_thousandths((double)most / 1000, &thousandths) && thousandths == most);
    assert_false(pt_delta_thousandths((double)(most + 1000) / 1000, &thousandths));
    assert_false(pt_delta_thousandths(0.0005, &thousandths));
    assert_false(pt_delta_thousandths(-0.0, &thousandths));
}

/* Opens the journal; the read with this number fails. */
static void check_failing_read(int number) {
    struct pt_journal_reader r;
    struct pt_err err = { "" };
    short_io.failing_call = number;
    assert_int_equal(pt_journal_open(&r, path, &err), -EIO);
    assert_int_equal(short_io.failing_call, 0);
    assert_non_null(strstr(err.text, "cannot read"));
    assert_non_null(strstr(err.text, path));
    assert_non_null(strstr(err.text, strerror(EIO)));
    assert_false(pt_fd_is_open(r.fd));
}

static void a_disk_that_fails_is_an_error_in_words(void **state) {
    (void)state;
    begin_run(&run, 19);
    check_failing_read(1); /* of the header */
    check_failing_read(3); /* of notes: two reads found the schema and the end behind it */
    write_samples(&run, 1, 0);
    struct pt_journal_reader r;
    struct pt_sample s;
    open_reader(&r, &s);
    assert_int_equal(pt_journal_next(&r, &s), 1);
    short_io.failing_call = 1;
    assert_int_equal(pt_journal_next(&r, &s), -EIO);
    assert_int_equal(pt_journal_next(&r, &s), 0);
    close_reader(&r, &s);
    /* Short and interrupted reads are not errors. */
    short_io.most = 13;
    short_io.is_interrupted = true;
    open_reader(&r, &s);
    assert_int_equal(pt_journal_next(&r, &s), 1);
    check_sample(&run.samples[0], &s);
    assert_int_equal(pt_journal_next(&r, &s), 0);
    close_reader(&r, &s);
    short_io.most = 0;
    short_io.is_interrupted = false;
    end_run(&run);
}

static int open_with_tables(const struct pt_table *a, const struct pt_table *b) {
    const struct pt_table *const pair[] = { a, b };
    const struct pt_schema two = { pair, 2 };
    struct pt_journal j;
    struct pt_journal_reader r;
    struct pt_err err;
    unlink(path);
    assert_int_equal(pt_journal_create(&j, path, uuid, &two, &err), 0);
    assert_int_equal(pt_journal_close(&j), 0);
    int rc = pt_journal_open(&r, path, &err);
    pt_journal_reader_close(&r);
    return rc;
}

static void a_schema_that_could_do_harm_is_refused(void **state) {
    (void)state;
    assert_int_equal(open_with_tables(&host_table, &thing_table), 0);
    assert_int_equal(open_with_tables(&host_table, &host_table), -EBADMSG);
    struct pt_table odd = thing_table;
    odd.file = "../elsewhere";
    assert_int_equal(open_with_tables(&host_table, &odd), -EBADMSG);
    odd = thing_table;
    odd.name = "marks", odd.file = mark_table.file;
    assert_int_equal(open_with_tables(&mark_table, &odd), -EBADMSG);
    struct pt_column columns[thing_column_count];
    memcpy(columns, thing_columns, sizeof columns);
    odd = thing_table;
    odd.columns = columns;
    columns[thing_any].name = columns[thing_id].name;
    assert_int_equal(open_with_tables(&host_table, &odd), -EBADMSG);
    columns[thing_any].name = "tAny", columns[thing_any].source = 2;
    assert_int_equal(open_with_tables(&host_table, &odd), -EBADMSG);
    columns[thing_any].source = 1, columns[thing_any].name = "t\nAny";
    assert_int_equal(open_with_tables(&host_table, &odd), -EBADMSG);
    columns[thing_any].name = "tAny";
    assert_int_equal(open_with_tables(&host_table, &odd), 0);
    columns[thing_any].name = "";
    assert_int_equal(open_with_tables(&host_table, &odd), -EBADMSG);
    columns[thing_any].name = "t\x7f";
    assert_int_equal(open_with_tables(&host_table, &odd), -EBADMSG);
    columns[thing_any].name = "t any \xc3\xa9"; /* any text but control characters */
    assert_int_equal(open_with_tables(&host_table, &odd), 0);
    columns[thing_any].kind = PT_COUNTER + 1;
    assert_int_equal(open_with_tables(&host_table, &odd), -EBADMSG);
    columns[thing_any].kind = PT_COUNTER, columns[thing_any].type = PT_STRING + 1;
    assert_int_equal(open_with_tables(&host_table, &odd), -EBADMSG);
    columns[thing_any].type = PT_STRING;
    assert_int_equal(open_with_tables(&host_table, &odd), 0);
    odd.column_count = 0;
    assert_int_equal(open_with_tables(&host_table, &odd), -EBADMSG);
}

/* `length` letters; for the names of one call. */
static const char *letters(size_t length) {
    static char text[8192];
    memset(text, 'x', length);
    text[length] = 0;
    return text;
}

static void names_of_a_schema_have_their_lengths(void **state) {
    (void)state;
    static const struct {
        const char *name;
        bool is_fine;
    } words[] = {
        { "x", true },    { "", false },    { "aZ09_-", true }, { "a.b", false },
        { "a/b", false }, { "a b", false }, { "a{", false },    { "a@", false },
        { "a[", false },  { "a`", false },  { "a:", false },
    };
    struct pt_table odd = thing_table;
    struct pt_column columns[thing_column_count];
    for (size_t i = 0; i < PT_COUNT(words); i++) {
        int expected = words[i].is_fine ? 0 : -EBADMSG;
        odd = thing_table;
        odd.name = words[i].name;
        assert_int_equal(open_with_tables(&host_table, &odd), expected);
        odd = thing_table;
        memcpy(columns, thing_columns, sizeof columns);
        odd.columns = columns;
        columns[thing_any].short_name = words[i].name;
        assert_int_equal(open_with_tables(&host_table, &odd), expected);
    }
    for (size_t more = 0; more < 2; more++) {
        int expected = more ? -EBADMSG : 0;
        odd = thing_table;
        odd.name = letters(128 + more);
        assert_int_equal(open_with_tables(&host_table, &odd), expected);
        odd.name = "things", odd.file = letters(128 + more);
        assert_int_equal(open_with_tables(&host_table, &odd), expected);
        odd.file = "things", odd.section = letters(128 + more);
        assert_int_equal(open_with_tables(&host_table, &odd), expected);
        odd.section = NULL, odd.help = letters(4096 + more);
        assert_int_equal(open_with_tables(&host_table, &odd), expected);
        const char *const sources[] = { "file", letters(128 + more) };
        odd.help = "", odd.sources = sources;
        assert_int_equal(open_with_tables(&host_table, &odd), expected);
        odd = thing_table;
        memcpy(columns, thing_columns, sizeof columns);
        odd.columns = columns;
        columns[thing_any].name = letters(128 + more);
        assert_int_equal(open_with_tables(&host_table, &odd), expected);
        columns[thing_any].name = "tAny", columns[thing_any].help = letters(4096 + more);
        assert_int_equal(open_with_tables(&host_table, &odd), expected);
    }
}

static int open_with_sources(uint16_t count) {
    const char *sources[65];
    struct pt_table many = mark_table;
    for (size_t i = 0; i < PT_COUNT(sources); i++)
        sources[i] = "source";
    many.sources = sources;
    many.source_count = count;
    return open_with_tables(&host_table, &many);
}

static int open_with_columns(uint16_t count) {
    struct pt_column *columns = pt_calloc(count, sizeof *columns);
    char(*names)[8] = pt_calloc(count, sizeof *names);
    struct pt_table many = mark_table;
    for (uint16_t i = 0; i < count; i++) {
        snprintf(names[i], sizeof *names, "m%u", i);
        columns[i] = mark_columns[0];
        columns[i].name = columns[i].short_name = names[i];
    }
    many.columns = columns;
    many.column_count = count;
    int rc = open_with_tables(&host_table, &many);
    pt_free(columns);
    pt_free(names);
    return rc;
}

static void a_schema_has_a_limit_for_each_of_its_lists(void **state) {
    (void)state;
    assert_int_equal(open_with_sources(64), 0);
    assert_int_equal(open_with_sources(65), -EBADMSG);
    assert_int_equal(open_with_columns(4096), 0);
    assert_int_equal(open_with_columns(4097), -EBADMSG);
}

static void sleeping_things_cost_next_to_nothing(void **state) {
    (void)state;
    enum { ROWS = 5000 };
    begin_run(&run, 15);
    struct pt_sample s;
    pt_sample_init(&s, &schema);
    for (int tick = 0; tick < 3; tick++) {
        uint64_t before = run.journal.byte_count;
        pt_sample_clear(&s);
        s.mono_ns = INT64_C(1000000000) * (tick + 1);
        for (int i = 0; i < ROWS; i++) {
            pt_batch_add_row(&s.batches[THING]);
            pt_set_str(&s.batches[THING], thing_id, PT_STR("x"));
            pt_set_i64(&s.batches[THING], thing_part, i);
            for (int source = 0; source < 2; source++)
                pt_set_time(&s.batches[THING], source, s.mono_ns + 5000 * i + 2000 * source);
        }
        assert_int_equal(pt_journal_write(&run.journal, &s), 0);
        if (tick > 0)
            assert_true(run.journal.byte_count - before < 40);
    }
    pt_sample_release(&s);
    end_run(&run);
}

static int make_path_and_tables(void **state) {
    (void)state;
    snprintf(path, sizeof path, "/tmp/pitot-journal-test-%ld.pitot", (long)getpid());
    for (int i = 0; i < WIDE_COUNT; i++) {
        snprintf(wide_names[i], sizeof wide_names[i], "w%d", i);
        wide_columns[i] = (struct pt_column){ wide_names[i],
                                              wide_names[i],
                                              i % 3 ? PT_COUNTER : PT_GAUGE,
                                              i % 7 ? PT_I64 : PT_F64,
                                              i % 5 ? PT_NONE : PT_BYTES,
                                              0,
                                              "" };
    }
    return 0;
}

static int remove_path(void **state) {
    (void)state;
    unlink(path);
    return 0;
}

/* FNV-1a: other programs, and other versions of this one, must find the same. */
static void the_id_of_a_schema_is_known(void **state) {
    (void)state;
    assert_true(pt_journal_schema_id(PT_STR("")) == UINT64_C(0xcbf29ce484222325));
    assert_true(pt_journal_schema_id(PT_STR("a")) == UINT64_C(0xaf63dc4c8601ec8c));
    assert_true(pt_journal_schema_id(PT_STR("foobar")) == UINT64_C(0x85944171f73967e8));
}

int main(void) {
    const struct CMUnitTest tests_[] = {
        PT_TEST(the_id_of_a_schema_is_known, "C315: the id of a schema is known"),
        PT_TEST(what_is_written_is_read,
                "C028 C030 C031: every cell, null and read time written is read"),
        PT_TEST(the_schema_travels_with_the_run, "C029: the schema travels with the run"),
        PT_TEST(whole_records_before_a_cut_are_read,
                "C018: whole records before a cut at any byte are read"),
        PT_TEST(one_changed_byte_never_gives_a_wrong_value,
                "C018 C324: one changed byte never gives a wrong value, and costs at most a block"),
        PT_TEST(a_full_disk_costs_the_samples_that_do_not_fit,
                "C018: a full disk costs the samples that do not fit, no others"),
        PT_TEST(what_cannot_be_cut_back_is_not_written_to_again,
                "C018: what cannot be cut back is not written to again"),
        PT_TEST(records_of_a_newer_minor_version_are_passed_over,
                "C018: records of a newer minor version are passed over"),
        PT_TEST(a_newer_major_version_is_refused_in_words,
                "C018: a newer major version is refused in words"),
        PT_TEST(journals_of_version_1_are_read, "C018: journals of version 1 are read"),
        PT_TEST(a_second_writer_is_refused, "C019: a second writer of the same file is refused"),
        PT_TEST(a_steady_write_allocates_nothing, "C018: a steady write allocates nothing"),
        PT_TEST(a_running_journal_can_be_followed, "C018: a running journal can be followed"),
        PT_TEST(lanes_do_not_mix, "samples of several lanes are read as they were written"),
        PT_TEST(each_lane_has_its_own_differences, "each lane has its own differences"),
        PT_TEST(notes_are_found_by_key, "C020: notes about the run are found by key"),
        PT_TEST(an_absurd_length_takes_no_memory, "C018: an absurd length takes no memory"),
        PT_TEST(a_schema_that_could_do_harm_is_refused,
                "C030: a schema that could do harm is refused"),
        PT_TEST(names_of_a_schema_have_their_lengths,
                "C030: names of a schema have these characters and lengths"),
        PT_TEST(a_schema_has_a_limit_for_each_of_its_lists,
                "C030: a schema has a limit for each of its lists"),
        PT_TEST(damage_in_one_lane_gives_no_wrong_value_in_another,
                "C018: damage in one lane gives no wrong value in another"),
        PT_TEST(reading_resumes_wherever_the_damage_ends,
                "C018: reading resumes wherever the damage ends"),
        PT_TEST(the_bytes_of_the_format_stay, "C018: the bytes of the format do not change"),
        PT_TEST(samples_have_the_bytes_of_the_specification,
                "C018: samples have the bytes of the specification"),
        PT_TEST(bytes_that_are_not_a_sample_are_refused,
                "C018: bytes that are not a sample are refused"),
        PT_TEST(thousandths_have_their_bounds, "C018: doubles are thousandths within their bounds"),
        PT_TEST(a_disk_that_fails_is_an_error_in_words,
                "C018: a disk that fails is an error in words, a short read is not"),
        PT_TEST(sleeping_things_cost_next_to_nothing,
                "C018: 5,000 rows in which nothing happened cost a few bytes"),
    };
    return cmocka_run_group_tests(tests_, make_path_and_tables, remove_path);
}
