/* Messages: one line each, never in the way of the recording. */
#include "tree.h"

#include "base/log.h"

#include <errno.h>
#include <signal.h>

/* Stderr becomes a pipe that nobody reads. */
struct capture {
    int ends[2], old;
};

static void begin(struct capture *c) {
    assert_int_equal(pipe2(c->ends, O_CLOEXEC | O_NONBLOCK), 0);
    c->old = dup(STDERR_FILENO);
    /* The end that is written to must block, else the test proves nothing. */
    assert_int_equal(fcntl(c->ends[1], F_SETFL, 0), 0);
    dup2(c->ends[1], STDERR_FILENO);
}

static void end(struct capture *c, char *text, size_t capacity) {
    dup2(c->old, STDERR_FILENO);
    ssize_t n = read(c->ends[0], text, capacity - 1);
    text[n > 0 ? n : 0] = 0;
    close(c->old);
    close(c->ends[0]);
    close(c->ends[1]);
}

static void a_message_is_one_line_with_its_level(void **state) {
    (void)state;
    struct capture c;
    char text[512];
    begin(&c);
    errno = EBUSY;
    pt_log(PT_LOG_ERROR, "%d is wrong", 5);
    pt_log(PT_LOG_WARNING, "careful");
    pt_log(PT_LOG_INFO, "not wanted");
    assert_int_equal(errno, EBUSY);
    end(&c, text, sizeof text);
    assert_string_equal(text, "pitot: error: 5 is wrong\npitot: warning: careful\n");
}

static void a_long_message_is_cut_and_still_a_line(void **state) {
    (void)state;
    struct capture c;
    char text[4096], many[3000] = { 0 };
    memset(many, 'x', sizeof many - 1);
    begin(&c);
    pt_log(PT_LOG_ERROR, "%s", many);
    end(&c, text, sizeof text);
    assert_in_range(strlen(text), 900, 1024);
    assert_int_equal(text[strlen(text) - 1], '\n');
}

/* Without the check in pt_log() this test never ends. */
static void a_full_pipe_does_not_stop_the_recording(void **state) {
    (void)state;
    struct capture c;
    char text[1 << 17];
    begin(&c);
    for (int i = 0; i < 10000; i++)
        pt_log(PT_LOG_ERROR, "a line that nobody reads, number %d", i);
    assert_false(pt_log_is_ready(0));
    end(&c, text, sizeof text);
    assert_true(strlen(text) > 1000);
    assert_true(pt_str_starts(pt_str_from(text), PT_STR("pitot: error: a line that")));
}

static int run_shell(const char *script) {
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        execl("/bin/sh", "sh", "-c", script, (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/* Records a command that must exit with 3, and exports what was recorded. */
static void check_run(const char *command, const char *redirection) {
    /* A program for another machine is nothing that a shell could run by itself. */
    const char *binary = getenv("PITOT_BINARY"), *emulator = getenv("MESON_EXE_WRAPPER");
    if (!binary)
        skip();
    emulator = emulator ? emulator : "";
    struct tree tree;
    char script[2 * PATH_MAX + 512];
    tree_make(&tree);
    snprintf(script, sizeof script, "%s %s -vv -t 10 -f csv -o %s -- sh -c '%s' %s", emulator,
             binary, tree.root, command, redirection);
    assert_int_equal(run_shell(script), 3);
    snprintf(script, sizeof script, "%s %s export -q -f csv %s", emulator, binary, tree.root);
    assert_int_equal(run_shell(script), 0);
    snprintf(script, sizeof script, "! grep -q 'pitot: ' %s/*.pitot", tree.root);
    assert_int_equal(run_shell(script), 0);
    tree_remove(&tree);
}

static void a_closed_stderr_does_not_send_messages_into_the_journal(void **state) {
    (void)state;
    const char *closed = "[ -e /proc/$$/fd/2 ] || exit 3"; /* the command finds it closed, too */
    check_run(closed, "2>&-");
    check_run(closed, "<&- >&- 2>&-");
}

/* The reader is there but never reads: the pipe is full before Pitot starts. */
static void a_recording_ends_though_nobody_reads_its_messages(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(fcntl(ends[1], F_SETFL, O_NONBLOCK), 0);
    char byte = 'x';
    while (write(ends[1], &byte, 1) == 1)
        ;
    assert_int_equal(fcntl(ends[1], F_SETFL, 0), 0);
    char redirection[32];
    snprintf(redirection, sizeof redirection, "2>/proc/self/fd/%d", ends[1]);
    check_run("exit 3", redirection);
    close(ends[0]);
    close(ends[1]);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(a_message_is_one_line_with_its_level, "a message is one line with its level"),
        PT_TEST(a_long_message_is_cut_and_still_a_line, "a long message is cut and still a line"),
        PT_TEST(a_full_pipe_does_not_stop_the_recording, "a full pipe does not stop the recording"),
        PT_TEST(a_closed_stderr_does_not_send_messages_into_the_journal,
                "C013: a closed stderr does not send messages into the journal"),
        PT_TEST(a_recording_ends_though_nobody_reads_its_messages,
                "a recording ends though nobody reads its messages"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
