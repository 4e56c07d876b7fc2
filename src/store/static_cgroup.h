/* store/static_cgroup.h -- section of the static file about Pitot's own control group. */
#ifndef PT_STORE_STATIC_CGROUP_H
#define PT_STORE_STATIC_CGROUP_H

#include "base/fs.h"
#include "base/json.h"

enum pt_cgroup_layout { PT_CGROUP_NONE, PT_CGROUP_V1, PT_CGROUP_V2, PT_CGROUP_HYBRID };

/* By what is mounted at /sys/fs/cgroup. */
enum pt_cgroup_layout pt_static_cgroup_layout(const struct pt_fs *fs);
/* "v1", "v2", "hybrid"; NULL for none. */
const char *pt_static_cgroup_name(enum pt_cgroup_layout layout);

/* "cgroup": layout, own path per controller and the limits that apply: of the group itself
 * or of any group above it, whichever is tightest. */
void pt_static_put_cgroup(struct pt_json *j, const struct pt_fs *fs);

#endif
