/* source/gpu/amdgpu.h -- AMD GPUs through the files of amdgpu in sysfs.
 *
 * pp_dpm_sclk, the clock levels, of which the current one has a star:
 *
 *     0: 852Mhz *
 *     1: 991Mhz
 *
 * The file pcie_bw is left alone: a read of it takes a second. */
#ifndef PT_SOURCE_GPU_AMDGPU_H
#define PT_SOURCE_GPU_AMDGPU_H

#include "source/gpu/backend.h"

struct pt_dpm_levels {
    int64_t current_mhz, max_mhz;
    bool has_current, has_max;
};

void pt_dpm_parse(struct pt_scan text, struct pt_dpm_levels *levels);

extern const struct pt_gpu_backend pt_amdgpu_backend;

#endif
