/* The module "elf" on files that are known. */
#include "profile/unwind/elf.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

/* As lld lays files out: code begins in the page where data ends, 4 KiB further in memory. */
static int file_of_two_segments(void) {
    struct {
        Elf64_Ehdr header;
        Elf64_Phdr segments[2];
    } file = { .header = { .e_ident = { 0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT },
                           .e_type = ET_DYN,
                           .e_machine = EM_X86_64,
                           .e_version = EV_CURRENT,
                           .e_phoff = sizeof file.header,
                           .e_ehsize = sizeof file.header,
                           .e_phentsize = sizeof *file.segments,
                           .e_phnum = 2,
                           .e_shentsize = sizeof(Elf64_Shdr) },
               .segments = { { .p_type = PT_LOAD,
                               .p_flags = PF_R,
                               .p_filesz = 0x2e00,
                               .p_memsz = 0x2e00,
                               .p_align = 4096 },
                             { .p_type = PT_LOAD,
                               .p_flags = PF_R | PF_X,
                               .p_offset = 0x2e00,
                               .p_vaddr = 0x3e00,
                               .p_filesz = 0x1000,
                               .p_memsz = 0x1000,
                               .p_align = 4096 } } };
    int fd = memfd_create("two", MFD_CLOEXEC);
    assert_true(fd >= 0 && write(fd, &file, sizeof file) == sizeof file);
    assert_int_equal(ftruncate(fd, 0x3e00), 0);
    return fd;
}

static void test_segments(void **state) {
    (void)state;
    struct pt_elf elf;
    uint64_t address;
    if (pt_elf_check(NULL))
        skip(); /* no libdw here */
    int fd = file_of_two_segments();
    assert_int_equal(pt_elf_open(&elf, "two", fd, NULL), 0);
    assert_true(elf.module->address_of(elf.state, 0x2000, &address));
    assert_int_equal(address, 0x3000);
    assert_true(elf.module->address_of(elf.state, 0x3000, &address));
    assert_int_equal(address, 0x4000);
    assert_false(elf.module->address_of(elf.state, 0x1000, &address));
    pt_elf_close(&elf);
    close(fd);
}

/* A function of this very program: known to its symbols, its rules and its lines. */
static void test_own_file(void **state) {
    (void)state;
    struct pt_elf elf;
    struct pt_elf_symbol symbol;
    uint64_t address, start;
    if (pt_elf_check(NULL))
        skip();
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_int_equal(pt_elf_open(&elf, "/proc/self/exe", fd, NULL), 0);
    assert_true(elf.module->find_symbol(elf.state, "main", &address));
    address += 5;
    elf.module->symbols(elf.state, &address, 1, &symbol);
    assert_string_equal(symbol.name, "main");
    assert_int_equal(symbol.start, address - 5);
    assert_true(elf.module->function_start(elf.state, address, &start));
    assert_int_equal(start, address - 5);
    assert_int_not_equal(elf.module->rule(elf.state, address).kind, PT_RULE_NONE);
    assert_false(elf.module->find_symbol(elf.state, "no_such_function", &address));
    pt_elf_close(&elf);
    close(fd);
}

/* An address inside the call of this function. */
static __attribute__((noinline)) uint64_t where(void) {
    __asm__ volatile("");
    return (uint64_t)(uintptr_t)__builtin_return_address(0) - 1;
}

enum { INNER = __LINE__ + 1 };
static inline __attribute__((always_inline)) uint64_t inner(uint64_t more) {
    return where() + more;
}

enum { OUTER = __LINE__ + 1 };
static __attribute__((noinline)) uint64_t outer(uint64_t more) {
    uint64_t at = inner(more) + more;
    return at;
}

static void test_lines(void **state) {
    (void)state;
    struct pt_elf elf;
    struct pt_elf_line lines[PT_ELF_INLINES_MAX];
    struct pt_elf_symbol symbols[2];
    uint64_t start;
    if (pt_elf_check(NULL))
        skip();
    uint64_t (*volatile function)(uint64_t) = outer;
    int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    assert_int_equal(pt_elf_open(&elf, "/proc/self/exe", fd, NULL), 0);
    assert_true(elf.module->find_symbol(elf.state, "outer", &start));
    uint64_t address = function(0) - (uint64_t)(uintptr_t)function + start;
    const uint64_t addresses[] = { start, address };
    elf.module->symbols(elf.state, addresses, 2, symbols);
    for (int i = 0; i < 2; i++) {
        assert_string_equal(symbols[i].name, "outer");
        assert_int_equal(symbols[i].start, start);
        assert_true(symbols[i].end > address);
        assert_false(symbols[i].is_global);
    }
    size_t count = elf.module->lines(elf.state, address, lines);
    assert_int_equal(count, 2);
    assert_string_equal(lines[0].function, "inner");
    assert_int_equal(lines[0].line, INNER + 1);
    assert_int_equal(lines[0].first_line, INNER);
    assert_true(lines[0].is_inlined);
    assert_non_null(strstr(lines[0].file, "elf_test.c"));
    assert_string_equal(lines[1].function, "outer");
    assert_int_equal(lines[1].line, OUTER + 1);
    assert_int_equal(lines[1].first_line, OUTER);
    assert_false(lines[1].is_inlined);
    assert_non_null(strstr(lines[1].file, "elf_test.c"));
    assert_int_equal(elf.module->lines(elf.state, 8, lines), 0);
    pt_elf_close(&elf);
    assert_null(elf.state);
    assert_null(elf.module);
    pt_elf_close(&elf); /* may be closed again */
    close(fd);
}

static void test_vdso(void **state) {
    (void)state;
    struct pt_elf elf;
    int fd = pt_elf_vdso();
    if (pt_elf_check(NULL) || fd < 0)
        skip();
    assert_int_equal(pt_elf_open(&elf, "[vdso]", fd, NULL), 0);
    uint64_t address;
    assert_true(elf.module->address_of(elf.state, 0, &address));
    pt_elf_close(&elf);
    close(fd);
}

static void test_no_elf(void **state) {
    (void)state;
    struct pt_elf elf;
    struct pt_err err;
    if (pt_elf_check(NULL))
        skip();
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    assert_int_equal(pt_elf_open(&elf, "/dev/null", fd, &err), -ENOEXEC);
    assert_non_null(strstr(err.text, "/dev/null"));
    close(fd);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        { "C242: code that shares a page with data is found where it runs", test_segments },
        { "C242: symbols, rules and starts of a function agree", test_own_file },
        { "C242: a line of an inlined function has the lines of its callers", test_lines },
        { "C242: the kernel's own code in a process is a file like others", test_vdso },
        { "C242: what is not an ELF file is refused", test_no_elf },
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
