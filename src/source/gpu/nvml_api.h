/* source/gpu/nvml_api.h -- the part of NVIDIA's management library (NVML) that Pitot calls.
 *
 * Own declarations: the library belongs to the driver, is loaded at run time, and any
 * of its functions may be missing in an older or a cut-down driver (then NULL here).
 * Layouts are those of the ABI on 64-bit machines; nvml_api.c asserts them. */
#ifndef PT_SOURCE_GPU_NVML_API_H
#define PT_SOURCE_GPU_NVML_API_H

#include "base/err.h"

#include <stdint.h>

/* Return codes. Any number may come. */
enum {
    PT_NVML_SUCCESS = 0,
    PT_NVML_UNINITIALIZED = 1,
    PT_NVML_INVALID_ARGUMENT = 2,
    PT_NVML_NOT_SUPPORTED = 3,
    PT_NVML_NO_PERMISSION = 4,
    PT_NVML_NOT_FOUND = 6,
    PT_NVML_INSUFFICIENT_SIZE = 7,
    PT_NVML_DRIVER_NOT_LOADED = 9,
    PT_NVML_TIMEOUT = 10,
    PT_NVML_LIBRARY_NOT_FOUND = 12,
    PT_NVML_FUNCTION_NOT_FOUND = 13,
    PT_NVML_GPU_IS_LOST = 15,
    PT_NVML_RESET_REQUIRED = 16,
    PT_NVML_VERSION_MISMATCH = 18, /* of library and driver */
    PT_NVML_MEMORY = 20,
    PT_NVML_NO_DATA = 21,
    PT_NVML_ARGUMENT_VERSION_MISMATCH = 25,
    PT_NVML_UNKNOWN = 999,
};

/* Opaque. */
struct pt_nvml_device;
struct pt_nvml_event_set;
struct pt_nvml_gpm_sample;

struct pt_nvml_utilization {
    unsigned gpu, memory;
};

struct pt_nvml_memory {
    uint64_t total, free, used;
};

#define PT_NVML_MEMORY_V2 0x02000028u /* version and size of the struct in one word */

struct pt_nvml_memory_v2 {
    unsigned version;
    uint64_t total, reserved, free, used;
};

struct pt_nvml_bar1 {
    uint64_t total, free, used;
};

/* What v2 and v3 of the call have in common is all that is used: up to `device`. */
struct pt_nvml_pci {
    char bus_id_legacy[16];
    unsigned domain, bus, device, pci_device_id, pci_subsystem_id;
    char bus_id[32];
};

struct pt_nvml_process_v1 {
    unsigned pid;
    uint64_t memory; /* all ones: not available */
};

struct pt_nvml_process {
    unsigned pid;
    uint64_t memory;
    unsigned gpu_instance, compute_instance;
};

struct pt_nvml_process_sample {
    unsigned pid;
    uint64_t time_us;
    unsigned sm, memory, encoder, decoder;
};

struct pt_nvml_violation {
    uint64_t reference_us, violation_ns;
};

enum { PT_NVML_DOUBLE, PT_NVML_UINT, PT_NVML_ULONG, PT_NVML_ULONGLONG, PT_NVML_SLONGLONG };

union pt_nvml_value {
    double f64;
    unsigned u32;
    unsigned long ulong;
    uint64_t u64;
    int64_t i64;
};

struct pt_nvml_field {
    unsigned id, scope;
    int64_t time_us, latency_us;
    unsigned type;
    int result;
    union pt_nvml_value value;
};

struct pt_nvml_event {
    struct pt_nvml_device *device;
    uint64_t type, data;
    unsigned gpu_instance, compute_instance;
};

#define PT_NVML_EVENT_XID 8

