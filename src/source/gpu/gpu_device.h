/* source/gpu/gpu_device.h -- the values of a GPU and of a process on it, for all vendors.
 *
 * Values are integers in the unit that their name says; each is present or not. Most are read at
 * every turn of the poller (FAST). Expensive or slowly changing ones are read about once per second
 * (SLOW) and stay, with the time of their read, until they are read again. */
#ifndef PT_SOURCE_GPU_GPU_DEVICE_H
#define PT_SOURCE_GPU_GPU_DEVICE_H

#include "base/attr.h"
#include "base/str.h"

#include <assert.h>
#include <stdint.h>
#include <sys/types.h>

enum pt_gpu_pace { PT_GPU_FAST, PT_GPU_SLOW, PT_GPU_PACE_COUNT };

/* X(name, pace) */
#define PT_GPU_FIELDS(X)                                                           \
    X(UTILIZATION_PERCENT, FAST)        /* at least one kernel ran, of any size */ \
    X(MEMORY_UTILIZATION_PERCENT, FAST) /* memory was read or written */           \
    X(ENCODER_PERCENT, FAST)                                                       \
    X(DECODER_PERCENT, FAST)                                                       \
    X(MEMORY_TOTAL_BYTES, FAST)                                                    \
    X(MEMORY_USED_BYTES, FAST)                                                     \
    X(MEMORY_FREE_BYTES, FAST)                                                     \
    X(MEMORY_RESERVED_BYTES, FAST) /* by driver and firmware */                    \
    X(SHARED_TOTAL_BYTES, FAST)    /* host memory mapped for the GPU (GTT) */      \
    X(SHARED_USED_BYTES, FAST)                                                     \
    X(TEMPERATURE_C, FAST)                                                         \
    X(HOTSPOT_TEMPERATURE_C, FAST)                                                 \
    X(MEMORY_TEMPERATURE_C, FAST)                                                  \
    X(POWER_MW, FAST)                                                              \
    X(POWER_INSTANT_MW, SLOW)                                                      \
    X(POWER_LIMIT_MW, FAST)                                                        \
    X(ENERGY_MJ, FAST) /* millijoules since the driver was loaded */               \
    X(CLOCK_GRAPHICS_MHZ, FAST)                                                    \
    X(CLOCK_SM_MHZ, FAST)                                                          \
    X(CLOCK_MEMORY_MHZ, FAST)                                                      \
    X(CLOCK_VIDEO_MHZ, FAST)                                                       \
    X(PERF_STATE, FAST)                                                            \
    X(FAN_PERCENT, FAST)                                                           \
    X(FAN_RPM, FAST)                                                               \
    X(THROTTLE, FAST)     /* PT_GPU_THROTTLE_ bits */                              \
    X(THROTTLE_RAW, FAST) /* the bits of the vendor */                             \
    X(IDLE_MS, FAST)      /* powered down (RC6) since the driver was loaded */     \
    X(XID_COUNT, FAST)                                                             \
    X(XID_LAST, FAST)                                                              \
    X(PCIE_GENERATION, SLOW)                                                       \
    X(PCIE_WIDTH, SLOW)                                                            \
    X(PCIE_REPLAYS, SLOW)                                                          \
    X(PCIE_TX_KBPS, SLOW) /* kB/s, as NVML says */                                 \
    X(PCIE_RX_KBPS, SLOW)                                                          \
    X(PCIE_TX_BYTES, SLOW)                                                         \
    X(PCIE_RX_BYTES, SLOW)                                                         \
    X(NVLINK_TX_BYTES, SLOW)                                                       \
    X(NVLINK_RX_BYTES, SLOW)                                                       \
    X(NVLINK_ACTIVE, SLOW)                                                         \
    X(BAR1_USED_BYTES, SLOW)                                                       \
    X(BAR1_FREE_BYTES, SLOW)                                                       \
    X(ECC_SINGLE, SLOW) /* since the driver was loaded */                          \
    X(ECC_DOUBLE, SLOW)                                                            \
    X(ECC_SINGLE_LIFETIME, SLOW)                                                   \
    X(ECC_DOUBLE_LIFETIME, SLOW)                                                   \
    X(RETIRED_SINGLE, SLOW) /* pages */                                            \
    X(RETIRED_DOUBLE, SLOW)                                                        \
    X(REMAPPED_CORRECTABLE, SLOW) /* rows */                                       \
    X(REMAPPED_UNCORRECTABLE, SLOW)                                                \
    X(REMAP_PENDING, SLOW)                                                         \
    X(REMAP_FAILED, SLOW)                                                          \
    X(VIOLATION_POWER_NS, SLOW) /* time below the wanted clocks, by cause */       \
    X(VIOLATION_THERMAL_NS, SLOW)                                                  \
    X(VIOLATION_SYNC_NS, SLOW)                                                     \
    X(VIOLATION_BOARD_NS, SLOW)                                                    \
    X(VIOLATION_RELIABILITY_NS, SLOW)

