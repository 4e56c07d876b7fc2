/* base/module.h -- private modules, lib/pitot/NAME.so: loaded by the feature that needs one, so
 * that other features do not load its libraries.
 *
 * A module exports one struct, `pt_module`:
 *
 *     PT_MODULE(PT_SQLITE_VERSION, &interface, "libsqlite", sqlite3_libversion);
 *
 * If $PITOT_MODULES is set, only that directory is searched. Otherwise: modules/ in the directory
 * of the program (build tree), then ../lib/pitot and ../lib/<machine>/pitot (installation). */
#ifndef PT_BASE_MODULE_H
#define PT_BASE_MODULE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct pt_module {
    uint32_t version;                     /* of its interface */
    const char *pitot;                    /* version of the program it was built with */
    const void *interface;                /* a const struct of functions */
    const char *library;                  /* that it wraps */
    const char *(*library_version)(void); /* or NULL: the library has no version function */
};

#define PT_MODULE(interface_version, interface, library, library_version)                 \
    __attribute__((visibility("default"))) extern const struct pt_module pt_module;       \
    const struct pt_module pt_module = { (interface_version), PITOT_VERSION, (interface), \
                                         (library), (library_version) }

/* A row of the table of all modules. */
struct pt_module_info {
    const char *name;
    const char *package; /* the Debian packages of its libraries */
    const char *title, *use;
};
extern const struct pt_module_info pt_module_infos[]; /* name is NULL after the last */

/* The interface of a module in the table. The module stays loaded until the program ends. 0, or
 * -errno with a message that says what to install. */
int pt_module_open(const char *name, uint32_t version, const void **interface,
                   struct pt_err *err) PT_MUST_CHECK;
/* The same with any version of its interface, to describe the module. */
int pt_module_look(const char *name, const struct pt_module **module,
                   struct pt_err *err) PT_MUST_CHECK;

/* Call it after a module has started its libraries: releases the pages that only linking and
 * starting needed, which are most of them. Pages that are needed again come from the page cache. */
void pt_module_settle(void);

/* Finds a file in the directories of modules: a module, a library that is preloaded into other
 * programs, the demo engine. 0; -ENOENT; or another -errno, with the path that cannot be read in
 * `path`. */
int pt_module_find(const char *file, char *path, size_t capacity) PT_MUST_CHECK;

#endif
