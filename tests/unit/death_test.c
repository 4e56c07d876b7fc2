/* What the samples of a run say of its end, and the words made of it. */
#include "tracks.h"

#include "analyze/death.h"
#include "base/buf.h"

#include <signal.h>

/* Rows of containers: those of others count nothing, whatever they have. */
static void see(struct pt_death_watch *w, struct track_set *set, double seconds) {
    struct pt_sample sample;
    pt_sample_init(&sample, &set->schema);
    pt_sample_clear(&sample);
    sample.mono_ns = 1;
    tracks_fill(set, &sample, seconds, 1);
    pt_death_see(w, &sample);
    pt_sample_release(&sample);
}

static void make(struct track_set **set, const struct track *tracks) {
    *set = test_calloc(1, sizeof **set);
    tracks_add(*set, tracks);
    tracks_make_schema(*set);
}

static void assert_counter(const struct pt_death_counter *c, double first, double last) {
    assert_true(c->is_known);
    assert_true(c->first == first);
    assert_true(c->last == last);
}

/* Counters begin at 1000 here. */
static void the_counters_of_the_command_are_seen(void **state) {
    (void)state;
    static const struct track tracks[] = {
        { "container", "/own", "cIsRecorded", 'g', 1, 0 },
        { "container", "/own", "cOomKills", 'c', 2, 0 },
        { "container", "/own", "cMemoryLimitHits", 'c', 30, 0 },
        { "container", "/own", "cMemoryTightestLimit", 'g', 512 * 1048576.0, 0 },
        { "container", "/above", "cIsRecorded", 'g', 1, 0 },
        { "container", "/above", "cOomKills", 'c', 3, 0 },
        { "container", "/other", "cIsRecorded", 'g', 0, 0 },
        { "container", "/other", "cOomKills", 'c', 900, 0 },
        { "container", "/other", "cMemoryLimitHits", 'c', 900, 0 },
        { "container", "/other", "cMemoryTightestLimit", 'g', 1e12, 0 },
        { "container", "/nobody", "cOomKills", 'c', 800, 0 }, /* it is not said whose it is */
        { "mem", NULL, "vOomKills", 'c', 7, 0 },
        { 0 },
    };
    struct track_set *set;
    struct pt_death_watch w = { 0 };
    make(&set, tracks);
    for (int i = 0; i <= 4; i += 2)
        see(&w, set, i);
    assert_counter(&w.own_kills, 1000, 1012);
    assert_counter(&w.limit_hits, 1000, 1120);
    assert_counter(&w.machine_kills, 1000, 1028);
    assert_true(w.limit_bytes == 512 * 1048576.0);
    struct pt_cause cause;
    pt_death_find(&w, SIGKILL, &cause);
    assert_int_equal(cause.kind, PT_CAUSE_MEMORY_LIMIT);
    assert_non_null(strstr(cause.text, "512 MiB"));
    assert_non_null(strstr(cause.text, "120 times"));
    test_free(set);
}

static void what_is_not_recorded_is_not_counted(void **state) {
    (void)state;
    static const struct track others[] = {
        { "container", "/other", "cIsRecorded", 'g', 0, 0 },
        { "container", "/other", "cOomKills", 'c', 900, 0 },
        { "mem", NULL, "vMemoryFree", 'g', 1, 0 },
        { 0 },
    };
    static const struct track unsaid[] = { { "container", "/own", "cOomKills", 'c', 9, 0 },
                                           { "mem", NULL, "vOomKills", 'c', NAN, 0 },
                                           { 0 } };
    static const struct track none[] = { { "cpu", NULL, "vCpuIdleTime", 'c', 9, 0 }, { 0 } };
    static const struct track *const lists[] = { others, unsaid, none };
    for (size_t i = 0; i < PT_COUNT(lists); i++) {
        struct track_set *set;
        struct pt_death_watch w = { 0 };
        make(&set, lists[i]);
        see(&w, set, 0);
        see(&w, set, 1);
        assert_false(w.own_kills.is_known || w.limit_hits.is_known || w.machine_kills.is_known);
        assert_true(w.limit_bytes == 0);
        test_free(set);
    }
}

