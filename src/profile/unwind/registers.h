/* profile/unwind/registers.h -- which registers perf samples, and in which order. */
#ifndef PT_PROFILE_UNWIND_REGISTERS_H
#define PT_PROFILE_UNWIND_REGISTERS_H

#include "profile/unwind/unwind.h"

/* The value of attr.sample_regs_user, and how many bits are set. */
extern const uint64_t pt_registers_mask;
extern const unsigned pt_registers_count;

/* Copies from the order of perf to our own. */
void pt_registers_load(const uint64_t *sampled, uint64_t registers[PT_REGISTER_COUNT]);

#endif
