/* inside/region/bucket_text.h -- the buckets of a histogram as text: 1024:3,1:7,12:1 are three
 * values in bucket 1024, seven in the next one, one in the twelfth after that. */
#ifndef PT_INSIDE_REGION_BUCKET_TEXT_H
#define PT_INSIDE_REGION_BUCKET_TEXT_H

#include "base/buf.h"
#include "inside/region/histogram.h"

#include <stdbool.h>

/* Appends. */
void pt_bucket_text_write(const uint64_t buckets[PT_BUCKET_COUNT], struct pt_bucket_range used,
                          struct pt_buf *into);

/* Adds the counts to `buckets` and widens `used`. False: it is not such a text; part of it may have
 * been added. */
bool pt_bucket_text_add(struct pt_str text, uint64_t buckets[PT_BUCKET_COUNT],
                        struct pt_bucket_range *used);

#endif
