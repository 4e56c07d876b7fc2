/* Every parser of cgroup text: the first byte picks one, the rest is the text. */
#include "source/kernel/cgroup.h"

#include <limits.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_layout(struct pt_str text) {
    struct pt_cgroup_layout layout;
    char relative[PATH_MAX];
    pt_cgroup_layout_parse(&layout, pt_scan_of(text));
    for (int i = 0; i < layout.mount_count; i++)
        if (pt_cgroup_relative(&layout.mounts[i], text, relative) && relative[0] == '/')
            abort();
    pt_cgroup_layout_close(&layout);
}

static void fuzz_membership(struct pt_str text) {
    struct pt_str paths[PT_CGROUP_PATHS];
    struct pt_cgroup_identity identity;
    int count = pt_cgroup_paths(pt_scan_of(text), paths);
    for (int i = 0; i < count; i++)
        pt_cgroup_identify(paths[i], &identity);
}

static void fuzz_identity(struct pt_str text) {
    struct pt_cgroup_identity identity;
    pt_cgroup_identify(text, &identity);
    if (identity.id.len > text.len || identity.name.len > text.len)
        abort();
    pt_cgroup_identify_self(pt_scan_of(text), text, &identity);
}

static void fuzz_others(struct pt_str text) {
    int64_t received, sent, times[4];
    struct pt_cgroup_devices devices = { .at = { { 8, 0 } }, .count = 1 };
    struct pt_cgroup_values values = { 0 };
    (void)pt_cgroup_parse_net_dev(pt_scan_of(text), &received, &sent);
    (void)pt_cgroup_parse_percpu(pt_scan_of(text), times, 4);
    for (int i = 0; i < PT_CGROUP_FILE_COUNT; i++)
        pt_cgroup_parse(&pt_cgroup_files[i], pt_scan_of(text), &devices, &values);
}

static void fuzz_file(const struct pt_cgroup_file *file, struct pt_str text) {
    struct pt_cgroup_values values = { 0 };
    pt_cgroup_parse(file, pt_scan_of(text), NULL, &values);
    for (int i = 0; i < PT_CGROUP_VALUE_COUNT; i++)
        if (pt_cgroup_has(&values, (enum pt_cgroup_value)i) && values.at[i] < 0)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static void (*const parsers[])(struct pt_str) = { fuzz_layout, fuzz_membership, fuzz_identity,
                                                      fuzz_others };
    if (size == 0)
        return 0;
    size_t choice = data[0] % (PT_COUNT(parsers) + PT_CGROUP_FILE_COUNT);
    struct pt_str text = { (const char *)data + 1, size - 1 };
    if (choice < PT_COUNT(parsers))
        parsers[choice](text);
    else
        fuzz_file(&pt_cgroup_files[choice - PT_COUNT(parsers)], text);
    return 0;
}
