/* base/thread.h -- threads that block all signals except their own faults: other signals are for
 * the main thread, or for the program that uses libpitot. */
#ifndef PT_BASE_THREAD_H
#define PT_BASE_THREAD_H

#include "base/attr.h"

#include <pthread.h>
#include <stdint.h>

/* 0 or -errno. */
int pt_thread_start(pthread_t *thread, void *(*run)(void *), void *state) PT_MUST_CHECK;
/* CPU time of a running thread so far. */
int64_t pt_thread_cpu_ns(pthread_t thread);
/* Gives the calling thread the highest permitted priority among normal threads. 0, or -errno if it
 * may not be raised. Threads and processes that it creates later inherit it. */
int pt_thread_hurry(void);

#endif
