/* base/module.h -- private modules: lib/pitot/NAME.so, opened by the feature that needs one, so
 * that nothing else pays for the libraries it stands on.
 *
 * A module exports one struct, `pt_module`:
 *
 *     PT_MODULE(PT_SQLITE_VERSION, &interface, "libsqlite", sqlite3_libversion);
 *
 * It is looked for in $PITOT_MODULES alone if that is set; else beside the program, as in the build
 * tree (modules/), and where an installation has it (../lib/pitot, and lib/<machine>/pitot). */
#ifndef PT_BASE_MODULE_H
#define PT_BASE_MODULE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct pt_module {
    uint32_t version;                     /* of its interface */
    const char *pitot;                    /* version of the program it was built with */
    const void *interface;                /* a const struct of functions */
    const char *library;                  /* it stands on */
    const char *(*library_version)(void); /* or NULL: the library does not tell */
};

#define PT_MODULE(interface_version, interface, library, library_version)                 \
    __attribute__((visibility("default"))) extern const struct pt_module pt_module;       \
    const struct pt_module pt_module = { (interface_version), PITOT_VERSION, (interface), \
                                         (library), (library_version) }

/* A row of the table of all modules. */
struct pt_module_info {
    const char *name;
    const char *package; /* the Debian packages of the libraries below it */
    const char *title, *use;
};
extern const struct pt_module_info pt_module_infos[]; /* name is NULL after the last */

/* The interface of a module of the table, which stays loaded for the life of the program. 0 or
 * -errno with words that say what to install. */
int pt_module_open(const char *name, uint32_t version, const void **interface,
                   struct pt_err *err) PT_MUST_CHECK;
/* The same, whatever the version of its interface: what it is. */
int pt_module_look(const char *name, const struct pt_module **module,
                   struct pt_err *err) PT_MUST_CHECK;

/* To be called when a module has started what stands below it: gives back the pages of libraries
 * that only linking and starting have read, which are most of them. What is needed after all comes
 * back from the page cache. */
void pt_module_settle(void);

/* Finds a file beside the modules: a module, a library that is preloaded into other programs, the
 * demo engine. 0; -ENOENT; or another -errno with the path of what could not be read. */
int pt_module_find(const char *file, char *path, size_t capacity) PT_MUST_CHECK;

#endif
