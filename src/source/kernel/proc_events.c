#include "source/kernel/proc_events.h"

#include "base/mem.h"

#include <errno.h>
#include <arpa/inet.h>
#include <linux/acct.h>
#include <linux/cn_proc.h>
#include <linux/connector.h>
#include <linux/filter.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <linux/taskstats.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define INBOX_MESSAGES      32
#define INBOX_MESSAGE_BYTES 2048
#define SOCKET_BYTES        (4 << 20) /* enough for one second of a fork storm */

struct pt_proc_inbox {
    struct mmsghdr headers[INBOX_MESSAGES];
    struct iovec pieces[INBOX_MESSAGES];
    struct sockaddr_nl senders[INBOX_MESSAGES];
    _Alignas(8) char bytes[INBOX_MESSAGES][INBOX_MESSAGE_BYTES];
};

void pt_proc_events_release(struct pt_proc_events *events) {
    pt_free(events->at);
    *events = (struct pt_proc_events){ 0 };
}

bool pt_proc_socket_is_open(const struct pt_proc_socket *s) {
    return pt_fd_is_open(s->fd);
}

void pt_proc_socket_close(struct pt_proc_socket *s) {
    (void)pt_fd_close(&s->fd);
    pt_free(s->inbox);
    *s = (struct pt_proc_socket){ 0 };
}

static int socket_open(struct pt_proc_socket *s, int protocol, unsigned groups) {
    int fd = socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
    if (fd < 0)
        return -errno;
    *s = (struct pt_proc_socket){ .fd = pt_fd_of(fd) };
    struct sockaddr_nl self = { .nl_family = AF_NETLINK, .nl_groups = groups };
    if (bind(fd, (struct sockaddr *)&self, sizeof self))
        return -errno;
    int size = SOCKET_BYTES;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size))
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    s->inbox = pt_calloc(1, sizeof *s->inbox);
    return 0;
}

/* How many messages are in the inbox now, or -errno. */
static int receive(struct pt_proc_socket *s) {
    struct pt_proc_inbox *in = s->inbox;
    for (int i = 0; i < INBOX_MESSAGES; i++) {
        in->pieces[i] = (struct iovec){ in->bytes[i], INBOX_MESSAGE_BYTES };
        in->headers[i].msg_hdr = (struct msghdr){ .msg_name = &in->senders[i],
                                                  .msg_namelen = sizeof in->senders[i],
                                                  .msg_iov = &in->pieces[i],
                                                  .msg_iovlen = 1 };
    }
    int n = recvmmsg(pt_fd_get(s->fd), in->headers, INBOX_MESSAGES, MSG_DONTWAIT, NULL);
    return n < 0 ? -errno : n;
}

/* Message `i` of the inbox; empty if it is cut or not from the kernel. */
static struct pt_str message_at(const struct pt_proc_inbox *in, int i) {
    if (in->senders[i].nl_pid != 0 || in->headers[i].msg_hdr.msg_flags & MSG_TRUNC)
        return PT_STR("");
    return (struct pt_str){ in->bytes[i], in->headers[i].msg_len };
}

void pt_proc_socket_drain(struct pt_proc_socket *s, struct pt_proc_events *into) {
    struct pt_proc_event event;
    while (pt_proc_socket_is_open(s)) {
        int n = receive(s);
        if (n == -EINTR)
            continue;
        if (n == -ENOBUFS) {
            into->overflow_count++;
            continue;
        }
        for (int i = 0; i < n; i++) {
            if (!s->parse(message_at(s->inbox, i), &event))
                continue;
            pt_grow(&into->at, &into->capacity, into->count + 1, sizeof *into->at);
            into->at[into->count++] = event;
        }
        if (n < INBOX_MESSAGES)
            return;
    }
}

/* The bytes a netlink message of at least `need` bytes carries; NULL if it is shorter. */
static const void *payload(struct pt_str message, size_t need, struct nlmsghdr *header) {
    if (message.len < NLMSG_HDRLEN + need)
        return NULL;
    memcpy(header, message.at, sizeof *header);
    if (header->nlmsg_len < NLMSG_HDRLEN + need || header->nlmsg_len > message.len)
        return NULL;
    return message.at + NLMSG_HDRLEN;
}

static bool connector_event(struct pt_str message, struct proc_event *event) {
    struct nlmsghdr header;
    struct cn_msg connector;
    const char *at = payload(message, sizeof connector + sizeof *event, &header);
    if (!at)
        return false;
    memcpy(&connector, at, sizeof connector);
    memcpy(event, at + sizeof connector, sizeof *event);
    return connector.id.idx == CN_IDX_PROC && connector.id.val == CN_VAL_PROC;
}

bool pt_proc_connector_parse(struct pt_str message, struct pt_proc_event *event) {
    struct proc_event e;
    if (!connector_event(message, &e))
        return false;
    *event = (struct pt_proc_event){ 0 };
    switch (e.what) {
    case PROC_EVENT_FORK:
        event->kind = PT_PROC_FORK;
        event->pid = e.event_data.fork.child_tgid;
        event->parent = e.event_data.fork.parent_tgid;
        return e.event_data.fork.child_pid == event->pid;
    case PROC_EVENT_EXEC:
        event->kind = PT_PROC_EXEC;
        event->pid = e.event_data.exec.process_tgid;
        return true;
    case PROC_EVENT_EXIT:
        event->kind = PT_PROC_EXIT;
        event->pid = e.event_data.exit.process_tgid;
        return e.event_data.exit.process_pid == event->pid;
    default:
        return false;
    }
}

