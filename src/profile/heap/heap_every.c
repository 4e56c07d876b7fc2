/* In mode "every", the process itself sums allocations by stack; the sums are read periodically,
 * and the increase is added to the groups. */
#include "profile/heap/heap.h"

#define LOOK_EVERY_NS INT64_C(100000000)
#define MANY_STACKS   16384 /* from this number on, read less often */
#define COUNT_MAX     0x1p62

static struct pt_heap_counted *counted_of(struct pt_heap_process *p, uint32_t number) {
    size_t before = p->counted_capacity;
    if (number >= PT_HEAP_STACKS)
        return NULL;
    pt_grow(&p->counted, &p->counted_capacity, (size_t)number + 1, sizeof *p->counted);
    if (p->counted_capacity > before)
        memset(p->counted + before, 0, (p->counted_capacity - before) * sizeof *p->counted);
    return &p->counted[number];
}

/* Reads the mappings again, once, in case a library was loaded since. */
static bool is_mapped(struct pt_heap *h, struct pt_heap_process *p, uint64_t pc) {
    const struct pt_space *space = pt_recording_space(&h->recording, p->pid);
    if (space && pt_space_find(space, pc))
        return true;
    if (!p->may_refresh)
        return false;
    p->may_refresh = false;
    (void)pt_recording_add_process(&h->recording, p->pid);
    space = pt_recording_space(&h->recording, p->pid);
    return space && pt_space_find(space, pc);
}

static uint32_t stack_of(struct pt_heap *h, struct pt_heap_process *p,
                         const struct pt_heap_path *path) {
    struct pt_recording *r = &h->recording;
    uint64_t addresses[PT_HEAP_DEPTH];
    bool is_cut = path->depth == PT_HEAP_DEPTH, is_whole = path->is_whole && !is_cut;
    r->profile.meta.unwound++;
    r->profile.meta.truncated += is_cut;
    r->profile.meta.rooted += is_whole;
    for (uint32_t i = 0; i < path->depth; i++)
        addresses[i] = path->frames[i] - 1;
    struct pt_str frames = { (const char *)path->python,
                             path->python_count * sizeof *path->python };
    uint32_t marker = is_whole ? PT_PROFILE_NONE : is_cut ? r->truncated_frame : r->lost_frame;
    return pt_recording_stack(r, p->pid, addresses, path->depth, marker,
                              pt_heap_python_entries(h, p, frames));
}

/* The first thread with this stack represents all. */
static uint32_t thread_of(struct pt_heap *h, const struct pt_heap_process *p, uint32_t tid) {
    struct pt_recording *r = &h->recording;
    uint32_t process = 0, name = 0;
    for (size_t i = 0; i < r->thread_count; i++) {
        if (r->threads[i].tid == p->pid)
            process = r->threads[i].name;
        if (r->threads[i].tid == (int32_t)tid)
            name = r->threads[i].name;
    }
    return pt_profile_thread(&r->profile, (struct pt_profile_thread){ .pid = p->pid,
                                                                      .tid = (int32_t)tid,
                                                                      .name = name ? name : process,
                                                                      .process = process });
}

void pt_heap_every_copy(struct pt_heap *h, struct pt_heap_process *p,
                        const struct pt_preload_event *e) {
    struct pt_heap_counted *c = counted_of(p, e->stack_number);
    if (!c || c->group)
        return;
    struct pt_profile_sample sample = pt_heap_unwind(h, p, e);
    if (p->is_gone)
        return;
    c->group = pt_heap_group_of(h, sample.stack, sample.thread) + 1;
}

/* An incomplete stack waits for its copy as long as that may come. A stack with unknown code waits
 * for the mappings that the process writes at its end, because it may be ending now. */
