#include "profile/model/classify.h"

#define LEAF_FRAMES 24 /* only names this close to the leaf count */

/* A name that ends with '*' is a prefix. If several rows match, the first wins: what the program
 * called comes before how the C library and the kernel implement it. */
struct row {
    const char *name;
    enum pt_profile_state state;
    bool spins; /* also counts while it runs */
};

static const struct row rows[] = {
    { "cudaStreamSynchronize*", PT_STATE_GPU, true },
    { "cudaDeviceSynchronize*", PT_STATE_GPU, true },
    { "cudaEventSynchronize*", PT_STATE_GPU, true },
    { "cuStreamSynchronize*", PT_STATE_GPU, true },
    { "cuEventSynchronize*", PT_STATE_GPU, true },
    { "cuCtxSynchronize*", PT_STATE_GPU, true },
    { "cuMemcpyDtoH*", PT_STATE_GPU, true },
    { "hipStreamSynchronize*", PT_STATE_GPU, true },
    { "hipDeviceSynchronize*", PT_STATE_GPU, true },
    { "hipEventSynchronize*", PT_STATE_GPU, true },
    { "hsa_signal_wait*", PT_STATE_GPU, true },
    { "zeEventHostSynchronize", PT_STATE_GPU, true },
    { "zeCommandQueueSynchronize", PT_STATE_GPU, true },
    { "nccl*", PT_STATE_COLLECTIVE, true },
    { "rccl*", PT_STATE_COLLECTIVE, true },
    { "gloo::*", PT_STATE_COLLECTIVE, true },
    { "MPI_Allreduce", PT_STATE_COLLECTIVE, true },
    { "MPI_Barrier", PT_STATE_COLLECTIVE, true },
    { "MPI_Wait*", PT_STATE_COLLECTIVE, true },
    { "take_gil", PT_STATE_LOCK, false },
    { "PyThread_acquire_lock*", PT_STATE_LOCK, false },
    { "pthread_cond_wait*", PT_STATE_IDLE, false },
    { "pthread_cond_timedwait*", PT_STATE_IDLE, false },
    { "pthread_cond_clockwait*", PT_STATE_IDLE, false },
    { "__futex_abstimed_wait_cancelable*", PT_STATE_IDLE, false },
    { "sem_wait*", PT_STATE_IDLE, false },
    { "sem_timedwait*", PT_STATE_IDLE, false },
    { "sem_clockwait*", PT_STATE_IDLE, false },
    { "epoll_wait*", PT_STATE_IDLE, false },
    { "epoll_pwait*", PT_STATE_IDLE, false },
    { "do_epoll_wait", PT_STATE_IDLE, false },
    { "ppoll", PT_STATE_IDLE, false },
    { "poll", PT_STATE_IDLE, false },
    { "__poll", PT_STATE_IDLE, false },
    { "do_sys_poll", PT_STATE_IDLE, false },
    { "select", PT_STATE_IDLE, false },
    { "__select", PT_STATE_IDLE, false },
    { "do_select", PT_STATE_IDLE, false },
    { "hrtimer_nanosleep", PT_STATE_IDLE, false },
    { "clock_nanosleep*", PT_STATE_IDLE, false },
    { "do_wait", PT_STATE_IDLE, false },
    { "do_sigtimedwait*", PT_STATE_IDLE, false },
    { "pipe_read", PT_STATE_IO, false },
    { "pipe_write", PT_STATE_IO, false },
    { "anon_pipe_read", PT_STATE_IO, false },
    { "anon_pipe_write", PT_STATE_IO, false },
    { "sock_recvmsg*", PT_STATE_NETWORK, false },
    { "sock_sendmsg*", PT_STATE_NETWORK, false },
    { "inet_csk_accept", PT_STATE_NETWORK, false },
    { "unix_stream_*", PT_STATE_NETWORK, false },
    { "tcp_recvmsg*", PT_STATE_NETWORK, false },
    { "tcp_sendmsg*", PT_STATE_NETWORK, false },
    { "io_schedule*", PT_STATE_IO, false },
    { "folio_wait_*", PT_STATE_IO, false },
    { "vfs_read", PT_STATE_IO, false },
    { "vfs_write", PT_STATE_IO, false },
    { "vfs_fsync*", PT_STATE_IO, false },
    { "pthread_mutex_lock*", PT_STATE_LOCK, false },
    { "__pthread_mutex_lock*", PT_STATE_LOCK, false },
    { "___pthread_mutex_lock*", PT_STATE_LOCK, false },
    { "pthread_mutex_unlock*", PT_STATE_LOCK, false },
    { "__pthread_mutex_unlock*", PT_STATE_LOCK, false },
    { "___pthread_mutex_unlock*", PT_STATE_LOCK, false },
    { "pthread_rwlock_*", PT_STATE_LOCK, false },
    { "__lll_lock_wait*", PT_STATE_LOCK, false },
    { "pthread_spin_lock", PT_STATE_LOCK, true },
    { "native_queued_spin_lock_slowpath", PT_STATE_LOCK, true },
    { "futex_wait*", PT_STATE_LOCK, false },
    { "rwsem_down_*", PT_STATE_LOCK, false },
    { "__mutex_lock*", PT_STATE_LOCK, false },
};

