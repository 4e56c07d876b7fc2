/* Any bytes as JSON: values lie inside the text, paths end, escapes are undone, and
 * nothing is read beyond. */
#include "base/json_walk.h"

#include <assert.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_value(void *arg, const char *path, struct pt_str value) {
    const struct pt_str *text = arg;
    assert(strlen(path) < PT_JSON_PATH_MAX);
    assert(value.at >= text->at && value.at + value.len <= text->at + text->len);
    struct pt_buf plain = { 0 };
    pt_json_unescape(value, &plain);
    assert(plain.len <= value.len); /* every escape is shorter than what it stands for */
    pt_buf_release(&plain);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_str text = { (const char *)data, size };
    int rc = pt_json_walk(text, check_value, &text);
    return rc > 0;
}
