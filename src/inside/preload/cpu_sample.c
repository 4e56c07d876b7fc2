/* The handler of the timer signal: copies registers and stack of the thread into the ring. The file
 * is created at the first sample, because most programs of a tree end before. The kernel wipes
 * pt_preload_process after fork, which shows that this is another process. */
#include "inside/preload/cpu_preload.h"

#include "inside/preload/capture_registers.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define AWAIT_ROUNDS 100
#define AWAIT_US     1000
#define FILE_BYTES   (sizeof(struct pt_preload_header) + PT_PRELOAD_RING_BYTES)

PT_PRELOAD_TLS struct pt_preload_thread pt_preload_self;
struct pt_preload_file pt_preload_file;
_Alignas(4096) struct pt_preload_process pt_preload_process;
char pt_cpu_signature;
static uint32_t handling; /* threads in the handler */

bool pt_cpu_sample_prepare(void) {
    return !madvise(&pt_preload_process, sizeof pt_preload_process, MADV_WIPEONFORK);
}

static void fill_header(struct pt_preload_header *h, uint32_t pid) {
    h->version = PT_PRELOAD_VERSION;
    h->header_size = sizeof *h;
    h->size = FILE_BYTES;
    h->ring_offset = sizeof *h;
    h->ring_size = PT_PRELOAD_RING_BYTES;
    h->mean_bytes = pt_cpu.period_ns;
    h->start_mono_ns = pt_preload_clock_ns(CLOCK_MONOTONIC);
    h->start_wall_ns = pt_preload_clock_ns(CLOCK_REALTIME);
    h->pid = pid;
    /* Release: a reader that sees the magic also sees the rest. */
    __atomic_store_n(&h->magic, PT_PRELOAD_MAGIC, __ATOMIC_RELEASE);
}

static bool map_file(int fd) {
    struct pt_preload_file *f = &pt_preload_file;
    if (ftruncate(fd, FILE_BYTES) || !pt_preload_give_memory(fd, 0, sizeof *f->header))
        return false;
    f->header = pt_preload_map_part(fd, NULL, 0, sizeof *f->header);
    f->ring = pt_preload_map_ring(fd, sizeof *f->header);
    return f->header && f->ring;
}

static void unmap_parent(void) {
    struct pt_preload_file *f = &pt_preload_file;
    if (f->header)
        syscall(SYS_munmap, f->header, sizeof *f->header);
    if (f->ring)
        syscall(SYS_munmap, f->ring, 2 * PT_PRELOAD_RING_BYTES);
    f->header = NULL;
    f->ring = NULL;
}

static bool open_file(void) {
    uint32_t pid = (uint32_t)getpid();
    int fd = pt_preload_fits_limit(FILE_BYTES) ? pt_preload_create(pid, PT_CPU_FILE_SUFFIX) : -1;
    if (fd < 0)
        return false;
    bool is_done = map_file(fd);
    close(fd);
    if (is_done)
        fill_header(pt_preload_file.header, pid);
    else
        pt_preload_remove();
    return is_done;
}

