#include "source/gpu/drm_card.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* cardN, but not the connectors cardN-DP-1. */
static bool card_number(const char *name, int *number) {
    struct pt_scan s = pt_scan_of(pt_str_from(name));
    if (!pt_scan_take(&s, PT_STR("card")))
        return false;
    uint64_t value = pt_scan_u64(&s);
    if (s.failed || s.at != s.end || value > 1024)
        return false;
    *number = (int)value;
    return true;
}

static void read_uevent(struct pt_drm_card *card) {
    const struct {
        struct pt_str key;
        char *into;
        size_t capacity;
    } keys[] = {
        { PT_STR("DRIVER="), card->driver, sizeof card->driver },
        { PT_STR("PCI_ID="), card->pci_id, sizeof card->pci_id },
        { PT_STR("PCI_SLOT_NAME="), card->pci_bus_id, sizeof card->pci_bus_id },
    };
    struct pt_text buffer = { 0 };
    struct pt_scan text, line;
    if (!pt_fs_read(card->directory, "device/uevent", &buffer, &text))
        while (pt_scan_line(&text, &line))
            for (size_t i = 0; i < PT_COUNT(keys); i++)
                if (pt_scan_take(&line, keys[i].key))
                    pt_str_copy(keys[i].into, keys[i].capacity, pt_scan_rest(&line));
    pt_text_release(&buffer);
}

static int open_hwmon(int card) {
    DIR *listing = pt_fs_list(card, "device/hwmon");
    struct dirent *entry;
    int fd = -1;
    while (listing && fd < 0 && (entry = readdir(listing))) {
        char path[sizeof "device/hwmon/" + sizeof entry->d_name];
        if (strncmp(entry->d_name, "hwmon", 5) != 0)
            continue;
        snprintf(path, sizeof path, "device/hwmon/%s", entry->d_name);
        fd = openat(card, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    if (listing)
        closedir(listing);
    return fd;
}

static bool is_one_of(const char *name, const char *const *names) {
    for (; *names; names++)
        if (strcmp(name, *names) == 0)
            return true;
    return false;
}

static void add_card(struct pt_drm_cards *cards, int directory, int number,
                     const char *const *drivers) {
    struct pt_drm_card card = { .number = number, .directory = directory };
    read_uevent(&card);
    if (!is_one_of(card.driver, drivers) ||
        !pt_try_grow(&cards->at, &cards->capacity, cards->count + 1, sizeof *cards->at)) {
        close(directory);
        return;
    }
    card.hwmon = pt_fd_of(open_hwmon(directory));
    cards->at[cards->count++] = card;
}

static int by_number(const void *a, const void *b) {
    const struct pt_drm_card *one = a, *other = b;
    return one->number - other->number;
}

void pt_drm_cards_read(struct pt_drm_cards *cards, const struct pt_fs *fs,
                       const char *const *drivers) {
    DIR *listing = pt_fs_list(fs->sys, "class/drm");
    struct dirent *entry;
    int number;
    *cards = (struct pt_drm_cards){ 0 };
    while (listing && (entry = readdir(listing))) {
        if (!card_number(entry->d_name, &number))
            continue;
        int directory = openat(dirfd(listing), entry->d_name, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (directory >= 0)
            add_card(cards, directory, number, drivers);
    }
    if (listing)
        closedir(listing);
    if (cards->count > 0)
        qsort(cards->at, cards->count, sizeof *cards->at, by_number);
}

void pt_drm_cards_release(struct pt_drm_cards *cards) {
    for (size_t i = 0; i < cards->count; i++) {
        struct pt_drm_card *card = &cards->at[i];
        for (int k = 0; k < PT_DRM_VALUES; k++)
            pt_file_close(&card->files[k]);
        (void)pt_fd_close(&card->hwmon);
        close(card->directory);
    }
    pt_free(cards->at);
    *cards = (struct pt_drm_cards){ 0 };
}

/* Negative numbers are temperatures only: elsewhere drivers mean "unknown" by -1. */
static bool is_plausible(enum pt_gpu_field field, int64_t value) {
    bool is_temperature = field == PT_GPU_TEMPERATURE_C || field == PT_GPU_HOTSPOT_TEMPERATURE_C ||
                          field == PT_GPU_MEMORY_TEMPERATURE_C;
    return value >= 0 || (is_temperature && value > -100000);
}

static void set_scaled(struct pt_gpu_device *d, const struct pt_drm_value *v, int64_t value) {
    __int128 scaled = (__int128)value * v->numerator / v->denominator;
    if (is_plausible(v->field, value) && scaled <= INT64_MAX)
        pt_gpu_set(d, v->field, (int64_t)scaled);
}

void pt_drm_card_read(struct pt_drm_card *card, const struct pt_drm_value *values, size_t count,
                      enum pt_gpu_pace pace, struct pt_text *buffer, struct pt_gpu_device *d) {
    assert(count <= PT_DRM_VALUES);
    for (size_t i = 0; i < count; i++) {
        const struct pt_drm_value *v = &values[i];
        int directory = v->place == PT_DRM_CARD ? card->directory : pt_fd_get(card->hwmon);
        struct pt_scan text;
        enum pt_gpu_pace own_pace = PT_GPU_FAST_FIELDS >> v->field & 1 ? PT_GPU_FAST : PT_GPU_SLOW;
        if (own_pace != pace || card->missing >> i & 1 || directory < 0 || pt_gpu_has(d, v->field))
            continue;
        int rc = pt_file_read_kept(&card->files[i], directory, v->path, buffer, &text);
        if (rc == -ENOENT || rc == -EACCES)
            card->missing |= UINT64_C(1) << i;
        if (rc)
            continue;
        int64_t value = pt_scan_i64(&text);
        if (!text.failed)
            set_scaled(d, v, value);
    }
}

bool pt_drm_card_is_suspended(const struct pt_drm_card *card) {
    char line[32];
    return !pt_fs_read_line(card->directory, "device/power/runtime_status", line, sizeof line) &&
           strcmp(line, "suspended") == 0;
}

int pt_pcie_generation(struct pt_str link_speed) {
    static const struct pt_str speeds[] = { PT_STR("2.5"),  PT_STR("5.0"),  PT_STR("8.0"),
                                            PT_STR("16.0"), PT_STR("32.0"), PT_STR("64.0") };
    struct pt_scan s = pt_scan_of(link_speed);
    struct pt_str speed = pt_scan_word(&s);
    for (size_t i = 0; i < PT_COUNT(speeds); i++)
        if (pt_str_eq(speed, speeds[i]))
            return (int)i + 1;
    return 0;
}

void pt_drm_card_read_link(const struct pt_drm_card *card, struct pt_gpu_device *d) {
    char line[64];
    int64_t width;
    if (!pt_fs_read_line(card->directory, "device/current_link_speed", line, sizeof line)) {
        int generation = pt_pcie_generation(pt_str_from(line));
        if (generation > 0)
            pt_gpu_set(d, PT_GPU_PCIE_GENERATION, generation);
    }
    if (!pt_fs_read_i64(card->directory, "device/current_link_width", &width) && width > 0 &&
        width <= 64)
        pt_gpu_set(d, PT_GPU_PCIE_WIDTH, width);
}
