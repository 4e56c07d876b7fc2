/* Parquet: Thrift, encodings against plain decoders, dictionaries, statistics, whole files. */
#include "test.h"

#include "base/out.h"
#include "format/rows/parquet.h"
#include "format/rows/parquet_cells.h"
#include "format/rows/parquet_column.h"
#include "format/rows/parquet_encode.h"
#include "format/rows/parquet_thrift.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static struct pt_bytes reader_of(const struct pt_buf *b) {
    return (struct pt_bytes){ b->at, b->at + b->len, false };
}

static void assert_bytes(const struct pt_buf *b, const void *expected, size_t n) {
    assert_int_equal(b->len, n);
    assert_memory_equal(b->at, expected, n);
}

static void a_struct_has_the_bytes_of_the_compact_protocol(void **state) {
    (void)state;
    struct pt_buf b = { 0 };
    struct pt_thrift t = { .into = &b };
    pt_thrift_i32(&t, 1, 5);
    pt_thrift_i64(&t, 3, -1);
    pt_thrift_str(&t, 4, PT_STR("ab"));
    pt_thrift_bool(&t, 5, true);
    pt_thrift_bool(&t, 6, false);
    pt_thrift_struct(&t, 12);
    pt_thrift_i16(&t, 1, 300);
    pt_thrift_end(&t);
    pt_thrift_end(&t);
    static const uint8_t expected[] = { 0x15, 0x0a, 0x26, 0x01, 0x18, 0x02, 'a',  'b',
                                        0x11, 0x12, 0x6c, 0x14, 0xd8, 0x04, 0x00, 0x00 };
    assert_bytes(&b, expected, sizeof expected);
    pt_buf_release(&b);
}

static void a_list_has_a_short_and_a_long_form(void **state) {
    (void)state;
    struct pt_buf b = { 0 };
    struct pt_thrift t = { .into = &b };
    pt_thrift_list(&t, 1, PT_THRIFT_STRUCT, 2);
    for (int i = 0; i < 2; i++) {
        pt_thrift_item_struct(&t);
        pt_thrift_i32(&t, 1, i);
        pt_thrift_end(&t);
    }
    pt_thrift_list(&t, 2, PT_THRIFT_I32, 15);
    for (int i = 0; i < 15; i++)
        pt_thrift_item_i32(&t, i);
    pt_thrift_end(&t);
    static const uint8_t expected[] = { 0x19, 0x2c, 0x15, 0x00, 0x00, 0x15, 0x02, 0x00, 0x19,
                                        0xf5, 0x0f, 0,    2,    4,    6,    8,    10,   12,
                                        14,   16,   18,   20,   22,   24,   26,   28,   0 };
    assert_bytes(&b, expected, sizeof expected);
    pt_buf_release(&b);
}

/* `width` bits at bit `at`, one by one. */
static uint64_t bits_at(const uint8_t *bytes, size_t at, unsigned width) {
    uint64_t value = 0;
    for (unsigned i = 0; i < width; i++, at++)
        value |= (uint64_t)(bytes[at / 8] >> at % 8 & 1) << i;
    return value;
}

/* DELTA_BINARY_PACKED, as Encodings.md describes it. Returns the number of values. */
static uint32_t decode_delta(const struct pt_buf *b, int64_t *values) {
    struct pt_bytes r = reader_of(b);
    uint64_t block = pt_bytes_varint(&r), minis = pt_bytes_varint(&r), count = pt_bytes_varint(&r);
    uint64_t value = (uint64_t)pt_bytes_zigzag(&r), n = 0;
    assert_int_equal(block % 128, 0);
    assert_int_equal(block / minis % 32, 0);
    if (count > 0)
        values[n++] = (int64_t)value;
    while (n < count) {
        uint64_t min = (uint64_t)pt_bytes_zigzag(&r);
        struct pt_str widths = pt_bytes_take(&r, minis);
        for (uint64_t m = 0; m < minis && n < count; m++) {
            unsigned width = (uint8_t)widths.at[m];
            struct pt_str body = pt_bytes_take(&r, block / minis * width / 8);
            for (uint64_t i = 0; i < block / minis && n < count; i++) {
                value += min + bits_at((const uint8_t *)body.at, i * width, width);
                values[n++] = (int64_t)value;
            }
        }
    }
    assert_false(r.failed);
    assert_true(r.at == r.end);
    return (uint32_t)n;
}

static void assert_delta_is(const struct pt_buf *b, const int64_t *values, uint32_t count) {
    int64_t *decoded = pt_calloc(count + 1, sizeof *decoded);
    assert_int_equal(decode_delta(b, decoded), count);
    if (count > 0)
        assert_memory_equal(decoded, values, count * sizeof *values);
    pt_free(decoded);
}

