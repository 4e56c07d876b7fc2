/* Known answers of what is computed from a profile: states, tables of functions and lines,
 * differences, names. Stacks are given as text, the root first: "main;step;matmul". */
#include "test.h"

#include "profile/model/by_function.h"
#include "profile/model/by_thread.h"
#include "profile/model/call_tree.h"
#include "profile/model/classify.h"
#include "profile/model/lines.h"
#include "profile/model/profile_diff.h"
#include "profile/files/profile_readers.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const struct pt_profile_value_type samples_type = { "samples", PT_PROFILE_SAMPLES };

/* "k:" before a name makes it a kernel function, "p:" one of Python, "j:" one of a JIT. */
static uint32_t frame_of(struct pt_profile *p, struct pt_str name, uint32_t line,
                         const char *file) {
    static const struct {
        struct pt_str prefix;
        enum pt_profile_kind kind;
    } kinds[] = { { PT_STR("k:"), PT_KIND_KERNEL },
                  { PT_STR("p:"), PT_KIND_PYTHON },
                  { PT_STR("j:"), PT_KIND_JIT },
                  { PT_STR("m:"), PT_KIND_MARKER } };
    struct pt_profile_function f = { .module = PT_PROFILE_NONE, .kind = PT_KIND_NATIVE };
    for (size_t i = 0; i < PT_COUNT(kinds); i++)
        if (pt_str_starts(name, kinds[i].prefix)) {
            name = pt_str_skip(name, 2);
            f.kind = kinds[i].kind;
        }
    f.name = pt_profile_string(p, name);
    f.file = pt_profile_string(p, pt_str_from(file));
    return pt_profile_frame(p, (struct pt_profile_frame){ .function = pt_profile_function(p, f),
                                                          .module = PT_PROFILE_NONE,
                                                          .line = line });
}

static uint32_t stack_of(struct pt_profile *p, const char *names) {
    uint32_t stack = PT_PROFILE_NONE;
    for (const char *at = names; *at;) {
        size_t n = strcspn(at, ";");
        stack = pt_profile_stack(p, stack, frame_of(p, (struct pt_str){ at, n }, 0, ""));
        at += n + (at[n] == ';');
    }
    return stack;
}

static void add(struct pt_profile *p, uint32_t stack, int64_t value) {
    struct pt_profile_sample s = { .thread = PT_PROFILE_NONE, .stack = stack };
    assert_true(pt_profile_sample(p, &s, &value));
}

static enum pt_profile_state state_of(const char *names, bool is_on_cpu) {
    struct pt_profile p;
    pt_profile_init(&p, &samples_type, 1);
    uint32_t stack = stack_of(&p, names);
    add(&p, stack, 1);
    pt_classify(&p, is_on_cpu);
    enum pt_profile_state found = p.samples.at[0].state;
    if (!is_on_cpu && stack != PT_PROFILE_NONE) {
        uint8_t states[64];
        pt_classify_stacks(&p, states);
        assert_int_equal(states[stack], found);
    }
    pt_profile_release(&p);
    return found;
}

