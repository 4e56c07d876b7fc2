#include "source/gpu/nvml_api.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static_assert(sizeof(struct pt_nvml_utilization) == 8, "ABI");
static_assert(sizeof(struct pt_nvml_memory) == 24, "ABI");
static_assert(sizeof(struct pt_nvml_memory_v2) == 40, "ABI");
static_assert(sizeof(struct pt_nvml_memory_v2) == (PT_NVML_MEMORY_V2 & 0xffffff), "ABI");
static_assert(offsetof(struct pt_nvml_memory_v2, total) == 8, "ABI");
static_assert(offsetof(struct pt_nvml_memory_v2, reserved) == 16, "ABI");
static_assert(offsetof(struct pt_nvml_memory_v2, free) == 24, "ABI");
static_assert(offsetof(struct pt_nvml_memory_v2, used) == 32, "ABI");
static_assert(sizeof(struct pt_nvml_bar1) == 24, "ABI");
static_assert(sizeof(struct pt_nvml_pci) == 68, "ABI");
static_assert(offsetof(struct pt_nvml_pci, bus_id) == 36, "ABI");
static_assert(sizeof(struct pt_nvml_process_v1) == 16, "ABI");
static_assert(sizeof(struct pt_nvml_process) == 24, "ABI");
static_assert(offsetof(struct pt_nvml_process, memory) == 8, "ABI");
static_assert(offsetof(struct pt_nvml_process, gpu_instance) == 16, "ABI");
static_assert(offsetof(struct pt_nvml_process, compute_instance) == 20, "ABI");
static_assert(sizeof(struct pt_nvml_process_sample) == 32, "ABI");
static_assert(offsetof(struct pt_nvml_process_sample, time_us) == 8, "ABI");
static_assert(offsetof(struct pt_nvml_process_sample, sm) == 16, "ABI");
static_assert(offsetof(struct pt_nvml_process_sample, decoder) == 28, "ABI");
static_assert(sizeof(struct pt_nvml_violation) == 16, "ABI");
static_assert(sizeof(struct pt_nvml_field) == 40, "ABI");
static_assert(offsetof(struct pt_nvml_field, time_us) == 8, "ABI");
static_assert(offsetof(struct pt_nvml_field, latency_us) == 16, "ABI");
static_assert(offsetof(struct pt_nvml_field, type) == 24, "ABI");
static_assert(offsetof(struct pt_nvml_field, result) == 28, "ABI");
static_assert(offsetof(struct pt_nvml_field, value) == 32, "ABI");
static_assert(sizeof(struct pt_nvml_event) == 32, "ABI");
static_assert(offsetof(struct pt_nvml_event, type) == 8, "ABI");
static_assert(offsetof(struct pt_nvml_event, data) == 16, "ABI");
static_assert(offsetof(struct pt_nvml_event, gpu_instance) == 24, "ABI");
static_assert(sizeof(struct pt_nvml_attributes) == 40, "ABI");
static_assert(sizeof(struct pt_nvml_gpm_support) == 8, "ABI");
static_assert(sizeof(struct pt_nvml_gpm_metric) == 40, "ABI");
static_assert(offsetof(struct pt_nvml_gpm_query, metrics) == 24, "ABI");
static_assert(sizeof(struct pt_nvml_gpm_query) >= 13344, "ABI");

/* WSL keeps the library of the Windows driver outside of the usual path. */
static const char *const library_names[] = {
    "libnvidia-ml.so.1",
    "libnvidia-ml.so",
    "/usr/lib/wsl/lib/libnvidia-ml.so.1",
};

#define MEMBER(name) offsetof(struct pt_nvml_api, name)

/* Where a function goes, and its spellings, the newest first. Spellings with another signature
 * have members of their own. */
