/* How texts call what a run is about. */
#include "tree.h"

#include "base/mem.h"
#include "store/subject.h"

static void check(const struct pt_subject *s, const char *text, const char *expected) {
    char into[PT_SUBJECT_TEXT];
    assert_string_equal(pt_subject_say(s, text, into, sizeof into), expected);
}

static void each_subject_has_its_words(void **state) {
    (void)state;
    static const char title[] = "Command: CPU", label[] = "command, mean",
                      bound[] = "CPU-bound: the command keeps all its CPUs busy",
                      steal[] = "the CPUs this command needs", whole[] = "The command waits";
    const struct pt_subject command = { 0 }, machine = { .kind = PT_SUBJECT_MACHINE };
    check(&command, title, title);
    check(&command, bound, bound);
    check(&machine, bound, "CPU-bound: the machine keeps all its CPUs busy");
    check(&machine, title, "The machine: CPU");
    struct pt_subject process = { PT_SUBJECT_PROCESS, "process 42 (a (b))" };
    check(&process, title, "Process 42: CPU");
    check(&process, label, "process 42, mean");
    check(&process, bound, "CPU-bound: process 42 (a (b)) keeps all its CPUs busy");
    check(&process, steal, "the CPUs process 42 (a (b)) needs");
    check(&process, whole, "Process 42 (a (b)) waits");
    check(&process, "a Command: and a command, inside", "a Command: and a command, inside");
    check(&process, "", "");
}

static void a_text_that_does_not_fit_is_cut(void **state) {
    (void)state;
    const struct pt_subject process = { PT_SUBJECT_PROCESS, "process 4242" };
    char into[12];
    assert_string_equal(pt_subject_say(&process, "so the command", into, sizeof into),
                        "so process ");
    assert_string_equal(pt_subject_say(&process, "abcdefghijklmnop", into, sizeof into),
                        "abcdefghijk");
}

static void several_runs_have_in_common_what_they_share(void **state) {
    (void)state;
    struct pt_subject s = { PT_SUBJECT_PROCESS, "process 1 (a)" };
    pt_subject_join(&s, &(struct pt_subject){ PT_SUBJECT_PROCESS, "process 1 (a)" });
    assert_string_equal(s.name, "process 1 (a)");
    pt_subject_join(&s, &(struct pt_subject){ PT_SUBJECT_PROCESS, "process 2 (b)" });
    check(&s, "Command: CPU", "The process: CPU");
    pt_subject_join(&s, &(struct pt_subject){ 0 });
    check(&s, "Command: CPU", "The subject: CPU");
    struct pt_subject command = { 0 };
    pt_subject_join(&command, &(struct pt_subject){ 0 });
    check(&command, "Command: CPU", "Command: CPU");
}

static void read_back(const char *key, const char *text, struct pt_subject *s) {
    struct pt_journal_note note = { (char *)key, (char *)text, text ? strlen(text) : 0 };
    struct pt_journal_reader reader = { .notes = &note, .note_count = text != NULL };
    pt_subject_read(s, &reader);
}

static void a_subject_survives_its_note(void **state) {
    (void)state;
    static const struct pt_subject subjects[] = {
        { 0 },
        { PT_SUBJECT_PROCESS, "process 42 (sh -c \"x\")" },
        { PT_SUBJECT_CONTAINER, "container web" },
        { .kind = PT_SUBJECT_MACHINE },
    };
    for (size_t i = 0; i < PT_COUNT(subjects); i++) {
        struct pt_buf text = { 0 };
        struct pt_subject back;
        pt_subject_write(&subjects[i], &text);
        pt_buf_u8(&text, 0);
        read_back(PT_SUBJECT_NOTE, (const char *)text.at, &back);
        assert_int_equal(back.kind, subjects[i].kind);
        char expected[PT_SUBJECT_TEXT];
        check(&back, "the command",
              pt_subject_say(&subjects[i], "the command", expected, sizeof expected));
        pt_buf_release(&text);
    }
}

static void runs_without_a_note_have_a_command_or_not(void **state) {
    (void)state;
    struct pt_subject s;
    read_back("static", NULL, &s);
    assert_int_equal(s.kind, PT_SUBJECT_COMMAND);
    read_back("static", "{\"command\": null}", &s);
    assert_int_equal(s.kind, PT_SUBJECT_MACHINE);
    read_back("static", "{\"command\": {\"argv\": [\"null\"]}, \"x\": null}", &s);
    assert_int_equal(s.kind, PT_SUBJECT_COMMAND);
    read_back("static", "{\"command\": nu", &s);
    assert_int_equal(s.kind, PT_SUBJECT_COMMAND);
    read_back(PT_SUBJECT_NOTE, "", &s);
    assert_int_equal(s.kind, PT_SUBJECT_COMMAND);
}

static void processes_are_named_by_what_they_run(void **state) {
    (void)state;
    struct tree tree;
    struct pt_fs fs;
    struct pt_err err;
    struct pt_subject s;
    tree_make(&tree);
    tree_put(
        &tree, "7/stat",
        "7 (my (odd) name) S 1 7 7 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 500 0 0 0 0 0 0 0 0 0 0 0 0 "
        "0 0 0 17 0 0 0 0 0 0\n");
    assert_int_equal(pt_fs_open(&fs, tree.root, "/sys", "/", &err), 0);
    pt_subject_of_pids(&s, &fs, (pid_t[]){ 7 }, 1);
    assert_string_equal(s.name, "process 7 (my (odd) name)");
    pt_subject_of_pids(&s, &fs, (pid_t[]){ 8 }, 1);
    assert_string_equal(s.name, "process 8");
    pt_subject_of_pids(&s, &fs, (pid_t[]){ 7, 8, 9 }, 3);
    assert_string_equal(s.name, "processes 7 and 2 more");
    pt_subject_of_container(&s, "web");
    check(&s, "Command: memory", "Container web: memory");
    pt_fs_close(&fs);
    tree_remove(&tree);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(each_subject_has_its_words, "C327: each subject has its words"),
        PT_TEST(a_text_that_does_not_fit_is_cut, "a text that does not fit is cut"),
        PT_TEST(several_runs_have_in_common_what_they_share,
                "several runs have in common what they share"),
        PT_TEST(a_subject_survives_its_note, "a subject survives its note"),
        PT_TEST(runs_without_a_note_have_a_command_or_not,
                "runs without a note are of a command or of the machine"),
        PT_TEST(processes_are_named_by_what_they_run,
                "C327: processes and containers are called by their names"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
