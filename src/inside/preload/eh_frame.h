/* inside/preload/eh_frame.h -- finds the unwind rule of a code address in .eh_frame of the own
 * process. Only what walking needs: the frame address, and where the return address and the frame
 * pointer are saved. Reads mapped sections only: no files, no locks, no allocation. */
#ifndef PT_INSIDE_PRELOAD_EH_FRAME_H
#define PT_INSIDE_PRELOAD_EH_FRAME_H

#include <stdbool.h>
#include <stdint.h>

enum pt_eh_kind {
    PT_EH_NONE, /* no rule, or an unsupported one */
    PT_EH_ROOT, /* the outermost function */
    PT_EH_FROM_SP,
    PT_EH_FROM_FP,
    PT_EH_AT_FP, /* the frame address is stored at FP + frame: a realigned stack */
};

enum pt_eh_saved {
    PT_EH_SAME,
    PT_EH_IN_FRAME, /* at frame address + offset */
    PT_EH_NEAR_FP,  /* at FP + offset */
    PT_EH_GONE,
};

struct pt_eh_rule {
    int32_t frame; /* offset from SP or FP */
    int16_t fp, return_address;
    uint8_t kind;                 /* enum pt_eh_kind */
    uint8_t fp_kind, return_kind; /* enum pt_eh_saved */
    uint8_t is_signal;            /* the caller was interrupted */
    uint32_t reserved;
};

struct pt_eh_rule pt_eh_find(uint64_t pc);
/* The program or library that an address belongs to. */
bool pt_eh_module(uint64_t pc, uint64_t *start, uint64_t *end);

#endif
