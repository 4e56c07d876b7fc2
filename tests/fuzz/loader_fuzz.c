/* The head of any file: the parser stays inside, and what it names is part of it. */
#include "profile/unwind/loader.h"

#include <assert.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_str head = { (const char *)data, size }, name;
    enum pt_loader loader = pt_loader_parse(head, &name);
    assert(loader <= PT_LOADER_UNKNOWN);
    if (name.len > 0)
        assert(name.at >= head.at && name.at + name.len <= head.at + head.len);
    return 0;
}
