/* Runs of several ranks as one: labels, clocks with known offsets, and who is behind. */
#include "tree_fixture.h"

#include "runs/merge.h"
#include "analyze/straggler.h"
#include "base/json.h"
#include "derive/span_role.h"
#include "model/view.h"
#include "report/explain_text.h"

#include <errno.h>

#define SECOND INT64_C(1000000000)
#define MS     INT64_C(1000000)

#define CPU_COLUMNS(X, t)                                      \
    X(t, user, "vUser", COUNTER, I64, CENTISECONDS, 0, "Used") \
    X(t, load, "vLoad", GAUGE, F64, NONE, 1, "Load")
PT_TABLE(cpu, PT_TABLE_MAIN("cpu"), "CPU", CPU_COLUMNS, "/proc/stat", "/proc/loadavg");

#define MEM_COLUMNS(X, t) X(t, used, "vUsed", GAUGE, I64, BYTES, 0, "Used")
PT_TABLE(mem, PT_TABLE_MAIN("mem"), "Memory", MEM_COLUMNS, "/proc/meminfo");

#define SPAN_COLUMNS(X, t)                                                           \
    X(t, name, "sName", KEY, STRING, NONE, 0, "Name")                                \
    X(t, start, "sStart", INFO, I64, NANOSECONDS, 0, "Start", .role = PT_ROLE_START) \
    X(t, duration, "sDuration", GAUGE, I64, NANOSECONDS, 0, "Duration")              \
    X(t, argument, "sArgument", INFO, I64, NONE, 0, "Number")
PT_TABLE(span, PT_TABLE_ROWS(EVENTS, "spans", NULL), "Spans", SPAN_COLUMNS, "libpitot");

#define OTHER_COLUMNS(X, t) X(t, used, "vUsed", GAUGE, F64, BYTES, 0, "Used, as a float")
PT_TABLE(other, PT_TABLE_MAIN("mem"), "Memory", OTHER_COLUMNS, "/proc/meminfo");

static const struct pt_table *const tables[] = { &cpu_table, &mem_table, &span_table };
static const struct pt_schema schema = { tables, PT_COUNT(tables) };

/* A run of ten seconds. Its clocks are those of the first host, moved. */
struct made_run {
    const char *file, *host, *boot;
    int rank;
    int64_t mono_shift_ns, wall_shift_ns;
    int64_t forward_ns; /* how long its step takes; 0: it has no spans */
    int64_t jitter_ns;  /* of the end of collectives */
};

static int64_t interval_ns = 100 * MS;

static void note_static(struct pt_journal *j, const struct made_run *run) {
    char text[512], rank[64] = "null";
    if (run->rank >= 0)
        snprintf(rank, sizeof rank, "{\"number\": %d, \"world_size\": 3}", run->rank);
    int n = snprintf(text, sizeof text,
                     "{\"host\": {\"hostname\": \"%s\", \"boot_id\": \"%s\"}, \"rank\": %s}",
                     run->host, run->boot, rank);
    assert_int_equal(pt_journal_note(j, PT_STR("static"), (struct pt_str){ text, (size_t)n }), 0);
}

static void add_span(struct pt_sample *s, const char *name, int64_t start_ns, int64_t duration_ns,
                     int64_t number) {
    struct pt_batch *b = &s->batches[2];
    pt_batch_add_row(b);
    pt_set_str(b, span_name, pt_str_from(name));
    pt_set_i64(b, span_start, start_ns);
    pt_set_i64(b, span_duration, duration_ns);
    pt_set_i64(b, span_argument, number);
    pt_set_time(b, 0, start_ns);
}

/* Every rank is done with the collective at the same time, 50 ms into the tick. */
static void add_spans(struct pt_sample *s, const struct made_run *run, int tick) {
    int64_t jitter_ns = (tick % 5 - 2) * run->jitter_ns;
    int64_t waits_ns = 50 * MS - run->forward_ns + jitter_ns;
    add_span(s, "forward", s->mono_ns, run->forward_ns, tick);
    add_span(s, "all_reduce", s->mono_ns + run->forward_ns, waits_ns, tick);
}

