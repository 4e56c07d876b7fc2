/* tests/unit/scripted.h -- scripts for the scripted NVML, and an H100 that has everything. */
#ifndef PT_TEST_SCRIPTED_H
#define PT_TEST_SCRIPTED_H

#include "test.h"

#include "source/gpu/gpu_device.h"

#include <fcntl.h>
#include <unistd.h>

#define SCRIPT_GPU                                                                            \
    "nvmlSystemGetDriverVersion           *  550.54.15\n"                                     \
    "nvmlSystemGetCudaDriverVersion       *  12040\n"                                         \
    "nvmlDeviceGetName                    *  NVIDIA_H100_80GB_HBM3\n"                         \
    "nvmlDeviceGetUUID                    *  GPU-11111111\n"                                  \
    "nvmlDeviceGetPciInfo                 *  0:0x3b:0\n"                                      \
    "nvmlDeviceGetUtilizationRates        *  85:40\n"                                         \
    "nvmlDeviceGetMemoryInfo_v2           *  85899345920:536870912:64424509440:20937965568\n" \
    "nvmlDeviceGetMemoryInfo              *  85899345920:64424509440:21474836480\n"           \
    "nvmlDeviceGetBAR1MemoryInfo          *  137438953472:137430564864:8388608\n"             \
    "nvmlDeviceGetTemperature/0           *  61\n"                                            \
    "nvmlDeviceGetClockInfo/0             *  1980\n"                                          \
    "nvmlDeviceGetClockInfo/1             *  1979\n"                                          \
    "nvmlDeviceGetClockInfo/2             *  2619\n"                                          \
    "nvmlDeviceGetClockInfo/3             *  1500\n"                                          \
    "nvmlDeviceGetMaxClockInfo/0          *  1981\n"                                          \
    "nvmlDeviceGetMaxClockInfo/1          *  1982\n"                                          \
    "nvmlDeviceGetMaxClockInfo/2          *  2620\n"                                          \
    "nvmlDeviceGetPowerUsage              *  512345\n"                                        \
    "nvmlDeviceGetEnforcedPowerLimit      *  700000\n"                                        \
    "nvmlDeviceGetTotalEnergyConsumption  *  9007199254740993\n"                              \
    "nvmlDeviceGetPerformanceState        *  0\n"                                             \
    "nvmlDeviceGetFanSpeed                *  33\n"                                            \
    "nvmlDeviceGetCurrentClocksEventReasons  *  0x44\n"                                       \
    "nvmlDeviceGetEncoderUtilization      *  7:100000\n"                                      \
    "nvmlDeviceGetDecoderUtilization      *  8:100000\n"                                      \
    "nvmlDeviceGetCurrPcieLinkGeneration  *  5\n"                                             \
    "nvmlDeviceGetCurrPcieLinkWidth       *  16\n"                                            \
    "nvmlDeviceGetPcieReplayCounter       *  3\n"                                             \
    "nvmlDeviceGetPcieThroughput/0        *  123456\n"                                        \
    "nvmlDeviceGetPcieThroughput/1        *  654321\n"                                        \
    "nvmlDeviceGetTotalEccErrors/0        *  1\n"                                             \
    "nvmlDeviceGetTotalEccErrors/1        *  2\n"                                             \
    "nvmlDeviceGetTotalEccErrors/2        *  11\n"                                            \
    "nvmlDeviceGetTotalEccErrors/3        *  12\n"                                            \
    "nvmlDeviceGetRetiredPages/0          *  4\n"                                             \
    "nvmlDeviceGetRetiredPages/1          *  0\n"                                             \
    "nvmlDeviceGetRemappedRows            *  5:6:1:0\n"                                       \
    "nvmlDeviceGetViolationStatus/0       *  1000\n"                                          \
    "nvmlDeviceGetViolationStatus/1       *  2000\n"                                          \
    "nvmlDeviceGetViolationStatus/2       *  3000\n"                                          \
    "nvmlDeviceGetViolationStatus/3       *  4000\n"                                          \
    "nvmlDeviceGetViolationStatus/5       *  5000\n"                                          \
    "nvmlDeviceGetFieldValues             *  1\n"                                             \
    "nvmlFieldValue/82                    *  70:1\n"                                          \
    "nvmlFieldValue/138                   *  1048576:3\n"                                     \
    "nvmlFieldValue/139                   *  2097152:3\n"                                     \
    "nvmlFieldValue/186                   *  498000:1\n"                                      \
    "nvmlFieldValue/197                   *  111:3\n"                                         \
    "nvmlFieldValue/198                   *  222:0\n"                                         \
    "nvmlDeviceGetNvLinkState             *  !2\n"                                            \
    "nvmlDeviceGetNvLinkState/0           *  1\n"                                             \
    "nvmlDeviceGetNvLinkState/1           *  0\n"                                             \
    "nvmlDeviceGetNvLinkState/2           *  1\n"                                             \
    "nvmlEventSetCreate                   *  1\n"                                             \
    "nvmlDeviceRegisterEvents             *  1\n"                                             \
    "nvmlEventSetWait                     *  !10\n"                                           \
    "nvmlGpmQueryDeviceSupport            *  1\n"                                             \
    "nvmlGpmSampleAlloc                   *  1\n"                                             \
    "nvmlGpmSampleGet                     *  1\n"                                             \
    "nvmlGpmMigSampleGet                  *  1\n"                                             \
    "nvmlGpmMetricsGet                    *  1\n"                                             \
    "nvmlGpmMetric/2                      *  71500\n"                                         \
    "nvmlGpmMetric/3                      *  50250\n"                                         \
    "nvmlGpmMetric/5                      *  33125\n"                                         \
    "nvmlGpmMetric/10                     *  66000\n"                                         \
    "nvmlDeviceGetComputeRunningProcesses_v3  *  4711:1073741824:0,4712:-:0\n"                \
    "nvmlDeviceGetGraphicsRunningProcesses_v3 *  4711:1073741824:0\n"                         \
    "nvmlDeviceGetProcessUtilization      *  4711:100:20:5,4711:200:30:6,4712:150:250:7\n"

