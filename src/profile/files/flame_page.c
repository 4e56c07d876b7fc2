/* One file with an interactive flame graph: the page of web/flame and its data, as described in
 * docs/PROFILES.md. Columns of numbers are typed arrays in base64: a quarter of the size of decimal
 * text, and the page does not have to parse them. */
#include "base/json.h"
#include "profile/model/profile_diff.h"
#include "profile/files/flame_page_parts.h"
#include "profile/model/call_tree.h"
#include "profile/files/profile_writers.h"

#define FORMAT_VERSION 1

static void write_base64(struct pt_out *out, const uint8_t *bytes, size_t count) {
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        size_t left = count - i;
        uint32_t three = (uint32_t)bytes[i] << 16;
        if (left > 1)
            three |= (uint32_t)bytes[i + 1] << 8;
        if (left > 2)
            three |= bytes[i + 2];
        char *to = pt_out_reserve(out, 4);
        to[0] = digits[three >> 18];
        to[1] = digits[three >> 12 & 63];
        to[2] = left > 1 ? digits[three >> 6 & 63] : '=';
        to[3] = left > 2 ? digits[three & 63] : '=';
        out->used += 4;
    }
}

/* A column of integers; written in the narrowest type that holds all of them. */
struct column {
    int64_t *at;
    size_t count;
};

static void column_init(struct column *c, size_t count) {
    *c = (struct column){ pt_calloc(count, sizeof *c->at), count };
}

struct column_type {
    const char *name; /* of the typed array */
    int64_t least, most;
    size_t bytes;
};

static const struct column_type column_types[] = {
    { "u8", 0, UINT8_MAX, 1 },
    { "u16", 0, UINT16_MAX, 2 },
    { "u32", 0, UINT32_MAX, 4 },
    { "i32", INT32_MIN, INT32_MAX, 4 },
};

static const struct column_type *column_type_for(const struct column *c) {
    int64_t least = 0, most = 0;
    for (size_t i = 0; i < c->count; i++) {
        least = c->at[i] < least ? c->at[i] : least;
        most = c->at[i] > most ? c->at[i] : most;
    }
    for (size_t i = 0; i < PT_COUNT(column_types); i++)
        if (least >= column_types[i].least && most <= column_types[i].most)
            return &column_types[i];
    return NULL;
}

/* Writes and frees. A constant column is only its value. */
static void column_write(struct column *c, const char *key, struct pt_json *j) {
    bool is_constant = true;
    for (size_t i = 1; i < c->count && is_constant; i++)
        is_constant = c->at[i] == c->at[0];
    pt_json_object(j, key);
    pt_json_i64(j, "count", (int64_t)c->count);
    if (is_constant) {
        pt_json_i64(j, "value", c->count > 0 ? c->at[0] : 0);
    } else {
        const struct column_type *type = column_type_for(c);
        struct pt_buf bytes = { 0 };
        for (size_t i = 0; i < c->count; i++) {
            double wide = (double)c->at[i];
            /* little-endian: the low bytes of an integer are its value in a narrower type */
            pt_buf_bytes(&bytes, type ? (const void *)&c->at[i] : &wide,
                         type ? type->bytes : sizeof wide);
        }
        pt_json_text(j, "type", type ? type->name : "f64");
        pt_json_raw(j, "data", PT_STR("\""));
        write_base64(j->out, bytes.at, bytes.len);
        pt_out_char(j->out, '"');
        pt_buf_release(&bytes);
    }
    pt_json_end(j);
    pt_free(c->at);
}

static int64_t number_or_minus(uint32_t number) {
    return number == PT_PROFILE_NONE ? -1 : (int64_t)number;
}

/* -1 is "not measured". */
static void write_count(struct pt_json *j, const char *key, int64_t count) {
    if (count < 0)
        pt_json_null(j, key);
    else
        pt_json_i64(j, key, count);
}

static void write_meta(const struct pt_profile *p, struct pt_json *j) {
    const struct pt_profile_meta *m = &p->meta;
    pt_json_object(j, "meta");
    pt_json_text(j, "tool", "pitot " PITOT_VERSION);
    pt_json_text(j, "command", m->command);
    pt_json_text(j, "way", m->method);
    pt_json_i64(j, "start_unix_ms", m->start_wall_ns / 1000000);
    pt_json_i64(j, "duration_ns", m->end_ns - m->start_ns);
    pt_json_i64(j, "rate_hz", m->rate_hz);
    pt_json_i64(j, "period_ns", m->period_ns);
    pt_json_i64(j, "samples", (int64_t)p->samples.count);
    write_count(j, "lost", m->lost);
    write_count(j, "dropped", m->dropped);
    write_count(j, "unwound", m->unwound);
    write_count(j, "rooted", m->rooted);
    write_count(j, "truncated", m->truncated);
    write_count(j, "python_wanted", m->python_wanted);
    write_count(j, "python_matched", m->python_matched);
    write_count(j, "gil_known", m->gil_known);
    write_count(j, "gil_held", m->gil_held);
    write_count(j, "gil_contended", m->gil_contended);
    pt_json_end(j);
}

