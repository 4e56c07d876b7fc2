/* GPUs of open drivers on copied trees, the GPU thread, and the collector on top of it. */
#include "capture.h"
#include "json_text.h"
#include "scripted.h"

#include "base/clock.h"
#include "collect/gpu.h"
#include "source/gpu/amdgpu.h"
#include "source/gpu/drm_card.h"
#include "source/gpu/drm_fdinfo.h"
#include "source/gpu/gpu_metrics.h"
#include "source/gpu/intel.h"
#include "source/gpu/poller.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <sys/stat.h>

#define PATIENCE_NS (60 * PT_NS_PER_SECOND) /* only a failure takes so long */

static void open_tree(struct pt_fs *fs, const char *name) {
    char path[3][PATH_MAX];
    static const char *const parts[] = { "proc", "sys", "root" };
    struct pt_err err;
    for (int i = 0; i < 3; i++)
        snprintf(path[i], PATH_MAX, "%s/tests/fixtures/%s/%s", getenv("PITOT_SOURCE"), name,
                 parts[i]);
    assert_int_equal(pt_fs_open(fs, path[0], path[1], path[2], &err), 0);
}

/* A tree whose class/drm is that folder of cards; false for one of others that is not there. */
static bool open_captured(struct pt_fs *fs, const char *name, char root[32]) {
    char cards[PATH_MAX], path[PATH_MAX];
    struct pt_err err;
    if (!find_capture(name, cards))
        return false;
    snprintf(root, 32, "/tmp/pitot-gpu-tree-XXXXXX");
    assert_non_null(mkdtemp(root));
    snprintf(path, sizeof path, "%s/class", root);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/class/drm", root);
    assert_int_equal(symlink(cards, path), 0);
    assert_int_equal(pt_fs_open(fs, root, root, root, &err), 0);
    return true;
}

static void close_captured(struct pt_fs *fs, const char *root) {
    char path[PATH_MAX];
    pt_fs_close(fs);
    snprintf(path, sizeof path, "%s/class/drm", root);
    unlink(path);
    snprintf(path, sizeof path, "%s/class", root);
    rmdir(path);
    rmdir(root);
}

/* All devices of one backend, read once at both paces. */
static void read_backend(const struct pt_gpu_backend *backend, const struct pt_fs *fs,
                         struct pt_gpu_reading *r) {
    void *state = pt_calloc(1, backend->state_size);
    struct pt_err err;
    *r = (struct pt_gpu_reading){ 0 };
    assert_int_equal(backend->open(state, fs, &err), 0);
    for (int i = 0; i < backend->device_count(state); i++) {
        struct pt_gpu_device *d = pt_gpu_add_device(r);
        backend->describe_device(state, i, 0, &d->info);
        backend->read_device(state, i, PT_GPU_FAST, d);
        backend->read_device(state, i, PT_GPU_SLOW, d);
    }
    backend->close(state);
    pt_free(state);
}

static void assert_value(const struct pt_gpu_device *d, enum pt_gpu_field field, int64_t value) {
    if (!pt_gpu_has(d, field))
        fail_msg("field %d is absent", field);
    if (d->values[field] != value)
        fail_msg("field %d is %lld, not %lld", field, (long long)d->values[field],
                 (long long)value);
}

static struct pt_scan scan_of(const char *text) {
    return pt_scan_of(pt_str_from(text));
}

static void the_clock_level_with_a_star_is_the_current_one(void **state) {
    (void)state;
    struct pt_dpm_levels levels;
    pt_dpm_parse(scan_of("0: 852Mhz \n1: 991Mhz *\n2: 1084Mhz \n"), &levels);
    assert_true(levels.has_current && levels.has_max);
    assert_int_equal(levels.current_mhz, 991);
    assert_int_equal(levels.max_mhz, 1084);
    pt_dpm_parse(scan_of("S: 19Mhz *\n0: 500Mhz\n"), &levels);
    assert_int_equal(levels.current_mhz, 19);
    pt_dpm_parse(scan_of("0: 500Mhz\n"), &levels);
    assert_false(levels.has_current);
    pt_dpm_parse(scan_of("garbage\n1 *\n0: x *\n0: 99999999999999999999Mhz *\n"), &levels);
    assert_false(levels.has_current || levels.has_max);
}

static void link_speeds_are_generations(void **state) {
    (void)state;
    assert_int_equal(pt_pcie_generation(PT_STR("2.5 GT/s PCIe")), 1);
    assert_int_equal(pt_pcie_generation(PT_STR("16.0 GT/s PCIe")), 4);
    assert_int_equal(pt_pcie_generation(PT_STR("64.0 GT/s PCIe")), 6);
    assert_int_equal(pt_pcie_generation(PT_STR("Unknown")), 0);
    assert_int_equal(pt_pcie_generation(PT_STR("")), 0);
}

static void make_blob(uint8_t *blob, uint16_t size, uint8_t format, uint8_t content) {
    memset(blob, 0xff, size);
    memcpy(blob, &size, 2);
    blob[2] = format;
    blob[3] = content;
}

static void put16(uint8_t *blob, size_t offset, uint16_t value) {
    memcpy(blob + offset, &value, sizeof value);
}

static void put64(uint8_t *blob, size_t offset, uint64_t value) {
    memcpy(blob + offset, &value, sizeof value);
}

static void parse_blob(const uint8_t *blob, uint16_t size, struct pt_gpu_device *d) {
    *d = (struct pt_gpu_device){ 0 };
    assert_int_equal(pt_gpu_metrics_parse((struct pt_str){ (const char *)blob, size }, d), 0);
}

static void the_metrics_file_is_read_by_its_revision(void **state) {
    (void)state;
    struct pt_gpu_device d;
    uint8_t blob[4096];
    make_blob(blob, 120, 1, 3);
    put16(blob, 6, 81);
    put16(blob, 16, 97);
    put16(blob, 22, 301);
    put16(blob, 54, 2304);
    put64(blob, 112, UINT64_C(1) << 36 | 1);
    parse_blob(blob, 120, &d);
    assert_value(&d, PT_GPU_HOTSPOT_TEMPERATURE_C, 81);
    assert_value(&d, PT_GPU_UTILIZATION_PERCENT, 97);
    assert_value(&d, PT_GPU_POWER_MW, 301000);
    assert_value(&d, PT_GPU_CLOCK_GRAPHICS_MHZ, 2304);
    assert_value(&d, PT_GPU_THROTTLE, PT_GPU_THROTTLE_POWER | PT_GPU_THROTTLE_THERMAL);

    make_blob(blob, 1664, 1, 6);
    put16(blob, 10, 750);
    put64(blob, 16, UINT64_C(65536) * 3600);
    put16(blob, 264, 2100);
    parse_blob(blob, 1664, &d);
    assert_value(&d, PT_GPU_POWER_MW, 750000);
    assert_value(&d, PT_GPU_ENERGY_MJ, 3600000);
    assert_value(&d, PT_GPU_CLOCK_GRAPHICS_MHZ, 2100);

    make_blob(blob, 168, 2, 4);
    put16(blob, 4, 5512);
    put16(blob, 28, 4250);
    put16(blob, 40, 15300);
    parse_blob(blob, 168, &d);
    assert_value(&d, PT_GPU_TEMPERATURE_C, 55);
    assert_value(&d, PT_GPU_UTILIZATION_PERCENT, 42);
    assert_value(&d, PT_GPU_POWER_MW, 15300);

    make_blob(blob, 256, 3, 0);
    put16(blob, 42, 66);
    put16(blob, 174, 2800);
    parse_blob(blob, 256, &d);
    assert_value(&d, PT_GPU_UTILIZATION_PERCENT, 66);
    assert_value(&d, PT_GPU_CLOCK_GRAPHICS_MHZ, 2800);
    assert_false(pt_gpu_has(&d, PT_GPU_POWER_MW));
}

