/* Decodes a sample. Trusts nothing: memory stays in proportion to the input for any bytes. */
#include "store/journal_delta.h"

#include "base/clock.h"
#include "store/journal.h"

#include <errno.h>
#include <math.h>

static uint64_t get_bitmap_word(struct pt_bytes *in, uint32_t bytes) {
    if (bytes == 1)
        return pt_bytes_u8(in);
    uint64_t bits = 0;
    unsigned head = pt_bytes_u8(in);
    if (head >> bytes)
        in->failed = true;
    for (; head; head &= head - 1)
        bits |= (uint64_t)pt_bytes_u8(in) << 8 * __builtin_ctz(head);
    return bits;
}

/* Bits of columns that do not exist are a failure. */
static uint64_t get_bitmap(struct pt_bytes *in, const struct pt_delta_table *t, uint32_t w) {
    uint32_t columns = t->table->column_count - 64 * w;
    uint64_t bits = get_bitmap_word(in, pt_bitmap_bytes(t, w));
    if (columns < 64 && bits >> columns)
        in->failed = true;
    return in->failed ? 0 : bits;
}

static uint64_t get_byte_counter(struct pt_bytes *in) {
    uint64_t code = pt_bytes_varint(in);
    if (code == PT_NOT_BLOCKS)
        return pt_bytes_varint(in);
    return code & 1 ? code >> 1 : (code >> 1) * PT_BLOCK;
}

static uint64_t get_bytes(struct pt_bytes *in) {
    uint64_t code = pt_bytes_varint(in);
    if (code == PT_NOT_BLOCKS)
        return (uint64_t)pt_bytes_zigzag(in);
    uint64_t difference = (uint64_t)pt_unzigzag(code >> 1);
    return code & 1 ? difference : difference * PT_BLOCK;
}

static double get_thousandths(struct pt_bytes *in, uint64_t folded, double was) {
    int64_t known;
    if (!pt_delta_thousandths(was, &known))
        known = 0;
    int64_t now = (int64_t)((uint64_t)known + (uint64_t)pt_unzigzag(folded));
    if (now < -PT_THOUSANDTHS_MAX || now > PT_THOUSANDTHS_MAX)
        in->failed = true;
    return (double)now / 1000.0;
}

static uint64_t get_some_bytes(struct pt_bytes *in, uint64_t code) {
    uint64_t low = code >> 3, count = (code & 7) + 1, bits = 0;
    if (low + count > 8)
        in->failed = true;
    struct pt_str bytes = pt_bytes_take(in, count);
    if (in->failed)
        return 0;
    memcpy(&bits, bytes.at, bytes.len);
    return bits << 8 * low;
}

static union pt_cell get_double(struct pt_bytes *in, union pt_cell was) {
    uint64_t code = pt_bytes_varint(in);
    union pt_cell now;
    if (code & 1)
        now.word = was.word ^ get_some_bytes(in, code >> 1);
    else
        now.f64 = get_thousandths(in, code >> 1, was.f64);
    if (!isfinite(now.f64))
        in->failed = true; /* no batch can hold it */
    return now;
}

static union pt_cell get_str(struct pt_bytes *in, struct pt_delta_table *t) {
    struct pt_str s = pt_bytes_lstr(in);
    if (t->strings.len + s.len > 3ull * PT_JOURNAL_RECORD_MAX) { /* no writer uses larger values */
        in->failed = true;
        return (union pt_cell){ 0 };
    }
    union pt_cell c = { .string = { (uint32_t)t->strings.len, (uint32_t)s.len } };
    pt_buf_str(&t->strings, s);
    return c;
}

