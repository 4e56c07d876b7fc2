#include "limits.h"

#define FAN_MAX 70
#define ROWS(X)  \
    X("cpu", 80) \
    X("disk", 60)
#define ROW(name, max) { name, max },

const struct limit limits[] = {
    ROWS(ROW){ "fan", FAN_MAX },
    { "memory", 90 },
    { NULL, 5 },
};

static const struct { int low, high; } usual = { 3, 9 };

int is_usual(int value) {
    return value >= usual.low && value <= usual.high;
}