static const struct symbol {
    size_t member;
    const char *names[3];
} symbols[] = {
    { MEMBER(init), { "nvmlInit_v2", "nvmlInit" } },
    { MEMBER(shutdown), { "nvmlShutdown" } },
    { MEMBER(error_string), { "nvmlErrorString" } },
    { MEMBER(driver_version), { "nvmlSystemGetDriverVersion" } },
    { MEMBER(cuda_version),
      { "nvmlSystemGetCudaDriverVersion_v2", "nvmlSystemGetCudaDriverVersion" } },
    { MEMBER(device_count), { "nvmlDeviceGetCount_v2", "nvmlDeviceGetCount" } },
    { MEMBER(device_by_index), { "nvmlDeviceGetHandleByIndex_v2", "nvmlDeviceGetHandleByIndex" } },
    { MEMBER(name), { "nvmlDeviceGetName" } },
    { MEMBER(uuid), { "nvmlDeviceGetUUID" } },
    { MEMBER(pci),
      { "nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo" } },
    { MEMBER(utilization), { "nvmlDeviceGetUtilizationRates" } },
    { MEMBER(memory_v2), { "nvmlDeviceGetMemoryInfo_v2" } },
    { MEMBER(memory), { "nvmlDeviceGetMemoryInfo" } },
    { MEMBER(bar1), { "nvmlDeviceGetBAR1MemoryInfo" } },
    { MEMBER(temperature), { "nvmlDeviceGetTemperature" } },
    { MEMBER(clock), { "nvmlDeviceGetClockInfo" } },
    { MEMBER(max_clock), { "nvmlDeviceGetMaxClockInfo" } },
    { MEMBER(pcie_throughput), { "nvmlDeviceGetPcieThroughput" } },
    { MEMBER(nvlink_state), { "nvmlDeviceGetNvLinkState" } },
    { MEMBER(power), { "nvmlDeviceGetPowerUsage" } },
    { MEMBER(power_limit),
      { "nvmlDeviceGetEnforcedPowerLimit", "nvmlDeviceGetPowerManagementLimit" } },
    { MEMBER(perf_state), { "nvmlDeviceGetPerformanceState", "nvmlDeviceGetPowerState" } },
    { MEMBER(fan), { "nvmlDeviceGetFanSpeed" } },
    { MEMBER(pcie_generation), { "nvmlDeviceGetCurrPcieLinkGeneration" } },
    { MEMBER(pcie_width), { "nvmlDeviceGetCurrPcieLinkWidth" } },
    { MEMBER(pcie_replays), { "nvmlDeviceGetPcieReplayCounter" } },
    { MEMBER(energy), { "nvmlDeviceGetTotalEnergyConsumption" } },
    { MEMBER(clock_reasons),
      { "nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons" } },
    { MEMBER(encoder), { "nvmlDeviceGetEncoderUtilization" } },
    { MEMBER(decoder), { "nvmlDeviceGetDecoderUtilization" } },
    { MEMBER(ecc), { "nvmlDeviceGetTotalEccErrors" } },
    { MEMBER(retired_pages), { "nvmlDeviceGetRetiredPages" } },
    { MEMBER(remapped_rows), { "nvmlDeviceGetRemappedRows" } },
    { MEMBER(violation), { "nvmlDeviceGetViolationStatus" } },
    { MEMBER(fields), { "nvmlDeviceGetFieldValues" } },
    { MEMBER(compute_processes),
      { "nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2" } },
    { MEMBER(graphics_processes),
      { "nvmlDeviceGetGraphicsRunningProcesses_v3", "nvmlDeviceGetGraphicsRunningProcesses_v2" } },
    { MEMBER(mps_processes),
      { "nvmlDeviceGetMPSComputeRunningProcesses_v3",
        "nvmlDeviceGetMPSComputeRunningProcesses_v2" } },
    { MEMBER(compute_processes_v1), { "nvmlDeviceGetComputeRunningProcesses" } },
    { MEMBER(graphics_processes_v1), { "nvmlDeviceGetGraphicsRunningProcesses" } },
    { MEMBER(process_utilization), { "nvmlDeviceGetProcessUtilization" } },
    { MEMBER(mig_mode), { "nvmlDeviceGetMigMode" } },
    { MEMBER(max_mig_count), { "nvmlDeviceGetMaxMigDeviceCount" } },
    { MEMBER(mig_by_index), { "nvmlDeviceGetMigDeviceHandleByIndex" } },
    { MEMBER(gpu_instance), { "nvmlDeviceGetGpuInstanceId" } },
    { MEMBER(compute_instance), { "nvmlDeviceGetComputeInstanceId" } },
    { MEMBER(attributes), { "nvmlDeviceGetAttributes_v2", "nvmlDeviceGetAttributes" } },
    { MEMBER(event_set_create), { "nvmlEventSetCreate" } },
    { MEMBER(event_set_free), { "nvmlEventSetFree" } },
    { MEMBER(register_events), { "nvmlDeviceRegisterEvents" } },
    { MEMBER(event_wait), { "nvmlEventSetWait_v2" } },
    { MEMBER(gpm_support), { "nvmlGpmQueryDeviceSupport" } },
    { MEMBER(gpm_sample_alloc), { "nvmlGpmSampleAlloc" } },
    { MEMBER(gpm_sample_free), { "nvmlGpmSampleFree" } },
    { MEMBER(gpm_sample), { "nvmlGpmSampleGet" } },
    { MEMBER(gpm_mig_sample), { "nvmlGpmMigSampleGet" } },
    { MEMBER(gpm_metrics), { "nvmlGpmMetricsGet" } },
};

