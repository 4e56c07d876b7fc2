/* Frames of Python read from a process: this one, with memory laid out as by Python 3.11. */
#include "test.h"

#include "base/clock.h"
#include "profile/sample/python_process.h"
#include "profile/sample/python_session.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RUNTIME = 0, INTERPRETER = 0x1000, THREAD = 0x2000, CFRAME = 0x3000, FRAMES = 0x4000 };
enum { CODES = 0x10000, TEXTS = 0x20000, TABLE = 0x2e000, VERSION = 0x2e800, BYTES = 0x30000 };
enum { FRAME_STEP = 0x80, CODE_STEP = 0x100, TEXT_STEP = 0x80 };

struct fake {
    uint8_t *at;
    struct pt_pythons pythons;
    struct pt_buf entries;
};

static uint64_t address_of(const struct fake *f, size_t offset) {
    return (uint64_t)(uintptr_t)(f->at + offset);
}

static void put(struct fake *f, size_t at, uint64_t value, size_t size) {
    memcpy(f->at + at, &value, size);
}

/* A compact ASCII str. */
static void put_text(struct fake *f, unsigned number, const char *text) {
    size_t at = TEXTS + number * TEXT_STEP;
    put(f, at + 16, strlen(text), 8);
    put(f, at + 32, (1 | 8 | 16) << 2, 4);
    memcpy(f->at + at + 48, text, strlen(text));
}

static void put_code(struct fake *f, unsigned number, unsigned name, unsigned file, uint32_t line) {
    size_t at = CODES + number * CODE_STEP;
    put(f, at + 72, line, 4);
    put(f, at + 112, address_of(f, TEXTS + file * TEXT_STEP), 8);
    put(f, at + 128, address_of(f, TEXTS + name * TEXT_STEP), 8);
    put(f, at + 136, address_of(f, TABLE), 8);
}

/* Leaf first: the frame `i` runs the code `i`, 2 i bytes into it. */
static void put_frames(struct fake *f, unsigned count) {
    for (unsigned i = 0; i < count; i++) {
        size_t at = FRAMES + i * FRAME_STEP;
        uint64_t code = address_of(f, CODES + i * CODE_STEP);
        put(f, at + 32, code, 8);
        put(f, at + 48, i + 1 < count ? address_of(f, at + FRAME_STEP) : 0, 8);
        put(f, at + 56, code + 184 + 2 * i, 8);
        put(f, at + 68, i + 1 == count, 1);
    }
}

/* This thread runs "leaf" of "leaf.py", called by "caller" of "main.py". */
static void make_fake(struct fake *f) {
    *f = (struct fake){ .at = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                   -1, 0) };
    assert_true((void *)f->at != MAP_FAILED);
    pt_pythons_init(&f->pythons);
    put(f, RUNTIME + 40, address_of(f, INTERPRETER), 8);
    put(f, INTERPRETER + 16, address_of(f, THREAD), 8);
    put(f, THREAD + 56, address_of(f, CFRAME), 8);
    put(f, THREAD + 160, (uint64_t)getpid(), 8);
    put(f, CFRAME + 8, address_of(f, FRAMES), 8);
    put(f, VERSION, 0x030b02f0, 4);
    put(f, TABLE + 16, 3, 8); /* a bytes object */
    memcpy(f->at + TABLE + 32, "abc", 3);
    put_text(f, 0, "leaf");
    put_text(f, 1, "leaf.py");
    put_text(f, 2, "caller");
    put_text(f, 3, "main.py");
    put_code(f, 0, 0, 1, 10);
    put_code(f, 1, 2, 3, 20);
    put_frames(f, 2);
    pt_pythons_add(&f->pythons, getpid(),
                   (struct pt_python_place){ .runtime = address_of(f, RUNTIME), .minor = 11 });
}

static void release_fake(struct fake *f) {
    pt_pythons_release(&f->pythons);
    pt_buf_release(&f->entries);
    munmap(f->at, BYTES);
}

