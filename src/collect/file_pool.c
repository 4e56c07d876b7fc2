#include "collect/file_pool.h"

#include <errno.h>

/* A slot active this recently keeps its files: with more active processes than descriptors, files
 * would only be opened and closed in turn. */
#define RECENT_NS (5 * INT64_C(1000000000))

static void unlink_slot(struct pt_file_pool *pool, struct pt_file_slot *slot) {
    if (slot->newer)
        slot->newer->older = slot->older;
    else
        pool->newest = slot->older;
    if (slot->older)
        slot->older->newer = slot->newer;
    else
        pool->oldest = slot->newer;
    slot->newer = slot->older = NULL;
}

static void link_newest(struct pt_file_pool *pool, struct pt_file_slot *slot) {
    slot->older = pool->newest;
    if (pool->newest)
        pool->newest->newer = slot;
    else
        pool->oldest = slot;
    pool->newest = slot;
}

void pt_file_pool_forget(struct pt_file_pool *pool, struct pt_file_slot *slot) {
    if (!slot->kept_count)
        return;
    unlink_slot(pool, slot);
    for (int i = 0; i < PT_FILE_SLOT_FILES; i++)
        pt_file_close(&slot->files[i]);
    pool->kept_count -= slot->kept_count;
    slot->kept_count = 0;
}

void pt_file_pool_release(struct pt_file_pool *pool) {
    while (pool->oldest)
        pt_file_pool_forget(pool, pool->oldest);
    pt_text_release(&pool->text);
    *pool = (struct pt_file_pool){ 0 };
}

static void shrink(struct pt_file_pool *pool, int kept_count) {
    while (pool->oldest && pool->kept_count > kept_count)
        pt_file_pool_forget(pool, pool->oldest);
}

void pt_file_pool_trim(struct pt_file_pool *pool, int budget, int64_t idle_ns) {
    if (pool->given_back > 0)
        pool->given_back--; /* grows the budget again slowly */
    pool->budget = budget - pool->given_back;
    shrink(pool, pool->budget);
    while (pool->oldest && pool->oldest->active_ns < idle_ns)
        pt_file_pool_forget(pool, pool->oldest);
}

void pt_file_pool_activate(struct pt_file_pool *pool, struct pt_file_slot *slot, int64_t now_ns) {
    slot->active_ns = now_ns;
    if (!slot->kept_count || pool->newest == slot)
        return;
    unlink_slot(pool, slot);
    link_newest(pool, slot);
}

/* Opens a file; closes kept files if the process or the machine has no more descriptors. */
static int open_file(struct pt_file_pool *pool, struct pt_file *file, int directory,
                     const char *path) {
    int rc = pt_file_open(file, directory, path);
    while ((rc == -EMFILE || rc == -ENFILE) && pool->oldest) {
        int less = pool->kept_count / 2;
        shrink(pool, less);
        pool->given_back += pool->budget - less;
        pool->budget = less;
        rc = pt_file_open(file, directory, path);
    }
    return rc;
}

static bool may_keep(struct pt_file_pool *pool, const struct pt_file_slot *slot) {
    while (pool->kept_count >= pool->budget) {
        if (!pool->oldest || pool->oldest == slot ||
            pool->oldest->active_ns > slot->active_ns - RECENT_NS)
            return false;
        pt_file_pool_forget(pool, pool->oldest);
    }
    return true;
}

int pt_file_pool_read(struct pt_file_pool *pool, struct pt_file_slot *slot, int index,
                      int directory, const char *path, struct pt_scan *text) {
    if (pt_file_slot_keeps(slot, index))
        return pt_file_read(&slot->files[index], &pool->text, text);
    struct pt_file file = { 0 };
    *text = (struct pt_scan){ .failed = true };
    int rc = open_file(pool, &file, directory, path);
    if (!rc)
        rc = pt_file_read(&file, &pool->text, text);
    if (rc || !may_keep(pool, slot)) {
        pt_file_close(&file);
        return rc;
    }
    if (!slot->kept_count)
        link_newest(pool, slot);
    slot->files[index] = file;
    slot->kept_count++;
    pool->kept_count++;
    return 0;
}

int pt_file_pool_read_once(struct pt_file_pool *pool, int directory, const char *path,
                           struct pt_scan *text) {
    struct pt_file file = { 0 };
    *text = (struct pt_scan){ .failed = true };
    int rc = open_file(pool, &file, directory, path);
    if (!rc)
        rc = pt_file_read(&file, &pool->text, text);
    pt_file_close(&file);
    return rc;
}