static void fill(struct pt_sample *s, const struct made_run *run, int tick) {
    int64_t true_ns = 100 * SECOND + tick * interval_ns;
    pt_sample_clear(s);
    s->mono_ns = true_ns + run->mono_shift_ns;
    s->wall_ns = INT64_C(1700000000) * SECOND + true_ns + run->wall_shift_ns;
    pt_batch_add_row(&s->batches[0]);
    pt_set_i64(&s->batches[0], cpu_user, tick * 10 + run->rank);
    pt_set_f64(&s->batches[0], cpu_load, 0.5);
    pt_set_time(&s->batches[0], 0, s->mono_ns + 1000);
    pt_set_time(&s->batches[0], 1, s->mono_ns + 2000);
    pt_batch_add_row(&s->batches[1]);
    pt_set_i64(&s->batches[1], mem_used, 4096);
    pt_set_time(&s->batches[1], 0, s->mono_ns + 3000);
    if (run->forward_ns)
        add_spans(s, run, tick);
}

static const char *make_run(const struct made_run *run, const struct pt_schema *of) {
    struct pt_journal j = { 0 };
    struct pt_sample s;
    struct pt_err err = { "" };
    uint8_t uuid[16] = { 7, (uint8_t)run->rank, (uint8_t)strlen(run->file) };
    memcpy(uuid + 3, run->file, strlen(run->file) < 13 ? strlen(run->file) : 13);
    if (pt_journal_create(&j, tree_path(&tree, run->file), uuid, of, &err))
        fail_msg("%s", err.text);
    note_static(&j, run);
    pt_sample_init(&s, of);
    for (int tick = 0; tick < 100 && of == &schema; tick++) {
        fill(&s, run, tick);
        assert_int_equal(pt_journal_write(&j, &s), 0);
    }
    pt_sample_release(&s);
    assert_int_equal(pt_journal_close(&j), 0);
    return pt_strdup(tree_path(&tree, run->file));
}

/* Makes the runs and merges them, the last one first. */
static int merge(struct pt_merge *m, const struct made_run *runs, size_t count,
                 struct pt_err *err) {
    const char *journals[8];
    for (size_t i = 0; i < count; i++)
        journals[count - 1 - i] = make_run(&runs[i], &schema);
    int rc = pt_merge_write(m, journals, count, tree_path(&tree, "merged"), err);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < m->run_count; k++)
            if (m->runs[k].journal == journals[i])
                m->runs[k].journal = "";
    for (size_t i = 0; i < count; i++)
        pt_free((char *)journals[i]);
    return rc;
}

static void merged(struct pt_merge *m, const struct made_run *runs, size_t count) {
    struct pt_err err = { "" };
    if (merge(m, runs, count, &err))
        fail_msg("%s", err.text);
}

static void ranks_of_one_machine_have_one_clock(void **state) {
    (void)state;
    const struct made_run runs[] = {
        { "a.pitot", "node", "boot-1", 0, 0, 0, 10 * MS, 0 },
        { "b.pitot", "node", "boot-1", 1, 0, 0, 10 * MS, 0 },
    };
    struct pt_merge m;
    merged(&m, runs, 2);
    assert_string_equal(m.runs[0].label, "0");
    assert_string_equal(m.runs[1].label, "1");
    assert_int_equal(m.runs[0].method, PT_CLOCK_REFERENCE);
    assert_int_equal(m.runs[1].method, PT_CLOCK_SAME_BOOT);
    assert_int_equal(m.runs[1].clock.offset_ns, 0);
    assert_int_equal(m.runs[1].clock.error_ns, 0);
    assert_int_equal(m.sample_count, 200);
    pt_merge_release(&m);
}

/* The wall clock of the second host is 30 s wrong and its uptime another: the ends of the
 * collectives say what both are. */
static void other_clocks_are_aligned_by_collectives(void **state) {
    (void)state;
    const struct made_run runs[] = {
        { "a.pitot", "one", "boot-1", 0, 0, 0, 10 * MS, 0 },
        { "b.pitot", "two", "boot-2", 1, 7777 * SECOND, 30 * SECOND, 20 * MS, MS },
    };
    struct pt_merge m;
    merged(&m, runs, 2);
    assert_int_equal(m.runs[1].method, PT_CLOCK_EVENTS);
    assert_int_equal(m.runs[1].clock.offset_ns, -7777 * SECOND);
    assert_int_equal(m.runs[1].clock.error_ns, 2 * MS);
    assert_int_equal(m.runs[1].clock.pair_count, 100);
    pt_merge_release(&m);
}

