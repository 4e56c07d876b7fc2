#include "profile/symbolize.h"

#include "profile/demangle.h"
#include "profile/jit_map.h"
#include "profile/kallsyms.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_MAX ((off_t)256 << 20) /* of a file of names */

/* What takes the place of a frame: itself and what was inlined into it, outermost first. */
struct expansion {
    uint32_t first, count; /* in `parts` */
};

struct symbolizer {
    struct pt_recording *recording;
    struct pt_profile *profile;
    struct pt_profile_frame *old; /* the frames without names */
    size_t old_count;
    struct expansion *expansions; /* one for each old frame */
    uint32_t *parts;
    size_t part_count, part_capacity;
    struct pt_buf name; /* scratch */
};

/* The frames of one module, by address. */
struct group {
    uint32_t *frames;
    uint64_t *addresses;
    size_t count;
};

static uint32_t add_function(struct symbolizer *s, struct pt_str name, uint32_t module,
                             const char *file, uint32_t line, enum pt_profile_kind kind) {
    struct pt_profile *p = s->profile;
    return pt_profile_function(
        p, (struct pt_profile_function){ .name = pt_profile_string(p, name),
                                         .module = module,
                                         .file = file ? pt_profile_string(p, pt_str_from(file)) : 0,
                                         .line = line,
                                         .kind = kind });
}

static struct pt_str plain_name(struct symbolizer *s, const char *name) {
    pt_demangle(name, &s->name);
    return pt_buf_as_str(&s->name);
}

static void add_part(struct symbolizer *s, uint32_t old, struct pt_profile_frame frame) {
    struct expansion *e = &s->expansions[old];
    if (e->count == 0)
        e->first = (uint32_t)s->part_count;
    e->count++;
    pt_grow(&s->parts, &s->part_capacity, s->part_count + 1, sizeof *s->parts);
    s->parts[s->part_count++] = pt_profile_frame(s->profile, frame);
}

static void name_frame(struct symbolizer *s, uint32_t old, struct pt_str name,
                       enum pt_profile_kind kind) {
    struct pt_profile_frame f = s->old[old];
    if (name.len > 0)
        f.function = add_function(s, name, f.module, NULL, 0, kind);
    add_part(s, old, f);
}

/* What is local to a file of C++ has its bare name in debug information, its whole one as symbol.
 */
static bool is_fuller(const char *symbol, const struct pt_elf_line *line) {
    return symbol && !line->is_inlined && symbol[0] == '_' && symbol[1] == 'Z';
}

/* Each place that debug information knows, from the outermost. */
static void expand(struct symbolizer *s, uint32_t old, const struct pt_elf_line *lines,
                   size_t count, const char *symbol) {
    for (size_t i = count; i > 0; i--) {
        const struct pt_elf_line *l = &lines[i - 1];
        struct pt_profile_frame f = s->old[old];
        const char *name = !l->function || is_fuller(symbol, l) ? symbol : l->function;
        if (name)
            f.function = add_function(s, plain_name(s, name), f.module, l->file, l->first_line,
                                      PT_KIND_NATIVE);
        f.line = l->line;
        f.flags |= l->is_inlined ? PT_FRAME_INLINED : 0;
        add_part(s, old, f);
    }
}

/* A function without a name is one function all the same: "libfoo.so+0x1040", its start. */
static void name_by_start(struct symbolizer *s, const struct pt_elf *elf, uint32_t old) {
    struct pt_profile_frame f = s->old[old];
    char buffer[PT_PROFILE_NAME_BYTES];
    struct pt_str name = PT_STR("");
    if (elf->module->function_start(elf->state, f.address, &f.address))
        name = pt_profile_address_name(s->profile, f.module, f.address, buffer);
    name_frame(s, old, name, PT_KIND_NATIVE);
}

static void name_from_elf(struct symbolizer *s, const struct pt_elf *elf, const struct group *g) {
    struct pt_elf_line lines[PT_ELF_INLINES_MAX];
    struct pt_elf_symbol *symbols = pt_calloc(g->count, sizeof *symbols);
    elf->module->symbols(elf->state, g->addresses, g->count, symbols);
    for (size_t i = 0; i < g->count; i++) {
        size_t count = elf->module->lines(elf->state, g->addresses[i], lines);
        const char *symbol = symbols[i].name;
        if (count > 0)
            expand(s, g->frames[i], lines, count, symbol);
        else if (symbol)
            name_frame(s, g->frames[i], plain_name(s, symbol), PT_KIND_NATIVE);
        else
            name_by_start(s, elf, g->frames[i]);
    }
    pt_free(symbols);
}

