#include "format/rows/parquet_column.h"

#include "base/utf8.h"
#include "format/rows/parquet_encode.h"
#include "format/rows/parquet_thrift.h"

#include <assert.h>
#include <errno.h>

/* Level 1: on packed deltas and indices higher levels gain under 1 % and cost much more. */
#define ZSTD_LEVEL 1
/* Of PLAIN numbers: values of one sample repeat in the next, which needs a longer search. */
#define ZSTD_LEVEL_PLAIN 3

/* Fewer values are a few bytes in any form: comparing forms takes longer than it saves. */
#define JUDGED_MIN 16

/* A larger dictionary of strings does not pay off: PLAIN then. */
#define STRING_DICTIONARY_BYTES (1 << 20)

#define RANK_SPAN_SMALL         4096

/* Longer strings are omitted from the statistics. */
#define STATISTICS_STRING_MAX 256

int pt_parquet_pager_init(struct pt_parquet_pager *p) {
    *p = (struct pt_parquet_pager){ .zstd = ZSTD_createCCtx() };
    if (!p->zstd)
        return -ENOMEM;
    p->cells = pt_malloc(PT_PARQUET_PAGE_ROWS * sizeof *p->cells);
    p->present = pt_malloc(PT_PARQUET_PAGE_ROWS / PT_PARQUET_BLOCK_ROWS * sizeof *p->present);
    ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, ZSTD_LEVEL);
    return 0;
}

void pt_parquet_pager_release(struct pt_parquet_pager *p) {
    ZSTD_freeCCtx(p->zstd);
    pt_free(p->cells);
    pt_free(p->present);
    pt_buf_release(&p->body);
    pt_buf_release(&p->measure);
    pt_buf_release(&p->words);
    pt_buf_release(&p->ranks);
    pt_buf_release(&p->codes);
    *p = (struct pt_parquet_pager){ 0 };
}

/* Compresses `body` into p->measure; returns its compressed size. */
static size_t measure(struct pt_parquet_pager *p, struct pt_str body) {
    pt_buf_clear(&p->measure);
    size_t bound = ZSTD_compressBound(body.len);
    uint8_t *at = pt_buf_reserve(&p->measure, bound);
    size_t bytes = ZSTD_compress2(p->zstd, at, bound, body.at, body.len);
    assert(!ZSTD_isError(bytes)); /* cannot fail: the bound is large enough */
    p->measure.len += bytes;
    return bytes;
}

void pt_parquet_column_init(struct pt_parquet_column *c, const struct pt_view_column *column,
                            const struct pt_parquet_column *leader) {
    static const enum pt_parquet_type types[] = { [PT_I64] = PT_PARQUET_INT64,
                                                  [PT_F64] = PT_PARQUET_DOUBLE,
                                                  [PT_STRING] = PT_PARQUET_BYTE_ARRAY };
    bool is_sample_time = column->role == PT_VIEW_TIMESTAMP;
    *c = (struct pt_parquet_column){
        .type = types[column->type],
        .is_required = is_sample_time || column->role == PT_VIEW_MONOTONIC,
        .is_time = is_sample_time || column->role == PT_VIEW_TIME,
        .leader = leader,
        .page = { .leader = leader ? &leader->page : NULL, .is_double = column->type == PT_F64 },
    };
}

void pt_parquet_column_release(struct pt_parquet_column *c) {
    pt_buf_release(&c->page.packed);
    pt_buf_release(&c->chunk.min);
    pt_buf_release(&c->chunk.max);
    pt_buf_release(&c->pages);
    pt_buf_release(&c->codes.packed);
    pt_buf_release(&c->levels);
    pt_free(c->waiting);
    pt_word_dictionary_release(&c->words);
    pt_string_dictionary_release(&c->strings);
}

void pt_parquet_column_drop_pages(struct pt_parquet_column *c) {
    pt_buf_release(&c->pages);
    pt_parquet_cells_clear(&c->codes);
    pt_buf_release(&c->codes.packed);
    c->page.last = (struct pt_parquet_last){ 0 };
    pt_buf_release(&c->levels);
    pt_word_dictionary_release(&c->words);
    pt_string_dictionary_release(&c->strings);
}

