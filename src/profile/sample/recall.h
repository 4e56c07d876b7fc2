/* profile/sample/recall.h -- reads memory of another process repeatedly at mostly the same
 * addresses: all pieces that were requested recently are read in advance with one system call. That
 * is several times cheaper than one call each, and the result is closer to one instant. */
#ifndef PT_PROFILE_SAMPLE_RECALL_H
#define PT_PROFILE_SAMPLE_RECALL_H

#include "inside/preload/python_frame.h"

#define PT_RECALL_PIECES 64
#define PT_RECALL_BYTES  (32u << 10)

struct pt_recalled {
    uint64_t address;
    uint32_t size, offset; /* offset in `bytes` */
    uint32_t age;          /* rounds since the last request */
};

/* The pieces of one thread; {0} at first. */
struct pt_recall {
    struct pt_recalled at[PT_RECALL_PIECES];
    uint32_t count;
    uint32_t read_count; /* of these, read in this round */
    uint32_t next;       /* probably requested next */
    uint8_t *bytes;
    struct pt_memory_reader from;
};

/* Begins a round. Until its end, pt_recall_read() with the recall as its state is a memory reader
 * that uses `from` only for what was not read in advance. `bytes` has PT_RECALL_BYTES and is
 * borrowed for the round. */
void pt_recall_begin(struct pt_recall *r, struct pt_memory_reader from, uint8_t *bytes);
size_t pt_recall_read(void *recall, const struct pt_memory_piece *pieces, size_t count);
void pt_recall_end(struct pt_recall *r);

#endif
