/* base/json.h -- writes JSON as a stream; takes care of commas and nesting.
 *
 *     struct pt_json j = { .out = &out };
 *     pt_json_object(&j, NULL);
 *     pt_json_i64(&j, "samples", 60);
 *     pt_json_array(&j, "tags"); pt_json_str(&j, NULL, tag); pt_json_end(&j);
 *     pt_json_end(&j);
 *
 * `key` is NULL inside arrays and at the top level. Non-finite numbers become null; bytes that are
 * not UTF-8 become U+FFFD. */
#ifndef PT_BASE_JSON_H
#define PT_BASE_JSON_H

#include "base/out.h"

#define PT_JSON_DEPTH 32

struct pt_json {
    struct pt_out *out;
    int indent; /* blanks per level; 0 = one line */
    /* If strings have words of others, pt_mask_value(), which hides secrets in them; or NULL. */
    void (*mask)(struct pt_buf *out, struct pt_str name, struct pt_str value);
    int depth;
    bool has_items[PT_JSON_DEPTH], is_array[PT_JSON_DEPTH];
};

void pt_json_object(struct pt_json *j, const char *key);
void pt_json_array(struct pt_json *j, const char *key);
void pt_json_end(struct pt_json *j);
void pt_json_str(struct pt_json *j, const char *key, struct pt_str value);
void pt_json_text(struct pt_json *j, const char *key, const char *value); /* NULL is null */
void pt_json_i64(struct pt_json *j, const char *key, int64_t value);
void pt_json_f64(struct pt_json *j, const char *key, double value);
/* The same, but a whole number has a fraction: 2.0. */
void pt_json_float(struct pt_json *j, const char *key, double value);
void pt_json_bool(struct pt_json *j, const char *key, bool value);
void pt_json_null(struct pt_json *j, const char *key);
/* The text is JSON already and is copied as it is. */
void pt_json_raw(struct pt_json *j, const char *key, struct pt_str json);

/* Writes only a string, with quotes and escapes. */
void pt_json_quote(struct pt_out *out, struct pt_str value);

#endif
