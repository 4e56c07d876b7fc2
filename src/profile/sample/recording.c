#include "profile/sample/recording.h"

#include "profile/unwind/generated.h"
#include "profile/names/jit_dump.h"
#include "profile/names/python_lines.h"
#include "profile/sample/python_merge.h"
#include "profile/unwind/registers.h"

#include <stdio.h>
#include <unistd.h>

#define STEPS 4096 /* a power of two; Python with torch has about a thousand addresses */

static const struct pt_profile_value_type cpu_types[] = { { "cpu", PT_PROFILE_SAMPLES },
                                                          { "time", PT_PROFILE_NANOSECONDS } };
static const struct pt_profile_value_type off_cpu_types[] = { { "wait", PT_PROFILE_NANOSECONDS },
                                                              { "count", PT_PROFILE_SAMPLES } };

void pt_recording_init(struct pt_recording *r, const struct pt_fs *fs, struct pt_pythons *pythons,
                       bool is_off_cpu, int64_t period_ns) {
    *r = (struct pt_recording){ .pythons = pythons,
                                .is_off_cpu = is_off_cpu,
                                .period_ns = period_ns,
                                .bare_frame = PT_PROFILE_NONE,
                                .steps = pt_calloc(STEPS, sizeof *r->steps),
                                .version = 1 };
    struct pt_profile *p = &r->profile;
    pt_profile_init(p, is_off_cpu ? off_cpu_types : cpu_types, 2);
    p->meta.title = is_off_cpu ? "off-cpu" : "cpu";
    p->meta.period_ns = period_ns;
    if (pythons)
        p->meta.python_wanted = p->meta.python_matched = p->meta.gil_known = p->meta.gil_held =
            p->meta.gil_contended = 0;
    pt_images_init(&r->images, fs, p);
    /* an incomplete stack must be recognizable */
    r->truncated_frame = pt_profile_marker(p, PT_STR("[stack cut short]"));
    r->lost_frame = pt_profile_marker(p, PT_STR("[caller unknown]"));
    r->unseen_frame = pt_profile_marker(p, PT_STR("[not sampled]"));
    r->kernel_module = pt_profile_module(
        p, (struct pt_profile_module){ pt_profile_string(p, PT_STR("[kernel]")), 0 });
}

void pt_recording_release(struct pt_recording *r) {
    for (size_t i = 0; i < r->space_count; i++)
        pt_space_release(&r->spaces[i]);
    for (size_t i = 0; i < r->dump_count; i++)
        pt_free(r->dumps[i].path);
    pt_free(r->dumps);
    pt_free(r->spaces);
    pt_free(r->threads);
    pt_free(r->steps);
    pt_intern_release(&r->space_index);
    pt_intern_release(&r->thread_index);
    pt_free(r->places);
    pt_intern_release(&r->place_index);
    pt_images_release(&r->images);
    pt_kernel_names_release(&r->kernel_names);
    pt_profile_release(&r->profile);
}

static bool is_space(const void *owner, uint32_t number, const void *key) {
    const struct pt_recording *r = owner;
    const int32_t *pid = key;
    return r->spaces[number].pid == *pid;
}

static void index_space(struct pt_recording *r, uint32_t number) {
    const int32_t *pid = &r->spaces[number].pid;
    (void)pt_intern_find(&r->space_index, pt_intern_hash(pid, sizeof *pid), is_space, r, pid,
                         number);
}

/* Removes processes that have ended; their samples are already in the profile. */
static void drop_ended(struct pt_recording *r) {
    size_t kept = 0;
    pt_intern_clear(&r->space_index);
    for (size_t i = 0; i < r->space_count; i++) {
        if (r->spaces[i].has_ended) {
            pt_space_release(&r->spaces[i]);
            continue;
        }
        r->spaces[kept] = r->spaces[i];
        index_space(r, (uint32_t)kept++);
    }
    r->space_count = kept;
    r->ended_count = 0;
}

