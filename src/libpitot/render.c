/* libpitot/render.c -- the metrics of the process as text, for the program's own /metrics. */
#include "libpitot/drain.h"
#include "libpitot/metric_families.h"
#include "format/metrics/exposition.h"

#include <errno.h>
#include <stdlib.h>

const char *pt_content_type(enum pt_exposition_format format) {
    return pt_exposition_type(format);
}

enum pt_exposition_format pt_negotiate(const char *accept) {
    return pt_exposition_negotiate(accept);
}

/* Guarded by the view, which one thread has at a time. */
static char buffer[PT_OUT_BUFFER];
static size_t last_length; /* of a text, with its zero */

/* The last size and some more: growing memory is copied, and its pages are new. */
static int reserve(struct pt_text_memory *into) {
    size_t capacity = last_length + last_length / 16;
    into->at = capacity > 0 ? malloc(capacity) : NULL;
    into->capacity = into->at ? capacity : 0;
    return into->at || capacity == 0 ? 0 : -ENOMEM;
}

static int write_families(struct pt_text_memory *into, enum pt_exposition_format format,
                          const struct pt_metric_families_view *view) {
    struct pt_out out;
    struct pt_exposition e;
    int rc = reserve(into);
    if (rc)
        return rc;
    pt_out_through(&out, buffer, pt_drain_memory, into);
    pt_exposition_begin(&e, &out, format);
    for (size_t i = 0; i < view->family_count; i++)
        pt_exposition_family(&e, &view->families[i]);
    pt_exposition_end(&e);
    pt_out_char(&out, '\0');
    pt_out_flush(&out);
    last_length = into->length;
    return out.error;
}

static int render(struct pt_text_memory *into, enum pt_exposition_format format) {
    struct pt_metric_families_view view;
    int rc = pt_metric_families_read(&view);
    if (rc)
        return rc;
    rc = write_families(into, format, &view);
    pt_metric_families_release(&view);
    return rc;
}

char *pt_render(enum pt_exposition_format format, size_t *length) {
    int saved_errno = errno;
    struct pt_text_memory text = { 0 };
    if (render(&text, format)) {
        free(text.at);
        text = (struct pt_text_memory){ .length = 1 };
    }
    if (length)
        *length = text.length - 1;
    errno = saved_errno;
    return text.at;
}
