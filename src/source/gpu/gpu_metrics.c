#include "source/gpu/gpu_metrics.h"

#include <errno.h>

struct metric {
    uint8_t format, first, last; /* content revisions */
    uint16_t size;               /* of the whole; 0: any */
    uint16_t offset;
    uint8_t width; /* bytes */
    enum pt_gpu_field field;
    int64_t numerator, denominator;
};

static const struct metric metrics[] = {
    { 1, 0, 0, 0, 16, 2, PT_GPU_TEMPERATURE_C, 1, 1 },
    { 1, 0, 0, 0, 18, 2, PT_GPU_HOTSPOT_TEMPERATURE_C, 1, 1 },
    { 1, 0, 0, 0, 20, 2, PT_GPU_MEMORY_TEMPERATURE_C, 1, 1 },
    { 1, 0, 0, 0, 28, 2, PT_GPU_UTILIZATION_PERCENT, 1, 1 },
    { 1, 0, 0, 0, 30, 2, PT_GPU_MEMORY_UTILIZATION_PERCENT, 1, 1 },
    { 1, 0, 0, 0, 34, 2, PT_GPU_POWER_MW, 1000, 1 },

    { 1, 1, 3, 0, 4, 2, PT_GPU_TEMPERATURE_C, 1, 1 },
    { 1, 1, 3, 0, 6, 2, PT_GPU_HOTSPOT_TEMPERATURE_C, 1, 1 },
    { 1, 1, 3, 0, 8, 2, PT_GPU_MEMORY_TEMPERATURE_C, 1, 1 },
    { 1, 1, 3, 0, 16, 2, PT_GPU_UTILIZATION_PERCENT, 1, 1 },
    { 1, 1, 3, 0, 18, 2, PT_GPU_MEMORY_UTILIZATION_PERCENT, 1, 1 },
    { 1, 1, 3, 0, 22, 2, PT_GPU_POWER_MW, 1000, 1 },
    { 1, 0, 3, 0, 54, 2, PT_GPU_CLOCK_GRAPHICS_MHZ, 1, 1 },
    { 1, 0, 3, 0, 58, 2, PT_GPU_CLOCK_MEMORY_MHZ, 1, 1 },
    { 1, 0, 3, 0, 60, 2, PT_GPU_CLOCK_VIDEO_MHZ, 1, 1 },
    { 1, 0, 3, 0, 72, 2, PT_GPU_FAN_RPM, 1, 1 },
    { 1, 3, 3, 120, 112, 8, PT_GPU_THROTTLE_RAW, 1, 1 },

    { 1, 4, 8, 0, 4, 2, PT_GPU_HOTSPOT_TEMPERATURE_C, 1, 1 },
    { 1, 4, 8, 0, 6, 2, PT_GPU_MEMORY_TEMPERATURE_C, 1, 1 },
    { 1, 4, 8, 0, 10, 2, PT_GPU_POWER_MW, 1000, 1 },
    { 1, 4, 8, 0, 12, 2, PT_GPU_UTILIZATION_PERCENT, 1, 1 },
    { 1, 4, 8, 0, 14, 2, PT_GPU_MEMORY_UTILIZATION_PERCENT, 1, 1 },
    /* energy in units of 2^-16 J */
    { 1, 4, 4, 288, 24, 8, PT_GPU_ENERGY_MJ, 1000, 65536 },
    { 1, 4, 4, 288, 240, 2, PT_GPU_CLOCK_GRAPHICS_MHZ, 1, 1 },
    { 1, 4, 4, 288, 280, 2, PT_GPU_CLOCK_MEMORY_MHZ, 1, 1 },
    { 1, 6, 6, 1664, 16, 8, PT_GPU_ENERGY_MJ, 1000, 65536 },
    { 1, 6, 6, 1664, 264, 2, PT_GPU_CLOCK_GRAPHICS_MHZ, 1, 1 },
    { 1, 6, 6, 1664, 304, 2, PT_GPU_CLOCK_MEMORY_MHZ, 1, 1 },
    { 1, 7, 7, 2208, 24, 8, PT_GPU_ENERGY_MJ, 1000, 65536 },
    { 1, 7, 7, 2208, 296, 2, PT_GPU_CLOCK_GRAPHICS_MHZ, 1, 1 },
    { 1, 7, 7, 2208, 336, 2, PT_GPU_CLOCK_MEMORY_MHZ, 1, 1 },
    { 1, 8, 8, 3360, 24, 8, PT_GPU_ENERGY_MJ, 1000, 65536 },
    { 1, 8, 8, 3360, 296, 2, PT_GPU_CLOCK_GRAPHICS_MHZ, 1, 1 },
    { 1, 8, 8, 3360, 336, 2, PT_GPU_CLOCK_MEMORY_MHZ, 1, 1 },

    { 2, 0, 0, 0, 80, 2, PT_GPU_CLOCK_GRAPHICS_MHZ, 1, 1 },
    { 2, 0, 0, 0, 84, 2, PT_GPU_CLOCK_MEMORY_MHZ, 1, 1 },
    { 2, 1, 4, 0, 76, 2, PT_GPU_CLOCK_GRAPHICS_MHZ, 1, 1 },
    { 2, 1, 4, 0, 80, 2, PT_GPU_CLOCK_MEMORY_MHZ, 1, 1 },
    { 2, 2, 4, 0, 120, 8, PT_GPU_THROTTLE_RAW, 1, 1 },
    { 2, 4, 4, 0, 4, 2, PT_GPU_TEMPERATURE_C, 1, 100 },
    { 2, 4, 4, 0, 28, 2, PT_GPU_UTILIZATION_PERCENT, 1, 100 },
    { 2, 4, 4, 0, 40, 2, PT_GPU_POWER_MW, 1, 1 },

    { 3, 0, 0, 0, 42, 2, PT_GPU_UTILIZATION_PERCENT, 1, 1 },
    { 3, 0, 0, 0, 112, 4, PT_GPU_POWER_MW, 1, 1 },
    { 3, 0, 0, 0, 174, 2, PT_GPU_CLOCK_GRAPHICS_MHZ, 1, 1 },
    { 3, 0, 0, 0, 186, 2, PT_GPU_CLOCK_MEMORY_MHZ, 1, 1 },
};