static void set_ended(struct pt_recording *r, struct pt_space *space, bool has_ended) {
    r->ended_count += has_ended;
    r->ended_count -= space->has_ended;
    space->has_ended = has_ended;
}

struct pt_space *pt_recording_space(struct pt_recording *r, int32_t pid) {
    uint32_t hash = pt_intern_hash(&pid, sizeof pid);
    uint32_t number = pt_intern_find(&r->space_index, hash, is_space, r, &pid, PT_INTERN_NONE);
    return number != PT_INTERN_NONE ? &r->spaces[number] : NULL;
}

/* NULL: not known yet, and there are too many at a time. */
static struct pt_space *space_of(struct pt_recording *r, int32_t pid) {
    struct pt_space *known = pt_recording_space(r, pid);
    if (known)
        return known;
    if (r->space_count >= PT_RECORDING_SPACES_MAX && r->ended_count > 0)
        drop_ended(r);
    if (r->space_count >= PT_RECORDING_SPACES_MAX)
        return NULL;
    pt_grow(&r->spaces, &r->space_capacity, r->space_count + 1, sizeof *r->spaces);
    struct pt_space *space = &r->spaces[r->space_count++];
    *space = (struct pt_space){ .pid = pid };
    index_space(r, (uint32_t)r->space_count - 1);
    return space;
}

static bool is_thread(const void *owner, uint32_t number, const void *key) {
    const struct pt_recording *r = owner;
    const int32_t *tid = key;
    return r->threads[number].tid == *tid;
}

/* At the limit a new thread makes it forget all others: names are lost, samples are not. */
static struct pt_recording_thread *thread_of(struct pt_recording *r, int32_t pid, int32_t tid) {
    uint32_t hash = pt_intern_hash(&tid, sizeof tid);
    uint32_t known = pt_intern_find(&r->thread_index, hash, is_thread, r, &tid, PT_INTERN_NONE);
    if (known != PT_INTERN_NONE)
        return &r->threads[known];
    if (r->thread_count >= PT_RECORDING_THREADS_MAX) {
        pt_intern_clear(&r->thread_index);
        r->thread_count = 0;
    }
    pt_grow(&r->threads, &r->thread_capacity, r->thread_count + 1, sizeof *r->threads);
    struct pt_recording_thread *thread = &r->threads[r->thread_count];
    *thread = (struct pt_recording_thread){ .pid = pid, .tid = tid, .thread = PT_PROFILE_NONE };
    (void)pt_intern_find(&r->thread_index, hash, is_thread, r, &tid, (uint32_t)r->thread_count++);
    return thread;
}

static uint32_t profile_thread(struct pt_recording *r, int32_t pid, int32_t tid) {
    uint32_t process = thread_of(r, pid, pid)->name;
    struct pt_recording_thread *t = thread_of(r, pid, tid);
    if (t->thread == PT_PROFILE_NONE)
        t->thread = pt_profile_thread(&r->profile, (struct pt_profile_thread){
                                                       .pid = pid,
                                                       .tid = tid,
                                                       .name = t->name ? t->name : process,
                                                       .process = process,
                                                   });
    return t->thread;
}

static void set_name(struct pt_recording *r, int32_t pid, int32_t tid, struct pt_str name) {
    struct pt_recording_thread *t = thread_of(r, pid, tid);
    t->pid = pid;
    t->name = pt_profile_string(&r->profile, name);
    t->thread = PT_PROFILE_NONE;
}

/* Code without a file is named after its process, because a JIT has one map file per process. */
static struct pt_image *image_for(struct pt_recording *r, int32_t pid, struct pt_str path,
                                  const uint8_t *build_id, size_t build_id_size) {
    char name[32];
    if (path.len > 0 && path.at[0] == '/' && !pt_str_starts(path, PT_STR("//")) &&
        !pt_str_starts(path, PT_STR("/memfd:")) && !pt_str_starts(path, PT_STR("/dev/zero")))
        return pt_images_find(&r->images, path, build_id, build_id_size);
    if (pt_str_eq(path, PT_STR("[vdso]")))
        return pt_images_find(&r->images, path, NULL, 0);
    int n = snprintf(name, sizeof name, "[pid %d]", (int)pid);
    return pt_images_find(&r->images, (struct pt_str){ name, (size_t)n }, NULL, 0);
}

