#include "inside/region/bucket_text.h"

#include "base/digits.h"

static void write_number(struct pt_buf *into, uint64_t number, char after) {
    char *at = (char *)pt_buf_reserve(into, PT_DIGITS_MAX + 1);
    size_t length = pt_digits_u64(at, number);
    at[length] = after;
    into->len += length + 1;
}

void pt_bucket_text_write(const uint64_t buckets[PT_BUCKET_COUNT], struct pt_bucket_range used,
                          struct pt_buf *into) {
    uint32_t before = 0;
    bool is_first = true;
    for (uint32_t i = used.first; i < used.end; i++) {
        if (buckets[i] == 0)
            continue;
        write_number(into, i - before, ':');
        write_number(into, buckets[i], ',');
        before = i;
        is_first = false;
    }
    if (!is_first)
        into->len--; /* the last comma */
}

/* False without a digit, or on overflow. */
static bool take_number(struct pt_str *text, uint64_t *number) {
    size_t n = 0;
    for (*number = 0; n < text->len && text->at[n] >= '0' && text->at[n] <= '9'; n++)
        if (__builtin_mul_overflow(*number, 10, number) ||
            __builtin_add_overflow(*number, (uint64_t)(text->at[n] - '0'), number))
            return false;
    *text = pt_str_skip(*text, n);
    return n > 0;
}

static bool take_char(struct pt_str *text, char c) {
    if (text->len == 0 || *text->at != c)
        return false;
    *text = pt_str_skip(*text, 1);
    return true;
}

static void widen(struct pt_bucket_range *used, uint32_t bucket) {
    if (used->end == 0)
        *used = (struct pt_bucket_range){ bucket, bucket + 1 };
    if (bucket < used->first)
        used->first = bucket;
    if (bucket >= used->end)
        used->end = bucket + 1;
}

bool pt_bucket_text_add(struct pt_str text, uint64_t buckets[PT_BUCKET_COUNT],
                        struct pt_bucket_range *used) {
    uint64_t bucket = 0, distance, count;
    while (text.len > 0) {
        if (!take_number(&text, &distance) || !take_char(&text, ':') ||
            !take_number(&text, &count) || distance >= PT_BUCKET_COUNT)
            return false;
        bucket += distance;
        if (bucket >= PT_BUCKET_COUNT)
            return false;
        buckets[bucket] += count;
        widen(used, (uint32_t)bucket);
        if (text.len > 0 && (!take_char(&text, ',') || text.len == 0))
            return false;
    }
    return true;
}
