/* format/rows/parquet_dictionary.h -- the distinct values of a column chunk.
 *
 * Doubles are compared by their bits, so that -0.0 stays -0.0. Most gauges have at most three
 * decimals: then the number of thousandths is the code, without lookup or sorting. Other doubles,
 * and strings, are numbered as they come. {0} is an empty dictionary, and so is a released one. */
#ifndef PT_FORMAT_ROWS_PARQUET_DICTIONARY_H
#define PT_FORMAT_ROWS_PARQUET_DICTIONARY_H

#include "base/buf.h"

/* Writes the thousandths of each double; false if one is not an exact number of thousandths, or too
 * large. */
bool pt_thousandths_from(const double *values, uint32_t count, int32_t *thousandths);
/* Is the difference between two of them small enough for pt_thousandths_rank()? */
bool pt_thousandths_can_rank(int32_t min, int32_t max);
/* Replaces each by its rank among the distinct ones, and appends those as doubles. */
void pt_thousandths_rank(int32_t *thousandths, size_t count, int32_t min, int32_t max,
                         struct pt_buf *sorted);

static inline double pt_thousandths_value(int32_t thousandths) {
    return thousandths / 1000.0;
}

/* Open addressing: a slot holds a code + 1, or 0. The word is stored only next to it, so that a
 * lookup touches only neighbours. */
struct pt_word_dictionary {
    uint32_t *codes;
    uint64_t *words;
    uint32_t capacity; /* a power of two, at least twice the count */
    uint32_t count;
};

void pt_word_dictionary_release(struct pt_word_dictionary *d);
/* Writes the code of each word to `codes`. */
void pt_word_dictionary_encode(struct pt_word_dictionary *d, const uint64_t *words, uint32_t count,
                               uint32_t *codes);
/* Writes the words in the order of their doubles; `ranks[code]` is the position of each. */
void pt_word_dictionary_sort(const struct pt_word_dictionary *d, uint64_t *sorted, uint32_t *ranks);

struct pt_string_entry {
    uint64_t hash;
    size_t offset, len; /* in `bytes` */
};

struct pt_string_dictionary {
    struct pt_string_entry *entries; /* by code */
    size_t entry_capacity;
    uint32_t count;
    struct pt_buf bytes;
    uint32_t *slots;   /* a code + 1, or 0 */
    uint32_t capacity; /* of `slots`, as above */
};

void pt_string_dictionary_release(struct pt_string_dictionary *d);
uint32_t pt_string_dictionary_code(struct pt_string_dictionary *d, struct pt_str s); /* copies */

static inline struct pt_str pt_string_dictionary_get(const struct pt_string_dictionary *d,
                                                     uint32_t code) {
    const struct pt_string_entry *e = &d->entries[code];
    return (struct pt_str){ (const char *)d->bytes.at + e->offset, e->len };
}

/* Bytes of memory in use, to limit a row group. */
size_t pt_word_dictionary_memory(const struct pt_word_dictionary *d);
size_t pt_string_dictionary_memory(const struct pt_string_dictionary *d);

#endif
