/* profile/unwind/elf.h -- what a profile needs from ELF files: unwind rules, symbols, lines. The
 * module "elf" reads them with elfutils (libdw); it is loaded when the first file is opened.
 *
 * Addresses are those in the file, like the values of its symbols. One thread at a time. */
#ifndef PT_PROFILE_UNWIND_ELF_H
#define PT_PROFILE_UNWIND_ELF_H

#include "base/module.h"
#include "base/str.h"
#include "profile/unwind/unwind.h"

#define PT_ELF_BUILD_ID_MAX 64
#define PT_ELF_INLINES_MAX  32

struct pt_elf_symbol {
    const char *name; /* as in the file; NULL: none. Valid until the file is closed. */
    uint64_t start, end;
    bool is_global;
};

struct pt_elf_line {
    const char *function; /* as in the file, or NULL */
    const char *file;     /* or NULL */
    uint32_t line;        /* 0 = unknown */
    uint32_t first_line;  /* of the function; 0 = unknown */
    bool is_inlined;      /* into the next entry */
};

/* The interface that the module exports. */
#define PT_ELF_VERSION 1

struct pt_elf_interface {
    /* Borrows `fd`; `path` is used to find debug files next to it. NULL: not a usable ELF file. */
    void *(*open)(const char *path, int fd);
    void (*close)(void *elf);
    struct pt_unwind_rule (*rule)(void *elf, uint64_t address);
    /* The address of the code at `file_offset`. */
    bool (*address_of)(void *elf, uint64_t file_offset, uint64_t *address);
    /* The address of the first instruction of a process or its loader; it has no caller. */
    uint64_t (*entry)(void *elf);
    /* The start of the function at an address, from .eh_frame_hdr, so also without a symbol. */
    bool (*function_start)(void *elf, uint64_t address, uint64_t *start);
    size_t (*build_id)(void *elf, uint8_t id[PT_ELF_BUILD_ID_MAX]);
    bool (*find_symbol)(void *elf, const char *name, uint64_t *address);
    bool (*find_section)(void *elf, const char *name, uint64_t *address);
    /* The symbols of `count` ascending addresses, from .symtab of the file or its debug file,
     * .gnu_debugdata, .dynsym. */
    void (*symbols)(void *elf, const uint64_t *addresses, size_t count,
                    struct pt_elf_symbol *found);
    /* Stores the lines of an address, innermost first, and returns their count. 0: no debug
     * information. */
    size_t (*lines)(void *elf, uint64_t address, struct pt_elf_line into[PT_ELF_INLINES_MAX]);
};

struct pt_elf {
    const struct pt_elf_interface *module;
    void *state;
};

/* Is the module available? 0 or -errno with a message. */
int pt_elf_check(struct pt_err *err) PT_MUST_CHECK;

/* 0 or -errno with a message. */
int pt_elf_open(struct pt_elf *elf, const char *path, int fd, struct pt_err *err) PT_MUST_CHECK;
void pt_elf_close(struct pt_elf *elf);

/* A descriptor of an ELF file with the kernel's vdso, which is the same in all processes; the
 * caller closes it. -1: there is none. */
int pt_elf_vdso(void);

#endif
