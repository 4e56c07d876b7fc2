/* Cursor, buffers, output, JSON, digits, checksum. */
#include "test.h"

#include "base/buf.h"
#include "base/crc32c.h"
#include "base/digits.h"
#include "base/fd.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/json_walk.h"
#include "base/module.h"
#include "base/out.h"
#include "base/scan.h"
#include "base/utf8.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

static void numbers_are_exact_to_the_last_digit(void **state) {
    (void)state;
    struct pt_scan s = pt_scan_of(PT_STR("18446744073709551615 9223372036854775807 "
                                         "-9223372036854775808"));
    assert_true(pt_scan_u64(&s) == UINT64_MAX);
    assert_true(pt_scan_i64(&s) == INT64_MAX);
    assert_true(pt_scan_i64(&s) == INT64_MIN);
    assert_false(s.failed);
}

static void overflow_is_a_failure_and_sticks(void **state) {
    (void)state;
    struct pt_scan s = pt_scan_of(PT_STR("18446744073709551616 5"));
    assert_true(pt_scan_u64(&s) == 0);
    assert_true(s.failed);
    assert_true(pt_scan_u64(&s) == 0);
    struct pt_scan t = pt_scan_of(PT_STR("9223372036854775808"));
    pt_scan_i64(&t);
    assert_true(t.failed);
}

static void a_word_that_is_no_number_fails_instead_of_being_zero(void **state) {
    (void)state;
    struct pt_scan s = pt_scan_of(PT_STR("max"));
    pt_scan_i64(&s);
    assert_true(s.failed);
    s = pt_scan_of(PT_STR("1.5x"));
    pt_scan_f64(&s);
    assert_true(s.failed);
    s = pt_scan_of(PT_STR("nan"));
    pt_scan_f64(&s);
    assert_true(s.failed);
    s = pt_scan_of(PT_STR("\0"));
    pt_scan_f64(&s);
    assert_true(s.failed);
    s = pt_scan_of(PT_STR("12\0x"));
    pt_scan_f64(&s);
    assert_true(s.failed);
}

static void lines_and_words_come_out_in_order(void **state) {
    (void)state;
    struct pt_scan s = pt_scan_of(PT_STR("a 1\n\nlast  word")), line;
    assert_true(pt_scan_line(&s, &line));
    assert_str_eq(pt_scan_word(&line), "a");
    assert_int_equal(pt_scan_i64(&line), 1);
    assert_true(pt_scan_line(&s, &line));
    assert_true(line.at == line.end);
    assert_true(pt_scan_line(&s, &line));
    pt_scan_skip(&line, 1);
    assert_str_eq(pt_scan_word(&line), "word");
    assert_false(pt_scan_line(&s, &line));
}

static void varints_round_trip_at_every_width(void **state) {
    (void)state;
    struct pt_buf b = { 0 };
    for (int bit = 0; bit < 64; bit++)
        pt_buf_varint(&b, UINT64_C(1) << bit);
    pt_buf_zigzag(&b, INT64_MIN);
    pt_buf_zigzag(&b, INT64_MAX);
    struct pt_bytes r = { b.at, b.at + b.len, false };
    for (int bit = 0; bit < 64; bit++)
        assert_true(pt_bytes_varint(&r) == UINT64_C(1) << bit);
    assert_true(pt_bytes_zigzag(&r) == INT64_MIN);
    assert_true(pt_bytes_zigzag(&r) == INT64_MAX);
    assert_false(r.failed);
    pt_bytes_varint(&r);
    assert_true(r.failed);
    pt_buf_release(&b);
}

static void an_overlong_varint_fails(void **state) {
    (void)state;
    const uint8_t overlong[] = { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02 };
    struct pt_bytes r = { overlong, overlong + sizeof overlong, false };
    pt_bytes_varint(&r);
    assert_true(r.failed);
}

static void crc32c_of_the_check_string_is_e3069283(void **state) {
    (void)state;
    assert_int_equal(pt_crc32c(0, "123456789", 9), 0xe3069283);
    assert_int_equal(pt_crc32c(pt_crc32c(0, "1234", 4), "56789", 5), 0xe3069283);
}

