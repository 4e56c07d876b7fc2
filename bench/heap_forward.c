/* What a library between a program and its malloc costs if it does nothing: calls are handed on. */
#include <dlfcn.h>
#include <string.h>
#include <stdlib.h>

extern void *__libc_malloc(size_t bytes);
extern void __libc_free(void *p);

static void *(*next_malloc)(size_t) = __libc_malloc;
static void (*next_free)(void *) = __libc_free;

__attribute__((visibility("default"))) void *malloc(size_t bytes) {
    return next_malloc(bytes);
}

__attribute__((visibility("default"))) void free(void *p) {
    next_free(p);
}

__attribute__((constructor)) static void start(void) {
    void *found = dlsym(RTLD_NEXT, "malloc");
    memcpy(&next_malloc, &found, sizeof found);
    found = dlsym(RTLD_NEXT, "free");
    memcpy(&next_free, &found, sizeof found);
}
