/* base/confine.h -- a helper process for code that reads foreign bytes: memory and files of
 * observed programs, ELF and DWARF, files of vendors. If such bytes end it, only its results are
 * lost.
 *
 * The helper is a fork of Pitot, so the code inside is ordinary code with its data. It has only the
 * descriptors that it was given. Once sealed, it can open files only for reading, has no network,
 * starts no program, signals nobody, and its memory is bounded; anything else ends it. What it must
 * write (files of preloaded libraries) Pitot opens for it: that is its door.
 *
 * Orders and answers are messages through pipes, what it logs comes through a third. Pitot trusts
 * nothing in them. */
#ifndef PT_BASE_CONFINE_H
#define PT_BASE_CONFINE_H

#include "base/buf.h"
#include "base/err.h"
#include "base/fd.h"

#include <pthread.h>
#include <sys/types.h>
#include <sys/uio.h>

#define PT_CONFINE_KEEP_MAX 8

struct pt_confined {
    pid_t pid; /* 0: there is none */
    struct pt_fd orders, answers, words, door;
    pthread_t porter; /* at the door */
    bool has_porter, has_ended;
    int directory, proc; /* whose files the door opens; as in the options */
    int (*fetch)(void *arg, const char *name);
    void *fetch_arg;
    int wait_status;
    int64_t ordered_ns; /* the time of the last order; atomic */
};

struct pt_confine_options {
    const char *name;              /* of the process */
    void (*run)(void *state);      /* in the helper; it exits afterwards */
    void *state;                   /* a copy, as of the fork */
    int keep[PT_CONFINE_KEEP_MAX]; /* descriptors that it needs too; 0: none */
    int directory;                 /* whose files the door opens; -1: no files */
    bool reads_memory;             /* the door also opens memory of processes below `proc` */
    int proc;
    /* The door also fetches debug files: a descriptor or -1; or NULL. */
    int (*fetch)(void *arg, const char *name);
    void *fetch_arg;
};

/* Call while no other thread can hold a lock. 0 or -errno with a message. */
int pt_confined_start(struct pt_confined *c, const struct pt_confine_options *o,
                      struct pt_err *err) PT_MUST_CHECK;
/* Sends an order; if it has ended, the next answer says so. */
void pt_confined_order(struct pt_confined *c, uint32_t order);
/* Waits for the next message and logs what the helper logged. 0, or -errno with a message about how
 * the helper ended: "crashed (SIGSEGV)". */
int pt_confined_receive(struct pt_confined *c, uint32_t *kind, struct pt_buf *into,
                        struct pt_err *err) PT_MUST_CHECK;
/* Text of a helper may contain what it has read: nothing in it may control a terminal. */
void pt_confined_clean(char *text, size_t size);
/* Ends it if it still runs. */
void pt_confined_close(struct pt_confined *c);
/* Is this child a helper? If it has ended, it is reaped. For whoever waits for any child. */
bool pt_confined_reap(pid_t pid);

/* What the helpers of this process cost: CPU time and memory of those that run, the highest peak
 * memory of one that has ended. Any thread; allocates nothing. */
struct pt_confined_cost {
    int64_t cpu_ns; /* of all so far */
    int64_t running_ns, rss_bytes, ended_peak_bytes;
};
struct pt_confined_cost pt_confined_cost(int proc);

/* In the helper. */

/* The rest of its life is confined. Call before it has threads. -errno: the kernel cannot; then it
 * is only a separate process. */
int pt_confine_seal(void);
void pt_confine_send(uint32_t kind, struct pt_str message);
/* Waits for an order, at most this long; -1: no limit. 0: none has come. If Pitot has ended, so
 * does the helper. */
uint32_t pt_confine_wait(int timeout_ms);

/* The process id of Pitot itself, anywhere. */
pid_t pt_confine_pitot(void);

/* Anywhere; in a helper, Pitot does it. */

/* An existing file of a directory, for reading and writing. Descriptor or -errno. */
int pt_confine_open(int directory, const char *name) PT_MUST_CHECK;
void pt_confine_unlink(int directory, const char *name);
/* What `fetch` of the options returns, for helpers only. */
int pt_confine_fetch(const char *name) PT_MUST_CHECK;
/* As process_vm_readv(2). Yama (kernel.yama.ptrace_scope 1) permits it to ancestors only: then
 * through the door. */
ssize_t pt_confine_read(pid_t pid, const struct iovec *local, const struct iovec *remote,
                        size_t count);

#endif
