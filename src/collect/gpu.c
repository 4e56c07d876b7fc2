/* collect/gpu.c -- GPUs and the processes on them, from the latest reading of the GPU thread.
 *
 * A row is a GPU or a MIG instance; a GPU that was lost keeps its row without values. Utilization
 * means that at least one kernel ran, not that the GPU was full: for that see gSmActive and
 * gTensorActive, if the hardware counts them. */
#include "collect/gpu.h"

#include "base/clock.h"
#include "base/log.h"
#include "source/gpu/poller.h"
#include "source/kernel/pid.h"

#include <errno.h>
#include <stdio.h>

enum { SOURCE_FAST, SOURCE_SLOW, SOURCE_PROCESSES };

#define GPU_COLUMNS(X, t)                                                                          \
    X(t, index, "gGpuIndex", KEY, I64, NONE, 0, "GPU number; for NVIDIA as in nvidia-smi",         \
      .title = "GPU", .heading = "GPU", .words = "device", .otel = "hw.id text")                   \
    X(t, vendor, "gVendor", INFO, STRING, NONE, 0, "nvidia, amd or intel", .title = "Vendor")      \
    X(t, name, "gName", INFO, STRING, NONE, 0, "Product name, or the PCI id", .title = "Model",    \
      .heading = "NAME", .role = PT_ROLE_NAME, .words = "product")                                 \
    X(t, uuid, "gUuid", INFO, STRING, NONE, 0, "Unique id of the GPU", .title = "Unique id",       \
      .importance = PT_RAW)                                                                        \
    X(t, pci, "gPciBusId", INFO, STRING, NONE, 0, "PCI bus address", .title = "PCI address",       \
      .importance = PT_RAW)                                                                        \
    X(t, parent, "gParentIndex", INFO, I64, NONE, 0, "GPU that this MIG instance belongs to",      \
      .title = "GPU of the MIG instance", .role = PT_ROLE_PARENT, .words = "mig")                  \
    X(t, gpu_instance, "gGpuInstance", INFO, I64, NONE, 0, "MIG: GPU instance number",             \
      .title = "MIG GPU instance", .importance = PT_RAW)                                           \
    X(t, compute_instance, "gComputeInstance", INFO, I64, NONE, 0, "MIG: compute instance number", \
      .title = "MIG compute instance", .importance = PT_RAW)                                       \
    X(t, state, "gState", INFO, STRING, NONE, 0, "ok, or lost: it fell off the bus",               \
      .title = "State", .words = "lost")                                                           \
    X(t, utilization, "gUtilizationGpu", GAUGE, I64, PERCENT, 0,                                   \
      "Share of time in which at least one kernel ran, whatever its size", .title = "GPU busy",    \
      .heading = "BUSY", .family = "GPU busy", .better = PT_HIGHER_IS_BETTER,                      \
      .importance = PT_HEADLINE, .words = "utilization sm kernel",                                 \
      .otel = "hw.gpu.utilization hw.gpu.task=general")                                            \
    X(t, utilization_memory, "gUtilizationMem", GAUGE, I64, PERCENT, 0,                            \
      "Share of time in which GPU memory was read or written", .title = "GPU memory busy",         \
      .heading = "MEM BUSY", .family = "GPU busy", .words = "utilization bandwidth")               \
    X(t, memory_used, "gMemoryUsedMb", GAUGE, I64, MEBIBYTES, 0, "GPU memory in use",              \
      .title = "GPU memory used", .heading = "MEMORY", .family = "GPU memory", .is_stacked = true, \
      .better = PT_LOWER_IS_BETTER, .limit = "gMemoryTotalMb", .importance = PT_HEADLINE,          \
      .words = "vram hbm", .otel = "hw.gpu.memory.usage")                                          \
    X(t, memory_free, "gMemoryFreeMb", GAUGE, I64, MEBIBYTES, 0, "GPU memory not in use",          \
      .title = "GPU memory free", .family = "GPU memory", .is_stacked = true,                      \
      .better = PT_HIGHER_IS_BETTER, .limit = "gMemoryTotalMb", .words = "vram hbm")               \
    X(t, temperature, "gTemperatureC", GAUGE, I64, CELSIUS, 0, "Chip temperature",                 \
      .title = "GPU temperature", .heading = "TEMP", .family = "GPU temperature",                  \
      .better = PT_LOWER_IS_BETTER, .importance = PT_HEADLINE, .combine = PT_COMBINE_WORST,        \
      .words = "heat", .otel = "hw.temperature hw.type=gpu")                                       \
    X(t, power, "gPowerDrawW", GAUGE, F64, WATTS, 0, "Power draw; an average on newer GPUs",       \
      .title = "GPU power", .heading = "POWER", .family = "GPU power",                             \
      .better = PT_LOWER_IS_BETTER, .limit = "gPowerLimitW", .importance = PT_HEADLINE,            \
      .words = "watts energy", .otel = "hw.power hw.type=gpu")                                     \
    X(t, clock_graphics, "gClockGraphicsMhz", GAUGE, I64, MEGAHERTZ, 0, "Graphics clock",          \
      .title = "Graphics clock", .family = "GPU clocks", .better = PT_HIGHER_IS_BETTER,            \
      .words = "frequency throttling")                                                             \
    X(t, perf_state, "gPerfState", GAUGE, STRING, NONE, 0, "P0, the fastest, to P15",              \
      .title = "Performance state")                                                                \
    X(t, memory_total, "gMemoryTotalMb", GAUGE, I64, MEBIBYTES, 0, "GPU memory",                   \
      .title = "GPU memory, total", .heading = "MEM TOTAL", .words = "vram hbm size",              \
      .otel = "hw.gpu.memory.limit")                                                               \
    X(t, bar1_used, "gBar1UsedMb", GAUGE, I64, MEBIBYTES, 1,                                       \
      "BAR1 memory (mapped by the host) in use", .title = "BAR1 memory used",                      \
      .family = "BAR1 memory", .is_stacked = true)                                                 \
    X(t, bar1_free, "gBar1FreeMb", GAUGE, I64, MEBIBYTES, 1,                                       \
      "BAR1 memory (mapped by the host) not in use", .title = "BAR1 memory free",                  \
      .family = "BAR1 memory", .is_stacked = true)                                                 \
    X(t, fan, "gFanSpeed", GAUGE, I64, PERCENT, 0, "Requested fan speed, percent of maximum",      \
      .title = "Fan speed", .heading = "FAN", .words = "cooling", .otel = "hw.fan.speed_ratio")    \
    X(t, power_limit, "gPowerLimitW", GAUGE, F64, WATTS, 0, "Power limit in force",                \
      .title = "Power limit", .heading = "POWER LIMIT", .words = "cap")                            \
    X(t, clock_sm, "gClockSmMhz", GAUGE, I64, MEGAHERTZ, 0, "SM clock", .title = "SM clock",       \
      .heading = "CLOCK", .family = "GPU clocks", .better = PT_HIGHER_IS_BETTER,                   \
      .words = "frequency throttling")                                                             \
    X(t, clock_memory, "gClockMemMhz", GAUGE, I64, MEGAHERTZ, 0, "Memory clock",                   \
      .title = "Memory clock", .family = "GPU clocks", .words = "frequency")                       \
    X(t, pcie_tx, "gPcieTxKbps", GAUGE, I64, NONE, 1,                                              \
      "PCIe traffic from the GPU in the last 20 ms, kB/s", .title = "PCIe sent, kB/s",             \
      .family = "PCIe traffic, kB/s", .words = "bus bandwidth")                                    \
    X(t, pcie_rx, "gPcieRxKbps", GAUGE, I64, NONE, 1,                                              \
      "PCIe traffic to the GPU in the last 20 ms, kB/s", .title = "PCIe received, kB/s",           \
      .family = "PCIe traffic, kB/s", .words = "bus bandwidth")                                    \
    X(t, ecc_single, "gEccSingleBitErrors", COUNTER, I64, COUNT, 1,                                \
      "Corrected memory errors since the driver was loaded", .title = "Corrected memory errors",   \
      .family = "ECC errors", .better = PT_LOWER_IS_BETTER, .words = "ecc",                        \
      .otel = "hw.errors {error} hw.type=gpu,error.type=corrected")                                \
    X(t, ecc_double, "gEccDoubleBitErrors", COUNTER, I64, COUNT, 1,                                \
      "Uncorrected memory errors since the driver was loaded",                                     \
      .title = "Uncorrected memory errors", .heading = "ECC", .family = "ECC errors",              \
      .better = PT_LOWER_IS_BETTER, .words = "ecc",                                                \
      .otel = "hw.errors {error} hw.type=gpu,error.type=uncorrected")                              \
    X(t, processes, "gProcessCount", GAUGE, I64, COUNT, 2,                                         \
      "Processes on the GPU; with open drivers only visible ones",                                 \
      .title = "Processes on the GPU", .heading = "PROCS")                                         \
    X(t, energy, "gEnergyMj", COUNTER, I64, MILLIJOULES, 0, "Energy since the driver was loaded",  \
      .title = "GPU power, from its energy counter", .family = "GPU power",                        \
      .better = PT_LOWER_IS_BETTER, .words = "energy joules watts",                                \
      .otel = "hw.energy hw.type=gpu")                                                             \
    X(t, power_instant, "gPowerInstantW", GAUGE, F64, WATTS, 1, "Power draw now",                  \
      .title = "GPU power now", .family = "GPU power", .better = PT_LOWER_IS_BETTER,               \
      .words = "watts")                                                                            \
    X(t, temperature_hotspot, "gTemperatureHotspotC", GAUGE, I64, CELSIUS, 0,                      \
      "Hot spot temperature", .title = "Hot spot temperature", .family = "GPU temperature",        \
      .better = PT_LOWER_IS_BETTER, .combine = PT_COMBINE_WORST, .words = "heat junction")         \
    X(t, temperature_memory, "gTemperatureMemC", GAUGE, I64, CELSIUS, 0, "Memory temperature",     \
      .title = "Memory temperature", .family = "GPU temperature", .better = PT_LOWER_IS_BETTER,    \
      .combine = PT_COMBINE_WORST, .words = "heat hbm")                                            \
    X(t, clock_video, "gClockVideoMhz", GAUGE, I64, MEGAHERTZ, 0, "Video engine clock",            \
      .title = "Video clock", .family = "GPU clocks", .words = "frequency")                        \
    X(t, fan_rpm, "gFanRpm", GAUGE, I64, NONE, 0, "Measured fan speed, revolutions per minute",    \
      .title = "Fan speed, rpm", .combine = PT_COMBINE_MEAN, .words = "cooling")                   \
    X(t, memory_reserved, "gMemoryReservedMb", GAUGE, I64, MEBIBYTES, 0,                           \
      "GPU memory reserved by driver and firmware", .title = "GPU memory reserved",                \
      .family = "GPU memory", .is_stacked = true, .limit = "gMemoryTotalMb", .words = "driver")    \
    X(t, shared_used, "gSharedUsedMb", GAUGE, I64, MEBIBYTES, 0,                                   \
      "Host memory mapped for the GPU (GTT)", .title = "Host memory mapped",                       \
      .better = PT_LOWER_IS_BETTER, .limit = "gSharedTotalMb", .words = "gtt")                     \
    X(t, shared_total, "gSharedTotalMb", GAUGE, I64, MEBIBYTES, 0,                                 \
      "Host memory that can be mapped for the GPU", .title = "Host memory mappable",               \
      .words = "gtt")                                                                              \
    X(t, encoder, "gUtilizationEncoder", GAUGE, I64, PERCENT, 0, "Video encoder utilization",      \
      .title = "Video encoder busy", .family = "Video engines busy", .words = "nvenc",             \
      .otel = "hw.gpu.utilization hw.gpu.task=encoder")                                            \
    X(t, decoder, "gUtilizationDecoder", GAUGE, I64, PERCENT, 0, "Video decoder utilization",      \
      .title = "Video decoder busy", .family = "Video engines busy", .words = "nvdec",             \
      .otel = "hw.gpu.utilization hw.gpu.task=decoder")                                            \
    X(t, throttle, "gThrottle", GAUGE, STRING, NONE, 0,                                            \
      "Throttling reasons: idle, setting, power, thermal, current, hardware, sync",                \
      .title = "Throttling reasons", .heading = "THROTTLE", .words = "clocks")                     \
    X(t, throttle_reasons, "gThrottleReasons", GAUGE, I64, NONE, 0,                                \
      "Throttling reasons as the vendor's bit mask", .title = "Throttling reasons, bits",          \
      .importance = PT_RAW, .combine = PT_COMBINE_NONE)                                            \
    X(t, violation_power, "gViolationPower", COUNTER, I64, NANOSECONDS, 1,                         \
      "Time throttled by the power limit", .title = "Throttled, power limit",                      \
      .heading = "POWER CAPPED", .family = "GPU throttled", .form = PT_FORM_SHARE,                 \
      .better = PT_LOWER_IS_BETTER, .importance = PT_HEADLINE, .combine = PT_COMBINE_WORST,        \
      .words = "throttling cap")                                                                   \
    X(t, violation_thermal, "gViolationThermal", COUNTER, I64, NANOSECONDS, 1,                     \
      "Time throttled by temperature", .title = "Throttled, temperature",                          \
      .family = "GPU throttled", .form = PT_FORM_SHARE, .better = PT_LOWER_IS_BETTER,              \
      .combine = PT_COMBINE_WORST, .words = "throttling heat")                                     \
    X(t, violation_sync, "gViolationSync", COUNTER, I64, NANOSECONDS, 1,                           \
      "Time throttled to stay in step with other GPUs",                                            \
      .title = "Throttled, sync with other GPUs", .family = "GPU throttled",                       \
      .form = PT_FORM_SHARE, .better = PT_LOWER_IS_BETTER, .combine = PT_COMBINE_WORST,            \
      .words = "throttling")                                                                       \
    X(t, violation_board, "gViolationBoard", COUNTER, I64, NANOSECONDS, 1,                         \
      "Time throttled by board limits", .title = "Throttled, board limit",                         \
      .family = "GPU throttled", .form = PT_FORM_SHARE, .better = PT_LOWER_IS_BETTER,              \
      .combine = PT_COMBINE_WORST, .words = "throttling")                                          \
    X(t, violation_reliability, "gViolationReliability", COUNTER, I64, NANOSECONDS, 1,             \
      "Time throttled by the reliability voltage", .title = "Throttled, reliability voltage",      \
      .family = "GPU throttled", .form = PT_FORM_SHARE, .better = PT_LOWER_IS_BETTER,              \
      .combine = PT_COMBINE_WORST, .words = "throttling")                                          \
    X(t, idle, "gIdleTime", COUNTER, I64, MILLISECONDS, 0, "Time powered down (Intel RC6)",        \
      .title = "GPU powered down", .form = PT_FORM_SHARE, .words = "rc6 sleep")                    \
    X(t, pcie_generation, "gPcieGeneration", GAUGE, I64, NONE, 1, "Current PCIe generation",       \
      .title = "PCIe generation", .combine = PT_COMBINE_NONE, .words = "bus link")                 \
    X(t, pcie_width, "gPcieWidth", GAUGE, I64, COUNT, 1, "Current PCIe lanes",                     \
      .title = "PCIe lanes", .combine = PT_COMBINE_NONE, .words = "bus link")                      \
    X(t, pcie_replays, "gPcieReplays", COUNTER, I64, COUNT, 1, "PCIe packets retransmitted",       \
      .title = "PCIe packets retransmitted", .better = PT_LOWER_IS_BETTER, .words = "bus errors")  \
    X(t, pcie_tx_bytes, "gPcieTxBytes", COUNTER, I64, BYTES, 1, "PCIe traffic from the GPU",       \
      .title = "PCIe sent", .heading = "PCIE OUT", .family = "PCIe traffic",                       \
      .words = "bus bandwidth", .otel = "hw.gpu.io network.io.direction=transmit")                 \
    X(t, pcie_rx_bytes, "gPcieRxBytes", COUNTER, I64, BYTES, 1, "PCIe traffic to the GPU",         \
      .title = "PCIe received", .heading = "PCIE IN", .family = "PCIe traffic",                    \
      .words = "bus bandwidth", .otel = "hw.gpu.io network.io.direction=receive")                  \
    X(t, nvlink_tx_bytes, "gNvlinkTxBytes", COUNTER, I64, BYTES, 1, "NVLink data sent",            \
      .title = "NVLink sent", .family = "NVLink traffic", .words = "bandwidth")                    \
    X(t, nvlink_rx_bytes, "gNvlinkRxBytes", COUNTER, I64, BYTES, 1, "NVLink data received",        \
      .title = "NVLink received", .family = "NVLink traffic", .words = "bandwidth")                \
    X(t, nvlink_active, "gNvlinkActive", GAUGE, I64, COUNT, 1, "NVLink links that are up",         \
      .title = "NVLink links up", .better = PT_HIGHER_IS_BETTER)                                   \
    X(t, ecc_single_lifetime, "gEccSingleBitLifetime", COUNTER, I64, COUNT, 1,                     \
      "Corrected memory errors over the GPU's lifetime",                                           \
      .title = "Corrected memory errors, lifetime", .family = "ECC errors",                        \
      .better = PT_LOWER_IS_BETTER, .importance = PT_RAW, .words = "ecc")                          \
    X(t, ecc_double_lifetime, "gEccDoubleBitLifetime", COUNTER, I64, COUNT, 1,                     \
      "Uncorrected memory errors over the GPU's lifetime",                                         \
      .title = "Uncorrected memory errors, lifetime", .family = "ECC errors",                      \
      .better = PT_LOWER_IS_BETTER, .importance = PT_RAW, .words = "ecc")                          \
    X(t, retired_single, "gRetiredPagesSingle", GAUGE, I64, COUNT, 1,                              \
      "Memory pages retired for corrected errors", .title = "Pages retired, corrected errors",     \
      .family = "GPU memory retired", .better = PT_LOWER_IS_BETTER, .words = "ecc")                \
    X(t, retired_double, "gRetiredPagesDouble", GAUGE, I64, COUNT, 1,                              \
      "Memory pages retired for uncorrected errors", .title = "Pages retired, uncorrected errors", \
      .family = "GPU memory retired", .better = PT_LOWER_IS_BETTER, .words = "ecc")                \
    X(t, remapped_correctable, "gRemappedRowsCorrectable", GAUGE, I64, COUNT, 1,                   \
      "Memory rows remapped for corrected errors", .title = "Rows remapped, corrected errors",     \
      .family = "GPU memory retired", .better = PT_LOWER_IS_BETTER, .words = "ecc")                \
    X(t, remapped_uncorrectable, "gRemappedRowsUncorrectable", GAUGE, I64, COUNT, 1,               \
      "Memory rows remapped for uncorrected errors", .title = "Rows remapped, uncorrected errors", \
      .family = "GPU memory retired", .better = PT_LOWER_IS_BETTER, .words = "ecc")                \
    X(t, remap_pending, "gRemapPending", GAUGE, I64, NONE, 1, "1: remapped rows need a GPU reset", \
      .title = "Reset needed for remapped rows", .family = "Row remapping",                        \
      .better = PT_LOWER_IS_BETTER, .combine = PT_COMBINE_MAX, .words = "ecc")                     \
    X(t, remap_failed, "gRemapFailed", GAUGE, I64, NONE, 1, "1: a row could not be remapped",      \
      .title = "Row remapping failed", .family = "Row remapping", .better = PT_LOWER_IS_BETTER,    \
      .combine = PT_COMBINE_MAX, .words = "ecc")                                                   \
    X(t, xid_count, "gXidCount", COUNTER, I64, COUNT, 0, "Critical errors (XID) in this run",      \
      .title = "Critical errors (XID)", .heading = "XID", .better = PT_LOWER_IS_BETTER,            \
      .importance = PT_HEADLINE, .words = "fault")                                                 \
    X(t, xid_last, "gXidLast", GAUGE, I64, NONE, 0, "Number of the last critical error",           \
      .title = "Last critical error (XID)", .importance = PT_RAW, .combine = PT_COMBINE_NONE,      \
      .words = "fault")                                                                            \
    X(t, gpm_graphics, "gGraphicsActive", GAUGE, F64, PERCENT, 1,                                  \
      "Share of time in which the graphics or compute engine was active (GPM)",                    \
      .title = "Graphics engine active", .family = "GPU units active", .words = "gpm")             \
    X(t, gpm_sm_active, "gSmActive", GAUGE, F64, PERCENT, 1,                                       \
      "SMs with at least one warp (GPM, Hopper and newer)", .title = "SMs active",                 \
      .heading = "SM", .family = "GPU units active", .better = PT_HIGHER_IS_BETTER,                \
      .words = "gpm occupancy")                                                                    \
    X(t, gpm_sm_occupancy, "gSmOccupancy", GAUGE, F64, PERCENT, 1,                                 \
      "Resident warps, percent of maximum (GPM)", .title = "SM occupancy",                         \
      .family = "GPU units active", .words = "gpm warps")                                          \
    X(t, gpm_integer, "gIntegerActive", GAUGE, F64, PERCENT, 1, "Integer pipe utilization (GPM)",  \
      .title = "Integer pipe active", .family = "GPU units active", .words = "gpm")                \
    X(t, gpm_tensor, "gTensorActive", GAUGE, F64, PERCENT, 1, "Tensor core utilization (GPM)",     \
      .title = "Tensor cores active", .heading = "TENSOR", .family = "GPU units active",           \
      .better = PT_HIGHER_IS_BETTER, .words = "gpm mfu")                                           \
    X(t, gpm_dram, "gDramBandwidth", GAUGE, F64, PERCENT, 1,                                       \
      "Memory bandwidth used, percent of maximum (GPM)", .title = "Memory bandwidth used",         \
      .heading = "DRAM", .family = "GPU units active", .words = "gpm hbm")                         \
    X(t, gpm_fp64, "gFp64Active", GAUGE, F64, PERCENT, 1, "FP64 pipe utilization (GPM)",           \
      .title = "FP64 pipe active", .family = "GPU units active", .words = "gpm")                   \
    X(t, gpm_fp32, "gFp32Active", GAUGE, F64, PERCENT, 1, "FP32 pipe utilization (GPM)",           \
      .title = "FP32 pipe active", .family = "GPU units active", .words = "gpm")                   \
    X(t, gpm_fp16, "gFp16Active", GAUGE, F64, PERCENT, 1, "FP16 pipe utilization (GPM)",           \
      .title = "FP16 pipe active", .family = "GPU units active", .words = "gpm")

