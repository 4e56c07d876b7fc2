/* profile/names/python_lines.h -- from an instruction of Python's bytecode to its line: the tables
 * of code objects. 3.9: pairs of steps of bytecode and lines. 3.10: the same as ranges. 3.11:
 * entries of
 *
 *     1cccc lll    form of the entry, units it covers - 1; then numbers of 6 bits a byte
 */
#ifndef PT_PROFILE_NAMES_PYTHON_LINES_H
#define PT_PROFILE_NAMES_PYTHON_LINES_H

#include "base/str.h"
#include "inside/preload/python_layout.h"

/* `instruction` in bytes from the start of the bytecode. 0: it has no line. */
uint32_t pt_python_line(enum pt_python_lines form, struct pt_str table, uint32_t first_line,
                        uint32_t instruction);

#endif
