/* collect/file_pool.h -- descriptors kept for the things that are read most.
 *
 * A kept /proc file is read in half the time of opening it again, but the number
 * of descriptors is limited. Each thing (a process) has a slot of a few files;
 * the slots of things that were active last keep theirs, the others open, read
 * and close. A full descriptor table is no error: the pool gives some back. */
#ifndef PT_COLLECT_FILE_POOL_H
#define PT_COLLECT_FILE_POOL_H

#include "base/fs.h"

#define PT_FILE_SLOT_FILES 3

/* {0} keeps nothing. */
struct pt_file_slot {
    struct pt_file files[PT_FILE_SLOT_FILES];
    struct pt_file_slot *newer, *older; /* of the slots that keep something */
    int64_t active_ns;
    int kept_count;
};

struct pt_file_pool {
    struct pt_file_slot *newest, *oldest;
    struct pt_text text; /* the last file read */
    int kept_count, budget;
    int given_back; /* of the budget, because others needed descriptors */
};

void pt_file_pool_release(struct pt_file_pool *pool); /* the slots belong to their owners */
/* At most `budget` descriptors in this tick, none for slots not active since `idle_ns`. */
void pt_file_pool_trim(struct pt_file_pool *pool, int budget, int64_t idle_ns);

/* Says that the thing of the slot did something: its files are worth keeping. */
void pt_file_pool_activate(struct pt_file_pool *pool, struct pt_file_slot *slot, int64_t now_ns);
/* Reads file `index` of the slot, opening `path` if it is not kept; `text` is
 * valid until the next read. 0 or -errno. */
int pt_file_pool_read(struct pt_file_pool *pool, struct pt_file_slot *slot, int index,
                      int directory, const char *path, struct pt_scan *text) PT_MUST_CHECK;
/* Opens, reads and closes; makes room when there are no descriptors left. */
int pt_file_pool_read_once(struct pt_file_pool *pool, int directory, const char *path,
                           struct pt_scan *text) PT_MUST_CHECK;
void pt_file_pool_forget(struct pt_file_pool *pool, struct pt_file_slot *slot);

static inline bool pt_file_slot_keeps(const struct pt_file_slot *slot, int index) {
    return pt_file_is_open(&slot->files[index]);
}

#endif