static bool find_symbol(const struct pt_elf *elf, const char *name, uint64_t bias,
                        uint64_t *address) {
    bool is_found = elf->module->find_symbol(elf->state, name, address);
    if (!is_found && strcmp(name, "_PyRuntime") == 0)
        is_found = elf->module->find_section(elf->state, ".PyRuntime", address);
    *address -= bias;
    return is_found;
}

static void find_bias(struct pt_recording *r, int32_t pid, struct pt_mapping *m);

/* An executable with its interpreter in a library has no _PyRuntime. */
static void notice_python(struct pt_recording *r, int32_t pid, struct pt_mapping m) {
    struct pt_python_place place = { 0 };
    if (!r->pythons || !pt_python_is_file(pt_str_from(m.image->path), &place.minor))
        return;
    find_bias(r, pid, &m);
    if (!m.image->elf.state || !find_symbol(&m.image->elf, "_PyRuntime", m.bias, &place.runtime))
        return;
    if (!find_symbol(&m.image->elf, "Py_Version", m.bias, &place.version_address))
        place.version_address = 0;
    pt_pythons_add(r->pythons, pid, place);
}

const char *pt_recording_jit_dump(const struct pt_recording *r, int32_t pid) {
    for (size_t i = r->dump_count; i > 0; i--)
        if (r->dumps[i - 1].pid == pid)
            return r->dumps[i - 1].path;
    return NULL;
}

static void map(struct pt_recording *r, int32_t pid, const struct pt_perf_mmap *m) {
    struct pt_space *space = space_of(r, pid);
    if (pt_jit_dump_is_path(m->path) && r->dump_count < PT_RECORDING_SPACES_MAX) {
        pt_grow(&r->dumps, &r->dump_capacity, r->dump_count + 1, sizeof *r->dumps);
        r->dumps[r->dump_count++] = (struct pt_recording_dump){ pid, pt_strndup(m->path) };
    }
    if (!space || m->length > UINT64_MAX - m->start)
        return;
    struct pt_image *image = image_for(r, pid, m->path, m->build_id, m->build_id_size);
    struct pt_mapping mapping = { .start = m->start,
                                  .end = m->start + m->length,
                                  .file_offset = m->file_offset,
                                  .image = image };
    if (pt_space_has(space, &mapping))
        return;
    pt_space_map(space, mapping);
    r->version++;
    notice_python(r, pid, mapping);
}

/* Most mappings are never sampled, so files are opened when needed. */
static void find_bias(struct pt_recording *r, int32_t pid, struct pt_mapping *m) {
    uint64_t address;
    m->has_bias = true;
    if (pt_image_open(&r->images, m->image, pid) &&
        m->image->elf.module->address_of(m->image->elf.state, m->file_offset, &address))
        m->bias = address - m->start;
}

static void take_fork(struct pt_recording *r, const struct pt_perf_record *record) {
    int32_t pid = record->pid, parent = record->parent_pid;
    uint32_t name = thread_of(r, parent, parent)->name;
    *thread_of(r, pid, record->tid) = (struct pt_recording_thread){
        .pid = pid, .tid = record->tid, .name = name, .thread = PT_PROFILE_NONE
    };
    if (pid == parent || !space_of(r, pid) || !space_of(r, parent))
        return;
    /* looking up one may move the other */
    struct pt_space *child = space_of(r, pid), *from = space_of(r, parent);
    set_ended(r, child, false);
    pt_space_copy(child, from);
    r->version++;
    if (r->pythons)
        pt_pythons_fork(r->pythons, pid, parent);
}