static void without_events_the_wall_clocks_are_taken(void **state) {
    (void)state;
    const struct made_run runs[] = {
        { "a.pitot", "one", "boot-1", -1, 0, 0, 0, 0 },
        { "b.pitot", "two", "boot-2", -1, -50 * SECOND, 2 * SECOND, 0, 0 },
    };
    struct pt_merge m;
    merged(&m, runs, 2);
    assert_string_equal(m.runs[0].label, "one");
    assert_string_equal(m.runs[1].label, "two");
    assert_int_equal(m.runs[1].method, PT_CLOCK_WALL);
    assert_int_equal(m.runs[1].clock.offset_ns, 52 * SECOND); /* 2 s of it are the wrong clock */
    pt_merge_release(&m);
}

/* What a merged journal says of one rank is what the run said. */
static void rows_are_labelled_and_on_one_clock(void **state) {
    (void)state;
    const struct made_run runs[] = {
        { "a.pitot", "one", "boot-1", 0, 0, 0, 10 * MS, 0 },
        { "b.pitot", "two", "boot-2", 1, 7777 * SECOND, 0, 10 * MS, 0 },
    };
    struct pt_merge m;
    struct pt_journal_reader reader;
    struct pt_rank_view view;
    struct pt_sample sample;
    struct pt_err err = { "" };
    merged(&m, runs, 2);
    assert_int_equal(pt_journal_open(&reader, m.journal, &err), 0);
    pt_sample_init(&sample, &reader.schema);
    pt_rank_view_init(&view, &reader.schema);
    int64_t before_ns = 0;
    int counts[2] = { 0 };
    while (pt_journal_next(&reader, &sample) > 0) {
        assert_true(sample.mono_ns >= before_ns);
        before_ns = sample.mono_ns;
        int rank = pt_str_eq(pt_rank_of(&sample), PT_STR("1"));
        int tick = counts[rank]++;
        assert_true(pt_rank_view_take(&view, &sample, rank ? "1" : "0"));
        assert_false(pt_rank_view_take(&view, &sample, rank ? "0" : "1"));
        assert_int_equal(sample.mono_ns, 100 * SECOND + tick * 100 * MS);
        assert_string_equal(view.schema.tables[0]->columns[cpu_user].name, "vUser");
        assert_int_equal(pt_get_i64(&view.sample.batches[0], 0, cpu_user), tick * 10 + rank);
        assert_int_equal(pt_get_time(&view.sample.batches[0], 0, 1), sample.mono_ns + 2000);
        assert_int_equal(pt_get_i64(&view.sample.batches[2], 0, span_start), sample.mono_ns);
    }
    assert_int_equal(counts[0], 100);
    assert_int_equal(counts[1], 100);
    pt_rank_view_release(&view);
    pt_sample_release(&sample);
    pt_journal_reader_close(&reader);
    pt_merge_release(&m);
}

/* Samples of a run at 1 ms, 200 us after full milliseconds. By the clock of the first run they
 * would be next to full milliseconds, on both sides. */
static void rows_keep_a_millisecond_of_their_own(void **state) {
    (void)state;
    const struct made_run runs[] = {
        { "a.pitot", "one", "boot-1", 0, 0, 0, 10 * MS, 0 },
        { "b.pitot", "two", "boot-2", 1, 77 * SECOND, 30 * SECOND + MS / 5, 10 * MS, 0 },
    };
    struct pt_merge m;
    struct pt_journal_reader reader;
    struct pt_sample sample;
    struct pt_err err = { "" };
    interval_ns = MS - 1;
    merged(&m, runs, 2);
    interval_ns = 100 * MS;
    assert_int_equal(m.runs[1].clock.offset_ns, -77 * SECOND);
    assert_int_equal(pt_journal_open(&reader, m.journal, &err), 0);
    pt_sample_init(&sample, &reader.schema);
    int64_t before_ms = 0, first_ms = INT64_C(1700000100000), count = 0;
    while (pt_journal_next(&reader, &sample) > 0) {
        if (!pt_str_eq(pt_rank_of(&sample), PT_STR("1")))
            continue;
        assert_int_equal(sample.mono_ns, 100 * SECOND + count * (MS - 1));
        assert_true(sample.wall_ns / MS > before_ms);
        before_ms = sample.wall_ns / MS;
        assert_int_equal(before_ms, first_ms + count++);
    }
    assert_int_equal(count, 100);
    pt_sample_release(&sample);
    pt_journal_reader_close(&reader);
    pt_merge_release(&m);
}

