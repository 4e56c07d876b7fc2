/* Any bytes as what drivers write: fdinfo, clock levels, gpu_metrics. Values stay within reason. */
#include "source/gpu/amdgpu.h"
#include "source/gpu/drm_card.h"
#include "source/gpu/drm_fdinfo.h"
#include "source/gpu/gpu_metrics.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_client(struct pt_str text) {
    struct pt_drm_client client;
    if (pt_drm_fdinfo_parse(pt_scan_of(text), &client))
        return;
    for (int i = 0; i < PT_GPU_PROCESS_FIELD_COUNT; i++)
        if ((client.present >> i & 1) && client.values[i] < 0)
            abort();
}

static void check_metrics(struct pt_str blob) {
    struct pt_gpu_device device = { 0 };
    (void)!pt_gpu_metrics_parse(blob, &device);
    for (int i = 0; i < PT_GPU_FIELD_COUNT; i++)
        if (pt_gpu_has(&device, (enum pt_gpu_field)i) && device.values[i] < 0)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_str text = { (const char *)data, size };
    struct pt_dpm_levels levels;
    check_client(text);
    check_metrics(text);
    pt_dpm_parse(pt_scan_of(text), &levels);
    if (levels.has_current && (levels.current_mhz < 0 || levels.current_mhz > levels.max_mhz))
        abort();
    if (pt_pcie_generation(text) > 6)
        abort();
    return 0;
}
