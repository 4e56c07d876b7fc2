#include "source/gpu/backend.h"

extern const struct pt_gpu_backend pt_nvml_backend, pt_amdgpu_backend, pt_intel_backend,
    pt_drm_backend;

/* The order of the devices: NVIDIA's come first, so that their index is the one of nvidia-smi.
 * The last has no devices of its own: it finds processes on those of the two before. */
const struct pt_gpu_backend *const pt_gpu_backends[] = {
    &pt_nvml_backend, &pt_amdgpu_backend, &pt_intel_backend, &pt_drm_backend, NULL,
};
