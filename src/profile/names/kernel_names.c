#include "profile/names/kernel_names.h"

#include <sys/resource.h>

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
