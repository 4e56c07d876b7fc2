/* Encodes a sample. */
#include "store/journal_delta.h"

#include "base/clock.h"
#include "base/crc32c.h"

#define NO_ROW    UINT32_MAX
#define LOOKAHEAD 8

/* Enough space for any cell but a string. */
#define CELL_MAX 11

static uint32_t lowest_bit(uint64_t bits) {
    return (uint32_t)__builtin_ctzll(bits);
}

static struct pt_str known_str(const struct pt_delta_table *t, union pt_cell c) {
    return (struct pt_str){ (const char *)t->strings.at + c.string.offset, c.string.len };
}

static bool is_same_cell(const struct pt_delta_table *t, const struct pt_batch *b, uint32_t row,
                         uint32_t slot, uint16_t column) {
    if (t->codings[column] == PT_CODE_STRING)
        return pt_str_eq(pt_get_str(b, row, column), known_str(t, pt_slot_cells(t, slot)[column]));
    return pt_batch_cells(b, row)[column].word == pt_slot_cells(t, slot)[column].word;
}

static bool has_same_keys(const struct pt_delta_table *t, const struct pt_batch *b, uint32_t row,
                          uint32_t slot) {
    const uint64_t *now = pt_batch_present(b, row), *was = pt_slot_present(t, slot);
    for (uint16_t i = 0; i < t->key_count; i++) {
        uint16_t column = t->keys[i];
        if ((now[column / 64] ^ was[column / 64]) >> column % 64 & 1)
            return false;
        if (!is_same_cell(t, b, row, slot, column))
            return false;
    }
    return true;
}

static bool is_each_string_same(const struct pt_delta_table *t, const struct pt_batch *b,
                                uint32_t row, uint32_t slot) {
    for (uint32_t w = 0; w < t->bitmap_words; w++) {
        uint64_t bits = t->string_bits[w] & pt_slot_present(t, slot)[w];
        for (; bits; bits &= bits - 1)
            if (!is_same_cell(t, b, row, slot, (uint16_t)(64 * w + lowest_bit(bits))))
                return false;
    }
    return true;
}

/* The strings of a row mostly lie one after the other on both sides: then they are compared as
 * one. */
static bool has_same_strings(const struct pt_delta_table *t, const struct pt_batch *b, uint32_t row,
                             uint32_t slot) {
    const union pt_cell *now = pt_batch_cells(b, row), *was = pt_slot_cells(t, slot);
    uint32_t first = 0, known_first = 0, len = 0;
    for (uint32_t w = 0; w < t->bitmap_words; w++) {
        uint64_t bits = t->string_bits[w] & pt_slot_present(t, slot)[w];
        for (; bits; bits &= bits - 1) {
            uint32_t i = 64 * w + lowest_bit(bits);
            if (now[i].string.len != was[i].string.len)
                return false;
            if (len == 0)
                first = now[i].string.offset, known_first = was[i].string.offset;
            if (now[i].string.offset != first + len || was[i].string.offset != known_first + len)
                return is_each_string_same(t, b, row, slot);
            len += now[i].string.len;
        }
    }
    return len == 0 || memcmp(b->strings.at + first, t->strings.at + known_first, len) == 0;
}

/* Cheaper than compare_row() for the many rows in which nothing happened. */
static bool is_same_row(const struct pt_delta_table *t, const struct pt_batch *b, uint32_t row,
                        uint32_t slot) {
    if (memcmp(pt_batch_present(b, row), pt_slot_present(t, slot), 8 * t->bitmap_words) != 0)
        return false;
    const union pt_cell *now = pt_batch_cells(b, row), *was = pt_slot_cells(t, slot);
    for (uint16_t i = 0; i < t->span_count; i++) {
        struct pt_column_range span = t->spans[i];
        if (memcmp(now + span.first, was + span.first, span.count * sizeof *now) != 0)
            return false;
    }
    return has_same_strings(t, b, row, slot);
}

static uint64_t different_words(const union pt_cell *now, const union pt_cell *was, uint32_t n) {
    uint64_t bits = 0;
    for (uint32_t i = 0; i < n; i++)
        bits |= (uint64_t)(now[i].word != was[i].word) << i;
    return bits;
}

static uint64_t different_strings(const struct pt_delta_table *t, const struct pt_batch *b,
                                  uint32_t row, uint32_t slot, uint32_t w, uint64_t bits) {
    uint64_t different = 0;
    for (; bits; bits &= bits - 1) {
        uint32_t i = lowest_bit(bits);
        if (!is_same_cell(t, b, row, slot, (uint16_t)(64 * w + i)))
            different |= UINT64_C(1) << i;
    }
    return different;
}

