/* Rules of unwinding: translated from DWARF, and followed through stacks made by hand. */
#include "base/attr.h"
#include "inside/preload/dwarf.h"
#include "profile/unwind/cfi_rule.h"
#include "profile/model/classify.h"
#include "profile/unwind/eh_index.h"
#include "profile/names/jit_map.h"
#include "profile/names/kernel_names.h"
#include "profile/model/by_function.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

static const struct pt_cfi_op rsp_48[] = { { DW_OP_breg7, 48, 0 } };
static const struct pt_cfi_op below_8[] = { { DW_OP_call_frame_cfa, 0, 0 },
                                            { DW_OP_plus_uconst, -8, 0 } };
static const struct pt_cfi_op below_16[] = { { DW_OP_call_frame_cfa, 0, 0 },
                                             { DW_OP_plus_uconst, -16, 0 } };
static const struct pt_cfi_op rbp_8_deref[] = { { DW_OP_breg6, -8, 0 }, { DW_OP_deref, 0, 0 } };
static const struct pt_cfi_op at_rbp[] = { { DW_OP_call_frame_cfa, 0, 0 }, { DW_OP_breg6, 0, 0 } };
static const struct pt_cfi_op rbp_24[] = { { DW_OP_breg6, -24, 0 } };
static const struct pt_cfi_op plt[] = {
    { DW_OP_breg7, 8, 0 }, { DW_OP_breg16, 0, 0 }, { DW_OP_lit15 }, { DW_OP_and }, { DW_OP_lit11 },
    { DW_OP_ge },          { DW_OP_lit3 },         { DW_OP_shl },   { DW_OP_plus }
};

#define OPS(ops) ((struct pt_cfi_value){ PT_CFI_OPS, (ops), PT_COUNT(ops) })

static void test_offset_rule(void **state) {
    (void)state;
    struct pt_cfi cfi = { .machine = PT_MACHINE_X86_64,
                          .frame = OPS(rsp_48),
                          .return_address = OPS(below_8) };
    cfi.saved[0] = OPS(below_16);
    struct pt_unwind_rule rule = pt_cfi_rule(&cfi);
    assert_int_equal(rule.kind, PT_RULE_OFFSET);
    assert_int_equal(rule.base, PT_REGISTER_SP);
    assert_int_equal(rule.offset, 48);
    assert_int_equal(rule.return_slot, 1);
    assert_int_equal(rule.saved[0], 2);
    assert_int_equal(rule.saved[1], PT_SAVED_SAME);
}

static void test_realigned_rule(void **state) {
    (void)state;
    struct pt_cfi cfi = { .machine = PT_MACHINE_X86_64,
                          .frame = OPS(rbp_8_deref),
                          .return_address = OPS(below_8) };
    cfi.saved[0] = OPS(at_rbp);
    cfi.saved[2] = OPS(rbp_24);
    struct pt_unwind_rule rule = pt_cfi_rule(&cfi);
    assert_int_equal(rule.kind, PT_RULE_INDIRECT);
    assert_int_equal(rule.base, PT_REGISTER_FP);
    assert_int_equal(rule.offset, -8);
    assert_int_equal(rule.flags, PT_RULE_FROM_FP);
    assert_int_equal(rule.saved[0], 1);
    assert_int_equal(rule.saved[2], 4);
}

static void test_other_rules(void **state) {
    (void)state;
    struct pt_cfi cfi = { .machine = PT_MACHINE_X86_64,
                          .frame = OPS(plt),
                          .return_address = OPS(below_8) };
    struct pt_unwind_rule rule = pt_cfi_rule(&cfi);
    assert_int_equal(rule.kind, PT_RULE_PLT);
    assert_int_equal(rule.offset, 8 | 11 << 16);
    cfi.return_address = (struct pt_cfi_value){ .form = PT_CFI_UNDEFINED };
    assert_int_equal(pt_cfi_rule(&cfi).kind, PT_RULE_ROOT);
    cfi.is_signal = true;
    assert_int_equal(pt_cfi_rule(&cfi).kind, PT_RULE_SIGNAL_X86);
    cfi = (struct pt_cfi){ .machine = PT_MACHINE_X86_64,
                           .frame = { PT_CFI_OPS, plt, 4 },
                           .return_address = OPS(below_8) };
    assert_int_equal(pt_cfi_rule(&cfi).kind, PT_RULE_NONE);
}

