#include "source/kernel/pid_list.h"

#include "base/mem.h"
#include "base/scan.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#define ENTRIES_BYTES 32768

static int compare_pids(const void *a, const void *b) {
    pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;
    return (x > y) - (x < y);
}

/* 0 if the name is not a process id. */
static pid_t pid_from(const char *name) {
    if (*name < '1' || *name > '9')
        return 0;
    int64_t value = 0;
    for (; *name >= '0' && *name <= '9'; name++) {
        value = value * 10 + (*name - '0');
        if (value > INT_MAX)
            return 0;
    }
    return *name ? 0 : (pid_t)value;
}

void pt_pid_list_add(struct pt_pid_list *list, pid_t pid) {
    if (pt_try_grow(&list->at, &list->capacity, list->count + 1, sizeof *list->at))
        list->at[list->count++] = pid;
}

static void take_entries(struct pt_pid_list *list, size_t bytes) {
    for (size_t at = 0; at < bytes;) {
        const struct dirent64 *entry = (const struct dirent64 *)(list->entries + at);
        pid_t pid = pid_from(entry->d_name);
        at += entry->d_reclen;
        if (pid)
            pt_pid_list_add(list, pid);
    }
}

static bool is_ascending(const struct pt_pid_list *list) {
    for (size_t i = 1; i < list->count; i++)
        if (list->at[i - 1] >= list->at[i])
            return false;
    return true;
}

void pt_pid_list_sort(struct pt_pid_list *list) {
    if (is_ascending(list))
        return;
    qsort(list->at, list->count, sizeof *list->at, compare_pids);
    size_t kept = 1;
    for (size_t i = 1; i < list->count; i++)
        if (list->at[i] != list->at[kept - 1])
            list->at[kept++] = list->at[i];
    list->count = kept;
}

int pt_pid_list_read(struct pt_pid_list *list, int directory) {
    list->count = 0;
    if (!list->entries)
        list->entries = pt_try_calloc(1, ENTRIES_BYTES);
    if (!list->entries)
        return -ENOMEM;
    if (lseek(directory, 0, SEEK_SET) < 0)
        return -errno;
    for (;;) {
        ssize_t bytes = getdents64(directory, list->entries, ENTRIES_BYTES);
        if (bytes < 0)
            return -errno;
        if (bytes == 0)
            break;
        take_entries(list, (size_t)bytes);
    }
    pt_pid_list_sort(list); /* procfs lists in this order, a captured tree in any */
    return 0;
}

void pt_pid_list_release(struct pt_pid_list *list) {
    pt_free(list->at);
    pt_free(list->entries);
    *list = (struct pt_pid_list){ 0 };
}
