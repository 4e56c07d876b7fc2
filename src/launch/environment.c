#include "launch/environment.h"

#include "base/mem.h"
#include "base/module.h"

#include <errno.h>
#include <string.h>

#define PRELOAD "LD_PRELOAD="

extern char **environ;

static void add(struct pt_environment *e, char *entry) {
    pt_grow(&e->at, &e->capacity, e->count + 2, sizeof *e->at);
    e->at[e->count++] = entry;
    e->at[e->count] = NULL;
}

void pt_environment_init(struct pt_environment *e) {
    *e = (struct pt_environment){ 0 };
    pt_grow(&e->at, &e->capacity, 1, sizeof *e->at);
    e->at[0] = NULL;
    for (size_t i = 0; environ[i]; i++)
        add(e, environ[i]);
}

void pt_environment_set(struct pt_environment *e, char *entry) {
    size_t name_length = strcspn(entry, "=") + 1, kept = 0;
    for (size_t i = 0; i < e->count; i++)
        if (strncmp(e->at[i], entry, name_length) != 0)
            e->at[kept++] = e->at[i];
    e->count = kept;
    add(e, entry);
    pt_grow(&e->own, &e->own_capacity, e->own_count + 1, sizeof *e->own);
    e->own[e->own_count++] = entry;
}

void pt_environment_preload(struct pt_environment *e, const char *library) {
    const char *there = "";
    for (size_t i = 0; i < e->count; i++)
        if (strncmp(e->at[i], PRELOAD, strlen(PRELOAD)) == 0)
            there = e->at[i] + strlen(PRELOAD);
    pt_environment_set(e, pt_asprintf(PRELOAD "%s%s%s", library, *there ? ":" : "", there));
}

void pt_environment_release(struct pt_environment *e) {
    for (size_t i = 0; i < e->own_count; i++)
        pt_free(e->own[i]);
    pt_free(e->own);
    pt_free(e->at);
    *e = (struct pt_environment){ 0 };
}

int pt_preload_find(const char *library, char *into, size_t capacity, struct pt_err *err) {
    int rc = pt_module_find(library, into, capacity);
    if (rc == -ENOENT)
        return pt_fail(err, rc, "%s is not installed", library);
    if (rc)
        return pt_fail(err, rc, "cannot read %s: %s", into, strerror(-rc));
    if (strpbrk(into, ": "))
        return pt_fail(err, -EINVAL, "%s: LD_PRELOAD does not support paths with spaces or colons",
                       into);
    return 0;
}
