/* The NVML backend against the scripted library: every value, every error code, old libraries. */
#include "scripted.h"

#include "base/mem.h"
#include "source/gpu/nvml.h"

#include <errno.h>

struct fixture {
    void *state;
    struct pt_gpu_reading reading;
    struct pt_err err;
    int rc;
};

static void open_library(struct fixture *f, const char *variable, const char *script) {
    struct pt_fs fs = { .is_live = true };
    *f = (struct fixture){ .state = pt_calloc(1, pt_nvml_backend.state_size) };
    play(variable, script);
    f->rc = pt_nvml_backend.open(f->state, &fs, &f->err);
    for (int i = 0; f->rc == 0 && i < pt_nvml_backend.device_count(f->state); i++) {
        struct pt_gpu_device *d = pt_gpu_add_device(&f->reading);
        pt_nvml_backend.describe_device(f->state, i, 0, &d->info);
    }
}

static void open_script(struct fixture *f, const char *script) {
    open_library(f, "PITOT_SCRIPTED_NVML", script);
}

static void read_device(struct fixture *f, int index, enum pt_gpu_pace pace) {
    struct pt_gpu_device *d = &f->reading.devices[index];
    pt_gpu_forget(d, pace);
    pt_nvml_backend.read_device(f->state, index, pace, d);
}

static void read_all(struct fixture *f) {
    for (size_t i = 0; i < f->reading.device_count; i++) {
        read_device(f, (int)i, PT_GPU_FAST);
        read_device(f, (int)i, PT_GPU_SLOW);
    }
}

static void read_processes(struct fixture *f) {
    f->reading.process_count = 0;
    pt_nvml_backend.read_processes(f->state, 0, &f->reading);
}

static void close_fixture(struct fixture *f) {
    if (f->rc == 0)
        pt_nvml_backend.close(f->state);
    pt_free(f->state);
    pt_gpu_reading_release(&f->reading);
}

static void assert_value(const struct pt_gpu_device *d, enum pt_gpu_field field, int64_t value) {
    if (!pt_gpu_has(d, field))
        fail_msg("field %d is absent", field);
    if (d->values[field] != value)
        fail_msg("field %d is %lld, not %lld", field, (long long)d->values[field],
                 (long long)value);
}

static const struct pt_gpu_process *process_of(const struct fixture *f, int gpu, pid_t pid) {
    for (size_t i = 0; i < f->reading.process_count; i++)
        if (f->reading.processes[i].gpu == gpu && f->reading.processes[i].pid == pid)
            return &f->reading.processes[i];
    fail_msg("no process %d on GPU %d", (int)pid, gpu);
    return NULL;
}

static void every_value_is_what_nvml_says(void **state) {
    (void)state;
    struct fixture f;
    open_script(&f, "devices 1\n" SCRIPT_GPU);
    assert_int_equal(f.rc, 0);
    assert_int_equal(f.reading.device_count, 1);
    read_all(&f);
    const struct pt_gpu_device *d = &f.reading.devices[0];
    uint64_t expected = 0;
    for (size_t i = 0; i < PT_COUNT(script_values); i++) {
        assert_value(d, script_values[i].field, script_values[i].value);
        expected |= UINT64_C(1) << script_values[i].field;
    }
    assert_int_equal(d->present, expected);
    close_fixture(&f);
}

static void what_does_not_change_is_described(void **state) {
    (void)state;
    struct fixture f;
    open_script(&f, "devices 1\n" SCRIPT_GPU);
    const struct pt_gpu_info *info = &f.reading.devices[0].info;
    assert_string_equal(info->name, "NVIDIA H100 80GB HBM3");
    assert_string_equal(info->uuid, "GPU-11111111");
    assert_string_equal(info->pci_bus_id, "0000:3b:00.0");
    assert_string_equal(info->driver_version, "550.54.15");
    assert_string_equal(info->cuda_version, "12.4");
    assert_int_equal(info->memory_total_bytes, 85899345920);
    assert_int_equal(info->max_graphics_mhz, 1981);
    assert_int_equal(info->max_sm_mhz, 1982);
    assert_int_equal(info->max_memory_mhz, 2620);
    assert_false(info->is_instance);
    close_fixture(&f);
}