static void the_main_file_has_the_rank_once(void **state) {
    (void)state;
    const struct made_run runs[] = {
        { "a.pitot", "one", "boot-1", 0, 0, 0, 0, 0 },
        { "b.pitot", "one", "boot-1", 1, 0, 0, 0, 0 },
    };
    struct pt_merge m;
    struct pt_journal_reader reader;
    struct pt_views views;
    struct pt_err err = { "" };
    merged(&m, runs, 2);
    assert_int_equal(pt_journal_open(&reader, m.journal, &err), 0);
    pt_views_init(&views, &reader.schema);
    int found = 0;
    for (uint32_t i = 0; i < views.views[0].column_count; i++)
        found += strcmp(views.views[0].columns[i].name, "rank") == 0;
    assert_int_equal(found, 1);
    pt_views_release(&views);
    pt_journal_reader_close(&reader);
    pt_merge_release(&m);
}

static void like_ranks_are_told_apart(void **state) {
    (void)state;
    const struct made_run runs[] = {
        { "a.pitot", "one", "boot-1", 3, 0, 0, 0, 0 },
        { "b.pitot", "two", "boot-2", 3, 0, 0, 0, 0 },
        { "c.pitot", "two", "boot-2", 3, 0, 0, 0, 0 },
    };
    struct pt_merge m;
    merged(&m, runs, 3);
    assert_string_equal(m.runs[0].label, "3");
    assert_string_equal(m.runs[1].label, "3@two");
    assert_string_equal(m.runs[2].label, "3@two#2");
    pt_merge_release(&m);
}

static void check_refused(const char *const *journals, size_t count, const char *words) {
    struct pt_merge m;
    struct pt_err err = { "" };
    assert_true(pt_merge_write(&m, journals, count, tree_path(&tree, "merged"), &err) < 0);
    if (!strstr(err.text, words))
        fail_msg("'%s' does not say '%s'", err.text, words);
    pt_merge_release(&m);
}

static void what_does_not_go_together_is_refused(void **state) {
    (void)state;
    static const struct pt_table *const other_tables[] = { &other_table };
    static const struct pt_schema other_schema = { other_tables, 1 };
    const struct made_run a = { "a.pitot", "one", "boot-1", 0, 0, 0, 0, 0 };
    const struct made_run empty = { "e.pitot", "one", "boot-1", 2, 0, 0, 0, 0 };
    const char *journals[] = { make_run(&a, &schema), NULL };
    journals[1] = journals[0];
    check_refused(journals, 1, "nothing to merge");
    check_refused(journals, 2, "are the same run");
    journals[1] = make_run(&empty, &other_schema);
    check_refused(journals, 2, "has no samples");
    pt_free((char *)journals[1]);
    journals[1] = "/nonexistent.pitot";
    check_refused(journals, 2, "cannot open");
    pt_free((char *)journals[0]);
}

static void schemas_that_contradict_each_other_are_refused(void **state) {
    (void)state;
    static const struct pt_table like = { .name = "mem",
                                          .file = "",
                                          .help = "",
                                          .columns = other_columns,
                                          .sources = other_sources,
                                          .column_count = other_column_count,
                                          .source_count = 1 };
    static const struct pt_table *const like_tables[] = { &like };
    static const struct pt_schema like_schema = { like_tables, 1 };
    const struct pt_schema *const schemas[] = { &schema, &like_schema };
    struct pt_schema into;
    struct pt_err err = { "" };
    assert_int_equal(pt_rank_schema_make(&into, schemas, 2, &err), -EINVAL);
    assert_non_null(strstr(err.text, "vUsed of table mem"));
}

static void a_merged_run_is_explained_with_its_straggler(void **state) {
    (void)state;
    const struct made_run runs[] = {
        { "a.pitot", "one", "boot-1", 0, 0, 0, 10 * MS, 0 },
        { "b.pitot", "one", "boot-1", 1, 0, 0, 20 * MS, 0 },
        { "c.pitot", "one", "boot-1", 2, 0, 0, 10 * MS, 0 },
    };
    struct pt_merge m;
    struct pt_explained_run run;
    struct pt_err err = { "" };
    merged(&m, runs, 3);
    assert_int_equal(pt_explain_run(&run, m.journal, &err), 0);
    assert_int_equal(run.explanation.status, PT_EXPLAIN_BOUND);
    const struct pt_verdict *v = &run.explanation.verdicts[0];
    assert_string_equal(v->rule->id, "straggler");
    assert_string_equal(v->entity, "rank 1, in forward");
    assert_float_equal(v->signals[0].value, 2, 1e-9);
    assert_float_equal(v->signals[1].value, 1, 1e-9);
    pt_merge_release(&m);
}

