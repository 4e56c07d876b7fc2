#include "push/snappy.h"

int pt_snappy_open(const struct pt_snappy_interface **snappy, struct pt_err *err) {
    const void *interface;
    int rc = pt_module_open("snappy", PT_SNAPPY_VERSION, &interface, err);
    if (!rc)
        *snappy = interface;
    return rc;
}
