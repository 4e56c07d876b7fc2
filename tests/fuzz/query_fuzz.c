/* Any bytes as the parameters of /api/history: six texts, ended by zeros. What is taken is a span
 * of time with steps, columns that the table has, and a limit. */
#include "serve/history_route.h"

#include <assert.h>

#define THING_COLUMNS(X, t)                       \
    X(t, id, "tId", KEY, STRING, NONE, 0, "")     \
    X(t, one, "tOne", COUNTER, I64, COUNT, 0, "") \
    X(t, two, "tTwo", GAUGE, F64, RATIO, 0, "")
PT_TABLE(thing, PT_TABLE_FILE("things", NULL), "", THING_COLUMNS, "file");
static const struct pt_table *const tables[] = { &thing_table };
static const struct pt_schema schema = { tables, 1 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    char bytes[1024] = { 0 };
    const char *parts[6] = { NULL };
    size_t at = 0;
    if (size > sizeof bytes - 1)
        return 0;
    if (size > 0)
        memcpy(bytes, data, size);
    for (size_t i = 0; i < PT_COUNT(parts) && at < size; i++) {
        parts[i] = bytes + at;
        at += strlen(bytes + at) + 1;
    }
    struct pt_history_texts texts = { parts[0], parts[1], parts[2], parts[3], parts[4], parts[5] };
    struct pt_history_query q;
    struct pt_err err = { "" };
    if (pt_history_parse(&q, &texts, &schema, INT64_C(1700000000000000000), &err)) {
        assert(err.text[0]);
        return 0;
    }
    assert(q.table == 0 && q.from_ns < q.to_ns && q.from_ns >= 0);
    assert(q.step_ns >= 0 && q.limit >= 1 && q.limit <= PT_HISTORY_THINGS);
    assert(q.columns[0] >> thing_column_count == 0);
    return 0;
}
