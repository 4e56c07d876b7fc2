/* Generated code: dumps of JITs, and frames whose name depends on the time of the sample. */
#include "test.h"

#include "profile/unwind/call_site.h"
#include "profile/unwind/epilogue.h"
#include "profile/names/frame_names.h"
#include "profile/names/jit_dump.h"
#include "profile/unwind/x86.h"
#include "profile/sample/symbolize.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

struct dump {
    struct pt_buf bytes;
};

static void put_header(struct dump *d, uint32_t magic, uint64_t flags) {
    pt_buf_u32(&d->bytes, magic);
    pt_buf_u32(&d->bytes, 1);
    pt_buf_u32(&d->bytes, 48); /* larger than today's: the rest is passed over */
    for (int i = 0; i < 3; i++)
        pt_buf_u32(&d->bytes, 62);
    pt_buf_u64(&d->bytes, 1);
    pt_buf_u64(&d->bytes, flags);
    pt_buf_u64(&d->bytes, UINT64_MAX);
}

static void put_record(struct dump *d, uint32_t id, uint64_t time, const struct pt_buf *body) {
    pt_buf_u32(&d->bytes, id);
    pt_buf_u32(&d->bytes, (uint32_t)(16 + body->len));
    pt_buf_u64(&d->bytes, time);
    pt_buf_str(&d->bytes, pt_buf_as_str(body));
}

static void put_load(struct dump *d, uint64_t time, uint64_t start, uint64_t size, uint64_t index,
                     const char *name) {
    struct pt_buf body = { 0 };
    for (int i = 0; i < 2; i++)
        pt_buf_u64(&body, 7);
    pt_buf_u64(&body, start);
    pt_buf_u64(&body, size);
    pt_buf_u64(&body, index);
    pt_buf_bytes(&body, name, strlen(name) + 1);
    pt_buf_str(&body, PT_STR("\xcc\xcc"));
    put_record(d, 0, time, &body);
    pt_buf_release(&body);
}

static void put_move(struct dump *d, uint64_t time, uint64_t start, uint64_t index) {
    struct pt_buf body = { 0 };
    for (int i = 0; i < 3; i++)
        pt_buf_u64(&body, 7);
    pt_buf_u64(&body, start);
    pt_buf_u64(&body, 32);
    pt_buf_u64(&body, index);
    put_record(d, 1, time, &body);
    pt_buf_release(&body);
}

static void assert_load(const struct pt_jit_load *l, int64_t time, uint64_t start, uint64_t size,
                        const char *name) {
    assert_int_equal(l->time_ns, time);
    assert_int_equal(l->start, start);
    assert_int_equal(l->size, size);
    assert_str_eq(l->name, name);
}

static void a_dump_has_loads_and_moves(void **state) {
    (void)state;
    struct dump d = { 0 };
    struct pt_jit_dump parsed;
    put_header(&d, 0x4A695444, 0);
    put_load(&d, 300, 0x1000, 64, 1, "py::f:/a.py");
    put_load(&d, 100, 0x2000, 32, 2, "early");     /* of another thread */
    put_record(&d, 2, 300, &(struct pt_buf){ 0 }); /* lines: passed over */
    put_move(&d, 400, 0x3000, 1);
    put_move(&d, 500, 0x4000, 99); /* of nothing */
    put_load(&d, 600, 0x5000, 32, 3, "");
    assert_int_equal(pt_jit_dump_parse(&parsed, pt_buf_as_str(&d.bytes)), 0);
    assert_int_equal(parsed.count, 3);
    assert_load(&parsed.loads[0], 100, 0x2000, 32, "early");
    assert_load(&parsed.loads[1], 300, 0x1000, 64, "py::f:/a.py");
    assert_load(&parsed.loads[2], 400, 0x3000, 32, "py::f:/a.py");
    pt_jit_dump_release(&parsed);
    pt_buf_release(&d.bytes);
}

static void a_dump_that_is_being_written(void **state) {
    (void)state;
    struct dump d = { 0 };
    struct pt_jit_dump parsed;
    put_header(&d, 0x4A695444, 0);
    size_t header = d.bytes.len;
    put_load(&d, 1, 0x1000, 64, 1, "first");
    size_t first = d.bytes.len;
    put_load(&d, 2, 0x2000, 64, 2, "second");
    for (size_t n = 0; n <= d.bytes.len; n++) {
        int rc = pt_jit_dump_parse(&parsed, (struct pt_str){ (const char *)d.bytes.at, n });
        assert_int_equal(rc, n < header ? -EBADMSG : 0);
        assert_int_equal(parsed.count, (n >= first) + (n == d.bytes.len));
        pt_jit_dump_release(&parsed);
    }
    pt_buf_release(&d.bytes);
}

static void dumps_that_cannot_be_read(void **state) {
    (void)state;
    static const struct {
        uint32_t magic;
        uint64_t flags;
    } cases[] = { { 0x4454694A, 0 }, { 0x4A695444, 1 }, { 0, 0 } };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct dump d = { 0 };
        struct pt_jit_dump parsed;
        put_header(&d, cases[i].magic, cases[i].flags);
        assert_int_equal(pt_jit_dump_parse(&parsed, pt_buf_as_str(&d.bytes)), -EBADMSG);
        pt_jit_dump_release(&parsed);
        pt_buf_release(&d.bytes);
    }
}

