/* Generated code: dumps of JITs, and frames whose name depends on the time of the sample. */
#include "test.h"

#include "profile/unwind/call_site.h"
#include "profile/unwind/epilogue.h"
#include "profile/names/frame_names.h"
#include "profile/names/jit_dump.h"
#include "profile/unwind/x86.h"

#include <errno.h>

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
    assert_false(RULE_OF("\x48\x83\xc4\x08", &rule));                     /* cut off */
    assert_false(RULE_OF("\x48\x83\xc4\xf8\xc3", &rule));                 /* a frame that grows */
    assert_false(RULE_OF("\x48\x83\xc4\x04\xc3", &rule));                 /* no multiple of 8 */
    assert_false(RULE_OF("\x48\x81\xc4\x00\x00\x00\x7f\xc3", &rule));     /* no stack is so large */
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
        PT_TEST(names_of_dumps, "C241: dumps are known by their name"),
        PT_TEST(code_that_is_replaced_has_the_name_of_its_time,
                "C241: code that is replaced has the name of its time"),
        PT_TEST(code_that_returns_at_once_has_a_rule, "C242: code that returns at once has a rule"),
        PT_TEST(code_that_works_before_it_returns_has_a_rule,
                "C242: what generated code takes from the stack before it returns is its frame"),
        PT_TEST(other_code_has_none, "C242: other generated code has none"),
        PT_TEST(instructions_have_lengths, "instructions are as long as they are"),
        PT_TEST(calls_stand_before_return_addresses, "C242: before a return address is a call"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
