#include "base/confine.h"

#include "base/clock.h"
#include "base/confine_door.h"
#include "base/confine_filter.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/thread.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#define HELPERS_MAX   8
#define MEMORY_MAX    (UINT64_C(4) << 30)
#define FILE_MAX      (1 << 20) /* of a file in memory, such as a copy of the vdso */
#define MESSAGE_MAX   (UINT64_C(1) << 30)
#define WORDS_AT_ONCE 4096
#define READ_AT_ONCE  (1 << 20)
#define LOOK_EVERY_MS 10000
#define PATIENCE_NS   (600 * PT_NS_PER_SECOND) /* symbols of large files take minutes */

struct head {
    uint32_t kind, reserved;
    uint64_t size;
};

/* The helpers of this process, for pt_confined_reap(). */
static struct pt_confined *helpers[HELPERS_MAX];
static int64_t ended_cpu_ns, ended_peak_bytes; /* of those that have ended */
static pthread_mutex_t helpers_lock = PTHREAD_MUTEX_INITIALIZER;

/* In a helper: its ends of the pipes. */
static struct {
    bool is_helper;
    pid_t pitot;
    int orders, answers;
} self;

/* ---- Pitot's side ---- */

static bool note_helper(struct pt_confined *c) {
    bool is_noted = false;
    pthread_mutex_lock(&helpers_lock);
    for (size_t i = 0; i < HELPERS_MAX && !is_noted; i++)
        if (!helpers[i]) {
            helpers[i] = c;
            is_noted = true;
        }
    pthread_mutex_unlock(&helpers_lock);
    return is_noted;
}

static void forget_helper(const struct pt_confined *c) {
    pthread_mutex_lock(&helpers_lock);
    for (size_t i = 0; i < HELPERS_MAX; i++)
        if (helpers[i] == c)
            helpers[i] = NULL;
    pthread_mutex_unlock(&helpers_lock);
}

