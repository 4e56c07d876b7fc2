#include "base/module.h"

#include "base/fs.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Relative to the directory of the program. */
static const char *const places[] = { "modules", "../lib/pitot", "../" PITOT_LIBDIR "/pitot" };

static bool is_there(char *path, size_t capacity, const char *directory, const char *place,
                     const char *name) {
    int n = snprintf(path, capacity, "%s/%s/%s.so", directory, place, name);
    return n > 0 && (size_t)n < capacity && access(path, R_OK) == 0;
}

int pt_module_find(const char *name, char *path, size_t capacity) {
    const char *given = secure_getenv("PITOT_MODULES");
    if (given && *given)
        return is_there(path, capacity, given, ".", name) ? 0 : -ENOENT;
    char own[PATH_MAX];
    int rc = pt_fs_own_directory(own, sizeof own);
    for (size_t i = 0; !rc && i < PT_COUNT(places); i++)
        if (is_there(path, capacity, own, places[i], name))
            return 0;
    return rc ? rc : -ENOENT;
}

static int check(const struct pt_module *module, const struct pt_module_need *need,
                 const char *path, struct pt_err *err) {
    if (!module)
        return pt_fail(err, -ENOEXEC, "%s is no module of Pitot", path);
    if (module->version != need->version || strcmp(module->pitot, PITOT_VERSION) != 0)
        return pt_fail(err, -ENOEXEC, "%s belongs to another Pitot (%s); install this one again",
                       path, module->pitot);
    return 0;
}

int pt_module_open(const struct pt_module_need *need, const void **interface, struct pt_err *err) {
    char path[PATH_MAX];
    *interface = NULL;
    int rc = pt_module_find(need->name, path, sizeof path);
    if (rc)
        return pt_fail(err, rc, "the module %s.so is not installed; it needs the package %s",
                       need->name, need->package);
    /* never closed: libraries below leave threads, handlers at exit and thread data behind */
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return pt_fail(err, -ELIBACC, "%s; install the package %s", dlerror(), need->package);
    const struct pt_module *module = dlsym(handle, "pt_module");
    rc = check(module, need, path, err);
    if (!rc)
        *interface = module->interface;
    return rc;
}

/* Was its code altered by the linker? */
static bool has_text_relocations(const struct dl_phdr_info *object) {
    for (int i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        const ElfW(Dyn) *d = (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
        for (; d->d_tag != DT_NULL; d++)
            if (d->d_tag == DT_TEXTREL || (d->d_tag == DT_FLAGS && d->d_un.d_val & DF_TEXTREL))
                return true;
    }
    return false;
}

/* Segments that are not written to are as the file has them; but for the breakpoints of a debugger,
 * which are in the program rather than in a library. */
static int give_back(struct dl_phdr_info *object, size_t size, void *arg) {
    (void)size;
    bool is_program = !object->dlpi_name[0];
    if (is_program || has_text_relocations(object))
        return 0;
    uintptr_t page_mask = ~(*(uintptr_t *)arg - 1);
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
        if (segment->p_type != PT_LOAD || segment->p_flags & PF_W)
            continue;
        uintptr_t start = (object->dlpi_addr + segment->p_vaddr) & page_mask;
        uintptr_t end = object->dlpi_addr + segment->p_vaddr + segment->p_memsz;
        (void)madvise((void *)start, end - start, MADV_DONTNEED);
    }
    return 0;
}

void pt_module_settle(void) {
    uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    dl_iterate_phdr(give_back, &page_bytes);
}
