#include "profile/unwind/registers.h"

#include "base/attr.h"

#include <asm/perf_regs.h>

/* In the order of perf, lowest bit first: our register number and its bit. */
struct sampled {
    uint8_t number, bit;
};

#if defined __x86_64__
static const struct sampled table[] = {
    { PT_REGISTER_3, PERF_REG_X86_BX },  { PT_REGISTER_FP, PERF_REG_X86_BP },
    { PT_REGISTER_SP, PERF_REG_X86_SP }, { PT_REGISTER_PC, PERF_REG_X86_IP },
    { PT_REGISTER_8, PERF_REG_X86_R10 }, { PT_REGISTER_4, PERF_REG_X86_R12 },
    { PT_REGISTER_5, PERF_REG_X86_R13 }, { PT_REGISTER_6, PERF_REG_X86_R14 },
    { PT_REGISTER_7, PERF_REG_X86_R15 },
};
#define BIT(name) (UINT64_C(1) << PERF_REG_X86_##name)
const uint64_t pt_registers_mask =
    BIT(BX) | BIT(BP) | BIT(SP) | BIT(IP) | BIT(R10) | BIT(R12) | BIT(R13) | BIT(R14) | BIT(R15);
#elif defined __aarch64__
static const struct sampled table[] = {
    { PT_REGISTER_4, PERF_REG_ARM64_X19 },   { PT_REGISTER_5, PERF_REG_ARM64_X20 },
    { PT_REGISTER_6, PERF_REG_ARM64_X21 },   { PT_REGISTER_7, PERF_REG_ARM64_X22 },
    { PT_REGISTER_8, PERF_REG_ARM64_X23 },   { PT_REGISTER_FP, PERF_REG_ARM64_X29 },
    { PT_REGISTER_LINK, PERF_REG_ARM64_LR }, { PT_REGISTER_SP, PERF_REG_ARM64_SP },
    { PT_REGISTER_PC, PERF_REG_ARM64_PC },
};
#define BIT(name) (UINT64_C(1) << PERF_REG_ARM64_##name)
const uint64_t pt_registers_mask =
    BIT(X19) | BIT(X20) | BIT(X21) | BIT(X22) | BIT(X23) | BIT(X29) | BIT(LR) | BIT(SP) | BIT(PC);
#else
#error "no table of registers for this architecture"
#endif

const unsigned pt_registers_count = PT_COUNT(table);

void pt_registers_load(const uint64_t *sampled, uint64_t registers[PT_REGISTER_COUNT]) {
    for (unsigned i = 0; i < PT_COUNT(table); i++)
        registers[table[i].number] = sampled[i];
}
