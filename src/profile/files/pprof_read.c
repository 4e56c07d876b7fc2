/* Reads pprof profiles of any tool: gzipped or plain protobuf messages. pprof.c has the names of
 * the fields. Messages refer to each other by ids in any order, so the first pass finds the
 * messages and the second makes the profile. */
#include "base/proto_field.h"
#include "profile/files/profile_readers.h"

#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

/* A message with an id. */
struct entry {
    uint64_t id;
    struct pt_str bytes;
    uint32_t number; /* in the profile */
};

struct entries {
    struct entry *at;
    size_t count, capacity;
};

struct input {
    struct pt_profile_file *file;
    struct pt_str *strings;
    size_t string_count, string_capacity;
    struct entries mappings, functions, locations;
    struct pt_str types[PT_PROFILE_VALUES_MAX];
    int64_t scales[PT_PROFILE_VALUES_MAX];
    size_t type_count;
    uint64_t time_ns, duration_ns, period;
};

static void input_release(struct input *in) {
    pt_free(in->strings);
    pt_free(in->mappings.at);
    pt_free(in->functions.at);
    pt_free(in->locations.at);
}

static void add_entry(struct entries *e, struct pt_str message) {
    struct pt_bytes r = pt_bytes_of(message);
    struct pt_proto_field f;
    uint64_t id = 0;
    while (pt_proto_next(&r, &f))
        if (f.number == 1 && f.type == PT_PROTO_VARINT) {
            id = f.value;
            break;
        }
    pt_grow(&e->at, &e->capacity, e->count + 1, sizeof *e->at);
    e->at[e->count++] = (struct entry){ id, message, PT_PROFILE_NONE };
}

static int by_id(const void *a, const void *b) {
    uint64_t x = ((const struct entry *)a)->id, y = ((const struct entry *)b)->id;
    return (x > y) - (x < y);
}

static void sort_entries(struct entries *e) {
    if (e->count > 0)
        qsort(e->at, e->count, sizeof *e->at, by_id);
}

static const struct entry *find_entry(const struct entries *e, uint64_t id) {
    struct entry key = { .id = id };
    return e->count > 0 ? bsearch(&key, e->at, e->count, sizeof key, by_id) : NULL;
}

static bool collect(struct input *in, struct pt_str content) {
    struct pt_bytes r = pt_bytes_of(content);
    struct pt_proto_field f;
    while (pt_proto_next(&r, &f)) {
        switch (f.number) {
        case 1:
            if (in->type_count == PT_PROFILE_VALUES_MAX)
                return false;
            in->types[in->type_count++] = f.bytes;
            break;
        case 3:
            add_entry(&in->mappings, f.bytes);
            break;
        case 4:
            add_entry(&in->locations, f.bytes);
            break;
        case 5:
            add_entry(&in->functions, f.bytes);
            break;
        case 6:
            pt_grow(&in->strings, &in->string_capacity, in->string_count + 1, sizeof *in->strings);
            in->strings[in->string_count++] = f.bytes;
            break;
        case 9:
            in->time_ns = f.value;
            break;
        case 10:
            in->duration_ns = f.value;
            break;
        case 12:
            in->period = f.value;
            break;
        }
    }
    sort_entries(&in->mappings);
    sort_entries(&in->functions);
    sort_entries(&in->locations);
    return !r.failed && in->type_count > 0;
}

static struct pt_str text_of(const struct input *in, uint64_t number) {
    return number < in->string_count && in->strings[number].len > 0 ? in->strings[number]
                                                                    : PT_STR("");
}

struct unit {
    struct pt_str name;
    enum pt_profile_unit unit;
    int64_t scale;
};

static struct unit unit_of(struct pt_str name) {
    const struct unit units[] = {
        { PT_STR("nanoseconds"), PT_PROFILE_NANOSECONDS, 1 },
        { PT_STR("microseconds"), PT_PROFILE_NANOSECONDS, 1000 },
        { PT_STR("milliseconds"), PT_PROFILE_NANOSECONDS, 1000000 },
        { PT_STR("seconds"), PT_PROFILE_NANOSECONDS, 1000000000 },
        { PT_STR("bytes"), PT_PROFILE_BYTES, 1 },
    };
    for (size_t i = 0; i < PT_COUNT(units); i++)
        if (pt_str_eq(units[i].name, name))
            return units[i];
    return (struct unit){ name, PT_PROFILE_SAMPLES, 1 };
}

static void make_types(struct input *in) {
    struct pt_profile_file_type types[PT_PROFILE_VALUES_MAX];
    for (size_t i = 0; i < in->type_count; i++) {
        struct pt_bytes r = pt_bytes_of(in->types[i]);
        struct pt_proto_field f;
        uint64_t fields[3] = { 0 };
        while (pt_proto_next(&r, &f))
            if (f.number < PT_COUNT(fields))
                fields[f.number] = f.value;
        struct unit unit = unit_of(text_of(in, fields[2]));
        types[i] = (struct pt_profile_file_type){ text_of(in, fields[1]), unit.unit };
        in->scales[i] = unit.scale;
    }
    pt_profile_file_init(in->file, PT_STR("imported"), types, in->type_count);
}

