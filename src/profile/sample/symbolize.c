#include "profile/sample/symbolize.h"

#include "profile/names/frame_names.h"
#include "profile/names/jit_dump.h"
#include "profile/names/jit_map.h"
#include "profile/model/nearest.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define TEXT_MAX ((off_t)256 << 20) /* of a file with names */

struct symbolizer {
    struct pt_recording *recording;
    struct pt_frame_names names;
};

static void name_from_kernel(struct symbolizer *s, const struct pt_frame_group *g) {
    struct pt_kernel_symbol *symbols = pt_calloc(g->count, sizeof *symbols);
    struct pt_scan text = pt_kernel_names_text(&s->recording->kernel_names);
    pt_kallsyms_find(text, g->addresses, g->count, symbols);
    for (size_t i = 0; i < g->count; i++)
        pt_frame_names_set(&s->names, g->frames[i], symbols[i].name, PT_KIND_KERNEL);
    pt_free(symbols);
}

/* Reads the file as the process sees it, or at the same path here. Anyone may write to /tmp: only
 * regular files are read. */
static bool read_of_process(const struct pt_fs *fs, int32_t pid, const char *path,
                            struct pt_text *text, struct pt_scan *scan) {
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW;
    char *below = pt_asprintf("%d/root%s", (int)pid, path);
    struct stat st;
    int fd = openat(fs->proc, below, flags);
    pt_free(below);
    if (fd < 0)
        fd = open(path, flags);
    if (fd < 0)
        return false;
    bool is_trusted = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size <= TEXT_MAX;
    bool is_read = is_trusted && !pt_file_read(&(struct pt_file){ .fd = pt_fd_of(fd) }, text, scan);
    close(fd);
    return is_read;
}

/* "[pid 4242]": code without a file. */
static int32_t pid_of(struct pt_str path) {
    struct pt_scan s = pt_scan_of(path);
    int64_t pid = pt_scan_take(&s, PT_STR("[pid ")) ? pt_scan_i64(&s) : 0;
    return s.failed ? 0 : (int32_t)pid;
}

/* The names of addresses over time. */
struct jit_names {
    bool *is_named;        /* by address */
    struct pt_str *latest; /* by address */
};

/* The same code again (a move back, a second dump) is not another version. */
static void name_loads(struct symbolizer *s, const struct pt_frame_group *g,
                       const struct pt_jit_dump *dump, struct jit_names *names) {
    for (size_t k = 0; k < dump->count; k++) {
        const struct pt_jit_load *load = &dump->loads[k];
        for (size_t i = pt_nearest_first(g->addresses, g->count, load->start);
             i < g->count && g->addresses[i] - load->start < load->size; i++) {
            if (!names->is_named[i])
                pt_frame_names_set(&s->names, g->frames[i], load->name, PT_KIND_JIT);
            else if (!pt_str_eq(names->latest[i], load->name))
                pt_frame_names_set_from(&s->names, g->frames[i], load->time_ns, load->name,
                                        PT_KIND_JIT);
            names->is_named[i] = true;
            names->latest[i] = load->name;
        }
    }
}

static void name_from_dump(struct symbolizer *s, int32_t pid, const struct pt_frame_group *g,
                           bool *is_named) {
    const char *path = pt_recording_jit_dump(s->recording, pid);
    struct jit_names names = { is_named, pt_calloc(g->count, sizeof *names.latest) };
    struct pt_text text = { 0 };
    struct pt_scan scan;
    struct pt_jit_dump dump = { 0 };
    if (path && read_of_process(s->recording->images.fs, pid, path, &text, &scan) &&
        !pt_jit_dump_parse(&dump, pt_scan_rest(&scan)))
        name_loads(s, g, &dump, &names);
    pt_jit_dump_release(&dump);
    pt_text_release(&text);
    pt_free(names.latest);
}

