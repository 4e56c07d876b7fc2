#include "profile/demangle.h"

#include <dlfcn.h>
#include <pthread.h>

typedef char *demangler(const char *mangled, char *buffer, size_t *length, int *status);

static pthread_once_t once = PTHREAD_ONCE_INIT;
static demangler *cxa_demangle; /* set once; NULL: no libstdc++ here */

static void find_demangler(void) {
    void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    void *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
    memcpy(&cxa_demangle, &symbol, sizeof symbol);
}

/* Rust names of the older kind end with a hash: "::h0123456789abcdef". */
static struct pt_str without_rust_hash(struct pt_str name) {
    const size_t hash = sizeof "::h0123456789abcdef" - 1;
    if (name.len <= hash || memcmp(name.at + name.len - hash, "::h", 3) != 0)
        return name;
    for (size_t i = name.len - 16; i < name.len; i++)
        if (!strchr("0123456789abcdef", name.at[i]))
            return name;
    name.len -= hash;
    return name;
}

void pt_demangle(const char *name, struct pt_buf *into) {
    int status = -1;
    char *plain = NULL;
    pt_buf_clear(into);
    if (strncmp(name, "__GI_", 5) == 0) /* glibc's own second name for what it exports */
        name += 5;
    if (name[0] == '_' && name[1] == 'Z') {
        pthread_once(&once, find_demangler);
        plain = cxa_demangle ? cxa_demangle(name, NULL, NULL, &status) : NULL;
    }
    pt_buf_str(into, without_rust_hash(pt_str_from(plain && status == 0 ? plain : name)));
    pt_free(plain);
}
