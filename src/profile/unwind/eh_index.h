/* profile/unwind/eh_index.h -- .eh_frame_hdr: the sorted table of function starts. Every program
 * that can be unwound has it, stripped or not.
 *
 *     01 1b 03 3b    version, forms: of the pointer, of the count (udata4), of the table (sdata4,
 *                    relative to the section)
 *     pointer, count, then pairs of 4 bytes: start of a function, its rules
 */
#ifndef PT_PROFILE_UNWIND_EH_INDEX_H
#define PT_PROFILE_UNWIND_EH_INDEX_H

#include "base/str.h"

#include <stdint.h>

/* `section_address` is the section's address in the file. False: no such table, or no function
 * starts before `address`. */
bool pt_eh_index_find(struct pt_str section, uint64_t section_address, uint64_t address,
                      uint64_t *start);

#endif
