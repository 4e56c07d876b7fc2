/* source/kernel/netdev.h -- /proc/net/dev, a line per interface after two of headings:
 *
 *     Inter-|   Receive                                                |  Transmit
 *      face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs ...
 *       eth0: 1296014     489    0    0    0     0          0         0    24649    292 ... */
#ifndef PT_SOURCE_KERNEL_NETDEV_H
#define PT_SOURCE_KERNEL_NETDEV_H

#include "source/kernel/fields.h"

enum pt_net_field {
    PT_NET_RX_BYTES,
    PT_NET_RX_PACKETS,
    PT_NET_RX_ERRORS,
    PT_NET_RX_DROPS,
    PT_NET_RX_FIFO,
    PT_NET_RX_FRAME,
    PT_NET_RX_COMPRESSED,
    PT_NET_RX_MULTICAST,
    PT_NET_TX_BYTES,
    PT_NET_TX_PACKETS,
    PT_NET_TX_ERRORS,
    PT_NET_TX_DROPS,
    PT_NET_FIELD_COUNT
};

struct pt_net_stats {
    struct pt_str name; /* borrows the text */
    uint32_t present;   /* bit i: fields[i] is known */
    int64_t fields[PT_NET_FIELD_COUNT];
};

/* Reads the next interface; false at the end. Skips headings and broken lines. */
bool pt_netdev_next(struct pt_scan *text, struct pt_net_stats *stats);
/* The same, but reads only the name. */
bool pt_netdev_next_name(struct pt_scan *text, struct pt_str *name);

#endif
