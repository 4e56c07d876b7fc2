/* profile/names/python_lines.h -- finds the line of a Python bytecode instruction in the table of
 * its code object. 3.9: pairs of bytecode and line increments. 3.10: the same as ranges. 3.11:
 * entries of
 *
 *     1cccc lll    form of the entry, units it covers - 1; then numbers of 6 bits per byte
 */
#ifndef PT_PROFILE_NAMES_PYTHON_LINES_H
#define PT_PROFILE_NAMES_PYTHON_LINES_H

#include "base/str.h"
#include "inside/preload/python_layout.h"

/* `instruction` is in bytes from the start of the bytecode. 0: no line. */
uint32_t pt_python_line(enum pt_python_lines form, struct pt_str table, uint32_t first_line,
                        uint32_t instruction);

#endif
