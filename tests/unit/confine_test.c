/* Confined processes: what they may do, what ends them, and what is said about it. */
#include "test.h"

#include "base/confine.h"
#include "base/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DONE = 1, ORDER = 7 };

static void send_text(const char *text) {
    pt_confine_send(DONE, pt_str_from(text));
}

/* Runs a function in a sealed helper. The text that it sent, or how it ended. */
static const char *outcome(void (*run)(void *), int directory, char text[512]) {
    struct pt_confined c;
    struct pt_err err = { "" };
    struct pt_buf message = { 0 };
    uint32_t kind = 0;
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct pt_confine_options o = { .name = "(test)",
                                    .run = run,
                                    .keep = { directory },
                                    .directory = directory,
                                    .reads_memory = directory >= 0,
                                    .proc = proc };
    assert_int_equal(pt_confined_start(&c, &o, &err), 0);
    pt_confined_order(&c, ORDER);
    int rc = pt_confined_receive(&c, &kind, &message, &err);
    if (rc)
        snprintf(text, 512, "%s", err.text);
    else
        snprintf(text, 512, "%.*s", (int)message.len, (const char *)message.at);
    assert_int_equal(kind, rc ? 0 : DONE);
    pt_buf_release(&message);
    pt_confined_close(&c);
    close(proc);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no process is left */
    return text;
}

static bool is_filtered(void) {
    char line[256];
    bool is_found = false;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        is_found |= strncmp(line, "Seccomp:\t2", 10) == 0;
    if (status)
        fclose(status);
    return is_found;
}

/* Sanitizers and emulators have no filter; then there is nothing to test. */
static void seal_or_skip(void) {
    if (pt_confine_seal() || !is_filtered()) {
        send_text("no filter");
        _exit(0);
    }
}

static void *count_up(void *state) {
    ++*(int *)state;
    return NULL;
}

static void read_files(void *state) {
    char text[64] = "", again[64] = "";
    pthread_t thread;
    int number = 1;
    (void)state;
    seal_or_skip();
    int fd = open("/proc/self/comm", O_RDONLY | O_CLOEXEC);
    bool has_read = fd >= 0 && read(fd, text, sizeof text) == 7 && pread(fd, again, 7, 0) == 7;
    struct iovec local = { again, sizeof again }, remote = { text, sizeof text };
    bool has_memory = process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == sizeof text;
    bool has_thread = !pt_thread_start(&thread, count_up, &number) && !pthread_join(thread, NULL);
    void *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct stat st;
    char *memory = pt_malloc(10 << 20);
    memset(memory, 1, 10 << 20);
    pt_free(memory);
    bool is_right = has_read && has_memory && has_thread && number == 2 && code == MAP_FAILED &&
                    errno == EPERM && !stat("/proc", &st) && kill(getppid(), 0) == 0 &&
                    pt_confine_pitot() == getppid();
    send_text(is_right && pt_confine_wait(-1) == ORDER ? text : "wrong");
}

static void test_allowed(void **state) {
    char text[512];
    (void)state;
    const char *found = outcome(read_files, -1, text);
    if (strcmp(found, "no filter") == 0)
        skip();
    assert_string_equal(found, "(test)\n");
}

static void make_socket(void *state) {
    (void)state;
    seal_or_skip();
    (void)socket(AF_INET, SOCK_STREAM, 0);
    send_text("it lives");
}

static void write_file(void *state) {
    (void)state;
    seal_or_skip();
    (void)open("/dev/null", O_WRONLY | O_CLOEXEC);
    send_text("it lives");
}

static void make_file(void *state) {
    (void)state;
    seal_or_skip();
    (void)open("/tmp/pitot-never", O_RDONLY | O_CREAT | O_CLOEXEC, 0600);
    send_text("it lives");
}

static void make_nameless_file(void *state) {
    (void)state;
    seal_or_skip();
    (void)open("/tmp", O_RDWR | O_TMPFILE | O_CLOEXEC, 0600);
    send_text("it lives");
}

