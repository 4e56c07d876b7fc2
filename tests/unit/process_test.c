/* The collector of processes: on a made-up tree with known answers, and live. */
#include "test.h"

#include "base/clock.h"
#include "base/mem.h"
#include "collect/collector.h"
#include "collect/file_pool.h"
#include "source/kernel/pid_list.h"
#include "source/kernel/proc_events.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern const struct pt_collector pt_process_collector;

struct run {
    struct pt_fs fs;
    struct pt_target target;
    struct pt_thinning thinning;
    struct pt_context context;
    struct pt_batch rows[2];
    void *state;
};

static void run_open(struct run *r, const char *procfs, pid_t root) {
    struct pt_err err;
    *r = (struct run){ .target = { .pids = { root }, .pid_count = root > 0 } };
    assert_int_equal(pt_fs_open(&r->fs, procfs, "/", "/", &err), 0);
    r->context = (struct pt_context){ .fs = &r->fs,
                                      .target = &r->target,
                                      .thinning = &r->thinning,
                                      .interval_ns = PT_NS_PER_SECOND,
                                      .fd_budget = 1000 };
    r->state = pt_calloc(1, pt_process_collector.state_size);
    for (int i = 0; i < 2; i++)
        pt_batch_init(&r->rows[i], pt_process_collector.tables[i]);
    assert_int_equal(pt_process_collector.open(r->state, &r->context, &err), 0);
}

static void run_tick_at(struct run *r, int64_t now_ns) {
    r->context.now_ns = now_ns;
    for (int i = 0; i < 2; i++)
        pt_batch_clear(&r->rows[i]);
    assert_int_equal(pt_process_collector.collect(r->state, &r->context, r->rows), 0);
    r->context.tick++;
}

static void run_tick(struct run *r) {
    run_tick_at(r, (int64_t)(r->context.tick + 1000) * PT_NS_PER_SECOND);
}

static void run_close(struct run *r) {
    pt_process_collector.close(r->state);
    pt_free(r->state);
    for (int i = 0; i < 2; i++)
        pt_batch_release(&r->rows[i]);
    pt_fs_close(&r->fs);
}

static const char *fixture(char path[4096]) {
    snprintf(path, 4096, "%s/tests/fixtures/proc-odd", getenv("PITOT_SOURCE"));
    return path;
}

static int column(const struct pt_batch *b, const char *name) {
    int index = pt_table_find(b->table, name);
    assert_true(index >= 0);
    return index;
}

/* Row of a process, or -1. */
static int64_t row_of(const struct run *r, pid_t pid) {
    for (uint32_t i = 0; i < r->rows[1].row_count; i++)
        if (pt_get_i64(&r->rows[1], i, 0) == pid)
            return i;
    return -1;
}

static uint32_t must_find(const struct run *r, pid_t pid) {
    int64_t row = row_of(r, pid);
    assert_true(row >= 0);
    return (uint32_t)row;
}

static bool is_null(const struct run *r, pid_t pid, const char *name) {
    return pt_is_null(&r->rows[1], must_find(r, pid), column(&r->rows[1], name));
}

static int64_t number(const struct run *r, pid_t pid, const char *name) {
    assert_false(is_null(r, pid, name));
    return pt_get_i64(&r->rows[1], must_find(r, pid), column(&r->rows[1], name));
}

static struct pt_str text(const struct run *r, pid_t pid, const char *name) {
    assert_false(is_null(r, pid, name));
    return pt_get_str(&r->rows[1], must_find(r, pid), column(&r->rows[1], name));
}

static bool has_total(const struct run *r, const char *name) {
    return !pt_is_null(&r->rows[0], 0, column(&r->rows[0], name));
}

static int64_t total(const struct run *r, const char *name) {
    assert_true(has_total(r, name));
    return pt_get_i64(&r->rows[0], 0, column(&r->rows[0], name));
}