static void take_comm(struct pt_recording *r, const struct pt_perf_record *record) {
    if (record->comm.is_exec) {
        struct pt_space *space = space_of(r, record->pid);
        if (space)
            pt_space_clear(space);
        r->version++;
        if (r->pythons)
            pt_pythons_remove(r->pythons, record->pid);
    }
    set_name(r, record->pid, record->tid, record->comm.name);
}

static void take_exit(struct pt_recording *r, const struct pt_perf_record *record) {
    struct pt_space *space = record->pid == record->tid ? space_of(r, record->pid) : NULL;
    if (space)
        set_ended(r, space, true);
    if (space && r->pythons)
        pt_pythons_remove(r->pythons, record->pid);
    thread_of(r, record->pid, record->tid)->out_ns = 0;
}

static void add_frame(struct pt_recording *r, uint32_t frame, bool is_eval) {
    r->frames[r->frame_count] = frame;
    r->is_eval[r->frame_count++] = is_eval;
}

static void add_kernel(struct pt_recording *r, const struct pt_perf_sample *s) {
    if (s->kernel_count > 0)
        pt_kernel_names_begin(&r->kernel_names, r->images.fs->proc);
    for (size_t i = 0; i < s->kernel_count; i++) {
        struct pt_profile_frame f = { .function = PT_PROFILE_NONE,
                                      .module = r->kernel_module,
                                      .address = s->kernel[i] - (i > 0) };
        add_frame(r, pt_profile_frame(&r->profile, f), false);
    }
}

static void add_unmapped(struct pt_recording *r, uint64_t pc) {
    struct pt_profile_frame f = { .function = PT_PROFILE_NONE,
                                  .module = PT_PROFILE_NONE,
                                  .address = pc };
    add_frame(r, pt_profile_frame(&r->profile, f), false);
}

/* NULL: nothing is mapped at `pc`, or a file must be read. */
static const struct pt_recording_step *find_step(struct pt_recording *r,
                                                 const struct pt_space *space, uint64_t pc) {
    uint64_t hash = (pc ^ (uint64_t)space->pid << 40) * UINT64_C(0x9e3779b97f4a7c15);
    struct pt_recording_step *step = &r->steps[hash >> 32 & (STEPS - 1)];
    if (step->pc == pc && step->version == r->version && step->pid == space->pid)
        return step;
    struct pt_mapping *m = pt_space_find(space, pc);
    const struct pt_place *place = NULL;
    if (m && r->is_hurried) { /* there is no time to read a file */
        place = m->has_bias ? pt_image_known_place(m->image, pc + m->bias) : NULL;
    } else if (m) {
        if (!m->has_bias)
            find_bias(r, space->pid, m);
        place = pt_image_place(&r->images, m->image, pc + m->bias);
    }
    r->needs_file = m && !place;
    if (!place)
        return NULL;
    bool is_generated = !m->image->elf.state;
    bool is_settled = !is_generated || place->is_read;
    *step = (struct pt_recording_step){ .pc = pc,
                                        .pid = space->pid,
                                        .version = is_settled ? r->version : 0,
                                        .frame = place->frame,
                                        .is_python_eval = place->is_python_eval,
                                        .is_generated = is_generated,
                                        .is_read = place->is_read,
                                        .rule = place->rule };
    return step;
}