/* The next chunk is judged like this one: pages of one run are alike. */
void pt_parquet_column_clear(struct pt_parquet_column *c) {
    pt_parquet_column_drop_pages(c);
    pt_buf_clear(&c->chunk.min);
    pt_buf_clear(&c->chunk.max);
    c->chunk = (struct pt_parquet_chunk){ .min = c->chunk.min, .max = c->chunk.max };
    c->null_rows = 0;
    c->waiting_count = 0;
    c->has_range = false;
}

size_t pt_parquet_column_memory(const struct pt_parquet_column *c) {
    return c->page.packed.len + c->pages.len + c->codes.packed.len + c->levels.len +
           pt_word_dictionary_memory(&c->words) + pt_string_dictionary_memory(&c->strings);
}

/* Appends a page from the pager's body: header, then the body compressed. The header has the
 * compressed size, so it is first written to a separate buffer. */
static void put_page(struct pt_parquet_column *c, struct pt_parquet_pager *p, uint32_t count,
                     enum pt_parquet_encoding encoding, bool is_dictionary) {
    enum { DATA_PAGE = 0, DICTIONARY_PAGE = 2, DATA_HEADER = 5, DICTIONARY_HEADER = 7 };
    struct pt_str body = pt_buf_as_str(&p->body);
    size_t compressed = measure(p, body);
    size_t start = c->pages.len;
    struct pt_thrift t = { .into = &c->pages };
    pt_thrift_i32(&t, 1, is_dictionary ? DICTIONARY_PAGE : DATA_PAGE);
    pt_thrift_i32(&t, 2, (int32_t)body.len);
    pt_thrift_i32(&t, 3, (int32_t)compressed);
    pt_thrift_struct(&t, is_dictionary ? DICTIONARY_HEADER : DATA_HEADER);
    pt_thrift_i32(&t, 1, (int32_t)count);
    pt_thrift_i32(&t, 2, (int32_t)encoding);
    if (!is_dictionary) {
        pt_thrift_i32(&t, 3, PT_PARQUET_RLE); /* definition levels */
        pt_thrift_i32(&t, 4, PT_PARQUET_RLE); /* repetition levels: none, but required */
    }
    pt_thrift_end(&t);
    pt_thrift_end(&t);
    c->page_start = start;
    c->page_uncompressed = c->pages.len - start + body.len;
    c->chunk.uncompressed_bytes += c->page_uncompressed;
    c->chunk.encodings |= 1u << encoding;
    pt_buf_bytes(&c->pages, p->measure.at, compressed);
}

static void put_data_page(struct pt_parquet_column *c, struct pt_parquet_pager *p,
                          uint32_t row_count, enum pt_parquet_encoding encoding) {
    if (!c->is_required)
        c->chunk.encodings |= 1u << PT_PARQUET_RLE;
    put_page(c, p, row_count, encoding, false);
}

static void put_null_page(struct pt_parquet_column *c, struct pt_parquet_pager *p,
                          uint32_t row_count) {
    pt_buf_clear(&p->body);
    pt_parquet_put_equal_levels(&p->body, row_count, 0);
    put_data_page(c, p, row_count, PT_PARQUET_PLAIN);
}

static void add_waiting(struct pt_parquet_column *c, uint32_t row_count, uint32_t value_count,
                        size_t levels_len) {
    pt_grow(&c->waiting, &c->waiting_capacity, c->waiting_count + 1, sizeof *c->waiting);
    c->waiting[c->waiting_count++] =
        (struct pt_parquet_waiting){ row_count, value_count, levels_len };
}

/* Rows without any value become one page, regardless of their number. */
static void flush_null_rows(struct pt_parquet_column *c, struct pt_parquet_pager *p) {
    uint32_t row_count = (uint32_t)c->null_rows;
    if (row_count == 0)
        return;
    c->null_rows = 0;
    if (c->type == PT_PARQUET_INT64 || c->doubles == PT_PARQUET_COMPLETE)
        put_null_page(c, p, row_count);
    else
        add_waiting(c, row_count, 0, 0);
}

