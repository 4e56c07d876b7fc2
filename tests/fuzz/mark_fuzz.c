/* Any bytes written into the control FIFO of a recording: every text ends, and reading ends. */
#include "sampler/marks.h"

#include <assert.h>
#include <fcntl.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    int ends[2];
    if (size > 32768 || pipe2(ends, O_NONBLOCK | O_CLOEXEC))
        return 0;
    struct pt_marks marks = { .fd = ends[0] };
    char into[PT_MARK_SPACE];
    struct pt_str text;
    bool must_keep;
    size_t lines = 0;
    assert(size == 0 || write(ends[1], data, size) == (ssize_t)size);
    for (size_t reads = 0; reads < size + 2; reads++) {
        while (pt_marks_next(&marks, &text, &must_keep, into)) {
            assert(text.len < PT_MARK_SPACE && text.at >= into && text.at <= into + sizeof into);
            lines++;
        }
        reads += 1024; /* each takes up to 4096 bytes */
    }
    assert(lines <= size);
    close(ends[0]);
    close(ends[1]);
    return 0;
}