/* Sizes of the header and of records at their limits. */
static void sizes_in_dumps(void **state) {
    (void)state;
    static const struct {
        size_t at;
        uint32_t value;
        int rc;
        size_t count;
    } cases[] = {
        { 4, 1, 0, 2 },           { 4, 2, -EBADMSG, 0 },  { 4, 0, -EBADMSG, 0 },
        { 8, 48, 0, 2 },          { 8, 39, -EBADMSG, 0 }, { 8, 0xfffff, -EBADMSG, 0 },
        { 32, 2, 0, 2 },          { 32, 3, -EBADMSG, 0 }, { 48 + 4, 15, 0, 0 },
        { 48 + 4, 0xffff, 0, 0 }, { 48, 1, 0, 1 },        { 48, 7, 0, 1 },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct dump d = { 0 };
        struct pt_jit_dump parsed;
        put_header(&d, 0x4A695444, 0);
        put_load(&d, 5, 0x1000, 64, 1, "first");
        put_load(&d, 5, 0x2000, 64, 2, "second"); /* at the same time: in the order of the file */
        memcpy(d.bytes.at + cases[i].at, &cases[i].value, sizeof cases[i].value);
        assert_int_equal(pt_jit_dump_parse(&parsed, pt_buf_as_str(&d.bytes)), cases[i].rc);
        assert_int_equal(parsed.count, cases[i].count);
        if (parsed.count == 2) {
            assert_str_eq(parsed.loads[0].name, "first");
            assert_str_eq(parsed.loads[1].name, "second");
            assert_int_equal(parsed.loads[1].number, 1);
        }
        pt_jit_dump_release(&parsed);
        assert_null(parsed.loads);
        pt_buf_release(&d.bytes);
    }
}

/* A name must end inside its record; a move needs all its numbers. */
static void records_that_are_too_short(void **state) {
    (void)state;
    struct dump d = { 0 };
    struct pt_jit_dump parsed;
    struct pt_buf body = { 0 };
    put_header(&d, 0x4A695444, 0);
    put_load(&d, 1, 0x1000, 64, 7, "good");
    for (int i = 0; i < 5; i++)
        pt_buf_u64(&body, 7);
    put_record(&d, 0, 2, &body); /* no name */
    pt_buf_bytes(&body, "open", 4);
    put_record(&d, 0, 3, &body); /* a name without end */
    pt_buf_bytes(&body, "end", 3);
    put_record(&d, 1, 4, &body); /* a move of 47 bytes */
    pt_buf_release(&body);
    put_move(&d, 5, 0x3000, 7);
    assert_int_equal(pt_jit_dump_parse(&parsed, pt_buf_as_str(&d.bytes)), 0);
    assert_int_equal(parsed.count, 2);
    assert_load(&parsed.loads[0], 1, 0x1000, 64, "good");
    assert_load(&parsed.loads[1], 5, 0x3000, 32, "good");
    pt_jit_dump_release(&parsed);
    pt_buf_release(&d.bytes);
}

static void names_of_dumps(void **state) {
    (void)state;
    assert_true(pt_jit_dump_is_path(PT_STR("/root/.debug/jit/x/jit-4242.dump")));
    assert_true(pt_jit_dump_is_path(PT_STR("jit-1.dump")));
    assert_false(pt_jit_dump_is_path(PT_STR("/tmp/jit-.dump")));
    assert_false(pt_jit_dump_is_path(PT_STR("/tmp/jit-12.dump.so")));
    assert_false(pt_jit_dump_is_path(PT_STR("/tmp/ajit-12.dump")));
    assert_false(pt_jit_dump_is_path(PT_STR("")));
}

static void add_sample(struct pt_profile *p, int64_t time_ns, uint32_t stack) {
    const int64_t value = 1;
    struct pt_profile_sample s = { .time_ns = time_ns, .stack = stack, .thread = PT_PROFILE_NONE };
    assert_true(pt_profile_sample(p, &s, &value));
}

/* root;middle;leaf of a sample. */
static void assert_stack(const struct pt_profile *p, size_t sample, const char *expected) {
    char text[256] = "", buffer[PT_PROFILE_NAME_BYTES], longer[256];
    for (uint32_t s = p->samples.at[sample].stack; s != PT_PROFILE_NONE;
         s = p->stacks.at[s].parent) {
        struct pt_str name = pt_profile_frame_name(p, p->stacks.at[s].frame, buffer);
        snprintf(longer, sizeof longer, "%.*s%s%s", (int)name.len, name.at, *text ? ";" : "", text);
        memcpy(text, longer, sizeof text);
    }
    assert_string_equal(text, expected);
}

static bool wants_all(const struct pt_frame_names *n, uint32_t old) {
    return n->old[old].function == PT_PROFILE_NONE;
}