/* Parameters of functions and ids of values, as nvml.h numbers them. */
enum { PT_NVML_TEMPERATURE_GPU = 0 };
enum { PT_NVML_CLOCK_GRAPHICS, PT_NVML_CLOCK_SM, PT_NVML_CLOCK_MEM, PT_NVML_CLOCK_VIDEO };
enum { PT_NVML_PCIE_UTIL_TX_BYTES, PT_NVML_PCIE_UTIL_RX_BYTES };
enum { PT_NVML_MEMORY_ERROR_CORRECTED, PT_NVML_MEMORY_ERROR_UNCORRECTED };
enum { PT_NVML_VOLATILE_ECC, PT_NVML_AGGREGATE_ECC };
enum { PT_NVML_RETIREMENT_SINGLE_BIT_ERRORS, PT_NVML_RETIREMENT_DOUBLE_BIT_ERROR };
enum {
    PT_NVML_PERF_POLICY_POWER = 0,
    PT_NVML_PERF_POLICY_THERMAL = 1,
    PT_NVML_PERF_POLICY_SYNC_BOOST = 2,
    PT_NVML_PERF_POLICY_BOARD_LIMIT = 3,
    PT_NVML_PERF_POLICY_RELIABILITY = 5,
};
enum {
    PT_NVML_CLOCKS_REASON_GPU_IDLE = 0x1,
    PT_NVML_CLOCKS_REASON_APPLICATIONS_SETTING = 0x2,
    PT_NVML_CLOCKS_REASON_SW_POWER_CAP = 0x4,
    PT_NVML_CLOCKS_REASON_HW_SLOWDOWN = 0x8,
    PT_NVML_CLOCKS_REASON_SYNC_BOOST = 0x10,
    PT_NVML_CLOCKS_REASON_SW_THERMAL_SLOWDOWN = 0x20,
    PT_NVML_CLOCKS_REASON_HW_THERMAL_SLOWDOWN = 0x40,
    PT_NVML_CLOCKS_REASON_HW_POWER_BRAKE = 0x80,
    PT_NVML_CLOCKS_REASON_DISPLAY_SETTING = 0x100,
};
enum {
    PT_NVML_FI_MEMORY_TEMP = 82,
    PT_NVML_FI_NVLINK_DATA_TX = 138,
    PT_NVML_FI_NVLINK_DATA_RX = 139,
    PT_NVML_FI_POWER_INSTANT = 186,
    PT_NVML_FI_PCIE_TX_BYTES = 197,
    PT_NVML_FI_PCIE_RX_BYTES = 198,
};
enum {
    PT_NVML_GPM_GRAPHICS_UTIL = 1,
    PT_NVML_GPM_SM_UTIL = 2,
    PT_NVML_GPM_SM_OCCUPANCY = 3,
    PT_NVML_GPM_INTEGER_UTIL = 4,
    PT_NVML_GPM_ANY_TENSOR_UTIL = 5,
    PT_NVML_GPM_DRAM_BW_UTIL = 10,
    PT_NVML_GPM_FP64_UTIL = 11,
    PT_NVML_GPM_FP32_UTIL = 12,
    PT_NVML_GPM_FP16_UTIL = 13,
};

struct pt_nvml_attributes {
    unsigned multiprocessors, copy_engines, decoders, encoders, jpegs, ofas;
    unsigned gpu_slices, compute_slices;
    uint64_t memory_mb;
};

struct pt_nvml_gpm_support {
    unsigned version, is_supported;
};

struct pt_nvml_gpm_metric {
    unsigned id;
    int result;
    double value;
    const char *short_name, *long_name, *unit;
};

/* The array grew over releases and the library may write all of it, so this is larger than the
 * largest known size (333). */
#define PT_NVML_GPM_METRICS 512

struct pt_nvml_gpm_query {
    unsigned version, metric_count;
    struct pt_nvml_gpm_sample *first, *second;
    struct pt_nvml_gpm_metric metrics[PT_NVML_GPM_METRICS];
};

#define PT_NVML_GPM_VERSION 1

/* Signatures that several functions share. */
typedef int pt_nvml_get_u32(struct pt_nvml_device *, unsigned *);
typedef int pt_nvml_get_u32_of(struct pt_nvml_device *, unsigned which, unsigned *);
typedef int pt_nvml_get_u64(struct pt_nvml_device *, unsigned long long *);
typedef int pt_nvml_get_text(struct pt_nvml_device *, char *, unsigned capacity);
typedef int pt_nvml_get_two_u32(struct pt_nvml_device *, unsigned *, unsigned *);
typedef int pt_nvml_list_processes(struct pt_nvml_device *, unsigned *count,
                                   struct pt_nvml_process *);