static void check_i64(int64_t value) {
    char text[PT_DIGITS_MAX], expected[32];
    size_t n = pt_digits_i64(text, value);
    snprintf(expected, sizeof expected, "%lld", (long long)value);
    assert_str_eq(((struct pt_str){ text, n }), expected);
}

static void integers_of_every_width_have_all_their_digits(void **state) {
    (void)state;
    check_i64(0);
    check_i64(INT64_MIN);
    check_i64(INT64_MAX);
    for (int64_t power = 1; power <= INT64_MAX / 10; power *= 10)
        for (int64_t near = -1; near <= 1; near++) {
            check_i64(power * 10 + near);
            check_i64(-power - near);
        }
    for (int64_t value = 0; value < 100000; value++)
        check_i64(value * 1003);
}

static void check_f64(double value, const char *expected) {
    char text[PT_DIGITS_MAX + 1];
    text[pt_digits_f64(text, value)] = 0;
    if (expected)
        assert_string_equal(text, expected);
    assert_true(strtod(text, NULL) == value);
}

/* As short as the first precision of printf that reads back, and the same number. */
static void check_shortest(double value) {
    char text[PT_DIGITS_MAX + 1], printed[64];
    text[pt_digits_f64(text, value)] = 0;
    int precision = 14;
    do
        snprintf(printed, sizeof printed, "%.*g", ++precision, value);
    while (strtod(printed, NULL) != value);
    size_t digits = 0;
    for (const char *p = text; *p && *p != 'e'; p++)
        digits += *p != '.' && *p != '-' && (digits > 0 || *p != '0');
    if (precision > 15)
        assert_int_equal(digits, precision);
    else
        assert_true(digits <= 15);
    assert_true(strtod(text, NULL) == value);
}

static void doubles_are_short_and_read_back_the_same(void **state) {
    (void)state;
    check_f64(0.1, "0.1");
    check_f64(1.5, "1.5");
    check_f64(100, "100");
    check_f64(-0.001, "-0.001");
    check_f64(2.3, "2.3");
    check_f64(1e300, "1e+300");
    check_f64(0.1 + 0.2, "0.30000000000000004");
    check_f64(-0.0, "-0");
    check_f64(0.75, "0.75");
    check_f64(99.999, "99.999");
    check_f64(0.0078125, "0.0078125");
    check_f64(0.001, "0.001");
    check_f64(2251799813685249.5, "2251799813685249.5");
    check_f64(9007199254740991, "9007199254740991");
    check_f64(133180726043928.375, "133180726043928.38"); /* a tie: the even digit */
    check_f64(562949953421312.125, "562949953421312.1");
    check_f64(5e-324, NULL);
    check_f64(0.000138158, "0.000138158");
    check_f64(1e-9, "0.000000001");
    check_f64(1.5e-9, "1.5e-09");
    check_f64(0.0039, "0.0039");
    for (int i = 1; i < 3906250; i += 997)
        check_shortest(i / 1e9);
    uint64_t bits = 88172645463325252;
    for (int i = 0; i < 100000; i++) {
        bits ^= bits << 13, bits ^= bits >> 7, bits ^= bits << 17;
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            check_f64(value, NULL);
        check_shortest(ldexp((double)(bits >> 11 | 1), -1 - (int)(bits % 59)));
    }
}

static void writing_to_a_full_disk_is_reported_at_close(void **state) {
    (void)state;
    struct pt_out o;
    struct pt_err err;
    assert_int_equal(pt_out_create(&o, "/dev/full", &err), 0);
    for (int i = 0; i < 100000; i++)
        pt_out_text(&o, "0123456789");
    assert_int_equal(pt_out_close(&o), -ENOSPC);
}

static void a_file_appears_only_when_it_is_complete(void **state) {
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "/tmp/pitot-out-test-%d", (int)getpid());
    struct pt_out o;
    struct pt_err err;
    assert_int_equal(pt_out_create(&o, path, &err), 0);
    pt_out_text(&o, "x");
    assert_int_equal(access(path, F_OK), -1);
    assert_int_equal(pt_out_close(&o), 0);
    assert_int_equal(access(path, F_OK), 0);
    unlink(path);
}