PT_TABLE(gpu, PT_TABLE_FIXED("gpus", "nvidia"), "GPUs of all vendors, and MIG instances",
         GPU_COLUMNS, "GPU", "GPU, about once per second", "processes on the GPU");

#define GPU_PROCESS_COLUMNS(X, t)                                                                 \
    X(t, index, "gGpuIndex", KEY, I64, NONE, 0, "GPU or MIG instance", .title = "GPU",            \
      .heading = "GPU", .words = "device")                                                        \
    X(t, pid, "pId", KEY, I64, NONE, 0,                                                           \
      "Process id in Pitot's /proc; null if the driver's pid is not found there",                 \
      .title = "Process id", .heading = "PID", .role = PT_ROLE_PROCESS)                           \
    X(t, host_pid, "gHostPid", KEY, I64, NONE, 0, "Process id reported by the driver",            \
      .title = "Process id of the driver", .importance = PT_RAW)                                  \
    X(t, ns_pid, "pNsPid", INFO, I64, NONE, 0, "Process id in its own pid namespace",             \
      .title = "Process id in its namespace", .importance = PT_RAW, .words = "container pid")     \
    X(t, name, "pName", INFO, STRING, NONE, 0, "Name of the process", .title = "Name",            \
      .heading = "NAME", .role = PT_ROLE_NAME, .words = "program")                                \
    X(t, type, "gType", INFO, STRING, NONE, 0, "compute, graphics or mps", .title = "Type",       \
      .heading = "TYPE", .words = "compute graphics mps")                                         \
    X(t, memory, "gUsedMemoryMb", GAUGE, I64, MEBIBYTES, 0, "GPU memory of the process",          \
      .title = "GPU memory used", .heading = "GPU MEM", .family = "GPU memory of the process",    \
      .better = PT_LOWER_IS_BETTER, .importance = PT_HEADLINE, .words = "vram hbm")               \
    X(t, shared, "gSharedMemoryMb", GAUGE, I64, MEBIBYTES, 0, "Host memory mapped for the GPU",   \
      .title = "Host memory mapped", .family = "GPU memory of the process",                       \
      .better = PT_LOWER_IS_BETTER, .words = "gtt")                                               \
    X(t, sm, "gSmUtil", GAUGE, I64, PERCENT, 0, "Share of the SMs used by the process",           \
      .title = "SMs used", .heading = "GPU BUSY", .family = "GPU units used",                     \
      .importance = PT_HEADLINE, .words = "utilization")                                          \
    X(t, memory_util, "gMemUtil", GAUGE, I64, PERCENT, 0,                                         \
      "Share of memory traffic of the process", .title = "Memory traffic", .heading = "MEM BUSY", \
      .family = "GPU units used", .words = "bandwidth")                                           \
    X(t, encoder, "gEncUtil", GAUGE, I64, PERCENT, 0,                                             \
      "Share of the video encoder used by the process", .title = "Video encoder used",            \
      .heading = "ENC", .family = "GPU units used", .words = "nvenc")                             \
    X(t, decoder, "gDecUtil", GAUGE, I64, PERCENT, 0,                                             \
      "Share of the video decoder used by the process", .title = "Video decoder used",            \
      .heading = "DEC", .family = "GPU units used", .words = "nvdec")                             \
    X(t, gfx_time, "gGfxTime", COUNTER, I64, NANOSECONDS, 0, "Busy time of graphics engines",     \
      .title = "Graphics engines busy, mean number", .family = "GPU engines busy, mean number",   \
      .form = PT_FORM_NUMBER, .words = "utilization")                                             \
    X(t, compute_time, "gComputeTime", COUNTER, I64, NANOSECONDS, 0,                              \
      "Busy time of compute engines", .title = "Compute engines busy, mean number",               \
      .family = "GPU engines busy, mean number", .form = PT_FORM_NUMBER, .words = "utilization")  \
    X(t, copy_time, "gCopyTime", COUNTER, I64, NANOSECONDS, 0, "Busy time of copy engines",       \
      .title = "Copy engines busy, mean number", .family = "GPU engines busy, mean number",       \
      .form = PT_FORM_NUMBER, .words = "utilization")                                             \
    X(t, video_time, "gVideoTime", COUNTER, I64, NANOSECONDS, 0, "Busy time of video engines",    \
      .title = "Video engines busy, mean number", .family = "GPU engines busy, mean number",      \
      .form = PT_FORM_NUMBER, .words = "utilization")                                             \
    X(t, cycles, "gCycles", COUNTER, I64, COUNT, 0, "Cycles in which its kernels ran (xe)",       \
      .title = "Cycles used", .family = "GPU cycles", .limit = "gTotalCycles",                    \
      .importance = PT_RAW)                                                                       \
    X(t, total_cycles, "gTotalCycles", COUNTER, I64, COUNT, 0, "Cycles elapsed (xe)",             \
      .title = "Cycles elapsed", .family = "GPU cycles", .importance = PT_RAW,                    \
      .combine = PT_COMBINE_NONE)                                                                 \
    X(t, cu_occupancy, "gCuOccupancy", GAUGE, I64, COUNT, 0, "Compute units in use (KFD)",        \
      .title = "Compute units in use", .heading = "CU", .words = "occupancy")

