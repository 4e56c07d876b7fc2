/* Any bytes as a command line: one line comes out, without control characters. */
#include "base/mask.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_str text = { (const char *)data, size };
    struct pt_buf out = { 0 };
    pt_mask_arguments(&out, text);
    for (size_t i = 0; i < out.len; i++) {
        if (out.at[i] < 0x20)
            abort();
    }
    pt_buf_clear(&out);
    pt_mask_text(&out, text);
    /* a secret of one byte grows by two; what is not masked stays as long as it was */
    if (out.len > 3 * size)
        abort();
    pt_buf_release(&out);
    return 0;
}
