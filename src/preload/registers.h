/* preload/registers.h -- the registers that unwinding may need, as they are here and now, in the
 * order of profile/registers.c. The caller must not be inlined. */
#ifndef PT_PRELOAD_REGISTERS_H
#define PT_PRELOAD_REGISTERS_H

#include "preload/heap_layout.h"

#if defined __x86_64__

#define PT_HEAP_REGISTER_FP 1
#define PT_HEAP_REGISTER_SP 2
#define PT_HEAP_REGISTER_PC 3

__attribute__((always_inline)) static inline void
pt_heap_registers(uint64_t into[PT_HEAP_REGISTERS]) {
    __asm__ volatile("movq %%rbx, 0(%0)\n\t"
                     "movq %%rbp, 8(%0)\n\t"
                     "movq %%rsp, 16(%0)\n\t"
                     "leaq (%%rip), %%rax\n\t"
                     "movq %%rax, 24(%0)\n\t"
                     "movq %%r10, 32(%0)\n\t"
                     "movq %%r12, 40(%0)\n\t"
                     "movq %%r13, 48(%0)\n\t"
                     "movq %%r14, 56(%0)\n\t"
                     "movq %%r15, 64(%0)\n\t"
                     :
                     : "r"(into)
                     : "rax", "memory");
}

#elif defined __aarch64__

#define PT_HEAP_REGISTER_FP 5
#define PT_HEAP_REGISTER_SP 7
#define PT_HEAP_REGISTER_PC 8

__attribute__((always_inline)) static inline void
pt_heap_registers(uint64_t into[PT_HEAP_REGISTERS]) {
    __asm__ volatile("stp x19, x20, [%0]\n\t"
                     "stp x21, x22, [%0, #16]\n\t"
                     "stp x23, x29, [%0, #32]\n\t"
                     "mov x9, sp\n\t"
                     "stp x30, x9, [%0, #48]\n\t"
                     "adr x9, .\n\t"
                     "str x9, [%0, #64]\n\t"
                     :
                     : "r"(into)
                     : "x9", "memory");
}

#else
#error "no registers for this architecture"
#endif

#endif