static void what_the_chip_does_not_tell_is_absent(void **state) {
    (void)state;
    uint8_t blob[4096];
    struct pt_gpu_device d;
    make_blob(blob, 120, 1, 3);
    parse_blob(blob, 120, &d);
    assert_int_equal(d.present, 0);
    put16(blob, 16, 4000); /* no percentage */
    parse_blob(blob, 120, &d);
    assert_int_equal(d.present, 0);
}

static void a_grown_revision_gives_only_what_is_certain(void **state) {
    (void)state;
    uint8_t blob[4096];
    struct pt_gpu_device d;
    make_blob(blob, 1672, 1, 6);
    put16(blob, 12, 88);
    put64(blob, 16, 1);
    parse_blob(blob, 1672, &d);
    assert_int_equal(d.present, UINT64_C(1) << PT_GPU_UTILIZATION_PERCENT);
}

static void a_cut_or_unknown_metrics_file_is_refused(void **state) {
    (void)state;
    uint8_t blob[256];
    struct pt_gpu_device d = { 0 };
    make_blob(blob, 120, 1, 3);
    for (size_t n = 0; n < 120; n++)
        assert_int_equal(pt_gpu_metrics_parse((struct pt_str){ (const char *)blob, n }, &d),
                         -EINVAL);
    make_blob(blob, 40, 1, 3); /* shorter than its fields */
    parse_blob(blob, 40, &d);
    assert_false(pt_gpu_has(&d, PT_GPU_FAN_RPM));
    make_blob(blob, 120, 9, 1);
    assert_int_equal(pt_gpu_metrics_parse((struct pt_str){ (const char *)blob, 120 }, &d),
                     -ENODATA);
}

static void an_amd_card_is_read_from_its_files(void **state) {
    (void)state;
    struct pt_gpu_reading r;
    struct pt_fs fs;
    open_tree(&fs, "gpu-amd");
    read_backend(&pt_amdgpu_backend, &fs, &r);
    assert_int_equal(r.device_count, 2);
    const struct pt_gpu_device *d = &r.devices[0];
    assert_string_equal(d->info.name, "Radeon RX 7900 XTX");
    assert_string_equal(d->info.uuid, "a1b2c3d4e5f60718");
    assert_string_equal(d->info.pci_bus_id, "0000:03:00.0");
    assert_int_equal(d->info.max_graphics_mhz, 2526);
    assert_value(d, PT_GPU_UTILIZATION_PERCENT, 97);
    assert_value(d, PT_GPU_MEMORY_UTILIZATION_PERCENT, 41);
    assert_value(d, PT_GPU_MEMORY_USED_BYTES, 12884901888);
    assert_value(d, PT_GPU_MEMORY_FREE_BYTES, 12868124672);
    assert_value(d, PT_GPU_SHARED_USED_BYTES, 1048576000);
    assert_value(d, PT_GPU_TEMPERATURE_C, 62);
    assert_value(d, PT_GPU_HOTSPOT_TEMPERATURE_C, 81);
    assert_value(d, PT_GPU_MEMORY_TEMPERATURE_C, 78);
    assert_value(d, PT_GPU_POWER_MW, 301500);
    assert_value(d, PT_GPU_POWER_LIMIT_MW, 327000);
    assert_value(d, PT_GPU_CLOCK_GRAPHICS_MHZ, 2304);
    assert_value(d, PT_GPU_CLOCK_MEMORY_MHZ, 1249);
    assert_value(d, PT_GPU_CLOCK_VIDEO_MHZ, 20);
    assert_value(d, PT_GPU_FAN_RPM, 1830);
    assert_value(d, PT_GPU_FAN_PERCENT, 40);
    assert_value(d, PT_GPU_PCIE_GENERATION, 4);
    assert_value(d, PT_GPU_PCIE_WIDTH, 16);
    assert_value(d, PT_GPU_PCIE_REPLAYS, 2);
    assert_false(pt_gpu_has(d, PT_GPU_ENERGY_MJ));
    pt_gpu_reading_release(&r);
    pt_fs_close(&fs);
}

static void a_card_that_sleeps_is_not_woken(void **state) {
    (void)state;
    struct pt_gpu_reading r;
    struct pt_fs fs;
    open_tree(&fs, "gpu-amd");
    read_backend(&pt_amdgpu_backend, &fs, &r);
    assert_string_equal(r.devices[1].info.name, "1002:15BF");
    assert_int_equal(r.devices[1].present, 0);
    assert_false(r.devices[1].is_gone);
    pt_gpu_reading_release(&r);
    pt_fs_close(&fs);
}

struct expectation {
    enum pt_gpu_field field;
    int64_t value;
};

/* A folder with one card. Ours are written to the kernel's documentation, theirs are captured. */
static void assert_card(const struct pt_gpu_backend *backend, const char *name,
                        const struct expectation *expected, size_t count) {
    struct pt_gpu_reading r;
    struct pt_fs fs;
    char root[32];
    if (!open_captured(&fs, name, root))
        return;
    read_backend(backend, &fs, &r);
    assert_int_equal(r.device_count, 1);
    for (size_t i = 0; i < count; i++)
        assert_value(&r.devices[0], expected[i].field, expected[i].value);
    pt_gpu_reading_release(&r);
    close_captured(&fs, root);
}

#define CARD(backend, name, ...)                                       \
    do {                                                               \
        static const struct expectation expected_[] = { __VA_ARGS__ }; \
        assert_card(backend, name, expected_, PT_COUNT(expected_));    \
    } while (0)