static void code_that_is_replaced_has_the_name_of_its_time(void **state) {
    (void)state;
    static const struct pt_profile_value_type type = { "cpu", PT_PROFILE_SAMPLES };
    struct pt_profile p;
    struct pt_frame_names n;
    struct pt_frame_groups groups;
    pt_profile_init(&p, &type, 1);
    uint32_t module = pt_profile_module(
        &p, (struct pt_profile_module){ pt_profile_string(&p, PT_STR("[pid 7]")), 0 });
    uint32_t root = pt_profile_marker(&p, PT_STR("root")), frames[2];
    for (uint32_t i = 0; i < 2; i++)
        frames[i] = pt_profile_frame(&p, (struct pt_profile_frame){ .function = PT_PROFILE_NONE,
                                                                    .module = module,
                                                                    .address = 0x1000 * (i + 1) });
    uint32_t caller = pt_profile_stack(&p, pt_profile_stack(&p, PT_PROFILE_NONE, root), frames[0]);
    uint32_t leaf = pt_profile_stack(&p, caller, frames[1]);
    for (int i = 0; i < 5; i++)
        add_sample(&p, 100 * i, i % 2 ? caller : leaf);
    pt_frame_names_begin(&n, &p);
    pt_frame_groups_make(&groups, &n, wants_all);
    assert_int_equal(groups.count, 1);
    assert_int_equal(groups.list[0].count, 2);
    pt_frame_names_set(&n, frames[0], PT_STR("old"), PT_KIND_JIT);
    pt_frame_names_set_from(&n, frames[0], 100, PT_STR("new"), PT_KIND_JIT);
    pt_frame_names_set_from(&n, frames[0], 350, PT_STR("newest"), PT_KIND_JIT);
    pt_frame_names_set(&n, frames[1], PT_STR("leaf"), PT_KIND_JIT);
    pt_frame_groups_release(&groups);
    pt_frame_names_end(&n);
    assert_stack(&p, 0, "root;old;leaf");
    assert_stack(&p, 1, "root;new");
    assert_stack(&p, 2, "root;new;leaf");
    assert_stack(&p, 3, "root;new");
    assert_stack(&p, 4, "root;newest;leaf");
    assert_int_equal(p.samples.at[1].stack, p.samples.at[3].stack);
    pt_profile_release(&p);
}

/* Writes a new file that is removed by its name. */
static void write_file(const char *path, struct pt_str bytes) {
    (void)unlink(path);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes.at, bytes.len), bytes.len);
    close(fd);
}

static void sample_code(struct pt_recording *r, int32_t pid, int64_t time_ns, uint64_t address) {
    uint32_t stack = pt_recording_stack(r, pid, &address, 1, PT_PROFILE_NONE, (struct pt_str){ 0 });
    const struct pt_profile_sample s = { .time_ns = time_ns,
                                         .stack = stack,
                                         .thread = PT_PROFILE_NONE };
    assert_true(pt_profile_sample(&r->profile, &s, (const int64_t[]){ 1, 1 }));
}

/* A process that has ended; no other can have its number while its map is there. */
static void generated_code_has_the_names_of_its_files(void **state) {
    (void)state;
    enum { PID = INT32_MAX - 7 };
    char dump_path[64], map_path[64], maps[256];
    struct dump d = { 0 };
    struct pt_fs fs;
    struct pt_err err;
    struct pt_recording r;
    snprintf(dump_path, sizeof dump_path, "/tmp/jit-%d.dump", PID);
    snprintf(map_path, sizeof map_path, "/tmp/perf-%d.map", PID);
    put_header(&d, 0x4A695444, 0);
    put_load(&d, 100, 0x1000, 16, 1, "first");
    put_load(&d, 200, 0x1000, 16, 2, "second");
    put_load(&d, 300, 0x1000, 16, 2, "second"); /* the same again */
    put_load(&d, 100, 0x1020, 16, 3, "other");
    write_file(dump_path, pt_buf_as_str(&d.bytes));
    write_file(map_path, PT_STR("1000 100 from map\n1200 10 only map\n"));
    assert_int_equal(pt_fs_open(&fs, "/proc", "/sys", "/", &err), 0);
    pt_recording_init(&r, &fs, NULL, false, 1000);
    snprintf(maps, sizeof maps,
             "00001000-00003000 rwxp 00000000 00:00 0 \n"
             "00010000-00011000 r-xp 00000000 00:00 0 %s\n",
             dump_path);
    pt_recording_add_maps(&r, PID, pt_scan_of(pt_str_from(maps)));
    assert_string_equal(pt_recording_jit_dump(&r, PID), dump_path);
    assert_null(pt_recording_jit_dump(&r, PID - 1));
    static const struct {
        int64_t time_ns;
        uint64_t address;
        const char *name;
    } samples[] = {
        { 150, 0x1000, "first" },    { 250, 0x1000, "second" },   { 350, 0x100f, "second" },
        { 150, 0x100f, "first" },    { 150, 0x1010, "from map" }, { 150, 0x102f, "other" },
        { 150, 0x1205, "only map" }, { 150, 0x1030, "from map" }, { 50, 0x1000, "first" },
        { 150, 0x1210, "" },
    };
    for (size_t i = 0; i < PT_COUNT(samples); i++)
        sample_code(&r, PID, samples[i].time_ns, samples[i].address);
    pt_symbolize(&r);
    for (size_t i = 0; i < PT_COUNT(samples); i++) {
        const struct pt_profile_stack *stack = &r.profile.stacks.at[r.profile.samples.at[i].stack];
        const struct pt_profile_frame *frame = &r.profile.frames.at[stack->frame];
        assert_int_equal(frame->address, samples[i].address);
        if (!*samples[i].name) {
            assert_int_equal(frame->function, PT_PROFILE_NONE);
            continue;
        }
        assert_stack(&r.profile, i, samples[i].name);
        assert_int_equal(r.profile.functions.at[frame->function].kind, PT_KIND_JIT);
    }
    pt_recording_release(&r);
    pt_fs_close(&fs);
    unlink(dump_path);
    unlink(map_path);
    pt_buf_release(&d.bytes);
}

