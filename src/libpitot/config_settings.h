/* libpitot/config_settings.h -- the parts of the configuration that other files use. */
#ifndef PT_LIBPITOT_CONFIG_SETTINGS_H
#define PT_LIBPITOT_CONFIG_SETTINGS_H

#include "base/scan.h"

#include <pitot/config.h>

/* gpu_monitor_interval. */
int64_t pt_settings_gpu_interval_ns(void);
/* Starts what could not start while the program was loaded. Not from a function of the ticker. */
void pt_settings_catch_up(void);

/* Applies the settings in the lines of a file. 0; -EINVAL: `message` begins with `source`, and no
 * setting is applied. */
int pt_settings_parse(pt_config *config, struct pt_scan text, const char *source, char *message,
                      size_t capacity);
bool pt_settings_in_environment(void);
/* 0; -EINVAL: a field is out of range, `message` says which. */
int pt_settings_check(const pt_config *config, char *message, size_t capacity);

#endif