static bool find_group(struct pt_heap *h, struct pt_heap_process *p, struct pt_heap_counted *c,
                       const struct pt_preload_source *source, const struct pt_heap_stack *s,
                       bool is_final) {
    struct pt_heap_path path;
    if (c->group)
        return true;
    pt_preload_source_path(source, s->node, &path);
    if (!path.is_whole && path.depth > 0 && !is_final)
        return false;
    for (uint32_t i = 0; !is_final && i < path.depth; i++)
        if (!is_mapped(h, p, path.frames[i] - 1))
            return false;
    uint32_t stack = path.depth > 0 ? stack_of(h, p, &path) : PT_PROFILE_NONE;
    c->group = pt_heap_group_of(h, stack, thread_of(h, p, s->thread)) + 1;
    return true;
}

/* The increase since the last call; sets `was` to `now`. */
static struct pt_heap_sum difference(struct pt_heap_sum *was, struct pt_heap_sum now) {
    struct pt_heap_sum by = now;
    pt_heap_sum_add(&by, was, -1);
    *was = now;
    return by;
}

/* The file may hold any number. */
static int64_t count_more(int64_t count, double by) {
    double sum = (double)count + by;
    return sum < 0 ? 0 : sum < COUNT_MAX ? (int64_t)sum : (int64_t)COUNT_MAX;
}

static void take_stack(struct pt_heap *h, struct pt_heap_process *p,
                       const struct pt_preload_source *source, uint32_t number,
                       const struct pt_heap_stack *s, bool is_final) {
    struct pt_heap_counted *c = counted_of(p, number);
    if (s->allocated_count == 0 || !c || !find_group(h, p, c, source, s, is_final))
        return;
    struct pt_heap_sum allocated = { (double)s->allocated_bytes, (double)s->allocated_count, 0 };
    struct pt_heap_sum temporary = { (double)s->temporary_bytes, (double)s->temporary_count, 0 };
    struct pt_heap_sum peak = { (double)s->peak_bytes, (double)s->peak_count, 0 };
    struct pt_heap_sum by = difference(&c->allocated, allocated);
    uint32_t group = c->group - 1;
    h->sample_count = count_more(h->sample_count, by.count);
    pt_heap_sum_add(&h->groups[group].allocated, &by, 1);
    pt_heap_sum_add(&h->total_allocated, &by, 1);
    by = difference(&c->temporary, temporary);
    pt_heap_sum_add(&h->groups[group].temporary, &by, 1);
    /* counts of a running process are not read at one instant, so differences may be negative */
    int64_t bytes = (int64_t)(s->allocated_bytes - s->freed_bytes);
    int64_t count = (int64_t)(s->allocated_count - s->freed_count);
    struct pt_heap_sum live = { bytes > 0 ? (double)bytes : 0, count > 0 ? (double)count : 0, 0 };
    by = difference(&c->live, live);
    pt_heap_change_live(h, group, &by, 1);
    if (!is_final)
        return;
    pt_heap_sum_add(&h->groups[group].peak, &peak, 1);
    h->total_peak.count += peak.count;
    pt_heap_change_live(h, group, &c->live, -1);
    pt_heap_sum_add(&h->groups[group].left, &c->live, 1);
}

void pt_heap_every_read(struct pt_heap *h, struct pt_heap_process *p,
                        const struct pt_preload_source *s, bool is_final, int64_t now_ns) {
    struct pt_heap_stack stack;
    uint32_t count = pt_preload_source_stack_count(s);
    int64_t pause_ns = count < MANY_STACKS ? LOOK_EVERY_NS : 10 * LOOK_EVERY_NS;
    if (!is_final && now_ns - p->counted_ns < pause_ns)
        return;
    p->counted_ns = now_ns;
    pt_heap_advance(h, now_ns);
    for (uint32_t i = 0; i < count; i++)
        if (pt_preload_source_stack(s, i, &stack))
            take_stack(h, p, s, i, &stack, is_final);
    if (!is_final)
        return;
    /* peaks of several processes are added, although they may be at different times */
    h->total_peak.bytes += (double)pt_preload_source_peak_bytes(s);
    h->peak_mono_ns = pt_preload_source_peak_ns(s);
}
