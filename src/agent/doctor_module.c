/* Checks of the modules that speak HTTP. */
#include "agent/doctor_finding.h"

#include "base/scan.h"
#include "http/client.h"
#include "http/server.h"

#include <stdio.h>

static void tell_missing(struct pt_finding *f, const struct pt_module_need *need,
                         const struct pt_err *err) {
    char remedy[96];
    snprintf(remedy, sizeof remedy, "apt-get install %s", need->package);
    pt_finding_bad(f, PT_DOCTOR_MISSING, remedy, "%s", err->text);
}

void pt_check_http_client(const struct pt_fs *fs, struct pt_finding *f) {
    (void)fs;
    const void *interface;
    struct pt_err err;
    if (pt_module_open(&pt_http_client_module, &interface, &err)) {
        tell_missing(f, &pt_http_client_module, &err);
        return;
    }
    const struct pt_http_client_interface *client = interface;
    struct pt_scan words = pt_scan_of(pt_str_from(client->library()));
    struct pt_str first = pt_scan_word(&words);
    pt_finding_ok(f, "%.*s, to read inference engines", (int)first.len, first.at);
}

void pt_check_http_server(const struct pt_fs *fs, struct pt_finding *f) {
    (void)fs;
    const void *interface;
    struct pt_err err;
    if (pt_module_open(&pt_http_server_module, &interface, &err)) {
        tell_missing(f, &pt_http_server_module, &err);
        return;
    }
    const struct pt_http_server_interface *server = interface;
    pt_finding_ok(f, "libmicrohttpd/%s, for pitot serve and pitot demo --serve", server->library());
}