static void test_states(void **state) {
    (void)state;
    static const struct {
        const char *stack;
        enum pt_profile_state off_cpu, on_cpu;
    } cases[] = {
        { "main;work", PT_STATE_IDLE, PT_STATE_ON_CPU },
        { "", PT_STATE_IDLE, PT_STATE_ON_CPU },
        /* prefixes and whole names */
        { "main;cudaStreamSynchronize_ptsz;poll", PT_STATE_GPU, PT_STATE_GPU },
        { "zeEventHostSynchronize", PT_STATE_GPU, PT_STATE_GPU },
        { "zeEventHostSynchronizeX;vfs_read", PT_STATE_IO, PT_STATE_ON_CPU },
        { "ncclAllReduce;poll", PT_STATE_COLLECTIVE, PT_STATE_COLLECTIVE },
        { "MPI_Barrier", PT_STATE_COLLECTIVE, PT_STATE_COLLECTIVE },
        { "take_gil;pthread_cond_timedwait", PT_STATE_LOCK, PT_STATE_ON_CPU },
        { "pthread_cond_wait@@GLIBC_2.3.2;k:futex_wait_queue", PT_STATE_IDLE, PT_STATE_ON_CPU },
        { "k:futex_wait_queue", PT_STATE_LOCK, PT_STATE_ON_CPU },
        { "k:io_schedule", PT_STATE_IO, PT_STATE_ON_CPU },
        { "k:vfs_read", PT_STATE_IO, PT_STATE_ON_CPU },
        { "k:vfs_readv", PT_STATE_IDLE, PT_STATE_ON_CPU },
        { "k:sock_recvmsg;k:unix_stream_recvmsg", PT_STATE_NETWORK, PT_STATE_ON_CPU },
        { "pthread_spin_lock", PT_STATE_LOCK, PT_STATE_LOCK },
        { "k:__mutex_lock.constprop.0", PT_STATE_LOCK, PT_STATE_ON_CPU },
        /* only code of the program and the kernel has these names */
        { "p:ncclAllReduce", PT_STATE_IDLE, PT_STATE_ON_CPU },
        { "j:ncclAllReduce", PT_STATE_IDLE, PT_STATE_ON_CPU },
        { "m:ncclAllReduce", PT_STATE_IDLE, PT_STATE_ON_CPU },
        { "k:ncclAllReduce", PT_STATE_COLLECTIVE, PT_STATE_COLLECTIVE },
        /* the first row wins, wherever its frame is */
        { "poll;nccl;cudaDeviceSynchronize", PT_STATE_GPU, PT_STATE_GPU },
        { "cudaDeviceSynchronize;nccl;poll", PT_STATE_GPU, PT_STATE_GPU },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        assert_int_equal(state_of(cases[i].stack, false), cases[i].off_cpu);
        assert_int_equal(state_of(cases[i].stack, true), cases[i].on_cpu);
    }
}

static void test_states_near_the_leaf(void **state) {
    (void)state;
    for (int above = 22; above <= 25; above++) {
        char names[256] = "ncclAllReduce";
        for (int i = 0; i < above; i++)
            snprintf(names + strlen(names), sizeof names - strlen(names), ";f%d", i);
        assert_int_equal(state_of(names, true), above < 24 ? PT_STATE_COLLECTIVE : PT_STATE_ON_CPU);
    }
}

static void test_stack_without_function(void **state) {
    (void)state;
    struct pt_profile p;
    uint8_t states[2];
    pt_profile_init(&p, &samples_type, 1);
    struct pt_profile_frame f = { .function = PT_PROFILE_NONE, .module = PT_PROFILE_NONE };
    uint32_t root = pt_profile_stack(&p, PT_PROFILE_NONE, pt_profile_frame(&p, f));
    uint32_t leaf = pt_profile_stack(&p, root, frame_of(&p, PT_STR("k:vfs_write"), 0, ""));
    pt_classify_stacks(&p, states);
    assert_int_equal(states[root], PT_STATE_IDLE);
    assert_int_equal(states[leaf], PT_STATE_IO);
    pt_profile_release(&p);
}

static void assert_top(const struct pt_profile *p, size_t limit, struct pt_top_style style,
                       const char *expected) {
    struct pt_top top;
    struct pt_buf table = { 0 };
    struct pt_out out;
    pt_top_make(&top, p);
    pt_out_memory(&out, &table);
    pt_top_print(&top, p, limit, &style, &out);
    assert_int_equal(pt_out_close(&out), 0);
    assert_str_eq(pt_buf_as_str(&table), expected);
    pt_buf_release(&table);
    pt_top_release(&top);
}

