#include "format/rows/parquet_cells.h"

#include "format/rows/parquet_dictionary.h"

/* The first byte of a block: bytes per word, and flags. Words are differences of integers, or: */
enum {
    WIDTH = 15,
    HAS_GAPS = 0x10,       /* a word of presence follows */
    IS_LEADERS = 0x20,     /* nothing follows: the block is that of the leader */
    IS_XOR = 0x40,         /* the bits in which doubles differ */
    IS_THOUSANDTHS = 0x80, /* differences of doubles in thousandths */
};

#define ROWS        PT_PARQUET_BLOCK_ROWS
#define BLOCK_BYTES (1 + sizeof(uint64_t) * (1 + ROWS))

/* Loops go over all rows of a block, whatever the number of its cells: gcc vectorizes them then. */

static uint32_t count_of(uint64_t present) {
    return (uint32_t)__builtin_popcountll(present);
}

/* What is missing is like the cell before: without difference. */
static void gather(uint64_t *to, const union pt_cell *from, size_t stride, uint64_t present) {
    uint64_t *end = to + ROWS;
    if (present == UINT64_MAX) {
        for (uint32_t i = 0; i < ROWS; i++)
            to[i] = from[i * stride].word;
        return;
    }
    uint64_t last = to[-1];
    for (; present; present &= present - 1)
        *to++ = last = from[(size_t)__builtin_ctzll(present) * stride].word;
    while (to < end)
        *to++ = last;
}

static unsigned width_of(uint64_t all) {
    return all == 0 ? 0 : all <= UINT8_MAX ? 1 : all <= UINT16_MAX ? 2 : all <= UINT32_MAX ? 4 : 8;
}

static void put_words(uint8_t *to, const uint64_t *words, unsigned width) {
    uint8_t bytes[ROWS];
    uint16_t quarters[ROWS];
    uint32_t halves[ROWS];
    switch (width) {
    case 1:
        for (uint32_t i = 0; i < ROWS; i++)
            bytes[i] = (uint8_t)words[i];
        memcpy(to, bytes, sizeof bytes);
        break;
    case 2:
        for (uint32_t i = 0; i < ROWS; i++)
            quarters[i] = (uint16_t)words[i];
        memcpy(to, quarters, sizeof quarters);
        break;
    case 4:
        for (uint32_t i = 0; i < ROWS; i++)
            halves[i] = (uint32_t)words[i];
        memcpy(to, halves, sizeof halves);
        break;
    case 8:
        memcpy(to, words, ROWS * sizeof *words);
    }
}

static void get_words(uint64_t *words, const uint8_t *from, unsigned width) {
    uint8_t bytes[ROWS];
    uint16_t quarters[ROWS];
    uint32_t halves[ROWS];
    switch (width) {
    case 0:
        memset(words, 0, ROWS * sizeof *words);
        break;
    case 1:
        memcpy(bytes, from, sizeof bytes);
        for (uint32_t i = 0; i < ROWS; i++)
            words[i] = bytes[i];
        break;
    case 2:
        memcpy(quarters, from, sizeof quarters);
        for (uint32_t i = 0; i < ROWS; i++)
            words[i] = quarters[i];
        break;
    case 4:
        memcpy(halves, from, sizeof halves);
        for (uint32_t i = 0; i < ROWS; i++)
            words[i] = halves[i];
        break;
    default:
        memcpy(words, from, ROWS * sizeof *words);
    }
}

/* The differences between cells, of which [0] is the one before; returns their kind. */
static unsigned subtract(struct pt_parquet_cells *c, uint64_t cells[1 + ROWS],
                         uint64_t words[ROWS]) {
    int32_t thousandths[1 + ROWS] = { c->last.thousandths };
    double values[ROWS];
    memcpy(values, cells + 1, sizeof values);
    if (c->is_double && pt_thousandths_from(values, ROWS, thousandths + 1)) {
        for (uint32_t i = 0; i < ROWS; i++)
            words[i] = pt_zigzag((int64_t)thousandths[i + 1] - thousandths[i]);
        c->last.thousandths = thousandths[ROWS];
        return IS_THOUSANDTHS;
    }
    if (c->is_double) {
        for (uint32_t i = 0; i < ROWS; i++)
            words[i] = cells[i + 1] ^ cells[i];
        return IS_XOR;
    }
    for (uint32_t i = 0; i < ROWS; i++)
        words[i] = pt_zigzag((int64_t)(cells[i + 1] - cells[i]));
    return 0;
}

