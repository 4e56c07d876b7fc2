/* collect/network.c -- traffic of the machine and of each interface, from /proc/net/dev.
 *
 * Loopback is left out. The totals count each byte once. If there are interfaces with a device (a
 * network card, a virtio or SR-IOV function), only those count, because bridges, bonds, VLANs,
 * tunnels and the host's ends of containers' veth pairs carry the same bytes again. Of two devices
 * that act as one (a virtual function below the hypervisor's interface), the upper one counts.
 * Without such interfaces (inside a container or a network namespace), every interface counts that
 * is not stacked on another one. */
#include "collect/collector.h"
#include "collect/source.h"
#include "source/kernel/netdev.h"

#include <errno.h>
#include <stdio.h>

#define NET_COLUMNS(X, t)                                                                       \
    X(t, rx_bytes, "vNetworkBytesRecvd", COUNTER, I64, BYTES, 0, "Bytes received",              \
      .title = "Network received", .family = "Network traffic", .importance = PT_HEADLINE,      \
      .words = "rx download bandwidth")                                                         \
    X(t, tx_bytes, "vNetworkBytesSent", COUNTER, I64, BYTES, 0, "Bytes sent",                   \
      .title = "Network sent", .family = "Network traffic", .importance = PT_HEADLINE,          \
      .words = "tx upload bandwidth")                                                           \
    X(t, rx_packets, "vNetworkPacketsRecvd", COUNTER, I64, COUNT, 0, "Packets received",        \
      .title = "Packets received", .family = "Network packets")                                 \
    X(t, tx_packets, "vNetworkPacketsSent", COUNTER, I64, COUNT, 0, "Packets sent",             \
      .title = "Packets sent", .family = "Network packets")                                     \
    X(t, rx_errors, "vNetworkErrorsRecvd", COUNTER, I64, COUNT, 0, "Receive errors",            \
      .title = "Receive errors", .family = "Network errors", .better = PT_LOWER_IS_BETTER)      \
    X(t, tx_errors, "vNetworkErrorsSent", COUNTER, I64, COUNT, 0, "Send errors",                \
      .title = "Send errors", .family = "Network errors", .better = PT_LOWER_IS_BETTER)         \
    X(t, rx_drops, "vNetworkDropsRecvd", COUNTER, I64, COUNT, 0, "Received packets dropped",    \
      .title = "Received packets dropped", .family = "Network drops",                           \
      .better = PT_LOWER_IS_BETTER, .words = "loss")                                            \
    X(t, tx_drops, "vNetworkDropsSent", COUNTER, I64, COUNT, 0, "Packets dropped when sending", \
      .title = "Sent packets dropped", .family = "Network drops", .better = PT_LOWER_IS_BETTER, \
      .words = "loss")

PT_TABLE(net, PT_TABLE_MAIN("net"), "Total of all network interfaces, without loopback",
         NET_COLUMNS, "/proc/net/dev");

#define INTERFACE_COLUMNS(X, t)                                                                   \
    X(t, name, "iName", KEY, STRING, NONE, 0, "Name of the interface", .title = "Interface",      \
      .heading = "INTERFACE", .role = PT_ROLE_NAME, .words = "nic card",                          \
      .otel = "network.interface.name")                                                           \
    X(t, is_counted, "iIsCounted", INFO, I64, NONE, 0, "1 if the totals include it, else 0",      \
      .title = "In the totals", .importance = PT_RAW)                                             \
    X(t, rx_bytes, "iBytesRecvd", COUNTER, I64, BYTES, 0, "Bytes received", .title = "Received",  \
      .heading = "RECEIVED", .family = "Network traffic", .importance = PT_HEADLINE,              \
      .words = "rx download bandwidth", .otel = "system.network.io network.io.direction=receive") \
    X(t, tx_bytes, "iBytesSent", COUNTER, I64, BYTES, 0, "Bytes sent", .title = "Sent",           \
      .heading = "SENT", .family = "Network traffic", .importance = PT_HEADLINE,                  \
      .words = "tx upload bandwidth", .otel = "system.network.io network.io.direction=transmit")  \
    X(t, rx_packets, "iPacketsRecvd", COUNTER, I64, COUNT, 0, "Packets received",                 \
      .title = "Packets received", .heading = "PACKETS IN", .family = "Network packets",          \
      .otel = "system.network.packet.count {packet} network.io.direction=receive")                \
    X(t, tx_packets, "iPacketsSent", COUNTER, I64, COUNT, 0, "Packets sent",                      \
      .title = "Packets sent", .heading = "PACKETS OUT", .family = "Network packets",             \
      .otel = "system.network.packet.count {packet} network.io.direction=transmit")               \
    X(t, rx_errors, "iErrorsRecvd", COUNTER, I64, COUNT, 0, "Receive errors",                     \
      .title = "Receive errors", .heading = "ERRORS IN", .family = "Network errors",              \
      .better = PT_LOWER_IS_BETTER,                                                               \
      .otel = "system.network.errors {error} network.io.direction=receive")                       \
    X(t, tx_errors, "iErrorsSent", COUNTER, I64, COUNT, 0, "Send errors", .title = "Send errors", \
      .heading = "ERRORS OUT", .family = "Network errors", .better = PT_LOWER_IS_BETTER,          \
      .otel = "system.network.errors {error} network.io.direction=transmit")                      \
    X(t, rx_drops, "iDropsRecvd", COUNTER, I64, COUNT, 0, "Received packets dropped",             \
      .title = "Received packets dropped", .heading = "DROPS IN", .family = "Network drops",      \
      .better = PT_LOWER_IS_BETTER, .words = "loss",                                              \
      .otel = "system.network.packet.dropped {packet} network.io.direction=receive")              \
    X(t, tx_drops, "iDropsSent", COUNTER, I64, COUNT, 0, "Packets dropped when sending",          \
      .title = "Sent packets dropped", .heading = "DROPS OUT", .family = "Network drops",         \
      .better = PT_LOWER_IS_BETTER, .words = "loss",                                              \
      .otel = "system.network.packet.dropped {packet} network.io.direction=transmit")