/* Forks a child that does what `act` does and sleeps until it is killed. */
static pid_t child_start(void (*act)(void)) {
    int ready[2];
    char byte;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        act();
        if (write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void child_end(pid_t pid, struct rusage *usage) {
    kill(pid, SIGKILL);
    assert_int_equal(wait4(pid, NULL, 0, usage), pid);
}

static void nothing(void) {}

static void every_column_of_a_known_process_has_its_known_value(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t value;
    } expected[] = {
        { "pStartTime", 1700000010000 },
        { "pParentId", 1 },
        { "pNsPid", 1 },
        { "pUid", 1000 },
        { "pNumThreads", 3 },
        { "pCpuTimeUserMode", 250 },
        { "pCpuTimeKernelMode", 50 },
        { "pChildrenUserMode", 10 },
        { "pChildrenKernelMode", 5 },
        { "pVoluntaryContextSwitches", 11100 },
        { "pNonvoluntaryContextSwitches", 2220 },
        { "pBlockIODelays", 7 },
        { "pMinorFaults", 120 },
        { "pMajorFaults", 3 },
        { "pLastCpu", 1 },
        { "pVirtualMemoryBytes", 104857600 },
        { "pPeakResidentSetSize", 20480 * 1024 },
        { "pRssAnon", 6144 * 1024 },
        { "pRssFile", 3072 * 1024 },
        { "pRssShmem", 1024 * 1024 },
        { "pSwap", 12 * 1024 },
        { "pPss", 8192 * 1024 },
        { "pPssAnon", 6144 * 1024 },
        { "pPssFile", 1536 * 1024 },
        { "pPssShmem", 512 * 1024 },
        { "pSwapPss", 12 * 1024 },
        { "pReadBytes", 4096 },
        { "pWriteBytes", 8192 },
        { "pReadChars", 1000001 },
        { "pWriteChars", 2000002 },
        { "pIsRecorded", 1 },
    };
    struct run r;
    char path[4096];
    run_open(&r, fixture(path), 17);
    run_tick(&r);
    for (int i = 0; i < 6; i++) /* one smaps_rollup a tick */
        run_tick(&r);
    assert_str_eq(text(&r, 17, "pName"), "a) b (\nc) R");
    assert_str_eq(text(&r, 17, "pCmdline"), "python3 serve.py --model 'a b'");
    assert_str_eq(text(&r, 17, "pState"), "S");
    assert_str_eq(text(&r, 17, "pCgroup"), "/system.slice/docker-4f1e.scope");
    for (size_t i = 0; i < PT_COUNT(expected); i++)
        assert_int_equal(number(&r, 17, expected[i].name), expected[i].value);
    assert_int_equal(number(&r, 17, "pResidentSetSize"), 2560 * sysconf(_SC_PAGESIZE));
    assert_true(is_null(&r, 17, "pCpuTimeNs"));
    run_close(&r);
}

static void odd_processes_have_null_cells_and_no_wrong_number(void **state) {
    (void)state;
    struct run r;
    char path[4096];
    run_open(&r, fixture(path), 17);
    run_tick(&r);
    assert_int_equal(r.rows[1].row_count, 8);
    static const struct {
        pid_t pid;
        const char *name;
    } nulls[] = {
        { 18, "pReadBytes" },
        { 18, "pUid" },
        { 18, "pPss" },
        { 19, "pCmdline" },
        { 19, "pRssAnon" },
        { 19, "pReadBytes" },
        { 20, "pName" },
        { 20, "pStartTime" },
        { 20, "pVirtualMemoryBytes" },
        { 20, "pResidentSetSize" },
        { 20, "pReadChars" },
        { 21, "pCpuTimeUserMode" },
        { 21, "pResidentSetSize" },
        { 21, "pReadChars" },
        { 21, "pUid" },
        { 22, "pName" },
        { 23, "pLastCpu" },
        { 23, "pBlockIODelays" },
        { 23, "pResidentSetSize" },
        { 21, "pVoluntaryContextSwitches" },
    };
    /* Process 21: its status is whole but for one number. */
    for (size_t i = 0; i < PT_COUNT(nulls); i++) {
        bool is_uid_of_21 = nulls[i].pid == 21 && strcmp(nulls[i].name, "pUid") == 0;
        assert_int_equal(is_null(&r, nulls[i].pid, nulls[i].name), !is_uid_of_21);
    }
    assert_str_eq(text(&r, 19, "pName"), "kworker/u8:2-events_unbound");
    assert_int_equal(number(&r, 23, "pVirtualMemoryBytes"), 104857600);
    run_close(&r);
}

static void the_recorded_tree_is_marked_whatever_the_order_of_pids(void **state) {
    (void)state;
    struct run r;
    char path[4096];
    run_open(&r, fixture(path), 17);
    run_tick(&r);
    assert_int_equal(number(&r, 17, "pIsRecorded"), 1);
    assert_int_equal(number(&r, 5, "pIsRecorded"), 1);
    assert_int_equal(number(&r, 18, "pIsRecorded"), 1);
    assert_int_equal(number(&r, 19, "pIsRecorded"), 0);
    assert_int_equal(total(&r, "pNumProcesses"), 8);
    assert_int_equal(total(&r, "pTreeNumProcesses"), 3);
    assert_int_equal(total(&r, "pTreeNumThreads"), 5);
    assert_int_equal(total(&r, "pTreeResidentSetSize"),
                     (2560 + 512 + 2560) * sysconf(_SC_PAGESIZE));
    assert_int_equal(total(&r, "pTreeCpuTime"), (300 + 100 + 300) * INT64_C(10000000));
    assert_false(has_total(&r, "pForks"));
    assert_false(has_total(&r, "pShortLivedProcesses"));
    run_close(&r);
}

static void a_container_is_recorded_by_the_start_of_its_id(void **state) {
    (void)state;
    struct run r;
    char path[4096];
    run_open(&r, fixture(path), 0);
    pt_str_copy(r.target.container, sizeof r.target.container, PT_STR("4f1"));
    run_tick(&r);
    assert_int_equal(number(&r, 17, "pIsRecorded"), 1);
    assert_int_equal(number(&r, 5, "pIsRecorded"), 0);
    assert_int_equal(total(&r, "pTreeNumProcesses"), 1);
    pt_str_copy(r.target.container, sizeof r.target.container, PT_STR("f1e"));
    run_close(&r);
    run_open(&r, path, 0);
    pt_str_copy(r.target.container, sizeof r.target.container, PT_STR("f1e"));
    run_tick(&r);
    assert_false(has_total(&r, "pTreeNumProcesses")); /* never seen: unknown, not none */
    run_close(&r);
}

static void without_a_target_there_is_no_tree(void **state) {
    (void)state;
    struct run r;
    char path[4096];
    run_open(&r, fixture(path), 0);
    run_tick(&r);
    assert_false(has_total(&r, "pTreeNumProcesses"));
    assert_false(has_total(&r, "pTreeCpuTime"));
    assert_int_equal(number(&r, 17, "pVoluntaryContextSwitches"), 100);
    run_close(&r);
}

static void thinning_leaves_pss_and_command_lines_unread(void **state) {
    (void)state;
    struct run r;
    char path[4096];
    run_open(&r, fixture(path), 17);
    r.thinning = (struct pt_thinning){ { true, true } };
    for (int i = 0; i < 4; i++)
        run_tick(&r);
    assert_true(is_null(&r, 17, "pPss"));
    assert_true(is_null(&r, 17, "pCmdline"));
    r.thinning = (struct pt_thinning){ { false, false } };
    for (int i = 0; i < 4; i++)
        run_tick(&r);
    assert_false(is_null(&r, 17, "pPss"));
    assert_false(is_null(&r, 17, "pCmdline"));
    run_close(&r);
}

static int rolled_up_count(const struct run *r) {
    int count = 0;
    for (uint32_t i = 0; i < r->rows[1].row_count; i++)
        count += !pt_is_null(&r->rows[1], i, column(&r->rows[1], "pPss"));
    return count;
}

static void pss_is_read_for_one_process_a_tick_and_all_get_their_turn(void **state) {
    (void)state;
    enum { COUNT = 40 };
    pid_t pids[COUNT];
    struct run r;
    for (int i = 0; i < COUNT; i++)
        pids[i] = child_start(nothing);
    run_open(&r, "/proc", getpid());
    for (int i = 1; i <= 10; i++) {
        run_tick(&r);
        assert_int_equal(rolled_up_count(&r), i);
    }
    for (int i = 10; i < COUNT + 5; i++)
        run_tick(&r);
    for (int i = 0; i < COUNT; i++)
        assert_true(number(&r, pids[i], "pPss") > 0);
    run_close(&r);
    for (int i = 0; i < COUNT; i++)
        child_end(pids[i], NULL);
}

static void a_steady_tick_allocates_nothing(void **state) {
    (void)state;
    struct run r;
    char path[4096];
    run_open(&r, fixture(path), 17);
    for (int i = 0; i < 8; i++)
        run_tick(&r);
    uint64_t before = pt_mem_allocation_count();
    for (int i = 0; i < 40; i++)
        run_tick(&r);
    assert_int_equal(pt_mem_allocation_count(), before);
    run_close(&r);
}

/* A tree that tests change as they go. */
struct tree {
    char path[64];
    int directory;
};

static void tree_open(struct tree *t) {
    pt_str_copy(t->path, sizeof t->path, PT_STR("/tmp/pitot-process-test-XXXXXX"));
    assert_non_null(mkdtemp(t->path));
    t->directory = open(t->path, O_RDONLY | O_DIRECTORY);
}

static void tree_write(const struct tree *t, const char *name, const char *contents) {
    int fd = openat(t->directory, name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, contents, strlen(contents)), strlen(contents));
    close(fd);
}