static void assert_delta_round_trips(const int64_t *values, uint32_t count) {
    struct pt_buf b = { 0 };
    pt_parquet_put_delta(&b, values, count);
    assert_delta_is(&b, values, count);
    pt_buf_clear(&b);
    pt_parquet_put_byte_delta(&b, values, count);
    assert_delta_is(&b, values, count);
    pt_buf_release(&b);
}

static void delta_of_every_length_is_what_a_plain_decoder_reads(void **state) {
    (void)state;
    static const uint32_t counts[] = { 0,   1,    2,    32,   33,    128,   129,
                                       130, 1024, 1025, 1026, 16384, 16385, 40000 };
    int64_t *values = pt_calloc(40000, sizeof *values);
    uint64_t random = 42;
    for (uint32_t i = 1; i < 40000; i++)
        values[i] = values[i - 1] + (int64_t)(next_random(&random) % 1000) - 10;
    for (size_t i = 0; i < PT_COUNT(counts); i++)
        assert_delta_round_trips(values, counts[i]);
    pt_free(values);
}

static void deltas_of_every_width_come_back(void **state) {
    (void)state;
    int64_t values[1500];
    uint64_t random = 7;
    for (unsigned width = 0; width <= 64; width++) {
        for (size_t i = 0; i < PT_COUNT(values); i++)
            values[i] = width ? (int64_t)(next_random(&random) >> (64 - width)) : 5;
        assert_delta_round_trips(values, PT_COUNT(values));
        assert_delta_round_trips(values, 100);
    }
}

static void jumps_between_the_extremes_wrap_around(void **state) {
    (void)state;
    int64_t values[3000];
    static const int64_t extremes[] = { INT64_MIN, INT64_MAX, INT64_MIN, 0, -1, INT64_MAX, 1 };
    for (size_t i = 0; i < PT_COUNT(values); i++)
        values[i] = extremes[i % PT_COUNT(extremes)];
    assert_delta_round_trips(values, PT_COUNT(values));
    assert_delta_round_trips(values, 2);
}

/* The RLE / bit-packing hybrid; `count` values of `width` bits. */
static void decode_hybrid(struct pt_bytes *r, unsigned width, uint32_t count, uint32_t *values) {
    for (uint32_t n = 0; n < count;) {
        uint64_t header = pt_bytes_varint(r);
        bool is_packed = header & 1;
        uint64_t run = is_packed ? (header >> 1) * 8 : header >> 1;
        uint64_t bytes = is_packed ? (header >> 1) * width : (width + 7) / 8;
        struct pt_str body = pt_bytes_take(r, bytes);
        assert_false(r->failed);
        assert_true(run > 0);
        for (uint64_t i = 0; i < run && n < count; i++)
            values[n++] =
                (uint32_t)bits_at((const uint8_t *)body.at, is_packed ? i * width : 0, width);
    }
}

static void indices_of_every_width_come_back(void **state) {
    (void)state;
    uint32_t indices[1003], decoded[PT_COUNT(indices)];
    uint64_t random = 3;
    for (unsigned width = 0; width <= 32; width++) {
        struct pt_buf b = { 0 };
        for (size_t i = 0; i < PT_COUNT(indices); i++)
            indices[i] = width ? (uint32_t)(next_random(&random) >> (64 - width)) : 0;
        pt_parquet_put_indices(&b, indices, PT_COUNT(indices), width);
        struct pt_bytes r = reader_of(&b);
        assert_int_equal(pt_bytes_u8(&r), width);
        decode_hybrid(&r, width, PT_COUNT(indices), decoded);
        assert_memory_equal(decoded, indices, sizeof indices);
        assert_true(r.at == r.end);
        pt_buf_release(&b);
    }
}

static void a_dictionary_of_one_has_indices_of_no_bits(void **state) {
    (void)state;
    static const uint32_t zeros[1000] = { 0 };
    struct pt_parquet_layout l = pt_parquet_index_layout(zeros, 1000, 1);
    assert_int_equal(l.width, 0);
    struct pt_buf b = { 0 };
    pt_parquet_put_indices(&b, zeros, 1000, l.width);
    static const uint8_t expected[] = { 0, 0xd0, 0x0f }; /* width, a run of 1000 << 1 */
    assert_bytes(&b, expected, sizeof expected);
    pt_buf_release(&b);
}

