#include "source/gpu/amdgpu.h"

#include "source/gpu/drm_card.h"
#include "source/gpu/gpu_metrics.h"

#include <errno.h>

/* Temperatures are in millidegrees, power in microwatts, clocks in hertz. */
static const struct pt_drm_value values[] = {
    { PT_DRM_CARD, "device/gpu_busy_percent", PT_GPU_UTILIZATION_PERCENT, 1, 1 },
    { PT_DRM_CARD, "device/mem_busy_percent", PT_GPU_MEMORY_UTILIZATION_PERCENT, 1, 1 },
    { PT_DRM_CARD, "device/vcn_busy_percent", PT_GPU_DECODER_PERCENT, 1, 1 },
    { PT_DRM_CARD, "device/mem_info_vram_total", PT_GPU_MEMORY_TOTAL_BYTES, 1, 1 },
    { PT_DRM_CARD, "device/mem_info_vram_used", PT_GPU_MEMORY_USED_BYTES, 1, 1 },
    { PT_DRM_CARD, "device/mem_info_gtt_total", PT_GPU_SHARED_TOTAL_BYTES, 1, 1 },
    { PT_DRM_CARD, "device/mem_info_gtt_used", PT_GPU_SHARED_USED_BYTES, 1, 1 },
    { PT_DRM_HWMON, "temp1_input", PT_GPU_TEMPERATURE_C, 1, 1000 },
    { PT_DRM_HWMON, "temp2_input", PT_GPU_HOTSPOT_TEMPERATURE_C, 1, 1000 },
    { PT_DRM_HWMON, "temp3_input", PT_GPU_MEMORY_TEMPERATURE_C, 1, 1000 },
    { PT_DRM_HWMON, "power1_average", PT_GPU_POWER_MW, 1, 1000 },
    { PT_DRM_HWMON, "power1_input", PT_GPU_POWER_MW, 1, 1000 },
    { PT_DRM_HWMON, "power1_cap", PT_GPU_POWER_LIMIT_MW, 1, 1000 },
    { PT_DRM_HWMON, "energy1_input", PT_GPU_ENERGY_MJ, 1, 1000 },
    { PT_DRM_HWMON, "freq1_input", PT_GPU_CLOCK_GRAPHICS_MHZ, 1, 1000000 },
    { PT_DRM_HWMON, "freq2_input", PT_GPU_CLOCK_MEMORY_MHZ, 1, 1000000 },
    { PT_DRM_HWMON, "fan1_input", PT_GPU_FAN_RPM, 1, 1 },
    { PT_DRM_HWMON, "pwm1", PT_GPU_FAN_PERCENT, 100, 255 },
    { PT_DRM_CARD, "device/pcie_replay_count", PT_GPU_PCIE_REPLAYS, 1, 1 },
};
static_assert(PT_COUNT(values) <= PT_DRM_VALUES, "a kept file each");

/* Clocks that the hardware monitor does not have. */
static const struct {
    const char *path;
    enum pt_gpu_field field;
} levels[] = {
    { "device/pp_dpm_sclk", PT_GPU_CLOCK_GRAPHICS_MHZ },
    { "device/pp_dpm_mclk", PT_GPU_CLOCK_MEMORY_MHZ },
    { "device/pp_dpm_vclk", PT_GPU_CLOCK_VIDEO_MHZ },
};

struct amdgpu_state {
    struct pt_drm_cards cards;
    struct pt_text buffer;
};

void pt_dpm_parse(struct pt_scan text, struct pt_dpm_levels *into) {
    struct pt_scan line;
    *into = (struct pt_dpm_levels){ 0 };
    while (pt_scan_line(&text, &line)) {
        (void)pt_scan_until(&line, ':'); /* a number, or S for a sleeping clock */
        int64_t mhz = pt_scan_i64(&line);
        if (line.failed || mhz < 0)
            continue;
        if (!into->has_max || mhz > into->max_mhz)
            into->max_mhz = mhz;
        into->has_max = true;
        if (memchr(line.at, '*', (size_t)(line.end - line.at))) {
            into->current_mhz = mhz;
            into->has_current = true;
        }
    }
}

