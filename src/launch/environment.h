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

/* As this process has it; borrows those texts. */
void pt_environment_init(struct pt_environment *e);
/* "NAME=value", which it takes. */
void pt_environment_set(struct pt_environment *e, char *entry);
/* Puts a library before those that LD_PRELOAD names already. */
void pt_environment_preload(struct pt_environment *e, const char *library);
void pt_environment_release(struct pt_environment *e);

/* The path of a library that is to be preloaded, one of our modules. 0 or -errno with words. */
int pt_preload_find(const char *library, char *into, size_t capacity,
                    struct pt_err *err) PT_MUST_CHECK;

#endif