/* The last two of each are in the metrics file alone. */
static void a_desktop_radeon(void **state) {
    (void)state;
    CARD(&pt_amdgpu_backend, OURS "gpu-cards/radeon-desktop", { PT_GPU_UTILIZATION_PERCENT, 83 },
         { PT_GPU_TEMPERATURE_C, 58 }, { PT_GPU_HOTSPOT_TEMPERATURE_C, 79 },
         { PT_GPU_MEMORY_TEMPERATURE_C, 84 }, { PT_GPU_POWER_MW, 251000 },
         { PT_GPU_POWER_LIMIT_MW, 304000 }, { PT_GPU_CLOCK_GRAPHICS_MHZ, 2847 },
         { PT_GPU_CLOCK_MEMORY_MHZ, 1258 }, { PT_GPU_FAN_RPM, 1477 }, { PT_GPU_FAN_PERCENT, 40 },
         { PT_GPU_PCIE_GENERATION, 5 }, { PT_GPU_PCIE_WIDTH, 8 },
         { PT_GPU_MEMORY_UTILIZATION_PERCENT, 37 },
         { PT_GPU_THROTTLE, PT_GPU_THROTTLE_POWER | PT_GPU_THROTTLE_THERMAL });
    CARD(&pt_amdgpu_backend, THEIRS "gpu/lact-rx7800xt", { PT_GPU_UTILIZATION_PERCENT, 2 },
         { PT_GPU_TEMPERATURE_C, 24 }, { PT_GPU_HOTSPOT_TEMPERATURE_C, 31 },
         { PT_GPU_MEMORY_TEMPERATURE_C, 48 }, { PT_GPU_POWER_MW, 32000 },
         { PT_GPU_POWER_LIMIT_MW, 236000 }, { PT_GPU_CLOCK_GRAPHICS_MHZ, 2011 },
         { PT_GPU_CLOCK_MEMORY_MHZ, 456 }, { PT_GPU_FAN_RPM, 868 }, { PT_GPU_FAN_PERCENT, 34 },
         { PT_GPU_PCIE_GENERATION, 4 }, { PT_GPU_PCIE_WIDTH, 16 },
         { PT_GPU_MEMORY_UTILIZATION_PERCENT, 0 }, { PT_GPU_THROTTLE, 0 });
}

static void a_radeon_whose_metrics_file_is_padded(void **state) {
    (void)state;
    CARD(&pt_amdgpu_backend, OURS "gpu-cards/radeon-padded", { PT_GPU_TEMPERATURE_C, 61 },
         { PT_GPU_HOTSPOT_TEMPERATURE_C, 70 }, { PT_GPU_UTILIZATION_PERCENT, 12 },
         { PT_GPU_POWER_MW, 44000 }, { PT_GPU_CLOCK_MEMORY_MHZ, 875 }, { PT_GPU_THROTTLE, 0 });
    CARD(&pt_amdgpu_backend, THEIRS "gpu/lact-rx6900xt", { PT_GPU_TEMPERATURE_C, 56 },
         { PT_GPU_THROTTLE, 0 });
}

static void a_radeon_in_a_processor(void **state) {
    (void)state;
    CARD(&pt_amdgpu_backend, OURS "gpu-cards/radeon-apu", { PT_GPU_UTILIZATION_PERCENT, 17 },
         { PT_GPU_TEMPERATURE_C, 43 }, { PT_GPU_POWER_MW, 9871 },
         { PT_GPU_CLOCK_GRAPHICS_MHZ, 1400 }, { PT_GPU_CLOCK_MEMORY_MHZ, 2750 });
    CARD(&pt_amdgpu_backend, THEIRS "gpu/lact-phoenix", { PT_GPU_UTILIZATION_PERCENT, 0 },
         { PT_GPU_TEMPERATURE_C, 25 }, { PT_GPU_POWER_MW, 3103 },
         { PT_GPU_CLOCK_GRAPHICS_MHZ, 800 });
}

static void a_radeon_without_a_metrics_file(void **state) {
    (void)state;
    CARD(&pt_amdgpu_backend, OURS "gpu-cards/radeon-old", { PT_GPU_PCIE_REPLAYS, 3 },
         { PT_GPU_UTILIZATION_PERCENT, 99 }, { PT_GPU_CLOCK_GRAPHICS_MHZ, 1340 },
         { PT_GPU_CLOCK_MEMORY_MHZ, 2000 }, { PT_GPU_PCIE_GENERATION, 3 });
    CARD(&pt_amdgpu_backend, THEIRS "gpu/lact-vega56", { PT_GPU_PCIE_REPLAYS, 0 });
}

static void an_intel_arc(void **state) {
    (void)state;
    CARD(&pt_intel_backend, OURS "gpu-cards/arc", { PT_GPU_ENERGY_MJ, 5123456 },
         { PT_GPU_POWER_LIMIT_MW, 190000 }, { PT_GPU_TEMPERATURE_C, 67 },
         { PT_GPU_CLOCK_GRAPHICS_MHZ, 2150 }, { PT_GPU_IDLE_MS, 90210 }, { PT_GPU_FAN_RPM, 1320 },
         { PT_GPU_THROTTLE, PT_GPU_THROTTLE_POWER }, { PT_GPU_PCIE_GENERATION, 4 });
    CARD(&pt_intel_backend, THEIRS "gpu/lact-intel-a380-i915", { PT_GPU_ENERGY_MJ, 25637161 },
         { PT_GPU_POWER_LIMIT_MW, 55000 }, { PT_GPU_TEMPERATURE_C, 55 },
         { PT_GPU_CLOCK_GRAPHICS_MHZ, 600 }, { PT_GPU_IDLE_MS, 6534 }, { PT_GPU_FAN_RPM, 0 },
         { PT_GPU_THROTTLE, 0 }, { PT_GPU_PCIE_GENERATION, 1 });
}

static void two_cards_of_two_vendors(void **state) {
    (void)state;
    static const struct {
        const char *name;
        int64_t utilization, memory_used, clock;
    } cases[] = {
        { OURS "gpu-cards/two-vendors", 64, 2147483648, 1905 },
        { THEIRS "gpu/procfs-drm", 4, 1490378752, 852 },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_gpu_reading amd, intel;
        struct pt_fs fs;
        char root[32];
        if (!open_captured(&fs, cases[i].name, root))
            continue;
        read_backend(&pt_amdgpu_backend, &fs, &amd);
        read_backend(&pt_intel_backend, &fs, &intel);
        assert_int_equal(amd.device_count, 1);
        assert_value(&amd.devices[0], PT_GPU_UTILIZATION_PERCENT, cases[i].utilization);
        assert_value(&amd.devices[0], PT_GPU_MEMORY_USED_BYTES, cases[i].memory_used);
        assert_value(&amd.devices[0], PT_GPU_CLOCK_GRAPHICS_MHZ, cases[i].clock);
        assert_int_equal(intel.device_count, 1);
        assert_string_equal(intel.devices[0].info.pci_bus_id, "0000:00:02.0");
        assert_int_equal(intel.devices[0].present, 0);
        pt_gpu_reading_release(&amd);
        pt_gpu_reading_release(&intel);
        close_captured(&fs, root);
    }
}