PT_TABLE(interface, PT_TABLE_PARTS("net", "interfaces", "interfaces"), "Each network interface",
         INTERFACE_COLUMNS, "/proc/net/dev");

static const struct {
    int field, machine, interface;
} places[] = {
    { PT_NET_RX_BYTES, net_rx_bytes, interface_rx_bytes },
    { PT_NET_TX_BYTES, net_tx_bytes, interface_tx_bytes },
    { PT_NET_RX_PACKETS, net_rx_packets, interface_rx_packets },
    { PT_NET_TX_PACKETS, net_tx_packets, interface_tx_packets },
    { PT_NET_RX_ERRORS, net_rx_errors, interface_rx_errors },
    { PT_NET_TX_ERRORS, net_tx_errors, interface_tx_errors },
    { PT_NET_RX_DROPS, net_rx_drops, interface_rx_drops },
    { PT_NET_TX_DROPS, net_tx_drops, interface_tx_drops },
};

enum link { LINK_PHYSICAL, LINK_PLAIN, LINK_STACKED };

struct known_interface {
    char name[64];
    enum link link;
};

struct network_state {
    struct pt_file file;
    struct known_interface *interfaces;
    size_t interface_capacity;
    uint32_t interface_count;
    bool has_physical;
};

static void network_close(void *state) {
    struct network_state *s = state;
    pt_file_close(&s->file);
    pt_free(s->interfaces);
}

static bool sys_has(const struct pt_context *context, const char *name, const char *entry) {
    char path[128];
    snprintf(path, sizeof path, "class/net/%s/%s", name, entry);
    return faccessat(context->fs->sys, path, F_OK, 0) == 0;
}

/* An interface built from others has links lower_<name> in its directory. */
static bool has_lower(const struct pt_context *context, const char *name) {
    char path[128];
    snprintf(path, sizeof path, "class/net/%s", name);
    DIR *directory = pt_fs_list(context->fs->sys, path);
    bool found = false;
    for (struct dirent *e; directory && (e = readdir(directory));)
        found |= strncmp(e->d_name, "lower_", 6) == 0;
    if (directory)
        closedir(directory);
    return found;
}

/* Without /sys, or in another network namespace than /sys, only the name can decide. */
static enum link link_by_name(const char *name) {
    static const struct {
        const char *prefix;
        enum link link;
    } names[] = {
        { "br", LINK_STACKED },    { "docker", LINK_STACKED },  { "virbr", LINK_STACKED },
        { "lxdbr", LINK_STACKED }, { "cni", LINK_STACKED },     { "ovs", LINK_STACKED },
        { "bond", LINK_STACKED },  { "team", LINK_STACKED },    { "vlan", LINK_STACKED },
        { "vxlan", LINK_STACKED }, { "flannel", LINK_STACKED }, { "kube", LINK_PLAIN },
        { "veth", LINK_PLAIN },    { "cali", LINK_PLAIN },      { "lxc", LINK_PLAIN },
        { "vnet", LINK_PLAIN },    { "tun", LINK_PLAIN },       { "tap", LINK_PLAIN },
        { "wg", LINK_PLAIN },      { "dummy", LINK_PLAIN },     { "ifb", LINK_PLAIN },
        { "gre", LINK_PLAIN },     { "sit", LINK_PLAIN },       { "ip6", LINK_PLAIN },
        { "ip_vti", LINK_PLAIN },  { "erspan", LINK_PLAIN },
    };
    if (strchr(name, '.')) /* eth0.100: a VLAN */
        return LINK_STACKED;
    for (size_t i = 0; i < PT_COUNT(names); i++)
        if (strncmp(name, names[i].prefix, strlen(names[i].prefix)) == 0)
            return names[i].link;
    return LINK_PHYSICAL;
}

