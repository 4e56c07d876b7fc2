/* The current thread: its id, its name, its stack. */
#include "inside/preload/preload.h"

#include <pthread.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#define NAME_EVERY 16 /* samples of a thread */

extern void *__libc_stack_end; /* of the main thread; glibc */

/* A thread has its pthread data at the upper end of its stack. The end of any other stack
 * (coroutine, signal stack) is unknown. */
uint64_t pt_preload_find_stack_end(uint64_t sp) {
    const uint64_t ends[] = { (uint64_t)(uintptr_t)__libc_stack_end, (uint64_t)pthread_self() };
    for (size_t i = 0; i < 2; i++)
        if (ends[i] - sp - 1 < PT_PRELOAD_STACK_SPAN)
            return pt_preload_self.stack_end = ends[i];
    return 0;
}

/* Names rarely change, so they are cached. */
void pt_preload_thread_name(char name[16]) {
    struct pt_preload_thread *t = &pt_preload_self;
    if (t->name_age++ % NAME_EVERY == 0 && prctl(PR_GET_NAME, t->name, 0, 0, 0))
        t->name[0] = '\0';
    memcpy(name, t->name, sizeof t->name);
}

/* Looked up once, and again in a child after fork, which has a new file with another pid. */
uint32_t pt_preload_thread_id(void) {
    struct pt_preload_thread *t = &pt_preload_self;
    uint32_t pid = pt_preload_file.header->pid;
    if (t->pid != pid) {
        t->id = (uint32_t)syscall(SYS_gettid);
        t->pid = pid;
    }
    return t->id;
}

size_t pt_preload_copy_stack(uint8_t *into, uint64_t sp, size_t bytes) {
    if (pt_preload_stack_end(sp)) {
        memcpy(into, (const void *)(uintptr_t)sp, bytes);
        return bytes;
    }
    /* an unknown stack: the kernel stops at the end of the mapping */
    struct iovec to = { into, bytes }, from = { (void *)(uintptr_t)sp, bytes };
    ssize_t n = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    return n > 0 ? (size_t)n : 0;
}

size_t pt_preload_stack_size(uint64_t sp) {
    uint64_t end = pt_preload_stack_end(sp), most = pt_preload_file.stack_bytes;
    return end && end - sp < most ? (end - sp) & ~UINT64_C(7) : most;
}
