#include "profile/names/kernel_names.h"

#include "profile/model/nearest.h"

#include <sys/resource.h>

#define FARTHEST \
    (UINT64_C(1) << 24)  /* from the start of a function: beyond this it is not its code */
#define LITTLE_URGENT 10 /* niceness: the target has priority */

static void *read_text(void *state) {
    struct pt_kernel_names *k = state;
    (void)setpriority(PRIO_PROCESS, 0, LITTLE_URGENT);
    if (pt_fs_read(k->proc, "kallsyms", &k->text, &k->scan))
        k->scan = (struct pt_scan){ 0 };
    return NULL;
}

void pt_kernel_names_begin(struct pt_kernel_names *k, int proc) {
    if (k->has_begun)
        return;
    k->has_begun = true;
    k->proc = proc;
    k->is_running = pthread_create(&k->thread, NULL, read_text, k) == 0;
    if (!k->is_running)
        (void)read_text(k);
}

static void wait_for_thread(struct pt_kernel_names *k) {
    if (k->is_running)
        pthread_join(k->thread, NULL);
    k->is_running = false;
}

struct pt_scan pt_kernel_names_text(struct pt_kernel_names *k) {
    wait_for_thread(k);
    return k->scan;
}

void pt_kernel_names_release(struct pt_kernel_names *k) {
    wait_for_thread(k);
    pt_text_release(&k->text);
    *k = (struct pt_kernel_names){ 0 };
}

void pt_kallsyms_find(struct pt_scan text, const uint64_t *addresses, size_t count,
                      struct pt_kernel_symbol *found) {
    struct pt_scan line;
    for (size_t i = 0; i < count; i++)
        found[i] = (struct pt_kernel_symbol){ 0, PT_STR("") };
    while (pt_scan_line(&text, &line)) {
        uint64_t start = pt_scan_hex(&line);
        struct pt_str type = pt_scan_word(&line), name = pt_scan_word(&line);
        bool is_code = type.len == 1 && memchr("tTwW", type.at[0], 4);
        size_t i = pt_nearest_first(addresses, count, start);
        if (!line.failed && is_code && start > 0 && i < count && start > found[i].start)
            found[i] = (struct pt_kernel_symbol){ start, name };
    }
    /* a symbol that precedes an address also precedes the next one */
    for (size_t i = 1; i < count; i++)
        if (found[i - 1].start > found[i].start)
            found[i] = found[i - 1];
    for (size_t i = 0; i < count; i++)
        if (addresses[i] - found[i].start > FARTHEST)
            found[i] = (struct pt_kernel_symbol){ 0, PT_STR("") };
}
