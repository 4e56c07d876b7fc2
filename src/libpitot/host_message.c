/* libpitot/host_message.c -- messages as they are: masking takes memory, and these are words of a
 * program to itself. */
#include "base/mask.h"

#include <stdio.h>

void pt_mask_message(char *into, size_t capacity, const char *format, va_list args) {
    vsnprintf(into, capacity, format, args);
}
