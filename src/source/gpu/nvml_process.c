/* source/gpu/nvml_process.c -- processes on NVIDIA GPUs: memory from the lists of running
 * processes, and shares of the engines from the samples that the driver keeps. */
#include "source/gpu/nvml.h"

#include "base/mem.h"

#define LIST_MAX 65536 /* a longer list is an error of the library */

struct listing {
    size_t function, function_v1; /* members of pt_nvml_api; the second is 0 if there is none */
    enum pt_gpu_process_kind kind;
};

#define MEMBER(name) offsetof(struct pt_nvml_api, name)

static const struct listing listings[] = {
    { MEMBER(compute_processes), MEMBER(compute_processes_v1), PT_GPU_KIND_COMPUTE },
    { MEMBER(graphics_processes), MEMBER(graphics_processes_v1), PT_GPU_KIND_GRAPHICS },
    { MEMBER(mps_processes), 0, PT_GPU_KIND_MPS },
};

#define SAMPLES_OFF (1u << PT_COUNT(listings))

static void *function_at(const struct pt_nvml_api *api, size_t member) {
    void *function = NULL;
    if (member)
        memcpy(&function, (const char *)api + member, sizeof function);
    return function;
}

/* Makes space for the number of entries that the library reported (0: for a first try), and for
 * processes that start until then. False if the number is absurd or there is no memory. */
static bool make_room(void *array, size_t *capacity, unsigned count, size_t size) {
    if (count > LIST_MAX)
        return false;
    return count < *capacity || pt_try_grow(array, capacity, (size_t)count + 16, size);
}

static int list(struct pt_nvml_state *s, struct pt_nvml_unit *unit, size_t member,
                unsigned *count) {
    pt_nvml_list_processes *get;
    void *function = function_at(&s->api, member);
    int code = function ? PT_NVML_INSUFFICIENT_SIZE : PT_NVML_FUNCTION_NOT_FOUND;
    memcpy(&get, &function, sizeof get);
    *count = 0;
    for (int i = 0; i < 4 && code == PT_NVML_INSUFFICIENT_SIZE; i++) {
        if (!make_room(&s->processes, &s->process_capacity, *count, sizeof *s->processes))
            break;
        *count = (unsigned)s->process_capacity;
        code = get(unit->handle, count, s->processes);
    }
    if (code == PT_NVML_SUCCESS && *count > s->process_capacity)
        *count = (unsigned)s->process_capacity;
    return code;
}

/* Older drivers report only pid and memory. */
static int list_v1(struct pt_nvml_state *s, struct pt_nvml_unit *unit, size_t member,
                   unsigned *count) {
    pt_nvml_list_processes_v1 *get;
    void *function = function_at(&s->api, member);
    int code = function ? PT_NVML_INSUFFICIENT_SIZE : PT_NVML_FUNCTION_NOT_FOUND;
    memcpy(&get, &function, sizeof get);
    *count = 0;
    for (int i = 0; i < 4 && code == PT_NVML_INSUFFICIENT_SIZE; i++) {
        if (!make_room(&s->processes_v1, &s->process_v1_capacity, *count, sizeof *s->processes_v1))
            break;
        *count = (unsigned)s->process_v1_capacity;
        code = get(unit->handle, count, s->processes_v1);
    }
    if (code != PT_NVML_SUCCESS)
        return code;
    if (*count > s->process_v1_capacity)
        *count = (unsigned)s->process_v1_capacity;
    if (!make_room(&s->processes, &s->process_capacity, *count, sizeof *s->processes))
        return PT_NVML_INSUFFICIENT_SIZE;
    for (unsigned i = 0; i < *count; i++)
        s->processes[i] = (struct pt_nvml_process){ .pid = s->processes_v1[i].pid,
                                                    .memory = s->processes_v1[i].memory };
    return code;
}

/* A process may be on several lists, with the same memory on each. */
static void add_process(struct pt_gpu_reading *r, int gpu, const struct pt_nvml_process *found,
                        enum pt_gpu_process_kind kind) {
    if (found->pid == 0 || found->pid > INT32_MAX)
        return;
    struct pt_gpu_process *p = pt_gpu_find_process(r, gpu, (pid_t)found->pid, true);
    if (!p)
        return;
    p->kinds |= kind;
    if (found->memory > INT64_MAX)
        return; /* all ones: unknown */
    if (!pt_gpu_process_has(p, PT_GPU_PROCESS_MEMORY_BYTES) ||
        p->values[PT_GPU_PROCESS_MEMORY_BYTES] < (int64_t)found->memory)
        pt_gpu_process_set(p, PT_GPU_PROCESS_MEMORY_BYTES, (int64_t)found->memory);
}