#define BIT(name) (UINT64_C(1) << PT_GPU_##name)

/* Every function that gives values, and those that are lost with it. */
static const struct {
    const char *function;
    uint64_t fields;
} functions[] = {
    { "nvmlDeviceGetUtilizationRates", BIT(UTILIZATION_PERCENT) | BIT(MEMORY_UTILIZATION_PERCENT) },
    { "nvmlDeviceGetTemperature", BIT(TEMPERATURE_C) },
    { "nvmlDeviceGetClockInfo",
      BIT(CLOCK_GRAPHICS_MHZ) | BIT(CLOCK_SM_MHZ) | BIT(CLOCK_MEMORY_MHZ) | BIT(CLOCK_VIDEO_MHZ) },
    { "nvmlDeviceGetClockInfo/1", BIT(CLOCK_SM_MHZ) },
    { "nvmlDeviceGetMaxClockInfo", 0 },
    { "nvmlDeviceGetPowerUsage", BIT(POWER_MW) },
    { "nvmlDeviceGetEnforcedPowerLimit", BIT(POWER_LIMIT_MW) },
    { "nvmlDeviceGetTotalEnergyConsumption", BIT(ENERGY_MJ) },
    { "nvmlDeviceGetPerformanceState", BIT(PERF_STATE) },
    { "nvmlDeviceGetFanSpeed", BIT(FAN_PERCENT) },
    { "nvmlDeviceGetCurrentClocksEventReasons", BIT(THROTTLE) | BIT(THROTTLE_RAW) },
    { "nvmlDeviceGetEncoderUtilization", BIT(ENCODER_PERCENT) },
    { "nvmlDeviceGetDecoderUtilization", BIT(DECODER_PERCENT) },
    { "nvmlDeviceGetCurrPcieLinkGeneration", BIT(PCIE_GENERATION) },
    { "nvmlDeviceGetCurrPcieLinkWidth", BIT(PCIE_WIDTH) },
    { "nvmlDeviceGetPcieReplayCounter", BIT(PCIE_REPLAYS) },
    { "nvmlDeviceGetPcieThroughput", BIT(PCIE_TX_KBPS) | BIT(PCIE_RX_KBPS) },
    { "nvmlDeviceGetBAR1MemoryInfo", BIT(BAR1_USED_BYTES) | BIT(BAR1_FREE_BYTES) },
    { "nvmlDeviceGetTotalEccErrors/1", BIT(ECC_DOUBLE) },
    { "nvmlDeviceGetTotalEccErrors",
      BIT(ECC_SINGLE) | BIT(ECC_DOUBLE) | BIT(ECC_SINGLE_LIFETIME) | BIT(ECC_DOUBLE_LIFETIME) },
    { "nvmlDeviceGetRetiredPages", BIT(RETIRED_SINGLE) | BIT(RETIRED_DOUBLE) },
    { "nvmlDeviceGetRemappedRows", BIT(REMAPPED_CORRECTABLE) | BIT(REMAPPED_UNCORRECTABLE) |
                                       BIT(REMAP_PENDING) | BIT(REMAP_FAILED) },
    { "nvmlDeviceGetViolationStatus", BIT(VIOLATION_POWER_NS) | BIT(VIOLATION_THERMAL_NS) |
                                          BIT(VIOLATION_SYNC_NS) | BIT(VIOLATION_BOARD_NS) |
                                          BIT(VIOLATION_RELIABILITY_NS) },
    { "nvmlDeviceGetFieldValues", BIT(MEMORY_TEMPERATURE_C) | BIT(NVLINK_TX_BYTES) |
                                      BIT(NVLINK_RX_BYTES) | BIT(POWER_INSTANT_MW) |
                                      BIT(PCIE_TX_BYTES) | BIT(PCIE_RX_BYTES) },
    { "nvmlDeviceGetNvLinkState", BIT(NVLINK_ACTIVE) },
    { "nvmlGpmQueryDeviceSupport", 0 },
    { "nvmlGpmSampleAlloc", 0 },
    { "nvmlGpmSampleGet", 0 },
    { "nvmlGpmMetricsGet", 0 },
};

