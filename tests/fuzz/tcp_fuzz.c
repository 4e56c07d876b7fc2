/* Listening sockets from any bytes: the text is read to its end, and what is found is taken from
 * lines that say so. */
#include "source/kernel/tcp_listen.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool is_true) {
    if (!is_true)
        abort();
}

static size_t count_lines(struct pt_str text) {
    struct pt_scan scan = pt_scan_of(text), line;
    size_t count = 0;
    while (pt_scan_line(&scan, &line))
        count++;
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_str text = { (const char *)data, size };
    struct pt_scan scan = pt_scan_of(text);
    struct pt_tcp_socket socket;
    size_t left = count_lines(text);
    for (bool is_ipv6 = false; pt_tcp_listen_next(&scan, is_ipv6, &socket); is_ipv6 = !is_ipv6) {
        check(left-- > 0);
        check(socket.is_ipv6 == is_ipv6);
    }
    check(scan.at == scan.end);
    return 0;
}
