/* store/static_machine.h -- sections of the static file about the hardware. */
#ifndef PT_STORE_STATIC_MACHINE_H
#define PT_STORE_STATIC_MACHINE_H

#include "base/fs.h"
#include "base/json.h"

/* "vCpuCache": sizes in bytes of the caches that the first CPU uses. */
void pt_static_put_caches(struct pt_json *j, const struct pt_fs *fs);
/* False for devices built from other disks or memory, and for drives with removable media. */
bool pt_static_is_whole_disk(const char *name);
/* "numa", "disks" (whole ones), "interfaces", "clock". */
void pt_static_put_devices(struct pt_json *j, const struct pt_fs *fs);

#endif
