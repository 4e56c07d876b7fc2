#include "collect/collector.h"

#include <string.h>

/* The order of all output. The most expensive are last, so that the host's values are read
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

const char *pt_collector_name(size_t index) {
    return pt_collectors[index] ? pt_collectors[index]->name : NULL;
}
