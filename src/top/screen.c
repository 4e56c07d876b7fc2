#include "top/screen.h"

const struct pt_module_need pt_screen_module = { "terminal", PT_SCREEN_VERSION, "libncursesw6" };

int pt_screen_load(const struct pt_screen **screen, struct pt_err *err) {
    const void *interface;
    int rc = pt_module_open(&pt_screen_module, &interface, err);
    *screen = interface;
    return rc;
}
