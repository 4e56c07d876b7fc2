/* source/gpu/nvml_read.c -- the values of one NVIDIA GPU: a table of calls, each with the pace
 * at which it is made. What a device refuses for good is not asked again. */
#include "source/gpu/nvml.h"

#include "base/log.h"
#include "base/mem.h"

#include <math.h>

#define EVENTS_PER_TURN 64
#define NVLINK_LINKS    18
#define ALL_LINKS       UINT32_MAX
#define NOT_SET         UINT32_MAX /* a function that succeeds must have overwritten it */

struct call {
    int (*read)(const struct call *c, struct pt_nvml_state *s, struct pt_nvml_unit *unit,
                struct pt_gpu_device *d);
    enum pt_gpu_pace pace;
    size_t function; /* for the functions of a common signature: member of pt_nvml_api */
    enum pt_gpu_field field;
    int64_t limit; /* a larger answer is nonsense */
    unsigned which;
};

/* Functions differ in type; the table says of which it is. */
static void find_function(const struct call *c, const struct pt_nvml_api *api, void *function) {
    memcpy(function, (const char *)api + c->function, sizeof(void *));
}

static void set_checked(const struct call *c, struct pt_gpu_device *d, uint64_t value) {
    if (value <= (uint64_t)c->limit)
        pt_gpu_set(d, c->field, (int64_t)value);
}

static void set_bytes(struct pt_gpu_device *d, enum pt_gpu_field field, uint64_t bytes) {
    if (bytes <= INT64_MAX)
        pt_gpu_set(d, field, (int64_t)bytes);
}

static int read_u32(const struct call *c, struct pt_nvml_state *s, struct pt_nvml_unit *unit,
                    struct pt_gpu_device *d) {
    pt_nvml_get_u32 *get;
    unsigned value = NOT_SET;
    find_function(c, &s->api, &get);
    int code = get ? get(unit->handle, &value) : PT_NVML_FUNCTION_NOT_FOUND;
    if (code == PT_NVML_SUCCESS)
        set_checked(c, d, value);
    return code;
}

static int read_u32_of(const struct call *c, struct pt_nvml_state *s, struct pt_nvml_unit *unit,
                       struct pt_gpu_device *d) {
    pt_nvml_get_u32_of *get;
    unsigned value = NOT_SET;
    find_function(c, &s->api, &get);
    int code = get ? get(unit->handle, c->which, &value) : PT_NVML_FUNCTION_NOT_FOUND;
    if (code == PT_NVML_SUCCESS)
        set_checked(c, d, value);
    return code;
}

static int read_u64(const struct call *c, struct pt_nvml_state *s, struct pt_nvml_unit *unit,
                    struct pt_gpu_device *d) {
    pt_nvml_get_u64 *get;
    unsigned long long value = UINT64_MAX;
    find_function(c, &s->api, &get);
    int code = get ? get(unit->handle, &value) : PT_NVML_FUNCTION_NOT_FOUND;
    if (code == PT_NVML_SUCCESS)
        set_checked(c, d, value);
    return code;
}

/* The second number is the length of the window. */
static int read_codec(const struct call *c, struct pt_nvml_state *s, struct pt_nvml_unit *unit,
                      struct pt_gpu_device *d) {
    pt_nvml_get_two_u32 *get;
    unsigned percent = NOT_SET, window_us;
    find_function(c, &s->api, &get);
    int code = get ? get(unit->handle, &percent, &window_us) : PT_NVML_FUNCTION_NOT_FOUND;
    if (code == PT_NVML_SUCCESS)
        set_checked(c, d, percent);
    return code;
}

static int read_utilization(const struct call *c, struct pt_nvml_state *s,
                            struct pt_nvml_unit *unit, struct pt_gpu_device *d) {
    struct pt_nvml_utilization u = { NOT_SET, NOT_SET };
    if (!s->api.utilization)
        return PT_NVML_FUNCTION_NOT_FOUND;
    int code = s->api.utilization(unit->handle, &u);
    if (code != PT_NVML_SUCCESS)
        return code;
    set_checked(c, d, u.gpu);
    if (u.memory <= c->limit)
        pt_gpu_set(d, PT_GPU_MEMORY_UTILIZATION_PERCENT, u.memory);
    return code;
}

