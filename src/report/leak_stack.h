/* report/leak_stack.h -- who allocates what a run leaks, if a profile of its memory was taken. */
#ifndef PT_REPORT_LEAK_STACK_H
#define PT_REPORT_LEAK_STACK_H

#include "analyze/verdict.h"

/* Tells the verdict of a leak, if there is one, which stacks grow in the profile beside the
 * journal. */
void pt_leak_stack_add(struct pt_explanation *x, const char *journal);

#endif
