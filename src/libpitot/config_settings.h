/* libpitot/config_settings.h -- what of the configuration other files ask for. */
#ifndef PT_LIBPITOT_CONFIG_SETTINGS_H
#define PT_LIBPITOT_CONFIG_SETTINGS_H

#include "base/scan.h"

#include <pitot/config.h>

/* gpu_monitor_interval. */
int64_t pt_settings_gpu_interval_ns(void);
/* Begins what could not begin while the program was loaded. Not by a function of the ticker. */
void pt_settings_catch_up(void);

/* Sets what the lines of a file set. 0; -EINVAL: `message` begins with `source`, and nothing is
 * set. */
int pt_settings_parse(pt_config *config, struct pt_scan text, const char *source, char *message,
                      size_t capacity);
bool pt_settings_in_environment(void);
/* 0; -EINVAL: a field is out of range, `message` says which. */
int pt_settings_check(const pt_config *config, char *message, size_t capacity);

#endif