/* Functions that are asked while opening: a code of theirs may cost a text, never a value. */
static const char *const asked_once[] = {
    "nvmlSystemGetDriverVersion", "nvmlSystemGetCudaDriverVersion",
    "nvmlDeviceGetName",          "nvmlDeviceGetUUID",
    "nvmlDeviceGetPciInfo",       "nvmlDeviceGetMaxClockInfo",
    "nvmlDeviceGetMigMode",       "nvmlEventSetWait",
};

/* All known codes, and some that are not. */
static const int codes[] = { 1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12,  13,   14,    15,
                             16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 999, 1000, 12345, -1 };

static void add_override(char *script, size_t capacity, const char *function, const char *answer) {
    snprintf(script, capacity, "devices 1\n%s%s * %s\n", SCRIPT_GPU, function, answer);
}

static void assert_only_lost(const struct fixture *f, uint64_t lost, const char *what, int code) {
    const struct pt_gpu_device *d = &f->reading.devices[0];
    uint64_t expected = 0;
    for (size_t i = 0; i < PT_COUNT(script_values); i++)
        expected |= UINT64_C(1) << script_values[i].field;
    expected &= ~lost;
    if (d->present != expected)
        fail_msg("%s returns %d: fields 0x%llx are there or absent", what, code,
                 (unsigned long long)(d->present ^ expected));
    for (size_t i = 0; i < PT_COUNT(script_values); i++)
        if (expected >> script_values[i].field & 1)
            assert_value(d, script_values[i].field, script_values[i].value);
}

static void each_code_of_each_function_costs_only_its_values(void **state) {
    (void)state;
    char script[16384], answer[16];
    for (size_t i = 0; i < PT_COUNT(functions); i++)
        for (size_t k = 0; k < PT_COUNT(codes); k++) {
            struct fixture f;
            bool is_asked_while_reading =
                strcmp(functions[i].function, "nvmlDeviceGetMaxClockInfo") != 0;
            snprintf(answer, sizeof answer, "!%d", codes[k]);
            add_override(script, sizeof script, functions[i].function, answer);
            open_script(&f, script);
            assert_int_equal(f.rc, 0);
            read_all(&f);
            bool is_gone = is_asked_while_reading && pt_nvml_outcome_of(codes[k]) == PT_NVML_GONE;
            if (f.reading.devices[0].is_gone != is_gone &&
                strcmp(functions[i].function, "nvmlGpmMetricsGet") != 0)
                fail_msg("%s returns %d: gone is %d", functions[i].function, codes[k], !is_gone);
            if (!is_gone)
                assert_only_lost(&f, functions[i].fields, functions[i].function, codes[k]);
            close_fixture(&f);
        }
}

static void codes_while_opening_cost_no_values(void **state) {
    (void)state;
    char script[16384], answer[16];
    for (size_t i = 0; i < PT_COUNT(asked_once); i++)
        for (size_t k = 0; k < PT_COUNT(codes); k++) {
            struct fixture f;
            snprintf(answer, sizeof answer, "!%d", codes[k]);
            add_override(script, sizeof script, asked_once[i], answer);
            open_script(&f, script);
            assert_int_equal(f.rc, 0);
            read_all(&f);
            assert_only_lost(&f, 0, asked_once[i], codes[k]);
            close_fixture(&f);
        }
}

static void values_without_meaning_are_absent(void **state) {
    (void)state;
    char script[16384];
    for (size_t i = 0; i < PT_COUNT(functions); i++) {
        struct fixture f;
        if (functions[i].fields == 0 || strstr(functions[i].function, "NvLinkState") ||
            strstr(functions[i].function, "FieldValues"))
            continue;
        add_override(script, sizeof script, functions[i].function, "-:-:-:-");
        open_script(&f, script);
        read_all(&f);
        assert_only_lost(&f, functions[i].fields, functions[i].function, 0);
        close_fixture(&f);
    }
}

