/* base/thread.h -- threads that handle no signals but their own faults: the others belong to the
 * main thread, or to the program that libpitot is in. */
#ifndef PT_BASE_THREAD_H
#define PT_BASE_THREAD_H

#include "base/attr.h"

#include <pthread.h>
#include <stdint.h>

/* 0 or -errno. */
int pt_thread_start(pthread_t *thread, void *(*run)(void *), void *state) PT_MUST_CHECK;
/* What a thread that runs has used until now. */
int64_t pt_thread_cpu_ns(pthread_t thread);
/* The calling thread goes before all others, where we may. */
void pt_thread_hurry(void);

#endif
