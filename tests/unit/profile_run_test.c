/* What the profile of a command or a run says about itself, by known answers; a heap session with
 * a real program in it. */
#include "tree.h"

#include "base/clock.h"
#include "base/mem.h"
#include "inside/preload/heap_layout.h"
#include "profile/run/cpu_summary.h"
#include "profile/run/profile_files.h"
#include "profile/run/run_cpu.h"
#include "profile/run/run_heap.h"

#include <errno.h>
#include <unistd.h>

static struct pt_fs fs;

/* A profile of samples in these states, one each; the second value is nanoseconds. */
static void make_profile(struct pt_profile *p, const enum pt_profile_state *states, size_t count,
                         int64_t ns) {
    static const struct pt_profile_value_type types[] = { { "samples", PT_PROFILE_SAMPLES },
                                                          { "cpu", PT_PROFILE_NANOSECONDS } };
    *p = (struct pt_profile){ 0 };
    pt_profile_init(p, types, PT_COUNT(types));
    p->meta.title = "cpu";
    snprintf(p->meta.method, sizeof p->meta.method, "perf: made");
    for (size_t i = 0; i < count; i++) {
        struct pt_profile_sample sample = { .state = (uint16_t)(states ? states[i] : 0),
                                            .thread = PT_PROFILE_NONE,
                                            .stack = PT_PROFILE_NONE };
        assert_true(pt_profile_sample(p, &sample, (int64_t[]){ 1, ns }));
    }
}

static void check_summary(const struct pt_profile *p, const char *expected) {
    struct pt_buf text = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &text);
    pt_cpu_summary_print(p, &out);
    assert_int_equal(pt_out_close(&out), 0);
    pt_buf_u8(&text, 0);
    assert_string_equal((const char *)text.at, expected);
    pt_buf_release(&text);
}

#define OVERHEAD_0 "overhead: 0.0 ms of CPU time, 0.0 us per sample\n"

static void test_summary(void **state) {
    (void)state;
    struct pt_profile p;
    make_profile(&p, NULL, 0, 0);
    check_summary(&p, "cpu: perf: made\nsamples: 0, lost 0\n" OVERHEAD_0);
    pt_profile_release(&p);
    make_profile(&p, NULL, 4, 0);
    p.meta.rate_hz = 99;
    p.meta.lost = 7;
    p.meta.unwound = 8;
    p.meta.rooted = 6;
    p.meta.truncated = 1;
    p.meta.own_cpu_ns = 2500000;
    check_summary(&p, "cpu: perf: made, 99 Hz\n"
                      "samples: 4, lost 7; 75.0 % of 8 stacks reach the root, 1 cut short\n"
                      "overhead: 2.5 ms of CPU time, 625.0 us per sample\n");
    p.meta.dropped = 3;
    p.meta.python_wanted = 4;
    p.meta.python_matched = 1;
    p.meta.gil_known = 10;
    p.meta.gil_held = 5;
    p.meta.gil_contended = 2;
    check_summary(&p, "cpu: perf: made, 99 Hz\n"
                      "samples: 4, lost 7; 75.0 % of 8 stacks reach the root, 1 cut short\n"
                      "overhead: 2.5 ms of CPU time, 625.0 us per sample\n"
                      "not kept: 3 samples beyond 4194304\n"
                      "python: 25.0 % of 4 samples are merged with certainty\n"
                      "GIL: held in 50.0 % of 10 samples inside Python, wanted by other threads in "
                      "20.0 %\n");
    p.meta = (struct pt_profile_meta){
        .title = "cpu", .method = "python", .python_wanted = 1, .python_matched = 1
    };
    check_summary(&p, "cpu: python\nsamples: 4, lost 0\n" OVERHEAD_0
                      "python: 100.0 % of 1 samples are certain (two reads agree)\n");
    pt_profile_release(&p);
}

static void test_states(void **state) {
    (void)state;
    static const enum pt_profile_state waits[] = { PT_STATE_ON_CPU, PT_STATE_GIL, PT_STATE_LOCK,
                                                   PT_STATE_LOCK };
    struct pt_profile p;
    make_profile(&p, waits, PT_COUNT(waits), 0);
    check_summary(&p, "cpu: perf: made\nsamples: 4, lost 0\n" OVERHEAD_0
                      "time: on-cpu 25.0 % lock 50.0 % gil 25.0 %\n");
    pt_profile_release(&p);
    make_profile(&p, waits + 1, 1, 0);
    check_summary(&p, "cpu: perf: made\nsamples: 1, lost 0\n" OVERHEAD_0 "time: gil 100.0 %\n");
    pt_profile_release(&p);
}

