/* Any bytes as rules of alerts: names end, limits are numbers, no more rules than fit. */
#include "analyze/watch.h"

#include <assert.h>
#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct pt_watch watch;
    struct pt_err err;
    watch.rule_count = 0;
    int rc = pt_watch_parse(&watch, (struct pt_str){ (const char *)data, size }, "rules", &err);
    assert(watch.rule_count <= PT_WATCH_RULES);
    for (size_t i = 0; !rc && i < watch.rule_count; i++) {
        assert(isfinite(watch.rules[i].limit.threshold) && watch.rules[i].limit.for_seconds >= 0);
        assert(strlen(watch.rules[i].name) < sizeof watch.rules[i].name);
    }
    return 0;
}