static void name_from_map(struct symbolizer *s, int32_t pid, const struct pt_frame_group *g,
                          const bool *is_named) {
    char path[48];
    struct pt_text text = { 0 };
    struct pt_scan scan = { 0 };
    struct pt_jit_symbol *symbols = pt_calloc(g->count, sizeof *symbols);
    snprintf(path, sizeof path, "/tmp/perf-%d.map", (int)pid);
    if (!read_of_process(s->recording->images.fs, pid, path, &text, &scan))
        scan = (struct pt_scan){ 0 };
    pt_jit_map_find(scan, g->addresses, g->count, symbols);
    for (size_t i = 0; i < g->count; i++)
        if (!is_named[i])
            pt_frame_names_set(&s->names, g->frames[i], symbols[i].name, PT_KIND_JIT);
    pt_free(symbols);
    pt_text_release(&text);
}

static struct pt_image *image_of(const struct pt_images *images, uint32_t module) {
    for (size_t i = 0; i < images->count; i++)
        if (images->at[i]->module == module)
            return images->at[i];
    return NULL;
}

static void name_group(struct symbolizer *s, const struct pt_frame_group *g) {
    const struct pt_image *image = image_of(&s->recording->images, g->module);
    int32_t pid = image ? pid_of(pt_str_from(image->path)) : 0;
    if (image && image->elf.state) {
        (void)pt_frame_names_from_elf(&s->names, &image->elf, g);
    } else if (pid > 0) {
        /* a dump comes first: it also knows when code was where */
        bool *is_named = pt_calloc(g->count, sizeof *is_named);
        name_from_dump(s, pid, g, is_named);
        name_from_map(s, pid, g, is_named);
        pt_free(is_named);
    } else {
        for (size_t i = 0; i < g->count; i++)
            pt_frame_names_keep(&s->names, g->frames[i]);
    }
}

/* Frames that already have a function (Python, markers) stay. */
static bool has_no_function(const struct pt_frame_names *n, uint32_t old) {
    return n->old[old].function == PT_PROFILE_NONE;
}

/* The results are not kept: only the slow part matters, finding the debug file and the unit, once.
 */
bool pt_symbolize_prepare(struct pt_recording *r) {
    struct pt_elf_line lines[PT_ELF_INLINES_MAX];
    struct pt_elf_symbol symbol;
    if (r->prepared_count >= r->profile.frames.count)
        return false;
    const struct pt_profile_frame *f = &r->profile.frames.at[r->prepared_count++];
    if (f->function != PT_PROFILE_NONE || f->module == PT_PROFILE_NONE)
        return true;
    struct pt_image *image = image_of(&r->images, f->module);
    if (!image || !image->elf.state)
        return true;
    if (!image->is_prepared)
        image->elf.module->symbols(image->elf.state, &f->address, 1, &symbol);
    image->is_prepared = true;
    (void)image->elf.module->lines(image->elf.state, f->address, lines);
    return true;
}

/* The kernel's symbols come last: a thread may still be reading them. */
void pt_symbolize(struct pt_recording *r) {
    struct symbolizer s = { .recording = r };
    struct pt_frame_groups groups;
    const struct pt_frame_group *kernel = NULL;
    pt_frame_names_begin(&s.names, &r->profile);
    r->path_count = 0;
    pt_frame_groups_make(&groups, &s.names, has_no_function);
    for (size_t i = 0; i < groups.count; i++) {
        if (groups.list[i].module == r->kernel_module)
            kernel = &groups.list[i];
        else
            name_group(&s, &groups.list[i]);
    }
    if (kernel)
        name_from_kernel(&s, kernel);
    pt_frame_groups_release(&groups);
    pt_frame_names_end(&s.names);
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
    char *copy = pt_strndup(path); /* adding a string moves the others */
    if (path.len > 0 && path.at[0] == '/')
        (void)pt_image_open(images, pt_images_find(images, pt_str_from(copy), id, size), 0);
    pt_free(copy);
}

void pt_symbolize_saved(struct pt_profile *p) {
    struct pt_recording r = { .kernel_module = PT_PROFILE_NONE };
    struct pt_fs fs = { .proc = -1 }; /* the processes have ended; the rest is not used */
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