/* Time without samples is worth a word from 5 % and 20 samples on. */
static void test_late(void **state) {
    (void)state;
    static const struct {
        int64_t lost, dropped, counted_ns;
        const char *word;
    } cases[] = {
        { 0, 0, 100000, "" },
        { 0, 0, 105263, "" },
        { 0, 0, 105264, "without samples: 5.0 % of 0.000105 s" },
        { 1, 0, 105264, "" },
        { 0, 1, 105264, "" },
        { 200, 100, 421053, "without samples: 5.0 % of 0.000421 s" },
        { 0, 0, 200000, "without samples: 50.0 % of 0.0002 s" },
        { 0, 0, -1, "" },
    };
    struct pt_profile p;
    make_profile(&p, NULL, 100, 0);
    p.meta.period_ns = 1000;
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        char expected[256];
        p.meta.lost = cases[i].lost;
        p.meta.dropped = cases[i].dropped;
        p.meta.counted_ns = cases[i].counted_ns;
        /* 5 % of this are less than 20 samples */
        bool is_word = cases[i].word[0] && cases[i].counted_ns >= 120000;
        char word[128] = "", dropped[64] = "";
        if (is_word)
            snprintf(word, sizeof word, "%s of CPU time, because timers fired late (steal)\n",
                     cases[i].word);
        if (cases[i].dropped)
            snprintf(dropped, sizeof dropped, "not kept: %d samples beyond 4194304\n",
                     (int)cases[i].dropped);
        snprintf(expected, sizeof expected,
                 "cpu: perf: made\nsamples: 100, lost %d\n" OVERHEAD_0 "%s%s", (int)cases[i].lost,
                 word, dropped);
        check_summary(&p, expected);
    }
    pt_profile_release(&p);
    /* 19 periods are the ends of threads, 20 are not */
    make_profile(&p, NULL, 1, 0);
    p.meta.period_ns = 1000;
    p.meta.counted_ns = 20999;
    check_summary(&p, "cpu: perf: made\nsamples: 1, lost 0\n" OVERHEAD_0);
    p.meta.counted_ns = 21000;
    check_summary(&p, "cpu: perf: made\nsamples: 1, lost 0\n" OVERHEAD_0
                      "without samples: 95.2 % of 2.1e-05 s of CPU time, because timers fired late "
                      "(steal)\n");
    p.meta.period_ns = 0; /* not sampled by time */
    check_summary(&p, "cpu: perf: made\nsamples: 1, lost 0\n" OVERHEAD_0);
    pt_profile_release(&p);
}

/* At least 75 % of the CPU time that the kernel counted, if that is 0.3 s or more. */
static void test_coverage(void **state) {
    (void)state;
    static const struct {
        size_t count;
        int64_t sample_ns, used_ns, lost;
        bool is_off_cpu;
        int rc;
        const char *word;
    } cases[] = {
        { 3, 100, 0, 0, false, 0, "" },
        { 3, 100000000, 400000000, 0, false, 0, "" },
        { 3, 100000000, 400000004, 0, false, 0, "only 75 % of the command's CPU time was sampled" },
        { 3, 50000000, 300000000, 5, false, 0, "only 50 % of the command's CPU time was sampled" },
        { 3, 1, 299999999, 0, false, 0, "" },
        { 0, 0, 300000000, 0, false, -ENODATA, "only 0 % of the command's CPU time was sampled" },
        { 0, 0, 299999999, 0, false, 0, "no samples: the target used almost no CPU time" },
        { 0, 0, 0, 0, true, 0, "no samples: no thread waited" },
        { 0, 0, 0, 1, false, -EIO, "all samples were lost (use a lower --rate or --stack)" },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_profile p;
        struct pt_err err = { "" };
        make_profile(&p, NULL, cases[i].count, cases[i].sample_ns);
        p.meta.lost = cases[i].lost;
        assert_int_equal(pt_cpu_summary_check(&p, cases[i].used_ns, cases[i].is_off_cpu, &err),
                         cases[i].rc);
        if (!err.text[0] != !cases[i].word[0] ||
            strncmp(err.text, cases[i].word, strlen(cases[i].word)) != 0)
            fail_msg("case %zu: %s", i, err.text);
        pt_profile_release(&p);
    }
}

