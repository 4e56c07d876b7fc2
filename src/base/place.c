#include "base/place.h"

#include "base/str.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <strings.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/xattr.h>
#include <unistd.h>

#define LINKS_MAX   40 /* as the kernel has it */
#define HEAD_BYTES  4096
#define ATTRIBUTE   "user.pitot"
#define UUID_LENGTH 36

bool pt_files_are_private;

mode_t pt_file_mode(void) {
    return pt_files_are_private ? 0600 : 0666;
}

mode_t pt_directory_mode(void) {
    return pt_files_are_private ? 0700 : 0777;
}

void pt_files_follow(const char *journal) {
    struct stat st;
    if (stat(journal, &st) == 0 && !(st.st_mode & 077))
        pt_files_are_private = true;
}

/* In a directory where everybody may create files, links of this user and of its owner count. */
static bool is_trusted_link(int directory, const struct stat *link) {
    struct stat parent;
    if (fstat(directory, &parent))
        return false;
    bool is_shared = (parent.st_mode & S_ISVTX) && (parent.st_mode & S_IWOTH);
    return !is_shared || link->st_uid == geteuid() || link->st_uid == parent.st_uid;
}

/* Goes from a directory, which it closes, along a path. */
static int enter(int directory, struct pt_str path, int *links) {
    char part[NAME_MAX + 1], target[PATH_MAX];
    if (path.len > 0 && path.at[0] == '/') {
        close(directory);
        directory = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    }
    while (directory >= 0 && path.len > 0) {
        const char *slash = memchr(path.at, '/', path.len);
        size_t n = slash ? (size_t)(slash - path.at) : path.len;
        struct pt_str name = { path.at, n };
        path = pt_str_skip(path, n + 1);
        if (n == 0)
            continue;
        struct stat st;
        pt_str_copy(part, sizeof part, name);
        int next =
            n > NAME_MAX ? -ENAMETOOLONG : openat(directory, part, O_PATH | O_NOFOLLOW | O_CLOEXEC);
        int rc = n > NAME_MAX ? -ENAMETOOLONG : next < 0 || fstat(next, &st) ? -errno : 0;
        if (!rc && S_ISLNK(st.st_mode)) {
            ssize_t length = readlinkat(next, "", target, sizeof target - 1);
            if (length <= 0 || (*links)-- == 0 || !is_trusted_link(directory, &st)) {
                rc = -ELOOP;
            } else {
                close(next);
                directory = enter(directory, (struct pt_str){ target, (size_t)length }, links);
                continue;
            }
        }
        if (!rc && !S_ISDIR(st.st_mode))
            rc = -ENOTDIR;
        close(directory);
        if (rc && next >= 0)
            close(next);
        directory = rc ? rc : next;
    }
    return directory;
}

int pt_place_open(struct pt_place *p, const char *path) {
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    int links = LINKS_MAX, here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
    *p = (struct pt_place){ .directory = -1 };
    if (strlen(name) >= sizeof p->name || strlen(path) >= PATH_MAX) {
        if (here >= 0)
            close(here);
        return -ENAMETOOLONG;
    }
    if (here < 0)
        return -errno;
    pt_str_copy(p->name, sizeof p->name, pt_str_from(*name ? name : "."));
    p->directory = enter(here, (struct pt_str){ path, (size_t)(name - path) }, &links);
    return p->directory < 0 ? p->directory : 0;
}

void pt_place_close(struct pt_place *p) {
    if (p->directory >= 0)
        close(p->directory);
    p->directory = -1;
}

/* The uuid of a run stands in front, or after "static_". */
static bool is_named_after_run(const char *name) {
    if (strncmp(name, "static_", 7) == 0)
        name += 7;
    for (int i = 0; i < UUID_LENGTH; i++) {
        bool is_dash = i == 8 || i == 13 || i == 18 || i == 23;
        if (is_dash ? name[i] != '-' : !isxdigit((unsigned char)name[i]))
            return false;
    }
    return true;
}

