/* profile/unwind/x86.h -- instructions of x86-64 in memory: how long they are, and as much of what
 * they do as moves the stack pointer. Words are those of the manuals: ModRM, SIB, VEX.
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
    bool is_one_byte; /* only one-byte opcodes move the stack pointer */
    uint8_t opcode;
    uint8_t reg;    /* ModRM.reg: a register, or the instruction of a group */
    uint8_t rm;     /* ModRM.rm or the opcode's register */
    bool is_memory; /* `rm` and `displacement` are an address, or `rm` is 255: another one */
    int32_t displacement, immediate;
};

/* False: the instruction is cut short or invalid. */
bool pt_x86_parse(const uint8_t *code, size_t size, struct pt_x86 *into);

/* The size of ModRM, SIB and displacement together. `sib` is the byte after `modrm`. */
size_t pt_x86_operand_bytes(uint8_t modrm, uint8_t sib);

#endif