static void the_older_memory_call_steps_in(void **state) {
    (void)state;
    static const int refusals[] = { 3, 13, 25 };
    char script[16384], answer[16];
    for (size_t i = 0; i < PT_COUNT(refusals); i++) {
        struct fixture f;
        snprintf(answer, sizeof answer, "!%d", refusals[i]);
        add_override(script, sizeof script, "nvmlDeviceGetMemoryInfo_v2", answer);
        open_script(&f, script);
        read_all(&f);
        const struct pt_gpu_device *d = &f.reading.devices[0];
        assert_value(d, PT_GPU_MEMORY_USED_BYTES, 21474836480);
        assert_value(d, PT_GPU_MEMORY_FREE_BYTES, 64424509440);
        assert_false(pt_gpu_has(d, PT_GPU_MEMORY_RESERVED_BYTES));
        close_fixture(&f);
    }
}

static void what_is_not_supported_is_not_asked_again(void **state) {
    (void)state;
    struct fixture f;
    open_script(&f, "devices 1\n" SCRIPT_GPU "nvmlDeviceGetPowerUsage 0 !3 250000\n"
                    "nvmlDeviceGetFanSpeed 0 !10 44\n"
                    "nvmlFieldValue/82 0 !3 70:1\n");
    read_all(&f);
    read_all(&f);
    assert_false(pt_gpu_has(&f.reading.devices[0], PT_GPU_POWER_MW));
    assert_false(pt_gpu_has(&f.reading.devices[0], PT_GPU_MEMORY_TEMPERATURE_C));
    assert_value(&f.reading.devices[0], PT_GPU_FAN_PERCENT, 44);
    close_fixture(&f);
}

static void a_lost_gpu_does_not_take_the_others_along(void **state) {
    (void)state;
    struct fixture f;
    open_script(&f,
                "devices 2\n" SCRIPT_GPU "nvmlDeviceGetPowerUsage 1 250000 260000 !15 270000\n");
    read_all(&f);
    assert_value(&f.reading.devices[1], PT_GPU_POWER_MW, 250000);
    read_all(&f);
    assert_value(&f.reading.devices[1], PT_GPU_POWER_MW, 260000);
    for (int i = 0; i < 3; i++) {
        read_all(&f);
        assert_true(f.reading.devices[1].is_gone);
        assert_false(pt_gpu_has(&f.reading.devices[1], PT_GPU_POWER_MW));
        assert_false(f.reading.devices[0].is_gone);
        assert_value(&f.reading.devices[0], PT_GPU_POWER_MW, 512345);
    }
    read_processes(&f);
    assert_true(f.reading.devices[0].has_process_count);
    assert_false(f.reading.devices[1].has_process_count);
    close_fixture(&f);
}

static void a_gpu_that_cannot_be_had_keeps_its_place(void **state) {
    (void)state;
    struct fixture f;
    open_script(&f, "devices 2\n" SCRIPT_GPU "nvmlDeviceGetHandleByIndex 0 !4\n");
    assert_int_equal(f.reading.device_count, 2);
    read_all(&f);
    read_processes(&f);
    assert_true(f.reading.devices[0].is_gone);
    assert_value(&f.reading.devices[1], PT_GPU_POWER_MW, 512345);
    close_fixture(&f);
}

static void a_driver_that_does_not_start_says_why(void **state) {
    (void)state;
    static const struct {
        int code, rc;
        const char *words;
    } cases[] = {
        { 9, -ENODEV, "the driver is not loaded" },
        { 18, -ELIBBAD, "library and driver have different versions" },
        { 4, -EACCES, "no permission to talk to the driver" },
        { 999, -EIO, "Unknown Error" },
    };
    char script[128];
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct fixture f;
        struct pt_nvml_diagnosis diagnosis;
        snprintf(script, sizeof script, "devices 1\nnvmlInit * !%d\n", cases[i].code);
        open_script(&f, script);
        assert_int_equal(f.rc, cases[i].rc);
        assert_non_null(strstr(f.err.text, cases[i].words));
        pt_nvml_diagnose(&diagnosis);
        assert_int_equal(diagnosis.code, cases[i].code);
        assert_string_equal(diagnosis.words, cases[i].words);
        close_fixture(&f);
    }
}