static void test_functions(void **state) {
    (void)state;
    struct pt_profile p;
    pt_profile_init(&p, &samples_type, 1);
    (void)stack_of(&p, "never");
    add(&p, stack_of(&p, "main;twice;twice"), 30); /* recursion counts once */
    add(&p, stack_of(&p, "main;twice"), 10);
    add(&p, stack_of(&p, "main;b"), 20);
    add(&p, stack_of(&p, "main;c;a"), 20); /* as much self as b, and b came first */
    add(&p, stack_of(&p, "main;c"), 5);
    add(&p, stack_of(&p, "d;e"), 5); /* as much self as c, less in all */
    add(&p, PT_PROFILE_NONE, 10);
    assert_top(&p, 10, (struct pt_top_style){ 0 },
               "   self   total  function\n"
               " 40.0 %  40.0 %  twice\n"
               " 20.0 %  20.0 %  b\n"
               " 20.0 %  20.0 %  a\n"
               "  5.0 %  25.0 %  c\n"
               "  5.0 %   5.0 %  e\n"
               "  0.0 %  85.0 %  main\n"
               "  0.0 %   5.0 %  d\n");
    assert_top(&p, 6, (struct pt_top_style){ .columns = 18 },
               "   self   total  function\n"
               " 40.0 %  40.0 %  twice\n"
               " 20.0 %  20.0 %  b\n"
               " 20.0 %  20.0 %  a\n"
               "  5.0 %  25.0 %  c\n"
               "  5.0 %   5.0 %  e\n"
               "  0.0 %  85.0 %  main\n"
               "1 more functions\n");
    pt_profile_release(&p);
}

static void test_functions_of_nothing(void **state) {
    (void)state;
    struct pt_profile p;
    pt_profile_init(&p, &samples_type, 1);
    add(&p, stack_of(&p, "main"), 0);
    assert_top(&p, 10, (struct pt_top_style){ 0 }, "   self   total  function\n");
    pt_profile_release(&p);
}

/* Both percentages take 17 columns; a module needs space for four more characters and its name. */
static void test_cut_names(void **state) {
    (void)state;
    static const struct {
        unsigned columns;
        const char *expected;
    } cases[] = {
        { 0, "100.0 % 100.0 %  0123456789abc  (libm.so)\n" },
        { 17 + 24, "100.0 % 100.0 %  0123456789abc  (libm.so)\n" },
        { 17 + 23, "100.0 % 100.0 %  0123456789abc\n" },
        { 17 + 13, "100.0 % 100.0 %  0123456789abc\n" },
        { 17 + 12, "100.0 % 100.0 %  0123456789..\n" },
        { 17 + 9, "100.0 % 100.0 %  0123456..\n" },
        { 17 + 8, "100.0 % 100.0 %  012345..\n" },
        { 1, "100.0 % 100.0 %  012345..\n" },
    };
    struct pt_profile p;
    pt_profile_init(&p, &samples_type, 1);
    uint32_t module = pt_profile_module(
        &p, (struct pt_profile_module){ pt_profile_string(&p, PT_STR("/lib/libm.so")), 0 });
    struct pt_profile_function function = { .name = pt_profile_string(&p, PT_STR("0123456789abc")),
                                            .module = module,
                                            .kind = PT_KIND_NATIVE };
    struct pt_profile_frame frame = { .function = pt_profile_function(&p, function),
                                      .module = module };
    add(&p, pt_profile_stack(&p, PT_PROFILE_NONE, pt_profile_frame(&p, frame)), 1);
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        char expected[128];
        snprintf(expected, sizeof expected, "   self   total  function\n%s", cases[i].expected);
        assert_top(&p, 1, (struct pt_top_style){ .columns = cases[i].columns }, expected);
    }
    pt_profile_release(&p);
}

static void test_colors(void **state) {
    (void)state;
    struct pt_profile p;
    pt_profile_init(&p, &samples_type, 1);
    add(&p, stack_of(&p, "native"), 6);
    add(&p, stack_of(&p, "k:kernel"), 5);
    add(&p, stack_of(&p, "p:python"), 4);
    add(&p, stack_of(&p, "j:jit"), 3);
    add(&p, stack_of(&p, "m:marker"), 2);
    struct pt_profile_frame f = { .function = PT_PROFILE_NONE,
                                  .module = PT_PROFILE_NONE,
                                  .address = 0x1f };
    add(&p, pt_profile_stack(&p, PT_PROFILE_NONE, pt_profile_frame(&p, f)), 1);
    assert_top(&p, 6, (struct pt_top_style){ .has_colors = true },
               "   self   total  function\n"
               " 28.6 %  28.6 %  \x1b[36mnative\x1b[0m\n"
               " 23.8 %  23.8 %  \x1b[31mkernel\x1b[0m\n"
               " 19.0 %  19.0 %  \x1b[33mpython\x1b[0m\n"
               " 14.3 %  14.3 %  \x1b[35mjit\x1b[0m\n"
               "  9.5 %   9.5 %  \x1b[90mmarker\x1b[0m\n"
               "  4.8 %   4.8 %  \x1b[90m0x1f\x1b[0m\n");
    pt_profile_release(&p);
}

