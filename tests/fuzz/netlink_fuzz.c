/* Any bytes as messages of the kernel: processes that begin and end, listening sockets. */
#include "source/kernel/proc_events.h"
#include "source/kernel/tcp_diag.h"

#include "base/mem.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_str message = { (const char *)data, size };
    struct pt_proc_event event;
    struct pt_tcp_sockets sockets = { 0 };
    if (pt_proc_connector_parse(message, &event))
        assert(event.kind == PT_PROC_FORK || event.kind == PT_PROC_EXEC ||
               event.kind == PT_PROC_EXIT);
    (void)!pt_taskstats_parse(message, &event);
    char *aligned = pt_malloc(size + 1); /* of that size: one byte too far is seen */
    if (size > 0)
        memcpy(aligned, data, size);
    int rc = pt_tcp_diag_take(&sockets, (struct pt_str){ aligned, size });
    assert(rc <= 1 && sockets.count <= size / 16);
    pt_free(sockets.at);
    pt_free(aligned);
    return 0;
}
