#include "top/screen.h"

int pt_screen_load(const struct pt_screen **screen, struct pt_err *err) {
    const void *interface;
    int rc = pt_module_open("terminal", PT_SCREEN_VERSION, &interface, err);
    *screen = interface;
    return rc;
}
