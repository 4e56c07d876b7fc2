/* collect/file_pool.h -- keeps the most used files open.
 *
 * Reading an open /proc file takes half the time of opening and reading it, but the number of
 * descriptors is limited. Each process has a slot of a few files; the slots of recently active
 * processes keep their files open, the others open, read and close. A full descriptor table is not
 * an error: the pool closes some files. */
#ifndef PT_COLLECT_FILE_POOL_H
#define PT_COLLECT_FILE_POOL_H

#include "base/fs.h"

#define PT_FILE_SLOT_FILES 3

/* {0} keeps nothing. */
struct pt_file_slot {
    struct pt_file files[PT_FILE_SLOT_FILES];
    struct pt_file_slot *newer, *older; /* list of the slots with open files */
    int64_t active_ns;
    int kept_count;
};

struct pt_file_pool {
    struct pt_file_slot *newest, *oldest;
    struct pt_text text; /* the last file read */
    int kept_count, budget;
    int given_back; /* taken off the budget, because other code needed descriptors */
};

void pt_file_pool_release(struct pt_file_pool *pool); /* the slots belong to their owners */
/* Starts a tick: at most `budget` descriptors, none for slots not active since `idle_ns`. */
void pt_file_pool_trim(struct pt_file_pool *pool, int budget, int64_t idle_ns);

/* Marks the slot as active: its files are worth keeping open. */
void pt_file_pool_activate(struct pt_file_pool *pool, struct pt_file_slot *slot, int64_t now_ns);
/* Reads file `index` of the slot; opens `path` if it is not open. `text` is valid until the next
 * read. 0 or -errno. */
int pt_file_pool_read(struct pt_file_pool *pool, struct pt_file_slot *slot, int index,
                      int directory, const char *path, struct pt_scan *text) PT_MUST_CHECK;
/* Opens, reads and closes; closes kept files if there are no descriptors left. */
int pt_file_pool_read_once(struct pt_file_pool *pool, int directory, const char *path,
                           struct pt_scan *text) PT_MUST_CHECK;
void pt_file_pool_forget(struct pt_file_pool *pool, struct pt_file_slot *slot);

static inline bool pt_file_slot_keeps(const struct pt_file_slot *slot, int index) {
    return pt_file_is_open(&slot->files[index]);
}

#endif
