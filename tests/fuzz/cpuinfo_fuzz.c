/* Any bytes as /proc/cpuinfo: texts stay terminated, counts stay sane. */
#include "source/kernel/cpuinfo.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_cpuinfo info;
    pt_cpuinfo_parse(pt_scan_of((struct pt_str){ (const char *)data, size }), &info);
    if (info.processor_count < 0 || info.socket_count < 0 || info.core_count < 0 ||
        strnlen(info.type, sizeof info.type) == sizeof info.type)
        abort();
    return 0;
}
