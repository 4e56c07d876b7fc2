/* store/run.h -- the files of a run in its directory, and how a run is found. */
#ifndef PT_STORE_RUN_H
#define PT_STORE_RUN_H

#include "base/err.h"
#include "base/str.h"

#include <limits.h>
#include <stddef.h>
#include <stdint.h>

/* RUN on a command line: a directory, a journal, or (the start of) a uuid looked for in the default
 * directory. If a directory has several runs, the newest is used; `*other_count` is the number of
 * others. 0, or -errno with a message. */
int pt_run_find(const char *run, char journal[PATH_MAX], int *other_count,
                struct pt_err *err) PT_MUST_CHECK;

/* Journals of runs. {0} is empty. */
struct pt_run_list {
    char **journals;
    size_t count, capacity;
};

void pt_run_list_add(struct pt_run_list *list, const char *journal); /* copies */
/* Adds all runs of a directory, by name. -ENOENT: there is none. */
int pt_run_list_directory(struct pt_run_list *list, const char *directory,
                          struct pt_err *err) PT_MUST_CHECK;
void pt_run_list_release(struct pt_run_list *list);

/* Creates a directory and the missing ones above it. `*made_from`: the length of the part of the
 * path that is the first of those, 0 if all were there. */
int pt_run_make_directory(const char *path, size_t *made_from, struct pt_err *err) PT_MUST_CHECK;
/* Removes those directories again if they are empty. */
void pt_run_remove_directory(const char *path, size_t made_from);

/* Directory and name without extension of a journal: what its other files are called. */
void pt_run_split(const char *journal, char directory[PATH_MAX], char name[NAME_MAX + 1]);

/* A journal's path without its extension. */
struct pt_str pt_run_stem(struct pt_str journal);

/* The profile of that kind ("cpu") next to a journal, if there is one. */
char *pt_run_profile_path(const char *journal, const char *kind) PT_MUST_CHECK;

#define PT_RUN_DEFAULT_DIRECTORY "./profiler-output"
#define PT_RUN_EXTENSION         ".pitot"
#define PT_RUN_PROFILE_EXTENSION ".pitotprof"
#define PT_RING_EXTENSION        ".ring" /* a directory of journals: store/ring.h */

#endif