#define PT_GPU_FIELD_ENUM_(name, pace) PT_GPU_##name,
enum pt_gpu_field { PT_GPU_FIELDS(PT_GPU_FIELD_ENUM_) PT_GPU_FIELD_COUNT };
static_assert(PT_GPU_FIELD_COUNT <= 64, "presence is one word");

#define PT_GPU_FIELD_FAST_(name, pace) | (uint64_t)(PT_GPU_##pace == PT_GPU_FAST) << PT_GPU_##name
#define PT_GPU_FAST_FIELDS             (UINT64_C(0) PT_GPU_FIELDS(PT_GPU_FIELD_FAST_))

/* Why the clocks are lower than they could be. */
enum pt_gpu_throttle {
    PT_GPU_THROTTLE_IDLE = 1 << 0,
    PT_GPU_THROTTLE_SETTING = 1 << 1, /* a user or program requested these clocks */
    PT_GPU_THROTTLE_POWER = 1 << 2,
    PT_GPU_THROTTLE_THERMAL = 1 << 3,
    PT_GPU_THROTTLE_CURRENT = 1 << 4,
    PT_GPU_THROTTLE_HARDWARE = 1 << 5, /* the board or its supply demands it */
    PT_GPU_THROTTLE_SYNC = 1 << 6,     /* waits for the slowest of a group */
};

/* Counters of Hopper and newer, in percent; all SLOW. */
enum pt_gpu_gpm {
    PT_GPM_GRAPHICS,
    PT_GPM_SM_ACTIVE,
    PT_GPM_SM_OCCUPANCY,
    PT_GPM_INTEGER,
    PT_GPM_TENSOR,
    PT_GPM_DRAM_BANDWIDTH,
    PT_GPM_FP64,
    PT_GPM_FP32,
    PT_GPM_FP16,
    PT_GPM_COUNT
};

enum pt_gpu_vendor { PT_GPU_NVIDIA, PT_GPU_AMD, PT_GPU_INTEL, PT_GPU_VENDOR_COUNT };

/* What does not change; texts are empty and numbers 0 where unknown. */
struct pt_gpu_info {
    enum pt_gpu_vendor vendor;
    char name[96], uuid[96];
    char pci_bus_id[32]; /* 0000:3b:00.0, as the kernel writes it */
    char driver_version[80], cuda_version[16];
    int64_t memory_total_bytes;
    int64_t max_graphics_mhz, max_sm_mhz, max_memory_mhz;
    bool is_instance; /* a MIG instance of the GPU `parent` */
    int parent;
    int64_t gpu_instance, compute_instance;
};

struct pt_gpu_device {
    struct pt_gpu_info info;
    int64_t values[PT_GPU_FIELD_COUNT];
    uint64_t present; /* a bit for each value */
    double gpm[PT_GPM_COUNT];
    uint32_t gpm_present;
    int64_t read_ns[PT_GPU_PACE_COUNT]; /* CLOCK_MONOTONIC; 0 = not yet */
    int64_t process_count;
    bool has_process_count;
    bool is_gone; /* fell off the bus; nothing is read any more */
};

