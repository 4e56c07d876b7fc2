/* Finishes a recording after sampling. */
#include "profile/sample/recording.h"

#include "profile/model/classify.h"
#include "profile/sample/symbolize.h"

#include <stdio.h>

/* In debug information of glibc, names start with underscores. */
static bool is_timed_wait(const struct pt_profile *p, uint32_t function) {
    if (function == PT_PROFILE_NONE || p->functions.at[function].kind != PT_KIND_NATIVE)
        return false;
    struct pt_str name = pt_profile_text(p, p->functions.at[function].name);
    while (name.len > 0 && name.at[0] == '_')
        name = pt_str_skip(name, 1);
    return pt_str_starts(name, PT_STR("pthread_cond_timedwait")) ||
           pt_str_starts(name, PT_STR("pthread_cond_clockwait"));
}

/* In a stripped interpreter the function has no name; it may also be inlined into the evaluation
 * loop, which Python frames have replaced. */
static bool is_interpreter(const struct pt_profile *p, uint32_t frame) {
    const struct pt_profile_frame *f = &p->frames.at[frame];
    unsigned minor;
    if (pt_profile_frame_kind(p, frame) == PT_KIND_PYTHON)
        return true;
    return f->module != PT_PROFILE_NONE &&
           pt_python_is_file(pt_profile_text(p, p->modules.at[f->module].path), &minor);
}

/* The interpreter's other locks are semaphores: only the GIL is a timed wait on a condition
 * variable. Returns, for each stack, the stack that called the wait, or NONE. */
static uint32_t *find_callers(const struct pt_profile *p) {
    uint32_t *callers = pt_calloc(p->stacks.count + 1, sizeof *callers);
    for (size_t i = 0; i < p->stacks.count; i++) {
        uint32_t parent = p->stacks.at[i].parent;
        uint32_t function = p->frames.at[p->stacks.at[i].frame].function;
        callers[i] = parent == PT_PROFILE_NONE ? PT_PROFILE_NONE : callers[parent];
        if (parent != PT_PROFILE_NONE && is_timed_wait(p, function) &&
            is_interpreter(p, p->stacks.at[parent].frame))
            callers[i] = parent;
    }
    return callers;
}

void pt_gil_wait_mark(struct pt_profile *p) {
    uint32_t marker = PT_PROFILE_NONE, *callers = find_callers(p);
    for (size_t i = 0; i < p->samples.count; i++) {
        struct pt_profile_sample *s = &p->samples.at[i];
        uint32_t caller = s->stack == PT_PROFILE_NONE ? PT_PROFILE_NONE : callers[s->stack];
        if (caller == PT_PROFILE_NONE)
            continue;
        if (marker == PT_PROFILE_NONE)
            marker = pt_profile_marker(p, PT_STR("[GIL wait]"));
        s->state = PT_STATE_GIL;
        s->stack = pt_profile_stack(p, caller, marker);
    }
    pt_free(callers);
}

void pt_recording_finish(struct pt_recording *r, char *const *command, const pid_t *pids,
                         size_t count) {
    struct pt_profile *p = &r->profile;
    pt_symbolize(r);
    pt_classify(p, !r->is_off_cpu);
    if (r->is_off_cpu)
        pt_gil_wait_mark(p);
    if (command) {
        pt_profile_set_command(&p->meta, command);
        return;
    }
    size_t used = 0, size = sizeof p->meta.command;
    p->meta.command[0] = 0;
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(p->meta.command + used, size - used, i ? ", %d" : "pid %d",
                                 (int)pids[i]);
}
