/* For pprof and other readers of its format: a gzipped protobuf message,
 * https://github.com/google/pprof/blob/main/proto/profile.proto. Stacks are leaf first; a location
 * is an address with one line per inlined function, innermost first. Samples of one thread, state
 * and stack are summed. */
#include "profile/files/profile_writers.h"

#include <stdlib.h>
#include <zlib.h>

/* Field numbers, by message. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE,
    PROFILE_MAPPING,
    PROFILE_LOCATION,
    PROFILE_FUNCTION,
    PROFILE_STRING,
    PROFILE_TIME_NS = 9,
    PROFILE_DURATION_NS,
    PROFILE_PERIOD_TYPE,
    PROFILE_PERIOD,
    PROFILE_COMMENT,
};
enum { TYPE_NAME = 1, TYPE_UNIT };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES, SAMPLE_LABEL };
enum { LABEL_KEY = 1, LABEL_TEXT, LABEL_NUMBER };
enum {
    MAPPING_ID = 1,
    MAPPING_LIMIT = 3,
    MAPPING_FILE = 5,
    MAPPING_BUILD_ID,
    MAPPING_HAS_FUNCTIONS,
    MAPPING_HAS_FILES,
    MAPPING_HAS_LINES,
    MAPPING_HAS_INLINED,
};
enum { LOCATION_ID = 1, LOCATION_MAPPING, LOCATION_ADDRESS, LOCATION_LINE };
enum { LINE_FUNCTION = 1, LINE_NUMBER };
enum { FUNCTION_ID = 1, FUNCTION_NAME, FUNCTION_SYSTEM_NAME, FUNCTION_FILE, FUNCTION_LINE };

/* Fields with value 0 are omitted, as in protobuf. */
static void put_number(struct pt_buf *b, unsigned field, uint64_t value) {
    if (value == 0)
        return;
    pt_buf_varint(b, field << 3);
    pt_buf_varint(b, value);
}

static void put_bytes(struct pt_buf *b, unsigned field, const struct pt_buf *bytes) {
    pt_buf_varint(b, field << 3 | 2);
    pt_buf_lstr(b, pt_buf_as_str(bytes));
}

/* A frame and the frames it was inlined into. Most chains are a single frame. */
struct chain {
    uint32_t outer; /* or NONE */
    uint32_t frame;
};

/* Samples that differ only in their values. */
struct group {
    uint32_t thread, state, stack;
};

struct pprof {
    const struct pt_profile *profile;
    struct pt_buf message, part, inner; /* the whole; a message in it; a message in `part` */
    PT_PROFILE_ARRAY(struct chain) chains;
    uint32_t *chain_of_stack;
    PT_PROFILE_ARRAY(struct group) groups;
    int64_t *sums; /* type_count per group */
    size_t sum_capacity;
    struct pt_buf extra; /* further strings, each with its length */
    uint32_t extra_count;
};

static bool is_chain(const void *owner, uint32_t number, const void *key) {
    const struct pprof *w = owner;
    return memcmp(&w->chains.at[number], key, sizeof(struct chain)) == 0;
}

static uint32_t add_chain(struct pprof *w, struct chain chain) {
    uint32_t next = (uint32_t)w->chains.count;
    uint32_t number = pt_intern_find(&w->chains.index, pt_intern_hash(&chain, sizeof chain),
                                     is_chain, w, &chain, next);
    if (number == next) {
        pt_grow(&w->chains.at, &w->chains.capacity, w->chains.count + 1, sizeof chain);
        w->chains.at[w->chains.count++] = chain;
    }
    return number;
}

static bool is_inlined(const struct pt_profile *p, uint32_t stack) {
    const struct pt_profile_stack *s = &p->stacks.at[stack];
    return s->parent != PT_PROFILE_NONE && p->frames.at[s->frame].flags & PT_FRAME_INLINED;
}

static void find_chains(struct pprof *w) {
    const struct pt_profile *p = w->profile;
    w->chain_of_stack = pt_calloc(p->stacks.count, sizeof *w->chain_of_stack);
    for (uint32_t i = 0; i < p->stacks.count; i++) {
        struct pt_profile_stack s = p->stacks.at[i];
        uint32_t outer = is_inlined(p, i) ? w->chain_of_stack[s.parent] : PT_PROFILE_NONE;
        w->chain_of_stack[i] = add_chain(w, (struct chain){ outer, s.frame });
    }
}

