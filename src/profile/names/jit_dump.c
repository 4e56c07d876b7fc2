#include "profile/names/jit_dump.h"

#include "base/buf.h"
#include "base/scan.h"
#include "base/intern.h"

#include <errno.h>
#include <stdlib.h>

#define MAGIC           0x4A695444u /* in the byte order of the machine that wrote it */
#define VERSION         1
#define HEADER_SIZE     40
#define RECORD_SIZE     16 /* of its header */
#define FLAG_ARCH_CLOCK 1  /* times are from a CPU counter */

enum { LOAD, MOVE };

static void skip(struct pt_bytes *r, size_t bytes) {
    (void)pt_bytes_take(r, bytes);
}

/* The name of a piece of code, also after it moves. */
struct code {
    uint64_t index;
    struct pt_str name;
};

struct reading {
    struct pt_jit_dump *dump;
    struct code *codes;
    size_t count, capacity;
    struct pt_intern by_index;
};

static bool is_code(const void *owner, uint32_t number, const void *index) {
    const struct reading *d = owner;
    return d->codes[number].index == *(const uint64_t *)index;
}

/* Adds the code without a name if it is new. */
static struct code *code_of(struct reading *d, uint64_t index) {
    uint32_t next = (uint32_t)d->count;
    uint32_t number = pt_intern_find(&d->by_index, pt_intern_hash(&index, sizeof index), is_code, d,
                                     &index, next);
    if (number == next) {
        pt_grow(&d->codes, &d->capacity, d->count + 1, sizeof *d->codes);
        d->codes[d->count++] = (struct code){ index, PT_STR("") };
    }
    return &d->codes[number];
}

static void add(struct pt_jit_dump *d, struct pt_jit_load load) {
    if (load.name.len == 0)
        return;
    load.number = d->count;
    pt_grow(&d->loads, &d->capacity, d->count + 1, sizeof *d->loads);
    d->loads[d->count++] = load;
}

static void take_load(struct reading *d, struct pt_bytes *r, int64_t time_ns) {
    struct pt_jit_load load = { .time_ns = time_ns };
    skip(r, 16); /* pid, tid, vma */
    load.start = pt_bytes_u64(r);
    load.size = pt_bytes_u64(r);
    uint64_t index = pt_bytes_u64(r);
    const char *end = r->failed ? NULL : memchr(r->at, 0, (size_t)(r->end - r->at));
    if (!end)
        return;
    load.name = (struct pt_str){ (const char *)r->at, (size_t)(end - (const char *)r->at) };
    code_of(d, index)->name = load.name;
    add(d->dump, load);
}

static void take_move(struct reading *d, struct pt_bytes *r, int64_t time_ns) {
    struct pt_jit_load load = { .time_ns = time_ns };
    skip(r, 24); /* pid, tid, vma, old address */
    load.start = pt_bytes_u64(r);
    load.size = pt_bytes_u64(r);
    load.name = code_of(d, pt_bytes_u64(r))->name;
    if (!r->failed)
        add(d->dump, load);
}

static bool take_header(struct pt_bytes *r) {
    uint32_t magic = pt_bytes_u32(r), version = pt_bytes_u32(r), size = pt_bytes_u32(r);
    skip(r, 12 + 8); /* machine, padding, pid; time */
    uint64_t flags = pt_bytes_u64(r);
    if (r->failed || magic != MAGIC || version != VERSION || size < HEADER_SIZE ||
        flags & FLAG_ARCH_CLOCK)
        return false;
    skip(r, size - HEADER_SIZE);
    return !r->failed;
}

static int by_time(const void *a, const void *b) {
    const struct pt_jit_load *x = a, *y = b;
    if (x->time_ns != y->time_ns)
        return x->time_ns < y->time_ns ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

int pt_jit_dump_parse(struct pt_jit_dump *d, struct pt_str bytes) {
    const uint8_t *at = (const uint8_t *)bytes.at;
    struct pt_bytes r = { at, at + bytes.len, false };
    struct reading reading = { .dump = d };
    *d = (struct pt_jit_dump){ 0 };
    if (!take_header(&r))
        return -EBADMSG;
    while (r.end - r.at >= RECORD_SIZE) {
        uint32_t id = pt_bytes_u32(&r), size = pt_bytes_u32(&r);
        int64_t time_ns = (int64_t)pt_bytes_u64(&r);
        if (size < RECORD_SIZE || size - RECORD_SIZE > (uint64_t)(r.end - r.at))
            break;
        struct pt_bytes body = { r.at, r.at + size - RECORD_SIZE, false };
        if (id == LOAD)
            take_load(&reading, &body, time_ns);
        else if (id == MOVE)
            take_move(&reading, &body, time_ns);
        r.at = body.end;
    }
    pt_free(reading.codes);
    pt_intern_release(&reading.by_index);
    if (d->count > 1)
        qsort(d->loads, d->count, sizeof *d->loads, by_time);
    return 0;
}

void pt_jit_dump_release(struct pt_jit_dump *d) {
    pt_free(d->loads);
    *d = (struct pt_jit_dump){ 0 };
}

bool pt_jit_dump_is_path(struct pt_str path) {
    const char *slash = memrchr(path.at, '/', path.len);
    struct pt_str name = slash ? pt_str_skip(path, (size_t)(slash + 1 - path.at)) : path;
    struct pt_scan s = pt_scan_of(name);
    if (!pt_scan_take(&s, PT_STR("jit-")))
        return false;
    (void)pt_scan_u64(&s);
    return !s.failed && pt_str_eq(pt_scan_rest(&s), PT_STR(".dump"));
}