static int read_memory_v1(struct pt_nvml_state *s, struct pt_nvml_unit *unit,
                          struct pt_gpu_device *d) {
    struct pt_nvml_memory m = { UINT64_MAX, UINT64_MAX, UINT64_MAX };
    if (!s->api.memory)
        return PT_NVML_FUNCTION_NOT_FOUND;
    int code = s->api.memory(unit->handle, &m);
    if (code != PT_NVML_SUCCESS)
        return code;
    set_bytes(d, PT_GPU_MEMORY_TOTAL_BYTES, m.total);
    set_bytes(d, PT_GPU_MEMORY_USED_BYTES, m.used);
    set_bytes(d, PT_GPU_MEMORY_FREE_BYTES, m.free);
    return code;
}

/* The older call counts what driver and firmware reserve as used. */
static int read_memory(const struct call *c, struct pt_nvml_state *s, struct pt_nvml_unit *unit,
                       struct pt_gpu_device *d) {
    (void)c;
    struct pt_nvml_memory_v2 m = { PT_NVML_MEMORY_V2, UINT64_MAX, UINT64_MAX, UINT64_MAX,
                                   UINT64_MAX };
    int code = s->api.memory_v2 ? s->api.memory_v2(unit->handle, &m) : PT_NVML_FUNCTION_NOT_FOUND;
    if (pt_nvml_outcome_of(code) == PT_NVML_NEVER)
        return read_memory_v1(s, unit, d);
    if (code != PT_NVML_SUCCESS)
        return code;
    set_bytes(d, PT_GPU_MEMORY_TOTAL_BYTES, m.total);
    set_bytes(d, PT_GPU_MEMORY_USED_BYTES, m.used);
    set_bytes(d, PT_GPU_MEMORY_FREE_BYTES, m.free);
    set_bytes(d, PT_GPU_MEMORY_RESERVED_BYTES, m.reserved);
    return code;
}

static int64_t throttle_of(uint64_t reasons) {
    static const struct {
        uint64_t reason;
        enum pt_gpu_throttle means;
    } meanings[] = {
        { PT_NVML_CLOCKS_REASON_GPU_IDLE, PT_GPU_THROTTLE_IDLE },
        { PT_NVML_CLOCKS_REASON_APPLICATIONS_SETTING, PT_GPU_THROTTLE_SETTING },
        { PT_NVML_CLOCKS_REASON_SW_POWER_CAP, PT_GPU_THROTTLE_POWER },
        { PT_NVML_CLOCKS_REASON_HW_SLOWDOWN, PT_GPU_THROTTLE_HARDWARE },
        { PT_NVML_CLOCKS_REASON_SYNC_BOOST, PT_GPU_THROTTLE_SYNC },
        { PT_NVML_CLOCKS_REASON_SW_THERMAL_SLOWDOWN, PT_GPU_THROTTLE_THERMAL },
        { PT_NVML_CLOCKS_REASON_HW_THERMAL_SLOWDOWN, PT_GPU_THROTTLE_THERMAL },
        { PT_NVML_CLOCKS_REASON_HW_POWER_BRAKE, PT_GPU_THROTTLE_HARDWARE },
        { PT_NVML_CLOCKS_REASON_DISPLAY_SETTING, PT_GPU_THROTTLE_SETTING },
    };
    int64_t throttle = 0;
    for (size_t i = 0; i < PT_COUNT(meanings); i++)
        if (reasons & meanings[i].reason)
            throttle |= meanings[i].means;
    return throttle;
}

static int read_clock_reasons(const struct call *c, struct pt_nvml_state *s,
                              struct pt_nvml_unit *unit, struct pt_gpu_device *d) {
    int code = read_u64(c, s, unit, d);
    if (code == PT_NVML_SUCCESS && pt_gpu_has(d, c->field))
        pt_gpu_set(d, PT_GPU_THROTTLE, throttle_of((uint64_t)d->values[c->field]));
    return code;
}

