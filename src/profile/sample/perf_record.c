#include "profile/sample/perf_record.h"

#include "base/buf.h"

/* With sample_id_all, every record except samples ends with this. */
struct trailer {
    uint32_t pid, tid;
    uint64_t time;
    uint32_t cpu, reserved;
};

static void skip(struct pt_bytes *r, size_t n) {
    (void)pt_bytes_take(r, n);
}

static struct pt_str text_up_to_zero(struct pt_bytes *r) {
    struct pt_str rest = { (const char *)r->at, (size_t)(r->end - r->at) };
    rest.len = rest.len > 0 ? strnlen(rest.at, rest.len) : 0;
    return rest;
}

static bool parse_sample(struct pt_bytes *r, unsigned register_count, struct pt_perf_record *into) {
    struct pt_perf_sample *s = &into->sample;
    s->kernel_count = 0;
    s->stack_size = 0;
    s->missed = 0;
    s->is_rest = false;
    s->ip = pt_bytes_u64(r);
    into->pid = (int32_t)pt_bytes_u32(r);
    into->tid = (int32_t)pt_bytes_u32(r);
    into->time_ns = (int64_t)pt_bytes_u64(r);
    into->cpu = pt_bytes_u32(r);
    (void)pt_bytes_u32(r);
    s->period = pt_bytes_u64(r);
    /* huge numbers mark the context of the frames that follow; user frames are not requested */
    uint64_t frame_count = pt_bytes_u64(r);
    bool is_kernel = false;
    for (uint64_t i = 0; i < frame_count && !r->failed; i++) {
        uint64_t ip = pt_bytes_u64(r);
        if (ip >= PERF_CONTEXT_MAX)
            is_kernel = ip == PERF_CONTEXT_KERNEL;
        else if (is_kernel && s->kernel_count < PT_PERF_KERNEL_MAX)
            s->kernel[s->kernel_count++] = ip;
    }
    /* the unwinder does not support registers of 32-bit processes: parsing ends there */
    s->has_registers = pt_bytes_u64(r) == PERF_SAMPLE_REGS_ABI_64;
    if (!s->has_registers || r->failed)
        return !r->failed;
    for (unsigned i = 0; i < register_count && i < PT_COUNT(s->registers); i++)
        s->registers[i] = pt_bytes_u64(r);
    if (r->failed)
        return false;
    uint64_t size = pt_bytes_u64(r);
    s->stack = (const uint8_t *)pt_bytes_take(r, size).at;
    uint64_t used = size > 0 ? pt_bytes_u64(r) : 0;
    s->stack_size = r->failed ? 0 : used < size ? used : size;
    return !r->failed;
}

static void parse_mmap(struct pt_bytes *r, unsigned misc, struct pt_perf_mmap *m) {
    *m = (struct pt_perf_mmap){ 0 };
    m->start = pt_bytes_u64(r);
    m->length = pt_bytes_u64(r);
    m->file_offset = pt_bytes_u64(r);
    if (misc & PERF_RECORD_MISC_MMAP_BUILD_ID) {
        uint8_t size = pt_bytes_u8(r);
        skip(r, 3);
        struct pt_str id = pt_bytes_take(r, PT_PERF_BUILD_ID_MAX);
        if (!r->failed && size <= PT_PERF_BUILD_ID_MAX) {
            memcpy(m->build_id, id.at, size);
            m->build_id_size = size;
        }
    } else {
        skip(r, 24); /* device and inode */
    }
    m->is_executable = (pt_bytes_u32(r) & 4) != 0;
    (void)pt_bytes_u32(r);
    m->path = text_up_to_zero(r);
}

