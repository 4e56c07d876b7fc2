/* source/kernel/psi.h -- pressure stall information, of the machine or of a cgroup:
 *
 *     some avg10=0.00 avg60=0.12 avg300=0.27 total=3856780
 *     full avg10=0.00 avg60=0.00 avg300=0.00 total=0 */
#ifndef PT_SOURCE_KERNEL_PSI_H
#define PT_SOURCE_KERNEL_PSI_H

#include "base/scan.h"

struct pt_pressure_line {
    bool is_present;
    double avg10, avg60, avg300; /* percent of the time */
    int64_t total_us;
};

struct pt_pressure {
    struct pt_pressure_line some, full;
};

void pt_pressure_parse(struct pt_scan text, struct pt_pressure *pressure);

#endif
