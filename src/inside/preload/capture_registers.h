/* inside/preload/capture_registers.h -- captures the registers that unwinding may need, in the
 * order of profile/unwind/registers.c: the current ones (the caller must not be inlined), or those
 * at a signal. */
#ifndef PT_INSIDE_PRELOAD_CAPTURE_REGISTERS_H
#define PT_INSIDE_PRELOAD_CAPTURE_REGISTERS_H

#include "inside/preload/preload.h"

#include <ucontext.h>

/* The registers that a stack walk starts from. */
struct pt_preload_place {
    uint64_t pc, sp, fp;
};

#if defined __x86_64__

#define PT_PRELOAD_REGISTER_SP 2

__attribute__((always_inline)) static inline struct pt_preload_place pt_preload_here(void) {
    struct pt_preload_place p;
    __asm__ volatile("leaq (%%rip), %0\n\t"
                     "movq %%rsp, %1\n\t"
                     "movq %%rbp, %2\n\t"
                     : "=&r"(p.pc), "=&r"(p.sp), "=&r"(p.fp));
    return p;
}

__attribute__((always_inline)) static inline void
pt_preload_registers(uint64_t into[PT_PRELOAD_REGISTERS]) {
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

static inline void pt_preload_interrupted(const ucontext_t *context,
                                          uint64_t into[PT_PRELOAD_REGISTERS]) {
    static const int numbers[PT_PRELOAD_REGISTERS] = { REG_RBX, REG_RBP, REG_RSP, REG_RIP, REG_R10,
                                                       REG_R12, REG_R13, REG_R14, REG_R15 };
    for (int i = 0; i < PT_PRELOAD_REGISTERS; i++)
        into[i] = (uint64_t)context->uc_mcontext.gregs[numbers[i]];
}

#elif defined __aarch64__

#define PT_PRELOAD_REGISTER_SP 7

__attribute__((always_inline)) static inline struct pt_preload_place pt_preload_here(void) {
    struct pt_preload_place p;
    __asm__ volatile("adr %0, .\n\t"
                     "mov %1, sp\n\t"
                     "mov %2, x29\n\t"
                     : "=&r"(p.pc), "=&r"(p.sp), "=&r"(p.fp));
    return p;
}

__attribute__((always_inline)) static inline void
pt_preload_registers(uint64_t into[PT_PRELOAD_REGISTERS]) {
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

static inline void pt_preload_interrupted(const ucontext_t *context,
                                          uint64_t into[PT_PRELOAD_REGISTERS]) {
    static const int numbers[] = { 19, 20, 21, 22, 23, 29, 30 };
    for (int i = 0; i < 7; i++)
        into[i] = context->uc_mcontext.regs[numbers[i]];
    into[PT_PRELOAD_REGISTER_SP] = context->uc_mcontext.sp;
    into[8] = context->uc_mcontext.pc;
}

#else
#error "no registers for this architecture"
#endif

#endif
