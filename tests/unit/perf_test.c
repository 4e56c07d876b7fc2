/* Records of perf events: bytes as the kernel writes them, rings that wrap, order, address spaces.
 */
#include "profile/sample/perf_record.h"
#include "profile/sample/perf_ring.h"
#include "profile/sample/raw_queue.h"
#include "profile/sample/record_order.h"
#include "profile/sample/recording.h"
#include "profile/unwind/registers.h"
#include "profile/unwind/space.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#define REGISTERS 3

static void header(struct pt_buf *b, uint32_t type, uint16_t misc) {
    struct perf_event_header h = { .type = type, .misc = misc };
    pt_buf_bytes(b, &h, sizeof h);
}

static void finish(struct pt_buf *b, size_t start) {
    uint16_t size = (uint16_t)(b->len - start);
    memcpy(b->at + start + 6, &size, sizeof size);
}

static void trailer(struct pt_buf *b, int64_t time_ns) {
    pt_buf_u32(b, 70);
    pt_buf_u32(b, 71);
    pt_buf_u64(b, (uint64_t)time_ns);
    pt_buf_u32(b, 1);
    pt_buf_u32(b, 0);
}

/* A sample with two kernel frames and `copied` bytes of a stack of `room`. */
static void add_sample(struct pt_buf *b, int64_t time_ns, size_t room, size_t copied) {
    size_t start = b->len;
    header(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    pt_buf_u64(b, 0x401000);
    pt_buf_u32(b, 10);
    pt_buf_u32(b, 11);
    pt_buf_u64(b, (uint64_t)time_ns);
    pt_buf_u32(b, 3);
    pt_buf_u32(b, 0);
    pt_buf_u64(b, 1000000);
    pt_buf_u64(b, 4);
    pt_buf_u64(b, PERF_CONTEXT_KERNEL);
    pt_buf_u64(b, UINT64_C(0xffffffff81000010));
    pt_buf_u64(b, UINT64_C(0xffffffff81000020));
    pt_buf_u64(b, PERF_CONTEXT_USER);
    pt_buf_u64(b, PERF_SAMPLE_REGS_ABI_64);
    for (uint64_t i = 0; i < REGISTERS; i++)
        pt_buf_u64(b, 0x1000 + i);
    pt_buf_u64(b, room);
    for (size_t i = 0; i < room; i++)
        pt_buf_u8(b, i < copied ? (uint8_t)(i * 7) : 0xee);
    pt_buf_u64(b, copied);
    finish(b, start);
}

static void check_sample(const struct pt_perf_record *r, int64_t time_ns, size_t copied) {
    assert_int_equal(r->kind, PT_PERF_SAMPLE);
    assert_int_equal(r->pid, 10);
    assert_int_equal(r->tid, 11);
    assert_int_equal(r->cpu, 3);
    assert_int_equal(r->time_ns, time_ns);
    assert_int_equal(r->sample.kernel_count, 2);
    assert_int_equal(r->sample.kernel[1], UINT64_C(0xffffffff81000020));
    assert_true(r->sample.has_registers);
    assert_int_equal(r->sample.registers[2], 0x1002);
    assert_int_equal(r->sample.stack_size, copied);
    for (size_t i = 0; i < copied; i++)
        assert_int_equal(r->sample.stack[i], (uint8_t)(i * 7));
}

static void test_sample(void **state) {
    (void)state;
    struct pt_buf b = { 0 };
    struct pt_perf_record r;
    add_sample(&b, 5000, 256, 200);
    assert_true(pt_perf_record_parse(b.at, b.len, REGISTERS, &r));
    check_sample(&r, 5000, 200);
    assert_int_equal(pt_perf_record_time(b.at, b.len), 5000);
    pt_buf_release(&b);
}

static void test_cut_short(void **state) {
    (void)state;
    struct pt_buf b = { 0 };
    struct pt_perf_record r;
    add_sample(&b, 5000, 64, 64);
    for (size_t n = 0; n < b.len; n++)
        assert_false(pt_perf_record_parse(b.at, n, REGISTERS, &r));
    pt_buf_release(&b);
}

static void test_mmap(void **state) {
    (void)state;
    struct pt_buf b = { 0 };
    struct pt_perf_record r;
    header(&b, PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID);
    pt_buf_u32(&b, 7);
    pt_buf_u32(&b, 8);
    pt_buf_u64(&b, 0x7f0000001000);
    pt_buf_u64(&b, 0x2000);
    pt_buf_u64(&b, 0x1000);
    pt_buf_u32(&b, 20);
    for (uint8_t i = 0; i < 20; i++)
        pt_buf_u8(&b, i);
    pt_buf_u32(&b, 5);
    pt_buf_u32(&b, 2);
    pt_buf_bytes(&b, "/usr/lib/libc.so.6\0\0\0\0\0\0", 24);
    trailer(&b, 99);
    finish(&b, 0);
    assert_true(pt_perf_record_parse(b.at, b.len, REGISTERS, &r));
    assert_int_equal(r.kind, PT_PERF_MMAP);
    assert_int_equal(r.pid, 7);
    assert_int_equal(r.tid, 8);
    assert_int_equal(r.time_ns, 99);
    assert_int_equal(r.mmap.start, 0x7f0000001000);
    assert_int_equal(r.mmap.length, 0x2000);
    assert_int_equal(r.mmap.file_offset, 0x1000);
    assert_true(r.mmap.is_executable);
    assert_int_equal(r.mmap.build_id_size, 20);
    assert_int_equal(r.mmap.build_id[19], 19);
    assert_true(pt_str_eq(r.mmap.path, PT_STR("/usr/lib/libc.so.6")));
    b.at[4] = b.at[5] = 0; /* without the mark, device and inode stand there */
    b.at[64] = 3;          /* readable and writable */
    assert_true(pt_perf_record_parse(b.at, b.len, REGISTERS, &r));
    assert_int_equal(r.mmap.build_id_size, 0);
    assert_false(r.mmap.is_executable);
    assert_true(pt_str_eq(r.mmap.path, PT_STR("/usr/lib/libc.so.6")));
    pt_buf_release(&b);
}

/* What a record says of a process comes before who wrote it: the parent writes of a new thread. */
static void test_processes(void **state) {
    (void)state;
    static const struct {
        uint32_t type, words[4];
        enum pt_perf_kind kind;
        int32_t pid, tid, parent_pid;
    } cases[] = {
        { PERF_RECORD_FORK, { 30, 20, 31, 21 }, PT_PERF_FORK, 30, 31, 20 },
        { PERF_RECORD_EXIT, { 40, 20, 41, 21 }, PT_PERF_EXIT, 40, 41, 20 },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_buf b = { 0 };
        struct pt_perf_record r;
        header(&b, cases[i].type, 0);
        for (size_t w = 0; w < PT_COUNT(cases[i].words); w++)
            pt_buf_u32(&b, cases[i].words[w]);
        pt_buf_u64(&b, 5);
        trailer(&b, 12);
        finish(&b, 0);
        assert_true(pt_perf_record_parse(b.at, b.len, REGISTERS, &r));
        assert_int_equal(r.kind, cases[i].kind);
        assert_int_equal(r.pid, cases[i].pid);
        assert_int_equal(r.tid, cases[i].tid);
        assert_int_equal(r.parent_pid, cases[i].parent_pid);
        assert_int_equal(r.time_ns, 12);
        assert_int_equal(r.cpu, 1);
        assert_int_equal(pt_perf_record_time(b.at, b.len), 12);
        pt_buf_release(&b);
    }
}

static void test_names_and_losses(void **state) {
    (void)state;
    struct pt_buf b = { 0 };
    struct pt_perf_record r;
    header(&b, PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC);
    pt_buf_u32(&b, 50);
    pt_buf_u32(&b, 51);
    pt_buf_bytes(&b, "server\0", 8);
    trailer(&b, 13);
    finish(&b, 0);
    assert_true(pt_perf_record_parse(b.at, b.len, REGISTERS, &r));
    assert_int_equal(r.kind, PT_PERF_COMM);
    assert_int_equal(r.pid, 50);
    assert_int_equal(r.tid, 51);
    assert_true(r.comm.is_exec && pt_str_eq(r.comm.name, PT_STR("server")));
    b.at[4] = b.at[5] = 0; /* renamed itself */
    assert_true(pt_perf_record_parse(b.at, b.len, REGISTERS, &r));
    assert_false(r.comm.is_exec);

    pt_buf_clear(&b);
    header(&b, PERF_RECORD_LOST, 0);
    pt_buf_u64(&b, 777);
    pt_buf_u64(&b, 9);
    trailer(&b, 14);
    finish(&b, 0);
    assert_true(pt_perf_record_parse(b.at, b.len, REGISTERS, &r));
    assert_int_equal(r.kind, PT_PERF_LOST);
    assert_int_equal(r.lost_count, 9);
    assert_int_equal(r.tid, 71);
    assert_false(pt_perf_record_parse(b.at, b.len - 1, REGISTERS, &r)); /* cut */
    pt_buf_release(&b);
}

static void test_switch(void **state) {
    (void)state;
    struct pt_buf b = { 0 };
    struct pt_perf_record r;
    header(&b, PERF_RECORD_SWITCH,
           PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
    trailer(&b, 4);
    finish(&b, 0);
    assert_true(pt_perf_record_parse(b.at, b.len, REGISTERS, &r));
    assert_int_equal(r.kind, PT_PERF_SWITCH);
    assert_int_equal(r.tid, 71);
    assert_true(r.change.is_out && r.change.is_preempted);
    pt_buf_release(&b);
}

/* Every place where a record can wrap around the end of the ring. */
static void test_wrap(void **state) {
    (void)state;
    enum { SIZE = 1024 };
    uint8_t ring[SIZE];
    struct pt_buf b = { 0 }, taken = { 0 };
    struct pt_perf_record r;
    add_sample(&b, 5000, 256, 120);
    for (uint64_t start = 0; start < SIZE; start += 8) {
        uint64_t tail = start, head = start + b.len;
        for (size_t i = 0; i < b.len; i++)
            ring[(start + i) % SIZE] = b.at[i];
        pt_buf_clear(&taken);
        assert_true(
            pt_perf_ring_take_at(ring, SIZE, head, &tail, REGISTERS, PT_PERF_RECORD_MAX, &taken));
        assert_int_equal(tail, head);
        assert_int_equal(taken.len, b.len - (256 - 120));
        assert_true(pt_perf_record_parse(taken.at, taken.len, REGISTERS, &r));
        check_sample(&r, 5000, 120);
        assert_false(
            pt_perf_ring_take_at(ring, SIZE, head, &tail, REGISTERS, PT_PERF_RECORD_MAX, &taken));
    }
    pt_buf_release(&b);
    pt_buf_release(&taken);
}

static void test_no_room(void **state) {
    (void)state;
    uint8_t ring[1024];
    struct pt_buf b = { 0 }, taken = { 0 };
    uint64_t tail = 0;
    add_sample(&b, 1, 64, 64);
    memcpy(ring, b.at, b.len);
    assert_false(
        pt_perf_ring_take_at(ring, sizeof ring, b.len, &tail, REGISTERS, b.len - 1, &taken));
    assert_int_equal(tail, 0);
    assert_int_equal(taken.len, 0);
    pt_buf_release(&b);
    pt_buf_release(&taken);
}

/* A ring as it is mapped, with what `b` has from position `start` on. */
static struct pt_perf_ring make_ring(struct perf_event_mmap_page *page, uint8_t *data, size_t size,
                                     uint64_t start, const struct pt_buf *b) {
    for (size_t i = 0; i < b->len; i++)
        data[(start + i) % size] = b->at[i];
    page->data_tail = start;
    page->data_head = start + b->len;
    return (struct pt_perf_ring){ page, data, size };
}

static void test_in_place(void **state) {
    (void)state;
    enum { SIZE = 1024 };
    uint8_t data[SIZE];
    struct perf_event_mmap_page page = { 0 };
    struct pt_buf b = { 0 }, scratch = { 0 };
    struct pt_perf_record r;
    for (int64_t time_ns = 10; time_ns <= 30; time_ns += 10)
        add_sample(&b, time_ns, 64, 40);
    for (uint64_t start = 0; start < SIZE; start += 8) {
        struct pt_perf_ring ring = make_ring(&page, data, SIZE, start, &b);
        uint64_t end = 0;
        assert_true(pt_perf_ring_has_only_samples(&ring, 20, &end));
        assert_int_equal(end, start + b.len / 3 * 2); /* the third is of a later time */
        for (int64_t time_ns = 10; time_ns <= 20; time_ns += 10) {
            struct pt_str first = pt_perf_ring_first(&ring, end, &scratch);
            assert_int_equal(first.len, b.len / 3);
            assert_true(pt_perf_record_parse((const uint8_t *)first.at, first.len, REGISTERS, &r));
            check_sample(&r, time_ns, 40);
            pt_perf_ring_drop(&ring, first.len);
        }
        assert_int_equal(pt_perf_ring_first(&ring, end, &scratch).len, 0);
        assert_int_equal(page.data_tail, end);
    }
    pt_buf_release(&b);
    pt_buf_release(&scratch);
}

static void test_not_only_samples(void **state) {
    (void)state;
    uint8_t data[1024];
    struct perf_event_mmap_page page = { 0 };
    struct pt_buf b = { 0 };
    uint64_t end;
    add_sample(&b, 10, 64, 40);
    size_t start = b.len;
    header(&b, PERF_RECORD_EXIT, 0);
    for (int i = 0; i < 6; i++)
        pt_buf_u32(&b, 1);
    trailer(&b, 20);
    finish(&b, start);
    struct pt_perf_ring ring = make_ring(&page, data, sizeof data, 0, &b);
    assert_false(pt_perf_ring_has_only_samples(&ring, 30, &end));
    pt_buf_release(&b);
}

static struct pt_perf_record sample_at(uint64_t pc, const uint8_t *stack, size_t size) {
    struct pt_perf_record r = { .kind = PT_PERF_SAMPLE, .pid = 10, .tid = 11, .time_ns = 5 };
    uint64_t registers[PT_REGISTER_COUNT];
    for (uint64_t i = 0; i < pt_registers_count; i++)
        r.sample.registers[i] = i;
    pt_registers_load(r.sample.registers, registers);
    r.sample.registers[registers[PT_REGISTER_PC]] = pc;
    r.sample.has_registers = true;
    r.sample.stack = stack;
    r.sample.stack_size = size;
    return r;
}

/* Its file is not there: what is found out is that there are no rules. */
static void test_known(void **state) {
    (void)state;
    struct pt_fs fs = { .proc = -1, .sys = -1 };
    struct pt_recording r;
    const uint8_t stack[64] = { 0 };
    pt_recording_init(&r, &fs, NULL, false, 1000);
    struct pt_perf_record map = { .kind = PT_PERF_MMAP, .pid = 10, .tid = 11 };
    map.mmap = (struct pt_perf_mmap){ .start = 0x1000,
                                      .length = 0x1000,
                                      .is_executable = true,
                                      .path = PT_STR("/nonexistent/library.so") };
    pt_recording_take(&r, &map, NULL);
    struct pt_perf_record sample = sample_at(0x1010, stack, sizeof stack);
    assert_false(pt_recording_take_known(&r, &sample));
    assert_int_equal(r.profile.samples.count, 0);
    assert_int_equal(r.profile.meta.unwound, 0);
    pt_recording_take(&r, &sample, NULL);
    assert_true(pt_recording_take_known(&r, &sample));
    assert_int_equal(r.profile.samples.count, 2);
    assert_int_equal(r.profile.samples.at[0].stack, r.profile.samples.at[1].stack);
    sample = sample_at(0x1020, stack, sizeof stack); /* another place of the same file */
    assert_false(pt_recording_take_known(&r, &sample));
    pt_recording_release(&r);
}

/* After another file was mapped there, what was known of the address counts no longer. */
static void test_mapped_anew(void **state) {
    (void)state;
    struct pt_fs fs = { .proc = -1, .sys = -1 };
    struct pt_recording r;
    const uint8_t stack[64] = { 0 };
    const char *const paths[] = { "/nonexistent/a.so", "/nonexistent/b.so" };
    pt_recording_init(&r, &fs, NULL, false, 1000);
    struct pt_perf_record sample = sample_at(0x1010, stack, sizeof stack);
    for (int i = 0; i < 2; i++) {
        struct pt_perf_record map = { .kind = PT_PERF_MMAP, .pid = 10, .tid = 11 };
        map.mmap = (struct pt_perf_mmap){
            .start = 0x1000, .length = 0x1000, .is_executable = true, .path = pt_str_from(paths[i])
        };
        pt_recording_take(&r, &map, NULL);
        assert_false(pt_recording_take_known(&r, &sample));
        pt_recording_take(&r, &sample, NULL);
    }
    assert_int_not_equal(r.profile.samples.at[0].stack, r.profile.samples.at[1].stack);
    pt_recording_release(&r);
}

/* The leaf is where it was interrupted; the others are return addresses, one behind the call: that
 * may be the start of the next function, or another line. */
static void map_at_1000(struct pt_recording *r, int32_t pid, const char *path) {
    struct pt_perf_record map = { .kind = PT_PERF_MMAP, .pid = pid, .tid = pid };
    map.mmap = (struct pt_perf_mmap){
        .start = 0x1000, .length = 0x1000, .is_executable = true, .path = pt_str_from(path)
    };
    pt_recording_take(r, &map, NULL);
}

static struct pt_str sampled_file(struct pt_recording *r, int32_t pid) {
    const uint8_t stack[64] = { 0 };
    struct pt_perf_record sample = sample_at(0x1010, stack, sizeof stack);
    sample.pid = sample.tid = pid;
    pt_recording_take(r, &sample, NULL);
    const struct pt_profile *p = &r->profile;
    uint32_t of_sample = p->samples.at[p->samples.count - 1].stack;
    if (of_sample == PT_PROFILE_NONE)
        return PT_STR("");
    uint32_t module = p->frames.at[p->stacks.at[of_sample].frame].module;
    return module == PT_PROFILE_NONE ? PT_STR("") : pt_profile_text(p, p->modules.at[module].path);
}

/* A process number that is used again: the mappings are those of the new parent. */
static void test_forked_anew(void **state) {
    (void)state;
    struct pt_fs fs = { .proc = -1, .sys = -1 };
    struct pt_recording r;
    pt_recording_init(&r, &fs, NULL, false, 1000);
    map_at_1000(&r, 20, "/nonexistent/a.so");
    for (int i = 0; i < 3; i++)
        assert_true(pt_str_eq(sampled_file(&r, 20), PT_STR("/nonexistent/a.so")));
    map_at_1000(&r, 30, "/nonexistent/b.so");
    struct pt_perf_record fork = { .kind = PT_PERF_FORK, .pid = 20, .tid = 20 };
    fork.parent_pid = 30;
    pt_recording_take(&r, &fork, NULL);
    assert_true(pt_str_eq(sampled_file(&r, 20), PT_STR("/nonexistent/b.so")));
    struct pt_perf_record exec = { .kind = PT_PERF_COMM, .pid = 20, .tid = 20 };
    exec.comm.name = PT_STR("name");
    pt_recording_take(&r, &exec, NULL); /* only a new name */
    assert_true(pt_str_eq(sampled_file(&r, 20), PT_STR("/nonexistent/b.so")));
    exec.comm.is_exec = true;
    pt_recording_take(&r, &exec, NULL);
    assert_int_equal(sampled_file(&r, 20).len, 0);
    assert_true(pt_str_eq(sampled_file(&r, 30), PT_STR("/nonexistent/b.so")));
    pt_recording_release(&r);
}

static void end_process(struct pt_recording *r, int32_t pid) {
    struct pt_perf_record end = { .kind = PT_PERF_EXIT, .pid = pid, .tid = pid };
    pt_recording_take(r, &end, NULL);
}

static void test_many_processes(void **state) {
    (void)state;
    struct pt_fs fs = { .proc = -1, .sys = -1 };
    struct pt_recording r;
    const int32_t last = PT_RECORDING_SPACES_MAX;
    pt_recording_init(&r, &fs, NULL, false, 1000);
    for (int32_t pid = 1; pid <= last; pid++)
        map_at_1000(&r, pid, "/nonexistent/a.so");
    assert_true(pt_str_eq(sampled_file(&r, 1), PT_STR("/nonexistent/a.so")));
    assert_true(pt_str_eq(sampled_file(&r, last), PT_STR("/nonexistent/a.so")));
    map_at_1000(&r, last + 1, "/nonexistent/b.so"); /* one too many */
    assert_int_equal(sampled_file(&r, last + 1).len, 0);
    assert_true(pt_str_eq(sampled_file(&r, 1), PT_STR("/nonexistent/a.so")));
    end_process(&r, 2);
    assert_true(pt_str_eq(sampled_file(&r, 2), PT_STR("/nonexistent/a.so"))); /* its last one */
    map_at_1000(&r, last + 1, "/nonexistent/b.so");
    assert_true(pt_str_eq(sampled_file(&r, last + 1), PT_STR("/nonexistent/b.so")));
    assert_true(pt_str_eq(sampled_file(&r, last), PT_STR("/nonexistent/a.so")));
    assert_int_equal(sampled_file(&r, 2).len, 0);
    pt_recording_release(&r);
}

static void set_name(struct pt_recording *r, int32_t tid, const char *name) {
    struct pt_perf_record comm = { .kind = PT_PERF_COMM, .pid = 10, .tid = tid };
    comm.comm.name = pt_str_from(name);
    pt_recording_take(r, &comm, NULL);
}

static void test_many_threads(void **state) {
    (void)state;
    struct pt_fs fs = { .proc = -1, .sys = -1 };
    struct pt_recording r;
    pt_recording_init(&r, &fs, NULL, false, 1000);
    for (int32_t i = 0; i < PT_RECORDING_THREADS_MAX; i++)
        set_name(&r, 10 + i, "worker");
    assert_int_equal(r.thread_count, PT_RECORDING_THREADS_MAX);
    set_name(&r, 10, "main");
    assert_int_equal(r.thread_count, PT_RECORDING_THREADS_MAX);
    set_name(&r, 9, "other");
    assert_int_equal(r.thread_count, 1);
    pt_recording_release(&r);
}

static void test_kernel_frames(void **state) {
    (void)state;
    struct pt_fs fs = { .proc = -1, .sys = -1 };
    struct pt_recording r;
    struct pt_perf_record sample = { .kind = PT_PERF_SAMPLE, .pid = 10, .tid = 11, .time_ns = 5 };
    sample.sample.kernel[0] = UINT64_C(0xffffffff81000010);
    sample.sample.kernel[1] = UINT64_C(0xffffffff81000020);
    sample.sample.kernel[2] = UINT64_C(0xffffffff81000040);
    sample.sample.kernel_count = 3;
    pt_recording_init(&r, &fs, NULL, false, 1000);
    pt_recording_take(&r, &sample, NULL);
    const uint64_t expected[] = { UINT64_C(0xffffffff81000010), UINT64_C(0xffffffff8100001f),
                                  UINT64_C(0xffffffff8100003f) };
    assert_int_equal(r.frame_count, PT_COUNT(expected));
    for (size_t i = 0; i < PT_COUNT(expected); i++)
        assert_int_equal(r.profile.frames.at[r.frames[i]].address, expected[i]);
    pt_recording_release(&r);
}

static void test_idle(void **state) {
    (void)state;
    struct pt_raw_queue q;
    pt_raw_queue_init(&q);
    assert_true(pt_raw_queue_is_idle(&q, 0));
    struct pt_raw_block *block = pt_raw_queue_take_free(&q);
    assert_true(pt_raw_queue_is_idle(&q, 1));
    pt_raw_queue_put(&q, block);
    assert_false(pt_raw_queue_is_idle(&q, 0));
    assert_ptr_equal(pt_raw_queue_take(&q), block);
    assert_true(pt_raw_queue_is_empty(&q));
    assert_false(pt_raw_queue_is_idle(&q, 0)); /* somebody works on it */
    pt_buf_u8(&block->bytes, 1);
    block->complete_ns = 5;
    block->is_last = true;
    pt_raw_queue_give_back(&q, block);
    assert_ptr_equal(pt_raw_queue_take_free(&q), block); /* the last one first, and empty */
    assert_int_equal(block->bytes.len, 0);
    assert_int_equal(block->complete_ns, 0);
    assert_false(block->is_last);
    pt_raw_queue_give_back(&q, block);
    assert_true(pt_raw_queue_is_idle(&q, 0));
    pt_raw_queue_release(&q);
}

static void test_order(void **state) {
    (void)state;
    struct pt_buf b = { 0 };
    struct pt_record_order o = { 0 };
    const int64_t times[] = { 30, 10, 20, 10 };
    for (int i = 0; i < 4; i++)
        add_sample(&b, times[i], 8, 8);
    pt_record_order_sort(&o, pt_buf_as_str(&b));
    assert_int_equal(o.count, 4);
    assert_int_equal(o.at[0].time_ns, 10);
    assert_true(o.at[0].at < o.at[1].at); /* equal times stay as they came */
    assert_int_equal(o.at[3].time_ns, 30);
    pt_record_order_hold(&o, 2);
    pt_buf_clear(&b);
    add_sample(&b, 25, 8, 8);
    pt_record_order_keep(&o, pt_buf_as_str(&b));
    pt_record_order_sort(&o, PT_STR(""));
    assert_int_equal(o.count, 3);
    assert_int_equal(o.at[0].time_ns, 20);
    assert_int_equal(o.at[1].time_ns, 25);
    assert_int_equal(o.at[2].time_ns, 30);
    /* the buffers take turns: what was done before does not come back */
    for (int64_t round = 0; round < 3; round++) {
        pt_record_order_hold(&o, 2);
        pt_buf_clear(&b);
        add_sample(&b, 40 + round, 8, 8);
        add_sample(&b, 35 + round, 8, 8);
        pt_record_order_sort(&o, pt_buf_as_str(&b));
        assert_int_equal(o.count, 3);
        assert_int_equal(o.at[0].time_ns, round ? 35 + round : 30);
        assert_int_equal(o.at[2].time_ns, 40 + round);
    }
    pt_record_order_release(&o);
    pt_buf_release(&b);
}

static void test_space(void **state) {
    (void)state;
    struct pt_image one, two;
    struct pt_space s = { 0 };
    pt_space_map(&s, (struct pt_mapping){ .start = 0x1000, .end = 0x5000, .image = &one });
    pt_space_map(&s, (struct pt_mapping){ .start = 0x2000, .end = 0x3000, .image = &two });
    assert_int_equal(s.count, 3);
    assert_ptr_equal(pt_space_find(&s, 0x1fff)->image, &one);
    assert_ptr_equal(pt_space_find(&s, 0x2000)->image, &two);
    assert_ptr_equal(pt_space_find(&s, 0x3000)->image, &one);
    assert_int_equal(pt_space_find(&s, 0x3000)->file_offset, 0x2000);
    assert_null(pt_space_find(&s, 0x5000));
    assert_null(pt_space_find(&s, 0xfff));
    pt_space_map(&s, (struct pt_mapping){ .start = 0x800, .end = 0x4000, .image = &two });
    assert_int_equal(s.count, 2);
    assert_int_equal(pt_space_find(&s, 0x4000)->file_offset, 0x3000);
    pt_space_release(&s);
}

static bool parse_maps(const char *text, struct pt_maps_line *m) {
    return pt_maps_parse(pt_scan_of(pt_str_from(text)), m);
}

static void test_maps_line(void **state) {
    (void)state;
    struct pt_maps_line m;
    assert_true(
        parse_maps("55d0c8a00000-55d0c8c1f000 r-xp 0001f000 fe:00 1234    /opt/my app", &m));
    assert_int_equal(m.start, 0x55d0c8a00000);
    assert_int_equal(m.end, 0x55d0c8c1f000);
    assert_int_equal(m.file_offset, 0x1f000);
    assert_true(m.is_executable);
    assert_true(pt_str_eq(m.path, PT_STR("/opt/my app")));
    assert_true(parse_maps("7f00-7f10 rw-p 0 00:00 0", &m));
    assert_int_equal(m.path.len, 0);
    assert_false(m.is_executable);
    assert_true(parse_maps("7f00-7f10 r-xp 0 00:00 9 /tmp/x (deleted)", &m));
    assert_true(pt_str_eq(m.path, PT_STR("/tmp/x")));
    assert_false(parse_maps("7f00 r-xp 0 00:00 9 /tmp/x", &m));
    assert_false(parse_maps("", &m));
}

static void test_registers(void **state) {
    (void)state;
    assert_int_equal(pt_registers_count, PT_REGISTER_COUNT);
    assert_int_equal(__builtin_popcountll(pt_registers_mask), pt_registers_count);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        { "C242: a sample has its kernel frames, registers and stack", test_sample },
        { "C242: a record that is cut short is none", test_cut_short },
        { "C242: a mapping has its build id and path", test_mmap },
        { "C242: a new thread and its end are those of a process", test_processes },
        { "C242: a name and a number of lost records are read", test_names_and_losses },
        { "C242: a switch off the CPU says whether it was pushed off", test_switch },
        { "C242: a record may wrap anywhere, and its unused stack is left out", test_wrap },
        { "C242: a record that does not fit stays in the ring", test_no_room },
        { "C242: samples up to a time are read where they lie", test_in_place },
        { "C242: where there is more than samples nothing is read in place",
          test_not_only_samples },
        { "C242: a sample of known places needs no file, another waits for it", test_known },
        { "C242: what is known of an address ends with its mapping", test_mapped_anew },
        { "C242: a process number that is used again has the new mappings", test_forked_anew },
        { "C242: at the limit of processes known ones stay, and ended ones make room",
          test_many_processes },
        { "C242: at the limit of threads only a new one makes it forget the others",
          test_many_threads },
        { "C242: callers in the kernel are at their calls, not at what follows",
          test_kernel_frames },
        { "C242: a queue is idle when all blocks are back", test_idle },
        { "C242: records of several rings come in the order of their time", test_order },
        { "C242: a new mapping takes the place of the old", test_space },
        { "C242: lines of /proc/PID/maps", test_maps_line },
        { "C242: as many registers are asked for as the unwinder has", test_registers },
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
