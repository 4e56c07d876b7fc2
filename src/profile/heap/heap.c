#include "profile/heap/heap.h"

#include "profile/heap/leaks.h"
#include "profile/sample/preload_replay.h"
#include "profile/sample/symbolize.h"

#include <math.h>

#define FIRST_WINDOW_NS INT64_C(10000000)
#define LIBRARY         "/libpitot-heap.so"

static const struct pt_profile_value_type types[] = {
    { "live", PT_PROFILE_BYTES },      { "live_count", PT_PROFILE_SAMPLES },
    { "peak", PT_PROFILE_BYTES },      { "peak_count", PT_PROFILE_SAMPLES },
    { "allocated", PT_PROFILE_BYTES }, { "allocated_count", PT_PROFILE_SAMPLES },
    { "temporary", PT_PROFILE_BYTES }, { "temporary_count", PT_PROFILE_SAMPLES },
};

const char *pt_heap_metric_name(size_t index) {
    return index < PT_COUNT(types) / 2 ? types[2 * index].name : NULL;
}

void pt_heap_init(struct pt_heap *h, const struct pt_fs *fs) {
    *h = (struct pt_heap){ .window_ns = FIRST_WINDOW_NS, .line = { .step_ns = FIRST_WINDOW_NS } };
    pt_pythons_init(&h->pythons);
    pt_recording_init(&h->recording, fs, &h->pythons, false, 0);
    h->recording.profile.meta.title = "heap";
}

void pt_heap_release(struct pt_heap *h) {
    for (size_t i = 0; i < h->process_count; i++) {
        pt_free(h->processes[i].counted);
        pt_free(h->processes[i].codes);
    }
    pt_free(h->processes);
    pt_free(h->groups);
    pt_intern_release(&h->group_index);
    pt_heap_live_release(&h->live);
    pt_recording_release(&h->recording);
    pt_pythons_release(&h->pythons);
    pt_buf_release(&h->entries);
}

struct pt_heap_sum pt_heap_weight(uint64_t bytes, double mean_bytes) {
    double size = (double)bytes;
    if (mean_bytes <= 0)
        return (struct pt_heap_sum){ size, 1, 0 };
    double probability = -expm1(-size / mean_bytes);
    if (probability <= 0)
        return (struct pt_heap_sum){ 0 }; /* an empty block is never sampled */
    double weight = size / probability;
    return (struct pt_heap_sum){ weight, 1 / probability, (1 - probability) * weight * weight };
}

static void fill(struct pt_heap_series *s, uint32_t until, double value) {
    for (; s->filled < until; s->filled++)
        s->at[s->filled] = (float)value;
}

/* A window of double length ends with its second half. */
static void halve(struct pt_heap_series *s) {
    for (uint32_t i = 0; i < PT_HEAP_WINDOWS / 2; i++)
        s->at[i] = s->at[2 * i + 1];
    s->filled /= 2;
}

static double live_bytes(const struct pt_heap_group *g) {
    return g->live.bytes + g->left.bytes;
}

static uint32_t window_of(const struct pt_heap *h, int64_t mono_ns) {
    return (uint32_t)((mono_ns - h->start_mono_ns) / h->window_ns);
}

static void advance_line(struct pt_heap_line *l, int64_t passed_ns, double value) {
    while (passed_ns / l->step_ns >= PT_PROFILE_STEPS_MAX) {
        for (; l->filled < PT_PROFILE_STEPS_MAX; l->filled++)
            l->at[l->filled] = value;
        for (size_t i = 0; i < PT_PROFILE_STEPS_MAX / 2; i++)
            l->at[i] = l->at[2 * i + 1];
        l->filled = PT_PROFILE_STEPS_MAX / 2;
        l->step_ns *= 2;
    }
    for (size_t until = (size_t)(passed_ns / l->step_ns); l->filled < until; l->filled++)
        l->at[l->filled] = value;
}

