/* profile/sample/recall.h -- memory of another process, read again and again, mostly in the same
 * places: all places that were asked for lately are read in one call before anybody asks. That
 * is several times cheaper than one after the other, and what is found is closer to one instant. */
#ifndef PT_PROFILE_SAMPLE_RECALL_H
#define PT_PROFILE_SAMPLE_RECALL_H

#include "inside/preload/python_frame.h"

#define PT_RECALL_PIECES 64
#define PT_RECALL_BYTES  (32u << 10)

struct pt_recalled {
    uint64_t address;
    uint32_t size, offset; /* of its bytes */
    uint32_t age;          /* rounds since it was asked for */
};

/* Places of one thread; {0} at first. */
struct pt_recall {
    struct pt_recalled at[PT_RECALL_PIECES];
    uint32_t count;
    uint32_t read_count; /* of those, in this round */
    uint32_t next;       /* probably asked for next */
    uint8_t *bytes;
    struct pt_memory_reader from;
};

/* A round begins. Until its end, pt_recall_read() with the recall as its state is a reader, which
 * asks `from` only for what it has not got. `bytes`: PT_RECALL_BYTES, borrowed for the round. */
void pt_recall_begin(struct pt_recall *r, struct pt_memory_reader from, uint8_t *bytes);
size_t pt_recall_read(void *recall, const struct pt_memory_piece *pieces, size_t count);
void pt_recall_end(struct pt_recall *r);

#endif