static void add_up(unsigned head, struct pt_parquet_last *last, uint64_t *words, uint32_t count) {
    uint64_t cell = last->word, thousandths = (uint64_t)last->thousandths;
    if (head & IS_THOUSANDTHS) {
        for (uint32_t i = 0; i < count; i++)
            words[i] = thousandths += (uint64_t)pt_unzigzag(words[i]);
    } else if (head & IS_XOR) {
        for (uint32_t i = 0; i < count; i++)
            words[i] = cell ^= words[i];
    } else {
        for (uint32_t i = 0; i < count; i++)
            words[i] = cell += (uint64_t)pt_unzigzag(words[i]);
    }
    *last = (struct pt_parquet_last){ cell, (int32_t)thousandths };
}

void pt_parquet_cells_add(struct pt_parquet_cells *c, const union pt_cell *from, size_t stride,
                          uint64_t present) {
    uint64_t cells[1 + ROWS] = { c->last.word }, words[ROWS], all = 0;
    uint32_t count = count_of(present);
    uint8_t *to = pt_buf_reserve(&c->packed, BLOCK_BYTES), *start = to;
    c->present = present;
    c->value_count += count;
    if (c->leader && c->leader->present == present) {
        c->last = c->leader->last;
        *to = IS_LEADERS;
        c->packed.len++;
        return;
    }
    c->differs = true;
    gather(cells + 1, from, stride, present);
    unsigned kind = count > 0 ? subtract(c, cells, words) : IS_THOUSANDTHS;
    for (uint32_t i = 0; count > 0 && i < ROWS; i++)
        all |= words[i];
    unsigned width = width_of(all);
    c->has_others |= kind != IS_THOUSANDTHS;
    *to++ = (uint8_t)(width | kind | (present == UINT64_MAX ? 0 : HAS_GAPS));
    if (present != UINT64_MAX) {
        memcpy(to, &present, sizeof present);
        to += sizeof present;
    }
    put_words(to, words, width);
    if (kind != IS_THOUSANDTHS)
        c->last.word = cells[count];
    c->packed.len += (size_t)(to - start) + (size_t)count * width;
}

static uint32_t unpack(const struct pt_parquet_cells *c, size_t *at, struct pt_parquet_last *last,
                       uint64_t *present, uint64_t *values) {
    const uint8_t *from = c->packed.at + *at;
    uint8_t head = *from++;
    *present = UINT64_MAX;
    if (head & HAS_GAPS) {
        memcpy(present, from, sizeof *present);
        from += sizeof *present;
    }
    unsigned width = head & WIDTH;
    uint32_t count = count_of(*present);
    uint64_t words[ROWS];
    get_words(words, from, width);
    *at = (size_t)(from - c->packed.at) + (size_t)count * width;
    add_up(head, last, words, count);
    for (uint32_t i = 0; c->is_double && head & IS_THOUSANDTHS && i < count; i++) {
        union pt_cell cell = { .f64 = pt_thousandths_value((int32_t)words[i]) };
        words[i] = cell.word;
    }
    memcpy(values, words, count * sizeof *words);
    return count;
}

uint32_t pt_parquet_cells_next(const struct pt_parquet_cells *c, struct pt_parquet_reader *r,
                               uint64_t *present, union pt_cell *values) {
    uint32_t count = 0;
    if (c->leader)
        count = unpack(c->leader, &r->leaders_at, &r->leaders_last, present, &values->word);
    if (c->packed.at[r->at] != IS_LEADERS)
        return unpack(c, &r->at, &r->last, present, &values->word);
    r->last = r->leaders_last;
    r->at++;
    return count;
}

void pt_parquet_cells_read(const struct pt_parquet_cells *c, union pt_cell *values,
                           uint64_t *present) {
    struct pt_parquet_reader reader = { 0 };
    while (reader.at < c->packed.len)
        values += pt_parquet_cells_next(c, &reader, present++, values);
}

void pt_parquet_cells_presence(const struct pt_parquet_cells *c, uint64_t *present) {
    for (size_t at = 0; at < c->packed.len; present++) {
        uint8_t head = c->packed.at[at++];
        *present = UINT64_MAX;
        if (head & HAS_GAPS) {
            memcpy(present, c->packed.at + at, sizeof *present);
            at += sizeof *present;
        }
        at += (size_t)count_of(*present) * (head & WIDTH);
    }
}

void pt_parquet_cells_append(struct pt_parquet_cells *c, const struct pt_parquet_cells *page) {
    pt_buf_bytes(&c->packed, page->packed.at, page->packed.len);
    (void)pt_buf_reserve(&c->packed, BLOCK_BYTES); /* the last block is read to its end */
    c->value_count += page->value_count;
}

/* Thousandths go on from page to page, so that their pages can be appended to each other. */
void pt_parquet_cells_clear(struct pt_parquet_cells *c) {
    pt_buf_clear(&c->packed);
    c->last.word = 0;
    c->value_count = 0;
    c->differs = c->has_others = false;
}
