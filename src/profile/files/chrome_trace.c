/* For Perfetto (ui.perfetto.dev), chrome://tracing and others: the stacks of each thread as slices
 * over time. Consecutive samples share the slices of their common frames, as if the function had
 * run all the time in between.
 *
 *     {"traceEvents":[{"ph":"X","name":"main","pid":7,"tid":7,"ts":0,"dur":10101},...
 *
 * Samples without time (heap) become instant events with their values. */
#include "base/json.h"
#include "profile/model/by_thread.h"
#include "profile/model/call_tree.h"
#include "profile/files/profile_writers.h"

#include <stdio.h>
#include <stdlib.h>

#define DEPTH_MAX 512 /* deeper stacks are cut off at the leaf: no viewer shows them */

struct slice {
    uint32_t label;
    int64_t start_ns, end_ns;
};

struct slices {
    struct slice *at; /* by start, callers first: viewers nest in that order */
    size_t count, capacity;
    size_t open[DEPTH_MAX]; /* the slices of the last sample's stack, from the root */
    size_t depth;
};

struct stack {
    uint32_t labels[DEPTH_MAX]; /* from the root */
    size_t depth;
};

static void read_stack(const struct pt_call_tree *t, uint32_t stack, struct stack *into) {
    size_t depth = 0;
    uint32_t leaf = stack == PT_PROFILE_NONE ? stack : t->node_of_stack[stack];
    for (uint32_t n = leaf; n != PT_PROFILE_NONE; n = t->nodes.at[n].parent)
        depth++;
    into->depth = depth < DEPTH_MAX ? depth : DEPTH_MAX;
    for (uint32_t n = leaf; n != PT_PROFILE_NONE; n = t->nodes.at[n].parent)
        if (--depth < DEPTH_MAX)
            into->labels[depth] = t->nodes.at[n].label;
}

static void close_slices(struct slices *s, size_t depth, int64_t end_ns) {
    while (s->depth > depth)
        s->at[s->open[--s->depth]].end_ns = end_ns;
}

static void make_slices(const struct pt_call_tree *t, const uint32_t *samples, size_t count,
                        struct slices *s) {
    const struct pt_profile *p = t->profile;
    struct stack stack;
    int64_t last_ns = 0;
    s->count = s->depth = 0;
    for (size_t i = 0; i < count; i++) {
        const struct pt_profile_sample *sample = &p->samples.at[samples[i]];
        /* a thread without samples for longer did something else in between */
        if (i > 0 && sample->time_ns - last_ns > p->meta.period_ns + p->meta.period_ns / 2)
            close_slices(s, 0, last_ns + p->meta.period_ns);
        read_stack(t, sample->stack, &stack);
        size_t common = 0;
        while (common < s->depth && common < stack.depth &&
               s->at[s->open[common]].label == stack.labels[common])
            common++;
        close_slices(s, common, sample->time_ns);
        while (s->depth < stack.depth) {
            pt_grow(&s->at, &s->capacity, s->count + 1, sizeof *s->at);
            s->at[s->count] =
                (struct slice){ stack.labels[s->depth], sample->time_ns, sample->time_ns };
            s->open[s->depth++] = s->count++;
        }
        last_ns = sample->time_ns;
    }
    close_slices(s, 0, last_ns + p->meta.period_ns);
}

static void write_us(struct pt_json *j, const char *key, int64_t ns) {
    char text[32];
    int n = snprintf(text, sizeof text, "%s%lld.%03lld", ns < 0 ? "-" : "",
                     (long long)llabs(ns / 1000), (long long)llabs(ns % 1000));
    pt_json_raw(j, key, (struct pt_str){ text, (size_t)n });
}

static void begin_event(const struct pt_profile *p, size_t thread, const char *phase,
                        struct pt_json *j) {
    bool is_known = thread < p->threads.count;
    pt_json_object(j, NULL);
    pt_json_text(j, "ph", phase);
    pt_json_i64(j, "pid", is_known ? p->threads.at[thread].pid : 0);
    pt_json_i64(j, "tid", is_known ? p->threads.at[thread].tid : 0);
}