static void intel_cards_of_both_drivers(void **state) {
    (void)state;
    struct pt_gpu_reading r;
    struct pt_fs fs;
    open_tree(&fs, "gpu-intel");
    read_backend(&pt_intel_backend, &fs, &r);
    assert_int_equal(r.device_count, 2);
    const struct pt_gpu_device *xe = &r.devices[0], *i915 = &r.devices[1];
    assert_value(xe, PT_GPU_ENERGY_MJ, 123456);
    assert_value(xe, PT_GPU_POWER_LIMIT_MW, 190000);
    assert_value(xe, PT_GPU_TEMPERATURE_C, 55);
    assert_value(xe, PT_GPU_MEMORY_TEMPERATURE_C, 60);
    assert_value(xe, PT_GPU_CLOCK_GRAPHICS_MHZ, 2400);
    assert_value(xe, PT_GPU_CLOCK_VIDEO_MHZ, 1100);
    assert_value(xe, PT_GPU_IDLE_MS, 5000);
    assert_value(xe, PT_GPU_THROTTLE, PT_GPU_THROTTLE_POWER | PT_GPU_THROTTLE_THERMAL);
    assert_value(xe, PT_GPU_THROTTLE_RAW, 9);
    assert_int_equal(xe->info.max_graphics_mhz, 2850);
    assert_false(pt_gpu_has(xe, PT_GPU_UTILIZATION_PERCENT));
    assert_false(pt_gpu_has(xe, PT_GPU_POWER_MW));
    assert_value(i915, PT_GPU_CLOCK_GRAPHICS_MHZ, 300);
    assert_false(pt_gpu_has(i915, PT_GPU_ENERGY_MJ));
    pt_gpu_reading_release(&r);
    pt_fs_close(&fs);
}

static void a_client_without_id_or_place_is_none(void **state) {
    (void)state;
    struct pt_drm_client client;
    assert_int_equal(pt_drm_fdinfo_parse(scan_of("pos:\t0\n"), &client), -ENODATA);
    assert_int_equal(pt_drm_fdinfo_parse(scan_of("drm-client-id:\t5\n"), &client), -ENODATA);
    assert_int_equal(pt_drm_fdinfo_parse(scan_of("drm-pdev:\t0000:03:00.0\n"), &client), -ENODATA);
    assert_int_equal(pt_drm_fdinfo_parse(scan_of("drm-client-id:\tx\ndrm-pdev:\ta\n"), &client),
                     -ENODATA);
}

static void the_best_size_of_a_region_counts(void **state) {
    (void)state;
    struct pt_drm_client client;
    assert_int_equal(pt_drm_fdinfo_parse(scan_of("drm-client-id:\t5\ndrm-pdev:\t0000:03:00.0\n"
                                                 "drm-total-vram0:\t9 MiB\n"
                                                 "drm-resident-vram0:\t3 MiB\n"
                                                 "drm-resident-vram1:\t1024 KiB\n"
                                                 "drm-memory-vram:\t7 MiB\n"
                                                 "drm-total-gtt:\t4096\n"
                                                 "drm-engine-gfx:\t-5 ns\n"
                                                 "drm-engine-dec:\t5 ns\n"
                                                 "drm-engine-compute:\t99999999999999999999 ns\n"),
                                         &client),
                     0);
    assert_int_equal(client.values[PT_GPU_PROCESS_MEMORY_BYTES], 4 << 20);
    assert_int_equal(client.values[PT_GPU_PROCESS_SHARED_BYTES], 4096);
    assert_int_equal(client.values[PT_GPU_PROCESS_VIDEO_NS], 5);
    assert_int_equal(client.present, 1u << PT_GPU_PROCESS_MEMORY_BYTES |
                                         1u << PT_GPU_PROCESS_SHARED_BYTES |
                                         1u << PT_GPU_PROCESS_VIDEO_NS);
}

/* The processes on the cards of a tree. */
static void read_clients(const char *tree, const struct pt_gpu_backend *cards,
                         struct pt_gpu_reading *r) {
    struct pt_fs fs;
    struct pt_err err;
    void *state = pt_calloc(1, pt_drm_backend.state_size);
    open_tree(&fs, tree);
    read_backend(cards, &fs, r);
    assert_int_equal(pt_drm_backend.open(state, &fs, &err), 0);
    pt_drm_backend.read_processes(state, (int)r->device_count, r);
    pt_drm_backend.close(state);
    pt_free(state);
    pt_fs_close(&fs);
}

static void a_shared_client_counts_once(void **state) {
    (void)state;
    struct pt_gpu_reading r;
    read_clients("gpu-amd", &pt_amdgpu_backend, &r);
    assert_int_equal(r.process_count, 3);
    const struct pt_gpu_process *first = &r.processes[0], *second = &r.processes[1];
    assert_int_equal(first->pid, 100); /* client 9, through two descriptors */
    assert_int_equal(first->values[PT_GPU_PROCESS_MEMORY_BYTES], 2 << 20);
    assert_int_equal(first->values[PT_GPU_PROCESS_SHARED_BYTES], 512 << 10);
    assert_int_equal(first->values[PT_GPU_PROCESS_GFX_NS], 1000000);
    assert_int_equal(first->values[PT_GPU_PROCESS_COMPUTE_NS], 5000000);
    assert_int_equal(first->values[PT_GPU_PROCESS_COPY_NS], 30);
    assert_int_equal(first->values[PT_GPU_PROCESS_VIDEO_NS], 70);
    assert_false(first->is_host_pid);
    assert_int_equal(second->pid, 200); /* 11 is its own, 9 was inherited */
    assert_int_equal(second->values[PT_GPU_PROCESS_MEMORY_BYTES], 2 << 20);
    assert_int_equal(r.devices[0].process_count, 3);
    assert_false(r.devices[1].has_process_count);
    pt_gpu_reading_release(&r);
}

static void rocm_processes_come_from_kfd(void **state) {
    (void)state;
    struct pt_gpu_reading r;
    read_clients("gpu-amd", &pt_amdgpu_backend, &r);
    const struct pt_gpu_process *p = &r.processes[2];
    assert_int_equal(p->pid, 300);
    assert_int_equal(p->gpu, 0);
    assert_true(p->is_host_pid);
    assert_int_equal(p->values[PT_GPU_PROCESS_MEMORY_BYTES], 4294967296);
    assert_int_equal(p->values[PT_GPU_PROCESS_CU_OCCUPANCY], 48);
    pt_gpu_reading_release(&r);
}