static void get_cells(struct pt_bytes *in, struct pt_delta_table *t, uint32_t slot) {
    union pt_cell *cells = pt_slot_cells(t, slot);
    for (uint32_t w = 0; w < t->bitmap_words; w++) {
        for (uint64_t bits = t->coded[w]; bits; bits &= bits - 1) {
            uint32_t i = 64 * w + (uint32_t)__builtin_ctzll(bits);
            union pt_cell *c = &cells[i];
            switch ((enum pt_coding)t->codings[i]) {
            case PT_CODE_COUNTER:
                c->word += pt_bytes_varint(in);
                break;
            case PT_CODE_SIGNED:
                c->word += (uint64_t)pt_bytes_zigzag(in);
                break;
            case PT_CODE_BYTE_COUNTER:
                c->word += get_byte_counter(in);
                break;
            case PT_CODE_BYTES:
                c->word += get_bytes(in);
                break;
            case PT_CODE_DOUBLE:
                *c = get_double(in, *c);
                break;
            case PT_CODE_STRING:
                *c = get_str(in, t);
                break;
            }
        }
    }
}

/* Leaves the cells that appeared in `coded` and zeroes those that are gone. */
static void get_presence(struct pt_bytes *in, struct pt_delta_table *t, uint32_t slot) {
    uint64_t *present = pt_slot_present(t, slot);
    union pt_cell *cells = pt_slot_cells(t, slot);
    for (uint32_t w = 0; w < t->bitmap_words; w++) {
        uint64_t flipped = get_bitmap(in, t, w);
        for (uint64_t gone = flipped & present[w]; gone; gone &= gone - 1)
            cells[64 * w + (uint32_t)__builtin_ctzll(gone)].word = 0;
        t->coded[w] = flipped & ~present[w];
        present[w] ^= flipped;
    }
}

static void get_changes(struct pt_bytes *in, struct pt_delta_table *t, uint32_t slot) {
    uint64_t *changed = pt_slot_changed(t, slot), *present = pt_slot_present(t, slot);
    for (uint32_t w = 0; w < t->bitmap_words; w++) {
        changed[w] ^= get_bitmap(in, t, w);
        if (changed[w] & (~present[w] | t->coded[w]))
            in->failed = true;
        t->coded[w] |= changed[w];
    }
    get_cells(in, t, slot);
}

static void copy_strings(struct pt_bytes *in, const struct pt_delta_table *t, struct pt_batch *b,
                         uint32_t row) {
    union pt_cell *cells = pt_batch_cells(b, row);
    for (uint32_t w = 0; w < t->bitmap_words; w++) {
        uint64_t bits = t->string_bits[w] & pt_batch_present(b, row)[w];
        for (; bits; bits &= bits - 1) {
            union pt_cell *c = &cells[64 * w + (uint32_t)__builtin_ctzll(bits)];
            if (b->strings.len + c->string.len > PT_JOURNAL_RECORD_MAX) {
                in->failed = true;
                return;
            }
            const uint8_t *from = t->strings.at + c->string.offset;
            c->string.offset = (uint32_t)b->strings.len;
            pt_buf_bytes(&b->strings, from, c->string.len);
        }
    }
}

/* Adds the row as it is now known. Its times come later. */
static void add_row(struct pt_bytes *in, const struct pt_delta_table *t, uint32_t slot,
                    struct pt_batch *b) {
    pt_batch_add_row(b);
    uint32_t row = b->row_count - 1;
    memcpy(pt_batch_present(b, row), pt_slot_present(t, slot),
           (t->slot_words - t->bitmap_words) * sizeof *t->slots);
    copy_strings(in, t, b, row);
}

/* A known row may be continued once only: rows cannot multiply. */
static bool can_take(struct pt_bytes *in, const struct pt_delta_table *t) {
    if (t->expected >= t->row_count || pt_delta_is_taken(t, t->expected))
        in->failed = true;
    return !in->failed;
}

static void get_same_rows(struct pt_bytes *in, struct pt_delta_table *t, uint64_t count,
                          struct pt_batch *b) {
    for (; count > 0 && can_take(in, t); count--)
        add_row(in, t, pt_delta_take_row(t, t->expected), b);
}

