#include "collect/collector.h"

#include <string.h>

/* The order of all output. The most expensive ones stand last, so that the host's values are read
 * close to the tick. */
#define COLLECTORS(X) \
    X(cpu)            \
    X(memory)         \
    X(disk)           \
    X(network)        \
    X(pressure)       \
    X(energy)         \
    X(container)      \
    X(process)        \
    X(gpu)            \
    X(engine)         \
    X(app)

#define DECLARE(name) extern const struct pt_collector pt_##name##_collector;
#define ADDRESS(name) &pt_##name##_collector,
COLLECTORS(DECLARE)
const struct pt_collector *const pt_collectors[] = { COLLECTORS(ADDRESS) NULL };

const struct pt_collector *pt_collector_find(struct pt_str name) {
    for (int i = 0; pt_collectors[i]; i++)
        if (pt_str_eq(pt_str_from(pt_collectors[i]->name), name))
            return pt_collectors[i];
    return NULL;
}

const char *pt_collector_name(size_t index) {
    return pt_collectors[index] ? pt_collectors[index]->name : NULL;
}