static void even_indices_are_packed_and_skewed_ones_are_bytes(void **state) {
    (void)state;
    uint32_t indices[16384];
    uint64_t random = 9;
    for (size_t i = 0; i < PT_COUNT(indices); i++)
        indices[i] = (uint32_t)(next_random(&random) % 1000);
    assert_int_equal(pt_parquet_index_layout(indices, PT_COUNT(indices), 1000).width, 10);
    for (size_t i = 0; i < PT_COUNT(indices); i++)
        indices[i] = (uint32_t)(next_random(&random) % (i % 16 ? 4 : 1000));
    assert_int_equal(pt_parquet_index_layout(indices, PT_COUNT(indices), 1000).width, 16);
    for (size_t i = 0; i < PT_COUNT(indices); i++)
        indices[i] = (uint32_t)(i / 2048 * 64 + next_random(&random) % 16);
    struct pt_parquet_layout l = pt_parquet_index_layout(indices, PT_COUNT(indices), 1000);
    assert_int_equal(l.page_values, PT_PARQUET_SMALL_PAGE);
}

static void assert_levels_round_trip(const uint64_t *present, uint32_t row_count) {
    struct pt_buf b = { 0 };
    uint32_t *decoded = pt_calloc(row_count, sizeof *decoded);
    pt_parquet_put_levels(&b, present, row_count);
    struct pt_bytes r = reader_of(&b);
    assert_int_equal(pt_bytes_u32(&r), b.len - 4);
    decode_hybrid(&r, 1, row_count, decoded);
    assert_true(r.at == r.end);
    for (uint32_t i = 0; i < row_count; i++)
        assert_int_equal(decoded[i], present[i / 64] >> i % 64 & 1);
    pt_free(decoded);
    pt_buf_release(&b);
}

static void levels_say_which_rows_are_null(void **state) {
    (void)state;
    static const uint64_t words[] = { UINT64_MAX, UINT64_MAX, 0,          0, 5,
                                      6,          UINT64_MAX, UINT64_MAX, 0, 0x123456789 };
    for (uint32_t rows = 1; rows <= 64 * PT_COUNT(words); rows++)
        assert_levels_round_trip(words, rows);
}

static void levels_without_nulls_are_one_run(void **state) {
    (void)state;
    struct pt_buf b = { 0 };
    uint64_t all[16];
    memset(all, 0xff, sizeof all);
    pt_parquet_put_levels(&b, all, 1000);
    static const uint8_t expected[] = { 3, 0, 0, 0, 0xd0, 0x0f, 1 };
    assert_bytes(&b, expected, sizeof expected);
    pt_buf_clear(&b);
    pt_parquet_put_equal_levels(&b, 1000, 1);
    assert_bytes(&b, expected, sizeof expected);
    pt_buf_release(&b);
}

static void a_byte_stream_split_has_all_first_bytes_first(void **state) {
    (void)state;
    static const uint64_t words[] = { 0x0807060504030201, 0x1817161514131211 };
    static const uint8_t expected[] = { 1, 0x11, 2, 0x12, 3, 0x13, 4, 0x14,
                                        5, 0x15, 6, 0x16, 7, 0x17, 8, 0x18 };
    struct pt_buf b = { 0 };
    pt_parquet_put_split(&b, words, 2);
    assert_bytes(&b, expected, sizeof expected);
    pt_buf_release(&b);
}

static void thousandths_are_exact_or_refused(void **state) {
    (void)state;
    int32_t thousandths[4];
    static const double good[] = { 0.001, -12.345, 99.9, 2000000 };
    assert_true(pt_thousandths_from(good, 4, thousandths));
    assert_int_equal(thousandths[0], 1);
    assert_int_equal(thousandths[1], -12345);
    assert_int_equal(thousandths[2], 99900);
    assert_int_equal(thousandths[3], 2000000000);
    static const double bad[] = { -0.0, 0.0001, 1.0 / 3, 0.1 + 0.2, 3000000, 1e300, 5e-324, -1e18 };
    for (size_t i = 0; i < PT_COUNT(bad); i++)
        assert_false(pt_thousandths_from(&bad[i], 1, thousandths));
}

static void thousandths_are_ranked_by_value(void **state) {
    (void)state;
    int32_t codes[] = { 5, -3, 5, 1000, -3 };
    static const int32_t ranks[] = { 1, 0, 1, 2, 0 };
    static const double sorted[] = { -0.003, 0.005, 1 };
    struct pt_buf b = { 0 };
    pt_thousandths_rank(codes, 5, -3, 1000, &b);
    assert_memory_equal(codes, ranks, sizeof ranks);
    assert_bytes(&b, sorted, sizeof sorted);
    pt_buf_release(&b);
}

