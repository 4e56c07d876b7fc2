#include "profile/unwind/loader.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#define HEAD_BYTES   4096 /* program headers follow the ELF header */
#define SCRIPTS_MAX  4    /* nested, as in the kernel */
#define DEFAULT_PATH "/bin:/usr/bin"

/* "#!/usr/bin/env python3": the first word. */
static struct pt_str interpreter_of(struct pt_str line) {
    struct pt_str word = { line.at, 0 };
    while (word.at < line.at + line.len && (*word.at == ' ' || *word.at == '\t'))
        word.at++;
    size_t left = (size_t)(line.at + line.len - word.at);
    while (word.len < left && !strchr(" \t\r\n", word.at[word.len]))
        word.len++;
    return word;
}

static enum pt_loader parse_elf(struct pt_str head, struct pt_str *name) {
    Elf64_Ehdr file;
    memcpy(&file, head.at, sizeof file);
    if (file.e_ident[EI_CLASS] != ELFCLASS64 || file.e_ident[EI_DATA] != ELFDATA2LSB ||
        file.e_phentsize != sizeof(Elf64_Phdr))
        return PT_LOADER_UNKNOWN;
    for (size_t i = 0; i < file.e_phnum; i++) {
        Elf64_Phdr part;
        if (file.e_phoff > head.len || (i + 1) * sizeof part > head.len - file.e_phoff)
            return PT_LOADER_UNKNOWN;
        memcpy(&part, head.at + file.e_phoff + i * sizeof part, sizeof part);
        if (part.p_type != PT_INTERP)
            continue;
        if (part.p_offset > head.len || part.p_filesz > head.len - part.p_offset)
            return PT_LOADER_DYNAMIC;
        name->at = head.at + part.p_offset;
        name->len = strnlen(name->at, part.p_filesz);
        return memmem(name->at, name->len, "ld-musl", 7) ? PT_LOADER_MUSL : PT_LOADER_DYNAMIC;
    }
    return PT_LOADER_STATIC;
}

enum pt_loader pt_loader_parse(struct pt_str head, struct pt_str *name) {
    *name = PT_STR("");
    if (head.len > 2 && memcmp(head.at, "#!", 2) == 0) {
        *name = interpreter_of((struct pt_str){ head.at + 2, head.len - 2 });
        return PT_LOADER_SCRIPT;
    }
    if (head.len < sizeof(Elf64_Ehdr) || memcmp(head.at, ELFMAG, SELFMAG) != 0)
        return PT_LOADER_UNKNOWN;
    return parse_elf(head, name);
}

/* The loader of such a program ignores LD_PRELOAD. */
static bool gains_rights(const char *path) {
    struct stat st;
    if (stat(path, &st))
        return false;
    if ((st.st_mode & S_ISUID && st.st_uid != geteuid()) ||
        (st.st_mode & S_ISGID && st.st_gid != getegid()))
        return true;
    return geteuid() != 0 && getxattr(path, "security.capability", NULL, 0) > 0;
}

static bool find_program(const char *program, char path[PATH_MAX]) {
    struct stat st;
    if (strchr(program, '/'))
        return snprintf(path, PATH_MAX, "%s", program) < PATH_MAX;
    const char *at = getenv("PATH");
    for (at = at ? at : DEFAULT_PATH;; at++) {
        size_t length = strcspn(at, ":");
        int n = snprintf(path, PATH_MAX, "%.*s/%s", length ? (int)length : 1, length ? at : ".",
                         program);
        if (n < PATH_MAX && stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0)
            return true;
        at += length;
        if (!*at)
            return false;
    }
}

static size_t read_head(const char *path, char head[HEAD_BYTES]) {
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    ssize_t n = fd >= 0 ? read(fd, head, HEAD_BYTES) : -1;
    if (fd >= 0)
        close(fd);
    return n > 0 ? (size_t)n : 0;
}

int pt_loader_check(const char *program, struct pt_err *err) {
    char path[PATH_MAX], head[HEAD_BYTES];
    struct pt_str name;
    if (!find_program(program, path))
        return 0;
    for (int i = 0; i < SCRIPTS_MAX; i++) {
        if (gains_rights(path))
            return pt_fail(err, -ENOEXEC, "%s gains privileges when it starts (setuid)", path);
        switch (pt_loader_parse((struct pt_str){ head, read_head(path, head) }, &name)) {
        case PT_LOADER_STATIC:
            return pt_fail(err, -ENOEXEC, "%s is statically linked", path);
        case PT_LOADER_MUSL:
            return pt_fail(err, -ENOEXEC, "%s is linked with musl", path);
        case PT_LOADER_SCRIPT:
            if (name.len == 0 || name.len >= sizeof path)
                return 0;
            memcpy(path, name.at, name.len);
            path[name.len] = '\0';
            break;
        default:
            return 0;
        }
    }
    return 0;
}
