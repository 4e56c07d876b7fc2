#include "libpitot/machine_load.h"

#include "base/fs.h"
#include "source/kernel/keyed.h"

#include <errno.h>
#include <unistd.h>

#define TEXT_SIZE 8192

/* The part of the file that fits in the buffer. */
static int read_text(const char *path, char text[TEXT_SIZE], struct pt_scan *scan) {
    int saved_errno = errno;
    struct pt_file file = { 0 };
    ssize_t n = -1;
    int rc = pt_file_open(&file, -1, path);
    if (!rc) {
        n = pread(pt_fd_get(file.fd), text, TEXT_SIZE, 0);
        rc = n < 0 ? -errno : 0;
    }
    pt_file_close(&file);
    *scan = pt_scan_of((struct pt_str){ text, n > 0 ? (size_t)n : 0 });
    errno = saved_errno;
    return rc;
}

enum { TOTAL, FREE, AVAILABLE, BUFFERS, CACHED, RECLAIMABLE, KEY_COUNT };

int pt_machine_parse_memory(struct pt_scan text, struct pt_machine_memory *memory) {
    static const struct pt_str keys[KEY_COUNT] = {
        [TOTAL] = { "MemTotal:", 9 },          [FREE] = { "MemFree:", 8 },
        [AVAILABLE] = { "MemAvailable:", 13 }, [BUFFERS] = { "Buffers:", 8 },
        [CACHED] = { "Cached:", 7 },           [RECLAIMABLE] = { "SReclaimable:", 13 },
    };
    struct pt_keyed order = { 0 };
    int64_t kib[KEY_COUNT] = { 0 };
    bool is_present[KEY_COUNT];
    pt_keyed_read(&order, keys, KEY_COUNT, text, kib, is_present);
    if (!is_present[TOTAL] || !is_present[FREE] || !is_present[AVAILABLE] || kib[TOTAL] <= 0)
        return -EINVAL;
    int64_t used = kib[TOTAL] - kib[FREE];
    for (int i = BUFFERS; i < KEY_COUNT; i++)
        used -= is_present[i] ? kib[i] : 0;
    if (used < 0) /* in a container that shows less than the host's caches */
        used = kib[TOTAL] - kib[FREE];
    *memory = (struct pt_machine_memory){ kib[TOTAL] * 1024, used * 1024, kib[AVAILABLE] * 1024 };
    return 0;
}

int pt_machine_read_memory(struct pt_machine_memory *memory) {
    static const char path[] = "/proc/meminfo";
    char text[TEXT_SIZE];
    struct pt_scan scan;
    int rc = read_text(path, text, &scan);
    return rc ? rc : pt_machine_parse_memory(scan, memory);
}

void pt_machine_read_ticks(struct pt_machine_usage *usage) {
    static const char path[] = "/proc/stat";
    char text[TEXT_SIZE];
    struct pt_scan scan;
    if (read_text(path, text, &scan))
        scan = (struct pt_scan){ 0 };
    pt_machine_scan_cpu(usage, scan);
}