void pt_heap_advance(struct pt_heap *h, int64_t mono_ns) {
    if (h->start_mono_ns == 0)
        h->start_mono_ns = mono_ns;
    if (mono_ns <= h->now_mono_ns || mono_ns - h->start_mono_ns > INT64_MAX / 4)
        return; /* threads may be slightly out of order */
    h->now_mono_ns = mono_ns;
    while (window_of(h, mono_ns) >= PT_HEAP_WINDOWS) {
        for (size_t i = 0; i < h->group_count; i++) {
            fill(&h->groups[i].series, PT_HEAP_WINDOWS, live_bytes(&h->groups[i]));
            halve(&h->groups[i].series);
        }
        fill(&h->total_series, PT_HEAP_WINDOWS, h->total_live.bytes);
        halve(&h->total_series);
        h->window_ns *= 2;
    }
    fill(&h->total_series, window_of(h, mono_ns), h->total_live.bytes);
    advance_line(&h->line, mono_ns - h->start_mono_ns, h->total_live.bytes);
}

static bool is_group(const void *owner, uint32_t number, const void *key) {
    const struct pt_heap *h = owner;
    const uint32_t *wanted = key;
    return h->groups[number].stack == wanted[0] && h->groups[number].thread == wanted[1];
}

uint32_t pt_heap_group_of(struct pt_heap *h, uint32_t stack, uint32_t thread) {
    const uint32_t key[] = { stack, thread };
    uint32_t next = (uint32_t)h->group_count;
    uint32_t number =
        pt_intern_find(&h->group_index, pt_intern_hash(key, sizeof key), is_group, h, key, next);
    if (number == next) {
        pt_grow(&h->groups, &h->group_capacity, h->group_count + 1, sizeof *h->groups);
        h->groups[h->group_count++] = (struct pt_heap_group){ .stack = stack, .thread = thread };
    }
    return number;
}

/* Called before live sums change: saves their values at the last peak and in the past windows. */
static void settle(struct pt_heap *h, struct pt_heap_group *g) {
    if (!h->is_every && g->peak_number != h->peak_number) {
        g->peak = g->live;
        g->peak_number = h->peak_number;
    }
    fill(&g->series, window_of(h, h->now_mono_ns), live_bytes(g));
}

void pt_heap_change_live(struct pt_heap *h, uint32_t group, const struct pt_heap_sum *by,
                         double sign) {
    struct pt_heap_group *g = &h->groups[group];
    settle(h, g);
    pt_heap_sum_add(&g->live, by, sign);
    pt_heap_sum_add(&h->total_live, by, sign);
    if (h->is_every || h->total_live.bytes <= h->total_peak.bytes)
        return;
    h->total_peak = h->total_live;
    h->peak_mono_ns = h->now_mono_ns;
    h->peak_number++;
}

uint32_t pt_heap_add_process(struct pt_heap *h, const struct pt_preload_source *s) {
    if (h->process_count >= PT_HEAP_PROCESSES)
        return UINT32_MAX;
    pt_grow(&h->processes, &h->process_capacity, h->process_count + 1, sizeof *h->processes);
    h->processes[h->process_count] =
        (struct pt_heap_process){ .pid = s->pid, .is_every = s->is_every };
    h->mean_bytes = (double)s->mean_bytes;
    h->is_every = s->is_every;
    pt_preloaded_begin(&h->recording, s->pid);
    return (uint32_t)h->process_count++;
}

static void forget_samples(struct pt_profile *p) {
    p->samples.count = 0;
    p->values.count = 0;
}

/* The leaf must be the caller of malloc. */
static uint32_t without_library(const struct pt_profile *p, uint32_t stack) {
    for (; stack != PT_PROFILE_NONE; stack = p->stacks.at[stack].parent) {
        uint32_t module = p->frames.at[p->stacks.at[stack].frame].module;
        if (module == PT_PROFILE_NONE ||
            !pt_str_ends(pt_profile_text(p, p->modules.at[module].path), PT_STR(LIBRARY)))
            break;
    }
    return stack;
}

static char *text_of(struct pt_str bytes, size_t width) {
    struct pt_buf text = { 0 };
    pt_python_add_text(&text, (const uint8_t *)bytes.at, bytes.len / width, width);
    char *copy = pt_strndup(text.len > 0 ? pt_buf_as_str(&text) : PT_STR("?"));
    pt_buf_release(&text);
    return copy;
}

static void take_code(struct pt_heap *h, struct pt_heap_process *p,
                      const struct pt_preload_event_code *c) {
    size_t before = p->code_capacity;
    struct pt_python_code code = { .name = text_of(c->name, c->name_width),
                                   .file = text_of(c->file, c->file_width),
                                   .first_line = c->first_line,
                                   .lines = (enum pt_python_lines)c->lines_form };
    pt_buf_str(&code.table, c->lines);
    pt_grow(&p->codes, &p->code_capacity, (size_t)c->number + 1, sizeof *p->codes);
    if (p->code_capacity > before)
        memset(p->codes + before, 0, (p->code_capacity - before) * sizeof *p->codes);
    p->codes[c->number] = pt_pythons_add_code(&h->pythons, code) + 1;
}

