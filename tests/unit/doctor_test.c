/* Every check answers, on this machine and on copies of others, and says what to do. */
#include "json_text.h"
#include "scripted.h"

#include "doctor/doctor.h"
#include "base/attr.h"

#include <dirent.h>
#include <limits.h>
#include <stdio.h>

static const char *const expected_ids[] = {
    "kernel",      "procfs",  "output",     "tick",    "clock",       "memory",      "nofile",
    "priority",    "hidepid", "process_io", "smaps",   "proc_events", "taskstats",   "diskstats",
    "pressure",    "cgroup",  "own_cgroup", "cpufreq", "perf",        "cpu_profile", "confined",
    "pmu",         "kptr",    "rapl",       "nvml",    "dri",         "gpu_tools",   "http_client",
    "http_server", "elf",     "snappy",     "sqlite",  "terminal",
};

static void open_live(struct pt_fs *fs) {
    struct pt_err err;
    assert_int_equal(pt_fs_open(fs, "/proc", "/sys", "/", &err), 0);
}

static void open_fixture(struct pt_fs *fs, const char *name) {
    char proc[PATH_MAX], sys[PATH_MAX], root[PATH_MAX];
    const char *source = getenv("PITOT_SOURCE");
    struct pt_err err;
    snprintf(proc, sizeof proc, "%s/tests/fixtures/%s/proc", source, name);
    snprintf(sys, sizeof sys, "%s/tests/fixtures/%s/sys", source, name);
    snprintf(root, sizeof root, "%s/tests/fixtures/%s/root", source, name);
    assert_int_equal(pt_fs_open(fs, proc, sys, root, &err), 0);
}

static char *doctor_text(const struct pt_fs *fs, bool as_json, bool use_colour, int *exit_code) {
    struct pt_out out;
    memory_open(&out);
    *exit_code = pt_doctor_run(fs, as_json, use_colour, &out);
    return memory_text(&out);
}

static json_t *doctor_json(const struct pt_fs *fs) {
    int exit_code;
    char *text = doctor_text(fs, true, false, &exit_code);
    json_t *root = parsed(text);
    pt_free(text);
    assert_number(root, "exit_code", exit_code);
    return root;
}

static json_t *check_of(json_t *root, const char *id) {
    size_t i;
    json_t *check;
    json_array_foreach(at(root, "checks"), i, check) {
        if (strcmp(json_string_value(at(check, "id")), id) == 0)
            return check;
    }
    fail_msg("no check %s", id);
    return NULL;
}

static void assert_state(json_t *root, const char *id, const char *state) {
    json_t *check = check_of(root, id);
    const char *found = json_string_value(at(check, "state"));
    if (strcmp(found, state) != 0)
        fail_msg("%s is %s: %s", id, found, json_string_value(at(check, "found")));
}

/* Findings are words; whatever is not ok has a remedy, whatever is ok has none. */
static void assert_complete(json_t *root) {
    size_t i;
    json_t *check;
    json_array_foreach(at(root, "checks"), i, check) {
        bool is_ok = strcmp(json_string_value(at(check, "state")), "ok") == 0;
        assert_true(json_string_length(at(check, "found")) > 0);
        if (json_is_null(at(check, "remedy")) != is_ok)
            fail_msg("%s: remedy", json_string_value(at(check, "id")));
        if (!is_ok)
            assert_true(json_string_length(at(check, "remedy")) > 0);
    }
    double sum = json_number_value(at(root, "ok")) + json_number_value(at(root, "limited")) +
                 json_number_value(at(root, "missing"));
    assert_true(sum == (double)PT_COUNT(expected_ids));
}

static void ids_stay_what_they_are(void **state) {
    (void)state;
    struct pt_fs fs;
    open_live(&fs);
    json_t *root = doctor_json(&fs), *found = at(root, "checks");
    assert_int_equal(json_array_size(found), PT_COUNT(expected_ids));
    for (size_t i = 0; i < PT_COUNT(expected_ids); i++)
        assert_text(json_array_get(found, i), "id", expected_ids[i]);
    json_decref(root);
    pt_fs_close(&fs);
}

/* What was built stands in the directory of modules, beside libraries for other programs. */
static void modules_that_were_built_are_found(void **state) {
    (void)state;
    struct pt_fs fs;
    open_live(&fs);
    json_t *root = doctor_json(&fs);
    DIR *d = opendir(getenv("PITOT_MODULES"));
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d));) {
        char *end = strstr(e->d_name, ".so");
        if (!end || end[3] || strncmp(e->d_name, "lib", 3) == 0)
            continue;
        *end = '\0';
        for (char *dash = e->d_name; (dash = strchr(dash, '-'));)
            *dash = '_';
        assert_state(root, e->d_name, "ok");
    }
    closedir(d);
    json_decref(root);
    pt_fs_close(&fs);
}

static void modules_that_are_missing_say_what_to_install(void **state) {
    (void)state;
    static const char *const cases[][2] = {
        { "http_client", "apt-get install libcurl4" },
        { "http_server", "apt-get install libmicrohttpd12 libjansson4" },
        { "elf", "apt-get install libdw1" },
        { "snappy", "apt-get install libsnappy1v5" },
        { "sqlite", "apt-get install libsqlite3-0" },
        { "terminal", "apt-get install libncursesw6" },
    };
    struct pt_fs fs;
    char *before = pt_strdup(getenv("PITOT_MODULES"));
    open_live(&fs);
    setenv("PITOT_MODULES", "/nowhere", 1);
    json_t *root = doctor_json(&fs);
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        assert_state(root, cases[i][0], "missing");
        assert_text(check_of(root, cases[i][0]), "remedy", cases[i][1]);
    }
    assert_complete(root);
    setenv("PITOT_MODULES", before, 1);
    pt_free(before);
    json_decref(root);
    pt_fs_close(&fs);
}