/* Unwinds code without rules, which the program has generated. */
static enum pt_unwind_end leave_generated(struct pt_recording *r, const struct pt_space *space,
                                          struct pt_unwind_state *s,
                                          const struct pt_recording_step *step) {
    struct pt_unwind_state caller = *s;
    struct pt_unwind_rule rule = step->rule;
    if (pt_unwind_step(&caller, &rule) == PT_UNWIND_MORE &&
        pt_space_find(space, pt_unwind_lookup_pc(&caller))) {
        *s = caller;
        return PT_UNWIND_MORE;
    }
    r->needs_file = r->is_hurried && !step->is_read; /* or memory of the process */
    if (r->needs_file)
        return PT_UNWIND_LOST;
    if (step->is_read)
        return pt_unwind_step_fp(s);
    /* searched once per address: the result will be the same next time */
    uint64_t pc = pt_unwind_lookup_pc(s);
    const struct pt_mapping *m = pt_space_find(space, pc);
    struct pt_place *place = pt_image_place(&r->images, m->image, pc + m->bias);
    place->is_read = true;
    if (!pt_generated_rule(space, s, &rule))
        return pt_unwind_step_fp(s);
    place->rule = rule;
    return pt_unwind_step(s, &rule);
}

static enum pt_unwind_end go_to_caller(struct pt_recording *r, const struct pt_space *space,
                                       struct pt_unwind_state *s) {
    uint64_t pc = pt_unwind_lookup_pc(s);
    const struct pt_recording_step *step = find_step(r, space, pc);
    if (!step) {
        /* an unmapped return address results from a wrong step and is not a frame */
        if (s->is_exact_pc)
            add_unmapped(r, pc);
        return s->is_exact_pc ? pt_unwind_step_fp(s) : PT_UNWIND_LOST;
    }
    add_frame(r, step->frame, step->is_python_eval);
    if (step->is_generated)
        return leave_generated(r, space, s, step);
    if (step->rule.kind == PT_RULE_NONE)
        return pt_unwind_step_fp(s);
    return pt_unwind_step(s, &step->rule);
}

/* False: a file must be read. */
static bool unwind(struct pt_recording *r, const struct pt_space *space,
                   const struct pt_perf_sample *sample) {
    struct pt_unwind_state s = { .is_exact_pc = true,
                                 .stack = sample->stack,
                                 .stack_size = sample->stack_size };
    enum pt_unwind_end end = PT_UNWIND_MORE;
    pt_registers_load(sample->registers, s.registers);
    s.stack_start = s.registers[PT_REGISTER_SP];
    size_t limit = r->frame_count + PT_RECORDING_DEPTH_MAX;
    r->needs_file = false;
    while (end == PT_UNWIND_MORE && r->frame_count < limit && !r->needs_file)
        end = go_to_caller(r, space, &s);
    if (r->needs_file)
        return false;
    bool is_truncated = end == PT_UNWIND_TRUNCATED || end == PT_UNWIND_MORE;
    r->profile.meta.unwound++;
    r->profile.meta.rooted += end == PT_UNWIND_ROOT;
    r->profile.meta.truncated += is_truncated;
    if (end != PT_UNWIND_ROOT)
        add_frame(r, is_truncated ? r->truncated_frame : r->lost_frame, false);
    return true;
}

static bool is_place(const void *owner, uint32_t number, const void *key) {
    const struct pt_recording *r = owner;
    return memcmp(&r->places[number], key, offsetof(struct pt_recording_python, frames)) == 0;
}

/* "<module>" alone says little, so the file name is added. */
static uint32_t python_name(struct pt_profile *p, const struct pt_python_code *code) {
    char text[1024];
    const char *slash = strrchr(code->file, '/');
    int n = code->name[0] == '<'
                ? snprintf(text, sizeof text, "%s (%s)", code->name, slash ? slash + 1 : code->file)
                : -1;
    bool fits = n > 0 && (size_t)n < sizeof text;
    return pt_profile_string(p,
                             fits ? (struct pt_str){ text, (size_t)n } : pt_str_from(code->name));
}