static int read_bar1(const struct call *c, struct pt_nvml_state *s, struct pt_nvml_unit *unit,
                     struct pt_gpu_device *d) {
    (void)c;
    struct pt_nvml_bar1 bar1 = { UINT64_MAX, UINT64_MAX, UINT64_MAX };
    if (!s->api.bar1)
        return PT_NVML_FUNCTION_NOT_FOUND;
    int code = s->api.bar1(unit->handle, &bar1);
    if (code != PT_NVML_SUCCESS)
        return code;
    set_bytes(d, PT_GPU_BAR1_USED_BYTES, bar1.used);
    set_bytes(d, PT_GPU_BAR1_FREE_BYTES, bar1.free);
    return code;
}

/* `which` is ECC(): the type of the error, and whether since the driver was loaded or ever. */
static int read_ecc(const struct call *c, struct pt_nvml_state *s, struct pt_nvml_unit *unit,
                    struct pt_gpu_device *d) {
    unsigned long long errors = UINT64_MAX;
    if (!s->api.ecc)
        return PT_NVML_FUNCTION_NOT_FOUND;
    int code = s->api.ecc(unit->handle, c->which & 1, c->which >> 1, &errors);
    if (code == PT_NVML_SUCCESS)
        set_checked(c, d, errors);
    return code;
}

/* Without a buffer for the addresses it returns their number. */
static int read_retired(const struct call *c, struct pt_nvml_state *s, struct pt_nvml_unit *unit,
                        struct pt_gpu_device *d) {
    unsigned count = 0;
    if (!s->api.retired_pages)
        return PT_NVML_FUNCTION_NOT_FOUND;
    int code = s->api.retired_pages(unit->handle, c->which, &count, NULL);
    if (code == PT_NVML_INSUFFICIENT_SIZE && count > 0)
        code = PT_NVML_SUCCESS;
    if (code == PT_NVML_SUCCESS)
        set_checked(c, d, count);
    return code;
}

static int read_remapped(const struct call *c, struct pt_nvml_state *s, struct pt_nvml_unit *unit,
                         struct pt_gpu_device *d) {
    unsigned values[4] = { NOT_SET, NOT_SET, NOT_SET, NOT_SET };
    if (!s->api.remapped_rows)
        return PT_NVML_FUNCTION_NOT_FOUND;
    int code = s->api.remapped_rows(unit->handle, &values[0], &values[1], &values[2], &values[3]);
    for (int i = 0; i < 4 && code == PT_NVML_SUCCESS; i++)
        if (values[i] <= c->limit)
            pt_gpu_set(d, (enum pt_gpu_field)(c->field + (unsigned)i), values[i]);
    return code;
}

static int read_violation(const struct call *c, struct pt_nvml_state *s, struct pt_nvml_unit *unit,
                          struct pt_gpu_device *d) {
    struct pt_nvml_violation v = { UINT64_MAX, UINT64_MAX };
    if (!s->api.violation)
        return PT_NVML_FUNCTION_NOT_FOUND;
    int code = s->api.violation(unit->handle, c->which, &v);
    if (code == PT_NVML_SUCCESS)
        set_checked(c, d, v.violation_ns);
    return code;
}

/* Values that have no function but a number. */
static const struct field {
    unsigned id, scope;
    enum pt_gpu_pace pace;
    enum pt_gpu_field field;
    int64_t factor;
} fields[] = {
    { PT_NVML_FI_MEMORY_TEMP, 0, PT_GPU_FAST, PT_GPU_MEMORY_TEMPERATURE_C, 1 },
    { PT_NVML_FI_NVLINK_DATA_TX, ALL_LINKS, PT_GPU_SLOW, PT_GPU_NVLINK_TX_BYTES, 1024 },
    { PT_NVML_FI_NVLINK_DATA_RX, ALL_LINKS, PT_GPU_SLOW, PT_GPU_NVLINK_RX_BYTES, 1024 },
    { PT_NVML_FI_POWER_INSTANT, 0, PT_GPU_SLOW, PT_GPU_POWER_INSTANT_MW, 1 },
    { PT_NVML_FI_PCIE_TX_BYTES, 0, PT_GPU_SLOW, PT_GPU_PCIE_TX_BYTES, 1 },
    { PT_NVML_FI_PCIE_RX_BYTES, 0, PT_GPU_SLOW, PT_GPU_PCIE_RX_BYTES, 1 },
};

