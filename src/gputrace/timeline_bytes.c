#include "gputrace/timeline_bytes.h"

void pt_timeline_put_names(const struct pt_timeline *t, struct pt_buf *into) {
    pt_buf_varint(into, t->left_out);
    for (size_t i = 0; i < t->names.count; i++)
        pt_buf_lstr(into, t->names.list[i]);
}

size_t pt_timeline_put_events(const struct pt_timeline *t, size_t first, struct pt_buf *into) {
    size_t count = t->count - first;
    count = count < PT_TIMELINE_EVENTS_AT_ONCE ? count : PT_TIMELINE_EVENTS_AT_ONCE;
    pt_buf_bytes(into, t->events + first, count * sizeof *t->events);
    return count;
}

bool pt_timeline_get_names(struct pt_timeline *t, struct pt_str message) {
    const uint8_t *at = (const uint8_t *)message.at;
    struct pt_bytes r = { at, at + message.len, false };
    t->left_out = (size_t)pt_bytes_varint(&r);
    while (!r.failed && r.at < r.end) {
        struct pt_str name = pt_bytes_lstr(&r);
        size_t number = t->names.count;
        if (r.failed || pt_names_add(&t->names, name) != number)
            return false; /* a duplicate would shift the numbers after it */
    }
    return !r.failed;
}

bool pt_timeline_get_events(struct pt_timeline *t, struct pt_str message) {
    size_t count = message.len / sizeof(struct pt_timeline_event);
    if (message.len % sizeof(struct pt_timeline_event))
        return false;
    for (size_t i = 0; i < count; i++) {
        struct pt_timeline_event e;
        memcpy(&e, message.at + i * sizeof e, sizeof e);
        if (e.name >= t->names.count || e.grid_plus_one > t->names.count ||
            e.block_plus_one > t->names.count || (unsigned)e.kind >= PT_TIMELINE_KINDS)
            return false;
        pt_timeline_add(t, &e);
    }
    return true;
}
