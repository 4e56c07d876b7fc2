#include "source/gpu/nvml.h"

#include "base/mem.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#define MIG_COUNT_MAX 64 /* 7 on any known GPU */

enum pt_nvml_outcome pt_nvml_outcome_of(int code) {
    switch (code) {
    case PT_NVML_SUCCESS:
        return PT_NVML_OK;
    case PT_NVML_INVALID_ARGUMENT:
    case PT_NVML_NOT_SUPPORTED:
    case PT_NVML_NO_PERMISSION:
    case PT_NVML_FUNCTION_NOT_FOUND:
    case PT_NVML_ARGUMENT_VERSION_MISMATCH:
        return PT_NVML_NEVER;
    case PT_NVML_UNINITIALIZED:
    case PT_NVML_DRIVER_NOT_LOADED:
    case PT_NVML_GPU_IS_LOST:
    case PT_NVML_RESET_REQUIRED:
        return PT_NVML_GONE;
    default:
        return PT_NVML_LATER;
    }
}

static int errno_of(int code) {
    switch (code) {
    case PT_NVML_NO_PERMISSION:
        return -EACCES;
    case PT_NVML_DRIVER_NOT_LOADED:
        return -ENODEV;
    case PT_NVML_VERSION_MISMATCH:
        return -ELIBBAD;
    default:
        return -EIO;
    }
}

static void terminate(char *text, size_t capacity) {
    text[capacity - 1] = 0;
}

static void read_versions(struct pt_nvml_state *s) {
    int cuda = 0;
    if (s->api.driver_version &&
        s->api.driver_version(s->driver_version, sizeof s->driver_version) != PT_NVML_SUCCESS)
        s->driver_version[0] = 0;
    terminate(s->driver_version, sizeof s->driver_version);
    /* 12040 is 12.4 */
    if (s->api.cuda_version && s->api.cuda_version(&cuda) == PT_NVML_SUCCESS && cuda > 0)
        snprintf(s->cuda_version, sizeof s->cuda_version, "%d.%d", cuda / 1000, cuda % 1000 / 10);
}

static struct pt_nvml_unit *add_unit(struct pt_nvml_state *s, struct pt_nvml_device *handle,
                                     int parent) {
    if (!pt_try_grow(&s->units, &s->unit_capacity, s->unit_count + 1, sizeof *s->units))
        return NULL;
    struct pt_nvml_unit *unit = &s->units[s->unit_count++];
    *unit = (struct pt_nvml_unit){ .handle = handle, .parent = parent, .is_gone = !handle };
    return unit;
}

static bool has_mig(const struct pt_nvml_state *s, struct pt_nvml_device *handle) {
    unsigned current = 0, pending = 0;
    return handle && s->api.mig_mode && s->api.mig_by_index && s->api.max_mig_count &&
           s->api.mig_mode(handle, &current, &pending) == PT_NVML_SUCCESS && current == 1;
}

static void add_instance(struct pt_nvml_state *s, struct pt_nvml_device *handle, int parent) {
    struct pt_nvml_unit *unit = add_unit(s, handle, parent);
    if (!unit)
        return;
    s->units[parent].has_instances = true;
    if (!s->api.gpu_instance || s->api.gpu_instance(handle, &unit->gpu_instance) != PT_NVML_SUCCESS)
        unit->gpu_instance = UINT32_MAX;
    if (!s->api.compute_instance ||
        s->api.compute_instance(handle, &unit->compute_instance) != PT_NVML_SUCCESS)
        unit->compute_instance = UINT32_MAX;
}

static void add_instances(struct pt_nvml_state *s, int parent) {
    struct pt_nvml_device *gpu = s->units[parent].handle;
    unsigned count = 0;
    if (!has_mig(s, gpu) || s->api.max_mig_count(gpu, &count) != PT_NVML_SUCCESS)
        return;
    for (unsigned i = 0; i < count && i < MIG_COUNT_MAX; i++) {
        struct pt_nvml_device *handle = NULL;
        if (s->api.mig_by_index(gpu, i, &handle) == PT_NVML_SUCCESS && handle)
            add_instance(s, handle, parent);
    }
}