/* `own`, `hits`, `machine`: by how much the counters have grown. */
static void check(double own, double hits, double machine, int status, enum pt_cause_kind kind,
                  const char *const words[3]) {
    const struct pt_death_watch w = { .own_kills = { 5, 5 + own, true },
                                      .limit_hits = { 7, 7 + hits, true },
                                      .machine_kills = { 9, 9 + machine, true } };
    struct pt_cause cause;
    pt_death_find(&w, status, &cause);
    assert_int_equal(cause.kind, kind);
    for (int i = 0; i < 3 && words[i]; i++)
        if (!strstr(cause.text, words[i]))
            fail_msg("'%s' is not in '%s'", words[i], cause.text);
    if (!words[0])
        assert_string_equal(cause.text, "");
}

#define WORDS(...) ((const char *const[3]){ __VA_ARGS__ })
#define EXIT(code) ((code) << 8)

static void an_end_has_the_cause_that_the_counters_tell(void **state) {
    (void)state;
    check(0, 0, 0, EXIT(0), PT_CAUSE_NONE, WORDS(NULL));
    check(3, 3, 3, EXIT(0), PT_CAUSE_NONE, WORDS(NULL));
    check(0, 0, 0, EXIT(1), PT_CAUSE_EXIT, WORDS("with 1"));
    check(2, 9, 0, EXIT(3), PT_CAUSE_EXIT, WORDS("with 3", "OOM killer", "2 of its processes"));
    check(0, 4, 5, EXIT(255), PT_CAUSE_EXIT, WORDS("with 255", "limit", "4 times"));
    check(0, 0, 5, EXIT(1), PT_CAUSE_EXIT, WORDS("with 1"));
    check(0, 0, 0, SIGKILL, PT_CAUSE_SIGNAL, WORDS("signal 9", "Killed"));
    check(0, 9, 0, SIGKILL, PT_CAUSE_SIGNAL, WORDS("signal 9"));
    check(9, 9, 9, SIGTERM, PT_CAUSE_SIGNAL, WORDS("signal 15", "Terminated"));
    check(0, 0, 0, SIGHUP, PT_CAUSE_SIGNAL, WORDS("signal 1"));
    check(1, 6, 1, SIGKILL, PT_CAUSE_MEMORY_LIMIT, WORDS("limit", "6 times"));
    check(1, 0, 1, SIGKILL, PT_CAUSE_OOM_KILL, WORDS("OOM killer", "machine"));
    check(0, 6, 2, SIGKILL, PT_CAUSE_OOM_KILL, WORDS("SIGKILL", "2 processes"));
    /* counters that fell were reset */
    check(-1, -1, -1, SIGKILL, PT_CAUSE_SIGNAL, WORDS("signal 9"));
}

static void every_cause_has_its_name_and_is_written(void **state) {
    (void)state;
    static const char *const names[] = { "none",         "exit",  "signal", "oom-kill",
                                         "memory-limit", "alert", "health", "request" };
    for (size_t i = 0; i < PT_COUNT(names); i++) {
        const struct pt_cause cause = { (enum pt_cause_kind)i, "a \"text\"" };
        struct pt_buf text = { 0 };
        char expected[96];
        assert_string_equal(pt_cause_name((enum pt_cause_kind)i), names[i]);
        pt_cause_write(&cause, &text);
        struct pt_str written = pt_buf_as_str(&text);
        snprintf(expected, sizeof expected, "\"%s\"", names[i]);
        char copy[256];
        pt_str_copy(copy, sizeof copy, written);
        assert_non_null(strstr(copy, expected));
        assert_non_null(strstr(copy, "a \\\"text\\\""));
        pt_buf_release(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(the_counters_of_the_command_are_seen,
                "the counters of the command and of the machine are seen"),
        PT_TEST(what_is_not_recorded_is_not_counted, "rows of others are not counted"),
        PT_TEST(an_end_has_the_cause_that_the_counters_tell,
                "the end of a command has the cause that the counters tell"),
        PT_TEST(every_cause_has_its_name_and_is_written, "every cause has a name and is written"),
    };
    return cmocka_run_group_tests_name("death", tests, NULL, NULL);
}
