/* The module "elf": profile/unwind/elf.h on libdw and libdwfl of elfutils. Each file is its own
 * Dwfl with one module at address 0, so that files cannot interfere. */
#include "profile/unwind/elf.h"

#include "base/mem.h"
#include "profile/unwind/cfi_rule.h"
#include "profile/unwind/eh_index.h"
#include "profile/model/nearest.h"

#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#define OPS_MAX 16

struct file {
    Dwfl *dwfl;
    Dwfl_Module *module;
    Elf *elf;
    GElf_Addr elf_bias; /* address in the Dwfl - address in the file */
    Dwarf_CFI *cfi;
    Dwarf_Addr cfi_bias;
    enum pt_machine machine;
};

static char *debug_path; /* NULL: libdwfl's own list */

static bool is_there(const char *format, ...) PT_PRINTF(1, 2);
static bool is_there(const char *format, ...) {
    char path[PATH_MAX];
    va_list args;
    va_start(args, format);
    int n = vsnprintf(path, sizeof path, format, args);
    va_end(args);
    return n > 0 && n < (int)sizeof path && access(path, R_OK) == 0;
}

static bool has_debug_file_by_id(Dwfl_Module *module) {
    const unsigned char *bits;
    GElf_Addr where;
    char hex[2 * PT_ELF_BUILD_ID_MAX + 1] = "";
    int size = dwfl_module_build_id(module, &bits, &where);
    if (size < 2 || size > PT_ELF_BUILD_ID_MAX)
        return false;
    for (int i = 0; i < size; i++)
        snprintf(hex + (size_t)i * 2, 3, "%02x", bits[i]);
    return is_there("/usr/lib/debug/.build-id/%.2s/%s.debug", hex, hex + 2);
}

/* Looks where libdwfl does: next to the file, in .debug, in /usr/lib/debug. */
static bool has_debug_file_by_name(const char *file, const char *link) {
    const char *slash = strrchr(file, '/');
    int directory = slash ? (int)(slash - file) : 0;
    const char *name = link ? link : slash ? slash + 1 : file;
    const char *suffix = link ? "" : ".debug";
    return is_there("%.*s/%s%s", directory, file, name, suffix) ||
           is_there("%.*s/.debug/%s%s", directory, file, name, suffix) ||
           is_there("/usr/lib/debug%.*s/%s%s", directory, file, name, suffix);
}

/* For a file that is not on this machine, libdwfl would ask a server (DEBUGINFOD_URLS). Loading the
 * client alone takes longer than resolving all symbols, and the user did not ask for network
 * access. */
static int find_debug_file(Dwfl_Module *module, void **user, const char *name, Dwarf_Addr base,
                           const char *file, const char *link, GElf_Word crc, char **found) {
    bool is_part = link && strchr(link, '/'); /* shared part of debug files (dwz) */
    if (!is_part && !has_debug_file_by_id(module) && !(file && has_debug_file_by_name(file, link)))
        return -1;
    return dwfl_standard_find_debuginfo(module, user, name, base, file, link, crc, found);
}

static const Dwfl_Callbacks callbacks = {
    .find_elf = dwfl_build_id_find_elf,
    .find_debuginfo = find_debug_file,
    .section_address = dwfl_offline_section_address,
    .debuginfo_path = &debug_path,
};

static void close_file(void *state) {
    struct file *f = state;
    if (f->dwfl)
        dwfl_end(f->dwfl);
    pt_free(f);
}

/* libdwfl closes the descriptor it is given. */
static bool report(struct file *f, const char *path, int fd) {
    int own = dup(fd);
    if (own < 0)
        return false;
    dwfl_report_begin(f->dwfl);
    f->module = dwfl_report_elf(f->dwfl, path, path, own, 0, false);
    if (!f->module)
        close(own);
    dwfl_report_end(f->dwfl, NULL, NULL);
    return f->module != NULL;
}

