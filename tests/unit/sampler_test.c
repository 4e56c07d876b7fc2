/* The sampler: single ticks on live and mock trees, and the thread. */
#include "tree.h"

#include "sampler/sampler.h"
#include "base/clock.h"
#include "base/log.h"

#include <errno.h>
#include <poll.h>
#include <sys/resource.h>

struct run {
    struct tree tree;
    struct pt_fs fs;
    struct pt_target target;
    struct pt_sampler sampler;
    struct pt_sample sample;
};

static const char host[] = "cpu,mem,disk,net,pressure";

static bool is_named(const char *list, const char *name) {
    size_t length = strlen(name);
    for (const char *at = strstr(list, name); at; at = strstr(at + 1, name))
        if ((at == list || at[-1] == ',') && (at[length] == ',' || at[length] == 0))
            return true;
    return false;
}

static void open_sampler(struct run *r, const char *collectors, int64_t interval_ns,
                         const char *proc, const char *sys) {
    struct pt_err err = { "" };
    struct pt_sampler_options options = {
        .interval_ns = interval_ns, .fs = &r->fs, .target = &r->target, .fd_budget = 100
    };
    for (int i = 0; pt_collectors[i]; i++)
        options.is_enabled[i] = is_named(collectors, pt_collectors[i]->name);
    if (pt_fs_open(&r->fs, proc, sys, "/", &err) || pt_sampler_init(&r->sampler, &options, &err) ||
        pt_sampler_open(&r->sampler, &err))
        fail_msg("%s", err.text);
    pt_sample_init(&r->sample, &r->sampler.schema);
}

static struct run *start_live(const char *collectors, int64_t interval_ns) {
    struct run *r = pt_calloc(1, sizeof *r);
    open_sampler(r, collectors, interval_ns, "/proc", "/sys");
    return r;
}

/* On the mock machine, where the process `recorded` (or 0) is the recorded one. */
static struct run *start_recording(const char *collectors, pid_t recorded) {
    struct run *r = pt_calloc(1, sizeof *r);
    r->target = (struct pt_target){ .pids = { recorded }, .pid_count = recorded > 0 };
    char proc[PATH_MAX], sys[PATH_MAX];
    tree_make(&r->tree);
    tree_generate(&r->tree);
    pt_str_copy(proc, sizeof proc, pt_str_from(tree_path(&r->tree, "proc")));
    pt_str_copy(sys, sizeof sys, pt_str_from(tree_path(&r->tree, "sys")));
    open_sampler(r, collectors, PT_NS_PER_SECOND, proc, sys);
    return r;
}

static struct run *start_on_tree(const char *collectors) {
    return start_recording(collectors, 0);
}

static void finish(struct run *r) {
    pt_sample_release(&r->sample);
    pt_sampler_release(&r->sampler);
    pt_fs_close(&r->fs);
    if (r->tree.root[0])
        tree_remove(&r->tree);
    pt_free(r);
}

static void tick(struct run *r) {
    pt_sample_clear(&r->sample);
    pt_sampler_tick(&r->sampler, &r->sample);
}

static const struct pt_batch *batch_in(const struct pt_sample *sample, const char *table) {
    int i = pt_schema_find(sample->schema, table);
    assert_true(i >= 0);
    return &sample->batches[i];
}

static const struct pt_batch *batch(const struct run *r, const char *table) {
    return batch_in(&r->sample, table);
}

static bool is_null(const struct pt_batch *b, uint32_t row, const char *column) {
    return pt_is_null(b, row, pt_table_find(b->table, column));
}

static int64_t cell(const struct pt_batch *b, uint32_t row, const char *column) {
    assert_false(is_null(b, row, column));
    return pt_get_i64(b, row, pt_table_find(b->table, column));
}

/* The row of Pitot's own table with that name; -1 if there is none. */
static int self_row(const struct pt_sample *sample, const char *name) {
    const struct pt_batch *b = batch_in(sample, "collector");
    for (uint32_t row = 0; row < b->row_count; row++)
        if (pt_str_eq(pt_get_str(b, row, 0), pt_str_from(name)))
            return (int)row;
    return -1;
}

static struct pt_str event_text(const struct run *r, const char *name) {
    int row = self_row(&r->sample, name);
    if (row < 0)
        return PT_STR("");
    const struct pt_batch *b = batch(r, "collector");
    return pt_get_str(b, (uint32_t)row, pt_table_find(b->table, "colAction"));
}

/* Ticks */