/* False if the value is not a count: negative, too large, of an unknown type. */
static bool field_number(const struct pt_nvml_field *f, int64_t *number) {
    uint64_t value;
    switch (f->type) {
    case PT_NVML_DOUBLE:
        value = f->value.f64 >= 0 && f->value.f64 < 0x1p63 ? (uint64_t)f->value.f64 : UINT64_MAX;
        break;
    case PT_NVML_UINT:
        value = f->value.u32 == NOT_SET ? UINT64_MAX : f->value.u32;
        break;
    case PT_NVML_ULONG:
    case PT_NVML_ULONGLONG:
    case PT_NVML_SLONGLONG:
        value = f->value.u64;
        break;
    default:
        return false;
    }
    *number = (int64_t)value;
    return value <= INT64_MAX;
}

static void take_field(const struct field *wanted, const struct pt_nvml_field *answer,
                       struct pt_gpu_device *d) {
    int64_t number, scaled;
    if (answer->result == PT_NVML_SUCCESS && field_number(answer, &number) &&
        !__builtin_mul_overflow(number, wanted->factor, &scaled))
        pt_gpu_set(d, wanted->field, scaled);
}

static int read_fields(const struct call *c, struct pt_nvml_state *s, struct pt_nvml_unit *unit,
                       struct pt_gpu_device *d) {
    struct pt_nvml_field asked[PT_COUNT(fields)];
    size_t which[PT_COUNT(fields)];
    int count = 0;
    for (size_t i = 0; i < PT_COUNT(fields); i++) {
        if (fields[i].pace != c->pace || unit->fields_off >> i & 1)
            continue;
        which[count] = i;
        asked[count++] = (struct pt_nvml_field){ .id = fields[i].id,
                                                 .scope = fields[i].scope,
                                                 .type = UINT32_MAX,
                                                 .result = PT_NVML_UNKNOWN };
    }
    if (count == 0 || !s->api.fields)
        return PT_NVML_FUNCTION_NOT_FOUND;
    int code = s->api.fields(unit->handle, count, asked);
    for (int i = 0; i < count && code == PT_NVML_SUCCESS; i++) {
        take_field(&fields[which[i]], &asked[i], d);
        if (pt_nvml_outcome_of(asked[i].result) == PT_NVML_NEVER)
            unit->fields_off |= 1u << which[i];
    }
    return code;
}

/* Links beyond the last one of the device are invalid arguments. */
static int read_nvlinks(const struct call *c, struct pt_nvml_state *s, struct pt_nvml_unit *unit,
                        struct pt_gpu_device *d) {
    int code = s->api.nvlink_state ? PT_NVML_SUCCESS : PT_NVML_FUNCTION_NOT_FOUND;
    int64_t active_count = 0;
    unsigned link = 0;
    for (; link < NVLINK_LINKS && code == PT_NVML_SUCCESS; link++) {
        unsigned is_active = 0;
        code = s->api.nvlink_state(unit->handle, link, &is_active);
        active_count += code == PT_NVML_SUCCESS && is_active == 1;
    }
    if (link > 1 && code == PT_NVML_INVALID_ARGUMENT)
        code = PT_NVML_SUCCESS;
    if (code == PT_NVML_SUCCESS)
        pt_gpu_set(d, c->field, active_count);
    return code;
}

static const unsigned gpm_ids[PT_GPM_COUNT] = {
    [PT_GPM_GRAPHICS] = PT_NVML_GPM_GRAPHICS_UTIL,
    [PT_GPM_SM_ACTIVE] = PT_NVML_GPM_SM_UTIL,
    [PT_GPM_SM_OCCUPANCY] = PT_NVML_GPM_SM_OCCUPANCY,
    [PT_GPM_INTEGER] = PT_NVML_GPM_INTEGER_UTIL,
    [PT_GPM_TENSOR] = PT_NVML_GPM_ANY_TENSOR_UTIL,
    [PT_GPM_DRAM_BANDWIDTH] = PT_NVML_GPM_DRAM_BW_UTIL,
    [PT_GPM_FP64] = PT_NVML_GPM_FP64_UTIL,
    [PT_GPM_FP32] = PT_NVML_GPM_FP32_UTIL,
    [PT_GPM_FP16] = PT_NVML_GPM_FP16_UTIL,
};

