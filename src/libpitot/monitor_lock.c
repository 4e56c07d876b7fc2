#include "libpitot/monitor_lock.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void before_fork(void) {
    pthread_mutex_lock(&lock);
}

static void after_fork(void) {
    pthread_mutex_unlock(&lock);
}

static void prepare(void) {
    pthread_atfork(before_fork, after_fork, after_fork);
}

void pt_monitor_lock(void) {
    pthread_once(&once, prepare);
    pthread_mutex_lock(&lock);
}

void pt_monitor_unlock(void) {
    pthread_mutex_unlock(&lock);
}