/* Critical errors (XID) come as events; a GPU or a library without them goes without. */
static void register_events(struct pt_nvml_state *s, int gpu_count) {
    if (!s->api.event_set_create || !s->api.register_events || !s->api.event_wait ||
        s->api.event_set_create(&s->events) != PT_NVML_SUCCESS)
        return;
    for (int i = 0; i < gpu_count; i++) {
        struct pt_nvml_unit *unit = &s->units[i];
        unit->has_events = unit->handle && s->api.register_events(unit->handle, PT_NVML_EVENT_XID,
                                                                  s->events) == PT_NVML_SUCCESS;
    }
}

static int init(struct pt_nvml_state *s, unsigned *gpu_count, struct pt_err *err) {
    int code = s->api.init();
    if (code != PT_NVML_SUCCESS)
        return pt_fail(err, errno_of(code), "NVML: %s", pt_nvml_words(&s->api, code));
    code = s->api.device_count(gpu_count);
    if (code == PT_NVML_SUCCESS && *gpu_count > 0)
        return 0;
    s->api.shutdown();
    if (code == PT_NVML_SUCCESS)
        return pt_fail(err, -ENODATA, "NVML: no GPU found");
    return pt_fail(err, errno_of(code), "NVML: %s", pt_nvml_words(&s->api, code));
}

static void nvml_close(void *state) {
    struct pt_nvml_state *s = state;
    for (size_t i = 0; i < s->unit_count; i++)
        pt_nvml_release_unit(s, &s->units[i]);
    if (s->events && s->api.event_set_free)
        s->api.event_set_free(s->events);
    s->api.shutdown();
    pt_nvml_unload(&s->api);
    pt_free(s->units);
    pt_free(s->gpm_query);
    pt_free(s->processes);
    pt_free(s->processes_v1);
    pt_free(s->samples);
}

static int nvml_open(void *state, const struct pt_fs *fs, struct pt_err *err) {
    struct pt_nvml_state *s = state;
    unsigned gpu_count = 0;
    /* A copied /proc says nothing about the GPUs of this machine. */
    if (!fs->is_live && !secure_getenv("PITOT_NVML"))
        return pt_fail(err, -ENODATA, "NVML: not used, /proc is not that of this machine");
    int rc = pt_nvml_load(&s->api, err);
    if (rc)
        return rc == -ENOENT ? -ENODATA : rc;
    rc = init(s, &gpu_count, err);
    if (rc) {
        pt_nvml_unload(&s->api);
        return rc;
    }
    read_versions(s);
    /* A GPU that cannot be opened keeps its index, so that indices stay those of nvidia-smi. */
    for (unsigned i = 0; i < gpu_count; i++) {
        struct pt_nvml_device *handle = NULL;
        if (s->api.device_by_index(i, &handle) != PT_NVML_SUCCESS)
            handle = NULL;
        if (!add_unit(s, handle, -1)) {
            nvml_close(s);
            return pt_fail(err, -ENOMEM, "NVML: %s", strerror(ENOMEM));
        }
    }
    for (int i = 0; i < (int)gpu_count; i++)
        add_instances(s, i);
    register_events(s, (int)gpu_count);
    return 0;
}

static int nvml_device_count(const void *state) {
    const struct pt_nvml_state *s = state;
    return (int)s->unit_count;
}

static void read_text(pt_nvml_get_text *get, struct pt_nvml_device *handle, char *text,
                      size_t capacity) {
    if (!get || get(handle, text, (unsigned)capacity) != PT_NVML_SUCCESS)
        text[0] = 0;
    terminate(text, capacity);
}

static int64_t read_max_clock(const struct pt_nvml_state *s, struct pt_nvml_device *handle,
                              unsigned which) {
    unsigned mhz = 0;
    if (!s->api.max_clock || s->api.max_clock(handle, which, &mhz) != PT_NVML_SUCCESS)
        return 0;
    return mhz;
}

