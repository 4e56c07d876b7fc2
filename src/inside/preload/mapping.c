/* Files in the directory of the recorder, and their memory; shared by both libraries. Nothing here
 * allocates: it runs inside malloc and signal handlers. */
#include "inside/preload/preload.h"

#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static char directory[PATH_MAX], path[PATH_MAX];
const char *pt_preload_directory_variable;

int64_t pt_preload_clock_ns(int id) {
    struct timespec t = { 0 };
    clock_gettime(id, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

uint64_t pt_preload_number(const char *text, uint64_t otherwise) {
    uint64_t number = 0;
    if (!text || !*text)
        return otherwise;
    for (; *text >= '0' && *text <= '9'; text++)
        number = number * 10 + (uint64_t)(*text - '0');
    return *text ? otherwise : number;
}

bool pt_preload_find_directory(const char *variable) {
    const char *in = secure_getenv(variable);
    if (!in || !*in || strlen(in) >= sizeof directory - 64)
        return false;
    memcpy(directory, in, strlen(in) + 1);
    pt_preload_directory_variable = variable;
    return true;
}

static char *put_text(char *at, const char *end, const char *text) {
    while (at < end && *text)
        *at++ = *text++;
    return at;
}

static char *put_number(char *at, const char *end, uint64_t number) {
    char digits[24], *first = digits + sizeof digits;
    *--first = '\0';
    do
        *--first = (char)('0' + number % 10);
    while (number /= 10);
    return put_text(at, end, first);
}

/* DIRECTORY/PID-TIME.heap; formatted by hand: printf may allocate. */
static bool make_path(uint32_t pid, const char *suffix) {
    char *end = path + PATH_MAX - 1, *at = put_text(path, end, directory);
    at = put_text(at, end, "/");
    at = put_number(at, end, pid);
    at = put_text(at, end, "-");
    at = put_number(at, end, (uint64_t)pt_preload_clock_ns(CLOCK_MONOTONIC));
    at = put_text(at, end, suffix);
    *at = '\0';
    return at < end;
}

int pt_preload_create(uint32_t pid, const char *suffix) {
    return make_path(pid, suffix)
               ? open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600)
               : -1;
}

int pt_preload_open(const char *name) {
    char *end = path + PATH_MAX - 1, *at = put_text(path, end, directory);
    at = put_text(at, end, "/");
    at = put_text(at, end, name);
    *at = '\0';
    return at < end ? open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW) : -1;
}

void pt_preload_remove(void) {
    unlink(path);
}

/* Exceeding the file size limit would raise a signal. */
bool pt_preload_fits_limit(uint64_t size) {
    struct rlimit limit;
    return !getrlimit(RLIMIT_FSIZE, &limit) &&
           (limit.rlim_cur == RLIM_INFINITY || limit.rlim_cur >= size);
}

/* By system call, because the name may be our own function. */
static void *map(void *at, uint64_t size, int rights, int flags, int fd, uint64_t offset) {
    long p = syscall(SYS_mmap, at, size, rights, flags, fd, (long)offset);
    return p == -1 ? NULL : (void *)(uintptr_t)p;
}

void *pt_preload_map_part(int fd, void *at, uint64_t offset, uint64_t size) {
    return map(at, size, PROT_READ | PROT_WRITE, MAP_SHARED | (at ? MAP_FIXED : 0), fd, offset);
}

uint8_t *pt_preload_map_ring(int fd, uint64_t offset) {
    uint8_t *at = map(NULL, 2 * PT_PRELOAD_RING_BYTES, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (!at || !pt_preload_map_part(fd, at, offset, PT_PRELOAD_RING_BYTES) ||
        !pt_preload_map_part(fd, at + PT_PRELOAD_RING_BYTES, offset, PT_PRELOAD_RING_BYTES))
        return NULL;
    return at;
}

bool pt_preload_give_memory(int fd, uint64_t offset, uint64_t size) {
    return !posix_fallocate(fd, (off_t)offset, (off_t)size);
}

bool pt_preload_file_give(uint64_t offset, uint64_t size) {
    int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    bool is_given = fd >= 0 && pt_preload_give_memory(fd, offset, size);
    if (fd >= 0)
        close(fd);
    return is_given;
}
