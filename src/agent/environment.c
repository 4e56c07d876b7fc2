#include "agent/environment.h"

#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define PRELOAD "LD_PRELOAD"

static void put(struct pt_environment *e, char *entry) {
    pt_grow(&e->at, &e->capacity, e->count + 2, sizeof *e->at);
    e->at[e->count++] = entry;
    e->at[e->count] = NULL;
}

void pt_environment_init(struct pt_environment *e, char *const *from) {
    *e = (struct pt_environment){ 0 };
    pt_grow(&e->at, &e->capacity, 1, sizeof *e->at);
    e->at[0] = NULL;
    for (size_t i = 0; from[i]; i++)
        put(e, pt_asprintf("%s", from[i]));
}

void pt_environment_release(struct pt_environment *e) {
    for (size_t i = 0; i < e->count; i++)
        pt_free(e->at[i]);
    pt_free(e->at);
    *e = (struct pt_environment){ 0 };
}

/* The value of an entry if it has that name, else NULL. */
static const char *value_of(const char *entry, const char *name) {
    size_t length = strlen(name);
    return strncmp(entry, name, length) == 0 && entry[length] == '=' ? entry + length + 1 : NULL;
}

static void set(struct pt_environment *e, const char *name, char *entry) {
    size_t kept = 0;
    for (size_t i = 0; i < e->count; i++) {
        if (value_of(e->at[i], name))
            pt_free(e->at[i]);
        else
            e->at[kept++] = e->at[i];
    }
    e->count = kept;
    put(e, entry);
}

void pt_environment_set(struct pt_environment *e, const char *name, const char *format, ...) {
    char value[4096];
    va_list args;
    va_start(args, format);
    vsnprintf(value, sizeof value, format, args);
    va_end(args);
    set(e, name, pt_asprintf("%s=%s", name, value));
}

void pt_environment_preload(struct pt_environment *e, const char *library) {
    const char *there = NULL;
    for (size_t i = 0; i < e->count && !there; i++)
        there = value_of(e->at[i], PRELOAD);
    bool has_more = there && *there;
    set(e, PRELOAD,
        pt_asprintf(PRELOAD "=%s%s%s", library, has_more ? ":" : "", has_more ? there : ""));
}