static void clients_of_xe_have_cycles(void **state) {
    (void)state;
    struct pt_gpu_reading r;
    read_clients("gpu-intel", &pt_intel_backend, &r);
    assert_int_equal(r.process_count, 1);
    const struct pt_gpu_process *p = &r.processes[0];
    assert_int_equal(p->values[PT_GPU_PROCESS_MEMORY_BYTES], 4 << 20);
    assert_int_equal(p->values[PT_GPU_PROCESS_CYCLES], 150);
    assert_int_equal(p->values[PT_GPU_PROCESS_TOTAL_CYCLES], 2000);
    assert_false(pt_gpu_process_has(p, PT_GPU_PROCESS_GFX_NS));
    pt_gpu_reading_release(&r);
}

static struct pt_gpu_poller *start_poller(const struct pt_fs *fs, const char *script) {
    struct pt_gpu_poller *poller;
    struct pt_err err;
    play("PITOT_SCRIPTED_NVML", script);
    assert_int_equal(pt_gpu_poller_start(&poller, fs, PT_NS_PER_MS, PATIENCE_NS, &err), 0);
    return poller;
}

static void the_thread_publishes_readings(void **state) {
    (void)state;
    struct pt_gpu_reading r = { 0 };
    struct pt_fs fs;
    open_tree(&fs, "gpu-amd");
    struct pt_gpu_poller *poller = start_poller(&fs, "devices 1\n" SCRIPT_GPU);
    assert_true(pt_gpu_poller_wait(poller, 1, PATIENCE_NS));
    assert_true(pt_gpu_poller_read(poller, &r));
    assert_true(r.sequence >= 2);
    assert_int_equal(r.device_count, 3); /* NVIDIA's first */
    assert_int_equal(r.devices[0].info.vendor, PT_GPU_NVIDIA);
    assert_int_equal(r.devices[1].info.vendor, PT_GPU_AMD);
    assert_value(&r.devices[0], PT_GPU_POWER_MW, 512345);
    assert_value(&r.devices[0], PT_GPU_ECC_DOUBLE, 2);
    assert_value(&r.devices[1], PT_GPU_UTILIZATION_PERCENT, 97);
    assert_int_equal(r.process_count, 5);
    assert_true(r.time_ns >= r.devices[0].read_ns[PT_GPU_FAST]);
    pt_gpu_poller_stop(poller);
    pt_gpu_reading_release(&r);
    pt_fs_close(&fs);
}

/* The library is loaded once per process, so this is the one the thread uses. */
static void *open_scripted(void) {
    void *library = dlopen(getenv("PITOT_SCRIPTED_NVML"), RTLD_NOW | RTLD_LOCAL);
    assert_non_null(library);
    return library;
}

static int ask_scripted(void *library, const char *function) {
    int (*ask)(void);
    *(void **)&ask = dlsym(library, function);
    return ask();
}

static bool hangs(void *library) {
    bool (*ask)(void);
    *(void **)&ask = dlsym(library, "scripted_nvml_hangs");
    return ask();
}

static void await_hang(void *library) {
    int64_t deadline_ns = pt_mono_ns() + PATIENCE_NS;
    while (!hangs(library)) {
        assert_true(pt_mono_ns() < deadline_ns);
        sched_yield();
    }
}

static void release_hang(void *library) {
    void (*release)(void);
    *(void **)&release = dlsym(library, "scripted_nvml_release");
    release();
}

/* A thread that was left behind cleans up after itself. */
static void await_shutdown(void *library, int before) {
    int64_t deadline_ns = pt_mono_ns() + PATIENCE_NS;
    while (ask_scripted(library, "scripted_nvml_shutdowns") == before) {
        assert_true(pt_mono_ns() < deadline_ns);
        sched_yield();
    }
}

static void the_same_reading_is_not_copied_twice(void **state) {
    (void)state;
    struct pt_gpu_reading r = { 0 };
    struct pt_fs fs;
    open_tree(&fs, "gpu-intel");
    void *library = open_scripted();
    struct pt_gpu_poller *poller =
        start_poller(&fs, "devices 1\nnvmlDeviceGetPowerUsage 0 1000 ~ 2000\n");
    assert_true(pt_gpu_poller_wait(poller, 0, PATIENCE_NS));
    assert_true(pt_gpu_poller_read(poller, &r));
    assert_int_equal(r.sequence, 1);
    assert_false(pt_gpu_poller_read(poller, &r));
    await_hang(library);
    release_hang(library);
    pt_gpu_poller_stop(poller);
    dlclose(library);
    pt_gpu_reading_release(&r);
    pt_fs_close(&fs);
}

static void while_a_call_hangs_the_last_reading_stands(void **state) {
    (void)state;
    struct pt_gpu_reading r = { 0 };
    struct pt_fs fs;
    open_tree(&fs, "gpu-intel");
    void *library = open_scripted();
    struct pt_gpu_poller *poller =
        start_poller(&fs, "devices 1\nnvmlDeviceGetPowerUsage 0 1000 ~ 2000\n");
    await_hang(library);
    assert_true(pt_gpu_poller_read(poller, &r));
    int64_t time_ns = r.time_ns;
    for (int i = 0; i < 1000; i++)
        assert_false(pt_gpu_poller_read(poller, &r));
    assert_int_equal(r.time_ns, time_ns);
    assert_value(&r.devices[0], PT_GPU_POWER_MW, 1000);
    release_hang(library);
    assert_true(pt_gpu_poller_wait(poller, 1, PATIENCE_NS));
    assert_true(pt_gpu_poller_read(poller, &r));
    assert_value(&r.devices[0], PT_GPU_POWER_MW, 2000);
    pt_gpu_poller_stop(poller);
    pt_gpu_reading_release(&r);
    pt_fs_close(&fs);
    dlclose(library);
}

static void stopping_does_not_wait_for_a_hanging_call(void **state) {
    (void)state;
    struct pt_fs fs;
    open_tree(&fs, "gpu-intel");
    void *library = open_scripted();
    struct pt_gpu_poller *poller =
        start_poller(&fs, "devices 1\nnvmlDeviceGetPowerUsage 0 1000 ~ 2000\n");
    await_hang(library);
    int before = ask_scripted(library, "scripted_nvml_shutdowns");
    pt_fs_close(&fs);
    pt_gpu_poller_stop(poller);
    assert_true(hangs(library));
    release_hang(library);
    await_shutdown(library, before); /* the library stays loaded for it */
}