static void get_changed_row(struct pt_bytes *in, struct pt_delta_table *t, bool presence_changed,
                            struct pt_batch *b) {
    if (!can_take(in, t))
        return;
    uint32_t slot = pt_delta_take_row(t, t->expected);
    memset(t->coded, 0, t->bitmap_words * sizeof *t->coded);
    if (presence_changed)
        get_presence(in, t, slot);
    get_changes(in, t, slot);
    add_row(in, t, slot, b);
}

static void get_new_row(struct pt_bytes *in, struct pt_delta_table *t, struct pt_batch *b) {
    uint32_t slot = pt_delta_new_row(t);
    get_presence(in, t, slot);
    get_cells(in, t, slot);
    add_row(in, t, slot, b);
}

static void get_jump(struct pt_bytes *in, struct pt_delta_table *t, uint64_t folded) {
    uint64_t position = t->expected + (uint64_t)pt_unzigzag(folded);
    if (position >= t->row_count)
        in->failed = true;
    else
        t->expected = (uint32_t)position;
}

static void get_rows(struct pt_bytes *in, struct pt_delta_table *t, uint32_t count,
                     struct pt_batch *b) {
    while (b->row_count < count && !in->failed) {
        uint64_t code = pt_bytes_varint(in), argument = code >> 2;
        switch ((enum pt_row_code)(code & 3)) {
        case PT_ROW_SAME:
            if (argument >= count - b->row_count)
                in->failed = true;
            else
                get_same_rows(in, t, argument + 1, b);
            break;
        case PT_ROW_CHANGED:
            in->failed |= argument > 1;
            get_changed_row(in, t, argument == 1, b);
            break;
        case PT_ROW_JUMP:
            get_jump(in, t, argument);
            break;
        case PT_ROW_NEW:
            in->failed |= argument > 0;
            get_new_row(in, t, b);
            break;
        }
    }
}

/* New rows take a byte each at least, so the count cannot be absurd. */
static uint32_t get_row_count(struct pt_bytes *in, const struct pt_delta_table *t,
                              const struct pt_batch *b) {
    uint64_t count = pt_bytes_varint(in);
    uint64_t possible = t->row_count + (uint64_t)(in->end - in->at);
    if (count == 0 || count > possible || count * b->row_words > PT_JOURNAL_RECORD_MAX / 8) {
        in->failed = true;
        return 0;
    }
    return (uint32_t)count;
}

static void get_table(struct pt_bytes *in, struct pt_delta_table *t, bool is_plain,
                      uint64_t mono_us, struct pt_batch *b) {
    pt_delta_begin_rows(t);
    if (is_plain) {
        in->failed |= t->row_count != 1;
        get_changed_row(in, t, false, b);
    } else {
        get_rows(in, t, get_row_count(in, t, b), b);
    }
    pt_delta_end_rows(t);
    if (!in->failed)
        pt_delta_get_times(in, t, mono_us, b);
}

static void get_clocks(struct pt_bytes *in, struct pt_delta *d, struct pt_sample *s) {
    uint64_t interval_ns = d->interval_ns + (uint64_t)pt_bytes_zigzag(in);
    uint64_t ahead_ns = d->ahead_ns + (uint64_t)pt_bytes_zigzag(in);
    pt_delta_set_clocks(d, d->mono_ns + interval_ns, ahead_ns);
    s->mono_ns = (int64_t)d->mono_ns;
    s->wall_ns = (int64_t)(d->mono_ns + ahead_ns);
}

int pt_delta_decode(struct pt_delta *d, struct pt_bytes *from, struct pt_sample *s) {
    get_clocks(from, d, s);
    uint64_t next = 0;
    while (from->at < from->end && !from->failed) {
        uint64_t head = pt_bytes_varint(from), i = next + (head >> 1);
        if (i >= d->table_count)
            return -EBADMSG;
        get_table(from, &d->tables[i], head & 1, d->mono_ns / PT_NS_PER_US, &s->batches[i]);
        next = i + 1;
    }
    return from->failed ? -EBADMSG : 0;
}
