#include "format/rows/parquet_dictionary.h"

#define SLOTS_MIN 256

/* Is the table full? */
static bool is_full(uint32_t capacity, uint32_t count) {
    return capacity < 2 * (count + 1);
}

static uint32_t grown(uint32_t capacity) {
    return capacity ? 2 * capacity : SLOTS_MIN;
}

static uint64_t mix(uint64_t word) {
    word ^= word >> 32;
    word *= UINT64_C(0x9e3779b97f4a7c15);
    return word ^ word >> 29;
}

/* Adding this leaves the rounded number in the low bits of the sum. */
#define ROUNDING 0x1.8p52

static int32_t rounded(double value) {
    double sum = value + ROUNDING;
    int32_t number;
    memcpy(&number, &sum, sizeof number);
    return number;
}

/* Without branches, so that the compiler vectorizes it. A number too large for 32 bits is truncated
 * and does not convert back to itself. */
bool pt_thousandths_from(const double *values, uint32_t count, int32_t *thousandths) {
    uint64_t differences = 0;
    for (uint32_t i = 0; i < count; i++) {
        thousandths[i] = rounded(values[i] * 1000);
        double back = pt_thousandths_value(thousandths[i]);
        uint64_t bits, back_bits;
        memcpy(&bits, &values[i], sizeof bits);
        memcpy(&back_bits, &back, sizeof back_bits);
        differences |= bits ^ back_bits;
    }
    return differences == 0;
}

#define RANK_SPAN_MAX (1 << 18)

bool pt_thousandths_can_rank(int32_t min, int32_t max) {
    return (int64_t)max - min < RANK_SPAN_MAX;
}

void pt_thousandths_rank(int32_t *thousandths, size_t count, int32_t min, int32_t max,
                         struct pt_buf *sorted) {
    size_t span = (size_t)(max - min) + 1;
    int32_t *ranks = pt_calloc(span, sizeof *ranks);
    for (size_t i = 0; i < count; i++)
        ranks[thousandths[i] - min] = 1;
    int32_t rank = 0;
    for (size_t i = 0; i < span; i++) {
        if (!ranks[i])
            continue;
        ranks[i] = rank++;
        double value = pt_thousandths_value(min + (int32_t)i);
        pt_buf_bytes(sorted, &value, sizeof value);
    }
    for (size_t i = 0; i < count; i++)
        thousandths[i] = ranks[thousandths[i] - min];
    pt_free(ranks);
}

void pt_word_dictionary_release(struct pt_word_dictionary *d) {
    pt_free(d->codes);
    pt_free(d->words);
    *d = (struct pt_word_dictionary){ 0 };
}

size_t pt_word_dictionary_memory(const struct pt_word_dictionary *d) {
    return d->capacity * (sizeof *d->words + sizeof *d->codes);
}

static void put_word(struct pt_word_dictionary *d, uint64_t word, uint32_t code) {
    uint32_t mask = d->capacity - 1, slot = (uint32_t)(mix(word) >> 32) & mask;
    while (d->codes[slot])
        slot = (slot + 1) & mask;
    d->codes[slot] = code + 1;
    d->words[slot] = word;
}

static uint32_t word_code(struct pt_word_dictionary *d, uint64_t word) {
    uint32_t mask = d->capacity - 1, slot = (uint32_t)(mix(word) >> 32) & mask;
    for (; d->capacity && d->codes[slot]; slot = (slot + 1) & mask)
        if (d->words[slot] == word)
            return d->codes[slot] - 1;
    if (is_full(d->capacity, d->count)) {
        struct pt_word_dictionary old = *d;
        d->capacity = grown(old.capacity);
        d->codes = pt_calloc(d->capacity, sizeof *d->codes);
        d->words = pt_malloc(d->capacity * sizeof *d->words);
        for (uint32_t i = 0; i < old.capacity; i++)
            if (old.codes[i])
                put_word(d, old.words[i], old.codes[i] - 1);
        pt_word_dictionary_release(&old);
    }
    put_word(d, word, d->count);
    return d->count++;
}

void pt_word_dictionary_encode(struct pt_word_dictionary *d, const uint64_t *words, uint32_t count,
                               uint32_t *codes) {
    for (uint32_t i = 0; i < count; i++)
        codes[i] = word_code(d, words[i]);
}

/* A double's bits as an unsigned number of the same order, and back. */
static uint64_t ordered(uint64_t bits) {
    return bits ^ ((uint64_t)((int64_t)bits >> 63) | UINT64_C(1) << 63);
}

static uint64_t unordered(uint64_t key) {
    return key ^ (((key >> 63) - 1) | UINT64_C(1) << 63);
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

/* Sorts `items`, with `spare` as scratch; returns which of the two has the result. */
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
    for (uint32_t slot = 0, i = 0; slot < d->capacity; slot++)
        if (d->codes[slot])
            items[i++] = (struct keyed){ ordered(d->words[slot]), d->codes[slot] - 1 };
    const struct keyed *in_order = radix_sort(items, items + d->count, d->count);
    for (uint32_t rank = 0; rank < d->count; rank++) {
        ranks[in_order[rank].code] = rank;
        sorted[rank] = unordered(in_order[rank].key);
    }
    pt_free(items);
}

void pt_string_dictionary_release(struct pt_string_dictionary *d) {
    pt_free(d->entries);
    pt_free(d->slots);
    pt_buf_release(&d->bytes);
    *d = (struct pt_string_dictionary){ 0 };
}

size_t pt_string_dictionary_memory(const struct pt_string_dictionary *d) {
    return d->entry_capacity * sizeof *d->entries + d->bytes.len + d->capacity * sizeof *d->slots;
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
    return mix(hash ^ word) >> 32;
}

static void put_code(struct pt_string_dictionary *d, uint32_t code) {
    uint32_t mask = d->capacity - 1, slot = (uint32_t)d->entries[code].hash & mask;
    while (d->slots[slot])
        slot = (slot + 1) & mask;
    d->slots[slot] = code + 1;
}

static uint32_t add_string(struct pt_string_dictionary *d, struct pt_str s, uint64_t hash) {
    if (is_full(d->capacity, d->count)) {
        d->capacity = grown(d->capacity);
        pt_free(d->slots);
        d->slots = pt_calloc(d->capacity, sizeof *d->slots);
        for (uint32_t code = 0; code < d->count; code++)
            put_code(d, code);
    }
    pt_grow(&d->entries, &d->entry_capacity, d->count + 1, sizeof *d->entries);
    d->entries[d->count] = (struct pt_string_entry){ hash, d->bytes.len, s.len };
    pt_buf_str(&d->bytes, s);
    put_code(d, d->count);
    return d->count++;
}

uint32_t pt_string_dictionary_code(struct pt_string_dictionary *d, struct pt_str s) {
    uint64_t hash = hash_string(s);
    uint32_t mask = d->capacity - 1, slot = (uint32_t)hash & mask;
    for (; d->capacity && d->slots[slot]; slot = (slot + 1) & mask) {
        uint32_t code = d->slots[slot] - 1;
        if (d->entries[code].hash == hash && pt_str_eq(pt_string_dictionary_get(d, code), s))
            return code;
    }
    return add_string(d, s, hash);
}