static void every_code_of_the_start_is_survived(void **state) {
    (void)state;
    static const char *const starters[] = { "nvmlInit", "nvmlDeviceGetCount" };
    char script[128];
    for (size_t i = 0; i < PT_COUNT(starters); i++)
        for (size_t k = 0; k < PT_COUNT(codes); k++) {
            struct fixture f;
            if (codes[k] == 3)
                continue; /* the script's way to say nothing */
            snprintf(script, sizeof script, "devices 1\n%s * !%d\n", starters[i], codes[k]);
            open_script(&f, script);
            assert_true(f.rc < 0);
            assert_true(f.err.text[0] != 0);
            close_fixture(&f);
        }
}

static void no_library_no_gpu_no_fuss(void **state) {
    (void)state;
    struct fixture f;
    struct pt_fs fs = { .is_live = true };
    struct pt_nvml_diagnosis diagnosis;
    open_script(&f, "devices 0\n");
    assert_int_equal(f.rc, -ENODATA);
    setenv("PITOT_NVML", "/nonexistent/libnvidia-ml.so.1", 1);
    assert_int_equal(pt_nvml_backend.open(f.state, &fs, &f.err), -ENODATA);
    pt_nvml_diagnose(&diagnosis);
    assert_int_equal(diagnosis.load_error, -ENOENT);
    setenv("PITOT_NVML", "libm.so.6", 1);
    assert_int_equal(pt_nvml_backend.open(f.state, &fs, &f.err), -ENOSYS);
    close_fixture(&f);
}

static void a_copied_proc_does_not_load_the_library(void **state) {
    (void)state;
    struct pt_fs fs = { .is_live = false };
    struct pt_err err;
    void *backend = pt_calloc(1, pt_nvml_backend.state_size);
    unsetenv("PITOT_NVML");
    assert_int_equal(pt_nvml_backend.open(backend, &fs, &err), -ENODATA);
    assert_non_null(strstr(err.text, "not that of this machine"));
    pt_free(backend);
}

static void an_old_library_gives_what_it_has(void **state) {
    (void)state;
    struct fixture f;
    open_library(&f, "PITOT_SCRIPTED_NVML_OLD",
                 "devices 1\n" SCRIPT_GPU "nvmlDeviceGetPowerManagementLimit * 250000\n"
                 "nvmlDeviceGetCurrentClocksThrottleReasons * 1\n"
                 "nvmlDeviceGetComputeRunningProcesses * 4711:1048576,4712:-\n"
                 "nvmlDeviceGetGraphicsRunningProcesses * none\n");
    assert_int_equal(f.rc, 0);
    assert_string_equal(f.reading.devices[0].info.pci_bus_id, "0000:3b:00.0");
    read_all(&f);
    read_processes(&f);
    const struct pt_gpu_device *d = &f.reading.devices[0];
    assert_value(d, PT_GPU_POWER_LIMIT_MW, 250000);
    assert_value(d, PT_GPU_THROTTLE, PT_GPU_THROTTLE_IDLE);
    assert_value(d, PT_GPU_MEMORY_USED_BYTES, 21474836480);
    assert_false(pt_gpu_has(d, PT_GPU_ENERGY_MJ));
    assert_false(pt_gpu_has(d, PT_GPU_XID_COUNT));
    assert_true(d->has_process_count);
    assert_int_equal(d->process_count, 2);
    assert_int_equal(process_of(&f, 0, 4711)->values[PT_GPU_PROCESS_MEMORY_BYTES], 1048576);
    assert_false(pt_gpu_process_has(process_of(&f, 0, 4712), PT_GPU_PROCESS_MEMORY_BYTES));
    close_fixture(&f);
}

