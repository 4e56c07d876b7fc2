#include "sink/parquet_dictionary.h"

#define SLOTS_MIN 256

static void slots_clear(struct pt_slots *s) {
    if (s->capacity > 0)
        memset(s->codes, 0, s->capacity * sizeof *s->codes);
}

static void slots_release(struct pt_slots *s) {
    pt_free(s->codes);
    *s = (struct pt_slots){ 0 };
}

/* Is there no room for one more? */
static bool slots_are_full(const struct pt_slots *s, uint32_t count) {
    return s->capacity < 2 * (count + 1);
}

/* Twice the slots, all empty: the caller puts the codes back. */
static void slots_grow(struct pt_slots *s) {
    uint32_t grown = s->capacity ? 2 * s->capacity : SLOTS_MIN;
    slots_release(s);
    *s = (struct pt_slots){ pt_calloc(grown, sizeof *s->codes), grown };
}

/* The high bits of a product depend on all bits of the word. */
static uint32_t slot_of(const struct pt_slots *s, uint64_t hash) {
    return (uint32_t)(hash >> 32) & (s->capacity - 1);
}

static uint32_t slot_after(const struct pt_slots *s, uint32_t slot) {
    return (slot + 1) & (s->capacity - 1);
}

static void slots_put(struct pt_slots *s, uint64_t hash, uint32_t code) {
    uint32_t slot = slot_of(s, hash);
    while (s->codes[slot])
        slot = slot_after(s, slot);
    s->codes[slot] = code + 1;
}

static uint64_t mix(uint64_t word) {
    word ^= word >> 32;
    word *= UINT64_C(0x9e3779b97f4a7c15);
    return word ^ word >> 29;
}

void pt_word_dictionary_release(struct pt_word_dictionary *d) {
    pt_free(d->words);
    slots_release(&d->slots);
    *d = (struct pt_word_dictionary){ 0 };
}

void pt_word_dictionary_clear(struct pt_word_dictionary *d) {
    d->count = 0;
    slots_clear(&d->slots);
}

size_t pt_word_dictionary_memory(const struct pt_word_dictionary *d) {
    return d->word_capacity * sizeof *d->words + d->slots.capacity * sizeof *d->slots.codes;
}

static uint32_t add_word(struct pt_word_dictionary *d, uint64_t word) {
    pt_grow(&d->words, &d->word_capacity, d->count + 1, sizeof *d->words);
    d->words[d->count] = word;
    if (slots_are_full(&d->slots, d->count)) {
        slots_grow(&d->slots);
        for (uint32_t code = 0; code < d->count; code++)
            slots_put(&d->slots, mix(d->words[code]), code);
    }
    slots_put(&d->slots, mix(word), d->count);
    return d->count++;
}

static uint32_t word_code(struct pt_word_dictionary *d, uint64_t word) {
    if (d->slots.capacity == 0)
        return add_word(d, word);
    uint32_t slot = slot_of(&d->slots, mix(word));
    for (uint32_t code; (code = d->slots.codes[slot]); slot = slot_after(&d->slots, slot))
        if (d->words[code - 1] == word)
            return code - 1;
    return add_word(d, word);
}

void pt_word_dictionary_encode(struct pt_word_dictionary *d, const uint64_t *words, uint32_t count,
                               uint32_t *codes) {
    for (uint32_t i = 0; i < count; i++)
        codes[i] = i > 0 && words[i] == words[i - 1] ? codes[i - 1] : word_code(d, words[i]);
}

/* A double's bits as an unsigned number of the same order, and back. */
static uint64_t ordered(uint64_t bits) {
    return bits ^ ((uint64_t)((int64_t)bits >> 63) | UINT64_C(1) << 63);
}

static uint64_t unordered(uint64_t key) {
    return key ^ ((key >> 63) - 1 | UINT64_C(1) << 63);
}

struct keyed {
    uint64_t key;
    uint32_t code;
};