static void widen_i64(struct pt_parquet_column *c) {
    if (!c->has_range || c->page_min.i64 < c->min.i64)
        c->min = c->page_min;
    if (!c->has_range || c->page_max.i64 > c->max.i64)
        c->max = c->page_max;
    c->has_range = true;
}

static void measure_i64(struct pt_parquet_column *c) {
    int64_t min = c->cells[0].i64, max = min;
    for (uint32_t i = 0; i < c->value_count; i++) {
        min = c->cells[i].i64 < min ? c->cells[i].i64 : min;
        max = c->cells[i].i64 > max ? c->cells[i].i64 : max;
    }
    c->page_min.i64 = min;
    c->page_max.i64 = max;
}

static void widen_f64(struct pt_parquet_column *c, double value) {
    if (!c->has_range || value < c->min.f64)
        c->min.f64 = value;
    if (!c->has_range || value > c->max.f64)
        c->max.f64 = value;
    c->has_range = true;
}

static void measure_f64(struct pt_parquet_column *c) {
    double min = c->cells[0].f64, max = min;
    for (uint32_t i = 0; i < c->value_count; i++) {
        min = c->cells[i].f64 < min ? c->cells[i].f64 : min;
        max = c->cells[i].f64 > max ? c->cells[i].f64 : max;
    }
    widen_f64(c, min);
    widen_f64(c, max);
}

static void measure_thousandths(struct pt_parquet_column *c, const int32_t *thousandths) {
    int32_t min = thousandths[0], max = min;
    for (uint32_t i = 0; i < c->codes.value_count; i++) {
        min = thousandths[i] < min ? thousandths[i] : min;
        max = thousandths[i] > max ? thousandths[i] : max;
    }
    widen_f64(c, pt_thousandths_value(min));
    widen_f64(c, pt_thousandths_value(max));
}

static void put_split(struct pt_buf *b, const int64_t *values, uint32_t count) {
    pt_parquet_put_split(b, (const uint64_t *)values, count);
}

static const struct {
    enum pt_parquet_encoding encoding;
    int zstd_level;
    void (*put)(struct pt_buf *b, const int64_t *values, uint32_t count);
} forms[] = {
    [PT_PARQUET_BYTE_DELTAS] = { PT_PARQUET_DELTA_BINARY_PACKED, ZSTD_LEVEL,
                                 pt_parquet_put_byte_delta },
    [PT_PARQUET_PACKED_DELTAS] = { PT_PARQUET_DELTA_BINARY_PACKED, ZSTD_LEVEL,
                                   pt_parquet_put_delta },
    [PT_PARQUET_UNCHANGED] = { PT_PARQUET_PLAIN, ZSTD_LEVEL_PLAIN, pt_parquet_put_plain },
    [PT_PARQUET_SPLIT] = { PT_PARQUET_BYTE_STREAM_SPLIT, ZSTD_LEVEL, put_split },
};

static void set_level(struct pt_parquet_pager *p, int level) {
    ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_compressionLevel, level);
}

/* Encoded size of the page's values. */
static size_t measure_form(const struct pt_parquet_column *c, struct pt_parquet_pager *p,
                           enum pt_parquet_form form) {
    pt_buf_clear(&p->body);
    forms[form].put(&p->body, &c->cells[0].i64, c->value_count);
    set_level(p, forms[form].zstd_level);
    size_t bytes = measure(p, pt_buf_as_str(&p->body));
    set_level(p, ZSTD_LEVEL);
    return bytes;
}

static void put_form(struct pt_parquet_column *c, struct pt_parquet_pager *p, uint32_t row_count) {
    pt_buf_clear(&p->body);
    if (!c->is_required)
        pt_parquet_put_levels(&p->body, c->present, row_count);
    forms[c->form].put(&p->body, &c->cells[0].i64, c->value_count);
    set_level(p, forms[c->form].zstd_level);
    put_data_page(c, p, row_count, forms[c->form].encoding);
    set_level(p, ZSTD_LEVEL);
}

/* Values that seldom repeat in the same order are not tried unchanged. */
static bool has_repetitions(const struct pt_parquet_column *c) {
    return pt_parquet_count_repeated_pairs(&c->cells[0].i64, c->value_count) > c->value_count / 8;
}

