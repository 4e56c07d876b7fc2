/* inside/preload/dwarf.h -- the numbers of DWARF 5 and of the LSB's .eh_frame that Pitot uses,
 * by their names in the standard. <dwarf.h> of elfutils has them too, but the preloaded
 * libraries and the program are built without it. */
#ifndef PT_INSIDE_PRELOAD_DWARF_H
#define PT_INSIDE_PRELOAD_DWARF_H

/* Instructions of call frame programs (section 7.24). The upper two bits of the first three select
 * the instruction, the lower six are its operand. */
enum {
    DW_CFA_advance_loc = 0x40,
    DW_CFA_offset = 0x80,
    DW_CFA_restore = 0xc0,
    DW_CFA_nop = 0x00,
    DW_CFA_set_loc = 0x01,
    DW_CFA_advance_loc1 = 0x02,
    DW_CFA_advance_loc2 = 0x03,
    DW_CFA_advance_loc4 = 0x04,
    DW_CFA_offset_extended = 0x05,
    DW_CFA_restore_extended = 0x06,
    DW_CFA_undefined = 0x07,
    DW_CFA_same_value = 0x08,
    DW_CFA_register = 0x09,
    DW_CFA_remember_state = 0x0a,
    DW_CFA_restore_state = 0x0b,
    DW_CFA_def_cfa = 0x0c,
    DW_CFA_def_cfa_register = 0x0d,
    DW_CFA_def_cfa_offset = 0x0e,
    DW_CFA_def_cfa_expression = 0x0f,
    DW_CFA_expression = 0x10,
    DW_CFA_offset_extended_sf = 0x11,
    DW_CFA_def_cfa_sf = 0x12,
    DW_CFA_def_cfa_offset_sf = 0x13,
    DW_CFA_val_offset = 0x14,
    DW_CFA_val_offset_sf = 0x15,
    DW_CFA_val_expression = 0x16,
    DW_CFA_AARCH64_negate_ra_state = 0x2d,
    DW_CFA_GNU_args_size = 0x2e,
};
#define DW_CFA_PRIMARY_MASK 0xc0
#define DW_CFA_OPERAND_MASK 0x3f

/* Operations of expressions (section 7.7.1). */
enum {
    DW_OP_deref = 0x06,
    DW_OP_and = 0x1a,
    DW_OP_plus = 0x22,
    DW_OP_plus_uconst = 0x23,
    DW_OP_shl = 0x24,
    DW_OP_ge = 0x2a,
    DW_OP_lit0 = 0x30,
    DW_OP_lit3 = 0x33,
    DW_OP_lit11 = 0x3b,
    DW_OP_lit15 = 0x3f,
    DW_OP_breg0 = 0x70,
    DW_OP_breg6 = 0x76,
    DW_OP_breg7 = 0x77,
    DW_OP_breg16 = 0x80,
    DW_OP_breg31 = 0x8f,
    DW_OP_bregx = 0x92,
    DW_OP_call_frame_cfa = 0x9c,
};

/* How a pointer in .eh_frame is encoded: the format in the lower four bits, what it is relative to
 * in the next three. */
enum {
    DW_EH_PE_absptr = 0x00,
    DW_EH_PE_udata4 = 0x03,
    DW_EH_PE_udata8 = 0x04,
    DW_EH_PE_sdata4 = 0x0b,
    DW_EH_PE_sdata8 = 0x0c,
    DW_EH_PE_pcrel = 0x10,
    DW_EH_PE_datarel = 0x30,
    DW_EH_PE_indirect = 0x80,
};
#define DW_EH_PE_FORMAT_MASK   0x0f
#define DW_EH_PE_RELATIVE_MASK 0x70

/* .eh_frame_hdr begins with these; all linkers write a table with these encodings. */
#define PT_EH_HDR_VERSION        1
#define PT_EH_HDR_FRAME_ENCODING (DW_EH_PE_pcrel | DW_EH_PE_sdata4)
#define PT_EH_HDR_COUNT_ENCODING DW_EH_PE_udata4
#define PT_EH_HDR_TABLE_ENCODING (DW_EH_PE_datarel | DW_EH_PE_sdata4)

#endif
