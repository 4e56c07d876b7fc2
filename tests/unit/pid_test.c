/* Parsers of /proc/PID, lists of pids, messages about births and deaths. */
#include "capture.h"
#include "tree.h"

#include "source/kernel/pid.h"
#include "source/kernel/pid_list.h"
#include "source/kernel/proc_events.h"

#include <errno.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>

#define STAT_HEAD " S 1 17 17 0 -1 4194560 120 0 3 0 250 50 10 5 20 0 4 0 1187 104857600 2560"
#define STAT_TAIL " 18446744073709551615 1 1 0 0 0 0 0 4096 0 0 0 0 17 6 0 0 42 0 0 0\n"

static struct pt_scan scan(struct pt_str text) {
    return pt_scan_of(text);
}

static void stat_gives_every_field_in_its_place(void **state) {
    (void)state;
    struct pt_pid_stat s;
    assert_int_equal(pt_pid_parse_stat(scan(PT_STR("17 (bash)" STAT_HEAD STAT_TAIL)), &s), 0);
    assert_str_eq(s.name, "bash");
    assert_int_equal(s.state, 'S');
    assert_int_equal(s.parent, 1);
    assert_int_equal(s.minor_faults, 120);
    assert_int_equal(s.major_faults, 3);
    assert_int_equal(s.user_ticks, 250);
    assert_int_equal(s.kernel_ticks, 50);
    assert_int_equal(s.children_user_ticks, 10);
    assert_int_equal(s.children_kernel_ticks, 5);
    assert_int_equal(s.threads, 4);
    assert_int_equal(s.start_ticks, 1187);
    assert_int_equal(s.virtual_bytes, 104857600);
    assert_int_equal(s.last_cpu, 6);
    assert_int_equal(s.block_delay_ticks, 42);
}

static void a_name_with_parentheses_and_newlines_is_no_trap(void **state) {
    (void)state;
    struct pt_pid_stat s;
    assert_int_equal(pt_pid_parse_stat(scan(PT_STR("17 (a) R 9 (\n) b)" STAT_HEAD STAT_TAIL)), &s),
                     0);
    assert_str_eq(s.name, "a) R 9 (\n) b");
    assert_int_equal(s.parent, 1);
    assert_int_equal(pt_pid_parse_stat(scan(PT_STR("17 ()" STAT_HEAD STAT_TAIL)), &s), 0);
    assert_int_equal(s.name.len, 0);
}