static void test_terminal(void **state) {
    (void)state;
    int terminal = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    int file = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct winsize size = { .ws_row = 5, .ws_col = 77 };
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
    assert_int_equal(pt_top_style_of(file).columns, 0);
    assert_false(pt_top_style_of(file).has_colors);
    close(file);
    if (terminal < 0 || ioctl(terminal, TIOCSWINSZ, &size))
        skip(); /* no pseudo-terminals here */
    assert_int_equal(pt_top_style_of(terminal).columns, 77);
    assert_true(pt_top_style_of(terminal).has_colors);
    setenv("NO_COLOR", "1", 1);
    assert_false(pt_top_style_of(terminal).has_colors);
    setenv("NO_COLOR", "", 1);
    assert_true(pt_top_style_of(terminal).has_colors);
    setenv("TERM", "dumb", 1);
    assert_false(pt_top_style_of(terminal).has_colors);
    unsetenv("TERM");
    assert_false(pt_top_style_of(terminal).has_colors);
    close(terminal);
}

static void assert_gil(int64_t known, int64_t held, int64_t contended, const char *expected) {
    struct pt_profile p;
    struct pt_buf text = { 0 };
    struct pt_out out;
    pt_profile_init(&p, &samples_type, 1);
    p.meta.gil_known = known;
    p.meta.gil_held = held;
    p.meta.gil_contended = contended;
    pt_out_memory(&out, &text);
    pt_top_print_gil(&p, &out);
    assert_int_equal(pt_out_close(&out), 0);
    assert_str_eq(pt_buf_as_str(&text), expected);
    pt_buf_release(&text);
    pt_profile_release(&p);
}

static void test_gil(void **state) {
    (void)state;
    assert_gil(-1, -1, -1, "");
    assert_gil(0, 0, 0, "");
    assert_gil(
        1, 0, 1,
        "GIL: held in 0.0 % of 1 samples inside Python, wanted by other threads in 100.0 %\n");
    assert_gil(
        8, 6, 1,
        "GIL: held in 75.0 % of 8 samples inside Python, wanted by other threads in 12.5 %\n");
}

static void test_threads(void **state) {
    (void)state;
    static const struct {
        uint32_t thread;
        int64_t time_ns;
    } samples[] = { { 1, 5 }, { 0, 9 }, { PT_PROFILE_NONE, 3 }, { 0, 4 }, { 0, 4 },
                    { 1, 6 }, { 0, 1 }, { PT_PROFILE_NONE, 2 } };
    static const uint32_t order[] = { 6, 3, 4, 1, 0, 5, 7, 2 };
    static const size_t starts[] = { 0, 4, 6, 6, 8 };
    struct pt_profile p;
    struct pt_by_thread b;
    int64_t value = 1;
    pt_profile_init(&p, &samples_type, 1);
    for (int i = 0; i < 3; i++)
        (void)pt_profile_thread(&p, (struct pt_profile_thread){ 7, 7 + i, 0, 0 });
    for (size_t i = 0; i < PT_COUNT(samples); i++) {
        struct pt_profile_sample s = { .thread = samples[i].thread,
                                       .time_ns = samples[i].time_ns,
                                       .stack = PT_PROFILE_NONE };
        assert_true(pt_profile_sample(&p, &s, &value));
    }
    pt_by_thread_init(&b, &p);
    for (size_t i = 0; i < PT_COUNT(order); i++)
        assert_int_equal(b.samples[i], order[i]);
    for (size_t i = 0; i < PT_COUNT(starts); i++)
        assert_int_equal(b.starts[i], starts[i]);
    pt_by_thread_release(&b);
    assert_null(b.samples);
    pt_profile_release(&p);
}

