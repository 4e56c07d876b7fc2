/* What is read of a cgroup, when, and which files stay open: on trees made here, whose files change
 * between two reads. */
#include "tree.h"

#include "base/clock.h"
#include "base/mem.h"
#include "collect/cgroup_watch.h"

#include <limits.h>
#include <unistd.h>

#define MANY 1000 /* descriptors */

struct machine {
    struct tree tree;
    struct pt_fs fs;
    struct pt_cgroup_reader reader;
    struct pt_cgroup_watch *w;
};

#define V2 "29 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
#define V1                                                                        \
    "33 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw - cgroup cgroup rw,cpu,cpuacct\n" \
    "34 31 0:31 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"           \
    "37 31 0:34 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"

static void put(struct machine *m, const char *file, const char *text) {
    char name[PATH_MAX];
    assert_true(snprintf(name, sizeof name, "sys/fs/cgroup/%s", file) < PATH_MAX);
    tree_put(&m->tree, name, text);
}

static void take_away(struct machine *m, const char *file) {
    char name[PATH_MAX];
    assert_true(snprintf(name, sizeof name, "sys/fs/cgroup/%s", file) < PATH_MAX);
    assert_int_equal(remove(tree_path(&m->tree, name)), 0);
}

static void machine_make(struct machine *m, const char *mountinfo) {
    memset(m, 0, sizeof *m);
    tree_make(&m->tree);
    tree_put(&m->tree, "proc/self/mountinfo", mountinfo);
    tree_directory(&m->tree, "sys/fs/cgroup");
}

static void machine_open(struct machine *m) {
    char sys[PATH_MAX];
    snprintf(sys, sizeof sys, "%s", tree_path(&m->tree, "sys"));
    assert_int_equal(pt_fs_open(&m->fs, tree_path(&m->tree, "proc"), sys, "/", NULL), 0);
    assert_int_equal(pt_cgroup_reader_open(&m->reader, &m->fs), 0);
    m->reader.kept_limit = MANY;
}

static void watch_as(struct machine *m, const char *path, bool is_container) {
    struct pt_cgroup_identity identity = { .runtime = "cgroup", .is_entity = true };
    if (is_container)
        identity.id = PT_STR("abcd");
    m->w = pt_cgroup_watch_new(&m->reader, pt_str_from(path), &identity);
}

static void machine_stop(struct machine *m) {
    if (m->w)
        pt_cgroup_watch_free(m->w, &m->reader);
    assert_int_equal(m->reader.kept_count, 0);
    pt_cgroup_reader_close(&m->reader);
    pt_fs_close(&m->fs);
    tree_remove(&m->tree);
}

/* A v2 machine with the group /a/b. */
static void machine_start(struct machine *m) {
    machine_make(m, V2);
    put(m, "cgroup.procs", "");
    put(m, "a/cgroup.procs", "");
    put(m, "a/b/cgroup.procs", "10\n11\n");
    put(m, "a/b/cpu.stat", "usage_usec 100\n");
    put(m, "a/b/memory.current", "4096\n");
    put(m, "a/b/memory.max", "max\n");
    machine_open(m);
    watch_as(m, "/a/b", false);
}

static void read_it(struct machine *m, enum pt_cgroup_effort effort) {
    pt_cgroup_reader_refresh(&m->reader);
    pt_cgroup_watch_read(m->w, &m->reader, effort);
}

#define assert_value(m, value, expected) assert_value_at(m, value, expected, __LINE__)

/* -1: it is not known. */
static void assert_value_at(const struct machine *m, enum pt_cgroup_value value, int64_t expected,
                            int line) {
    const struct pt_cgroup_values *v = &m->w->values;
    int64_t actual = pt_cgroup_has(v, value) ? v->at[value] : -1;
    if (actual != expected)
        fail_msg("line %d: %lld, expected %lld", line, (long long)actual, (long long)expected);
}