static void processes_have_memory_and_their_newest_share(void **state) {
    (void)state;
    struct fixture f;
    open_script(&f, "devices 1\n" SCRIPT_GPU);
    read_processes(&f);
    const struct pt_gpu_process *one = process_of(&f, 0, 4711), *other = process_of(&f, 0, 4712);
    assert_int_equal(f.reading.process_count, 2);
    assert_int_equal(f.reading.devices[0].process_count, 2);
    assert_int_equal(one->kinds, PT_GPU_KIND_COMPUTE | PT_GPU_KIND_GRAPHICS);
    assert_int_equal(one->values[PT_GPU_PROCESS_MEMORY_BYTES], 1073741824);
    assert_int_equal(one->values[PT_GPU_PROCESS_SM_PERCENT], 30);
    assert_int_equal(one->values[PT_GPU_PROCESS_MEMORY_PERCENT], 6);
    assert_true(one->is_host_pid);
    assert_false(pt_gpu_process_has(other, PT_GPU_PROCESS_MEMORY_BYTES));
    assert_false(pt_gpu_process_has(other, PT_GPU_PROCESS_SM_PERCENT)); /* 250 % */
    assert_int_equal(other->values[PT_GPU_PROCESS_MEMORY_PERCENT], 7);
    read_processes(&f); /* no new samples since */
    assert_false(pt_gpu_process_has(process_of(&f, 0, 4711), PT_GPU_PROCESS_SM_PERCENT));
    close_fixture(&f);
}

static void a_long_list_of_processes_gets_a_larger_buffer(void **state) {
    (void)state;
    struct fixture f;
    char script[16384], list[1024] = "";
    for (int i = 0; i < 40; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%d:%d:0", i ? "," : "",
                 1000 + i, 1 << 20);
    add_override(script, sizeof script, "nvmlDeviceGetComputeRunningProcesses_v3", list);
    open_script(&f, script);
    read_processes(&f);
    assert_int_equal(f.reading.devices[0].process_count, 41); /* 4711 has a window */
    assert_non_null(process_of(&f, 0, 1039));
    close_fixture(&f);
}

static void a_steady_turn_allocates_nothing(void **state) {
    (void)state;
    struct fixture f;
    open_script(&f, "devices 2\n" SCRIPT_GPU "nvmlDeviceGetProcessUtilization * !7\n");
    for (int i = 0; i < 3; i++) {
        read_all(&f);
        read_processes(&f);
    }
    uint64_t before = pt_mem_allocation_count();
    for (int i = 0; i < 100; i++) {
        read_all(&f);
        read_processes(&f);
    }
    assert_int_equal(pt_mem_allocation_count(), before);
    close_fixture(&f);
}

static void each_code_of_a_list_costs_only_that_list(void **state) {
    (void)state;
    static const char *const lists[] = { "nvmlDeviceGetComputeRunningProcesses_v3",
                                         "nvmlDeviceGetGraphicsRunningProcesses_v3",
                                         "nvmlDeviceGetProcessUtilization" };
    char script[16384], answer[16];
    for (size_t i = 0; i < PT_COUNT(lists); i++)
        for (size_t k = 0; k < PT_COUNT(codes); k++) {
            struct fixture f;
            snprintf(answer, sizeof answer, "!%d", codes[k]);
            add_override(script, sizeof script, lists[i], answer);
            open_script(&f, script);
            read_processes(&f);
            struct pt_gpu_device *d = &f.reading.devices[0];
            bool is_gone = pt_nvml_outcome_of(codes[k]) == PT_NVML_GONE;
            assert_int_equal(d->is_gone, is_gone);
            assert_int_equal(d->has_process_count, !is_gone);
            if (!is_gone && i < 2)
                assert_int_equal(d->process_count, i == 0 ? 1 : 2);
            close_fixture(&f);
        }
}

static void a_process_list_that_is_refused_is_not_empty_but_absent(void **state) {
    (void)state;
    struct fixture f;
    open_script(&f, "devices 1\nnvmlDeviceGetPowerUsage * 1\n");
    read_processes(&f);
    assert_false(f.reading.devices[0].has_process_count);
    close_fixture(&f);
}

static void counters_of_hopper_need_two_samples(void **state) {
    (void)state;
    struct fixture f;
    open_script(&f, "devices 1\n" SCRIPT_GPU);
    read_all(&f);
    assert_int_equal(f.reading.devices[0].gpm_present, 0);
    read_all(&f);
    const struct pt_gpu_device *d = &f.reading.devices[0];
    assert_int_equal(d->gpm_present, 1u << PT_GPM_SM_ACTIVE | 1u << PT_GPM_SM_OCCUPANCY |
                                         1u << PT_GPM_TENSOR | 1u << PT_GPM_DRAM_BANDWIDTH);
    assert_true(d->gpm[PT_GPM_SM_ACTIVE] == 71.5);
    assert_true(d->gpm[PT_GPM_SM_OCCUPANCY] == 50.25);
    assert_true(d->gpm[PT_GPM_TENSOR] == 33.125);
    assert_true(d->gpm[PT_GPM_DRAM_BANDWIDTH] == 66);
    close_fixture(&f);
}