static int print_lines(const struct pt_profile *p, const char *what, char text[4096]) {
    struct pt_buf page = { 0 };
    struct pt_out out;
    struct pt_err err = { "" };
    pt_out_memory(&out, &page);
    int rc = pt_lines_print(p, what, &out, &err);
    assert_int_equal(pt_out_close(&out), 0);
    pt_str_copy(text, 4096, rc ? pt_str_from(err.text) : pt_buf_as_str(&page));
    pt_buf_release(&page);
    return rc;
}

static void test_lines(void **state) {
    (void)state;
    struct pt_profile p;
    char text[4096];
    pt_profile_init(&p, &samples_type, 1);
    uint32_t outer = frame_of(&p, PT_STR("a.b.f"), 8, "pkg/b.py"),
             inner = frame_of(&p, PT_STR("a.b.f"), 3, "pkg/b.py"),
             other = frame_of(&p, PT_STR("ns::g"), 5, "pkg/a.py"),
             nowhere = frame_of(&p, PT_STR("ns::g"), 6, ""),
             unlined = frame_of(&p, PT_STR("ns::g"), 0, "pkg/a.py");
    uint32_t root = pt_profile_stack(&p, PT_PROFILE_NONE, outer);
    uint32_t again = pt_profile_stack(&p, root, outer); /* recursion counts once */
    add(&p, root, 10);
    add(&p, again, 10);
    add(&p, again, 10);
    add(&p, pt_profile_stack(&p, again, inner), 20);
    add(&p, pt_profile_stack(&p, root, other), 20);
    add(&p, pt_profile_stack(&p, root, nowhere), 10);
    add(&p, pt_profile_stack(&p, root, unlined), 10);
    add(&p, PT_PROFILE_NONE, 10);
    static const char f_lines[] = "pkg/b.py (cannot be read)\n"
                                  "   self    total     line\n"
                                  "  20.0 %   20.0 %      3  \n"
                                  "  30.0 %   90.0 %      8  \n",
                      g_lines[] = "pkg/a.py (cannot be read)\n"
                                  "   self    total     line\n"
                                  "  20.0 %   20.0 %      5  \n",
                      g_nowhere[] = "[unknown file] (cannot be read)\n"
                                    "   self    total     line\n"
                                    "  10.0 %   10.0 %      6  \n";
    char both[1024];
    static const char *const of_f[] = { "f", "b.f", "a.b.f", "b.py:f", "pkg/b.py:a.b.f", "b.py:" };
    for (size_t i = 0; i < PT_COUNT(of_f); i++) {
        assert_int_equal(print_lines(&p, of_f[i], text), 0);
        assert_string_equal(text, f_lines);
    }
    /* files in the order in which they were first seen */
    snprintf(both, sizeof both, "%s%s", g_nowhere, g_lines);
    static const char *const of_g[] = { "g", "ns::g", ":g" };
    for (size_t i = 0; i < PT_COUNT(of_g); i++) {
        assert_int_equal(print_lines(&p, of_g[i], text), 0);
        assert_string_equal(text, both);
    }
    assert_int_equal(print_lines(&p, "a.py:ns::g", text), 0);
    assert_string_equal(text, g_lines);
    static const char *const of_none[] = { ".f", "kg/b.py:f", "b.py:g", "h", "b.py:f:", "ns:g" };
    for (size_t i = 0; i < PT_COUNT(of_none); i++) {
        assert_int_equal(print_lines(&p, of_none[i], text), -ENODATA);
        assert_non_null(strstr(text, of_none[i]));
    }
    pt_profile_release(&p);
}