/* Fills `changed` (cells present before and now) and `coded` (also those that appeared). Returns
 * whether presence changed. */
static bool compare_row(struct pt_delta_table *t, const struct pt_batch *b, uint32_t row,
                        uint32_t slot) {
    const uint64_t *present = pt_batch_present(b, row), *known = pt_slot_present(t, slot);
    const union pt_cell *now = pt_batch_cells(b, row), *was = pt_slot_cells(t, slot);
    bool presence_changed = false;
    for (uint32_t w = 0; w < t->bitmap_words; w++) {
        uint32_t columns = t->table->column_count - 64 * w;
        uint64_t both = present[w] & known[w], strings = t->string_bits[w];
        uint64_t bits = different_words(now + 64 * w, was + 64 * w, columns < 64 ? columns : 64);
        bits = (bits & ~strings) | different_strings(t, b, row, slot, w, strings & both);
        t->changed[w] = bits & both;
        t->coded[w] = t->changed[w] | (present[w] & ~known[w]);
        presence_changed |= present[w] != known[w];
    }
    return presence_changed;
}

static uint8_t *put_varint(uint8_t *p, uint64_t value) {
    while (value >= 0x80) {
        *p++ = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    *p++ = (uint8_t)value;
    return p;
}

/* The kernel counts memory in pages and disks in sectors: nine bits less where that shows. */
static uint8_t *put_byte_counter(uint8_t *p, uint64_t difference) {
    if (difference % PT_BLOCK == 0)
        return put_varint(p, difference / PT_BLOCK << 1);
    if (!(difference >> 63))
        return put_varint(p, difference << 1 | 1);
    *p++ = PT_NOT_BLOCKS;
    return put_varint(p, difference);
}

static uint8_t *put_bytes(uint8_t *p, int64_t difference) {
    if (difference % PT_BLOCK == 0)
        return put_varint(p, pt_zigzag(difference / PT_BLOCK) << 1);
    uint64_t folded = pt_zigzag(difference);
    if (!(folded >> 63))
        return put_varint(p, folded << 1 | 1);
    *p++ = PT_NOT_BLOCKS;
    return put_varint(p, folded);
}

static uint8_t *put_double(uint8_t *p, union pt_cell now, union pt_cell was) {
    int64_t thousandths, known;
    if (pt_delta_thousandths(now.f64, &thousandths)) {
        if (!pt_delta_thousandths(was.f64, &known))
            known = 0;
        return put_varint(p, pt_zigzag(thousandths - known) << 1);
    }
    uint64_t bits = now.word ^ was.word;
    unsigned low = (unsigned)__builtin_ctzll(bits) / 8, high = (unsigned)__builtin_clzll(bits) / 8;
    unsigned count = 8 - low - high;
    *p++ = (uint8_t)((low << 3 | (count - 1)) << 1 | 1);
    bits >>= 8 * low;
    memcpy(p, &bits, sizeof bits);
    return p + count;
}

static union pt_cell remember_str(struct pt_delta_table *t, struct pt_str s) {
    union pt_cell c = { .string = { (uint32_t)t->strings.len, (uint32_t)s.len } };
    pt_buf_str(&t->strings, s);
    return c;
}

/* Writes the coded cells and remembers them. */
static void put_cells(struct pt_delta_table *t, const struct pt_batch *b, uint32_t row,
                      uint32_t slot, struct pt_buf *out) {
    const union pt_cell *now = pt_batch_cells(b, row);
    union pt_cell *was = pt_slot_cells(t, slot);
    size_t room = t->table->column_count * (size_t)CELL_MAX;
    uint8_t *p = pt_buf_reserve(out, room);
    for (uint32_t w = 0; w < t->bitmap_words; w++) {
        for (uint64_t bits = t->coded[w]; bits; bits &= bits - 1) {
            uint32_t i = 64 * w + lowest_bit(bits);
            switch ((enum pt_coding)t->codings[i]) {
            case PT_CODE_COUNTER:
                p = put_varint(p, now[i].word - was[i].word);
                break;
            case PT_CODE_SIGNED:
                p = put_varint(p, pt_zigzag((int64_t)(now[i].word - was[i].word)));
                break;
            case PT_CODE_BYTE_COUNTER:
                p = put_byte_counter(p, now[i].word - was[i].word);
                break;
            case PT_CODE_BYTES:
                p = put_bytes(p, (int64_t)(now[i].word - was[i].word));
                break;
            case PT_CODE_DOUBLE:
                p = put_double(p, now[i], was[i]);
                break;
            case PT_CODE_STRING:
                out->len = (size_t)(p - out->at);
                pt_buf_lstr(out, pt_get_str(b, row, (int)i));
                was[i] = remember_str(t, pt_get_str(b, row, (int)i));
                p = pt_buf_reserve(out, room);
                continue;
            }
            was[i] = now[i];
        }
    }
    out->len = (size_t)(p - out->at);
}

/* Eight bytes of bitmap are one byte that marks the non-zero ones, then those. */
static void put_bitmap_word(struct pt_buf *out, uint64_t bits, uint32_t bytes) {
    if (bytes == 1) {
        pt_buf_u8(out, (uint8_t)bits);
        return;
    }
    uint8_t *head = pt_buf_reserve(out, 9), *p = head + 1;
    *head = 0;
    for (uint32_t i = 0; i < bytes; i++, bits >>= 8) {
        if (!(bits & 0xff))
            continue;
        *head |= (uint8_t)(1u << i);
        *p++ = (uint8_t)bits;
    }
    out->len += (size_t)(p - head);
}

/* As what differs from `known`, which is then the same. */
static void put_bitmap(const struct pt_delta_table *t, const uint64_t *now, uint64_t *known,
                       struct pt_buf *out) {
    for (uint32_t w = 0; w < t->bitmap_words; w++) {
        put_bitmap_word(out, now[w] ^ known[w], pt_bitmap_bytes(t, w));
        known[w] = now[w];
    }
}

/* Absent cells are zero on both ends, so that a value that appears is coded against zero. */
static void put_presence(struct pt_delta_table *t, const uint64_t *now, uint32_t slot,
                         struct pt_buf *out) {
    uint64_t *known = pt_slot_present(t, slot);
    union pt_cell *cells = pt_slot_cells(t, slot);
    for (uint32_t w = 0; w < t->bitmap_words; w++)
        for (uint64_t gone = known[w] & ~now[w]; gone; gone &= gone - 1)
            cells[64 * w + lowest_bit(gone)].word = 0;
    put_bitmap(t, now, known, out);
}

static void put_row_code(struct pt_buf *out, enum pt_row_code code, uint64_t argument) {
    pt_buf_varint(out, argument << 2 | code);
}

static void put_new_row(struct pt_delta_table *t, const struct pt_batch *b, uint32_t row,
                        struct pt_buf *out) {
    uint32_t slot = pt_delta_new_row(t);
    put_row_code(out, PT_ROW_NEW, 0);
    memcpy(t->coded, pt_batch_present(b, row), t->bitmap_words * sizeof *t->coded);
    put_presence(t, pt_batch_present(b, row), slot, out);
    put_cells(t, b, row, slot, out);
}

static void put_changes(struct pt_delta_table *t, const struct pt_batch *b, uint32_t row,
                        uint32_t slot, struct pt_buf *out) {
    put_bitmap(t, t->changed, pt_slot_changed(t, slot), out);
    put_cells(t, b, row, slot, out);
}

static void put_changed_row(struct pt_delta_table *t, const struct pt_batch *b, uint32_t row,
                            uint32_t slot, struct pt_buf *out) {
    bool presence_changed = compare_row(t, b, row, slot);
    put_row_code(out, PT_ROW_CHANGED, presence_changed);
    if (presence_changed)
        put_presence(t, pt_batch_present(b, row), slot, out);
    put_changes(t, b, row, slot, out);
}

static uint32_t hash_keys(const struct pt_delta_table *t, const union pt_cell *cells,
                          const uint8_t *strings) {
    uint32_t hash = 0;
    for (uint16_t i = 0; i < t->key_count; i++) {
        union pt_cell c = cells[t->keys[i]];
        if (t->codings[t->keys[i]] == PT_CODE_STRING)
            hash = pt_crc32c(hash, strings + c.string.offset, c.string.len);
        else
            hash = pt_crc32c(hash, &c.word, sizeof c.word);
    }
    return hash;
}

static void build_index(struct pt_delta_table *t) {
    struct pt_key_index *index = &t->index;
    uint32_t heads = 16;
    while (heads < t->row_count)
        heads *= 2;
    pt_grow(&index->heads, &index->head_capacity, heads, sizeof *index->heads);
    pt_grow(&index->next, &index->next_capacity, t->row_count, sizeof *index->next);
    memset(index->heads, 0, heads * sizeof *index->heads);
    index->head_mask = heads - 1;
    for (uint32_t i = t->row_count; i-- > 0;) {
        uint32_t hash = hash_keys(t, pt_slot_cells(t, t->order[i]), t->strings.at);
        uint32_t *head = &index->heads[hash & index->head_mask];
        index->next[i] = *head;
        *head = i + 1;
    }
    index->is_built = true;
}

static bool continues(const struct pt_delta_table *t, const struct pt_batch *b, uint32_t row,
                      uint32_t position) {
    return !pt_delta_is_taken(t, position) && has_same_keys(t, b, row, t->order[position]);
}

/* The known row of the same entity. Entities mostly keep their order and some disappear: checks the
 * next few before it builds an index. */
static uint32_t find_row(struct pt_delta_table *t, const struct pt_batch *b, uint32_t row) {
    for (uint32_t i = t->expected; i < t->row_count && i < t->expected + LOOKAHEAD; i++)
        if (continues(t, b, row, i))
            return i;
    if (t->key_count == 0 || t->next_count >= t->row_count)
        return NO_ROW;
    if (!t->index.is_built)
        build_index(t);
    uint32_t hash = hash_keys(t, pt_batch_cells(b, row), b->strings.at);
    for (uint32_t i = t->index.heads[hash & t->index.head_mask]; i; i = t->index.next[i - 1])
        if (continues(t, b, row, i - 1))
            return i - 1;
    return NO_ROW;
}

static void read_times(struct pt_delta_table *t, const struct pt_batch *b, uint32_t row) {
    uint32_t sources = t->table->source_count;
    uint64_t *into = t->time.read_us + (size_t)row * sources;
    for (uint32_t s = 0; s < sources; s++)
        into[s] = (uint64_t)pt_get_time(b, row, (int)s) / PT_NS_PER_US;
}

static void put_same_rows(uint32_t *run, struct pt_buf *out) {
    if (*run > 0)
        put_row_code(out, PT_ROW_SAME, *run - 1);
    *run = 0;
}

static void put_rows(struct pt_delta_table *t, const struct pt_batch *b, struct pt_buf *out) {
    uint32_t run = 0;
    for (uint32_t row = 0; row < b->row_count; row++) {
        read_times(t, b, row);
        uint32_t position = t->expected;
        bool is_expected = position < t->row_count && !pt_delta_is_taken(t, position);
        if (is_expected && is_same_row(t, b, row, t->order[position])) {
            pt_delta_take_row(t, position);
            run++;
            continue;
        }
        put_same_rows(&run, out);
        position = find_row(t, b, row);
        if (position == NO_ROW) {
            put_new_row(t, b, row, out);
            continue;
        }
        if (position != t->expected)
            put_row_code(out, PT_ROW_JUMP, pt_zigzag((int64_t)position - (int64_t)t->expected));
        put_changed_row(t, b, row, pt_delta_take_row(t, position), out);
    }
    put_same_rows(&run, out);
}

/* The usual table: one known row with changed cells and unchanged presence. */
static bool put_plain_row(struct pt_delta_table *t, const struct pt_batch *b, uint32_t head,
                          struct pt_buf *out) {
    if (b->row_count != 1 || t->row_count != 1 || !has_same_keys(t, b, 0, t->order[0]))
        return false;
    uint32_t slot = t->order[0];
    if (compare_row(t, b, 0, slot))
        return false;
    pt_buf_varint(out, head | 1);
    read_times(t, b, 0);
    pt_delta_take_row(t, 0);
    put_changes(t, b, 0, slot, out);
    return true;
}

static void put_table(struct pt_delta_table *t, const struct pt_batch *b, uint32_t distance,
                      uint64_t mono_us, struct pt_buf *out) {
    pt_grow(&t->time.read_us, &t->time.read_capacity, (size_t)b->row_count * t->table->source_count,
            sizeof *t->time.read_us);
    pt_delta_begin_rows(t);
    if (!put_plain_row(t, b, distance << 1, out)) {
        pt_buf_varint(out, distance << 1);
        pt_buf_varint(out, b->row_count);
        put_rows(t, b, out);
    }
    pt_delta_end_rows(t);
    pt_delta_put_times(t, mono_us, out);
}

static void put_clocks(struct pt_delta *d, const struct pt_sample *s, struct pt_buf *out) {
    uint64_t interval_ns = (uint64_t)s->mono_ns - d->mono_ns;
    uint64_t ahead_ns = (uint64_t)s->wall_ns - (uint64_t)s->mono_ns;
    pt_buf_zigzag(out, (int64_t)(interval_ns - d->interval_ns));
    pt_buf_zigzag(out, (int64_t)(ahead_ns - d->ahead_ns));
    pt_delta_set_clocks(d, (uint64_t)s->mono_ns, ahead_ns);
}

void pt_delta_encode(struct pt_delta *d, const struct pt_sample *s, struct pt_buf *into) {
    put_clocks(d, s, into);
    uint32_t next = 0;
    for (uint32_t i = 0; i < d->table_count; i++) {
        if (s->batches[i].row_count == 0)
            continue;
        put_table(&d->tables[i], &s->batches[i], i - next, d->mono_ns / PT_NS_PER_US, into);
        next = i + 1;
    }
}
