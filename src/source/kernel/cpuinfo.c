/* source/kernel/cpuinfo.c -- /proc/cpuinfo, which looks different on each architecture:
 *
 *     x86:   processor       : 0                     arm64:  processor       : 0
 *            vendor_id       : AuthenticAMD                  Features        : fp asimd sve bf16
 *            model name      : AMD EPYC                      CPU implementer : 0x41
 *            physical id     : 0                             CPU part        : 0xd40
 *            cpu cores       : 2
 *            flags           : fpu sse avx2 hypervisor
 */
#include "source/kernel/cpuinfo.h"

#include "base/attr.h"

#include <assert.h>
#include <stdio.h>

#define SOCKETS_MAX 64

const char *const pt_cpu_flags[] = {
    "sse4_2",   "avx",         "avx2",        "fma",         "f16c",    "avx_vnni", "avx512f",
    "avx512bw", "avx512_vnni", "avx512_bf16", "avx512_fp16", "avx10",   "amx_tile", "amx_int8",
    "amx_bf16", "amx_fp16",    "asimd",       "asimdhp",     "asimddp", "sve",      "sve2",
    "i8mm",     "bf16",        "svei8mm",     "svebf16",     "sme",     "sme2",
};
const int pt_cpu_flag_count = (int)PT_COUNT(pt_cpu_flags);
static_assert(PT_COUNT(pt_cpu_flags) <= 64, "a bit each");

/* arm64 has numbers instead of names. */
static const struct {
    unsigned implementer, part;
    const char *vendor, *type;
} arm_parts[] = {
    { 0x41, 0xd03, "ARM", "Cortex-A53" },        { 0x41, 0xd07, "ARM", "Cortex-A57" },
    { 0x41, 0xd08, "ARM", "Cortex-A72" },        { 0x41, 0xd0b, "ARM", "Cortex-A76" },
    { 0x41, 0xd0c, "ARM", "Neoverse-N1" },       { 0x41, 0xd40, "ARM", "Neoverse-V1" },
    { 0x41, 0xd42, "ARM", "Cortex-A78AE" },      { 0x41, 0xd49, "ARM", "Neoverse-N2" },
    { 0x41, 0xd4f, "ARM", "Neoverse-V2" },       { 0x41, 0xd83, "ARM", "Neoverse-V3AE" },
    { 0x41, 0xd84, "ARM", "Neoverse-V3" },       { 0x41, 0xd85, "ARM", "Cortex-X925" },
    { 0x41, 0xd8e, "ARM", "Neoverse-N3" },       { 0x46, 0x001, "Fujitsu", "A64FX" },
    { 0x48, 0xd01, "HiSilicon", "Kunpeng-920" }, { 0x4e, 0x004, "NVIDIA", "Carmel" },
    { 0x61, 0x022, "Apple", "M1 Icestorm" },     { 0x61, 0x023, "Apple", "M1 Firestorm" },
    { 0xc0, 0xac3, "Ampere", "Ampere-1" },       { 0xc0, 0xac4, "Ampere", "Ampere-1a" },
};

struct reader {
    struct pt_cpuinfo *info;
    uint64_t sockets_seen; /* bit per physical id */
    uint64_t implementer, part;
    int64_t cores_per_socket;
};

static void take_text(char *into, size_t capacity, struct pt_scan value) {
    pt_scan_blanks(&value);
    if (!into[0])
        pt_str_copy(into, capacity, pt_scan_rest(&value));
}

static void read_vendor(struct reader *r, struct pt_scan value) {
    take_text(r->info->vendor, sizeof r->info->vendor, value);
}

static void read_type(struct reader *r, struct pt_scan value) {
    take_text(r->info->type, sizeof r->info->type, value);
}

static void read_processor(struct reader *r, struct pt_scan value) {
    (void)pt_scan_u64(&value);
    if (!value.failed)
        r->info->processor_count++;
}

static void read_socket(struct reader *r, struct pt_scan value) {
    uint64_t id = pt_scan_u64(&value);
    if (!value.failed && id < SOCKETS_MAX)
        r->sockets_seen |= UINT64_C(1) << id;
}

static void read_cores(struct reader *r, struct pt_scan value) {
    int64_t cores = pt_scan_i64(&value);
    if (!value.failed && cores > 0 && cores < 4096)
        r->cores_per_socket = cores;
}

/* "hypervisor" is a flag too. All processors have the same ones: the first line is enough. */
static void read_flags(struct reader *r, struct pt_scan value) {
    if (r->info->processor_count > 1)
        return;
    for (struct pt_str word = pt_scan_word(&value); !value.failed; word = pt_scan_word(&value)) {
        if (pt_str_eq(word, PT_STR("hypervisor")))
            r->info->is_guest = true;
        for (size_t i = 0; i < PT_COUNT(pt_cpu_flags); i++) {
            if (pt_str_eq(word, pt_str_from(pt_cpu_flags[i])))
                r->info->flags |= UINT64_C(1) << i;
        }
    }
}

static void read_x86_flags(struct reader *r, struct pt_scan value) {
    r->info->is_x86 = true;
    read_flags(r, value);
}

static uint64_t read_hex(struct pt_scan value) {
    pt_scan_blanks(&value);
    (void)pt_scan_take(&value, PT_STR("0x"));
    return pt_scan_hex(&value);
}

static void read_implementer(struct reader *r, struct pt_scan value) {
    r->implementer = read_hex(value);
}

/* The last one stays: big cores follow the small ones. */
static void read_part(struct reader *r, struct pt_scan value) {
    r->part = read_hex(value);
}

static const struct {
    const char *key;
    void (*read)(struct reader *r, struct pt_scan value);
} keys[] = {
    { "processor", read_processor }, { "vendor_id", read_vendor },
    { "model name", read_type },     { "physical id", read_socket },
    { "cpu cores", read_cores },     { "flags", read_x86_flags },
    { "Features", read_flags },      { "CPU implementer", read_implementer },
    { "CPU part", read_part },
};

static void read_line(struct reader *r, struct pt_scan line) {
    struct pt_str key = pt_scan_until(&line, ':');
    while (key.len > 0 && (key.at[key.len - 1] == '\t' || key.at[key.len - 1] == ' '))
        key.len--;
    for (size_t i = 0; i < PT_COUNT(keys) && !line.failed; i++) {
        if (pt_str_eq(key, pt_str_from(keys[i].key)))
            keys[i].read(r, line);
    }
}

static void name_arm_part(const struct reader *r) {
    struct pt_cpuinfo *info = r->info;
    if (r->part == 0)
        return;
    for (size_t i = 0; i < PT_COUNT(arm_parts); i++) {
        if (arm_parts[i].implementer != r->implementer || arm_parts[i].part != r->part)
            continue;
        take_text(info->vendor, sizeof info->vendor, pt_scan_of(pt_str_from(arm_parts[i].vendor)));
        take_text(info->type, sizeof info->type, pt_scan_of(pt_str_from(arm_parts[i].type)));
    }
    if (!info->type[0])
        snprintf(info->type, sizeof info->type, "ARM implementer 0x%x part 0x%x",
                 (unsigned)r->implementer, (unsigned)r->part);
}

void pt_cpuinfo_parse(struct pt_scan text, struct pt_cpuinfo *into) {
    *into = (struct pt_cpuinfo){ 0 };
    struct reader r = { .info = into };
    struct pt_scan line;
    while (pt_scan_line(&text, &line))
        read_line(&r, line);
    into->socket_count = __builtin_popcountll(r.sockets_seen);
    into->core_count = (int)r.cores_per_socket * into->socket_count;
    name_arm_part(&r);
}