static void make_mappings(struct input *in) {
    struct pt_profile *p = &in->file->profile;
    for (size_t i = 0; i < in->mappings.count; i++) {
        struct pt_bytes r = pt_bytes_of(in->mappings.at[i].bytes);
        struct pt_proto_field f;
        struct pt_profile_module m = { 0 };
        while (pt_proto_next(&r, &f)) {
            if (f.number == 5)
                m.path = pt_profile_string(p, text_of(in, f.value));
            else if (f.number == 6)
                m.build_id = pt_profile_string(p, text_of(in, f.value));
        }
        in->mappings.at[i].number = pt_profile_module(p, m);
    }
}

static enum pt_profile_kind kind_of(struct pt_str file, struct pt_str module) {
    if (pt_str_ends(file, PT_STR(".py")))
        return PT_KIND_PYTHON;
    if (pt_str_starts(module, PT_STR("[kernel")))
        return PT_KIND_KERNEL;
    return PT_KIND_NATIVE;
}

/* Makes the function of a line of a location. */
static uint32_t make_function(struct input *in, uint64_t id, uint32_t module) {
    struct pt_profile *p = &in->file->profile;
    const struct entry *entry = find_entry(&in->functions, id);
    if (!entry)
        return PT_PROFILE_NONE;
    struct pt_bytes r = pt_bytes_of(entry->bytes);
    struct pt_proto_field f;
    struct pt_profile_function function = { .module = module };
    while (pt_proto_next(&r, &f)) {
        if (f.number == 2)
            function.name = pt_profile_string(p, text_of(in, f.value));
        else if (f.number == 4)
            function.file = pt_profile_string(p, text_of(in, f.value));
        else if (f.number == 5)
            function.line = f.value <= UINT32_MAX ? (uint32_t)f.value : 0;
    }
    struct pt_str path = PT_STR("");
    if (module != PT_PROFILE_NONE)
        path = pt_profile_text(p, p->modules.at[module].path);
    function.kind = (uint32_t)kind_of(pt_profile_text(p, function.file), path);
    return pt_profile_function(p, function);
}

struct location {
    uint64_t address;
    uint32_t module;
    struct pt_str lines[64]; /* innermost first; deeper inlining is cut off */
    size_t line_count;
};

static bool read_location(struct input *in, uint64_t id, struct location *l) {
    const struct entry *entry = find_entry(&in->locations, id);
    if (!entry)
        return false;
    l->address = 0;
    l->module = PT_PROFILE_NONE;
    l->line_count = 0;
    struct pt_bytes r = pt_bytes_of(entry->bytes);
    struct pt_proto_field f;
    while (pt_proto_next(&r, &f)) {
        const struct entry *mapping = f.number == 2 ? find_entry(&in->mappings, f.value) : NULL;
        if (mapping)
            l->module = mapping->number;
        else if (f.number == 3)
            l->address = f.value;
        else if (f.number == 4 && l->line_count < PT_COUNT(l->lines))
            l->lines[l->line_count++] = f.bytes;
    }
    return !r.failed;
}

/* Adds the frames of a location to `stack`, outermost first. */
static bool add_location(struct input *in, uint64_t id, uint32_t *stack) {
    struct pt_profile *p = &in->file->profile;
    struct location l;
    if (!read_location(in, id, &l))
        return false;
    struct pt_profile_frame frame = { PT_PROFILE_NONE, l.module, 0, 0, l.address };
    if (l.line_count == 0)
        return pt_profile_file_stack(in->file, *stack, pt_profile_frame(p, frame), stack);
    for (size_t i = l.line_count; i-- > 0;) {
        struct pt_bytes r = pt_bytes_of(l.lines[i]);
        struct pt_proto_field f;
        frame.function = PT_PROFILE_NONE;
        frame.line = 0;
        frame.flags = i + 1 < l.line_count ? PT_FRAME_INLINED : 0;
        while (pt_proto_next(&r, &f)) {
            if (f.number == 1)
                frame.function = make_function(in, f.value, l.module);
            else if (f.number == 2)
                frame.line = f.value <= UINT32_MAX ? (uint32_t)f.value : 0;
        }
        if (!pt_profile_file_stack(in->file, *stack, pt_profile_frame(p, frame), stack))
            return false;
    }
    return true;
}

/* Numbers of a repeated field, packed or one by one. Too many are an error. */
struct numbers {
    uint64_t at[PT_PROFILE_DEPTH_MAX];
    size_t count;
};