/* What the script above says, a value for each field that it has. */
static const struct {
    enum pt_gpu_field field;
    int64_t value;
} script_values[] = {
    { PT_GPU_UTILIZATION_PERCENT, 85 },
    { PT_GPU_MEMORY_UTILIZATION_PERCENT, 40 },
    { PT_GPU_ENCODER_PERCENT, 7 },
    { PT_GPU_DECODER_PERCENT, 8 },
    { PT_GPU_MEMORY_TOTAL_BYTES, 85899345920 },
    { PT_GPU_MEMORY_USED_BYTES, 20937965568 },
    { PT_GPU_MEMORY_FREE_BYTES, 64424509440 },
    { PT_GPU_MEMORY_RESERVED_BYTES, 536870912 },
    { PT_GPU_TEMPERATURE_C, 61 },
    { PT_GPU_MEMORY_TEMPERATURE_C, 70 },
    { PT_GPU_POWER_MW, 512345 },
    { PT_GPU_POWER_INSTANT_MW, 498000 },
    { PT_GPU_POWER_LIMIT_MW, 700000 },
    { PT_GPU_ENERGY_MJ, 9007199254740993 }, /* no double holds it */
    { PT_GPU_CLOCK_GRAPHICS_MHZ, 1980 },
    { PT_GPU_CLOCK_SM_MHZ, 1979 },
    { PT_GPU_CLOCK_MEMORY_MHZ, 2619 },
    { PT_GPU_CLOCK_VIDEO_MHZ, 1500 },
    { PT_GPU_PERF_STATE, 0 },
    { PT_GPU_FAN_PERCENT, 33 },
    { PT_GPU_THROTTLE, PT_GPU_THROTTLE_POWER | PT_GPU_THROTTLE_THERMAL },
    { PT_GPU_THROTTLE_RAW, 0x44 },
    { PT_GPU_XID_COUNT, 0 },
    { PT_GPU_PCIE_GENERATION, 5 },
    { PT_GPU_PCIE_WIDTH, 16 },
    { PT_GPU_PCIE_REPLAYS, 3 },
    { PT_GPU_PCIE_TX_KBPS, 123456 },
    { PT_GPU_PCIE_RX_KBPS, 654321 },
    { PT_GPU_PCIE_TX_BYTES, 111 },
    { PT_GPU_PCIE_RX_BYTES, 222 },
    { PT_GPU_NVLINK_TX_BYTES, 1073741824 },
    { PT_GPU_NVLINK_RX_BYTES, 2147483648 },
    { PT_GPU_NVLINK_ACTIVE, 2 },
    { PT_GPU_BAR1_USED_BYTES, 8388608 },
    { PT_GPU_BAR1_FREE_BYTES, 137430564864 },
    { PT_GPU_ECC_SINGLE, 1 },
    { PT_GPU_ECC_DOUBLE, 2 },
    { PT_GPU_ECC_SINGLE_LIFETIME, 11 },
    { PT_GPU_ECC_DOUBLE_LIFETIME, 12 },
    { PT_GPU_RETIRED_SINGLE, 4 },
    { PT_GPU_RETIRED_DOUBLE, 0 },
    { PT_GPU_REMAPPED_CORRECTABLE, 5 },
    { PT_GPU_REMAPPED_UNCORRECTABLE, 6 },
    { PT_GPU_REMAP_PENDING, 1 },
    { PT_GPU_REMAP_FAILED, 0 },
    { PT_GPU_VIOLATION_POWER_NS, 1000 },
    { PT_GPU_VIOLATION_THERMAL_NS, 2000 },
    { PT_GPU_VIOLATION_SYNC_NS, 3000 },
    { PT_GPU_VIOLATION_BOARD_NS, 4000 },
    { PT_GPU_VIOLATION_RELIABILITY_NS, 5000 },
};

static char script_path[] = "/tmp/pitot-gpu-script-XXXXXX";

/* Makes the library play `script`; it is read when NVML is initialised. */
static inline void play(const char *variable, const char *script) {
    static bool is_made;
    if (!is_made) {
        int fd = mkstemp(script_path);
        assert_true(fd >= 0);
        close(fd);
        is_made = true;
    }
    FILE *file = fopen(script_path, "w");
    assert_non_null(file);
    fputs(script, file);
    fclose(file);
    assert_non_null(getenv(variable));
    setenv("PITOT_NVML", getenv(variable), 1);
    setenv("SCRIPTED_NVML", script_path, 1);
}

static inline int stop_playing(void **state) {
    (void)state;
    unlink(script_path);
    unsetenv("PITOT_NVML");
    return 0;
}

#endif