PT_TABLE(gpu_process, PT_TABLE_ROWS(PROCESSES, "gpu_processes", NULL), "Processes on GPUs",
         GPU_PROCESS_COLUMNS, "processes on the GPU");

#define DISCOVERY_PATIENCE_NS (2 * PT_NS_PER_SECOND)
#define MEBIBYTE              (INT64_C(1) << 20)

/* Integer columns: field and divisor. */
static const struct {
    int column;
    enum pt_gpu_field field;
    int64_t divisor;
} integers[] = {
    { gpu_utilization, PT_GPU_UTILIZATION_PERCENT, 1 },
    { gpu_utilization_memory, PT_GPU_MEMORY_UTILIZATION_PERCENT, 1 },
    { gpu_memory_used, PT_GPU_MEMORY_USED_BYTES, MEBIBYTE },
    { gpu_memory_free, PT_GPU_MEMORY_FREE_BYTES, MEBIBYTE },
    { gpu_memory_total, PT_GPU_MEMORY_TOTAL_BYTES, MEBIBYTE },
    { gpu_memory_reserved, PT_GPU_MEMORY_RESERVED_BYTES, MEBIBYTE },
    { gpu_shared_used, PT_GPU_SHARED_USED_BYTES, MEBIBYTE },
    { gpu_shared_total, PT_GPU_SHARED_TOTAL_BYTES, MEBIBYTE },
    { gpu_bar1_used, PT_GPU_BAR1_USED_BYTES, MEBIBYTE },
    { gpu_bar1_free, PT_GPU_BAR1_FREE_BYTES, MEBIBYTE },
    { gpu_temperature, PT_GPU_TEMPERATURE_C, 1 },
    { gpu_temperature_hotspot, PT_GPU_HOTSPOT_TEMPERATURE_C, 1 },
    { gpu_temperature_memory, PT_GPU_MEMORY_TEMPERATURE_C, 1 },
    { gpu_clock_graphics, PT_GPU_CLOCK_GRAPHICS_MHZ, 1 },
    { gpu_clock_sm, PT_GPU_CLOCK_SM_MHZ, 1 },
    { gpu_clock_memory, PT_GPU_CLOCK_MEMORY_MHZ, 1 },
    { gpu_clock_video, PT_GPU_CLOCK_VIDEO_MHZ, 1 },
    { gpu_fan, PT_GPU_FAN_PERCENT, 1 },
    { gpu_fan_rpm, PT_GPU_FAN_RPM, 1 },
    { gpu_energy, PT_GPU_ENERGY_MJ, 1 },
    { gpu_encoder, PT_GPU_ENCODER_PERCENT, 1 },
    { gpu_decoder, PT_GPU_DECODER_PERCENT, 1 },
    { gpu_throttle_reasons, PT_GPU_THROTTLE_RAW, 1 },
    { gpu_violation_power, PT_GPU_VIOLATION_POWER_NS, 1 },
    { gpu_violation_thermal, PT_GPU_VIOLATION_THERMAL_NS, 1 },
    { gpu_violation_sync, PT_GPU_VIOLATION_SYNC_NS, 1 },
    { gpu_violation_board, PT_GPU_VIOLATION_BOARD_NS, 1 },
    { gpu_violation_reliability, PT_GPU_VIOLATION_RELIABILITY_NS, 1 },
    { gpu_idle, PT_GPU_IDLE_MS, 1 },
    { gpu_pcie_generation, PT_GPU_PCIE_GENERATION, 1 },
    { gpu_pcie_width, PT_GPU_PCIE_WIDTH, 1 },
    { gpu_pcie_replays, PT_GPU_PCIE_REPLAYS, 1 },
    { gpu_pcie_tx, PT_GPU_PCIE_TX_KBPS, 1 },
    { gpu_pcie_rx, PT_GPU_PCIE_RX_KBPS, 1 },
    { gpu_pcie_tx_bytes, PT_GPU_PCIE_TX_BYTES, 1 },
    { gpu_pcie_rx_bytes, PT_GPU_PCIE_RX_BYTES, 1 },
    { gpu_nvlink_tx_bytes, PT_GPU_NVLINK_TX_BYTES, 1 },
    { gpu_nvlink_rx_bytes, PT_GPU_NVLINK_RX_BYTES, 1 },
    { gpu_nvlink_active, PT_GPU_NVLINK_ACTIVE, 1 },
    { gpu_ecc_single, PT_GPU_ECC_SINGLE, 1 },
    { gpu_ecc_double, PT_GPU_ECC_DOUBLE, 1 },
    { gpu_ecc_single_lifetime, PT_GPU_ECC_SINGLE_LIFETIME, 1 },
    { gpu_ecc_double_lifetime, PT_GPU_ECC_DOUBLE_LIFETIME, 1 },
    { gpu_retired_single, PT_GPU_RETIRED_SINGLE, 1 },
    { gpu_retired_double, PT_GPU_RETIRED_DOUBLE, 1 },
    { gpu_remapped_correctable, PT_GPU_REMAPPED_CORRECTABLE, 1 },
    { gpu_remapped_uncorrectable, PT_GPU_REMAPPED_UNCORRECTABLE, 1 },
    { gpu_remap_pending, PT_GPU_REMAP_PENDING, 1 },
    { gpu_remap_failed, PT_GPU_REMAP_FAILED, 1 },
    { gpu_xid_count, PT_GPU_XID_COUNT, 1 },
    { gpu_xid_last, PT_GPU_XID_LAST, 1 },
};