static void a_failed_sample_starts_the_pair_anew(void **state) {
    (void)state;
    struct fixture f;
    open_script(&f, "devices 1\n" SCRIPT_GPU "nvmlGpmSampleGet * 1 !999 1 1\n");
    uint32_t present[4];
    for (int i = 0; i < 4; i++) {
        read_all(&f);
        present[i] = f.reading.devices[0].gpm_present;
    }
    assert_int_equal(present[0], 0);
    assert_int_equal(present[1], 0);
    assert_int_equal(present[2], 0);
    assert_true(present[3] != 0);
    close_fixture(&f);
}

static void older_gpus_have_no_such_counters(void **state) {
    (void)state;
    struct fixture f;
    open_script(&f, "devices 1\n" SCRIPT_GPU "nvmlGpmQueryDeviceSupport * 0\n");
    read_all(&f);
    read_all(&f);
    assert_int_equal(f.reading.devices[0].gpm_present, 0);
    close_fixture(&f);
}

#define SCRIPT_MIG                                                         \
    "nvmlDeviceGetMigMode 0 1:1\n"                                         \
    "nvmlDeviceGetMaxMigDeviceCount 0 7\n"                                 \
    "nvmlDeviceGetMigDeviceHandleByIndex 0 !6\n"                           \
    "nvmlDeviceGetMigDeviceHandleByIndex/1 0 1\n"                          \
    "nvmlDeviceGetMigDeviceHandleByIndex/2 0 1\n"                          \
    "nvmlDeviceGetGpuInstanceId 0.1 1\n"                                   \
    "nvmlDeviceGetGpuInstanceId 0.2 2\n"                                   \
    "nvmlDeviceGetComputeInstanceId 0.1 0\n"                               \
    "nvmlDeviceGetUtilizationRates 0 !3\n"                                 \
    "nvmlDeviceGetUtilizationRates 0.1 !3\n"                               \
    "nvmlDeviceGetMemoryInfo_v2 0.1 10200547328:0:10000000000:200547328\n" \
    "nvmlDeviceGetUUID 0.1 MIG-1\n"                                        \
    "nvmlDeviceGetComputeRunningProcesses_v3 0.1 77:1048576:1\n"           \
    "nvmlDeviceGetComputeRunningProcesses_v3 0.2 none\n"                   \
    "nvmlDeviceGetGraphicsRunningProcesses_v3 * none\n"

static void instances_of_mig_are_devices_with_a_parent(void **state) {
    (void)state;
    struct fixture f;
    open_script(&f, "devices 2\n" SCRIPT_GPU SCRIPT_MIG);
    assert_int_equal(f.reading.device_count, 4);
    const struct pt_gpu_device *one = &f.reading.devices[2];
    assert_true(one->info.is_instance);
    assert_int_equal(one->info.parent, 0);
    assert_int_equal(one->info.gpu_instance, 1);
    assert_int_equal(one->info.compute_instance, 0);
    assert_int_equal(f.reading.devices[3].info.compute_instance, -1); /* unknown */
    assert_string_equal(one->info.uuid, "MIG-1");
    assert_string_equal(one->info.pci_bus_id, "0000:3b:00.0");
    read_all(&f);
    read_all(&f);
    assert_false(pt_gpu_has(one, PT_GPU_UTILIZATION_PERCENT));
    assert_value(one, PT_GPU_MEMORY_USED_BYTES, 200547328);
    assert_true(one->gpm[PT_GPM_SM_ACTIVE] == 71.5);
    read_processes(&f);
    assert_false(f.reading.devices[0].has_process_count); /* its instances have them */
    assert_int_equal(f.reading.devices[2].process_count, 1);
    assert_int_equal(f.reading.devices[3].process_count, 0);
    assert_true(f.reading.devices[3].has_process_count);
    assert_non_null(process_of(&f, 2, 77));
    close_fixture(&f);
}

