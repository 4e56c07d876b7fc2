#include "http/server_json.h"

#include "base/mem.h"

#include <errno.h>
#include <jansson.h>

static const char *const kind_names[] = { "a string", "an integer", "a number", "true or false" };

static bool read_text(const json_t *value, char **into) {
    struct pt_str text = { json_string_value(value), json_string_length(value) };
    if (!json_is_string(value))
        return false;
    pt_free(*into);
    *into = pt_strndup(text);
    return true;
}

static bool read_field(const json_t *value, enum pt_http_field_kind kind, void *into) {
    switch (kind) {
    case PT_HTTP_TEXT:
        return read_text(value, into);
    case PT_HTTP_I64:
        *(int64_t *)into = json_integer_value(value);
        return json_is_integer(value);
    case PT_HTTP_F64:
        *(double *)into = json_number_value(value);
        return json_is_number(value);
    case PT_HTTP_BOOL:
        *(bool *)into = json_is_true(value);
        return json_is_boolean(value);
    }
    return false;
}

static int read_fields(const json_t *object, const struct pt_http_field *fields, size_t count,
                       char *into, struct pt_err *err) {
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_object_get(object, fields[i].name);
        if (!value || json_is_null(value))
            continue;
        if (!read_field(value, fields[i].kind, into + fields[i].offset))
            return pt_fail(err, -EINVAL, "'%s' must be %s", fields[i].name,
                           kind_names[fields[i].kind]);
    }
    return 0;
}

int pt_http_json_read(struct pt_str text, const struct pt_http_field *fields, size_t count,
                      void *into, struct pt_err *err) {
    json_error_t error;
    json_t *object = json_loadb(text.len ? text.at : "", text.len, JSON_REJECT_DUPLICATES, &error);
    int rc;
    if (!object)
        rc = pt_fail(err, -EINVAL, "bad JSON in line %d, column %d: %s", error.line, error.column,
                     error.text);
    else if (!json_is_object(object))
        rc = pt_fail(err, -EINVAL, "the body must be a JSON object");
    else
        rc = read_fields(object, fields, count, into, err);
    json_decref(object);
    return rc;
}
