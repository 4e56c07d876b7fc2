#include "profile/run/heap_session.h"

#include "base/clock.h"
#include "base/log.h"
#include "profile/heap/leaks.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <uuid.h>

#define LIBRARY       "libpitot-heap.so"
#define READ_EVERY_MS 10  /* the ring of a process must not fill up within this time */
#define BUSY          0.1 /* above this fill level, rings are read again at once */
#define FIRST_SAVE_NS PT_NS_PER_SECOND
#define SAVE_EVERY_NS (5 * PT_NS_PER_SECOND)
#define SAVE_SHARE    50 /* saving takes at most 1/50 of the time */

static uint32_t add_process(void *state, const struct pt_preload_source *s) {
    return pt_heap_add_process(state, s);
}

static void read_process(void *state, uint32_t process, struct pt_preload_source *s, bool is_over) {
    pt_heap_read(state, process, s, is_over, pt_mono_ns());
}

int pt_heap_session_open(struct pt_heap_session *s, const struct pt_heap_session_options *o,
                         struct pt_err *err) {
    uuid_t uuid;
    char name[37];
    *s = (struct pt_heap_session){ .o = *o, .helper = { .save_path = o->save_path } };
    int rc = pt_preload_find(LIBRARY, s->library, sizeof s->library, err);
    if (rc)
        return rc;
    uuid_generate_random(uuid);
    uuid_unparse_lower(uuid, name);
    pt_regions_make(&s->regions, name);
    if (!s->regions.path[0])
        return pt_fail(err, -EIO, "cannot create a directory in /dev/shm");
    pt_heap_init(&s->heap, o->fs);
    pt_preload_files_init(&s->files, pt_fd_get(s->regions.fd), PT_HEAP_FILE_SUFFIX,
                          (struct pt_preload_files_reader){ add_process, read_process, &s->heap });
    s->is_open = true;
    return 0;
}

void pt_heap_session_set(const struct pt_heap_session *s, struct pt_environment *e) {
    pt_environment_preload(e, s->library);
    pt_environment_set(e, pt_asprintf(PT_HEAP_DIRECTORY "=%s", s->regions.path));
    pt_environment_set(e, pt_asprintf(PT_HEAP_MEAN "=%" PRIu64, s->o.mean_bytes));
    pt_environment_set(e, pt_asprintf(PT_HEAP_STACK "=%zu", s->o.stack_bytes));
    pt_environment_set(e, pt_asprintf(PT_HEAP_ARENAS "=%d", s->o.counts_mmap));
    if (s->o.wants_python_malloc)
        pt_environment_set(e, pt_asprintf("PYTHONMALLOC=malloc"));
}

static void describe(struct pt_heap_session *s) {
    struct pt_profile_meta *meta = &s->heap.recording.profile.meta;
    char mean[PT_LEAKS_BYTES_TEXT];
    pt_profile_set_command(meta, s->o.command);
    if (s->o.mean_bytes == 0)
        snprintf(meta->method, sizeof meta->method, "preload: every allocation");
    else
        snprintf(meta->method, sizeof meta->method, "preload: one sample per %s on average",
                 pt_leaks_bytes_text((double)s->o.mean_bytes, mean));
    meta->start_wall_ns = s->files.first_wall_ns;
}

/* Saves the current state without symbols: looking them up is slow and happens once, at the end. */
static void save(struct pt_heap_session *s, int64_t now_ns) {
    struct pt_profile *p = &s->heap.recording.profile;
    int64_t cpu_ns = pt_clock_ns(CLOCK_THREAD_CPUTIME_ID);
    describe(s);
    pt_heap_make(&s->heap, PT_HEAP_LIVE);
    p->meta.unnamed = 1;
    pt_helper_save(p);
    p->meta.unnamed = 0;
    int64_t pause_ns = SAVE_SHARE * (pt_clock_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns);
    s->next_save_ns = now_ns + (pause_ns > SAVE_EVERY_NS ? pause_ns : SAVE_EVERY_NS);
}

static void read_until_stopped(struct pt_heap_session *s) {
    bool is_busy = false;
    s->next_save_ns = pt_mono_ns() + FIRST_SAVE_NS;
    while (!pt_helper_must_stop(is_busy ? 0 : READ_EVERY_MS)) {
        pt_preload_files_look(&s->files);
        pt_preload_files_read(&s->files, false);
        is_busy = pt_preload_files_fill(&s->files) > BUSY;
        int64_t now_ns = pt_mono_ns();
        if (s->o.save_path && s->heap.sample_count > 0 && now_ns >= s->next_save_ns)
            save(s, now_ns);
    }
    pt_preload_files_look(&s->files);
    pt_preload_files_read(&s->files, true);
    pt_heap_advance(&s->heap, pt_mono_ns());
}

const char *pt_heap_session_nothing(const struct pt_heap_session *s) {
    if (s->files.seen_count == 0)
        return "nothing was recorded: no program loaded libpitot-heap.so "
               "(static and setuid programs cannot)";
    if (s->heap.sample_count > 0)
        return NULL;
    if (s->files.own_malloc_count == s->files.seen_count)
        return "nothing was recorded: the program has its own malloc, which cannot be replaced";
    return s->o.mean_bytes == 0
               ? "nothing was recorded: no memory was allocated"
               : "no samples: too little was allocated with malloc (use --heap all)";
}

static void run_helper(void *state) {
    struct pt_heap_session *s = state;
    struct pt_helper_report r = { .rc = 0 };
    struct pt_err no_names;
    if (pt_elf_check(&no_names)) /* loads the module: no code can be loaded later */
        pt_log(PT_LOG_DEBUG, "%s", no_names.text);
    r.unsealed = pt_confine_seal();
    if (!pt_helper_started(&r))
        return;
    read_until_stopped(s);
    if (s->files.sandboxed_count > 0)
        pt_log(PT_LOG_WARNING,
               "processes that entered a seccomp sandbox and were not recorded afterwards: %zu of "
               "%zu",
               s->files.sandboxed_count, s->files.seen_count);
    pt_helper_stopped();
    const char *why = pt_heap_session_nothing(s);
    if (why)
        r.rc = pt_fail(&r.err, -ENODATA, "%s", why);
    else if (s->files.own_malloc_count > 0)
        pt_log(PT_LOG_WARNING, "%zu of %zu processes have their own malloc and were not recorded",
               s->files.own_malloc_count, s->files.seen_count);
    if (!why) {
        describe(s);
        pt_heap_finish(&s->heap, s->o.metric);
    }
    pt_helper_done(&r, &s->heap.recording.profile);
}

int pt_heap_session_start(struct pt_heap_session *s, struct pt_err *err) {
    struct pt_helper_report r = { .rc = 0 };
    return pt_profile_helper_start(&s->helper, run_helper, s, s->o.fs, pt_fd_get(s->regions.fd), &r,
                                   err);
}

void pt_heap_session_release(struct pt_heap_session *s) {
    if (!s->is_open)
        return;
    pt_profile_helper_release(&s->helper);
    pt_preload_files_release(&s->files);
    pt_regions_remove(&s->regions);
    pt_heap_release(&s->heap);
    s->is_open = false;
}
