/* A session of perf events on rings made by hand: both of its threads run, no event is opened. */
#include "test.h"

#include "profile/sample/perf_session.h"
#include "profile/unwind/registers.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#define RATE 90

/* A session and the writer's side of its rings. */
struct made {
    struct pt_fs fs;
    struct pt_perf perf;
    struct pt_session session;
    struct pt_perf_ring rings[2];
};

static struct made *make_session(size_t ring_count, size_t ring_bytes) {
    struct made *m = pt_calloc(1, sizeof *m);
    struct pt_err err;
    assert_int_equal(pt_fs_open(&m->fs, "/proc", "/sys", "/", &err), 0);
    m->perf.ring_count = m->perf.cpu_count = ring_count;
    snprintf(m->perf.method, sizeof m->perf.method, "made by hand");
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < ring_count; i++) {
        uint8_t *at = mmap(NULL, page + ring_bytes, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(at != MAP_FAILED);
        m->rings[i] = m->perf.rings[i] = (struct pt_perf_ring){ (void *)at, at + page, ring_bytes };
        m->perf.ring_fds[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    }
    return m;
}

static void start(struct made *m, const struct pt_perf_options *o, pid_t running) {
    struct pt_pid_list pids = { 0 };
    struct pt_err err;
    if (running)
        pt_pid_list_add(&pids, running);
    assert_int_equal(pt_session_start(&m->session, &m->perf, &m->fs, o, &pids, &err), 0);
    pt_pid_list_release(&pids);
    assert_int_equal(m->perf.ring_count, 0); /* taken over */
}

static void release(struct made *m) {
    pt_session_release(&m->session);
    pt_fs_close(&m->fs);
    pt_free(m);
}

/* As the kernel does: the record, then the position. */
static void write_ring(struct pt_perf_ring *ring, struct pt_buf *b) {
    uint64_t head = ring->page->data_head;
    for (size_t i = 0; i < b->len; i++)
        ((uint8_t *)(uintptr_t)ring->data)[(head + i) % ring->size] = b->at[i];
    __atomic_store_n(&ring->page->data_head, head + b->len, __ATOMIC_RELEASE);
    pt_buf_release(b);
}

static void wait_until_empty(const struct made *m) {
    for (size_t i = 0; i < m->session.perf.ring_count; i++)
        while (__atomic_load_n(&m->rings[i].page->data_tail, __ATOMIC_ACQUIRE) !=
               m->rings[i].page->data_head)
            poll(NULL, 0, 1);
}

static size_t begin(struct pt_buf *b, uint32_t type, uint16_t misc) {
    struct perf_event_header h = { .type = type, .misc = misc };
    size_t start = b->len;
    pt_buf_bytes(b, &h, sizeof h);
    return start;
}

static void end(struct pt_buf *b, size_t start) {
    uint16_t size = (uint16_t)(b->len - start);
    memcpy(b->at + start + 6, &size, sizeof size);
}

static void end_with_time(struct pt_buf *b, size_t start, int32_t pid, int32_t tid,
                          int64_t time_ns) {
    while (b->len % 8)
        pt_buf_u8(b, 0);
    pt_buf_u32(b, (uint32_t)pid);
    pt_buf_u32(b, (uint32_t)tid);
    pt_buf_u64(b, (uint64_t)time_ns);
    pt_buf_u64(b, 2); /* CPU */
    end(b, start);
}

/* Its stack has `stack_bytes` of zeros: the caller of `pc` is the root. */
static void add_sample(struct pt_buf *b, int32_t pid, int32_t tid, int64_t time_ns, uint64_t pc,
                       size_t stack_bytes) {
    uint64_t numbers[64], places[PT_REGISTER_COUNT];
    for (uint64_t i = 0; i < pt_registers_count; i++)
        numbers[i] = i;
    pt_registers_load(numbers, places);
    memset(numbers, 0, sizeof numbers);
    numbers[places[PT_REGISTER_PC]] = pc;
    numbers[places[PT_REGISTER_SP]] = numbers[places[PT_REGISTER_FP]] = 0x7000;
    size_t start = begin(b, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
    pt_buf_u64(b, pc);
    pt_buf_u32(b, (uint32_t)pid);
    pt_buf_u32(b, (uint32_t)tid);
    pt_buf_u64(b, (uint64_t)time_ns);
    pt_buf_u64(b, 3); /* CPU */
    pt_buf_u64(b, 1000000);
    pt_buf_u64(b, 0); /* no frames of the kernel */
    pt_buf_u64(b, PERF_SAMPLE_REGS_ABI_64);
    for (unsigned i = 0; i < pt_registers_count; i++)
        pt_buf_u64(b, numbers[i]);
    pt_buf_u64(b, stack_bytes);
    for (size_t i = 0; i < stack_bytes / 8; i++)
        pt_buf_u64(b, 0);
    pt_buf_u64(b, stack_bytes);
    end(b, start);
}

static void add_map(struct pt_buf *b, int32_t pid, int64_t time_ns, uint64_t at, const char *path) {
    size_t start = begin(b, PERF_RECORD_MMAP2, 0);
    pt_buf_u32(b, (uint32_t)pid);
    pt_buf_u32(b, (uint32_t)pid);
    pt_buf_u64(b, at);
    pt_buf_u64(b, 0x1000);
    pt_buf_u64(b, 0);
    for (int i = 0; i < 3; i++)
        pt_buf_u64(b, 0); /* device and inode */
    pt_buf_u32(b, PROT_READ | PROT_EXEC);
    pt_buf_u32(b, MAP_PRIVATE);
    pt_buf_bytes(b, path, strlen(path) + 1);
    end_with_time(b, start, pid, pid, time_ns);
}

static void add_name(struct pt_buf *b, int32_t pid, int32_t tid, int64_t time_ns, const char *name,
                     bool is_exec) {
    size_t start = begin(b, PERF_RECORD_COMM, is_exec ? PERF_RECORD_MISC_COMM_EXEC : 0);
    pt_buf_u32(b, (uint32_t)pid);
    pt_buf_u32(b, (uint32_t)tid);
    pt_buf_bytes(b, name, strlen(name) + 1);
    end_with_time(b, start, pid, tid, time_ns);
}

static void add_task(struct pt_buf *b, uint32_t type, int32_t pid, int32_t parent, int32_t tid,
                     int64_t time_ns) {
    size_t start = begin(b, type, 0);
    pt_buf_u32(b, (uint32_t)pid);
    pt_buf_u32(b, (uint32_t)parent);
    pt_buf_u32(b, (uint32_t)tid);
    pt_buf_u32(b, (uint32_t)parent);
    pt_buf_u64(b, (uint64_t)time_ns);
    end_with_time(b, start, pid, tid, time_ns);
}

static void add_switch(struct pt_buf *b, int32_t pid, int64_t time_ns, uint16_t misc) {
    size_t start = begin(b, PERF_RECORD_SWITCH, misc);
    end_with_time(b, start, pid, pid, time_ns);
}

static void add_python(struct pt_buf *b, int32_t pid, int32_t tid, int64_t time_ns) {
    struct pt_python_entry entry = { UINT32_MAX, 0, PT_PYTHON_IS_LAST };
    size_t start = begin(b, PT_PERF_RECORD_PYTHON, 0);
    pt_buf_u32(b, (uint32_t)pid);
    pt_buf_u32(b, (uint32_t)tid);
    pt_buf_u64(b, (uint64_t)time_ns);
    pt_buf_bytes(b, &entry, sizeof entry);
    pt_buf_u32(b, 0);
    end(b, start);
}

static const struct pt_profile_sample *sample_at(const struct made *m, size_t i) {
    assert_true(i < m->session.recording.profile.samples.count);
    return &m->session.recording.profile.samples.at[i];
}

static void assert_thread(const struct made *m, size_t sample, int32_t pid, int32_t tid,
                          const char *name, const char *process) {
    const struct pt_profile *p = &m->session.recording.profile;
    const struct pt_profile_thread *t = &p->threads.at[sample_at(m, sample)->thread];
    assert_int_equal(t->pid, pid);
    assert_int_equal(t->tid, tid);
    assert_str_eq(pt_profile_text(p, t->name), name);
    assert_str_eq(pt_profile_text(p, t->process), process);
}

/* The leaf of a sample: its file and address. */
static void assert_leaf(const struct made *m, size_t sample, const char *path, uint64_t address) {
    const struct pt_profile *p = &m->session.recording.profile;
    const struct pt_profile_frame *f =
        &p->frames.at[p->stacks.at[sample_at(m, sample)->stack].frame];
    assert_int_equal(f->address, address);
    assert_str_eq(f->module == PT_PROFILE_NONE ? PT_STR("")
                                               : pt_profile_text(p, p->modules.at[f->module].path),
                  path);
}

/* Two rings; what came later stands in the first. */
static void test_order(void **state) {
    (void)state;
    struct made *m = make_session(2, 64 << 10);
    struct pt_buf first = { 0 }, second = { 0 };
    add_name(&second, 10, 10, 1, "trainer", true);
    add_map(&second, 10, 2, 0x1000, "/nonexistent/a.so");
    add_sample(&second, 10, 10, 3, 0x1010, 64);
    add_task(&second, PERF_RECORD_FORK, 10, 10, 11, 4); /* a thread */
    add_name(&second, 10, 11, 5, "loader", false);
    add_sample(&second, 10, 11, 7, 0x1020, 64);
    add_sample(&first, 10, 10, 6, 0x1010, 64);
    add_task(&first, PERF_RECORD_FORK, 20, 10, 20, 8); /* a process: its mappings are copied */
    add_sample(&first, 20, 20, 10, 0x1010, 64);
    add_map(&first, 20, 11, 0x1000, "/nonexistent/b.so");
    add_sample(&first, 20, 20, 12, 0x1010, 64);
    add_sample(&second, 20, 20, 9, 0x1010, 64);
    add_sample(&second, 10, 10, 13, 0x1010, 64); /* its mapping is not changed */
    add_name(&second, 20, 20, 14, "worker", true);
    add_sample(&second, 20, 20, 15, 0x1010, 64); /* after exec nothing is mapped */
    size_t start_of_loss = begin(&second, PERF_RECORD_LOST, 0);
    pt_buf_u64(&second, 0);
    pt_buf_u64(&second, 17);
    end_with_time(&second, start_of_loss, 10, 10, 16);
    write_ring(&m->rings[0], &first);
    write_ring(&m->rings[1], &second);
    start(m, &(struct pt_perf_options){ .rate_hz = RATE, .stack_bytes = 1024 }, 0);
    assert_int_equal(m->session.poll_ms, 65536 / 2048 * 700 / RATE);
    assert_true(pt_session_cpu_ns(&m->session) >= 0);
    wait_until_empty(m);
    /* known addresses: read in place, if the other thread has nothing to do */
    for (int64_t i = 0; i < 100; i++) {
        add_sample(&first, 10, 10, 1000 + 2 * i, 0x1010, 64);
        add_sample(&second, 10, 11, 1001 + 2 * i, 0x1020, 64);
        write_ring(&m->rings[0], &first);
        write_ring(&m->rings[1], &second);
        if (i % 10 == 0)
            wait_until_empty(m);
    }
    wait_until_empty(m);
    add_sample(&first, 10, 10, 2000, 0x1030, 64); /* not seen before */
    write_ring(&m->rings[0], &first);
    wait_until_empty(m);
    pt_session_stop(&m->session);
    assert_int_equal(pt_session_cpu_ns(&m->session), 0);
    const struct pt_profile *p = &m->session.recording.profile;
    static const struct {
        int64_t time_ns;
        int32_t pid, tid;
        const char *name, *process, *path;
        uint64_t address;
    } samples[] = {
        { 3, 10, 10, "trainer", "trainer", "/nonexistent/a.so", 0x1010 },
        { 6, 10, 10, "trainer", "trainer", "/nonexistent/a.so", 0x1010 },
        { 7, 10, 11, "loader", "trainer", "/nonexistent/a.so", 0x1020 },
        { 9, 20, 20, "trainer", "trainer", "/nonexistent/a.so", 0x1010 },
        { 10, 20, 20, "trainer", "trainer", "/nonexistent/a.so", 0x1010 },
        { 12, 20, 20, "trainer", "trainer", "/nonexistent/b.so", 0x1010 },
        { 13, 10, 10, "trainer", "trainer", "/nonexistent/a.so", 0x1010 },
        { 15, 20, 20, "worker", "worker", "", 0x1010 },
    };
    for (size_t i = 0; i < PT_COUNT(samples); i++) {
        assert_int_equal(sample_at(m, i)->time_ns, samples[i].time_ns);
        assert_int_equal(sample_at(m, i)->cpu, 3);
        assert_thread(m, i, samples[i].pid, samples[i].tid, samples[i].name, samples[i].process);
        assert_leaf(m, i, samples[i].path, samples[i].address);
        assert_int_equal(pt_profile_value(p, i, 0), 1);
        assert_int_equal(pt_profile_value(p, i, 1), 1000000000 / RATE);
    }
    assert_int_equal(p->samples.count, PT_COUNT(samples) + 201);
    int64_t times = 0;
    for (size_t i = PT_COUNT(samples); i < p->samples.count; i++)
        times += sample_at(m, i)->time_ns;
    assert_int_equal(times, 200 * 1000 + 199 * 200 / 2 + 2000);
    assert_leaf(m, p->samples.count - 1, "/nonexistent/a.so", 0x1030);
    assert_int_equal(p->meta.unwound, p->samples.count);
    assert_int_equal(p->meta.lost, 17);
    assert_int_equal(p->meta.counted_ns, -1); /* no event counts time */
    assert_int_equal(p->meta.rate_hz, RATE);
    assert_int_equal(p->meta.period_ns, 1000000000 / RATE);
    assert_string_equal(p->meta.method, "made by hand");
    assert_string_equal(p->meta.title, "cpu");
    assert_true(p->meta.start_ns > 0 && p->meta.end_ns > p->meta.start_ns);
    assert_true(p->meta.start_wall_ns > 0 && p->meta.own_cpu_ns > 0);
    release(m);
}

/* More than a block holds: several of them are of one time. */
static void test_many(void **state) {
    (void)state;
    enum { EACH = 1500 };
    struct made *m = make_session(2, 4 << 20);
    struct pt_buf b = { 0 };
    add_name(&b, 10, 10, 1, "trainer", true);
    write_ring(&m->rings[0], &b);
    for (int64_t i = 0; i < 2 * EACH; i++) {
        add_sample(&b, 10, 10, 10 + i, 0x1010, 1024);
        write_ring(&m->rings[i / 3 % 2], &b);
    }
    start(m, &(struct pt_perf_options){ .rate_hz = 9999, .stack_bytes = 1024 }, 0);
    assert_int_equal(m->session.poll_ms, (4 << 20) / 2048 * 700 / 9999);
    wait_until_empty(m);
    pt_session_stop(&m->session);
    assert_int_equal(m->session.recording.profile.samples.count, 2 * EACH);
    for (int64_t i = 0; i < 2 * EACH; i++)
        assert_int_equal(sample_at(m, (size_t)i)->time_ns, 10 + i);
    release(m);
}

/* Frames of Python belong to the sample before them: same thread, same time. */
static void test_python(void **state) {
    (void)state;
    struct made *m = make_session(1, 64 << 10);
    struct pt_buf b = { 0 };
    add_python(&b, 10, 10, 1); /* without a sample */
    add_sample(&b, 10, 10, 2, 0x1010, 64);
    add_python(&b, 10, 10, 2);
    add_sample(&b, 10, 10, 3, 0x1010, 64);
    add_python(&b, 10, 11, 3); /* of another thread */
    add_sample(&b, 10, 10, 4, 0x1010, 64);
    add_python(&b, 10, 10, 5); /* of another time */
    add_name(&b, 10, 10, 6, "trainer", false);
    add_python(&b, 10, 10, 6); /* after another record */
    add_sample(&b, 10, 10, 7, 0x1010, 64);
    add_python(&b, 10, 10, 7);
    add_sample(&b, 10, 10, 8, 0x1010, 64); /* nothing follows */
    write_ring(&m->rings[0], &b);
    start(m,
          &(struct pt_perf_options){ .rate_hz = RATE, .stack_bytes = 1024, .wants_python = true },
          0);
    assert_int_equal(m->session.poll_ms, 100);
    wait_until_empty(m);
    pt_session_stop(&m->session);
    const struct pt_profile *p = &m->session.recording.profile;
    assert_int_equal(p->samples.count, 5);
    assert_int_equal(p->meta.python_wanted, 2);
    const int64_t times[] = { 2, 3, 4, 7, 8 };
    for (size_t i = 0; i < PT_COUNT(times); i++)
        assert_int_equal(sample_at(m, i)->time_ns, times[i]);
    release(m);
}

/* The time between leaving a CPU and the next switch. */
static void test_off_cpu(void **state) {
    (void)state;
    struct made *m = make_session(1, 64 << 10);
    struct pt_buf b = { 0 };
    add_map(&b, 10, 2, 0x1000, "/nonexistent/a.so");
    add_switch(&b, 10, 50, 0); /* where it was is not known */
    add_sample(&b, 10, 10, 100, 0x1010, 64);
    add_switch(&b, 10, 101, PERF_RECORD_MISC_SWITCH_OUT);
    add_switch(&b, 10, 350, 0);
    add_switch(&b, 10, 360, 0);
    add_sample(&b, 10, 10, 400, 0x1020, 64);
    add_switch(&b, 10, 401, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT);
    add_switch(&b, 10, 500, 0);
    add_sample(&b, 10, 10, 600, 0x1030, 64); /* waits to the end */
    add_sample(&b, 30, 30, 700, 0x1030, 64); /* ends */
    add_task(&b, PERF_RECORD_EXIT, 30, 30, 30, 800);
    add_sample(&b, 40, 40, 900, 0x1030, 64); /* no time passes */
    add_switch(&b, 40, 900, 0);
    write_ring(&m->rings[0], &b);
    start(m, &(struct pt_perf_options){ .rate_hz = 1, .stack_bytes = 1024, .is_off_cpu = true }, 0);
    assert_int_equal(m->session.poll_ms, 250);
    wait_until_empty(m);
    pt_session_stop(&m->session);
    const struct pt_profile *p = &m->session.recording.profile;
    assert_string_equal(p->meta.title, "off-cpu");
    assert_int_equal(p->meta.rate_hz, 0);
    assert_string_equal(p->types[0].name, "wait");
    assert_int_equal(p->samples.count, 2);
    assert_int_equal(pt_profile_value(p, 0, 0), 250);
    assert_int_equal(pt_profile_value(p, 0, 1), 1);
    assert_leaf(m, 0, "/nonexistent/a.so", 0x1010);
    assert_int_equal(pt_profile_value(p, 1, 0), p->meta.end_ns - 600);
    assert_leaf(m, 1, "/nonexistent/a.so", 0x1030);
    release(m);
}

static int twice(int number) {
    return 2 * number;
}

/* Of a process that runs already: this one. */
static void test_running(void **state) {
    (void)state;
    skip_if_emulated();
    struct pt_err err;
    if (pt_elf_check(&err))
        skip(); /* no libdw here */
    char buffer[PT_PROFILE_NAME_BYTES];
    int (*volatile function)(int) = twice;
    assert_int_equal(function(4), 8);
    struct made *m = make_session(1, 64 << 10);
    struct pt_buf b = { 0 };
    pid_t pid = getpid();
    assert_int_equal(prctl(PR_SET_NAME, "sampled"), 0);
    add_sample(&b, pid, pid, 100, (uint64_t)(uintptr_t)function, 64);
    write_ring(&m->rings[0], &b);
    start(m, &(struct pt_perf_options){ .rate_hz = RATE, .stack_bytes = 1024 }, pid);
    wait_until_empty(m);
    pt_session_stop(&m->session);
    pt_recording_finish(&m->session.recording, NULL, &pid, 1);
    const struct pt_profile *p = &m->session.recording.profile;
    uint32_t frame = p->stacks.at[sample_at(m, 0)->stack].frame;
    assert_str_eq(pt_profile_frame_name(p, frame, buffer), "twice");
    assert_int_equal(pt_profile_frame_kind(p, frame), PT_KIND_NATIVE);
    assert_thread(m, 0, pid, pid, "sampled", "sampled");
    char command[32];
    snprintf(command, sizeof command, "pid %d", (int)pid);
    assert_string_equal(p->meta.command, command);
    release(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_order, "C241: records of all rings are taken in the order of their time"),
        PT_TEST(test_many, "C241: records of more than one block are in order"),
        PT_TEST(test_python, "C241: Python frames belong to the sample that they follow"),
        PT_TEST(test_off_cpu, "C241: waits last from the sample to the switch back"),
        PT_TEST(test_running, "C241: samples of a process that runs already have its symbols"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
