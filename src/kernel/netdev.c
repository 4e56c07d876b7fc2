#include "kernel/netdev.h"

bool pt_netdev_next(struct pt_scan *text, struct pt_net_stats *stats) {
    struct pt_scan line;
    while (pt_scan_line(text, &line)) {
        pt_scan_blanks(&line);
        stats->name = pt_scan_until(&line, ':');
        if (line.failed || stats->name.len == 0)
            continue;
        stats->field_count = 0;
        while (stats->field_count < PT_NET_FIELD_COUNT) {
            int64_t value = pt_scan_i64(&line);
            if (line.failed)
                break;
            stats->fields[stats->field_count++] = value;
        }
        return true;
    }
    return false;
}
