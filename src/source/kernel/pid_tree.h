/* source/kernel/pid_tree.h -- running processes with all their running descendants. */
#ifndef PT_SOURCE_KERNEL_PID_TREE_H
#define PT_SOURCE_KERNEL_PID_TREE_H

#include "source/kernel/pid_list.h"

/* Adds the roots to `tree`, in their order, and after them their children, and theirs, each once.
 * Our own process and its descendants are not part of any tree. `proc` is the directory. */
void pt_pid_tree_read(int proc, const pid_t *roots, size_t root_count, struct pt_pid_list *tree);

#endif