static bool is_group(const void *owner, uint32_t number, const void *key) {
    const struct pprof *w = owner;
    return memcmp(&w->groups.at[number], key, sizeof(struct group)) == 0;
}

static int64_t *sums_of(struct pprof *w, struct group group) {
    size_t types = w->profile->type_count;
    uint32_t next = (uint32_t)w->groups.count;
    uint32_t number = pt_intern_find(&w->groups.index, pt_intern_hash(&group, sizeof group),
                                     is_group, w, &group, next);
    if (number == next) {
        pt_grow(&w->groups.at, &w->groups.capacity, w->groups.count + 1, sizeof group);
        w->groups.at[w->groups.count++] = group;
        pt_grow(&w->sums, &w->sum_capacity, w->groups.count * types, sizeof *w->sums);
        memset(w->sums + next * types, 0, types * sizeof *w->sums);
    }
    return w->sums + number * types;
}

static void sum_samples(struct pprof *w) {
    const struct pt_profile *p = w->profile;
    for (size_t i = 0; i < p->samples.count; i++) {
        const struct pt_profile_sample *s = &p->samples.at[i];
        int64_t *sums = sums_of(w, (struct group){ s->thread, s->state, s->stack });
        for (size_t type = 0; type < p->type_count; type++)
            sums[type] += pt_profile_value(p, i, type);
    }
}

/* Adds a string after those of the profile; returns its number. */
static uint64_t extra_string(struct pprof *w, const char *text) {
    pt_buf_lstr(&w->extra, pt_str_from(text));
    return w->profile->strings.count + w->extra_count++;
}

static void put_type(struct pprof *w, unsigned field, const char *name, const char *unit) {
    pt_buf_clear(&w->part);
    put_number(&w->part, TYPE_NAME, extra_string(w, name));
    put_number(&w->part, TYPE_UNIT, extra_string(w, unit));
    put_bytes(&w->message, field, &w->part);
}

static void put_types(struct pprof *w) {
    const struct pt_profile *p = w->profile;
    for (size_t i = 0; i < p->type_count; i++) {
        enum pt_profile_unit unit = p->types[i].unit;
        put_type(w, PROFILE_SAMPLE_TYPE, p->types[i].name,
                 unit == PT_PROFILE_SAMPLES ? "count" : pt_profile_unit_name(unit));
    }
    if (p->meta.period_ns <= 0)
        return;
    put_type(w, PROFILE_PERIOD_TYPE, "cpu", "nanoseconds");
    put_number(&w->message, PROFILE_PERIOD, (uint64_t)p->meta.period_ns);
}

static void put_text_label(struct pprof *w, uint64_t key, uint64_t text) {
    pt_buf_clear(&w->inner);
    put_number(&w->inner, LABEL_KEY, key);
    put_number(&w->inner, LABEL_TEXT, text);
    put_bytes(&w->part, SAMPLE_LABEL, &w->inner);
}

static void put_number_label(struct pprof *w, uint64_t key, int64_t number) {
    pt_buf_clear(&w->inner);
    put_number(&w->inner, LABEL_KEY, key);
    put_number(&w->inner, LABEL_NUMBER, (uint64_t)number);
    put_bytes(&w->part, SAMPLE_LABEL, &w->inner);
}

struct label_keys {
    uint64_t thread, process, pid, tid, state, states[PT_STATE_COUNT];
};

static struct label_keys make_label_keys(struct pprof *w) {
    struct label_keys keys = {
        extra_string(w, "thread"), extra_string(w, "process"), extra_string(w, "pid"),
        extra_string(w, "tid"),    extra_string(w, "state"),   { 0 },
    };
    for (int i = 0; i < PT_STATE_COUNT; i++)
        keys.states[i] = extra_string(w, pt_profile_state_name((enum pt_profile_state)i));
    return keys;
}

static void put_labels(struct pprof *w, const struct group *g, const struct label_keys *keys) {
    if (g->thread != PT_PROFILE_NONE) {
        const struct pt_profile_thread *t = &w->profile->threads.at[g->thread];
        put_text_label(w, keys->thread, t->name);
        put_text_label(w, keys->process, t->process);
        put_number_label(w, keys->pid, t->pid);
        put_number_label(w, keys->tid, t->tid);
    }
    if (g->state < PT_STATE_COUNT)
        put_text_label(w, keys->state, keys->states[g->state]);
}

