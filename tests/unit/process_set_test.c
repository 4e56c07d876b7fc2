/* The set of known processes, its recorded tree, and the switches of threads: without a kernel. */
#include "tree_fixture.h"

#include "base/clock.h"
#include "base/mem.h"
#include "collect/process_set.h"

#include <errno.h>

static struct pt_file_pool pool;

static size_t merge(struct pt_process_set *set, bool is_all, size_t count, const pid_t *pids) {
    struct pt_pid_list list = { 0 };
    for (size_t i = 0; i < count; i++)
        pt_pid_list_add(&list, pids[i]);
    size_t new_count = pt_process_set_merge(set, &list, is_all);
    pt_pid_list_release(&list);
    return new_count;
}

#define MERGE(set, is_all, ...) \
    merge(set, is_all, sizeof((pid_t[]){ __VA_ARGS__ }) / sizeof(pid_t), (pid_t[]){ __VA_ARGS__ })

static void set_parent(struct pt_process_set *set, pid_t pid, pid_t parent) {
    struct pt_process *p = pt_process_set_find(set, pid);
    assert_non_null(p);
    p->times[PT_PROCESS_STAT] = 1;
    p->stat.parent = parent;
}

static void assert_known(const struct pt_process_set *set, size_t count, const pid_t *pids) {
    assert_int_equal(set->known.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(set->known.at[i]->pid, pids[i]);
        assert_ptr_equal(pt_process_set_find(set, pids[i]), set->known.at[i]);
    }
}

static void a_listing_is_merged_in_order(void **state) {
    (void)state;
    struct pt_process_set set = { 0 };
    assert_null(pt_process_set_find(&set, 5));
    assert_int_equal(MERGE(&set, true, 5, 7, 9), 3);
    assert_known(&set, 3, (pid_t[]){ 5, 7, 9 });
    for (size_t i = 0; i < 3; i++)
        assert_true(set.known.at[i]->is_new && !set.known.at[i]->is_gone);
    for (pid_t pid = 4; pid <= 10; pid += 2)
        assert_null(pt_process_set_find(&set, pid));
    pt_process_set_sweep(&set, &pool);
    assert_false(set.known.at[0]->is_new);
    struct pt_process *kept = pt_process_set_find(&set, 7);
    /* forks add processes and end none */
    assert_int_equal(MERGE(&set, false, 3, 8, 12), 3);
    assert_known(&set, 6, (pid_t[]){ 3, 5, 7, 8, 9, 12 });
    for (size_t i = 0; i < 6; i++)
        assert_false(set.known.at[i]->is_gone);
    pt_process_set_begin(&set);
    pt_process_set_sweep(&set, &pool);
    assert_int_equal(MERGE(&set, true, 7, 12), 0);
    pt_process_set_sweep(&set, &pool);
    assert_known(&set, 2, (pid_t[]){ 7, 12 });
    assert_ptr_equal(set.known.at[0], kept);
    static const pid_t had[] = { 3, 5, 7, 8, 9, 12 };
    for (size_t i = 0; i < PT_COUNT(had); i++)
        assert_true(pt_process_set_had(&set, had[i]));
    assert_false(pt_process_set_had(&set, 6));
    assert_false(pt_process_set_had(&set, 13));
    pt_process_set_begin(&set); /* those that left are remembered for one more tick */
    assert_true(pt_process_set_had(&set, 5));
    pt_process_set_begin(&set);
    assert_false(pt_process_set_had(&set, 5));
    assert_true(pt_process_set_had(&set, 7));
    /* memory of those that left is used again */
    struct pt_process *freed = set.free;
    assert_int_equal(MERGE(&set, false, 20), 1);
    assert_ptr_equal(pt_process_set_find(&set, 20), freed);
    assert_int_equal(pt_process_set_find(&set, 20)->times[PT_PROCESS_STAT], 0);
    pt_process_set_release(&set, &pool);
}