/* A page decides for those after it, unless they have many more values. */
static void judge_integers(struct pt_parquet_column *c, struct pt_parquet_pager *p) {
    if (c->value_count < JUDGED_MIN || c->value_count / 2 < c->judged_values)
        return;
    enum pt_parquet_form other =
        has_repetitions(c) ? PT_PARQUET_UNCHANGED : PT_PARQUET_PACKED_DELTAS;
    bool is_other = measure_form(c, p, other) < measure_form(c, p, PT_PARQUET_BYTE_DELTAS);
    c->form = is_other ? other : PT_PARQUET_BYTE_DELTAS;
    c->judged_values = c->value_count;
}

static void put_integers(struct pt_parquet_column *c, struct pt_parquet_pager *p,
                         uint32_t row_count) {
    if (c->is_time)
        for (uint32_t i = 0; i < c->value_count; i++) {
            int64_t ns = c->cells[i].i64;
            c->cells[i].i64 = ns / 1000 - (ns % 1000 < 0); /* microseconds, rounded down */
        }
    measure_i64(c);
    widen_i64(c);
    judge_integers(c, p);
    put_form(c, p, row_count);
}

/* The same rows have the same times as in the leader, so the page is the same. */
static void copy_page(struct pt_parquet_column *c) {
    const struct pt_parquet_column *leader = c->leader;
    c->page_min = leader->page_min;
    c->page_max = leader->page_max;
    widen_i64(c);
    pt_buf_bytes(&c->pages, leader->pages.at + leader->page_start,
                 leader->pages.len - leader->page_start);
    c->chunk.uncompressed_bytes += leader->page_uncompressed;
    c->chunk.encodings |= leader->chunk.encodings;
}

/* Sorts the dictionary into the pager's `words`, and `ranks` by code. */
static const uint32_t *sort_words(const struct pt_parquet_column *c, struct pt_parquet_pager *p) {
    pt_buf_clear(&p->words);
    pt_buf_clear(&p->ranks);
    size_t bytes = c->words.count * sizeof(uint64_t);
    uint64_t *words = (uint64_t *)(void *)pt_buf_reserve(&p->words, bytes);
    uint32_t *ranks = (uint32_t *)(void *)pt_buf_reserve(&p->ranks, bytes / 2);
    pt_word_dictionary_sort(&c->words, words, ranks);
    p->words.len = bytes;
    return ranks;
}

/* Are the first page's doubles smaller in another form than with a dictionary, and in which? Not
 * tried when there are few, or when each occurs four times or more. */
static bool is_form_smaller(struct pt_parquet_column *c, struct pt_parquet_pager *p) {
    if (c->value_count < JUDGED_MIN || c->words.count <= c->value_count / 4)
        return false;
    sort_words(c, p);
    size_t indices = (size_t)c->value_count * pt_bit_width(c->words.count - 1) / 8;
    size_t dictionary = measure(p, pt_buf_as_str(&p->words)) + indices;
    size_t split = measure_form(c, p, PT_PARQUET_SPLIT);
    size_t plain = has_repetitions(c) ? measure_form(c, p, PT_PARQUET_UNCHANGED) : split;
    c->form = plain < split ? PT_PARQUET_UNCHANGED : PT_PARQUET_SPLIT;
    return split < dictionary || plain < dictionary;
}

/* Space for the codes of a page, in the pager. */
static uint32_t *reserve_codes(const struct pt_parquet_column *c, struct pt_parquet_pager *p) {
    pt_buf_clear(&p->codes);
    return (uint32_t *)(void *)pt_buf_reserve(&p->codes, c->value_count * sizeof(uint32_t));
}

static void pack_codes(struct pt_parquet_column *c, const uint32_t *codes, uint32_t count) {
    union pt_cell block[PT_PARQUET_BLOCK_ROWS];
    for (uint32_t n; count > 0; codes += n, count -= n) {
        n = count < PT_PARQUET_BLOCK_ROWS ? count : PT_PARQUET_BLOCK_ROWS;
        for (uint32_t i = 0; i < n; i++)
            block[i].i64 = (int32_t)codes[i];
        pt_parquet_cells_add(&c->codes, block, 1, UINT64_MAX >> (PT_PARQUET_BLOCK_ROWS - n));
    }
}