static void stat_is_read_by_pid(void **state) {
    (void)state;
    struct tree tree;
    struct pt_text text = { 0 };
    struct pt_pid_stat s;
    tree_make(&tree);
    tree_put(&tree, "17/stat", "17 (bash)" STAT_HEAD STAT_TAIL);
    tree_put(&tree, "18/stat", "18 (bash)" STAT_HEAD); /* cut */
    int proc = open(tree.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(pt_pid_read_stat(proc, 17, &text, &s), 0);
    assert_str_eq(s.name, "bash");
    assert_int_equal(s.parent, 1);
    assert_int_equal(pt_pid_read_stat(proc, 18, &text, &s), -EINVAL);
    assert_int_equal(pt_pid_read_stat(proc, 19, &text, &s), -ENOENT);
    close(proc);
    pt_text_release(&text);
    tree_remove(&tree);
}

static void a_cut_stat_is_a_failure_wherever_it_is_cut(void **state) {
    (void)state;
    struct pt_str whole = PT_STR("17 (bash)" STAT_HEAD STAT_TAIL);
    struct pt_pid_stat s;
    for (size_t len = 0; len < whole.len; len++)
        assert_int_equal(pt_pid_parse_stat(scan((struct pt_str){ whole.at, len }), &s), -EINVAL);
}

static void numbers_that_do_not_fit_are_failures(void **state) {
    (void)state;
    struct pt_pid_stat s;
    int64_t pages;
    assert_int_equal(pt_pid_parse_stat(scan(PT_STR("1 (a) S 1 1 1 0 -1 0 9223372036854775808 0 3 0 "
                                                   "250 50 10 5 20 0 4 0 1187 104857600 2560\n")),
                                       &s),
                     -EINVAL);
    assert_int_equal(pt_pid_parse_stat(scan(PT_STR("1 (a) S 1 1 1 0 -1 0 1 0 3 0 "
                                                   "99999999999999999999 50 10 5 20 0 4 0 1187 1 "
                                                   "2560\n")),
                                       &s),
                     -EINVAL);
    assert_int_equal(pt_pid_parse_statm(scan(PT_STR("1 99999999999999999999 1\n")), &pages),
                     -EINVAL);
    assert_int_equal(pt_pid_parse_statm(scan(PT_STR("1 -5 1\n")), &pages), -EINVAL);
}

static void what_an_old_kernel_does_not_say_is_unknown(void **state) {
    (void)state;
    struct pt_pid_stat s;
    assert_int_equal(pt_pid_parse_stat(scan(PT_STR("17 (a)" STAT_HEAD "\n")), &s), 0);
    assert_int_equal(s.virtual_bytes, 104857600);
    assert_int_equal(s.last_cpu, -1);
    assert_int_equal(s.block_delay_ticks, -1);
}

static void the_delay_is_the_second_number_of_schedstat(void **state) {
    (void)state;
    int64_t ns = -1;
    assert_int_equal(pt_pid_parse_schedstat(scan(PT_STR("1234567 8901 42\n")), &ns), 0);
    assert_int_equal(ns, 8901);
    assert_int_equal(pt_pid_parse_schedstat(scan(PT_STR("1234567 8901")), &ns), -EINVAL);
    assert_int_equal(pt_pid_parse_schedstat(scan(PT_STR("1234567\n")), &ns), -EINVAL);
    assert_int_equal(pt_pid_parse_schedstat(scan(PT_STR("1 -5 3\n")), &ns), -EINVAL);
    assert_int_equal(pt_pid_parse_schedstat(scan(PT_STR("")), &ns), -EINVAL);
}

static void statm_and_io_are_read_or_refused_whole(void **state) {
    (void)state;
    int64_t pages;
    struct pt_pid_io io;
    assert_int_equal(pt_pid_parse_statm(scan(PT_STR("25600 2560 1200 5 0 900 0\n")), &pages), 0);
    assert_int_equal(pages, 2560);
    assert_int_equal(pt_pid_parse_statm(scan(PT_STR("25600 25")), &pages), -EINVAL);
    struct pt_str text = PT_STR("rchar: 1\nwchar: 2\nsyscr: 3\nsyscw: 4\nread_bytes: 5\n"
                                "write_bytes: 6\ncancelled_write_bytes: 7\n");
    assert_int_equal(pt_pid_parse_io(scan(text), &io), 0);
    assert_int_equal(io.read_chars, 1);
    assert_int_equal(io.write_chars, 2);
    assert_int_equal(io.read_bytes, 5);
    assert_int_equal(io.write_bytes, 6);
    for (size_t len = 0; len < text.len - sizeof "cancelled_write_bytes: 7"; len++)
        assert_int_equal(pt_pid_parse_io(scan((struct pt_str){ text.at, len }), &io), -EINVAL);
}

static void status_lines_may_be_missing_one_by_one(void **state) {
    (void)state;
    struct pt_pid_values v;
    assert_int_equal(
        pt_pid_parse_status(scan(PT_STR("Name:\tUid: 5\nUid:\t1000\t0\t0\t0\nNSpid:\t17\t4\t1\n"
                                        "VmHWM:\t   20480 kB\nVmSwap:\t9223372036854775807 kB\n"
                                        "voluntary_ctxt_switches:\t99999999999999999999\n"
                                        "nonvoluntary_ctxt_switches:\t20\n")),
                            &v),
        0);
    assert_int_equal(v.at[PT_STATUS_UID], 1000);
    assert_int_equal(v.at[PT_STATUS_NS_PID], 1);
    assert_int_equal(v.at[PT_STATUS_PEAK_RESIDENT], 20480 * 1024);
    assert_int_equal(v.at[PT_STATUS_NONVOLUNTARY], 20);
    assert_false(pt_pid_has(&v, PT_STATUS_RSS_ANON));
    assert_false(pt_pid_has(&v, PT_STATUS_SWAP));
    assert_false(pt_pid_has(&v, PT_STATUS_VOLUNTARY));
    assert_int_equal(pt_pid_parse_status(scan(PT_STR("Uid:\t10")), &v), -EINVAL);
}

static void rollup_gives_pss_and_its_parts(void **state) {
    (void)state;
    struct pt_pid_values v;
    assert_int_equal(pt_pid_parse_smaps_rollup(scan(PT_STR("55d0-7ffc ---p 00000000 00:00 0 "
                                                           "[rollup]\nRss:  9 kB\nPss:   8 kB\n"
                                                           "Pss_Anon:  5 kB\nPss_File: 2 kB\n"
                                                           "Pss_Shmem: 1 kB\nSwapPss: 3 kB\n")),
                                               &v),
                     0);
    static const int64_t expected[PT_ROLLUP_COUNT] = { 8192, 5120, 2048, 1024, 3072 };
    for (int i = 0; i < PT_ROLLUP_COUNT; i++)
        assert_int_equal(v.at[i], expected[i]);
}

static void the_cgroup_that_says_most_is_taken(void **state) {
    (void)state;
    static const struct {
        struct pt_str text;
        const char *path;
    } cases[] = {
        { { "0::/a b:c/d\n", 12 }, "/a b:c/d" },
        { { "9:memory:/m\n1:name=systemd:/s\n0::/u\n", 36 }, "/u" },
        { { "1:name=systemd:/s\n9:memory:/m\n0::/\n", 35 }, "/m" },
        { { "9:memory:/\n8:pids:/p\n0::/\n", 26 }, "/p" },
        { { "9:memory:/\n0::/\n", 16 }, "/" },
    };
    struct pt_str path;
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        assert_int_equal(pt_pid_parse_cgroup(scan(cases[i].text), &path), 0);
        assert_str_eq(path, cases[i].path);
    }
    assert_int_equal(pt_pid_parse_cgroup(scan(PT_STR("nonsense\n")), &path), -EINVAL);
}

