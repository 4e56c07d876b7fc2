#include "profile/unwind/elf.h"

#include <elf.h>
#include <errno.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

int pt_elf_check(struct pt_err *err) {
    const void *interface;
    return pt_module_open("elf", PT_ELF_VERSION, &interface, err);
}

int pt_elf_open(struct pt_elf *elf, const char *path, int fd, struct pt_err *err) {
    const void *interface;
    *elf = (struct pt_elf){ 0 };
    int rc = pt_module_open("elf", PT_ELF_VERSION, &interface, err);
    if (rc)
        return rc;
    elf->module = interface;
    elf->state = elf->module->open(path, fd);
    return elf->state ? 0 : pt_fail(err, -ENOEXEC, "%s is not an ELF file for this machine", path);
}

void pt_elf_close(struct pt_elf *elf) {
    if (elf->state)
        elf->module->close(elf->state);
    *elf = (struct pt_elf){ 0 };
}

int pt_elf_vdso(void) {
    const Elf64_Ehdr *image = (const void *)getauxval(AT_SYSINFO_EHDR);
    if (!image)
        return -1;
    int fd = memfd_create("vdso", MFD_CLOEXEC);
    /* the section headers are at the end of the image */
    size_t size = (size_t)image->e_shoff + (size_t)image->e_shnum * image->e_shentsize;
    if (fd >= 0 && write(fd, image, size) != (ssize_t)size) {
        close(fd);
        fd = -1;
    }
    return fd;
}
