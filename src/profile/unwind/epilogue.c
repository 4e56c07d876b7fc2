#include "profile/unwind/epilogue.h"

#include "profile/unwind/x86.h"

#define FRAME_MAX (1 << 20)

enum { RBX = 3, RSP = 4, RBP = 5, R10 = 10, R12 = 12, R15 = 15 };
enum {
    CMP = 0x38, /* opcodes below it compute: add, or, adc, sbb, and, sub, xor */
    PUSH = 0x50,
    POP = 0x58,
    PUSH_IMM32 = 0x68,
    PUSH_IMM8 = 0x6a,
    GROUP1_IMM32 = 0x81,
    GROUP1_IMM8 = 0x83,
    XCHG = 0x87,
    MOV_TO_RM = 0x89,
    MOV_TO_REG = 0x8b,
    LEA = 0x8d,
    POP_RM = 0x8f,
    PUSHF = 0x9c,
    POPF = 0x9d,
    MOV_REG_IMM = 0xb8,
    RET_IMM16 = 0xc2,
    RET = 0xc3,
    MOV_RM_IMM32 = 0xc7,
    ENTER = 0xc8,
    LEAVE = 0xc9,
    GROUP5 = 0xff,
};
#define OPCODE_MASK 0xf8 /* of opcodes whose lower three bits are a register */
enum { GROUP1_ADD = 0, GROUP1_SUB = 5, GROUP1_CMP = 7, GROUP5_PUSH = 6 };

/* The current stack pointer, relative to that at the start or to the frame pointer. */
struct reading {
    bool is_from_fp, is_over;
    int64_t depth;
    int64_t saved[PT_RULE_SAVED]; /* depth at which a register is saved */
    bool has_saved[PT_RULE_SAVED];
};

/* In our own numbering; 0: the register is not tracked. */
static unsigned own_register(unsigned number) {
    return number == RBP                    ? PT_REGISTER_FP
           : number == RBX                  ? PT_REGISTER_3
           : number >= R12 && number <= R15 ? PT_REGISTER_4 + (number - R12)
           : number == R10                  ? PT_REGISTER_8
                                            : 0;
}

/* A value pushed since the start is not the caller's register. */
static void pop(struct reading *r, unsigned number) {
    unsigned own = own_register(number);
    if (own && (r->is_from_fp || r->depth >= 0)) {
        r->saved[own - PT_REGISTER_FP] = r->depth;
        r->has_saved[own - PT_REGISTER_FP] = true;
    }
    r->depth += 8;
}

static void use_frame_pointer(struct reading *r, int32_t offset) {
    r->is_from_fp = true;
    r->depth = offset;
}

/* add and sub; other operations of the group lose the stack pointer */
static bool add_to_pointer(struct reading *r, const struct pt_x86 *x) {
    if (x->reg != GROUP1_ADD && x->reg != GROUP1_SUB)
        return x->reg == GROUP1_CMP;
    if (x->immediate > FRAME_MAX || x->immediate < -FRAME_MAX)
        return false;
    r->depth += x->reg == GROUP1_ADD ? x->immediate : -x->immediate;
    return true;
}

static bool load_pointer(struct reading *r, const struct pt_x86 *x) {
    if (x->displacement > FRAME_MAX || x->displacement < -FRAME_MAX)
        return false;
    if (x->rm == RSP)
        r->depth += x->displacement;
    else if (x->rm == RBP)
        use_frame_pointer(r, x->displacement);
    else
        return false;
    return true;
}

static bool move_to_pointer(struct reading *r, unsigned from) {
    use_frame_pointer(r, 0);
    return from == RBP;
}

static bool follow_stack(struct reading *r, const struct pt_x86 *x) {
    switch (x->opcode & OPCODE_MASK) {
    case PUSH:
        r->depth -= 8;
        return true;
    case POP:
        pop(r, x->rm);
        return x->rm != RSP;
    default:
        break;
    }
    switch (x->opcode) {
    case PUSH_IMM32:
    case PUSH_IMM8:
    case PUSHF:
        r->depth -= 8;
        return true;
    case POP_RM:
    case POPF:
        r->depth += 8;
        return true;
    case LEAVE:
        use_frame_pointer(r, 0);
        pop(r, RBP);
        return true;
    case RET:
    case RET_IMM16:
        r->is_over = true;
        return true;
    default:
        return true;
    }
}

/* Instructions that change the stack pointer in an untraceable way: add a register, load a
 * constant, exchange. */
static bool is_lost(const struct pt_x86 *x) {
    bool is_rm = !x->is_memory && x->rm == RSP, is_reg = x->reg == RSP;
    if (x->opcode < CMP)
        return (x->opcode & 7) < 4 && (x->opcode & 2 ? is_reg : is_rm);
    if (x->opcode == XCHG)
        return is_reg || is_rm;
    return x->opcode == ENTER ||
           (is_rm && (x->opcode == MOV_RM_IMM32 || (x->opcode & OPCODE_MASK) == MOV_REG_IMM));
}

/* False: the stack pointer is lost. */
static bool follow(struct reading *r, const struct pt_x86 *x) {
    bool is_pointer = !x->is_memory && x->rm == RSP, is_from_pointer = x->reg == RSP;
    if (!x->is_one_byte)
        return true;
    if (is_lost(x))
        return false;
    switch (x->opcode) {
    case GROUP1_IMM32:
    case GROUP1_IMM8:
        return !is_pointer || add_to_pointer(r, x);
    case MOV_TO_RM:
        return !is_pointer || move_to_pointer(r, x->reg);
    case MOV_TO_REG:
        return !is_from_pointer || (!x->is_memory && move_to_pointer(r, x->rm));
    case LEA:
        return !is_from_pointer || load_pointer(r, x);
    case GROUP5:
        r->depth -= (x->reg & 7) == GROUP5_PUSH ? 8 : 0;
        return true;
    default:
        return follow_stack(r, x);
    }
}

/* At the return, the stack pointer points to the return address. */
static bool make_rule(const struct reading *r, struct pt_unwind_rule *rule) {
    int64_t frame = r->depth + 8;
    if (frame < 8 || frame > FRAME_MAX || frame % 8 != 0)
        return false;
    *rule = (struct pt_unwind_rule){ .kind = PT_RULE_OFFSET,
                                     .base = r->is_from_fp ? PT_REGISTER_FP : PT_REGISTER_SP,
                                     .offset = (int32_t)frame,
                                     .return_slot = 1 };
    for (unsigned i = 0; i < PT_RULE_SAVED; i++) {
        int64_t slot = r->has_saved[i] ? (frame - r->saved[i]) / 8 : PT_SAVED_SAME;
        if (slot < 0 || slot >= PT_SAVED_LOST)
            return false;
        rule->saved[i] = (uint8_t)slot;
    }
    return true;
}

bool pt_epilogue_rule(const uint8_t *code, size_t size, struct pt_unwind_rule *rule) {
    struct reading r = { 0 };
    struct pt_x86 x;
    for (size_t at = 0; at < size && !r.is_over; at += x.length)
        if (!pt_x86_parse(code + at, size - at, &x) || !follow(&r, &x))
            return false;
    return r.is_over && make_rule(&r, rule);
}
