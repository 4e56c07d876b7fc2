/* Names of frames: from a file that is scripted here, from this very program, from kallsyms. */
#include "test.h"
#include "tree.h"

#include "profile/names/debug_files.h"
#include "profile/names/debuginfod.h"
#include "profile/names/frame_names.h"
#include "profile/names/jit_map.h"
#include "profile/names/kernel_names.h"
#include "profile/names/late_symbols.h"

#include <errno.h>

static const struct pt_profile_value_type samples_type = { "samples", PT_PROFILE_SAMPLES };

/* --- frames of a scripted file --- */

static void scripted_symbols(void *elf, const uint64_t *addresses, size_t count,
                             struct pt_elf_symbol *found) {
    (void)elf;
    for (size_t i = 0; i < count; i++)
        found[i] =
            (struct pt_elf_symbol){ .name = addresses[i] == 0x10 || addresses[i] == 0x18 ? "_Z3outv"
                                            : addresses[i] == 0x20                       ? "plain"
                                                                                         : NULL };
}

static size_t scripted_lines(void *elf, uint64_t address,
                             struct pt_elf_line into[PT_ELF_INLINES_MAX]) {
    (void)elf;
    if (address == 0x10) {
        into[0] = (struct pt_elf_line){ "in", "in.h", 5, 3, true };
        into[1] = (struct pt_elf_line){ "out", "out.cc", 9, 8, false };
        return 2;
    }
    if (address == 0x18) {
        into[0] = (struct pt_elf_line){ NULL, "in.h", 6, 0, true };
        return 1;
    }
    if (address == 0x60) {
        into[0] = (struct pt_elf_line){ NULL, "x.c", 77, 0, false };
        return 1;
    }
    if (address == 0x68) {
        into[0] = (struct pt_elf_line){ "c_function", NULL, 0, 1, false };
        return 1;
    }
    return 0;
}

static bool scripted_start(void *elf, uint64_t address, uint64_t *start) {
    (void)elf;
    *start = 0x28;
    return address == 0x30 || address == 0x50;
}

static const struct pt_elf_interface scripted = { .symbols = scripted_symbols,
                                                  .lines = scripted_lines,
                                                  .function_start = scripted_start };

static bool wants_all(const struct pt_frame_names *n, uint32_t old) {
    return n->old[old].line != 99;
}

static uint32_t text(struct pt_profile *p, const char *words) {
    return pt_profile_string(p, pt_str_from(words));
}

static void add_sample(struct pt_profile *p, int64_t time_ns, uint32_t stack) {
    struct pt_profile_sample s = { .time_ns = time_ns, .stack = stack, .thread = PT_PROFILE_NONE };
    assert_true(pt_profile_sample(p, &s, &(int64_t){ 1 }));
}

/* name@file:line+ of each frame, the root first; + means inlined. */
static void assert_stack(const struct pt_profile *p, uint32_t stack, const char *expected) {
    char words[512] = "", longer[512], buffer[PT_PROFILE_NAME_BYTES];
    for (uint32_t s = stack; s != PT_PROFILE_NONE; s = p->stacks.at[s].parent) {
        const struct pt_profile_frame *f = &p->frames.at[p->stacks.at[s].frame];
        struct pt_str name = pt_profile_frame_name(p, p->stacks.at[s].frame, buffer);
        struct pt_str file = PT_STR("");
        if (f->function != PT_PROFILE_NONE)
            file = pt_profile_text(p, p->functions.at[f->function].file);
        snprintf(longer, sizeof longer, "%.*s%s%.*s:%u%s%s%s", (int)name.len, name.at,
                 file.len ? "@" : "", (int)file.len, file.at, f->line,
                 f->flags & PT_FRAME_INLINED ? "+" : "", *words ? " " : "", words);
        memcpy(words, longer, sizeof words);
    }
    assert_string_equal(words, expected);
}

