#include "profile/epilogue.h"

#include <string.h>

enum {
    POP_RBX = 0x5b,
    POP_RBP = 0x5d,
    POP_R12 = 0x5c,
    POP_R15 = 0x5f,
    EXTENDED = 0x41,
    RET = 0xc3
};

struct reading {
    const uint8_t *at, *end;
    int32_t depth;                /* bytes between the stack pointer and what was not popped yet */
    int32_t saved[PT_RULE_SAVED]; /* depth at which a register lies, and one; 0: it does not */
};

/* The register of our own numbers that an instruction pops, or 0. */
static unsigned popped(const uint8_t *at, size_t size, size_t *length) {
    *length = 1;
    if (size >= 1 && at[0] == POP_RBP)
        return PT_REGISTER_FP;
    if (size >= 1 && at[0] == POP_RBX)
        return PT_REGISTER_3;
    *length = 2;
    if (size >= 2 && at[0] == EXTENDED && at[1] >= POP_R12 && at[1] <= POP_R15)
        return PT_REGISTER_4 + (unsigned)(at[1] - POP_R12);
    return 0;
}

/* add rsp, n: how long the instruction is; 0: it is another one. */
static size_t added(const uint8_t *at, size_t size, int32_t *bytes) {
    static const uint8_t add_8[] = { 0x48, 0x83, 0xc4 }, add_32[] = { 0x48, 0x81, 0xc4 };
    if (size >= 4 && memcmp(at, add_8, sizeof add_8) == 0) {
        *bytes = (int8_t)at[3];
        return 4;
    }
    if (size >= 7 && memcmp(at, add_32, sizeof add_32) == 0) {
        memcpy(bytes, at + 3, sizeof *bytes);
        return 7;
    }
    return 0;
}

/* False at what neither pops nor adds. */
static bool step(struct reading *r) {
    size_t size = (size_t)(r->end - r->at), length;
    int32_t bytes = 8;
    unsigned number = popped(r->at, size, &length);
    if (number)
        r->saved[number - PT_REGISTER_FP] = r->depth + 1;
    else
        length = added(r->at, size, &bytes);
    if (length == 0 || bytes <= 0 || bytes % 8 != 0 || bytes > 1 << 20)
        return false;
    r->depth += bytes;
    r->at += length;
    return true;
}

bool pt_epilogue_rule(const uint8_t *code, size_t size, struct pt_unwind_rule *rule) {
    struct reading r = { .at = code, .end = code + size };
    while (r.at < r.end && *r.at != RET)
        if (!step(&r))
            return false;
    if (r.at == r.end)
        return false;
    int32_t frame = r.depth + 8; /* behind the return address */
    *rule = (struct pt_unwind_rule){
        .kind = PT_RULE_OFFSET, .base = PT_REGISTER_SP, .offset = frame, .return_slot = 1
    };
    for (unsigned i = 0; i < PT_RULE_SAVED; i++) {
        int32_t slot = r.saved[i] ? (frame - (r.saved[i] - 1)) / 8 : PT_SAVED_SAME;
        if (slot >= PT_SAVED_LOST)
            return false;
        rule->saved[i] = (uint8_t)slot;
    }
    return true;
}
