/* Processes and their children, in a /proc of our own. */
#include "tree.h"

#include "source/kernel/pid_tree.h"

static struct tree proc;

static void put(int pid, int parent) {
    char name[32], text[256];
    snprintf(name, sizeof name, "%d/stat", pid);
    snprintf(text, sizeof text,
             "%d (a) b) S %d 17 17 0 -1 4194560 120 0 3 0 250 50 0 0 20 0 4 0 1187 104857600 2560 "
             "18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 17 1 0 0 0 0 0\n",
             pid, parent);
    tree_put(&proc, name, text);
}

static int make_proc(void **state) {
    (void)state;
    tree_make(&proc);
    put(1, 0);
    put(10, 1);
    put(11, 10);
    put(5, 11); /* numbers go round */
    put(12, 1);
    put(13, 12);
    return 0;
}

static int remove_proc(void **state) {
    (void)state;
    tree_remove(&proc);
    return 0;
}

static void check(const pid_t *roots, size_t root_count, const pid_t *expected, size_t count) {
    struct pt_pid_list tree = { 0 };
    int fd = open(proc.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    pt_pid_tree_read(fd, roots, root_count, &tree);
    close(fd);
    assert_int_equal(tree.count, count);
    assert_memory_equal(tree.at, expected, count * sizeof *expected);
    pt_pid_list_release(&tree);
}

static void children_follow_their_parents(void **state) {
    (void)state;
    check((const pid_t[]){ 10 }, 1, (const pid_t[]){ 10, 11, 5 }, 3);
}

static void a_child_that_is_a_root_too_is_there_once(void **state) {
    (void)state;
    check((const pid_t[]){ 12, 10, 11 }, 3, (const pid_t[]){ 12, 10, 11, 13, 5 }, 5);
}

static void a_root_that_is_not_there_stays(void **state) {
    (void)state;
    check((const pid_t[]){ 99 }, 1, (const pid_t[]){ 99 }, 1);
}

static void we_are_in_no_tree(void **state) {
    (void)state;
    put(getpid(), 13);
    put(20, getpid());
    check((const pid_t[]){ 12 }, 1, (const pid_t[]){ 12, 13 }, 2);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(children_follow_their_parents, "C241: children follow their parents"),
        PT_TEST(a_child_that_is_a_root_too_is_there_once,
                "C241: a child that is a root too is there once"),
        PT_TEST(a_root_that_is_not_there_stays,
                "C241: a root that is not there stays, for an error that names it"),
        PT_TEST(we_are_in_no_tree, "C241: our own process and what it has started are in no tree"),
    };
    return cmocka_run_group_tests(tests, make_proc, remove_proc);
}
