#include "profile/names/debug_files.h"

#include "base/mem.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYSTEM_DIRECTORY "/usr/lib/debug"
#define DEPTH_MAX        16 /* of nested directories */

int pt_debug_files_check(const struct pt_debug_files *f, struct pt_err *err) {
    struct stat st;
    for (size_t i = 0; i < f->directory_count; i++) {
        if (stat(f->directories[i], &st))
            return pt_fail(err, -errno, "cannot read %s: %s", f->directories[i], strerror(errno));
        if (!S_ISDIR(st.st_mode))
            return pt_fail(err, -ENOTDIR, "%s is not a directory", f->directories[i]);
    }
    return 0;
}

static void read_build_id(const struct pt_elf *elf, char hex[2 * PT_ELF_BUILD_ID_MAX + 1]) {
    uint8_t id[PT_ELF_BUILD_ID_MAX];
    size_t size = elf->module->build_id(elf->state, id);
    hex[0] = 0;
    for (size_t i = 0; i < size; i++)
        snprintf(hex + 2 * i, 3, "%02x", id[i]);
}

static int open_regular(const char *path) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Closes the descriptor. */
static int open_with_id(const char *path, int fd, const char *build_id, struct pt_elf *elf) {
    char found[2 * PT_ELF_BUILD_ID_MAX + 1] = "";
    int rc = fd < 0 ? -ENOENT : pt_elf_open(elf, path, fd, NULL);
    if (fd >= 0)
        close(fd);
    if (rc)
        return -ENOENT;
    read_build_id(elf, found);
    if (strcmp(found, build_id) == 0)
        return 0;
    pt_elf_close(elf);
    return -ENOENT;
}

static int try_file(const char *path, const char *build_id, struct pt_elf *elf) {
    return open_with_id(path, open_regular(path), build_id, elf);
}

/* DIRECTORY/.build-id/ab/cdef.debug, as distributions lay them out. */
static int try_layout(const char *directory, const char *build_id, struct pt_elf *elf) {
    char path[PATH_MAX];
    if (snprintf(path, sizeof path, "%s/.build-id/%.2s/%s.debug", directory, build_id,
                 build_id + 2) >= PATH_MAX)
        return -ENOENT;
    return try_file(path, build_id, elf);
}

static void note_file(struct pt_debug_files *f, const char *path) {
    struct pt_elf elf;
    char magic[SELFMAG];
    int fd = open_regular(path);
    bool is_elf = fd >= 0 && pread(fd, magic, sizeof magic, 0) == sizeof magic &&
                  memcmp(magic, ELFMAG, SELFMAG) == 0;
    if (is_elf && !pt_elf_open(&elf, path, fd, NULL)) {
        pt_grow(&f->list, &f->capacity, f->count + 1, sizeof *f->list);
        struct pt_debug_file *file = &f->list[f->count++];
        read_build_id(&elf, file->build_id);
        file->path = pt_strdup(path);
        pt_elf_close(&elf);
    }
    if (fd >= 0)
        close(fd);
}

static void scan(struct pt_debug_files *f, const char *directory, int depth, size_t *left) {
    DIR *d = opendir(directory);
    for (struct dirent *e; d && *left > 0 && (e = readdir(d));) {
        char path[PATH_MAX];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            snprintf(path, sizeof path, "%s/%s", directory, e->d_name) >= PATH_MAX)
            continue;
        --*left;
        if (e->d_type == DT_DIR && depth < DEPTH_MAX)
            scan(f, path, depth + 1, left);
        else if (e->d_type != DT_DIR)
            note_file(f, path);
    }
    if (d)
        closedir(d);
}

/* Scans only after a file was not at its usual path: the directory may be large. */
static int try_scanned(struct pt_debug_files *f, const char *build_id, struct pt_elf *elf) {
    size_t left = PT_DEBUG_FILES_MAX;
    for (size_t i = 0; !f->is_scanned && i < f->directory_count; i++)
        scan(f, f->directories[i], 0, &left);
    f->is_scanned = true;
    for (size_t i = 0; i < f->count; i++)
        if (strcmp(f->list[i].build_id, build_id) == 0 && !try_file(f->list[i].path, build_id, elf))
            return 0;
    return -ENOENT;
}

/* The text comes from a file and becomes part of paths and URLs. */
static bool is_build_id(const char *text) {
    size_t length = strlen(text);
    return length >= 4 && length <= (size_t)2 * PT_ELF_BUILD_ID_MAX &&
           strspn(text, "0123456789abcdef") == length;
}

int pt_debug_files_open(struct pt_debug_files *f, const char *path, const char *build_id,
                        struct pt_elf *elf) {
    int rc = -ENOENT;
    *elf = (struct pt_elf){ 0 };
    if (!is_build_id(build_id))
        return rc;
    for (size_t i = 0; rc && i < f->directory_count; i++)
        rc = try_layout(f->directories[i], build_id, elf);
    if (rc)
        rc = try_scanned(f, build_id, elf);
    if (rc)
        rc = try_layout(SYSTEM_DIRECTORY, build_id, elf);
    if (rc && f->fetch)
        rc = open_with_id(build_id, f->fetch(f->fetch_arg, build_id), build_id, elf);
    if (rc && path[0] == '/')
        rc = try_file(path, build_id, elf);
    return rc;
}

void pt_debug_files_release(struct pt_debug_files *f) {
    for (size_t i = 0; i < f->count; i++)
        pt_free(f->list[i].path);
    pt_free(f->list);
    f->list = NULL;
    f->count = f->capacity = 0;
}