/* Each file numbers its code objects from 0. */
struct pt_str pt_heap_python_entries(struct pt_heap *h, const struct pt_heap_process *p,
                                     struct pt_str frames) {
    pt_buf_clear(&h->entries);
    for (size_t at = 0; at + sizeof(struct pt_preload_python_frame) <= frames.len;
         at += sizeof(struct pt_preload_python_frame)) {
        struct pt_preload_python_frame f;
        memcpy(&f, frames.at + at, sizeof f);
        struct pt_python_entry entry = { f.code < p->code_capacity ? p->codes[f.code] - 1
                                                                   : UINT32_MAX,
                                         f.instruction, f.flags };
        pt_buf_bytes(&h->entries, &entry, sizeof entry);
    }
    return pt_buf_as_str(&h->entries);
}

/* The recording makes one sample of it; only its thread and its stack, without our library, are
 * used. */
struct pt_profile_sample pt_heap_unwind(struct pt_heap *h, struct pt_heap_process *p,
                                        const struct pt_preload_event *e) {
    struct pt_recording *r = &h->recording;
    struct pt_perf_record record = pt_preloaded_sample(p->pid, e);
    struct pt_perf_record python = { .kind = PT_PERF_PYTHON,
                                     .python = pt_heap_python_entries(h, p, e->python) };
    const struct pt_perf_record *next = python.python.len > 0 ? &python : NULL;
    struct pt_profile_meta before = r->profile.meta;
    pt_recording_take(r, &record, next);
    if (pt_preloaded_is_lost(r) && p->may_refresh) {
        /* perhaps a library was loaded since */
        p->may_refresh = false;
        p->is_gone = !pt_recording_add_process(r, p->pid);
        r->profile.meta = before;
        forget_samples(&r->profile);
        pt_recording_take(r, &record, next);
    }
    struct pt_profile_sample sample = r->profile.samples.at[r->profile.samples.count - 1];
    forget_samples(&r->profile);
    sample.stack = without_library(&r->profile, sample.stack);
    return sample;
}

static void drop_live(struct pt_heap *h, const struct pt_heap_live_entry *e) {
    const struct pt_heap_sum weight = { e->bytes, e->count, e->variance };
    pt_heap_change_live(h, e->group, &weight, -1);
}

static void take_allocation(struct pt_heap *h, uint32_t process, const struct pt_preload_event *e) {
    struct pt_heap_process *p = &h->processes[process];
    struct pt_heap_live_entry replaced;
    pt_preloaded_name(&h->recording, p->pid, e);
    struct pt_profile_sample sample = pt_heap_unwind(h, p, e);
    if (p->is_gone)
        return;
    uint32_t group = pt_heap_group_of(h, sample.stack, sample.thread);
    struct pt_heap_sum weight = pt_heap_weight(e->bytes, ldexp(h->mean_bytes, (int)e->mean_shift));
    h->sample_count++;
    h->thinned_count += e->mean_shift > 0;
    pt_heap_sum_add(&h->groups[group].allocated, &weight, 1);
    pt_heap_sum_add(&h->total_allocated, &weight, 1);
    if (e->is_untracked)
        return;
    struct pt_heap_live_entry entry = { .address = e->address,
                                        .process = process,
                                        .group = group,
                                        .bytes = weight.bytes,
                                        .count = weight.count,
                                        .variance = weight.variance };
    if (e->address != 0 && pt_heap_live_put(&h->live, entry, &replaced))
        drop_live(h, &replaced);
    if (e->address != 0)
        pt_heap_change_live(h, group, &weight, 1);
}

static void take_free(struct pt_heap *h, uint32_t process, const struct pt_preload_event *e) {
    struct pt_heap_live_entry gone;
    if (!pt_heap_live_remove(&h->live, process, e->address, &gone))
        return;
    drop_live(h, &gone);
    h->last_freed[h->last_freed_next++ % PT_COUNT(h->last_freed)] = gone;
    const struct pt_heap_sum weight = { gone.bytes, gone.count, gone.variance };
    if (e->is_temporary)
        pt_heap_sum_add(&h->groups[gone.group].temporary, &weight, 1);
}

