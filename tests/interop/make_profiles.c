/* Writes profiles for the tests that read them with other programs: a made-up training run and its
 * difference to another, in every format.
 *     make_profiles DIRECTORY SAMPLES */
#include "../../bench/profile_data.h"

#include "profile/diff.h"
#include "profile/writers.h"

#include <stdio.h>
#include <stdlib.h>

static void write_all(const struct pt_profile *p, const char *directory, const char *name) {
    for (size_t i = 0; pt_profile_writers[i]; i++) {
        struct pt_err err;
        char path[4096];
        snprintf(path, sizeof path, "%s/%s%s", directory, name, pt_profile_writers[i]->ending);
        if (pt_profile_write(p, path, &err)) {
            fprintf(stderr, "make_profiles: %s\n", err.text);
            exit(1);
        }
    }
}

int main(int argc, char **argv) {
    struct pt_profile before, after, diff;
    if (argc != 3) {
        fprintf(stderr, "usage: make_profiles DIRECTORY SAMPLES\n");
        return 2;
    }
    size_t samples = strtoul(argv[2], NULL, 10);
    profile_data_make(&before, samples);
    profile_data_make_other(&after, samples * 3 / 2);
    if (pt_profile_diff(&before, &after, &diff, NULL))
        return 1;
    write_all(&before, argv[1], "train");
    write_all(&diff, argv[1], "diff");
    pt_profile_release(&before);
    pt_profile_release(&after);
    pt_profile_release(&diff);
    return 0;
}