static void only_a_group_that_used_cpu_is_read_whole(void **state) {
    (void)state;
    struct machine m;
    machine_start(&m);
    read_it(&m, PT_WATCH_NOTHING);
    assert_value(&m, PT_CGROUP_CPU_TIME_NS, -1);
    read_it(&m, PT_WATCH_USAGE);
    assert_true(m.w->is_active);
    assert_value(&m, PT_CGROUP_CPU_TIME_NS, 100000);
    assert_value(&m, PT_CGROUP_MEMORY_USED, 4096);
    put(&m, "a/b/memory.current", "8192\n");
    int64_t cpu_ns = m.w->times_ns[PT_CGROUP_SOURCE_CPU];
    int64_t memory_ns = m.w->times_ns[PT_CGROUP_SOURCE_MEMORY];
    read_it(&m, PT_WATCH_USAGE); /* no CPU time since: nothing else can have changed */
    assert_false(m.w->is_active);
    assert_value(&m, PT_CGROUP_MEMORY_USED, 4096);
    assert_true(m.w->times_ns[PT_CGROUP_SOURCE_CPU] > cpu_ns);
    assert_true(m.w->times_ns[PT_CGROUP_SOURCE_MEMORY] == memory_ns);
    read_it(&m, PT_WATCH_VALUES);
    assert_false(m.w->is_active);
    assert_value(&m, PT_CGROUP_MEMORY_USED, 8192);
    put(&m, "a/b/memory.current", "12288\n");
    put(&m, "a/b/cpu.stat", "usage_usec 101\n");
    read_it(&m, PT_WATCH_USAGE);
    assert_true(m.w->is_active);
    assert_value(&m, PT_CGROUP_CPU_TIME_NS, 101000);
    assert_value(&m, PT_CGROUP_MEMORY_USED, 12288);
    read_it(&m, PT_WATCH_NOTHING);
    assert_value(&m, PT_CGROUP_CPU_TIME_NS, 101000);
    machine_stop(&m);
}

static void limits_and_processes_are_read_with_everything(void **state) {
    (void)state;
    struct machine m;
    machine_start(&m);
    put(&m, "a/b/memory.max", "65536\n");
    put(&m, "a/b/cpu.max", "50000 100000\n");
    read_it(&m, PT_WATCH_VALUES);
    assert_value(&m, PT_CGROUP_MEMORY_LIMIT, -1);
    assert_false(m.w->tightest.has_memory || m.w->tightest.has_cores);
    assert_false(m.w->has_process_count);
    assert_int_equal(m.w->times_ns[PT_CGROUP_SOURCE_LIMITS], 0);
    assert_int_equal(m.w->times_ns[PT_WATCH_PROCESSES], 0);
    read_it(&m, PT_WATCH_ALL);
    assert_value(&m, PT_CGROUP_MEMORY_LIMIT, 65536);
    assert_true(m.w->tightest.has_memory && m.w->tightest.memory == 65536);
    assert_true(m.w->tightest.has_cores && m.w->tightest.cores == 0.5);
    assert_true(m.w->has_process_count);
    assert_int_equal(m.w->process_count, 2);
    assert_true(m.w->times_ns[PT_CGROUP_SOURCE_LIMITS] > 0);
    assert_true(m.w->times_ns[PT_WATCH_PROCESSES] > 0);
    machine_stop(&m);
}

/* Where there is no CPU controller, memory tells whether it is active. */
static void usage_is_memory_without_a_cpu_controller(void **state) {
    (void)state;
    struct machine m;
    machine_start(&m);
    take_away(&m, "a/b/cpu.stat");
    put(&m, "a/b/pids.current", "1\n");
    read_it(&m, PT_WATCH_USAGE);
    assert_true(m.w->is_active);
    put(&m, "a/b/pids.current", "2\n");
    read_it(&m, PT_WATCH_USAGE);
    assert_false(m.w->is_active);
    assert_value(&m, PT_CGROUP_PIDS_CURRENT, 1);
    put(&m, "a/b/memory.current", "1\n");
    read_it(&m, PT_WATCH_USAGE);
    assert_true(m.w->is_active);
    assert_value(&m, PT_CGROUP_PIDS_CURRENT, 2);
    machine_stop(&m);
}