static void a_driver_that_hangs_from_the_start_is_waited_for_in_vain(void **state) {
    (void)state;
    struct pt_gpu_poller *poller;
    struct pt_gpu_reading r = { 0 };
    struct pt_fs fs;
    struct pt_err err;
    open_tree(&fs, "gpu-intel");
    void *library = open_scripted();
    play("PITOT_SCRIPTED_NVML", "devices 1\nnvmlInit * ~ 0\n");
    assert_int_equal(pt_gpu_poller_start(&poller, &fs, PT_NS_PER_MS, PT_NS_PER_MS, &err), 0);
    assert_false(pt_gpu_poller_read(poller, &r));
    await_hang(library);
    int before = ask_scripted(library, "scripted_nvml_shutdowns");
    pt_gpu_poller_stop(poller);
    pt_fs_close(&fs);
    release_hang(library);
    await_shutdown(library, before);
}

static void without_gpus_there_is_no_thread(void **state) {
    (void)state;
    struct pt_gpu_poller *poller;
    struct pt_fs fs;
    struct pt_err err = { "" };
    open_tree(&fs, "static-x86");
    play("PITOT_SCRIPTED_NVML", "devices 1\nnvmlInit * !18\n");
    assert_int_equal(pt_gpu_poller_start(&poller, &fs, PT_NS_PER_MS, PATIENCE_NS, &err), -ENODATA);
    assert_null(poller);
    assert_non_null(strstr(err.text, "different versions")); /* the gravest of the reasons */
    pt_gpu_poller_stop(poller);
    pt_fs_close(&fs);
}

/* The collector, its rows, and the tree it reads. */
struct collected {
    struct pt_fs fs;
    struct pt_context context;
    void *state;
    struct pt_batch rows[2];
};

static int open_collector(struct collected *c, const char *tree, const char *script) {
    struct pt_err err;
    *c = (struct collected){ .state = pt_calloc(1, pt_gpu_collector.state_size) };
    open_tree(&c->fs, tree);
    c->context = (struct pt_context){ .fs = &c->fs, .interval_ns = PT_NS_PER_MS };
    play("PITOT_SCRIPTED_NVML", script);
    pt_batch_init(&c->rows[0], pt_gpu_collector.tables[0]);
    pt_batch_init(&c->rows[1], pt_gpu_collector.tables[1]);
    return pt_gpu_collector.open(c->state, &c->context, &err);
}

/* Until the first reading is there. */
static void collect(struct collected *c) {
    int64_t deadline_ns = pt_mono_ns() + PATIENCE_NS;
    do {
        pt_batch_clear(&c->rows[0]);
        pt_batch_clear(&c->rows[1]);
        assert_int_equal(pt_gpu_collector.collect(c->state, &c->context, c->rows), 0);
        assert_true(pt_mono_ns() < deadline_ns);
        sched_yield();
    } while (c->rows[0].row_count == 0);
}

static void close_collector(struct collected *c) {
    pt_gpu_collector.close(c->state);
    pt_batch_release(&c->rows[0]);
    pt_batch_release(&c->rows[1]);
    pt_fs_close(&c->fs);
    pt_free(c->state);
}

static int column_of(const struct pt_batch *b, const char *name) {
    int column = pt_table_find(b->table, name);
    if (column < 0)
        fail_msg("no column %s", name);
    return column;
}

static void assert_cell(const struct pt_batch *b, uint32_t row, const char *name, double value) {
    int column = column_of(b, name);
    if (pt_is_null(b, row, column))
        fail_msg("%s is null", name);
    if (pt_get_number(b, row, column) != value)
        fail_msg("%s is %g, not %g", name, pt_get_number(b, row, column), value);
}

static void assert_null_cell(const struct pt_batch *b, uint32_t row, const char *name) {
    if (!pt_is_null(b, row, column_of(b, name)))
        fail_msg("%s is not null", name);
}

static void assert_text_cell(const struct pt_batch *b, uint32_t row, const char *name,
                             const char *text) {
    int column = column_of(b, name);
    assert_false(pt_is_null(b, row, column));
    assert_str_eq(pt_get_str(b, row, column), text);
}

static void a_row_has_the_names_users_know(void **state) {
    (void)state;
    static const struct {
        const char *name;
        double value;
    } expected[] = {
        { "gGpuIndex", 0 },
        { "gUtilizationGpu", 85 },
        { "gUtilizationMem", 40 },
        { "gMemoryUsedMb", 19968 },
        { "gMemoryFreeMb", 61440 },
        { "gMemoryTotalMb", 81920 },
        { "gTemperatureC", 61 },
        { "gPowerDrawW", 512.345 },
        { "gClockGraphicsMhz", 1980 },
        { "gBar1UsedMb", 8 },
        { "gBar1FreeMb", 131064 },
        { "gFanSpeed", 33 },
        { "gPowerLimitW", 700 },
        { "gClockSmMhz", 1979 },
        { "gClockMemMhz", 2619 },
        { "gPcieTxKbps", 123456 },
        { "gPcieRxKbps", 654321 },
        { "gEccSingleBitErrors", 1 },
        { "gEccDoubleBitErrors", 2 },
        { "gProcessCount", 2 },
        { "gXidCount", 0 },
        { "gTemperatureMemC", 70 },
        { "gThrottleReasons", 0x44 },
        { "gNvlinkActive", 2 },
        { "gViolationPower", 1000 },
        { "gViolationThermal", 2000 },
        { "gViolationSync", 3000 },
        { "gViolationBoard", 4000 },
        { "gViolationReliability", 5000 },
        { "gRemappedRowsCorrectable", 5 },
        { "gRemappedRowsUncorrectable", 6 },
        { "gRemapPending", 1 },
        { "gRemapFailed", 0 },
        { "gEccSingleBitLifetime", 11 },
        { "gEccDoubleBitLifetime", 12 },
        { "gRetiredPagesSingle", 4 },
        { "gRetiredPagesDouble", 0 },
        { "gMemoryReservedMb", 512 },
        { "gClockVideoMhz", 1500 },
        { "gUtilizationEncoder", 7 },
        { "gUtilizationDecoder", 8 },
        { "gPcieGeneration", 5 },
        { "gPcieWidth", 16 },
        { "gPcieReplays", 3 },
        { "gPcieTxBytes", 111 },
        { "gPcieRxBytes", 222 },
        { "gNvlinkTxBytes", 1048576 * 1024.0 }, /* the driver counts KiB */
        { "gNvlinkRxBytes", 2097152 * 1024.0 },
        { "gPowerInstantW", 498 },
    };
    struct collected c;
    assert_int_equal(open_collector(&c, "static-x86", "devices 1\n" SCRIPT_GPU), 0);
    collect(&c);
    const struct pt_batch *b = &c.rows[0];
    assert_int_equal(b->row_count, 1);
    for (size_t i = 0; i < PT_COUNT(expected); i++)
        assert_cell(b, 0, expected[i].name, expected[i].value);
    assert_int_equal(pt_get_i64(b, 0, column_of(b, "gEnergyMj")), 9007199254740993);
    assert_text_cell(b, 0, "gPerfState", "P0");
    assert_text_cell(b, 0, "gThrottle", "power, thermal");
    assert_text_cell(b, 0, "gVendor", "nvidia");
    assert_text_cell(b, 0, "gName", "NVIDIA H100 80GB HBM3");
    assert_text_cell(b, 0, "gState", "ok");
    assert_null_cell(b, 0, "gParentIndex");
    assert_null_cell(b, 0, "gFanRpm");
    for (int source = 0; source < 3; source++)
        assert_true(pt_get_time(b, 0, source) > 0);
    close_collector(&c);
}

