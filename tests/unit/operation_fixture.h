/* tests/unit/operation_fixture.h -- profilers of operations, and memory of a known size for
 * them. */
#ifndef PT_TEST_OPERATION_FIXTURE_H
#define PT_TEST_OPERATION_FIXTURE_H

#include "test.h"

#include "libpitot/profiler.h"

#include <sys/mman.h>

/* Memory that is resident, and gone again when it is freed. */
static inline void *take_mb(size_t mb) {
    char *at = mmap(NULL, mb << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(at != MAP_FAILED);
    for (size_t i = 0; i < mb << 20; i += 4096)
        ((volatile char *)at)[i] = 1;
    return at;
}

static inline void give_mb(void *at, size_t mb) {
    munmap(at, mb << 20);
}

static inline pt_profiler_options plain(void) {
    pt_profiler_options options;
    pt_profiler_options_init(&options);
    options.track_gpu = false;
    return options;
}

static inline pt_profiler *plain_profiler(void) {
    pt_profiler_options options = plain();
    pt_profiler *profiler = pt_profiler_new(&options);
    assert_non_null(profiler);
    return profiler;
}

static inline pt_performance get(pt_profiler *profiler, const char *name) {
    pt_performance p;
    assert_int_equal(pt_profiler_get(profiler, name, &p), 0);
    return p;
}

#endif
