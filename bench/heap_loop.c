/* A loop that does next to nothing but malloc and free, eight calls deep. Prints the nanoseconds of
 * CPU time that a pair took. */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define DEEPER(name, next)                                   \
    __attribute__((noinline)) static void name(long pairs) { \
        next(pairs);                                         \
        __asm__ volatile("nop" ::: "memory");                \
    }

__attribute__((noinline)) static void loop(long pairs) {
    for (long i = 0; i < pairs; i++) {
        void *p = malloc(64 + (size_t)(i & 63));
        __asm__ volatile("" : "+r"(p));
        free(p);
    }
}

DEEPER(fifth, loop)
DEEPER(fourth, fifth)
DEEPER(third, fourth)

int main(int argc, char **argv) {
    long pairs = argc > 1 ? strtol(argv[1], NULL, 10) : 10000000;
    struct timespec before, after;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
    third(pairs);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
    double ns =
        1e9 * (double)(after.tv_sec - before.tv_sec) + (double)(after.tv_nsec - before.tv_nsec);
    printf("%.2f\n", ns / (double)pairs);
    return 0;
}