static void *open_file(const char *path, int fd) {
    struct file *f = pt_calloc(1, sizeof *f);
    f->dwfl = dwfl_begin(&callbacks);
    if (f->dwfl && report(f, path, fd))
        f->elf = dwfl_module_getelf(f->module, &f->elf_bias);
    GElf_Ehdr header;
    bool is_elf = f->elf && gelf_getehdr(f->elf, &header);
    if (!is_elf || (header.e_machine != EM_X86_64 && header.e_machine != EM_AARCH64)) {
        close_file(f);
        return NULL;
    }
    f->machine = header.e_machine == EM_AARCH64 ? PT_MACHINE_ARM64 : PT_MACHINE_X86_64;
    f->cfi = dwfl_module_eh_cfi(f->module, &f->cfi_bias);
    if (!f->cfi)
        f->cfi = dwfl_module_dwarf_cfi(f->module, &f->cfi_bias);
    return f;
}

static size_t copy_ops(const Dwarf_Op *ops, size_t count, struct pt_cfi_op into[OPS_MAX]) {
    for (size_t i = 0; i < count && i < OPS_MAX; i++)
        into[i] =
            (struct pt_cfi_op){ ops[i].atom, (int64_t)ops[i].number, (int64_t)ops[i].number2 };
    return count <= OPS_MAX ? count : 0;
}

/* libdw returns no operations for "same value" and for "undefined"; only the latter sets `ops`. */
static struct pt_cfi_value read_register(Dwarf_Frame *frame, int number,
                                         struct pt_cfi_op into[OPS_MAX]) {
    Dwarf_Op memory[3], *ops = NULL;
    size_t count = 0;
    if (number < 0 || dwarf_frame_register(frame, number, memory, &ops, &count))
        return (struct pt_cfi_value){ .form = PT_CFI_UNDEFINED };
    if (count == 0)
        return (struct pt_cfi_value){ .form = ops ? PT_CFI_UNDEFINED : PT_CFI_SAME };
    return (struct pt_cfi_value){ PT_CFI_OPS, into, copy_ops(ops, count, into) };
}

static struct pt_unwind_rule rule_of(void *state, uint64_t address) {
    const struct file *f = state;
    struct pt_cfi_op ops[PT_RULE_SAVED + 2][OPS_MAX];
    struct pt_cfi cfi = { .machine = f->machine };
    Dwarf_Frame *frame = NULL;
    Dwarf_Op *frame_ops;
    size_t count;
    if (!f->cfi || dwarf_cfi_addrframe(f->cfi, address + f->elf_bias - f->cfi_bias, &frame))
        return (struct pt_unwind_rule){ 0 };
    int return_register = dwarf_frame_info(frame, NULL, NULL, &cfi.is_signal);
    if (dwarf_frame_cfa(frame, &frame_ops, &count) == 0)
        cfi.frame = (struct pt_cfi_value){ PT_CFI_OPS, ops[0], copy_ops(frame_ops, count, ops[0]) };
    cfi.return_address = read_register(frame, return_register, ops[1]);
    for (unsigned i = 0; i < PT_RULE_SAVED; i++)
        cfi.saved[i] =
            read_register(frame, pt_cfi_dwarf_register(f->machine, PT_REGISTER_FP + i), ops[2 + i]);
    pt_free(frame);
    return pt_cfi_rule(&cfi);
}

/* Mappings start at page boundaries, so a segment is mapped from a little before its first byte,
 * and two segments may share a page. Code is in the executable one. */
static bool address_of(void *state, uint64_t file_offset, uint64_t *address) {
    const struct file *f = state;
    size_t count;
    if (elf_getphdrnum(f->elf, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(f->elf, (int)i, &header) || header.p_type != PT_LOAD ||
            !(header.p_flags & PF_X))
            continue;
        uint64_t slack = header.p_offset & 4095;
        uint64_t within = file_offset - (header.p_offset - slack);
        *address = header.p_vaddr - slack + within;
        if (within < header.p_filesz + slack)
            return true;
    }
    return false;
}

static uint64_t entry_of(void *state) {
    const struct file *f = state;
    GElf_Ehdr header;
    return gelf_getehdr(f->elf, &header) ? header.e_entry : 0;
}

