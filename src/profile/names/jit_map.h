/* profile/names/jit_map.h -- names of generated code, from the file that JITs leave in
 * /tmp/perf-PID.map:
 *
 *     7f0a12340000 1c0 LazyCompile:*main app.js:12
 */
#ifndef PT_PROFILE_NAMES_JIT_MAP_H
#define PT_PROFILE_NAMES_JIT_MAP_H

#include "base/scan.h"

struct pt_jit_symbol {
    uint64_t start;
    struct pt_str name; /* borrowed from the text; empty: none */
};

/* Finds the names of `count` ascending addresses; a later line wins, because code is replaced. */
void pt_jit_map_find(struct pt_scan text, const uint64_t *addresses, size_t count,
                     struct pt_jit_symbol *found);

#endif
