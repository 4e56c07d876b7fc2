/* Any bytes as pages of an engine: the first byte chooses the page; or as its command line. */
#include "source/engine/adapter.h"
#include "source/engine/slots.h"

#include <assert.h>
#include <errno.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_slots(struct pt_str body) {
    static struct pt_slots_live live;
    static struct pt_slots slots;
    static struct pt_engine_reading reading;
    double before = live.shown;
    if (pt_slots_read(body, &slots))
        return;
    assert(slots.count > 0 && slots.count <= PT_SLOTS_MAX);
    (void)pt_slots_take(&live, &slots, false, true, &reading);
    assert(live.shown >= before);
    (void)pt_slots_take(&live, &slots, true, false, &reading);
    (void)pt_slots_are_full(&live);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    struct pt_engine_facts facts = { 0 };
    struct pt_str body = { (const char *)data + 1, size - 1 };
    enum pt_engine_page_id page = (enum pt_engine_page_id)(data[0] % PT_PAGE_COUNT);
    int rc = pt_engine_page_read(page, body, &facts);
    assert(rc == 0 || rc == -EINVAL);
    pt_engine_facts_add_arguments(&facts, (enum pt_engine_kind)(data[0] % PT_ENGINE_KIND_COUNT),
                                  body);
    assert(strnlen(facts.text, sizeof facts.text) < sizeof facts.text);
    assert(strnlen(facts.model, sizeof facts.model) < sizeof facts.model);
    check_slots(body);
    return 0;
}
