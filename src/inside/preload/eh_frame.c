/* .eh_frame_hdr is a sorted table of functions. Each entry points to an FDE, the rules of one
 * function as a small program over rows of addresses; the FDE points to its CIE, which many share:
 *
 *     CIE  length, 0, version, "zR", alignments, return address register, form of pointers
 *     FDE  length, back to its CIE, first address, size, then instructions such as
 *          advance_loc 4, def_cfa_offset 16, offset rbp at cfa - 16
 */
#include "inside/preload/eh_frame.h"

#include "inside/preload/dwarf.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#if defined __x86_64__
enum { DWARF_FP = 6, DWARF_SP = 7, DWARF_RETURN = 16 };
#elif defined __aarch64__
enum { DWARF_FP = 29, DWARF_SP = 31, DWARF_RETURN = 30 };
#endif

#define STATES 8

/* Since glibc 2.35; without it no rules are available. */
extern __typeof__(_dl_find_object) _dl_find_object __attribute__((weak));

struct reader {
    const uint8_t *at, *end;
    bool failed;
};

static uint64_t read_bytes(struct reader *r, size_t size) {
    uint64_t value = 0;
    if ((size_t)(r->end - r->at) < size) {
        r->failed = true;
        return 0;
    }
    memcpy(&value, r->at, size);
    r->at += size;
    return value;
}

static uint64_t read_uleb(struct reader *r) {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        uint64_t byte = read_bytes(r, 1);
        value |= (byte & 0x7f) << shift;
        if (!(byte & 0x80))
            break;
    }
    return value;
}

