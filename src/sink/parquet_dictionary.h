/* sink/parquet_dictionary.h -- the distinct values of a column chunk, numbered as they come.
 *
 * One for 64-bit words (doubles by their bits, so that -0.0 stays -0.0) and one
 * for strings. {0} is empty. Clearing keeps the memory. */
#ifndef PT_SINK_PARQUET_DICTIONARY_H
#define PT_SINK_PARQUET_DICTIONARY_H

#include "base/buf.h"

/* Open addressing: a slot holds a code + 1, or 0. */
struct pt_slots {
    uint32_t *codes;
    uint32_t capacity; /* a power of two, at least twice the count */
};

struct pt_word_dictionary {
    uint64_t *words; /* by code */
    size_t word_capacity;
    uint32_t count;
    struct pt_slots slots;
};

void pt_word_dictionary_release(struct pt_word_dictionary *d);
void pt_word_dictionary_clear(struct pt_word_dictionary *d);
/* Writes the code of each word to `codes`. */
void pt_word_dictionary_encode(struct pt_word_dictionary *d, const uint64_t *words, uint32_t count,
                               uint32_t *codes);
/* Writes the words in the order of the doubles they are; `ranks[code]` is the place of each. */
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
    struct pt_slots slots;
};

void pt_string_dictionary_release(struct pt_string_dictionary *d);
void pt_string_dictionary_clear(struct pt_string_dictionary *d);
uint32_t pt_string_dictionary_code(struct pt_string_dictionary *d, struct pt_str s); /* copies */

static inline struct pt_str pt_string_dictionary_get(const struct pt_string_dictionary *d,
                                                     uint32_t code) {
    const struct pt_string_entry *e = &d->entries[code];
    return (struct pt_str){ (const char *)d->bytes.at + e->offset, e->len };
}

/* Bytes of memory in use, to bound a row group by. */
size_t pt_word_dictionary_memory(const struct pt_word_dictionary *d);
size_t pt_string_dictionary_memory(const struct pt_string_dictionary *d);

#endif
