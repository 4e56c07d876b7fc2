/* A damaged journal becomes a whole one, with everything that can be read of it. */
#include "test.h"

#include "store/journal_repair.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP_COLUMNS(X, t)                                    \
    X(t, number, "sNumber", COUNTER, I64, COUNT, 0, "number") \
    X(t, name, "sName", INFO, STRING, NONE, 0, "name")
PT_TABLE(step, PT_TABLE_MAIN("step"), "steps", STEP_COLUMNS, "none");

static const struct pt_table *const tables[] = { &step_table };
static const struct pt_schema schema = { tables, 1 };
static const uint8_t uuid[16] = "repair a journal";
static char damaged_path[64], whole_path[64];

enum { LANES = 2, SAMPLES = 600 };

/* Samples 0 to 599, alternately in two lanes, a note before and one behind them. */
static void write_journal(bool has_end) {
    struct pt_journal j;
    struct pt_sample s;
    unlink(damaged_path);
    unlink(whole_path);
    assert_int_equal(pt_journal_create(&j, damaged_path, uuid, &schema, NULL), 0);
    assert_int_equal(pt_journal_note(&j, PT_STR("tag"), PT_STR("k=v")), 0);
    pt_sample_init(&s, &schema);
    for (int i = 0; i < SAMPLES; i++) {
        pt_sample_clear(&s);
        s.mono_ns = s.wall_ns = i + 1;
        pt_batch_add_row(&s.batches[0]);
        pt_set_i64(&s.batches[0], step_number, i);
        pt_set_str(&s.batches[0], step_name, PT_STR("a step"));
        assert_int_equal(pt_journal_write_lane(&j, (uint32_t)i % LANES, &s), 0);
    }
    assert_int_equal(pt_journal_note(&j, PT_STR("end"), PT_STR("0")), 0);
    pt_sample_release(&s);
    off_t size = (off_t)j.byte_count;
    assert_int_equal(pt_journal_close(&j), 0);
    if (!has_end) /* as if it had been killed in the middle of the last note */
        assert_int_equal(truncate(damaged_path, size - 1), 0);
}

static void change_byte(off_t offset) {
    uint8_t byte;
    int fd = open(damaged_path, O_RDWR);
    assert_int_equal(pread(fd, &byte, 1, offset), 1);
    byte ^= 0x55;
    assert_int_equal(pwrite(fd, &byte, 1, offset), 1);
    close(fd);
}

/* The copy is whole, and its samples are some of those that were written, in order. */
static uint64_t check_copy(void) {
    struct pt_journal_reader r;
    struct pt_sample s;
    int64_t last = -1;
    assert_int_equal(pt_journal_open(&r, whole_path, NULL), 0);
    assert_memory_equal(r.uuid, uuid, sizeof uuid);
    pt_sample_init(&s, &r.schema);
    while (pt_journal_next(&r, &s) > 0) {
        int64_t number = pt_get_i64(&s.batches[0], 0, step_number);
        assert_true(number > last && number < SAMPLES);
        assert_int_equal(s.mono_ns, number + 1);
        assert_int_equal(r.lane, number % LANES);
        assert_true(pt_str_eq(pt_get_str(&s.batches[0], 0, step_name), PT_STR("a step")));
        last = number;
    }
    uint64_t count = r.sample_count;
    assert_true(r.is_complete);
    assert_int_equal(r.skipped_bytes + r.tail_bytes + r.skipped_sample_count, 0);
    pt_sample_release(&s);
    pt_journal_reader_close(&r);
    return count;
}

static void a_whole_journal_needs_no_repair(void **state) {
    (void)state;
    struct pt_journal_damage damage;
    write_journal(true);
    assert_int_equal(pt_journal_repair(damaged_path, NULL, &damage, NULL), 0);
    assert_false(pt_journal_is_damaged(&damage));
    assert_int_equal(damage.sample_count, SAMPLES);
    assert_int_equal(damage.lost_sample_count, 0);
    assert_int_equal(access(whole_path, F_OK), -1);
}