/* The codes of all waiting pages, in the pager. */
static uint32_t *unpack_codes(const struct pt_parquet_column *c, struct pt_parquet_pager *p) {
    pt_buf_clear(&p->codes);
    uint32_t *codes = (uint32_t *)(void *)pt_buf_reserve(&p->codes, (c->codes.value_count + 1) *
                                                                        sizeof(uint32_t));
    struct pt_parquet_reader reader = { 0 };
    union pt_cell block[PT_PARQUET_BLOCK_ROWS];
    uint64_t present;
    for (uint32_t n, at = 0; at < c->codes.value_count; at += n) {
        n = pt_parquet_cells_next(&c->codes, &reader, &present, block);
        for (uint32_t i = 0; i < n; i++)
            codes[at + i] = (uint32_t)block[i].word;
    }
    return codes;
}

static void keep_levels(struct pt_parquet_column *c, uint32_t row_count) {
    size_t start = c->levels.len;
    pt_parquet_put_levels(&c->levels, c->present, row_count);
    add_waiting(c, row_count, c->value_count, c->levels.len - start);
}

/* The page's codes are in the pager. */
static void keep_codes(struct pt_parquet_column *c, struct pt_parquet_pager *p,
                       uint32_t row_count) {
    pack_codes(c, (const uint32_t *)(const void *)p->codes.at, c->value_count);
    keep_levels(c, row_count);
}

/* Null pages before the first value no longer have a reason to wait. */
static void release_null_pages(struct pt_parquet_column *c, struct pt_parquet_pager *p) {
    for (size_t i = 0; i < c->waiting_count; i++)
        put_null_page(c, p, c->waiting[i].row_count);
    c->waiting_count = 0;
}

/* Converts the thousandths kept so far to codes of the dictionary. */
static void change_to_words(struct pt_parquet_column *c, struct pt_parquet_pager *p) {
    uint32_t *codes = unpack_codes(c, p), count = c->codes.value_count;
    if (count > 0)
        measure_thousandths(c, (const int32_t *)codes);
    for (uint32_t i = 0; i < count; i++) {
        union pt_cell cell = { .f64 = pt_thousandths_value((int32_t)codes[i]) };
        pt_word_dictionary_encode(&c->words, &cell.word, 1, &codes[i]);
    }
    pt_parquet_cells_clear(&c->codes);
    pack_codes(c, codes, count);
    c->doubles = PT_PARQUET_WORDS;
}

static void keep_words(struct pt_parquet_column *c, struct pt_parquet_pager *p,
                       uint32_t row_count) {
    bool is_first = c->codes.value_count == 0;
    pt_word_dictionary_encode(&c->words, &c->cells[0].word, c->value_count, reserve_codes(c, p));
    if (!is_first || !is_form_smaller(c, p)) {
        keep_codes(c, p, row_count);
        return;
    }
    c->doubles = PT_PARQUET_COMPLETE;
    pt_word_dictionary_release(&c->words);
    release_null_pages(c, p);
}

static void put_doubles(struct pt_parquet_column *c, struct pt_parquet_pager *p,
                        uint32_t row_count) {
    if (c->doubles == PT_PARQUET_THOUSANDTHS && !c->page.has_others) {
        pt_parquet_cells_presence(&c->page, c->present);
        pt_parquet_cells_append(&c->codes, &c->page);
        keep_levels(c, row_count);
        return;
    }
    if (c->doubles == PT_PARQUET_THOUSANDTHS)
        change_to_words(c, p);
    pt_parquet_cells_read(&c->page, c->cells, c->present);
    measure_f64(c);
    if (c->doubles == PT_PARQUET_WORDS)
        keep_words(c, p, row_count);
    if (c->doubles == PT_PARQUET_COMPLETE)
        put_form(c, p, row_count);
}