/* Files of a controller that is enabled later; they are searched every 12th full read. */
static void files_that_were_missing_are_searched_again(void **state) {
    (void)state;
    struct machine m;
    machine_start(&m);
    for (int i = 1; i <= 24; i++) {
        if (i == 2)
            put(&m, "a/b/pids.current", "7\n");
        if (i == 14)
            put(&m, "a/b/memory.swap.current", "9\n");
        read_it(&m, PT_WATCH_VALUES); /* does not count */
        read_it(&m, PT_WATCH_ALL);
        assert_value(&m, PT_CGROUP_PIDS_CURRENT, i < 12 ? -1 : 7);
        assert_value(&m, PT_CGROUP_SWAP_USED, i < 24 ? -1 : 9);
    }
    machine_stop(&m);
}

static void a_removed_group_is_gone(void **state) {
    (void)state;
    struct machine m;
    machine_start(&m);
    m.reader.kept_limit = 0; /* of a made tree an open file outlives its directory */
    read_it(&m, PT_WATCH_ALL);
    assert_false(m.w->is_gone);
    assert_int_equal(m.w->version, 2);
    static const char *const files[] = { "cgroup.procs", "cpu.stat", "memory.current", "memory.max",
                                         "" };
    for (size_t i = 0; i < PT_COUNT(files); i++) {
        char name[64];
        snprintf(name, sizeof name, "a/b/%s", files[i]);
        take_away(&m, name);
    }
    read_it(&m, PT_WATCH_VALUES);
    assert_true(m.w->is_gone);
    assert_int_equal(m.w->mounts, 0);
    assert_int_equal(m.w->version, 0);
    assert_value(&m, PT_CGROUP_CPU_TIME_NS, -1);
    assert_value(&m, PT_CGROUP_MEMORY_USED, -1);
    machine_stop(&m);
}

/* A group that never was is not gone, and comes. */
static void a_group_may_come_later(void **state) {
    (void)state;
    struct machine m;
    machine_start(&m);
    pt_cgroup_watch_free(m.w, &m.reader);
    watch_as(&m, "/late", false);
    for (int i = 1; i < 12; i++)
        read_it(&m, PT_WATCH_ALL);
    assert_false(m.w->is_gone);
    assert_int_equal(m.w->version, 0);
    assert_false(m.w->has_process_count);
    put(&m, "late/cgroup.procs", "10\n");
    put(&m, "late/cpu.stat", "usage_usec 5\n");
    read_it(&m, PT_WATCH_ALL);
    assert_false(m.w->is_gone);
    assert_int_equal(m.w->version, 2);
    assert_value(&m, PT_CGROUP_CPU_TIME_NS, 5000);
    assert_int_equal(m.w->process_count, 1);
    machine_stop(&m);
}

/* The file of a group is there no longer, the group is: its other values are read again. */
static void a_file_that_disappears_leaves_the_others(void **state) {
    (void)state;
    struct machine m;
    machine_start(&m);
    m.reader.kept_limit = 0;
    put(&m, "a/b/pids.current", "3\n");
    read_it(&m, PT_WATCH_VALUES);
    assert_value(&m, PT_CGROUP_MEMORY_USED, 4096);
    take_away(&m, "a/b/memory.current");
    put(&m, "a/b/pids.current", "4\n");
    read_it(&m, PT_WATCH_VALUES);
    assert_false(m.w->is_gone);
    assert_value(&m, PT_CGROUP_MEMORY_USED, -1);
    assert_value(&m, PT_CGROUP_PIDS_CURRENT, 4);
    read_it(&m, PT_WATCH_VALUES);
    assert_value(&m, PT_CGROUP_CPU_TIME_NS, 100000);
    assert_value(&m, PT_CGROUP_PIDS_CURRENT, 4);
    machine_stop(&m);
}

/* Files that are read at every tick stay open; limits do not. */
static void descriptors_are_kept_within_limits(void **state) {
    (void)state;
    struct machine m;
    machine_start(&m);
    put(&m, "a/b/pids.current", "3\n");
    put(&m, "a/b/memory.max", "9\n");
    read_it(&m, PT_WATCH_ALL);
    assert_int_equal(m.reader.kept_count, 3); /* CPU, memory, pids */
    read_it(&m, PT_WATCH_ALL);
    assert_int_equal(m.reader.kept_count, 3);
    pt_cgroup_watch_rest(m.w, &m.reader);
    assert_int_equal(m.reader.kept_count, 0);
    m.reader.kept_limit = 2;
    put(&m, "a/b/cpu.stat", "usage_usec 200\n"); /* active */
    read_it(&m, PT_WATCH_ALL);
    assert_int_equal(m.reader.kept_count, 2);
    assert_value(&m, PT_CGROUP_PIDS_CURRENT, 3);
    pt_cgroup_watch_rest(m.w, &m.reader);
    m.reader.kept_limit = MANY;
    m.reader.was_refused = true;
    read_it(&m, PT_WATCH_ALL);
    assert_int_equal(m.reader.kept_count, 0);
    machine_stop(&m);
}