/* Two lines of context; "..." only where lines are left out; lines beyond the end without text. */
static void test_source(void **state) {
    (void)state;
    struct pt_profile p;
    char text[4096], path[] = "/tmp/pitot-lines-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    for (int i = 1; i <= 15; i++)
        assert_true(dprintf(fd, "%c\n", 'a' + i - 1) == 2);
    pt_profile_init(&p, &samples_type, 1);
    static const uint32_t lines[] = { 4, 9, 15, 20 };
    for (size_t i = 0; i < PT_COUNT(lines); i++)
        add(&p, pt_profile_stack(&p, PT_PROFILE_NONE, frame_of(&p, PT_STR("f"), lines[i], path)),
            25);
    assert_int_equal(print_lines(&p, "f", text), 0);
    assert_string_equal(text + strlen(path), "\n   self    total     line\n"
                                             "                       2  b\n"
                                             "                       3  c\n"
                                             "  25.0 %   25.0 %      4  d\n"
                                             "                       5  e\n"
                                             "                       6  f\n"
                                             "                       7  g\n"
                                             "                       8  h\n"
                                             "  25.0 %   25.0 %      9  i\n"
                                             "                      10  j\n"
                                             "                      11  k\n"
                                             "                         ...\n"
                                             "                      13  m\n"
                                             "                      14  n\n"
                                             "  25.0 %   25.0 %     15  o\n"
                                             "  25.0 %   25.0 %     20  \n");
    pt_profile_release(&p);
    close(fd);
    unlink(path);
}

static void test_diff_table(void **state) {
    (void)state;
    struct pt_profile_file before = { 0 }, after = { 0 };
    struct pt_profile diff;
    struct pt_buf table = { 0 };
    struct pt_out out;
    assert_int_equal(
        pt_folded_reader.read(PT_STR("m;a 10\nm;b 20\nm;same 40\nx;a 10\ny 20\n"), &before, NULL),
        0);
    assert_int_equal(pt_folded_reader.read(PT_STR("m;a 200\nm;same 400\nm;c 400\n"), &after, NULL),
                     0);
    snprintf(before.profile.meta.command, sizeof before.profile.meta.command, "one");
    snprintf(after.profile.meta.command, sizeof after.profile.meta.command, "two");
    assert_int_equal(pt_profile_diff(&before.profile, &after.profile, &diff, NULL), 0);
    assert_string_equal(diff.meta.command, "one  \xe2\x86\x92  two");
    assert_string_equal(diff.meta.title, "diff");
    assert_int_equal(diff.meta.lost, -1);
    assert_int_equal(diff.meta.unwound, -1);
    assert_int_equal(diff.meta.rooted, -1);
    assert_int_equal(diff.meta.truncated, -1);
    pt_out_memory(&out, &table);
    pt_profile_diff_print(&diff, 10, &out);
    pt_profile_diff_print(&diff, 1, &out);
    assert_int_equal(pt_out_close(&out), 0);
    /* of equal changes that of the function seen first comes first */
    assert_str_eq(pt_buf_as_str(&table), " before   after   change  function (self, of the whole)\n"
                                         "  0.0 %  40.0 %  +40.0 %  c\n"
                                         " 20.0 %   0.0 %  -20.0 %  b\n"
                                         " 20.0 %   0.0 %  -20.0 %  y\n"
                                         " before   after   change  function (self, of the whole)\n"
                                         "  0.0 %  40.0 %  +40.0 %  c\n");
    pt_buf_release(&table);
    pt_profile_release(&diff);
    pt_profile_file_release(&before);
    pt_profile_file_release(&after);
}

/* Stackless samples of both sides are one sample of the difference. */
static void test_diff_without_stack(void **state) {
    (void)state;
    struct pt_profile before, after, diff;
    pt_profile_init(&before, &samples_type, 1);
    pt_profile_init(&after, &samples_type, 1);
    add(&before, PT_PROFILE_NONE, 3);
    add(&before, stack_of(&before, "a"), 4);
    add(&after, PT_PROFILE_NONE, 5);
    add(&after, PT_PROFILE_NONE, 1);
    assert_int_equal(pt_profile_diff(&before, &after, &diff, NULL), 0);
    assert_int_equal(diff.samples.count, 2);
    assert_int_equal(diff.values.count, 4);
    assert_int_not_equal(diff.samples.at[0].stack, PT_PROFILE_NONE);
    assert_int_equal(pt_profile_value(&diff, 0, 0), 4);
    assert_int_equal(pt_profile_value(&diff, 0, 1), 0);
    assert_int_equal(diff.samples.at[1].stack, PT_PROFILE_NONE);
    assert_int_equal(diff.samples.at[1].thread, PT_PROFILE_NONE);
    assert_int_equal(diff.samples.at[1].cpu, UINT16_MAX);
    assert_int_equal(pt_profile_value(&diff, 1, 0), 3);
    assert_int_equal(pt_profile_value(&diff, 1, 1), 6);
    assert_true(pt_profile_is_diff(&diff));
    diff.types[0].name = "after";
    assert_false(pt_profile_is_diff(&diff));
    diff.types[0].name = diff.types[1].name = "before";
    assert_false(pt_profile_is_diff(&diff));
    pt_profile_release(&diff);
    pt_profile_release(&before);
    pt_profile_release(&after);
}