/* 10 is the command. Children may have smaller pids than their parents. */
static void the_tree_is_found_from_parents_and_forks(void **state) {
    (void)state;
    struct pt_process_set set = { 0 };
    const struct pt_target target = { .pids = { 50, 10 }, .pid_count = 2 };
    MERGE(&set, true, 2, 4, 10, 11, 12, 13);
    set_parent(&set, 4, 12);
    set_parent(&set, 10, 1);
    set_parent(&set, 11, 2);
    set_parent(&set, 12, 10);
    set_parent(&set, 13, 99);
    pt_process_set_mark(&set, &target);
    static const pid_t recorded[] = { 4, 10, 12 }, others[] = { 2, 11, 13, 14, 99 };
    for (size_t i = 0; i < PT_COUNT(recorded); i++)
        assert_true(pt_process_set_is_recorded(&set, recorded[i]));
    for (size_t i = 0; i < PT_COUNT(others); i++)
        assert_false(pt_process_set_is_recorded(&set, others[i]));
    pt_process_set_sweep(&set, &pool);
    /* children of children that nobody has listed yet, in any order of pids */
    static const pid_t forks[][2] = { { 12, 30 }, { 30, 21 }, { 21, 25 }, { 11, 40 }, { 4, 23 } };
    for (size_t i = 0; i < PT_COUNT(forks); i++)
        pt_process_set_note_fork(&set, forks[i][0], forks[i][1]);
    pt_process_set_note_fork(&set, 10, 30); /* again: it is one process */
    assert_int_equal(set.offspring.count, 4);
    static const pid_t offspring[] = { 21, 23, 25, 30 };
    for (size_t i = 0; i < PT_COUNT(offspring); i++) {
        assert_int_equal(set.offspring.at[i], offspring[i]);
        assert_true(pt_process_set_is_recorded(&set, offspring[i]));
    }
    assert_false(pt_process_set_is_recorded(&set, 40));
    pt_process_set_note_fork(&set, 11, 23); /* the pid is another process now */
    assert_false(pt_process_set_is_recorded(&set, 23));
    pt_process_set_note_exit(&set, 21);
    pt_process_set_note_exit(&set, 22); /* of nobody */
    assert_int_equal(set.offspring.count, 2);
    assert_int_equal(set.offspring.at[0], 25);
    assert_int_equal(set.offspring.at[1], 30);
    /* 25 is listed when its parent is gone */
    MERGE(&set, false, 25, 26);
    set_parent(&set, 25, 1);
    pt_process_set_mark(&set, &target);
    assert_true(pt_process_set_find(&set, 25)->is_recorded);
    assert_false(pt_process_set_find(&set, 26)->is_recorded);
    assert_int_equal(set.offspring.count, 1);
    pt_process_set_forget_forks(&set);
    assert_false(pt_process_set_is_recorded(&set, 30));
    /* the command's pid, used again, is not the command */
    pt_process_set_sweep(&set, &pool);
    pt_process_set_begin(&set);
    MERGE(&set, true, 25);
    pt_process_set_sweep(&set, &pool);
    MERGE(&set, false, 10, 50);
    pt_process_set_mark(&set, &target);
    assert_false(pt_process_set_find(&set, 10)->is_recorded);
    assert_true(pt_process_set_find(&set, 50)->is_recorded);
    pt_process_set_release(&set, &pool);
}

static void a_process_that_started_at_another_time_is_not_the_one_given(void **state) {
    (void)state;
    struct pt_process_set set = { 0 };
    const struct pt_target target = { .pids = { 10, 20 },
                                      .start_ticks = { 500, 0 },
                                      .pid_count = 2 };
    MERGE(&set, true, 10, 20);
    for (int i = 0; i < 2; i++) {
        set.known.at[i]->has_start = true;
        set.known.at[i]->stat.start_ticks = 501;
    }
    pt_process_set_mark(&set, &target);
    assert_false(pt_process_set_is_recorded(&set, 10));
    assert_true(pt_process_set_is_recorded(&set, 20)); /* its start is not known */
    set.known.at[0]->stat.start_ticks = 500;
    pt_process_set_mark(&set, &target);
    assert_true(pt_process_set_is_recorded(&set, 10));
    pt_process_set_release(&set, &pool);
}

static void cpu_time_of_ended_processes_stays(void **state) {
    (void)state;
    struct pt_process_set set = { 0 };
    const struct pt_target target = { .pids = { 5 }, .pid_count = 1 };
    MERGE(&set, true, 5, 6);
    pt_process_set_mark(&set, &target);
    pt_process_set_sweep(&set, &pool);
    pt_process_set_find(&set, 5)->counted_cpu_ns = 70;
    pt_process_set_find(&set, 6)->counted_cpu_ns = 500;
    /* 5 is another process now: what it was has left */
    struct pt_process *p = pt_process_set_find(&set, 5);
    pt_process_set_renew(&set, p, &pool);
    assert_int_equal(set.ended_cpu_ns, 70);
    assert_true(p->is_new && !p->is_recorded);
    assert_int_equal(p->pid, 5);
    assert_int_equal(p->counted_cpu_ns, 0);
    MERGE(&set, true, 5);
    pt_process_set_sweep(&set, &pool);
    assert_int_equal(set.ended_cpu_ns, 70); /* 6 was not recorded */
    /* a process that comes and goes within one tick was never counted */
    MERGE(&set, true, 9);
    pt_process_set_find(&set, 9)->is_gone = true;
    pt_process_set_find(&set, 9)->is_recorded = true;
    pt_process_set_find(&set, 9)->counted_cpu_ns = 9;
    pt_process_set_sweep(&set, &pool);
    assert_int_equal(set.ended_cpu_ns, 70);
    pt_process_set_release(&set, &pool);
}