static void tree_stat(const struct tree *t, int pid, int parent, int ticks, int start) {
    char name[32], contents[256];
    snprintf(name, sizeof name, "%d", pid);
    (void)mkdirat(t->directory, name, 0700);
    snprintf(name, sizeof name, "%d/stat", pid);
    snprintf(contents, sizeof contents,
             "%d (p%d) S %d 1 1 0 -1 0 1 0 1 0 %d 0 0 0 20 0 1 0 %d 4096 1\n", pid, start, parent,
             ticks, start);
    tree_write(t, name, contents);
}

static void tree_remove(const struct tree *t, int pid) {
    char name[32];
    snprintf(name, sizeof name, "%d/stat", pid);
    assert_int_equal(unlinkat(t->directory, name, 0), 0);
    snprintf(name, sizeof name, "%d", pid);
    assert_int_equal(unlinkat(t->directory, name, AT_REMOVEDIR), 0);
}

static void tree_close(struct tree *t) {
    close(t->directory);
    assert_int_equal(rmdir(t->path), 0);
}

static void an_orphan_stays_in_the_tree_and_a_reused_pid_does_not(void **state) {
    (void)state;
    struct tree t;
    struct run r;
    tree_open(&t);
    tree_stat(&t, 10, 1, 100, 5);
    tree_stat(&t, 11, 10, 20, 6);
    run_open(&r, t.path, 10);
    run_tick(&r);
    assert_int_equal(total(&r, "pTreeCpuTime"), INT64_C(1200000000));

    tree_remove(&t, 10);
    tree_stat(&t, 11, 1, 30, 6);
    run_tick(&r);
    assert_int_equal(row_of(&r, 10), -1);
    assert_int_equal(number(&r, 11, "pParentId"), 1);
    assert_int_equal(number(&r, 11, "pIsRecorded"), 1);
    assert_int_equal(total(&r, "pTreeCpuTime"), INT64_C(1300000000));

    tree_stat(&t, 10, 1, 7, 9);
    tree_stat(&t, 11, 1, 3, 8);
    run_tick(&r);
    assert_int_equal(number(&r, 10, "pIsRecorded"), 0);
    assert_int_equal(number(&r, 11, "pIsRecorded"), 0);
    assert_str_eq(text(&r, 11, "pName"), "p8");
    assert_int_equal(number(&r, 11, "pCpuTimeUserMode"), 3);
    assert_int_equal(total(&r, "pTreeCpuTime"), INT64_C(1300000000));
    assert_int_equal(total(&r, "pTreeNumProcesses"), 0);
    run_close(&r);
    tree_remove(&t, 10);
    tree_remove(&t, 11);
    tree_close(&t);
}

