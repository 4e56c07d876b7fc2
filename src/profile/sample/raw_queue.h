/* profile/sample/raw_queue.h -- passes blocks of records from the thread that empties the rings to
 * the one that unwinds. Their number is fixed; if none is free, the rings fill up and the kernel
 * counts lost records. */
#ifndef PT_PROFILE_SAMPLE_RAW_QUEUE_H
#define PT_PROFILE_SAMPLE_RAW_QUEUE_H

#include "base/buf.h"

#include <pthread.h>

#define PT_RAW_BLOCKS      24
#define PT_RAW_BLOCK_BYTES (1u << 20)

struct pt_raw_block {
    struct pt_buf bytes;
    /* all records before this time are in this or earlier blocks; 0 = unknown */
    int64_t complete_ns;
    bool is_last;
};

struct pt_raw_queue {
    pthread_mutex_t lock;
    pthread_cond_t has_queued;
    struct pt_raw_block blocks[PT_RAW_BLOCKS];
    struct pt_raw_block *free[PT_RAW_BLOCKS], *queued[PT_RAW_BLOCKS];
    unsigned free_count, first_queued, queued_count;
};

void pt_raw_queue_init(struct pt_raw_queue *q);
void pt_raw_queue_release(struct pt_raw_queue *q);

/* An empty block, or NULL. */
struct pt_raw_block *pt_raw_queue_take_free(struct pt_raw_queue *q);
void pt_raw_queue_put(struct pt_raw_queue *q, struct pt_raw_block *b);
/* Waits for and returns the oldest block. */
struct pt_raw_block *pt_raw_queue_take(struct pt_raw_queue *q);
/* Is the queue empty? */
bool pt_raw_queue_is_empty(struct pt_raw_queue *q);
/* Were all queued blocks given back? Then the worker does nothing until the next is put. `taken`:
 * the number of free blocks that the caller has. */
bool pt_raw_queue_is_idle(struct pt_raw_queue *q, unsigned taken);
void pt_raw_queue_give_back(struct pt_raw_queue *q, struct pt_raw_block *b);

#endif