static size_t read_tid(struct fake *f, int32_t tid) {
    pt_buf_clear(&f->entries);
    size_t count = pt_pythons_read(&f->pythons, getpid(), tid, &f->entries);
    assert_int_equal(f->entries.len, count * sizeof(struct pt_python_entry));
    return count;
}

static size_t read_own(struct fake *f) {
    return read_tid(f, getpid());
}

static struct pt_python_entry entry_at(const struct fake *f, size_t i) {
    struct pt_python_entry e;
    memcpy(&e, f->entries.at + i * sizeof e, sizeof e);
    return e;
}

static void assert_code(struct fake *f, uint32_t number, const char *name, const char *file,
                        uint32_t line) {
    const struct pt_python_code *code = pt_pythons_code(&f->pythons, number);
    assert_non_null(code);
    assert_string_equal(code->name, name);
    assert_string_equal(code->file, file);
    assert_int_equal(code->first_line, line);
    assert_int_equal(code->lines, PT_PYTHON_LOCATIONS);
    assert_str_eq(pt_buf_as_str(&code->table), "abc");
}

static void test_frames(void **state) {
    (void)state;
    skip_if_emulated();
    struct fake f;
    make_fake(&f);
    for (int i = 0; i < 3; i++) { /* the same numbers each time */
        assert_int_equal(read_own(&f), 2);
        assert_int_equal(entry_at(&f, 0).code, 0);
        assert_int_equal(entry_at(&f, 0).instruction, 0);
        assert_int_equal(entry_at(&f, 0).flags & PT_PYTHON_FRAME_FLAGS, 0);
        assert_int_equal(entry_at(&f, 1).code, 1);
        assert_int_equal(entry_at(&f, 1).instruction, 2);
        assert_int_equal(entry_at(&f, 1).flags, PT_PYTHON_IS_LAST);
    }
    assert_int_equal(f.pythons.code_count, 2);
    assert_code(&f, 0, "leaf", "leaf.py", 10);
    assert_code(&f, 1, "caller", "main.py", 20);
    assert_null(pt_pythons_code(&f.pythons, 2));
    /* another function at the same address is another code */
    put_code(&f, 0, 2, 1, 30);
    assert_int_equal(read_own(&f), 2);
    assert_int_equal(entry_at(&f, 0).code, 2);
    assert_code(&f, 2, "caller", "leaf.py", 30);
    /* without a name or without a file it is not code; an unreadable text is "?" */
    put(&f, CODES + 128, 0, 8);
    assert_int_equal(read_own(&f), 2);
    assert_int_equal(entry_at(&f, 0).code, UINT32_MAX);
    assert_int_equal(entry_at(&f, 1).code, 1);
    put_code(&f, 0, 0, 1, 30);
    put(&f, CODES + 112, 0, 8);
    assert_int_equal(read_own(&f), 2);
    assert_int_equal(entry_at(&f, 0).code, UINT32_MAX);
    assert_int_equal(f.pythons.code_count, 3);
    put(&f, CODES + 112, 8, 8);
    assert_int_equal(read_own(&f), 2);
    assert_int_equal(entry_at(&f, 0).code, 3);
    assert_code(&f, 3, "leaf", "?", 30);
    /* a text of one byte on a page that cannot be read */
    enum { LAST = BYTES - 0x1000, EDGE = LAST - 48 };
    assert_int_equal(mprotect(f.at + LAST, 0x1000, PROT_NONE), 0);
    put(&f, EDGE + 16, 1, 8);
    put(&f, EDGE + 32, (1 | 8 | 16) << 2, 4);
    put(&f, CODES + 112, address_of(&f, EDGE), 8);
    assert_int_equal(read_own(&f), 2);
    assert_string_equal(pt_pythons_code(&f.pythons, entry_at(&f, 0).code)->file, "?");
    /* a frame with a code object that cannot be read does not hide the others */
    put(&f, FRAMES + 32, 8, 8);
    assert_int_equal(read_own(&f), 2);
    assert_int_equal(entry_at(&f, 0).code, UINT32_MAX);
    assert_int_equal(entry_at(&f, 1).code, 1);
    release_fake(&f);
}

