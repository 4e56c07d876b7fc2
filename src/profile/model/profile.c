#include "profile/model/profile.h"

#include "base/mask.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

void pt_profile_init(struct pt_profile *p, const struct pt_profile_value_type *types,
                     size_t count) {
    assert(count > 0 && count <= PT_PROFILE_VALUES_MAX);
    *p = (struct pt_profile){ .type_count = count };
    memcpy(p->types, types, count * sizeof *types);
    p->meta.python_wanted = p->meta.python_matched = p->meta.counted_ns = -1;
    p->meta.gil_known = p->meta.gil_held = p->meta.gil_contended = -1;
    (void)pt_profile_string(p, PT_STR("")); /* number 0 is the empty string */
}

void pt_profile_release(struct pt_profile *p) {
    pt_buf_release(&p->bytes);
    pt_free(p->strings.at);
    pt_intern_release(&p->strings.index);
    pt_free(p->modules.at);
    pt_intern_release(&p->modules.index);
    pt_free(p->functions.at);
    pt_intern_release(&p->functions.index);
    pt_free(p->frames.at);
    pt_intern_release(&p->frames.index);
    pt_free(p->stacks.at);
    pt_intern_release(&p->stacks.index);
    pt_free(p->threads.at);
    pt_intern_release(&p->threads.index);
    pt_free(p->samples.at);
    pt_free(p->values.at);
    pt_free(p->growth.at);
    *p = (struct pt_profile){ 0 };
}

static bool is_string(const void *owner, uint32_t number, const void *key) {
    const struct pt_str *text = key;
    return pt_str_eq(pt_profile_text(owner, number), *text);
}

uint32_t pt_profile_string(struct pt_profile *p, struct pt_str text) {
    uint32_t next = (uint32_t)p->strings.count;
    uint32_t number = pt_intern_find(&p->strings.index, pt_intern_hash(text.at, text.len),
                                     is_string, p, &text, next);
    if (number != next)
        return number;
    pt_grow(&p->strings.at, &p->strings.capacity, p->strings.count + 1, sizeof *p->strings.at);
    p->strings.at[p->strings.count++] =
        (struct pt_profile_text){ (uint32_t)p->bytes.len, (uint32_t)text.len };
    pt_buf_str(&p->bytes, text);
    return next;
}

/* An array of equal-sized structs without padding: rows are compared byte by byte. */
struct rows {
    const uint8_t *at;
    size_t size;
};

static bool is_row(const void *owner, uint32_t number, const void *key) {
    const struct rows *rows = owner;
    return memcmp(rows->at + number * rows->size, key, rows->size) == 0;
}

static uint32_t intern(void *array, size_t *count, size_t *capacity, struct pt_intern *index,
                       const void *row, size_t size) {
    struct rows rows = { .size = size };
    memcpy(&rows.at, array, sizeof rows.at);
    uint32_t next = (uint32_t)*count;
    uint32_t number = pt_intern_find(index, pt_intern_hash(row, size), is_row, &rows, row, next);
    if (number != next)
        return number;
    pt_grow(array, capacity, *count + 1, size);
    uint8_t *at;
    memcpy(&at, array, sizeof at);
    memcpy(at + *count * size, row, size);
    ++*count;
    return next;
}

#define INTERN(a, row) intern(&(a).at, &(a).count, &(a).capacity, &(a).index, &(row), sizeof(row))

uint32_t pt_profile_module(struct pt_profile *p, struct pt_profile_module module) {
    return INTERN(p->modules, module);
}

uint32_t pt_profile_function(struct pt_profile *p, struct pt_profile_function function) {
    return INTERN(p->functions, function);
}

uint32_t pt_profile_frame(struct pt_profile *p, struct pt_profile_frame frame) {
    return INTERN(p->frames, frame);
}

uint32_t pt_profile_marker(struct pt_profile *p, struct pt_str name) {
    struct pt_profile_function function = { .name = pt_profile_string(p, name),
                                            .module = PT_PROFILE_NONE,
                                            .kind = PT_KIND_MARKER };
    return pt_profile_frame(p,
                            (struct pt_profile_frame){ .function = pt_profile_function(p, function),
                                                       .module = PT_PROFILE_NONE });
}

uint32_t pt_profile_stack(struct pt_profile *p, uint32_t parent, uint32_t frame) {
    struct pt_profile_stack stack = { parent, frame };
    return INTERN(p->stacks, stack);
}

uint32_t pt_profile_thread(struct pt_profile *p, struct pt_profile_thread thread) {
    return INTERN(p->threads, thread);
}

