#include "source/gpu/intel.h"

#include "source/gpu/drm_card.h"

#include <errno.h>
#include <stdio.h>

/* Energy is in microjoules, power in microwatts, temperatures in millidegrees. Both drivers: each
 * file exists in one of them. */
static const struct pt_drm_value values[] = {
    { PT_DRM_HWMON, "energy1_input", PT_GPU_ENERGY_MJ, 1, 1000 },
    { PT_DRM_HWMON, "energy2_input", PT_GPU_ENERGY_MJ, 1, 1000 },
    { PT_DRM_HWMON, "power1_input", PT_GPU_POWER_MW, 1, 1000 },
    { PT_DRM_HWMON, "power1_max", PT_GPU_POWER_LIMIT_MW, 1, 1000 },
    { PT_DRM_HWMON, "power1_cap", PT_GPU_POWER_LIMIT_MW, 1, 1000 },
    { PT_DRM_HWMON, "temp1_input", PT_GPU_TEMPERATURE_C, 1, 1000 },
    { PT_DRM_HWMON, "temp2_input", PT_GPU_TEMPERATURE_C, 1, 1000 },
    { PT_DRM_HWMON, "temp3_input", PT_GPU_MEMORY_TEMPERATURE_C, 1, 1000 },
    { PT_DRM_HWMON, "fan1_input", PT_GPU_FAN_RPM, 1, 1 },
    { PT_DRM_CARD, "gt_act_freq_mhz", PT_GPU_CLOCK_GRAPHICS_MHZ, 1, 1 },
    { PT_DRM_CARD, "device/tile0/gt0/freq0/act_freq", PT_GPU_CLOCK_GRAPHICS_MHZ, 1, 1 },
    { PT_DRM_CARD, "device/tile0/gt1/freq0/act_freq", PT_GPU_CLOCK_VIDEO_MHZ, 1, 1 },
    { PT_DRM_CARD, "gt/gt0/rc6_residency_ms", PT_GPU_IDLE_MS, 1, 1 },
    { PT_DRM_CARD, "device/tile0/gt0/gtidle/idle_residency_ms", PT_GPU_IDLE_MS, 1, 1 },
};
static_assert(PT_COUNT(values) <= PT_DRM_VALUES, "a kept file each");

/* Files that hold 0 or 1; bit i of the raw reasons is row i. */
static const struct {
    const char *i915, *xe;
    enum pt_gpu_throttle means;
} reasons[] = {
    { "gt/gt0/throttle_reason_pl1", "device/tile0/gt0/freq0/throttle/reason_pl1",
      PT_GPU_THROTTLE_POWER },
    { "gt/gt0/throttle_reason_pl2", "device/tile0/gt0/freq0/throttle/reason_pl2",
      PT_GPU_THROTTLE_POWER },
    { "gt/gt0/throttle_reason_pl4", "device/tile0/gt0/freq0/throttle/reason_pl4",
      PT_GPU_THROTTLE_POWER },
    { "gt/gt0/throttle_reason_thermal", "device/tile0/gt0/freq0/throttle/reason_thermal",
      PT_GPU_THROTTLE_THERMAL },
    { "gt/gt0/throttle_reason_prochot", "device/tile0/gt0/freq0/throttle/reason_prochot",
      PT_GPU_THROTTLE_THERMAL },
    { "gt/gt0/throttle_reason_ratl", "device/tile0/gt0/freq0/throttle/reason_ratl",
      PT_GPU_THROTTLE_THERMAL },
    { "gt/gt0/throttle_reason_vr_thermalert",
      "device/tile0/gt0/freq0/throttle/reason_vr_thermalert", PT_GPU_THROTTLE_THERMAL },
    { "gt/gt0/throttle_reason_vr_tdc", "device/tile0/gt0/freq0/throttle/reason_vr_tdc",
      PT_GPU_THROTTLE_CURRENT },
};

struct intel_state {
    struct pt_drm_cards cards;
    struct pt_text buffer;
};

static int intel_open(void *state, const struct pt_fs *fs, struct pt_err *err) {
    static const char *const drivers[] = { "i915", "xe", NULL };
    struct intel_state *s = state;
    pt_drm_cards_read(&s->cards, fs, drivers);
    if (s->cards.count > 0)
        return 0;
    return pt_fail(err, -ENODATA, "i915, xe: there is no GPU");
}

static int intel_device_count(const void *state) {
    const struct intel_state *s = state;
    return (int)s->cards.count;
}

static void intel_describe(void *state, int index, int first, struct pt_gpu_info *info) {
    (void)first;
    struct intel_state *s = state;
    const struct pt_drm_card *card = &s->cards.at[index];
    info->vendor = PT_GPU_INTEL;
    pt_str_copy(info->name, sizeof info->name, pt_str_from(card->pci_id));
    pt_str_copy(info->pci_bus_id, sizeof info->pci_bus_id, pt_str_from(card->pci_bus_id));
    if (pt_fs_read_i64(card->directory, "gt_RP0_freq_mhz", &info->max_graphics_mhz) &&
        pt_fs_read_i64(card->directory, "device/tile0/gt0/freq0/rp0_freq", &info->max_graphics_mhz))
        info->max_graphics_mhz = 0;
}

static void read_throttle(const struct pt_drm_card *card, struct pt_gpu_device *d) {
    bool is_xe = strcmp(card->driver, "xe") == 0, is_known = false;
    int64_t raw = 0, throttle = 0, is_set;
    for (size_t i = 0; i < PT_COUNT(reasons); i++) {
        const char *path = is_xe ? reasons[i].xe : reasons[i].i915;
        if (pt_fs_read_i64(card->directory, path, &is_set))
            continue;
        is_known = true;
        raw |= (int64_t)(is_set == 1) << i;
        throttle |= is_set == 1 ? reasons[i].means : 0;
    }
    if (!is_known)
        return;
    pt_gpu_set(d, PT_GPU_THROTTLE_RAW, raw);
    pt_gpu_set(d, PT_GPU_THROTTLE, throttle);
}

static void intel_read(void *state, int index, enum pt_gpu_pace pace, struct pt_gpu_device *d) {
    struct intel_state *s = state;
    struct pt_drm_card *card = &s->cards.at[index];
    if (pt_drm_card_is_suspended(card))
        return;
    pt_drm_card_read(card, values, PT_COUNT(values), pace, &s->buffer, d);
    if (pace == PT_GPU_SLOW)
        pt_drm_card_read_link(card, d);
    else
        read_throttle(card, d);
}

static void intel_close(void *state) {
    struct intel_state *s = state;
    pt_drm_cards_release(&s->cards);
    pt_text_release(&s->buffer);
}

const struct pt_gpu_backend pt_intel_backend = {
    .name = "intel",
    .state_size = sizeof(struct intel_state),
    .open = intel_open,
    .device_count = intel_device_count,
    .describe_device = intel_describe,
    .read_device = intel_read,
    .close = intel_close,
};
