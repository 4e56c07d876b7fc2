#include "source/kernel/keyed.h"

static bool line_has_key(const struct pt_scan *line, struct pt_str key) {
    size_t length = (size_t)(line->end - line->at);
    return length > key.len && (line->at[key.len] == ' ' || line->at[key.len] == '\t') &&
           memcmp(line->at, key.at, key.len) == 0;
}

static void read_value(struct pt_scan line, struct pt_str key, int64_t *value, bool *is_present) {
    line.at += key.len;
    *is_present = pt_fields_next(&line, value);
}

static void learn(struct pt_keyed *k, const struct pt_str *keys, int key_count, struct pt_scan text,
                  int64_t *values, bool *is_present) {
    struct pt_scan line;
    k->found_count = 0;
    while (pt_scan_line(&text, &line) && k->found_count < PT_KEYED_MAX)
        for (int i = 0; i < key_count; i++)
            if (line_has_key(&line, keys[i])) {
                k->order[k->found_count++] = (uint8_t)i;
                read_value(line, keys[i], &values[i], &is_present[i]);
                break;
            }
}

void pt_keyed_read(struct pt_keyed *k, const struct pt_str *keys, int key_count,
                   struct pt_scan text, int64_t *values, bool *is_present) {
    memset(is_present, 0, sizeof *is_present * (size_t)key_count);
    struct pt_scan rest = text, line;
    int next = 0;
    while (next < k->found_count && pt_scan_line(&rest, &line)) {
        int i = k->order[next];
        if (!line_has_key(&line, keys[i]))
            continue;
        read_value(line, keys[i], &values[i], &is_present[i]);
        next++;
    }
    if (next < k->found_count || k->found_count == 0)
        learn(k, keys, key_count, text, values, is_present);
}