bool pt_profile_sample(struct pt_profile *p, const struct pt_profile_sample *sample,
                       const int64_t *values) {
    if (p->samples.count >= PT_PROFILE_SAMPLES_MAX) {
        p->meta.dropped++;
        return false;
    }
    pt_grow(&p->samples.at, &p->samples.capacity, p->samples.count + 1, sizeof *p->samples.at);
    p->samples.at[p->samples.count++] = *sample;
    pt_grow(&p->values.at, &p->values.capacity, p->values.count + p->type_count,
            sizeof *p->values.at);
    memcpy(p->values.at + p->values.count, values, p->type_count * sizeof *values);
    p->values.count += p->type_count;
    return true;
}

void pt_profile_set_command(struct pt_profile_meta *meta, char *const *command) {
    struct pt_buf line = { 0 };
    pt_mask_argv(&line, command);
    pt_str_copy(meta->command, sizeof meta->command, pt_buf_as_str(&line));
    pt_buf_release(&line);
}

void pt_profile_growth(struct pt_profile *p, const struct pt_profile_growth *growth) {
    pt_grow(&p->growth.at, &p->growth.capacity, p->growth.count + 1, sizeof *p->growth.at);
    p->growth.at[p->growth.count++] = *growth;
}

enum pt_profile_kind pt_profile_frame_kind(const struct pt_profile *p, uint32_t frame) {
    uint32_t function = p->frames.at[frame].function;
    if (function != PT_PROFILE_NONE)
        return (enum pt_profile_kind)p->functions.at[function].kind;
    return p->frames.at[frame].module != PT_PROFILE_NONE ? PT_KIND_NATIVE : PT_KIND_UNKNOWN;
}

struct pt_str pt_profile_base_name(struct pt_str path) {
    const char *slash = path.len > 0 ? memrchr(path.at, '/', path.len) : NULL;
    return slash ? pt_str_skip(path, (size_t)(slash + 1 - path.at)) : path;
}

struct pt_str pt_profile_address_name(const struct pt_profile *p, uint32_t module, uint64_t address,
                                      char buffer[PT_PROFILE_NAME_BYTES]) {
    struct pt_str name = PT_STR("");
    if (module != PT_PROFILE_NONE)
        name = pt_profile_base_name(pt_profile_text(p, p->modules.at[module].path));
    if (name.len > PT_PROFILE_NAME_BYTES - 32)
        name.len = PT_PROFILE_NAME_BYTES - 32;
    int n = snprintf(buffer, PT_PROFILE_NAME_BYTES, "%.*s%s0x%" PRIx64, (int)name.len, name.at,
                     name.len ? "+" : "", address);
    return (struct pt_str){ buffer, n > 0 ? (size_t)n : 0 };
}

struct pt_str pt_profile_frame_name(const struct pt_profile *p, uint32_t frame,
                                    char buffer[PT_PROFILE_NAME_BYTES]) {
    const struct pt_profile_frame *f = &p->frames.at[frame];
    if (f->function != PT_PROFILE_NONE) {
        struct pt_str name = pt_profile_text(p, p->functions.at[f->function].name);
        return name.len > 0 ? name : PT_STR("[unnamed]");
    }
    return pt_profile_address_name(p, f->module, f->address, buffer);
}

const char *pt_profile_kind_name(enum pt_profile_kind kind) {
    static const char *const names[PT_KIND_COUNT] = {
        [PT_KIND_UNKNOWN] = "unknown", [PT_KIND_NATIVE] = "native", [PT_KIND_KERNEL] = "kernel",
        [PT_KIND_PYTHON] = "python",   [PT_KIND_JIT] = "jit",       [PT_KIND_MARKER] = "marker",
    };
    return names[kind];
}

const char *pt_profile_state_name(enum pt_profile_state state) {
    static const char *const names[PT_STATE_COUNT] = {
        [PT_STATE_ON_CPU] = "on-cpu", [PT_STATE_GPU] = "gpu", [PT_STATE_COLLECTIVE] = "collective",
        [PT_STATE_LOCK] = "lock",     [PT_STATE_IO] = "io",   [PT_STATE_NETWORK] = "network",
        [PT_STATE_IDLE] = "idle",     [PT_STATE_GIL] = "gil",
    };
    return names[state];
}

const char *pt_profile_unit_name(enum pt_profile_unit unit) {
    static const char *const names[] = { "samples", "nanoseconds", "bytes" };
    return names[unit];
}
