#include "profile/names/jit_map.h"

#include "profile/model/nearest.h"

void pt_jit_map_find(struct pt_scan text, const uint64_t *addresses, size_t count,
                     struct pt_jit_symbol *found) {
    struct pt_scan line;
    for (size_t i = 0; i < count; i++)
        found[i] = (struct pt_jit_symbol){ 0, PT_STR("") };
    while (pt_scan_line(&text, &line)) {
        uint64_t start = pt_scan_hex(&line), size = pt_scan_hex(&line);
        pt_scan_blanks(&line);
        struct pt_str name = pt_scan_rest(&line);
        if (line.failed || name.len == 0)
            continue;
        for (size_t i = pt_nearest_first(addresses, count, start);
             i < count && addresses[i] - start < size; i++)
            found[i] = (struct pt_jit_symbol){ start, name };
    }
}
