/* source/kernel/fields.h -- a line of numbers, of which some may be missing or absurd:
 *
 *     10000 100 5000 200000 18446744073709551611 50
 *
 * The counters of the kernel are unsigned; a few fall below zero by known bugs and are then printed
 * with a sign or just below 2^64. Such a field is absent; later fields keep their positions. */
#ifndef PT_SOURCE_KERNEL_FIELDS_H
#define PT_SOURCE_KERNEL_FIELDS_H

#include "base/scan.h"

/* Takes one word; false if it is not a number from 0 to 2^63 - 1. */
static inline bool pt_fields_next(struct pt_scan *line, int64_t *value) {
    uint64_t number = pt_scan_u64(line);
    bool is_whole_word = line->at == line->end || *line->at == ' ' || *line->at == '\t';
    *value = (int64_t)number;
    if (!line->failed && is_whole_word)
        return number <= INT64_MAX;
    line->failed = false;
    (void)pt_scan_word(line);
    return false;
}

/* Reads up to `count` (at most 32) words; bit i of the result: fields[i] is a number. */
static inline uint32_t pt_fields_scan(struct pt_scan *line, int64_t *fields, int count) {
    uint32_t present = 0;
    for (int i = 0; i < count; i++) {
        pt_scan_blanks(line);
        if (line->at == line->end)
            break;
        if (pt_fields_next(line, &fields[i]))
            present |= UINT32_C(1) << i;
    }
    return present;
}

static inline bool pt_fields_has(uint32_t present, int field) {
    return present >> field & 1;
}

/* 12.34, as the kernel prints averages; without strtod, since there are many. */
static inline double pt_fields_hundredths(struct pt_scan *line) {
    uint64_t whole = pt_scan_u64(line);
    if (!pt_scan_take(line, PT_STR(".")))
        line->failed = true;
    const char *start = line->at;
    uint64_t fraction = pt_scan_u64(line);
    if (line->at - start != 2)
        line->failed = true;
    return ((double)whole * 100 + (double)fraction) / 100;
}

#endif
