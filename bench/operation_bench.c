/* bench/operation_bench.c -- what an operation without content costs, against the least that can
 * tell its memory: /proc/self/status at both ends. */
#include "bench.h"

#include <pitot/operation.h>
#include <fcntl.h>
#include <unistd.h>

static void run_operations(void *profiler, int iterations) {
    for (int i = 0; i < iterations; i++)
        pt_operation_end(pt_operation_begin(profiler, "empty"), true);
}

static void read_status(void) {
    char text[8192];
    int fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return;
    while (read(fd, text, sizeof text) > 0)
        ;
    close(fd);
}

static void read_twice(void *unused, int iterations) {
    (void)unused;
    for (int i = 0; i < 2 * iterations; i++)
        read_status();
}

int main(void) {
    pt_profiler *profiler = pt_profiler_new(NULL);
    struct bench_side sides[] = { { .run = run_operations, .user = profiler },
                                  { .run = read_twice } };
    bench_interleave(sides, 2, 10, 500);
    bench_row("operation, begin and end, against two reads of status",
              (double)sides[0].best_ns / 1e3, (double)sides[1].best_ns / 1e3, "us",
              (double)sides[0].best_ns / (double)sides[1].best_ns, "< 10");
    pt_profiler_free(profiler);
    return 0;
}