/* The last quarter is for those that are active or recorded. */
static void an_idle_group_may_not_keep_the_last_descriptors(void **state) {
    (void)state;
    struct machine m;
    static const struct {
        bool is_recorded;
        int before, after;
    } cases[] = { { false, 0, 3 }, { false, 4, 6 }, { false, 6, 6 }, { true, 6, 8 } };
    machine_start(&m);
    put(&m, "a/b/pids.current", "3\n");
    read_it(&m, PT_WATCH_VALUES);
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        pt_cgroup_watch_rest(m.w, &m.reader);
        m.reader.kept_limit = 8;
        m.reader.kept_count = cases[i].before;
        m.w->is_recorded = cases[i].is_recorded;
        m.w->is_active = false;
        read_it(&m, PT_WATCH_VALUES);
        assert_int_equal(m.reader.kept_count, cases[i].after);
        m.reader.kept_count -= cases[i].before;
    }
    machine_stop(&m);
}

/* The smallest memory and quota of a group and those above it; the CPUs of the nearest. */
static void limits_are_those_of_all_ancestors(void **state) {
    (void)state;
    struct machine m;
    machine_start(&m);
    put(&m, "a/b/c/cgroup.procs", "");
    put(&m, "other/cgroup.procs", "");
    put(&m, "a/bee/cgroup.procs", "");
    put(&m, "memory.max", "7000\n");
    put(&m, "cpuset.cpus.effective", "0-7\n");
    put(&m, "a/memory.max", "5000\n");
    put(&m, "a/cpu.max", "300000 100000\n");
    put(&m, "a/cpuset.cpus.effective", "0-3\n");
    put(&m, "a/b/memory.max", "6000\n");
    put(&m, "a/b/cpu.max", "100000 100000\n");
    put(&m, "a/b/c/cpu.max", "200000 100000\n");
    static const struct {
        const char *path;
        int64_t memory, cpus;
        double cores;
    } cases[] = {
        { "/a/b/c", 5000, 4, 1 }, { "/a/b", 5000, 4, 1 },   { "/a", 5000, 4, 3 },
        { "/a/bee", 5000, 4, 3 }, { "/other", 7000, 8, 0 }, { "/", 7000, 8, 0 },
        { "/a/b/c", 5000, 4, 1 },
    };
    pt_cgroup_watch_free(m.w, &m.reader);
    pt_cgroup_reader_refresh(&m.reader); /* all in one tick: they share what is read above them */
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        watch_as(&m, cases[i].path, false);
        pt_cgroup_watch_read(m.w, &m.reader, PT_WATCH_ALL);
        const struct pt_cgroup_limits *l = &m.w->tightest;
        if (l->memory != cases[i].memory || l->cpus != cases[i].cpus ||
            l->cores != cases[i].cores || l->has_cores != (cases[i].cores > 0))
            fail_msg("%zu %s: memory %lld, CPUs %lld, cores %g", i, cases[i].path,
                     (long long)l->memory, (long long)l->cpus, l->cores);
        assert_true(l->has_memory && l->has_cpus);
        pt_cgroup_watch_free(m.w, &m.reader);
    }
    watch_as(&m, "/a/b", false);
    put(&m, "a/memory.max", "4000\n");
    pt_cgroup_watch_read(m.w, &m.reader, PT_WATCH_ALL); /* the same tick */
    assert_int_equal(m.w->tightest.memory, 5000);
    read_it(&m, PT_WATCH_ALL);
    assert_int_equal(m.w->tightest.memory, 4000);
    machine_stop(&m);
}

