#include "base/crc32c.h"

#include <string.h>

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t by_instruction(uint32_t crc, const uint8_t *p,
                                                                 size_t n) {
    uint64_t wide = crc;
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    for (; n > 0; n--)
        crc = __builtin_ia32_crc32qi(crc, *p++);
    return crc;
}

static int has_instruction(void) {
    return __builtin_cpu_supports("sse4.2");
}
#else
static uint32_t by_instruction(uint32_t crc, const uint8_t *p, size_t n) {
    (void)p;
    (void)n;
    return crc;
}

static int has_instruction(void) {
    return 0;
}
#endif

/* Half a byte at a time: a constant table of 16 words needs no initialisation and no lock. */
static uint32_t by_table(uint32_t crc, const uint8_t *p, size_t n) {
    static const uint32_t table[16] = {
        0x00000000, 0x105ec76f, 0x20bd8ede, 0x30e349b1, 0x417b1dbc, 0x5125dad3,
        0x61c69362, 0x7198540d, 0x82f63b78, 0x92a8fc17, 0xa24bb5a6, 0xb21572c9,
        0xc38d26c4, 0xd3d3e1ab, 0xe330a81a, 0xf36e6f75,
    };
    for (; n > 0; n--) {
        crc ^= *p++;
        crc = crc >> 4 ^ table[crc & 15];
        crc = crc >> 4 ^ table[crc & 15];
    }
    return crc;
}

uint32_t pt_crc32c(uint32_t crc, const void *bytes, size_t n) {
    crc = ~crc;
    crc = has_instruction() ? by_instruction(crc, bytes, n) : by_table(crc, bytes, n);
    return ~crc;
}
