#include "doctor/doctor_probe.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/perf_event.h>
#include <linux/taskstats.h>
#include <poll.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ANSWER_MS 200

static int probe_perf(struct perf_event_attr *attr, pid_t pid, int cpu) {
    attr->size = sizeof *attr;
    attr->disabled = 1;
    long fd = syscall(SYS_perf_event_open, attr, pid, cpu, -1, PERF_FLAG_FD_CLOEXEC);
    if (fd < 0)
        return -errno;
    close((int)fd);
    return 0;
}

int pt_probe_perf_clock(enum pt_probe_scope scope) {
    struct perf_event_attr attr = {
        .type = PERF_TYPE_SOFTWARE,
        .config = PERF_COUNT_SW_CPU_CLOCK,
        .sample_freq = 99,
        .freq = 1,
        .sample_type = PERF_SAMPLE_IP,
        .exclude_kernel = scope == PT_PROBE_OWN_USER,
    };
    bool is_machine = scope == PT_PROBE_MACHINE;
    return probe_perf(&attr, is_machine ? -1 : 0, is_machine ? 0 : -1);
}

int pt_probe_perf_cycles(void) {
    struct perf_event_attr attr = { .type = PERF_TYPE_HARDWARE,
                                    .config = PERF_COUNT_HW_CPU_CYCLES,
                                    .exclude_kernel = 1,
                                    .exclude_hv = 1 };
    return probe_perf(&attr, 0, -1);
}

static int open_netlink(int protocol, unsigned groups, int *fd) {
    *fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC, protocol);
    if (*fd < 0)
        return -errno;
    struct sockaddr_nl address = { .nl_family = AF_NETLINK, .nl_groups = groups };
    if (bind(*fd, (struct sockaddr *)&address, sizeof address) == 0)
        return 0;
    int rc = -errno;
    close(*fd);
    return rc;
}

/* Length of the next message that arrives before the deadline, or -errno. */
static int receive(int fd, void *message, size_t capacity, int64_t deadline_ns) {
    int64_t left_ns = deadline_ns - pt_mono_ns();
    struct pollfd p = { .fd = fd, .events = POLLIN };
    int ready = left_ns > 0 ? poll(&p, 1, (int)(left_ns / PT_NS_PER_MS) + 1) : 0;
    if (ready <= 0)
        return ready < 0 ? -errno : -ETIMEDOUT;
    ssize_t n = recv(fd, message, capacity, MSG_DONTWAIT);
    return n < 0 ? -errno : (int)n;
}

/* A netlink header, a connector header and one number. */
static int request_proc_events(int fd, enum proc_cn_mcast_op operation) {
    struct nlmsghdr header = { .nlmsg_type = NLMSG_DONE };
    struct cn_msg message = { .id = { CN_IDX_PROC, CN_VAL_PROC }, .len = sizeof operation };
    char request[sizeof header + sizeof message + sizeof operation];
    header.nlmsg_len = sizeof request;
    memcpy(request, &header, sizeof header);
    memcpy(request + sizeof header, &message, sizeof message);
    memcpy(request + sizeof header + sizeof message, &operation, sizeof operation);
    return send(fd, request, sizeof request, 0) < 0 ? -errno : 0;
}

/* The kernel acknowledges with PROC_EVENT_NONE; real events may come first. */
static int await_proc_ack(int fd) {
    int64_t deadline_ns = pt_mono_ns() + ANSWER_MS * PT_NS_PER_MS;
    char text[1024];
    for (;;) {
        int n = receive(fd, text, sizeof text, deadline_ns);
        if (n < 0)
            return n;
        struct proc_event event;
        size_t offset = NLMSG_HDRLEN + sizeof(struct cn_msg);
        if ((size_t)n < offset + sizeof event)
            continue;
        memcpy(&event, text + offset, sizeof event);
        if (event.what == PROC_EVENT_NONE)
            return -(int)event.event_data.ack.err;
    }
}

int pt_probe_proc_events(void) {
    int fd;
    int rc = open_netlink(NETLINK_CONNECTOR, CN_IDX_PROC, &fd);
    if (rc)
        return rc;
    rc = request_proc_events(fd, PROC_CN_MCAST_LISTEN);
    if (!rc)
        rc = await_proc_ack(fd);
    /* older kernels count listeners and do not notice the close */
    if (!rc)
        rc = request_proc_events(fd, PROC_CN_MCAST_IGNORE);
    close(fd);
    return rc;
}

