#include "profile/unwind/generated.h"

#include "base/confine.h"
#include "base/mem.h"
#include "profile/unwind/call_site.h"
#include "profile/unwind/epilogue.h"

static const struct pt_unwind_rule by_frame_pointer = {
    .kind = PT_RULE_OFFSET, .base = PT_REGISTER_FP, .offset = 16, .return_slot = 1, .saved = { 2 }
};

static size_t read_code(int32_t pid, uint64_t address, uint8_t *into, size_t size) {
    struct iovec local = { into, size }, remote = { (void *)(uintptr_t)address, size };
    ssize_t n = pt_confine_read(pid, &local, &remote, 1);
    return n > 0 ? (size_t)n : 0;
}

/* Does the rule lead to an address after a call instruction? */
static bool fits(const struct pt_space *space, const struct pt_unwind_state *s,
                 const struct pt_unwind_rule *rule) {
    struct pt_unwind_state caller = *s;
    uint8_t code[PT_CALL_BYTES];
    if (pt_unwind_step(&caller, rule) != PT_UNWIND_MORE)
        return false;
    uint64_t pc = caller.registers[PT_REGISTER_PC];
    return pt_space_find(space, pc - 1) &&
           read_code(space->pid, pc - sizeof code, code, sizeof code) == sizeof code &&
           pt_call_before(code, sizeof code) != PT_CALL_NONE;
}

bool pt_generated_rule(const struct pt_space *space, const struct pt_unwind_state *s,
                       struct pt_unwind_rule *rule) {
    uint8_t *code = pt_malloc(PT_EPILOGUE_BYTES);
    size_t size = read_code(space->pid, s->registers[PT_REGISTER_PC], code, PT_EPILOGUE_BYTES);
    bool has_epilogue = pt_epilogue_rule(code, size, rule);
    pt_free(code);
    if (has_epilogue && fits(space, s, rule))
        return true;
    *rule = by_frame_pointer;
    return fits(space, s, rule);
}