static void a_dictionary_sorts_doubles_and_keeps_the_sign_of_zero(void **state) {
    (void)state;
    static const double values[] = { 0.0, -1.5, 1e300, -0.0, 5e-324, -1.5, -1e300, 0.0 };
    static const double expected[] = { -1e300, -1.5, -0.0, 0.0, 5e-324, 1e300 };
    uint64_t words[PT_COUNT(values)], sorted[PT_COUNT(expected)];
    uint32_t codes[PT_COUNT(values)], ranks[PT_COUNT(expected)];
    memcpy(words, values, sizeof words);
    struct pt_word_dictionary d = { 0 };
    pt_word_dictionary_encode(&d, words, PT_COUNT(words), codes);
    assert_int_equal(d.count, PT_COUNT(expected));
    pt_word_dictionary_sort(&d, sorted, ranks);
    assert_memory_equal(sorted, expected, sizeof expected);
    for (size_t i = 0; i < PT_COUNT(values); i++)
        assert_true(sorted[ranks[codes[i]]] == words[i]);
    pt_word_dictionary_release(&d);
}

static void a_dictionary_of_strings_numbers_them_as_they_come(void **state) {
    (void)state;
    struct pt_string_dictionary d = { 0 };
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < 5000; i++) {
            char text[32];
            snprintf(text, sizeof text, "%0*u", 1 + (int)(i % 20), i);
            assert_int_equal(pt_string_dictionary_code(&d, pt_str_from(text)), i);
        }
    assert_int_equal(pt_string_dictionary_code(&d, PT_STR("")), 5000);
    assert_int_equal(pt_string_dictionary_code(&d, PT_STR("")), 5000);
    assert_str_eq(pt_string_dictionary_get(&d, 7), "00000007");
    pt_string_dictionary_release(&d);
}

/* A column of the given type with one chunk of `cells`; nulls where `present` has no bit. */
struct chunk_test {
    struct pt_parquet_column column;
    struct pt_parquet_pager pager;
};

static void begin_chunk(struct chunk_test *t, enum pt_type type, enum pt_view_role role) {
    struct pt_view_column description = { .role = role, .type = type };
    pt_parquet_column_init(&t->column, &description, NULL);
    assert_int_equal(pt_parquet_pager_init(&t->pager), 0);
}

static void add_page(struct chunk_test *t, const union pt_cell *cells, uint32_t count,
                     uint32_t row_count) {
    for (uint32_t i = 0; i < row_count; i += PT_PARQUET_BLOCK_ROWS) {
        uint32_t left = count > i ? count - i : 0;
        uint64_t present = left >= 64 ? UINT64_MAX : (UINT64_C(1) << left) - 1;
        pt_parquet_cells_add(&t->column.page, cells + i, 1, present);
    }
    pt_parquet_column_end_page(&t->column, &t->pager, row_count);
    pt_parquet_cells_clear(&t->column.page);
}

static void release_chunk(struct chunk_test *t) {
    pt_parquet_column_release(&t->column);
    pt_parquet_pager_release(&t->pager);
}

static int64_t i64_of(const struct pt_buf *b) {
    int64_t value;
    assert_int_equal(b->len, sizeof value);
    memcpy(&value, b->at, sizeof value);
    return value;
}

static void statistics_are_those_of_all_pages(void **state) {
    (void)state;
    struct chunk_test t;
    begin_chunk(&t, PT_I64, PT_VIEW_VALUE);
    add_page(&t, (union pt_cell[]){ { .i64 = 5 }, { .i64 = -7 } }, 2, 3);
    add_page(&t, (union pt_cell[]){ { .i64 = INT64_MAX } }, 1, 10);
    pt_parquet_column_end_chunk(&t.column, &t.pager);
    assert_true(t.column.chunk.has_range);
    assert_true(i64_of(&t.column.chunk.min) == -7);
    assert_true(i64_of(&t.column.chunk.max) == INT64_MAX);
    assert_int_equal(t.column.chunk.null_count, 10);
    assert_int_equal(t.column.chunk.row_count, 13);
    pt_parquet_column_clear(&t.column);
    add_page(&t, (union pt_cell[]){ { .i64 = 1 } }, 1, 1);
    pt_parquet_column_end_chunk(&t.column, &t.pager);
    assert_true(i64_of(&t.column.chunk.max) == 1);
    release_chunk(&t);
}

static void times_are_microseconds_rounded_down(void **state) {
    (void)state;
    struct chunk_test t;
    begin_chunk(&t, PT_I64, PT_VIEW_TIME);
    add_page(&t, (union pt_cell[]){ { .i64 = 1999 }, { .i64 = -1 } }, 2, 2);
    pt_parquet_column_end_chunk(&t.column, &t.pager);
    assert_true(i64_of(&t.column.chunk.min) == -1);
    assert_true(i64_of(&t.column.chunk.max) == 1);
    release_chunk(&t);
}