static void descriptors_stay_within_the_budget(void **state) {
    (void)state;
    struct tree t;
    struct pt_file_pool pool = { 0 };
    struct pt_file_slot slots[3] = { 0 };
    struct pt_scan found;
    int64_t now = 100 * PT_NS_PER_SECOND;
    tree_open(&t);
    tree_write(&t, "a", "1\n");
    pt_file_pool_trim(&pool, 2, INT64_MIN);
    for (int i = 0; i < 3; i++) {
        pt_file_pool_activate(&pool, &slots[i], now);
        assert_int_equal(pt_file_pool_read(&pool, &slots[i], 0, t.directory, "a", &found), 0);
        assert_int_equal(pt_scan_i64(&found), 1);
    }
    /* All equally active: the third is read, but nobody is robbed for it. */
    assert_int_equal(pool.kept_count, 2);
    assert_false(pt_file_slot_keeps(&slots[2], 0));
    /* The first and the third go on: the second loses its file. */
    now += 10 * PT_NS_PER_SECOND;
    pt_file_pool_activate(&pool, &slots[0], now);
    pt_file_pool_activate(&pool, &slots[2], now);
    assert_int_equal(pt_file_pool_read(&pool, &slots[2], 0, t.directory, "a", &found), 0);
    assert_true(pt_file_slot_keeps(&slots[0], 0) && pt_file_slot_keeps(&slots[2], 0));
    assert_false(pt_file_slot_keeps(&slots[1], 0));
    pt_file_pool_trim(&pool, 2, now + 1);
    assert_int_equal(pool.kept_count, 0);
    pt_file_pool_release(&pool);
    unlinkat(t.directory, "a", 0);
    tree_close(&t);
}