/* The number of the first row that matches; PT_COUNT(rows) if none does. */
static size_t row_of(struct pt_str name, bool is_on_cpu) {
    for (size_t i = 0; i < PT_COUNT(rows); i++) {
        struct pt_str pattern = pt_str_from(rows[i].name);
        bool is_prefix = pattern.at[pattern.len - 1] == '*';
        pattern.len -= is_prefix;
        if ((rows[i].spins || !is_on_cpu) &&
            (is_prefix ? pt_str_starts(name, pattern) : pt_str_eq(name, pattern)))
            return i;
    }
    return PT_COUNT(rows);
}

/* Names are compared once per function. */
struct classes {
    uint8_t *rows; /* by function: row number + 1; 0 = not looked up yet */
    bool is_on_cpu;
};
_Static_assert(PT_COUNT(rows) < 254, "a row number plus one must fit into a byte");

static size_t row_of_function(const struct pt_profile *p, struct classes *c, uint32_t function) {
    if (function == PT_PROFILE_NONE)
        return PT_COUNT(rows);
    if (c->rows[function] == 0) {
        enum pt_profile_kind kind = p->functions.at[function].kind;
        bool is_code = kind == PT_KIND_NATIVE || kind == PT_KIND_KERNEL;
        struct pt_str name = pt_profile_text(p, p->functions.at[function].name);
        c->rows[function] = (uint8_t)((is_code ? row_of(name, c->is_on_cpu) : PT_COUNT(rows)) + 1);
    }
    return c->rows[function] - 1u;
}

static enum pt_profile_state classify(const struct pt_profile *p, struct classes *c,
                                      uint32_t stack) {
    size_t best = PT_COUNT(rows);
    for (int i = 0; stack != PT_PROFILE_NONE && i < LEAF_FRAMES; i++) {
        const struct pt_profile_frame *f = &p->frames.at[p->stacks.at[stack].frame];
        size_t row = row_of_function(p, c, f->function);
        best = row < best ? row : best;
        stack = p->stacks.at[stack].parent;
    }
    if (best < PT_COUNT(rows))
        return rows[best].state;
    return c->is_on_cpu ? PT_STATE_ON_CPU : PT_STATE_IDLE;
}

void pt_classify_stacks(const struct pt_profile *p, uint8_t *states) {
    struct classes c = { pt_calloc(p->functions.count, 1), false };
    for (uint32_t i = 0; i < p->stacks.count; i++)
        states[i] = (uint8_t)classify(p, &c, i);
    pt_free(c.rows);
}

void pt_classify(struct pt_profile *p, bool is_on_cpu) {
    struct classes c = { pt_calloc(p->functions.count, 1), is_on_cpu };
    for (size_t i = 0; i < p->samples.count; i++)
        p->samples.at[i].state = (uint16_t)classify(p, &c, p->samples.at[i].stack);
    pt_free(c.rows);
}