static void name_from_kernel(struct symbolizer *s, const struct group *g) {
    struct pt_kernel_symbol *symbols = pt_calloc(g->count, sizeof *symbols);
    struct pt_scan text = pt_kernel_names_text(&s->recording->kernel_names);
    pt_kallsyms_find(text, g->addresses, g->count, symbols);
    for (size_t i = 0; i < g->count; i++)
        name_frame(s, g->frames[i], symbols[i].name, PT_KIND_KERNEL);
    pt_free(symbols);
}

/* Anybody may write to /tmp: what is no regular file is not read. */
static bool is_trusted(int fd) {
    struct stat st;
    return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= TEXT_MAX;
}

static bool read_jit_map(const struct pt_fs *fs, int32_t pid, struct pt_text *text,
                         struct pt_scan *scan) {
    char path[96];
    snprintf(path, sizeof path, "%d/root/tmp/perf-%d.map", (int)pid, (int)pid);
    int fd = openat(fs->proc, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    if (fd < 0) {
        snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)pid);
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
    }
    if (fd < 0)
        return false;
    bool is_read =
        is_trusted(fd) && !pt_file_read(&(struct pt_file){ .fd_plus_one = fd + 1 }, text, scan);
    close(fd);
    return is_read;
}

/* "[pid 4242]": code of no file. */
static int32_t pid_of(struct pt_str path) {
    struct pt_scan s = pt_scan_of(path);
    int64_t pid = pt_scan_take(&s, PT_STR("[pid ")) ? pt_scan_i64(&s) : 0;
    return s.failed ? 0 : (int32_t)pid;
}

static void name_from_jit(struct symbolizer *s, int32_t pid, const struct group *g) {
    struct pt_text text = { 0 };
    struct pt_scan scan = { 0 };
    struct pt_jit_symbol *symbols = pt_calloc(g->count, sizeof *symbols);
    if (!read_jit_map(s->recording->images.fs, pid, &text, &scan))
        scan = (struct pt_scan){ 0 };
    pt_jit_map_find(scan, g->addresses, g->count, symbols);
    for (size_t i = 0; i < g->count; i++)
        name_frame(s, g->frames[i], symbols[i].name, PT_KIND_JIT);
    pt_free(symbols);
    pt_text_release(&text);
}

static void name_as_is(struct symbolizer *s, const struct group *g) {
    for (size_t i = 0; i < g->count; i++)
        add_part(s, g->frames[i], s->old[g->frames[i]]);
}

static struct pt_image *image_of(const struct pt_images *images, uint32_t module) {
    for (size_t i = 0; i < images->count; i++)
        if (images->at[i]->module == module)
            return images->at[i];
    return NULL;
}

static void name_group(struct symbolizer *s, uint32_t module, const struct group *g) {
    const struct pt_image *image = image_of(&s->recording->images, module);
    int32_t pid = image ? pid_of(pt_str_from(image->path)) : 0;
    if (image && image->elf.state)
        name_from_elf(s, &image->elf, g);
    else if (pid > 0)
        name_from_jit(s, pid, g);
    else
        name_as_is(s, g);
}

struct by_module {
    uint32_t module, frame;
    uint64_t address;
};

static int compare(const void *a, const void *b) {
    const struct by_module *x = a, *y = b;
    if (x->module != y->module)
        return x->module < y->module ? -1 : 1;
    return x->address < y->address ? -1 : x->address > y->address;
}

/* Frames that have a function already (Python, markers) stay. */
static size_t sort_frames(struct symbolizer *s, struct by_module *sorted) {
    size_t count = 0;
    for (size_t i = 0; i < s->old_count; i++) {
        const struct pt_profile_frame *f = &s->old[i];
        if (f->function != PT_PROFILE_NONE || f->module == PT_PROFILE_NONE)
            add_part(s, (uint32_t)i, *f);
        else
            sorted[count++] = (struct by_module){ f->module, (uint32_t)i, f->address };
    }
    if (count > 1)
        qsort(sorted, count, sizeof *sorted, compare);
    return count;
}

static void name_frames(struct symbolizer *s) {
    struct by_module *sorted = pt_calloc(s->old_count + 1, sizeof *sorted);
    uint32_t *frames = pt_calloc(s->old_count + 1, sizeof *frames);
    uint64_t *addresses = pt_calloc(s->old_count + 1, sizeof *addresses);
    size_t count = sort_frames(s, sorted);
    for (size_t i = 0; i < count; i++) {
        frames[i] = sorted[i].frame;
        addresses[i] = sorted[i].address;
    }
    struct group kernel = { 0 };
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && sorted[end].module == sorted[i].module;)
            end++;
        struct group group = { frames + i, addresses + i, end - i };
        if (sorted[i].module == s->recording->kernel_module)
            kernel = group;
        else
            name_group(s, sorted[i].module, &group);
    }
    if (kernel.count > 0)
        name_from_kernel(s, &kernel);
    pt_free(sorted);
    pt_free(frames);
    pt_free(addresses);
}