#define NETWORK_OF(received, sent)                                                         \
    "Inter-|   Receive                                                |  Transmit\n"       \
    " face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets\n" \
    "    lo: 9 1 0 0 0 0 0 0 9 1 0 0 0 0 0 0\n"                                            \
    "  eth0: " #received " 1 0 0 0 0 0 0 " #sent " 1 0 0 0 0 0 0\n"

static void set_network(struct machine *m, int pid, const char *network, const char *text) {
    char name[64];
    snprintf(name, sizeof name, "proc/%d/net/dev", pid);
    tree_put(&m->tree, name, text);
    snprintf(name, sizeof name, "proc/%d/ns", pid);
    tree_directory(&m->tree, name);
    snprintf(name, sizeof name, "proc/%d/ns/net", pid);
    unlink(tree_path(&m->tree, name));
    assert_int_equal(symlink(network, tree_path(&m->tree, name)), 0);
}

/* Of the first member in a network of its own, as long as it is there. */
static void the_network_is_that_of_a_member(void **state) {
    (void)state;
    struct machine m;
    machine_start(&m);
    snprintf(m.reader.host_network, sizeof m.reader.host_network, "net:[1]");
    set_network(&m, 10, "net:[1]", NETWORK_OF(1, 2));
    read_it(&m, PT_WATCH_ALL);
    assert_false(m.w->has_network); /* 11 cannot be seen, and 10 is in that of the host */
    assert_int_equal(m.w->network_pid, 0);
    set_network(&m, 11, "net:[2]", NETWORK_OF(300, 400));
    read_it(&m, PT_WATCH_VALUES);
    assert_false(m.w->has_network); /* members are read with everything */
    read_it(&m, PT_WATCH_ALL);
    assert_true(m.w->has_network);
    assert_int_equal(m.w->network_pid, 11);
    assert_int_equal(m.w->received_bytes, 300);
    assert_int_equal(m.w->sent_bytes, 400);
    assert_true(m.w->times_ns[PT_WATCH_NETWORK] > 0);
    set_network(&m, 11, "net:[2]", NETWORK_OF(301, 402));
    read_it(&m, PT_WATCH_VALUES);
    assert_int_equal(m.w->received_bytes, 301);
    assert_int_equal(m.w->sent_bytes, 402);
    set_network(&m, 11, "net:[3]", NETWORK_OF(1, 1)); /* the number is that of another process */
    read_it(&m, PT_WATCH_VALUES);
    assert_false(m.w->has_network);
    assert_int_equal(m.w->network_pid, 0);
    read_it(&m, PT_WATCH_ALL); /* of the new one from now on */
    assert_true(m.w->has_network);
    assert_int_equal(m.w->received_bytes, 1);
    assert_int_equal(remove(tree_path(&m.tree, "proc/11/net/dev")), 0);
    read_it(&m, PT_WATCH_VALUES);
    assert_false(m.w->has_network);
    machine_stop(&m);
}

/* Without knowing our own, nobody's network can be told from that of the host. */
static void without_our_own_network_there_is_none(void **state) {
    (void)state;
    struct machine m;
    machine_start(&m);
    assert_string_equal(m.reader.host_network, "");
    set_network(&m, 10, "net:[2]", NETWORK_OF(1, 2));
    read_it(&m, PT_WATCH_ALL);
    assert_false(m.w->has_network);
    machine_stop(&m);
}

/* Four members are looked at; more are counted only. */
static void four_members_are_looked_at(void **state) {
    (void)state;
    struct machine m;
    machine_start(&m);
    snprintf(m.reader.host_network, sizeof m.reader.host_network, "net:[1]");
    put(&m, "a/b/cgroup.procs", "10\n11\n12\n13\n14\n");
    set_network(&m, 14, "net:[2]", NETWORK_OF(5, 5));
    read_it(&m, PT_WATCH_ALL);
    assert_int_equal(m.w->process_count, 5);
    assert_int_equal(m.w->network_pid, 0);
    set_network(&m, 13, "net:[2]", NETWORK_OF(4, 4));
    read_it(&m, PT_WATCH_ALL);
    assert_int_equal(m.w->network_pid, 13);
    machine_stop(&m);
}

