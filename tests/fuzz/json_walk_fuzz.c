/* Any bytes as JSON: values lie inside the text or are decoded, paths end, and nothing is read
 * beyond. */
#include "base/json_walk.h"

#include <assert.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_value(void *arg, const char *path, struct pt_json_value value) {
    const struct pt_str *text = arg;
    assert(strlen(path) < PT_JSON_PATH_MAX);
    assert(value.text.len <= text->len); /* what an escape stands for is never longer */
    volatile char last = 0;
    for (size_t i = 0; i < value.text.len; i++)
        last = value.text.at[i];
    (void)last;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_str text = { (const char *)data, size };
    int rc = pt_json_walk(text, check_value, &text);
    return rc > 0;
}