/* Anyone may write to /tmp: what is not a file of a sensible size is not read. */
static void maps_that_are_not_read(void **state) {
    (void)state;
    enum { PID = INT32_MAX - 8 };
    char path[64], target[64];
    struct pt_fs fs;
    struct pt_err err;
    snprintf(path, sizeof path, "/tmp/perf-%d.map", PID);
    snprintf(target, sizeof target, "/tmp/pitot-map-%d", (int)getpid());
    assert_int_equal(pt_fs_open(&fs, "/proc", "/sys", "/", &err), 0);
    for (int i = 0; i < 4; i++) {
        struct pt_recording r;
        (void)unlink(path);
        write_file(target, PT_STR("1000 100 name\n"));
        if (i == 0)
            assert_int_equal(link(target, path), 0);
        else if (i == 1)
            assert_int_equal(symlink(target, path), 0);
        else if (i == 2)
            assert_int_equal(mkfifo(path, 0600), 0);
        else {
            assert_int_equal(link(target, path), 0);
            assert_int_equal(truncate(path, (256 << 20) + 1), 0); /* a hole, not data */
        }
        pt_recording_init(&r, &fs, NULL, false, 1000);
        pt_recording_add_maps(&r, PID,
                              pt_scan_of(PT_STR("00001000-00003000 rwxp 00000000 00:00 0 \n")));
        sample_code(&r, PID, 1, 0x1010);
        pt_symbolize(&r);
        uint32_t frame = r.profile.stacks.at[r.profile.samples.at[0].stack].frame;
        if (i == 0)
            assert_stack(&r.profile, 0, "name");
        else
            assert_int_equal(r.profile.frames.at[frame].function, PT_PROFILE_NONE);
        pt_recording_release(&r);
    }
    unlink(path);
    unlink(target);
    pt_fs_close(&fs);
}

static int four_times(int number) {
    return 4 * number;
}

static uint32_t module_of(struct pt_profile *p, const char *path, const char *build_id) {
    return pt_profile_module(
        p, (struct pt_profile_module){ pt_profile_string(p, pt_str_from(path)),
                                       pt_profile_string(p, pt_str_from(build_id)) });
}

/* The address of a function in its file, and the build id of this program. */
static uint64_t find_own(const char *path, const char *name, char hex[65]) {
    struct pt_elf elf;
    struct pt_err err;
    uint8_t id[PT_ELF_BUILD_ID_MAX];
    uint64_t address;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(pt_elf_open(&elf, path, fd, &err), 0);
    assert_true(elf.module->find_symbol(elf.state, name, &address));
    size_t size = elf.module->build_id(elf.state, id);
    assert_true(size > 0 && size <= 32);
    for (size_t i = 0; i < size; i++)
        snprintf(hex + 2 * i, 3, "%02x", id[i]);
    pt_elf_close(&elf);
    assert_null(elf.state); /* may be closed again */
    pt_elf_close(&elf);
    close(fd);
    return address;
}

static void saved_profiles_get_their_names_later(void **state) {
    (void)state;
    static const struct pt_profile_value_type type = { "cpu", PT_PROFILE_SAMPLES };
    int (*volatile function)(int) = four_times;
    char path[4096], hex[65], other[65];
    struct pt_err err;
    struct pt_profile p;
    if (pt_elf_check(&err))
        skip(); /* no libdw here */
    skip_if_emulated();
    assert_int_equal(function(3), 12);
    ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    assert_true(n > 0);
    path[n] = '\0';
    uint64_t address = find_own(path, "four_times", hex);
    memcpy(other, hex, sizeof other);
    other[3] = other[3] == 'f' ? 'e' : 'f';
    pt_profile_init(&p, &type, 1);
    const uint32_t modules[] = { module_of(&p, path, hex), module_of(&p, path, other),
                                 module_of(&p, "[pid 7]", ""), module_of(&p, "", "") };
    for (size_t i = 0; i < PT_COUNT(modules); i++) {
        struct pt_profile_frame f = { .function = PT_PROFILE_NONE,
                                      .module = modules[i],
                                      .address = address };
        add_sample(&p, (int64_t)i, pt_profile_stack(&p, PT_PROFILE_NONE, pt_profile_frame(&p, f)));
    }
    pt_symbolize_saved(&p); /* has names, as far as it says */
    for (size_t i = 0; i < p.samples.count; i++)
        assert_int_equal(p.frames.at[p.stacks.at[p.samples.at[i].stack].frame].function,
                         PT_PROFILE_NONE);
    p.meta.unnamed = 1;
    pt_symbolize_saved(&p);
    assert_int_equal(p.meta.unnamed, 0);
    assert_int_equal(p.samples.count, 4);
    assert_stack(&p, 0, "four_times");
    for (size_t i = 1; i < p.samples.count; i++) /* of another build, or not of a file */
        assert_int_equal(p.frames.at[p.stacks.at[p.samples.at[i].stack].frame].function,
                         PT_PROFILE_NONE);
    pt_profile_release(&p);
}

static bool rule_of(const char *code, size_t size, struct pt_unwind_rule *rule) {
    return pt_epilogue_rule((const uint8_t *)code, size, rule);
}
#define RULE_OF(code, rule) rule_of(code, sizeof(code) - 1, rule)

