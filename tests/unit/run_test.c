/* How a run is found, named and given a directory. */
#include "tree.h"

#include "base/out.h"
#include "base/mem.h"
#include "store/leftovers.h"
#include "store/run.h"

#include <errno.h>
#include <sys/file.h>
#include <sys/time.h>
#include <time.h>

static struct tree tree;

static int enter_tree(void **state) {
    (void)state;
    tree_make(&tree);
    return chdir(tree.root);
}

static int leave_tree(void **state) {
    (void)state;
    int rc = chdir("/");
    tree_remove(&tree);
    return rc;
}

/* A journal that was last written that many seconds after 1970. */
static void put_run(const char *name, time_t seconds) {
    tree_put(&tree, name, "x");
    struct timeval times[2] = { { seconds, 0 }, { seconds, 0 } };
    assert_int_equal(utimes(tree_path(&tree, name), times), 0);
}

static void check_found(const char *run, const char *expected, int other_count) {
    char journal[PATH_MAX];
    struct pt_err err = { "" };
    int others = -1;
    if (pt_run_find(run, journal, &others, &err))
        fail_msg("%s", err.text);
    assert_string_equal(journal, expected);
    assert_int_equal(others, other_count);
}

static void check_not_found(const char *run, const char *words) {
    char journal[PATH_MAX];
    struct pt_err err = { "" };
    int others;
    assert_int_equal(pt_run_find(run, journal, &others, &err), -ENOENT);
    if (!strstr(err.text, words))
        fail_msg("'%s' does not say '%s'", err.text, words);
}

static void the_newest_run_of_a_directory_is_taken(void **state) {
    (void)state;
    put_run("out/aaaa.pitot", 1000);
    put_run("out/bbbb.pitot", 3000);
    put_run("out/cccc.pitot", 2000);
    put_run("out/dddd.parquet", 9000);
    check_found("out", "out/bbbb.pitot", 2);
}

static void a_journal_is_taken_as_it_is(void **state) {
    (void)state;
    put_run("out/aaaa.pitot", 1000);
    put_run("other-name", 1000);
    check_found("out/aaaa.pitot", "out/aaaa.pitot", 0);
    check_found("other-name", "other-name", 0);
}

static void the_start_of_a_uuid_is_looked_for_in_the_default_directory(void **state) {
    (void)state;
    put_run("profiler-output/12ab.pitot", 1000);
    put_run("profiler-output/12cd.pitot", 2000);
    check_found("12a", "./profiler-output/12ab.pitot", 0);
    check_found("12", "./profiler-output/12cd.pitot", 1);
    check_not_found("13", "no run called 13");
}

static void a_directory_without_runs_says_so(void **state) {
    (void)state;
    tree_directory(&tree, "empty");
    check_not_found("empty", "no run (*.pitot) in empty");
}

static void missing_directories_are_made(void **state) {
    (void)state;
    const char *const names[] = { "a/b/c", "d/", "./e//f/", "a/b/g" };
    struct pt_err err = { "" };
    size_t made_from;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        assert_int_equal(pt_run_make_directory(names[i], &made_from, &err), 0);
        assert_true(made_from > 0);
        assert_int_equal(access(names[i], W_OK), 0);
        assert_int_equal(pt_run_make_directory(names[i], &made_from, &err), 0);
        assert_int_equal(made_from, 0);
    }
    assert_int_equal(pt_run_make_directory("/", &made_from, &err), 0);
    assert_int_equal(made_from, 0);
}

static void only_made_directories_are_taken_away(void **state) {
    (void)state;
    struct pt_err err = { "" };
    size_t made_from;
    assert_int_equal(pt_run_make_directory("was", &made_from, &err), 0);
    assert_int_equal(pt_run_make_directory("was/x/y/z", &made_from, &err), 0);
    pt_run_remove_directory("was/x/y/z", made_from);
    assert_int_equal(access("was/x", F_OK), -1);
    assert_int_equal(access("was", F_OK), 0);
    pt_run_remove_directory("was", 0);
    assert_int_equal(access("was", F_OK), 0);
}

static void what_cannot_be_a_directory_is_refused_by_name(void **state) {
    (void)state;
    struct pt_err err = { "" };
    size_t made_from;
    put_run("file", 1);
    assert_int_equal(pt_run_make_directory("file", &made_from, &err), -ENOTDIR);
    assert_non_null(strstr(err.text, "file is not a directory"));
    assert_int_equal(pt_run_make_directory("file/below", &made_from, &err), -ENOTDIR);
    assert_non_null(strstr(err.text, "file/below"));
    assert_int_equal(pt_run_make_directory("", &made_from, &err), -ENAMETOOLONG);
    assert_int_equal(pt_run_make_directory("/proc/pitot", &made_from, &err), -ENOENT);
    assert_non_null(strstr(err.text, "/proc/pitot"));
}