/* True if the list was to be had. */
static bool read_listing(struct pt_nvml_state *s, struct pt_nvml_unit *unit, size_t which, int gpu,
                         struct pt_gpu_reading *r) {
    unsigned count;
    if (unit->listing_off >> which & 1)
        return false;
    int code = list(s, unit, listings[which].function, &count);
    if (pt_nvml_outcome_of(code) == PT_NVML_NEVER)
        code = list_v1(s, unit, listings[which].function_v1, &count);
    enum pt_nvml_outcome outcome = pt_nvml_outcome_of(code);
    unit->listing_off |= (uint32_t)(outcome == PT_NVML_NEVER) << which;
    unit->is_gone |= outcome == PT_NVML_GONE;
    for (unsigned i = 0; i < count && outcome == PT_NVML_OK; i++)
        add_process(r, gpu, &s->processes[i], listings[which].kind);
    return outcome == PT_NVML_OK;
}

static void set_share(struct pt_gpu_process *p, enum pt_gpu_process_field field, unsigned percent) {
    if (percent <= 100) /* some drivers give numbers without meaning */
        pt_gpu_process_set(p, field, percent);
}

/* Samples come in any order; the newest of a process counts. A process that is on no list (it has
 * ended, or the lists are not allowed) is not added. */
static void add_samples(struct pt_nvml_state *s, unsigned count, int gpu,
                        struct pt_gpu_reading *r) {
    for (size_t i = 0; i < r->process_count; i++) {
        const struct pt_nvml_process_sample *newest = NULL;
        struct pt_gpu_process *p = &r->processes[i];
        for (unsigned k = 0; k < count && p->gpu == gpu; k++)
            if (s->samples[k].pid == (unsigned)p->pid &&
                (!newest || s->samples[k].time_us > newest->time_us))
                newest = &s->samples[k];
        if (!newest)
            continue;
        set_share(p, PT_GPU_PROCESS_SM_PERCENT, newest->sm);
        set_share(p, PT_GPU_PROCESS_MEMORY_PERCENT, newest->memory);
        set_share(p, PT_GPU_PROCESS_ENCODER_PERCENT, newest->encoder);
        set_share(p, PT_GPU_PROCESS_DECODER_PERCENT, newest->decoder);
    }
}

static void read_samples(struct pt_nvml_state *s, struct pt_nvml_unit *unit, int gpu,
                         struct pt_gpu_reading *r) {
    unsigned count = 0;
    int code = s->api.process_utilization ? PT_NVML_INSUFFICIENT_SIZE : PT_NVML_FUNCTION_NOT_FOUND;
    if (unit->listing_off & SAMPLES_OFF)
        return;
    for (int i = 0; i < 4 && code == PT_NVML_INSUFFICIENT_SIZE; i++) {
        if (!make_room(&s->samples, &s->sample_capacity, count, sizeof *s->samples))
            break;
        count = (unsigned)s->sample_capacity;
        code = s->api.process_utilization(unit->handle, s->samples, &count, unit->sampled_us);
    }
    enum pt_nvml_outcome outcome = pt_nvml_outcome_of(code);
    unit->listing_off |= outcome == PT_NVML_NEVER ? SAMPLES_OFF : 0;
    unit->is_gone |= outcome == PT_NVML_GONE;
    if (outcome != PT_NVML_OK)
        return;
    if (count > s->sample_capacity)
        count = (unsigned)s->sample_capacity;
    add_samples(s, count, gpu, r);
    for (unsigned i = 0; i < count; i++)
        if (s->samples[i].time_us > unit->sampled_us)
            unit->sampled_us = s->samples[i].time_us;
}

void pt_nvml_read_processes(void *state, int first, struct pt_gpu_reading *r) {
    struct pt_nvml_state *s = state;
    for (size_t i = 0; i < s->unit_count; i++) {
        struct pt_nvml_unit *unit = &s->units[i];
        struct pt_gpu_device *d = &r->devices[first + (int)i];
        size_t before = r->process_count;
        bool is_listed = false;
        if (unit->has_instances)
            continue;
        for (size_t k = 0; k < PT_COUNT(listings) && !unit->is_gone; k++)
            is_listed |= read_listing(s, unit, k, first + (int)i, r);
        if (r->process_count > before && !unit->is_gone)
            read_samples(s, unit, first + (int)i, r);
        d->has_process_count = is_listed && !unit->is_gone;
        d->process_count = (int64_t)(r->process_count - before);
        d->is_gone |= unit->is_gone;
    }
}
