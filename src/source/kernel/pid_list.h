/* source/kernel/pid_list.h -- the numbered entries of /proc or /proc/PID/task, ascending. */
#ifndef PT_SOURCE_KERNEL_PID_LIST_H
#define PT_SOURCE_KERNEL_PID_LIST_H

#include "base/attr.h"

#include <stddef.h>
#include <sys/types.h>

struct pt_pid_list {
    pid_t *at;
    size_t count, capacity;
    char *entries; /* what getdents64 fills */
};

/* Reads the whole directory again from its start; keeps the memory. 0 or -errno. */
int pt_pid_list_read(struct pt_pid_list *list, int directory) PT_MUST_CHECK;
/* Leaves it out if there is no memory (base/mem.h). */
void pt_pid_list_add(struct pt_pid_list *list, pid_t pid);
/* Ascending, each once. */
void pt_pid_list_sort(struct pt_pid_list *list);
void pt_pid_list_release(struct pt_pid_list *list);

#endif
