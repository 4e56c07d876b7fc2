/* collect/gpu.h -- writes the GPUs into the static file, for other rooms. */
#ifndef PT_COLLECT_GPU_H
#define PT_COLLECT_GPU_H

#include "base/json.h"
#include "collect/collector.h"

extern const struct pt_collector pt_gpu_collector;

/* Writes the object "nvidia" of the static file, and "gpus" with those of all vendors. `state` is
 * that of an open collector; if it is NULL or has no GPUs, the objects are empty. */
void pt_gpu_put_static(struct pt_json *j, void *state);

#endif
