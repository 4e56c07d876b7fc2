/* source/gpu/gpu_metrics.h -- the binary file gpu_metrics of amdgpu.
 *
 * It starts with its size (u16), a format (u8: 1 GPUs, 2 and 3 APUs) and a content revision (u8).
 * Revisions do not extend each other, and some kept their number when they grew, so a field is
 * identified by format, revision and size. All bits set means unknown. Fields with a chip-dependent
 * unit are left out. */
#ifndef PT_SOURCE_GPU_GPU_METRICS_H
#define PT_SOURCE_GPU_GPU_METRICS_H

#include "source/gpu/gpu_device.h"

/* Sets the values that the device does not have yet. 0, or -EINVAL if this is not such a file, or
 * -ENODATA if its revision is not known. */
int pt_gpu_metrics_parse(struct pt_str blob, struct pt_gpu_device *d) PT_MUST_CHECK;

#endif