static void check_steady_ticks(struct run *r) {
    for (int i = 0; i < 3; i++)
        tick(r); /* buffers find their size, also for the rows of the report */
    uint64_t before = pt_mem_allocation_count();
    for (int i = 0; i < 50; i++) {
        tick(r);
        assert_int_equal(batch(r, "cpu")->row_count, 1);
    }
    assert_int_equal(pt_mem_allocation_count(), before);
}

static void a_steady_tick_allocates_nothing(void **state) {
    (void)state;
    struct run *r = start_on_tree(host);
    check_steady_ticks(r);
    finish(r);
    r = start_live(host, PT_NS_PER_SECOND);
    check_steady_ticks(r);
    finish(r);
}

static void the_first_tick_tells_what_pitot_costs(void **state) {
    (void)state;
    struct run *r = start_live(host, PT_NS_PER_SECOND);
    tick(r);
    const struct pt_batch *b = batch(r, "collector");
    int pitot = self_row(&r->sample, "pitot"), cpu = self_row(&r->sample, "cpu");
    assert_true(pitot >= 0 && cpu >= 0);
    assert_true(cell(b, (uint32_t)pitot, "colCpuTime") > 0);
    assert_true(cell(b, (uint32_t)pitot, "colRss") > 100000);
    assert_int_equal(cell(b, (uint32_t)cpu, "colCalls"), 1);
    assert_int_equal(cell(b, (uint32_t)cpu, "colErrors"), 0);
    assert_true(cell(b, (uint32_t)cpu, "colTime") > 0);
    tick(r); /* not again so soon */
    assert_int_equal(self_row(&r->sample, "pitot"), -1);
    finish(r);
}

static int64_t reported_descriptors(void) {
    struct run *r = start_live("mem", PT_NS_PER_SECOND);
    tick(r);
    int row = self_row(&r->sample, "pitot");
    int64_t count = cell(batch(r, "collector"), (uint32_t)row, "colDescriptors");
    finish(r);
    return count;
}

/* The lowest free one does not tell: close one at the start and it is far too low. */
static void descriptors_are_counted(void **state) {
    (void)state;
    int64_t before = reported_descriptors();
    int fds[20];
    for (int i = 0; i < 20; i++)
        fds[i] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    close(fds[0]);
    assert_int_equal(reported_descriptors(), before + 19);
    for (int i = 1; i < 20; i++)
        close(fds[i]);
}

static void on_a_captured_tree_pitots_descriptors_are_unknown(void **state) {
    (void)state;
    struct run *r = start_on_tree("mem");
    tick(r);
    int row = self_row(&r->sample, "pitot");
    assert_true(is_null(batch(r, "collector"), (uint32_t)row, "colDescriptors"));
    finish(r);
}

/* Clocks */

static void a_set_clock_is_an_event(void **state) {
    (void)state;
    struct run *r = start_live("mem", PT_NS_PER_SECOND);
    tick(r);
    tick(r);
    assert_int_equal(self_row(&r->sample, "clock"), -1);
    r->sampler.wall_offset_ns -= 5 * PT_NS_PER_SECOND; /* as if it had been 5 s behind */
    tick(r);
    assert_true(pt_str_starts(event_text(r, "clock"), PT_STR("the wall clock jumped by +5.0")));
    tick(r);
    assert_int_equal(self_row(&r->sample, "clock"), -1);
    r->sampler.wall_offset_ns += PT_NS_PER_SECOND / 20; /* a step of 50 ms is none */
    tick(r);
    assert_int_equal(self_row(&r->sample, "clock"), -1);
    finish(r);
}

static void suspend_is_an_event_and_no_jump(void **state) {
    (void)state;
    struct run *r = start_live("mem", PT_NS_PER_SECOND);
    tick(r);
    if (!r->sampler.boot_offset_ns)
        r->sampler.boot_offset_ns = 1;
    r->sampler.boot_offset_ns -= 60 * PT_NS_PER_SECOND; /* both clocks went on for a minute */
    r->sampler.wall_offset_ns -= 60 * PT_NS_PER_SECOND;
    tick(r);
    assert_str_eq(event_text(r, "clock"), "the machine was suspended for 60.0 s");
    const struct pt_batch *b = batch(r, "collector");
    int events = 0;
    for (uint32_t row = 0; row < b->row_count; row++)
        events += pt_str_eq(pt_get_str(b, row, 0), PT_STR("clock"));
    assert_int_equal(events, 1);
    tick(r);
    assert_int_equal(self_row(&r->sample, "clock"), -1);
    finish(r);
}

