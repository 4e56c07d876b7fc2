#include "profile/files/profile_writers.h"

#include "base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

const struct pt_profile_writer *const pt_profile_writers[] = {
    &pt_html_writer,       &pt_svg_writer,   &pt_folded_writer,
    &pt_speedscope_writer, &pt_pprof_writer, &pt_chrome_trace_writer,
    &pt_firefox_writer,    &pt_saved_writer, NULL,
};

const struct pt_profile_writer *pt_profile_writer_for(const char *path) {
    const struct pt_profile_writer *best = NULL;
    for (size_t i = 0; pt_profile_writers[i]; i++) {
        const struct pt_profile_writer *w = pt_profile_writers[i];
        if (pt_str_ends(pt_str_from(path), pt_str_from(w->extension)) &&
            (!best || strlen(w->extension) > strlen(best->extension)))
            best = w;
    }
    return best;
}

const char *pt_profile_extension(size_t index) {
    return pt_profile_writers[index] ? pt_profile_writers[index]->extension : NULL;
}

static int unknown_extension(const char *path, struct pt_err *err) {
    char known[200] = "";
    size_t used = 0;
    for (size_t i = 0; pt_profile_writers[i] && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "",
                                 pt_profile_writers[i]->extension);
    return pt_fail(err, -EINVAL, "%s: unknown file extension; use one of: %s", path, known);
}

int pt_profile_check_path(const char *path, struct pt_err *err) {
    return pt_profile_writer_for(path) ? 0 : unknown_extension(path, err);
}

int pt_profile_write(const struct pt_profile *p, const char *path, struct pt_err *err) {
    const struct pt_profile_writer *w = pt_profile_writer_for(path);
    if (!w)
        return unknown_extension(path, err);
    struct pt_out out;
    int rc = pt_out_create(&out, path, err);
    if (rc)
        return rc;
    w->write(p, &out);
    rc = pt_out_close(&out);
    return rc ? pt_fail(err, rc, "cannot write %s: %s", path, strerror(-rc)) : 0;
}

void pt_profile_name_page(const struct pt_profile *p, int32_t pid, char *into, size_t capacity) {
    char when[32] = "";
    time_t start = (time_t)(p->meta.start_wall_ns / PT_NS_PER_SECOND);
    struct tm parts;
    if (localtime_r(&start, &parts))
        strftime(when, sizeof when, "%Y%m%d-%H%M%S", &parts);
    snprintf(into, capacity, "pitot-%s-%s-%d.html", p->meta.title, when, (int)pid);
}