/* Offsets of the words of an event in its message. */
#define EVENT_AT (NLMSG_HDRLEN + sizeof(struct cn_msg))
#define WHAT_AT  (EVENT_AT + offsetof(struct proc_event, what))
#define FORK_AT(member) \
    (EVENT_AT + offsetof(struct proc_event, event_data) + offsetof(struct fork_proc_event, member))
#define EXIT_AT(member) \
    (EVENT_AT + offsetof(struct proc_event, event_data) + offsetof(struct exit_proc_event, member))

#define LOAD(at)                         BPF_STMT(BPF_LD | BPF_W | BPF_ABS, at)
#define IF_EQUAL(value, then, otherwise) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, then, otherwise)
#define KEEP_IF_ZERO \
    IF_EQUAL(0, 1, 0), BPF_STMT(BPF_RET | BPF_K, 0), BPF_STMT(BPF_RET | BPF_K, UINT32_MAX)
#define SUBTRACT_FROM_PREVIOUS(at) \
    BPF_STMT(BPF_MISC | BPF_TAX, 0), LOAD(at), BPF_STMT(BPF_ALU | BPF_SUB | BPF_X, 0)

/* Threads come and go by the thousand and would fill the queue: the kernel drops
 * their events, and all but fork, exec, exit and the answer to our request. */
static void ignore_threads(int fd) {
    struct sock_filter program[] = {
        LOAD(WHAT_AT),
        IF_EQUAL(htonl(PROC_EVENT_FORK), 5, 0),
        IF_EQUAL(htonl(PROC_EVENT_EXIT), 11, 0),
        IF_EQUAL(htonl(PROC_EVENT_EXEC), 2, 0),
        KEEP_IF_ZERO,
        LOAD(FORK_AT(child_pid)),
        SUBTRACT_FROM_PREVIOUS(FORK_AT(child_tgid)),
        KEEP_IF_ZERO,
        LOAD(EXIT_AT(process_pid)),
        SUBTRACT_FROM_PREVIOUS(EXIT_AT(process_tgid)),
        KEEP_IF_ZERO,
    };
    struct sock_fprog filter = { PT_COUNT(program), program };
    (void)setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &filter, sizeof filter);
}

static int connector_send(int fd, enum proc_cn_mcast_op operation) {
    struct {
        _Alignas(NLMSG_ALIGNTO) struct nlmsghdr header;
        struct cb_id id;
        uint32_t seq, ack;
        uint16_t len, flags;
        uint32_t operation;
    } request = {
        .header = { .nlmsg_len = sizeof request, .nlmsg_type = NLMSG_DONE },
        .id = { CN_IDX_PROC, CN_VAL_PROC },
        .len = sizeof request.operation,
        .operation = operation,
    };
    return send(fd, &request, sizeof request, 0) < 0 ? -errno : 0;
}

/* The kernel answers before send() returns; outside the initial namespaces it does not answer and
 * never sends events. */
static int connector_confirm(struct pt_proc_socket *s) {
    struct proc_event event;
    int n;
    while ((n = receive(s)) > 0)
        for (int i = 0; i < n; i++)
            if (connector_event(message_at(s->inbox, i), &event) && event.what == PROC_EVENT_NONE)
                return -(int)event.event_data.ack.err;
    return -EOPNOTSUPP;
}

int pt_proc_connector_open(struct pt_proc_socket *s) {
    int rc = socket_open(s, NETLINK_CONNECTOR, CN_IDX_PROC);
    if (!rc) {
        ignore_threads(pt_fd_get(s->fd));
        rc = connector_send(pt_fd_get(s->fd), PROC_CN_MCAST_LISTEN);
    }
    if (!rc)
        rc = connector_confirm(s);
    s->parse = pt_proc_connector_parse;
    if (rc)
        pt_proc_socket_close(s);
    return rc;
}

#define ATTRIBUTE_HEADER sizeof(struct nlattr)

static size_t attribute_aligned(size_t bytes) {
    return (bytes + NLA_ALIGNTO - 1) & ~(size_t)(NLA_ALIGNTO - 1);
}

/* The bytes of the first attribute of that type; empty if there is none. */
static struct pt_str attribute(struct pt_str list, uint16_t type) {
    struct nlattr a;
    while (list.len >= sizeof a) {
        memcpy(&a, list.at, sizeof a);
        if (a.nla_len < ATTRIBUTE_HEADER || a.nla_len > list.len)
            break;
        if ((a.nla_type & NLA_TYPE_MASK) == type)
            return (struct pt_str){ list.at + ATTRIBUTE_HEADER, a.nla_len - ATTRIBUTE_HEADER };
        list = pt_str_skip(list, attribute_aligned(a.nla_len));
    }
    return PT_STR("");
}