static const struct {
    int column;
    enum pt_gpu_field field;
} milliwatts[] = {
    { gpu_power, PT_GPU_POWER_MW },
    { gpu_power_limit, PT_GPU_POWER_LIMIT_MW },
    { gpu_power_instant, PT_GPU_POWER_INSTANT_MW },
};

static_assert(gpu_gpm_fp16 == gpu_gpm_graphics + PT_GPM_COUNT - 1, "columns as enum pt_gpu_gpm");

static const struct {
    int column;
    enum pt_gpu_process_field field;
    int64_t divisor;
} process_integers[] = {
    { gpu_process_memory, PT_GPU_PROCESS_MEMORY_BYTES, MEBIBYTE },
    { gpu_process_shared, PT_GPU_PROCESS_SHARED_BYTES, MEBIBYTE },
    { gpu_process_sm, PT_GPU_PROCESS_SM_PERCENT, 1 },
    { gpu_process_memory_util, PT_GPU_PROCESS_MEMORY_PERCENT, 1 },
    { gpu_process_encoder, PT_GPU_PROCESS_ENCODER_PERCENT, 1 },
    { gpu_process_decoder, PT_GPU_PROCESS_DECODER_PERCENT, 1 },
    { gpu_process_gfx_time, PT_GPU_PROCESS_GFX_NS, 1 },
    { gpu_process_compute_time, PT_GPU_PROCESS_COMPUTE_NS, 1 },
    { gpu_process_copy_time, PT_GPU_PROCESS_COPY_NS, 1 },
    { gpu_process_video_time, PT_GPU_PROCESS_VIDEO_NS, 1 },
    { gpu_process_cycles, PT_GPU_PROCESS_CYCLES, 1 },
    { gpu_process_total_cycles, PT_GPU_PROCESS_TOTAL_CYCLES, 1 },
    { gpu_process_cu_occupancy, PT_GPU_PROCESS_CU_OCCUPANCY, 1 },
};