static void check_split(const char *journal, const char *directory, const char *name) {
    char d[PATH_MAX], n[NAME_MAX + 1];
    pt_run_split(journal, d, n);
    assert_string_equal(d, directory);
    assert_string_equal(n, name);
}

static void a_journal_splits_into_directory_and_name(void **state) {
    (void)state;
    check_split("out/12ab.pitot", "out", "12ab");
    check_split("/12ab.pitot", "/", "12ab");
    check_split("12ab.pitot", ".", "12ab");
    check_split("a/b/journal", "a/b", "journal");
}

#define RUN_TEST(function, sentence) \
    { sentence, function, enter_tree, leave_tree, NULL }

#define UUID "1374ca0c-bef8-41fb-96b3-5da966914eab"

static void put_old_fifo(const char *name) {
    struct timeval times[2] = { { 1000, 0 }, { 1000, 0 } };
    assert_int_equal(mkfifo(tree_path(&tree, name), 0600), 0);
    assert_int_equal(utimes(tree_path(&tree, name), times), 0);
}

static bool is_there(const char *name) {
    return access(tree_path(&tree, name), F_OK) == 0;
}

static void only_what_nobody_uses_is_a_leftover(void **state) {
    (void)state;
    const char *const gone[] = { "o/" UUID ".csv.tmp", "o/static_" UUID ".json.tmp" };
    const char *const kept[] = { "o/" UUID ".csv", "o/notes.tmp", "o/static_notes.tmp",
                                 "o/" UUID ".pitot", "o/" UUID ".text.ctl" };
    for (size_t i = 0; i < PT_COUNT(gone); i++)
        put_run(gone[i], 1000);
    for (size_t i = 0; i < PT_COUNT(kept); i++)
        put_run(kept[i], 1000);
    put_run("o/" UUID ".html.tmp", time(NULL)); /* it may not be locked yet */
    put_run("o/" UUID ".parquet.tmp", 1000);
    int written = open(tree_path(&tree, "o/" UUID ".parquet.tmp"), O_WRONLY | O_CLOEXEC);
    assert_int_equal(flock(written, LOCK_EX), 0);
    put_old_fifo("o/" UUID ".ctl");
    put_old_fifo("o/" UUID "-2.ctl");
    int reader = open(tree_path(&tree, "o/" UUID "-2.ctl"), O_RDWR | O_NONBLOCK | O_CLOEXEC);
    pt_leftovers_remove("o");
    for (size_t i = 0; i < PT_COUNT(gone); i++)
        assert_false(is_there(gone[i]));
    for (size_t i = 0; i < PT_COUNT(kept); i++)
        assert_true(is_there(kept[i]));
    assert_true(is_there("o/" UUID ".html.tmp"));
    assert_true(is_there("o/" UUID ".parquet.tmp"));
    assert_false(is_there("o/" UUID ".ctl"));
    assert_true(is_there("o/" UUID "-2.ctl"));
    close(written);
    close(reader);
    pt_leftovers_remove("o");
    assert_false(is_there("o/" UUID ".parquet.tmp"));
    assert_false(is_there("o/" UUID "-2.ctl"));
    pt_leftovers_remove("no-such-directory");
}

static void a_file_that_is_being_written_is_not_a_leftover(void **state) {
    (void)state;
    struct timeval times[2] = { { 1000, 0 }, { 1000, 0 } };
    struct pt_err err;
    struct pt_out out;
    tree_directory(&tree, "w");
    assert_int_equal(pt_out_create(&out, "w/" UUID ".csv", &err), 0);
    char *temporary = pt_asprintf("w/%s", out.temporary);
    assert_int_equal(utimes(tree_path(&tree, temporary), times), 0);
    pt_free(temporary);
    pt_leftovers_remove("w");
    assert_int_equal(pt_out_close(&out), 0);
    assert_true(is_there("w/" UUID ".csv"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        RUN_TEST(the_newest_run_of_a_directory_is_taken, "the newest run of a directory is taken"),
        RUN_TEST(a_journal_is_taken_as_it_is, "a journal is taken as it is"),
        RUN_TEST(the_start_of_a_uuid_is_looked_for_in_the_default_directory,
                 "the start of a uuid is looked for in the default directory"),
        RUN_TEST(a_directory_without_runs_says_so, "a directory without runs says so"),
        RUN_TEST(missing_directories_are_made, "C012: missing directories are made"),
        RUN_TEST(only_made_directories_are_taken_away,
                 "C015: only directories that were made are taken away"),
        RUN_TEST(what_cannot_be_a_directory_is_refused_by_name,
                 "C012: what cannot be a directory is refused by name"),
        RUN_TEST(a_journal_splits_into_directory_and_name,
                 "a journal splits into directory and name"),
        RUN_TEST(only_what_nobody_uses_is_a_leftover,
                 "C018: only files of runs that nobody writes or reads are leftovers"),
        RUN_TEST(a_file_that_is_being_written_is_not_a_leftover,
                 "C018: a file that is being written is not a leftover"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
