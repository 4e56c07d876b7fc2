/* source/kernel/keyed.h -- reads selected keys from files of "key value" lines:
 *
 *     MemTotal:       32617384 kB          pgfault 1000000
 *
 * The order of lines in such a file does not change while the kernel runs, so the order of the
 * wanted keys is learnt once; after that a line is compared with the one key that comes next. */
#ifndef PT_SOURCE_KERNEL_KEYED_H
#define PT_SOURCE_KERNEL_KEYED_H

#include "source/kernel/fields.h"

#define PT_KEYED_MAX 64

struct pt_keyed {
    uint8_t order[PT_KEYED_MAX]; /* wanted keys in the order of the file */
    int found_count;             /* how many of them the file has; 0 = not learnt yet */
};

/* Reads the value of keys[i] into values[i]; is_present[i] says whether it was
 * there and a number. `keys` must be the same array on every call, and include
 * the colon where the file has one. At most PT_KEYED_MAX keys. */
void pt_keyed_read(struct pt_keyed *k, const struct pt_str *keys, int key_count,
                   struct pt_scan text, int64_t *values, bool *is_present);

#endif