/* The causes that all chips share: power limits from bit 0, currents from 16, temperatures from 32,
 * others from 48. */
static int64_t throttle_of(uint64_t causes) {
    return (causes & UINT64_C(0xffff) ? PT_GPU_THROTTLE_POWER : 0) |
           (causes & UINT64_C(0xffff) << 16 ? PT_GPU_THROTTLE_CURRENT : 0) |
           (causes & UINT64_C(0xffff) << 32 ? PT_GPU_THROTTLE_THERMAL : 0) |
           (causes & UINT64_C(0xffff) << 48 ? PT_GPU_THROTTLE_HARDWARE : 0);
}

static bool take(struct pt_str blob, const struct metric *m, uint64_t *value) {
    uint64_t none = UINT64_MAX >> (64 - 8 * m->width);
    if ((size_t)m->offset + m->width > blob.len)
        return false;
    *value = 0;
    memcpy(value, blob.at + m->offset, m->width);
    return *value != none && *value <= INT64_MAX;
}

static bool is_percent(enum pt_gpu_field field) {
    return field == PT_GPU_UTILIZATION_PERCENT || field == PT_GPU_MEMORY_UTILIZATION_PERCENT;
}

static void set(struct pt_gpu_device *d, const struct metric *m, uint64_t value) {
    __int128 scaled = (__int128)value * m->numerator / m->denominator;
    if (pt_gpu_has(d, m->field) || scaled > INT64_MAX || (is_percent(m->field) && scaled > 100))
        return;
    pt_gpu_set(d, m->field, (int64_t)scaled);
    if (m->field == PT_GPU_THROTTLE_RAW)
        pt_gpu_set(d, PT_GPU_THROTTLE, throttle_of(value));
}

int pt_gpu_metrics_parse(struct pt_str blob, struct pt_gpu_device *d) {
    uint16_t size;
    uint64_t value;
    bool is_known = false;
    if (blob.len < 4)
        return -EINVAL;
    memcpy(&size, blob.at, sizeof size);
    uint8_t format = (uint8_t)blob.at[2], content = (uint8_t)blob.at[3];
    if (size < 4 || size > blob.len)
        return -EINVAL;
    blob.len = size; /* the file may be padded */
    for (size_t i = 0; i < PT_COUNT(metrics); i++) {
        const struct metric *m = &metrics[i];
        if (m->format != format || content < m->first || content > m->last ||
            (m->size && m->size != size))
            continue;
        is_known = true;
        if (take(blob, m, &value))
            set(d, m, value);
    }
    return is_known ? 0 : -ENODATA;
}
