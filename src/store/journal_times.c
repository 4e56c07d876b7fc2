/* Read times of rows, in both directions.
 *
 * Rows and their sources are read one after the other, so a time is predicted well from its
 * neighbours: usually one nibble holds the difference to the prediction. */
#include "store/journal_delta.h"

#include "base/clock.h"

#define STRIDE_MAX_US 63 /* a longer pause between two rows is not the usual one */

/* Read time of the first row, a varint: one of these, or a folded difference + FIRST_NEAR. */
enum first_code { FIRST_NOT_READ, FIRST_STALE, FIRST_NEAR };
/* Of each other row, a nibble: a small folded difference, or one of these. */
enum time_code { TIME_STALE = 13, TIME_NOT_READ = 14, TIME_FAR = 15 };

static void begin_times(struct pt_delta_table *t) {
    struct pt_time_scratch *time = &t->time;
    pt_grow(&time->offsets, &time->offset_capacity, t->row_count, sizeof *time->offsets);
    pt_grow(&time->before, &time->before_capacity, t->row_count, sizeof *time->before);
    time->lead_moved = 0;
}

/* What was this source's is now that of the source before. */
static void next_source(struct pt_delta_table *t) {
    struct pt_time_scratch *time = &t->time;
    uint64_t *offsets = time->offsets;
    size_t capacity = time->offset_capacity;
    time->offsets = time->before, time->offset_capacity = time->before_capacity;
    time->before = offsets, time->before_capacity = capacity;
}

/* The first row's time of this source. */
static void set_lead(struct pt_delta_table *t, uint32_t source, uint64_t offset) {
    t->time.lead_moved = offset - t->lead[source];
    t->lead[source] = offset;
    t->time.offsets[0] = offset;
}

/* Rows are read one after the other, and the sources of a row at the same distances. */
static uint64_t predict(const struct pt_delta_table *t, uint32_t row, uint32_t source,
                        int64_t stride_us) {
    const struct pt_time_scratch *time = &t->time;
    uint64_t step = source == 0 ? (uint64_t)stride_us : time->before[row] - time->before[row - 1];
    return time->offsets[row - 1] + step;
}

static uint64_t *known_time(const struct pt_delta_table *t, uint32_t row, uint32_t source) {
    return &pt_slot_times(t, t->order[row])[source];
}

static void put_first_time(struct pt_delta_table *t, uint32_t source, uint64_t mono_us,
                           struct pt_buf *out) {
    uint64_t read_us = t->time.read_us[source], *known = known_time(t, 0, source);
    uint64_t predicted = t->lead[source] + t->time.lead_moved, offset = predicted;
    if (read_us == 0) {
        pt_buf_varint(out, FIRST_NOT_READ);
    } else if (read_us == *known) {
        pt_buf_varint(out, FIRST_STALE);
    } else {
        offset = read_us - mono_us;
        pt_buf_varint(out, pt_zigzag((int64_t)(offset - predicted)) + FIRST_NEAR);
    }
    *known = read_us;
    set_lead(t, source, offset);
}

/* A nibble for the time of a row that is not the first; those that do not fit go to `far`. */
static uint8_t time_code(struct pt_delta_table *t, uint32_t row, uint32_t source, uint64_t mono_us,
                         uint64_t predicted) {
    uint64_t read_us = t->time.read_us[(size_t)row * t->table->source_count + source];
    uint64_t *known = known_time(t, row, source), was_us = *known;
    *known = read_us;
    t->time.offsets[row] = predicted;
    if (read_us == 0)
        return TIME_NOT_READ;
    if (read_us == was_us)
        return TIME_STALE;
    t->time.offsets[row] = read_us - mono_us;
    uint64_t folded = pt_zigzag((int64_t)(read_us - mono_us - predicted));
    if (folded < TIME_STALE)
        return (uint8_t)folded;
    pt_buf_varint(&t->time.far, folded);
    return TIME_FAR;
}

static void put_other_times(struct pt_delta_table *t, uint32_t source, uint64_t mono_us,
                            int64_t stride_us, struct pt_buf *out) {
    uint8_t *head = pt_buf_reserve(out, 2 + t->row_count / 2), *p = head + 1, first = 0;
    bool is_uniform = true;
    pt_buf_clear(&t->time.far);
    for (uint32_t row = 1; row < t->row_count; row++) {
        uint64_t predicted = predict(t, row, source, stride_us);
        uint8_t code = time_code(t, row, source, mono_us, predicted);
        if (row == 1)
            first = code;
        is_uniform &= code == first && code != TIME_FAR;
        if (row % 2)
            *p = code;
        else
            *p++ |= (uint8_t)(code << 4);
    }
    *head = is_uniform ? first : TIME_FAR;
    out->len += is_uniform ? 1 : 1 + t->row_count / 2;
    pt_buf_bytes(out, t->time.far.at, t->time.far.len);
}

