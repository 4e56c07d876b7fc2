#include "source/gpu/kfd.h"

#include "source/kernel/pid_list.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

/* location_id is bus, device and function, as on the PCI bus. */
static bool read_place(int kfd, int node, char *place, size_t capacity) {
    struct pt_text buffer = { 0 };
    struct pt_scan text, line;
    char path[64];
    uint64_t location = 0, domain = 0;
    snprintf(path, sizeof path, "topology/nodes/%d/properties", node);
    if (!pt_fs_read(kfd, path, &buffer, &text))
        while (pt_scan_line(&text, &line)) {
            if (pt_scan_take(&line, PT_STR("location_id ")))
                location = pt_scan_u64(&line);
            else if (pt_scan_take(&line, PT_STR("domain ")))
                domain = pt_scan_u64(&line);
        }
    pt_text_release(&buffer);
    snprintf(place, capacity, "%04x:%02x:%02x.%x", (unsigned)domain & 0xffff,
             (unsigned)(location >> 8 & 0xff), (unsigned)(location >> 3 & 0x1f),
             (unsigned)(location & 7));
    return location > 0;
}

/* Nodes are numbered without gaps; those of CPUs have the id 0. */
static void read_nodes(struct pt_kfd *kfd, int directory) {
    for (int node = 0; node < PT_KFD_NODES; node++) {
        char path[64];
        int64_t id;
        snprintf(path, sizeof path, "topology/nodes/%d/gpu_id", node);
        if (pt_fs_read_i64(directory, path, &id) || id <= 0 || id > UINT32_MAX)
            continue;
        kfd->nodes[kfd->node_count].gpu_id = (uint32_t)id;
        if (read_place(directory, node, kfd->nodes[kfd->node_count].pci_bus_id,
                       sizeof kfd->nodes[0].pci_bus_id))
            kfd->node_count++;
    }
}

void pt_kfd_open(struct pt_kfd *kfd, const struct pt_fs *fs) {
    *kfd = (struct pt_kfd){ 0 };
    int directory = openat(fs->sys, "class/kfd/kfd", O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return;
    kfd->directory = pt_fd_of(directory);
    read_nodes(kfd, directory);
}

void pt_kfd_close(struct pt_kfd *kfd) {
    (void)pt_fd_close(&kfd->directory);
    *kfd = (struct pt_kfd){ 0 };
}

static void read_process(const struct pt_kfd *kfd, pid_t pid, int node, int gpu,
                         struct pt_gpu_reading *r) {
    int directory = pt_fd_get(kfd->directory);
    uint32_t id = kfd->nodes[node].gpu_id;
    char path[96];
    int64_t bytes, units;
    snprintf(path, sizeof path, "proc/%d/vram_%u", (int)pid, id);
    if (pt_fs_read_i64(directory, path, &bytes) || bytes < 0)
        return;
    struct pt_gpu_process *p = pt_gpu_find_process(r, gpu, pid, true);
    if (!p)
        return;
    p->kinds |= PT_GPU_KIND_COMPUTE;
    pt_gpu_process_set(p, PT_GPU_PROCESS_MEMORY_BYTES, bytes);
    snprintf(path, sizeof path, "proc/%d/stats_%u/cu_occupancy", (int)pid, id);
    if (!pt_fs_read_i64(directory, path, &units) && units >= 0)
        pt_gpu_process_set(p, PT_GPU_PROCESS_CU_OCCUPANCY, units);
}

void pt_kfd_read(const struct pt_kfd *kfd, struct pt_gpu_reading *r) {
    struct pt_pid_list pids = { 0 };
    if (kfd->node_count == 0)
        return;
    int fd = openat(pt_fd_get(kfd->directory), "proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0)
        return;
    int rc = pt_pid_list_read(&pids, fd);
    for (size_t i = 0; i < pids.count && !rc; i++)
        for (int node = 0; node < kfd->node_count; node++) {
            int gpu = pt_gpu_at_address(r, kfd->nodes[node].pci_bus_id);
            if (gpu >= 0)
                read_process(kfd, pids.at[i], node, gpu, r);
        }
    pt_pid_list_release(&pids);
    close(fd);
}
