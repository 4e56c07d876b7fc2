/* source/gpu/backend.h -- a source of GPU data: a library or a set of kernel files.
 *
 * A backend is const data; its state is zeroed memory that the poller allocates. All functions are
 * called by the poller's thread only and may block: the sampler never waits for them. */
#ifndef PT_SOURCE_GPU_BACKEND_H
#define PT_SOURCE_GPU_BACKEND_H

#include "base/err.h"
#include "base/fs.h"
#include "source/gpu/gpu_device.h"

struct pt_gpu_backend {
    const char *name;
    size_t state_size;
    /* 0, or -errno with a message: -ENODATA if this machine has no such GPU, other codes say why
     * none can be read. Then close is not called. */
    int (*open)(void *state, const struct pt_fs *fs, struct pt_err *err);
    int (*device_count)(const void *state);
    /* The static part, once. `first` is the index of the backend's first device. */
    void (*describe_device)(void *state, int index, int first, struct pt_gpu_info *info);
    /* Fills in the values of a pace, which were forgotten before, or marks the device as gone. */
    void (*read_device)(void *state, int index, enum pt_gpu_pace pace, struct pt_gpu_device *d);
    /* Adds the processes on the devices; or NULL. `r` already has all devices, those of this
     * backend from `first` on. */
    void (*read_processes)(void *state, int first, struct pt_gpu_reading *r);
    void (*close)(void *state);
};

extern const struct pt_gpu_backend *const pt_gpu_backends[]; /* NULL-terminated; backends.c */

#endif