static int64_t read_total_memory(const struct pt_nvml_state *s, struct pt_nvml_device *handle) {
    struct pt_nvml_memory memory = { 0 };
    struct pt_nvml_memory_v2 memory_v2 = { .version = PT_NVML_MEMORY_V2 };
    if (s->api.memory_v2 && s->api.memory_v2(handle, &memory_v2) == PT_NVML_SUCCESS)
        memory.total = memory_v2.total;
    else if (!s->api.memory || s->api.memory(handle, &memory) != PT_NVML_SUCCESS)
        return 0;
    return memory.total > INT64_MAX ? 0 : (int64_t)memory.total;
}

static void describe_place(const struct pt_nvml_state *s, struct pt_nvml_device *handle,
                           struct pt_gpu_info *info) {
    struct pt_nvml_pci pci = { 0 };
    if (s->api.pci && s->api.pci(handle, &pci) == PT_NVML_SUCCESS)
        snprintf(info->pci_bus_id, sizeof info->pci_bus_id, "%04x:%02x:%02x.0", pci.domain, pci.bus,
                 pci.device);
}

static int64_t instance_id(unsigned id) {
    return id == UINT32_MAX ? -1 : (int64_t)id;
}

static void nvml_describe(void *state, int index, int first, struct pt_gpu_info *info) {
    struct pt_nvml_state *s = state;
    const struct pt_nvml_unit *unit = &s->units[index];
    info->vendor = PT_GPU_NVIDIA;
    pt_str_copy(info->driver_version, sizeof info->driver_version, pt_str_from(s->driver_version));
    pt_str_copy(info->cuda_version, sizeof info->cuda_version, pt_str_from(s->cuda_version));
    info->is_instance = unit->parent >= 0;
    info->parent = first + unit->parent;
    info->gpu_instance = instance_id(unit->gpu_instance);
    info->compute_instance = instance_id(unit->compute_instance);
    if (!unit->handle)
        return;
    read_text(s->api.name, unit->handle, info->name, sizeof info->name);
    read_text(s->api.uuid, unit->handle, info->uuid, sizeof info->uuid);
    describe_place(s, unit->parent >= 0 ? s->units[unit->parent].handle : unit->handle, info);
    info->memory_total_bytes = read_total_memory(s, unit->handle);
    info->max_graphics_mhz = read_max_clock(s, unit->handle, PT_NVML_CLOCK_GRAPHICS);
    info->max_sm_mhz = read_max_clock(s, unit->handle, PT_NVML_CLOCK_SM);
    info->max_memory_mhz = read_max_clock(s, unit->handle, PT_NVML_CLOCK_MEM);
}

const struct pt_gpu_backend pt_nvml_backend = {
    .name = "nvml",
    .state_size = sizeof(struct pt_nvml_state),
    .open = nvml_open,
    .device_count = nvml_device_count,
    .describe_device = nvml_describe,
    .read_device = pt_nvml_read_device,
    .read_processes = pt_nvml_read_processes,
    .close = nvml_close,
};

void pt_nvml_diagnose(struct pt_nvml_diagnosis *d) {
    struct pt_nvml_state s = { 0 };
    struct pt_err err;
    *d = (struct pt_nvml_diagnosis){ 0 };
    d->load_error = pt_nvml_load(&s.api, &err);
    if (d->load_error) {
        pt_str_copy(d->words, sizeof d->words, pt_str_from(err.text));
        return;
    }
    d->code = s.api.init();
    if (d->code == PT_NVML_SUCCESS) {
        d->code = s.api.device_count(&d->device_count);
        read_versions(&s);
        s.api.shutdown();
    }
    pt_str_copy(d->driver_version, sizeof d->driver_version, pt_str_from(s.driver_version));
    pt_str_copy(d->words, sizeof d->words, pt_str_from(pt_nvml_words(&s.api, d->code)));
    pt_nvml_unload(&s.api);
}
