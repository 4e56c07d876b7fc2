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