/* One pass of a radix sort, by the byte at `shift`. */
static void sort_by_byte(const struct keyed *from, struct keyed *to, uint32_t count, unsigned shift,
                         const uint32_t *histogram) {
    uint32_t place[256], sum = 0;
    for (unsigned i = 0; i < 256; i++) {
        place[i] = sum;
        sum += histogram[i];
    }
    for (uint32_t i = 0; i < count; i++)
        to[place[from[i].key >> shift & 0xff]++] = from[i];
}

/* Sorts `items` with the help of `spare`; returns which of the two has the result. */
static struct keyed *radix_sort(struct keyed *items, struct keyed *spare, uint32_t count) {
    uint32_t histogram[8][256] = { 0 };
    for (uint32_t i = 0; i < count; i++)
        for (unsigned byte = 0; byte < 8; byte++)
            histogram[byte][items[i].key >> 8 * byte & 0xff]++;
    for (unsigned byte = 0; byte < 8; byte++) {
        if (histogram[byte][items[0].key >> 8 * byte & 0xff] == count)
            continue; /* all have the same byte */
        sort_by_byte(items, spare, count, 8 * byte, histogram[byte]);
        struct keyed *sorted = spare;
        spare = items;
        items = sorted;
    }
    return items;
}

void pt_word_dictionary_sort(const struct pt_word_dictionary *d, uint64_t *sorted,
                             uint32_t *ranks) {
    if (d->count == 0)
        return;
    struct keyed *items = pt_malloc((size_t)d->count * 2 * sizeof *items);
    for (uint32_t code = 0; code < d->count; code++)
        items[code] = (struct keyed){ ordered(d->words[code]), code };
    const struct keyed *in_order = radix_sort(items, items + d->count, d->count);
    for (uint32_t rank = 0; rank < d->count; rank++) {
        ranks[in_order[rank].code] = rank;
        sorted[rank] = unordered(in_order[rank].key);
    }
    pt_free(items);
}

void pt_string_dictionary_release(struct pt_string_dictionary *d) {
    pt_free(d->entries);
    pt_buf_release(&d->bytes);
    slots_release(&d->slots);
    *d = (struct pt_string_dictionary){ 0 };
}

void pt_string_dictionary_clear(struct pt_string_dictionary *d) {
    d->count = 0;
    pt_buf_clear(&d->bytes);
    slots_clear(&d->slots);
}

size_t pt_string_dictionary_memory(const struct pt_string_dictionary *d) {
    return d->entry_capacity * sizeof *d->entries + d->bytes.len +
           d->slots.capacity * sizeof *d->slots.codes;
}

static uint64_t hash_string(struct pt_str s) {
    uint64_t hash = s.len, word;
    for (; s.len >= sizeof word; s = pt_str_skip(s, sizeof word)) {
        memcpy(&word, s.at, sizeof word);
        hash = mix(hash ^ word);
    }
    word = 0;
    if (s.len > 0)
        memcpy(&word, s.at, s.len);
    return mix(hash ^ word);
}

static uint32_t add_string(struct pt_string_dictionary *d, struct pt_str s, uint64_t hash) {
    pt_grow(&d->entries, &d->entry_capacity, d->count + 1, sizeof *d->entries);
    d->entries[d->count] = (struct pt_string_entry){ hash, d->bytes.len, s.len };
    pt_buf_str(&d->bytes, s);
    if (slots_are_full(&d->slots, d->count)) {
        slots_grow(&d->slots);
        for (uint32_t code = 0; code < d->count; code++)
            slots_put(&d->slots, d->entries[code].hash, code);
    }
    slots_put(&d->slots, hash, d->count);
    return d->count++;
}

uint32_t pt_string_dictionary_code(struct pt_string_dictionary *d, struct pt_str s) {
    uint64_t hash = hash_string(s);
    if (d->slots.capacity == 0)
        return add_string(d, s, hash);
    uint32_t slot = slot_of(&d->slots, hash);
    for (uint32_t code; (code = d->slots.codes[slot]); slot = slot_after(&d->slots, slot)) {
        const struct pt_string_entry *e = &d->entries[code - 1];
        if (e->hash == hash && pt_str_eq(pt_string_dictionary_get(d, code - 1), s))
            return code - 1;
    }
    return add_string(d, s, hash);
}