/* More frames than are read at a time. */
static void test_deep(void **state) {
    (void)state;
    skip_if_emulated();
    enum { DEPTH = 150 };
    struct fake f;
    make_fake(&f);
    for (unsigned i = 0; i < DEPTH; i++)
        put_code(&f, i, 0, 1, i);
    put_frames(&f, DEPTH);
    put(&f, FRAMES + 70 * FRAME_STEP + 32, 8, 8); /* unreadable */
    for (int round = 0; round < 2; round++) {
        assert_int_equal(read_own(&f), DEPTH);
        for (unsigned i = 0; i < DEPTH; i++)
            if (i == 70)
                assert_int_equal(entry_at(&f, i).code, UINT32_MAX);
            else
                assert_code(&f, entry_at(&f, i).code, "leaf", "leaf.py", i);
    }
    assert_int_equal(f.pythons.code_count, DEPTH - 1);
    release_fake(&f);
}

static void test_versions(void **state) {
    (void)state;
    skip_if_emulated();
    struct fake f;
    const int32_t pid = getpid();
    make_fake(&f);
    struct pt_python_place place = { .runtime = address_of(&f, RUNTIME) };
    pt_pythons_add(&f.pythons, pid, place); /* instead of the one before */
    assert_int_equal(f.pythons.process_count, 1);
    assert_int_equal(read_own(&f), 0); /* of an unknown version */
    place.version_address = address_of(&f, VERSION);
    pt_pythons_add(&f.pythons, pid, place);
    assert_int_equal(read_own(&f), 2);
    place.minor = 9; /* the number in memory counts more than that of the name */
    pt_pythons_add(&f.pythons, pid, place);
    assert_int_equal(read_own(&f), 2);
    put(&f, VERSION, 0x020700f0, 4); /* not a version of Python 3 */
    place.minor = 11;
    pt_pythons_add(&f.pythons, pid, place);
    assert_int_equal(read_own(&f), 2);
    place.version_address = 8; /* unreadable */
    pt_pythons_add(&f.pythons, pid, place);
    assert_int_equal(read_own(&f), 2);
    place.runtime = 8;
    pt_pythons_add(&f.pythons, pid, place);
    assert_int_equal(read_own(&f), 0);
    /* says itself where things are, but not so that it can be used */
    memcpy(f.at + RUNTIME, PT_PYTHON_COOKIE, 8);
    place.runtime = address_of(&f, RUNTIME);
    pt_pythons_add(&f.pythons, pid, place);
    assert_int_equal(read_own(&f), 0);
    memset(f.at + RUNTIME, 0, 8);
    assert_int_equal(read_own(&f), 0); /* and is not tried again */
    release_fake(&f);
}

/* An unknown thread is looked up again after 1, 2, 4 .. samples, then after every 64. */
static void test_unknown_threads(void **state) {
    (void)state;
    skip_if_emulated();
    struct fake f;
    const int32_t tid = getpid();
    make_fake(&f);
    for (unsigned known_after = 1; known_after <= 200; known_after++) {
        pt_pythons_add(&f.pythons, getpid(),
                       (struct pt_python_place){ .runtime = address_of(&f, RUNTIME), .minor = 11 });
        put(&f, THREAD + 160, 1, 8);
        for (unsigned i = 0; i < known_after; i++)
            assert_int_equal(read_own(&f), 0);
        put(&f, THREAD + 160, (uint64_t)tid, 8);
        unsigned sample = known_after; /* since the first, which failed */
        while ((sample & (sample - 1)) != 0 && sample % 64 != 0) {
            assert_int_equal(read_own(&f), 0);
            sample++;
        }
        assert_int_equal(read_own(&f), 2);
    }
    /* two threads of one place in the table */
    assert_int_equal(read_tid(&f, tid + 256), 0);
    assert_int_equal(read_own(&f), 2);
    /* the state of another thread now: looked up at once */
    put(&f, THREAD + 160, 1, 8);
    assert_int_equal(read_own(&f), 0);
    put(&f, THREAD + 160, (uint64_t)tid, 8);
    assert_int_equal(read_own(&f), 2);
    release_fake(&f);
}