bool pt_confined_reap(pid_t pid) {
    bool is_helper = false;
    pthread_mutex_lock(&helpers_lock);
    for (size_t i = 0; i < HELPERS_MAX; i++) {
        struct pt_confined *c = helpers[i];
        if (!c || c->pid != pid)
            continue;
        is_helper = true;
        struct rusage usage;
        if (c->has_ended || wait4(pid, &c->wait_status, WNOHANG, &usage) != pid)
            continue;
        const struct timeval *user = &usage.ru_utime, *kernel = &usage.ru_stime;
        ended_cpu_ns += (user->tv_sec + kernel->tv_sec) * PT_NS_PER_SECOND +
                        (user->tv_usec + kernel->tv_usec) * PT_NS_PER_US;
        if (usage.ru_maxrss * 1024 > ended_peak_bytes)
            ended_peak_bytes = usage.ru_maxrss * 1024;
        /* Release: paired with the acquire of wait_for_end(); the status is known. */
        __atomic_store_n(&c->has_ended, true, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&helpers_lock);
    return is_helper;
}

/* The other end of its pipes is closed: it has ended, or is about to. */
static void wait_for_end(struct pt_confined *c) {
    siginfo_t info;
    while (c->pid > 0 && !__atomic_load_n(&c->has_ended, __ATOMIC_ACQUIRE)) {
        (void)waitid(P_PID, (id_t)c->pid, &info, WEXITED | WNOWAIT);
        (void)pt_confined_reap(c->pid);
    }
}

static int describe_end(const struct pt_confined *c, struct pt_err *err) {
    int status = c->wait_status, number = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    if (number == SIGSYS)
        return pt_fail(err, -EPROTO, "its process made a forbidden system call (SIGSYS)");
    if (number == SIGKILL)
        return pt_fail(err, -EPROTO, "its process was killed (SIGKILL)");
    if (number > 0)
        return pt_fail(err, -EPROTO, "its process crashed (SIG%s)", sigabbrev_np(number));
    if (WEXITSTATUS(status) == PT_MEM_EXIT)
        return pt_fail(err, -ENOMEM, "its process ran out of memory");
    return pt_fail(err, -EPROTO, "its process ended with code %d", WEXITSTATUS(status));
}

void pt_confined_clean(char *text, size_t size) {
    for (size_t i = 0; i < size; i++) {
        unsigned char byte = (unsigned char)text[i];
        bool is_c1 = byte >= 0x80 && byte < 0xa0 && (i == 0 || text[i - 1] == '\xc2');
        if ((byte < ' ' && byte != '\n' && byte) || byte == 127 || is_c1)
            text[i] = '?';
    }
}

/* Logs what it has logged so far. */
static void relay_words(const struct pt_confined *c) {
    char text[WORDS_AT_ONCE];
    for (ssize_t n; (n = read(pt_fd_get(c->words), text, sizeof text)) > 0;) {
        pt_confined_clean(text, (size_t)n);
        if (!pt_log_is_ready(0))
            continue;
        if (pt_log_hook)
            pt_log_hook();
        (void)!write(STDERR_FILENO, text, (size_t)n);
    }
}

/* Reads exactly that much. False: the helper has ended, or has not answered an order for so long
 * that it never will. */
static bool read_answer(const struct pt_confined *c, void *into, size_t size) {
    struct pollfd polled = { .fd = pt_fd_get(c->answers), .events = POLLIN };
    int64_t last_ns = pt_mono_ns();
    for (size_t done = 0; done < size;) {
        if (poll(&polled, 1, LOOK_EVERY_MS) <= 0) {
            int64_t ordered_ns = __atomic_load_n(&c->ordered_ns, __ATOMIC_RELAXED);
            last_ns = ordered_ns > last_ns ? ordered_ns : last_ns;
            if (ordered_ns > 0 && pt_mono_ns() - last_ns > PATIENCE_NS)
                return false;
            continue;
        }
        ssize_t n = read(polled.fd, (char *)into + done, size - done);
        if (n <= 0)
            return false;
        last_ns = pt_mono_ns();
        done += (size_t)n;
    }
    return true;
}

/* Memory is taken as bytes arrive: a size alone costs nothing. */
static bool read_message(const struct pt_confined *c, uint64_t size, struct pt_buf *into) {
    pt_buf_clear(into);
    while (into->len < size) {
        size_t part = size - into->len < READ_AT_ONCE ? (size_t)size - into->len : READ_AT_ONCE;
        if (!read_answer(c, pt_buf_reserve(into, part), part))
            return false;
        into->len += part;
    }
    return true;
}

int pt_confined_receive(struct pt_confined *c, uint32_t *kind, struct pt_buf *into,
                        struct pt_err *err) {
    struct head head = { 0 };
    bool is_whole = c->pid > 0 && read_answer(c, &head, sizeof head) && head.size <= MESSAGE_MAX &&
                    read_message(c, head.size, into);
    if (is_whole) {
        relay_words(c);
        *kind = head.kind;
        return 0;
    }
    if (c->pid <= 0)
        return pt_fail(err, -ESRCH, "it has no process");
    if (!c->has_ended)
        (void)kill(c->pid, SIGKILL); /* no effect on one that is ending */
    wait_for_end(c);
    int rc = describe_end(c, err);
    if (rc != -ENOMEM) /* then all is said */
        relay_words(c);
    return rc;
}

void pt_confined_order(struct pt_confined *c, uint32_t order) {
    __atomic_store_n(&c->ordered_ns, pt_mono_ns(), __ATOMIC_RELAXED);
    if (pt_fd_is_open(c->orders))
        (void)!send(pt_fd_get(c->orders), &order, sizeof order, MSG_NOSIGNAL);
}

/* Pages of files are shared with Pitot. */
static int64_t own_memory(int proc, pid_t pid) {
    char path[32], line[128];
    snprintf(path, sizeof path, "%d/statm", (int)pid);
    if (pt_fs_read_line(proc, path, line, sizeof line))
        return 0;
    struct pt_scan text = pt_scan_of(pt_str_from(line));
    pt_scan_skip(&text, 1);
    int64_t resident = pt_scan_i64(&text), shared = pt_scan_i64(&text);
    return text.failed ? 0 : (resident - shared) * sysconf(_SC_PAGESIZE);
}

struct pt_confined_cost pt_confined_cost(int proc) {
    clockid_t clock;
    pthread_mutex_lock(&helpers_lock);
    struct pt_confined_cost cost = { .ended_peak_bytes = ended_peak_bytes };
    for (size_t i = 0; i < HELPERS_MAX; i++) {
        const struct pt_confined *c = helpers[i];
        if (!c || c->pid <= 0 || c->has_ended)
            continue;
        cost.running_ns += clock_getcpuclockid(c->pid, &clock) ? 0 : pt_clock_ns(clock);
        cost.rss_bytes += own_memory(proc, c->pid);
    }
    cost.cpu_ns = ended_cpu_ns + cost.running_ns;
    pthread_mutex_unlock(&helpers_lock);
    return cost;
}

void pt_confined_close(struct pt_confined *c) {
    if (c->pid > 0 && !c->has_ended)
        (void)kill(c->pid, SIGKILL);
    wait_for_end(c);
    forget_helper(c);
    if (c->has_porter)
        pthread_join(c->porter, NULL);
    (void)pt_fd_close(&c->orders);
    (void)pt_fd_close(&c->answers);
    (void)pt_fd_close(&c->words);
    (void)pt_fd_close(&c->door);
    *c = (struct pt_confined){ .has_ended = false };
}

/* ---- the helper's side ---- */

int pt_confine_seal(void) {
    struct rlimit memory = { MEMORY_MAX, MEMORY_MAX }, file = { FILE_MAX, FILE_MAX };
    uint64_t half = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) / 2;
    if (half > 0 && half < MEMORY_MAX)
        memory.rlim_cur = memory.rlim_max = half;
    (void)setrlimit(RLIMIT_FSIZE, &file);
    if (PT_IS_SANITIZED) /* it maps terabytes and has system calls of its own */
        return 0;
    (void)setrlimit(RLIMIT_DATA, &memory);
    return pt_confine_filter();
}