static void test_arm_rules(void **state) {
    (void)state;
    static const struct pt_cfi_op sp_32[] = { { DW_OP_breg31, 32, 0 } };
    struct pt_cfi cfi = { .machine = PT_MACHINE_ARM64, .frame = OPS(sp_32) };
    struct pt_unwind_rule rule =
        pt_cfi_rule(&cfi); /* a leaf: the return address is in a register */
    assert_int_equal(rule.kind, PT_RULE_OFFSET);
    assert_int_equal(rule.base, PT_REGISTER_SP);
    assert_int_equal(rule.return_slot, 0);
}

/* The numbers of the ABI documents of both machines. */
static void test_dwarf_registers(void **state) {
    (void)state;
    static const int x86_64[] = {
        16, 7, 6, 3, 12, 13, 14, 15, 10
    }; /* rip, rsp, rbp, rbx, r12 .. */
    static const int arm64[] = {
        -1, 31, 29, 30, 19, 20, 21, 22, 23
    }; /* pc, sp, x29, x30, x19 .. */
    for (unsigned i = 0; i < PT_REGISTER_COUNT; i++) {
        assert_int_equal(pt_cfi_dwarf_register(PT_MACHINE_X86_64, i), x86_64[i]);
        assert_int_equal(pt_cfi_dwarf_register(PT_MACHINE_ARM64, i), arm64[i]);
    }
}

/* Which slot a rule says for a register saved so far below the frame address. */
static uint8_t slot_below(int64_t bytes) {
    const struct pt_cfi_op ops[] = { { DW_OP_call_frame_cfa, 0, 0 },
                                     { DW_OP_plus_uconst, -bytes, 0 } };
    struct pt_cfi cfi = { .machine = PT_MACHINE_X86_64,
                          .frame = OPS(rsp_48),
                          .return_address = OPS(below_8) };
    cfi.saved[PT_RULE_SAVED - 1] = OPS(ops);
    return pt_cfi_rule(&cfi).saved[PT_RULE_SAVED - 1];
}

static void test_slots(void **state) {
    (void)state;
    assert_int_equal(slot_below(8), 1);
    assert_int_equal(slot_below(2032), 254);
    assert_int_equal(slot_below(2040), PT_SAVED_LOST); /* does not fit */
    assert_int_equal(slot_below(0), PT_SAVED_LOST);
    assert_int_equal(slot_below(-8), PT_SAVED_LOST);
    assert_int_equal(slot_below(12), PT_SAVED_LOST);
    assert_int_equal(slot_below(INT64_C(1) << 40), PT_SAVED_LOST);
    /* what is undefined is lost; a return address must be found */
    struct pt_cfi cfi = { .machine = PT_MACHINE_X86_64,
                          .frame = OPS(rsp_48),
                          .return_address = OPS(below_8) };
    cfi.saved[1].form = PT_CFI_UNDEFINED;
    cfi.saved[2] = OPS(rsp_48);
    struct pt_unwind_rule rule = pt_cfi_rule(&cfi);
    assert_int_equal(rule.kind, PT_RULE_OFFSET);
    assert_int_equal(rule.flags, 0);
    assert_int_equal(rule.saved[0], PT_SAVED_SAME);
    assert_int_equal(rule.saved[1], PT_SAVED_LOST);
    assert_int_equal(rule.saved[2], PT_SAVED_LOST);
    cfi.return_address = OPS(rsp_48);
    assert_int_equal(pt_cfi_rule(&cfi).kind, PT_RULE_NONE);
    cfi.return_address = (struct pt_cfi_value){ .form = PT_CFI_SAME };
    assert_int_equal(pt_cfi_rule(&cfi).kind, PT_RULE_NONE);
}

