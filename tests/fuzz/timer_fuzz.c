/* A file of libpitot-cpu.so with any bytes in it: the reader stays inside, counts stay counts. */
#include "profile/sample/timer_session.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define WHOLE   (sizeof(struct pt_preload_header) + PT_PRELOAD_RING_BYTES)
#define REACHED 16384u

/* Large and mostly zero: made once, the part that inputs reach is cleared each time. */
static uint8_t *cleared_file(void) {
    static uint8_t *file;
    if (!file)
        file = pt_calloc(1, WHOLE);
    memset(file, 0, sizeof(struct pt_preload_header) + REACHED);
    return file;
}

/* Records: their kind, flags and length, then their content; stamped so that they are read. */
static void write_records(struct pt_preload_header *h, const uint8_t *data, size_t size) {
    static const uint16_t kinds[] = { PT_PRELOAD_CPU, PT_PRELOAD_CPU_REST, PT_PRELOAD_MAPS,
                                      PT_PRELOAD_CODE };
    uint8_t *ring = (uint8_t *)(h + 1);
    while (size >= 3 && h->claimed + 1024 <= REACHED) {
        size_t length = (size_t)data[2] * 3 < size - 3 ? (size_t)data[2] * 3 : size - 3;
        size_t whole = (sizeof(struct pt_preload_record) + length + 15) & ~(size_t)15;
        uint16_t kind = data[0] & 4 ? data[0] : kinds[data[0] % PT_COUNT(kinds)];
        struct pt_preload_record r = { h->claimed ^ PT_PRELOAD_STAMP, (uint32_t)whole, kind,
                                       data[1] };
        memcpy(ring + h->claimed, &r, sizeof r);
        memcpy(ring + h->claimed + sizeof r, data + 3, length);
        h->claimed += whole;
        data += 3 + length;
        size -= 3 + length;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_preload_header *h = (struct pt_preload_header *)(void *)cleared_file();
    struct pt_preload_source source;
    struct pt_timer_session session = { .period_ns = 1000000 };
    /* no process of this number: nothing of this machine is read */
    struct pt_fs fs = { .proc = -1, .sys = -1, .root = -1 };
    if (size < 2)
        return 0;
    *h = (struct pt_preload_header){ .magic = PT_PRELOAD_MAGIC,
                                     .version = PT_PRELOAD_VERSION,
                                     .header_size = sizeof *h,
                                     .size = WHOLE,
                                     .ring_offset = sizeof *h,
                                     .ring_size = PT_PRELOAD_RING_BYTES,
                                     .mean_bytes = 1000000,
                                     .pid = INT32_MAX };
    write_records(h, data + 1, size - 1);
    if (data[0] & 2)
        memcpy((uint8_t *)h + 128, data + 1, size - 1 < 256 ? size - 1 : 256);
    if (pt_preload_source_attach(&source, h, WHOLE))
        return 0;
    pt_recording_init(&session.recording, &fs, NULL, false, 1000000);
    uint32_t number = pt_timer_session_add(&session, &source);
    pt_timer_session_read(&session, number, &source, data[0] & 1);
    pt_timer_session_read(&session, number, &source, true);
    const struct pt_profile *p = &session.recording.profile;
    for (size_t i = 0; i < p->samples.count; i++)
        assert(pt_profile_value(p, i, 0) >= 0);
    pt_preload_source_close(&source);
    pt_recording_release(&session.recording);
    pt_free(session.processes);
    return 0;
}
