#include "profile/unwind/x86.h"

#include <string.h>

enum { REX = 0x40, REX_MASK = 0xf0, REX_W = 8, REX_R = 4, REX_X = 2, REX_B = 1 };
enum { MAP_ONE_BYTE, MAP_0F, MAP_0F38, MAP_0F3A, MAPS };
enum { ESCAPE = 0x0f, ESCAPE_38 = 0x38, ESCAPE_3A = 0x3a };
enum { VEX2 = 0xc5, VEX3 = 0xc4, EVEX = 0x62, VEX3_MAP_MASK = 0x1f, EVEX_MAP_MASK = 0x07 };
enum {
    OPERAND_SIZE = 0x66,
    ADDRESS_SIZE = 0x67,
    LOCK = 0xf0,
    REPNE = 0xf2,
    REP = 0xf3,
    SEGMENT_CS = 0x2e,
    SEGMENT_SS = 0x36,
    SEGMENT_DS = 0x3e,
    SEGMENT_ES = 0x26,
    SEGMENT_FS = 0x64,
    SEGMENT_GS = 0x65,
};
enum { MOD_NO_DISPLACEMENT, MOD_DISPLACEMENT8, MOD_DISPLACEMENT32, MOD_REGISTER };
enum { RM_SIB = 4, RM_RIP = 5, SIB_NO_INDEX = 4, SIB_NO_BASE = 5 };
enum { NO_REGISTER = 255 };

struct decoder {
    const uint8_t *at, *end;
    bool failed, is_16_bit; /* the operand-size prefix */
    uint8_t rex;
    unsigned map;
};

/* Opcodes that ModRM follows, by rows of 16. */
static const uint16_t has_modrm[MAPS][16] = {
    [MAP_ONE_BYTE] = { 0x0f0f, 0x0f0f, 0x0f0f, 0x0f0f, 0, 0, 0x0a08, 0, 0xffff, 0, 0, 0, 0x00c3,
                       0xff0f, 0, 0xc0c0 },
    [MAP_0F] = { 0x200f, 0xffff, 0xff0f, 0, 0xffff, 0xffff, 0xffff, 0xff7f, 0, 0xffff, 0xf838,
                 0xffff, 0x00ff, 0xffff, 0xffff, 0xffff },
    [MAP_0F38] = { 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff,
                   0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff },
    [MAP_0F3A] = { 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff,
                   0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff },
};

/* Size of the immediate: z is 2 or 4, v is 2, 4 or 8, t and T are those of test alone. */
static const char *const immediates[MAP_0F + 1][16] = {
    [MAP_ONE_BYTE] = { "00001z0000001z00", "00001z0000001z00", "00001z0000001z00",
                       "00001z0000001z00", NULL, NULL, "00000000zz110000", "1111111111111111",
                       "1z11000000000000", NULL, "888800001z000000", "11111111vvvvvvvv",
                       "1120001z30200100", NULL, "1111111144010000", "000000tT00000000" },
    [MAP_0F] = { [7] = "1111000000000000",
                 [8] = "4444444444444444",
                 [10] = "0000100000001000",
                 [11] = "0000000000100000",
                 [12] = "0010111000000000" },
};

static uint8_t take(struct decoder *r) {
    if (r->at == r->end) {
        r->failed = true;
        return 0;
    }
    return *r->at++;
}

static int32_t take_number(struct decoder *r, size_t size) {
    uint8_t bytes[4] = { 0 };
    for (size_t i = 0; i < size; i++) {
        uint8_t byte = take(r);
        if (i < sizeof bytes)
            bytes[i] = byte;
    }
    int32_t value;
    memcpy(&value, bytes, sizeof value);
    return size == 1 ? (int8_t)bytes[0] : value;
}

static bool is_prefix(uint8_t byte) {
    static const uint8_t prefixes[] = { OPERAND_SIZE, ADDRESS_SIZE, LOCK,       REPNE,
                                        REP,          SEGMENT_CS,   SEGMENT_SS, SEGMENT_DS,
                                        SEGMENT_ES,   SEGMENT_FS,   SEGMENT_GS };
    return memchr(prefixes, byte, sizeof prefixes) != NULL;
}

static void take_prefixes(struct decoder *r) {
    while (r->at < r->end && is_prefix(*r->at))
        r->is_16_bit |= take(r) == OPERAND_SIZE;
    if (r->at < r->end && (*r->at & REX_MASK) == REX)
        r->rex = take(r) & (REX_W | REX_R | REX_X | REX_B);
}