/* Leaf first; inlined frames are part of the location of their outer frame. */
static void put_locations(struct pprof *w, uint32_t stack) {
    const struct pt_profile *p = w->profile;
    pt_buf_clear(&w->inner);
    while (stack != PT_PROFILE_NONE) {
        pt_buf_varint(&w->inner, w->chain_of_stack[stack] + UINT64_C(1));
        while (is_inlined(p, stack))
            stack = p->stacks.at[stack].parent;
        stack = p->stacks.at[stack].parent;
    }
    put_bytes(&w->part, SAMPLE_LOCATIONS, &w->inner);
}

static void put_samples(struct pprof *w) {
    size_t types = w->profile->type_count;
    struct label_keys keys = make_label_keys(w);
    for (size_t i = 0; i < w->groups.count; i++) {
        pt_buf_clear(&w->part);
        put_locations(w, w->groups.at[i].stack);
        pt_buf_clear(&w->inner);
        for (size_t type = 0; type < types; type++)
            pt_buf_varint(&w->inner, (uint64_t)w->sums[i * types + type]);
        put_bytes(&w->part, SAMPLE_VALUES, &w->inner);
        put_labels(w, &w->groups.at[i], &keys);
        put_bytes(&w->message, PROFILE_SAMPLE, &w->part);
    }
}

struct mapping {
    uint64_t limit; /* above all its addresses */
    bool has_functions, has_files, has_lines, has_inlined;
};

/* Addresses are relative to the file, so each mapping starts at 0. */
static void put_mappings(struct pprof *w) {
    const struct pt_profile *p = w->profile;
    struct mapping *mappings = pt_calloc(p->modules.count, sizeof *mappings);
    for (size_t i = 0; i < p->frames.count; i++) {
        const struct pt_profile_frame *f = &p->frames.at[i];
        if (f->module == PT_PROFILE_NONE)
            continue;
        struct mapping *m = &mappings[f->module];
        if (f->address >= m->limit)
            m->limit = f->address + 1;
        if (f->function == PT_PROFILE_NONE)
            continue;
        m->has_functions = true;
        m->has_files |= p->functions.at[f->function].file != 0;
        m->has_lines |= f->line > 0;
        m->has_inlined |= (f->flags & PT_FRAME_INLINED) != 0;
    }
    for (size_t i = 0; i < p->modules.count; i++) {
        const struct mapping *m = &mappings[i];
        pt_buf_clear(&w->part);
        put_number(&w->part, MAPPING_ID, i + 1);
        put_number(&w->part, MAPPING_LIMIT, m->limit);
        put_number(&w->part, MAPPING_FILE, p->modules.at[i].path);
        put_number(&w->part, MAPPING_BUILD_ID, p->modules.at[i].build_id);
        put_number(&w->part, MAPPING_HAS_FUNCTIONS, m->has_functions);
        put_number(&w->part, MAPPING_HAS_FILES, m->has_files);
        put_number(&w->part, MAPPING_HAS_LINES, m->has_lines);
        put_number(&w->part, MAPPING_HAS_INLINED, m->has_inlined);
        put_bytes(&w->message, PROFILE_MAPPING, &w->part);
    }
    pt_free(mappings);
}

static void put_location(struct pprof *w, uint32_t number) {
    const struct pt_profile *p = w->profile;
    const struct pt_profile_frame *f = &p->frames.at[w->chains.at[number].frame];
    pt_buf_clear(&w->part);
    put_number(&w->part, LOCATION_ID, number + UINT64_C(1));
    if (f->module != PT_PROFILE_NONE)
        put_number(&w->part, LOCATION_MAPPING, f->module + UINT64_C(1));
    put_number(&w->part, LOCATION_ADDRESS, f->address);
    for (uint32_t i = number; i != PT_PROFILE_NONE; i = w->chains.at[i].outer) {
        const struct pt_profile_frame *line = &p->frames.at[w->chains.at[i].frame];
        if (line->function == PT_PROFILE_NONE)
            continue;
        pt_buf_clear(&w->inner);
        put_number(&w->inner, LINE_FUNCTION, line->function + UINT64_C(1));
        put_number(&w->inner, LINE_NUMBER, line->line);
        put_bytes(&w->part, LOCATION_LINE, &w->inner);
    }
    put_bytes(&w->message, PROFILE_LOCATION, &w->part);
}