static bool take_numbers(struct numbers *n, const struct pt_proto_field *f) {
    struct pt_bytes r = pt_bytes_of(f->bytes);
    if (f->type != PT_PROTO_BYTES) {
        if (n->count == PT_COUNT(n->at))
            return false;
        n->at[n->count++] = f->value;
        return true;
    }
    while (r.at < r.end) {
        if (n->count == PT_COUNT(n->at))
            return false;
        n->at[n->count++] = pt_bytes_varint(&r);
        if (r.failed)
            return false;
    }
    return true;
}

static bool add_sample(struct input *in, struct pt_str message, struct numbers *locations,
                       struct numbers *values) {
    struct pt_bytes r = pt_bytes_of(message);
    struct pt_proto_field f;
    locations->count = values->count = 0;
    while (pt_proto_next(&r, &f))
        if ((f.number == 1 && !take_numbers(locations, &f)) ||
            (f.number == 2 && !take_numbers(values, &f)))
            return false;
    if (r.failed || values->count != in->type_count)
        return false;
    int64_t scaled[PT_PROFILE_VALUES_MAX];
    for (size_t i = 0; i < in->type_count; i++)
        if (__builtin_mul_overflow((int64_t)values->at[i], in->scales[i], &scaled[i]))
            return false;
    uint32_t stack = PT_PROFILE_NONE;
    for (size_t i = locations->count; i-- > 0;)
        if (!add_location(in, locations->at[i], &stack))
            return false;
    struct pt_profile_sample sample = { .thread = PT_PROFILE_NONE,
                                        .stack = stack,
                                        .cpu = UINT16_MAX };
    return pt_profile_file_sample(in->file, &sample, scaled);
}

static bool add_samples(struct input *in, struct pt_str content) {
    struct pt_bytes r = pt_bytes_of(content);
    struct pt_proto_field f;
    bool is_good = true;
    struct numbers *locations = pt_malloc(sizeof *locations), *values = pt_malloc(sizeof *values);
    while (is_good && pt_proto_next(&r, &f))
        if (f.number == 2)
            is_good = add_sample(in, f.bytes, locations, values);
    pt_free(locations);
    pt_free(values);
    return is_good;
}

int pt_pprof_parse(struct pt_str content, struct pt_profile_file *f, struct pt_err *err) {
    struct input in = { .file = f };
    bool is_good = collect(&in, content);
    if (is_good) {
        make_types(&in);
        make_mappings(&in);
        struct pt_profile_meta *m = &f->profile.meta;
        m->lost = m->rooted = m->truncated = m->unwound = -1;
        m->start_wall_ns = (int64_t)(in.time_ns & INT64_MAX);
        m->end_ns = in.duration_ns < (UINT64_C(1) << 61) ? (int64_t)in.duration_ns : 0;
        m->period_ns = in.period < (UINT64_C(1) << 61) ? (int64_t)in.period : 0;
        is_good = add_samples(&in, content);
    }
    input_release(&in);
    return is_good ? 0 : pt_fail(err, -EBADMSG, "not a pprof profile, or damaged");
}

static int gunzip(struct pt_str bytes, struct pt_buf *into, struct pt_err *err) {
    enum { WINDOW_BITS_GZIP = 15 + 16, STEP = 1 << 16 };
    z_stream z = { .next_in = (Bytef *)bytes.at, .avail_in = (uInt)bytes.len };
    if (bytes.len > UINT32_MAX)
        return pt_fail(err, -EFBIG, "the file is larger than 4 GiB");
    if (inflateInit2(&z, WINDOW_BITS_GZIP) != Z_OK)
        pt_mem_exhausted(sizeof z);
    int rc = Z_OK;
    while (rc == Z_OK && into->len <= PT_PROFILE_CONTENT_MAX) {
        z.next_out = pt_buf_reserve(into, STEP);
        z.avail_out = STEP;
        rc = inflate(&z, Z_NO_FLUSH);
        into->len += STEP - z.avail_out;
    }
    inflateEnd(&z);
    if (into->len > PT_PROFILE_CONTENT_MAX)
        return pt_fail(err, -EFBIG, "the profile is larger than 1 GiB");
    return rc == Z_STREAM_END ? 0 : pt_fail(err, -EBADMSG, "the gzip data is damaged");
}

static int read_pprof(struct pt_str bytes, struct pt_profile_file *f, struct pt_err *err) {
    if (!pt_str_starts(bytes, PT_STR("\x1f\x8b")))
        return pt_pprof_parse(bytes, f, err);
    struct pt_buf content = { 0 };
    int rc = gunzip(bytes, &content, err);
    if (!rc)
        rc = pt_pprof_parse(pt_buf_as_str(&content), f, err);
    pt_buf_release(&content);
    return rc;
}

const struct pt_profile_reader pt_pprof_reader = { ".pb.gz", read_pprof };
