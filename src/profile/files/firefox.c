/* For profiler.firefox.com: the processed profile format, version 48 of its change log (newer
 * versions of the page convert it when they load it). Each thread has its own tables, columns of
 * equal length, with indexes into one another:
 *
 *     samples.stack -> stackTable.frame -> frameTable.func -> funcTable.name -> stringArray
 */
#include "base/json.h"
#include "profile/model/by_thread.h"
#include "profile/model/call_tree.h"
#include "profile/files/profile_writers.h"

#include <stdio.h>
#include <stdlib.h>

#define FORMAT_VERSION 48
#define GECKO_VERSION  29 /* of the corresponding raw format */

/* One category per kind; the colours are names that the page knows. */
static const char *const colors[PT_KIND_COUNT] = {
    [PT_KIND_UNKNOWN] = "grey",  [PT_KIND_NATIVE] = "blue", [PT_KIND_KERNEL] = "orange",
    [PT_KIND_PYTHON] = "yellow", [PT_KIND_JIT] = "purple",  [PT_KIND_MARKER] = "transparent",
};

static void write_categories(struct pt_json *j) {
    pt_json_array(j, "categories");
    for (int kind = 0; kind < PT_KIND_COUNT; kind++) {
        pt_json_object(j, NULL);
        pt_json_text(j, "name", pt_profile_kind_name((enum pt_profile_kind)kind));
        pt_json_text(j, "color", colors[kind]);
        pt_json_array(j, "subcategories");
        pt_json_text(j, NULL, "Other");
        pt_json_end(j);
        pt_json_end(j);
    }
    pt_json_end(j);
}

static void write_meta(const struct pt_profile *p, struct pt_json *j) {
    pt_json_object(j, "meta");
    pt_json_i64(j, "version", GECKO_VERSION);
    pt_json_i64(j, "preprocessedProfileVersion", FORMAT_VERSION);
    pt_json_text(j, "product", p->meta.command[0] ? p->meta.command : "pitot");
    pt_json_text(j, "importedFrom", "pitot " PITOT_VERSION);
    pt_json_f64(j, "interval", p->meta.period_ns > 0 ? (double)p->meta.period_ns / 1e6 : 1);
    pt_json_f64(j, "startTime", (double)p->meta.start_wall_ns / 1e6);
    pt_json_i64(j, "processType", 0);
    pt_json_i64(j, "stackwalk", 1);
    pt_json_bool(j, "symbolicated", true);
    pt_json_array(j, "markerSchema");
    pt_json_end(j);
    pt_json_array(j, "extensions");
    pt_json_end(j);
    write_categories(j);
    pt_json_end(j);
}

/* The part of the tree that a thread uses, renumbered from 0; PT_PROFILE_NONE is "not used". */
struct part {
    uint32_t *node_number, *label_number; /* new number of each node and label of the tree */
    uint32_t *nodes, *labels;             /* the used ones, in the order of their new numbers */
    size_t node_count, label_count;
};

static uint32_t take(uint32_t *number, uint32_t *used, size_t *count, uint32_t element) {
    if (number[element] == PT_PROFILE_NONE) {
        used[*count] = element;
        number[element] = (uint32_t)(*count)++;
    }
    return number[element];
}

static void part_init(struct part *part, const struct pt_call_tree *t) {
    size_t nodes = t->nodes.count, labels = t->labels.count;
    part->node_number = pt_calloc(nodes, sizeof *part->node_number);
    part->nodes = pt_calloc(nodes, sizeof *part->nodes);
    part->label_number = pt_calloc(labels, sizeof *part->label_number);
    part->labels = pt_calloc(labels, sizeof *part->labels);
    part->node_count = part->label_count = 0;
    memset(part->node_number, 0xff, nodes * sizeof *part->node_number);
    memset(part->label_number, 0xff, labels * sizeof *part->label_number);
}

static void part_release(struct part *part) {
    pt_free(part->node_number);
    pt_free(part->nodes);
    pt_free(part->label_number);
    pt_free(part->labels);
}

/* Resets the part for the next thread. */
static void part_clear(struct part *part) {
    for (size_t i = 0; i < part->node_count; i++)
        part->node_number[part->nodes[i]] = PT_PROFILE_NONE;
    for (size_t i = 0; i < part->label_count; i++)
        part->label_number[part->labels[i]] = PT_PROFILE_NONE;
    part->node_count = part->label_count = 0;
}

