#include "profile/sample/preload_replay.h"

void pt_preloaded_begin(struct pt_recording *r, int32_t pid) {
    struct pt_perf_record exec = { .kind = PT_PERF_COMM, .pid = pid, .tid = pid };
    exec.comm.is_exec = true;
    exec.comm.name = PT_STR("");
    pt_recording_take(r, &exec, NULL);
}

void pt_preloaded_name(struct pt_recording *r, int32_t pid, const struct pt_preload_event *e) {
    struct pt_perf_record record = { .kind = PT_PERF_COMM, .pid = pid, .tid = e->thread };
    record.comm.name = pt_str_from(e->name);
    pt_recording_take(r, &record, NULL);
}

void pt_preloaded_maps(struct pt_recording *r, int32_t pid, const struct pt_preload_event *e) {
    pt_preloaded_name(r, pid, e);
    pt_recording_add_maps(r, pid, pt_scan_of(e->maps));
}

struct pt_perf_record pt_preloaded_sample(int32_t pid, const struct pt_preload_event *e) {
    struct pt_perf_record record = {
        .kind = PT_PERF_SAMPLE, .pid = pid, .tid = e->thread, .time_ns = e->mono_ns
    };
    record.sample.has_registers = true;
    record.sample.stack = (const uint8_t *)e->stack.at;
    record.sample.stack_size = e->stack.len;
    memcpy(record.sample.registers, e->registers, sizeof e->registers);
    return record;
}

bool pt_preloaded_is_lost(const struct pt_recording *r) {
    return r->frame_count > 0 && r->frames[r->frame_count - 1] == r->lost_frame;
}
