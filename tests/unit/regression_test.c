/* Steps that become slower: what a monitor says of them. The clock is the test's own. */
#include "own_process.h"

#include "analyze/change_point.h"
#include "libpitot/regression.h"

#include <pitot/config.h>
#include <pitot/monitor.h>

#define MS INT64_C(1000000)

static int64_t now_ns = 1000 * MS;
static uint64_t number;

/* Steps of that many milliseconds, sometimes half a millisecond more; returns the changes. */
static int run_steps(const char *name, int count, double ms) {
    pt_regression found;
    int told = 0;
    for (int i = 0; i < count; i++) {
        now_ns += (int64_t)(ms * (double)MS) + (int64_t)(i * 7 % 11) * MS / 20;
        told += pt_regression_step(name, ++number, now_ns, &found);
    }
    return told;
}

static struct {
    int on, off;
    char text[128];
} heard;

static void hear(void *arg, const pt_alert *alert, bool is_on) {
    (void)arg;
    *(is_on ? &heard.on : &heard.off) += 1;
    snprintf(heard.text, sizeof heard.text, "%s", alert->text);
}

static void become_slower(void) {
    pt_alert alerts[4];
    pt_regression found[4];
    pt_monitor *monitor = pt_monitor_new();
    pt_monitor_clear_rules(monitor);
    pt_monitor_on_alert(monitor, hear, NULL);
    expect(run_steps("train_step", 500, 10) == 0);
    expect(pt_monitor_check(monitor, alerts, 4) == 0 && pt_regressions(found, 4) == 0);
    expect(run_steps("train_step", 500, 12) == 1);
    expect(pt_regressions(found, 4) == 1 && pt_regressions(NULL, 0) == 1);
    expect(!strcmp(found[0].name, "train_step"));
    expect(found[0].step >= 485 && found[0].step <= 515);
    expect(found[0].before > 0.0100 && found[0].before < 0.0105);
    expect(found[0].after > 0.0120 && found[0].after < 0.0125);
    expect(found[0].p < PT_SHIFT_P);
    expect(pt_monitor_check(monitor, alerts, 4) == 1 && heard.on == 1 && heard.off == 0);
    expect(strstr(alerts[0].text, "step time of train_step rose from 10.") == alerts[0].text);
    expect(strstr(alerts[0].text, " ms to 12.") && strstr(alerts[0].text, " ms at step "));
    expect(strstr(alerts[0].text, "(p = ") != NULL);
    expect(pt_monitor_check(monitor, alerts, 4) == 1 && heard.on == 1);
    char *report = pt_monitor_report_json(monitor);
    expect(report && strstr(report, "step time of train_step rose from"));
    free(report);
    expect(run_steps("train_step", 500, 10) == 0);
    expect(pt_monitor_check(monitor, alerts, 4) == 0 && heard.off == 1);
    expect(pt_regressions(found, 4) == 0);
    pt_monitor_free(monitor);
}

static void test_slower(void **state) {
    (void)state;
    run_child(become_slower);
}

static void name_many(void) {
    char name[100];
    for (int i = 0; i < 2 * PT_REGRESSION_NAMES; i++) {
        snprintf(name, sizeof name, "step %d", i);
        run_steps(name, 200, 5);
        int told = run_steps(name, 300, 8);
        expect(told == (i < PT_REGRESSION_NAMES));
    }
    expect(pt_regressions(NULL, 0) == PT_REGRESSION_NAMES);
}

static void test_names(void **state) {
    (void)state;
    run_child(name_many);
}

static void cut_name(void) {
    char name[200];
    pt_regression found[1];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = 0;
    run_steps(name, 300, 5);
    expect(run_steps(name, 300, 8) == 1);
    expect(pt_regressions(found, 1) == 1 && strlen(found[0].name) == sizeof found[0].name - 1);
}

static void test_long_name(void **state) {
    (void)state;
    run_child(cut_name);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(test_slower, "C235: steps that become slower are an alert of every monitor, "
                             "until they are fast again"),
        PT_TEST(test_names, "C235: a limited number of step names is watched"),
        PT_TEST(test_long_name, "C235: a long name is cut"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
