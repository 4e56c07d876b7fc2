/* source/gpu/drm_fdinfo.h -- what a process does on a GPU of an open driver, from
 * /proc/PID/fdinfo/FD of its descriptors of /dev/dri:
 *
 *     drm-driver:	amdgpu
 *     drm-client-id:	1234
 *     drm-pdev:	0000:03:00.0
 *     drm-memory-vram:	2048 KiB
 *     drm-engine-gfx:	123456789 ns
 *     drm-cycles-rcs:	28257900            (xe, instead of the time)
 *     drm-total-cycles-rcs:	7655183225
 *
 * Descriptors are duplicated and inherited: a client is counted once, by device and client id. */
#ifndef PT_SOURCE_GPU_DRM_FDINFO_H
#define PT_SOURCE_GPU_DRM_FDINFO_H

#include "base/scan.h"
#include "source/gpu/backend.h"

struct pt_drm_client {
    char pci_bus_id[32];
    uint64_t id;
    int64_t values[PT_GPU_PROCESS_FIELD_COUNT];
    uint32_t present;
};

/* 0, or -ENODATA if the text has no client: not a GPU, or a driver without these fields. */
int pt_drm_fdinfo_parse(struct pt_scan text, struct pt_drm_client *client) PT_MUST_CHECK;

extern const struct pt_gpu_backend pt_drm_backend;

#endif