static void a_captured_proc_is_parsed_whole(void **state) {
    (void)state;
    static const struct {
        const char *path, *name;
        int64_t parent, user_ticks, kernel_ticks, start_ticks, virtual_bytes;
    } cases[] = {
        { OURS "captured-vm/proc/10619/stat", "a) b (c", 10612, 50, 26, 70973, 294035456 },
        { THEIRS "procfs/prometheus-procfs/proc/26231/stat", "vim", 5392, 1677, 44, 82375,
          56274944 },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        char path[PATH_MAX], text[4096];
        if (!find_capture(cases[i].path, path))
            continue;
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        ssize_t n = read(fd, text, sizeof text);
        close(fd);
        assert_true(n > 0);
        struct pt_pid_stat s;
        assert_int_equal(pt_pid_parse_stat(scan((struct pt_str){ text, (size_t)n }), &s), 0);
        assert_str_eq(s.name, cases[i].name);
        assert_int_equal(s.parent, cases[i].parent);
        assert_int_equal(s.user_ticks, cases[i].user_ticks);
        assert_int_equal(s.kernel_ticks, cases[i].kernel_ticks);
        assert_int_equal(s.start_ticks, cases[i].start_ticks);
        assert_int_equal(s.virtual_bytes, cases[i].virtual_bytes);
    }
}

static void lists_of_pids_ascend_without_doubles(void **state) {
    (void)state;
    struct pt_pid_list list = { 0 };
    static const pid_t pids[] = { 7, 3, 3, 100, 7, 1 }, expected[] = { 1, 3, 7, 100 };
    pt_pid_list_sort(&list);
    assert_int_equal(list.count, 0);
    for (size_t i = 0; i < PT_COUNT(pids); i++)
        pt_pid_list_add(&list, pids[i]);
    pt_pid_list_sort(&list);
    assert_int_equal(list.count, PT_COUNT(expected));
    assert_memory_equal(list.at, expected, sizeof expected);
    pt_pid_list_release(&list);
}

struct connector_message {
    _Alignas(8) struct nlmsghdr header;
    char connector[sizeof(struct cn_msg)];
    char event[sizeof(struct proc_event)];
};

static struct pt_str connector_message(struct connector_message *m, const struct proc_event *e) {
    struct cn_msg connector = { .id = { CN_IDX_PROC, CN_VAL_PROC }, .len = sizeof *e };
    *m = (struct connector_message){ .header = { .nlmsg_len = sizeof *m } };
    memcpy(m->connector, &connector, sizeof connector);
    memcpy(m->event, e, sizeof *e);
    return (struct pt_str){ (const char *)m, sizeof *m };
}

