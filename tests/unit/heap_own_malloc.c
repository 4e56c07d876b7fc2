/* A program that brings its own malloc. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

static _Alignas(16) uint8_t memory[1 << 20];
static size_t used;

EXPORT void *malloc(size_t bytes) {
    size_t need = (bytes + 15) & ~(size_t)15;
    if (need > sizeof memory - used)
        return NULL;
    used += need;
    return memory + used - need;
}

EXPORT void free(void *p) {
    (void)p;
}

int main(void) {
    for (int i = 0; i < 100; i++)
        free(malloc(100));
    fputs("done\n", stderr);
    return 0;
}
