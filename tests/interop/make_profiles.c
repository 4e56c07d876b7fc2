/* Writes profiles for the tests that read them with other programs: a made-up training run, its
 * difference to another, and a profile of memory, in every format.
 *     make_profiles DIRECTORY SAMPLES */
#include "../../bench/profile_data.h"

#include "profile/model/profile_diff.h"
#include "profile/files/profile_writers.h"

#include <stdio.h>
#include <stdlib.h>

static void write_all(const struct pt_profile *p, const char *directory, const char *name) {
    for (size_t i = 0; pt_profile_writers[i]; i++) {
        struct pt_err err;
        char path[4096];
        snprintf(path, sizeof path, "%s/%s%s", directory, name, pt_profile_writers[i]->extension);
        if (pt_profile_write(p, path, &err)) {
            fprintf(stderr, "make_profiles: %s\n", err.text);
            exit(1);
        }
    }
}

static uint32_t add_native(struct pt_profile *p, uint32_t parent, const char *name) {
    uint32_t function = pt_profile_function(
        p, (struct pt_profile_function){ .name = pt_profile_string(p, pt_str_from(name)),
                                         .module = PT_PROFILE_NONE,
                                         .kind = PT_KIND_NATIVE });
    struct pt_profile_frame frame = { .function = function, .module = PT_PROFILE_NONE };
    return pt_profile_stack(p, parent, pt_profile_frame(p, frame));
}

/* Three parts are kept by one function and one part by another; the first grows by 1 MiB/s. */
static void make_heap(struct pt_profile *p) {
    static const struct pt_profile_value_type types[] = {
        { "live", PT_PROFILE_BYTES },
        { "live_count", PT_PROFILE_SAMPLES },
        { "allocated", PT_PROFILE_BYTES },
        { "allocated_count", PT_PROFILE_SAMPLES },
    };
    pt_profile_init(p, types, 4);
    p->meta.title = "heap";
    uint32_t root = add_native(p, PT_PROFILE_NONE, "main");
    uint32_t leak = add_native(p, root, "remember"), other = add_native(p, root, "prepare");
    struct pt_profile_sample sample = { .thread = PT_PROFILE_NONE, .stack = leak };
    (void)pt_profile_sample(p, &sample, (const int64_t[]){ 3 << 20, 30, 3 << 20, 30 });
    sample.stack = other;
    (void)pt_profile_sample(p, &sample, (const int64_t[]){ 1 << 20, 1, 5 << 20, 5 });
    p->timeline = (struct pt_profile_timeline){ .step_ns = 100000000, .count = 40 };
    for (size_t i = 0; i < p->timeline.count; i++)
        p->timeline.values[i] = (int64_t)(i + 1) * (4 << 20) / 40;
    struct pt_profile_growth growth = {
        .stack = leak, .slope = 1 << 20, .slope_error = 2048, .bytes = 3 << 20, .count = 30
    };
    pt_profile_growth(p, &growth);
}

/* Held in all samples, and wanted by others in every fourth. */
static void mark_gil(struct pt_profile *p) {
    p->meta.gil_known = p->meta.gil_held = (int64_t)p->samples.count;
    p->meta.gil_contended = 0;
    for (size_t i = 0; i < p->samples.count; i++) {
        bool is_wanted = i % 4 == 0;
        p->samples.at[i].gil = PT_GIL_KNOWN | PT_GIL_HELD | (is_wanted ? PT_GIL_WANTED : 0);
        p->meta.gil_contended += is_wanted;
    }
}

int main(int argc, char **argv) {
    struct pt_profile before, after, diff, heap;
    if (argc != 3) {
        fprintf(stderr, "usage: make_profiles DIRECTORY SAMPLES\n");
        return 2;
    }
    size_t samples = strtoul(argv[2], NULL, 10);
    profile_data_make(&before, samples);
    mark_gil(&before);
    profile_data_make_other(&after, samples * 3 / 2);
    if (pt_profile_diff(&before, &after, &diff, NULL))
        return 1;
    write_all(&before, argv[1], "train");
    write_all(&diff, argv[1], "diff");
    make_heap(&heap);
    write_all(&heap, argv[1], "heap");
    pt_profile_release(&heap);
    pt_profile_release(&before);
    pt_profile_release(&after);
    pt_profile_release(&diff);
    return 0;
}