static void remove_file(void *state) {
    (void)state;
    seal_or_skip();
    (void)unlink("/tmp/pitot-never");
    send_text("it lives");
}

static void start_program(void *state) {
    (void)state;
    seal_or_skip();
    execl("/bin/true", "true", NULL);
    send_text("it lives");
}

static void start_process(void *state) {
    (void)state;
    seal_or_skip();
    if (fork() >= 0)
        send_text("it lives");
    send_text("it lives");
}

static void send_signal(void *state) {
    (void)state;
    seal_or_skip();
    (void)kill(getppid(), SIGURG);
    send_text("it lives");
}

static void trace(void *state) {
    (void)state;
    seal_or_skip();
    (void)ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
    send_text("it lives");
}

static void make_code(void *state) {
    (void)state;
    seal_or_skip();
    void *at = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    (void)mprotect(at, 4096, PROT_READ | PROT_EXEC);
    send_text("it lives");
}

static void raise_limit(void *state) {
    struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
    (void)state;
    seal_or_skip();
    (void)setrlimit(RLIMIT_DATA, &limit);
    send_text("it lives");
}

static void test_forbidden(void **state) {
    static void (*const cases[])(void *) = {
        make_socket,   write_file,  make_file, make_nameless_file, remove_file, start_program,
        start_process, send_signal, trace,     make_code,          raise_limit,
    };
    char text[512];
    (void)state;
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        const char *found = outcome(cases[i], -1, text);
        if (strcmp(found, "no filter") == 0)
            skip();
        if (strcmp(found, "its process made a forbidden system call (SIGSYS)") != 0)
            fail_msg("case %zu: %s", i, found);
    }
}

static void crash(void *state) {
    struct sigaction usual = { .sa_handler = SIG_DFL };
    (void)state;
    sigaction(SIGSEGV, &usual, NULL); /* cmocka has a handler */
    raise(SIGSEGV);
}

static void abort_itself(void *state) {
    (void)state;
    (void)pt_confine_seal();
    abort();
}

static void be_killed(void *state) {
    (void)state;
    kill(getpid(), SIGKILL);
}

static void exhaust(void *state) {
    struct rlimit little = { 1 << 20, 1 << 20 };
    (void)state;
    (void)setrlimit(RLIMIT_DATA, &little);
    setrlimit(RLIMIT_AS, &little);
    for (;;)
        memset(pt_malloc(1 << 16), 1, 1 << 16);
}

static void leave(void *state) {
    (void)state;
    _exit(3);
}

static void say_nothing(void *state) {
    (void)state;
}

static void send_half(void *state) {
    static const struct {
        uint32_t kind, reserved;
        uint64_t size;
    } head = { DONE, 0, 100 };
    (void)state;
    /* the answers are the only other pipe that can be written to */
    for (int fd = 3; fd < 64; fd++)
        if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY)
            (void)!write(fd, &head, sizeof head);
}

static void promise_too_much(void *state) {
    static const struct {
        uint32_t kind, reserved;
        uint64_t size;
    } head = { DONE, 0, UINT64_MAX };
    (void)state;
    for (int fd = 3; fd < 64; fd++)
        if ((fcntl(fd, F_GETFL) & O_ACCMODE) == O_WRONLY)
            (void)!write(fd, &head, sizeof head);
    pause();
}

static void test_ends(void **state) {
    static const struct {
        void (*run)(void *);
        const char *text;
        bool is_sanitized; /* under a sanitizer it ends the same way */
    } cases[] = {
        { crash, "its process crashed (SIGSEGV)", false },
        { abort_itself, "its process crashed (SIGABRT)", true },
        { be_killed, "its process was killed (SIGKILL)", true },
        { exhaust, "its process ran out of memory", false },
        { leave, "its process ended with code 3", true },
        { say_nothing, "its process ended with code 0", true },
        { send_half, "its process ended with code 0", true },
        { promise_too_much, "its process was killed (SIGKILL)", true },
    };
    char text[512];
    (void)state;
    for (size_t i = 0; i < PT_COUNT(cases); i++)
        if (!PT_IS_SANITIZED || cases[i].is_sanitized)
            assert_string_equal(outcome(cases[i].run, -1, text), cases[i].text);
}

