/* profile/unwind/x86.h -- instructions of x86-64 in memory: how long they are, and as much of what
 * they do as moves the stack pointer.
 *
 *     48 83 c4 08      add rsp, 8
 *     c5 fc 10 4f 20   vmovups ymm1, [rdi + 0x20]
 */
#ifndef PT_PROFILE_UNWIND_X86_H
#define PT_PROFILE_UNWIND_X86_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PT_X86_BYTES_MAX 15

struct pt_x86 {
    size_t length;
    bool is_plain; /* of the one-byte opcodes, which are all that move the stack pointer */
    uint8_t opcode;
    uint8_t reg;    /* register, or which of a group it is */
    uint8_t target; /* register of the other operand */
    bool is_memory; /* that one is memory: `target` and `displacement`, or something else (255) */
    int32_t displacement, immediate;
};

/* False: it is cut short, or none. */
bool pt_x86_parse(const uint8_t *code, size_t size, struct pt_x86 *into);

/* The bytes of an operand: that of its form, perhaps one of scaling, and a displacement. */
size_t pt_x86_operand_bytes(uint8_t form, uint8_t scale);

#endif