static void an_instance_of_mig_has_the_numbers_of_its_parent(void **state) {
    (void)state;
    struct collected c;
    assert_int_equal(open_collector(&c, "static-x86",
                                    "devices 1\n" SCRIPT_GPU "nvmlDeviceGetMigMode 0 1:1\n"
                                    "nvmlDeviceGetMaxMigDeviceCount 0 7\n"
                                    "nvmlDeviceGetMigDeviceHandleByIndex 0 !6\n"
                                    "nvmlDeviceGetMigDeviceHandleByIndex/1 0 1\n"
                                    "nvmlDeviceGetMigDeviceHandleByIndex/2 0 1\n"
                                    "nvmlDeviceGetGpuInstanceId 0.1 0\n"
                                    "nvmlDeviceGetGpuInstanceId 0.2 5\n"
                                    "nvmlDeviceGetComputeInstanceId 0.1 0\n"),
                     0);
    collect(&c);
    const struct pt_batch *b = &c.rows[0];
    assert_int_equal(b->row_count, 3);
    assert_null_cell(b, 0, "gParentIndex");
    assert_null_cell(b, 0, "gGpuInstance");
    for (uint32_t row = 1; row < 3; row++) {
        assert_cell(b, row, "gParentIndex", 0);
        assert_cell(b, row, "gGpuInstance", row == 1 ? 0 : 5);
    }
    assert_cell(b, 1, "gComputeInstance", 0);
    assert_null_cell(b, 2, "gComputeInstance");
    close_collector(&c);
}

static void vendors_share_the_table(void **state) {
    (void)state;
    struct collected c;
    assert_int_equal(open_collector(&c, "gpu-amd", "devices 1\n" SCRIPT_GPU), 0);
    collect(&c);
    const struct pt_batch *b = &c.rows[0];
    assert_int_equal(b->row_count, 3);
    assert_text_cell(b, 1, "gVendor", "amd");
    assert_cell(b, 1, "gGpuIndex", 1);
    assert_cell(b, 1, "gUtilizationGpu", 97);
    assert_cell(b, 1, "gTemperatureHotspotC", 81);
    assert_null_cell(b, 1, "gPerfState");
    assert_null_cell(b, 2, "gUtilizationGpu"); /* asleep */
    close_collector(&c);
}

static void a_lost_gpu_keeps_its_row_without_values(void **state) {
    (void)state;
    struct collected c;
    assert_int_equal(open_collector(&c, "static-x86",
                                    "devices 2\n" SCRIPT_GPU "nvmlDeviceGetPowerUsage 1 !15\n"),
                     0);
    collect(&c);
    const struct pt_batch *b = &c.rows[0];
    assert_int_equal(b->row_count, 2);
    assert_text_cell(b, 0, "gState", "ok");
    assert_cell(b, 0, "gPowerDrawW", 512.345);
    assert_text_cell(b, 1, "gState", "lost");
    assert_null_cell(b, 1, "gUtilizationGpu");
    close_collector(&c);
}

#define SCRIPT_TWO_PROCESSES                                                       \
    "devices 1\n" SCRIPT_GPU                                                       \
    "nvmlDeviceGetComputeRunningProcesses_v3 * 200:1073741824:0,99999:2097152:0\n" \
    "nvmlDeviceGetGraphicsRunningProcesses_v3 * none\n"                            \
    "nvmlDeviceGetProcessUtilization * 200:100:20:5\n"

static void processes_are_joined_across_namespaces(void **state) {
    (void)state;
    struct collected c;
    assert_int_equal(open_collector(&c, "gpu-amd", SCRIPT_TWO_PROCESSES), 0);
    collect(&c);
    const struct pt_batch *b = &c.rows[1];
    assert_cell(b, 0, "gGpuIndex", 0);
    assert_cell(b, 0, "gHostPid", 200);
    assert_cell(b, 0, "pId", 200);
    assert_cell(b, 0, "pNsPid", 7); /* what the container calls it */
    assert_text_cell(b, 0, "pName", "worker200");
    assert_text_cell(b, 0, "gType", "compute");
    assert_cell(b, 0, "gUsedMemoryMb", 1024);
    assert_cell(b, 0, "gSmUtil", 20);
    assert_cell(b, 1, "gHostPid", 99999); /* has ended */
    assert_null_cell(b, 1, "pId");
    assert_null_cell(b, 1, "gSmUtil");
    assert_cell(b, 2, "gGpuIndex", 1); /* a DRM client: its pid is ours */
    assert_cell(b, 2, "pId", 100);
    assert_null_cell(b, 2, "gHostPid");
    close_collector(&c);
}

static void in_a_container_a_hosts_pid_is_no_stranger_of_the_same_number(void **state) {
    (void)state;
    struct collected c;
    assert_int_equal(
        open_collector(&c, "gpu-intel",
                       "devices 1\nnvmlDeviceGetComputeRunningProcesses_v3 * 50:1:0\n"),
        0);
    collect(&c);
    assert_cell(&c.rows[1], 0, "gHostPid", 50);
    assert_null_cell(&c.rows[1], 0, "pId"); /* that tree has no kthreadd: it is a container's */
    assert_null_cell(&c.rows[1], 0, "pName");
    close_collector(&c);
}

static void a_machine_without_gpu_has_none(void **state) {
    (void)state;
    struct collected c;
    assert_int_equal(open_collector(&c, "static-x86", "devices 0\n"), -ENODATA);
    close_collector(&c);
}

static json_t *static_of(void *state) {
    struct pt_out out;
    memory_open(&out);
    struct pt_json j = { .out = &out };
    pt_json_object(&j, NULL);
    pt_gpu_put_static(&j, state);
    pt_json_end(&j);
    char *text = memory_text(&out);
    json_t *root = parsed(text);
    pt_free(text);
    return root;
}