static enum link link_of(const struct pt_context *context, const char *name) {
    if (!sys_has(context, name, ""))
        return link_by_name(name);
    if (sys_has(context, name, "device"))
        return sys_has(context, name, "master/device") ? LINK_STACKED : LINK_PHYSICAL;
    bool is_master = sys_has(context, name, "bridge") || sys_has(context, name, "bonding");
    return is_master || has_lower(context, name) ? LINK_STACKED : LINK_PLAIN;
}

static void learn(struct network_state *s, const struct pt_context *context, struct pt_scan text) {
    struct pt_str name;
    s->interface_count = 0;
    s->has_physical = false;
    while (pt_netdev_next_name(&text, &name)) {
        pt_grow(&s->interfaces, &s->interface_capacity, s->interface_count + 1,
                sizeof *s->interfaces);
        struct known_interface *k = &s->interfaces[s->interface_count++];
        pt_str_copy(k->name, sizeof k->name, name);
        k->link = strcmp(k->name, "lo") == 0 ? LINK_STACKED : link_of(context, k->name);
        s->has_physical |= k->link == LINK_PHYSICAL;
    }
}

static bool is_known(const struct network_state *s, struct pt_scan text) {
    struct pt_str name;
    uint32_t i = 0;
    for (; pt_netdev_next_name(&text, &name); i++)
        if (i >= s->interface_count || !pt_str_eq(name, pt_str_from(s->interfaces[i].name)))
            return false;
    return i == s->interface_count;
}

static bool is_counted(const struct network_state *s, const struct known_interface *k) {
    return k->link == LINK_PHYSICAL || (!s->has_physical && k->link == LINK_PLAIN);
}

static void add_interface(const struct network_state *s, const struct known_interface *k,
                          const struct pt_net_stats *stats, struct pt_total *totals,
                          struct pt_batch *interfaces) {
    bool counted = is_counted(s, k);
    pt_set_str(interfaces, interface_name, stats->name);
    pt_set_i64(interfaces, interface_is_counted, counted);
    for (size_t i = 0; i < PT_COUNT(places); i++) {
        bool is_known = pt_fields_has(stats->present, places[i].field);
        int64_t value = is_known ? stats->fields[places[i].field] : 0;
        if (is_known)
            pt_set_i64(interfaces, places[i].interface, value);
        if (counted)
            pt_total_add(&totals[i], is_known, value);
    }
}

static int network_collect(void *state, const struct pt_context *context, struct pt_batch *rows) {
    struct network_state *s = state;
    struct pt_batch *machine = &rows[0], *interfaces = &rows[1];
    struct pt_total totals[PT_COUNT(places)] = { 0 };
    struct pt_scan text;
    int rc = pt_file_read_kept(&s->file, context->fs->proc, "net/dev", context->text, &text);
    if (rc)
        return rc == -ENOENT ? -ENODATA : rc;

    int64_t now_ns = pt_mono_ns();
    if (!is_known(s, text))
        learn(s, context, text);
    struct pt_net_stats stats;
    for (uint32_t i = 0; pt_netdev_next(&text, &stats); i++) {
        if (pt_str_eq(stats.name, PT_STR("lo")))
            continue;
        pt_batch_add_row(interfaces);
        pt_set_time(interfaces, 0, now_ns);
        add_interface(s, &s->interfaces[i], &stats, totals, interfaces);
    }
    pt_batch_add_row(machine);
    pt_set_time(machine, 0, now_ns);
    for (size_t i = 0; i < PT_COUNT(places); i++)
        pt_total_set(&totals[i], machine, places[i].machine);
    return 0;
}

const struct pt_collector pt_network_collector = {
    .name = "net",
    .help = "traffic; machine and each interface",
    .keep = PT_KEEP_LAST,
    .tables = { &net_table, &interface_table },
    .state_size = sizeof(struct network_state),
    .collect = network_collect,
    .close = network_close,
};