static struct pt_str genl_attributes(struct pt_str message) {
    struct nlmsghdr header;
    const char *at = payload(message, GENL_HDRLEN, &header);
    if (!at || header.nlmsg_type < NLMSG_MIN_TYPE)
        return PT_STR("");
    return (struct pt_str){ at + GENL_HDRLEN, header.nlmsg_len - NLMSG_HDRLEN - GENL_HDRLEN };
}

#define RECORD_BYTES (offsetof(struct taskstats, ac_tgid) + sizeof(uint32_t))

/* cpu_run_virtual_total would be in nanoseconds, but lacks what the thread ran
 * since the last clock tick: all of it for most short processes. The times
 * sampled by ticks are right on average. */
static bool record_cpu_ns(const struct taskstats *record, int64_t *cpu_ns) {
    uint64_t us;
    return !__builtin_add_overflow(record->ac_utime, record->ac_stime, &us) &&
           !__builtin_mul_overflow(us, 1000, cpu_ns);
}

bool pt_taskstats_parse(struct pt_str message, struct pt_proc_event *event) {
    struct taskstats record;
    struct pt_str bytes = attribute(genl_attributes(message), TASKSTATS_TYPE_AGGR_PID);
    bytes = attribute(bytes, TASKSTATS_TYPE_STATS);
    if (bytes.len < RECORD_BYTES)
        return false;
    memcpy(&record, bytes.at, RECORD_BYTES);
    *event = (struct pt_proc_event){ .kind = PT_PROC_RECORD,
                                     .pid = (pid_t)record.ac_tgid,
                                     .parent = (pid_t)record.ac_ppid,
                                     .is_last = record.ac_flag & AGROUP };
    /* Version 12 added ac_tgid; 15 had new fields in the middle, 16 moved them to the end. */
    bool is_known = record.version >= 12 && record.version != 15;
    return is_known && record_cpu_ns(&record, &event->cpu_ns);
}

struct genl_request {
    _Alignas(NLMSG_ALIGNTO) struct nlmsghdr header;
    struct genlmsghdr command;
    struct nlattr attribute;
    char text[32];
};

static int genl_send(int fd, uint16_t family, uint8_t command, uint16_t attribute_type,
                     const char *text) {
    struct genl_request r = {
        .header = { .nlmsg_len = sizeof r,
                    .nlmsg_type = family,
                    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
        .command = { .cmd = command, .version = 1 },
        .attribute = { (uint16_t)(ATTRIBUTE_HEADER + strlen(text) + 1), attribute_type },
    };
    pt_str_copy(r.text, sizeof r.text, pt_str_from(text));
    r.header.nlmsg_len = (uint32_t)(offsetof(struct genl_request, attribute) +
                                    attribute_aligned(r.attribute.nla_len));
    return send(fd, &r, r.header.nlmsg_len, 0) < 0 ? -errno : 0;
}

/* Reads up to the kernel's verdict on the last request; answers before it go to `answer`. */
static int genl_verdict(struct pt_proc_socket *s, struct pt_str *answer) {
    struct nlmsghdr header;
    struct nlmsgerr verdict;
    int n;
    while ((n = receive(s)) > 0) {
        for (int i = 0; i < n; i++) {
            struct pt_str message = message_at(s->inbox, i);
            const char *at = payload(message, sizeof verdict.error, &header);
            if (at && header.nlmsg_type == NLMSG_ERROR) {
                memcpy(&verdict.error, at, sizeof verdict.error);
                return verdict.error;
            }
            if (at && answer)
                *answer = genl_attributes(message);
        }
    }
    return -EOPNOTSUPP;
}

static int taskstats_family(struct pt_proc_socket *s, uint16_t *family) {
    struct pt_str answer = PT_STR("");
    int rc = genl_send(pt_fd_get(s->fd), GENL_ID_CTRL, CTRL_CMD_GETFAMILY, CTRL_ATTR_FAMILY_NAME,
                       TASKSTATS_GENL_NAME);
    if (!rc)
        rc = genl_verdict(s, &answer);
    if (rc)
        return rc;
    struct pt_str id = attribute(answer, CTRL_ATTR_FAMILY_ID);
    if (id.len != sizeof *family)
        return -EOPNOTSUPP;
    memcpy(family, id.at, sizeof *family);
    return 0;
}

int pt_taskstats_open(struct pt_proc_socket *s) {
    uint16_t family;
    int rc = socket_open(s, NETLINK_GENERIC, 0);
    if (!rc)
        rc = taskstats_family(s, &family);
    if (!rc) {
        char cpus[32];
        snprintf(cpus, sizeof cpus, "0-%ld", sysconf(_SC_NPROCESSORS_CONF) - 1);
        rc = genl_send(pt_fd_get(s->fd), family, TASKSTATS_CMD_GET,
                       TASKSTATS_CMD_ATTR_REGISTER_CPUMASK, cpus);
    }
    if (!rc)
        rc = genl_verdict(s, NULL);
    s->parse = pt_taskstats_parse;
    if (rc)
        pt_proc_socket_close(s);
    return rc;
}
