/* Records under conditions that no call of the hot path may break, and says "ok".
 *
 *     library_hot          under a recorder: any system call but write() kills, malloc() aborts
 *     library_hot start    alone: by pt_start(), with what pt_counter_value() says afterwards */
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pitot/pitot.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

extern __thread int is_hot; /* for a malloc() that is the program's own */
__thread int is_hot;

static pt_counter counter;
static pt_gauge gauge;
static pt_histogram histogram;

static void record(int i) {
    PT_SPAN(outer, "outer");
    PT_SPAN(inner, "inner");
    pt_span_set_argument(&inner, i);
    pt_counter_add(counter, 1);
    pt_gauge_set(gauge, i);
    pt_gauge_add(gauge, 1);
    pt_histogram_record(histogram, i);
}

static void record_alone(void) {
    if (pt_start(NULL))
        return;
    for (int i = 0; i < 1000; i++)
        record(i);
    printf("%llu\n", (unsigned long long)pt_counter_value(counter));
}

/* Not the strict mode: that also takes the clock of ticks away. */
static int confine(void) {
    struct sock_filter rules[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 1, 0),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof rules / sizeof rules[0], rules };
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program);
}

static void record_confined(void) {
    record(0); /* the first call of the thread may prepare memory */
    if (confine())
        return;
    errno = 77;
    is_hot = 1;
    for (int i = 1; i < 1000; i++)
        record(i);
    if (errno == 77 && write(STDOUT_FILENO, "ok\n", 3) == 3)
        syscall(SYS_exit, 0);
    syscall(SYS_exit, 1);
}

int main(int argument_count, char **arguments) {
    (void)arguments;
    counter = pt_counter_new("work", "", "", NULL);
    gauge = pt_gauge_new("level", "", "", NULL);
    histogram = pt_histogram_new("size", "", "", NULL);
    if (argument_count > 1)
        record_alone();
    else
        record_confined();
    return 0;
}
