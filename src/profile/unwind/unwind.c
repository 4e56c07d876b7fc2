#include "profile/unwind/unwind.h"

#include <string.h>

static bool read_stack(const struct pt_unwind_state *s, uint64_t address, uint64_t *value) {
    uint64_t offset = address - s->stack_start;
    if (s->stack_size < sizeof *value || offset > s->stack_size - sizeof *value)
        return false;
    memcpy(value, s->stack + offset, sizeof *value);
    return true;
}

/* Only for an address above the copy would a larger copy help. */
static enum pt_unwind_end unreadable(const struct pt_unwind_state *s, uint64_t address) {
    return address >= s->stack_start + s->stack_size ? PT_UNWIND_TRUNCATED : PT_UNWIND_LOST;
}

static bool frame_address(const struct pt_unwind_state *s, const struct pt_unwind_rule *rule,
                          uint64_t *frame, uint64_t *needed) {
    *needed = *frame = s->registers[rule->base] + (uint64_t)(int64_t)rule->offset;
    if (rule->kind == PT_RULE_INDIRECT)
        return read_stack(s, *needed, frame);
    if (rule->kind == PT_RULE_PLT) {
        /* rip modulo 16 shows whether a PLT stub has already pushed its argument */
        uint64_t limit = (uint32_t)rule->offset >> 16, offset = (uint32_t)rule->offset & 0xffff;
        bool has_pushed = (s->registers[PT_REGISTER_PC] & 15) >= limit;
        *frame = s->registers[PT_REGISTER_SP] + offset + (has_pushed ? 8 : 0);
    }
    return true;
}

/* Where the kernel saves the registers of an interrupted x86-64 thread: gregs of the ucontext at
 * the stack pointer of __restore_rt. */
static const struct {
    uint8_t number;
    uint16_t offset;
} signal_x86[] = {
    { PT_REGISTER_8, 56 },  { PT_REGISTER_4, 72 },   { PT_REGISTER_5, 80 },
    { PT_REGISTER_6, 88 },  { PT_REGISTER_7, 96 },   { PT_REGISTER_FP, 120 },
    { PT_REGISTER_3, 128 }, { PT_REGISTER_SP, 160 }, { PT_REGISTER_PC, 168 },
};

/* siginfo (128), then the ucontext with registers from offset 176 on, after the fault address. */
#define ARM_SIGNAL_REGISTERS 312

static const struct {
    uint8_t number;
    uint16_t offset;
} signal_arm[] = {
    { PT_REGISTER_4, 19 * 8 }, { PT_REGISTER_5, 20 * 8 },  { PT_REGISTER_6, 21 * 8 },
    { PT_REGISTER_7, 22 * 8 }, { PT_REGISTER_8, 23 * 8 },  { PT_REGISTER_FP, 29 * 8 },
    { PT_REGISTER_3, 30 * 8 }, { PT_REGISTER_SP, 31 * 8 }, { PT_REGISTER_PC, 32 * 8 },
};

static enum pt_unwind_end step_signal(struct pt_unwind_state *s,
                                      const struct pt_unwind_rule *rule) {
    bool is_x86 = rule->kind == PT_RULE_SIGNAL_X86;
    uint64_t base = s->registers[PT_REGISTER_SP] + (is_x86 ? 0 : ARM_SIGNAL_REGISTERS);
    uint64_t found[PT_REGISTER_COUNT] = { 0 };
    for (size_t i = 0; i < PT_REGISTER_COUNT; i++) {
        uint8_t number = is_x86 ? signal_x86[i].number : signal_arm[i].number;
        uint64_t address = base + (is_x86 ? signal_x86[i].offset : signal_arm[i].offset);
        if (!read_stack(s, address, &found[number]))
            return unreadable(s, address);
    }
    memcpy(s->registers, found, sizeof found);
    s->is_exact_pc = true;
    return found[PT_REGISTER_PC] ? PT_UNWIND_MORE : PT_UNWIND_ROOT;
}

/* A register that cannot be read matters only if a later rule uses it; 0 then ends the stack.
 */
static void restore_saved(struct pt_unwind_state *s, const struct pt_unwind_rule *rule,
                          uint64_t frame) {
    bool from_fp = rule->flags & PT_RULE_FROM_FP;
    uint64_t from = from_fp ? s->registers[PT_REGISTER_FP] + 8 : frame;
    for (unsigned i = 0; i < PT_RULE_SAVED; i++) {
        uint64_t *value = &s->registers[PT_REGISTER_FP + i];
        uint8_t slot = rule->saved[i];
        if (slot == PT_SAVED_SAME)
            continue;
        if (slot == PT_SAVED_LOST || !read_stack(s, from - 8u * slot, value))
            *value = 0;
    }
}

static enum pt_unwind_end step_frame(struct pt_unwind_state *s, const struct pt_unwind_rule *rule) {
    uint64_t frame, needed, pc;
    if (!frame_address(s, rule, &frame, &needed))
        return unreadable(s, needed);
    uint64_t at = frame - 8u * rule->return_slot;
    bool is_in_link = rule->return_slot == 0;
    if (is_in_link)
        pc = s->registers[PT_REGISTER_LINK];
    else if (!read_stack(s, at, &pc))
        return unreadable(s, at);
    /* only a leaf with its return address in LINK may have an empty frame */
    bool is_stuck = frame < s->registers[PT_REGISTER_SP] ||
                    (frame == s->registers[PT_REGISTER_SP] && !(is_in_link && s->is_exact_pc));
    if (is_stuck)
        return PT_UNWIND_LOST;
    restore_saved(s, rule, frame);
    s->registers[PT_REGISTER_PC] = pc;
    s->registers[PT_REGISTER_SP] = frame;
    s->is_exact_pc = false;
    return pc ? PT_UNWIND_MORE : PT_UNWIND_ROOT;
}

enum pt_unwind_end pt_unwind_step(struct pt_unwind_state *s, const struct pt_unwind_rule *rule) {
    switch ((enum pt_rule_kind)rule->kind) {
    case PT_RULE_NONE:
        return PT_UNWIND_LOST;
    case PT_RULE_ROOT:
        return PT_UNWIND_ROOT;
    case PT_RULE_SIGNAL_X86:
    case PT_RULE_SIGNAL_ARM:
        return step_signal(s, rule);
    default:
        return step_frame(s, rule);
    }
}

enum pt_unwind_end pt_unwind_step_fp(struct pt_unwind_state *s) {
    uint64_t fp = s->registers[PT_REGISTER_FP], caller_fp, pc;
    if (fp < s->registers[PT_REGISTER_SP] || fp & 7)
        return PT_UNWIND_LOST;
    if (!read_stack(s, fp, &caller_fp) || !read_stack(s, fp + 8, &pc))
        return unreadable(s, fp);
    if (caller_fp != 0 && caller_fp <= fp)
        return PT_UNWIND_LOST;
    s->registers[PT_REGISTER_PC] = pc;
    s->registers[PT_REGISTER_SP] = fp + 16;
    s->registers[PT_REGISTER_FP] = caller_fp;
    s->is_exact_pc = false;
    return pc ? PT_UNWIND_MORE : PT_UNWIND_ROOT;
}