static void damage_anywhere_costs_at_most_a_block(void **state) {
    (void)state;
    struct stat st;
    write_journal(true);
    assert_int_equal(stat(damaged_path, &st), 0);
    for (off_t offset = 0; offset < st.st_size; offset += 1 + st.st_size / 400) {
        struct pt_journal_damage damage;
        struct pt_err err = { "" };
        change_byte(offset);
        if (pt_journal_repair(damaged_path, whole_path, &damage, &err))
            fail_msg("byte %lld: %s", (long long)offset, err.text);
        assert_true(pt_journal_is_damaged(&damage));
        uint64_t saved = check_copy();
        assert_int_equal(saved, damage.sample_count);
        if (damage.is_complete) /* else the end record was hit: nobody knows how many there were */
            assert_int_equal(saved + damage.lost_sample_count, SAMPLES);
        assert_true(saved >= SAMPLES - LANES * PT_JOURNAL_KEY_SAMPLES);
        assert_int_equal(damage.is_header_damaged, offset < 32);
        change_byte(offset);
        unlink(whole_path);
    }
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

/* As disks and file systems do: bytes altered, a part zero or noise, the end missing. */
static void damage_somehow(uint8_t *bytes, size_t *size, uint64_t *random) {
    size_t at = next_random(random) % *size, n = next_random(random) % (*size - at) + 1;
    n = next_random(random) % 2 ? n : n % 64 + 1;
    n = n < *size - at ? n : *size - at;
    switch (next_random(random) % 4) {
    case 0:
        for (uint64_t i = next_random(random) % 8 + 1; i > 0; i--)
            bytes[next_random(random) % *size] ^= (uint8_t)(next_random(random) % 255 + 1);
        break;
    case 1:
        memset(bytes + at, 0, n);
        break;
    case 2:
        for (size_t i = 0; i < n; i++)
            bytes[at + i] = (uint8_t)next_random(random);
        break;
    default:
        *size = at;
    }
}

/* TORTURE in the environment: the long form. */
static void whatever_is_damaged_no_value_is_wrong(void **state) {
    (void)state;
    int count = getenv("TORTURE") ? 10000 : 200, saved = 0;
    uint64_t random = 4711;
    struct stat st;
    write_journal(true);
    assert_int_equal(stat(damaged_path, &st), 0);
    uint8_t *whole = pt_malloc((size_t)st.st_size), *bytes = pt_malloc((size_t)st.st_size);
    int fd = open(damaged_path, O_RDWR);
    assert_int_equal(pread(fd, whole, (size_t)st.st_size, 0), st.st_size);
    for (int i = 0; i < count; i++) {
        struct pt_journal_damage damage;
        size_t size = (size_t)st.st_size;
        memcpy(bytes, whole, size);
        for (int k = i % 3; k >= 0 && size > 0; k--)
            damage_somehow(bytes, &size, &random);
        assert_int_equal(ftruncate(fd, (off_t)size), 0);
        assert_int_equal(pwrite(fd, bytes, size, 0), size);
        unlink(whole_path);
        if (pt_journal_repair(damaged_path, whole_path, &damage, NULL) || access(whole_path, F_OK))
            continue; /* nothing of it can be read, or nothing was damaged */
        assert_int_equal(check_copy(), damage.sample_count);
        saved++;
    }
    close(fd);
    pt_free(whole);
    pt_free(bytes);
    assert_true(saved > count / 2);
    print_message("# summary: damaged journals: %d, %d repaired, no wrong value\n", count, saved);
}

static void a_run_that_was_cut_off_gets_an_end(void **state) {
    (void)state;
    struct pt_journal_damage damage;
    write_journal(false);
    assert_int_equal(pt_journal_repair(damaged_path, whole_path, &damage, NULL), 0);
    assert_false(damage.is_complete);
    assert_true(damage.tail_bytes > 0);
    assert_int_equal(check_copy(), SAMPLES);
}

static void a_copy_never_replaces_a_file(void **state) {
    (void)state;
    struct pt_journal_damage damage;
    struct pt_err err = { "" };
    write_journal(true);
    int fd = open(whole_path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(pt_journal_repair(damaged_path, whole_path, &damage, &err), -EEXIST);
    assert_int_equal(access(whole_path, F_OK), 0);
}

int main(void) {
    static const struct CMUnitTest tests[] = {
        PT_TEST(a_whole_journal_needs_no_repair, "C324: a whole journal needs no repair"),
        PT_TEST(damage_anywhere_costs_at_most_a_block,
                "C324: damage anywhere costs at most a block, and no value is wrong"),
        PT_TEST(whatever_is_damaged_no_value_is_wrong,
                "C324: whatever is damaged, no value of the copy is wrong"),
        PT_TEST(a_run_that_was_cut_off_gets_an_end, "C324: a run that was cut off gets an end"),
        PT_TEST(a_copy_never_replaces_a_file, "C324: a copy never replaces a file"),
    };
    snprintf(damaged_path, sizeof damaged_path, "/tmp/pitot-damaged-%d", getpid());
    snprintf(whole_path, sizeof whole_path, "/tmp/pitot-whole-%d", getpid());
    int failed = cmocka_run_group_tests_name("journal_repair", tests, NULL, NULL);
    unlink(damaged_path);
    unlink(whole_path);
    return failed;
}