/* A v1 machine with the group /a in each hierarchy. */
static void machine_start_v1(struct machine *m, bool is_container) {
    machine_make(m, V1);
    put(m, "cpu,cpuacct/a/cgroup.procs", "10\n");
    put(m, "cpu,cpuacct/a/cpuacct.usage", "500\n");
    put(m, "cpu,cpuacct/a/cpuacct.usage_percpu", "200 300 \n");
    put(m, "memory/a/cgroup.procs", "10\n");
    put(m, "memory/a/memory.usage_in_bytes", "4096\n");
    put(m, "cpuset/cpuset.effective_cpus", "0-7\n");
    put(m, "cpuset/a/cgroup.procs", "10\n");
    put(m, "cpuset/a/cpuset.effective_cpus", "\n");
    machine_open(m);
    watch_as(m, "/a", is_container);
}

static void time_by_cpu_is_read_of_containers(void **state) {
    (void)state;
    struct machine m;
    machine_start_v1(&m, false);
    assert_int_equal(m.w->version, 1);
    read_it(&m, PT_WATCH_VALUES);
    assert_int_equal(m.w->cpu_count, 0);
    assert_int_equal(m.w->times_ns[PT_WATCH_CPUS], 0);
    m.w->is_recorded = true;
    read_it(&m, PT_WATCH_VALUES);
    assert_int_equal(m.w->cpu_count, 2);
    machine_stop(&m);
    machine_start_v1(&m, true);
    read_it(&m, PT_WATCH_VALUES);
    assert_int_equal(m.w->cpu_count, 2);
    assert_true(m.w->cpu_times_ns[0] == 200 && m.w->cpu_times_ns[1] == 300);
    assert_true(m.w->times_ns[PT_WATCH_CPUS] > 0);
    assert_value(&m, PT_CGROUP_CPU_TIME_NS, 500);
    put(&m, "cpu,cpuacct/a/cpuacct.usage_percpu", "201 302 403 \n"); /* a CPU more */
    read_it(&m, PT_WATCH_VALUES);
    assert_int_equal(m.w->cpu_count, 3);
    assert_true(m.w->cpu_times_ns[0] == 201 && m.w->cpu_times_ns[2] == 403);
    put(&m, "cpu,cpuacct/a/cpuacct.usage_percpu", "201 x\n");
    read_it(&m, PT_WATCH_VALUES);
    assert_int_equal(m.w->cpu_count, 0);
    take_away(&m, "cpu,cpuacct/a/cpuacct.usage_percpu");
    read_it(&m, PT_WATCH_VALUES);
    assert_int_equal(m.w->cpu_count, 0);
    machine_stop(&m);
}

/* In v1 an empty list of CPUs means that nothing may run there: it is not the parent's. */
static void cpus_of_v1_are_its_own(void **state) {
    (void)state;
    struct machine m;
    machine_start_v1(&m, false);
    read_it(&m, PT_WATCH_ALL);
    assert_false(m.w->tightest.has_cpus);
    put(&m, "cpuset/a/cpuset.effective_cpus", "2-3\n");
    read_it(&m, PT_WATCH_ALL);
    assert_true(m.w->tightest.has_cpus);
    assert_int_equal(m.w->tightest.cpus, 2);
    machine_stop(&m);
}