/* The records of smaps have some 650 bytes and the name of the file: with names of many lengths,
 * some make a page hold only five of them, far from full. */
static void map_files_with_names_of_many_lengths(void) {
    for (int length = 4; length < 120; length += 8) {
        char path[160];
        snprintf(path, sizeof path, "/tmp/pitot-map-%0*d", length, (int)getpid());
        int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
        unlink(path);
        assert_int_equal(ftruncate(fd, 4096), 0);
        for (int i = 0; i < 12; i++)
            assert_true(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) != MAP_FAILED);
        close(fd);
    }
}

static size_t read_in_pieces(const char *path, bool *has_short_piece) {
    char piece[8192];
    size_t length = 0;
    ssize_t last = sizeof piece;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    for (ssize_t n; (n = pread(fd, piece, sizeof piece, (off_t)length)) > 0; last = n) {
        length += (size_t)n;
        *has_short_piece |= last < 3500;
    }
    close(fd);
    return length;
}

static void a_file_given_in_short_pieces_is_read_to_its_end(void **state) {
    (void)state;
    char path[64];
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t still = fork();
    if (still == 0) {
        map_files_with_names_of_many_lengths();
        close(ready[1]);
        for (;;)
            pause();
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], path, 1), 0); /* waits until the child has closed its end */
    close(ready[0]);
    snprintf(path, sizeof path, "/proc/%d/smaps", (int)still);
    bool has_short_piece = false;
    size_t expected = read_in_pieces(path, &has_short_piece);
    struct pt_text buffer = { 0 };
    struct pt_scan text;
    int rc = pt_fs_read(AT_FDCWD, path, &buffer, &text);
    size_t length = rc ? 0 : pt_scan_rest(&text).len;
    pt_text_release(&buffer);
    kill(still, SIGKILL);
    waitpid(still, NULL, 0);
    if (!has_short_piece)
        skip();
    assert_int_equal(length, expected);
}

static void json_escapes_controls_quotes_and_broken_utf8(void **state) {
    (void)state;
    char path[64], text[256] = { 0 };
    snprintf(path, sizeof path, "/tmp/pitot-json-test-%d", (int)getpid());
    struct pt_out o;
    struct pt_err err;
    assert_int_equal(pt_out_create(&o, path, &err), 0);
    struct pt_json j = { .out = &o };
    pt_json_object(&j, NULL);
    pt_json_str(&j, "a", PT_STR("q\"\\\n\x01\xff\xc3\xa9"));
    pt_json_array(&j, "b");
    pt_json_i64(&j, NULL, -5);
    pt_json_f64(&j, NULL, NAN);
    pt_json_end(&j);
    pt_json_end(&j);
    assert_int_equal(pt_out_close(&o), 0);
    FILE *f = fopen(path, "r");
    assert_non_null(fgets(text, sizeof text, f));
    fclose(f);
    unlink(path);
    assert_string_equal(text,
                        "{\"a\":\"q\\\"\\\\\\n\\u0001\xef\xbf\xbd\xc3\xa9\",\"b\":[-5,null]}");
}

static void output_to_memory_is_appended_whole(void **state) {
    (void)state;
    struct pt_buf buffer = { 0 };
    struct pt_out o;
    pt_buf_str(&buffer, PT_STR("before "));
    pt_out_memory(&o, &buffer);
    for (int i = 0; i < 3 * PT_OUT_BUFFER / 10; i++)
        pt_out_text(&o, "0123456789");
    assert_int_equal(pt_out_offset(&o), 3 * PT_OUT_BUFFER / 10 * 10);
    assert_int_equal(pt_out_close(&o), 0);
    assert_int_equal(buffer.len, 7 + 3 * PT_OUT_BUFFER / 10 * 10);
    assert_memory_equal(buffer.at, "before 0123456789", 17);
    assert_memory_equal(buffer.at + buffer.len - 10, "0123456789", 10);
    pt_buf_release(&buffer);
}

