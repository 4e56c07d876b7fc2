/* profile/epilogue.h -- a rule to unwind by for code without any: generated code that, once what it
 * called returns, only gives back its frame and returns itself, as the trampolines of CPython do
 * (-X perf):
 *
 *     48 83 c4 08   add rsp, 8
 *     c3            ret
 */
#ifndef PT_PROFILE_EPILOGUE_H
#define PT_PROFILE_EPILOGUE_H

#include "profile/unwind.h"

#define PT_EPILOGUE_BYTES 32

/* The rule at a return address, from the code of x86-64 that stands there. False: it does something
 * else. (On arm64 such code keeps frame pointers, and its bytes mean nothing here.) */
bool pt_epilogue_rule(const uint8_t *code, size_t size, struct pt_unwind_rule *rule);

#endif
