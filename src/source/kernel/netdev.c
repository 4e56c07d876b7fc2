#include "source/kernel/netdev.h"

static bool next_line(struct pt_scan *text, struct pt_str *name, struct pt_scan *numbers) {
    while (pt_scan_line(text, numbers)) {
        pt_scan_blanks(numbers);
        *name = pt_scan_until(numbers, ':');
        if (!numbers->failed && name->len > 0)
            return true;
    }
    return false;
}

bool pt_netdev_next(struct pt_scan *text, struct pt_net_stats *stats) {
    struct pt_scan numbers;
    if (!next_line(text, &stats->name, &numbers))
        return false;
    stats->present = pt_fields_scan(&numbers, stats->fields, PT_NET_FIELD_COUNT);
    return true;
}

bool pt_netdev_next_name(struct pt_scan *text, struct pt_str *name) {
    struct pt_scan numbers;
    return next_line(text, name, &numbers);
}