static void code_that_returns_at_once_has_a_rule(void **state) {
    (void)state;
    struct pt_unwind_rule rule;
    assert_true(RULE_OF("\x48\x83\xc4\x08\xc3", &rule)); /* add rsp, 8; ret */
    assert_int_equal(rule.kind, PT_RULE_OFFSET);
    assert_int_equal(rule.base, PT_REGISTER_SP);
    assert_int_equal(rule.offset, 16);
    assert_int_equal(rule.return_slot, 1);
    assert_int_equal(rule.saved[0], PT_SAVED_SAME);
    /* add rsp, 256; pop rbx; pop rbp; pop r15; ret */
    assert_true(RULE_OF("\x48\x81\xc4\x00\x01\x00\x00\x5b\x5d\x41\x5f\xc3\xcc", &rule));
    assert_int_equal(rule.offset, 256 + 3 * 8 + 8);
    assert_int_equal(rule.saved[PT_REGISTER_3 - PT_REGISTER_FP], 4);
    assert_int_equal(rule.saved[PT_REGISTER_FP - PT_REGISTER_FP], 3);
    assert_int_equal(rule.saved[PT_REGISTER_7 - PT_REGISTER_FP], 2);
    assert_true(RULE_OF("\xc3", &rule));
    assert_int_equal(rule.offset, 8);
}

static void code_that_works_before_it_returns_has_a_rule(void **state) {
    (void)state;
    struct pt_unwind_rule rule;
    /* vmovups ymm0, [rsi]; dec rdi; jnz; pop r15; pop rbp; pop rbx; vzeroupper; ret */
    assert_true(
        RULE_OF("\xc5\xfc\x10\x06\x48\xff\xcf\x75\xfb\x41\x5f\x5d\x5b\xc5\xf8\x77\xc3", &rule));
    assert_int_equal(rule.base, PT_REGISTER_SP);
    assert_int_equal(rule.offset, 32);
    assert_int_equal(rule.saved[PT_REGISTER_FP - PT_REGISTER_FP], 3);
    assert_int_equal(rule.saved[PT_REGISTER_3 - PT_REGISTER_FP], 2);
    /* push rbx; push 5; nop; pop rax; pop rbx; pop rbx; ret: the second is not its own */
    assert_true(RULE_OF("\x53\x6a\x05\x90\x58\x5b\x5b\xc3", &rule));
    assert_int_equal(rule.offset, 16);
    assert_int_equal(rule.saved[PT_REGISTER_3 - PT_REGISTER_FP], 2);
    /* sub rsp, 256; lea rsp, [rsp + 264]; ret */
    assert_true(RULE_OF("\x48\x81\xec\x00\x01\x00\x00\x48\x8d\xa4\x24\x08\x01\x00\x00\xc3", &rule));
    assert_int_equal(rule.offset, 16);
    /* sub rsp, 1 MiB; add rsp, 1 MiB; ret: as large as a frame may be */
    assert_true(RULE_OF("\x48\x81\xec\x00\x00\x10\x00\x48\x81\xc4\x00\x00\x10\x00\xc3", &rule));
    assert_int_equal(rule.offset, 8);
    /* lea rsp, [rsp - 1 MiB]; lea rsp, [rsp + 1 MiB]; ret */
    assert_true(
        RULE_OF("\x48\x8d\xa4\x24\x00\x00\xf0\xff\x48\x8d\xa4\x24\x00\x00\x10\x00\xc3", &rule));
    assert_int_equal(rule.offset, 8);
    /* leave; ret, and mov rsp, rbp; pop rbp; ret, and lea rsp, [rbp - 8]; pop rbx; pop rbp; ret */
    assert_true(RULE_OF("\xc9\xc3", &rule));
    assert_int_equal(rule.base, PT_REGISTER_FP);
    assert_int_equal(rule.offset, 16);
    assert_int_equal(rule.saved[0], 2);
    assert_true(RULE_OF("\x48\x89\xec\x5d\xc3", &rule));
    assert_int_equal(rule.base, PT_REGISTER_FP);
    assert_int_equal(rule.offset, 16);
    assert_true(RULE_OF("\x48\x8d\x65\xf8\x5b\x5d\xc3", &rule));
    assert_int_equal(rule.base, PT_REGISTER_FP);
    assert_int_equal(rule.offset, 16);
    assert_int_equal(rule.saved[PT_REGISTER_3 - PT_REGISTER_FP], 3);
}

static void other_code_has_none(void **state) {
    (void)state;
    struct pt_unwind_rule rule;
    assert_false(RULE_OF("", &rule));
    assert_false(RULE_OF("\x48\x83\xc4\x08", &rule));                 /* cut off */
    assert_false(RULE_OF("\x48\x83\xc4\xf8\xc3", &rule));             /* a frame that grows */
    assert_false(RULE_OF("\x48\x83\xc4\x04\xc3", &rule));             /* no multiple of 8 */
    assert_false(RULE_OF("\x48\x81\xc4\x00\x00\x00\x7f\xc3", &rule)); /* no stack is so large */
    /* sub rsp, 1 MiB + 8; add rsp, 1 MiB; pop rbx; pop rbx; ret, and the same with -(1 MiB + 8) */
    assert_false(
        RULE_OF("\x48\x81\xec\x08\x00\x10\x00\x48\x81\xc4\x00\x00\x10\x00\x5b\x5b\xc3", &rule));
    assert_false(
        RULE_OF("\x48\x81\xc4\xf8\xff\xef\xff\x48\x81\xc4\x00\x00\x10\x00\x5b\x5b\xc3", &rule));
    /* lea rsp, [rsp - (1 MiB + 8)], and back */
    assert_false(
        RULE_OF("\x48\x8d\xa4\x24\xf8\xff\xef\xff\x48\x81\xc4\x00\x00\x10\x00\x5b\x5b\xc3", &rule));
    assert_false(
        RULE_OF("\x48\x8d\xa4\x24\x08\x00\x10\x00\x48\x81\xec\x00\x00\x10\x00\xc3", &rule));
    assert_false(RULE_OF("\x90\xe9\x00\x00\x00\x00", &rule));             /* it does not return */
    assert_false(RULE_OF("\x48\x01\xc4\xc3", &rule));                     /* add rsp, rax */
    assert_false(RULE_OF("\x48\x83\xe4\xe0\xc3", &rule));                 /* and rsp, -32 */
    assert_false(RULE_OF("\x48\x8b\x64\x24\x08\xc3", &rule));             /* mov rsp, [rsp + 8] */
    assert_false(RULE_OF("\x5c\xc3", &rule));                             /* pop rsp */
    assert_false(RULE_OF("\x5b\x48\x81\xc4\x00\x10\x00\x00\xc3", &rule)); /* too far away */
}

