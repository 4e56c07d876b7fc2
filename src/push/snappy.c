#include "push/snappy.h"

const struct pt_module_need pt_snappy_module = { "snappy", PT_SNAPPY_VERSION, "libsnappy1v5" };

int pt_snappy_open(const struct pt_snappy_interface **snappy, struct pt_err *err) {
    const void *interface;
    int rc = pt_module_open(&pt_snappy_module, &interface, err);
    if (!rc)
        *snappy = interface;
    return rc;
}