static void write_types(const struct pt_profile *p, struct pt_json *j) {
    pt_json_array(j, "types");
    for (size_t i = 0; i < p->type_count; i++) {
        pt_json_object(j, NULL);
        pt_json_text(j, "name", p->types[i].name);
        pt_json_text(j, "unit", pt_profile_unit_name(p->types[i].unit));
        pt_json_end(j);
    }
    pt_json_end(j);
}

static void write_enums(struct pt_json *j) {
    pt_json_array(j, "kinds");
    for (int i = 0; i < PT_KIND_COUNT; i++)
        pt_json_text(j, NULL, pt_profile_kind_name((enum pt_profile_kind)i));
    pt_json_end(j);
    pt_json_array(j, "states");
    for (int i = 0; i < PT_STATE_COUNT; i++)
        pt_json_text(j, NULL, pt_profile_state_name((enum pt_profile_state)i));
    pt_json_end(j);
}

static void write_threads(const struct pt_profile *p, struct pt_json *j) {
    pt_json_array(j, "threads");
    for (size_t i = 0; i < p->threads.count; i++) {
        const struct pt_profile_thread *t = &p->threads.at[i];
        pt_json_object(j, NULL);
        pt_json_str(j, "name", pt_profile_text(p, t->name));
        pt_json_str(j, "process", pt_profile_text(p, t->process));
        pt_json_i64(j, "pid", t->pid);
        pt_json_i64(j, "tid", t->tid);
        pt_json_end(j);
    }
    pt_json_end(j);
}

static void write_modules(const struct pt_profile *p, struct pt_json *j) {
    pt_json_array(j, "modules");
    for (size_t i = 0; i < p->modules.count; i++)
        pt_json_str(j, NULL, pt_profile_text(p, p->modules.at[i].path));
    pt_json_end(j);
}

/* Writes each file once and fills the column with their numbers. */
static void write_files(const struct pt_call_tree *t, struct column *file, struct pt_json *j) {
    const struct pt_profile *p = t->profile;
    int64_t *number_of = pt_calloc(p->strings.count, sizeof *number_of); /* plus one; 0 = new */
    int64_t count = 0;
    pt_json_array(j, "files");
    for (size_t i = 0; i < t->labels.count; i++) {
        uint32_t function = t->labels.at[i].function;
        uint32_t name = function == PT_PROFILE_NONE ? 0 : p->functions.at[function].file;
        if (name != 0 && number_of[name] == 0) {
            pt_json_str(j, NULL, pt_profile_text(p, name));
            number_of[name] = ++count;
        }
        file->at[i] = name == 0 ? -1 : number_of[name] - 1;
    }
    pt_json_end(j);
    pt_free(number_of);
}

static void write_labels(const struct pt_call_tree *t, struct pt_json *j) {
    const struct pt_profile *p = t->profile;
    char buffer[PT_PROFILE_NAME_BYTES];
    struct column kind, module, file, line;
    column_init(&kind, t->labels.count);
    column_init(&module, t->labels.count);
    column_init(&file, t->labels.count);
    column_init(&line, t->labels.count);
    write_files(t, &file, j);
    for (size_t i = 0; i < t->labels.count; i++) {
        const struct pt_call_label *l = &t->labels.at[i];
        kind.at[i] = l->kind;
        module.at[i] = number_or_minus(l->module);
        line.at[i] = l->function == PT_PROFILE_NONE ? 0 : p->functions.at[l->function].line;
    }
    pt_json_object(j, "labels");
    pt_json_array(j, "names");
    for (uint32_t i = 0; i < t->labels.count; i++)
        pt_json_str(j, NULL, pt_call_tree_name(t, i, buffer));
    pt_json_end(j);
    column_write(&kind, "kind", j);
    column_write(&module, "module", j);
    column_write(&file, "file", j);
    column_write(&line, "line", j);
    pt_json_end(j);
}

static void write_nodes(const struct pt_call_tree *t, struct pt_json *j) {
    struct column parent, label;
    column_init(&parent, t->nodes.count);
    column_init(&label, t->nodes.count);
    for (size_t i = 0; i < t->nodes.count; i++) {
        parent.at[i] = number_or_minus(t->nodes.at[i].parent);
        label.at[i] = t->nodes.at[i].label;
    }
    pt_json_object(j, "nodes");
    column_write(&parent, "parent", j);
    column_write(&label, "label", j);
    pt_json_end(j);
}

struct span {
    int64_t start_ns, step_ns;
};

/* Times are steps since the first sample: microseconds, or longer if they would not fit. */
static struct span span_of(const struct pt_profile *p) {
    int64_t first = INT64_MAX, last = INT64_MIN;
    for (size_t i = 0; i < p->samples.count; i++) {
        int64_t t = p->samples.at[i].time_ns;
        first = t < first ? t : first;
        last = t > last ? t : last;
    }
    if (first > last)
        return (struct span){ 0, 1000 };
    int64_t step_ns = 1000;
    while ((uint64_t)(last - first) / (uint64_t)step_ns > UINT32_MAX)
        step_ns *= 10;
    return (struct span){ first, step_ns };
}

