#include "profile/names/demangle.h"

#include <libiberty/demangle.h>
#include <setjmp.h>

struct output {
    struct pt_buf *into;
    bool is_cut; /* a piece did not fit */
    jmp_buf stop;
};

static bool is_ascii(const char *text, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (text[i] & 0x80)
            return false;
    return true;
}

/* Back references can make a short name exponentially long, and only a jump stops the demangler.
 * It holds allocated memory only while it prints an identifier that is not ASCII, so the jump waits
 * for the next piece. */
static void append(const char *text, size_t length, void *context) {
    struct output *o = context;
    if (o->into->len + length <= PT_DEMANGLED_MAX) {
        pt_buf_bytes(o->into, text, length);
        return;
    }
    o->is_cut = true;
    if (is_ascii(text, length))
        longjmp(o->stop, 1);
}

/* Legacy names of Rust are valid names of C++ too, so Rust comes first. */
static bool demangle(const char *name, struct output *o) {
    if (setjmp(o->stop))
        return false;
    if (rust_demangle_callback(name, 0, append, o))
        return !o->is_cut;
    pt_buf_clear(o->into);
    return cplus_demangle_v3_callback(name, DMGL_PARAMS, append, o) && !o->is_cut;
}

void pt_demangle(const char *name, struct pt_buf *into) {
    struct output o = { .into = into };
    pt_buf_clear(into);
    if (strncmp(name, "__GI_", 5) == 0) /* glibc's internal alias of an exported function */
        name += 5;
    if (demangle(name, &o))
        return;
    pt_buf_clear(into);
    pt_buf_str(into, pt_str_from(name));
}
