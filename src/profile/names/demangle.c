#include "profile/names/demangle.h"

#include "profile/names/rust_name.h"

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

#define RUST_HASH 19 /* "::h0123456789abcdef" */

/* Rust names of the older kind are those of C++ with a hash at their end. */
static bool has_rust_hash(struct pt_str name) {
    if (name.len <= RUST_HASH || memcmp(name.at + name.len - RUST_HASH, "::h", 3) != 0)
        return false;
    for (size_t i = name.len - 16; i < name.len; i++)
        if (!strchr("0123456789abcdef", name.at[i]))
            return false;
    return true;
}

/* What Rust may not put into a symbol. */
static const struct {
    const char *escape, *text;
} escapes[] = {
    { "$LT$", "<" },  { "$GT$", ">" },  { "$RF$", "&" },  { "$BP$", "*" },  { "$LP$", "(" },
    { "$RP$", ")" },  { "$C$", "," },   { "$SP$", "@" },  { "$u20$", " " }, { "$u22$", "\"" },
    { "$u27$", "'" }, { "$u2b$", "+" }, { "$u3b$", ";" }, { "$u5b$", "[" }, { "$u5d$", "]" },
    { "$u7b$", "{" }, { "$u7d$", "}" }, { "$u7e$", "~" }, { "..", "::" },
};

/* How many bytes of the name were taken. */
static size_t take_one(struct pt_str name, struct pt_buf *into) {
    for (size_t i = 0; i < PT_COUNT(escapes); i++) {
        struct pt_str escape = pt_str_from(escapes[i].escape);
        if (pt_str_starts(name, escape)) {
            pt_buf_str(into, pt_str_from(escapes[i].text));
            return escape.len;
        }
    }
    pt_buf_u8(into, (uint8_t)name.at[0]);
    return 1;
}

/* A component that begins with an escape has a '_' before it. */
static void unescape_rust(struct pt_str name, struct pt_buf *into) {
    name.len -= RUST_HASH;
    bool is_start = true;
    while (name.len > 0) {
        if (is_start && pt_str_starts(name, PT_STR("_$")))
            name = pt_str_skip(name, 1);
        is_start = name.at[0] == ':';
        name = pt_str_skip(name, take_one(name, into));
    }
}

void pt_demangle(const char *name, struct pt_buf *into) {
    int status = -1;
    char *plain = NULL;
    pt_buf_clear(into);
    if (strncmp(name, "__GI_", 5) == 0) /* glibc's own second name for what it exports */
        name += 5;
    if (pt_rust_name(pt_str_from(name), into))
        return;
    if (name[0] == '_' && name[1] == 'Z') {
        pthread_once(&once, find_demangler);
        plain = cxa_demangle ? cxa_demangle(name, NULL, NULL, &status) : NULL;
    }
    struct pt_str text = pt_str_from(plain && status == 0 ? plain : name);
    if (has_rust_hash(text))
        unescape_rust(text, into);
    else
        pt_buf_str(into, text);
    pt_free(plain);
}
