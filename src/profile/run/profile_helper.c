#include "profile/run/profile_helper.h"

#include "base/log.h"
#include "base/thread.h"
#include "profile/files/profile_writers.h"

enum order { ORDER_STOP = 1 };
enum message { STARTED, SAVED, STOPPED, DONE, PROFILE };

bool pt_helper_started(const struct pt_helper_report *r) {
    pt_confine_send(STARTED, (struct pt_str){ (const char *)r, sizeof *r });
    return r->rc == 0;
}

bool pt_helper_must_stop(int timeout_ms) {
    return pt_confine_wait(timeout_ms) == ORDER_STOP;
}

void pt_helper_save(const struct pt_profile *p) {
    struct pt_buf bytes = { 0 };
    struct pt_out out;
    pt_out_memory(&out, &bytes);
    pt_saved_writer.write(p, &out);
    if (!pt_out_close(&out))
        pt_confine_send(SAVED, pt_buf_as_str(&bytes));
    pt_buf_release(&bytes);
}

void pt_helper_stopped(void) {
    pt_confine_send(STOPPED, PT_STR(""));
}

void pt_helper_done(const struct pt_helper_report *r, const struct pt_profile *p) {
    struct pt_buf content = { 0 };
    pt_confine_send(DONE, (struct pt_str){ (const char *)r, sizeof *r });
    if (!r->rc) {
        pt_saved_content(p, &content);
        pt_confine_send(PROFILE, pt_buf_as_str(&content));
    }
}

/* From here on in Pitot. */

static void save(const struct pt_profile_helper *h, const struct pt_buf *bytes) {
    struct pt_out out;
    struct pt_err err;
    int rc = pt_out_create(&out, h->save_path, &err);
    if (!rc) {
        pt_out_bytes(&out, bytes->at, bytes->len);
        rc = pt_out_close(&out);
    }
    if (rc) /* the final save reports errors */
        pt_log(PT_LOG_DEBUG, "cannot write %s: %s", h->save_path, strerror(-rc));
}

/* Waits for a message; saves what comes before it. */
static int receive(struct pt_profile_helper *h, enum message wanted, struct pt_buf *into,
                   struct pt_err *err) {
    uint32_t kind = SAVED;
    int rc = 0;
    while (!rc && kind == SAVED) {
        rc = pt_confined_receive(&h->process, &kind, into, err);
        if (!rc && kind == SAVED && h->save_path)
            save(h, into);
    }
    return rc || kind == wanted ? rc : pt_fail(err, -EPROTO, "its process sent something else");
}

static int receive_report(struct pt_profile_helper *h, enum message kind,
                          struct pt_helper_report *r, struct pt_err *err) {
    struct pt_buf bytes = { 0 };
    int rc = receive(h, kind, &bytes, err);
    if (!rc && bytes.len != sizeof *r)
        rc = pt_fail(err, -EPROTO, "its process sent something else");
    if (!rc) {
        memcpy(r, bytes.at, sizeof *r);
        r->err.text[sizeof r->err.text - 1] = r->refused.text[sizeof r->refused.text - 1] = 0;
        pt_confined_clean(r->err.text, sizeof r->err.text);
        pt_confined_clean(r->refused.text, sizeof r->refused.text);
        rc = r->rc ? pt_fail(err, r->rc < 0 ? r->rc : -EPROTO, "%s", r->err.text) : 0;
    }
    pt_buf_release(&bytes);
    return rc;
}

static void *wait_for_stop(void *state) {
    struct pt_profile_helper *h = state;
    struct pt_buf nothing = { 0 };
    if (receive(h, STOPPED, &nothing, &h->lost))
        pt_confined_close(&h->process);
    pt_buf_release(&nothing);
    return NULL;
}

/* Pitot is an ancestor of its command, the helper is not. */
static bool only_ancestors_read_memory(const struct pt_fs *fs) {
    int64_t scope = 0;
    return !pt_fs_read_i64(fs->proc, "sys/kernel/yama/ptrace_scope", &scope) && scope == 1 &&
           geteuid() != 0;
}

int pt_profile_helper_start(struct pt_profile_helper *h, void (*run)(void *), void *state,
                            const struct pt_fs *fs, int directory, struct pt_helper_report *started,
                            struct pt_err *err) {
    struct pt_confine_options o = { .name = "(profile)",
                                    .run = run,
                                    .state = state,
                                    .keep = { fs->proc, fs->sys, fs->root, directory },
                                    .directory = directory,
                                    .reads_memory = only_ancestors_read_memory(fs),
                                    .proc = fs->proc };
    int rc = pt_confined_start(&h->process, &o, err);
    if (!rc)
        rc = receive_report(h, STARTED, started, err);
    if (!rc && h->save_path) {
        rc = pt_thread_start(&h->saver, wait_for_stop, h);
        h->has_saver = rc == 0;
        if (rc)
            (void)pt_fail(err, rc, "cannot start a thread: %s", strerror(-rc));
    }
    h->is_started = rc == 0;
    if (rc)
        pt_confined_close(&h->process);
    else if (started->unsealed)
        pt_log(PT_LOG_WARNING, "profiling without a sandbox (seccomp): %s",
               strerror(-started->unsealed));
    return rc;
}

void pt_profile_helper_stop(struct pt_profile_helper *h) {
    if (!h->is_started || h->is_stopped)
        return;
    h->is_stopped = true;
    pt_confined_order(&h->process, ORDER_STOP);
    if (h->has_saver)
        pthread_join(h->saver, NULL);
    else
        (void)wait_for_stop(h);
    h->has_saver = false;
}

int pt_profile_helper_finish(struct pt_profile_helper *h, struct pt_err *err) {
    struct pt_buf content = { 0 };
    struct pt_helper_report r;
    int rc = h->lost.text[0] ? pt_fail(err, -EPROTO, "%s", h->lost.text)
                             : receive_report(h, DONE, &r, err);
    if (!rc)
        rc = receive(h, PROFILE, &content, err);
    if (!rc)
        rc = pt_saved_parse(pt_buf_as_str(&content), &h->file, err);
    pt_buf_release(&content);
    pt_confined_close(&h->process);
    return rc;
}

void pt_profile_helper_release(struct pt_profile_helper *h) {
    pt_profile_helper_stop(h);
    pt_confined_close(&h->process);
    pt_profile_file_release(&h->file);
    h->is_started = false;
}
