/* Feeds arbitrary bytes to the module "elf": a file that may be anything, asked for all it could
 * tell. The module is what a process loads, so it is opened as the program opens it. */
#include "profile/unwind/elf.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(struct pt_elf *elf, uint64_t address) {
    struct pt_elf_line lines[PT_ELF_INLINES_MAX];
    struct pt_elf_symbol symbol;
    uint8_t id[PT_ELF_BUILD_ID_MAX];
    uint64_t found;
    struct pt_unwind_rule rule = elf->module->rule(elf->state, address);
    if (rule.base >= PT_REGISTER_COUNT)
        abort();
    (void)elf->module->address_of(elf->state, address, &found);
    (void)elf->module->function_start(elf->state, address, &found);
    (void)elf->module->entry(elf->state);
    if (elf->module->build_id(elf->state, id) > PT_ELF_BUILD_ID_MAX)
        abort();
    (void)elf->module->find_symbol(elf->state, "_PyRuntime", &found);
    (void)elf->module->find_section(elf->state, ".PyRuntime", &found);
    elf->module->symbols(elf->state, &address, 1, &symbol);
    if (elf->module->lines(elf->state, address, lines) > PT_ELF_INLINES_MAX)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_elf elf;
    int fd = memfd_create("elf", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    if (!pt_elf_open(&elf, "/nowhere", fd, NULL))
        for (uint64_t address = 0; address < 0x4000; address += 0x7ff)
            ask(&elf, address);
    pt_elf_close(&elf);
    close(fd);
    return 0;
}
