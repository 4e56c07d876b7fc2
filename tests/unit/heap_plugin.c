/* Is loaded after the start of its program, and allocates. */
#include <stdlib.h>

void *plugin_allocate(size_t bytes);

__attribute__((visibility("default"), noinline)) void *plugin_allocate(size_t bytes) {
    void *p = malloc(bytes);
    __asm__ volatile("" : "+r"(p));
    return p;
}