/* A process as our /proc shows it. */
struct identity {
    bool is_visible, has_ns_pid;
    int64_t ns_pid;
    char name[32];
};

struct gpu_state {
    struct pt_gpu_poller *poller;
    struct pt_gpu_reading reading;
    struct identity *identities; /* one per process of the reading */
    size_t identity_capacity;
    int64_t identified_ns; /* processes_ns of the reading they belong to */
    struct pt_text text;
    bool sees_host_pids; /* our /proc is that of the outermost pid namespace */
};

/* kthreadd has the pid 2 in the outermost namespace and is in no other. */
static bool is_host_view(const struct pt_fs *fs) {
    char name[32];
    return !pt_fs_read_line(fs->proc, "2/comm", name, sizeof name) && strcmp(name, "kthreadd") == 0;
}

static int gpu_open(void *state, const struct pt_context *context, struct pt_err *err) {
    struct gpu_state *s = state;
    struct pt_err reason = { 0 };
    int rc = pt_gpu_poller_start(&s->poller, context->fs, context->interval_ns,
                                 DISCOVERY_PATIENCE_NS, &reason);
    if (rc == -ENODATA)
        pt_log(PT_LOG_INFO, "no GPU: %s", reason.text);
    else if (rc && err)
        *err = reason;
    s->sees_host_pids = is_host_view(context->fs);
    return rc;
}

