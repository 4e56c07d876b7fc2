#include "collect/process_set.h"

#include <unistd.h>

static size_t pids_lower(const struct pt_process_pids *pids, pid_t pid) {
    size_t low = 0, high = pids->count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (pids->at[middle] < pid)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool pids_have(const struct pt_process_pids *pids, pid_t pid) {
    size_t at = pids_lower(pids, pid);
    return at < pids->count && pids->at[at] == pid;
}

static void pids_add(struct pt_process_pids *pids, pid_t pid) {
    size_t at = pids_lower(pids, pid);
    if (at < pids->count && pids->at[at] == pid)
        return;
    pt_grow(&pids->at, &pids->capacity, pids->count + 1, sizeof *pids->at);
    memmove(pids->at + at + 1, pids->at + at, (pids->count - at) * sizeof *pids->at);
    pids->at[at] = pid;
    pids->count++;
}

static void pids_remove(struct pt_process_pids *pids, pid_t pid) {
    size_t at = pids_lower(pids, pid);
    if (at == pids->count || pids->at[at] != pid)
        return;
    memmove(pids->at + at, pids->at + at + 1, (pids->count - at - 1) * sizeof *pids->at);
    pids->count--;
}

struct pt_process *pt_process_set_find(const struct pt_process_set *set, pid_t pid) {
    size_t low = 0, high = set->known.count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (set->known.at[middle]->pid < pid)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == set->known.count || set->known.at[low]->pid != pid)
        return NULL;
    return set->known.at[low];
}

static void append(struct pt_process_array *array, struct pt_process *p) {
    pt_grow(&array->at, &array->capacity, array->count + 1, sizeof *array->at);
    array->at[array->count++] = p;
}

/* Forgets everything but the memory. */
static void reset(struct pt_process *p, pid_t pid) {
    struct pt_buf command_line = p->command_line, cgroup = p->cgroup;
    struct pt_thread_switches threads = p->threads;
    pt_buf_clear(&command_line);
    pt_buf_clear(&cgroup);
    pt_thread_switches_clear(&threads);
    *p = (struct pt_process){ .pid = pid,
                              .is_new = true,
                              .command_line = command_line,
                              .cgroup = cgroup,
                              .threads = threads };
}

static struct pt_process *take_process(struct pt_process_set *set, pid_t pid) {
    struct pt_process *p = set->free;
    if (p)
        set->free = p->next_free;
    else
        p = pt_calloc(1, sizeof *p);
    reset(p, pid);
    return p;
}

static void free_process(struct pt_process *p) {
    pt_buf_release(&p->command_line);
    pt_buf_release(&p->cgroup);
    pt_thread_switches_release(&p->threads);
    pt_free(p);
}

void pt_process_set_release(struct pt_process_set *set, struct pt_file_pool *pool) {
    for (size_t i = 0; i < set->known.count; i++) {
        pt_file_pool_forget(pool, &set->known.at[i]->files);
        free_process(set->known.at[i]);
    }
    while (set->free) {
        struct pt_process *next = set->free->next_free;
        free_process(set->free);
        set->free = next;
    }
    pt_free(set->known.at);
    pt_free(set->next.at);
    pt_free(set->offspring.at);
    pt_free(set->left.at);
    pt_free(set->left_before.at);
    *set = (struct pt_process_set){ 0 };
}

size_t pt_process_set_merge(struct pt_process_set *set, const struct pt_pid_list *listed,
                            bool is_all) {
    size_t new_count = 0, i = 0;
    set->next.count = 0;
    for (size_t k = 0; k < set->known.count || i < listed->count;) {
        struct pt_process *old = k < set->known.count ? set->known.at[k] : NULL;
        if (i == listed->count || (old && old->pid < listed->at[i])) {
            old->is_gone = is_all;
        } else if (old && old->pid == listed->at[i]) {
            i++;
        } else {
            append(&set->next, take_process(set, listed->at[i++]));
            new_count++;
            continue;
        }
        append(&set->next, old);
        k++;
    }
    struct pt_process_array old_array = set->known;
    set->known = set->next;
    set->next = old_array;
    return new_count;
}

int64_t pt_process_cpu_ns(const struct pt_process *p) {
    if (p->times[PT_PROCESS_CLOCK])
        return p->cpu_ns;
    int64_t ticks, ns;
    if (!p->times[PT_PROCESS_STAT] ||
        __builtin_add_overflow(p->stat.user_ticks, p->stat.kernel_ticks, &ticks) ||
        __builtin_mul_overflow(ticks, 1000000000 / sysconf(_SC_CLK_TCK), &ns))
        return -1;
    return ns;
}