static size_t length_of(const char *code, size_t size) {
    struct pt_x86 x;
    return pt_x86_parse((const uint8_t *)code, size, &x) ? x.length : 0;
}
#define ASSERT_LENGTH(code, wanted) assert_int_equal(length_of(code, sizeof(code) - 1), wanted)

static void instructions_have_lengths(void **state) {
    (void)state;
    struct pt_x86 x;
    ASSERT_LENGTH("\x90\x90", 1);
    ASSERT_LENGTH("\x66\x0f\x1f\x84\x00\x00\x00\x00\x00\x90", 9);      /* nop [rax + rax + 0] */
    ASSERT_LENGTH("\x48\x8b\x05\x01\x02\x03\x04\x90", 7);              /* mov rax, [rip + n] */
    ASSERT_LENGTH("\x48\xb8\x01\x02\x03\x04\x05\x06\x07\x08\x90", 10); /* mov rax, n */
    ASSERT_LENGTH("\x66\xb8\x01\x02\x90", 4);                          /* mov ax, n */
    ASSERT_LENGTH("\xf6\xc1\x01\x90", 3);                              /* test cl, 1 */
    ASSERT_LENGTH("\xf7\xd9\x90", 2);                                  /* neg ecx */
    ASSERT_LENGTH("\x0f\x84\xef\x00\x00\x00\x90", 6);                  /* je */
    ASSERT_LENGTH("\x0f\x3a\x0f\xc1\x08\x90", 5);                      /* palignr */
    ASSERT_LENGTH("\xc5\xf8\x77\x90", 3);                              /* vzeroupper */
    ASSERT_LENGTH("\xc4\xc3\x5d\x06\xc0\x20\x90", 6);                  /* vperm2f128 */
    ASSERT_LENGTH("\xc5\xfc\x10\xa7\x80\x00\x00\x00\x90", 8);          /* vmovups */
    ASSERT_LENGTH("\x62\xf1\x7c\x48\x10\x47\x01\x90", 7); /* vmovups zmm0, [rdi + 64] */
    assert_true(pt_x86_parse((const uint8_t *)"\x48\x83\xc4\x08", 4, &x));
    assert_true(x.is_one_byte && !x.is_memory && x.opcode == 0x83 && x.reg == 0 && x.rm == 4);
    assert_int_equal(x.immediate, 8);
    assert_false(pt_x86_parse((const uint8_t *)"\x48\x83\xc4", 3, &x));
    assert_false(pt_x86_parse((const uint8_t *)"\x48\x8b\x05\x01", 4, &x));
    assert_false(pt_x86_parse((const uint8_t *)"", 0, &x));
}

/* Lengths of all instructions of one and two bytes as objdump of binutils has them: a prefix, the
 * opcode, the operand, zeros. Invalid opcodes are not compared, nor near calls with a prefix: AMD
 * and Intel differ there. */
static const struct {
    const char *prefix, *operand, *lengths[16]; /* '?': not compared */
} tables[] = {
    /* opcode, ModRM and zeros */
    { "",
      "",
      { "222225??222225?3", "222225??222225??", "2222253?2222253?", "2222253?2222253?",
        "3333333333333333", "1111111111111111", "???2333356231111", "2222222222222222",
        "36?3222222222222", "1111111111?11111", "9999111125111111", "2222222255555555",
        "3331??36413112?1", "2222???122222222", "2222222255?21111", "3133113611111122" } },
    /* with the operand-size prefix */
    { "\x66",
      "",
      { "333334??333334?4", "333334??333334??", "3333344?3333344?", "3333344?3333344?",
        "4444444444444444", "2222222222222222", "???3444445342222", "3333333333333333",
        "45?4333333333333", "2222222222?22222", "aaaa222234222222", "3333333344444444",
        "4442??45524223?2", "3333???233333333", "33333333???32222", "4244224522222233" } },
    /* with REX.W */
    { "\x48",
      "",
      { "333336??333336?4", "333336??333336??", "333336??333336??", "333336??333336??",
        "????????????????", "2222222222222222", "???3????67342222", "3333333333333333",
        "47?4333333333333", "2222222222??2222", "aaaa222236222222", "33333333aaaaaaaa",
        "4442??47524223?2", "3333???233333333", "3333333366?32222", "?2??224722222233" } },
    /* with SIB and a displacement */
    { "",
      "\x84\x24",
      { "777725??777725?6", "777725??777725??", "7777254?7777254?", "7777254?7777254?",
        "4444444444444444", "1111111111111111", "???744445b281111", "2222222222222222",
        "8b?8777777777777", "1111111111?11111", "9999111125111111", "2222222255555555",
        "8831??8b413112?1", "7777???177777777", "2222222255?21111", "4144118b11111177" } },
    /* of two bytes */
    { "\x0f",
      "",
      { "3333?22222?2?32?", "3333333333333333", "3333????33333333", "222222?24???????",
        "3333333333333333", "?333333333333333", "333333333333??33", "4???333233????33",
        "6666666666666666", "3333333333333333", "222343??22234333", "33333333?3?33333",
        "33434?4?22222222", "?33333??33333333", "333333?333333333", "?333333?33333333" } },
    /* of two bytes, on registers */
    { "\x0f",
      "\xc1",
      { "3333?22222?2??2?", "333?333?33333333", "3333????333?3333", "222222?2????????",
        "3333333333333333", "3333333333333333", "333333333333??33", "4???333233????33",
        "6666666666666666", "3333333333333333", "222343??222343?3", "33?3??33?3?33333",
        "334?444?22222222", "?33333?333333333", "333333??33333333", "?333333333333333" } },
    /* of two bytes with VEX */
    { "\xc5\xf8",
      "",
      { "????????????????", "44444444????????", "????????44?4??44", "????????????????",
        "????????????????", "?444444444444444", "????????????????", "???????3????????",
        "????????????????", "44??????????????", "????????????????", "????????????????",
        "??5???5?????????", "????????????????", "????????????????", "????????????????" } },
};

