/* source/gpu/nvml.h -- NVIDIA GPUs through NVML: what the files of the backend share, and a
 * diagnosis. */
#ifndef PT_SOURCE_GPU_NVML_H
#define PT_SOURCE_GPU_NVML_H

#include "source/gpu/backend.h"
#include "source/gpu/nvml_api.h"

/* A GPU, or a MIG instance of one. */
struct pt_nvml_unit {
    struct pt_nvml_device *handle; /* NULL: not to be had */
    int parent;                    /* index of the GPU; -1 for a GPU */
    unsigned gpu_instance, compute_instance;
    bool has_instances; /* its processes are listed by them */
    bool is_gone;

    uint64_t off;         /* calls that it does not support, a bit each; not asked again */
    uint32_t fields_off;  /* the same of field values */
    uint32_t listing_off; /* and of lists of processes */

    struct pt_nvml_gpm_sample *gpm_samples[2];
    int gpm_newest; /* index of the last sample taken, if there is one */
    bool has_gpm_sample;

    unsigned long long sampled_us; /* newest sample of a process seen */
    bool has_events;
    int64_t xid_count, xid_last;
};

struct pt_nvml_state {
    struct pt_nvml_api api;
    struct pt_nvml_unit *units; /* GPUs in the order of NVML, then MIG instances */
    size_t unit_count, unit_capacity;
    char driver_version[80], cuda_version[16];
    struct pt_nvml_event_set *events;
    struct pt_nvml_gpm_query *gpm_query;

    struct pt_nvml_process *processes;
    struct pt_nvml_process_v1 *processes_v1;
    struct pt_nvml_process_sample *samples;
    size_t process_capacity, process_v1_capacity, sample_capacity;
};

/* What a return code means for the one who asked. */
enum pt_nvml_outcome {
    PT_NVML_OK,
    PT_NVML_LATER, /* no answer this time */
    PT_NVML_NEVER, /* this device does not have it */
    PT_NVML_GONE,  /* the device, or the driver, is no longer there */
};

enum pt_nvml_outcome pt_nvml_outcome_of(int code);

/* nvml_read.c */
void pt_nvml_read_device(void *state, int index, enum pt_gpu_pace pace, struct pt_gpu_device *d);
void pt_nvml_release_unit(struct pt_nvml_state *s, struct pt_nvml_unit *unit);
/* nvml_process.c */
void pt_nvml_read_processes(void *state, int first, struct pt_gpu_reading *r);

extern const struct pt_gpu_backend pt_nvml_backend;

/* For `doctor`: asks the library as a run would. */
struct pt_nvml_diagnosis {
    int load_error; /* 0, or -errno of loading the library */
    int code;       /* of NVML, once it is loaded */
    unsigned device_count;
    char driver_version[80];
    char words[128];
};

void pt_nvml_diagnose(struct pt_nvml_diagnosis *d);

#endif
