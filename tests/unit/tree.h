/* tests/unit/tree.h -- temporary directories that stand for / in a test. */
#ifndef PT_TEST_TREE_H
#define PT_TEST_TREE_H

#include "test.h"

#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct tree {
    char root[64];
    char path[PATH_MAX]; /* the last answer of tree_path() */
};

static inline void tree_make(struct tree *t) {
    snprintf(t->root, sizeof t->root, "/tmp/pitot-test-XXXXXX");
    assert_non_null(mkdtemp(t->root));
}

/* Absolute name of something in the tree; valid until the next call. */
static inline const char *tree_path(struct tree *t, const char *name) {
    assert_true(snprintf(t->path, sizeof t->path, "%s/%s", t->root, name) < PATH_MAX);
    return t->path;
}

static inline void tree_directory(struct tree *t, const char *name) {
    tree_path(t, name);
    for (char *at = t->path + strlen(t->root) + 1; *at; at++)
        if (*at == '/') {
            *at = 0;
            mkdir(t->path, 0755);
            *at = '/';
        }
    mkdir(t->path, 0755);
    assert_int_equal(access(t->path, X_OK), 0);
}

/* Writes a file and the directories above it. */
static inline void tree_put(struct tree *t, const char *name, const char *text) {
    char parent[PATH_MAX];
    pt_str_copy(parent, sizeof parent, pt_str_from(name));
    char *slash = strrchr(parent, '/');
    if (slash) {
        *slash = 0;
        tree_directory(t, parent);
    }
    int fd = open(tree_path(t, name), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
}

static inline int tree_remove_entry(const char *path, const struct stat *st, int type,
                                    struct FTW *at) {
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static inline void tree_remove(struct tree *t) {
    nftw(t->root, tree_remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* The mock machine of scripts/generate_testdata.sh. */
static inline void tree_generate(struct tree *t) {
    char script[PATH_MAX];
    const char *source = getenv("PITOT_SOURCE");
    snprintf(script, sizeof script, "%s/scripts/generate_testdata.sh", source ? source : ".");
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY | O_CLOEXEC);
        dup2(null, STDOUT_FILENO);
        execl("/bin/sh", "sh", script, t->root, (char *)NULL);
        _exit(127);
    }
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

#endif
