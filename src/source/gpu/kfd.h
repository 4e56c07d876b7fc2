/* source/gpu/kfd.h -- ROCm processes, which do their work past the DRM clients:
 *
 *     /sys/class/kfd/kfd/topology/nodes/1/gpu_id           35218
 *     /sys/class/kfd/kfd/topology/nodes/1/properties       location_id 25600, domain 0
 *     /sys/class/kfd/kfd/proc/4711/vram_35218              1073741824
 *     /sys/class/kfd/kfd/proc/4711/stats_35218/cu_occupancy  24 */
#ifndef PT_SOURCE_GPU_KFD_H
#define PT_SOURCE_GPU_KFD_H

#include "base/fs.h"
#include "source/gpu/gpu_device.h"

#define PT_KFD_NODES 64

struct pt_kfd {
    struct pt_fd directory; /* /sys/class/kfd/kfd */
    struct {
        uint32_t gpu_id;
        char pci_bus_id[32];
    } nodes[PT_KFD_NODES];
    int node_count;
};

void pt_kfd_open(struct pt_kfd *kfd, const struct pt_fs *fs);
void pt_kfd_close(struct pt_kfd *kfd);
/* Adds what its processes have on the devices of `r`. Their pids are those of the host. */
void pt_kfd_read(const struct pt_kfd *kfd, struct pt_gpu_reading *r);

#endif
