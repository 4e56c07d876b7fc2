/* launch/environment.h -- the environment of a command: Pitot's own with some variables set. */
#ifndef PT_LAUNCH_ENVIRONMENT_H
#define PT_LAUNCH_ENVIRONMENT_H

#include "base/err.h"

#include <stddef.h>

struct pt_environment {
    char **at; /* NULL after the last */
    size_t count, capacity;
    char **own; /* entries that were set */
    size_t own_count, own_capacity;
};

/* The environment of this process; borrows its strings. */
void pt_environment_init(struct pt_environment *e);
/* Takes the string "NAME=value". */
void pt_environment_set(struct pt_environment *e, char *entry);
/* Puts a library before those already in LD_PRELOAD. */
void pt_environment_preload(struct pt_environment *e, const char *library);
void pt_environment_release(struct pt_environment *e);

/* The path of a module to preload. 0 or -errno with a message. */
int pt_preload_find(const char *library, char *into, size_t capacity,
                    struct pt_err *err) PT_MUST_CHECK;

#endif