static void write_all(const void *bytes, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t n = write(self.answers, (const char *)bytes + done, size - done);
        if (n <= 0)
            _exit(0); /* Pitot has ended */
        done += (size_t)n;
    }
}

void pt_confine_send(uint32_t kind, struct pt_str message) {
    struct head head = { kind, 0, message.len };
    write_all(&head, sizeof head);
    write_all(message.at, message.len);
}

uint32_t pt_confine_wait(int timeout_ms) {
    struct pollfd polled = { .fd = self.orders, .events = POLLIN };
    uint32_t order = 0;
    if (poll(&polled, 1, timeout_ms) > 0 && read(self.orders, &order, sizeof order) <= 0)
        _exit(0);
    return order;
}

pid_t pt_confine_pitot(void) {
    return self.is_helper ? self.pitot : getpid();
}

static bool is_kept(const struct pt_confine_options *o, int door, int fd) {
    bool is_given = fd == self.orders || fd == self.answers || fd == door;
    for (size_t i = 0; i < PT_CONFINE_KEEP_MAX; i++)
        is_given |= o->keep[i] > STDERR_FILENO && o->keep[i] == fd;
    return is_given;
}

static void close_others(const struct pt_confine_options *o, int door) {
    int highest = self.orders;
    for (size_t i = 0; i < PT_CONFINE_KEEP_MAX; i++)
        highest = o->keep[i] > highest ? o->keep[i] : highest;
    highest = self.answers > highest ? self.answers : highest;
    highest = door > highest ? door : highest;
    for (int fd = STDERR_FILENO + 1; fd < highest; fd++)
        if (!is_kept(o, door, fd))
            close(fd);
    syscall(SYS_close_range, (unsigned)highest + 1, ~0u, 0u);
}

/* Signals of the terminal and of others are for Pitot and the command. */
static void settle(const struct pt_confine_options *o, int words, int door) {
    const int faults[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT };
    struct rlimit none = { 0, 0 };
    sigset_t blocked;
    sigfillset(&blocked);
    for (size_t i = 0; i < PT_COUNT(faults); i++)
        sigdelset(&blocked, faults[i]);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self.pitot)
        _exit(0);
    prctl(PR_SET_NAME, o->name);
    (void)setrlimit(RLIMIT_CORE, &none); /* it holds memory of others */
    pt_mem_set_last_resort(NULL, NULL);
    pt_log_hook = NULL;
    int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
    dup2(nothing, STDIN_FILENO);
    dup2(nothing, STDOUT_FILENO);
    dup2(words, STDERR_FILENO);
    close_others(o, door);
    memset(helpers, 0, sizeof helpers); /* they are not its children */
}

static void close_pair(int ends[2]) {
    close(ends[0]);
    close(ends[1]);
}

int pt_confined_start(struct pt_confined *c, const struct pt_confine_options *o,
                      struct pt_err *err) {
    int orders[2] = { -1, -1 }, answers[2] = { -1, -1 }, words[2] = { -1, -1 };
    int door[2] = { -1, -1 };
    pid_t parent = getpid();
    bool has_door = o->directory >= 0 || o->reads_memory || o->fetch;
    *c = (struct pt_confined){ .directory = o->directory,
                               .proc = o->reads_memory ? o->proc : -1,
                               .fetch = o->fetch,
                               .fetch_arg = o->fetch_arg };
    bool has_pipes = !socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, orders) &&
                     !pipe2(answers, O_CLOEXEC) && !pipe2(words, O_CLOEXEC | O_NONBLOCK) &&
                     (!has_door || !socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, door));
    c->pid = has_pipes && note_helper(c) ? fork() : -1;
    if (c->pid == 0) {
        self.is_helper = true;
        self.pitot = parent;
        self.orders = orders[0];
        self.answers = answers[1];
        pt_confine_use_door(door[1], o->reads_memory);
        settle(o, words[1], door[1]);
        o->run(o->state);
        _exit(0);
    }
    int rc = c->pid < 0 ? -errno : 0;
    if (rc) {
        c->pid = 0;
        forget_helper(c);
        close_pair(orders);
        close_pair(answers);
        close_pair(words);
        close_pair(door);
        return pt_fail(err, rc, "cannot start a process: %s", strerror(-rc));
    }
    close(orders[0]);
    close(answers[1]);
    close(words[1]);
    close(door[1]);
    c->orders = pt_fd_of(orders[1]);
    c->answers = pt_fd_of(answers[0]);
    c->words = pt_fd_of(words[0]);
    c->door = pt_fd_of(door[0]);
    if (has_door && (rc = pt_thread_start(&c->porter, pt_confine_porter, c))) {
        pt_confined_close(c);
        return pt_fail(err, rc, "cannot start a thread: %s", strerror(-rc));
    }
    c->has_porter = has_door;
    return 0;
}