static int amdgpu_open(void *state, const struct pt_fs *fs, struct pt_err *err) {
    static const char *const drivers[] = { "amdgpu", NULL };
    struct amdgpu_state *s = state;
    pt_drm_cards_read(&s->cards, fs, drivers);
    if (s->cards.count > 0)
        return 0;
    return pt_fail(err, -ENODATA, "amdgpu: there is no GPU");
}

static int amdgpu_device_count(const void *state) {
    const struct amdgpu_state *s = state;
    return (int)s->cards.count;
}

static struct pt_dpm_levels read_levels(struct amdgpu_state *s, const struct pt_drm_card *card,
                                        const char *path) {
    struct pt_dpm_levels found = { 0 };
    struct pt_scan text;
    if (!pt_fs_read(card->directory, path, &s->buffer, &text))
        pt_dpm_parse(text, &found);
    return found;
}

static void amdgpu_describe(void *state, int index, int first, struct pt_gpu_info *info) {
    (void)first;
    struct amdgpu_state *s = state;
    const struct pt_drm_card *card = &s->cards.at[index];
    info->vendor = PT_GPU_AMD;
    int rc = pt_fs_read_line(card->directory, "device/product_name", info->name, sizeof info->name);
    if (rc || !info->name[0])
        pt_str_copy(info->name, sizeof info->name, pt_str_from(card->pci_id));
    if (pt_fs_read_line(card->directory, "device/unique_id", info->uuid, sizeof info->uuid))
        info->uuid[0] = 0;
    pt_str_copy(info->pci_bus_id, sizeof info->pci_bus_id, pt_str_from(card->pci_bus_id));
    if (pt_fs_read_i64(card->directory, "device/mem_info_vram_total", &info->memory_total_bytes))
        info->memory_total_bytes = 0;
    info->max_graphics_mhz = read_levels(s, card, levels[0].path).max_mhz;
    info->max_memory_mhz = read_levels(s, card, levels[1].path).max_mhz;
}

static void read_clocks(struct amdgpu_state *s, const struct pt_drm_card *card,
                        struct pt_gpu_device *d) {
    for (size_t i = 0; i < PT_COUNT(levels); i++) {
        if (pt_gpu_has(d, levels[i].field))
            continue;
        struct pt_dpm_levels found = read_levels(s, card, levels[i].path);
        if (found.has_current)
            pt_gpu_set(d, levels[i].field, found.current_mhz);
    }
}

static void set_free_memory(struct pt_gpu_device *d) {
    int64_t total = d->values[PT_GPU_MEMORY_TOTAL_BYTES];
    int64_t used = d->values[PT_GPU_MEMORY_USED_BYTES];
    if (pt_gpu_has(d, PT_GPU_MEMORY_TOTAL_BYTES) && pt_gpu_has(d, PT_GPU_MEMORY_USED_BYTES) &&
        used <= total)
        pt_gpu_set(d, PT_GPU_MEMORY_FREE_BYTES, total - used);
}

static void amdgpu_read(void *state, int index, enum pt_gpu_pace pace, struct pt_gpu_device *d) {
    struct amdgpu_state *s = state;
    struct pt_drm_card *card = &s->cards.at[index];
    if (pt_drm_card_is_suspended(card))
        return;
    pt_drm_card_read(card, values, PT_COUNT(values), pace, &s->buffer, d);
    if (pace == PT_GPU_SLOW) {
        pt_drm_card_read_link(card, d);
        return;
    }
    set_free_memory(d);
    struct pt_scan blob;
    if (!pt_fs_read(card->directory, "device/gpu_metrics", &s->buffer, &blob))
        (void)!pt_gpu_metrics_parse(pt_scan_rest(&blob), d);
    read_clocks(s, card, d);
}

static void amdgpu_close(void *state) {
    struct amdgpu_state *s = state;
    pt_drm_cards_release(&s->cards);
    pt_text_release(&s->buffer);
}

const struct pt_gpu_backend pt_amdgpu_backend = {
    .name = "amdgpu",
    .state_size = sizeof(struct amdgpu_state),
    .open = amdgpu_open,
    .device_count = amdgpu_device_count,
    .describe_device = amdgpu_describe,
    .read_device = amdgpu_read,
    .close = amdgpu_close,
};