static void make_python_place(struct pt_recording *r, struct pt_recording_python *place) {
    struct pt_profile *p = &r->profile;
    const struct pt_python_code *code = pt_pythons_code(r->pythons, place->code);
    if (!code)
        return;
    struct pt_profile_frame f = { .module = PT_PROFILE_NONE };
    f.function = pt_profile_function(
        p, (struct pt_profile_function){ .name = python_name(p, code),
                                         .module = PT_PROFILE_NONE,
                                         .file = pt_profile_string(p, pt_str_from(code->file)),
                                         .line = code->first_line,
                                         .kind = PT_KIND_PYTHON });
    f.line = pt_python_line(code->lines, pt_buf_as_str(&code->table), code->first_line,
                            place->instruction);
    place->frames[0] = pt_profile_frame(p, f);
    f.flags = PT_FRAME_APPROXIMATE;
    place->frames[1] = pt_profile_frame(p, f);
}

static uint32_t python_frame(struct pt_recording *r, const struct pt_python_entry *e,
                             bool is_matched) {
    struct pt_recording_python place = { .code = e->code,
                                         .instruction = e->instruction,
                                         .frames = { PT_PROFILE_NONE, PT_PROFILE_NONE } };
    if (e->code == UINT32_MAX)
        return PT_PROFILE_NONE;
    uint32_t next = (uint32_t)r->place_count;
    uint32_t hash = pt_intern_hash(&place, offsetof(struct pt_recording_python, frames));
    uint32_t number = pt_intern_find(&r->place_index, hash, is_place, r, &place, next);
    if (number == next) {
        make_python_place(r, &place);
        pt_grow(&r->places, &r->place_capacity, r->place_count + 1, sizeof *r->places);
        r->places[r->place_count++] = place;
    }
    return r->places[number].frames[!is_matched];
}

static size_t count_evals(const struct pt_recording *r) {
    size_t count = 0;
    for (size_t i = 0; i < r->frame_count; i++)
        count += r->is_eval[i];
    return count;
}

/* Without native frames there is nothing to compare; the reader decides whether they are certain.
 */
static void merge_python(struct pt_recording *r, struct pt_str bytes, bool is_certain) {
    struct pt_python_entry entries[PT_PYTHON_DEPTH_MAX] = { 0 };
    uint32_t frames[PT_PYTHON_DEPTH_MAX], merged[PT_RECORDING_FRAMES_MAX];
    size_t count = bytes.len / sizeof *entries;
    count = count < PT_PYTHON_DEPTH_MAX ? count : PT_PYTHON_DEPTH_MAX;
    if (count > 0)
        memcpy(entries, bytes.at, count * sizeof *entries);
    bool is_alone = r->frame_count == 0;
    bool is_cut = is_alone || r->frames[r->frame_count - 1] == r->truncated_frame;
    struct pt_native_stack native = { r->frames, r->is_eval, r->frame_count, is_cut };
    bool is_matched = is_alone ? is_certain : pt_python_matches(&native, entries, count);
    for (size_t i = 0; i < count; i++)
        frames[i] = python_frame(r, &entries[i], is_matched);
    r->gil = entries[0].flags >> PT_PYTHON_GIL_SHIFT & PT_GIL_CONTENDED;
    r->profile.meta.python_wanted++;
    r->profile.meta.python_matched += is_matched;
    r->frame_count = pt_python_merge(&native, &(struct pt_python_part){ entries, frames, count },
                                     merged, PT_RECORDING_FRAMES_MAX);
    memcpy(r->frames, merged, r->frame_count * sizeof *merged);
}

/* From the root to the leaf. Most samples share their callers with the previous one. */
static uint32_t make_stack(struct pt_recording *r) {
    uint32_t stack = PT_PROFILE_NONE;
    bool is_same = true;
    for (size_t depth = 0; depth < r->frame_count; depth++) {
        struct pt_recording_path *p = &r->path[depth];
        uint32_t frame = r->frames[r->frame_count - 1 - depth];
        is_same = is_same && depth < r->path_count && p->frame == frame;
        if (!is_same)
            *p = (struct pt_recording_path){ frame, pt_profile_stack(&r->profile, stack, frame) };
        stack = p->stack;
    }
    r->path_count = r->frame_count;
    return stack;
}

