#include "source/kernel/pid_tree.h"

#include "base/mem.h"
#include "source/kernel/pid.h"

#include <fcntl.h>
#include <unistd.h>

static int read_all(int proc, struct pt_pid_list *all) {
    int fd = openat(proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? -1 : pt_pid_list_read(all, fd);
    if (fd >= 0)
        close(fd);
    return rc;
}

/* By the index of the child; 0 if the child has ended. */
static pid_t *read_parents(int proc, const struct pt_pid_list *all) {
    pid_t *parents = pt_calloc(all->count + 1, sizeof *parents);
    struct pt_text text = { 0 };
    struct pt_pid_stat stat;
    for (size_t i = 0; i < all->count; i++)
        if (!pt_pid_read_stat(proc, all->at[i], &text, &stat))
            parents[i] = (pid_t)stat.parent;
    pt_text_release(&text);
    return parents;
}

static bool has(const struct pt_pid_list *list, pid_t pid) {
    for (size_t i = 0; i < list->count; i++)
        if (list->at[i] == pid)
            return true;
    return false;
}

static void add(struct pt_pid_list *tree, pid_t pid) {
    if (pid != getpid() && !has(tree, pid))
        pt_pid_list_add(tree, pid);
}

void pt_pid_tree_read(int proc, const pid_t *roots, size_t root_count, struct pt_pid_list *tree) {
    struct pt_pid_list all = { 0 };
    for (size_t i = 0; i < root_count; i++)
        add(tree, roots[i]);
    if (!read_all(proc, &all)) {
        pid_t *parents = read_parents(proc, &all);
        for (size_t i = 0; i < tree->count; i++)
            for (size_t k = 0; k < all.count; k++)
                if (parents[k] == tree->at[i])
                    add(tree, all.at[k]);
        pt_free(parents);
    }
    pt_pid_list_release(&all);
}
