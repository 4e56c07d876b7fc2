/* A region with any bytes in it: the reader stays inside and what it hands out is well formed. */
#include "inside/region/reader.h"

#include "base/mem.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Large and mostly zero: made once, the parts that inputs reach are cleared each time. */
static struct pt_region_layout *cleared_region(void) {
    static struct pt_region_layout *region;
    if (!region)
        region = pt_calloc(1, sizeof *region);
    memset(region, 0, offsetof(struct pt_region_layout, threads));
    for (int i = 0; i < 3; i++)
        memset(&region->threads[i], 0, 8192);
    return region;
}

static void fill_header(struct pt_region_header *h) {
    h->magic = PT_REGION_MAGIC;
    h->version = PT_REGION_VERSION;
    h->header_size = sizeof *h;
    h->size = sizeof(struct pt_region_layout);
    h->name_size = sizeof(struct pt_region_name);
    h->metric_size = sizeof(struct pt_region_metric);
    h->thread_size = sizeof(struct pt_region_thread);
    h->shard_size = sizeof(struct pt_region_shard);
}

/* Words of the input say where in the region the words after them go. */
static void scatter(struct pt_region_layout *region, const uint8_t *data, size_t size) {
    const size_t starts[] = { offsetof(struct pt_region_layout, header.pid),
                              offsetof(struct pt_region_layout, names[1]),
                              offsetof(struct pt_region_layout, metrics[1]),
                              offsetof(struct pt_region_layout, threads[0]),
                              offsetof(struct pt_region_layout, threads[1]),
                              offsetof(struct pt_region_layout, threads[2].shards) };
    while (size >= 4) {
        size_t place = starts[data[0] % PT_COUNT(starts)] + 4u * data[1] + 256u * (data[2] % 8);
        size_t count = data[3] % 64u;
        data += 4;
        size -= 4;
        count = count < size ? count : size;
        memcpy((uint8_t *)region + place, data, count);
        data += count;
        size -= count;
    }
}

static void check_spans(struct pt_region *r) {
    static struct pt_region_span_record spans[256];
    char name[sizeof((struct pt_region_name *)NULL)->text + 1];
    size_t total = 0, count;
    while ((count = pt_region_take_spans(r, spans, 256)) > 0) {
        pt_region_follow(r);
        for (size_t i = 0; i < count; i++) {
            assert(spans[i].name > 0 && spans[i].name < PT_REGION_NAMES);
            pt_region_copy_name(r, spans[i].name, name);
            assert(memchr(name, '\0', sizeof name));
            (void)pt_region_mono_ns(r, spans[i].start_ticks);
        }
        total += count;
        assert(total <= (size_t)PT_REGION_SPANS * PT_REGION_THREADS);
    }
}

static void check_peek(struct pt_region *r) {
    static struct pt_region_span_record spans[256];
    struct pt_region_cursor cursor = { 0 };
    size_t total = 0, count;
    while ((count = pt_region_peek_spans(r, &cursor, spans, 256)) > 0) {
        for (size_t i = 0; i < count; i++)
            assert(spans[i].name > 0 && spans[i].name < PT_REGION_NAMES);
        total += count;
        assert(total <= (size_t)PT_REGION_SPANS * PT_REGION_THREADS);
    }
}

static void check_metrics(const struct pt_region *r) {
    static struct pt_region_value v;
    uint32_t count = pt_region_metric_count(r);
    assert(count <= PT_REGION_METRICS);
    for (uint32_t i = 0; i <= count; i++)
        if (pt_region_read_metric(r, i, &v)) {
            assert(memchr(v.name, '\0', sizeof v.name) && memchr(v.labels, '\0', sizeof v.labels));
            (void)pt_bucket_quantile(v.buckets, v.used, 0.5);
        }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_region_layout *region = cleared_region();
    struct pt_region r;
    fill_header(&region->header);
    scatter(region, data, size);
    if (pt_region_attach(&r, region, sizeof *region))
        return 0;
    check_peek(&r);
    check_spans(&r);
    check_metrics(&r);
    (void)pt_region_dropped(&r);
    pt_region_close(&r);
    return 0;
}