static void add_sample(struct pt_recording *r, const struct pt_perf_record *record, uint32_t stack,
                       uint32_t gil, int64_t first, int64_t second) {
    struct pt_profile_sample sample = {
        .time_ns = record->time_ns,
        .thread = profile_thread(r, record->pid, record->tid),
        .stack = stack,
        .cpu = record->cpu < UINT16_MAX ? (uint16_t)record->cpu : UINT16_MAX,
        .gil = gil,
    };
    /* a heap profile has more values, but only the sample itself is used there */
    const int64_t values[PT_PROFILE_VALUES_MAX] = { first, second };
    if (!pt_profile_sample(&r->profile, &sample, values))
        return;
    r->profile.meta.gil_known += (gil & PT_GIL_KNOWN) != 0;
    r->profile.meta.gil_held += (gil & PT_GIL_HELD) != 0;
    r->profile.meta.gil_contended += gil == PT_GIL_CONTENDED;
}

static void add_periods(struct pt_recording *r, const struct pt_perf_record *record, uint32_t stack,
                        uint32_t gil) {
    int64_t periods = 1 + (int64_t)record->sample.missed;
    add_sample(r, record, stack, gil, periods, periods * r->period_ns);
}

/* The thread is most likely still where it was last sampled. */
static void take_rest(struct pt_recording *r, const struct pt_perf_record *record) {
    struct pt_recording_thread *t = thread_of(r, record->pid, record->tid);
    bool is_seen = t->has_last && t->pid == record->pid;
    uint32_t stack =
        is_seen ? t->last_stack : pt_profile_stack(&r->profile, PT_PROFILE_NONE, r->unseen_frame);
    add_periods(r, record, stack, 0);
    /* the thread has ended: the next one with this id is another thread */
    thread_of(r, record->pid, record->tid)->has_last = false;
}

static bool take_sample(struct pt_recording *r, const struct pt_perf_record *record,
                        const struct pt_perf_record *python) {
    const struct pt_space *space = space_of(r, record->pid);
    r->frame_count = 0;
    r->gil = 0;
    add_kernel(r, &record->sample);
    if (record->sample.has_registers && space && !unwind(r, space, &record->sample))
        return false;
    if (r->pythons && (python || count_evals(r) > 0))
        merge_python(r, python ? python->python : PT_STR(""), python && python->is_certain);
    if (r->frame_count == 0 && r->bare_frame != PT_PROFILE_NONE)
        add_frame(r, r->bare_frame, false);
    uint32_t stack = make_stack(r);
    struct pt_recording_thread *t = thread_of(r, record->pid, record->tid);
    t->last_stack = stack;
    t->last_gil = r->gil;
    t->has_last = true;
    if (r->is_off_cpu)
        t->out_ns = record->time_ns;
    else
        add_periods(r, record, stack, r->gil);
    return true;
}

bool pt_recording_take_known(struct pt_recording *r, const struct pt_perf_record *record) {
    r->is_hurried = true;
    bool is_taken = take_sample(r, record, NULL);
    r->is_hurried = false;
    return is_taken;
}

uint32_t pt_recording_stack(struct pt_recording *r, int32_t pid, const uint64_t *addresses,
                            size_t count, uint32_t marker, struct pt_str python) {
    const struct pt_space *space = space_of(r, pid);
    r->frame_count = 0;
    for (size_t i = 0; space && i < count && i < PT_RECORDING_DEPTH_MAX; i++) {
        struct pt_mapping *m = pt_space_find(space, addresses[i]);
        if (!m) {
            add_unmapped(r, addresses[i]);
            continue;
        }
        if (!m->has_bias)
            find_bias(r, pid, m);
        const struct pt_place *place = pt_image_place(&r->images, m->image, addresses[i] + m->bias);
        add_frame(r, place->frame, place->is_python_eval);
    }
    if (marker != PT_PROFILE_NONE)
        add_frame(r, marker, false);
    if (r->pythons && (python.len > 0 || count_evals(r) > 0))
        merge_python(r, python, false);
    return make_stack(r);
}

