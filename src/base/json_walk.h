/* base/json_walk.h -- reads JSON as a flat list of paths and values.
 *
 *     {"host": {"kernel": "6.1"}, "disks": [{"name": "sda"}]}
 *
 * gives "host.kernel" = 6.1 and "disks.0.name" = sda. Names and strings are decoded: nobody outside
 * sees an escape. It allocates only for strings that have some. */
#ifndef PT_BASE_JSON_WALK_H
#define PT_BASE_JSON_WALK_H

#include "base/attr.h"
#include "base/str.h"

#define PT_JSON_PATH_MAX 256 /* longer paths are truncated */

enum pt_json_kind { PT_JSON_NULL, PT_JSON_BOOL, PT_JSON_NUMBER, PT_JSON_STRING };

/* A scalar. */
struct pt_json_value {
    enum pt_json_kind kind;
    struct pt_str text; /* the string, or the word as it is in the text: 6.1, true, null */
};

/* The text of `value` lasts for the call only. */
typedef void pt_json_value_function(void *arg, const char *path, struct pt_json_value value);

/* 0, or -EINVAL: the text is not JSON or is nested too deeply. Values before the error were passed
 * to `take`. */
int pt_json_walk(struct pt_str text, pt_json_value_function *take, void *arg) PT_MUST_CHECK;

#endif