static int prepare_gpm(struct pt_nvml_state *s, struct pt_nvml_unit *unit) {
    const struct pt_nvml_api *api = &s->api;
    struct pt_nvml_device *gpu = unit->parent >= 0 ? s->units[unit->parent].handle : unit->handle;
    struct pt_nvml_gpm_support support = { .version = PT_NVML_GPM_VERSION };
    if (unit->gpm_samples[1])
        return PT_NVML_SUCCESS;
    if (!api->gpm_support || !api->gpm_sample_alloc || !api->gpm_sample_free || !api->gpm_metrics ||
        (unit->parent >= 0 ? !api->gpm_mig_sample : !api->gpm_sample))
        return PT_NVML_FUNCTION_NOT_FOUND;
    int code = api->gpm_support(gpu, &support);
    if (code == PT_NVML_SUCCESS && !support.is_supported)
        code = PT_NVML_NOT_SUPPORTED;
    for (int i = 0; i < 2 && code == PT_NVML_SUCCESS; i++)
        if (!unit->gpm_samples[i])
            code = api->gpm_sample_alloc(&unit->gpm_samples[i]);
    if (!s->gpm_query)
        s->gpm_query = pt_try_calloc(1, sizeof *s->gpm_query);
    return code == PT_NVML_SUCCESS && !s->gpm_query ? PT_NVML_MEMORY : code;
}

static int sample_gpm(struct pt_nvml_state *s, struct pt_nvml_unit *unit, int into) {
    if (unit->parent < 0)
        return s->api.gpm_sample(unit->handle, unit->gpm_samples[into]);
    return s->api.gpm_mig_sample(s->units[unit->parent].handle, unit->gpu_instance,
                                 unit->gpm_samples[into]);
}

static int compare_gpm(struct pt_nvml_state *s, const struct pt_nvml_unit *unit, int before,
                       int after, struct pt_gpu_device *d) {
    struct pt_nvml_gpm_query *q = s->gpm_query;
    *q = (struct pt_nvml_gpm_query){ .version = PT_NVML_GPM_VERSION,
                                     .metric_count = PT_GPM_COUNT,
                                     .first = unit->gpm_samples[before],
                                     .second = unit->gpm_samples[after] };
    for (int i = 0; i < PT_GPM_COUNT; i++)
        q->metrics[i] = (struct pt_nvml_gpm_metric){ .id = gpm_ids[i],
                                                     .result = PT_NVML_UNKNOWN,
                                                     .value = NAN };
    int code = s->api.gpm_metrics(q);
    for (int i = 0; i < PT_GPM_COUNT && code == PT_NVML_SUCCESS; i++) {
        if (q->metrics[i].result != PT_NVML_SUCCESS || !isfinite(q->metrics[i].value))
            continue;
        d->gpm[i] = q->metrics[i].value;
        d->gpm_present |= 1u << i;
    }
    return code;
}

/* Means between the last sample and this one. */
static int read_gpm(const struct call *c, struct pt_nvml_state *s, struct pt_nvml_unit *unit,
                    struct pt_gpu_device *d) {
    (void)c;
    int code = prepare_gpm(s, unit);
    if (code != PT_NVML_SUCCESS)
        return code;
    int before = unit->gpm_newest, after = !before;
    code = sample_gpm(s, unit, after);
    bool had_sample = unit->has_gpm_sample;
    unit->has_gpm_sample = code == PT_NVML_SUCCESS;
    if (code != PT_NVML_SUCCESS)
        return code;
    unit->gpm_newest = after;
    return had_sample ? compare_gpm(s, unit, before, after, d) : PT_NVML_SUCCESS;
}

#define MEMBER(name)       offsetof(struct pt_nvml_api, name)
#define ECC(type, counter) (PT_NVML_MEMORY_ERROR_##type | PT_NVML_##counter##_ECC << 1)

