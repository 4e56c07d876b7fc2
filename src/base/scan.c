#include "base/scan.h"

#include <stdlib.h>

static int hex_digit(char c) {
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

uint64_t pt_scan_hex(struct pt_scan *s) {
    pt_scan_blanks(s);
    const char *p = s->at;
    uint64_t value = 0;
    int digit;
    while (p < s->end && (digit = hex_digit(*p)) >= 0) {
        if (value >> 60)
            s->failed = true;
        value = value << 4 | (uint64_t)digit;
        p++;
    }
    if (p == s->at || s->failed) {
        s->failed = true;
        return 0;
    }
    s->at = p;
    return value;
}

double pt_scan_f64(struct pt_scan *s) {
    struct pt_str word = pt_scan_word(s);
    char copy[64];
    if (s->failed || word.len >= sizeof copy) {
        s->failed = true;
        return 0;
    }
    pt_str_copy(copy, sizeof copy, word);
    char *end;
    double value = strtod(copy, &end);
    if (end != copy + word.len || value != value || value - value != 0) {
        s->failed = true;
        return 0;
    }
    return value;
}
