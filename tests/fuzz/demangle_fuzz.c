/* Any bytes as a mangled name of Rust and C++: the result is bounded, or it is the name itself. */
#include "profile/names/demangle.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(struct pt_str prefix, const uint8_t *data, size_t size) {
    struct pt_buf mangled = { 0 }, name = { 0 };
    pt_buf_str(&mangled, prefix);
    pt_buf_bytes(&mangled, data, size);
    pt_buf_u8(&mangled, '\0');
    pt_demangle((const char *)mangled.at, &name);
    assert(name.len <= PT_DEMANGLED_MAX || name.len <= mangled.len);
    pt_buf_release(&mangled);
    pt_buf_release(&name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    check(PT_STR(""), data, size);
    check(PT_STR("_RINvC1a1f"), data, size);
    check(PT_STR("_ZN1a"), data, size);
    return 0;
}