static const struct call calls[] = {
    { read_utilization, PT_GPU_FAST, 0, PT_GPU_UTILIZATION_PERCENT, 100, 0 },
    { read_memory, PT_GPU_FAST, 0, PT_GPU_MEMORY_USED_BYTES, INT64_MAX, 0 },
    { read_u32_of, PT_GPU_FAST, MEMBER(temperature), PT_GPU_TEMPERATURE_C, 1000,
      PT_NVML_TEMPERATURE_GPU },
    { read_u32, PT_GPU_FAST, MEMBER(power), PT_GPU_POWER_MW, 100000000, 0 },
    { read_u32, PT_GPU_FAST, MEMBER(power_limit), PT_GPU_POWER_LIMIT_MW, 100000000, 0 },
    { read_u64, PT_GPU_FAST, MEMBER(energy), PT_GPU_ENERGY_MJ, INT64_MAX, 0 },
    { read_u32_of, PT_GPU_FAST, MEMBER(clock), PT_GPU_CLOCK_GRAPHICS_MHZ, 100000,
      PT_NVML_CLOCK_GRAPHICS },
    { read_u32_of, PT_GPU_FAST, MEMBER(clock), PT_GPU_CLOCK_SM_MHZ, 100000, PT_NVML_CLOCK_SM },
    { read_u32_of, PT_GPU_FAST, MEMBER(clock), PT_GPU_CLOCK_MEMORY_MHZ, 100000, PT_NVML_CLOCK_MEM },
    { read_u32_of, PT_GPU_FAST, MEMBER(clock), PT_GPU_CLOCK_VIDEO_MHZ, 100000,
      PT_NVML_CLOCK_VIDEO },
    { read_u32, PT_GPU_FAST, MEMBER(perf_state), PT_GPU_PERF_STATE, 15, 0 },
    { read_u32, PT_GPU_FAST, MEMBER(fan), PT_GPU_FAN_PERCENT, 1000, 0 },
    { read_clock_reasons, PT_GPU_FAST, MEMBER(clock_reasons), PT_GPU_THROTTLE_RAW, INT64_MAX, 0 },
    { read_codec, PT_GPU_FAST, MEMBER(encoder), PT_GPU_ENCODER_PERCENT, 100, 0 },
    { read_codec, PT_GPU_FAST, MEMBER(decoder), PT_GPU_DECODER_PERCENT, 100, 0 },
    { read_fields, PT_GPU_FAST, 0, PT_GPU_MEMORY_TEMPERATURE_C, INT64_MAX, 0 },
    { read_u32, PT_GPU_SLOW, MEMBER(pcie_generation), PT_GPU_PCIE_GENERATION, 100, 0 },
    { read_u32, PT_GPU_SLOW, MEMBER(pcie_width), PT_GPU_PCIE_WIDTH, 1000, 0 },
    { read_u32, PT_GPU_SLOW, MEMBER(pcie_replays), PT_GPU_PCIE_REPLAYS, UINT32_MAX - 1, 0 },
    { read_u32_of, PT_GPU_SLOW, MEMBER(pcie_throughput), PT_GPU_PCIE_TX_KBPS, UINT32_MAX - 1,
      PT_NVML_PCIE_UTIL_TX_BYTES },
    { read_u32_of, PT_GPU_SLOW, MEMBER(pcie_throughput), PT_GPU_PCIE_RX_KBPS, UINT32_MAX - 1,
      PT_NVML_PCIE_UTIL_RX_BYTES },
    { read_bar1, PT_GPU_SLOW, 0, PT_GPU_BAR1_USED_BYTES, INT64_MAX, 0 },
    { read_ecc, PT_GPU_SLOW, 0, PT_GPU_ECC_SINGLE, INT64_MAX, ECC(CORRECTED, VOLATILE) },
    { read_ecc, PT_GPU_SLOW, 0, PT_GPU_ECC_DOUBLE, INT64_MAX, ECC(UNCORRECTED, VOLATILE) },
    { read_ecc, PT_GPU_SLOW, 0, PT_GPU_ECC_SINGLE_LIFETIME, INT64_MAX, ECC(CORRECTED, AGGREGATE) },
    { read_ecc, PT_GPU_SLOW, 0, PT_GPU_ECC_DOUBLE_LIFETIME, INT64_MAX,
      ECC(UNCORRECTED, AGGREGATE) },
    { read_retired, PT_GPU_SLOW, 0, PT_GPU_RETIRED_SINGLE, UINT32_MAX - 1,
      PT_NVML_RETIREMENT_SINGLE_BIT_ERRORS },
    { read_retired, PT_GPU_SLOW, 0, PT_GPU_RETIRED_DOUBLE, UINT32_MAX - 1,
      PT_NVML_RETIREMENT_DOUBLE_BIT_ERROR },
    { read_remapped, PT_GPU_SLOW, 0, PT_GPU_REMAPPED_CORRECTABLE, UINT32_MAX - 1, 0 },
    { read_violation, PT_GPU_SLOW, 0, PT_GPU_VIOLATION_POWER_NS, INT64_MAX,
      PT_NVML_PERF_POLICY_POWER },
    { read_violation, PT_GPU_SLOW, 0, PT_GPU_VIOLATION_THERMAL_NS, INT64_MAX,
      PT_NVML_PERF_POLICY_THERMAL },
    { read_violation, PT_GPU_SLOW, 0, PT_GPU_VIOLATION_SYNC_NS, INT64_MAX,
      PT_NVML_PERF_POLICY_SYNC_BOOST },
    { read_violation, PT_GPU_SLOW, 0, PT_GPU_VIOLATION_BOARD_NS, INT64_MAX,
      PT_NVML_PERF_POLICY_BOARD_LIMIT },
    { read_violation, PT_GPU_SLOW, 0, PT_GPU_VIOLATION_RELIABILITY_NS, INT64_MAX,
      PT_NVML_PERF_POLICY_RELIABILITY },
    { read_fields, PT_GPU_SLOW, 0, PT_GPU_NVLINK_TX_BYTES, INT64_MAX, 0 },
    { read_nvlinks, PT_GPU_SLOW, 0, PT_GPU_NVLINK_ACTIVE, NVLINK_LINKS, 0 },
    { read_gpm, PT_GPU_SLOW, 0, PT_GPU_UTILIZATION_PERCENT, 0, 0 },
};
static_assert(PT_COUNT(calls) <= 64, "what is off is one word");
static_assert(PT_GPU_REMAP_FAILED == PT_GPU_REMAPPED_CORRECTABLE + 3, "read_remapped counts");