static bool function_start(void *state, uint64_t address, uint64_t *start) {
    const struct file *f = state;
    size_t count;
    if (elf_getphdrnum(f->elf, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(f->elf, (int)i, &header) || header.p_type != PT_GNU_EH_FRAME)
            continue;
        Elf_Data *data =
            elf_getdata_rawchunk(f->elf, (int64_t)header.p_offset, header.p_filesz, ELF_T_BYTE);
        return data && pt_eh_index_find((struct pt_str){ data->d_buf, data->d_size },
                                        header.p_vaddr, address, start);
    }
    return false;
}

static size_t build_id_of(void *state, uint8_t id[PT_ELF_BUILD_ID_MAX]) {
    const struct file *f = state;
    const unsigned char *bits;
    GElf_Addr where;
    int size = dwfl_module_build_id(f->module, &bits, &where);
    if (size <= 0 || size > PT_ELF_BUILD_ID_MAX)
        return 0;
    memcpy(id, bits, (size_t)size);
    return (size_t)size;
}

static bool find_in_section(const struct file *f, Elf_Scn *section, const GElf_Shdr *header,
                            const char *name, uint64_t *address) {
    Elf_Data *data = elf_getdata(section, NULL);
    size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
    for (size_t i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, (int)i, &symbol) || symbol.st_shndx == SHN_UNDEF)
            continue;
        const char *found = elf_strptr(f->elf, header->sh_link, symbol.st_name);
        if (found && strcmp(found, name) == 0) {
            *address = symbol.st_value;
            return true;
        }
    }
    return false;
}

static bool find_symbol(void *state, const char *name, uint64_t *address) {
    const struct file *f = state;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(f->elf, section));) {
        GElf_Shdr header;
        if (gelf_getshdr(section, &header) &&
            (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB) &&
            find_in_section(f, section, &header, name, address))
            return true;
    }
    return false;
}

static bool find_section(void *state, const char *name, uint64_t *address) {
    const struct file *f = state;
    size_t names;
    if (elf_getshdrstrndx(f->elf, &names))
        return false;
    for (Elf_Scn *section = NULL; (section = elf_nextscn(f->elf, section));) {
        GElf_Shdr header;
        const char *found =
            gelf_getshdr(section, &header) ? elf_strptr(f->elf, names, header.sh_name) : NULL;
        if (found && strcmp(found, name) == 0) {
            *address = header.sh_addr;
            return true;
        }
    }
    return false;
}

/* The symbol that starts nearest is the most precise; among symbols at one address, people know the
 * global one. */
static void offer(const GElf_Sym *symbol, uint64_t start, const char *name,
                  const uint64_t *addresses, size_t count, struct pt_elf_symbol *found) {
    bool is_global = GELF_ST_BIND(symbol->st_info) != STB_LOCAL;
    /* assembler code has symbols without a size: these cover only the first bytes */
    uint64_t size = symbol->st_size ? symbol->st_size : 16;
    for (size_t i = pt_nearest_first(addresses, count, start);
         i < count && addresses[i] - start < size; i++) {
        const struct pt_elf_symbol *old = &found[i];
        bool is_better = !old->name || start > old->start ||
                         (start == old->start && is_global && !old->is_global);
        if (is_better)
            found[i] = (struct pt_elf_symbol){ name, start, start + symbol->st_size, is_global };
    }
}

static void symbols_of(void *state, const uint64_t *addresses, size_t count,
                       struct pt_elf_symbol *found) {
    const struct file *f = state;
    memset(found, 0, count * sizeof *found);
    int symbol_count = dwfl_module_getsymtab(f->module);
    for (int i = 1; i < symbol_count; i++) {
        GElf_Sym symbol;
        GElf_Addr address;
        const char *name =
            dwfl_module_getsym_info(f->module, i, &symbol, &address, NULL, NULL, NULL);
        if (!name || !*name || symbol.st_shndx == SHN_UNDEF)
            continue;
        int type = GELF_ST_TYPE(symbol.st_info);
        if (type == STT_FUNC || type == STT_GNU_IFUNC || type == STT_NOTYPE)
            offer(&symbol, address - f->elf_bias, name, addresses, count, found);
    }
}