/* Collectors that fail */

/* What is written to stderr while `ticks` are taken. */
static void logged(struct run *r, int ticks, char *into, size_t capacity) {
    int pipe_fds[2], old = dup(STDERR_FILENO);
    assert_int_equal(pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK), 0);
    dup2(pipe_fds[1], STDERR_FILENO);
    while (ticks-- > 0)
        tick(r);
    dup2(old, STDERR_FILENO);
    close(old);
    close(pipe_fds[1]);
    ssize_t n = read(pipe_fds[0], into, capacity - 1);
    into[n > 0 ? n : 0] = 0;
    close(pipe_fds[0]);
}

static void a_collector_that_fails_says_so_once_and_works_again(void **state) {
    (void)state;
    char text[1024], stat_path[PATH_MAX], aside[PATH_MAX];
    struct run *r = start_on_tree(host);
    pt_str_copy(stat_path, sizeof stat_path, pt_str_from(tree_path(&r->tree, "proc/stat")));
    pt_str_copy(aside, sizeof aside, pt_str_from(tree_path(&r->tree, "proc/stat.aside")));
    assert_int_equal(rename(stat_path, aside), 0);
    logged(r, 5, text, sizeof text);
    assert_string_equal(text, "pitot: warning: cpu: No such file or directory; its values are "
                              "missing until it works again\n");
    assert_int_equal(batch(r, "cpu")->row_count, 1);
    assert_true(is_null(batch(r, "cpu"), 0, "vCpuTime"));
    assert_int_equal(cell(batch(r, "mem"), 0, "vMemoryTotal"), INT64_C(16384000) * 1024);
    assert_int_equal(rename(aside, stat_path), 0);
    logged(r, 2, text, sizeof text);
    assert_string_equal(text, "");
    assert_int_equal(cell(batch(r, "cpu"), 0, "vCpuTime"), 15000);
    assert_int_equal(r->sampler.collectors[0].error_count, 5);
    assert_int_equal(r->sampler.collectors[0].status, 0);
    finish(r);
}

static void what_the_machine_does_not_have_is_switched_off_quietly(void **state) {
    (void)state;
    char text[1024];
    struct run *r = start_on_tree("mem,disk");
    assert_int_equal(unlink(tree_path(&r->tree, "proc/diskstats")), 0);
    logged(r, 3, text, sizeof text);
    assert_string_equal(text, "");
    assert_int_equal(batch(r, "disk")->row_count, 0);
    assert_int_equal(batch(r, "mem")->row_count, 1);
    finish(r);
}

static void a_collector_that_was_not_asked_for_gives_nothing(void **state) {
    (void)state;
    struct run *r = start_on_tree("mem");
    tick(r);
    assert_int_equal(batch(r, "mem")->row_count, 1);
    assert_int_equal(batch(r, "cpu")->row_count, 0);
    assert_int_equal(self_row(&r->sample, "cpu"), -1);
    finish(r);
}

static void a_thinned_collector_is_asked_at_every_second_or_fourth_tick(void **state) {
    (void)state;
    struct run *r = start_on_tree("cpu,mem");
    r->sampler.collectors[0].level = 2;
    int asked = 0;
    for (int i = 0; i < 16; i++) {
        tick(r);
        asked += batch(r, "cpu")->row_count > 0;
        assert_int_equal(batch(r, "mem")->row_count, 1);
    }
    assert_int_equal(asked, 4);
    finish(r);
}

/* A collector is governed because it is in the list, not because the governor knows its name. */
static void every_collector_is_governed(void **state) {
    (void)state;
    struct run *r = start_on_tree("cpu");
    const struct pt_governor *g = &r->sampler.governor;
    assert_int_equal(g->knob_count, PT_PART_COUNT + r->sampler.collector_count);
    for (int i = 0; pt_collectors[i]; i++) {
        const struct pt_governor_knob *knob = &g->knobs[PT_PART_COUNT + i];
        assert_string_equal(knob->name, pt_collectors[i]->name);
        assert_int_equal(knob->level_count == 0, pt_collectors[i]->keep == PT_KEEP_ALWAYS);
        bool is_host = strcmp(pt_collectors[i]->name, "pressure") != 0 &&
                       is_named(host, pt_collectors[i]->name);
        assert_int_equal(pt_collectors[i]->keep == PT_KEEP_LAST, is_host);
        assert_true(knob->rank > g->knobs[PT_PART_PSS].rank || knob->level_count == 0);
    }
    finish(r);
}