static void test_long_module_name(void **state) {
    (void)state;
    struct pt_profile p;
    char buffer[PT_PROFILE_NAME_BYTES], path[400] = "/lib/", expected[400];
    pt_profile_init(&p, &samples_type, 1);
    for (size_t length = 287; length <= 300; length++) {
        memset(path + 5, 'x', length);
        path[5 + length] = 0;
        uint32_t module = pt_profile_module(
            &p, (struct pt_profile_module){ pt_profile_string(&p, pt_str_from(path)), 0 });
        size_t kept = length < 288 ? length : 288;
        snprintf(expected, sizeof expected, "%.*s+0xffffffffffffffff", (int)kept, path + 5);
        assert_str_eq(pt_profile_address_name(&p, module, UINT64_MAX, buffer), expected);
    }
    pt_profile_release(&p);
}

/* Code without a function: "[module]", cut to the buffer. */
static void test_module_boxes(void **state) {
    (void)state;
    struct pt_profile p;
    struct pt_call_tree tree;
    char buffer[PT_PROFILE_NAME_BYTES], path[PT_PROFILE_NAME_BYTES + 16], expected[sizeof path + 8];
    pt_profile_init(&p, &samples_type, 1);
    const size_t lengths[] = { 9, PT_PROFILE_NAME_BYTES - 4, PT_PROFILE_NAME_BYTES - 3,
                               PT_PROFILE_NAME_BYTES - 2, PT_PROFILE_NAME_BYTES + 3 };
    for (size_t i = 0; i < PT_COUNT(lengths); i++) {
        snprintf(path, sizeof path, "/lib/");
        memset(path + 5, (int)('a' + i), lengths[i]);
        path[5 + lengths[i]] = 0;
        uint32_t module = pt_profile_module(
            &p, (struct pt_profile_module){ pt_profile_string(&p, pt_str_from(path)), 0 });
        uint32_t frame = pt_profile_frame(
            &p, (struct pt_profile_frame){
                    .function = PT_PROFILE_NONE, .module = module, .address = 0x1000 });
        (void)pt_profile_stack(&p, PT_PROFILE_NONE, frame);
    }
    pt_call_tree_init(&tree, &p);
    assert_int_equal(tree.labels.count, PT_COUNT(lengths));
    for (size_t i = 0; i < PT_COUNT(lengths); i++) {
        size_t kept =
            lengths[i] < PT_PROFILE_NAME_BYTES - 3 ? lengths[i] : PT_PROFILE_NAME_BYTES - 3;
        memset(expected, (int)('a' + i), kept + 1);
        expected[0] = '[';
        snprintf(expected + kept + 1, sizeof expected - kept - 1, "]");
        assert_str_eq(pt_call_tree_name(&tree, (uint32_t)i, buffer), expected);
    }
    pt_call_tree_release(&tree);
    pt_profile_release(&p);
}