/* The rule of a frame address made of these operations. */
static struct pt_unwind_rule frame_rule(const struct pt_cfi_op *ops, size_t count) {
    struct pt_cfi cfi = { .machine = PT_MACHINE_X86_64,
                          .frame = { PT_CFI_OPS, ops, count },
                          .return_address = OPS(below_8) };
    return pt_cfi_rule(&cfi);
}

static void test_frame_rules(void **state) {
    (void)state;
    const struct pt_cfi_op bregx[] = { { DW_OP_bregx, 12, -16 } };
    struct pt_unwind_rule rule = frame_rule(bregx, 1);
    assert_int_equal(rule.kind, PT_RULE_OFFSET);
    assert_int_equal(rule.base, PT_REGISTER_4);
    assert_int_equal(rule.offset, -16);
    const struct pt_cfi_op breg31[] = { { DW_OP_breg31, 8, 0 } }; /* not a register of ours */
    assert_int_equal(frame_rule(breg31, 1).kind, PT_RULE_NONE);
    struct pt_cfi_op far[] = { { DW_OP_breg7, INT32_MAX, 0 } };
    assert_int_equal(frame_rule(far, 1).offset, INT32_MAX);
    far[0].number = INT64_C(1) << 31;
    assert_int_equal(frame_rule(far, 1).kind, PT_RULE_NONE);
    far[0].number = INT32_MIN;
    assert_int_equal(frame_rule(far, 1).offset, INT32_MIN);
    far[0].number = INT64_C(-1) * INT32_MAX - 2;
    assert_int_equal(frame_rule(far, 1).kind, PT_RULE_NONE);
    assert_int_equal(frame_rule(rsp_48, 0).kind, PT_RULE_NONE);
    const struct pt_cfi_op other[] = { { DW_OP_breg7, 8, 0 }, { DW_OP_and, 0, 0 } };
    assert_int_equal(frame_rule(other, 2).kind, PT_RULE_NONE);
    /* a stub by each of its operations */
    for (size_t i = 0; i < PT_COUNT(plt); i++) {
        struct pt_cfi_op changed[PT_COUNT(plt)];
        memcpy(changed, plt, sizeof plt);
        changed[i].atom = DW_OP_deref;
        assert_int_equal(frame_rule(changed, PT_COUNT(plt)).kind, PT_RULE_NONE);
    }
    struct pt_cfi_op stub[PT_COUNT(plt)];
    memcpy(stub, plt, sizeof plt);
    stub[0].number = 0xffff;
    stub[4].atom = DW_OP_lit15;
    assert_int_equal(frame_rule(stub, PT_COUNT(stub)).offset, 0xffff | 15 << 16);
    stub[0].number = 0x10000;
    assert_int_equal(frame_rule(stub, PT_COUNT(stub)).kind, PT_RULE_NONE);
    stub[0].number = -1;
    assert_int_equal(frame_rule(stub, PT_COUNT(stub)).kind, PT_RULE_NONE);
    struct pt_cfi signal = { .machine = PT_MACHINE_ARM64, .is_signal = true };
    assert_int_equal(pt_cfi_rule(&signal).kind, PT_RULE_SIGNAL_ARM);
    assert_int_equal(pt_cfi_rule(&signal).flags, PT_RULE_IS_SIGNAL);
}

static struct pt_unwind_state state_of(const uint64_t *stack, size_t count, uint64_t pc,
                                       uint64_t fp) {
    struct pt_unwind_state s = { .is_exact_pc = true,
                                 .stack = (const uint8_t *)stack,
                                 .stack_size = count * 8,
                                 .stack_start = 0x7000 };
    s.registers[PT_REGISTER_PC] = pc;
    s.registers[PT_REGISTER_SP] = 0x7000;
    s.registers[PT_REGISTER_FP] = fp;
    return s;
}

static const struct pt_unwind_rule frame_of_32 = {
    .kind = PT_RULE_OFFSET, .base = PT_REGISTER_SP, .offset = 32, .return_slot = 1, .saved = { 2 }
};

