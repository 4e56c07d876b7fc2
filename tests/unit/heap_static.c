/* A program that nothing can be preloaded into. */
#include <stdlib.h>
#include <unistd.h>

int main(void) {
    void *p = malloc(1000);
    __asm__ volatile("" : "+r"(p));
    free(p);
    return write(STDOUT_FILENO, "done\n", 5) == 5 ? 7 : 1;
}
