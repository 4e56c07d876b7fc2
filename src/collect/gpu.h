/* collect/gpu.h -- what others need of the GPU collector: the GPUs in the static file. */
#ifndef PT_COLLECT_GPU_H
#define PT_COLLECT_GPU_H

#include "base/json.h"
#include "collect/collector.h"

extern const struct pt_collector pt_gpu_collector;

/* Writes the object "nvidia" of the static file, and "gpus" with those of all vendors. `state` is
 * that of an open collector; NULL, or without GPUs: the objects are there and empty. */
void pt_gpu_put_static(struct pt_json *j, void *state);

#endif
