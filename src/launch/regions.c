#include "launch/regions.h"

#include "base/log.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PLACE             "/dev/shm"
#define UUID_LENGTH       36
#define FORGOTTEN_SECONDS 10 /* a new directory may not be locked yet */

/* Removes only plain files of libpitot; anything else keeps the directory. */
static void remove_directory(int place, const char *name) {
    int fd = openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *directory = fd < 0 ? NULL : fdopendir(fd);
    for (struct dirent *e; directory && (e = readdir(directory));)
        if (e->d_name[0] != '.')
            unlinkat(dirfd(directory), e->d_name, 0);
    if (directory)
        closedir(directory);
    unlinkat(place, name, AT_REMOVEDIR);
}

static bool is_forgotten(int place, const char *name) {
    struct stat st;
    if (strncmp(name, PT_REGIONS_PREFIX, strlen(PT_REGIONS_PREFIX)) != 0 ||
        strlen(name) != strlen(PT_REGIONS_PREFIX) + UUID_LENGTH)
        return false;
    int fd = openat(place, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool is_so = !fstat(fd, &st) && st.st_uid == geteuid() &&
                 time(NULL) - st.st_mtime > FORGOTTEN_SECONDS && !flock(fd, LOCK_EX | LOCK_NB);
    close(fd);
    return is_so;
}

static void remove_forgotten(void) {
    DIR *place = opendir(PLACE);
    for (struct dirent *e; place && (e = readdir(place));)
        if (is_forgotten(dirfd(place), e->d_name))
            remove_directory(dirfd(place), e->d_name);
    if (place)
        closedir(place);
}

void pt_regions_make(struct pt_regions *r, const char *uuid) {
    remove_forgotten();
    snprintf(r->path, sizeof r->path, PLACE "/" PT_REGIONS_PREFIX "%s", uuid);
    int rc = mkdir(r->path, 0700);
    int fd = rc ? -1 : open(r->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd >= 0 && !flock(fd, LOCK_EX | LOCK_NB)) {
        r->fd = pt_fd_of(fd);
        return;
    }
    pt_log(PT_LOG_INFO, "cannot create %s: %s; application metrics will not be recorded", r->path,
           strerror(errno));
    if (fd >= 0)
        close(fd);
    if (!rc)
        rmdir(r->path);
    r->path[0] = '\0';
}

void pt_regions_remove(struct pt_regions *r) {
    if (!pt_fd_is_open(r->fd))
        return;
    remove_directory(AT_FDCWD, r->path);
    (void)pt_fd_close(&r->fd);
    *r = (struct pt_regions){ 0 };
}
