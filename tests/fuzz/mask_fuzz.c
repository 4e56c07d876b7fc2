/* Any bytes as a command line: one line comes out, without control characters. */
#include "base/mask.h"
#include "base/utf8.h"

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
    if (out.len > PT_MASK_MAX(size)) /* callers reserve that much */
        abort();
    struct pt_buf shown = { 0 };
    pt_utf8_printable(&shown, text, "");
    for (size_t i = 0; i < shown.len; i++)
        if (shown.at[i] < 0x20 || shown.at[i] == 0x7f ||
            (shown.at[i] == 0xc2 && i + 1 < shown.len && shown.at[i + 1] < 0xa0))
            abort();
    if (shown.len > PT_PRINTABLE_MAX(size))
        abort();
    pt_buf_release(&shown);
    pt_buf_release(&out);
    return 0;
}