/* A hybrid machine: of controllers that v1 has, v2 is used for paths that v1 does not have. */
static void v2_is_used_where_v1_has_no_such_path(void **state) {
    (void)state;
    struct machine m;
    machine_make(&m, V1 "39 31 0:36 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n");
    put(&m, "cpu,cpuacct/both/cpuacct.usage", "500\n");
    put(&m, "unified/both/cpu.stat", "usage_usec 7\n");
    put(&m, "unified/both/cgroup.procs", "10\n");
    put(&m, "unified/only/cpu.stat", "usage_usec 8\n");
    put(&m, "unified/only/memory.current", "99\n");
    put(&m, "unified/only/cgroup.procs", "10\n");
    put(&m, "unified/cgroup.procs", "");
    put(&m, "memory/cgroup.procs", "");
    put(&m, "cpuset/cgroup.procs", "");
    machine_open(&m);
    watch_as(&m, "/both", false);
    read_it(&m, PT_WATCH_VALUES);
    assert_int_equal(m.w->version, 1);
    assert_value(&m, PT_CGROUP_CPU_TIME_NS, 500);
    pt_cgroup_watch_free(m.w, &m.reader);
    watch_as(&m, "/only", false);
    read_it(&m, PT_WATCH_VALUES);
    assert_int_equal(m.w->version, 2);
    assert_value(&m, PT_CGROUP_CPU_TIME_NS, 8000);
    assert_value(&m, PT_CGROUP_MEMORY_USED, 99);
    /* and v1 as soon as the path is there, which is seen at the 12th full read */
    put(&m, "cpu,cpuacct/only/cpuacct.usage", "600\n");
    for (int i = 1; i < 12; i++)
        read_it(&m, PT_WATCH_ALL);
    assert_value(&m, PT_CGROUP_CPU_TIME_NS, 8000);
    read_it(&m, PT_WATCH_ALL);
    assert_int_equal(m.w->version, 1);
    assert_value(&m, PT_CGROUP_CPU_TIME_NS, 600);
    machine_stop(&m);
}

static void a_watch_has_the_identity_it_was_given(void **state) {
    (void)state;
    struct machine m;
    static const struct {
        struct pt_cgroup_identity identity;
        const char *id, *name;
        bool is_container;
    } cases[] = {
        { { .id = { "abcd", 4 }, .is_entity = true }, "abcd", NULL, true },
        { { .id = { "abcd", 4 } }, "/a/b", NULL, false }, /* something inside it */
        { { .name = { "unit", 4 }, .is_entity = true, .pod_uid = "pod" }, "/a/b", "unit", false },
    };
    machine_start(&m);
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        const struct pt_cgroup_identity *given = &cases[i].identity;
        pt_cgroup_watch_free(m.w, &m.reader);
        m.w = pt_cgroup_watch_new(&m.reader, PT_STR("/a/b"), given);
        assert_string_equal(m.w->path, "/a/b");
        assert_string_equal(m.w->id, cases[i].id);
        assert_true(cases[i].name ? strcmp(m.w->name, cases[i].name) == 0 : !m.w->name);
        assert_int_equal(m.w->is_container, cases[i].is_container);
        assert_int_equal(m.w->is_entity, given->is_entity);
        assert_string_equal(m.w->pod_uid, given->pod_uid);
    }
    machine_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(only_a_group_that_used_cpu_is_read_whole,
                "only a group that used CPU time is read whole"),
        PT_TEST(limits_and_processes_are_read_with_everything,
                "C096: limits and processes are read with everything"),
        PT_TEST(usage_is_memory_without_a_cpu_controller,
                "without a CPU controller a change of memory makes a group active"),
        PT_TEST(files_that_were_missing_are_searched_again,
                "files that were missing are searched every 12th full read"),
        PT_TEST(a_removed_group_is_gone, "C097: a removed group is gone"),
        PT_TEST(a_group_may_come_later, "C097: a group may come later"),
        PT_TEST(a_file_that_disappears_leaves_the_others,
                "a file that disappears leaves the values of the others"),
        PT_TEST(descriptors_are_kept_within_limits, "descriptors are kept within limits"),
        PT_TEST(an_idle_group_may_not_keep_the_last_descriptors,
                "the last quarter of descriptors is for active and recorded groups"),
        PT_TEST(limits_are_those_of_all_ancestors,
                "C096: limits are the tightest of a group and all above it"),
        PT_TEST(the_network_is_that_of_a_member,
                "C091: the network of a container is that of a member in its own namespace"),
        PT_TEST(without_our_own_network_there_is_none,
                "C091: without knowing the host's network there is none of a container"),
        PT_TEST(four_members_are_looked_at, "C091: four members are searched for a network"),
        PT_TEST(time_by_cpu_is_read_of_containers,
                "C099: time by CPU is read of containers and recorded groups"),
        PT_TEST(cpus_of_v1_are_its_own, "C095: the CPUs of a v1 group are not those above it"),
        PT_TEST(v2_is_used_where_v1_has_no_such_path,
                "C095 C096: v2 is used for paths that v1 does not have"),
        PT_TEST(a_watch_has_the_identity_it_was_given,
                "C084: a watch has the identity it was given"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
