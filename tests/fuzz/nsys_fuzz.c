/* Any bytes as the SQLite file of Nsight Systems: what is found has times that can be. */
#include "gputrace/nsys.h"

#include <assert.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int fd = memfd_create("nsys", MFD_CLOEXEC);
    struct pt_timeline t = { 0 };
    struct pt_err err;
    char path[32];
    if (fd < 0)
        return 0;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (write(fd, data, size) == (ssize_t)size && !pt_nsys_read(&t, path, &err))
        for (size_t i = 0; i < t.count; i++)
            assert(t.events[i].duration_ns >= 0 && t.events[i].name < t.names.count);
    pt_timeline_release(&t);
    close(fd);
    return 0;
}