static void connector_messages_tell_of_processes_not_of_threads(void **state) {
    (void)state;
    struct connector_message m;
    struct pt_proc_event event;
    struct proc_event e = { .what = PROC_EVENT_FORK };
    e.event_data.fork.parent_pid = 11;
    e.event_data.fork.parent_tgid = 10;
    e.event_data.fork.child_pid = e.event_data.fork.child_tgid = 20;
    assert_true(pt_proc_connector_parse(connector_message(&m, &e), &event));
    assert_int_equal(event.kind, PT_PROC_FORK);
    assert_int_equal(event.pid, 20);
    assert_int_equal(event.parent, 10);
    e.event_data.fork.child_pid = 21;
    assert_false(pt_proc_connector_parse(connector_message(&m, &e), &event));
    struct pt_str message = connector_message(&m, &e);
    for (size_t len = 0; len < message.len; len++)
        assert_false(pt_proc_connector_parse((struct pt_str){ message.at, len }, &event));
}

struct record_message {
    _Alignas(8) struct nlmsghdr header;
    struct genlmsghdr command;
    struct nlattr outer, pid;
    uint32_t pid_value;
    struct nlattr inner;
    char record[sizeof(struct taskstats)];
};

static struct pt_str record_message(struct record_message *m, uint16_t version) {
    struct taskstats t = { .version = version, .ac_utime = 30000, .ac_stime = 12000 };
    t.ac_tgid = 20;
    t.ac_ppid = 10;
    *m = (struct record_message){
        .header = { .nlmsg_len = sizeof *m, .nlmsg_type = NLMSG_MIN_TYPE + 9 },
        .outer = { sizeof *m - offsetof(struct record_message, outer), TASKSTATS_TYPE_AGGR_PID },
        .pid = { sizeof(struct nlattr) + 4, TASKSTATS_TYPE_PID },
        .inner = { sizeof(struct nlattr) + sizeof t, TASKSTATS_TYPE_STATS },
    };
    memcpy(m->record, &t, sizeof t);
    return (struct pt_str){ (const char *)m, sizeof *m };
}

static void exit_records_give_cpu_time_if_their_layout_is_known(void **state) {
    (void)state;
    struct record_message m;
    struct pt_proc_event event;
    assert_true(pt_taskstats_parse(record_message(&m, 16), &event));
    assert_int_equal(event.pid, 20);
    assert_int_equal(event.parent, 10);
    assert_int_equal(event.cpu_ns, 42000000);
    assert_false(pt_taskstats_parse(record_message(&m, 11), &event));
    assert_false(pt_taskstats_parse(record_message(&m, 15), &event));
    struct pt_str message = record_message(&m, 16);
    for (size_t len = 0; len < message.len; len++)
        assert_false(pt_taskstats_parse((struct pt_str){ message.at, len }, &event));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(stat_gives_every_field_in_its_place,
                "C100 C102 C104: stat gives every field in its place"),
        PT_TEST(a_name_with_parentheses_and_newlines_is_no_trap,
                "C104: a name with parentheses and newlines is parsed"),
        PT_TEST(stat_is_read_by_pid, "C100: stat is read by pid; one that is gone is an error"),
        PT_TEST(a_cut_stat_is_a_failure_wherever_it_is_cut,
                "C100: a cut stat is a failure wherever it is cut"),
        PT_TEST(numbers_that_do_not_fit_are_failures, "C100: numbers that do not fit are failures"),
        PT_TEST(what_an_old_kernel_does_not_say_is_unknown,
                "C104: what an old kernel does not say is unknown"),
        PT_TEST(the_delay_is_the_second_number_of_schedstat,
                "C327: the delay of a thread is the second number of schedstat"),
        PT_TEST(statm_and_io_are_read_or_refused_whole,
                "C101: statm and io are read or refused whole"),
        PT_TEST(status_lines_may_be_missing_one_by_one,
                "C101 C103: status lines may be missing one by one"),
        PT_TEST(rollup_gives_pss_and_its_parts, "C101: smaps_rollup gives PSS and its parts"),
        PT_TEST(the_cgroup_that_says_most_is_taken,
                "C104: of several control groups the one that says most is taken"),
        PT_TEST(a_captured_proc_is_parsed_whole, "C100: stat of a captured machine is parsed"),
        PT_TEST(lists_of_pids_ascend_without_doubles, "C104: lists of pids ascend without doubles"),
        PT_TEST(connector_messages_tell_of_processes_not_of_threads,
                "C100: connector messages tell of processes, not of threads"),
        PT_TEST(exit_records_give_cpu_time_if_their_layout_is_known,
                "C100: exit records give CPU time if their layout is known"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