static void write_slice(const struct pt_call_tree *t, size_t thread, const struct slice *s,
                        struct pt_json *j) {
    char buffer[PT_PROFILE_NAME_BYTES];
    const struct pt_call_label *label = &t->labels.at[s->label];
    begin_event(t->profile, thread, "X", j);
    pt_json_str(j, "name", pt_call_tree_name(t, s->label, buffer));
    pt_json_text(j, "cat", pt_profile_kind_name((enum pt_profile_kind)label->kind));
    write_us(j, "ts", s->start_ns - t->profile->meta.start_ns);
    write_us(j, "dur", s->end_ns - s->start_ns);
    struct pt_str file = pt_call_tree_file(t, s->label), module = pt_call_tree_module(t, s->label);
    if (file.len > 0 || module.len > 0) {
        pt_json_object(j, "args");
        if (file.len > 0)
            pt_json_str(j, "file", file);
        if (module.len > 0)
            pt_json_str(j, "module", module);
        pt_json_end(j);
    }
    pt_json_end(j);
}

static void write_instant(const struct pt_call_tree *t, size_t thread, uint32_t sample,
                          struct pt_json *j) {
    const struct pt_profile *p = t->profile;
    const struct pt_profile_sample *s = &p->samples.at[sample];
    char buffer[PT_PROFILE_NAME_BYTES];
    struct pt_str name = PT_STR("[unknown]");
    if (s->stack != PT_PROFILE_NONE)
        name = pt_call_tree_name(t, t->nodes.at[t->node_of_stack[s->stack]].label, buffer);
    begin_event(p, thread, "i", j);
    pt_json_str(j, "name", name);
    pt_json_text(j, "s", "t");
    write_us(j, "ts", s->time_ns - p->meta.start_ns);
    pt_json_object(j, "args");
    for (size_t type = 0; type < p->type_count; type++)
        pt_json_i64(j, p->types[type].name, pt_profile_value(p, sample, type));
    pt_json_end(j);
    pt_json_end(j);
}

static void write_name(const struct pt_profile *p, size_t thread, const char *what, uint32_t name,
                       struct pt_json *j) {
    begin_event(p, thread, "M", j);
    pt_json_text(j, "name", what);
    pt_json_object(j, "args");
    pt_json_str(j, "name", pt_profile_text(p, name));
    pt_json_end(j);
    pt_json_end(j);
}

static void write_thread(const struct pt_call_tree *t, const struct pt_by_thread *b, size_t thread,
                         struct slices *slices, struct pt_json *j) {
    const struct pt_profile *p = t->profile;
    const uint32_t *samples = b->samples + b->starts[thread];
    size_t count = b->starts[thread + 1] - b->starts[thread];
    if (thread < p->threads.count) {
        write_name(p, thread, "process_name", p->threads.at[thread].process, j);
        write_name(p, thread, "thread_name", p->threads.at[thread].name, j);
    }
    if (p->meta.period_ns == 0) {
        for (size_t i = 0; i < count; i++)
            write_instant(t, thread, samples[i], j);
        return;
    }
    make_slices(t, samples, count, slices);
    for (size_t i = 0; i < slices->count; i++)
        write_slice(t, thread, &slices->at[i], j);
}

static void write_chrome_trace(const struct pt_profile *p, struct pt_out *out) {
    struct pt_json j = { .out = out };
    struct pt_call_tree tree;
    struct pt_by_thread by_thread;
    struct slices *slices = pt_calloc(1, sizeof *slices);
    pt_call_tree_init(&tree, p);
    pt_by_thread_init(&by_thread, p);
    pt_json_object(&j, NULL);
    pt_json_text(&j, "displayTimeUnit", "ms");
    pt_json_object(&j, "otherData");
    pt_json_text(&j, "producer", "pitot " PITOT_VERSION);
    pt_json_text(&j, "command", p->meta.command);
    pt_json_text(&j, "way", p->meta.method);
    pt_json_end(&j);
    pt_json_array(&j, "traceEvents");
    for (size_t i = 0; i <= p->threads.count; i++)
        write_thread(&tree, &by_thread, i, slices, &j);
    pt_json_end(&j);
    pt_json_end(&j);
    pt_by_thread_release(&by_thread);
    pt_call_tree_release(&tree);
    pt_free(slices->at);
    pt_free(slices);
}

const struct pt_profile_writer pt_chrome_trace_writer = {
    ".trace.json",
    "slices over time, for ui.perfetto.dev and chrome://tracing",
    write_chrome_trace,
};
