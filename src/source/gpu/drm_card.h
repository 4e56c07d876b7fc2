/* source/gpu/drm_card.h -- GPUs of open drivers as the kernel shows them in /sys/class/drm/cardN:
 *
 *     device/uevent                  DRIVER=amdgpu  PCI_ID=1002:747E  PCI_SLOT_NAME=0000:03:00.0
 *     device/hwmon/hwmon4/temp1_input         24000
 *     device/current_link_speed               16.0 GT/s PCIe
 *
 * Files of one number are a table of the driver's own: path, field, scale. */
#ifndef PT_SOURCE_GPU_DRM_CARD_H
#define PT_SOURCE_GPU_DRM_CARD_H

#include "base/fs.h"
#include "source/gpu/gpu_device.h"

#define PT_DRM_VALUES 40

struct pt_drm_card {
    int number;
    int directory;      /* /sys/class/drm/cardN */
    struct pt_fd hwmon; /* device/hwmon/hwmonM */
    char driver[16], pci_id[16], pci_bus_id[32];
    struct pt_file files[PT_DRM_VALUES]; /* kept open, one for each value */
    uint64_t missing;                    /* values that the driver does not have, a bit each */
};

struct pt_drm_cards {
    struct pt_drm_card *at;
    size_t count, capacity;
};

/* Finds the cards with one of the `drivers` (NULL-terminated), sorted by number. */
void pt_drm_cards_read(struct pt_drm_cards *cards, const struct pt_fs *fs,
                       const char *const *drivers);
void pt_drm_cards_release(struct pt_drm_cards *cards);

enum pt_drm_place { PT_DRM_CARD, PT_DRM_HWMON };

/* A file with one number. Several rows may give the same field: the first that is there counts. */
struct pt_drm_value {
    enum pt_drm_place place;
    const char *path;
    enum pt_gpu_field field;
    int64_t numerator, denominator;
};

/* Reads the values of a pace; at most PT_DRM_VALUES rows. */
void pt_drm_card_read(struct pt_drm_card *card, const struct pt_drm_value *values, size_t count,
                      enum pt_gpu_pace pace, struct pt_text *buffer, struct pt_gpu_device *d);

/* Is it powered down? Reading most of its files would wake it. */
bool pt_drm_card_is_suspended(const struct pt_drm_card *card);

/* "16.0 GT/s PCIe" is generation 4; 0 if it is none. */
int pt_pcie_generation(struct pt_str link_speed);
void pt_drm_card_read_link(const struct pt_drm_card *card, struct pt_gpu_device *d);

#endif
