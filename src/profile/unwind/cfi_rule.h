/* profile/unwind/cfi_rule.h -- converts the DWARF call frame rules of one address, as libdw returns
 * them, to a rule of the unwinder. Compilers use few of the forms that DWARF allows:
 *
 *     breg7 48                                           rsp + 48
 *     call_frame_cfa, plus_uconst -16                    saved at the frame address - 16
 *     breg6 -8, deref                                    *(rbp - 8): a realigned stack
 *     breg7 8, breg16 0, lit15, and, lit11, ge, lit3, shl, plus    a stub of the PLT
 */
#ifndef PT_PROFILE_UNWIND_CFI_RULE_H
#define PT_PROFILE_UNWIND_CFI_RULE_H

#include "profile/unwind/unwind.h"

enum pt_machine { PT_MACHINE_X86_64, PT_MACHINE_ARM64 };

struct pt_cfi_op {
    uint8_t atom; /* DW_OP_* */
    int64_t number, number2;
};

enum pt_cfi_form { PT_CFI_SAME, PT_CFI_UNDEFINED, PT_CFI_OPS };

struct pt_cfi_value {
    enum pt_cfi_form form;
    const struct pt_cfi_op *ops; /* where the value is saved; for the frame address: its value */
    size_t count;
};

struct pt_cfi {
    enum pt_machine machine;
    bool is_signal;
    struct pt_cfi_value frame, return_address;
    struct pt_cfi_value saved[PT_RULE_SAVED]; /* of FP and the registers after it */
};

/* The DWARF number of one of our registers; -1: none. */
int pt_cfi_dwarf_register(enum pt_machine machine, unsigned number);

/* PT_RULE_NONE if the rules use a form that is not supported. */
struct pt_unwind_rule pt_cfi_rule(const struct pt_cfi *cfi);

#endif
