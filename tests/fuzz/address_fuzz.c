/* Addresses, Host headers and URLs: what is taken for this machine must be it. */
#include "http/address.h"

#include <assert.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_str text = { (const char *)data, size };
    struct pt_http_address a, again;
    char copy[512], printed[160];
    pt_str_copy(copy, sizeof copy, text);
    if (pt_http_address_parse(&a, copy, NULL) == 0 && a.any.sa_family != AF_UNIX) {
        pt_http_address_print(&a, printed, sizeof printed);
        assert(pt_http_address_parse(&again, printed + sizeof "http://" - 1, NULL) == 0);
        assert(pt_http_url_is_loopback(pt_str_from(printed)) == pt_http_address_is_loopback(&a));
    }
    if (pt_http_url_is_loopback(text))
        assert(memchr(data, '@', size) == NULL || memchr(data + 7, '/', size - 7) ||
               memchr(data + 7, '?', size - 7) || memchr(data + 7, '#', size - 7));
    (void)pt_http_host_is_loopback(text);
    return 0;
}