static void zero_bounds_have_the_outward_sign(void **state) {
    (void)state;
    struct chunk_test t;
    static const double negative_zero = -0.0, zero = 0.0;
    begin_chunk(&t, PT_F64, PT_VIEW_VALUE);
    add_page(&t, (union pt_cell[]){ { .f64 = 0.0 } }, 1, 1);
    pt_parquet_column_end_chunk(&t.column, &t.pager);
    assert_bytes(&t.column.chunk.min, &negative_zero, sizeof negative_zero);
    assert_bytes(&t.column.chunk.max, &zero, sizeof zero);
    release_chunk(&t);
}

static void bounds_of_strings_are_by_bytes_and_long_ones_are_left_out(void **state) {
    (void)state;
    struct chunk_test t;
    begin_chunk(&t, PT_STRING, PT_VIEW_VALUE);
    struct pt_string_dictionary *strings = &t.column.strings;
    union pt_cell cells[] = { { .word = pt_string_dictionary_code(strings, PT_STR("b")) },
                              { .word = pt_string_dictionary_code(strings, PT_STR("\xc3\xa9")) },
                              { .word = pt_string_dictionary_code(strings, PT_STR("ab")) } };
    add_page(&t, cells, 3, 3);
    pt_parquet_column_end_chunk(&t.column, &t.pager);
    assert_bytes(&t.column.chunk.min, "ab", 2);
    assert_bytes(&t.column.chunk.max, "\xc3\xa9", 2);

    pt_parquet_column_clear(&t.column);
    char text[300];
    memset(text, 'x', sizeof text);
    cells[0].word = pt_string_dictionary_code(strings, (struct pt_str){ text, sizeof text });
    add_page(&t, cells, 1, 1);
    pt_parquet_column_end_chunk(&t.column, &t.pager);
    assert_false(t.column.chunk.has_range);
    release_chunk(&t);
}

static void a_chunk_without_values_is_one_small_page(void **state) {
    (void)state;
    static const enum pt_type types[] = { PT_I64, PT_F64, PT_STRING };
    for (size_t i = 0; i < PT_COUNT(types); i++) {
        struct chunk_test t;
        begin_chunk(&t, types[i], PT_VIEW_VALUE);
        for (int page = 0; page < 8; page++)
            add_page(&t, NULL, 0, PT_PARQUET_PAGE_ROWS);
        pt_parquet_column_end_chunk(&t.column, &t.pager);
        assert_false(t.column.chunk.has_range);
        assert_int_equal(t.column.chunk.null_count, 8 * PT_PARQUET_PAGE_ROWS);
        assert_in_range(t.column.pages.len, 1, 60);
        release_chunk(&t);
    }
}

static uint32_t encodings_of(const double *values, uint32_t count) {
    struct chunk_test t;
    union pt_cell *cells = pt_calloc(count, sizeof *cells);
    for (uint32_t i = 0; i < count; i++)
        cells[i].f64 = values[i];
    begin_chunk(&t, PT_F64, PT_VIEW_VALUE);
    add_page(&t, cells, count, count);
    pt_parquet_column_end_chunk(&t.column, &t.pager);
    uint32_t encodings = t.column.chunk.encodings;
    release_chunk(&t);
    pt_free(cells);
    return encodings;
}

static void doubles_get_a_dictionary_unless_they_hardly_repeat(void **state) {
    (void)state;
    double values[10000];
    uint64_t random = 5;
    for (size_t i = 0; i < PT_COUNT(values); i++)
        values[i] = (double)(next_random(&random) % 100000) / 1000;
    assert_true(encodings_of(values, PT_COUNT(values)) >> PT_PARQUET_RLE_DICTIONARY & 1);
    for (size_t i = 0; i < PT_COUNT(values); i++)
        values[i] = (double)(next_random(&random) % 100) / 7;
    assert_true(encodings_of(values, PT_COUNT(values)) >> PT_PARQUET_RLE_DICTIONARY & 1);
    for (size_t i = 0; i < PT_COUNT(values); i++)
        values[i] = sqrt((double)(next_random(&random) >> 8));
    assert_true(encodings_of(values, PT_COUNT(values)) >> PT_PARQUET_BYTE_STREAM_SPLIT & 1);
}

static void doubles_that_stay_a_while_are_kept_as_they_are(void **state) {
    (void)state;
    double values[10000];
    uint64_t random = 6;
    values[0] = 1;
    for (size_t i = 1; i < PT_COUNT(values); i++) {
        uint64_t next = next_random(&random);
        values[i] = next % 3 == 0 ? sqrt((double)(next >> 8)) : values[i - 1];
    }
    uint32_t encodings = encodings_of(values, PT_COUNT(values));
    assert_true(encodings >> PT_PARQUET_PLAIN & 1);
    assert_false(encodings >> PT_PARQUET_RLE_DICTIONARY & 1);
}