/* One thread creates it; samples of the others are not written until then. */
static bool has_file(bool *is_new) {
    uint32_t none = 0;
    if (__atomic_load_n(&pt_preload_process.is_open, __ATOMIC_ACQUIRE))
        return true;
    if (!__atomic_compare_exchange_n(&pt_preload_process.is_opening, &none, 1, false,
                                     __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return false;
    unmap_parent();
    if (!open_file())
        return false;
    __atomic_store_n(&pt_preload_process.is_open, 1, __ATOMIC_RELEASE);
    pt_cpu_count(&pt_cpu.bell->files);
    *is_new = true;
    return true;
}

static struct pt_preload_sample *claim(size_t stack_bytes, uint64_t *position, size_t *size) {
    *size = (sizeof(struct pt_preload_sample) + stack_bytes + PT_PRELOAD_ALIGNMENT - 1) &
            ~(size_t)(PT_PRELOAD_ALIGNMENT - 1);
    struct pt_preload_record *r = pt_preload_claim(*size, PT_PRELOAD_RING_BYTES, position);
    if (!r)
        __atomic_add_fetch(&pt_preload_file.header->dropped_allocations, 1, __ATOMIC_RELAXED);
    return (struct pt_preload_sample *)(void *)r;
}

static void write_sample(const ucontext_t *context, uint64_t periods) {
    uint64_t registers[PT_PRELOAD_REGISTERS], position;
    pt_preload_interrupted(context, registers);
    uint64_t sp = registers[PT_PRELOAD_REGISTER_SP];
    size_t size, bytes = pt_preload_stack_size(sp);
    struct pt_preload_sample *a = claim(bytes, &position, &size);
    if (!a)
        return;
    a->mono_ns = pt_preload_clock_ns(CLOCK_MONOTONIC);
    a->address = 0;
    a->bytes = periods;
    a->thread = pt_preload_thread_id();
    a->stack = a->mean_shift = a->python_count = 0;
    pt_preload_thread_name(a->name);
    memcpy(a->registers, registers, sizeof registers);
    a->stack_size = (uint32_t)pt_preload_copy_stack((uint8_t *)(a + 1), sp, bytes);
    pt_preload_publish(&a->record, position, size, PT_PRELOAD_CPU, 0);
}

/* The recorder polls; it is woken earlier for a new process, for Python, which must be read from
 * outside, and if the ring is filling up. */
static void ring_bell(struct pt_cpu_bell *bell, bool is_new) {
    __atomic_add_fetch(&bell->rings, 1, __ATOMIC_RELEASE);
    const struct pt_preload_header *h = pt_preload_file.header;
    uint64_t used = __atomic_load_n(&h->claimed, __ATOMIC_RELAXED) -
                    __atomic_load_n(&h->read, __ATOMIC_RELAXED);
    if (is_new || __atomic_load_n(&bell->is_awaited, __ATOMIC_RELAXED) ||
        used > PT_PRELOAD_RING_BYTES / 2)
        syscall(SYS_futex, &bell->rings, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

static void write_rest(pid_t tid, uint64_t periods) {
    uint64_t position;
    size_t size;
    struct pt_preload_sample *a = claim(0, &position, &size);
    if (!a)
        return;
    memset((uint8_t *)a + sizeof a->record, 0, sizeof *a - sizeof a->record);
    a->mono_ns = pt_preload_clock_ns(CLOCK_MONOTONIC);
    a->bytes = periods;
    a->thread = (uint32_t)tid;
    pt_preload_publish(&a->record, position, size, PT_PRELOAD_CPU_REST, 0);
}

/* Not in a signal handler, so all signals are blocked here too. */
void pt_cpu_write_rest(pid_t tid, uint64_t periods) {
    sigset_t all, old;
    bool is_new = false;
    if (__atomic_load_n(&pt_cpu.bell->is_over, __ATOMIC_RELAXED))
        return;
    memset(&all, 0xff, sizeof all);
    (void)pt_cpu_next()->thread_mask(SIG_SETMASK, &all, &old);
    if (has_file(&is_new)) {
        write_rest(tid, periods);
        ring_bell(pt_cpu.bell, is_new);
    }
    (void)pt_cpu_next()->thread_mask(SIG_SETMASK, &old, NULL);
}

static void take_sample(const ucontext_t *context) {
    struct pt_cpu_bell *bell = pt_cpu.bell;
    bool is_new = false;
    if (__atomic_load_n(&bell->is_over, __ATOMIC_RELAXED)) {
        pt_cpu_disarm();
        return;
    }
    uint64_t periods = pt_cpu_take_periods();
    if (periods == 0)
        return;
    if (!has_file(&is_new)) {
        pt_cpu_count(&bell->unwritten);
        return;
    }
    write_sample(context, periods);
    ring_bell(bell, is_new);
}

/* A pending cancellation must not take effect inside our handler. */
void pt_cpu_handle(int number, siginfo_t *info, void *context) {
    (void)number;
    int error = errno, could_be_cancelled;
    if (info->si_code != SI_TIMER || info->si_value.sival_ptr != &pt_cpu_signature)
        return;
    __atomic_add_fetch(&handling, 1, __ATOMIC_ACQUIRE);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &could_be_cancelled);
    take_sample(context);
    pthread_setcancelstate(could_be_cancelled, NULL);
    __atomic_sub_fetch(&handling, 1, __ATOMIC_RELEASE);
    errno = error;
}

/* A thread without a CPU may stay in the handler for long: it is not worth more than a moment. */
void pt_cpu_await_handlers(void) {
    for (int i = 0; i < AWAIT_ROUNDS && __atomic_load_n(&handling, __ATOMIC_ACQUIRE) > 0; i++)
        usleep(AWAIT_US);
}
