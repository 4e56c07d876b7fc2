/* base/json_walk.h -- reads JSON as a flat list of paths and values.
 *
 *     {"host": {"kernel": "6.1"}, "disks": [{"name": "sda"}]}
 *
 * gives "host.kernel" = 6.1 and "disks.0.name" = sda. It allocates nothing; strings are passed as
 * they are in the text, with escapes. */
#ifndef PT_BASE_JSON_WALK_H
#define PT_BASE_JSON_WALK_H

#include "base/attr.h"
#include "base/buf.h"

#define PT_JSON_PATH_MAX 256 /* longer paths are truncated */

/* `value` is a scalar: number, string without quotes, true, false or null. */
typedef void pt_json_value_function(void *arg, const char *path, struct pt_str value);

/* 0, or -EINVAL: the text is not JSON or is nested too deeply. Values before the error were passed
 * to `take`. */
int pt_json_walk(struct pt_str text, pt_json_value_function *take, void *arg) PT_MUST_CHECK;

/* Appends the string with its escapes decoded. Unknown escapes stay as they are. */
void pt_json_unescape(struct pt_str value, struct pt_buf *into);

#endif
