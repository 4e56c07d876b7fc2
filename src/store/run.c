#include "store/run.h"

#include "base/mem.h"
#include "base/place.h"
#include "base/str.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_newer(const struct stat *a, const struct stat *b) {
    if (a->st_mtim.tv_sec != b->st_mtim.tv_sec)
        return a->st_mtim.tv_sec > b->st_mtim.tv_sec;
    return a->st_mtim.tv_nsec > b->st_mtim.tv_nsec;
}

/* A journal, or a ring of them. */
static bool is_run_name(struct pt_str name) {
    return pt_str_ends(name, PT_STR(PT_RUN_EXTENSION)) ||
           pt_str_ends(name, PT_STR(PT_RING_EXTENSION));
}

/* Finds the newest journal in the directory with a name that starts with `prefix`; returns the
 * number of matches. */
static int search(const char *directory, const char *prefix, char journal[PATH_MAX]) {
    DIR *d = opendir(directory);
    struct stat newest = { 0 };
    int count = 0;
    for (struct dirent *e; d && (e = readdir(d));) {
        struct pt_str name = pt_str_from(e->d_name);
        char path[PATH_MAX];
        struct stat st;
        if (!is_run_name(name) || !pt_str_starts(name, pt_str_from(prefix)) ||
            snprintf(path, sizeof path, "%s/%s", directory, e->d_name) >= PATH_MAX ||
            stat(path, &st))
            continue;
        if (count++ == 0 || is_newer(&st, &newest)) {
            newest = st;
            pt_str_copy(journal, PATH_MAX, pt_str_from(path));
        }
    }
    if (d)
        closedir(d);
    return count;
}

static int no_run_in(const char *directory, struct pt_err *err) {
    return pt_fail(err, -ENOENT, "there is no run (*%s) in %s", PT_RUN_EXTENSION, directory);
}

static struct pt_str without_slashes(const char *path) {
    struct pt_str name = pt_str_from(path);
    while (name.len > 0 && name.at[name.len - 1] == '/')
        name.len--;
    return name;
}

int pt_run_find(const char *run, char journal[PATH_MAX], int *other_count, struct pt_err *err) {
    struct stat st;
    struct pt_str path = without_slashes(run);
    bool is_ring = pt_str_ends(path, PT_STR(PT_RING_EXTENSION));
    *other_count = 0;
    if (stat(run, &st) == 0 && (!S_ISDIR(st.st_mode) || is_ring)) {
        pt_str_copy(journal, PATH_MAX, path);
        return 0;
    }
    bool is_directory = stat(run, &st) == 0;
    int count =
        is_directory ? search(run, "", journal) : search(PT_RUN_DEFAULT_DIRECTORY, run, journal);
    *other_count = count - 1;
    if (count > 0)
        return 0;
    if (is_directory)
        return no_run_in(run, err);
    return pt_fail(err, -ENOENT,
                   "no run called %s (use a directory, a *%s journal, or the start of a uuid "
                   "in %s)",
                   run, PT_RUN_EXTENSION, PT_RUN_DEFAULT_DIRECTORY);
}

void pt_run_list_add(struct pt_run_list *list, const char *journal) {
    pt_grow(&list->journals, &list->capacity, list->count + 1, sizeof *list->journals);
    list->journals[list->count++] = pt_strdup(journal);
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

int pt_run_list_directory(struct pt_run_list *list, const char *directory, struct pt_err *err) {
    DIR *d = opendir(directory);
    size_t before = list->count;
    char path[PATH_MAX];
    if (!d)
        return pt_fail(err, -errno, "cannot open %s: %s", directory, strerror(errno));
    for (struct dirent *e; (e = readdir(d));)
        if (is_run_name(pt_str_from(e->d_name)) &&
            snprintf(path, sizeof path, "%s/%s", directory, e->d_name) < PATH_MAX)
            pt_run_list_add(list, path);
    closedir(d);
    if (list->count == before)
        return no_run_in(directory, err);
    qsort(list->journals + before, list->count - before, sizeof *list->journals, by_name);
    return 0;
}

void pt_run_list_release(struct pt_run_list *list) {
    for (size_t i = 0; i < list->count; i++)
        pt_free(list->journals[i]);
    pt_free(list->journals);
    *list = (struct pt_run_list){ 0 };
}

int pt_run_make_directory(const char *path, size_t *made_from, struct pt_err *err) {
    char part[PATH_MAX];
    size_t length = strlen(path);
    *made_from = 0;
    if (length == 0 || length >= sizeof part)
        return pt_fail(err, -ENAMETOOLONG, "the name of the output directory is empty or too long");
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != 0)
            continue;
        pt_str_copy(part, sizeof part, (struct pt_str){ path, i });
        if (mkdir(part, pt_directory_mode()) == 0)
            *made_from = *made_from ? *made_from : i;
        else if (errno != EEXIST && errno != EISDIR)
            return pt_fail(err, -errno, "cannot create the output directory %s: %s", part,
                           strerror(errno));
        /* before the next step goes through it */
        struct pt_place inside;
        char *name = pt_asprintf("%s/.", part);
        int rc = pt_place_open(&inside, name);
        pt_free(name);
        if (rc == -ELOOP)
            return pt_fail(err, rc, "cannot use the output directory %s: %s", part,
                           pt_place_words(rc));
        pt_place_close(&inside);
    }
    struct stat st;
    if (stat(path, &st) || !S_ISDIR(st.st_mode))
        return pt_fail(err, -ENOTDIR, "the output %s is not a directory", path);
    return 0;
}

void pt_run_remove_directory(const char *path, size_t made_from) {
    char part[PATH_MAX];
    for (size_t length = strlen(path); made_from > 0 && length >= made_from; length--) {
        if (path[length] != '/' && path[length] != 0)
            continue;
        pt_str_copy(part, sizeof part, (struct pt_str){ path, length });
        rmdir(part);
    }
}

struct pt_str pt_run_stem(struct pt_str journal) {
    static const char *const extensions[] = { PT_RUN_EXTENSION, PT_RING_EXTENSION };
    for (size_t i = 0; i < PT_COUNT(extensions); i++)
        if (pt_str_ends(journal, pt_str_from(extensions[i])))
            return (struct pt_str){ journal.at, journal.len - strlen(extensions[i]) };
    return journal;
}

char *pt_run_profile_path(const char *journal, const char *kind) {
    struct pt_str stem = pt_run_stem(pt_str_from(journal));
    return pt_asprintf("%.*s.%s" PT_RUN_PROFILE_EXTENSION, (int)stem.len, stem.at, kind);
}

void pt_run_split(const char *journal, char directory[PATH_MAX], char name[NAME_MAX + 1]) {
    const char *slash = strrchr(journal, '/');
    struct pt_str base = pt_str_from(slash ? slash + 1 : journal);
    base = pt_run_stem(base);
    pt_str_copy(name, NAME_MAX + 1, base);
    struct pt_str path =
        slash ? (struct pt_str){ journal, (size_t)(slash - journal) } : PT_STR(".");
    pt_str_copy(directory, PATH_MAX, path.len > 0 ? path : PT_STR("/"));
}