#define TURN_VALUES 5000

/* Readings of 50 things that take turns; a reading in ten is another one than before. */
static void fill_turns(union pt_cell *cells) {
    uint64_t random = 3, readings[50];
    for (size_t i = 0; i < PT_COUNT(readings); i++)
        readings[i] = next_random(&random) >> 20;
    for (size_t i = 0; i < TURN_VALUES; i++) {
        readings[i % 50] += i % 10 == i / 50 % 10 ? next_random(&random) >> 40 : 0;
        cells[i].word = readings[i % 50];
    }
}

/* A counter that grows by up to `step` and seldom by the same. */
static void fill_counter(union pt_cell *cells, uint64_t step) {
    uint64_t random = 4, sum = 0;
    for (size_t i = 0; i < TURN_VALUES; i++)
        cells[i].word = sum += next_random(&random) % step;
}

/* Times of 50 files read one after the other, every 10 ms. */
static void fill_times(union pt_cell *cells) {
    uint64_t random = 5;
    for (size_t i = 0; i < TURN_VALUES; i++)
        cells[i].word = i / 50 * 10000 + i % 50 * 20 + next_random(&random) % 4;
}

/* The values of the only page, behind its levels: nothing of it is null. */
static struct pt_buf page_values(const struct chunk_test *t) {
    static const uint8_t magic[] = { 0x28, 0xb5, 0x2f, 0xfd };
    const struct pt_buf *pages = &t->column.pages;
    const uint8_t *frame = memmem(pages->at, pages->len, magic, sizeof magic);
    assert_non_null(frame);
    size_t capacity = TURN_VALUES * 9, left = pages->len - (size_t)(frame - pages->at);
    uint8_t *body = pt_malloc(capacity);
    size_t len = ZSTD_decompress(body, capacity, frame, left);
    assert_false(ZSTD_isError(len));
    uint32_t levels;
    memcpy(&levels, body, sizeof levels);
    struct pt_buf values = { 0 };
    pt_buf_bytes(&values, body + sizeof levels + levels, len - sizeof levels - levels);
    pt_free(body);
    return values;
}

static void assert_form(const union pt_cell *cells, enum pt_parquet_form form) {
    struct chunk_test t;
    begin_chunk(&t, PT_I64, PT_VIEW_VALUE);
    add_page(&t, cells, TURN_VALUES, TURN_VALUES);
    pt_parquet_column_end_chunk(&t.column, &t.pager);
    assert_int_equal(t.column.form, form);
    struct pt_buf values = page_values(&t);
    if (form == PT_PARQUET_UNCHANGED)
        assert_bytes(&values, cells, TURN_VALUES * sizeof *cells);
    else
        assert_delta_is(&values, &cells[0].i64, TURN_VALUES);
    pt_buf_release(&values);
    release_chunk(&t);
}

static void integers_are_kept_in_the_form_that_is_smallest(void **state) {
    (void)state;
    union pt_cell cells[TURN_VALUES];
    fill_turns(cells);
    assert_form(cells, PT_PARQUET_UNCHANGED);
    fill_counter(cells, 1000);
    assert_form(cells, PT_PARQUET_PACKED_DELTAS);
    fill_times(cells);
    assert_form(cells, PT_PARQUET_BYTE_DELTAS);
}

static void a_page_of_few_integers_does_not_decide_for_a_full_one(void **state) {
    (void)state;
    struct chunk_test t;
    union pt_cell cells[TURN_VALUES];
    begin_chunk(&t, PT_I64, PT_VIEW_VALUE);
    fill_times(cells);
    add_page(&t, cells, 3, TURN_VALUES);
    fill_turns(cells);
    add_page(&t, cells, TURN_VALUES, TURN_VALUES);
    assert_int_equal(t.column.form, PT_PARQUET_UNCHANGED);
    fill_counter(cells, 1000);
    add_page(&t, cells, TURN_VALUES, TURN_VALUES);
    assert_int_equal(t.column.form, PT_PARQUET_UNCHANGED);
    release_chunk(&t);
}

#define HOST_COLUMNS(X, t)                                          \
    X(t, time, "vTime", COUNTER, I64, CENTISECONDS, 0, "a counter") \
    X(t, name, "vName", KEY, STRING, NONE, 0, "a name")
PT_TABLE(host, PT_TABLE_MAIN("host"), "host", HOST_COLUMNS, "first");

static const struct pt_table *const tables[] = { &host_table };
static const struct pt_schema schema = { tables, 1 };

