/* A program to profile: works below a stack of twenty calls, or of DEPTH calls, and prints the CPU
 * time that took and when it ended.
 *
 *     cpu_burner work 20000      a fixed amount of work
 *     cpu_burner ms 3000 50      a fixed amount of CPU time, in stacks of fifty
 */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static volatile uint64_t sink;
static int64_t amount;
static int is_by_time;

static int64_t clock_ns(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

static __attribute__((noinline)) void work(void) {
    uint64_t x = sink;
    for (int i = 0; i < 20000; i++)
        x = x * UINT64_C(6364136223846793005) + 1;
    sink = x;
}

static __attribute__((noinline)) void burn(void) {
    int64_t end_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) + amount * 1000000;
    for (int64_t i = 0; is_by_time ? clock_ns(CLOCK_PROCESS_CPUTIME_ID) < end_ns : i < amount; i++)
        work();
    sink++;
}

static __attribute__((noinline)) void call(int depth) {
    if (depth > 0)
        call(depth - 1);
    else
        burn();
    sink++;
}

int main(int argc, char **argv) {
    const int others = 7; /* from the loader's first frame to main(), and what is below call() */
    if (argc < 3)
        return 2;
    is_by_time = strcmp(argv[1], "ms") == 0;
    amount = strtoll(argv[2], NULL, 10);
    call((argc > 3 ? (int)strtol(argv[3], NULL, 10) : 20) - others);
    printf("cpu %" PRId64 "\nend %" PRId64 "\n", clock_ns(CLOCK_PROCESS_CPUTIME_ID),
           clock_ns(CLOCK_MONOTONIC));
    return 0;
}
