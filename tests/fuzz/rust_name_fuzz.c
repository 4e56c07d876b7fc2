/* Any bytes as a name of Rust: what comes out is not longer than allowed, and nothing comes out of
 * what is none. */
#include "profile/names/rust_name.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct pt_str mangled) {
    struct pt_buf name = { 0 };
    bool is_name = pt_rust_name(mangled, &name);
    assert(is_name || name.len == 0);
    assert(name.len <= PT_RUST_NAME_MAX);
    pt_buf_release(&name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_buf prefixed = { 0 };
    check((struct pt_str){ (const char *)data, size });
    pt_buf_str(&prefixed, PT_STR("_RINvC1a1f"));
    pt_buf_bytes(&prefixed, data, size);
    check(pt_buf_as_str(&prefixed));
    pt_buf_release(&prefixed);
    return 0;
}
