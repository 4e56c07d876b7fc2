#include "source/gpu/gpu_device.h"

#include "base/mem.h"

#include <stdio.h>
#include <strings.h>

static const struct {
    enum pt_gpu_throttle bit;
    const char *word;
} throttle_words[] = {
    { PT_GPU_THROTTLE_IDLE, "idle" },       { PT_GPU_THROTTLE_SETTING, "setting" },
    { PT_GPU_THROTTLE_POWER, "power" },     { PT_GPU_THROTTLE_THERMAL, "thermal" },
    { PT_GPU_THROTTLE_CURRENT, "current" }, { PT_GPU_THROTTLE_HARDWARE, "hardware" },
    { PT_GPU_THROTTLE_SYNC, "sync" },
};

void pt_gpu_reading_release(struct pt_gpu_reading *r) {
    pt_free(r->devices);
    pt_free(r->processes);
    *r = (struct pt_gpu_reading){ 0 };
}

bool pt_gpu_reading_copy(struct pt_gpu_reading *into, const struct pt_gpu_reading *from) {
    if (!pt_try_grow(&into->devices, &into->device_capacity, from->device_count,
                     sizeof *into->devices) ||
        !pt_try_grow(&into->processes, &into->process_capacity, from->process_count,
                     sizeof *into->processes))
        return false;
    if (from->device_count > 0)
        memcpy(into->devices, from->devices, from->device_count * sizeof *from->devices);
    if (from->process_count > 0)
        memcpy(into->processes, from->processes, from->process_count * sizeof *from->processes);
    into->device_count = from->device_count;
    into->process_count = from->process_count;
    into->time_ns = from->time_ns;
    into->processes_ns = from->processes_ns;
    into->sequence = from->sequence;
    into->cpu_ns = from->cpu_ns;
    return true;
}

struct pt_gpu_device *pt_gpu_add_device(struct pt_gpu_reading *r) {
    if (!pt_try_grow(&r->devices, &r->device_capacity, r->device_count + 1, sizeof *r->devices))
        return NULL;
    struct pt_gpu_device *d = &r->devices[r->device_count++];
    *d = (struct pt_gpu_device){ 0 };
    return d;
}

struct pt_gpu_process *pt_gpu_find_process(struct pt_gpu_reading *r, int gpu, pid_t pid,
                                           bool is_host_pid) {
    for (size_t i = 0; i < r->process_count; i++) {
        struct pt_gpu_process *p = &r->processes[i];
        if (p->gpu == gpu && p->pid == pid && p->is_host_pid == is_host_pid)
            return p;
    }
    if (!pt_try_grow(&r->processes, &r->process_capacity, r->process_count + 1,
                     sizeof *r->processes))
        return NULL;
    struct pt_gpu_process *p = &r->processes[r->process_count++];
    *p = (struct pt_gpu_process){ .gpu = gpu, .pid = pid, .is_host_pid = is_host_pid };
    return p;
}

void pt_gpu_forget(struct pt_gpu_device *d, enum pt_gpu_pace pace) {
    d->present &= pace == PT_GPU_FAST ? ~PT_GPU_FAST_FIELDS : PT_GPU_FAST_FIELDS;
    if (pace == PT_GPU_SLOW)
        d->gpm_present = 0;
}

int pt_gpu_at_address(const struct pt_gpu_reading *r, const char *pci_bus_id) {
    for (size_t i = 0; i < r->device_count; i++) {
        const struct pt_gpu_info *info = &r->devices[i].info;
        if (!info->is_instance && strcasecmp(info->pci_bus_id, pci_bus_id) == 0)
            return (int)i;
    }
    return -1;
}

const char *pt_gpu_vendor_name(enum pt_gpu_vendor vendor) {
    static const char *const names[PT_GPU_VENDOR_COUNT] = { "nvidia", "amd", "intel" };
    return names[vendor];
}

void pt_gpu_throttle_words(int64_t throttle, char *into, size_t capacity) {
    size_t used = 0;
    into[0] = 0;
    for (size_t i = 0; i < PT_COUNT(throttle_words); i++) {
        if (!(throttle & throttle_words[i].bit) || used >= capacity)
            continue;
        int n = snprintf(into + used, capacity - used, "%s%s", used > 0 ? ", " : "",
                         throttle_words[i].word);
        used += n > 0 ? (size_t)n : 0;
    }
}
