#include "collect/thread_switches.h"

#include "base/mem.h"
#include "source/kernel/pid.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

static void add(struct pt_switches *to, const struct pt_switches *more) {
    to->voluntary += more->voluntary;
    to->nonvoluntary += more->nonvoluntary;
    to->run_delay_ns += more->run_delay_ns;
    to->lacks_run_delay |= more->lacks_run_delay;
}

static int list_threads(int proc, pid_t pid, struct pt_pid_list *ids) {
    char path[32];
    snprintf(path, sizeof path, "%d/task", pid);
    int directory = openat(proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return -errno;
    int rc = pt_pid_list_read(ids, directory);
    close(directory);
    return rc;
}

static int read_thread(struct pt_file_pool *pool, int proc, pid_t pid, pid_t thread,
                       struct pt_switches *switches) {
    char path[48];
    struct pt_scan text;
    struct pt_pid_values values;
    snprintf(path, sizeof path, "%d/task/%d/status", pid, thread);
    int rc = pt_file_pool_read_once(pool, proc, path, &text);
    if (!rc)
        rc = pt_pid_parse_status(text, &values);
    if (rc)
        return rc;
    if (!pt_pid_has(&values, PT_STATUS_VOLUNTARY) || !pt_pid_has(&values, PT_STATUS_NONVOLUNTARY))
        return -ENODATA;
    *switches = (struct pt_switches){ .voluntary = values.at[PT_STATUS_VOLUNTARY],
                                      .nonvoluntary = values.at[PT_STATUS_NONVOLUNTARY] };
    snprintf(path, sizeof path, "%d/task/%d/schedstat", pid, thread);
    switches->lacks_run_delay = pt_file_pool_read_once(pool, proc, path, &text) ||
                                pt_pid_parse_schedstat(text, &switches->run_delay_ns);
    return 0;
}

/* Both lists ascend: threads only in the old one have ended. */
static void merge(struct pt_thread_switches *t, struct pt_thread_reader *reader,
                  struct pt_file_pool *pool, int proc, pid_t pid) {
    const struct pt_thread *old = t->threads.at, *end = old + t->threads.count;
    reader->next.count = 0;
    for (size_t i = 0; i < reader->ids.count; i++) {
        pid_t id = reader->ids.at[i];
        struct pt_switches now;
        for (; old < end && old->id < id; old++)
            add(&t->ended, &old->switches);
        const struct pt_thread *before = old < end && old->id == id ? old++ : NULL;
        bool is_read = read_thread(pool, proc, pid, id, &now) == 0;
        /* Fewer than before: another thread with the same id. */
        if (before && (!is_read || now.voluntary < before->switches.voluntary))
            add(&t->ended, &before->switches);
        if (!is_read)
            continue;
        pt_grow(&reader->next.at, &reader->next.capacity, reader->next.count + 1,
                sizeof *reader->next.at);
        reader->next.at[reader->next.count++] = (struct pt_thread){ id, now };
    }
    for (; old < end; old++)
        add(&t->ended, &old->switches);
}

int pt_thread_switches_read(struct pt_thread_switches *t, struct pt_thread_reader *reader,
                            struct pt_file_pool *pool, int proc, pid_t pid,
                            struct pt_switches *sum) {
    int rc = list_threads(proc, pid, &reader->ids);
    if (rc)
        return rc;
    if (reader->ids.count > PT_THREAD_SWITCHES_MAX)
        return -E2BIG;
    merge(t, reader, pool, proc, pid);
    struct pt_thread_list old = t->threads;
    t->threads = reader->next;
    reader->next = old;
    if (t->threads.count == 0)
        return -ESRCH;
    *sum = t->ended;
    for (size_t i = 0; i < t->threads.count; i++)
        add(sum, &t->threads.at[i].switches);
    return 0;
}

void pt_thread_switches_clear(struct pt_thread_switches *t) {
    t->threads.count = 0;
    t->ended = (struct pt_switches){ 0 };
}

void pt_thread_switches_release(struct pt_thread_switches *t) {
    pt_free(t->threads.at);
    *t = (struct pt_thread_switches){ 0 };
}

void pt_thread_reader_release(struct pt_thread_reader *r) {
    pt_pid_list_release(&r->ids);
    pt_free(r->next.at);
    *r = (struct pt_thread_reader){ 0 };
}
