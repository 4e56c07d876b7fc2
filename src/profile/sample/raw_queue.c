#include "profile/sample/raw_queue.h"

void pt_raw_queue_init(struct pt_raw_queue *q) {
    *q = (struct pt_raw_queue){ 0 };
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->has_queued, NULL);
    for (unsigned i = 0; i < PT_RAW_BLOCKS; i++)
        q->free[q->free_count++] = &q->blocks[i];
}

void pt_raw_queue_release(struct pt_raw_queue *q) {
    for (unsigned i = 0; i < PT_RAW_BLOCKS; i++)
        pt_buf_release(&q->blocks[i].bytes);
    pthread_cond_destroy(&q->has_queued);
    pthread_mutex_destroy(&q->lock);
}

/* The last one given back: if the worker keeps up, few blocks are in use. */
struct pt_raw_block *pt_raw_queue_take_free(struct pt_raw_queue *q) {
    pthread_mutex_lock(&q->lock);
    struct pt_raw_block *b = q->free_count > 0 ? q->free[--q->free_count] : NULL;
    pthread_mutex_unlock(&q->lock);
    if (b) {
        pt_buf_clear(&b->bytes);
        b->complete_ns = 0;
        b->is_last = false;
    }
    return b;
}

void pt_raw_queue_put(struct pt_raw_queue *q, struct pt_raw_block *b) {
    pthread_mutex_lock(&q->lock);
    q->queued[(q->first_queued + q->queued_count++) % PT_RAW_BLOCKS] = b;
    pthread_cond_signal(&q->has_queued);
    pthread_mutex_unlock(&q->lock);
}

struct pt_raw_block *pt_raw_queue_take(struct pt_raw_queue *q) {
    pthread_mutex_lock(&q->lock);
    while (q->queued_count == 0)
        pthread_cond_wait(&q->has_queued, &q->lock);
    struct pt_raw_block *b = q->queued[q->first_queued];
    q->first_queued = (q->first_queued + 1) % PT_RAW_BLOCKS;
    q->queued_count--;
    pthread_mutex_unlock(&q->lock);
    return b;
}

void pt_raw_queue_give_back(struct pt_raw_queue *q, struct pt_raw_block *b) {
    pthread_mutex_lock(&q->lock);
    q->free[q->free_count++] = b;
    pthread_mutex_unlock(&q->lock);
}

bool pt_raw_queue_is_empty(struct pt_raw_queue *q) {
    pthread_mutex_lock(&q->lock);
    bool is_empty = q->queued_count == 0;
    pthread_mutex_unlock(&q->lock);
    return is_empty;
}

bool pt_raw_queue_is_idle(struct pt_raw_queue *q, unsigned taken) {
    pthread_mutex_lock(&q->lock);
    bool is_idle = q->free_count + taken == PT_RAW_BLOCKS;
    pthread_mutex_unlock(&q->lock);
    return is_idle;
}
