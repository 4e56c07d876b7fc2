/* Spans: names are registered once, records go into the ring of the thread. */
#include "inside/probe/probe.h"

#include <errno.h>

static uint32_t find_name(const struct pt_region_layout *region, const char *text, size_t length) {
    for (uint32_t i = 1; i < pt_probe_own.name_count; i++)
        if (region->names[i].length == length && !memcmp(region->names[i].text, text, length))
            return i;
    return 0;
}

static uint32_t add_name(struct pt_region_layout *region, const char *text, size_t length) {
    uint32_t index = pt_probe_own.name_count;
    if (index >= PT_REGION_NAMES) {
        pt_probe_add_shared(&region->header.dropped_names, 1);
        return 0;
    }
    struct pt_region_name *name = &region->names[index];
    memcpy(name->text, text, length);
    name->length = (uint32_t)length;
    pt_probe_own.name_count = index + 1;
    /* Release: a reader that sees the count sees the text. */
    __atomic_store_n(&region->header.name_count, index + 1, __ATOMIC_RELEASE);
    return index;
}

pt_name pt_name_new_(pt_name *once, const char *text) {
    int saved_errno = errno;
    pt_name name = 0;
    size_t length = strnlen(text, sizeof((struct pt_region_name *)NULL)->text);
    struct pt_region_layout *region = pt_probe_lock();
    if (region && length > 0) {
        name = find_name(region, text, length);
        if (!name)
            name = add_name(region, text, length);
        pt_region_store(once, name);
    }
    pt_probe_unlock();
    errno = saved_errno;
    return name;
}

__attribute__((cold, noinline)) static void drop(struct pt_region_thread *self) {
    struct pt_region_layout *region = pt_probe_region();
    if (self)
        pt_probe_add(&self->dropped, 1);
    else if (region)
        pt_probe_add_shared(&region->header.dropped_spans, 1);
}

/* Word by word, as a reader may look at the old span. Release: paired with the acquire in
 * pt_region_peek_spans(). */
static inline void put_word(void *at, uint64_t word) {
    __atomic_store_n((uint64_t *)at, word, __ATOMIC_RELEASE);
}

/* False: the ring is full, or this is a signal handler that interrupted this function. */
static inline bool put(struct pt_region_thread *self, uint64_t start_ticks, uint64_t end_ticks,
                       int64_t argument, uint64_t request, uint64_t name, uint64_t flags) {
    uint64_t written = pt_region_load(&self->written);
    /* Acquire: paired with the release in pt_region_take_spans(), which has read the slot. */
    uint64_t read = __atomic_load_n(&self->read, __ATOMIC_ACQUIRE);
    if (!PT_PROBE_LIKELY(written - read < PT_REGION_SPANS && !self->is_writing))
        return false;
    self->is_writing = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    struct pt_region_span_record *span = &self->spans[written % PT_REGION_SPANS];
    put_word(&span->start_ticks, start_ticks);
    put_word(&span->end_ticks, end_ticks);
    put_word(&span->argument, (uint64_t)argument);
    put_word(&span->request, request);
    put_word(&span->thread, self->thread | name << 32 | flags << 48);
    __atomic_store_n(&self->written, written + 1, __ATOMIC_RELEASE);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->is_writing = 0;
    return true;
}

/* The first span of a thread, and one that did not fit. */
__attribute__((cold, noinline)) static void put_rarely(uint64_t start_ticks, uint64_t end_ticks,
                                                       int64_t argument, uint64_t request,
                                                       pt_name name, uint32_t flags) {
    struct pt_region_thread *self = pt_probe_self();
    if (!self || !put(self, start_ticks, end_ticks, argument, request, name, flags))
        drop(self);
}

void pt_span_put_(uint64_t start_ticks, uint64_t end_ticks, int64_t argument, uint64_t request,
                  pt_name name, uint32_t flags) {
    struct pt_region_thread *self = pt_probe_self_;
    if (!PT_PROBE_LIKELY(self && put(self, start_ticks, end_ticks, argument, request, name, flags)))
        put_rarely(start_ticks, end_ticks, argument, request, name, flags);
}