static void test_nothing(void **state) {
    (void)state;
    static const struct {
        size_t seen, own_malloc;
        int64_t samples;
        uint64_t mean_bytes;
        const char *why;
    } cases[] = {
        { 0, 0, 0, 0, "no program loaded libpitot-heap.so" },
        { 2, 0, 1, 0, NULL },
        { 2, 2, 1, 0, NULL },
        { 2, 2, 0, 0, "has its own malloc" },
        { 2, 1, 0, 0, "no memory was allocated" },
        { 2, 1, 0, 1, "too little was allocated with malloc" },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_heap_session s = { .o.mean_bytes = cases[i].mean_bytes };
        s.files.seen_count = cases[i].seen;
        s.files.own_malloc_count = cases[i].own_malloc;
        s.heap.sample_count = cases[i].samples;
        const char *why = pt_heap_session_nothing(&s);
        if (!why != !cases[i].why || (why && !strstr(why, cases[i].why)))
            fail_msg("case %zu: %s", i, why ? why : "none");
    }
}

/* The value of a variable, NULL if it is not there. */
static const char *value_of(const struct pt_environment *e, const char *name) {
    for (size_t i = 0; e->at[i]; i++)
        if (strncmp(e->at[i], name, strlen(name)) == 0 && e->at[i][strlen(name)] == '=')
            return e->at[i] + strlen(name) + 1;
    return NULL;
}

#define assert_words(out_text, expected)                            \
    do {                                                            \
        pt_buf_u8(&(out_text), 0);                                  \
        assert_string_equal((const char *)(out_text).at, expected); \
        pt_buf_release(&(out_text));                                \
    } while (0)

static void check_heap_words(const struct pt_run_heap *h, const char *expected) {
    struct pt_buf text = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &text);
    pt_run_heap_print(h, &out);
    assert_int_equal(pt_out_close(&out), 0);
    assert_words(text, expected);
}

static void test_heap_words(void **state) {
    (void)state;
    static struct pt_run_heap h;
    check_heap_words(&h, "");
    h.is_wanted = true;
    snprintf(h.reason.text, sizeof h.reason.text, "because");
    check_heap_words(&h, "Heap profile: none (because)\n");
    h.is_partial = true;
    snprintf(h.path, sizeof h.path, "part");
    check_heap_words(&h, "Heap profile: part (because)\n");
    h.is_saved = true;
    snprintf(h.path, sizeof h.path, "/runs/x.heap.pitotprof");
    struct pt_profile_meta *m = &h.session.helper.file.profile.meta;
    m->heap.taken = 12;
    m->heap.peak_bytes = 3 << 20;
    check_heap_words(&h, "Heap profile: /runs/x.heap.pitotprof (12 samples, peak 3.0 MiB)\n");
    m->unwound = 8;
    m->rooted = 7;
    m->heap.lost_frees = 2;
    check_heap_words(&h, "Heap profile: /runs/x.heap.pitotprof (12 samples, peak 3.0 MiB; 87.5 % "
                         "of the stacks reach the root)\n"
                         "lost: 2 frees (their memory appears as live)\n");
}

static void check_cpu_words(const struct pt_run_profile *p, const char *expected) {
    struct pt_buf text = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &text);
    pt_run_profile_print(p, &out);
    assert_int_equal(pt_out_close(&out), 0);
    assert_words(text, expected);
}

static void test_cpu_words(void **state) {
    (void)state;
    static struct pt_run_profile p;
    check_cpu_words(&p, "");
    snprintf(p.reason.text, sizeof p.reason.text, "because");
    check_cpu_words(&p, "CPU profile: none (because)\n");
    p.is_saved = true;
    snprintf(p.path, sizeof p.path, "/runs/x.cpu.pitotprof");
    struct pt_profile_meta *m = &p.sampling.helper.file.profile.meta;
    m->lost = 2;
    m->dropped = 3;
    check_cpu_words(&p, "CPU profile: /runs/x.cpu.pitotprof (0 samples, lost 5)\n");
    m->unwound = 8;
    m->rooted = 2;
    check_cpu_words(&p, "CPU profile: /runs/x.cpu.pitotprof (0 samples, lost 5; 25.0 % of the "
                        "stacks reach the root)\n");
}