static void test_processes(void **state) {
    (void)state;
    skip_if_emulated();
    struct fake f;
    const int32_t pid = getpid();
    make_fake(&f);
    assert_true(pt_pythons_any(&f.pythons));
    assert_true(pt_pythons_has(&f.pythons, pid));
    assert_false(pt_pythons_has(&f.pythons, 7));
    pt_pythons_fork(&f.pythons, 7, 8); /* of a process that is not Python */
    assert_false(pt_pythons_has(&f.pythons, 7));
    pt_pythons_fork(&f.pythons, 7, pid);
    pt_pythons_fork(&f.pythons, 9, 7);
    assert_int_equal(f.pythons.process_count, 3);
    pt_pythons_remove(&f.pythons, 7);
    pt_pythons_remove(&f.pythons, 7);
    assert_false(pt_pythons_has(&f.pythons, 7));
    assert_true(pt_pythons_has(&f.pythons, 9));
    assert_int_equal(read_own(&f), 2);
    pt_pythons_remove(&f.pythons, pid);
    assert_int_equal(read_own(&f), 0);
    pt_pythons_fork(&f.pythons, pid, 9); /* with the place of its parent */
    assert_int_equal(read_own(&f), 2);
    pt_pythons_remove(&f.pythons, pid);
    pt_pythons_remove(&f.pythons, 9);
    assert_false(pt_pythons_any(&f.pythons));
    for (int32_t i = 1; i <= PT_PYTHON_PROCESSES_MAX + 1; i++)
        pt_pythons_add(&f.pythons, i, (struct pt_python_place){ .minor = 11 });
    assert_int_equal(f.pythons.process_count, PT_PYTHON_PROCESSES_MAX);
    assert_true(pt_pythons_has(&f.pythons, PT_PYTHON_PROCESSES_MAX));
    assert_false(pt_pythons_has(&f.pythons, PT_PYTHON_PROCESSES_MAX + 1));
    release_fake(&f);
}

/* Each character of a str has 1, 2 or 4 bytes; first and last of each length in UTF-8. */
static void test_text(void **state) {
    (void)state;
    struct pt_buf text = { 0 };
    static const uint8_t latin[] = { 'a', 0x7f, 0x80, 0xff };
    pt_python_add_text(&text, latin, PT_COUNT(latin), 1);
    assert_str_eq(pt_buf_as_str(&text), "a\x7f\xc2\x80\xc3\xbf");
    pt_buf_clear(&text);
    static const uint16_t wide[] = { 0x7ff, 0x800, 0x20ac, 0xffff };
    pt_python_add_text(&text, (const uint8_t *)wide, PT_COUNT(wide), 2);
    assert_str_eq(pt_buf_as_str(&text), "\xdf\xbf\xe0\xa0\x80\xe2\x82\xac\xef\xbf\xbf");
    pt_buf_clear(&text);
    static const uint32_t full[] = { 0x10000, 0x1f600, 0x10ffff, 0x110000, 'z' };
    pt_python_add_text(&text, (const uint8_t *)full, PT_COUNT(full), 4);
    assert_str_eq(pt_buf_as_str(&text),
                  "\xf0\x90\x80\x80\xf0\x9f\x98\x80\xf4\x8f\xbf\xbfz"); /* the fourth is none */
    pt_buf_release(&text);
}

static void test_files(void **state) {
    (void)state;
    static const struct {
        const char *path;
        bool is_python;
        unsigned minor;
    } files[] = { { "/usr/bin/python3.11", true, 11 },
                  { "/usr/lib/libpython3.12.so.1.0", true, 12 },
                  { "/opt/python/bin/python3", true, 0 },
                  { "python", true, 0 },
                  { "/usr/lib/python3.11/lib-dynload/_json.so", false, 0 },
                  { "/usr/bin/ipython3", false, 0 },
                  { "/usr/bin/", false, 0 },
                  { "", false, 0 } };
    for (size_t i = 0; i < PT_COUNT(files); i++) {
        unsigned minor = 0;
        assert_int_equal(pt_python_is_file(pt_str_from(files[i].path), &minor), files[i].is_python);
        assert_int_equal(minor, files[i].minor);
    }
}

