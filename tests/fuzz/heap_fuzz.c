/* A heap file with any bytes in it: the reader stays inside, and the sums stay sums. */
#include "profile/heap/heap.h"
#include "profile/heap/leaks.h"

#include "base/fs.h"

#include <assert.h>
#include <fcntl.h>
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STACKS_OFFSET (sizeof(struct pt_preload_header) + PT_PRELOAD_RING_BYTES)
#define NODES_OFFSET  (STACKS_OFFSET + PT_HEAP_STACKS * sizeof(struct pt_heap_stack))
#define WHOLE         (NODES_OFFSET + PT_HEAP_NODES * sizeof(struct pt_heap_node))
#define REACHED       16384u /* of each part */

/* Large and mostly zero: made once, the parts that inputs reach are cleared each time. */
static uint8_t *cleared_file(void) {
    static uint8_t *file;
    const size_t starts[] = { 0, sizeof(struct pt_preload_header), STACKS_OFFSET, NODES_OFFSET };
    if (!file)
        file = pt_calloc(1, WHOLE);
    for (size_t i = 0; i < PT_COUNT(starts); i++)
        memset(file + starts[i], 0, REACHED);
    return file;
}

static void fill_header(struct pt_preload_header *h, bool is_every) {
    *h = (struct pt_preload_header){ .magic = PT_PRELOAD_MAGIC,
                                     .version = PT_PRELOAD_VERSION,
                                     .header_size = sizeof *h,
                                     .size = is_every ? WHOLE : STACKS_OFFSET,
                                     .ring_offset = sizeof *h,
                                     .ring_size = PT_PRELOAD_RING_BYTES,
                                     .stacks_offset = is_every ? STACKS_OFFSET : 0,
                                     .nodes_offset = is_every ? NODES_OFFSET : 0,
                                     .mean_bytes = is_every ? 0 : 65536,
                                     .pid = INT32_MAX,
                                     .flags = is_every ? PT_PRELOAD_EVERY : 0,
                                     .stack_count = 64 };
}

/* Records: their kind, flags and length, then their content; stamped so that they are read. */
static void write_records(struct pt_preload_header *h, const uint8_t *data, size_t size) {
    uint8_t *ring = (uint8_t *)(h + 1);
    while (size >= 3 && h->claimed + 512 <= REACHED) {
        size_t length = (size_t)data[2] * 2 < size - 3 ? (size_t)data[2] * 2 : size - 3;
        size_t whole = (sizeof(struct pt_preload_record) + length + 15) & ~(size_t)15;
        struct pt_preload_record r = { h->claimed ^ PT_PRELOAD_STAMP, (uint32_t)whole,
                                       (uint16_t)(data[0] % 8), data[1] };
        memcpy(ring + h->claimed, &r, sizeof r);
        memcpy(ring + h->claimed + sizeof r, data + 3, length);
        h->claimed += whole;
        data += 3 + length;
        size -= 3 + length;
    }
}

static void check(struct pt_heap *h) {
    pt_heap_finish(h, PT_HEAP_PEAK);
    const struct pt_profile *p = &h->recording.profile;
    assert(p->samples.count <= h->group_count);
    for (size_t i = 0; i < p->samples.count; i++)
        for (size_t type = 0; type < p->type_count; type++)
            assert(pt_profile_value(p, i, type) >= 0);
    for (size_t i = 0; i < p->growth.count; i++)
        assert(p->growth.at[i].stack < p->stacks.count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *file = cleared_file();
    struct pt_preload_header *header = (struct pt_preload_header *)(void *)file;
    struct pt_preload_source s;
    struct pt_heap h;
    /* no process of these numbers: nothing of this machine is read */
    struct pt_fs fs = { .proc = -1, .sys = -1, .root = -1 };
    if (size < 2)
        return 0;
    bool is_every = data[0] & 1;
    fill_header(header, is_every);
    if (is_every && size > 4) {
        size_t tables = size / 2;
        memcpy(file + STACKS_OFFSET, data + 1, tables < REACHED ? tables : REACHED);
        memcpy(file + NODES_OFFSET, data + 1, tables < REACHED ? tables : REACHED);
    }
    write_records(header, data + 1, size - 1);
    if (data[0] & 2)
        memcpy((uint8_t *)header + 128, data + 1, size - 1 < 256 ? size - 1 : 256);
    if (pt_preload_source_attach(&s, file, WHOLE))
        return 0;
    pt_heap_init(&h, &fs);
    uint32_t process = pt_heap_add_process(&h, &s);
    pt_heap_read(&h, process, &s, data[0] & 4, 1000000);
    pt_heap_read(&h, process, &s, true, 3000000000);
    check(&h);
    pt_preload_source_close(&s);
    pt_heap_release(&h);
    return 0;
}