static const struct {
    int code;
    const char *words;
} known_codes[] = {
    { PT_NVML_SUCCESS, "no error" },
    { PT_NVML_NO_PERMISSION, "no permission to talk to the driver" },
    { PT_NVML_DRIVER_NOT_LOADED, "the driver is not loaded" },
    { PT_NVML_LIBRARY_NOT_FOUND, "a library of the driver is missing" },
    { PT_NVML_GPU_IS_LOST, "the GPU has fallen off the bus" },
    { PT_NVML_RESET_REQUIRED, "the GPU needs a reset" },
    { PT_NVML_VERSION_MISMATCH, "library and driver have different versions" },
};

static void *open_library(void) {
    const char *chosen = secure_getenv("PITOT_NVML");
    if (chosen)
        return chosen[0] ? dlopen(chosen, RTLD_NOW | RTLD_LOCAL) : NULL;
    for (size_t i = 0; i < PT_COUNT(library_names); i++) {
        void *library = dlopen(library_names[i], RTLD_NOW | RTLD_LOCAL);
        if (library)
            return library;
    }
    return NULL;
}

static void find_symbols(struct pt_nvml_api *api) {
    for (size_t i = 0; i < PT_COUNT(symbols); i++) {
        void *found = NULL;
        for (size_t k = 0; k < PT_COUNT(symbols[i].names) && !found && symbols[i].names[k]; k++)
            found = dlsym(api->library, symbols[i].names[k]);
        memcpy((char *)api + symbols[i].member, &found, sizeof found);
    }
}

int pt_nvml_load(struct pt_nvml_api *api, struct pt_err *err) {
    *api = (struct pt_nvml_api){ .library = open_library() };
    if (!api->library)
        return pt_fail(err, -ENOENT, "cannot load libnvidia-ml.so.1");
    find_symbols(api);
    if (api->init && api->shutdown && api->device_count && api->device_by_index)
        return 0;
    pt_nvml_unload(api);
    return pt_fail(err, -ENOSYS, "libnvidia-ml.so.1 is not NVML: functions are missing");
}

void pt_nvml_unload(struct pt_nvml_api *api) {
    if (api->library)
        dlclose(api->library);
    *api = (struct pt_nvml_api){ 0 };
}

const char *pt_nvml_words(const struct pt_nvml_api *api, int code) {
    for (size_t i = 0; i < PT_COUNT(known_codes); i++)
        if (known_codes[i].code == code)
            return known_codes[i].words;
    const char *words = api->error_string ? api->error_string(code) : NULL;
    return words ? words : "unknown error";
}