static void write_rows(struct pt_out *out, uint32_t row_count, size_t name_len) {
    struct pt_views views;
    struct pt_view_row row;
    pt_views_init(&views, &schema);
    pt_view_row_init(&row, &views.views[0]);
    char *name = pt_calloc(1, name_len + 1);
    memset(name, 'n', name_len);
    void *state = pt_calloc(1, pt_parquet_format.state_size);
    assert_int_equal(pt_parquet_format.begin(state, &views.views[0], out), 0);
    for (uint32_t i = 0; i < row_count; i++) {
        row.cells[2].i64 = i;
        memcpy(name, &i, name_len < sizeof i ? name_len : sizeof i);
        row.strings[4] = (struct pt_str){ name, name_len };
        pt_parquet_format.row(state, &row);
    }
    pt_parquet_format.end(state);
    pt_free(state);
    pt_free(name);
    pt_view_row_release(&row);
    pt_views_release(&views);
}

static void a_file_starts_and_ends_with_its_magic(void **state) {
    (void)state;
    static const uint32_t row_counts[] = { 0, 1, 64, 100000 };
    for (size_t i = 0; i < PT_COUNT(row_counts); i++) {
        char path[] = "/tmp/pitot-parquet-test-XXXXXX", text[8];
        struct pt_out out;
        int fd = mkstemp(path);
        pt_out_borrow(&out, fd);
        write_rows(&out, row_counts[i], 8);
        uint64_t size = pt_out_offset(&out);
        assert_int_equal(pt_out_close(&out), 0);
        assert_int_equal(pread(fd, text, 4, 0), 4);
        assert_memory_equal(text, "PAR1", 4);
        assert_int_equal(pread(fd, text, 8, (off_t)size - 8), 8);
        assert_memory_equal(text + 4, "PAR1", 4);
        uint32_t footer;
        memcpy(&footer, text, sizeof footer);
        assert_in_range(footer, 1, size - 12);
        close(fd);
        unlink(path);
    }
}

static long peak_memory_kib(void) {
    char line[256];
    long kib = -1;
    FILE *f = fopen("/proc/self/status", "r");
    while (f && fgets(line, sizeof line, f))
        if (strncmp(line, "VmHWM:", 6) == 0)
            kib = strtol(line + 6, NULL, 10);
    if (f)
        fclose(f);
    return kib;
}

static void long_strings_do_not_pile_up_in_memory(void **state) {
    (void)state;
    struct pt_out out;
    int fd = open("/dev/null", O_WRONLY | O_CLOEXEC);
    pt_out_borrow(&out, fd);
    write_rows(&out, 30000, 30000); /* 900 MB of different text */
    assert_int_equal(pt_out_close(&out), 0);
    close(fd);
    if (peak_memory_kib() < 0)
        skip();
    assert_in_range(peak_memory_kib(), 0, 600 * 1024); /* sanitizers keep 256 MB of their own */
}

static void a_full_disk_is_reported_when_the_file_is_closed(void **state) {
    (void)state;
    struct pt_out out;
    assert_int_equal(pt_out_create(&out, "/dev/full", NULL), 0);
    write_rows(&out, 50000, 8);
    assert_int_equal(pt_out_close(&out), -ENOSPC);
}

/* Cells of one kind, reproducible: small steps, jumps, thousandths, any bits, or the same again. */
static union pt_cell made_cell(uint64_t *chance, int kind, union pt_cell last) {
    *chance = *chance * 6364136223846793005u + 1442695040888963407u;
    uint64_t bits = *chance >> 20;
    switch (kind) {
    case 0:
        return (union pt_cell){ .i64 = last.i64 + (int64_t)(bits % 1000) - 300 };
    case 1:
        return (union pt_cell){ .word = *chance ^ *chance << 32 };
    case 2:
        return (union pt_cell){ .f64 = (double)((int64_t)(bits % 2000001) - 1000000) / 1000 };
    case 3:
        return (union pt_cell){ .word = bits % 7 ? *chance ^ *chance << 32 : UINT64_MAX };
    default:
        return last;
    }
}

#define CELL_BLOCKS 40

