/* Any bytes as the dump of a JIT: names lie within them, and times rise. */
#include "profile/names/jit_dump.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_str bytes = { (const char *)data, size };
    struct pt_jit_dump d;
    int rc = pt_jit_dump_parse(&d, bytes);
    assert(rc == 0 || d.count == 0);
    for (size_t i = 0; i < d.count; i++) {
        const struct pt_jit_load *l = &d.loads[i];
        assert(l->name.len > 0 && l->name.at >= bytes.at &&
               l->name.at + l->name.len <= bytes.at + bytes.len);
        assert(i == 0 || l[-1].time_ns <= l->time_ns);
    }
    pt_jit_dump_release(&d);
    return pt_jit_dump_is_path(bytes) && size < 10;
}
