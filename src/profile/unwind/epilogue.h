/* profile/unwind/epilogue.h -- a rule to unwind by for code without any: generated code, read on to
 * where it returns. What it takes from the stack until then lies between the stack pointer and its
 * return address:
 *
 *     c5 fc 10 06      vmovups ymm0, [rsi]
 *     48 83 c4 08      add rsp, 8
 *     5d               pop rbp
 *     c3               ret
 *
 * Jumps are not followed: such code has one depth of its stack between its first and its last
 * instructions. */
#ifndef PT_PROFILE_UNWIND_EPILOGUE_H
#define PT_PROFILE_UNWIND_EPILOGUE_H

#include "profile/unwind/unwind.h"

#define PT_EPILOGUE_BYTES (32u << 10) /* so far it is read */

/* The rule at an address, from the code of x86-64 that stands there. False: it does not return, or
 * it does something to the stack pointer that cannot be followed. (On arm64 such code keeps frame
 * pointers, and its bytes mean nothing here.) */
bool pt_epilogue_rule(const uint8_t *code, size_t size, struct pt_unwind_rule *rule);

#endif