static void critical_errors_are_counted_per_gpu(void **state) {
    (void)state;
    struct fixture f;
    open_script(&f, "devices 2\n" SCRIPT_GPU "nvmlEventSetWait * 1:8:79 1:8:48 1:2:1 !10\n");
    read_all(&f);
    assert_value(&f.reading.devices[0], PT_GPU_XID_COUNT, 0);
    assert_false(pt_gpu_has(&f.reading.devices[0], PT_GPU_XID_LAST));
    assert_value(&f.reading.devices[1], PT_GPU_XID_COUNT, 2);
    assert_value(&f.reading.devices[1], PT_GPU_XID_LAST, 48);
    read_all(&f);
    assert_value(&f.reading.devices[1], PT_GPU_XID_COUNT, 2);
    close_fixture(&f);
}

static void a_flood_of_events_does_not_stop_the_reading(void **state) {
    (void)state;
    struct fixture f;
    open_script(&f, "devices 1\n" SCRIPT_GPU "nvmlEventSetWait * 0:8:79\n");
    read_all(&f);
    assert_value(&f.reading.devices[0], PT_GPU_XID_COUNT, 64);
    close_fixture(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(every_value_is_what_nvml_says,
                "C106 C107 C108 C109 C110 C111 C112 C114 C116: every value is what NVML says"),
        PT_TEST(what_does_not_change_is_described, "C130: what does not change is described"),
        PT_TEST(each_code_of_each_function_costs_only_its_values,
                "C115: each code of each function costs only its values"),
        PT_TEST(codes_while_opening_cost_no_values, "C115: codes while opening cost no values"),
        PT_TEST(values_without_meaning_are_absent, "values without meaning are absent"),
        PT_TEST(the_older_memory_call_steps_in, "C108: the older memory call steps in"),
        PT_TEST(what_is_not_supported_is_not_asked_again,
                "what is not supported is not asked again, what timed out is"),
        PT_TEST(a_lost_gpu_does_not_take_the_others_along,
                "C114 C115: a lost GPU does not take the others along"),
        PT_TEST(a_gpu_that_cannot_be_had_keeps_its_place,
                "C105: a GPU that cannot be had keeps its place"),
        PT_TEST(a_driver_that_does_not_start_says_why,
                "C115 C202: a driver that does not start says why"),
        PT_TEST(every_code_of_the_start_is_survived, "C115: every code of the start is survived"),
        PT_TEST(no_library_no_gpu_no_fuss, "C115 C201: without library or GPU there is no GPU"),
        PT_TEST(a_copied_proc_does_not_load_the_library,
                "C133: a copied /proc does not load the library"),
        PT_TEST(an_old_library_gives_what_it_has, "an old library gives what it has"),
        PT_TEST(processes_have_memory_and_their_newest_share,
                "C116: processes have memory and their newest share"),
        PT_TEST(a_long_list_of_processes_gets_a_larger_buffer,
                "a long list of processes gets a larger buffer"),
        PT_TEST(a_steady_turn_allocates_nothing, "a steady turn allocates nothing"),
        PT_TEST(each_code_of_a_list_costs_only_that_list,
                "each code of a list of processes costs only that list"),
        PT_TEST(a_process_list_that_is_refused_is_not_empty_but_absent,
                "a list of processes that is refused is not empty but absent"),
        PT_TEST(counters_of_hopper_need_two_samples, "counters of Hopper need two samples"),
        PT_TEST(a_failed_sample_starts_the_pair_anew, "a failed sample starts the pair again"),
        PT_TEST(older_gpus_have_no_such_counters, "older GPUs have no such counters"),
        PT_TEST(instances_of_mig_are_devices_with_a_parent,
                "instances of MIG are devices with a parent"),
        PT_TEST(critical_errors_are_counted_per_gpu, "critical errors are counted per GPU"),
        PT_TEST(a_flood_of_events_does_not_stop_the_reading,
                "a flood of events does not stop the reading"),
    };
    return cmocka_run_group_tests(tests, NULL, stop_playing);
}