static void short_output_takes_little_memory(void **state) {
    (void)state;
    struct pt_buf buffer = { 0 };
    struct pt_out o;
    pt_out_memory(&o, &buffer);
    pt_out_text(&o, "0123456789");
    assert_int_equal(pt_out_close(&o), 0);
    assert_int_equal(buffer.capacity, 10);
    assert_str_eq(pt_buf_as_str(&buffer), "0123456789");
    pt_buf_release(&buffer);
    pt_out_memory(&o, &buffer);
    assert_int_equal(pt_out_close(&o), 0);
    assert_int_equal(buffer.len, 0);
    pt_buf_release(&buffer);
}

/* Of this program, in pages; read without anything that would read more of a library. */
static long file_pages(void) {
    char text[128] = "";
    long size = 0, resident = 0, shared = 0;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    assert_true(read(fd, text, sizeof text - 1) > 0);
    close(fd);
    struct pt_scan s = pt_scan_of(pt_str_from(text));
    size = pt_scan_i64(&s);
    resident = pt_scan_i64(&s);
    shared = pt_scan_i64(&s);
    assert_false(s.failed);
    assert_true(size >= resident && resident >= shared);
    return shared;
}

static void pages_of_libraries_are_given_back(void **state) {
    (void)state;
    long before = file_pages();
    pt_module_settle();
    assert_true(file_pages() < before);
    assert_true(strtod("0.5", NULL) == 0.5); /* and come back */
}

static void the_directory_of_the_program_is_known(void **state) {
    (void)state;
    char own[4096], expected[4096];
    assert_non_null(realpath("/proc/self/exe", expected));
    *strrchr(expected, '/') = 0;
    assert_int_equal(pt_fs_own_directory(own, sizeof own), 0);
    assert_string_equal(own, expected);
}

static void bytes_that_are_not_utf8_are_replaced(void **state) {
    (void)state;
    static const struct {
        const char *bytes, *text;
    } cases[] = {
        { "", "" },
        { "plain \xc3\xa9 \xf0\x9f\x98\x80", "plain \xc3\xa9 \xf0\x9f\x98\x80" },
        { "\xff", "\xef\xbf\xbd" },
        { "a\xc3(b\xe2\x82", "a\xef\xbf\xbd(b\xef\xbf\xbd\xef\xbf\xbd" },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_buf text = { 0 };
        pt_utf8_add(&text, pt_str_from(cases[i].bytes));
        assert_str_eq(pt_buf_as_str(&text), cases[i].text);
        pt_buf_release(&text);
    }
}

struct found_value {
    char path[PT_JSON_PATH_MAX];
    enum pt_json_kind kind;
    char *text;
};

static void keep_value(void *arg, const char *path, struct pt_json_value value) {
    struct found_value *found = arg;
    pt_str_copy(found->path, sizeof found->path, pt_str_from(path));
    found->kind = value.kind;
    pt_free(found->text);
    found->text = pt_strndup(value.text);
}

static void json_strings_are_decoded(void **state) {
    (void)state;
    static const struct {
        const char *escaped, *plain;
    } cases[] = {
        { "plain", "plain" },
        { "", "" },
        { "\\\"a\\\\b\\/c\\n\\t", "\"a\\b/c\n\t" },
        { "\\u0041\\u00e9\\u20ac", "A\xc3\xa9\xe2\x82\xac" },
        { "\\ud83d\\ude00!", "\xf0\x9f\x98\x80!" },
        { "\\ud83dx", "\xef\xbf\xbdx" },            /* half of a pair */
        { "\\u12g4 \\u1 \\x", "\\u12g4 \\u1 \\x" }, /* no escapes */
        { "end\\\\", "end\\" },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct found_value found = { .text = NULL };
        char *text = pt_asprintf("{\"k\\\"\\u0041y\": [\"%s\"]}", cases[i].escaped);
        assert_int_equal(pt_json_walk(pt_str_from(text), keep_value, &found), 0);
        assert_string_equal(found.path, "k\"Ay.0");
        assert_string_equal(found.text, cases[i].plain);
        assert_int_equal(found.kind, PT_JSON_STRING);
        pt_free(found.text);
        pt_free(text);
    }
}

