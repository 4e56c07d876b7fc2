#include "collect/collector.h"

#include <string.h>

extern const struct pt_collector pt_cpu_collector, pt_memory_collector, pt_disk_collector,
    pt_network_collector, pt_pressure_collector, pt_energy_collector, pt_container_collector,
    pt_process_collector, pt_gpu_collector, pt_engine_collector, pt_app_collector;

/* The order of all output. The dearest stand last, so that the host's values are
 * read close to the tick. */
const struct pt_collector *const pt_collectors[] = {
    &pt_cpu_collector,      &pt_memory_collector, &pt_disk_collector,      &pt_network_collector,
    &pt_pressure_collector, &pt_energy_collector, &pt_container_collector, &pt_process_collector,
    &pt_gpu_collector,      &pt_engine_collector, &pt_app_collector,       NULL,
};

const struct pt_collector *pt_collector_find(struct pt_str name) {
    for (int i = 0; pt_collectors[i]; i++)
        if (pt_str_eq(pt_str_from(pt_collectors[i]->name), name))
            return pt_collectors[i];
    return NULL;
}

const char *pt_collector_name(size_t index) {
    return pt_collectors[index] ? pt_collectors[index]->name : NULL;
}