/* A parent has the smaller number: it is always there already. */
static void number_stacks(struct symbolizer *s, const struct pt_profile_stack *old, size_t count) {
    struct pt_profile *p = s->profile;
    uint32_t *stacks = pt_calloc(count + 1, sizeof *stacks);
    for (size_t i = 0; i < count; i++) {
        uint32_t stack = old[i].parent == PT_PROFILE_NONE ? PT_PROFILE_NONE : stacks[old[i].parent];
        struct expansion e = s->expansions[old[i].frame];
        for (uint32_t part = e.first; part < e.first + e.count; part++)
            stack = pt_profile_stack(p, stack, s->parts[part]);
        stacks[i] = stack;
    }
    for (size_t i = 0; i < p->samples.count; i++)
        if (p->samples.at[i].stack != PT_PROFILE_NONE)
            p->samples.at[i].stack = stacks[p->samples.at[i].stack];
    for (size_t i = 0; i < p->growth.count; i++)
        p->growth.at[i].stack = stacks[p->growth.at[i].stack];
    pt_free(stacks);
}

/* The answers are not kept: it is finding the debug file and the unit that takes long, once. */
static void prepare_frame(struct pt_recording *r, const struct pt_profile_frame *f) {
    struct pt_elf_line lines[PT_ELF_INLINES_MAX];
    struct pt_elf_symbol symbol;
    if (f->function != PT_PROFILE_NONE || f->module == PT_PROFILE_NONE)
        return;
    struct pt_image *image = image_of(&r->images, f->module);
    if (!image || !image->elf.state)
        return;
    if (!image->is_prepared)
        image->elf.module->symbols(image->elf.state, &f->address, 1, &symbol);
    image->is_prepared = true;
    (void)image->elf.module->lines(image->elf.state, f->address, lines);
}

bool pt_symbolize_prepare(struct pt_recording *r) {
    if (r->prepared_count >= r->profile.frames.count)
        return false;
    prepare_frame(r, &r->profile.frames.at[r->prepared_count++]);
    return true;
}

void pt_symbolize(struct pt_recording *r) {
    struct pt_profile *p = &r->profile;
    struct symbolizer s = { .recording = r, .profile = p };
    struct pt_profile_stack *old_stacks = p->stacks.at;
    size_t stack_count = p->stacks.count;
    s.old = p->frames.at;
    s.old_count = p->frames.count;
    s.expansions = pt_calloc(s.old_count + 1, sizeof *s.expansions);
    pt_intern_release(&p->frames.index);
    pt_intern_release(&p->stacks.index);
    p->frames.at = NULL;
    p->stacks.at = NULL;
    p->frames.count = p->frames.capacity = p->stacks.count = p->stacks.capacity = 0;
    r->path_count = 0;
    name_frames(&s);
    number_stacks(&s, old_stacks, stack_count);
    pt_free(s.old);
    pt_free(old_stacks);
    pt_free(s.expansions);
    pt_free(s.parts);
    pt_buf_release(&s.name);
}

static uint8_t nibble(char c) {
    return (uint8_t)(c <= '9' ? c - '0' : c - 'a' + 10);
}

static void open_module(struct pt_images *images, uint32_t module) {
    const struct pt_profile_module *m = &images->profile->modules.at[module];
    struct pt_str path = pt_profile_text(images->profile, m->path);
    struct pt_str hex = pt_profile_text(images->profile, m->build_id);
    uint8_t id[PT_ELF_BUILD_ID_MAX];
    size_t size = hex.len / 2 < sizeof id ? hex.len / 2 : sizeof id;
    for (size_t i = 0; i < size; i++)
        id[i] = (uint8_t)(nibble(hex.at[2 * i]) << 4 | nibble(hex.at[2 * i + 1]));
    char *copy = pt_strndup(path); /* strings move when one is added */
    if (path.len > 0 && path.at[0] == '/')
        (void)pt_image_open(images, pt_images_find(images, pt_str_from(copy), id, size), 0);
    pt_free(copy);
}

void pt_symbolize_saved(struct pt_profile *p) {
    struct pt_recording r = { .kernel_module = PT_PROFILE_NONE };
    struct pt_fs fs = { .proc = -1, .sys = -1, .root = -1 }; /* its processes are gone */
    struct pt_err err;
    if (!p->meta.unnamed || pt_elf_check(&err))
        return;
    r.profile = *p;
    pt_images_init(&r.images, &fs, &r.profile);
    for (uint32_t i = 0, count = (uint32_t)r.profile.modules.count; i < count; i++)
        open_module(&r.images, i);
    pt_symbolize(&r);
    r.profile.meta.unnamed = 0;
    *p = r.profile;
    pt_images_release(&r.images);
}
