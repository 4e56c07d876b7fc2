#include "base/module.h"

#include "base/fs.h"

#include <assert.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

const struct pt_module_info pt_module_infos[] = {
    { "http-client", "libcurl4", "HTTP client", "for inference engines and pushing" },
    { "http-server", "libmicrohttpd12 libjansson4", "HTTP server",
      "for pitot serve and pitot demo --serve" },
    { "elf", "libdw1", "ELF and DWARF files", "for names and stacks of profiles" },
    { "snappy", "libsnappy1v5", "Snappy", "for --remote-write" },
    { "sqlite", "libsqlite3-0", "SQLite files", "for exports of Nsight Systems" },
    { "terminal", "libncursesw6", "Terminal", "for pitot top" },
    { 0 },
};

/* Relative to the directory of the program; the last is for the demo engine, which is in the
 * directory of the modules. */
static const char *const places[] = { "modules", "../lib/pitot", "../" PITOT_LIBDIR "/pitot", "." };

static int try_place(char *path, size_t capacity, const char *directory, const char *place,
                     const char *file) {
    int n = snprintf(path, capacity, "%s/%s/%s", directory, place, file);
    if (n <= 0 || (size_t)n >= capacity)
        return -ENAMETOOLONG;
    if (access(path, R_OK) == 0)
        return 0;
    return errno == EACCES ? -EACCES : -ENOENT;
}

int pt_module_find(const char *file, char *path, size_t capacity) {
    const char *given = secure_getenv("PITOT_MODULES");
    if (given && *given)
        return try_place(path, capacity, given, ".", file);
    char own[PATH_MAX];
    int rc = pt_fs_own_directory(own, sizeof own);
    if (rc) {
        snprintf(path, capacity, "(the path of this program is unknown)");
        return rc;
    }
    const char *forbidden = NULL;
    for (size_t i = 0; i < PT_COUNT(places); i++) {
        rc = try_place(path, capacity, own, places[i], file);
        if (rc == 0)
            return 0;
        if (rc == -EACCES && !forbidden)
            forbidden = places[i];
    }
    return forbidden ? try_place(path, capacity, own, forbidden, file) : -ENOENT;
}

static int of_another_program(const struct pt_module *module, const char *name,
                              struct pt_err *err) {
    return pt_fail(err, -ENOEXEC,
                   "the module %s.so belongs to another Pitot (%s); install this "
                   "one again",
                   name, module->pitot);
}

int pt_module_look(const char *name, const struct pt_module **module, struct pt_err *err) {
    const struct pt_module_info *info = pt_module_infos;
    while (info->name && strcmp(info->name, name) != 0)
        info++;
    assert(info->name);
    char file[64], path[PATH_MAX];
    *module = NULL;
    snprintf(file, sizeof file, "%s.so", name);
    int rc = pt_module_find(file, path, sizeof path);
    if (rc == -ENOENT)
        return pt_fail(err, rc, "the module %s.so is not installed; it needs the package %s", name,
                       info->package);
    if (rc)
        return pt_fail(err, rc, "cannot read the module %s: %s", path, strerror(-rc));
    /* never closed: the libraries leave threads, exit handlers and thread data */
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        return pt_fail(err, -ELIBACC, "%s; install the package %s", dlerror(), info->package);
    *module = dlsym(handle, "pt_module");
    if (!*module)
        return pt_fail(err, -ENOEXEC, "%s is not a Pitot module", path);
    return strcmp((*module)->pitot, PITOT_VERSION) == 0 ? 0
                                                        : of_another_program(*module, name, err);
}

int pt_module_open(const char *name, uint32_t version, const void **interface, struct pt_err *err) {
    const struct pt_module *module;
    *interface = NULL;
    int rc = pt_module_look(name, &module, err);
    if (!rc && module->version != version)
        rc = of_another_program(module, name, err);
    if (!rc)
        *interface = module->interface;
    return rc;
}

/* True if the dynamic linker modified its code. */
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

/* Read-only segments can be dropped: their pages are those of the file. Breakpoints of a debugger
 * are an exception, but are in the program rather than in a library. */
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