static void test_scripted_file(void **state) {
    (void)state;
    static const uint64_t addresses[] = { 0x68, 0x60, 0x50, 0x40, 0x30, 0x20, 0x18, 0x10 };
    static const char *const expected[] = {
        "c_function:0",   "libx.so+0x60:77", "exported:0",    "libx.so+0x40:0",
        "libx.so+0x28:0", "plain:0",         "out()@in.h:6+", "out()@out.cc:9 in@in.h:5+",
    };
    struct pt_profile p;
    struct pt_frame_names n;
    struct pt_frame_groups groups;
    uint32_t stacks[PT_COUNT(addresses)];
    struct pt_elf elf = { &scripted, NULL };
    pt_profile_init(&p, &samples_type, 1);
    uint32_t other = pt_profile_module(&p, (struct pt_profile_module){ text(&p, "other"), 0 });
    uint32_t module =
        pt_profile_module(&p, (struct pt_profile_module){ text(&p, "/lib/libx.so"), 0 });
    struct pt_profile_frame kept = { PT_PROFILE_NONE, module, 99, 0, 0x10 };
    uint32_t root = pt_profile_stack(&p, PT_PROFILE_NONE, pt_profile_frame(&p, kept));
    for (size_t i = 0; i < PT_COUNT(addresses); i++) {
        struct pt_profile_frame f = { PT_PROFILE_NONE, module, 0, 0, addresses[i] };
        if (addresses[i] == 0x50)
            f.function = pt_profile_function(
                &p, (struct pt_profile_function){
                        .name = text(&p, "exported"), .module = module, .kind = PT_KIND_NATIVE });
        stacks[i] = pt_profile_stack(&p, PT_PROFILE_NONE, pt_profile_frame(&p, f));
        add_sample(&p, 0, stacks[i]);
    }
    struct pt_profile_frame elsewhere = { PT_PROFILE_NONE, other, 0, 0, 5 };
    add_sample(&p, 0, pt_profile_stack(&p, root, pt_profile_frame(&p, elsewhere)));
    struct pt_profile_frame nowhere = { PT_PROFILE_NONE, PT_PROFILE_NONE, 0, 0, 6 };
    add_sample(&p, 0, pt_profile_stack(&p, root, pt_profile_frame(&p, nowhere)));
    add_sample(&p, 0, PT_PROFILE_NONE);
    pt_profile_growth(&p, &(struct pt_profile_growth){ .stack = stacks[7] });
    pt_frame_names_begin(&n, &p);
    assert_int_equal(p.frames.count, 0);
    assert_int_equal(p.stacks.count, 0);
    pt_frame_groups_make(&groups, &n, wants_all);
    assert_int_equal(groups.count, 2);
    assert_int_equal(groups.list[0].module, other);
    assert_int_equal(groups.list[0].count, 1);
    assert_int_equal(groups.list[0].addresses[0], 5);
    assert_int_equal(groups.list[1].module, module);
    assert_int_equal(groups.list[1].count, PT_COUNT(addresses));
    for (size_t i = 0; i < PT_COUNT(addresses); i++)
        assert_int_equal(groups.list[1].addresses[i], addresses[PT_COUNT(addresses) - 1 - i]);
    pt_frame_names_keep(&n, groups.list[0].frames[0]);
    assert_int_equal(pt_frame_names_from_elf(&n, &elf, &groups.list[1]), 5);
    pt_frame_groups_release(&groups);
    assert_null(groups.list);
    pt_frame_names_end(&n);
    for (size_t i = 0; i < PT_COUNT(expected); i++)
        assert_stack(&p, p.samples.at[i].stack, expected[i]);
    assert_stack(&p, p.samples.at[8].stack, "libx.so+0x10:99 other+0x5:0");
    assert_stack(&p, p.samples.at[9].stack, "libx.so+0x10:99 0x6:0");
    assert_int_equal(p.samples.at[10].stack, PT_PROFILE_NONE);
    assert_int_equal(p.growth.at[0].stack, p.samples.at[7].stack);
    /* functions know their first line and their module */
    uint32_t inner = p.frames.at[p.stacks.at[p.samples.at[7].stack].frame].function;
    assert_int_equal(p.functions.at[inner].line, 3);
    assert_int_equal(p.functions.at[inner].module, module);
    assert_int_equal(p.functions.at[inner].kind, PT_KIND_NATIVE);
    pt_profile_release(&p);
}