static void set_text(struct pt_batch *rows, int column, const char *text) {
    if (text[0])
        pt_set_str(rows, column, pt_str_from(text));
}

static void set_info(struct pt_batch *rows, const struct pt_gpu_device *d) {
    const struct pt_gpu_info *info = &d->info;
    set_text(rows, gpu_vendor, pt_gpu_vendor_name(info->vendor));
    set_text(rows, gpu_name, info->name);
    set_text(rows, gpu_uuid, info->uuid);
    set_text(rows, gpu_pci, info->pci_bus_id);
    set_text(rows, gpu_state, d->is_gone ? "lost" : "ok");
    if (!info->is_instance)
        return;
    pt_set_i64(rows, gpu_parent, info->parent);
    if (info->gpu_instance >= 0)
        pt_set_i64(rows, gpu_gpu_instance, info->gpu_instance);
    if (info->compute_instance >= 0)
        pt_set_i64(rows, gpu_compute_instance, info->compute_instance);
}

static void set_words(struct pt_batch *rows, const struct pt_gpu_device *d) {
    char text[96];
    if (pt_gpu_has(d, PT_GPU_PERF_STATE)) {
        snprintf(text, sizeof text, "P%d", (int)d->values[PT_GPU_PERF_STATE]);
        pt_set_str(rows, gpu_perf_state, pt_str_from(text));
    }
    if (pt_gpu_has(d, PT_GPU_THROTTLE)) {
        pt_gpu_throttle_words(d->values[PT_GPU_THROTTLE], text, sizeof text);
        pt_set_str(rows, gpu_throttle, pt_str_from(text));
    }
}

