/* base/fs.h -- reads kernel files below configurable roots.
 *
 * No code opens /proc or /sys by an absolute path: names are relative to these roots, so the same
 * code runs live, on a captured tree and in a container that has the host's /proc elsewhere. */
#ifndef PT_BASE_FS_H
#define PT_BASE_FS_H

#include "base/err.h"
#include "base/fd.h"
#include "base/scan.h"

#include <dirent.h>
#include <sys/types.h>

struct pt_fs {
    int proc, sys, root; /* directory descriptors */
    bool is_live;        /* the roots are those of this machine */
};

/* 0, or -errno with a message; then nothing is open. */
int pt_fs_open(struct pt_fs *fs, const char *procfs, const char *sysfs, const char *rootfs,
               struct pt_err *err) PT_MUST_CHECK;
void pt_fs_close(struct pt_fs *fs);

/* A reusable buffer for reading files; grows to the size of the largest. */
struct pt_text {
    char *at;
    size_t capacity;
};

void pt_text_release(struct pt_text *t);

/* A file that stays open and is read again from its start. {0} is closed. */
struct pt_file {
    struct pt_fd fd;
};

/* openat + O_CLOEXEC | O_RDONLY | O_NONBLOCK (a FIFO in a captured tree must not block);
 * 0 or -errno. */
int pt_file_open(struct pt_file *f, int directory, const char *path) PT_MUST_CHECK;
bool pt_file_is_open(const struct pt_file *f);
void pt_file_close(struct pt_file *f);

/* Reads the whole file; `text` borrows the buffer until the buffer is used again. Only for files of
 * /proc and /sys with short records (up to 512 bytes) or a single record. 0 or -errno (-ESRCH: the
 * process has exited; -ENOENT, -EACCES, ...). */
int pt_file_read(const struct pt_file *f, struct pt_text *into, struct pt_scan *text) PT_MUST_CHECK;

/* Opens the file on first use, keeps it open and reads it. After a failure the next call opens it
 * again. */
int pt_file_read_kept(struct pt_file *f, int directory, const char *path, struct pt_text *into,
                      struct pt_scan *text) PT_MUST_CHECK;

/* Opens, reads and closes; works for any file (a record of cpuinfo has more than 1000 bytes). */
int pt_fs_read(int directory, const char *path, struct pt_text *into,
               struct pt_scan *text) PT_MUST_CHECK;

/* Opens a directory for readdir(3) and closedir(3). NULL: errno is set. */
DIR *pt_fs_list(int directory, const char *path);

/* Read a file with one integer, or one line of text (without its newline, truncated to fit). */
int pt_fs_read_i64(int directory, const char *path, int64_t *value) PT_MUST_CHECK;
int pt_fs_read_line(int directory, const char *path, char *line, size_t capacity) PT_MUST_CHECK;
/* The directory of this program's file, without a trailing slash. */
int pt_fs_own_directory(char *into, size_t capacity) PT_MUST_CHECK;
int pt_fs_readlink(int directory, const char *path, char *target, size_t capacity) PT_MUST_CHECK;

#endif