enum pt_gpu_process_field {
    PT_GPU_PROCESS_MEMORY_BYTES,
    PT_GPU_PROCESS_SHARED_BYTES,
    PT_GPU_PROCESS_SM_PERCENT,
    PT_GPU_PROCESS_MEMORY_PERCENT,
    PT_GPU_PROCESS_ENCODER_PERCENT,
    PT_GPU_PROCESS_DECODER_PERCENT,
    PT_GPU_PROCESS_GFX_NS, /* busy time of engines since the process opened the GPU */
    PT_GPU_PROCESS_COMPUTE_NS,
    PT_GPU_PROCESS_COPY_NS,
    PT_GPU_PROCESS_VIDEO_NS,
    PT_GPU_PROCESS_CYCLES, /* of gfx and compute engines, if the driver reports no time (xe) */
    PT_GPU_PROCESS_TOTAL_CYCLES, /* elapsed in the same time */
    PT_GPU_PROCESS_CU_OCCUPANCY, /* compute units in use (KFD) */
    PT_GPU_PROCESS_FIELD_COUNT
};

enum pt_gpu_process_kind {
    PT_GPU_KIND_COMPUTE = 1 << 0,
    PT_GPU_KIND_GRAPHICS = 1 << 1,
    PT_GPU_KIND_MPS = 1 << 2,
};

struct pt_gpu_process {
    int gpu;          /* index of the device in the reading */
    pid_t pid;        /* as its source says */
    bool is_host_pid; /* of the outermost namespace; else as our /proc has it */
    uint32_t kinds;   /* PT_GPU_KIND_ bits */
    int64_t values[PT_GPU_PROCESS_FIELD_COUNT];
    uint32_t present;
};

/* All GPUs at one turn of the poller. {0} is an empty reading. */
struct pt_gpu_reading {
    struct pt_gpu_device *devices;
    struct pt_gpu_process *processes;
    size_t device_count, device_capacity;
    size_t process_count, process_capacity;
    int64_t time_ns;      /* when it was complete; 0 = there is none yet */
    int64_t processes_ns; /* when the processes were listed */
    uint64_t sequence;    /* 1, 2, ... */
    int64_t cpu_ns;       /* CPU time of the poller's thread so far */
};

void pt_gpu_reading_release(struct pt_gpu_reading *r);
/* These three: false or NULL if there is no memory (base/mem.h). */
bool pt_gpu_reading_copy(struct pt_gpu_reading *into,
                         const struct pt_gpu_reading *from) PT_MUST_CHECK;
/* A new device, zeroed; valid until the next one is added. */
struct pt_gpu_device *pt_gpu_add_device(struct pt_gpu_reading *r);
/* The process of that pid on that device; added if it is not there yet. */
struct pt_gpu_process *pt_gpu_find_process(struct pt_gpu_reading *r, int gpu, pid_t pid,
                                           bool is_host_pid);
/* Clears the values of a pace before they are read again. */
void pt_gpu_forget(struct pt_gpu_device *d, enum pt_gpu_pace pace);
/* Index of the device at that PCI address, or -1. */
int pt_gpu_at_address(const struct pt_gpu_reading *r, const char *pci_bus_id);

static inline void pt_gpu_set(struct pt_gpu_device *d, enum pt_gpu_field field, int64_t value) {
    d->values[field] = value;
    d->present |= UINT64_C(1) << field;
}

static inline bool pt_gpu_has(const struct pt_gpu_device *d, enum pt_gpu_field field) {
    return d->present >> field & 1;
}

static inline void pt_gpu_process_set(struct pt_gpu_process *p, enum pt_gpu_process_field field,
                                      int64_t value) {
    p->values[field] = value;
    p->present |= 1u << field;
}

static inline bool pt_gpu_process_has(const struct pt_gpu_process *p,
                                      enum pt_gpu_process_field field) {
    return p->present >> field & 1;
}

/* Several clients of one process: their sums. */
static inline void pt_gpu_process_add(struct pt_gpu_process *p, enum pt_gpu_process_field field,
                                      int64_t value) {
    int64_t sum;
    if (!pt_gpu_process_has(p, field))
        p->values[field] = 0;
    if (!__builtin_add_overflow(p->values[field], value, &sum))
        pt_gpu_process_set(p, field, sum);
}

const char *pt_gpu_vendor_name(enum pt_gpu_vendor vendor); /* nvidia, amd, intel */
/* "power, thermal"; empty for 0. */
void pt_gpu_throttle_words(int64_t throttle, char *into, size_t capacity);

#endif
