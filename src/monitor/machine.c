#include "monitor/machine.h"

#include "base/fs.h"
#include "kernel/cpu_times.h"
#include "kernel/keyed.h"
#include "kernel/pid.h"

#include <errno.h>
#include <math.h>
#include <unistd.h>

#define TEXT_SIZE 8192

/* As much of the file as the buffer takes. */
static int read_text(const char *path, char text[TEXT_SIZE], struct pt_scan *scan) {
    int saved_errno = errno;
    struct pt_file file = { 0 };
    ssize_t n = -1;
    int rc = pt_file_open(&file, -1, path);
    if (!rc) {
        n = pread(file.fd_plus_one - 1, text, TEXT_SIZE, 0);
        rc = n < 0 ? -errno : 0;
    }
    pt_file_close(&file);
    *scan = pt_scan_of((struct pt_str){ text, n > 0 ? (size_t)n : 0 });
    errno = saved_errno;
    return rc;
}

int pt_machine_parse_cpu(struct pt_scan text, struct pt_machine_cpu *cpu) {
    struct pt_cpu_times times;
    if (!pt_cpu_times_next(&text, &times) || times.cpu >= 0 ||
        !pt_fields_has(times.present, PT_CPU_IDLE))
        return -EINVAL;
    *cpu = (struct pt_machine_cpu){ 0 };
    for (int i = 0; i < PT_CPU_GUEST; i++) { /* guests are in user and nice already */
        int64_t ticks = pt_fields_has(times.present, i) ? times.ticks[i] : 0;
        cpu->total += ticks;
        cpu->busy += i == PT_CPU_IDLE || i == PT_CPU_IOWAIT ? 0 : ticks;
    }
    return 0;
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
    if (used < 0) /* of a container that shows less than the host's caches */
        used = kib[TOTAL] - kib[FREE];
    *memory = (struct pt_machine_memory){ kib[TOTAL] * 1024, used * 1024, kib[AVAILABLE] * 1024 };
    return 0;
}

int pt_machine_read_cpu(struct pt_machine_cpu *cpu) {
    static const char path[] = "/proc/stat";
    char text[TEXT_SIZE];
    struct pt_scan scan;
    int rc = read_text(path, text, &scan);
    return rc ? rc : pt_machine_parse_cpu(scan, cpu);
}

int pt_machine_read_memory(struct pt_machine_memory *memory) {
    static const char path[] = "/proc/meminfo";
    char text[TEXT_SIZE];
    struct pt_scan scan;
    int rc = read_text(path, text, &scan);
    return rc ? rc : pt_machine_parse_memory(scan, memory);
}

double pt_machine_cpu_percent(const struct pt_machine_cpu *from, const struct pt_machine_cpu *to) {
    int64_t total = to->total - from->total, busy = to->busy - from->busy;
    if (total <= 0)
        return (double)NAN;
    double percent = 100.0 * (double)busy / (double)total;
    return percent < 0 ? 0 : percent > 100 ? 100 : percent; /* iowait may run backwards */
}

double pt_machine_own_bytes(void) {
    static const char path[] = "/proc/self/statm";
    char text[TEXT_SIZE];
    struct pt_scan scan;
    int64_t pages;
    if (read_text(path, text, &scan) || pt_pid_parse_statm(scan, &pages))
        return (double)NAN;
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

double pt_machine_own_peak_bytes(void) {
    static const char path[] = "/proc/self/status";
    char text[TEXT_SIZE];
    struct pt_scan scan;
    struct pt_pid_values values;
    if (read_text(path, text, &scan) || pt_pid_parse_status(scan, &values) ||
        !pt_pid_has(&values, PT_STATUS_PEAK_RESIDENT))
        return (double)NAN;
    return (double)values.at[PT_STATUS_PEAK_RESIDENT];
}
