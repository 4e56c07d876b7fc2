#include "format/trace/trace.h"

#include "base/digits.h"
#include "base/json.h"

#include <inttypes.h>
#include <math.h>

void pt_trace_begin(struct pt_trace *t, struct pt_out *out) {
    *t = (struct pt_trace){ .out = out };
    pt_out_text(out, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
}

void pt_trace_end(struct pt_trace *t) {
    pt_out_text(t->out, "\n]}\n");
}

static void put_u64(struct pt_out *out, const char *key, uint64_t value) {
    pt_out_text(out, key);
    pt_out_u64(out, value);
}

/* Microseconds: 1.500 */
static void put_time(struct pt_out *out, const char *key, int64_t ns) {
    pt_out_text(out, key);
    char *start = pt_out_reserve(out, PT_DIGITS_MAX + sizeof "-.000"), *at = start;
    uint64_t size_ns = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    *at = '-';
    at += ns < 0;
    at += pt_digits_u64(at, size_ns / 1000);
    uint64_t rest = size_ns % 1000;
    *at++ = '.';
    *at++ = (char)('0' + rest / 100);
    *at++ = (char)('0' + rest / 10 % 10);
    *at++ = (char)('0' + rest % 10);
    out->used += (size_t)(at - start);
}

/* Every event begins with this, up to the name. */
static void begin_event(struct pt_trace *t, struct pt_str phase, struct pt_str name, uint32_t pid) {
    pt_out_str(t->out, t->has_events ? PT_STR(",\n{\"ph\":\"") : PT_STR("\n{\"ph\":\""));
    t->has_events = true;
    pt_out_str(t->out, phase);
    pt_out_str(t->out, PT_STR("\",\"name\":"));
    pt_json_quote(t->out, name);
    put_u64(t->out, ",\"pid\":", pid);
}

void pt_trace_process(struct pt_trace *t, uint32_t pid, struct pt_str name) {
    begin_event(t, PT_STR("M"), PT_STR("process_name"), pid);
    pt_out_text(t->out, ",\"args\":{\"name\":");
    pt_json_quote(t->out, name);
    pt_out_text(t->out, "}}");
}

void pt_trace_thread(struct pt_trace *t, uint32_t pid, uint32_t thread, struct pt_str name,
                     uint32_t sort_index) {
    if (name.len > 0) {
        begin_event(t, PT_STR("M"), PT_STR("thread_name"), pid);
        put_u64(t->out, ",\"tid\":", thread);
        pt_out_text(t->out, ",\"args\":{\"name\":");
        pt_json_quote(t->out, name);
        pt_out_text(t->out, "}}");
    }
    begin_event(t, PT_STR("M"), PT_STR("thread_sort_index"), pid);
    put_u64(t->out, ",\"tid\":", thread);
    put_u64(t->out, ",\"args\":{\"sort_index\":", sort_index);
    pt_out_text(t->out, "}}");
}

static void put_arguments(struct pt_out *out, const struct pt_trace_span *span) {
    const char *before = ",\"args\":{\"";
    if (span->argument_key) {
        pt_out_text(out, before);
        pt_out_text(out, span->argument_key);
        pt_out_str(out, PT_STR("\":"));
        pt_out_i64(out, span->argument);
        before = ",\"";
    }
    if (span->text.len > 0) {
        pt_out_text(out, before);
        pt_out_str(out, PT_STR("text\":"));
        pt_json_quote(out, span->text);
        before = ",\"";
    }
    if (span->has_request) {
        pt_out_text(out, before);
        put_u64(out, "request\":", span->request);
    }
    pt_out_char(out, '}');
}

void pt_trace_span(struct pt_trace *t, const struct pt_trace_span *span) {
    begin_event(t, PT_STR("X"), span->name, span->pid);
    put_u64(t->out, ",\"tid\":", span->thread);
    put_time(t->out, ",\"ts\":", span->start_ns);
    put_time(t->out, ",\"dur\":", span->duration_ns > 0 ? span->duration_ns : 0);
    if (span->argument_key || span->text.len > 0 || span->has_request)
        put_arguments(t->out, span);
    pt_out_char(t->out, '}');
}

void pt_trace_counter(struct pt_trace *t, uint32_t pid, int64_t time_ns, struct pt_str name,
                      double value) {
    if (!isfinite(value))
        return;
    begin_event(t, PT_STR("C"), name, pid);
    put_time(t->out, ",\"ts\":", time_ns);
    pt_out_text(t->out, ",\"args\":{\"value\":");
    pt_out_f64(t->out, value);
    pt_out_text(t->out, "}}");
}

/* Readers parse the id as hexadecimal; some would lose bits of a number. */
void pt_trace_flow(struct pt_trace *t, enum pt_trace_flow_phase phase, uint64_t id, uint32_t pid,
                   uint32_t thread, int64_t time_ns) {
    static const struct pt_str phases[] = {
        [PT_FLOW_START] = { "s", 1 },
        [PT_FLOW_STEP] = { "t", 1 },
        [PT_FLOW_END] = { "f", 1 },
    };
    begin_event(t, phases[phase], PT_STR("request"), pid);
    put_u64(t->out, ",\"tid\":", thread);
    put_time(t->out, ",\"ts\":", time_ns);
    pt_out_printf(t->out, ",\"cat\":\"request\",\"id\":\"0x%" PRIx64 "\"", id);
    /* Binds to the enclosing span; the default is the next span to begin. */
    pt_out_text(t->out, phase == PT_FLOW_END ? ",\"bp\":\"e\"}" : "}");
}
