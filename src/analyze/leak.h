/* analyze/leak.h -- memory that grows steadily, as two independent counts say. */
#ifndef PT_ANALYZE_LEAK_H
#define PT_ANALYZE_LEAK_H

#include "analyze/verdict.h"

bool pt_find_memory_leak(const struct pt_signals *s, struct pt_verdict *v);
bool pt_find_gpu_leak(const struct pt_signals *s, struct pt_verdict *v);

#endif