/* The kernel's NLA_ALIGN is signed. */
static size_t aligned(size_t bytes) {
    return (bytes + 3) & ~(size_t)3;
}

/* A generic netlink message with one attribute. */
struct generic_message {
    struct nlmsghdr header;
    struct genlmsghdr command;
    struct nlattr attribute;
    char value[16];
};

static int ask_generic(int fd, uint16_t family, uint8_t command, uint16_t attribute,
                       const void *value, size_t size, char *answer, size_t capacity) {
    struct generic_message m = {
        .header = { .nlmsg_len =
                        (uint32_t)(offsetof(struct generic_message, value) + aligned(size)),
                    .nlmsg_type = family,
                    .nlmsg_flags = NLM_F_REQUEST },
        .command = { .cmd = command, .version = 1 },
        .attribute = { .nla_len = (uint16_t)(sizeof(struct nlattr) + size), .nla_type = attribute },
    };
    memcpy(m.value, value, size);
    if (send(fd, &m, m.header.nlmsg_len, 0) < 0)
        return -errno;
    int n = receive(fd, answer, capacity, pt_mono_ns() + ANSWER_MS * PT_NS_PER_MS);
    struct nlmsghdr header;
    struct nlmsgerr error;
    if (n < (int)sizeof header)
        return n < 0 ? n : -EBADMSG;
    memcpy(&header, answer, sizeof header);
    if (header.nlmsg_type != NLMSG_ERROR)
        return n;
    if ((size_t)n < NLMSG_HDRLEN + sizeof error)
        return -EBADMSG;
    memcpy(&error, answer + NLMSG_HDRLEN, sizeof error);
    return error.error ? error.error : -EBADMSG;
}

/* The family's number is an attribute of the answer. */
static int find_family_id(const char *answer, size_t length, uint16_t *id) {
    size_t at = NLMSG_HDRLEN + GENL_HDRLEN;
    struct nlattr a;
    while (at + sizeof a <= length) {
        memcpy(&a, answer + at, sizeof a);
        if (a.nla_type == CTRL_ATTR_FAMILY_ID &&
            at + sizeof(struct nlattr) + sizeof *id <= length) {
            memcpy(id, answer + at + sizeof a, sizeof *id);
            return 0;
        }
        if (a.nla_len < sizeof a)
            break;
        at += aligned(a.nla_len);
    }
    return -ENOENT;
}

static int ask_taskstats(int fd) {
    char answer[4096];
    uint16_t family = 0;
    uint32_t pid = (uint32_t)getpid();
    int n = ask_generic(fd, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
                        TASKSTATS_GENL_NAME, sizeof TASKSTATS_GENL_NAME, answer, sizeof answer);
    if (n < 0)
        return n;
    int rc = find_family_id(answer, (size_t)n, &family);
    if (rc)
        return rc;
    n = ask_generic(fd, family, TASKSTATS_CMD_GET, TASKSTATS_CMD_ATTR_PID, &pid, sizeof pid, answer,
                    sizeof answer);
    return n < 0 ? n : 0;
}

int pt_probe_taskstats(void) {
    int fd;
    int rc = open_netlink(NETLINK_GENERIC, 0, &fd);
    if (rc)
        return rc;
    rc = ask_taskstats(fd);
    close(fd);
    return rc;
}

/* The line "0::/path" of /proc/self/cgroup. */
static int read_own_v2_path(const struct pt_fs *fs, char *path, size_t capacity) {
    struct pt_text buffer = { 0 };
    struct pt_scan text, line;
    int rc = pt_fs_read(fs->proc, "self/cgroup", &buffer, &text);
    bool is_found = false;
    while (!rc && !is_found && pt_scan_line(&text, &line)) {
        is_found = pt_scan_take(&line, PT_STR("0::"));
        if (is_found)
            pt_str_copy(path, capacity, pt_scan_rest(&line));
    }
    pt_text_release(&buffer);
    return rc ? rc : is_found ? 0 : -ENODATA;
}

int pt_probe_child_cgroup(const struct pt_fs *fs, const char *base) {
    char own[PATH_MAX / 2], path[PATH_MAX];
    int rc = read_own_v2_path(fs, own, sizeof own);
    if (rc)
        return rc;
    snprintf(path, sizeof path, "%s%s/pitot-doctor-%d", base, own, (int)getpid());
    if (mkdirat(fs->sys, path, 0755))
        return -errno;
    return unlinkat(fs->sys, path, AT_REMOVEDIR) ? -errno : 0;
}
