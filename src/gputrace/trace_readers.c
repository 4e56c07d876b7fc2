#include "gputrace/trace_readers.h"

#include "gputrace/nsys.h"
#include "gputrace/rocprof.h"
#include "gputrace/torch.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The bytes of a file; NULL: error, with -errno in `rc`. */
static struct pt_str map(const char *path, int *rc) {
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    *rc = fd < 0 || fstat(fd, &st) ? -errno : 0;
    if (!*rc && !S_ISREG(st.st_mode))
        *rc = -EINVAL;
    void *at = NULL;
    if (!*rc && st.st_size > 0) {
        at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
        *rc = at == MAP_FAILED ? -errno : 0;
    }
    if (fd >= 0)
        close(fd);
    return *rc || !at ? PT_STR("") : (struct pt_str){ at, (size_t)st.st_size };
}

/* Ignores leading blanks. */
static bool is_json(struct pt_str text) {
    size_t i = 0;
    while (i < text.len && (text.at[i] == ' ' || text.at[i] == '\n'))
        i++;
    return i < text.len && (text.at[i] == '{' || text.at[i] == '[');
}

static int read_text(struct pt_timeline *t, const char *path, struct pt_str text,
                     struct pt_err *err) {
    int rc = is_json(text) ? pt_torch_read(t, text) : pt_rocprof_read(t, text);
    if (rc)
        return pt_fail(err, rc,
                       "%s is damaged, or not one of: SQLite export of nsys, CSV trace of "
                       "rocprofv3, Chrome trace of torch",
                       path);
    return 0;
}

int pt_timeline_read(struct pt_timeline *t, const char *path, struct pt_err *err) {
    int rc;
    struct pt_str text = map(path, &rc);
    if (rc)
        return pt_fail(err, rc, "cannot read %s: %s", path, strerror(-rc));
    rc = pt_str_starts(text, PT_STR("SQLite format 3")) ? pt_nsys_read(t, path, err)
                                                        : read_text(t, path, text, err);
    if (text.len > 0)
        munmap((void *)text.at, text.len);
    return rc;
}