static void a_full_descriptor_table_is_no_error(void **state) {
    (void)state;
    struct tree t;
    struct run r;
    struct rlimit limit, tight;
    int spare[512], spare_count = 0;
    tree_open(&t);
    for (int pid = 10; pid < 20; pid++)
        tree_stat(&t, pid, 1, pid, 5);
    run_open(&r, t.path, 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    run_tick(&r);
    tree_stat(&t, 20, 1, 99, 5);
    tight = (struct rlimit){ 256, limit.rlim_max };
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &tight), 0);
    while ((spare[spare_count] = open("/dev/null", O_RDONLY)) >= 0)
        spare_count++;
    run_tick(&r);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    for (int i = 0; i < spare_count; i++)
        close(spare[i]);
    for (int pid = 10; pid < 20; pid++)
        assert_int_equal(number(&r, pid, "pCpuTimeUserMode"), pid);
    assert_int_equal(number(&r, 20, "pCpuTimeUserMode"), 99);
    run_close(&r);
    for (int pid = 10; pid <= 20; pid++)
        tree_remove(&t, pid);
    tree_close(&t);
}

#define BURN_NS   (300 * PT_NS_PER_MS)
#define HOG_BYTES (64u << 20)

static void burn(void) {
    while (pt_clock_ns(CLOCK_PROCESS_CPUTIME_ID) < BURN_NS)
        ;
}

static void hog(void) {
    char *memory =
        mmap(NULL, HOG_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        _exit(1);
    memset(memory, 1, HOG_BYTES);
}

/* Each of the threads has waited three times when the child is ready. */
#define THREADS 5
#define WAITS   3

static pthread_barrier_t have_waited;

static void *thread_wait(void *argument) {
    for (int i = 0; i < WAITS; i++)
        (void)poll(NULL, 0, 1);
    pthread_barrier_wait(&have_waited);
    for (;;)
        pause();
    return argument;
}

static void start_threads(void) {
    pthread_barrier_init(&have_waited, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, thread_wait, NULL))
            _exit(1);
    }
    pthread_barrier_wait(&have_waited);
}