void pt_parquet_column_end_page(struct pt_parquet_column *c, struct pt_parquet_pager *p,
                                uint32_t row_count) {
    c->value_count = c->page.value_count;
    c->chunk.row_count += row_count;
    c->chunk.null_count += row_count - c->value_count;
    if (c->value_count == 0) {
        c->null_rows += row_count;
        return;
    }
    flush_null_rows(c, p);
    if (c->leader && !c->page.differs) {
        copy_page(c);
        return;
    }
    c->cells = p->cells;
    c->present = p->present;
    if (c->type == PT_PARQUET_DOUBLE) {
        put_doubles(c, p, row_count);
        return;
    }
    pt_parquet_cells_read(&c->page, c->cells, c->present);
    if (c->type == PT_PARQUET_INT64) {
        put_integers(c, p, row_count);
    } else {
        uint32_t *codes = reserve_codes(c, p);
        for (uint32_t i = 0; i < c->value_count; i++)
            codes[i] = (uint32_t)c->cells[i].word;
        keep_codes(c, p, row_count);
    }
}

/* Columns of strings are declared to be UTF-8, and readers refuse the file otherwise. */
static void put_plain_string(struct pt_buf *b, struct pt_str s) {
    size_t start = b->len;
    pt_buf_u32(b, 0);
    pt_utf8_add(b, s);
    uint32_t len = (uint32_t)(b->len - start - sizeof len);
    memcpy(b->at + start, &len, sizeof len);
}

static void put_index_page(struct pt_parquet_column *c, struct pt_parquet_pager *p,
                           uint32_t row_count, const uint32_t *codes, uint32_t count,
                           unsigned width) {
    pt_parquet_put_indices(&p->body, codes, count, width);
    /* Two repeated indices of two bytes are worth a match. */
    ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_minMatch, 4);
    put_data_page(c, p, row_count, PT_PARQUET_RLE_DICTIONARY);
    ZSTD_CCtx_setParameter(p->zstd, ZSTD_c_minMatch, 0);
}

/* Without nulls a page may be cut anywhere. */
static void put_index_pages(struct pt_parquet_column *c, struct pt_parquet_pager *p,
                            const struct pt_parquet_waiting *w, const uint32_t *codes) {
    uint32_t left = w->value_count;
    struct pt_parquet_layout l = pt_parquet_index_layout(codes, left, c->chunk.dictionary_count);
    if (w->row_count > w->value_count || l.page_values >= left) {
        put_index_page(c, p, w->row_count, codes, left, l.width);
        return;
    }
    for (uint32_t n; left > 0; left -= n, codes += n) {
        n = left < l.page_values ? left : l.page_values;
        pt_buf_clear(&p->body);
        pt_parquet_put_equal_levels(&p->body, n, 1);
        put_index_page(c, p, n, codes, n, l.width);
    }
}

static void put_waiting(struct pt_parquet_column *c, struct pt_parquet_pager *p,
                        const uint32_t *codes) {
    const uint8_t *levels = c->levels.at;
    for (size_t i = 0; i < c->waiting_count; i++) {
        const struct pt_parquet_waiting *w = &c->waiting[i];
        pt_buf_clear(&p->body);
        pt_buf_bytes(&p->body, levels, w->levels_len);
        if (w->value_count == 0) {
            put_null_page(c, p, w->row_count);
        } else if (c->chunk.dictionary_count > 0) {
            put_index_pages(c, p, w, codes);
        } else {
            for (uint32_t k = 0; k < w->value_count; k++)
                put_plain_string(&p->body, pt_string_dictionary_get(&c->strings, codes[k]));
            put_data_page(c, p, w->row_count, PT_PARQUET_PLAIN);
        }
        levels += w->levels_len;
        codes += w->value_count;
    }
}

/* The pager's body is the dictionary. */
static void put_dictionary_page(struct pt_parquet_column *c, struct pt_parquet_pager *p,
                                uint32_t count) {
    put_page(c, p, count, PT_PARQUET_PLAIN, true);
    c->chunk.dictionary_bytes = c->pages.len;
    c->chunk.dictionary_count = count;
}