static void test_step(void **state) {
    (void)state;
    const uint64_t stack[] = { 1, 2, 0xf9, 0x4010, 5, 6, 7, 0 };
    struct pt_unwind_state s = state_of(stack, 8, 0x4000, 0);
    assert_int_equal(pt_unwind_lookup_pc(&s), 0x4000);
    assert_int_equal(pt_unwind_step(&s, &frame_of_32), PT_UNWIND_MORE);
    assert_int_equal(s.registers[PT_REGISTER_PC], 0x4010);
    assert_int_equal(s.registers[PT_REGISTER_SP], 0x7020);
    assert_int_equal(s.registers[PT_REGISTER_FP], 0xf9);
    assert_int_equal(pt_unwind_lookup_pc(&s), 0x400f);
    assert_int_equal(pt_unwind_step(&s, &frame_of_32), PT_UNWIND_ROOT); /* returns to 0 */
}

static void test_truncated(void **state) {
    (void)state;
    const uint64_t stack[] = { 1, 2, 3 };
    struct pt_unwind_state s = state_of(stack, 3, 0x4000, 0);
    assert_int_equal(pt_unwind_step(&s, &frame_of_32), PT_UNWIND_TRUNCATED);
    s = state_of(stack, 3, 0x4000, 0);
    struct pt_unwind_rule down = frame_of_32;
    down.offset = -64;
    assert_int_equal(pt_unwind_step(&s, &down), PT_UNWIND_LOST);
    assert_int_equal(pt_unwind_step(&s, &(struct pt_unwind_rule){ 0 }), PT_UNWIND_LOST);
}

/* Registers that cannot be restored are 0; the others are those of their slots. */
static void test_lost_registers(void **state) {
    (void)state;
    const uint64_t stack[] = { 0x11, 0x22, 0x33, 0x4010, 5, 6 };
    struct pt_unwind_state s = state_of(stack, 6, 0x4000, 0x77);
    for (unsigned i = PT_REGISTER_3; i < PT_REGISTER_COUNT; i++)
        s.registers[i] = 0x100 + i;
    struct pt_unwind_rule rule = frame_of_32;
    const uint8_t saved[PT_RULE_SAVED] = { PT_SAVED_LOST, 2, 3, 4, 5, 200, PT_SAVED_SAME };
    memcpy(rule.saved, saved, sizeof saved);
    assert_int_equal(pt_unwind_step(&s, &rule), PT_UNWIND_MORE);
    const uint64_t expected[PT_REGISTER_COUNT] = { 0x4010, 0x7020, 0,
                                                   0x33,   0x22,   0x11,
                                                   0,      0,      0x100 + PT_REGISTER_8 };
    for (unsigned i = 0; i < PT_REGISTER_COUNT; i++)
        assert_int_equal(s.registers[i], expected[i]);
}

/* Where the copy ends, and which steps do not lead upwards. */
static void test_bounds(void **state) {
    (void)state;
    const uint64_t stack[] = { 1, 2, 3, 0x4010 };
    struct pt_unwind_state s = state_of(stack, 4, 0x4000, 0); /* its last word is the address */
    assert_int_equal(pt_unwind_step(&s, &frame_of_32), PT_UNWIND_MORE);
    s = state_of(stack, 4, 0x4000, 0);
    s.stack_size -= 1;
    assert_int_equal(pt_unwind_step(&s, &frame_of_32), PT_UNWIND_LOST); /* begins in the copy */
    s.stack_size = 24;
    assert_int_equal(pt_unwind_step(&s, &frame_of_32), PT_UNWIND_TRUNCATED);
    s.stack_size = 7;
    assert_int_equal(pt_unwind_step(&s, &frame_of_32), PT_UNWIND_TRUNCATED);
    assert_int_equal(pt_unwind_step(&s, &(struct pt_unwind_rule){ .kind = PT_RULE_ROOT }),
                     PT_UNWIND_ROOT);
    /* a leaf that returns by its register may have an empty frame, its caller may not */
    struct pt_unwind_rule leaf = { .kind = PT_RULE_OFFSET, .base = PT_REGISTER_SP };
    s = state_of(stack, 4, 0x4000, 0);
    s.registers[PT_REGISTER_LINK] = 0x5010;
    assert_int_equal(pt_unwind_step(&s, &leaf), PT_UNWIND_MORE);
    assert_int_equal(s.registers[PT_REGISTER_PC], 0x5010);
    assert_int_equal(s.registers[PT_REGISTER_SP], 0x7000);
    assert_int_equal(pt_unwind_step(&s, &leaf), PT_UNWIND_LOST);
    leaf.offset = 16; /* not empty: it may */
    assert_int_equal(pt_unwind_step(&s, &leaf), PT_UNWIND_MORE);
    struct pt_unwind_rule empty = frame_of_32;
    empty.offset = 0;
    s = state_of(stack, 4, 0x4000, 0);
    s.registers[PT_REGISTER_SP] = 0x7008;
    assert_int_equal(pt_unwind_step(&s, &empty), PT_UNWIND_LOST);
    struct pt_unwind_rule indirect = { .kind = PT_RULE_INDIRECT,
                                       .base = PT_REGISTER_FP,
                                       .return_slot = 1 };
    s = state_of(stack, 4, 0x4000, 0x8000);
    assert_int_equal(pt_unwind_step(&s, &indirect), PT_UNWIND_TRUNCATED);
    s = state_of(stack, 4, 0x4000, 0x6000);
    assert_int_equal(pt_unwind_step(&s, &indirect), PT_UNWIND_LOST);
}

