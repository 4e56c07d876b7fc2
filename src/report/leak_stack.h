/* report/leak_stack.h -- adds the allocating call stacks to the verdict of a memory leak. */
#ifndef PT_REPORT_LEAK_STACK_H
#define PT_REPORT_LEAK_STACK_H

#include "analyze/verdict.h"

/* Adds the growing stacks of the heap profile, if there are a profile and a leak verdict. */
void pt_leak_stack_add(struct pt_explanation *x, const char *journal);

#endif
