/* A file of settings that people write. */
#include "libpitot/config_settings.h"

#include <assert.h>
#include <errno.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char message[300], other[300];
    pt_config config;
    struct pt_str text = { (const char *)data, size };
    pt_config_init(&config);
    int rc = pt_settings_parse(&config, pt_scan_of(text), "file", message, sizeof message);
    assert(rc == 0 ? !message[0]
                   : rc == -EINVAL && pt_str_starts(pt_str_from(message), PT_STR("file:")));
    /* What is accepted is in range, and what is not changes nothing. */
    assert(pt_settings_check(&config, other, sizeof other) == 0);
    if (rc)
        assert(config.metrics_log_interval == 10 && config.history_spans == 200000);
    return 0;
}