static void set_values(struct pt_batch *rows, const struct pt_gpu_device *d) {
    for (size_t i = 0; i < PT_COUNT(integers); i++)
        if (pt_gpu_has(d, integers[i].field))
            pt_set_i64(rows, integers[i].column,
                       d->values[integers[i].field] / integers[i].divisor);
    for (size_t i = 0; i < PT_COUNT(milliwatts); i++)
        if (pt_gpu_has(d, milliwatts[i].field))
            pt_set_f64(rows, milliwatts[i].column, (double)d->values[milliwatts[i].field] / 1000);
    for (int i = 0; i < PT_GPM_COUNT; i++)
        if (d->gpm_present >> i & 1)
            pt_set_f64(rows, gpu_gpm_graphics + i, d->gpm[i]);
    if (d->has_process_count)
        pt_set_i64(rows, gpu_processes, d->process_count);
}

static void add_device(struct pt_batch *rows, const struct pt_gpu_reading *r, size_t index) {
    const struct pt_gpu_device *d = &r->devices[index];
    pt_batch_add_row(rows);
    pt_set_time(rows, SOURCE_FAST, d->read_ns[PT_GPU_FAST]);
    pt_set_time(rows, SOURCE_SLOW, d->read_ns[PT_GPU_SLOW]);
    pt_set_time(rows, SOURCE_PROCESSES, r->processes_ns);
    pt_set_i64(rows, gpu_index, (int64_t)index);
    set_info(rows, d);
    set_values(rows, d);
    set_words(rows, d);
}

static void identify(struct gpu_state *s, const struct pt_fs *fs, const struct pt_gpu_process *p,
                     struct identity *identity) {
    struct pt_pid_values status;
    struct pt_scan text;
    char path[32];
    *identity = (struct identity){ 0 };
    snprintf(path, sizeof path, "%d/status", (int)p->pid);
    /* Inside a container, a pid of the host may be the pid of another process. */
    if (p->is_host_pid && !s->sees_host_pids)
        return;
    if (pt_fs_read(fs->proc, path, &s->text, &text) || pt_pid_parse_status(text, &status))
        return;
    identity->is_visible = true;
    identity->has_ns_pid = pt_pid_has(&status, PT_STATUS_NS_PID);
    identity->ns_pid = status.at[PT_STATUS_NS_PID];
    snprintf(path, sizeof path, "%d/comm", (int)p->pid);
    if (pt_fs_read_line(fs->proc, path, identity->name, sizeof identity->name))
        identity->name[0] = 0;
}