/* Pages, traces and profiles name the program at their start. */
static bool names_pitot(int fd) {
    char head[HEAD_BYTES];
    ssize_t n = read(fd, head, sizeof head);
    for (ssize_t i = 0; i + 5 <= n; i++)
        if (strncasecmp(head + i, "pitot", 5) == 0)
            return true;
    return false;
}

static bool is_made_by_pitot(const struct pt_place *p, const struct stat *st) {
    if (!S_ISREG(st->st_mode) || st->st_nlink != 1 || st->st_uid != geteuid())
        return false;
    if (st->st_size == 0 || is_named_after_run(p->name))
        return true;
    int fd = openat(p->directory, p->name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    bool is_ours = fd >= 0 && (fgetxattr(fd, ATTRIBUTE, NULL, 0) >= 0 || names_pitot(fd));
    if (fd >= 0)
        close(fd);
    return is_ours;
}

int pt_place_look(const struct pt_place *p) {
    struct stat st;
    if (fstatat(p->directory, p->name, &st, AT_SYMLINK_NOFOLLOW))
        return errno == ENOENT ? 0 : -errno;
    if (S_ISLNK(st.st_mode))
        return -ELOOP;
    if (S_ISDIR(st.st_mode))
        return -EISDIR;
    if (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode)) /* a FIFO of another is a trap */
        return st.st_uid == geteuid() || S_ISCHR(st.st_mode) ? 1 : -EEXIST;
    return is_made_by_pitot(p, &st) ? 0 : -EEXIST;
}

int pt_place_create(struct pt_place *p) {
    uint64_t chance;
    if (getrandom(&chance, sizeof chance, 0) != sizeof chance)
        return -EIO;
    /* a run's name stays in front, so that the next recorder finds what a killed one left */
    int room = (int)sizeof p->temporary - 24;
    snprintf(p->temporary, sizeof p->temporary, "%.*s.%016llx.tmp", room, p->name,
             (unsigned long long)chance);
    int fd = openat(p->directory, p->temporary,
                    O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, pt_file_mode());
    if (fd < 0)
        return -errno;
    (void)flock(fd, LOCK_EX | LOCK_NB);
    (void)fsetxattr(fd, ATTRIBUTE, "1", 1, 0);
    return fd;
}

int pt_place_open_special(const struct pt_place *p) {
    struct stat st;
    int fd = openat(p->directory, p->name, O_WRONLY | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    if (fstat(fd, &st) == 0 && (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode)))
        return fd;
    close(fd); /* it was exchanged since */
    return -EEXIST;
}

static int rename_new(int from_directory, const char *from, int to_directory, const char *to) {
    if (renameat2(from_directory, from, to_directory, to, RENAME_NOREPLACE) == 0)
        return 0;
    if (errno != EINVAL && errno != ENOSYS)
        return -errno;
    /* a file system without it: a second name never replaces anything */
    if (linkat(from_directory, from, to_directory, to, 0))
        return -errno;
    return unlinkat(from_directory, from, 0) ? -errno : 0;
}

int pt_place_publish(struct pt_place *p) {
    int rc = rename_new(p->directory, p->temporary, p->directory, p->name);
    if (rc == -EEXIST) {
        rc = pt_place_look(p);
        if (rc > 0)
            rc = -EEXIST;
        if (!rc && renameat(p->directory, p->temporary, p->directory, p->name))
            rc = -errno;
    }
    if (rc)
        pt_place_remove(p);
    return rc;
}

void pt_place_remove(struct pt_place *p) {
    (void)unlinkat(p->directory, p->temporary, 0);
}

int pt_place_move(const char *from, const char *to) {
    return rename_new(AT_FDCWD, from, AT_FDCWD, to);
}

const char *pt_place_words(int rc) {
    if (rc == -ELOOP)
        return "it is a symbolic link, or another user's link leads there";
    if (rc == -EEXIST)
        return "it exists and was not made by Pitot (remove it or choose another name)";
    return strerror(-rc);
}
