/* At the end of a process, writes its mappings again, so that the recorder knows libraries loaded
 * since the start. Works also without destructors, as in children forked by Python. */
#include "inside/preload/preload.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

void (*pt_preload_before_end)(void);
static void (*next_exit)(int);

__attribute__((constructor)) static void find_next(void) {
    int error = errno;
    void *found = dlsym(RTLD_NEXT, "_exit");
    memcpy(&next_exit, &found, sizeof found);
    errno = error;
}

__attribute__((destructor)) static void end(void) {
    int error = errno;
    if (pt_preload_file.is_off)
        return;
    bool was_inside = pt_preload_self.is_inside;
    pt_preload_self.is_inside = true;
    if (pt_preload_before_end)
        pt_preload_before_end();
    /* a vfork child runs in its parent's memory: that file is not its own */
    if (pt_preload_process.is_open && pt_preload_file.header->ring_given &&
        pt_preload_file.header->pid == (uint32_t)getpid())
        pt_preload_write_maps();
    pt_preload_self.is_inside = was_inside;
    errno = error;
}

PT_PRELOAD_EXPORT void _exit(int status) {
    end();
    if (next_exit)
        next_exit(status);
    for (;;)
        syscall(SYS_exit_group, status);
}

PT_PRELOAD_EXPORT void _Exit(int status) {
    _exit(status);
}