static int64_t read_sleb(struct reader *r) {
    uint64_t value = 0, byte = 0;
    unsigned shift = 0;
    do {
        byte = read_bytes(r, 1);
        value |= (byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80 && shift < 63);
    if (byte & 0x40 && shift < 64)
        value |= ~UINT64_C(0) << shift;
    return (int64_t)value;
}

/* Reads a pointer in one of the encodings DW_EH_PE_*. */
static uint64_t read_pointer(struct reader *r, uint8_t encoding, bool is_size) {
    uint64_t here = (uint64_t)(uintptr_t)r->at, value;
    switch (encoding & DW_EH_PE_FORMAT_MASK) {
    case DW_EH_PE_absptr:
    case DW_EH_PE_udata8:
    case DW_EH_PE_sdata8:
        value = read_bytes(r, 8);
        break;
    case DW_EH_PE_udata4:
        value = read_bytes(r, 4);
        break;
    case DW_EH_PE_sdata4:
        value = (uint64_t)(int64_t)(int32_t)read_bytes(r, 4);
        break;
    default:
        r->failed = true;
        return 0;
    }
    uint8_t relative = encoding & DW_EH_PE_RELATIVE_MASK;
    bool is_relative = relative == DW_EH_PE_pcrel;
    if ((encoding & DW_EH_PE_indirect) || (!is_relative && relative))
        r->failed = true;
    return is_relative && !is_size ? value + here : value;
}

static struct reader entry_at(const uint8_t *at) {
    struct reader r = { at, at + 4, false };
    uint32_t length = (uint32_t)read_bytes(&r, 4);
    r.end = r.at + length;
    r.failed = length == 0 || length == UINT32_MAX;
    return r;
}

struct cie {
    struct reader program;
    uint64_t code_alignment;
    int64_t data_alignment;
    uint8_t pointer_encoding;
    bool is_signal, has_size;
};

static void read_augmentation(struct cie *c, struct reader *r, const char *letters) {
    uint64_t size = read_uleb(r);
    const uint8_t *end = r->at + size;
    for (; *letters && !r->failed; letters++) {
        if (*letters == 'R')
            c->pointer_encoding = (uint8_t)read_bytes(r, 1);
        else if (*letters == 'L')
            (void)read_bytes(r, 1);
        else if (*letters == 'S')
            c->is_signal = true;
        else if (*letters == 'P') {
            uint8_t encoding = (uint8_t)read_bytes(r, 1);
            (void)read_pointer(r, encoding & DW_EH_PE_FORMAT_MASK, true);
        }
    }
    r->at = end;
}

static bool read_cie(const uint8_t *at, struct cie *c) {
    struct reader r = entry_at(at);
    *c = (struct cie){ 0 };
    (void)read_bytes(&r, 4);
    uint8_t version = (uint8_t)read_bytes(&r, 1);
    const char *letters = (const char *)r.at;
    size_t length = strnlen(letters, (size_t)(r.end - r.at));
    r.at += length + 1;
    c->code_alignment = read_uleb(&r);
    c->data_alignment = read_sleb(&r);
    uint64_t return_register = version == 1 ? read_bytes(&r, 1) : read_uleb(&r);
    c->has_size = letters[0] == 'z';
    if (c->has_size)
        read_augmentation(c, &r, letters + 1);
    c->program = r;
    return !r.failed && r.at <= r.end && return_register == DWARF_RETURN &&
           (length == 0 || c->has_size);
}

/* The rules of one row. */
struct saved {
    uint8_t kind; /* enum pt_eh_saved */
    int64_t offset;
};

struct row {
    uint64_t base;
    int64_t offset;
    bool is_kept, is_bad; /* the frame address is stored at FP + offset; has an unsupported form */
    struct saved fp, return_address;
};

struct machine {
    const struct cie *cie;
    struct row row, first, kept[STATES];
    size_t kept_count;
    uint64_t location;
};

static struct saved *saved_of(struct row *row, uint64_t number) {
    return number == DWARF_FP ? &row->fp : number == DWARF_RETURN ? &row->return_address : NULL;
}

static void set_saved(struct machine *m, uint64_t number, uint8_t kind, int64_t offset) {
    struct saved *s = saved_of(&m->row, number);
    if (s)
        *s = (struct saved){ kind, offset };
}

static void restore(struct machine *m, uint64_t number) {
    struct saved *s = saved_of(&m->row, number);
    if (s)
        *s = *saved_of(&m->first, number);
}

#define DW_OP_BREG_FP (DW_OP_breg0 + DWARF_FP)

/* breg FP n, deref: the frame address is stored near the frame pointer. */
static void frame_expression(struct machine *m, struct reader *r) {
    uint64_t size = read_uleb(r);
    struct reader e = { r->at, r->at + size, r->failed };
    bool is_fp = read_bytes(&e, 1) == DW_OP_BREG_FP;
    int64_t offset = read_sleb(&e);
    m->row.is_kept = is_fp && read_bytes(&e, 1) == DW_OP_deref && e.at == e.end && !e.failed;
    m->row.is_bad = !m->row.is_kept;
    m->row.base = DWARF_FP;
    m->row.offset = offset;
    r->at += size;
}

/* breg FP n: the register is stored there. */
static void saved_expression(struct machine *m, struct reader *r, bool is_value) {
    uint64_t number = read_uleb(r), size = read_uleb(r);
    struct reader e = { r->at, r->at + size, r->failed };
    bool is_fp = read_bytes(&e, 1) == DW_OP_BREG_FP;
    int64_t offset = read_sleb(&e);
    bool is_known = is_fp && !is_value && e.at == e.end && !e.failed;
    set_saved(m, number, is_known ? PT_EH_NEAR_FP : PT_EH_GONE, offset);
    r->at += size;
}

static void define_frame(struct machine *m, uint64_t base, int64_t offset) {
    m->row.base = base;
    m->row.offset = offset;
    m->row.is_kept = m->row.is_bad = false;
}

static void extended(struct machine *m, struct reader *r, uint8_t op) {
    uint64_t number;
    int64_t align = m->cie->data_alignment;
    switch (op) {
    case DW_CFA_nop:
    case DW_CFA_AARCH64_negate_ra_state:
        break;
    case DW_CFA_set_loc:
        m->location = read_pointer(r, m->cie->pointer_encoding, false);
        break;
    case DW_CFA_advance_loc1:
    case DW_CFA_advance_loc2:
    case DW_CFA_advance_loc4:
        m->location +=
            read_bytes(r, (size_t)1 << (op - DW_CFA_advance_loc1)) * m->cie->code_alignment;
        break;
    case DW_CFA_offset_extended:
        number = read_uleb(r);
        set_saved(m, number, PT_EH_IN_FRAME, (int64_t)read_uleb(r) * align);
        break;
    case DW_CFA_restore_extended:
        restore(m, read_uleb(r));
        break;
    case DW_CFA_undefined:
        set_saved(m, read_uleb(r), PT_EH_GONE, 0);
        break;
    case DW_CFA_same_value:
        set_saved(m, read_uleb(r), PT_EH_SAME, 0);
        break;
    case DW_CFA_register:
        set_saved(m, read_uleb(r), PT_EH_GONE, 0);
        (void)read_uleb(r);
        break;
    case DW_CFA_remember_state:
        if (m->kept_count < STATES)
            m->kept[m->kept_count++] = m->row;
        else
            r->failed = true;
        break;
    case DW_CFA_restore_state:
        if (m->kept_count > 0)
            m->row = m->kept[--m->kept_count];
        else
            r->failed = true;
        break;
    case DW_CFA_def_cfa:
        number = read_uleb(r);
        define_frame(m, number, (int64_t)read_uleb(r));
        break;
    case DW_CFA_def_cfa_register:
        define_frame(m, read_uleb(r), m->row.offset);
        break;
    case DW_CFA_def_cfa_offset:
        define_frame(m, m->row.base, (int64_t)read_uleb(r));
        break;
    case DW_CFA_def_cfa_expression:
        frame_expression(m, r);
        break;
    case DW_CFA_expression:
    case DW_CFA_val_expression:
        saved_expression(m, r, op == DW_CFA_val_expression);
        break;
    case DW_CFA_offset_extended_sf:
        number = read_uleb(r);
        set_saved(m, number, PT_EH_IN_FRAME, read_sleb(r) * align);
        break;
    case DW_CFA_def_cfa_sf:
        number = read_uleb(r);
        define_frame(m, number, read_sleb(r) * align);
        break;
    case DW_CFA_def_cfa_offset_sf:
        define_frame(m, m->row.base, read_sleb(r) * align);
        break;
    case DW_CFA_val_offset:
    case DW_CFA_val_offset_sf:
        set_saved(m, read_uleb(r), PT_EH_GONE, 0);
        (void)read_uleb(r);
        break;
    case DW_CFA_GNU_args_size:
        (void)read_uleb(r);
        break;
    default:
        r->failed = true;
    }
}

/* Runs up to the row of `pc`. */
static bool run(struct machine *m, struct reader r, uint64_t pc) {
    while (r.at < r.end && !r.failed) {
        struct row before = m->row;
        uint64_t was = m->location;
        uint8_t op = (uint8_t)read_bytes(&r, 1), operand = op & DW_CFA_OPERAND_MASK;
        uint8_t primary = op & DW_CFA_PRIMARY_MASK;
        if (primary == DW_CFA_advance_loc)
            m->location += operand * m->cie->code_alignment;
        else if (primary == DW_CFA_offset)
            set_saved(m, operand, PT_EH_IN_FRAME, (int64_t)read_uleb(&r) * m->cie->data_alignment);
        else if (primary == DW_CFA_restore)
            restore(m, operand);
        else
            extended(m, &r, op);
        if (m->location != was && m->location > pc) {
            m->row = before;
            return true;
        }
    }
    return !r.failed;
}

static bool is_short(int64_t offset) {
    return offset >= INT16_MIN && offset <= INT16_MAX;
}

static struct pt_eh_rule rule_of(const struct row *row, bool is_signal) {
    struct pt_eh_rule rule = { .kind = PT_EH_NONE };
    if (row->return_address.kind == PT_EH_GONE) {
        rule.kind = PT_EH_ROOT;
        return rule;
    }
    bool is_sp = row->base == DWARF_SP, is_fp = row->base == DWARF_FP;
    if (row->is_bad || !(is_sp || is_fp) || row->offset != (int32_t)row->offset || is_signal ||
        !is_short(row->fp.offset) || !is_short(row->return_address.offset))
        return rule;
    rule.kind = row->is_kept ? PT_EH_AT_FP : is_sp ? PT_EH_FROM_SP : PT_EH_FROM_FP;
    rule.frame = (int32_t)row->offset;
    rule.fp_kind = row->fp.kind;
    rule.fp = (int16_t)row->fp.offset;
    rule.return_kind = row->return_address.kind;
    rule.return_address = (int16_t)row->return_address.offset;
    return rule;
}

static struct pt_eh_rule read_fde(const uint8_t *at, uint64_t pc) {
    const struct pt_eh_rule none = { .kind = PT_EH_NONE };
    struct reader r = entry_at(at);
    const uint8_t *back = r.at;
    uint32_t distance = (uint32_t)read_bytes(&r, 4);
    struct cie cie;
    if (r.failed || distance == 0 || !read_cie(back - distance, &cie))
        return none;
    struct machine m = { .cie = &cie };
    m.location = read_pointer(&r, cie.pointer_encoding, false);
    uint64_t size = read_pointer(&r, cie.pointer_encoding & DW_EH_PE_FORMAT_MASK, true);
    if (cie.has_size) {
        uint64_t skipped = read_uleb(&r);
        r.at += skipped;
    }
    if (r.failed || r.at > r.end || pc < m.location || pc - m.location >= size)
        return none;
    uint64_t start = m.location;
    m.location = 0;
    if (!run(&m, cie.program, UINT64_MAX))
        return none;
    m.first = m.row;
    m.location = start;
    return run(&m, r, pc) ? rule_of(&m.row, cie.is_signal) : none;
}

/* The last function that starts at or before `pc`. */
static const uint8_t *find_fde(const uint8_t *header, uint64_t pc) {
    struct reader r = { header + 4, header + 16, false };
    uint32_t count;
    if (header[0] != PT_EH_HDR_VERSION || header[2] != PT_EH_HDR_COUNT_ENCODING ||
        header[3] != PT_EH_HDR_TABLE_ENCODING)
        return NULL;
    (void)read_pointer(&r, header[1], false);
    count = (uint32_t)read_bytes(&r, 4);
    if (r.failed || count == 0)
        return NULL;
    int64_t wanted = (int64_t)(pc - (uint64_t)(uintptr_t)header);
    const uint8_t *table = r.at;
    uint32_t low = 0, high = count;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        int32_t start;
        memcpy(&start, table + (size_t)8 * middle, sizeof start);
        if (start <= wanted)
            low = middle;
        else
            high = middle;
    }
    int32_t offset;
    memcpy(&offset, table + (size_t)8 * low + 4, sizeof offset);
    return header + offset;
}

struct pt_eh_rule pt_eh_find(uint64_t pc) {
    struct dl_find_object object;
    const struct pt_eh_rule none = { .kind = PT_EH_NONE };
    if (!_dl_find_object || _dl_find_object((void *)(uintptr_t)pc, &object) ||
        !object.dlfo_eh_frame)
        return none;
    const uint8_t *fde = find_fde(object.dlfo_eh_frame, pc);
    return fde ? read_fde(fde, pc) : none;
}

bool pt_eh_module(uint64_t pc, uint64_t *start, uint64_t *end) {
    struct dl_find_object object;
    if (!_dl_find_object || _dl_find_object((void *)(uintptr_t)pc, &object))
        return false;
    *start = (uint64_t)(uintptr_t)object.dlfo_map_start;
    *end = (uint64_t)(uintptr_t)object.dlfo_map_end;
    return true;
}
