/* store/journal_delta.h -- a sample as the difference to the samples before it.
 *
 * Both ends of a journal keep the last known rows of every table; encoding and
 * decoding a sample updates them alike. Only the journal's own files include
 * this. docs/JOURNAL.md, "Samples", is the specification. */
#ifndef PT_STORE_JOURNAL_DELTA_H
#define PT_STORE_JOURNAL_DELTA_H

#include "model/sample.h"

/* How a cell is coded; follows from type, kind and unit of its column. */
enum pt_coding {
    PT_CODE_SIGNED,
    PT_CODE_COUNTER,
    PT_CODE_BYTES, /* mostly multiples of PT_BLOCK */
    PT_CODE_BYTE_COUNTER,
    PT_CODE_DOUBLE,
    PT_CODE_STRING,
};

#define PT_BLOCK           512
#define PT_NOT_BLOCKS      1 /* then the whole difference follows */
#define PT_THOUSANDTHS_MAX (INT64_C(1) << 40)

/* What a row does to the rows known before; the low two bits of its code. */
enum pt_row_code {
    PT_ROW_SAME,    /* argument + 1 rows are as they were */
    PT_ROW_CHANGED, /* argument 1: the presence of cells changed too */
    PT_ROW_JUMP,    /* the next known row is not the one expected, but `argument` away */
    PT_ROW_NEW,     /* argument + 1 rows that were not known */
};

struct pt_column_range {
    uint16_t first, count;
};

/* Times of one source for all rows, relative to the sample's, and those of the source before. */
struct pt_time_scratch {
    uint64_t *offsets, *before;
    size_t offset_capacity, before_capacity;
    uint64_t lead_moved; /* by how much the first row's time of the source before did */
    uint64_t *read_us;   /* encoder only: all sources of all rows */
    size_t read_capacity;
    struct pt_buf far;
};

/* Known rows by their key cells: chains of positions. */
struct pt_key_index {
    uint32_t *heads, *next; /* position + 1, 0 ends a chain */
    size_t head_capacity, next_capacity;
    uint32_t head_mask;
    bool is_built; /* of the current sample */
};

/* The last known rows of one table. A row keeps its slot as long as its entity exists; `order`
 * lists the slots of the latest rows. A slot is a run of words: the bitmap of the cells that
 * changed last, the bitmap of those present, the cells. */
struct pt_delta_table {
    const struct pt_table *table;
    uint32_t bitmap_words, slot_words;
    uint8_t *codings;              /* enum pt_coding per column */
    uint64_t *string_bits;         /* bitmap of the string columns */
    uint16_t *keys;                /* key columns */
    struct pt_column_range *spans; /* columns that are not strings, in runs */
    uint16_t key_count, span_count;

    uint64_t *slots;
    uint64_t *slot_times; /* read times in microseconds, one per source */
    uint32_t *slot_used;  /* stamp of the last sample with a row in the slot */
    size_t slot_word_capacity, slot_time_capacity, slot_used_capacity;
    uint32_t slot_count, stamp;
    uint32_t *free_slots;
    size_t free_capacity;
    uint32_t free_count;
    uint32_t *order, *next_order;
    size_t order_capacity, next_capacity;
    uint32_t row_count, next_count;
    uint32_t expected; /* position in `order` that the next row should continue */
    struct pt_buf strings;

    uint64_t *changed, *coded;   /* bitmaps of the current row */
    uint64_t *lead;              /* per source: time of the first row, relative to the sample's */
    struct pt_time_scratch time; /* of the current rows */
    struct pt_key_index index;   /* encoder only */
};

struct pt_delta {
    struct pt_delta_table *tables;
    uint32_t table_count;
    uint64_t mono_ns, interval_ns, ahead_ns; /* of the latest sample; ahead: wall - mono */
};

struct pt_delta *pt_delta_new(const struct pt_schema *schema); /* borrows the tables */
void pt_delta_free(struct pt_delta *d);
/* Forgets all rows: the next sample is a key sample. */
void pt_delta_reset(struct pt_delta *d);

/* Appends the sample. */
void pt_delta_encode(struct pt_delta *d, const struct pt_sample *s, struct pt_buf *into);
/* Fills the cleared sample; 0 or -EBADMSG, after which only a key sample can follow. */
int pt_delta_decode(struct pt_delta *d, struct pt_bytes *from, struct pt_sample *s) PT_MUST_CHECK;

/* Shared by both directions. */

static inline uint64_t *pt_slot_changed(const struct pt_delta_table *t, uint32_t slot) {
    return t->slots + (size_t)slot * t->slot_words;
}

static inline uint64_t *pt_slot_present(const struct pt_delta_table *t, uint32_t slot) {
    return pt_slot_changed(t, slot) + t->bitmap_words;
}

static inline union pt_cell *pt_slot_cells(const struct pt_delta_table *t, uint32_t slot) {
    return (union pt_cell *)(pt_slot_present(t, slot) + t->bitmap_words);
}

static inline uint64_t *pt_slot_times(const struct pt_delta_table *t, uint32_t slot) {
    return t->slot_times + (size_t)slot * t->table->source_count;
}

/* Bytes of bitmap word `w`. */
static inline uint32_t pt_bitmap_bytes(const struct pt_delta_table *t, uint32_t w) {
    uint32_t columns = t->table->column_count - 64 * w;
    return columns >= 64 ? 8 : (columns + 7) / 8;
}

/* Rows are coded in the order begin, then take or new for each, end. */
void pt_delta_begin_rows(struct pt_delta_table *t);

static inline bool pt_delta_is_taken(const struct pt_delta_table *t, uint32_t position) {
    return t->slot_used[t->order[position]] == t->stamp;
}

static inline void pt_delta_append_row(struct pt_delta_table *t, uint32_t slot) {
    if (PT_UNLIKELY(t->next_count >= t->next_capacity))
        pt_grow(&t->next_order, &t->next_capacity, t->next_count + 1u, sizeof *t->next_order);
    t->next_order[t->next_count++] = slot;
    t->slot_used[slot] = t->stamp;
}

/* The next row continues the known row at `position`; returns its slot. */
static inline uint32_t pt_delta_take_row(struct pt_delta_table *t, uint32_t position) {
    uint32_t slot = t->order[position];
    pt_delta_append_row(t, slot);
    t->expected = position + 1;
    return slot;
}

/* The next row was not known; returns an empty slot. Slots may move. */
uint32_t pt_delta_new_row(struct pt_delta_table *t);
/* Frees the slots of rows that are gone. */
void pt_delta_end_rows(struct pt_delta_table *t);

static inline void pt_delta_set_clocks(struct pt_delta *d, uint64_t mono_ns, uint64_t ahead_ns) {
    d->interval_ns = mono_ns - d->mono_ns;
    d->mono_ns = mono_ns;
    d->ahead_ns = ahead_ns;
}

/* Read times of the rows just coded. The encoder has put them into `time.read_us`. */
void pt_delta_put_times(struct pt_delta_table *t, uint64_t mono_us, struct pt_buf *into);
void pt_delta_get_times(struct pt_bytes *from, struct pt_delta_table *t, uint64_t mono_us,
                        struct pt_batch *b);

/* Is `value` an exact multiple of 0.001, as kernel text with up to three decimals is? */
bool pt_delta_thousandths(double value, int64_t *thousandths);

#endif
