/* analyze/setting.h -- the static information of a run, to compare it with that of another. */
#ifndef PT_ANALYZE_SETTING_H
#define PT_ANALYZE_SETTING_H

#include "base/str.h"

struct pt_setting {
    char *path, *value; /* host.kernel, 6.1.0 */
};

struct pt_settings {
    struct pt_setting *at;
    size_t count, capacity;
};

/* From static_<uuid>.json, without values that differ in every run (uuid, times). Stops at the
 * first syntax error. */
void pt_settings_read(struct pt_settings *s, struct pt_str json);
void pt_settings_release(struct pt_settings *s);
/* The value, or NULL. */
const char *pt_settings_find(const struct pt_settings *s, const char *path);

#endif
