#include "profile/unwind/image.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_PLACES 256 /* a power of two */
#define ENTRY_BYTES  48  /* length of the code at the entry of a program */

struct key {
    struct pt_str path;
    uint32_t build_id;
};

static bool is_image(const void *owner, uint32_t number, const void *key) {
    const struct pt_images *images = owner;
    const struct key *k = key;
    const struct pt_image *image = images->at[number];
    return image->build_id == k->build_id && pt_str_eq(pt_str_from(image->path), k->path);
}

static uint32_t hex_string(struct pt_profile *p, const uint8_t *bytes, size_t count) {
    char text[2 * PT_ELF_BUILD_ID_MAX + 1];
    size_t used = 0;
    for (size_t i = 0; i < count && i < PT_ELF_BUILD_ID_MAX; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%02x", bytes[i]);
    return pt_profile_string(p, (struct pt_str){ text, used });
}

static struct pt_image *add(struct pt_images *images, struct pt_str path, uint32_t build_id) {
    struct pt_image *image = pt_calloc(1, sizeof *image);
    image->path = pt_strndup(path);
    image->build_id = build_id;
    image->module = pt_profile_module(
        images->profile,
        (struct pt_profile_module){ pt_profile_string(images->profile, path), build_id });
    pt_grow(&images->at, &images->capacity, images->count + 1, sizeof(void *));
    images->at[images->count++] = image;
    return image;
}

void pt_images_init(struct pt_images *images, const struct pt_fs *fs, struct pt_profile *profile) {
    *images = (struct pt_images){ .fs = fs, .profile = profile };
    images->unknown = add(images, PT_STR("[unknown]"), 0);
    images->unknown->is_tried = true;
    images->signal_frame = pt_profile_marker(profile, PT_STR("[signal]"));
}

void pt_images_release(struct pt_images *images) {
    for (size_t i = 0; i < images->count; i++) {
        pt_elf_close(&images->at[i]->elf);
        pt_free(images->at[i]->path);
        pt_free(images->at[i]->places);
        pt_free(images->at[i]);
    }
    pt_free(images->at);
    pt_intern_release(&images->index);
    *images = (struct pt_images){ 0 };
}

struct pt_image *pt_images_find(struct pt_images *images, struct pt_str path,
                                const uint8_t *build_id, size_t build_id_size) {
    if (images->count >= PT_IMAGES_MAX)
        return images->unknown;
    struct key key = { path, hex_string(images->profile, build_id, build_id_size) };
    uint32_t next = (uint32_t)images->count;
    uint32_t hash = pt_intern_hash(path.at, path.len) ^ key.build_id;
    uint32_t number = pt_intern_find(&images->index, hash, is_image, images, &key, next);
    return number == next ? add(images, path, key.build_id) : images->at[number];
}

/* As the process sees it: a container has its own files under the same names. */
static int open_image(const struct pt_images *images, const struct pt_image *image, int32_t pid) {
    const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK;
    struct stat st;
    char below[4200];
    if (strcmp(image->path, "[vdso]") == 0)
        return pt_elf_vdso();
    if (image->path[0] != '/')
        return -1;
    snprintf(below, sizeof below, "%d/root%s", (int)pid, image->path);
    int fd = openat(images->fs->proc, below, flags);
    if (fd < 0)
        fd = open(image->path, flags);
    if (fd >= 0 && (fstat(fd, &st) || !S_ISREG(st.st_mode))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* The file may have been replaced since it was mapped; its rules would then be wrong. If the build
 * id was unknown, the image becomes another module now; it has no frames yet. */
static void check_build_id(struct pt_images *images, struct pt_image *image) {
    struct pt_profile *p = images->profile;
    uint8_t id[PT_ELF_BUILD_ID_MAX];
    size_t size = image->elf.module->build_id(image->elf.state, id);
    uint32_t found = hex_string(p, id, size);
    if (image->build_id == 0)
        image->module = pt_profile_module(
            p, (struct pt_profile_module){ p->modules.at[image->module].path, found });
    else if (found != image->build_id && strcmp(image->path, "[vdso]") != 0)
        pt_elf_close(&image->elf);
}

/* The function that runs Python bytecode: its frames are replaced by Python frames. */
static void find_eval(struct pt_image *image) {
    uint64_t start;
    struct pt_elf_symbol symbol;
    const char *name = strrchr(image->path, '/');
    if (!name || !strstr(name, "python") ||
        !image->elf.module->find_symbol(image->elf.state, "_PyEval_EvalFrameDefault", &start))
        return;
    image->elf.module->symbols(image->elf.state, &start, 1, &symbol);
    image->eval_start = start;
    image->eval_end = symbol.name && symbol.end > start ? symbol.end : start;
}

bool pt_image_open(struct pt_images *images, struct pt_image *image, int32_t pid) {
    if (image->is_tried)
        return image->elf.state != NULL;
    image->is_tried = true;
    int fd = open_image(images, image, pid);
    if (fd < 0)
        return false;
    if (!pt_elf_open(&image->elf, image->path, fd, NULL))
        check_build_id(images, image);
    close(fd);
    if (image->elf.state) {
        uint64_t entry = image->elf.module->entry(image->elf.state);
        image->entry = entry ? entry : UINT64_MAX; /* most libraries have none */
        find_eval(image);
    }
    return image->elf.state != NULL;
}

static struct pt_place *slot_of(const struct pt_image *image, uint64_t address) {
    size_t mask = image->place_capacity - 1;
    size_t i = (size_t)((address * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & mask;
    while (image->places[i].key && image->places[i].key != address + 1)
        i = (i + 1) & mask;
    return &image->places[i];
}

static void enlarge(struct pt_image *image) {
    struct pt_place *old = image->places;
    size_t capacity = image->place_capacity;
    bool is_full = image->place_count >= PT_IMAGE_PLACES_MAX;
    image->place_capacity = capacity == 0 || is_full ? FIRST_PLACES : capacity * 2;
    image->places = pt_calloc(image->place_capacity, sizeof *image->places);
    image->place_count = is_full ? 0 : image->place_count;
    for (size_t i = 0; i < capacity && !is_full; i++)
        if (old[i].key)
            *slot_of(image, old[i].key - 1) = old[i];
    pt_free(old);
}

static struct pt_place make_place(struct pt_images *images, const struct pt_image *image,
                                  uint64_t address) {
    struct pt_place place = { .key = address + 1 };
    place.frame =
        pt_profile_frame(images->profile, (struct pt_profile_frame){ .function = PT_PROFILE_NONE,
                                                                     .module = image->module,
                                                                     .address = address });
    /* the rules of the loader's first function do not mark it as the root */
    if (image->elf.state && address - image->entry < ENTRY_BYTES)
        place.rule.kind = PT_RULE_ROOT;
    else if (image->elf.state)
        place.rule = image->elf.module->rule(image->elf.state, address);
    if (place.rule.flags & PT_RULE_IS_SIGNAL)
        place.frame = images->signal_frame;
    place.is_python_eval = address >= image->eval_start && address < image->eval_end;
    return place;
}

const struct pt_place *pt_image_known_place(const struct pt_image *image, uint64_t address) {
    const struct pt_place *known = image->place_capacity > 0 ? slot_of(image, address) : NULL;
    return known && known->key ? known : NULL;
}

struct pt_place *pt_image_place(struct pt_images *images, struct pt_image *image,
                                uint64_t address) {
    if (pt_image_known_place(image, address))
        return slot_of(image, address);
    if (image->place_count * 4 >= image->place_capacity * 3)
        enlarge(image);
    struct pt_place *slot = slot_of(image, address);
    *slot = make_place(images, image, address);
    image->place_count++;
    return slot;
}