static void cpu_time_of_a_child_is_what_wait_says(void **state) {
    (void)state;
    struct run r;
    pid_t c;
    struct rusage usage;
    c = child_start(burn);
    run_open(&r, "/proc", c);
    run_tick(&r);
    int64_t ns = number(&r, c, "pCpuTimeNs");
    int64_t cs = number(&r, c, "pCpuTimeUserMode") + number(&r, c, "pCpuTimeKernelMode");
    int64_t tree = total(&r, "pTreeCpuTime");
    run_close(&r);
    child_end(c, &usage);
    int64_t waited_ns = (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * PT_NS_PER_SECOND +
                        (usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * PT_NS_PER_US;
    assert_true(ns >= BURN_NS);
    assert_in_range(cs, ns / 10000000 - 2, ns / 10000000);
    assert_true(tree == ns);
    assert_in_range(ns, waited_ns - 20 * PT_NS_PER_MS, waited_ns);
}

static void memory_threads_and_names_of_children_are_right(void **state) {
    (void)state;
    skip_if_emulated(); /* its memory and threads are the emulator's */
    struct run r;
    pid_t fat, thin;
    fat = child_start(hog);
    thin = child_start(start_threads);
    run_open(&r, "/proc", fat);
    run_tick(&r);
    int64_t resident = number(&r, fat, "pResidentSetSize");
    assert_true(resident >= HOG_BYTES);
    assert_true(number(&r, fat, "pRssAnon") >= HOG_BYTES);
    assert_true(number(&r, fat, "pPss") >= HOG_BYTES);
    assert_true(number(&r, fat, "pMinorFaults") > 0);
    assert_true(resident - number(&r, thin, "pResidentSetSize") > (int64_t)HOG_BYTES / 2);
    assert_int_equal(number(&r, thin, "pNumThreads"), 1 + THREADS);
    assert_int_equal(number(&r, fat, "pNumThreads"), 1);
    assert_int_equal(number(&r, fat, "pParentId"), getpid());
    assert_int_equal(number(&r, fat, "pUid"), getuid());
    assert_int_equal(number(&r, fat, "pIsRecorded"), 1);
    assert_int_equal(number(&r, thin, "pIsRecorded"), 0);
    int64_t started_ms = number(&r, fat, "pStartTime"), now_ms = pt_wall_ns() / PT_NS_PER_MS;
    assert_in_range(started_ms, now_ms - 60000, now_ms + 20);
    run_close(&r);
    child_end(fat, NULL);
    child_end(thin, NULL);
}

static void context_switches_are_those_of_all_threads(void **state) {
    (void)state;
    struct run r;
    pid_t c;
    c = child_start(start_threads);
    run_open(&r, "/proc", c);
    run_tick(&r);
    int64_t all = number(&r, c, "pVoluntaryContextSwitches");
    run_close(&r);
    run_open(&r, "/proc", 0);
    run_tick(&r);
    int64_t of_main = number(&r, c, "pVoluntaryContextSwitches");
    run_close(&r);
    child_end(c, NULL);
    assert_true(of_main > 0);
    /* The main thread may have gone to sleep once more since. */
    assert_true(all + 1 >= of_main + THREADS * WAITS);
}

static void wait_until_asleep(pid_t pid) {
    char path[32], line[512] = "";
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    for (int i = 0; i < 10000 && !strstr(line, ") S "); i++) {
        assert_int_equal(pt_fs_read_line(AT_FDCWD, path, line, sizeof line), 0);
        usleep(100);
    }
}

static void what_sleeps_keeps_its_values_and_what_runs_gets_new_ones(void **state) {
    (void)state;
    skip_if_emulated(); /* what sleeps may be the emulator, not yet the program */
    struct run r;
    pid_t c = child_start(nothing);
    wait_until_asleep(c);
    int64_t now = pt_mono_ns();
    run_open(&r, "/proc", 0);
    r.context.interval_ns = 1; /* nothing is due but what every tick reads */
    run_tick_at(&r, now);
    int64_t own = number(&r, getpid(), "pCpuTimeNs"), chars = number(&r, getpid(), "pReadChars");
    int64_t faults = number(&r, c, "pMinorFaults");
    int source = r.rows[1].table->columns[column(&r.rows[1], "pMinorFaults")].source;
    int64_t read_ns = pt_get_time(&r.rows[1], must_find(&r, c), source);
    run_tick_at(&r, now + 1);
    assert_true(number(&r, getpid(), "pCpuTimeNs") > own);
    assert_true(number(&r, getpid(), "pReadChars") > chars);
    assert_int_equal(number(&r, c, "pMinorFaults"), faults);
    assert_true(pt_get_time(&r.rows[1], must_find(&r, c), source) > read_ns);
    child_end(c, NULL);
    run_tick_at(&r, now + 2);
    assert_int_equal(row_of(&r, c), -1);
    run_close(&r);
}

static void a_new_program_has_its_own_command_line(void **state) {
    (void)state;
    skip_if_emulated(); /* its command line is the emulator's */
    struct run r;
    int go[2];
    char byte;
    assert_int_equal(pipe(go), 0);
    pid_t pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (read(go[0], &byte, 1) == 1)
            execlp("sleep", "sleep", "1000", (char *)NULL);
        _exit(1);
    }
    run_open(&r, "/proc", 0);
    run_tick(&r);
    assert_str_eq(text(&r, pid, "pName"), "process_test");
    assert_int_equal(write(go[1], "x", 1), 1);
    bool is_read = false;
    for (int i = 0; i < 10000 && !is_read; i++) { /* exec takes its time */
        run_tick(&r);
        is_read = pt_str_eq(text(&r, pid, "pName"), PT_STR("sleep")) &&
                  !is_null(&r, pid, "pCmdline") &&
                  pt_str_eq(text(&r, pid, "pCmdline"), PT_STR("sleep 1000"));
    }
    assert_str_eq(text(&r, pid, "pName"), "sleep");
    assert_str_eq(text(&r, pid, "pCmdline"), "sleep 1000");
    run_close(&r);
    child_end(pid, NULL);
    close(go[0]);
    close(go[1]);
}

static void newcomers_are_seen_in_the_next_tick(void **state) {
    (void)state;
    struct run r;
    pid_t c;
    run_open(&r, "/proc", getpid());
    r.context.interval_ns = PT_NS_PER_MS;
    int64_t now = pt_mono_ns();
    for (int i = 0; i < 5; i++) {
        run_tick_at(&r, now += PT_NS_PER_MS);
        c = child_start(nothing);
        run_tick_at(&r, now += PT_NS_PER_MS);
        assert_int_equal(number(&r, c, "pIsRecorded"), 1);
        child_end(c, NULL);
        run_tick_at(&r, now += PT_NS_PER_MS);
        assert_int_equal(row_of(&r, c), -1);
    }
    run_close(&r);
}

static void live_ticks_of_a_steady_machine_allocate_nothing(void **state) {
    (void)state;
    struct run r;
    run_open(&r, "/proc", getpid());
    for (int i = 0; i < 10; i++)
        run_tick(&r);
    uint64_t least = UINT64_MAX; /* others start processes meanwhile: some tick is steady */
    for (int i = 0; i < 50 && least > 0; i++) {
        uint64_t before = pt_mem_allocation_count();
        run_tick(&r);
        uint64_t made = pt_mem_allocation_count() - before;
        least = made < least ? made : least;
    }
    assert_int_equal(least, 0);
    run_close(&r);
}

/* Does this machine offer it to us? */
static bool can_open(int (*open_socket)(struct pt_proc_socket *s)) {
    struct pt_proc_socket s = { 0 };
    int rc = open_socket(&s);
    pt_proc_socket_close(&s);
    return rc == 0;
}

static void processes_between_two_ticks_are_counted(void **state) {
    (void)state;
    if (!can_open(pt_proc_connector_open))
        skip();
    struct run r;
    run_open(&r, "/proc", getpid());
    run_tick(&r);
    int64_t forks = total(&r, "pForks"), exits = total(&r, "pExits");
    int64_t unseen = total(&r, "pShortLivedProcesses"), tree = total(&r, "pTreeCpuTime");
    for (int i = 0; i < 100; i++) {
        pid_t pid = fork();
        if (pid == 0) {
            for (volatile int n = 0; n < 2000000; n++)
                ;
            _exit(0);
        }
        assert_int_equal(waitpid(pid, NULL, 0), pid);
    }
    run_tick(&r);
    assert_true(total(&r, "pForks") >= forks + 100);
    assert_true(total(&r, "pExits") >= exits + 100);
    assert_true(total(&r, "pShortLivedProcesses") >= unseen + 100);
    if (can_open(pt_taskstats_open)) {
        assert_true(total(&r, "pShortLivedCpuTime") > 0);
        assert_true(total(&r, "pTreeCpuTime") > tree + 20 * PT_NS_PER_MS);
    }
    run_close(&r);
}

/* Without anyone else forking, exactly those unseen are counted; others' forks only add. */
static void a_process_that_was_seen_is_not_short_lived(void **state) {
    (void)state;
    if (!can_open(pt_proc_connector_open))
        skip();
    int64_t least = INT64_MAX;
    for (int attempt = 0; attempt < 20 && least > 0; attempt++) {
        struct run r;
        pid_t c[20];
        run_open(&r, "/proc", 0);
        for (int i = 0; i < 20; i++)
            c[i] = child_start(nothing);
        run_tick(&r);
        int64_t before = total(&r, "pShortLivedProcesses"), exits = total(&r, "pExits");
        for (int i = 0; i < 20; i++)
            child_end(c[i], NULL);
        run_tick(&r);
        run_tick(&r);
        assert_true(total(&r, "pExits") >= exits + 20);
        int64_t counted = total(&r, "pShortLivedProcesses") - before;
        least = counted < least ? counted : least;
        run_close(&r);
    }
    assert_true(least < 20);
}

static void an_orphan_of_a_vanished_parent_is_marked_by_its_fork(void **state) {
    (void)state;
    if (!can_open(pt_proc_connector_open))
        skip();
    struct run r;
    int tell[2], end[2];
    pid_t orphan;
    assert_int_equal(pipe(tell) | pipe(end), 0);
    run_open(&r, "/proc", getpid());
    run_tick(&r);
    pid_t middle = fork();
    if (middle == 0) {
        pid_t pid = fork();
        if (pid > 0)
            _exit(write(tell[1], &pid, sizeof pid) != sizeof pid);
        close(end[1]);
        char byte;
        _exit(read(end[0], &byte, 1) != 0);
    }
    assert_int_equal(read(tell[0], &orphan, sizeof orphan), sizeof orphan);
    assert_int_equal(waitpid(middle, NULL, 0), middle);
    run_tick(&r);
    assert_true(number(&r, orphan, "pParentId") != middle);
    assert_int_equal(number(&r, orphan, "pIsRecorded"), 1);
    close(end[0]);
    close(end[1]);
    close(tell[0]);
    close(tell[1]);
    run_close(&r);
}

static size_t open_descriptor_count(void) {
    struct pt_pid_list list = { 0 };
    int directory = open("/proc/self/fd", O_RDONLY | O_DIRECTORY);
    assert_int_equal(pt_pid_list_read(&list, directory), 0);
    close(directory);
    size_t count = list.count;
    pt_pid_list_release(&list);
    return count;
}

static void sleepers_by_the_hundred_all_have_rows(void **state) {
    (void)state;
    skip_if_emulated(); /* the emulator has a thread more */
    enum { COUNT = 500 };
    static pid_t c[COUNT];
    struct run r;
    run_open(&r, "/proc", getpid());
    r.context.fd_budget = 60;
    for (int i = 0; i < COUNT; i++)
        c[i] = child_start(nothing);
    size_t before = open_descriptor_count();
    for (int i = 0; i < 3; i++)
        run_tick(&r);
    r.fs.is_live = false; /* now all are read in every tick */
    run_tick(&r);
    assert_int_equal(open_descriptor_count(), before + 60);
    for (int i = 0; i < COUNT; i++) {
        assert_int_equal(number(&r, c[i], "pIsRecorded"), 1);
        assert_int_equal(number(&r, c[i], "pNumThreads"), 1);
    }
    assert_true(total(&r, "pTreeNumProcesses") >= COUNT + 1);
    for (int i = 0; i < COUNT; i++)
        child_end(c[i], NULL);
    run_tick(&r);
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(row_of(&r, c[i]), -1);
    run_close(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(every_column_of_a_known_process_has_its_known_value,
                "C100 C101 C102 C103 C104: every column of a known process has its known value"),
        PT_TEST(odd_processes_have_null_cells_and_no_wrong_number,
                "C104: odd processes have null cells and no wrong number"),
        PT_TEST(the_recorded_tree_is_marked_whatever_the_order_of_pids,
                "C100 C104: the recorded tree is marked whatever the order of pids"),
        PT_TEST(a_container_is_recorded_by_the_start_of_its_id,
                "C104: a container is recorded by the start of its id"),
        PT_TEST(without_a_target_there_is_no_tree,
                "C103 C104: without a target there is no tree, and switches are the main thread's"),
        PT_TEST(thinning_leaves_pss_and_command_lines_unread,
                "C101: thinning leaves PSS and command lines unread"),
        PT_TEST(pss_is_read_for_one_process_a_tick_and_all_get_their_turn,
                "C101: PSS is read for one process a tick, and all get their turn"),
        PT_TEST(a_steady_tick_allocates_nothing, "C104: a steady tick allocates nothing"),
        PT_TEST(an_orphan_stays_in_the_tree_and_a_reused_pid_does_not,
                "C104: an orphan stays in the tree, a reused pid does not"),
        PT_TEST(descriptors_stay_within_the_budget,
                "C104: descriptors stay within the budget and go to the active"),
        PT_TEST(a_full_descriptor_table_is_no_error,
                "C104: a full descriptor table is not an error"),
        PT_TEST(cpu_time_of_a_child_is_what_wait_says,
                "C100: CPU time of a child is what wait4 says"),
        PT_TEST(memory_threads_and_names_of_children_are_right,
                "C101 C102: memory and threads of children are right"),
        PT_TEST(context_switches_are_those_of_all_threads,
                "C103: context switches of the recorded tree are those of all threads"),
        PT_TEST(what_sleeps_keeps_its_values_and_what_runs_gets_new_ones,
                "C100: what sleeps keeps its values, what runs gets new ones"),
        PT_TEST(a_new_program_has_its_own_command_line,
                "C104: a new program has its own name and command line"),
        PT_TEST(newcomers_are_seen_in_the_next_tick,
                "C104: newcomers are seen in the next tick, also at 1 kHz"),
        PT_TEST(live_ticks_of_a_steady_machine_allocate_nothing,
                "C104: live ticks of a steady machine allocate nothing"),
        PT_TEST(processes_between_two_ticks_are_counted,
                "C100: processes that live and die between two ticks are counted"),
        PT_TEST(a_process_that_was_seen_is_not_short_lived,
                "C104: a process that was seen is not short-lived"),
        PT_TEST(an_orphan_of_a_vanished_parent_is_marked_by_its_fork,
                "C104: an orphan of a vanished parent is marked by its fork"),
        PT_TEST(sleepers_by_the_hundred_all_have_rows,
                "C104: sleepers by the hundred all have rows, with few descriptors"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