static void note_end(struct pt_process_set *set, const struct pt_process *p) {
    if (p->is_new)
        return;
    pids_add(&set->left, p->pid);
    if (p->is_recorded)
        set->ended_cpu_ns += p->counted_cpu_ns;
}

void pt_process_set_renew(struct pt_process_set *set, struct pt_process *p,
                          struct pt_file_pool *pool) {
    note_end(set, p);
    pt_file_pool_forget(pool, &p->files);
    reset(p, p->pid);
}

void pt_process_set_sweep(struct pt_process_set *set, struct pt_file_pool *pool) {
    size_t kept = 0;
    for (size_t i = 0; i < set->known.count; i++) {
        struct pt_process *p = set->known.at[i];
        if (!p->is_gone) {
            p->is_new = false;
            set->known.at[kept++] = p;
            continue;
        }
        note_end(set, p);
        pt_file_pool_forget(pool, &p->files);
        p->next_free = set->free;
        set->free = p;
    }
    set->known.count = kept;
}

bool pt_process_set_had(const struct pt_process_set *set, pid_t pid) {
    return pids_have(&set->left, pid) || pids_have(&set->left_before, pid) ||
           pt_process_set_find(set, pid);
}

void pt_process_set_begin(struct pt_process_set *set) {
    struct pt_process_pids before = set->left_before;
    set->left_before = set->left;
    set->left = before;
    set->left.count = 0;
}

bool pt_process_set_is_recorded(const struct pt_process_set *set, pid_t pid) {
    if (pids_have(&set->offspring, pid))
        return true;
    const struct pt_process *p = pt_process_set_find(set, pid);
    return p && p->is_recorded;
}

void pt_process_set_note_fork(struct pt_process_set *set, pid_t parent, pid_t child) {
    if (pt_process_set_is_recorded(set, parent))
        pids_add(&set->offspring, child);
    else
        pids_remove(&set->offspring, child);
}

void pt_process_set_note_exit(struct pt_process_set *set, pid_t pid) {
    pids_remove(&set->offspring, pid);
}

void pt_process_set_forget_forks(struct pt_process_set *set) {
    set->offspring.count = 0;
}

static bool is_root(struct pt_process_set *set, const struct pt_process *p,
                    const struct pt_target *target) {
    for (int i = 0; i < target->pid_count; i++) {
        uint64_t bit = UINT64_C(1) << i;
        bool is_other =
            p->has_start && target->start_ticks[i] && p->stat.start_ticks != target->start_ticks[i];
        if (target->pids[i] != p->pid || is_other || set->seen_roots & bit)
            continue;
        set->seen_roots |= bit;
        return true;
    }
    return false;
}

/* The id is at the start of a path component, or after the name of the runtime: /docker/4f1e...,
 * /system.slice/docker-4f1e....scope */
bool pt_process_is_in_container(const struct pt_process *p, const struct pt_target *target) {
    struct pt_str id = pt_str_from(target->container), path = pt_buf_as_str(&p->cgroup);
    if (id.len == 0)
        return false;
    for (size_t i = 0; i + id.len <= path.len; i++) {
        bool is_start = i == 0 || path.at[i] == '/' || strchr("/-:", path.at[i - 1]);
        if (is_start && pt_str_starts(pt_str_skip(path, i), id))
            return true;
    }
    return false;
}

static bool belongs(struct pt_process_set *set, const struct pt_process *p,
                    const struct pt_target *target) {
    const struct pt_process *parent =
        p->times[PT_PROCESS_STAT] ? pt_process_set_find(set, (pid_t)p->stat.parent) : NULL;
    return is_root(set, p, target) || (parent && parent->is_recorded) ||
           pids_have(&set->offspring, p->pid);
}

/* A child may have a smaller pid than its parent: repeat until nothing changes. */
void pt_process_set_mark(struct pt_process_set *set, const struct pt_target *target) {
    bool has_changed;
    do {
        has_changed = false;
        for (size_t i = 0; i < set->known.count; i++) {
            struct pt_process *p = set->known.at[i];
            if (!p->is_new || p->is_gone || p->is_recorded)
                continue;
            p->is_recorded = belongs(set, p, target);
            has_changed |= p->is_recorded;
        }
    } while (has_changed);
    for (size_t i = 0; i < set->known.count; i++)
        if (set->known.at[i]->is_new)
            pids_remove(&set->offspring, set->known.at[i]->pid);
}