static bool rank_thousandths(const struct pt_parquet_column *c, struct pt_parquet_pager *p,
                             uint32_t *codes) {
    int32_t min, max;
    if (!pt_thousandths_from(&c->min.f64, 1, &min) || !pt_thousandths_from(&c->max.f64, 1, &max) ||
        !pt_thousandths_can_rank(min, max))
        return false;
    if (max - min > RANK_SPAN_SMALL && max - min > 64 * (int64_t)c->codes.value_count)
        return false; /* few values: sorting them takes less than a table of the span */
    pt_thousandths_rank((int32_t *)codes, c->codes.value_count, min, max, &p->body);
    return true;
}

/* The dictionary is sorted by value: neighbours in time get nearby indices, and the dictionary
 * itself compresses to a third. */
static void end_doubles(struct pt_parquet_column *c, struct pt_parquet_pager *p) {
    uint32_t *codes = unpack_codes(c, p);
    pt_buf_clear(&p->body);
    if (c->doubles == PT_PARQUET_THOUSANDTHS)
        measure_thousandths(c, (const int32_t *)codes);
    if (c->doubles != PT_PARQUET_THOUSANDTHS || !rank_thousandths(c, p, codes)) {
        if (c->doubles == PT_PARQUET_THOUSANDTHS)
            change_to_words(c, p);
        const uint32_t *ranks = sort_words(c, p);
        for (uint32_t i = 0; i < c->codes.value_count; i++)
            codes[i] = ranks[codes[i]];
        pt_buf_bytes(&p->body, p->words.at, p->words.len);
    }
    put_dictionary_page(c, p, (uint32_t)(p->body.len / sizeof(double)));
    put_waiting(c, p, codes);
}

static void end_strings(struct pt_parquet_column *c, struct pt_parquet_pager *p) {
    const uint32_t *codes = unpack_codes(c, p);
    if (c->strings.bytes.len > STRING_DICTIONARY_BYTES) {
        put_waiting(c, p, codes);
        return;
    }
    pt_buf_clear(&p->body);
    for (uint32_t code = 0; code < c->strings.count; code++)
        put_plain_string(&p->body, pt_string_dictionary_get(&c->strings, code));
    put_dictionary_page(c, p, c->strings.count);
    put_waiting(c, p, codes);
}

/* Strings are ordered by their bytes. */
static int compare(struct pt_str a, struct pt_str b) {
    size_t shared = a.len < b.len ? a.len : b.len; /* an empty string may have no address */
    int order = shared > 0 ? memcmp(a.at, b.at, shared) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

/* None if a string is not written as it is. */
static void set_string_range(struct pt_parquet_column *c) {
    struct pt_str min = pt_string_dictionary_get(&c->strings, 0), max = min;
    for (uint32_t code = 0; code < c->strings.count; code++) {
        struct pt_str s = pt_string_dictionary_get(&c->strings, code);
        if (pt_utf8_valid_length(s) < s.len)
            return;
        if (compare(s, min) < 0)
            min = s;
        if (compare(s, max) > 0)
            max = s;
    }
    if (min.len > STATISTICS_STRING_MAX || max.len > STATISTICS_STRING_MAX)
        return;
    pt_buf_str(&c->chunk.min, min);
    pt_buf_str(&c->chunk.max, max);
    c->chunk.has_range = true;
}

/* Readers accept a zero in the statistics for both zeros only if it is the outer one. */
static void set_number_range(struct pt_parquet_column *c) {
    if (c->type == PT_PARQUET_DOUBLE && c->min.f64 == 0)
        c->min.f64 = -0.0;
    if (c->type == PT_PARQUET_DOUBLE && c->max.f64 == 0)
        c->max.f64 = 0.0;
    pt_buf_u64(&c->chunk.min, c->min.word);
    pt_buf_u64(&c->chunk.max, c->max.word);
    c->chunk.has_range = true;
}

void pt_parquet_column_end_chunk(struct pt_parquet_column *c, struct pt_parquet_pager *p) {
    if (c->codes.value_count == 0)
        release_null_pages(c, p);
    else if (c->type == PT_PARQUET_DOUBLE)
        end_doubles(c, p);
    else
        end_strings(c, p);
    if (c->null_rows > 0)
        put_null_page(c, p, (uint32_t)c->null_rows);
    if (c->strings.count > 0)
        set_string_range(c);
    else if (c->has_range)
        set_number_range(c);
    c->chunk.compressed_bytes = c->pages.len;
}
