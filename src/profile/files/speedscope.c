/* For speedscope.app: https://www.speedscope.app/file-format-schema.json. One "sampled" profile per
 * thread; for samples without time (heap), one per column of values.
 *
 *     {"shared":{"frames":[{"name":"main"}]},
 *      "profiles":[{"type":"sampled","samples":[[0,1]],"weights":[10101010],...}]}
 */
#include "base/json.h"
#include "profile/model/by_thread.h"
#include "profile/model/call_tree.h"
#include "profile/files/profile_writers.h"

#include <stdio.h>

#define DEPTH_MAX 4096

static void write_frames(const struct pt_call_tree *t, struct pt_json *j) {
    char buffer[PT_PROFILE_NAME_BYTES];
    pt_json_object(j, "shared");
    pt_json_array(j, "frames");
    for (uint32_t i = 0; i < t->labels.count; i++) {
        struct pt_str file = pt_call_tree_file(t, i);
        uint32_t function = t->labels.at[i].function;
        pt_json_object(j, NULL);
        pt_json_str(j, "name", pt_call_tree_name(t, i, buffer));
        if (file.len == 0)
            file = pt_call_tree_module(t, i);
        if (file.len > 0)
            pt_json_str(j, "file", file);
        if (function != PT_PROFILE_NONE && t->profile->functions.at[function].line > 0)
            pt_json_i64(j, "line", t->profile->functions.at[function].line);
        pt_json_end(j);
    }
    pt_json_end(j);
    pt_json_end(j);
}

/* From the root to the leaf. */
static void write_stack(const struct pt_call_tree *t, uint32_t stack, struct pt_json *j) {
    uint32_t labels[DEPTH_MAX];
    size_t depth = 0;
    uint32_t node = stack == PT_PROFILE_NONE ? stack : t->node_of_stack[stack];
    for (; node != PT_PROFILE_NONE && depth < DEPTH_MAX; node = t->nodes.at[node].parent)
        labels[depth++] = t->nodes.at[node].label;
    pt_json_array(j, NULL);
    while (depth > 0)
        pt_json_i64(j, NULL, labels[--depth]);
    pt_json_end(j);
}

static void write_profile(const struct pt_call_tree *t, struct pt_str name, size_t type,
                          const uint32_t *samples, size_t count, struct pt_json *j) {
    const struct pt_profile *p = t->profile;
    int64_t sum = 0;
    pt_json_object(j, NULL);
    pt_json_text(j, "type", "sampled");
    pt_json_str(j, "name", name);
    enum pt_profile_unit unit = p->types[type].unit; /* "none" is for plain counts */
    pt_json_text(j, "unit", unit == PT_PROFILE_SAMPLES ? "none" : pt_profile_unit_name(unit));
    pt_json_array(j, "samples");
    for (size_t i = 0; i < count; i++)
        write_stack(t, p->samples.at[samples[i]].stack, j);
    pt_json_end(j);
    pt_json_array(j, "weights");
    for (size_t i = 0; i < count; i++) {
        pt_json_i64(j, NULL, pt_profile_value(p, samples[i], type));
        sum += pt_profile_value(p, samples[i], type);
    }
    pt_json_end(j);
    pt_json_i64(j, "startValue", 0);
    pt_json_i64(j, "endValue", sum);
    pt_json_end(j);
}

static void write_thread(const struct pt_call_tree *t, const struct pt_by_thread *b, size_t thread,
                         struct pt_json *j) {
    const struct pt_profile *p = t->profile;
    struct pt_buf name = { 0 };
    const uint32_t *samples = b->samples + b->starts[thread];
    size_t count = b->starts[thread + 1] - b->starts[thread];
    if (count == 0)
        return;
    if (thread < p->threads.count) {
        char numbers[64];
        snprintf(numbers, sizeof numbers, " (%d/%d)", p->threads.at[thread].pid,
                 p->threads.at[thread].tid);
        pt_buf_str(&name, pt_profile_text(p, p->threads.at[thread].name));
        pt_buf_str(&name, pt_str_from(numbers));
    }
    write_profile(t, name.len > 0 ? pt_buf_as_str(&name) : PT_STR("[unknown]"), 0, samples, count,
                  j);
    pt_buf_release(&name);
}

static void write_profiles(const struct pt_call_tree *t, struct pt_json *j) {
    const struct pt_profile *p = t->profile;
    struct pt_by_thread by_thread;
    pt_by_thread_init(&by_thread, p);
    pt_json_array(j, "profiles");
    bool is_by_time = p->meta.period_ns > 0;
    for (size_t i = 0; is_by_time && i <= p->threads.count; i++)
        write_thread(t, &by_thread, i, j);
    for (size_t type = 0; !is_by_time && type < p->type_count; type++)
        write_profile(t, pt_str_from(p->types[type].name), type, by_thread.samples,
                      p->samples.count, j);
    pt_json_end(j);
    pt_by_thread_release(&by_thread);
}

static void write_speedscope(const struct pt_profile *p, struct pt_out *out) {
    struct pt_json j = { .out = out };
    struct pt_call_tree tree;
    pt_call_tree_init(&tree, p);
    pt_json_object(&j, NULL);
    pt_json_text(&j, "$schema", "https://www.speedscope.app/file-format-schema.json");
    pt_json_text(&j, "exporter", "pitot " PITOT_VERSION);
    pt_json_text(&j, "name", p->meta.command);
    pt_json_i64(&j, "activeProfileIndex", 0);
    write_frames(&tree, &j);
    write_profiles(&tree, &j);
    pt_json_end(&j);
    pt_call_tree_release(&tree);
}

const struct pt_profile_writer pt_speedscope_writer = {
    ".speedscope.json",
    "for speedscope.app",
    write_speedscope,
};