/* Versions are added in no order of frames; a sample gets the one of its time. */
static void test_versions(void **state) {
    (void)state;
    struct pt_profile p;
    struct pt_frame_names n;
    uint32_t frames[3], stacks[3];
    pt_profile_init(&p, &samples_type, 1);
    for (uint32_t i = 0; i < 3; i++) {
        frames[i] = pt_profile_frame(&p, (struct pt_profile_frame){ .function = PT_PROFILE_NONE,
                                                                    .module = PT_PROFILE_NONE,
                                                                    .address = i });
        stacks[i] = pt_profile_stack(&p, i ? stacks[i - 1] : PT_PROFILE_NONE, frames[i]);
    }
    static const int64_t times[] = { 99, 100, 199, 200, 300 };
    for (size_t i = 0; i < PT_COUNT(times); i++)
        add_sample(&p, times[i], stacks[2]);
    add_sample(&p, 300, stacks[0]);
    pt_frame_names_begin(&n, &p);
    for (uint32_t i = 0; i < 3; i++)
        pt_frame_names_set(&n, frames[i], PT_STR("old"), PT_KIND_JIT);
    pt_frame_names_set_from(&n, frames[2], 100, PT_STR("leaf100"), PT_KIND_JIT);
    pt_frame_names_set_from(&n, frames[1], 100, PT_STR("middle100"), PT_KIND_JIT);
    pt_frame_names_set_from(&n, frames[1], 200, PT_STR("middle200"), PT_KIND_JIT);
    size_t count = n.version_count;
    n.version_count = PT_FRAME_VERSIONS_MAX; /* full: ignored */
    pt_frame_names_set_from(&n, frames[0], 0, PT_STR("too many"), PT_KIND_JIT);
    assert_int_equal(n.version_count, PT_FRAME_VERSIONS_MAX);
    n.version_count = count;
    pt_frame_names_end(&n);
    assert_stack(&p, p.samples.at[0].stack, "old:0 old:0 old:0");
    assert_stack(&p, p.samples.at[1].stack, "old:0 middle100:0 leaf100:0");
    assert_stack(&p, p.samples.at[2].stack, "old:0 middle100:0 leaf100:0");
    assert_stack(&p, p.samples.at[3].stack, "old:0 middle200:0 leaf100:0");
    assert_stack(&p, p.samples.at[4].stack, "old:0 middle200:0 leaf100:0");
    assert_stack(&p, p.samples.at[5].stack, "old:0");
    uint32_t function = p.frames.at[p.stacks.at[p.samples.at[4].stack].frame].function;
    assert_int_equal(p.functions.at[function].kind, PT_KIND_JIT);
    pt_profile_release(&p);
}

/* --- files with symbols --- */

struct own {
    char path[PATH_MAX], build_id[2 * PT_ELF_BUILD_ID_MAX + 1];
    uint64_t main_address;
};

