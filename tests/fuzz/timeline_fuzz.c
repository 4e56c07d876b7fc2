/* Any bytes as a file of rocprofv3 or torch: whatever is found has times that can be, gaps lie
 * between kernels, and all of it can be printed. */
#include "gputrace/rocprof.h"
#include "gputrace/gpu_summary.h"
#include "gputrace/torch.h"

#include "base/buf.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_order(const struct pt_timeline *t) {
    for (size_t i = 0; i < t->count; i++) {
        const struct pt_timeline_event *e = &t->events[i];
        assert(e->duration_ns >= 0 && e->name < t->names.count);
        assert(i == 0 || e[-1].start_ns + e[-1].duration_ns <= e->start_ns + e->duration_ns);
    }
    for (size_t i = 0; i < t->gap_count; i++) {
        const struct pt_timeline_gap *g = &t->gaps[i];
        assert(g->duration_ns > 0 && g->copying_ns >= 0 && g->copying_ns <= g->duration_ns);
        assert(g->before < t->names.count && g->after < t->names.count);
    }
}

static void check(int (*read)(struct pt_timeline *t, struct pt_str text), struct pt_str text) {
    static const struct pt_timeline_run run = { .first_mono_ns = 1000000, .last_mono_ns = 2000000 };
    struct pt_timeline t = { 0 };
    struct pt_buf printed = { 0 };
    struct pt_out out;
    (void)!read(&t, text);
    (void)pt_timeline_align(&t, 0, &run);
    pt_timeline_finish(&t);
    check_order(&t);
    pt_out_memory(&out, &printed);
    pt_timeline_print(&t, 0, 5, &out);
    (void)pt_out_close(&out);
    pt_buf_release(&printed);
    pt_timeline_release(&t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_str text = { size > 0 ? (const char *)data : "", size };
    check(pt_rocprof_read, text);
    check(pt_torch_read, text);
    return 0;
}