static void put_function(struct pprof *w, uint32_t number) {
    const struct pt_profile_function *f = &w->profile->functions.at[number];
    pt_buf_clear(&w->part);
    put_number(&w->part, FUNCTION_ID, number + UINT64_C(1));
    put_number(&w->part, FUNCTION_NAME, f->name);
    put_number(&w->part, FUNCTION_SYSTEM_NAME, f->name);
    put_number(&w->part, FUNCTION_FILE, f->file);
    put_number(&w->part, FUNCTION_LINE, f->line);
    put_bytes(&w->message, PROFILE_FUNCTION, &w->part);
}

/* Strings in protobuf are UTF-8. */
static void put_string(struct pprof *w, struct pt_str text) {
    struct pt_out out;
    pt_buf_clear(&w->part);
    pt_out_memory(&out, &w->part);
    pt_out_utf8(&out, text);
    (void)pt_out_close(&out); /* memory does not fail */
    put_bytes(&w->message, PROFILE_STRING, &w->part);
}

static void put_strings(struct pprof *w) {
    for (uint32_t i = 0; i < w->profile->strings.count; i++)
        put_string(w, pt_profile_text(w->profile, i));
    struct pt_bytes extra = { w->extra.at, w->extra.at + w->extra.len, false };
    for (uint32_t i = 0; i < w->extra_count; i++)
        put_string(w, pt_bytes_lstr(&extra));
}

static void put_profile(struct pprof *w) {
    const struct pt_profile *p = w->profile;
    find_chains(w);
    sum_samples(w);
    put_types(w);
    put_samples(w);
    put_mappings(w);
    for (uint32_t i = 0; i < w->chains.count; i++)
        put_location(w, i);
    for (uint32_t i = 0; i < p->functions.count; i++)
        put_function(w, i);
    put_number(&w->message, PROFILE_TIME_NS, (uint64_t)p->meta.start_wall_ns);
    if (p->meta.end_ns > p->meta.start_ns)
        put_number(&w->message, PROFILE_DURATION_NS, (uint64_t)(p->meta.end_ns - p->meta.start_ns));
    const char *const comments[] = { p->meta.command, p->meta.method };
    for (size_t i = 0; i < PT_COUNT(comments); i++)
        if (comments[i][0])
            put_number(&w->message, PROFILE_COMMENT, extra_string(w, comments[i]));
    put_strings(w);
}

static void gzip(const struct pt_buf *bytes, struct pt_out *out) {
    enum { WINDOW_BITS_GZIP = 15 + 16, MEMORY_LEVEL = 8, PIECE = 1 << 14, INPUT_MAX = 1 << 30 };
    z_stream z = { 0 };
    int rc = deflateInit2(&z, Z_BEST_SPEED, Z_DEFLATED, WINDOW_BITS_GZIP, MEMORY_LEVEL,
                          Z_DEFAULT_STRATEGY);
    if (rc != Z_OK)
        pt_mem_exhausted(sizeof z);
    uint8_t piece[PIECE];
    z.next_in = bytes->at;
    for (size_t left = bytes->len; rc == Z_OK;) {
        if (z.avail_in == 0) {
            z.avail_in = left < INPUT_MAX ? (uInt)left : INPUT_MAX;
            left -= z.avail_in;
        }
        z.next_out = piece;
        z.avail_out = PIECE;
        rc = deflate(&z, left == 0 ? Z_FINISH : Z_NO_FLUSH);
        pt_out_bytes(out, piece, PIECE - z.avail_out);
    }
    deflateEnd(&z);
}

static void write_pprof(const struct pt_profile *p, struct pt_out *out) {
    struct pprof w = { .profile = p };
    put_profile(&w);
    gzip(&w.message, out);
    pt_buf_release(&w.message);
    pt_buf_release(&w.part);
    pt_buf_release(&w.inner);
    pt_buf_release(&w.extra);
    pt_free(w.chains.at);
    pt_intern_release(&w.chains.index);
    pt_free(w.chain_of_stack);
    pt_free(w.groups.at);
    pt_intern_release(&w.groups.index);
    pt_free(w.sums);
}

const struct pt_profile_writer pt_pprof_writer = {
    ".pb.gz",
    "for pprof",
    write_pprof,
};
