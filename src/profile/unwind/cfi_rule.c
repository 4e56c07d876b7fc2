#include "profile/unwind/cfi_rule.h"

#include "base/attr.h"
#include "inside/preload/dwarf.h"

static const int8_t dwarf_registers[][PT_REGISTER_COUNT] = {
    [PT_MACHINE_X86_64] = { 16, 7, 6, 3, 12, 13, 14, 15, 10 },
    [PT_MACHINE_ARM64] = { -1, 31, 29, 30, 19, 20, 21, 22, 23 },
};

int pt_cfi_dwarf_register(enum pt_machine machine, unsigned number) {
    return dwarf_registers[machine][number];
}

static int own_register(enum pt_machine machine, int64_t dwarf) {
    for (unsigned i = 0; i < PT_REGISTER_COUNT; i++)
        if (dwarf >= 0 && dwarf_registers[machine][i] == dwarf)
            return (int)i;
    return -1;
}

/* "breg7 48": a register plus an offset. */
static bool is_register_plus(enum pt_machine machine, const struct pt_cfi_op *op, int *number,
                             int64_t *offset) {
    if (op->atom >= DW_OP_breg0 && op->atom <= DW_OP_breg31) {
        *number = own_register(machine, op->atom - DW_OP_breg0);
        *offset = op->number;
    } else if (op->atom == DW_OP_bregx) {
        *number = own_register(machine, op->number);
        *offset = op->number2;
    } else {
        return false;
    }
    return *number >= 0 && *offset >= INT32_MIN && *offset <= INT32_MAX;
}

static bool is_plt(const struct pt_cfi_value *v) {
    static const uint8_t atoms[] = { DW_OP_breg7, DW_OP_breg16, DW_OP_lit15, DW_OP_and, 0,
                                     DW_OP_ge,    DW_OP_lit3,   DW_OP_shl,   DW_OP_plus };
    if (v->count != sizeof atoms || v->ops[0].number < 0 || v->ops[0].number > 0xffff)
        return false;
    for (size_t i = 0; i < sizeof atoms; i++)
        if (atoms[i] && v->ops[i].atom != atoms[i])
            return false;
    return v->ops[4].atom >= DW_OP_lit0 && v->ops[4].atom <= DW_OP_lit15;
}

static bool set_frame(const struct pt_cfi *cfi, struct pt_unwind_rule *rule) {
    const struct pt_cfi_value *v = &cfi->frame;
    int base;
    int64_t offset;
    if (v->form != PT_CFI_OPS || v->count == 0)
        return false;
    if (cfi->machine == PT_MACHINE_X86_64 && is_plt(v)) {
        rule->kind = PT_RULE_PLT;
        rule->base = PT_REGISTER_SP;
        rule->offset = (int32_t)(v->ops[0].number | (v->ops[4].atom - DW_OP_lit0) << 16);
        return true;
    }
    bool is_indirect = v->count == 2 && v->ops[1].atom == DW_OP_deref;
    if ((v->count != 1 && !is_indirect) ||
        !is_register_plus(cfi->machine, &v->ops[0], &base, &offset))
        return false;
    rule->kind = is_indirect ? PT_RULE_INDIRECT : PT_RULE_OFFSET;
    rule->base = (uint8_t)base;
    rule->offset = (int32_t)offset;
    return true;
}

/* A slot counts words below an address. */
static uint8_t slot_of(int64_t bytes_below) {
    bool fits = bytes_below >= 8 && bytes_below < 8 * PT_SAVED_LOST && bytes_below % 8 == 0;
    return (uint8_t)(fits ? bytes_below / 8 : PT_SAVED_LOST);
}

/* "call_frame_cfa, plus_uconst -16": below the frame address. */
static uint8_t frame_slot(const struct pt_cfi_value *v) {
    if (v->count != 2 || v->ops[0].atom != DW_OP_call_frame_cfa ||
        v->ops[1].atom != DW_OP_plus_uconst || v->ops[1].number < INT32_MIN)
        return PT_SAVED_LOST;
    return slot_of(-v->ops[1].number);
}

/* "breg6 -24": below FP + 8. In DWARF the frame address is already on the expression's stack, which
 * libdw shows as "call_frame_cfa, breg6 -24". */
static uint8_t fp_slot(enum pt_machine machine, const struct pt_cfi_value *v) {
    size_t first = v->count == 2 && v->ops[0].atom == DW_OP_call_frame_cfa;
    int number;
    int64_t offset;
    if (v->count != first + 1 || !is_register_plus(machine, &v->ops[first], &number, &offset) ||
        number != PT_REGISTER_FP)
        return PT_SAVED_LOST;
    return slot_of(8 - offset);
}

static uint8_t saved_slot(const struct pt_cfi *cfi, const struct pt_cfi_value *v, bool from_fp) {
    if (v->form == PT_CFI_SAME)
        return PT_SAVED_SAME;
    if (v->form == PT_CFI_UNDEFINED)
        return PT_SAVED_LOST;
    return from_fp ? fp_slot(cfi->machine, v) : frame_slot(v);
}

/* A realigned stack: all saved registers are addressed from FP. */
static bool is_from_fp(const struct pt_cfi *cfi) {
    for (unsigned i = 0; i < PT_RULE_SAVED; i++)
        if (cfi->saved[i].form == PT_CFI_OPS &&
            fp_slot(cfi->machine, &cfi->saved[i]) != PT_SAVED_LOST)
            return true;
    return false;
}

static bool set_return(const struct pt_cfi *cfi, struct pt_unwind_rule *rule) {
    if (cfi->return_address.form == PT_CFI_SAME) {
        rule->return_slot = 0;
        return cfi->machine == PT_MACHINE_ARM64;
    }
    rule->return_slot = frame_slot(&cfi->return_address);
    return rule->return_slot != PT_SAVED_LOST;
}

struct pt_unwind_rule pt_cfi_rule(const struct pt_cfi *cfi) {
    struct pt_unwind_rule rule = { 0 };
    if (cfi->is_signal) {
        rule.kind = cfi->machine == PT_MACHINE_X86_64 ? PT_RULE_SIGNAL_X86 : PT_RULE_SIGNAL_ARM;
        rule.flags = PT_RULE_IS_SIGNAL;
        return rule;
    }
    if (cfi->return_address.form == PT_CFI_UNDEFINED) {
        rule.kind = PT_RULE_ROOT;
        return rule;
    }
    if (!set_frame(cfi, &rule) || !set_return(cfi, &rule))
        return (struct pt_unwind_rule){ 0 };
    bool from_fp = is_from_fp(cfi);
    rule.flags = from_fp ? PT_RULE_FROM_FP : 0;
    for (unsigned i = 0; i < PT_RULE_SAVED; i++)
        rule.saved[i] = saved_slot(cfi, &cfi->saved[i], from_fp);
    return rule;
}