static void test_realigned_step(void **state) {
    (void)state;
    /* rbp is 0x7010: the caller's rbp stands there, the frame address (0x7030) 8 below */
    const uint64_t stack[] = { 0, 0x7030, 0xabc, 0, 0, 0x4020, 0 };
    struct pt_unwind_state s = state_of(stack, 7, 0x4000, 0x7010);
    struct pt_unwind_rule rule = { .kind = PT_RULE_INDIRECT,
                                   .base = PT_REGISTER_FP,
                                   .flags = PT_RULE_FROM_FP,
                                   .offset = -8,
                                   .return_slot = 1,
                                   .saved = { 1 } };
    assert_int_equal(pt_unwind_step(&s, &rule), PT_UNWIND_MORE);
    assert_int_equal(s.registers[PT_REGISTER_PC], 0x4020);
    assert_int_equal(s.registers[PT_REGISTER_SP], 0x7030);
    assert_int_equal(s.registers[PT_REGISTER_FP], 0xabc);
}

static void test_plt_step(void **state) {
    (void)state;
    const uint64_t stack[] = { 0x4010, 0x4020, 0 };
    const struct pt_unwind_rule rule = {
        .kind = PT_RULE_PLT, .base = PT_REGISTER_SP, .offset = 8 | 11 << 16, .return_slot = 1
    };
    struct pt_unwind_state s = state_of(stack, 3, 0x1006, 0);
    assert_int_equal(pt_unwind_step(&s, &rule), PT_UNWIND_MORE);
    assert_int_equal(s.registers[PT_REGISTER_PC], 0x4010);
    s = state_of(stack, 3, 0x100b, 0); /* it has pushed */
    assert_int_equal(pt_unwind_step(&s, &rule), PT_UNWIND_MORE);
    assert_int_equal(s.registers[PT_REGISTER_PC], 0x4020);
}

/* Every register is at its place in the signal frame of the kernel. */
static void check_signal_step(enum pt_rule_kind kind, const uint16_t places[PT_REGISTER_COUNT]) {
    uint64_t stack[80];
    for (size_t i = 0; i < PT_COUNT(stack); i++)
        stack[i] = 0x9000 + i;
    const struct pt_unwind_rule rule = { .kind = (uint8_t)kind };
    struct pt_unwind_state s = state_of(stack, 80, 0x4000, 0);
    s.is_exact_pc = false;
    assert_int_equal(pt_unwind_step(&s, &rule), PT_UNWIND_MORE);
    for (unsigned i = 0; i < PT_REGISTER_COUNT; i++)
        assert_int_equal(s.registers[i], 0x9000 + places[i] / 8);
    assert_int_equal(pt_unwind_lookup_pc(&s), 0x9000 + places[0] / 8); /* interrupted, not called */
    /* a copy that ends right after it is enough, a shorter one is not */
    s = state_of(stack, places[PT_REGISTER_PC] / 8u + 1, 0x4000, 0);
    assert_int_equal(pt_unwind_step(&s, &rule), PT_UNWIND_MORE);
    s = state_of(stack, places[PT_REGISTER_PC] / 8u, 0x4000, 0x55);
    assert_int_equal(pt_unwind_step(&s, &rule), PT_UNWIND_TRUNCATED);
    assert_int_equal(s.registers[PT_REGISTER_FP], 0x55);
    stack[places[PT_REGISTER_PC] / 8] = 0;
    s = state_of(stack, 80, 0x4000, 0);
    assert_int_equal(pt_unwind_step(&s, &rule), PT_UNWIND_ROOT);
}

