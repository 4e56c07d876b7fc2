/* profile/unwind/unwind.h -- finds the callers of a thread from its registers and a copy of its
 * stack, by rules made from .eh_frame (profile/unwind/cfi_rule.h). Does not access files.
 *
 * Registers have our own numbers, the same on all architectures; cfi_rule.c has the table. */
#ifndef PT_PROFILE_UNWIND_UNWIND_H
#define PT_PROFILE_UNWIND_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PT_REGISTER_PC,
    PT_REGISTER_SP,
    PT_REGISTER_FP, /* rbp, x29: the first register that a rule may restore */
    PT_REGISTER_3,  /* rbx; x30, the link register */
    PT_REGISTER_4,  /* r12; x19 */
    PT_REGISTER_5,
    PT_REGISTER_6,
    PT_REGISTER_7, /* r15; x22 */
    PT_REGISTER_8, /* r10: holds the frame address while a function realigns its stack; x23 */
    PT_REGISTER_COUNT
};
#define PT_REGISTER_LINK PT_REGISTER_3
#define PT_RULE_SAVED    (PT_REGISTER_COUNT - PT_REGISTER_FP)

enum pt_rule_kind {
    PT_RULE_NONE,       /* no rule is known */
    PT_RULE_ROOT,       /* the outermost function */
    PT_RULE_OFFSET,     /* frame address = register + offset */
    PT_RULE_INDIRECT,   /* frame address = *(register + offset): a realigned stack */
    PT_RULE_PLT,        /* frame address = sp + offset, 8 more from the `limit`th byte of 16 on */
    PT_RULE_SIGNAL_X86, /* all registers are in a signal frame, from register + offset on */
    PT_RULE_SIGNAL_ARM,
};

enum {
    PT_RULE_IS_SIGNAL = 1, /* the caller was interrupted: its PC is not a return address */
    PT_RULE_FROM_FP = 2,   /* saved registers are found from FP, not from the frame address */
};

/* How to find the caller's registers. 16 bytes: half a million fit into 8 MB. */
struct pt_unwind_rule {
    uint8_t kind; /* enum pt_rule_kind */
    uint8_t base; /* register */
    uint8_t flags;
    uint8_t return_slot; /* the return address is at frame address - 8 * slot; 0: in LINK */
    int32_t offset;      /* for a PLT: offset in the low 16 bits, limit in the high ones */
    uint8_t
        saved[PT_RULE_SAVED]; /* of FP and those after it: 0 = unchanged, 255 = lost, n: at frame
                                     address - 8 n, or at FP - 8 (n - 1) */
    uint8_t reserved;
};
_Static_assert(sizeof(struct pt_unwind_rule) == 16, "rules are kept by the hundred thousand");

#define PT_SAVED_SAME 0
#define PT_SAVED_LOST 255

struct pt_unwind_state {
    uint64_t registers[PT_REGISTER_COUNT];
    bool is_exact_pc; /* of a leaf or an interrupted frame; otherwise a return address */
    const uint8_t *stack;
    size_t stack_size;
    uint64_t stack_start;
};

enum pt_unwind_end {
    PT_UNWIND_MORE,
    PT_UNWIND_ROOT,
    PT_UNWIND_TRUNCATED, /* the copy of the stack is too short */
    PT_UNWIND_LOST,      /* no rule, or a rule that fails */
};

/* The address to look up rules and symbols by: a return address may already belong to the next
 * function.
 */
static inline uint64_t pt_unwind_lookup_pc(const struct pt_unwind_state *s) {
    return s->registers[PT_REGISTER_PC] - !s->is_exact_pc;
}

/* Moves to the caller. */
enum pt_unwind_end pt_unwind_step(struct pt_unwind_state *s, const struct pt_unwind_rule *rule);

/* Fallback without a rule, for code that keeps frame pointers. */
enum pt_unwind_end pt_unwind_step_fp(struct pt_unwind_state *s);

#endif