/* Without a place for its file a profile is not recorded, and says so; the run goes on. */
static void test_no_place(void **state) {
    (void)state;
    static char long_name[PATH_MAX];
    static struct pt_run_profile p;
    static struct pt_run_heap h;
    struct pt_environment e;
    memset(long_name, 'x', sizeof long_name - 1);
    pt_environment_init(&e);
    char *const command[] = { (char *)(uintptr_t) "true", NULL };
    struct pt_run_profile_options o = {
        .fs = &fs, .rate_hz = 99, .directory = long_name, .name = "x", .command = command
    };
    pt_run_profile_choose(&p, &o);
    assert_false(p.is_chosen);
    assert_string_equal(p.reason.text, "path too long");
    pt_run_profile_prepare(&p, &e);
    pt_run_profile_start(&p, &(pid_t){ 1 }, 1);
    assert_false(p.is_started);
    assert_int_equal(pt_run_profile_save(&p), 0);
    assert_false(p.is_saved);
    pt_run_profile_release(&p);
    struct pt_heap_session_options heap = { .fs = &fs };
    pt_run_heap_open(&h, &heap, long_name, "x", &e);
    assert_true(h.is_wanted);
    assert_false(h.is_open);
    assert_string_equal(h.reason.text, "path too long");
    pt_run_heap_start(&h);
    assert_int_equal(pt_run_heap_save(&h), 0);
    pt_run_heap_stop(&h);
    pt_run_heap_remove(&h);
    assert_null(value_of(&e, PT_HEAP_DIRECTORY));
    pt_environment_release(&e);
}

static void test_kinds(void **state) {
    (void)state;
    assert_string_equal(pt_run_profile_kind(0), "cpu");
    assert_string_equal(pt_run_profile_kind(1), "heap");
    assert_null(pt_run_profile_kind(2));
}

/* As many files as can be written; one that cannot makes it fail. */
static void test_files(void **state) {
    (void)state;
    struct tree t;
    struct pt_profile p;
    char good[PATH_MAX], better[PATH_MAX], bad[PATH_MAX];
    tree_make(&t);
    make_profile(&p, NULL, 1, 5);
    snprintf(good, sizeof good, "%s", tree_path(&t, "good.folded"));
    snprintf(bad, sizeof bad, "%s", tree_path(&t, "none/bad.folded"));
    snprintf(better, sizeof better, "%s", tree_path(&t, "better.folded"));
    const char *const paths[] = { good, bad, better };
    struct pt_profile_files files = { paths, 3, true };
    assert_int_equal(pt_profile_files_write(&files, &p, 1), -EIO);
    assert_int_equal(access(good, R_OK), 0);
    assert_int_equal(access(better, R_OK), 0);
    files.count = 1;
    assert_int_equal(pt_profile_files_write(&files, &p, 1), 0);
    /* none was asked for: a page in the current directory, named by kind, time and process */
    files.count = 0;
    p.meta.start_wall_ns = 1700000000 * PT_NS_PER_SECOND;
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(chdir(t.root), 0);
    setenv("TZ", "UTC", 1);
    tzset();
    int rc = pt_profile_files_write(&files, &p, 42);
    bool is_there = access("pitot-cpu-20231114-221320-42.html", R_OK) == 0;
    assert_int_equal(fchdir(here), 0);
    close(here);
    assert_int_equal(rc, 0);
    assert_true(is_there);
    pt_profile_release(&p);
    tree_remove(&t);
}

