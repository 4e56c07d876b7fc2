#include "libpitot/process_usage.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sys/resource.h>
#include <unistd.h>

#define KIB_PER_MB   1024.0
#define BYTES_PER_MB (1024.0 * 1024)
#define FILE_LIMIT   65536

static const char status_path[] = "/proc/self/status", io_path[] = "/proc/self/io",
                  statm_path[] = "/proc/self/statm", reset_path[] = "/proc/self/clear_refs";

static double seconds_of(struct timeval t) {
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static double find(struct pt_scan text, struct pt_str key, double unit) {
    int64_t value;
    return pt_kernel_text_find(text, key, &value) ? (double)value / unit : NAN;
}

void pt_process_usage_read(struct pt_process_usage *u, struct pt_kernel_text *buffer) {
    struct pt_scan text;
    struct rusage usage;
    u->ram_mb = u->highest_ram_mb = u->disk_read_mb = u->disk_write_mb = NAN;
    u->user_s = u->system_s = NAN;
    if (!pt_kernel_text_read(buffer, status_path, FILE_LIMIT, &text)) {
        u->ram_mb = find(text, PT_STR("VmRSS:"), KIB_PER_MB);
        u->highest_ram_mb = find(text, PT_STR("VmHWM:"), KIB_PER_MB);
    }
    if (!pt_kernel_text_read(buffer, io_path, FILE_LIMIT, &text)) {
        u->disk_read_mb = find(text, PT_STR("read_bytes:"), BYTES_PER_MB);
        u->disk_write_mb = find(text, PT_STR("write_bytes:"), BYTES_PER_MB);
    }
    if (!getrusage(RUSAGE_SELF, &usage)) {
        u->user_s = seconds_of(usage.ru_utime);
        u->system_s = seconds_of(usage.ru_stime);
    }
    u->time_ns = pt_mono_ns();
}

double pt_process_ram_mb(void) {
    char text[128];
    int saved_errno = errno;
    int fd = open(statm_path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    errno = saved_errno;
    struct pt_scan s = pt_scan_of((struct pt_str){ text, n > 0 ? (size_t)n : 0 });
    pt_scan_skip(&s, 1);
    int64_t pages = pt_scan_i64(&s);
    return s.failed ? NAN : (double)pages * (double)sysconf(_SC_PAGESIZE) / BYTES_PER_MB;
}

bool pt_process_reset_highest(void) {
    int fd = open(reset_path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is_done = write(fd, "5", 1) == 1;
    close(fd);
    return is_done;
}
