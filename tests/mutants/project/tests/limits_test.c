/* Notices changes of the first limit, of clamp() and of count_up(), but not of `memory`. */
#include "limits.h"

#include <stdio.h>

static int failures;

static void check(int is_right, const char *what) {
    if (!is_right) {
        printf("not ok - %s\n", what);
        failures++;
    }
}

int main(void) {
    int counter = 0;
    check(clamp(3, 5) == 3 && clamp(7, 5) == 5, "clamp");
    check(is_above("cpu", 82) == 1 && is_above("cpu", 81) == 0, "cpu");
    check(is_above("fan", 72) == 1 && is_above("fan", 71) == 0, "fan");
    check(is_above("memory", 200) == 1, "memory");
    check(is_above("heat", 200) == -1, "heat");
    check(length("abc") == 3 && length("") == 0 && length(NULL) == 0, "length");
    check(is_usual(3) && is_usual(9) && !is_usual(2) && !is_usual(10), "usual");
    count_up(&counter, 3);
    check(counter == 3, "count_up");
    return failures ? 1 : 0;
}