/* A command with the library in it, from open to the file. */
static void test_heap_session(void **state) {
    (void)state;
    const char *workload = getenv("PITOT_HEAP_WORKLOAD");
    if (!getenv("PITOT_MODULES") || !workload || is_emulated())
        skip();
    static struct pt_run_heap h;
    struct tree t;
    struct pt_environment e;
    char *const command[] = { (char *)(uintptr_t)workload, (char *)(uintptr_t) "exact", NULL };
    struct pt_heap_session_options o = {
        .fs = &fs, .stack_bytes = 4096, .command = command, .wants_python_malloc = true
    };
    tree_make(&t);
    unsetenv("LD_PRELOAD");
    pt_environment_init(&e);
    pt_run_heap_open(&h, &o, t.root, "name", &e);
    assert_true(h.is_open);
    assert_string_equal(h.path, tree_path(&t, "name.heap.pitotprof"));
    assert_string_equal(value_of(&e, PT_HEAP_DIRECTORY), h.session.regions.path);
    assert_string_equal(value_of(&e, PT_HEAP_MEAN), "0");
    assert_string_equal(value_of(&e, PT_HEAP_STACK), "4096");
    assert_string_equal(value_of(&e, PT_HEAP_ARENAS), "0");
    assert_string_equal(value_of(&e, "PYTHONMALLOC"), "malloc");
    assert_non_null(strstr(value_of(&e, "LD_PRELOAD"), "/libpitot-heap.so"));
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(null, STDOUT_FILENO);
        execve(workload, command, e.at);
        _exit(127);
    }
    pt_run_heap_start(&h);
    assert_true(h.is_open);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(WEXITSTATUS(status), 7);
    pt_run_heap_stop(&h);
    assert_int_equal(pt_run_heap_save(&h), 0);
    assert_true(h.is_saved);
    assert_int_equal(access(h.path, R_OK), 0);
    const struct pt_profile *p = &h.session.helper.file.profile;
    assert_string_equal(p->meta.method, "preload: every allocation");
    assert_string_equal(p->types[0].name, "live");
    assert_int_equal(p->meta.heap.processes, 1);
    assert_true(p->meta.heap.taken >= 6010);
    assert_true(p->meta.start_wall_ns > 0);
    assert_true(strncmp(p->meta.command, workload, strlen(workload)) == 0);
    /* the file of the process is removed once it was read */
    DIR *d = opendir(h.session.regions.path);
    assert_non_null(d);
    for (struct dirent *entry; (entry = readdir(d));)
        assert_null(strstr(entry->d_name, PT_HEAP_FILE_SUFFIX));
    closedir(d);
    char regions[PATH_MAX];
    snprintf(regions, sizeof regions, "%s", h.session.regions.path);
    pt_run_heap_remove(&h); /* the run has failed */
    assert_int_equal(access(h.path, F_OK), -1);
    assert_int_equal(access(regions, F_OK), -1);
    pt_environment_release(&e);
    tree_remove(&t);
}

/* A session without samples does not fail, and says why. */
static void test_no_heap(void **state) {
    (void)state;
    if (!getenv("PITOT_MODULES"))
        skip();
    static struct pt_run_heap h;
    struct tree t;
    struct pt_environment e;
    char *const command[] = { (char *)(uintptr_t) "true", NULL };
    struct pt_heap_session_options o = {
        .fs = &fs, .mean_bytes = 65536, .stack_bytes = 1024, .counts_mmap = true, .command = command
    };
    tree_make(&t);
    pt_environment_init(&e);
    pt_run_heap_open(&h, &o, t.root, "name", &e);
    assert_true(h.is_open);
    assert_string_equal(value_of(&e, PT_HEAP_MEAN), "65536");
    assert_string_equal(value_of(&e, PT_HEAP_ARENAS), "1");
    assert_null(value_of(&e, "PYTHONMALLOC"));
    pt_run_heap_start(&h);
    pt_run_heap_stop(&h);
    assert_int_equal(pt_run_heap_save(&h), 0);
    assert_false(h.is_saved);
    assert_non_null(strstr(h.reason.text, "no program loaded libpitot-heap.so"));
    assert_int_equal(access(h.path, F_OK), -1);
    pt_run_heap_release(&h);
    pt_environment_release(&e);
    tree_remove(&t);
}

static int open_fs(void **state) {
    (void)state;
    return pt_fs_open(&fs, "/proc", "/sys", "/", NULL);
}

static int close_fs(void **state) {
    (void)state;
    pt_fs_close(&fs);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_summary, "C241: a CPU profile says how it was sampled and what is missing"),
        PT_TEST(test_states, "C241: time is shown by state if not all of it is on the CPU"),
        PT_TEST(test_late, "C241: time without samples is shown from 5 % and 20 samples on"),
        PT_TEST(test_coverage, "C241: with timers 75 % of the CPU time must be sampled"),
        PT_TEST(test_nothing, "C244: a heap session without samples says why"),
        PT_TEST(test_heap_words, "C244: a run says where its heap profile is and what it lacks"),
        PT_TEST(test_cpu_words, "C241: a run says where its CPU profile is and what it lacks"),
        PT_TEST(test_no_place, "C241 C244: without a place for its file a profile is not recorded"),
        PT_TEST(test_kinds, "a run may have a CPU and a heap profile"),
        PT_TEST(test_files, "C243: as many files of a profile are written as can be"),
        PT_TEST(test_heap_session, "C244: a heap session records a command to its end"),
        PT_TEST(test_no_heap, "C244: a heap session without a program has no profile"),
    };
    return cmocka_run_group_tests(tests, open_fs, close_fs);
}
