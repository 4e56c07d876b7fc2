#include "kernel/netdev.h"

bool pt_netdev_next(struct pt_scan *text, struct pt_net_stats *stats) {
    struct pt_scan line;
    while (pt_scan_line(text, &line)) {
        pt_scan_blanks(&line);
        stats->name = pt_scan_until(&line, ':');
        if (line.failed || stats->name.len == 0)
            continue;
        stats->present = pt_fields_scan(&line, stats->fields, PT_NET_FIELD_COUNT);
        return true;
    }
    return false;
}
