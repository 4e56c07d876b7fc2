#include "profile/sample/confined_names.h"

#include "base/confine.h"
#include "base/log.h"
#include "profile/files/profile_writers.h"
#include "profile/sample/symbolize.h"
#include "profile/unwind/elf.h"

enum message { SAID, PROFILE };

struct task {
    struct pt_profile *profile;
    const struct pt_confined_names *how;
};

static void look_up(void *state) {
    const struct task *task = state;
    struct pt_buf said = { 0 }, content = { 0 };
    int unsealed = pt_confine_seal();
    if (unsealed)
        pt_log(PT_LOG_WARNING, "looking up symbols without a sandbox (seccomp): %s",
               strerror(-unsealed));
    task->how->look_up(task->profile, task->how->state, &said);
    pt_saved_content(task->profile, &content);
    pt_confine_send(SAID, pt_buf_as_str(&said));
    pt_confine_send(PROFILE, pt_buf_as_str(&content));
}

static int receive(struct pt_confined *c, enum message wanted, struct pt_buf *into,
                   struct pt_err *err) {
    uint32_t kind;
    int rc = pt_confined_receive(c, &kind, into, err);
    return rc || kind == wanted ? rc : pt_fail(err, -EPROTO, "its process sent something else");
}

/* A profile must not be moved, so it is parsed twice: the first time, `f` still has the old one. */
static int replace(struct pt_profile_file *f, struct pt_str content, struct pt_err *err) {
    struct pt_profile_file *tried = pt_calloc(1, sizeof *tried);
    int rc = pt_saved_parse(content, tried, err);
    pt_profile_file_release(tried);
    pt_free(tried);
    if (rc)
        return rc;
    pt_profile_file_release(f);
    *f = (struct pt_profile_file){ .depth_capacity = 0 };
    return pt_saved_parse(content, f, err);
}

int pt_confined_names(struct pt_profile_file *f, const struct pt_confined_names *how,
                      struct pt_buf *said, struct pt_err *err) {
    struct task task = { &f->profile, how };
    struct pt_confine_options o = { .name = "(symbols)",
                                    .run = look_up,
                                    .state = &task,
                                    .directory = -1,
                                    .fetch = how->fetch,
                                    .fetch_arg = how->fetch_arg };
    struct pt_confined c;
    struct pt_buf content = { 0 };
    struct pt_err why;
    /* the module is loaded here: no code can be loaded once the process is sealed */
    int rc = pt_elf_check(&why);
    if (!rc)
        rc = pt_confined_start(&c, &o, &why);
    if (!rc) {
        rc = receive(&c, SAID, said, &why);
        if (!rc)
            rc = receive(&c, PROFILE, &content, &why);
        pt_confined_close(&c);
    }
    if (!rc)
        rc = replace(f, pt_buf_as_str(&content), &why);
    pt_buf_release(&content);
    return rc ? pt_fail(err, rc, "cannot look up symbols: %s", why.text) : 0;
}

static void look_up_saved(struct pt_profile *p, void *state, struct pt_buf *said) {
    (void)state;
    (void)said;
    pt_symbolize_saved(p);
}

void pt_confined_names_saved(struct pt_profile_file *f) {
    struct pt_buf nothing = { 0 };
    struct pt_err err;
    if (f->profile.meta.unnamed && !pt_elf_check(&err) &&
        pt_confined_names(f, &(struct pt_confined_names){ .look_up = look_up_saved }, &nothing,
                          &err))
        pt_log(PT_LOG_WARNING, "%s", err.text);
    pt_buf_release(&nothing);
}