static void all_opcodes_have_lengths(void **state) {
    (void)state;
    for (size_t t = 0; t < PT_COUNT(tables); t++)
        for (unsigned opcode = 0; opcode < 256; opcode++) {
            struct pt_x86 x;
            uint8_t code[24] = { 0 };
            size_t n = strlen(tables[t].prefix);
            memcpy(code, tables[t].prefix, n);
            code[n++] = (uint8_t)opcode;
            memcpy(code + n, tables[t].operand, strlen(tables[t].operand));
            char digit = tables[t].lengths[opcode / 16][opcode % 16];
            size_t wanted = (size_t)(digit <= '9' ? digit - '0' : digit - 'a' + 10);
            if (digit == '?')
                continue;
            if (!pt_x86_parse(code, sizeof code, &x) || x.length != wanted)
                fail_msg("table %zu, opcode %02x: %zu bytes, not %zu", t, opcode, x.length, wanted);
            /* any shorter piece of it is cut short */
            assert_false(pt_x86_parse(code, wanted - 1, &x));
        }
}

/* All opcodes of the maps 0F38 and 0F3A have an operand, those of the second a number too. */
static void vector_opcodes_have_operands(void **state) {
    (void)state;
    for (unsigned opcode = 0; opcode < 256; opcode++) {
        struct pt_x86 x;
        uint8_t code[24] = { 0xc4, 0xe2, 0x79, (uint8_t)opcode, 0x84, 0x24 };
        assert_true(pt_x86_parse(code, sizeof code, &x));
        assert_int_equal(x.length, 10); /* with SIB and a displacement of 4 bytes */
        code[1] = 0xe3;
        assert_true(pt_x86_parse(code, sizeof code, &x));
        assert_int_equal(x.length, 11);
        const uint8_t plain[] = { 0x0f, 0x38, (uint8_t)opcode, 0x44, 0x24, 0x08, 0x01 };
        assert_true(pt_x86_parse(plain, sizeof plain, &x));
        assert_int_equal(x.length, 6);
        assert_int_equal(x.displacement, 8);
    }
}

