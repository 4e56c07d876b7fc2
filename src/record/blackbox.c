#include "record/blackbox.h"

#include "base/log.h"
#include "base/place.h"
#include "derive/field.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static bool see_alerts(const struct pt_sample *sample, struct pt_cause *cause) {
    const struct pt_batch *b = pt_field_rows(sample, PT_FIELD_ALERT_STATE);
    for (uint32_t row = 0; b && row < b->row_count; row++) {
        if (!pt_str_eq(pt_field_text(b, row, PT_FIELD_ALERT_STATE), PT_STR("on")))
            continue;
        struct pt_str rule = pt_field_text(b, row, PT_FIELD_ALERT_RULE);
        struct pt_str entity = pt_field_text(b, row, PT_FIELD_ALERT_ENTITY);
        cause->kind = PT_CAUSE_ALERT;
        snprintf(cause->text, sizeof cause->text, "alert %.*s fired%s%.*s", (int)rule.len, rule.at,
                 entity.len > 0 ? " for " : "", (int)entity.len, entity.at);
        return true;
    }
    return false;
}

static bool see_engines(struct pt_blackbox *box, const struct pt_sample *sample,
                        struct pt_cause *cause) {
    const struct pt_batch *b = pt_field_rows(sample, PT_FIELD_ENGINE_STATE);
    uint32_t gone = 0, before = box->gone_count;
    if (!b || b->row_count == 0)
        return false;
    for (uint32_t row = 0; row < b->row_count; row++) {
        if (!pt_str_eq(pt_field_text(b, row, PT_FIELD_ENGINE_STATE), PT_STR("gone")))
            continue;
        struct pt_str url = pt_field_text(b, row, PT_FIELD_ENGINE_URL);
        gone++;
        snprintf(cause->text, sizeof cause->text, "the engine at %.*s no longer answers",
                 (int)url.len, url.at);
    }
    cause->kind = PT_CAUSE_HEALTH;
    box->gone_count = gone;
    return gone > before;
}

bool pt_blackbox_see(struct pt_blackbox *b, const struct pt_sample *sample,
                     struct pt_cause *cause) {
    *cause = (struct pt_cause){ PT_CAUSE_NONE, "" };
    return b->o.bound_bytes > 0 && (see_alerts(sample, cause) || see_engines(b, sample, cause));
}

/* kept-20261116T050312Z-alert, with a number appended if that exists. */
static int make_directory(const struct pt_blackbox *b, const struct pt_cause *cause,
                          int64_t wall_ns, char into[PATH_MAX]) {
    time_t seconds = (time_t)(wall_ns / 1000000000);
    struct tm parts;
    char when[32];
    gmtime_r(&seconds, &parts);
    strftime(when, sizeof when, "%Y%m%dT%H%M%SZ", &parts);
    for (int n = 1; n < 100; n++) {
        char number[16] = "";
        if (n > 1)
            snprintf(number, sizeof number, "-%d", n);
        if (snprintf(into, PATH_MAX, "%s/kept-%s-%s%s", b->directory, when,
                     pt_cause_name(cause->kind), number) >= PATH_MAX)
            return -ENAMETOOLONG;
        if (mkdir(into, pt_directory_mode()) == 0)
            return 0;
        if (errno != EEXIST)
            return -errno;
    }
    return -EEXIST;
}

static int keep_in(struct pt_blackbox *b, const char *directory, const struct pt_cause *cause,
                   const struct pt_sample *last) {
    char parent[PATH_MAX], name[NAME_MAX + 1], path[PATH_MAX];
    struct pt_buf note = { 0 };
    struct pt_err err = { "" };
    pt_run_split(b->ring->path, parent, name);
    if (snprintf(path, sizeof path, "%s/%s" PT_RING_EXTENSION, directory, name) >= PATH_MAX)
        return -ENAMETOOLONG;
    pt_cause_write(cause, &note);
    int rc = pt_ring_keep(b->ring, last->mono_ns - b->o.keep_ns, path, last, PT_STR(PT_CAUSE_NOTE),
                          pt_buf_as_str(&note), &err);
    if (rc)
        pt_log(PT_LOG_ERROR, "%s", err.text);
    else
        pt_log(PT_LOG_WARNING, "%s: kept the minutes before in %s", cause->text, directory);
    pt_buf_release(&note);
    return rc;
}

int pt_blackbox_keep(struct pt_blackbox *b, const struct pt_cause *cause,
                     const struct pt_sample *last, bool is_end) {
    char directory[PATH_MAX];
    bool is_in_last = b->kept_ns && last->mono_ns - b->kept_ns < b->o.keep_ns;
    bool has_many = b->kept_count >= PT_BLACKBOX_KEPT_MAX;
    if (!is_end && cause->kind != PT_CAUSE_REQUEST && (is_in_last || has_many)) {
        pt_log(PT_LOG_INFO, "%s: not kept, %s", cause->text,
               has_many ? "the maximum number is already kept"
                        : "the minutes before are already kept");
        return 0;
    }
    b->kept_ns = last->mono_ns;
    b->kept_count++;
    int rc = make_directory(b, cause, last->wall_ns, directory);
    if (rc) {
        pt_log(PT_LOG_ERROR, "cannot keep the minutes before: %s", strerror(-rc));
        return rc;
    }
    rc = keep_in(b, directory, cause, last);
    if (rc)
        rmdir(directory);
    return rc;
}
