/* How long after the end of a program its flame graph stands: a profile of 30,000 samples to files,
 * from a model in memory to the rename. */
#include "bench.h"
#include "profile_data.h"

#include "base/attr.h"
#include "profile/files/profile_writers.h"

#include <stdlib.h>
#include <unistd.h>

#define SAMPLES 30000
#define ROUNDS  10

static char directory[] = "/tmp/pitot-flame-bench-XXXXXX";
static struct pt_profile profile;

/* Wall time: writing is part of it. */
static double seconds_to_write(const char *ending, long *bytes) {
    char path[256];
    int64_t best_ns = INT64_MAX;
    snprintf(path, sizeof path, "%s/profile%s", directory, ending);
    for (int round = 0; round < ROUNDS; round++) {
        struct pt_err err;
        int64_t start_ns = pt_clock_ns(CLOCK_MONOTONIC);
        if (pt_profile_write(&profile, path, &err)) {
            fprintf(stderr, "flame_bench: %s\n", err.text);
            exit(1);
        }
        int64_t took_ns = pt_clock_ns(CLOCK_MONOTONIC) - start_ns;
        best_ns = took_ns < best_ns ? took_ns : best_ns;
    }
    FILE *f = fopen(path, "re");
    if (!f || fseek(f, 0, SEEK_END))
        exit(1);
    *bytes = ftell(f);
    fclose(f);
    unlink(path);
    return (double)best_ns / 1e9;
}

int main(void) {
    static const char *const endings[] = { ".html",  ".folded",          ".svg",
                                           ".pb.gz", ".speedscope.json", ".pitotprof" };
    if (!mkdtemp(directory))
        return 1;
    profile_data_make(&profile, SAMPLES);
    for (size_t i = 0; i < PT_COUNT(endings); i++) {
        long bytes;
        double seconds = seconds_to_write(endings[i], &bytes);
        printf("| %d samples to %s (%.1f MB) | %.4f s | | | %s |\n", SAMPLES, endings[i],
               (double)bytes / 1e6, seconds, i == 0 ? "<= 0.1" : "");
    }
    pt_profile_release(&profile);
    rmdir(directory);
    return 0;
}
