/* base/module.h -- private modules: lib/pitot/NAME.so, opened by the feature that needs one, so
 * that nothing else pays for the libraries it stands on.
 *
 * A module exports one struct, `pt_module`:
 *
 *     PT_MODULE(PT_HTTP_CLIENT_VERSION, &interface);
 *
 * It is looked for in $PITOT_MODULES alone if that is set; else beside the program, as in the build
 * tree (modules/), and where an installation has it (../lib/pitot, and lib/<machine>/pitot). */
#ifndef PT_BASE_MODULE_H
#define PT_BASE_MODULE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct pt_module {
    uint32_t version;      /* of its interface */
    const char *pitot;     /* version of the program it was built with */
    const void *interface; /* a const struct of functions */
};

#define PT_MODULE(interface_version, interface)                                     \
    __attribute__((visibility("default"))) extern const struct pt_module pt_module; \
    const struct pt_module pt_module = { (interface_version), PITOT_VERSION, (interface) }

struct pt_module_need {
    const char *name;
    uint32_t version;
    const char *package; /* the Debian package of the library below it */
};

/* The interface of a module, which stays loaded for the life of the program. 0 or -errno with words
 * that say what to install. */
int pt_module_open(const struct pt_module_need *need, const void **interface,
                   struct pt_err *err) PT_MUST_CHECK;

/* To be called when a module has started what stands below it: gives back the pages of libraries
 * that only linking and starting have read, which are most of them. What is needed after all comes
 * back from the page cache. */
void pt_module_settle(void);

/* Where NAME.so is: a module, or a library that is preloaded into other programs. 0 or -errno. */
int pt_module_find(const char *name, char *path, size_t capacity) PT_MUST_CHECK;

#endif
