/* source/gpu/intel.h -- Intel GPUs through the files of i915 and xe in sysfs.
 *
 * The drivers report energy, clocks, temperatures and throttling, but neither utilization nor
 * memory: those are known per process only (source/gpu/drm_fdinfo.h). */
#ifndef PT_SOURCE_GPU_INTEL_H
#define PT_SOURCE_GPU_INTEL_H

#include "source/gpu/backend.h"

extern const struct pt_gpu_backend pt_intel_backend;

#endif