static void test_signal_step(void **state) {
    (void)state;
    /* of struct ucontext: gregs from 40 on, r8 first */
    static const uint16_t x86[PT_REGISTER_COUNT] = { 168, 160, 120, 128, 72, 80, 88, 96, 56 };
    check_signal_step(PT_RULE_SIGNAL_X86, x86);
    /* siginfo has 128 bytes, the mcontext is 176 behind, x0 follows the fault address */
    enum { X0 = 128 + 176 + 8 };
    static const uint16_t arm[PT_REGISTER_COUNT] = { X0 + 32 * 8, X0 + 31 * 8, X0 + 29 * 8,
                                                     X0 + 30 * 8, X0 + 19 * 8, X0 + 20 * 8,
                                                     X0 + 21 * 8, X0 + 22 * 8, X0 + 23 * 8 };
    check_signal_step(PT_RULE_SIGNAL_ARM, arm);
}

static void test_frame_pointers(void **state) {
    (void)state;
    const uint64_t stack[] = { 9, 0x7018, 0x4010, 0x7018, 0x4020 };
    struct pt_unwind_state s = state_of(stack, 5, 0x4000, 0x7008);
    assert_int_equal(pt_unwind_step_fp(&s), PT_UNWIND_MORE);
    assert_int_equal(s.registers[PT_REGISTER_PC], 0x4010);
    assert_int_equal(s.registers[PT_REGISTER_SP], 0x7018);
    assert_int_equal(s.registers[PT_REGISTER_FP], 0x7018);
    assert_int_equal(pt_unwind_lookup_pc(&s), 0x400f);
    assert_int_equal(pt_unwind_step_fp(&s), PT_UNWIND_LOST); /* it points to itself */
    const uint64_t last[] = { 0, 0x4010, 0x7000, 0 };
    s = state_of(last, 4, 0x4000, 0x7000); /* the outermost has no caller's pointer */
    assert_int_equal(pt_unwind_step_fp(&s), PT_UNWIND_MORE);
    assert_int_equal(s.registers[PT_REGISTER_FP], 0);
    s = state_of(last, 4, 0x4000, 0x7004);
    assert_int_equal(pt_unwind_step_fp(&s), PT_UNWIND_LOST); /* not aligned */
    s = state_of(last, 4, 0x4000, 0x7000);
    s.registers[PT_REGISTER_SP] = 0x7008;
    assert_int_equal(pt_unwind_step_fp(&s), PT_UNWIND_LOST); /* below the stack pointer */
    s = state_of(last, 4, 0x4000, 0x7020);
    assert_int_equal(pt_unwind_step_fp(&s), PT_UNWIND_TRUNCATED);
    const uint64_t end[] = { 0, 0 };
    s = state_of(end, 2, 0x4000, 0x7000);
    assert_int_equal(pt_unwind_step_fp(&s), PT_UNWIND_ROOT);
}