/* What usually passes between the reads of one row and of the next. */
static int64_t stride_of(const struct pt_delta_table *t) {
    uint32_t sources = t->table->source_count;
    int64_t sum = 0, count = 0;
    for (size_t row = 1; row < t->row_count; row++) {
        const uint64_t *read_us = t->time.read_us + row * sources;
        int64_t gap = (int64_t)(read_us[0] - *(read_us - sources));
        if (gap < 0 || gap > STRIDE_MAX_US)
            continue;
        sum += gap;
        count++;
    }
    return count > 0 ? (sum + count / 2) / count : 0;
}

/* Source by source, so that one that was not read at all costs a byte for all rows. */
void pt_delta_put_times(struct pt_delta_table *t, uint64_t mono_us, struct pt_buf *out) {
    uint32_t sources = t->table->source_count;
    bool has_others = t->row_count > 1 && sources > 0;
    int64_t stride_us = has_others ? stride_of(t) : 0;
    if (has_others)
        pt_buf_varint(out, (uint64_t)stride_us);
    begin_times(t);
    for (uint32_t source = 0; source < sources; source++) {
        put_first_time(t, source, mono_us, out);
        if (has_others)
            put_other_times(t, source, mono_us, stride_us, out);
        next_source(t);
    }
}

static void set_time(struct pt_delta_table *t, uint32_t row, uint32_t source, uint64_t read_us,
                     struct pt_batch *b) {
    *known_time(t, row, source) = read_us;
    pt_batch_row(b, row)[source] = read_us * PT_NS_PER_US;
}

static void get_first_time(struct pt_bytes *in, struct pt_delta_table *t, uint32_t source,
                           uint64_t mono_us, struct pt_batch *b) {
    uint64_t code = pt_bytes_varint(in), read_us = 0;
    uint64_t offset = t->lead[source] + t->time.lead_moved;
    if (code == FIRST_STALE) {
        read_us = *known_time(t, 0, source);
    } else if (code != FIRST_NOT_READ) {
        offset += (uint64_t)pt_unzigzag(code - FIRST_NEAR);
        read_us = mono_us + offset;
    }
    set_time(t, 0, source, read_us, b);
    set_lead(t, source, offset);
}

static void get_time(struct pt_bytes *far, struct pt_delta_table *t, uint32_t row, uint32_t source,
                     unsigned code, uint64_t predicted, uint64_t mono_us, struct pt_batch *b) {
    uint64_t read_us = 0;
    if (code == TIME_STALE) {
        read_us = *known_time(t, row, source);
    } else if (code != TIME_NOT_READ) {
        predicted += (uint64_t)pt_unzigzag(code == TIME_FAR ? pt_bytes_varint(far) : code);
        read_us = mono_us + predicted;
    }
    t->time.offsets[row] = predicted;
    set_time(t, row, source, read_us, b);
}

static void get_other_times(struct pt_bytes *in, struct pt_delta_table *t, uint32_t source,
                            uint64_t mono_us, int64_t stride_us, struct pt_batch *b) {
    unsigned head = pt_bytes_u8(in);
    in->failed |= head > TIME_FAR;
    bool is_uniform = head != TIME_FAR;
    struct pt_str nibbles = pt_bytes_take(in, is_uniform ? 0 : t->row_count / 2);
    for (uint32_t row = 1; row < t->row_count && !in->failed; row++) {
        unsigned code = head;
        if (!is_uniform)
            code = (uint8_t)nibbles.at[(row - 1) / 2] >> (row % 2 ? 0 : 4) & 15;
        uint64_t predicted = predict(t, row, source, stride_us);
        get_time(in, t, row, source, code, predicted, mono_us, b);
    }
}

void pt_delta_get_times(struct pt_bytes *in, struct pt_delta_table *t, uint64_t mono_us,
                        struct pt_batch *b) {
    uint32_t sources = t->table->source_count;
    bool has_others = t->row_count > 1 && sources > 0;
    int64_t stride_us = has_others ? (int64_t)pt_bytes_varint(in) : 0;
    begin_times(t);
    for (uint32_t source = 0; source < sources; source++) {
        get_first_time(in, t, source, mono_us, b);
        if (has_others)
            get_other_times(in, t, source, mono_us, stride_us, b);
        next_source(t);
    }
}
