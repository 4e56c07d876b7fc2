#include "source/gpu/drm_fdinfo.h"

#include <errno.h>

/* What engines and regions of the drivers are to us. Names may go on: vram0, enc_1, vcs. */
struct meaning {
    struct pt_str name;
    enum pt_gpu_process_field field;
};

static const struct meaning engines[] = {
    { PT_STR("gfx"), PT_GPU_PROCESS_GFX_NS },         { PT_STR("render"), PT_GPU_PROCESS_GFX_NS },
    { PT_STR("compute"), PT_GPU_PROCESS_COMPUTE_NS }, { PT_STR("dma"), PT_GPU_PROCESS_COPY_NS },
    { PT_STR("copy"), PT_GPU_PROCESS_COPY_NS },       { PT_STR("enc"), PT_GPU_PROCESS_VIDEO_NS },
    { PT_STR("dec"), PT_GPU_PROCESS_VIDEO_NS },       { PT_STR("jpeg"), PT_GPU_PROCESS_VIDEO_NS },
    { PT_STR("video"), PT_GPU_PROCESS_VIDEO_NS },
};

static const struct meaning regions[] = {
    { PT_STR("vram"), PT_GPU_PROCESS_MEMORY_BYTES },
    { PT_STR("local"), PT_GPU_PROCESS_MEMORY_BYTES },
    { PT_STR("gtt"), PT_GPU_PROCESS_SHARED_BYTES },
    { PT_STR("system"), PT_GPU_PROCESS_SHARED_BYTES },
    { PT_STR("cpu"), PT_GPU_PROCESS_SHARED_BYTES },
};

/* The engines of xe that run kernels. */
static const struct pt_str cycle_engines[] = { PT_STR("rcs"), PT_STR("ccs") };

/* A driver may report the size of a region under several keys; a better one replaces the others. */
enum { SIZE_UNKNOWN, SIZE_TOTAL, SIZE_MEMORY, SIZE_RESIDENT };

static const struct {
    struct pt_str prefix;
    int rank;
} sizes[] = {
    { PT_STR("drm-resident-"), SIZE_RESIDENT },
    { PT_STR("drm-memory-"), SIZE_MEMORY },
    { PT_STR("drm-total-"), SIZE_TOTAL },
};

struct parser {
    struct pt_drm_client *client;
    int ranks[PT_GPU_PROCESS_FIELD_COUNT];
    bool has_id, has_place;
};

static const struct meaning *find_meaning(const struct meaning *list, size_t count,
                                          struct pt_str name) {
    for (size_t i = 0; i < count; i++)
        if (pt_str_starts(name, list[i].name))
            return &list[i];
    return NULL;
}

static void add(struct pt_drm_client *c, enum pt_gpu_process_field field, int64_t value) {
    int64_t sum;
    bool has_value = c->present >> field & 1;
    if (value < 0 || __builtin_add_overflow(has_value ? c->values[field] : 0, value, &sum))
        return;
    c->values[field] = sum;
    c->present |= 1u << field;
}

/* "2048 KiB"; a bare number is bytes. */
static bool scan_bytes(struct pt_scan *line, int64_t *bytes) {
    int64_t value = pt_scan_i64(line);
    pt_scan_blanks(line);
    int64_t unit = pt_scan_take(line, PT_STR("KiB"))   ? 1 << 10
                   : pt_scan_take(line, PT_STR("MiB")) ? 1 << 20
                                                       : 1;
    return !line->failed && value >= 0 && !__builtin_mul_overflow(value, unit, bytes);
}

static void take_size(struct parser *p, struct pt_str name, int rank, struct pt_scan *line) {
    const struct meaning *m = find_meaning(regions, PT_COUNT(regions), name);
    int64_t bytes;
    if (!m || rank < p->ranks[m->field] || !scan_bytes(line, &bytes))
        return;
    if (rank > p->ranks[m->field])
        p->client->present &= ~(1u << m->field);
    p->ranks[m->field] = rank;
    add(p->client, m->field, bytes);
}

static bool strip(struct pt_str *key, struct pt_str prefix) {
    if (!pt_str_starts(*key, prefix))
        return false;
    *key = pt_str_skip(*key, prefix.len);
    return true;
}

/* Cycles of an engine and those that went by are the same clock; of two engines the clocks add. */
static void take_cycles(struct parser *p, struct pt_str engine, enum pt_gpu_process_field field,
                        struct pt_scan *line) {
    int64_t cycles = pt_scan_i64(line);
    bool runs_kernels = pt_str_eq(engine, cycle_engines[0]) || pt_str_eq(engine, cycle_engines[1]);
    if (runs_kernels && !line->failed)
        add(p->client, field, cycles);
}

static void take_engine(struct parser *p, struct pt_str engine, struct pt_scan *line) {
    const struct meaning *m = find_meaning(engines, PT_COUNT(engines), engine);
    int64_t ns = pt_scan_i64(line);
    if (m && !pt_str_starts(engine, PT_STR("capacity-")) && !line->failed)
        add(p->client, m->field, ns);
}

static void take_identity(struct parser *p, struct pt_str key, struct pt_scan *line) {
    if (pt_str_eq(key, PT_STR("drm-client-id"))) {
        p->client->id = pt_scan_u64(line);
        p->has_id = !line->failed;
    } else if (pt_str_eq(key, PT_STR("drm-pdev"))) {
        struct pt_str place = pt_scan_word(line);
        p->has_place = !line->failed;
        pt_str_copy(p->client->pci_bus_id, sizeof p->client->pci_bus_id, place);
    }
}

static void take_line(struct parser *p, struct pt_str key, struct pt_scan *line) {
    if (strip(&key, PT_STR("drm-engine-"))) {
        take_engine(p, key, line);
        return;
    }
    if (strip(&key, PT_STR("drm-cycles-"))) {
        take_cycles(p, key, PT_GPU_PROCESS_CYCLES, line);
        return;
    }
    if (strip(&key, PT_STR("drm-total-cycles-"))) {
        take_cycles(p, key, PT_GPU_PROCESS_TOTAL_CYCLES, line);
        return;
    }
    for (size_t i = 0; i < PT_COUNT(sizes); i++)
        if (strip(&key, sizes[i].prefix)) {
            take_size(p, key, sizes[i].rank, line);
            return;
        }
    take_identity(p, key, line);
}

int pt_drm_fdinfo_parse(struct pt_scan text, struct pt_drm_client *client) {
    struct parser p = { .client = client };
    struct pt_scan line;
    *client = (struct pt_drm_client){ 0 };
    while (pt_scan_line(&text, &line)) {
        struct pt_str key = pt_scan_until(&line, ':');
        if (!line.failed)
            take_line(&p, key, &line);
    }
    return p.has_id && p.has_place ? 0 : -ENODATA;
}