static void json_values_have_a_kind(void **state) {
    (void)state;
    static const struct {
        const char *text;
        enum pt_json_kind kind;
    } cases[] = {
        { "null", PT_JSON_NULL },     { "true", PT_JSON_BOOL },       { "false", PT_JSON_BOOL },
        { "-1.5e3", PT_JSON_NUMBER }, { "\"null\"", PT_JSON_STRING }, { "\"1\"", PT_JSON_STRING },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct found_value found = { .text = NULL };
        assert_int_equal(pt_json_walk(pt_str_from(cases[i].text), keep_value, &found), 0);
        assert_int_equal(found.kind, cases[i].kind);
        pt_free(found.text);
    }
}

static void a_zeroed_descriptor_is_not_open(void **state) {
    (void)state;
    struct pt_fd none = { 0 }, failed = pt_fd_of(-1), standard_input = pt_fd_of(0);
    assert_false(pt_fd_is_open(none));
    assert_false(pt_fd_is_open(failed));
    assert_int_equal(pt_fd_get(none), -1);
    assert_int_equal(pt_fd_close(&none), 0);
    assert_true(pt_fd_is_open(standard_input));
    assert_int_equal(pt_fd_get(standard_input), 0);
}

static void a_closed_descriptor_is_not_open(void **state) {
    (void)state;
    struct pt_fd fd = pt_fd_of(dup(STDOUT_FILENO));
    int number = pt_fd_get(fd);
    assert_true(pt_fd_is_open(fd));
    assert_int_equal(pt_fd_close(&fd), 0);
    assert_false(pt_fd_is_open(fd));
    fd = pt_fd_of(number);
    assert_int_equal(pt_fd_close(&fd), -EBADF);
    assert_false(pt_fd_is_open(fd));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(a_zeroed_descriptor_is_not_open, "a zeroed descriptor is not open, 0 is"),
        PT_TEST(a_closed_descriptor_is_not_open, "a closed descriptor is not open"),
        PT_TEST(bytes_that_are_not_utf8_are_replaced, "bytes that are not UTF-8 are replaced"),
        PT_TEST(json_strings_are_decoded, "strings and names of JSON are decoded"),
        PT_TEST(json_values_have_a_kind, "values of JSON have a kind"),
        PT_TEST(output_to_memory_is_appended_whole, "output to memory is appended whole"),
        PT_TEST(short_output_takes_little_memory,
                "output that is short takes no more memory than it needs"),
        PT_TEST(pages_of_libraries_are_given_back,
                "pages of libraries that only loading has read are given back"),
        PT_TEST(the_directory_of_the_program_is_known, "the directory of the program is known"),
        PT_TEST(numbers_are_exact_to_the_last_digit, "C031: numbers are exact to the last digit"),
        PT_TEST(overflow_is_a_failure_and_sticks, "overflow is a failure and sticks"),
        PT_TEST(a_word_that_is_no_number_fails_instead_of_being_zero,
                "a word that is not a number fails instead of being zero"),
        PT_TEST(lines_and_words_come_out_in_order, "lines and words come out in order"),
        PT_TEST(varints_round_trip_at_every_width, "varints round-trip at every width"),
        PT_TEST(an_overlong_varint_fails, "an overlong varint fails"),
        PT_TEST(crc32c_of_the_check_string_is_e3069283, "CRC-32C of 123456789 is e3069283"),
        PT_TEST(integers_of_every_width_have_all_their_digits,
                "C031: integers of every width have all their digits"),
        PT_TEST(doubles_are_short_and_read_back_the_same,
                "C031: doubles are short and read back the same"),
        PT_TEST(writing_to_a_full_disk_is_reported_at_close,
                "writing to a full disk is reported at close"),
        PT_TEST(a_file_appears_only_when_it_is_complete, "a file appears only when it is complete"),
        PT_TEST(a_file_given_in_short_pieces_is_read_to_its_end,
                "a file given in short pieces is read to its end"),
        PT_TEST(json_escapes_controls_quotes_and_broken_utf8,
                "JSON escapes controls, quotes and broken UTF-8"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