/* This program; it has symbols, and a build id if the linker makes one. */
static bool find_own(struct own *own) {
    struct pt_elf elf;
    uint8_t id[PT_ELF_BUILD_ID_MAX];
    ssize_t n = readlink("/proc/self/exe", own->path, sizeof own->path - 1);
    if (pt_elf_check(NULL) || is_emulated() || n < 0)
        return false;
    own->path[n] = 0;
    int fd = open(own->path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(pt_elf_open(&elf, own->path, fd, NULL), 0);
    size_t size = elf.module->build_id(elf.state, id);
    own->build_id[0] = 0;
    for (size_t i = 0; i < size; i++)
        snprintf(own->build_id + 2 * i, 3, "%02x", id[i]);
    assert_true(elf.module->find_symbol(elf.state, "main", &own->main_address));
    pt_elf_close(&elf);
    close(fd);
    return size > 0;
}

struct server {
    const char *path; /* NULL: has nothing */
    int asked, fd;
    char build_id[200];
};

static int serve(void *arg, const char *build_id) {
    struct server *s = arg;
    s->asked++;
    pt_str_copy(s->build_id, sizeof s->build_id, pt_str_from(build_id));
    s->fd = s->path ? open(s->path, O_RDONLY | O_CLOEXEC) : -1;
    return s->fd;
}

static int open_file(struct pt_debug_files *files, const char *path, const char *build_id) {
    struct pt_elf elf = { 0 };
    int rc = pt_debug_files_open(files, path, build_id, &elf);
    assert_int_equal(elf.state != NULL, rc == 0);
    pt_elf_close(&elf);
    return rc;
}

static void test_directories(void **state) {
    (void)state;
    struct tree t;
    struct pt_err err = { "" };
    tree_make(&t);
    tree_put(&t, "file", "");
    char file[PATH_MAX], missing[PATH_MAX];
    pt_str_copy(file, sizeof file, pt_str_from(tree_path(&t, "file")));
    pt_str_copy(missing, sizeof missing, pt_str_from(tree_path(&t, "missing")));
    const char *directories[] = { t.root, file, missing };
    struct pt_debug_files files = { .directories = directories, .directory_count = 1 };
    assert_int_equal(pt_debug_files_check(&files, &err), 0);
    files.directory_count = 2;
    assert_int_equal(pt_debug_files_check(&files, &err), -ENOTDIR);
    assert_non_null(strstr(err.text, file));
    files.directories = directories + 2;
    files.directory_count = 1;
    assert_int_equal(pt_debug_files_check(&files, &err), -ENOENT);
    assert_non_null(strstr(err.text, missing));
    tree_remove(&t);
}

static void test_build_ids(void **state) {
    (void)state;
    char id[2 * PT_ELF_BUILD_ID_MAX + 3];
    struct server server = { 0 };
    struct pt_debug_files files = { .fetch = serve, .fetch_arg = &server };
    memset(id, 'a', sizeof id);
    static const size_t lengths[] = { 0, 3, 4, 2 * PT_ELF_BUILD_ID_MAX,
                                      2 * PT_ELF_BUILD_ID_MAX + 1 };
    for (size_t i = 0; i < PT_COUNT(lengths); i++) {
        id[lengths[i]] = 0;
        server.asked = 0;
        assert_int_equal(open_file(&files, "", id), -ENOENT);
        assert_int_equal(server.asked, i == 2 || i == 3);
        id[lengths[i]] = 'a';
    }
    server.asked = 0;
    assert_int_equal(open_file(&files, "", "abcD"), -ENOENT);
    assert_int_equal(open_file(&files, "", "../abcd"), -ENOENT);
    assert_int_equal(open_file(&files, "", "abcdg"), -ENOENT);
    assert_int_equal(server.asked, 0);
    assert_int_equal(open_file(&files, "", "0123456789abcdef"), -ENOENT);
    assert_string_equal(server.build_id, "0123456789abcdef");
    pt_debug_files_release(&files);
}

static void test_places(void **state) {
    (void)state;
    struct own own;
    struct tree t;
    char name[PATH_MAX];
    if (!find_own(&own))
        skip(); /* no libdw, or no build id */
    tree_make(&t);
    struct server server = { 0 };
    const char *const directories[] = { "/nonexistent", t.root };
    struct pt_debug_files files = {
        .directories = directories, .directory_count = 2, .fetch = serve, .fetch_arg = &server
    };
    /* the layout of distributions: found without a scan */
    snprintf(name, sizeof name, ".build-id/%.2s/%s.debug", own.build_id, own.build_id + 2);
    tree_put(&t, name, "");
    unlink(tree_path(&t, name));
    assert_int_equal(symlink(own.path, tree_path(&t, name)), 0);
    assert_int_equal(open_file(&files, "", own.build_id), 0);
    assert_false(files.is_scanned);
    unlink(tree_path(&t, name));
    /* any name in the directory, 16 levels deep; what is not an ELF file does not count */
    snprintf(name, sizeof name, "1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g");
    tree_directory(&t, name);
    tree_put(&t, "text", "not an ELF file");
    tree_put(&t, "short", "\x7f");
    tree_put(&t, "damaged",
             "\x7f"
             "ELF and no more");
    assert_int_equal(mkfifo(tree_path(&t, "fifo"), 0600), 0);
    snprintf(name, sizeof name, "1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/x.debug");
    assert_int_equal(symlink(own.path, tree_path(&t, name)), 0);
    assert_int_equal(open_file(&files, "", own.build_id), 0);
    assert_true(files.is_scanned);
    assert_int_equal(files.count, 1);
    assert_string_equal(files.list[0].build_id, own.build_id);
    assert_string_equal(files.list[0].path, tree_path(&t, name));
    assert_int_equal(server.asked, 0);
    /* the list is made once, and a file that is gone is not used */
    unlink(tree_path(&t, name));
    assert_int_equal(open_file(&files, "", own.build_id), -ENOENT);
    assert_int_equal(server.asked, 1);
    pt_debug_files_release(&files);
    assert_int_equal(files.count, 0);
    /* one level deeper is too deep */
    files.is_scanned = false;
    snprintf(name, sizeof name, "1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h");
    tree_directory(&t, name);
    snprintf(name, sizeof name, "1/2/3/4/5/6/7/8/9/a/b/c/d/e/f/g/h/x.debug");
    assert_int_equal(symlink(own.path, tree_path(&t, name)), 0);
    assert_int_equal(open_file(&files, "", own.build_id), -ENOENT);
    assert_int_equal(files.count, 0);
    pt_debug_files_release(&files);
    tree_remove(&t);
}

static void test_other_places(void **state) {
    (void)state;
    struct own own;
    char other[2 * PT_ELF_BUILD_ID_MAX + 1];
    if (!find_own(&own))
        skip();
    pt_str_copy(other, sizeof other, pt_str_from(own.build_id));
    other[0] = other[0] == 'a' ? 'b' : 'a';
    struct server server = { .path = own.path };
    struct pt_debug_files files = { .fetch = serve, .fetch_arg = &server };
    /* the server: its descriptor is closed, its file must be the right one */
    assert_int_equal(open_file(&files, "", own.build_id), 0);
    assert_int_equal(server.asked, 1);
    assert_string_equal(server.build_id, own.build_id);
    assert_int_equal(fcntl(server.fd, F_GETFD), -1);
    assert_int_equal(open_file(&files, "", other), -ENOENT);
    assert_int_equal(fcntl(server.fd, F_GETFD), -1);
    server.path = "/dev/null";
    assert_int_equal(open_file(&files, "", own.build_id), -ENOENT);
    /* the path of the module comes last */
    server.path = NULL;
    server.asked = 0;
    assert_int_equal(open_file(&files, own.path, own.build_id), 0);
    assert_int_equal(server.asked, 1);
    assert_int_equal(open_file(&files, own.path, other), -ENOENT);
    assert_int_equal(open_file(&files, own.path + 1, own.build_id), -ENOENT);
    assert_int_equal(open_file(&files, "/", own.build_id), -ENOENT);
    assert_int_equal(open_file(&files, "/nonexistent/file", own.build_id), -ENOENT);
    pt_debug_files_release(&files);
}

/* Frames of this program and of one that is nowhere; those that have all they need stay. */
static void test_late_symbols(void **state) {
    (void)state;
    struct own own;
    struct pt_profile p;
    struct pt_late_symbols symbols;
    char buffer[PT_PROFILE_NAME_BYTES], expected[64];
    if (!find_own(&own))
        skip();
    pt_profile_init(&p, &samples_type, 1);
    uint32_t absent = pt_profile_module(
        &p, (struct pt_profile_module){ text(&p, "/nonexistent/x.so"), text(&p, "deadbeef") });
    uint32_t module = pt_profile_module(
        &p, (struct pt_profile_module){ text(&p, own.path), text(&p, own.build_id) });
    uint64_t at_main = own.main_address + 1;
    struct pt_profile_function python = { text(&p, "py"), module, 0, 0, PT_KIND_PYTHON },
                               bare = { text(&p, "symbol"), module, 0, 0, PT_KIND_NATIVE },
                               full = { text(&p, "full"), module, text(&p, "f.c"), 1,
                                        PT_KIND_NATIVE };
    const struct pt_profile_frame frames[] = {
        { PT_PROFILE_NONE, absent, 0, 0, 0x10 },
        { PT_PROFILE_NONE, absent, 0, 0, 0x20 },
        { PT_PROFILE_NONE, module, 0, 0, at_main },
        { pt_profile_function(&p, bare), module, 0, 0, at_main },
        { pt_profile_function(&p, full), module, 0, 0, at_main },
        { pt_profile_function(&p, python), module, 0, 0, at_main },
        { pt_profile_function(&p, bare), module, 5, 0, at_main },
        { pt_profile_function(&p, bare), module, 0, PT_FRAME_INLINED, at_main },
    };
    static const char *const names[] = { "x.so+0x10", "x.so+0x20", "main",   "main",
                                         "full",      "py",        "symbol", "symbol" };
    for (size_t i = 0; i < PT_COUNT(frames); i++)
        add_sample(&p, 0, pt_profile_stack(&p, PT_PROFILE_NONE, pt_profile_frame(&p, frames[i])));
    struct pt_debug_files files = { 0 };
    pt_late_symbols_add(&symbols, &p, &files);
    assert_int_equal(symbols.wanted, 4);
    assert_int_equal(symbols.found, 2);
    assert_int_equal(symbols.missing_count, 1);
    assert_int_equal(symbols.missing[0], absent);
    for (size_t i = 0; i < PT_COUNT(names); i++) {
        uint32_t frame = p.stacks.at[p.samples.at[i].stack].frame;
        assert_int_equal(p.stacks.at[p.samples.at[i].stack].parent, PT_PROFILE_NONE);
        pt_str_copy(expected, sizeof expected, pt_str_from(names[i]));
        assert_str_eq(pt_profile_frame_name(&p, frame, buffer), expected);
    }
    pt_late_symbols_release(&symbols);
    assert_null(symbols.missing);
    pt_debug_files_release(&files);
    pt_profile_release(&p);
}

static void test_no_server(void **state) {
    (void)state;
    struct pt_debuginfod d;
    unsetenv("DEBUGINFOD_URLS");
    assert_int_equal(pt_debuginfod_open(&d, NULL), 0);
    assert_null(d.urls);
    assert_int_equal(pt_debuginfod_fetch(&d, "abcd"), -1);
    pt_debuginfod_close(&d);
    setenv("DEBUGINFOD_URLS", "", 1);
    assert_int_equal(pt_debuginfod_open(&d, NULL), 0);
    assert_null(d.urls);
    pt_debuginfod_close(&d);
    unsetenv("DEBUGINFOD_URLS");
}

/* --- names of the kernel and of generated code --- */

static void assert_kallsyms(const char *lines, uint64_t address, uint64_t start, const char *name) {
    struct pt_kernel_symbol found;
    pt_kallsyms_find(pt_scan_of(pt_str_from(lines)), &address, 1, &found);
    assert_int_equal(found.start, start);
    assert_str_eq(found.name, name);
}

static void test_kallsyms(void **state) {
    (void)state;
    static const char lines[] = "1000 T upper\n2000 t lower\n3000 W weak\n4000 w small_weak\n"
                                "5000 D data\n6000 tT two\n7000 b bss\nwrong\n8000 T\n"
                                "9000 t module_code\t[xfs]\n";
    assert_kallsyms(lines, 0xfff, 0, "");
    assert_kallsyms(lines, 0x1000, 0x1000, "upper");
    assert_kallsyms(lines, 0x1fff, 0x1000, "upper");
    assert_kallsyms(lines, 0x2000, 0x2000, "lower");
    assert_kallsyms(lines, 0x3001, 0x3000, "weak");
    assert_kallsyms(lines, 0x4001, 0x4000, "small_weak");
    assert_kallsyms(lines, 0x7fff, 0x4000, "small_weak");
    assert_kallsyms(lines, 0x9010, 0x9000, "module_code");
    assert_kallsyms(lines, 0x9000 + (1 << 24), 0x9000, "module_code");
    assert_kallsyms(lines, 0x9001 + (1 << 24), 0, ""); /* too far from any function */
    /* in no order; the name is handed on to the addresses behind */
    static const uint64_t wanted[] = { 0x10, 0x20, 0x30, 0x40 };
    static const char *const names[] = { "", "b", "b", "a" };
    struct pt_kernel_symbol found[4];
    pt_kallsyms_find(pt_scan_of(PT_STR("38 T a\n1c T b\n18 T c\n50 T d\n0 T zero\n")), wanted, 4,
                     found);
    for (size_t i = 0; i < 4; i++)
        assert_str_eq(found[i].name, names[i]);
}

static void test_kernel_names(void **state) {
    (void)state;
    struct tree t;
    struct pt_kernel_names k = { 0 };
    tree_make(&t);
    int proc = open(t.root, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct pt_scan nothing = pt_kernel_names_text(&k); /* not begun */
    assert_int_equal(pt_scan_rest(&nothing).len, 0);
    pt_kernel_names_begin(&k, proc); /* no such file */
    nothing = pt_kernel_names_text(&k);
    assert_int_equal(pt_scan_rest(&nothing).len, 0);
    pt_kernel_names_release(&k);
    tree_put(&t, "kallsyms", "1000 T one\n");
    pt_kernel_names_begin(&k, proc);
    struct pt_scan text_read = pt_kernel_names_text(&k);
    assert_str_eq(pt_scan_rest(&text_read), "1000 T one\n");
    tree_put(&t, "kallsyms", "2000 T two\n");
    pt_kernel_names_begin(&k, proc); /* only the first call reads */
    text_read = pt_kernel_names_text(&k);
    assert_str_eq(pt_scan_rest(&text_read), "1000 T one\n");
    pt_kernel_names_release(&k);
    assert_false(k.has_begun);
    close(proc);
    tree_remove(&t);
}

static void test_jit_map(void **state) {
    (void)state;
    static const uint64_t wanted[] = { 0xfff, 0x1000, 0x10ff, 0x1100, 0x2000 };
    static const char *const names[] = { "", "a name", "a name", "", "z" };
    struct pt_jit_symbol found[5];
    pt_jit_map_find(pt_scan_of(PT_STR("1000 100   a name\n2000 1 z\n2000 0 empty\n1000 100\n"
                                      "1000 xyz wrong\n")),
                    wanted, 5, found);
    for (size_t i = 0; i < 5; i++) {
        assert_str_eq(found[i].name, names[i]);
        assert_int_equal(found[i].start, !*names[i] ? 0 : i < 4 ? 0x1000 : 0x2000);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_scripted_file, "C242: frames get lines, else symbols, else a start"),
        PT_TEST(test_versions, "C242: generated code has the name of the time of a sample"),
        PT_TEST(test_directories, "C242: a directory of debug files must be there"),
        PT_TEST(test_build_ids, "C242: what is not a build id is not looked for"),
        PT_TEST(test_places, "C242: debug files are found by layout, else by a scan"),
        PT_TEST(test_other_places, "C242: a server and the module's path come last"),
        PT_TEST(test_late_symbols, "C242: frames without a line get a name later"),
        PT_TEST(test_no_server, "C242: without a debuginfod server nothing is fetched"),
        PT_TEST(test_kallsyms, "C241: a kernel address has the name of the code before it"),
        PT_TEST(test_kernel_names, "C241: kallsyms is read once"),
        PT_TEST(test_jit_map, "C241: a JIT's name holds for the size of its code"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