typedef int pt_nvml_list_processes_v1(struct pt_nvml_device *, unsigned *count,
                                      struct pt_nvml_process_v1 *);

/* The functions; what is missing is NULL. */
struct pt_nvml_api {
    void *library;
    int (*init)(void);
    int (*shutdown)(void);
    const char *(*error_string)(int);
    int (*driver_version)(char *, unsigned capacity);
    int (*cuda_version)(int *);
    int (*device_count)(unsigned *);
    int (*device_by_index)(unsigned, struct pt_nvml_device **);

    pt_nvml_get_text *name, *uuid;
    int (*pci)(struct pt_nvml_device *, struct pt_nvml_pci *);
    int (*utilization)(struct pt_nvml_device *, struct pt_nvml_utilization *);
    int (*memory_v2)(struct pt_nvml_device *, struct pt_nvml_memory_v2 *);
    int (*memory)(struct pt_nvml_device *, struct pt_nvml_memory *);
    int (*bar1)(struct pt_nvml_device *, struct pt_nvml_bar1 *);
    pt_nvml_get_u32_of *temperature, *clock, *max_clock, *pcie_throughput, *nvlink_state;
    pt_nvml_get_u32 *power, *power_limit, *perf_state, *fan, *pcie_generation, *pcie_width,
        *pcie_replays;
    pt_nvml_get_u64 *energy, *clock_reasons;
    pt_nvml_get_two_u32 *encoder, *decoder;
    int (*ecc)(struct pt_nvml_device *, unsigned kind, unsigned counter, unsigned long long *);
    int (*retired_pages)(struct pt_nvml_device *, unsigned cause, unsigned *count,
                         unsigned long long *);
    int (*remapped_rows)(struct pt_nvml_device *, unsigned *correctable, unsigned *uncorrectable,
                         unsigned *is_pending, unsigned *has_failed);
    int (*violation)(struct pt_nvml_device *, unsigned policy, struct pt_nvml_violation *);
    int (*fields)(struct pt_nvml_device *, int count, struct pt_nvml_field *);

    pt_nvml_list_processes *compute_processes, *graphics_processes, *mps_processes;
    pt_nvml_list_processes_v1 *compute_processes_v1, *graphics_processes_v1;
    int (*process_utilization)(struct pt_nvml_device *, struct pt_nvml_process_sample *,
                               unsigned *count, unsigned long long since_us);

    pt_nvml_get_two_u32 *mig_mode;
    pt_nvml_get_u32 *max_mig_count, *gpu_instance, *compute_instance;
    int (*mig_by_index)(struct pt_nvml_device *, unsigned, struct pt_nvml_device **);
    int (*attributes)(struct pt_nvml_device *, struct pt_nvml_attributes *);

    int (*event_set_create)(struct pt_nvml_event_set **);
    int (*event_set_free)(struct pt_nvml_event_set *);
    int (*register_events)(struct pt_nvml_device *, unsigned long long types,
                           struct pt_nvml_event_set *);
    int (*event_wait)(struct pt_nvml_event_set *, struct pt_nvml_event *, unsigned timeout_ms);

    int (*gpm_support)(struct pt_nvml_device *, struct pt_nvml_gpm_support *);
    int (*gpm_sample_alloc)(struct pt_nvml_gpm_sample **);
    int (*gpm_sample_free)(struct pt_nvml_gpm_sample *);
    int (*gpm_sample)(struct pt_nvml_device *, struct pt_nvml_gpm_sample *);
    int (*gpm_mig_sample)(struct pt_nvml_device *parent, unsigned gpu_instance,
                          struct pt_nvml_gpm_sample *);
    int (*gpm_metrics)(struct pt_nvml_gpm_query *);
};

/* Loads the library ($PITOT_NVML, else the usual names) and finds its functions. 0, or -ENOENT if
 * there is no library, or -ENOSYS if a required function is missing. */
int pt_nvml_load(struct pt_nvml_api *api, struct pt_err *err) PT_MUST_CHECK;
void pt_nvml_unload(struct pt_nvml_api *api);

/* Words for a return code; never NULL. */
const char *pt_nvml_words(const struct pt_nvml_api *api, int code);

#endif