static void cpu_time_is_that_of_the_finest_clock(void **state) {
    (void)state;
    int64_t tick_ns = PT_NS_PER_SECOND / sysconf(_SC_CLK_TCK);
    struct pt_process p = { .cpu_ns = 123, .stat = { .user_ticks = 3, .kernel_ticks = 4 } };
    assert_int_equal(pt_process_cpu_ns(&p), -1);
    p.times[PT_PROCESS_STAT] = 1;
    assert_int_equal(pt_process_cpu_ns(&p), 7 * tick_ns);
    p.times[PT_PROCESS_CLOCK] = 1;
    assert_int_equal(pt_process_cpu_ns(&p), 123);
    p.times[PT_PROCESS_CLOCK] = 0;
    p.stat.user_ticks = INT64_MAX / tick_ns;
    p.stat.kernel_ticks = 0;
    assert_int_equal(pt_process_cpu_ns(&p), INT64_MAX / tick_ns * tick_ns);
    p.stat.kernel_ticks = 1;
    assert_int_equal(pt_process_cpu_ns(&p), -1);
    p.stat.user_ticks = INT64_MAX;
    assert_int_equal(pt_process_cpu_ns(&p), -1);
}

static void a_container_is_a_component_of_the_path(void **state) {
    (void)state;
    static const struct {
        const char *path, *id;
        bool is_in;
    } cases[] = {
        { "/docker/4f1e22", "4f1e", true },
        { "/docker/4f1e22", "4f1e22", true },
        { "/docker/4f1e22", "4f1e223", false },
        { "/docker/4f1e22", "f1e2", false },
        { "/system.slice/docker-4f1e22.scope", "4f1e", true },
        { "/kubepods/cri-containerd:4f1e22", "4f1e", true },
        { "4f1e22", "4f1e22", true },
        { "/docker/4f1e22", "/docker", true },
        { "/a/docker/4f1e22", "/docker/4f1e22", true },
        { "/docker/4f1e22", "", false },
        { "", "4f1e", false },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_process p = { 0 };
        struct pt_target target = { 0 };
        pt_buf_str(&p.cgroup, pt_str_from(cases[i].path));
        snprintf(target.container, sizeof target.container, "%s", cases[i].id);
        if (pt_process_is_in_container(&p, &target) != cases[i].is_in)
            fail_msg("%s in %s", cases[i].id, cases[i].path);
        pt_buf_release(&p.cgroup);
    }
}

/* ---- switches of threads ---- */

static void put_thread(int thread, int voluntary, int nonvoluntary) {
    char path[64], text[128];
    snprintf(path, sizeof path, "7/task/%d/status", thread);
    snprintf(text, sizeof text,
             "Name:\tx\nvoluntary_ctxt_switches:\t%d\nnonvoluntary_ctxt_switches:\t%d\n", voluntary,
             nonvoluntary);
    tree_put(&tree, path, text);
}

static void remove_thread(int thread) {
    char path[64];
    snprintf(path, sizeof path, "7/task/%d/status", thread);
    assert_int_equal(unlink(tree_path(&tree, path)), 0);
    snprintf(path, sizeof path, "7/task/%d", thread);
    assert_int_equal(rmdir(tree_path(&tree, path)), 0);
}