static void check_packed_cells(uint64_t *chance, bool is_double, int kinds) {
    struct pt_parquet_cells cells = { .is_double = is_double };
    static union pt_cell rows[CELL_BLOCKS][PT_PARQUET_BLOCK_ROWS * 2], read[PT_PARQUET_BLOCK_ROWS];
    uint64_t present[CELL_BLOCKS], found;
    union pt_cell last = { .word = 0 };
    for (int b = 0; b < CELL_BLOCKS; b++) {
        int kind = (int)((*chance >> 33) % (unsigned)kinds) + (is_double ? 2 : 0);
        for (int i = 0; i < PT_PARQUET_BLOCK_ROWS; i++)
            rows[b][i * 2] = last = made_cell(chance, kind, last);
        present[b] = b % 3 == 0 ? UINT64_MAX : b % 7 == 0 ? 0 : made_cell(chance, 1, last).word;
        pt_parquet_cells_add(&cells, rows[b], 2, present[b]);
    }
    struct pt_parquet_reader reader = { 0 };
    for (int b = 0; b < CELL_BLOCKS; b++) {
        uint32_t n = 0, count = pt_parquet_cells_next(&cells, &reader, &found, read);
        assert_int_equal(found, present[b]);
        for (int i = 0; i < PT_PARQUET_BLOCK_ROWS; i++)
            if (found >> i & 1)
                assert_int_equal(read[n++].word, rows[b][i * 2].word);
        assert_int_equal(count, n);
    }
    assert_int_equal(reader.at, cells.packed.len);
    pt_buf_release(&cells.packed);
}

static void packed_cells_come_back_bit_by_bit(void **state) {
    (void)state;
    uint64_t chance = 1;
    for (int round = 0; round < 200; round++) {
        check_packed_cells(&chance, false, 2);
        check_packed_cells(&chance, true, 3);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(a_struct_has_the_bytes_of_the_compact_protocol,
                "a Thrift struct has the bytes of the compact protocol"),
        PT_TEST(a_list_has_a_short_and_a_long_form, "a Thrift list has a short and a long form"),
        PT_TEST(delta_of_every_length_is_what_a_plain_decoder_reads,
                "C031: deltas of every length are what a plain decoder reads"),
        PT_TEST(deltas_of_every_width_come_back, "C031: deltas of every width come back"),
        PT_TEST(jumps_between_the_extremes_wrap_around,
                "C031: jumps between the extremes wrap around"),
        PT_TEST(indices_of_every_width_come_back, "indices of every width come back"),
        PT_TEST(a_dictionary_of_one_has_indices_of_no_bits,
                "a dictionary of one has indices of no bits"),
        PT_TEST(even_indices_are_packed_and_skewed_ones_are_bytes,
                "even indices are packed, skewed ones are bytes, drifting ones have small pages"),
        PT_TEST(packed_cells_come_back_bit_by_bit, "C031: packed cells come back bit by bit"),
        PT_TEST(levels_say_which_rows_are_null, "C030: levels say which rows are null"),
        PT_TEST(levels_without_nulls_are_one_run, "levels without nulls are one run"),
        PT_TEST(a_byte_stream_split_has_all_first_bytes_first,
                "a byte stream split has all first bytes first"),
        PT_TEST(thousandths_are_exact_or_refused, "C031: thousandths are exact or refused"),
        PT_TEST(thousandths_are_ranked_by_value, "thousandths are ranked by value"),
        PT_TEST(a_dictionary_sorts_doubles_and_keeps_the_sign_of_zero,
                "a dictionary sorts doubles and keeps the sign of zero"),
        PT_TEST(a_dictionary_of_strings_numbers_them_as_they_come,
                "a dictionary of strings numbers them as they come"),
        PT_TEST(statistics_are_those_of_all_pages,
                "statistics are those of all pages and start again with a chunk"),
        PT_TEST(times_are_microseconds_rounded_down, "times are microseconds, rounded down"),
        PT_TEST(zero_bounds_have_the_outward_sign, "bounds of zero have the outward sign"),
        PT_TEST(bounds_of_strings_are_by_bytes_and_long_ones_are_left_out,
                "bounds of strings are by bytes and long ones are left out"),
        PT_TEST(a_chunk_without_values_is_one_small_page,
                "C030: a chunk without values is one small page"),
        PT_TEST(doubles_get_a_dictionary_unless_they_hardly_repeat,
                "doubles get a dictionary unless they hardly repeat"),
        PT_TEST(doubles_that_stay_a_while_are_kept_as_they_are,
                "doubles that stay a while are kept as they are"),
        PT_TEST(integers_are_kept_in_the_form_that_is_smallest,
                "C024: integers are kept in the form that is smallest"),
        PT_TEST(a_page_of_few_integers_does_not_decide_for_a_full_one,
                "a page of few integers does not decide for a full one"),
        PT_TEST(a_file_starts_and_ends_with_its_magic,
                "C024: a file of any length starts and ends with its magic"),
        PT_TEST(long_strings_do_not_pile_up_in_memory, "long strings do not pile up in memory"),
        PT_TEST(a_full_disk_is_reported_when_the_file_is_closed,
                "a full disk is reported when the file is closed"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