static void this_machine_gets_an_answer_for_every_check(void **state) {
    (void)state;
    struct pt_fs fs;
    open_live(&fs);
    json_t *root = doctor_json(&fs);
    assert_complete(root);
    assert_state(root, "procfs", "ok");
    json_decref(root);
    pt_fs_close(&fs);
}

static void a_copied_server_shows_what_its_files_say(void **state) {
    (void)state;
    struct pt_fs fs;
    open_fixture(&fs, "static-x86");
    json_t *root = doctor_json(&fs);
    assert_complete(root);
    assert_state(root, "kernel", "ok");
    assert_state(root, "clock", "ok");
    assert_state(root, "memory", "ok");
    assert_state(root, "cgroup", "ok");
    assert_state(root, "rapl", "ok");
    assert_state(root, "pressure", "ok");
    assert_state(root, "cpufreq", "ok");
    assert_state(root, "diskstats", "limited");
    assert_text(check_of(root, "diskstats"), "remedy",
                "echo 1 | sudo tee /sys/block/sda/queue/iostats");
    assert_state(root, "perf", "limited");
    assert_state(root, "cpu_profile", "limited");
    assert_state(root, "own_cgroup", "limited");
    assert_number(root, "exit_code", 1);
    json_decref(root);
    pt_fs_close(&fs);
}

static void an_empty_proc_means_that_nothing_can_be_recorded(void **state) {
    (void)state;
    char directory[] = "/tmp/pitot-static-XXXXXX";
    struct pt_fs fs;
    struct pt_err err;
    int exit_code;
    assert_non_null(mkdtemp(directory));
    assert_int_equal(pt_fs_open(&fs, directory, directory, directory, &err), 0);
    json_t *root = doctor_json(&fs);
    assert_complete(root);
    assert_state(root, "procfs", "missing");
    assert_state(root, "pressure", "missing");
    assert_state(root, "cgroup", "missing");
    assert_state(root, "clock", "limited");
    assert_number(root, "exit_code", 2);
    json_decref(root);
    char *text = doctor_text(&fs, false, false, &exit_code);
    assert_non_null(strstr(text, "Recording would fail."));
    pt_free(text);
    pt_fs_close(&fs);
    rmdir(directory);
}

static void the_table_is_aligned_and_plain_without_colour(void **state) {
    (void)state;
    struct pt_fs fs;
    int exit_code;
    open_fixture(&fs, "static-x86");
    char *text = doctor_text(&fs, false, false, &exit_code);
    assert_int_equal(exit_code, 1);
    assert_null(strchr(text, '\033'));
    assert_non_null(strstr(text, "ok       Kernel               Linux 6.1.0-18-amd64\n"));
    assert_non_null(strstr(text, "limited  Disk counters        switched off for sda\n"
                                 "                              -> echo 1 | sudo tee"));
    assert_non_null(strstr(text, "Recording works;"));
    pt_free(text);
    text = doctor_text(&fs, false, true, &exit_code);
    assert_non_null(strstr(text, "\033[32mok     \033[0m"));
    pt_free(text);
    pt_fs_close(&fs);
}

static void a_gpu_that_does_not_answer_has_a_reason_and_a_remedy(void **state) {
    (void)state;
    static const struct {
        const char *script, *state, *found;
    } cases[] = {
        { "devices 2\nnvmlSystemGetDriverVersion * 550.54.15\n", "ok", "2, driver 550.54.15" },
        { "devices 1\nnvmlInit * !9\n", "missing", "the driver is not loaded" },
        { "devices 1\nnvmlInit * !18\n", "missing", "different versions" },
        { "devices 1\nnvmlInit * !4\n", "missing", "no permission" },
        { "devices 1\nnvmlDeviceGetCount * !999\n", "missing", "Unknown Error" },
    };
    struct pt_fs fs;
    open_live(&fs);
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        play("PITOT_SCRIPTED_NVML", cases[i].script);
        json_t *root = doctor_json(&fs), *check = check_of(root, "nvml");
        assert_text(check, "state", cases[i].state);
        assert_non_null(strstr(json_string_value(at(check, "found")), cases[i].found));
        assert_complete(root);
        json_decref(root);
    }
    stop_playing(NULL);
    pt_fs_close(&fs);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(ids_stay_what_they_are, "ids of checks stay what they are"),
        PT_TEST(modules_that_were_built_are_found, "modules that were built are found"),
        PT_TEST(modules_that_are_missing_say_what_to_install,
                "modules that are missing say what to install"),
        PT_TEST(this_machine_gets_an_answer_for_every_check,
                "this machine gets an answer for every check"),
        PT_TEST(a_copied_server_shows_what_its_files_say,
                "C133: a copied server shows what its files say"),
        PT_TEST(an_empty_proc_means_that_nothing_can_be_recorded,
                "an empty /proc means that nothing can be recorded"),
        PT_TEST(the_table_is_aligned_and_plain_without_colour,
                "the table is aligned, and plain without colour"),
        PT_TEST(a_gpu_that_does_not_answer_has_a_reason_and_a_remedy,
                "C115 C202: a GPU that does not answer has a reason and a remedy"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