static void switches_of_ended_threads_stay_in_the_sum(void **state) {
    (void)state;
    struct pt_thread_switches t = { 0 };
    struct pt_thread_reader reader = { 0 };
    struct pt_switches sum;
    int proc = open(tree.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(pt_thread_switches_read(&t, &reader, &pool, proc, 7, &sum), -ENOENT);
    put_thread(7, 100, 10);
    put_thread(8, 200, 20);
    put_thread(9, 400, 40);
    assert_int_equal(pt_thread_switches_read(&t, &reader, &pool, proc, 7, &sum), 0);
    assert_int_equal(sum.voluntary, 700);
    assert_int_equal(sum.nonvoluntary, 70);
    /* one ends in the middle, one at the end, one is new */
    remove_thread(8);
    remove_thread(9);
    put_thread(7, 101, 11);
    put_thread(12, 1000, 1);
    assert_int_equal(pt_thread_switches_read(&t, &reader, &pool, proc, 7, &sum), 0);
    assert_int_equal(sum.voluntary, 101 + 200 + 400 + 1000);
    assert_int_equal(sum.nonvoluntary, 11 + 20 + 40 + 1);
    remove_thread(12);
    assert_int_equal(pt_thread_switches_read(&t, &reader, &pool, proc, 7, &sum), 0);
    assert_int_equal(sum.voluntary, 101 + 200 + 400 + 1000);
    /* fewer: another thread with this id */
    put_thread(7, 5, 2);
    assert_int_equal(pt_thread_switches_read(&t, &reader, &pool, proc, 7, &sum), 0);
    assert_int_equal(sum.voluntary, 5 + 101 + 200 + 400 + 1000);
    assert_int_equal(sum.nonvoluntary, 2 + 11 + 20 + 40 + 1);
    assert_int_equal(pt_thread_switches_read(&t, &reader, &pool, proc, 7, &sum), 0);
    assert_int_equal(sum.voluntary, 5 + 101 + 200 + 400 + 1000); /* as many: the same one */
    /* a thread that cannot be read has ended; without any there is no process */
    tree_put(&tree, "7/task/7/status", "Name:\tx\nvoluntary_ctxt_switches:\t9\n");
    assert_int_equal(pt_thread_switches_read(&t, &reader, &pool, proc, 7, &sum), -ESRCH);
    put_thread(7, 1, 1);
    assert_int_equal(pt_thread_switches_read(&t, &reader, &pool, proc, 7, &sum), 0);
    assert_int_equal(sum.voluntary, 1 + 5 + 101 + 200 + 400 + 1000);
    pt_thread_switches_clear(&t);
    assert_int_equal(pt_thread_switches_read(&t, &reader, &pool, proc, 7, &sum), 0);
    assert_int_equal(sum.voluntary, 1);
    pt_thread_switches_release(&t);
    pt_thread_reader_release(&reader);
    close(proc);
}

static void too_many_threads_are_not_read(void **state) {
    (void)state;
    struct pt_thread_switches t = { 0 };
    struct pt_thread_reader reader = { 0 };
    struct pt_switches sum;
    char path[64];
    int proc = open(tree.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    put_thread(7, 100, 10);
    for (int i = 1; i < PT_THREAD_SWITCHES_MAX; i++) {
        snprintf(path, sizeof path, "7/task/%d", 1000 + i);
        assert_int_equal(mkdir(tree_path(&tree, path), 0755), 0);
    }
    assert_int_equal(pt_thread_switches_read(&t, &reader, &pool, proc, 7, &sum), 0);
    assert_int_equal(sum.voluntary, 100);
    assert_int_equal(mkdir(tree_path(&tree, "7/task/6000"), 0755), 0);
    assert_int_equal(pt_thread_switches_read(&t, &reader, &pool, proc, 7, &sum), -E2BIG);
    pt_thread_switches_release(&t);
    pt_thread_reader_release(&reader);
    close(proc);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(a_listing_is_merged_in_order, "C104: a listing of processes is merged in order"),
        PT_TEST(the_tree_is_found_from_parents_and_forks,
                "C104: the recorded tree is found from parents and from reported forks"),
        PT_TEST(a_process_that_started_at_another_time_is_not_the_one_given,
                "C327: a process that started at another time is not the one given by --pid"),
        PT_TEST(cpu_time_of_ended_processes_stays,
                "C104: CPU time of ended processes stays in the sum of the tree"),
        PT_TEST(cpu_time_is_that_of_the_finest_clock,
                "C104: CPU time of a process is that of the finest clock"),
        PT_TEST(a_container_is_a_component_of_the_path,
                "C104: a container is found by the start of its id in a path"),
        WITH_TREE(switches_of_ended_threads_stay_in_the_sum,
                  "C104: switches of ended threads stay in the sum"),
        WITH_TREE(too_many_threads_are_not_read, "C104: too many threads are not read"),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    pt_file_pool_release(&pool);
    return failed;
}
