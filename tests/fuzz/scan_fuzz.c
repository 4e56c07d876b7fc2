/* The text cursor on any bytes: it stays inside the text, a failure sticks, and a number that was
 * taken is the number that was written. */
#include "base/scan.h"

#include "base/digits.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(const struct pt_scan *s, const char *start) {
    assert(s->at >= start && s->at <= s->end);
}

/* Printing gives back the text, but for leading zeros and the sign of -0. */
static void check_i64(struct pt_scan line) {
    pt_scan_blanks(&line);
    const char *start = line.at;
    int64_t value = pt_scan_i64(&line);
    check_inside(&line, start);
    if (line.failed) {
        assert(value == 0);
        return;
    }
    char digits[PT_DIGITS_MAX];
    struct pt_str printed = { digits, pt_digits_i64(digits, value) };
    struct pt_str taken = { start, (size_t)(line.at - start) };
    assert(pt_str_ends(taken, pt_str_skip(printed, value < 0)));
    assert(value >= 0 || taken.at[0] == '-');
}

static void check_f64(struct pt_scan line) {
    const char *start = line.at;
    double value = pt_scan_f64(&line);
    check_inside(&line, start);
    assert(value == value && value - value == 0); /* never NaN or infinite */
    assert(!line.failed || value == 0);
}

static void check_hex(struct pt_scan line) {
    const char *start = line.at;
    uint64_t value = pt_scan_hex(&line);
    check_inside(&line, start);
    assert(!line.failed || value == 0);
}

static void check_words(struct pt_scan line) {
    const char *start = line.at;
    while (!line.failed) {
        struct pt_str word = pt_scan_word(&line);
        check_inside(&line, start);
        assert(line.failed == (word.len == 0));
    }
    assert(pt_scan_u64(&line) == 0 && pt_scan_until(&line, ' ').len == 0 && line.failed);
}

static void check_until(struct pt_scan line) {
    struct pt_scan before = line;
    struct pt_str taken = pt_scan_until(&line, ':');
    check_inside(&line, before.at);
    if (line.failed)
        return;
    assert(taken.at == before.at && line.at[-1] == ':');
    assert(pt_scan_take(&before, taken) && pt_scan_take(&before, PT_STR(":")));
    assert(before.at == line.at);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_scan text = pt_scan_of((struct pt_str){ (const char *)data, size }), line;
    while (pt_scan_line(&text, &line)) {
        check_i64(line);
        check_f64(line);
        check_hex(line);
        check_words(line);
        check_until(line);
    }
    assert(text.at == text.end);
    return 0;
}
