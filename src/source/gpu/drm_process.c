/* source/gpu/drm_process.c -- the backend that finds processes on GPUs of open drivers: DRM clients
 * in /proc, and ROCm processes in sysfs.
 *
 * To find clients, every descriptor of every visible process must be checked. The longer this
 * takes, the less often it is done; in between only the known descriptors are read. */
#include "base/clock.h"
#include "base/mem.h"
#include "source/gpu/drm_fdinfo.h"
#include "source/gpu/kfd.h"
#include "source/kernel/pid_list.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define SEARCH_PERIOD_NS (5 * PT_NS_PER_SECOND)
#define SEARCH_SHARE     200 /* a search takes at most 1/N of the time */

struct descriptor {
    pid_t pid;
    int fd;
};

/* A client that has been counted. */
struct seen {
    int gpu;
    uint64_t id;
};

struct drm_state {
    struct pt_fs fs; /* borrows the descriptors */
    struct pt_kfd kfd;
    struct pt_pid_list pids, fds;
    struct descriptor *descriptors;
    size_t descriptor_count, descriptor_capacity;
    struct seen *seen;
    size_t seen_count, seen_capacity;
    struct pt_text buffer;
    int64_t next_search_ns;
};

static int drm_open(void *state, const struct pt_fs *fs, struct pt_err *err) {
    struct drm_state *s = state;
    if (faccessat(fs->sys, "class/drm", F_OK, 0))
        return pt_fail(err, -ENODATA, "DRM: there is no /sys/class/drm");
    s->fs = *fs;
    pt_kfd_open(&s->kfd, fs);
    return 0;
}

static int drm_device_count(const void *state) {
    (void)state;
    return 0;
}

static bool is_gpu_file(const struct drm_state *s, pid_t pid, int fd) {
    char path[64], target[64];
    snprintf(path, sizeof path, "%d/fd/%d", (int)pid, fd);
    if (pt_fs_readlink(s->fs.proc, path, target, sizeof target))
        return false;
    return strncmp(target, "/dev/dri/", 9) == 0;
}

static void search_process(struct drm_state *s, pid_t pid) {
    char path[32];
    snprintf(path, sizeof path, "%d/fd", (int)pid);
    int directory = openat(s->fs.proc, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return;
    int rc = pt_pid_list_read(&s->fds, directory);
    close(directory);
    for (size_t i = 0; i < s->fds.count && !rc; i++) {
        if (!is_gpu_file(s, pid, (int)s->fds.at[i]) ||
            !pt_try_grow(&s->descriptors, &s->descriptor_capacity, s->descriptor_count + 1,
                         sizeof *s->descriptors))
            continue;
        s->descriptors[s->descriptor_count++] = (struct descriptor){ pid, (int)s->fds.at[i] };
    }
}

static void search(struct drm_state *s) {
    int64_t start_ns = pt_mono_ns();
    if (start_ns < s->next_search_ns)
        return;
    int proc = openat(s->fs.proc, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = proc >= 0 ? pt_pid_list_read(&s->pids, proc) : -errno;
    if (proc >= 0)
        close(proc);
    s->descriptor_count = 0;
    for (size_t i = 0; i < s->pids.count && !rc; i++)
        search_process(s, s->pids.at[i]);
    int64_t end_ns = pt_mono_ns(), pause_ns = (end_ns - start_ns) * SEARCH_SHARE;
    s->next_search_ns = end_ns + (pause_ns > SEARCH_PERIOD_NS ? pause_ns : SEARCH_PERIOD_NS);
}

static bool is_first(struct drm_state *s, int gpu, uint64_t id) {
    for (size_t i = 0; i < s->seen_count; i++)
        if (s->seen[i].gpu == gpu && s->seen[i].id == id)
            return false;
    if (!pt_try_grow(&s->seen, &s->seen_capacity, s->seen_count + 1, sizeof *s->seen))
        return false; /* left out rather than counted twice */
    s->seen[s->seen_count++] = (struct seen){ gpu, id };
    return true;
}

static void read_client(struct drm_state *s, const struct descriptor *at,
                        struct pt_gpu_reading *r) {
    struct pt_drm_client client;
    struct pt_scan text;
    char path[64];
    snprintf(path, sizeof path, "%d/fdinfo/%d", (int)at->pid, at->fd);
    if (pt_fs_read(s->fs.proc, path, &s->buffer, &text) || pt_drm_fdinfo_parse(text, &client))
        return;
    int gpu = pt_gpu_at_address(r, client.pci_bus_id);
    if (gpu < 0 || !is_first(s, gpu, client.id))
        return;
    struct pt_gpu_process *p = pt_gpu_find_process(r, gpu, at->pid, false);
    if (!p)
        return;
    if (client.values[PT_GPU_PROCESS_COMPUTE_NS] > 0)
        p->kinds |= PT_GPU_KIND_COMPUTE;
    if (client.values[PT_GPU_PROCESS_GFX_NS] > 0)
        p->kinds |= PT_GPU_KIND_GRAPHICS;
    for (int i = 0; i < PT_GPU_PROCESS_FIELD_COUNT; i++)
        if (client.present >> i & 1)
            pt_gpu_process_add(p, (enum pt_gpu_process_field)i, client.values[i]);
}

static bool has_open_driver(const struct pt_gpu_device *d) {
    return d->info.vendor == PT_GPU_AMD || d->info.vendor == PT_GPU_INTEL;
}

/* Only visible processes count: the number is a lower bound, so 0 is reported as unknown. */
static void count_processes(struct pt_gpu_reading *r) {
    for (size_t i = 0; i < r->process_count; i++) {
        struct pt_gpu_device *d = &r->devices[r->processes[i].gpu];
        if (!has_open_driver(d))
            continue;
        d->process_count = d->has_process_count ? d->process_count + 1 : 1;
        d->has_process_count = true;
    }
}

static void drm_read_processes(void *state, int first, struct pt_gpu_reading *r) {
    (void)first;
    struct drm_state *s = state;
    bool is_wanted = false;
    for (size_t i = 0; i < r->device_count; i++)
        is_wanted |= has_open_driver(&r->devices[i]);
    if (!is_wanted)
        return;
    search(s);
    s->seen_count = 0;
    for (size_t i = 0; i < s->descriptor_count; i++)
        read_client(s, &s->descriptors[i], r);
    pt_kfd_read(&s->kfd, r);
    count_processes(r);
}

static void drm_close(void *state) {
    struct drm_state *s = state;
    pt_kfd_close(&s->kfd);
    pt_pid_list_release(&s->pids);
    pt_pid_list_release(&s->fds);
    pt_free(s->descriptors);
    pt_free(s->seen);
    pt_text_release(&s->buffer);
}

const struct pt_gpu_backend pt_drm_backend = {
    .name = "drm",
    .state_size = sizeof(struct drm_state),
    .open = drm_open,
    .device_count = drm_device_count,
    .read_processes = drm_read_processes,
    .close = drm_close,
};
