/* monitor/render.c -- the metrics of the process as text, for the program's own /metrics. */
#include "monitor/drain.h"
#include "monitor/metrics.h"
#include "wire/exposition.h"

#include <errno.h>
#include <stdlib.h>

const char *pt_content_type(enum pt_exposition_format format) {
    return pt_exposition_type(format);
}

enum pt_exposition_format pt_negotiate(const char *accept) {
    return pt_exposition_negotiate(accept);
}

static int write_families(struct pt_memory *into, enum pt_exposition_format format,
                          const struct pt_metrics_view *view, char *buffer) {
    struct pt_out out;
    struct pt_exposition e;
    pt_out_through(&out, buffer, pt_drain_memory, into);
    pt_exposition_begin(&e, &out, format);
    for (size_t i = 0; i < view->family_count; i++)
        pt_exposition_family(&e, &view->families[i]);
    pt_exposition_end(&e);
    pt_out_flush(&out);
    return out.error ? out.error : pt_drain_memory(into, "", 1);
}

static int render(struct pt_memory *into, enum pt_exposition_format format) {
    struct pt_metrics_view view;
    char *buffer = malloc(PT_OUT_BUFFER);
    int rc = buffer ? pt_metrics_read(&view) : -ENOMEM;
    if (!rc) {
        rc = write_families(into, format, &view, buffer);
        pt_metrics_release(&view);
    }
    free(buffer);
    return rc;
}

char *pt_render(enum pt_exposition_format format, size_t *length) {
    int saved_errno = errno;
    struct pt_memory text = { 0 };
    if (render(&text, format)) {
        free(text.at);
        text = (struct pt_memory){ .length = 1 };
    }
    if (length)
        *length = text.length - 1;
    errno = saved_errno;
    return text.at;
}
