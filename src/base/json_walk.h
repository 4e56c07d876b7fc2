/* base/json_walk.h -- reads JSON as a flat list of paths and values.
 *
 *     {"host": {"kernel": "6.1"}, "disks": [{"name": "sda"}]}
 *
 * gives "host.kernel" = 6.1 and "disks.0.name" = sda. Nothing is allocated; strings are handed over
 * as they stand in the text, with their escapes. */
#ifndef PT_BASE_JSON_WALK_H
#define PT_BASE_JSON_WALK_H

#include "base/attr.h"
#include "base/buf.h"

#define PT_JSON_PATH_MAX 256 /* longer paths are cut */

/* A scalar: number, string without its quotes, true, false or null. */
typedef void pt_json_value_function(void *arg, const char *path, struct pt_str value);

/* 0, or -EINVAL: the text is not JSON, or too deep. Values before the fault were handed over. */
int pt_json_walk(struct pt_str text, pt_json_value_function *take, void *arg) PT_MUST_CHECK;

/* Appends a string that was handed over, its escapes undone. What is no escape stays as it is. */
void pt_json_unescape(struct pt_str value, struct pt_buf *into);

#endif