/* A preempted thread does not wait for anything. */
static void take_switch(struct pt_recording *r, const struct pt_perf_record *record) {
    struct pt_recording_thread *t = thread_of(r, record->pid, record->tid);
    if (!r->is_off_cpu || t->out_ns == 0)
        return;
    if (record->change.is_out) {
        if (record->change.is_preempted)
            t->out_ns = 0;
        return;
    }
    int64_t waited_ns = record->time_ns - t->out_ns;
    uint32_t stack = t->last_stack, gil = t->last_gil;
    t->out_ns = 0;
    if (waited_ns > 0)
        add_sample(r, record, stack, gil, waited_ns, 1);
}

void pt_recording_end(struct pt_recording *r, int64_t now_ns) {
    for (size_t i = 0; i < r->thread_count; i++) {
        struct pt_perf_record in = { .kind = PT_PERF_SWITCH,
                                     .pid = r->threads[i].pid,
                                     .tid = r->threads[i].tid,
                                     .time_ns = now_ns,
                                     .cpu = UINT16_MAX };
        take_switch(r, &in);
    }
}

void pt_recording_take(struct pt_recording *r, const struct pt_perf_record *record,
                       const struct pt_perf_record *next) {
    switch (record->kind) {
    case PT_PERF_SAMPLE:
        if (record->sample.is_rest)
            take_rest(r, record);
        else
            (void)take_sample(r, record, next);
        break;
    case PT_PERF_MMAP:
        if (record->mmap.is_executable)
            map(r, record->pid, &record->mmap);
        break;
    case PT_PERF_COMM:
        take_comm(r, record);
        break;
    case PT_PERF_FORK:
        take_fork(r, record);
        break;
    case PT_PERF_EXIT:
        take_exit(r, record);
        break;
    case PT_PERF_LOST:
        r->profile.meta.lost += (int64_t)record->lost_count;
        break;
    case PT_PERF_SWITCH:
        take_switch(r, record);
        break;
    default:
        break;
    }
}

void pt_recording_add_maps(struct pt_recording *r, int32_t pid, struct pt_scan lines) {
    struct pt_scan line;
    struct pt_maps_line m;
    while (pt_scan_line(&lines, &line))
        if (pt_maps_parse(line, &m) && m.is_executable)
            map(r, pid,
                &(struct pt_perf_mmap){ .start = m.start,
                                        .length = m.end - m.start,
                                        .file_offset = m.file_offset,
                                        .path = m.path });
}

void pt_recording_add_names(struct pt_recording *r, int32_t pid) {
    char path[64], name[64];
    snprintf(path, sizeof path, "%d/task", (int)pid);
    DIR *tasks = pt_fs_list(r->images.fs->proc, path);
    for (struct dirent *e; tasks && (e = readdir(tasks));) {
        struct pt_scan s = pt_scan_of(pt_str_from(e->d_name));
        int64_t tid = pt_scan_i64(&s);
        snprintf(path, sizeof path, "%d/task/%.20s/comm", (int)pid, e->d_name);
        if (!s.failed && !pt_fs_read_line(r->images.fs->proc, path, name, sizeof name))
            set_name(r, pid, (int32_t)tid, pt_str_from(name));
    }
    if (tasks)
        closedir(tasks);
}

bool pt_recording_add_process(struct pt_recording *r, int32_t pid) {
    struct pt_text text = { 0 };
    struct pt_scan maps;
    char path[32];
    pt_recording_add_names(r, pid);
    snprintf(path, sizeof path, "%d/maps", (int)pid);
    /* for a process that has ended, maps are empty */
    bool has_maps = !pt_fs_read(r->images.fs->proc, path, &text, &maps) && maps.at < maps.end;
    if (has_maps)
        pt_recording_add_maps(r, pid, maps);
    pt_text_release(&text);
    return has_maps;
}