static void take_restore(struct pt_heap *h, uint32_t process, const struct pt_preload_event *e) {
    struct pt_heap_live_entry replaced;
    for (size_t i = 0; i < PT_COUNT(h->last_freed); i++) {
        struct pt_heap_live_entry *f = &h->last_freed[i];
        if (f->address != e->address || f->process != process || f->address == 0)
            continue;
        const struct pt_heap_sum weight = { f->bytes, f->count, f->variance };
        if (pt_heap_live_put(&h->live, *f, &replaced))
            drop_live(h, &replaced);
        pt_heap_change_live(h, f->group, &weight, 1);
        f->address = 0;
        return;
    }
}

static void take(struct pt_heap *h, uint32_t process, const struct pt_preload_event *e) {
    if (e->mono_ns > 0)
        pt_heap_advance(h, e->mono_ns);
    switch (e->kind) {
    case PT_PRELOAD_ALLOCATION:
        take_allocation(h, process, e);
        break;
    case PT_PRELOAD_FREE:
        take_free(h, process, e);
        break;
    case PT_PRELOAD_RESTORE:
        take_restore(h, process, e);
        break;
    case PT_PRELOAD_STACK_COPY:
        pt_preloaded_name(&h->recording, h->processes[process].pid, e);
        pt_heap_every_copy(h, &h->processes[process], e);
        break;
    case PT_PRELOAD_CODE:
        take_code(h, &h->processes[process], &e->code);
        break;
    default:
        break;
    }
}

/* Memory of an ended process no longer exists, but it was not freed. */
static void leave(struct pt_heap *h, uint32_t process) {
    struct pt_heap_live_entry gone;
    for (size_t i = 0; i < h->live.capacity; i++)
        while (h->live.at[i].process == process &&
               pt_heap_live_remove(&h->live, process, h->live.at[i].address, &gone)) {
            const struct pt_heap_sum weight = { gone.bytes, gone.count, gone.variance };
            pt_heap_change_live(h, gone.group, &weight, -1);
            pt_heap_sum_add(&h->groups[gone.group].left, &weight, 1);
        }
}

void pt_heap_read(struct pt_heap *h, uint32_t process, struct pt_preload_source *s, bool is_final,
                  int64_t now_ns) {
    struct pt_preload_event e;
    if (process >= h->process_count)
        return;
    struct pt_heap_process *p = &h->processes[process];
    /* mappings first: samples that need them may precede them in the ring */
    uint64_t position = pt_preload_source_position(s);
    while (pt_preload_source_next(s, &position, is_final, PT_PRELOAD_MAPS, &e))
        pt_preloaded_maps(&h->recording, p->pid, &e);
    p->may_refresh = !is_final;
    p->is_gone = false;
    position = pt_preload_source_position(s);
    while (!p->is_gone && pt_preload_source_next(s, &position, is_final, 0, &e)) {
        take(h, process, &e);
        if (!p->is_gone)
            pt_preload_source_consume(s, position);
    }
    p->losses = pt_preload_source_losses(s);
    p->has_unknown_python = pt_preload_source_has_unknown_python(s);
    if (s->is_every)
        pt_heap_every_read(h, p, s, is_final, now_ns);
    if (is_final)
        leave(h, process);
}

struct pt_preload_losses pt_preload_losses(const struct pt_heap *h) {
    struct pt_preload_losses all = { 0 };
    for (size_t i = 0; i < h->process_count; i++) {
        all.allocations += h->processes[i].losses.allocations;
        all.frees += h->processes[i].losses.frees;
        all.untracked += h->processes[i].losses.untracked;
        all.stacks += h->processes[i].losses.stacks;
    }
    return all;
}

/* The chosen pair of columns comes first; the others keep their order. */
static size_t column_of(size_t index, enum pt_heap_metric first) {
    size_t pair = index / 2, chosen = (size_t)first;
    pair = pair == 0 ? chosen : pair <= chosen ? pair - 1 : pair;
    return 2 * pair + index % 2;
}

static int64_t whole(double value) {
    return value >= 9e18 ? INT64_MAX : value <= 0 ? 0 : (int64_t)llround(value);
}

