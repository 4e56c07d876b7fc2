#include "store/leftovers.h"

#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include <uuid.h>

#define UUID_LENGTH       36
#define FORGOTTEN_SECONDS 10 /* a new file may not be locked yet, a new FIFO not open */

/* Of a run: its uuid stands in front, or after "static_". */
static bool is_of_run(const char *name) {
    char text[UUID_LENGTH + 1];
    uuid_t uuid;
    if (strncmp(name, "static_", 7) == 0)
        name += 7;
    if (strlen(name) <= UUID_LENGTH)
        return false;
    memcpy(text, name, UUID_LENGTH);
    text[UUID_LENGTH] = 0;
    return uuid_parse(text, uuid) == 0;
}

static bool is_unlocked(int directory, const char *name) {
    int fd = openat(directory, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool is_so = fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB);
    if (fd >= 0)
        close(fd);
    return is_so;
}

static bool is_unread(int directory, const char *name) {
    int fd = openat(directory, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool is_so = fd < 0 && errno == ENXIO;
    if (fd >= 0)
        close(fd);
    return is_so;
}

static bool is_forgotten(int directory, const char *name) {
    struct pt_str text = pt_str_from(name);
    bool is_temporary = pt_str_ends(text, PT_STR(".tmp"));
    bool is_fifo = pt_str_ends(text, PT_STR(".ctl"));
    struct stat st;
    if ((!is_temporary && !is_fifo) || !is_of_run(name) ||
        fstatat(directory, name, &st, AT_SYMLINK_NOFOLLOW) || st.st_uid != geteuid() ||
        time(NULL) - st.st_mtime <= FORGOTTEN_SECONDS)
        return false;
    return is_temporary ? S_ISREG(st.st_mode) && is_unlocked(directory, name)
                        : S_ISFIFO(st.st_mode) && is_unread(directory, name);
}

void pt_leftovers_remove(const char *directory) {
    DIR *d = opendir(directory);
    for (struct dirent *e; d && (e = readdir(d));)
        if (is_forgotten(dirfd(d), e->d_name))
            (void)unlinkat(dirfd(d), e->d_name, 0);
    if (d)
        closedir(d);
}
