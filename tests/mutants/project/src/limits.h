/* tests/mutants/project/src/limits.h -- functions and a table for mutants. */
#pragma once

#include <stddef.h>

struct limit {
    const char *name;
    int max;
};

extern const struct limit limits[];

int clamp(int value, int max);
int is_above(const char *name, int value);
int is_usual(int value);
int length(const char *text);
int unused(int value);
void count_up(int *counter, int times);