static void add_sample(struct pt_heap *h, const struct pt_heap_group *g,
                       enum pt_heap_metric first) {
    const double all[] = {
        live_bytes(g),      g->live.count + g->left.count,
        g->peak.bytes,      g->peak.count,
        g->allocated.bytes, g->allocated.count,
        g->temporary.bytes, g->temporary.count,
    };
    int64_t values[PT_COUNT(all)];
    for (size_t i = 0; i < PT_COUNT(all); i++)
        values[i] = whole(all[column_of(i, first)]);
    struct pt_profile_sample sample = {
        .time_ns = h->start_mono_ns, .thread = g->thread, .stack = g->stack, .cpu = UINT16_MAX
    };
    (void)pt_profile_sample(&h->recording.profile, &sample, values);
}

static int64_t error_of(const struct pt_heap_sum *sum) {
    return sum->variance > 0 ? whole(sqrt(sum->variance)) : 0;
}

static void fill_meta(const struct pt_heap *h, struct pt_profile_meta *m) {
    struct pt_preload_losses lost = pt_preload_losses(h);
    struct pt_heap_sum left = { 0 };
    for (size_t i = 0; i < h->group_count; i++) {
        pt_heap_sum_add(&left, &h->groups[i].live, 1);
        pt_heap_sum_add(&left, &h->groups[i].left, 1);
    }
    m->start_ns = h->start_mono_ns;
    m->end_ns = h->now_mono_ns;
    m->lost = (int64_t)lost.allocations;
    m->heap = (struct pt_profile_heap_meta){ .taken = h->sample_count,
                                             .thinned = h->thinned_count,
                                             .processes = (int64_t)h->process_count,
                                             .allocated_error = error_of(&h->total_allocated),
                                             .peak_error = error_of(&h->total_peak),
                                             .live_error = error_of(&left),
                                             .peak_bytes = whole(h->total_peak.bytes),
                                             .peak_ns = h->peak_mono_ns,
                                             .lost_frees = (int64_t)lost.frees,
                                             .untracked = (int64_t)lost.untracked,
                                             .lost_stacks = (int64_t)lost.stacks };
    for (size_t i = 0; i < h->process_count; i++)
        m->heap.unknown_pythons += h->processes[i].has_unknown_python;
}

void pt_heap_make(struct pt_heap *h, enum pt_heap_metric first) {
    struct pt_profile *p = &h->recording.profile;
    forget_samples(p);
    p->type_count = PT_COUNT(types);
    for (size_t i = 0; i < PT_COUNT(types); i++)
        p->types[i] = types[column_of(i, first)];
    for (size_t i = 0; i < h->group_count; i++) {
        settle(h, &h->groups[i]);
        add_sample(h, &h->groups[i], first);
    }
    p->timeline = (struct pt_profile_timeline){ .start_ns = h->start_mono_ns,
                                                .step_ns = h->line.step_ns,
                                                .count = h->line.filled };
    for (size_t i = 0; i < h->line.filled; i++)
        p->timeline.values[i] = whole(h->line.at[i]);
    fill_meta(h, &p->meta);
    pt_leaks_find(h);
}

void pt_heap_finish(struct pt_heap *h, enum pt_heap_metric first) {
    pt_heap_make(h, first);
    pt_symbolize(&h->recording);
}

bool pt_heap_put_first(struct pt_profile *p, enum pt_heap_metric first) {
    size_t from[PT_PROFILE_VALUES_MAX]; /* the old index of each column, the wanted pair first */
    struct pt_profile_value_type old_types[PT_PROFILE_VALUES_MAX];
    int64_t old[PT_PROFILE_VALUES_MAX];
    size_t wanted = 0;
    while (wanted < p->type_count && strcmp(p->types[wanted].name, types[2 * first].name) != 0)
        wanted++;
    if (wanted + 1 >= p->type_count)
        return false;
    from[0] = wanted;
    from[1] = wanted + 1;
    for (size_t i = 0, n = 2; i < p->type_count; i++)
        if (i != wanted && i != wanted + 1)
            from[n++] = i;
    memcpy(old_types, p->types, sizeof old_types);
    for (size_t i = 0; i < p->type_count; i++)
        p->types[i] = old_types[from[i]];
    for (size_t sample = 0; sample < p->samples.count; sample++) {
        int64_t *values = &p->values.at[sample * p->type_count];
        memcpy(old, values, p->type_count * sizeof *old);
        for (size_t i = 0; i < p->type_count; i++)
            values[i] = old[from[i]];
    }
    return true;
}
