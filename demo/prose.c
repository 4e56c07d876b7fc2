#include "demo/prose.h"

#include "demo/random.h"

static const char prose[] =
    "A pitot tube measures how fast the air goes by: it faces the stream, and the pressure in it "
    "rises with the square of the speed. It has no moving part and hardly disturbs what it "
    "measures. An instrument on an engine should be the same: always there, seldom noticed, and "
    "right when somebody looks at it. What the machine did while the work was going on is written "
    "down as it happened, and questions are asked later. ";

void pt_prose_append(struct pt_buf *text, size_t length, uint64_t *random) {
    size_t at = pt_random_between(random, 0, sizeof prose - 2);
    while (length > 0) {
        size_t n = sizeof prose - 1 - at;
        n = n < length ? n : length;
        pt_buf_bytes(text, prose + at, n);
        length -= n;
        at = 0;
    }
}
