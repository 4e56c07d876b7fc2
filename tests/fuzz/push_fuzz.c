/* What pushing reads: answers of receivers, requests from disk, and the files of the queue. */
#include "push/queue.h"
#include "format/metrics/otlp.h"
#include "format/metrics/remote_write.h"

#include <assert.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_answer(struct pt_str bytes) {
    struct pt_otlp_answer answer;
    if (pt_otlp_read_answer(bytes, &answer) == 0)
        assert(answer.message.len <= bytes.len);
}

static void downgrade(struct pt_str bytes) {
    struct pt_buf v1 = { 0 };
    (void)!pt_rw_downgrade(bytes, true, &v1);
    pt_buf_release(&v1);
}

static void read_queue(struct pt_str bytes) {
    char directory[] = "/tmp/push_fuzz.XXXXXX", path[PATH_MAX];
    struct pt_push_queue_bounds bounds = { 0 };
    struct pt_push_request request;
    struct pt_push_queue q;
    struct pt_err err;
    assert(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/0-0.queue", directory);
    int fd = open(path, O_WRONLY | O_CREAT, 0600);
    assert(fd >= 0 && write(fd, bytes.at, bytes.len) == (ssize_t)bytes.len);
    close(fd);
    assert(pt_push_queue_open(&q, directory, &bounds, &err) == 0);
    while (pt_push_queue_peek(&q, &request)) {
        assert(request.bytes.len < bytes.len);
        pt_push_queue_pop(&q, request.id);
    }
    assert(q.waiting_requests == 0 && q.waiting_points == 0);
    pt_push_queue_close(&q);
    assert(rmdir(directory) == 0);
}

/* The first byte says what it is. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    struct pt_str bytes = { (const char *)data + 1, size - 1 };
    if (data[0] % 3 == 0)
        read_answer(bytes);
    else if (data[0] % 3 == 1)
        downgrade(bytes);
    else
        read_queue(bytes);
    return 0;
}
