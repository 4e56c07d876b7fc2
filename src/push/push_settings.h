/* push/push_settings.h -- push receivers and credentials: options and OTEL_* variables. */
#ifndef PT_PUSH_PUSH_SETTINGS_H
#define PT_PUSH_PUSH_SETTINGS_H

#include "base/buf.h"
#include "base/err.h"
#include "push/queue.h"

#include <stdint.h>

#define PT_PUSH_LABELS_MAX 32

struct pt_push_options {
    const char *remote_write;    /* URL of a receiver; NULL: none */
    const char *otlp;            /* URL, or "off"; NULL: use OTEL_EXPORTER_OTLP_* */
    const char *state_directory; /* NULL: pitot in $XDG_STATE_HOME, else in ~/.local/state */
    const char *token_file;      /* NULL: none */
    const char *const *labels;   /* "name=value" */
    size_t label_count;
    bool has_processes; /* also series of single processes */
    bool has_native;    /* native histograms by remote write, instead of classic buckets */
    struct pt_push_queue_bounds bounds;
};

struct pt_push_label {
    char *name, *value;
};

struct pt_push_settings {
    char *remote_write, *otlp; /* complete URLs, or NULL */
    char *state_directory, *token_file;
    struct pt_push_label labels[PT_PUSH_LABELS_MAX]; /* of all series, sorted by name */
    size_t label_count;
    struct pt_push_label *attributes; /* of the resource, for OTLP */
    size_t attribute_count, attribute_capacity;
    struct pt_push_label *headers; /* of OTLP requests */
    size_t header_count, header_capacity;
    int64_t otlp_timeout_ns;
    bool is_otlp_plain; /* not compressed */
    bool has_processes, has_native;
    struct pt_push_queue_bounds bounds;
    char warning[256]; /* unusable settings of variables, or "" */
};

/* 0 or -EINVAL with a message. Release also after a failure. */
int pt_push_settings_read(struct pt_push_settings *s, const struct pt_push_options *options,
                          struct pt_err *err) PT_MUST_CHECK;
void pt_push_settings_release(struct pt_push_settings *s);

/* A URL for messages: without user and password. */
void pt_push_url_shown(const char *url, char *into, size_t capacity);

#endif
