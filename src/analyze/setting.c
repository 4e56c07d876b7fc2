#include "analyze/setting.h"

#include "base/json_walk.h"
#include "base/mem.h"

#define SETTINGS_MAX 4096

/* Prefixes of paths that differ in every run or do not matter. */
static const char *const ignored[] = {
    "uuid",         "vId",           "start_time",         "host.boot_time",
    "host.boot_id", "host.hostname", "pitot.command_line", "cgroup.paths",
    "tags.",        "rank",
};

static void take(void *arg, const char *path, struct pt_json_value value) {
    struct pt_settings *s = arg;
    for (size_t i = 0; i < PT_COUNT(ignored); i++)
        if (pt_str_starts(pt_str_from(path), pt_str_from(ignored[i])))
            return;
    /* URLs of engines can contain a random port */
    if (s->count == SETTINGS_MAX || pt_str_ends(pt_str_from(path), PT_STR(".url")))
        return;
    pt_grow(&s->at, &s->capacity, s->count + 1, sizeof *s->at);
    s->at[s->count++] = (struct pt_setting){ pt_strdup(path), pt_strndup(value.text) };
}

void pt_settings_read(struct pt_settings *s, struct pt_str json) {
    *s = (struct pt_settings){ 0 };
    if (pt_json_walk(json, take, s))
        return; /* what was read before the error is kept */
}

void pt_settings_release(struct pt_settings *s) {
    for (size_t i = 0; i < s->count; i++) {
        pt_free(s->at[i].path);
        pt_free(s->at[i].value);
    }
    pt_free(s->at);
    *s = (struct pt_settings){ 0 };
}

const char *pt_settings_find(const struct pt_settings *s, const char *path) {
    for (size_t i = 0; i < s->count; i++)
        if (strcmp(s->at[i].path, path) == 0)
            return s->at[i].value;
    return NULL;
}
