/* agent/environment.h -- the environment that a command gets: ours, and what it needs besides. */
#ifndef PT_AGENT_ENVIRONMENT_H
#define PT_AGENT_ENVIRONMENT_H

#include "base/attr.h"

#include <stddef.h>

struct pt_environment {
    char **at; /* "NAME=VALUE", NULL after the last */
    size_t count, capacity;
};

/* Copies all of `from`. */
void pt_environment_init(struct pt_environment *e, char *const *from);
void pt_environment_release(struct pt_environment *e);

/* Takes the place of a variable of that name. */
void pt_environment_set(struct pt_environment *e, const char *name, const char *format, ...)
    PT_PRINTF(3, 4);
/* Puts a library before those that LD_PRELOAD names already. */
void pt_environment_preload(struct pt_environment *e, const char *library);

#endif