/* A Python that runs: "busy" computes until its input ends. */
struct program {
    pid_t pid;
    int input, output;
};

static void start_program(struct program *p, const char *const *argv) {
    int in[2], out[2];
    assert_int_equal(pipe2(in, O_CLOEXEC), 0);
    assert_int_equal(pipe2(out, O_CLOEXEC), 0);
    *p = (struct program){ fork(), in[1], out[0] };
    if (p->pid == 0) {
        dup2(in[0], STDIN_FILENO);
        dup2(out[1], STDOUT_FILENO);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
}

/* False: it did not start. */
static bool wait_for_line(const struct program *p) {
    char c = 0;
    while (c != '\n')
        if (read(p->output, &c, 1) != 1)
            return false;
    return true;
}

static void end_program(struct program *p) {
    int status;
    close(p->input);
    assert_int_equal(waitpid(p->pid, &status, 0), p->pid);
    close(p->output);
}

static const char script[] = "import select, sys, threading, time\n"
                             "def spin():\n"
                             "    n = 0\n"
                             "    for i in range(1000): n += i * i\n"
                             "def busy():\n"
                             "    while not select.select([sys.stdin], [], [], 0)[0]:\n"
                             "        spin()\n"
                             "def idle():\n"
                             "    sys.stdin.buffer.raw.read(0)\n"
                             "    threading.Event().wait()\n"
                             "threading.Thread(target=idle, daemon=True).start()\n"
                             "print('ready', flush=True)\n"
                             "busy()\n";

static bool has_function(const struct pt_profile *p, const char *name) {
    for (size_t i = 0; i < p->functions.count; i++)
        if (pt_str_eq(pt_profile_text(p, p->functions.at[i].name), pt_str_from(name)))
            return true;
    return false;
}

/* CPU time of a process. */
static int64_t used_ns(pid_t pid) {
    clockid_t clock;
    return clock_getcpuclockid(pid, &clock) ? 0 : pt_clock_ns(clock);
}

static const struct pt_perf_options options = { .rate_hz = 200, .wants_python = true };

static struct pt_fs open_fs(void) {
    struct pt_fs fs;
    struct pt_err err;
    assert_int_equal(pt_fs_open(&fs, "/proc", "/sys", "/", &err), 0);
    return fs;
}

static size_t open_files(void) {
    struct pt_pid_list list = { 0 };
    int fd = open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_int_equal(pt_pid_list_read(&list, fd), 0);
    size_t count = list.count;
    pt_pid_list_release(&list);
    close(fd);
    return count;
}

static void test_session(void **state) {
    (void)state;
    const char *const argv[] = { "python3", "-c", script, NULL };
    struct pt_err err;
    struct program program;
    struct pt_fs fs = open_fs();
    skip_if_emulated();
    if (pt_elf_check(&err))
        skip(); /* no libdw here */
    start_program(&program, argv);
    bool is_ready = wait_for_line(&program);
    int input = dup(STDIN_FILENO);
    close(STDIN_FILENO); /* 0 is a descriptor as any other */
    size_t files = open_files();
    struct pt_python_session *s = pt_calloc(1, sizeof *s);
    int64_t begun_ns = used_ns(program.pid);
    int rc = is_ready ? pt_python_session_start(s, &fs, &options, &program.pid, 1, false, &err)
                      : -ENOENT;
    if (rc && input >= 0)
        dup2(input, STDIN_FILENO);
    if (rc) { /* no Python, another version, or memory that must not be read */
        end_program(&program);
        pt_free(s);
        pt_fs_close(&fs);
        assert_true(rc == -ENOENT || rc == -ENOEXEC || rc == -EPERM);
        skip();
    }
    assert_int_equal(s->period_ns, 5000000);
    /* both have run for dozens of periods, however busy the machine is */
    while (used_ns(program.pid) - begun_ns < INT64_C(300000000) ||
           pt_python_session_cpu_ns(s) < 2000000)
        poll(NULL, 0, 10);
    pt_python_session_stop(s);
    int64_t most_ns = used_ns(program.pid);
    assert_int_equal(pt_python_session_cpu_ns(s), 0);
    assert_int_equal(pt_python_session_check(s, &err), 0);
    const struct pt_profile *p = &s->recording.profile;
    int64_t sampled_ns = 0;
    for (size_t i = 0; i < p->samples.count; i++) {
        assert_int_equal(pt_profile_value(p, i, 1), 5000000 * pt_profile_value(p, i, 0));
        assert_int_equal(p->samples.at[i].cpu, UINT16_MAX);
        assert_true(p->samples.at[i].time_ns >= p->meta.start_ns);
        assert_true(p->samples.at[i].time_ns <= p->meta.end_ns);
        sampled_ns += pt_profile_value(p, i, 1);
    }
    /* CPU time before the session does not count */
    assert_true(sampled_ns > 0 && sampled_ns <= most_ns - begun_ns);
    assert_true(p->meta.python_wanted > 0 && p->meta.python_matched > 0);
    assert_true(p->meta.python_wanted <= (int64_t)p->samples.count);
    assert_true(has_function(p, "busy") && has_function(p, "<module> (<string>)"));
    assert_false(has_function(p, "idle")); /* waits */
    assert_int_equal(p->meta.rate_hz, 200);
    assert_int_equal(p->meta.period_ns, 5000000);
    assert_true(p->meta.own_cpu_ns > 0);
    assert_non_null(strstr(p->meta.method, "python"));
    pt_python_session_release(s);
    pt_python_session_release(s); /* may be released again */
    assert_int_equal(open_files(), files);
    if (input >= 0)
        dup2(input, STDIN_FILENO);
    close(input);
    end_program(&program);
    pt_free(s);
    pt_fs_close(&fs);
}

/* What is not Python, or not there. */
static void test_refused(void **state) {
    (void)state;
    const char *const argv[] = { "cat", NULL };
    struct pt_err err = { "" };
    struct program program;
    struct pt_fs fs = open_fs();
    skip_if_emulated();
    start_program(&program, argv);
    size_t files = open_files();
    struct pt_python_session *s = pt_calloc(1, sizeof *s);
    int rc = pt_python_session_start(s, &fs, &options, &program.pid, 1, false, &err);
    if (rc != -EPERM) { /* memory may be read */
        assert_int_equal(rc, -ENOEXEC);
        assert_non_null(strstr(err.text, "not CPython"));
        assert_int_equal(open_files(), files);
        /* a command may become Python; this one did not */
        assert_int_equal(pt_python_session_start(s, &fs, &options, &program.pid, 1, true, &err), 0);
        pt_python_session_stop(s);
        assert_int_equal(pt_python_session_check(s, &err), -ENODATA);
        assert_non_null(strstr(err.text, "no process was CPython"));
        pt_python_session_release(s);
        assert_int_equal(open_files(), files);
    }
    pid_t ended = program.pid;
    end_program(&program);
    assert_int_equal(pt_python_session_start(s, &fs, &options, &ended, 1, false, &err), -ESRCH);
    assert_non_null(strstr(err.text, "there is no process"));
    pt_free(s);
    pt_fs_close(&fs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_frames, "C241: frames of a Python process have their code objects"),
        PT_TEST(test_deep, "C241: a deep Python stack is read in several parts"),
        PT_TEST(test_versions, "C241: the version of Python is that of its memory, or its name"),
        PT_TEST(test_unknown_threads, "C241: threads that Python does not know yet are looked up"),
        PT_TEST(test_processes, "C241: Python processes are added, forked and removed"),
        PT_TEST(test_text, "C241: text of Python is written as UTF-8"),
        PT_TEST(test_files, "C241: interpreters have names with python"),
        PT_TEST(test_session, "C241: a running Python program is sampled from outside"),
        PT_TEST(test_refused, "C241: what is not Python is refused"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
