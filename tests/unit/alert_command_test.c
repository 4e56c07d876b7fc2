/* The command that alerts run: one at a time, in order, bounded, never waited for. */
#include "tree.h"

#include "sampler/alert_command.h"
#include "sampler/alerts.h"

#include <sys/wait.h>

static const struct pt_table *tables[1];
static struct pt_schema schema = { tables, 1 };
static struct tree tree;

static int make_tree(void **state) {
    (void)state;
    tables[0] = pt_alert_table;
    tree_make(&tree);
    return chdir(tree.root);
}

static int remove_tree(void **state) {
    (void)state;
    int rc = chdir("/");
    tree_remove(&tree);
    return rc;
}

static void fill(struct pt_sample *s, int first, int count) {
    struct pt_batch *b = &s->batches[0];
    pt_sample_clear(s);
    s->wall_ns = INT64_C(1700000000123000000);
    for (int i = first; i < first + count; i++) {
        char name[16];
        int n = snprintf(name, sizeof name, "rule-%d", i);
        pt_batch_add_row(b);
        pt_set_str(b, pt_table_find(b->table, "aRule"), (struct pt_str){ name, (size_t)n });
        pt_set_str(b, pt_table_find(b->table, "aState"), PT_STR("on"));
        pt_set_f64(b, pt_table_find(b->table, "aValue"), 0.1);
    }
}

static void see(struct pt_alert_command *c, int first, int count) {
    struct pt_sample s;
    pt_sample_init(&s, &schema);
    fill(&s, first, count);
    pt_alert_command_add(c, &s);
    pt_sample_release(&s);
}

static void check_file(const char *name, const char *expected) {
    char text[4096] = "";
    FILE *file = fopen(name, "r");
    assert_non_null(file);
    size_t n = fread(text, 1, sizeof text - 1, file);
    text[n] = 0;
    fclose(file);
    assert_string_equal(text, expected);
}

static void calls_run_one_after_the_other(void **state) {
    (void)state;
    struct pt_alert_command c = { .command = "echo $PITOT_ALERT_RULE begins >>log; "
                                             "echo $PITOT_ALERT_VALUE $PITOT_ALERT_TIME "
                                             "$PITOT_ALERT_RUN >>log",
                                  .run = "x.pitot" };
    see(&c, 1, 3);
    assert_int_equal(c.count, 2); /* one runs */
    pt_alert_command_finish(&c);
    check_file("log", "rule-1 begins\n0.10000000000000001 1700000000123 x.pitot\n"
                      "rule-2 begins\n0.10000000000000001 1700000000123 x.pitot\n"
                      "rule-3 begins\n0.10000000000000001 1700000000123 x.pitot\n");
    assert_int_equal(c.failed_count, 0);
    assert_int_equal(c.dropped_count, 0);
}

/* What the shell had started is killed as well, but it is up to init to reap it. */
static bool is_gone(pid_t group) {
    for (int i = 0; i < 1000 && kill(-group, 0) == 0; i++)
        usleep(10000);
    return kill(-group, 0) != 0;
}

static void too_many_calls_are_dropped_and_slow_ones_killed(void **state) {
    (void)state;
    struct pt_alert_command c = { .command = "sleep 1000" };
    see(&c, 0, PT_ALERT_COMMAND_WAITING);
    see(&c, 0, 10);
    assert_int_equal(c.count, PT_ALERT_COMMAND_WAITING);
    assert_int_equal(c.dropped_count, 10 - 1); /* the first left room: it runs */
    pid_t first = c.pid;
    pt_alert_command_check(&c, c.started_ns);
    assert_int_equal(c.pid, first);
    assert_true(pt_alert_command_deadline(&c) > c.started_ns);
    for (int i = 0; i <= PT_ALERT_COMMAND_WAITING; i++)
        pt_alert_command_check(&c, INT64_MAX);
    assert_int_equal(c.pid, 0);
    assert_int_equal(c.count, 0);
    assert_int_equal(c.failed_count, PT_ALERT_COMMAND_WAITING + 1);
    assert_true(is_gone(first));
}

static void failures_are_counted(void **state) {
    (void)state;
    struct pt_alert_command c = { .command = "exit 3" };
    see(&c, 0, 5);
    pt_alert_command_finish(&c);
    assert_int_equal(c.failed_count, 5);
}

static void without_a_command_nothing_happens(void **state) {
    (void)state;
    struct pt_alert_command c = { 0 };
    see(&c, 0, 5);
    assert_int_equal(c.count, 0);
    assert_int_equal(c.pid, 0);
    assert_int_equal(pt_alert_command_deadline(&c), INT64_MAX);
    pt_alert_command_finish(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define WITH_TREE(function, sentence) { sentence, function, make_tree, remove_tree, NULL }
        WITH_TREE(calls_run_one_after_the_other, "calls run one after the other, in order"),
        WITH_TREE(too_many_calls_are_dropped_and_slow_ones_killed,
                  "too many calls are dropped, and slow ones killed"),
        WITH_TREE(failures_are_counted, "failures are counted"),
        WITH_TREE(without_a_command_nothing_happens, "without a command nothing happens"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