static void test_eh_index(void **state) {
    (void)state;
    int32_t section[] = { 0x3b031b01, 0, 3, 0x100, 0, 0x140, 0, 0x200, 0 };
    struct pt_str bytes = { (const char *)section, sizeof section };
    uint64_t start;
    assert_true(pt_eh_index_find(bytes, 0x8000, 0x8150, &start));
    assert_int_equal(start, 0x8140);
    assert_true(pt_eh_index_find(bytes, 0x8000, 0x8100, &start));
    assert_int_equal(start, 0x8100);
    assert_true(pt_eh_index_find(bytes, 0x8000, 0x813f, &start));
    assert_int_equal(start, 0x8100);
    assert_true(pt_eh_index_find(bytes, 0x8000, 0x9000, &start));
    assert_int_equal(start, 0x8200);
    assert_false(pt_eh_index_find(bytes, 0x8000, 0x80ff, &start));
    section[2] = 4; /* more than there are */
    assert_false(pt_eh_index_find(bytes, 0x8000, 0x8150, &start));
    section[2] = 3;
    assert_false(pt_eh_index_find((struct pt_str){ bytes.at, 11 }, 0x8000, 0x8150, &start));
    section[0] = 0x3b031b02; /* another version */
    assert_false(pt_eh_index_find(bytes, 0x8000, 0x8150, &start));
}

static void test_kallsyms(void **state) {
    (void)state;
    static const char text[] = "0000000000000000 A fixed_percpu_data\n"
                               "ffffffff81000000 T _text\n"
                               "ffffffff81000100 t do_futex\n"
                               "ffffffff81000180 D a_variable\n"
                               "ffffffff81000200 T schedule\n"
                               "ffffffffc0a01000 t xfs_read\t[xfs]\n";
    const uint64_t wanted[] = { UINT64_C(0xffffffff81000104), UINT64_C(0xffffffff81000190),
                                UINT64_C(0xffffffff81000200), UINT64_C(0xffffffffc0a01004) };
    struct pt_kernel_symbol found[4];
    pt_kallsyms_find(pt_scan_of(pt_str_from(text)), wanted, 4, found);
    assert_true(pt_str_eq(found[0].name, PT_STR("do_futex")));
    assert_true(pt_str_eq(found[1].name, PT_STR("do_futex")));
    assert_true(pt_str_eq(found[2].name, PT_STR("schedule")));
    assert_true(pt_str_eq(found[3].name, PT_STR("xfs_read")));
    pt_kallsyms_find(pt_scan_of(PT_STR("0000000000000000 T schedule\n")), wanted, 4, found);
    assert_int_equal(found[2].name.len, 0);
}

static void test_jit_map(void **state) {
    (void)state;
    static const char text[] = "1000 100 py::old:/a.py\n"
                               "2000 10 LazyCompile:*main app.js:12\n"
                               "1000 80 py::new:/a.py\n"
                               "no line\n";
    const uint64_t wanted[] = { 0x1010, 0x1090, 0x200f, 0x2010 };
    struct pt_jit_symbol found[4];
    pt_jit_map_find(pt_scan_of(pt_str_from(text)), wanted, 4, found);
    assert_true(pt_str_eq(found[0].name, PT_STR("py::new:/a.py")));
    assert_true(pt_str_eq(found[1].name, PT_STR("py::old:/a.py")));
    assert_true(pt_str_eq(found[2].name, PT_STR("LazyCompile:*main app.js:12")));
    assert_int_equal(found[3].name.len, 0);
}

static uint32_t stack_of(struct pt_profile *p, const char *const *names, size_t count) {
    uint32_t stack = PT_PROFILE_NONE;
    for (size_t i = 0; i < count; i++) {
        struct pt_profile_function f = { .name = pt_profile_string(p, pt_str_from(names[i])),
                                         .module = PT_PROFILE_NONE,
                                         .kind = PT_KIND_NATIVE };
        struct pt_profile_frame frame = { .function = pt_profile_function(p, f),
                                          .module = PT_PROFILE_NONE };
        stack = pt_profile_stack(p, stack, pt_profile_frame(p, frame));
    }
    return stack;
}

#define STACK(p, ...)                              \
    stack_of((p), (const char *[]){ __VA_ARGS__ }, \
             sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *))

static const struct pt_profile_value_type types[] = { { "cpu", PT_PROFILE_SAMPLES } };