static bool parse_body(struct pt_bytes *r, unsigned misc, struct pt_perf_record *into) {
    switch (into->kind) {
    case PT_PERF_MMAP:
        into->pid = (int32_t)pt_bytes_u32(r);
        into->tid = (int32_t)pt_bytes_u32(r);
        parse_mmap(r, misc, &into->mmap);
        break;
    case PT_PERF_COMM:
        into->pid = (int32_t)pt_bytes_u32(r);
        into->tid = (int32_t)pt_bytes_u32(r);
        into->comm.is_exec = (misc & PERF_RECORD_MISC_COMM_EXEC) != 0;
        into->comm.name = text_up_to_zero(r);
        break;
    case PT_PERF_FORK:
    case PT_PERF_EXIT:
        into->pid = (int32_t)pt_bytes_u32(r);
        into->parent_pid = (int32_t)pt_bytes_u32(r);
        into->tid = (int32_t)pt_bytes_u32(r);
        break;
    case PT_PERF_LOST:
        skip(r, 8); /* id of the event */
        into->lost_count = pt_bytes_u64(r);
        break;
    case PT_PERF_SWITCH:
        into->change.is_out = (misc & PERF_RECORD_MISC_SWITCH_OUT) != 0;
        into->change.is_preempted = (misc & PERF_RECORD_MISC_SWITCH_OUT_PREEMPT) != 0;
        break;
    default:
        break;
    }
    return !r->failed;
}

static enum pt_perf_kind kind_of(uint32_t type) {
    switch (type) {
    case PERF_RECORD_SAMPLE:
        return PT_PERF_SAMPLE;
    case PERF_RECORD_MMAP2:
        return PT_PERF_MMAP;
    case PERF_RECORD_COMM:
        return PT_PERF_COMM;
    case PERF_RECORD_FORK:
        return PT_PERF_FORK;
    case PERF_RECORD_EXIT:
        return PT_PERF_EXIT;
    case PERF_RECORD_LOST:
        return PT_PERF_LOST;
    case PERF_RECORD_SWITCH:
        return PT_PERF_SWITCH;
    case PT_PERF_RECORD_PYTHON:
        return PT_PERF_PYTHON;
    default:
        return PT_PERF_OTHER;
    }
}

bool pt_perf_record_parse(const uint8_t *record, size_t size, unsigned register_count,
                          struct pt_perf_record *into) {
    struct pt_bytes r = { .at = record, .end = record + size };
    into->kind = kind_of(pt_bytes_u32(&r));
    into->is_certain = false;
    uint32_t word = pt_bytes_u32(&r); /* 16 bits misc, 16 bits size */
    if (r.failed)
        return false;
    if (into->kind == PT_PERF_SAMPLE)
        return parse_sample(&r, register_count, into);
    if (into->kind == PT_PERF_PYTHON) { /* then bytes of profile/sample/python_process.h */
        into->pid = (int32_t)pt_bytes_u32(&r);
        into->tid = (int32_t)pt_bytes_u32(&r);
        into->time_ns = (int64_t)pt_bytes_u64(&r);
        into->python = (struct pt_str){ (const char *)r.at, (size_t)(r.end - r.at) };
        return !r.failed;
    }
    struct trailer t;
    if ((size_t)(r.end - r.at) < sizeof t)
        return false;
    r.end -= sizeof t;
    memcpy(&t, r.end, sizeof t);
    into->pid = (int32_t)t.pid;
    into->tid = (int32_t)t.tid;
    into->time_ns = (int64_t)t.time;
    into->cpu = t.cpu;
    return parse_body(&r, word & 0xffff, into);
}

int64_t pt_perf_record_time(const uint8_t *record, size_t size) {
    struct pt_bytes r = { .at = record, .end = record + size };
    uint32_t type = pt_bytes_u32(&r);
    size_t offset = type == PERF_RECORD_SAMPLE      ? 24
                    : type == PT_PERF_RECORD_PYTHON ? 16
                    : size >= sizeof(struct trailer) + 8
                        ? size - sizeof(struct trailer) + offsetof(struct trailer, time)
                        : size;
    r = (struct pt_bytes){ .at = record, .end = record + size };
    skip(&r, offset);
    uint64_t time = pt_bytes_u64(&r);
    return r.failed ? 0 : (int64_t)time;
}