static void equal_ranks_have_no_straggler(void **state) {
    (void)state;
    const struct made_run runs[] = {
        { "a.pitot", "one", "boot-1", 0, 0, 0, 10 * MS, 0 },
        { "b.pitot", "one", "boot-1", 1, 0, 0, 10 * MS, 0 },
        { "c.pitot", "one", "boot-1", 2, 0, 0, 10 * MS, 0 },
    };
    struct pt_merge m;
    struct pt_explained_run run;
    struct pt_err err = { "" };
    merged(&m, runs, 3);
    assert_int_equal(pt_explain_run(&run, m.journal, &err), 0);
    for (int i = 0; i < run.explanation.verdict_count; i++)
        assert_string_not_equal(run.explanation.verdicts[i].rule->id, "straggler");
    for (int i = 0; i < run.explanation.not_checked_count; i++)
        assert_string_not_equal(run.explanation.not_checked[i], "straggler");
    pt_merge_release(&m);
}

static uint64_t seed;

static double random_part(void) {
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(seed >> 11) / 9007199254740992.0;
}

/* Steps of `ranks` ranks that take 10 ms and up to 10 % more by chance; the last rank takes
 * `factor` as long in `share` of the steps. */
static void add_steps(struct pt_stragglers *s, int ranks, int steps, double factor, double share) {
    for (int rank = 0; rank < ranks; rank++) {
        char label[8];
        int n = snprintf(label, sizeof label, "%d", rank);
        for (int i = 0; i < steps; i++) {
            double ms = 10 * (1 + 0.1 * random_part());
            if (rank == ranks - 1 && i < share * steps)
                ms *= factor;
            pt_stragglers_add_span(s, (struct pt_str){ label, (size_t)n }, PT_STR("step"),
                                   &(struct pt_rank_span){ .start_ns = i * 20 * MS,
                                                           .duration_ns = (int64_t)(ms * MS) });
        }
    }
    pt_stragglers_finish(s);
}

static void chance_is_no_straggler(void **state) {
    (void)state;
    int found = 0;
    for (seed = 1; seed < 1000000; seed += 5000) {
        struct pt_stragglers s = { .table = -1 };
        uint64_t kept = seed;
        add_steps(&s, 2 + (int)(kept / 5000 % 7), 50, 1, 0);
        found += pt_stragglers_worst(&s) != NULL;
        assert_int_equal(s.count, 1);
        pt_stragglers_release(&s);
        seed = kept;
    }
    assert_int_equal(found, 0);
}

static void a_rank_that_is_late_in_most_steps_is_found(void **state) {
    (void)state;
    struct pt_stragglers s = { .table = -1 };
    seed = 3;
    add_steps(&s, 8, 100, 1.3, 0.8);
    const struct pt_straggling *worst = pt_stragglers_worst(&s);
    assert_non_null(worst);
    assert_str_eq(s.ranks.list[worst->rank], "7");
    assert_int_equal(worst->step_count, 100);
    assert_true(worst->slowest_share >= 0.8 && worst->slowest_share < 0.95);
    assert_true(worst->pace > 1.2 && worst->pace < 1.35);
    pt_stragglers_release(&s);
}

static void one_that_is_late_now_and_then_is_none(void **state) {
    (void)state;
    struct pt_stragglers s = { .table = -1 };
    seed = 4;
    add_steps(&s, 8, 100, 3, 0.3);
    assert_null(pt_stragglers_worst(&s));
    pt_stragglers_release(&s);
}

static void collectives_are_known_by_their_names(void **state) {
    (void)state;
    assert_int_equal(pt_span_role(PT_STR("all_reduce")), PT_SPAN_COLLECTIVE);
    assert_int_equal(pt_span_role(PT_STR("ncclDevKernel_AllGather_RING")), PT_SPAN_COLLECTIVE);
    assert_int_equal(pt_span_role(PT_STR("dist.barrier")), PT_SPAN_COLLECTIVE);
    assert_int_equal(pt_span_role(PT_STR("Reduce-Scatter")), PT_SPAN_COLLECTIVE);
    assert_int_equal(pt_span_role(PT_STR("forward")), PT_SPAN_OTHER);
    assert_int_equal(pt_span_role(PT_STR("reduce_loss")), PT_SPAN_OTHER);
}