/* Once per list of processes, not per sample. */
static void identify_all(struct gpu_state *s, const struct pt_fs *fs) {
    const struct pt_gpu_reading *r = &s->reading;
    if (s->identified_ns == r->processes_ns)
        return;
    s->identified_ns = r->processes_ns;
    pt_grow(&s->identities, &s->identity_capacity, r->process_count, sizeof *s->identities);
    for (size_t i = 0; i < r->process_count; i++)
        identify(s, fs, &r->processes[i], &s->identities[i]);
}

static void set_identity(struct pt_batch *rows, pid_t pid, const struct identity *identity) {
    if (!identity->is_visible)
        return;
    pt_set_i64(rows, gpu_process_pid, pid);
    if (identity->has_ns_pid)
        pt_set_i64(rows, gpu_process_ns_pid, identity->ns_pid);
    set_text(rows, gpu_process_name, identity->name);
}

static void set_type(struct pt_batch *rows, uint32_t kinds) {
    char text[32];
    if (!kinds)
        return;
    snprintf(text, sizeof text, "%s%s%s", kinds & PT_GPU_KIND_COMPUTE ? "+compute" : "",
             kinds & PT_GPU_KIND_GRAPHICS ? "+graphics" : "",
             kinds & PT_GPU_KIND_MPS ? "+mps" : "");
    pt_set_str(rows, gpu_process_type, pt_str_from(text + 1));
}

static void add_process(const struct gpu_state *s, size_t index, struct pt_batch *rows) {
    const struct pt_gpu_process *p = &s->reading.processes[index];
    pt_batch_add_row(rows);
    pt_set_time(rows, 0, s->reading.processes_ns);
    pt_set_i64(rows, gpu_process_index, p->gpu);
    if (p->is_host_pid)
        pt_set_i64(rows, gpu_process_host_pid, p->pid);
    set_identity(rows, p->pid, &s->identities[index]);
    set_type(rows, p->kinds);
    for (size_t i = 0; i < PT_COUNT(process_integers); i++)
        if (pt_gpu_process_has(p, process_integers[i].field))
            pt_set_i64(rows, process_integers[i].column,
                       p->values[process_integers[i].field] / process_integers[i].divisor);
}

static int gpu_collect(void *state, const struct pt_context *context, struct pt_batch *rows) {
    struct gpu_state *s = state;
    (void)pt_gpu_poller_read(s->poller, &s->reading); /* the older list is still valid */
    for (size_t i = 0; i < s->reading.device_count; i++)
        add_device(&rows[0], &s->reading, i);
    identify_all(s, context->fs);
    for (size_t i = 0; i < s->reading.process_count; i++)
        add_process(s, i, &rows[1]);
    return 0;
}

static void gpu_close(void *state) {
    struct gpu_state *s = state;
    pt_gpu_poller_stop(s->poller);
    pt_gpu_reading_release(&s->reading);
    pt_free(s->identities);
    pt_text_release(&s->text);
}

const struct pt_collector pt_gpu_collector = {
    .name = "gpu",
    .help = "GPUs and the processes on them",
    .tables = { &gpu_table, &gpu_process_table },
    .state_size = sizeof(struct gpu_state),
    .open = gpu_open,
    .collect = gpu_collect,
    .close = gpu_close,
};

static void put_text(struct pt_json *j, const char *key, const char *text) {
    pt_json_text(j, key, text[0] ? text : NULL);
}

static void put_number(struct pt_json *j, const char *key, int64_t value) {
    if (value > 0)
        pt_json_i64(j, key, value);
    else
        pt_json_null(j, key);
}

static void put_gpu(struct pt_json *j, const struct pt_gpu_info *info) {
    pt_json_object(j, NULL);
    pt_json_text(j, "gVendor", pt_gpu_vendor_name(info->vendor));
    put_text(j, "gName", info->name);
    put_text(j, "gUuid", info->uuid);
    put_number(j, "gTotalMemoryMb", info->memory_total_bytes / MEBIBYTE);
    put_text(j, "gPciBusId", info->pci_bus_id);
    put_number(j, "gMaxGraphicsClock", info->max_graphics_mhz);
    put_number(j, "gMaxSmClock", info->max_sm_mhz);
    put_number(j, "gMaxMemClock", info->max_memory_mhz);
    if (info->is_instance)
        pt_json_i64(j, "gParentIndex", info->parent);
    pt_json_end(j);
}

static void put_gpus(struct pt_json *j, const struct pt_gpu_reading *r, bool of_nvidia) {
    pt_json_array(j, "gpus");
    for (size_t i = 0; i < r->device_count; i++)
        if ((r->devices[i].info.vendor == PT_GPU_NVIDIA) == of_nvidia)
            put_gpu(j, &r->devices[i].info);
    pt_json_end(j);
}

void pt_gpu_put_static(struct pt_json *j, void *state) {
    struct gpu_state *s = state;
    struct pt_gpu_reading r = { 0 }; /* the reading in the state belongs to the sampler */
    const struct pt_gpu_info *nvidia = NULL;
    if (s && s->poller && pt_gpu_poller_wait(s->poller, 0, PT_NS_PER_SECOND))
        (void)pt_gpu_poller_read(s->poller, &r);
    for (size_t i = 0; i < r.device_count && !nvidia; i++)
        if (r.devices[i].info.vendor == PT_GPU_NVIDIA)
            nvidia = &r.devices[i].info;
    pt_json_object(j, "nvidia");
    put_text(j, "gDriverVersion", nvidia ? nvidia->driver_version : "");
    put_text(j, "gCudaVersion", nvidia ? nvidia->cuda_version : "");
    put_gpus(j, &r, true);
    pt_json_end(j);
    put_gpus(j, &r, false);
    pt_gpu_reading_release(&r);
}
