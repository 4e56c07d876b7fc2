/* The witness: which signals were sent to many. */
#include "test.h"

#include "launch/witness.h"

#include <errno.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* In a process group of its own, as the leader of a job is. */
static void in_own_group(void (*check)(void)) {
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        sigset_t all;
        setpgid(0, 0);
        sigfillset(&all);
        sigprocmask(SIG_BLOCK, &all, NULL);
        check();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static struct signalfd_siginfo signal_from(int number, pid_t sender) {
    return (struct signalfd_siginfo){ .ssi_signo = (uint32_t)number,
                                      .ssi_code = SI_USER,
                                      .ssi_pid = (uint32_t)sender };
}

static bool saw(struct pt_witness *w, int number, pid_t sender) {
    struct signalfd_siginfo info = signal_from(number, sender);
    return pt_witness_saw(w, &info, 0);
}

static void check_group(void) {
    struct pt_witness w;
    pt_witness_open(&w);
    kill(getpid(), SIGTERM);
    assert_false(saw(&w, SIGTERM, getpid()));
    kill(0, SIGTERM);
    assert_true(saw(&w, SIGTERM, getpid()));
    assert_false(saw(&w, SIGTERM, getpid())); /* once */
    kill(0, SIGUSR1);
    kill(0, SIGINT);
    assert_true(saw(&w, SIGINT, getpid()));
    assert_true(saw(&w, SIGUSR1, getpid()));
    kill(0, SIGINT);
    assert_false(saw(&w, SIGINT, getpid() + 1)); /* another sender: another signal */
    pt_witness_close(&w);
    assert_int_equal(waitpid(-1, NULL, WNOHANG), -1); /* no process is left */
    assert_int_equal(errno, ECHILD);
}

static void check_stopped(void) {
    struct pt_witness w;
    int status;
    pt_witness_open(&w);
    kill(w.pid, SIGSTOP);
    assert_int_equal(waitpid(w.pid, &status, WUNTRACED), w.pid);
    kill(0, SIGINT);
    assert_false(saw(&w, SIGINT, getpid())); /* it does not answer, and nobody waits for it */
    pt_witness_continue(&w);
    kill(0, SIGTERM);
    assert_true(saw(&w, SIGTERM, getpid())); /* nor is a late answer mistaken */
    kill(w.pid, SIGSTOP);
    pt_witness_close(&w);
}

static void check_gone(void) {
    struct pt_witness w;
    int status;
    pt_witness_open(&w);
    kill(w.pid, SIGKILL);
    assert_int_equal(waitpid(w.pid, &status, 0), w.pid); /* as pt_child_reap() does */
    kill(0, SIGINT);
    assert_false(saw(&w, SIGINT, getpid()));
    pt_witness_close(&w);
    struct pt_witness none = { 0 };
    assert_false(saw(&none, SIGINT, getpid()));
    pt_witness_close(&none);
}

static void a_signal_to_the_group_is_told_from_one_to_pitot(void **state) {
    (void)state;
    in_own_group(check_group);
}

static void a_stopped_witness_keeps_nobody_waiting(void **state) {
    (void)state;
    in_own_group(check_stopped);
}

static void without_a_witness_every_signal_is_for_pitot_alone(void **state) {
    (void)state;
    in_own_group(check_gone);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(a_signal_to_the_group_is_told_from_one_to_pitot,
                "C321: a signal to the process group is told from one to Pitot alone"),
        PT_TEST(a_stopped_witness_keeps_nobody_waiting,
                "C321: a stopped witness keeps nobody waiting"),
        PT_TEST(without_a_witness_every_signal_is_for_pitot_alone,
                "C321: without a witness every signal is for Pitot alone"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