static enum pt_profile_state classify_stack(struct pt_profile *p, uint32_t stack, bool is_on_cpu) {
    const struct pt_profile_sample sample = { .thread = PT_PROFILE_NONE, .stack = stack };
    const int64_t weight = 1;
    assert_true(pt_profile_sample(p, &sample, &weight));
    pt_classify(p, is_on_cpu);
    return p->samples.at[p->samples.count - 1].state;
}

static void test_classify(void **state) {
    (void)state;
    struct pt_profile p;
    pt_profile_init(&p, types, 1);
    uint32_t cuda = STACK(&p, "main", "cudaStreamSynchronize", "futex_wait", "schedule");
    uint32_t idle = STACK(&p, "start_thread", "pthread_cond_wait@@GLIBC_2.3.2", "futex_wait");
    uint32_t lock = STACK(&p, "main", "pthread_mutex_lock", "futex_wait", "schedule");
    uint32_t work = STACK(&p, "main", "matmul");
    assert_int_equal(classify_stack(&p, cuda, true), PT_STATE_GPU);
    assert_int_equal(classify_stack(&p, cuda, false), PT_STATE_GPU);
    assert_int_equal(classify_stack(&p, idle, false), PT_STATE_IDLE);
    assert_int_equal(classify_stack(&p, idle, true), PT_STATE_ON_CPU);
    assert_int_equal(classify_stack(&p, lock, false), PT_STATE_LOCK);
    assert_int_equal(classify_stack(&p, work, true), PT_STATE_ON_CPU);
    assert_int_equal(classify_stack(&p, STACK(&p, "main", "ncclAllReduce"), true),
                     PT_STATE_COLLECTIVE);
    pt_profile_release(&p);
}

static void add_samples(struct pt_profile *p, uint32_t stack, int64_t value) {
    struct pt_profile_sample sample = { .stack = stack, .thread = PT_PROFILE_NONE };
    assert_true(pt_profile_sample(p, &sample, &value));
}

static void test_top(void **state) {
    (void)state;
    struct pt_profile p;
    struct pt_top top;
    pt_profile_init(&p, types, 1);
    add_samples(&p, STACK(&p, "main", "fib", "fib", "fib"), 6);
    add_samples(&p, STACK(&p, "main", "fib"), 1);
    add_samples(&p, STACK(&p, "main", "other"), 3);
    pt_top_make(&top, &p);
    assert_int_equal(top.sum, 10);
    assert_int_equal(top.count, 3);
    assert_int_equal(top.rows[0].self, 7); /* fib */
    assert_int_equal(top.rows[0].total, 7);
    assert_int_equal(top.rows[1].self, 3); /* other */
    assert_int_equal(top.rows[2].self, 0); /* main */
    assert_int_equal(top.rows[2].total, 10);
    pt_top_release(&top);
    pt_profile_release(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        { "C242: the usual rule is the stack pointer and a number", test_offset_rule },
        { "C242: a realigned stack is found through the frame pointer", test_realigned_rule },
        { "C242: stubs, roots, signals; what is not understood is not a rule", test_other_rules },
        { "C242: arm64: a leaf returns by its register", test_arm_rules },
        { "C242: registers have the numbers of DWARF", test_dwarf_registers },
        { "C242: a rule has a slot for each saved register, or none", test_slots },
        { "C242: a frame address is a register and a number, or a stub's", test_frame_rules },
        { "C242: a register that cannot be restored is 0", test_lost_registers },
        { "C242: steps end where the copy of the stack does", test_bounds },
        { "C242: a step restores the caller's registers", test_step },
        { "C242: a short copy is told from a wrong step", test_truncated },
        { "C242: a step out of a realigned stack", test_realigned_step },
        { "C242: a step out of a stub, before and after it pushed", test_plt_step },
        { "C242: a step out of a signal handler", test_signal_step },
        { "C242: frame pointers are followed while they rise", test_frame_pointers },
        { "C242: functions of stripped files start where their rules do", test_eh_index },
        { "C241: kernel addresses have the name that stands before them", test_kallsyms },
        { "C241: a JIT's later names win", test_jit_map },
        { "C241: waiting is told from work", test_classify },
        { "C243: a function that calls itself counts once in total", test_top },
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