static int by_number(const void *a, const void *b) {
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* A prefix must come before the stacks that contain it, as in the tree. */
static void part_fill(struct part *part, const struct pt_call_tree *t, const uint32_t *samples,
                      size_t count) {
    part_clear(part);
    for (size_t i = 0; i < count; i++) {
        uint32_t stack = t->profile->samples.at[samples[i]].stack;
        uint32_t node = stack == PT_PROFILE_NONE ? stack : t->node_of_stack[stack];
        for (; node != PT_PROFILE_NONE && part->node_number[node] == PT_PROFILE_NONE;
             node = t->nodes.at[node].parent)
            take(part->node_number, part->nodes, &part->node_count, node);
    }
    qsort(part->nodes, part->node_count, sizeof *part->nodes, by_number);
    for (size_t i = 0; i < part->node_count; i++) {
        part->node_number[part->nodes[i]] = (uint32_t)i;
        take(part->label_number, part->labels, &part->label_count,
             t->nodes.at[part->nodes[i]].label);
    }
}

static void optional(struct pt_json *j, const char *key, uint32_t number) {
    if (number == PT_PROFILE_NONE)
        pt_json_null(j, key);
    else
        pt_json_i64(j, key, number);
}

/* A column of `count` equal values. */
static void constant(struct pt_json *j, const char *key, size_t count, const char *json) {
    pt_json_array(j, key);
    for (size_t i = 0; i < count; i++)
        pt_json_raw(j, NULL, pt_str_from(json));
    pt_json_end(j);
}

static void write_samples(const struct pt_call_tree *t, const struct part *part,
                          const uint32_t *samples, size_t count, struct pt_json *j) {
    const struct pt_profile *p = t->profile;
    bool is_bytes = p->types[0].unit == PT_PROFILE_BYTES;
    pt_json_object(j, "samples");
    pt_json_text(j, "weightType", is_bytes ? "bytes" : "samples");
    pt_json_array(j, "stack");
    for (size_t i = 0; i < count; i++) {
        uint32_t stack = p->samples.at[samples[i]].stack;
        optional(j, NULL,
                 stack == PT_PROFILE_NONE ? stack : part->node_number[t->node_of_stack[stack]]);
    }
    pt_json_end(j);
    pt_json_array(j, "time");
    for (size_t i = 0; i < count; i++)
        pt_json_f64(j, NULL, (double)(p->samples.at[samples[i]].time_ns - p->meta.start_ns) / 1e6);
    pt_json_end(j);
    pt_json_array(j, "weight");
    for (size_t i = 0; i < count; i++)
        pt_json_i64(j, NULL, is_bytes ? pt_profile_value(p, samples[i], 0) : 1);
    pt_json_end(j);
    pt_json_i64(j, "length", (int64_t)count);
    pt_json_end(j);
}

static void write_stack_table(const struct pt_call_tree *t, const struct part *part,
                              struct pt_json *j) {
    pt_json_object(j, "stackTable");
    pt_json_array(j, "frame");
    for (size_t i = 0; i < part->node_count; i++)
        pt_json_i64(j, NULL, part->label_number[t->nodes.at[part->nodes[i]].label]);
    pt_json_end(j);
    pt_json_array(j, "prefix");
    for (size_t i = 0; i < part->node_count; i++) {
        uint32_t parent = t->nodes.at[part->nodes[i]].parent;
        optional(j, NULL, parent == PT_PROFILE_NONE ? parent : part->node_number[parent]);
    }
    pt_json_end(j);
    pt_json_array(j, "category");
    for (size_t i = 0; i < part->node_count; i++)
        pt_json_i64(j, NULL, t->labels.at[t->nodes.at[part->nodes[i]].label].kind);
    pt_json_end(j);
    constant(j, "subcategory", part->node_count, "0");
    pt_json_i64(j, "length", (int64_t)part->node_count);
    pt_json_end(j);
}

static void write_frame_table(const struct pt_call_tree *t, const struct part *part,
                              struct pt_json *j) {
    size_t n = part->label_count;
    pt_json_object(j, "frameTable");
    constant(j, "address", n, "-1");
    constant(j, "inlineDepth", n, "0");
    pt_json_array(j, "category");
    for (size_t i = 0; i < n; i++)
        pt_json_i64(j, NULL, t->labels.at[part->labels[i]].kind);
    pt_json_end(j);
    constant(j, "subcategory", n, "0");
    pt_json_array(j, "func");
    for (size_t i = 0; i < n; i++)
        pt_json_i64(j, NULL, (int64_t)i);
    pt_json_end(j);
    constant(j, "nativeSymbol", n, "null");
    constant(j, "innerWindowID", n, "0");
    constant(j, "implementation", n, "null");
    constant(j, "line", n, "null");
    constant(j, "column", n, "null");
    pt_json_i64(j, "length", (int64_t)n);
    pt_json_end(j);
}

/* The string array of a thread: the name of each label, then the file of each. */
static void write_func_table(const struct pt_call_tree *t, const struct part *part,
                             struct pt_json *j) {
    size_t n = part->label_count;
    pt_json_object(j, "funcTable");
    constant(j, "isJS", n, "false");
    constant(j, "relevantForJS", n, "false");
    pt_json_array(j, "name");
    for (size_t i = 0; i < n; i++)
        pt_json_i64(j, NULL, (int64_t)i);
    pt_json_end(j);
    constant(j, "resource", n, "-1");
    pt_json_array(j, "fileName");
    for (size_t i = 0; i < n; i++)
        optional(j, NULL,
                 pt_call_tree_file(t, part->labels[i]).len > 0 ? (uint32_t)(n + i)
                                                               : PT_PROFILE_NONE);
    pt_json_end(j);
    pt_json_array(j, "lineNumber");
    for (size_t i = 0; i < n; i++) {
        uint32_t function = t->labels.at[part->labels[i]].function;
        uint32_t line = function == PT_PROFILE_NONE ? 0 : t->profile->functions.at[function].line;
        optional(j, NULL, line > 0 ? line : PT_PROFILE_NONE);
    }
    pt_json_end(j);
    constant(j, "columnNumber", n, "null");
    pt_json_i64(j, "length", (int64_t)n);
    pt_json_end(j);
}

static void write_strings(const struct pt_call_tree *t, const struct part *part,
                          struct pt_json *j) {
    char buffer[PT_PROFILE_NAME_BYTES];
    pt_json_array(j, "stringArray");
    for (size_t i = 0; i < part->label_count; i++)
        pt_json_str(j, NULL, pt_call_tree_name(t, part->labels[i], buffer));
    for (size_t i = 0; i < part->label_count; i++)
        pt_json_str(j, NULL, pt_call_tree_file(t, part->labels[i]));
    pt_json_end(j);
}

/* A table without rows. */
static void write_empty(struct pt_json *j, const char *key, const char *const *columns) {
    pt_json_object(j, key);
    for (; *columns; columns++)
        constant(j, *columns, 0, "");
    pt_json_i64(j, "length", 0);
    pt_json_end(j);
}

static void write_empty_tables(struct pt_json *j) {
    static const char *const markers[] = { "data",  "name",     "startTime", "endTime",
                                           "phase", "category", NULL };
    static const char *const resources[] = { "lib", "name", "host", "type", NULL };
    static const char *const symbols[] = { "libIndex", "address", "name", "functionSize", NULL };
    write_empty(j, "markers", markers);
    write_empty(j, "resourceTable", resources);
    write_empty(j, "nativeSymbols", symbols);
}

static void write_identity(const struct pt_profile *p, size_t thread, struct pt_json *j) {
    struct pt_profile_thread t = { 0 };
    char pid[16];
    if (thread < p->threads.count)
        t = p->threads.at[thread];
    snprintf(pid, sizeof pid, "%d", t.pid);
    pt_json_text(j, "processType", "default");
    pt_json_str(j, "processName", pt_profile_text(p, t.process));
    pt_json_str(j, "name", pt_profile_text(p, t.name));
    pt_json_bool(j, "isMainThread", t.pid == t.tid);
    pt_json_text(j, "pid", pid);
    pt_json_i64(j, "tid", t.tid);
    pt_json_i64(j, "processStartupTime", 0);
    pt_json_null(j, "processShutdownTime");
    pt_json_i64(j, "registerTime", 0);
    pt_json_null(j, "unregisterTime");
    pt_json_array(j, "pausedRanges");
    pt_json_end(j);
}

static void write_thread(const struct pt_call_tree *t, const struct pt_by_thread *b, size_t thread,
                         struct part *part, struct pt_json *j) {
    const uint32_t *samples = b->samples + b->starts[thread];
    size_t count = b->starts[thread + 1] - b->starts[thread];
    if (count == 0)
        return;
    part_fill(part, t, samples, count);
    pt_json_object(j, NULL);
    write_identity(t->profile, thread, j);
    write_samples(t, part, samples, count, j);
    write_stack_table(t, part, j);
    write_frame_table(t, part, j);
    write_func_table(t, part, j);
    write_strings(t, part, j);
    write_empty_tables(j);
    pt_json_end(j);
}

static void write_firefox(const struct pt_profile *p, struct pt_out *out) {
    struct pt_json j = { .out = out };
    struct pt_call_tree tree;
    struct pt_by_thread by_thread;
    struct part part;
    pt_call_tree_init(&tree, p);
    pt_by_thread_init(&by_thread, p);
    part_init(&part, &tree);
    pt_json_object(&j, NULL);
    write_meta(p, &j);
    pt_json_array(&j, "libs");
    pt_json_end(&j);
    pt_json_array(&j, "pages");
    pt_json_end(&j);
    pt_json_array(&j, "threads");
    for (size_t i = 0; i <= p->threads.count; i++)
        write_thread(&tree, &by_thread, i, &part, &j);
    pt_json_end(&j);
    pt_json_end(&j);
    part_release(&part);
    pt_by_thread_release(&by_thread);
    pt_call_tree_release(&tree);
}

const struct pt_profile_writer pt_firefox_writer = {
    ".firefox.json",
    "for profiler.firefox.com (processed format 48)",
    write_firefox,
};
