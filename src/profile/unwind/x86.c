#include "profile/unwind/x86.h"

#include <string.h>

enum { REX_W = 8, REX_R = 4, REX_X = 2, REX_B = 1 };
enum { MAP_PLAIN, MAP_0F, MAP_38, MAP_3A, MAPS };
enum { NO_REGISTER = 255, SCALED = 4 };

struct reading {
    const uint8_t *at, *end;
    bool failed, is_short; /* a prefix makes operands of 16 bits */
    uint8_t rex;
    unsigned map;
};

/* Opcodes that have an operand, by rows of 16. */
static const uint16_t has_operand[MAPS][16] = {
    [MAP_PLAIN] = { 0x0f0f, 0x0f0f, 0x0f0f, 0x0f0f, 0, 0, 0x0a08, 0, 0xffff, 0, 0, 0, 0x00c3,
                    0xff0f, 0, 0xc0c0 },
    [MAP_0F] = { 0x200f, 0xffff, 0xff0f, 0, 0xffff, 0xffff, 0xffff, 0xff7f, 0, 0xffff, 0xf838,
                 0xffff, 0x00ff, 0xffff, 0xffff, 0xffff },
    [MAP_38] = { 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff,
                 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff },
    [MAP_3A] = { 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff,
                 0xffff, 0xffff, 0xffff, 0xffff, 0xffff, 0xffff },
};

/* Bytes of a number behind it: z are 2 or 4, v up to 8, t and T are of a test alone. */
static const char *const immediates[MAP_0F + 1][16] = {
    [MAP_PLAIN] = { "00001z0000001z00", "00001z0000001z00", "00001z0000001z00", "00001z0000001z00",
                    NULL, NULL, "00000000zz110000", "1111111111111111", "1z11000000000000", NULL,
                    "888800001z000000", "11111111vvvvvvvv", "1120001z30200100", NULL,
                    "1111111144010000", "000000tT00000000" },
    [MAP_0F] = { [7] = "1111000000000000",
                 [8] = "4444444444444444",
                 [10] = "0000100000001000",
                 [11] = "0000000000100000",
                 [12] = "0010111000000000" },
};

static uint8_t take(struct reading *r) {
    if (r->at == r->end) {
        r->failed = true;
        return 0;
    }
    return *r->at++;
}

static int32_t take_number(struct reading *r, size_t size) {
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
    static const uint8_t prefixes[] = { 0x66, 0x67, 0xf0, 0xf2, 0xf3, 0x2e,
                                        0x36, 0x3e, 0x26, 0x64, 0x65 };
    return memchr(prefixes, byte, sizeof prefixes) != NULL;
}

static void take_prefixes(struct reading *r) {
    while (r->at < r->end && is_prefix(*r->at))
        r->is_short |= take(r) == 0x66;
    if (r->at < r->end && (*r->at & 0xf0) == 0x40)
        r->rex = take(r) & 15;
}

/* None of these moves the stack pointer: which registers they use does not matter. */
static void take_vector_prefix(struct reading *r, uint8_t first) {
    unsigned map = MAP_0F;
    if (first == 0xc5) {
        (void)take(r);
    } else {
        map = take(r) & (first == 0xc4 ? 31 : 7);
        (void)take_number(r, first == 0xc4 ? 1 : 2);
    }
    /* those above are half-precision numbers, laid out as the second */
    r->failed |= map == 0 || map == 4 || map > 6;
    r->map = map > MAP_3A ? MAP_38 : map;
}

static uint8_t take_opcode(struct reading *r) {
    uint8_t byte = take(r);
    if (byte == 0xc5 || byte == 0xc4 || byte == 0x62) {
        take_vector_prefix(r, byte);
        return take(r);
    }
    if (byte != 0x0f)
        return byte;
    byte = take(r);
    r->map = byte == 0x38 ? MAP_38 : byte == 0x3a ? MAP_3A : MAP_0F;
    return r->map == MAP_0F ? byte : take(r);
}

size_t pt_x86_operand_bytes(uint8_t form, uint8_t scale) {
    unsigned mode = form >> 6, base = form & 7;
    bool is_scaled = mode != 3 && base == SCALED;
    bool is_far = mode == 2 || (mode == 0 && (is_scaled ? (scale & 7) == 5 : base == 5));
    return 1u + is_scaled + (is_far ? 4u : mode == 1 ? 1u : 0u);
}

/* The register that an address is formed from; alone, or it is none of ours. */
static uint8_t base_register(const struct reading *r, uint8_t form, uint8_t scale) {
    bool is_scaled = (form & 7) == SCALED;
    bool has_index = is_scaled && ((scale >> 3 & 7) != SCALED || r->rex & REX_X);
    uint8_t base = is_scaled ? scale & 7 : form & 7;
    if (has_index || (form >> 6 == 0 && base == 5))
        return NO_REGISTER;
    return (uint8_t)(base | (r->rex & REX_B ? 8 : 0));
}

static void take_operand(struct reading *r, struct pt_x86 *into) {
    uint8_t form = take(r), scale = r->at < r->end ? *r->at : 0;
    bool is_memory = form >> 6 != 3, is_scaled = is_memory && (form & 7) == SCALED;
    size_t bytes = pt_x86_operand_bytes(form, scale);
    if (is_scaled)
        (void)take(r);
    into->is_memory = is_memory;
    into->reg = (uint8_t)((form >> 3 & 7) | (r->rex & REX_R ? 8 : 0));
    into->target = is_memory ? base_register(r, form, scale)
                             : (uint8_t)((form & 7) | (r->rex & REX_B ? 8 : 0));
    into->displacement = take_number(r, bytes - 1 - is_scaled);
}

static size_t immediate_bytes(const struct reading *r, uint8_t opcode, uint8_t reg) {
    size_t full = r->is_short ? 2 : 4;
    if (r->map == MAP_38)
        return 0;
    if (r->map == MAP_3A)
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
    struct reading r = { .at = code,
                         .end = code + (size < PT_X86_BYTES_MAX ? size : PT_X86_BYTES_MAX) };
    take_prefixes(&r);
    uint8_t opcode = take_opcode(&r);
    *into = (struct pt_x86){ .is_plain = r.map == MAP_PLAIN,
                             .opcode = opcode,
                             .target = (uint8_t)((opcode & 7) | (r.rex & REX_B ? 8 : 0)) };
    if (has_operand[r.map][opcode >> 4] >> (opcode & 15) & 1)
        take_operand(&r, into);
    into->immediate = take_number(&r, immediate_bytes(&r, opcode, into->reg));
    into->length = (size_t)(r.at - code);
    return !r.failed;
}