static void test_kinds_and_names(void **state) {
    (void)state;
    struct pt_profile p;
    char buffer[PT_PROFILE_NAME_BYTES];
    pt_profile_init(&p, &samples_type, 1);
    uint32_t module = pt_profile_module(
        &p, (struct pt_profile_module){ pt_profile_string(&p, PT_STR("libc.so.6")), 0 });
    struct pt_profile_frame f = { .function = PT_PROFILE_NONE, .module = module, .address = 0x1f };
    assert_int_equal(pt_profile_frame_kind(&p, pt_profile_frame(&p, f)), PT_KIND_NATIVE);
    f.module = PT_PROFILE_NONE;
    assert_int_equal(pt_profile_frame_kind(&p, pt_profile_frame(&p, f)), PT_KIND_UNKNOWN);
    uint32_t marker = pt_profile_marker(&p, PT_STR("[cut]"));
    assert_int_equal(pt_profile_frame_kind(&p, marker), PT_KIND_MARKER);
    assert_int_equal(p.frames.at[marker].module, PT_PROFILE_NONE);
    assert_str_eq(pt_profile_frame_name(&p, marker, buffer), "[cut]");
    uint32_t unnamed = frame_of(&p, PT_STR("p:"), 0, "");
    assert_str_eq(pt_profile_frame_name(&p, unnamed, buffer), "[unnamed]");
    assert_str_eq(pt_profile_base_name(PT_STR("/a/b/c.so")), "c.so");
    assert_str_eq(pt_profile_base_name(PT_STR("c.so")), "c.so");
    assert_str_eq(pt_profile_base_name(PT_STR("a/")), "");
    assert_str_eq(pt_profile_base_name(PT_STR("")), "");
    pt_profile_release(&p);
}

static void test_too_many_samples(void **state) {
    (void)state;
    struct pt_profile p;
    pt_profile_init(&p, &samples_type, 1);
    struct pt_profile_sample s = { .thread = PT_PROFILE_NONE, .stack = PT_PROFILE_NONE };
    p.samples.count = PT_PROFILE_SAMPLES_MAX;
    assert_false(pt_profile_sample(&p, &s, &(int64_t){ 1 }));
    assert_int_equal(p.meta.dropped, 1);
    assert_int_equal(p.samples.count, PT_PROFILE_SAMPLES_MAX);
    assert_int_equal(p.values.count, 0);
    p.samples.count = 0;
    assert_true(pt_profile_sample(&p, &s, &(int64_t){ 1 }));
    assert_int_equal(p.meta.dropped, 1);
    pt_profile_release(&p);
}

static void test_command(void **state) {
    (void)state;
    struct pt_profile_meta meta;
    char word[600], program[] = "python3", script[] = "train.py", option[] = "-x";
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = 0;
    pt_profile_set_command(&meta, (char *[]){ program, script, option, NULL });
    assert_string_equal(meta.command, "python3 train.py -x");
    pt_profile_set_command(&meta, (char *[]){ NULL });
    assert_string_equal(meta.command, "");
    pt_profile_set_command(&meta, (char *[]){ word, word, word, NULL });
    assert_int_equal(strlen(meta.command), sizeof meta.command - 1);
    assert_int_equal(strcspn(meta.command, " "), sizeof word - 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_states, "C241: a name in the stack tells what a thread waits for"),
        PT_TEST(test_states_near_the_leaf, "C241: names far from the leaf tell nothing"),
        PT_TEST(test_stack_without_function, "C241: a frame without a name has no say"),
        PT_TEST(test_functions, "C243: functions are sorted by self, then total, then age"),
        PT_TEST(test_functions_of_nothing, "C243: a profile of zeros has an empty table"),
        PT_TEST(test_cut_names, "C243: names are cut to the columns of the terminal"),
        PT_TEST(test_colors, "C243: each kind of code has its color"),
        PT_TEST(test_terminal, "C243: colors and columns are those of the terminal"),
        PT_TEST(test_gil, "C243: shares of the GIL are printed if any are known"),
        PT_TEST(test_threads, "C241: samples of a thread are in the order of time"),
        PT_TEST(test_lines, "C243: a function is chosen by the end of its name and file"),
        PT_TEST(test_source, "C243: lines of source have two lines of context"),
        PT_TEST(test_diff_table, "C243: the largest changes come first, no change is not listed"),
        PT_TEST(test_diff_without_stack, "C243: samples without a stack are compared too"),
        PT_TEST(test_long_module_name, "C242: a long module name leaves space for the address"),
        PT_TEST(test_module_boxes, "C242: code without a name is shown as its module"),
        PT_TEST(test_kinds_and_names, "C242: each frame has a kind and a name"),
        PT_TEST(test_too_many_samples, "C242: samples beyond the limit are counted"),
        PT_TEST(test_command, "C242: a command line is cut to its buffer"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