static int directory_of_door(char path[]) {
    assert_non_null(mkdtemp(path));
    int directory = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(directory > 2);
    int fd = openat(directory, "ring", O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    assert_int_equal(write(fd, "12345", 5), 5);
    close(fd);
    assert_int_equal(symlinkat("ring", directory, "link"), 0);
    return directory;
}

static void use_door(void *state) {
    char text[64], name[300];
    (void)state;
    (void)pt_confine_seal();
    int fd = pt_confine_open(0, "ring");
    ssize_t n = fd < 0 ? -1 : pwrite(fd, "x", 1, 1);
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    snprintf(text, sizeof text, "%d %d %d %d %d %d %d %d", fd > 2 || n < 0,
             pt_confine_open(0, "link") == -ELOOP, pt_confine_open(0, "../ring") == -EINVAL,
             pt_confine_open(0, "/etc/passwd") == -EINVAL, pt_confine_open(0, "..") == -EINVAL,
             pt_confine_open(0, "") == -EINVAL, pt_confine_open(0, name) == -ENAMETOOLONG,
             pt_confine_open(0, "none") == -ENOENT);
    if (pwrite(fd, "x", 1, 1) != 1)
        snprintf(text, sizeof text, "not writable");
    pt_confine_unlink(0, "link");
    pt_confine_unlink(0, "../none");
    send_text(text);
}

static void test_door(void **state) {
    char text[512], path[] = "/tmp/pitot-door-XXXXXX", content[8] = "";
    (void)state;
    int directory = directory_of_door(path);
    assert_string_equal(outcome(use_door, directory, text), "1 1 1 1 1 1 1 1");
    int fd = openat(directory, "ring", O_RDONLY | O_CLOEXEC);
    assert_int_equal(read(fd, content, sizeof content), 5);
    assert_string_equal(content, "1x345");
    close(fd);
    assert_int_equal(faccessat(directory, "link", F_OK, AT_SYMLINK_NOFOLLOW), -1);
    /* outside of a helper: directly */
    fd = pt_confine_open(directory, "ring");
    assert_true(fd > 2);
    close(fd);
    pt_confine_unlink(directory, "ring");
    assert_int_equal(pt_confine_open(directory, "ring"), -ENOENT);
    assert_int_equal(pt_confine_pitot(), getpid());
    close(directory);
    assert_int_equal(rmdir(path), 0);
}

static volatile uint64_t known = 0x1234567890;

/* As Yama does: only the other way is left. */
static int forbid_reading(void) {
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { PT_COUNT(code), code };
    return prctl(PR_SET_NO_NEW_PRIVS, 1L, 0L, 0L, 0L) ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void read_memory(void *state) {
    uint64_t values[3] = { 0 };
    struct iovec local[] = { { &values[0], 8 }, { &values[1], 8 }, { &values[2], 8 } };
    struct iovec remote[] = { { (void *)&known, 8 }, { (void *)&known, 8 }, { NULL, 8 } };
    (void)state;
    if (forbid_reading()) {
        send_text("no filter");
        return;
    }
    (void)pt_confine_seal();
    ssize_t whole = pt_confine_read(getppid(), local, remote, 2);
    ssize_t part = pt_confine_read(getppid(), local, remote + 1, 2);
    ssize_t none = pt_confine_read(getppid(), local, remote + 2, 1);
    bool is_unreadable = errno == EFAULT;
    ssize_t nobody = pt_confine_read(INT32_MAX, local, remote, 1);
    send_text(whole == 16 && values[0] == known && values[1] == known && part == 8 && none == -1 &&
                      is_unreadable && nobody == -1 && errno == ENOENT
                  ? "read"
                  : "wrong");
}

static void test_memory(void **state) {
    char text[512], path[] = "/tmp/pitot-door-XXXXXX";
    (void)state;
    int directory = directory_of_door(path);
    const char *found = outcome(read_memory, directory, text);
    unlinkat(directory, "ring", 0);
    unlinkat(directory, "link", 0);
    close(directory);
    rmdir(path);
    if (strcmp(found, "no filter") == 0)
        skip();
    assert_string_equal(found, "read");
}

static void list_descriptors(void *state) {
    char text[256] = "";
    size_t used = 0;
    (void)state;
    for (int fd = 0; fd < 200; fd++) {
        struct stat st;
        if (fstat(fd, &st) == 0)
            used += (size_t)snprintf(text + used, sizeof text - used, "%c",
                                     S_ISFIFO(st.st_mode)   ? 'p'
                                     : S_ISSOCK(st.st_mode) ? 's'
                                     : S_ISDIR(st.st_mode)  ? 'd'
                                     : S_ISCHR(st.st_mode)  ? 'n'
                                                            : '?');
    }
    send_text(text);
}

static void test_descriptors(void **state) {
    char text[512], path[] = "/tmp/pitot-door-XXXXXX";
    (void)state;
    int directory = directory_of_door(path), other = dup(directory);
    const char *found = outcome(list_descriptors, directory, text);
    /* nothing twice, words; the directory, orders, answers, door in the order of their numbers */
    assert_int_equal(strlen(found), 7);
    assert_memory_equal(found, "nnp", 3);
    assert_non_null(strchr(found, 'd'));
    assert_non_null(strchr(found, 's'));
    close(other);
    unlinkat(directory, "ring", 0);
    unlinkat(directory, "link", 0);
    close(directory);
    rmdir(path);
}

static void burn(void *state) {
    (void)state;
    for (volatile int i = 0; i < 30000000; i++)
        continue;
    memset(pt_malloc(8 << 20), 1, 8 << 20);
    send_text("ready");
    (void)pt_confine_wait(-1);
}

static void test_cost(void **state) {
    struct pt_confined c;
    struct pt_err err;
    struct pt_buf message = { 0 };
    uint32_t kind;
    struct pt_confine_options o = { .name = "(test)", .run = burn, .directory = -1 };
    int proc = open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    (void)state;
    int64_t before_ns = pt_confined_cost(proc).cpu_ns;
    assert_int_equal(pt_confined_start(&c, &o, &err), 0);
    assert_int_equal(pt_confined_receive(&c, &kind, &message, &err), 0);
    struct pt_confined_cost running = pt_confined_cost(proc);
    assert_true(running.cpu_ns > before_ns);
    if (!is_emulated())
        assert_true(running.rss_bytes > 8 << 20);
    assert_true(pt_confined_reap(c.pid)); /* it is one, and still runs */
    assert_false(pt_confined_reap(getpid()));
    pid_t pid = c.pid;
    pt_confined_close(&c);
    assert_false(pt_confined_reap(pid));
    assert_true(pt_confined_cost(proc).cpu_ns >= running.cpu_ns / 1000000 * 1000000);
    assert_int_equal(pt_confined_cost(proc).rss_bytes, 0);
    pt_confined_close(&c); /* twice is harmless */
    pt_buf_release(&message);
    close(proc);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_allowed, "C323: a confined process reads files and memory, and has threads"),
        PT_TEST(test_forbidden, "C323: network, writing, programs, processes, signals, code and "
                                "tracing end a confined process"),
        PT_TEST(test_ends, "C323: how a confined process ended is said; its bytes are not "
                           "trusted"),
        PT_TEST(test_door, "C323: the door opens and removes files of one directory only"),
        PT_TEST(test_memory, "C323: memory that only ancestors may read is read through the door"),
        PT_TEST(test_descriptors, "C323: a confined process has only the descriptors it was given"),
        PT_TEST(test_cost, "C323: CPU time and memory of confined processes are counted"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