static void the_static_file_names_the_gpus(void **state) {
    (void)state;
    struct collected c;
    assert_int_equal(open_collector(&c, "gpu-amd", "devices 1\n" SCRIPT_GPU), 0);
    json_t *root = static_of(c.state), *nvidia = at(root, "nvidia");
    assert_text(nvidia, "gDriverVersion", "550.54.15");
    assert_text(nvidia, "gCudaVersion", "12.4");
    assert_int_equal(json_array_size(at(nvidia, "gpus")), 1);
    json_t *gpu = json_array_get(at(nvidia, "gpus"), 0);
    assert_text(gpu, "gName", "NVIDIA H100 80GB HBM3");
    assert_text(gpu, "gUuid", "GPU-11111111");
    assert_number(gpu, "gTotalMemoryMb", 81920);
    assert_text(gpu, "gPciBusId", "0000:3b:00.0");
    assert_number(gpu, "gMaxGraphicsClock", 1981);
    assert_number(gpu, "gMaxSmClock", 1982);
    assert_number(gpu, "gMaxMemClock", 2620);
    assert_text(gpu, "gVendor", "nvidia");
    assert_null(json_object_get(gpu, "gParentIndex"));      /* of MIG instances alone */
    assert_int_equal(json_array_size(at(root, "gpus")), 2); /* of other vendors */
    json_decref(root);
    close_collector(&c);
}

static void what_a_gpu_does_not_tell_is_null_in_the_static_file(void **state) {
    (void)state;
    static const char *const unknown[] = { "gName",          "gUuid",
                                           "gTotalMemoryMb", "gMaxGraphicsClock",
                                           "gMaxSmClock",    "gMaxMemClock" };
    struct collected c;
    assert_int_equal(open_collector(&c, "static-x86", "devices 1\n"), 0);
    json_t *root = static_of(c.state), *nvidia = at(root, "nvidia");
    assert_true(json_is_null(at(nvidia, "gDriverVersion")));
    assert_true(json_is_null(at(nvidia, "gCudaVersion")));
    json_t *gpu = json_array_get(at(nvidia, "gpus"), 0);
    assert_text(gpu, "gVendor", "nvidia");
    for (size_t i = 0; i < PT_COUNT(unknown); i++) {
        assert_non_null(json_object_get(gpu, unknown[i]));
        if (!json_is_null(at(gpu, unknown[i])))
            fail_msg("%s is not null", unknown[i]);
    }
    json_decref(root);
    close_collector(&c);
}

static void without_gpus_the_sections_are_there_and_empty(void **state) {
    (void)state;
    json_t *root = static_of(NULL);
    assert_true(json_is_null(at(at(root, "nvidia"), "gDriverVersion")));
    assert_int_equal(json_array_size(at(at(root, "nvidia"), "gpus")), 0);
    assert_int_equal(json_array_size(at(root, "gpus")), 0);
    json_decref(root);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(the_clock_level_with_a_star_is_the_current_one,
                "the clock level with a star is the current one"),
        PT_TEST(link_speeds_are_generations, "link speeds are generations"),
        PT_TEST(the_metrics_file_is_read_by_its_revision,
                "the metrics file of amdgpu is read by its revision"),
        PT_TEST(what_the_chip_does_not_tell_is_absent, "what the chip does not tell is absent"),
        PT_TEST(a_grown_revision_gives_only_what_is_certain,
                "a revision that has grown gives only what is certain"),
        PT_TEST(a_cut_or_unknown_metrics_file_is_refused,
                "a cut or unknown metrics file is refused"),
        PT_TEST(an_amd_card_is_read_from_its_files, "an AMD card is read from its files"),
        PT_TEST(a_card_that_sleeps_is_not_woken, "a card that sleeps is not woken"),
        PT_TEST(a_desktop_radeon, "a desktop Radeon has all its values"),
        PT_TEST(a_radeon_whose_metrics_file_is_padded,
                "the metrics file of a Radeon may be padded"),
        PT_TEST(a_radeon_in_a_processor, "a Radeon inside a processor has its values"),
        PT_TEST(a_radeon_without_a_metrics_file, "a Radeon without a metrics file"),
        PT_TEST(an_intel_arc, "an Intel Arc has its values"),
        PT_TEST(two_cards_of_two_vendors, "two cards of two vendors are told apart"),
        PT_TEST(intel_cards_of_both_drivers, "Intel cards of both drivers"),
        PT_TEST(a_client_without_id_or_place_is_none, "a DRM client without id or place is none"),
        PT_TEST(the_best_size_of_a_region_counts, "the best size of a region counts"),
        PT_TEST(a_shared_client_counts_once, "a shared DRM client counts once"),
        PT_TEST(rocm_processes_come_from_kfd, "ROCm processes come from KFD"),
        PT_TEST(clients_of_xe_have_cycles, "DRM clients of xe have cycles"),
        PT_TEST(the_thread_publishes_readings, "C206: the GPU thread publishes readings"),
        PT_TEST(the_same_reading_is_not_copied_twice, "C204: the same reading is not copied twice"),
        PT_TEST(while_a_call_hangs_the_last_reading_stands,
                "C207: while a call hangs the last reading stands"),
        PT_TEST(stopping_does_not_wait_for_a_hanging_call,
                "stopping does not wait for a hanging call"),
        PT_TEST(a_driver_that_hangs_from_the_start_is_waited_for_in_vain,
                "a driver that hangs from the start does not hold up the run"),
        PT_TEST(without_gpus_there_is_no_thread,
                "C115 C200 C202: without GPUs there is no thread, and a reason"),
        PT_TEST(a_row_has_the_names_users_know,
                "C105 C106 C107 C108 C109 C110 C111 C112 C113 C116: "
                "a row has the names users know"),
        PT_TEST(an_instance_of_mig_has_the_numbers_of_its_parent,
                "C113: an instance of MIG is a row with its parent and its numbers"),
        PT_TEST(vendors_share_the_table, "C114: vendors share the table"),
        PT_TEST(a_lost_gpu_keeps_its_row_without_values,
                "C115: a lost GPU keeps its row without values"),
        PT_TEST(processes_are_joined_across_namespaces,
                "C116: processes are joined across pid namespaces"),
        PT_TEST(in_a_container_a_hosts_pid_is_no_stranger_of_the_same_number,
                "C116: in a container a host pid is not confused with a process there"),
        PT_TEST(a_machine_without_gpu_has_none, "C115: a machine without GPU has none"),
        PT_TEST(the_static_file_names_the_gpus, "C130: the static file names the GPUs"),
        PT_TEST(what_a_gpu_does_not_tell_is_null_in_the_static_file,
                "C130: what a GPU does not tell is null in the static file"),
        PT_TEST(without_gpus_the_sections_are_there_and_empty,
                "C130: without GPUs the sections are there and empty"),
    };
    return cmocka_run_group_tests(tests, NULL, stop_playing);
}
