/* profile/unwind/epilogue.h -- an unwind rule for generated code, which has none: reads the code on
 * to its return. What it pops from the stack until then is between the stack pointer and the return
 * address:
 *
 *     c5 fc 10 06      vmovups ymm0, [rsi]
 *     48 83 c4 08      add rsp, 8
 *     5d               pop rbp
 *     c3               ret
 *
 * Jumps are not followed: such code keeps one stack depth between its prologue and its epilogue. */
#ifndef PT_PROFILE_UNWIND_EPILOGUE_H
#define PT_PROFILE_UNWIND_EPILOGUE_H

#include "profile/unwind/unwind.h"

#define PT_EPILOGUE_BYTES (32u << 10) /* at most this much code is read */

/* The rule at an address, from the x86-64 code there. False: the code does not return, or changes
 * the stack pointer in a way that cannot be followed. (On arm64 such code keeps frame pointers; its
 * bytes mean nothing here.) */
bool pt_epilogue_rule(const uint8_t *code, size_t size, struct pt_unwind_rule *rule);

#endif
