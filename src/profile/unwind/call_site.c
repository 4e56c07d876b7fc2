#include "profile/unwind/call_site.h"

#include "profile/unwind/x86.h"

enum { CALL = 0xe8, CALL_BYTES = 5, GROUP5 = 0xff, GROUP5_CALL = 2 };

static bool is_indirect(const uint8_t *at, size_t size) {
    return at[0] == GROUP5 && (at[1] >> 3 & 7) == GROUP5_CALL &&
           1 + pt_x86_operand_bytes(at[1], size > 2 ? at[2] : 0) == size;
}

enum pt_call pt_call_before(const uint8_t *code, size_t size) {
    for (size_t n = 2; n <= PT_CALL_BYTES && n <= size; n++)
        if (is_indirect(code + size - n, n))
            return PT_CALL_INDIRECT;
    return size >= CALL_BYTES && code[size - CALL_BYTES] == CALL ? PT_CALL_DIRECT : PT_CALL_NONE;
}
