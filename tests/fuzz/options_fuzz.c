/* Texts that people write: a configuration file and durations. The first byte chooses. */
#include "base/options.h"

#include "base/mem.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct values {
    bool flag;
    int64_t count, number, interval_ns, duration_ns;
    const char *text;
    double percent;
    struct pt_option_list list;
};

#define AT(member) offsetof(struct values, member)

static const struct pt_option options[] = {
    { "flag", 'f', PT_OPTION_FLAG, 1, AT(flag), NULL, NULL, "" },
    { "count", 'c', PT_OPTION_COUNT, 1, AT(count), NULL, NULL, "" },
    { "number", 'n', PT_OPTION_I64, 1, AT(number), NULL, "N", "" },
    { "interval", 't', PT_OPTION_MS, 1, AT(interval_ns), NULL, "MS", "" },
    { "duration", 'd', PT_OPTION_S, 1, AT(duration_ns), NULL, "S", "" },
    { "text", 'x', PT_OPTION_TEXT, 1, AT(text), NULL, "TEXT", "" },
    { "percent", 'p', PT_OPTION_PERCENT, 1, AT(percent), NULL, "P", "" },
    { "list", 'l', PT_OPTION_LIST, 1, AT(list), NULL, "ITEM", "" },
};
static const struct pt_option_table table = { options, PT_COUNT(options), 1, "run" };

static void check_file(struct pt_str text) {
    struct values values = { 0 };
    struct pt_err err = { "" };
    int rc = pt_options_parse_text(&table, &values, text, "file", &err);
    assert(rc == 0 || (rc == -EINVAL && pt_str_starts(pt_str_from(err.text), PT_STR("file:"))));
    assert(values.interval_ns >= 0 && values.duration_ns >= 0 && values.percent >= 0);
    for (size_t i = 0; i < values.list.count; i++)
        assert(values.list.items[i]);
    pt_options_release(&table, &values);
}

static void check_duration(struct pt_str text) {
    char *copy = pt_strndup(text);
    struct pt_err err = { "" };
    int64_t ns = -1;
    int rc = pt_duration_parse(copy, 1000000, &ns, &err);
    assert(rc == 0 ? ns >= 0 : rc == -EINVAL && err.text[0]);
    pt_free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct pt_str text = { (const char *)data, size };
    if (size > 0 && data[0] == 'D')
        check_duration(pt_str_skip(text, 1));
    else
        check_file(text);
    return 0;
}
