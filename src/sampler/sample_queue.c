#include "sampler/sample_queue.h"

#include <errno.h>
#include <sys/eventfd.h>
#include <unistd.h>

int pt_sample_queue_init(struct pt_sample_queue *q, const struct pt_schema *schema) {
    *q = (struct pt_sample_queue){ .event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
    if (q->event_fd < 0)
        return -errno;
    pthread_mutex_init(&q->lock, NULL);
    for (unsigned i = 0; i < PT_SAMPLE_QUEUE_LENGTH; i++) {
        pt_sample_init(&q->samples[i], schema);
        q->free[q->free_count++] = &q->samples[i];
    }
    return 0;
}

void pt_sample_queue_release(struct pt_sample_queue *q) {
    for (unsigned i = 0; i < PT_SAMPLE_QUEUE_LENGTH; i++)
        pt_sample_release(&q->samples[i]);
    close(q->event_fd);
    pthread_mutex_destroy(&q->lock);
}

struct pt_sample *pt_sample_queue_take_free(struct pt_sample_queue *q) {
    pthread_mutex_lock(&q->lock);
    struct pt_sample *s = q->free_count > 0 ? q->free[--q->free_count] : NULL;
    pthread_mutex_unlock(&q->lock);
    if (s)
        pt_sample_clear(s);
    return s;
}

void pt_sample_queue_put(struct pt_sample_queue *q, struct pt_sample *s, bool must_wake) {
    pthread_mutex_lock(&q->lock);
    q->queued[(q->first_queued + q->queued_count++) % PT_SAMPLE_QUEUE_LENGTH] = s;
    must_wake |= q->queued_count > PT_SAMPLE_QUEUE_LENGTH / 2;
    pthread_mutex_unlock(&q->lock);
    uint64_t one = 1;
    if (must_wake)
        (void)!write(q->event_fd, &one, sizeof one);
}

struct pt_sample *pt_sample_queue_take(struct pt_sample_queue *q) {
    struct pt_sample *s = NULL;
    uint64_t count;
    pthread_mutex_lock(&q->lock);
    if (q->queued_count > 0) {
        s = q->queued[q->first_queued];
        q->first_queued = (q->first_queued + 1) % PT_SAMPLE_QUEUE_LENGTH;
        q->queued_count--;
    }
    if (q->queued_count == 0)
        (void)!read(q->event_fd, &count, sizeof count);
    pthread_mutex_unlock(&q->lock);
    return s;
}

void pt_sample_queue_give_back(struct pt_sample_queue *q, struct pt_sample *s) {
    pthread_mutex_lock(&q->lock);
    q->free[q->free_count++] = s;
    pthread_mutex_unlock(&q->lock);
}