static void write_values(const struct pt_profile *p, struct pt_json *j) {
    pt_json_array(j, "values");
    for (size_t type = 0; type < p->type_count; type++) {
        struct column value;
        column_init(&value, p->samples.count);
        for (size_t i = 0; i < p->samples.count; i++)
            value.at[i] = pt_profile_value(p, i, type);
        column_write(&value, NULL, j);
    }
    pt_json_end(j);
}

static void write_samples(const struct pt_call_tree *t, struct pt_json *j) {
    const struct pt_profile *p = t->profile;
    struct span span = span_of(p);
    struct column time, thread, state, gil, node;
    column_init(&time, p->samples.count);
    column_init(&thread, p->samples.count);
    column_init(&state, p->samples.count);
    column_init(&gil, p->samples.count);
    column_init(&node, p->samples.count);
    for (size_t i = 0; i < p->samples.count; i++) {
        const struct pt_profile_sample *s = &p->samples.at[i];
        time.at[i] = (s->time_ns - span.start_ns) / span.step_ns;
        thread.at[i] = number_or_minus(s->thread);
        state.at[i] = s->state;
        gil.at[i] = s->gil;
        node.at[i] = s->stack == PT_PROFILE_NONE ? -1 : (int64_t)t->node_of_stack[s->stack];
    }
    pt_json_object(j, "samples");
    pt_json_i64(j, "time_step_ns", span.step_ns);
    column_write(&time, "time", j);
    column_write(&thread, "thread", j);
    column_write(&state, "state", j);
    column_write(&gil, "gil", j);
    column_write(&node, "node", j);
    write_values(p, j);
    pt_json_end(j);
}

/* Only for heap profiles: live bytes at the end of each step. */
static void write_timeline(const struct pt_profile *p, struct pt_json *j) {
    const struct pt_profile_timeline *t = &p->timeline;
    struct column values;
    if (t->count == 0) {
        pt_json_null(j, "timeline");
        return;
    }
    column_init(&values, t->count);
    memcpy(values.at, t->values, t->count * sizeof *t->values);
    pt_json_object(j, "timeline");
    pt_json_i64(j, "step_ns", t->step_ns);
    column_write(&values, "values", j);
    pt_json_end(j);
}

static void write_growth(const struct pt_call_tree *t, struct pt_json *j) {
    pt_json_array(j, "growth");
    for (size_t i = 0; i < t->profile->growth.count; i++) {
        const struct pt_profile_growth *g = &t->profile->growth.at[i];
        pt_json_object(j, NULL);
        pt_json_i64(j, "node", t->node_of_stack[g->stack]);
        pt_json_i64(j, "slope", g->slope);
        pt_json_i64(j, "slope_error", g->slope_error);
        pt_json_i64(j, "bytes", g->bytes);
        pt_json_i64(j, "count", g->count);
        pt_json_end(j);
    }
    pt_json_end(j);
}

void pt_profile_write_page_data(const struct pt_profile *p, struct pt_out *out) {
    struct pt_json j = { .out = out };
    struct pt_call_tree tree;
    pt_call_tree_init(&tree, p);
    pt_json_object(&j, NULL);
    pt_json_text(&j, "format", "pitot-flame");
    pt_json_i64(&j, "version", FORMAT_VERSION);
    pt_json_text(&j, "title", p->meta.title ? p->meta.title : "cpu");
    pt_json_bool(&j, "diff", pt_profile_is_diff(p));
    write_meta(p, &j);
    write_types(p, &j);
    write_enums(&j);
    write_threads(p, &j);
    write_modules(p, &j);
    write_labels(&tree, &j);
    write_nodes(&tree, &j);
    write_samples(&tree, &j);
    write_timeline(p, &j);
    write_growth(&tree, &j);
    pt_json_end(&j);
    pt_call_tree_release(&tree);
}

/* In JSON, '<' occurs only in strings; escaped, it cannot end the element that holds the data. */
static void write_inside_html(struct pt_out *out, struct pt_str json) {
    while (json.len > 0) {
        const char *found = memchr(json.at, '<', json.len);
        size_t plain = found ? (size_t)(found - json.at) : json.len;
        pt_out_bytes(out, json.at, plain);
        if (found)
            pt_out_text(out, "\\u003c");
        json = pt_str_skip(json, plain + (found != NULL));
    }
}

static void write_html(const struct pt_profile *p, struct pt_out *out) {
    struct pt_buf data = { 0 };
    struct pt_out memory;
    pt_out_memory(&memory, &data);
    pt_profile_write_page_data(p, &memory);
    (void)pt_out_close(&memory); /* memory does not fail */
    pt_out_text(out, pt_flame_page_head);
    write_inside_html(out, pt_buf_as_str(&data));
    pt_out_text(out, pt_flame_page_tail);
    pt_buf_release(&data);
}

const struct pt_profile_writer pt_html_writer = {
    ".html",
    "interactive flame graph, one file",
    write_html,
};