static const char *function_name(Dwarf_Die *die) {
    Dwarf_Attribute memory;
    Dwarf_Attribute *attribute = dwarf_attr_integrate(die, DW_AT_linkage_name, &memory);
    const char *name = attribute ? dwarf_formstring(attribute) : NULL;
    return name ? name : dwarf_diename(die);
}

static uint32_t number_of(Dwarf_Die *die, unsigned attribute_name) {
    Dwarf_Attribute memory;
    Dwarf_Word value = 0;
    if (dwarf_formudata(dwarf_attr_integrate(die, attribute_name, &memory), &value))
        return 0;
    return value <= UINT32_MAX ? (uint32_t)value : 0;
}

static const char *call_file(Dwarf_Die *unit, Dwarf_Die *die) {
    Dwarf_Files *files;
    size_t count;
    uint32_t number = number_of(die, DW_AT_call_file);
    if (number == 0 || dwarf_getsrcfiles(unit, &files, &count) || number >= count)
        return NULL;
    return dwarf_filesrc(files, number, NULL, NULL);
}

/* The innermost line comes from the line table, each outer one from the call site of the inner
 * function.
 */
static size_t walk_scopes(Dwarf_Die *unit, Dwarf_Die *scopes, int count, struct pt_elf_line place,
                          struct pt_elf_line into[PT_ELF_INLINES_MAX]) {
    size_t found = 0;
    for (int i = 0; i < count && found < PT_ELF_INLINES_MAX; i++) {
        int tag = dwarf_tag(&scopes[i]);
        if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
            continue;
        place.function = function_name(&scopes[i]);
        place.first_line = number_of(&scopes[i], DW_AT_decl_line);
        place.is_inlined = tag == DW_TAG_inlined_subroutine;
        into[found++] = place;
        if (!place.is_inlined)
            break;
        place.file = call_file(unit, &scopes[i]);
        place.line = number_of(&scopes[i], DW_AT_call_line);
    }
    return found;
}

/* libdw would end the process with another code. */
__attribute__((noreturn)) static void end_without_memory(void) {
    pt_mem_exhausted(0);
}

/* By address alone, libdw leads from an inlined function to its definition, not to the function it
 * is inlined into; only the innermost scope knows its enclosing scopes. */
static size_t lines_of(void *state, uint64_t address, struct pt_elf_line into[PT_ELF_INLINES_MAX]) {
    const struct file *f = state;
    Dwarf_Addr bias, at = address + f->elf_bias;
    Dwarf *dwarf = dwfl_module_getdwarf(f->module, &bias);
    if (dwarf)
        (void)dwarf_new_oom_handler(dwarf, end_without_memory);
    Dwarf_Die *unit = dwfl_module_addrdie(f->module, at, &bias), *written = NULL, *scopes = NULL;
    if (!unit)
        return 0;
    struct pt_elf_line place = { 0 };
    Dwfl_Line *line = dwfl_module_getsrc(f->module, at);
    int number = 0;
    if (line)
        place.file = dwfl_lineinfo(line, NULL, &number, NULL, NULL, NULL);
    place.line = number > 0 ? (uint32_t)number : 0;
    int count = dwarf_getscopes(unit, at - bias, &written);
    count = count > 0 ? dwarf_getscopes_die(&written[0], &scopes) : 0;
    size_t found = count > 0 ? walk_scopes(unit, scopes, count, place, into) : 0;
    pt_free(written);
    pt_free(scopes);
    return found;
}

static const struct pt_elf_interface interface = {
    .open = open_file,
    .close = close_file,
    .rule = rule_of,
    .address_of = address_of,
    .entry = entry_of,
    .function_start = function_start,
    .build_id = build_id_of,
    .find_symbol = find_symbol,
    .find_section = find_section,
    .symbols = symbols_of,
    .lines = lines_of,
};

static const char *library_version(void) {
    return dwfl_version(NULL);
}

PT_MODULE(PT_ELF_VERSION, &interface, "elfutils", library_version);
