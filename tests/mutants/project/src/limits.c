#include "limits.h"

#include <string.h>

#define FIRST  0
#define MARGIN 2

int clamp(int value, int max) {
    return value > max ? max : value;
}

int is_above(const char *name, int value) {
    for (int i = FIRST; limits[i].name; i++)
        if (strcmp(limits[i].name, name) == 0)
            return value >= limits[i].max + MARGIN;
    return -1;
}

int length(const char *text) {
    return text && *text ? (int)strlen(text) : 0;
}

int unused(int value) {
    return value - 1;
}

static void step(int *counter) {
    *counter += 1;
}

void count_up(int *counter, int times) {
    while (times-- > 0)
        step(counter);
}
