/* Writes the executable mappings as lines of /proc/self/maps; the recorder needs them to unwind. */
#include "inside/preload/preload.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TEXT_BYTES (16u << 10) /* per record */

static char input[8192], text[TEXT_BYTES];

static void write_record(size_t bytes) {
    uint64_t position;
    size_t size = (sizeof(struct pt_preload_maps) + bytes + PT_PRELOAD_ALIGNMENT - 1) &
                  ~(size_t)(PT_PRELOAD_ALIGNMENT - 1);
    struct pt_preload_maps *m =
        (struct pt_preload_maps *)(void *)pt_preload_claim(size, PT_PRELOAD_RING_BYTES, &position);
    if (!m)
        return;
    m->mono_ns = pt_preload_clock_ns(CLOCK_MONOTONIC);
    m->thread = pt_preload_thread_id();
    m->text_size = (uint32_t)bytes;
    pt_preload_thread_name(m->name);
    memcpy(m + 1, text, bytes);
    pt_preload_publish(&m->record, position, size, PT_PRELOAD_MAPS, 0);
}

static size_t add_line(size_t used, const char *line, size_t length) {
    /* "55d0c8a00000-55d0c8c1f000 r-xp ..." */
    const char *rights = memchr(line, ' ', length);
    bool is_executable = rights && rights + 3 < line + length && rights[3] == 'x';
    if (!is_executable || length > TEXT_BYTES)
        return used;
    if (used + length > TEXT_BYTES) {
        write_record(used);
        used = 0;
    }
    memcpy(text + used, line, length);
    return used + length;
}

static void copy_lines(int fd) {
    size_t kept = 0, used = 0;
    for (ssize_t n; (n = read(fd, input + kept, sizeof input - kept)) > 0;) {
        const char *at = input, *end = input + kept + n, *newline;
        while ((newline = memchr(at, '\n', (size_t)(end - at)))) {
            used = add_line(used, at, (size_t)(newline + 1 - at));
            at = newline + 1;
        }
        kept = (size_t)(end - at);
        memmove(input, at, kept);
    }
    if (used > 0)
        write_record(used);
}

/* One thread at a time; others continue, because the maps are being written. The path is fixed,
 * because this is the process itself. */
void pt_preload_write_maps(void) {
    static const char own_maps[] = "/proc/self/maps";
    if (__atomic_exchange_n(&pt_preload_process.is_writing_maps, 1, __ATOMIC_ACQUIRE))
        return;
    int fd = open(own_maps, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        copy_lines(fd);
        close(fd);
    }
    __atomic_store_n(&pt_preload_process.is_writing_maps, 0, __ATOMIC_RELEASE);
}
