#include "profile/run/run_heap.h"

#include "profile/run/run_cpu.h"
#include "base/log.h"
#include "profile/heap/heap_report.h"
#include "profile/heap/leaks.h"
#include "profile/files/profile_writers.h"
#include "store/run.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

static int open_session(struct pt_run_heap *h, const struct pt_heap_session_options *o,
                        const char *directory, const char *name) {
    struct pt_heap_session_options options = *o;
    int n = snprintf(h->path, sizeof h->path, "%s/%s." PT_RUN_PROFILE_HEAP PT_RUN_PROFILE_EXTENSION,
                     directory, name);
    if (n >= (int)sizeof h->path)
        return pt_fail(&h->reason, -ENAMETOOLONG, "path too long");
    options.save_path = h->path;
    int rc = pt_elf_check(&h->reason);
    return rc ? rc : pt_heap_session_open(&h->session, &options, &h->reason);
}

static void complain(const struct pt_run_heap *h) {
    pt_log(PT_LOG_ERROR, "no heap profile: %s; the recording continues without it", h->reason.text);
}

void pt_run_heap_open(struct pt_run_heap *h, const struct pt_heap_session_options *o,
                      const char *directory, const char *name, struct pt_environment *e) {
    h->is_wanted = true;
    h->is_open = open_session(h, o, directory, name) == 0;
    if (h->is_open)
        pt_heap_session_set(&h->session, e);
    else
        complain(h);
}

void pt_run_heap_start(struct pt_run_heap *h) {
    if (!h->is_open || !pt_heap_session_start(&h->session, &h->reason))
        return;
    h->is_open = false;
    complain(h);
}

void pt_run_heap_stop(struct pt_run_heap *h) {
    if (h->is_open)
        pt_profile_helper_stop(&h->session.helper);
}

/* A command that allocates nothing is not a failure. */
int pt_run_heap_save(struct pt_run_heap *h) {
    if (!h->is_open)
        return 0;
    int rc = pt_profile_helper_finish(&h->session.helper, &h->reason);
    if (rc) {
        h->is_partial = rc != -ENODATA && access(h->path, F_OK) == 0;
        pt_log(rc == -ENODATA ? PT_LOG_WARNING : PT_LOG_ERROR, "%s heap profile: %s",
               h->is_partial ? "incomplete" : "no", h->reason.text);
        return 0; /* what ends a helper does not change the exit code */
    }
    rc = pt_profile_write(&h->session.helper.file.profile, h->path, &h->reason);
    h->is_saved = rc == 0;
    if (rc)
        pt_log(PT_LOG_ERROR, "%s", h->reason.text);
    return rc;
}

void pt_run_heap_print(const struct pt_run_heap *h, struct pt_out *out) {
    const struct pt_profile *p = &h->session.helper.file.profile;
    char peak[PT_LEAKS_BYTES_TEXT];
    if (!h->is_wanted)
        return;
    if (!h->is_saved) {
        pt_out_printf(out, "Heap profile: %s (%s)\n", h->is_partial ? h->path : "none",
                      h->reason.text);
        return;
    }
    pt_out_printf(out, "Heap profile: %s (%" PRId64 " samples, peak %s", h->path,
                  p->meta.heap.taken, pt_leaks_bytes_text((double)p->meta.heap.peak_bytes, peak));
    if (p->meta.unwound > 0)
        pt_out_printf(out, "; %.1f %% of the stacks reach the root",
                      100.0 * (double)p->meta.rooted / (double)p->meta.unwound);
    pt_out_text(out, ")\n");
    pt_heap_report_print_losses(p, out);
}

void pt_run_heap_release(struct pt_run_heap *h) {
    pt_heap_session_release(&h->session);
    h->is_open = false;
}

void pt_run_heap_remove(struct pt_run_heap *h) {
    pt_run_heap_release(h);
    if (h->path[0])
        unlink(h->path);
}