static void instructions_have_operands(void **state) {
    (void)state;
    static const struct {
        const char *code;
        size_t size;
        uint8_t reg, rm;
        bool is_memory;
        int32_t displacement, immediate;
    } list[] = {
        { "\x48\x89\xdf", 3, 3, 7, false, 0, 0 },                       /* mov rdi, rbx */
        { "\x49\x89\xdf", 3, 3, 15, false, 0, 0 },                      /* mov r15, rbx */
        { "\x4c\x89\xff", 3, 15, 7, false, 0, 0 },                      /* mov rdi, r15 */
        { "\x49\x8b\x44\x24\x08", 5, 0, 12, true, 8, 0 },               /* mov rax, [r12 + 8] */
        { "\x48\x8b\x44\x24\xf8", 5, 0, 4, true, -8, 0 },               /* mov rax, [rsp - 8] */
        { "\x48\x8b\x4d\x80", 4, 1, 5, true, -128, 0 },                 /* mov rcx, [rbp - 128] */
        { "\x49\x8b\x8f\x00\x01\x00\x00", 7, 1, 15, true, 256, 0 },     /* mov rcx, [r15 + 256] */
        { "\x48\x8b\x03", 3, 0, 3, true, 0, 0 },                        /* mov rax, [rbx] */
        { "\x48\x8b\x05\x10\x00\x00\x00", 7, 0, 255, true, 16, 0 },     /* mov rax, [rip + 16] */
        { "\x48\x8b\x04\x25\x10\x00\x00\x00", 8, 0, 255, true, 16, 0 }, /* mov rax, [16] */
        { "\x48\x8b\x44\xc8\x08", 5, 0, 255, true, 8, 0 }, /* mov rax, [rax + rcx * 8 + 8] */
        { "\x4a\x8b\x04\x23", 4, 0, 255, true, 0, 0 },     /* mov rax, [rbx + r12] */
        { "\x41\x5f", 2, 0, 15, false, 0, 0 },             /* pop r15 */
        { "\x68\x01\x02\x03\x84", 5, 0, 0, false, 0, (int32_t)0x84030201 }, /* push n */
        { "\x66\x81\xc4\x00\x81", 5, 0, 4, false, 0, 0x8100 },              /* add sp, n */
        { "\x48\x83\xec\x80", 4, 5, 4, false, 0, -128 },                    /* sub rsp, n */
    };
    for (size_t i = 0; i < PT_COUNT(list); i++) {
        struct pt_x86 x;
        assert_true(pt_x86_parse((const uint8_t *)list[i].code, list[i].size, &x));
        assert_int_equal(x.length, list[i].size);
        assert_int_equal(x.reg, list[i].reg);
        if (list[i].code[0] != 0x68)
            assert_int_equal(x.rm, list[i].rm);
        assert_int_equal(x.is_memory, list[i].is_memory);
        assert_int_equal(x.displacement, list[i].displacement);
        assert_int_equal(x.immediate, list[i].immediate);
        assert_true(x.is_one_byte);
    }
    struct pt_x86 x;
    assert_true(pt_x86_parse((const uint8_t *)"\x0f\xaf\xc1", 3, &x)); /* imul */
    assert_true(!x.is_one_byte && x.opcode == 0xaf);
    assert_true(pt_x86_parse((const uint8_t *)"\xc4\xe2\x79\x18\x00", 5, &x)); /* vbroadcastss */
    assert_true(!x.is_one_byte && x.opcode == 0x18 && x.length == 5);
    /* maps 0, 4 and 7 of VEX and EVEX do not exist; 5 and 6 have no immediate numbers */
    assert_false(pt_x86_parse((const uint8_t *)"\xc4\xe0\x79\x18\x00\x00", 6, &x));
    assert_false(pt_x86_parse((const uint8_t *)"\xc4\xe4\x79\x18\x00\x00", 6, &x));
    assert_false(pt_x86_parse((const uint8_t *)"\xc4\xe7\x79\x18\x00\x00", 6, &x));
    assert_true(pt_x86_parse((const uint8_t *)"\x62\xf5\x7c\x48\x58\xc0", 6, &x)); /* vaddph */
    assert_int_equal(x.length, 6);
    assert_true(pt_x86_parse((const uint8_t *)"\x62\xf6\x7d\x48\x98\xc0", 6, &x));
    assert_int_equal(x.length, 6);
    /* no instruction is longer than 15 bytes */
    const uint8_t nops[] = { 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66,
                             0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x90 };
    assert_false(pt_x86_parse(nops, sizeof nops, &x));
    assert_true(pt_x86_parse(nops + 1, sizeof nops - 1, &x));
    assert_int_equal(x.length, 15);
}

#define CALL_BEFORE(text) pt_call_before((const uint8_t *)(text), sizeof(text) - 1)

static void calls_stand_before_return_addresses(void **state) {
    (void)state;
    assert_int_equal(CALL_BEFORE("\x90\x90\xe8\x01\x02\x03\x04"), PT_CALL_DIRECT);
    assert_int_equal(CALL_BEFORE("\x90\x90\x90\x90\x90\xff\xd0"), PT_CALL_INDIRECT); /* rax */
    assert_int_equal(CALL_BEFORE("\x90\xff\x15\x01\x02\x03\x04"), PT_CALL_INDIRECT); /* [rip] */
    assert_int_equal(CALL_BEFORE("\x90\x90\x41\xff\x54\x24\x18"), PT_CALL_INDIRECT);
    assert_int_equal(CALL_BEFORE("\x90\x90\x90\x90\x90\x90\x90"), PT_CALL_NONE);
    assert_int_equal(CALL_BEFORE("\x90\x90\x90\x90\x90\xff\xe0"), PT_CALL_NONE); /* jmp rax */
    assert_int_equal(CALL_BEFORE("\xd0"), PT_CALL_NONE);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(a_dump_has_loads_and_moves, "C241: a dump of a JIT has loads and moves, by time"),
        PT_TEST(a_dump_that_is_being_written,
                "C241: of a dump that is being written, what is whole"),
        PT_TEST(dumps_that_cannot_be_read, "C241: dumps of other machines and clocks are refused"),
        PT_TEST(sizes_in_dumps, "C241: sizes in a dump are checked"),
        PT_TEST(records_that_are_too_short, "C241: records without an end are passed over"),
        PT_TEST(names_of_dumps, "C241: dumps are known by their name"),
        PT_TEST(code_that_is_replaced_has_the_name_of_its_time,
                "C241: code that is replaced has the name of its time"),
        PT_TEST(generated_code_has_the_names_of_its_files,
                "C241: generated code has the names of its dump, then those of its map"),
        PT_TEST(maps_that_are_not_read, "C241: links, pipes and huge files are not read as maps"),
        PT_TEST(saved_profiles_get_their_names_later,
                "C241: a saved profile gets the names of files with the same build id"),
        PT_TEST(code_that_returns_at_once_has_a_rule, "C242: code that returns at once has a rule"),
        PT_TEST(code_that_works_before_it_returns_has_a_rule,
                "C242: what generated code takes from the stack before it returns is its frame"),
        PT_TEST(other_code_has_none, "C242: other generated code has none"),
        PT_TEST(instructions_have_lengths, "instructions are as long as they are"),
        PT_TEST(all_opcodes_have_lengths, "instructions are as long as objdump says"),
        PT_TEST(vector_opcodes_have_operands, "instructions on vectors have operands"),
        PT_TEST(instructions_have_operands, "C242: instructions have registers and numbers"),
        PT_TEST(calls_stand_before_return_addresses, "C242: before a return address is a call"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
