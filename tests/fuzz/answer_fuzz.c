/* Any bytes as the answers of servers that Pitot asks: a port that may be an engine, the models of
 * an engine. */
#include "serve/engine_probe.h"
#include "source/engine/sniff.h"

#include <assert.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_str answer = { (const char *)data, size };
    struct pt_probe_model model = { "" };
    (void)pt_sniff_text(answer);
    pt_probe_read_model(&model, answer);
    assert(strnlen(model.name, sizeof model.name) < sizeof model.name);
    return 0;
}