static void a_run_says_who_it_is(void **state) {
    (void)state;
    static const struct made_run runs[] = {
        { .file = "one.pitot", .host = "node7", .boot = "b-1", .rank = 1 },
        { .file = "alone.pitot", .host = "laptop", .boot = "", .rank = -1 },
    };
    static const struct pt_rank_identity expected[] = {
        { .host = "node7", .boot_id = "b-1", .rank = 1, .world_size = 3 },
        { .host = "laptop", .boot_id = "", .rank = -1, .world_size = -1 },
    };
    for (size_t i = 0; i < PT_COUNT(runs); i++) {
        struct pt_journal_reader reader = { 0 };
        struct pt_rank_identity found;
        struct pt_err err = { "" };
        char *path = (char *)(uintptr_t)make_run(&runs[i], &schema);
        assert_int_equal(pt_journal_open(&reader, path, &err), 0);
        pt_rank_identify(&found, &reader);
        assert_string_equal(found.host, expected[i].host);
        assert_string_equal(found.boot_id, expected[i].boot_id);
        assert_int_equal(found.rank, expected[i].rank);
        assert_int_equal(found.world_size, expected[i].world_size);
        pt_journal_reader_close(&reader);
        pt_free(path);
    }
}

/* Whichever table has rows says of which rank a sample is. */
static void the_rank_is_that_of_any_row(void **state) {
    (void)state;
    struct pt_schema merged;
    const struct pt_schema *one = &schema;
    assert_int_equal(pt_rank_schema_make(&merged, &one, 1, NULL), 0);
    for (uint32_t t = 0; t < merged.table_count; t++) {
        struct pt_sample sample;
        pt_sample_init(&sample, &merged);
        assert_str_eq(pt_rank_of(&sample), ""); /* without rows */
        pt_batch_add_row(&sample.batches[t]);
        assert_str_eq(pt_rank_of(&sample), ""); /* a row without one */
        pt_set_str(&sample.batches[t], 0, PT_STR("7"));
        assert_str_eq(pt_rank_of(&sample), "7");
        pt_sample_release(&sample);
    }
    pt_rank_schema_release(&merged);
    struct pt_sample alone;
    pt_sample_init(&alone, &schema); /* not merged: its first column is another */
    pt_batch_add_row(&alone.batches[2]);
    pt_set_str(&alone.batches[2], span_name, PT_STR("step"));
    assert_str_eq(pt_rank_of(&alone), "");
    pt_sample_release(&alone);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WITH_TREE(ranks_of_one_machine_have_one_clock, "ranks of one machine have one clock"),
        WITH_TREE(other_clocks_are_aligned_by_collectives,
                  "clocks of other machines are aligned by collectives, within their spread"),
        WITH_TREE(without_events_the_wall_clocks_are_taken,
                  "without events the wall clocks are taken"),
        WITH_TREE(rows_are_labelled_and_on_one_clock,
                  "rows are labelled, on one clock, and otherwise as they were"),
        WITH_TREE(rows_keep_a_millisecond_of_their_own,
                  "rows of one rank keep a millisecond of their own"),
        WITH_TREE(the_main_file_has_the_rank_once, "the main file has the rank once"),
        WITH_TREE(like_ranks_are_told_apart, "like ranks are told apart"),
        WITH_TREE(what_does_not_go_together_is_refused, "what does not go together is refused"),
        WITH_TREE(a_run_says_who_it_is,
                  "C262: a run says its host, boot, rank and number of ranks"),
        PT_TEST(the_rank_is_that_of_any_row, "C262: a sample is of the rank of its rows"),
        PT_TEST(schemas_that_contradict_each_other_are_refused,
                "schemas that contradict each other are refused"),
        WITH_TREE(a_merged_run_is_explained_with_its_straggler,
                  "C234: a merged run is explained with its straggler"),
        WITH_TREE(equal_ranks_have_no_straggler, "C234: equal ranks have no straggler"),
        PT_TEST(chance_is_no_straggler, "chance is not a straggler"),
        PT_TEST(a_rank_that_is_late_in_most_steps_is_found,
                "a rank that is late in most steps is found"),
        PT_TEST(one_that_is_late_now_and_then_is_none, "one that is late now and then is none"),
        PT_TEST(collectives_are_known_by_their_names, "collectives are known by their names"),
    };
    pt_schema_install(&schema); /* what the columns of its journals mean */
    return cmocka_run_group_tests(tests, NULL, NULL);
}