/* None of these moves the stack pointer: which registers they use does not matter. */
static void take_vector_prefix(struct decoder *r, uint8_t first) {
    unsigned map = MAP_0F;
    if (first == VEX2) {
        (void)take(r);
    } else {
        map = take(r) & (first == VEX3 ? VEX3_MAP_MASK : EVEX_MAP_MASK);
        (void)take_number(r, first == VEX3 ? 1 : 2);
    }
    /* 5 and 6 are of half-precision numbers, laid out as 0F38 */
    r->failed |= map == 0 || map == 4 || map > 6;
    r->map = map > MAP_0F3A ? MAP_0F38 : map;
}

static uint8_t take_opcode(struct decoder *r) {
    uint8_t byte = take(r);
    if (byte == VEX2 || byte == VEX3 || byte == EVEX) {
        take_vector_prefix(r, byte);
        return take(r);
    }
    if (byte != ESCAPE)
        return byte;
    byte = take(r);
    r->map = byte == ESCAPE_38 ? MAP_0F38 : byte == ESCAPE_3A ? MAP_0F3A : MAP_0F;
    return r->map == MAP_0F ? byte : take(r);
}

size_t pt_x86_operand_bytes(uint8_t modrm, uint8_t sib) {
    unsigned mod = modrm >> 6, rm = modrm & 7;
    bool has_sib = mod != MOD_REGISTER && rm == RM_SIB;
    bool has_no_base = has_sib ? (sib & 7) == SIB_NO_BASE : rm == RM_RIP;
    bool is_long = mod == MOD_DISPLACEMENT32 || (mod == MOD_NO_DISPLACEMENT && has_no_base);
    return 1u + has_sib + (is_long ? 4u : mod == MOD_DISPLACEMENT8 ? 1u : 0u);
}

/* The register of an address that is a register and a displacement; NO_REGISTER for others. */
static uint8_t base_register(const struct decoder *r, uint8_t modrm, uint8_t sib) {
    bool has_sib = (modrm & 7) == RM_SIB;
    bool has_index = has_sib && ((sib >> 3 & 7) != SIB_NO_INDEX || r->rex & REX_X);
    uint8_t base = has_sib ? sib & 7 : modrm & 7;
    if (has_index || (modrm >> 6 == MOD_NO_DISPLACEMENT && base == SIB_NO_BASE))
        return NO_REGISTER;
    return (uint8_t)(base | (r->rex & REX_B ? 8 : 0));
}

static void take_operand(struct decoder *r, struct pt_x86 *into) {
    uint8_t modrm = take(r), sib = r->at < r->end ? *r->at : 0;
    bool is_memory = modrm >> 6 != MOD_REGISTER, has_sib = is_memory && (modrm & 7) == RM_SIB;
    size_t bytes = pt_x86_operand_bytes(modrm, sib);
    if (has_sib)
        (void)take(r);
    into->is_memory = is_memory;
    into->reg = (uint8_t)((modrm >> 3 & 7) | (r->rex & REX_R ? 8 : 0));
    into->rm = is_memory ? base_register(r, modrm, sib)
                         : (uint8_t)((modrm & 7) | (r->rex & REX_B ? 8 : 0));
    into->displacement = take_number(r, bytes - 1 - has_sib);
}

static size_t immediate_bytes(const struct decoder *r, uint8_t opcode, uint8_t reg) {
    size_t full = r->is_16_bit ? 2 : 4;
    if (r->map == MAP_0F38)
        return 0;
    if (r->map == MAP_0F3A)
        return 1;
    const char *row = immediates[r->map][opcode >> 4];
    switch (row ? row[opcode & 15] : '0') {
    case 'z':
        return full;
    case 'v':
        return r->rex & REX_W ? 8 : full;
    case 't':
        return (reg & 7) < 2 ? 1 : 0;
    case 'T':
        return (reg & 7) < 2 ? full : 0;
    default:
        return row ? (size_t)(row[opcode & 15] - '0') : 0;
    }
}

bool pt_x86_parse(const uint8_t *code, size_t size, struct pt_x86 *into) {
    struct decoder r = { .at = code,
                         .end = code + (size < PT_X86_BYTES_MAX ? size : PT_X86_BYTES_MAX) };
    take_prefixes(&r);
    uint8_t opcode = take_opcode(&r);
    *into = (struct pt_x86){ .is_one_byte = r.map == MAP_ONE_BYTE,
                             .opcode = opcode,
                             .rm = (uint8_t)((opcode & 7) | (r.rex & REX_B ? 8 : 0)) };
    if (has_modrm[r.map][opcode >> 4] >> (opcode & 15) & 1)
        take_operand(&r, into);
    into->immediate = take_number(&r, immediate_bytes(&r, opcode, into->reg));
    into->length = (size_t)(r.at - code);
    return !r.failed;
}
