#include "format/metrics/bounds.h"

#include "base/digits.h"

#include <errno.h>

#define LINE_END "\"} "

/* "1" is written "1.0", as OpenMetrics requires: a series has one name in all formats. */
static void write_end(struct pt_bounds *b, size_t i) {
    char text[PT_DIGITS_MAX + sizeof ".0" LINE_END];
    size_t length = pt_digits_f64(text, b->upper[i]);
    if (!memchr(text, '.', length) && !memchr(text, 'e', length)) {
        memcpy(text + length, ".0", 2);
        length += 2;
    }
    memcpy(text + length, LINE_END, sizeof LINE_END - 1);
    length += sizeof LINE_END - 1;
    memcpy(b->ends[i].text, text, sizeof b->ends[i].text);
    b->ends[i].length = (uint8_t)length;
}

int pt_bounds_set(struct pt_bounds *b, const double *upper, size_t count) {
    if (count > PT_BOUNDS_MAX)
        return -EINVAL;
    for (size_t i = 0; i < count; i++)
        if (!isfinite(upper[i]) || (i > 0 && !(upper[i] > upper[i - 1])))
            return -EINVAL;
    *b = (struct pt_bounds){ .count = count };
    for (size_t i = 0; i < count; i++) {
        b->upper[i] = upper[i];
        /* Values are not negative: there are none below 0. */
        b->bucket_ends[i] = upper[i] < 0 ? 0 : (uint16_t)(pt_bucket_of(upper[i]) + 1);
        write_end(b, i);
    }
    return 0;
}

void pt_bounds_set_default(struct pt_bounds *b) {
    static const double upper[] = { .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10 };
    (void)!pt_bounds_set(b, upper, PT_COUNT(upper));
}

/* Four sums, so that an addition does not wait for the previous one. */
static uint64_t sum(const uint64_t *buckets, uint32_t count) {
    uint64_t a = 0, b = 0, c = 0, d = 0;
    uint32_t i = 0;
    for (; i + 4 <= count; i += 4) {
        a += buckets[i];
        b += buckets[i + 1];
        c += buckets[i + 2];
        d += buckets[i + 3];
    }
    for (; i < count; i++)
        a += buckets[i];
    return a + b + c + d;
}

void pt_bounds_count(const struct pt_bounds *b, const uint64_t *buckets,
                     struct pt_bucket_range used, uint64_t at_or_below[PT_BOUNDS_MAX]) {
    uint64_t seen = 0;
    uint32_t next = used.first;
    for (size_t i = 0; i < b->count; i++) {
        uint32_t end = b->bucket_ends[i] < used.end ? b->bucket_ends[i] : used.end;
        if (end > next)
            seen += sum(buckets + next, end - next);
        next = end > next ? end : next;
        at_or_below[i] = seen;
    }
}