static void note_event(struct pt_nvml_state *s, const struct pt_nvml_event *event) {
    for (size_t i = 0; i < s->unit_count; i++) {
        struct pt_nvml_unit *unit = &s->units[i];
        if (unit->handle != event->device || event->type != PT_NVML_EVENT_XID)
            continue;
        unit->xid_count++;
        unit->xid_last = (int64_t)event->data;
        pt_log(PT_LOG_WARNING, "GPU %zu reports a critical error: XID %llu", i,
               (unsigned long long)event->data);
    }
}

/* Takes what has happened; never waits. */
static void drain_events(struct pt_nvml_state *s) {
    struct pt_nvml_event event;
    for (int i = 0; i < EVENTS_PER_TURN && s->events; i++) {
        event = (struct pt_nvml_event){ 0 };
        if (s->api.event_wait(s->events, &event, 0) != PT_NVML_SUCCESS)
            return;
        note_event(s, &event);
    }
}

void pt_nvml_read_device(void *state, int index, enum pt_gpu_pace pace, struct pt_gpu_device *d) {
    struct pt_nvml_state *s = state;
    struct pt_nvml_unit *unit = &s->units[index];
    if (index == 0 && pace == PT_GPU_FAST)
        drain_events(s);
    for (size_t i = 0; i < PT_COUNT(calls) && !unit->is_gone; i++) {
        if (calls[i].pace != pace || unit->off >> i & 1)
            continue;
        enum pt_nvml_outcome outcome = pt_nvml_outcome_of(calls[i].read(&calls[i], s, unit, d));
        if (outcome == PT_NVML_NEVER)
            unit->off |= UINT64_C(1) << i;
        else if (outcome == PT_NVML_GONE)
            unit->is_gone = true;
    }
    if (pace == PT_GPU_FAST && unit->has_events) {
        pt_gpu_set(d, PT_GPU_XID_COUNT, unit->xid_count);
        if (unit->xid_count > 0)
            pt_gpu_set(d, PT_GPU_XID_LAST, unit->xid_last);
    }
    d->is_gone = unit->is_gone;
}

void pt_nvml_release_unit(struct pt_nvml_state *s, struct pt_nvml_unit *unit) {
    for (int i = 0; i < 2; i++)
        if (unit->gpm_samples[i] && s->api.gpm_sample_free)
            s->api.gpm_sample_free(unit->gpm_samples[i]);
}