/* Too few descriptors for the files: values are missing, nothing else happens. */
static void without_descriptors_values_are_missing(void **state) {
    (void)state;
    struct run *r = start_live(host, PT_NS_PER_SECOND);
    int taken[1024], count = 0;
    struct rlimit old, low;
    getrlimit(RLIMIT_NOFILE, &old);
    low = old;
    low.rlim_cur = old.rlim_cur < 512 ? old.rlim_cur : 512;
    setrlimit(RLIMIT_NOFILE, &low);
    while (count < 1024 && (taken[count] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
        count++;
    pt_log_level = PT_LOG_ERROR;
    tick(r);
    pt_log_level = PT_LOG_WARNING;
    while (count > 0)
        close(taken[--count]);
    setrlimit(RLIMIT_NOFILE, &old);
    assert_int_equal(batch(r, "mem")->row_count, 1);
    assert_true(is_null(batch(r, "mem"), 0, "vMemoryTotal"));
    assert_int_equal(batch(r, "pressure")->row_count, 0);
    tick(r);
    assert_false(is_null(batch(r, "mem"), 0, "vMemoryTotal"));
    if (access("/proc/pressure/cpu", R_OK) == 0)
        assert_true(batch(r, "pressure")->row_count > 0);
    finish(r);
}

static void a_process_that_cannot_be_read_makes_the_sum_of_the_tree_unknown(void **state) {
    (void)state;
    struct run *r = start_recording("processes", 4002); /* 200000 pages, its child 4003 50000 */
    tick(r);
    assert_int_equal(cell(batch(r, "process_totals"), 0, "pTreeResidentSetSize"),
                     250000 * (int64_t)sysconf(_SC_PAGESIZE));
    finish(r);
    r = start_recording("processes", 4002);
    assert_int_equal(unlink(tree_path(&r->tree, "proc/4003/statm")), 0);
    tick(r);
    assert_true(is_null(batch(r, "process_totals"), 0, "pTreeResidentSetSize"));
    assert_int_equal(cell(batch(r, "process_totals"), 0, "pTreeNumProcesses"), 2);
    finish(r);
}

/* The thread */

static void wait_for_sample(struct run *r) {
    struct pollfd event = { .fd = r->sampler.queue.event_fd, .events = POLLIN };
    assert_int_equal(poll(&event, 1, 60000), 1);
}

/* Every tick of the schedule up to the last scheduled sample was taken, late or dropped; the first
 * and the last sample come beside the schedule. One more may have come due while it was taken. */
static void check_count_identity(const struct run *r, int64_t last_scheduled_ns) {
    const struct pt_sampler *s = &r->sampler;
    uint64_t told = s->taken_count + s->late_count + s->dropped_count - 2;
    uint64_t due = (uint64_t)((last_scheduled_ns - s->start_ns) / s->options.interval_ns);
    assert_in_range(told, due - 1, due);
}

static void first_and_last_sample_are_taken_and_ticks_accounted_for(void **state) {
    (void)state;
    struct run *r = start_live(host, 5 * PT_NS_PER_MS);
    int64_t before_ns = pt_mono_ns();
    pt_sampler_start(&r->sampler);
    uint64_t seen = 0;
    int64_t last_ns = 0, last_scheduled_ns = 0;
    struct pt_sample *sample;
    while (seen < 20) {
        wait_for_sample(r);
        while ((sample = pt_sample_queue_take(&r->sampler.queue))) {
            if (seen++ == 0)
                assert_true(sample->mono_ns >= before_ns);
            assert_true(sample->mono_ns > last_ns);
            last_ns = sample->mono_ns;
            pt_sample_queue_give_back(&r->sampler.queue, sample);
        }
    }
    int64_t stop_ns = pt_mono_ns();
    pt_sampler_stop(&r->sampler);
    bool tells_cost = false;
    while ((sample = pt_sample_queue_take(&r->sampler.queue))) {
        seen++;
        last_scheduled_ns = last_ns;
        last_ns = sample->mono_ns;
        tells_cost = self_row(sample, "pitot") >= 0;
        pt_sample_queue_give_back(&r->sampler.queue, sample);
    }
    assert_true(last_ns >= stop_ns);
    assert_true(tells_cost);
    assert_int_equal(seen, r->sampler.taken_count);
    assert_int_equal(r->sampler.dropped_count, 0);
    check_count_identity(r, last_scheduled_ns);
    pt_sampler_stop(&r->sampler); /* a second call does no harm */
    finish(r);
}

static void a_run_shorter_than_the_interval_has_two_samples(void **state) {
    (void)state;
    struct run *r = start_live(host, 3600 * PT_NS_PER_SECOND);
    pt_sampler_start(&r->sampler);
    wait_for_sample(r);
    pt_sampler_stop(&r->sampler);
    assert_int_equal(r->sampler.taken_count, 2);
    assert_int_equal(r->sampler.late_count, 0);
    finish(r);
}

/* Takes all samples that are in the queue; asserts that each has a millisecond of its own, on both
 * clocks, and the distance between the clocks of the first. */
static int take_apart(struct run *r, int64_t *last_ns, int64_t *ahead_ns) {
    struct pt_sample *sample;
    int count = 0;
    while ((sample = pt_sample_queue_take(&r->sampler.queue))) {
        int64_t ahead = sample->wall_ns - sample->mono_ns;
        *ahead_ns = *ahead_ns ? *ahead_ns : ahead;
        assert_int_equal(ahead, *ahead_ns);
        assert_true(sample->wall_ns / PT_NS_PER_MS > (*last_ns + ahead) / PT_NS_PER_MS);
        *last_ns = sample->mono_ns;
        pt_sample_queue_give_back(&r->sampler.queue, sample);
        count++;
    }
    return count;
}

/* Stopped right after a sample: the next one may not have its time. */
static void the_last_sample_has_a_time_of_its_own(void **state) {
    (void)state;
    for (int i = 0; i < 20; i++) {
        struct run *r = start_live("mem", 3600 * PT_NS_PER_SECOND);
        int64_t last_ns = 0, ahead_ns = 0;
        pt_sampler_start(&r->sampler);
        wait_for_sample(r);
        assert_int_equal(take_apart(r, &last_ns, &ahead_ns), 1);
        int64_t first_ns = last_ns;
        pt_sampler_stop(&r->sampler);
        assert_int_equal(take_apart(r, &last_ns, &ahead_ns), 1);
        assert_true(last_ns - first_ns >= PT_NS_PER_MS);
        finish(r);
    }
}

static void samples_at_1_ms_have_times_of_their_own(void **state) {
    (void)state;
    struct run *r = start_live("mem", PT_NS_PER_MS);
    int64_t last_ns = 0, ahead_ns = 0;
    int count = 0;
    pt_sampler_start(&r->sampler);
    while (count < 200) {
        wait_for_sample(r);
        count += take_apart(r, &last_ns, &ahead_ns);
    }
    pt_sampler_stop(&r->sampler);
    count += take_apart(r, &last_ns, &ahead_ns);
    assert_int_equal(count, r->sampler.taken_count);
    finish(r);
}

/* A value that is not read again keeps its Unix time: the distance between the clocks is kept. */
static void the_distance_between_the_clocks_does_not_jitter(void **state) {
    (void)state;
    struct run *r = start_live("mem", PT_NS_PER_SECOND);
    tick(r);
    int64_t ahead_ns = r->sample.wall_ns - r->sample.mono_ns;
    for (int i = 0; i < 1000; i++) {
        tick(r);
        assert_int_equal(r->sample.wall_ns - r->sample.mono_ns, ahead_ns);
    }
    r->sampler.wall_offset_ns -= PT_NS_PER_SECOND; /* the clock was set */
    tick(r);
    int64_t moved_ns = r->sample.wall_ns - r->sample.mono_ns - ahead_ns;
    assert_true(moved_ns > -PT_NS_PER_MS && moved_ns < PT_NS_PER_MS);
    finish(r);
}

/* Late ticks are counted by the thread; what it waited for is in its schedstat. */
static void late_ticks_are_explained(void **state) {
    (void)state;
    struct run *r = start_on_tree(host);
    tree_put(&r->tree, "schedstat", "100 900000000 5\n");
    assert_int_equal(
        pt_file_open(&r->sampler.schedstat, AT_FDCWD, tree_path(&r->tree, "schedstat")), 0);
    tick(r);
    int own = self_row(&r->sample, "pitot");
    assert_int_equal(cell(batch(r, "collector"), (uint32_t)own, "colRunDelay"), 900000000);
    assert_int_equal(self_row(&r->sample, "starved"), -1);
    r->sampler.explained_delay_ns = 700000000;
    r->sampler.explained_took_ns = INT64_MAX / 2;
    r->sampler.late_count = 3;
    tick(r);
    assert_str_eq(event_text(r, "starved"), "3 ticks skipped: Pitot waited 200 ms for a CPU");
    /* nothing is said twice, and not more than once a second */
    tick(r);
    assert_int_equal(self_row(&r->sample, "starved"), -1);
    r->sampler.late_count = 4;
    tick(r);
    assert_int_equal(self_row(&r->sample, "late"), -1);
    /* it did not wait: the collectors took long */
    r->sampler.last_late_ns -= 2 * PT_NS_PER_SECOND;
    r->sampler.collectors[0].took_ns += 40 * PT_NS_PER_MS;
    r->sampler.late_count = 5;
    tick(r);
    assert_int_equal(self_row(&r->sample, "starved"), -1);
    assert_true(pt_str_starts(event_text(r, "late"), PT_STR("2 ticks skipped: sampling took 4")));
    finish(r);
}

static void every_tick_is_a_sample_late_or_dropped(void **state) {
    (void)state;
    struct run *r = start_live("mem", PT_NS_PER_MS);
    pt_sampler_start(&r->sampler);
    while (r->sampler.dropped_count < 5)
        sched_yield();
    pt_sampler_stop(&r->sampler);
    assert_int_equal(r->sampler.due_count,
                     r->sampler.taken_count + r->sampler.late_count + r->sampler.dropped_count);
    finish(r);
}

/* The queue holds 64 samples; nobody takes one, and the thread goes on. */
static void a_consumer_that_never_takes_costs_ticks_not_time(void **state) {
    (void)state;
    struct run *r = start_live("mem", PT_NS_PER_MS);
    pt_sampler_start(&r->sampler);
    while (r->sampler.dropped_count < 20)
        sched_yield();
    pt_sampler_stop(&r->sampler);
    assert_int_equal(r->sampler.taken_count, PT_SAMPLE_QUEUE_LENGTH);
    assert_true(r->sampler.dropped_count >= 20);
    finish(r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(a_steady_tick_allocates_nothing, "a steady tick allocates nothing"),
        PT_TEST(the_first_tick_tells_what_pitot_costs, "the first tick tells what Pitot costs"),
        PT_TEST(descriptors_are_counted, "Pitot's descriptors are counted"),
        PT_TEST(on_a_captured_tree_pitots_descriptors_are_unknown,
                "on a captured tree Pitot's descriptors are unknown"),
        PT_TEST(a_set_clock_is_an_event, "a wall clock that was set is an event"),
        PT_TEST(suspend_is_an_event_and_no_jump, "suspend is an event, and no jump of the clock"),
        PT_TEST(a_collector_that_fails_says_so_once_and_works_again,
                "a collector that fails says so once and works again"),
        PT_TEST(what_the_machine_does_not_have_is_switched_off_quietly,
                "what the machine does not have is switched off quietly"),
        PT_TEST(a_collector_that_was_not_asked_for_gives_nothing,
                "a collector that was not asked for gives nothing"),
        PT_TEST(every_collector_is_governed, "C314: every collector of the list is governed"),
        PT_TEST(a_thinned_collector_is_asked_at_every_second_or_fourth_tick,
                "a thinned collector is asked at every 2^level-th tick"),
        PT_TEST(without_descriptors_values_are_missing,
                "without free descriptors values are missing, and come back"),
        PT_TEST(a_process_that_cannot_be_read_makes_the_sum_of_the_tree_unknown,
                "C101: a process that cannot be read makes the sum of the tree unknown"),
        PT_TEST(first_and_last_sample_are_taken_and_ticks_accounted_for,
                "the first and the last sample are taken and all ticks accounted for"),
        PT_TEST(a_run_shorter_than_the_interval_has_two_samples,
                "a run shorter than the interval has two samples"),
        PT_TEST(the_last_sample_has_a_time_of_its_own,
                "the last sample has a time of its own, 1 ms after the one before at least"),
        PT_TEST(samples_at_1_ms_have_times_of_their_own,
                "samples at an interval of 1 ms have times of their own"),
        PT_TEST(late_ticks_are_explained, "C240: late ticks have a reason: no CPU, or slow reads"),
        PT_TEST(every_tick_is_a_sample_late_or_dropped, "every tick is a sample, late or dropped"),
        PT_TEST(the_distance_between_the_clocks_does_not_jitter,
                "the distance between the clocks does not jitter"),
        PT_TEST(a_consumer_that_never_takes_costs_ticks_not_time,
                "a consumer that never takes costs ticks, not time"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
