/* Options: every kind, where they come from, and what is said about wrong ones. */
#include "json_text.h"
#include "tree.h"

#include "base/options.h"

#include <errno.h>

struct values {
    bool is_quiet, wants_help;
    int64_t verbosity, count, rate, interval_ns, duration_ns;
    const char *output, *format;
    double overhead;
    struct pt_option_list tags;
};

enum { RUN = 1, OTHER = 2 };

static const char *format_choice(size_t i) {
    static const char *const names[] = { "csv", "parquet", NULL };
    return names[i];
}

#define AT(member) offsetof(struct values, member)

static const struct pt_option options[] = {
    { "output", 'o', PT_OPTION_TEXT, RUN, AT(output), "./out", "DIR", "where to" },
    { "output", 'o', PT_OPTION_TEXT, OTHER, AT(output), NULL, "DIR", "where else" },
    { "format", 'f', PT_OPTION_TEXT, RUN, AT(format), NULL, "LIST", "formats", format_choice },
    { "interval", 't', PT_OPTION_MS, RUN, AT(interval_ns), "1000", "MS", "between samples" },
    { "duration", 'd', PT_OPTION_S, RUN, AT(duration_ns), NULL, "TIME", "in all" },
    { "max-overhead", 0, PT_OPTION_PERCENT, RUN, AT(overhead), "5", "PERCENT", "at most" },
    { "count", 'n', PT_OPTION_I64, RUN, AT(count), NULL, "N", "a number" },
    { "rate", 0, PT_OPTION_I64, RUN, AT(rate), NULL, "HZ", "samples", NULL, NULL, "99" },
    { "tag", 0, PT_OPTION_LIST, RUN, AT(tags), NULL, "K=V", "labels" },
    { "quiet", 'q', PT_OPTION_FLAG, RUN | OTHER, AT(is_quiet), NULL, NULL, "be quiet" },
    { "verbose", 'v', PT_OPTION_COUNT, RUN | OTHER, AT(verbosity), NULL, NULL, "say more" },
    { "only-other", 0, PT_OPTION_FLAG, OTHER, AT(wants_help), NULL, NULL, "of another" },
};
static struct pt_option_table table = { options, PT_COUNT(options), RUN, "run", true };

/* A parse of a command line, and what came of it. */
struct parse {
    struct values values;
    struct pt_err err;
    int rc, first_operand, argc;
    bool has_dashes;
};

static struct tree home;

static int make_home(void **state) {
    (void)state;
    tree_make(&home);
    setenv("XDG_CONFIG_HOME", home.root, 1);
    for (size_t i = 0; i < PT_COUNT(options); i++) {
        char variable[64];
        pt_option_variable(&options[i], variable, sizeof variable);
        unsetenv(variable);
    }
    return 0;
}

static int remove_home(void **state) {
    (void)state;
    tree_remove(&home);
    return 0;
}

static void put_config(const char *text) {
    tree_put(&home, "pitot/pitot.conf", text);
}

/* Words with blanks between them. */
static void parse(struct parse *p, const char *line) {
    static char words[512];
    char *argv[32] = { (char[]){ "pitot" } };
    *p = (struct parse){ .argc = 1 };
    pt_str_copy(words, sizeof words, pt_str_from(line));
    for (char *word = words; *word;) {
        argv[p->argc++] = word;
        word += strcspn(word, " ");
        if (*word)
            *word++ = 0;
    }
    p->rc = pt_options_parse(&table, &p->values, p->argc, argv, &p->first_operand, &p->has_dashes,
                             &p->err);
}

static void parse_well(struct parse *p, const char *line) {
    parse(p, line);
    if (p->rc)
        fail_msg("%s: %s", line, p->err.text);
}

static void done(struct parse *p) {
    pt_options_release(&table, &p->values);
}

static void check_refused(const char *line, const char *words) {
    struct parse p;
    parse(&p, line);
    assert_int_equal(p.rc, -EINVAL);
    assert_string_equal(p.err.text, words);
    done(&p);
}

static void defaults_hold_where_nothing_is_said(void **state) {
    (void)state;
    struct parse p;
    parse_well(&p, "");
    assert_string_equal(p.values.output, "./out");
    assert_null(p.values.format);
    assert_int_equal(p.values.interval_ns, 1000000000);
    assert_int_equal(p.values.duration_ns, 0);
    assert_true(p.values.overhead == 5);
    assert_int_equal(p.values.tags.count, 0);
    assert_int_equal(p.first_operand, 1);
    assert_false(p.has_dashes);
    done(&p);
}

static void check_every_kind(const char *line) {
    struct parse p;
    parse_well(&p, line);
    assert_string_equal(p.values.output, "dir");
    assert_string_equal(p.values.format, "csv");
    assert_int_equal(p.values.interval_ns, 100000000);
    assert_int_equal(p.values.duration_ns, 60000000000);
    assert_int_equal(p.values.count, -7);
    assert_true(p.values.is_quiet);
    assert_int_equal(p.values.verbosity, 2);
    done(&p);
}

static void short_and_long_forms_mean_the_same(void **state) {
    (void)state;
    check_every_kind("-o dir -f csv -t 100 -d 60 -n -7 -q -v -v");
    check_every_kind("-odir -fcsv -t100 -d60 -n-7 -qvv");
    check_every_kind("--output dir --format csv --interval 100 --duration 60 --count -7 --quiet "
                     "--verbose --verbose");
    check_every_kind("--output=dir --format=csv --interval=100ms --duration=1m --count=-7 --quiet "
                     "-vv");
}

static void a_flag_can_be_taken_back(void **state) {
    (void)state;
    struct parse p;
    put_config("quiet = yes\n");
    parse_well(&p, "");
    assert_true(p.values.is_quiet);
    done(&p);
    parse_well(&p, "--no-quiet");
    assert_false(p.values.is_quiet);
    done(&p);
    parse_well(&p, "--no-quiet -q");
    assert_true(p.values.is_quiet);
    done(&p);
}

static void the_command_line_beats_the_environment_beats_the_file(void **state) {
    (void)state;
    struct parse p;
    put_config("interval = 1\noutput = file\nmax-overhead = 1\n");
    setenv("PITOT_INTERVAL", "2", 1);
    setenv("PITOT_OUTPUT", "environment", 1);
    parse_well(&p, "--interval 3");
    assert_int_equal(p.values.interval_ns, 3000000);
    assert_string_equal(p.values.output, "environment");
    assert_true(p.values.overhead == 1);
    done(&p);
    setenv("PITOT_OUTPUT", "", 1); /* empty is as good as unset */
    parse_well(&p, "");
    assert_int_equal(p.values.interval_ns, 2000000);
    assert_string_equal(p.values.output, "file");
    done(&p);
}

static void a_list_replaces_that_of_a_lower_layer(void **state) {
    (void)state;
    struct parse p;
    put_config("tag = a=1\ntag = b=2\n");
    parse_well(&p, "");
    assert_int_equal(p.values.tags.count, 2);
    assert_string_equal(p.values.tags.items[0], "a=1");
    assert_string_equal(p.values.tags.items[1], "b=2");
    done(&p);
    setenv("PITOT_TAG", "c=3", 1);
    parse_well(&p, "");
    assert_int_equal(p.values.tags.count, 1);
    assert_string_equal(p.values.tags.items[0], "c=3");
    done(&p);
    parse_well(&p, "--tag d=4 --tag e=5");
    assert_int_equal(p.values.tags.count, 2);
    assert_string_equal(p.values.tags.items[0], "d=4");
    assert_string_equal(p.values.tags.items[1], "e=5");
    done(&p);
}

static void a_section_holds_for_its_command_alone(void **state) {
    (void)state;
    struct parse p;
    put_config("# for all\ninterval = 5ms\nonly-other = yes\n[run]\ncount = 3 ; three\n"
               "[other]\ncount = 4\nwhatever = 5\n");
    parse_well(&p, "");
    assert_int_equal(p.values.interval_ns, 5000000);
    assert_int_equal(p.values.count, 3);
    assert_false(p.values.wants_help); /* of another command: known, and of no concern */
    done(&p);
}

static void check_config_refused(const char *config, const char *words) {
    struct parse p;
    char expected[PATH_MAX + 256];
    put_config(config);
    parse(&p, "");
    snprintf(expected, sizeof expected, "%s/pitot/pitot.conf:%s", home.root, words);
    assert_int_equal(p.rc, -EINVAL);
    assert_string_equal(p.err.text, expected);
    done(&p);
}

static void a_wrong_line_of_the_file_is_named(void **state) {
    (void)state;
    check_config_refused("\nintervall = 5\n", "2: unknown key 'intervall'");
    check_config_refused("count = 1\ninterval = soon\ncount = 2\n",
                         "2: interval: 'soon' is not a duration (examples: 100ms, 1s, 5m, 2h)");
    check_config_refused("count = 1\njust words\ncount = x\n", "2: not a 'key = value' line");
    check_config_refused("count = x\njust words\n", "1: count: 'x' is not a whole number");
    char line[400] = "count = 1\noutput = ";
    memset(line + strlen(line), 'x', 300);
    check_config_refused(line, "2: the line is too long");
}

static void files_that_cannot_be_read_are_passed_over_or_named(void **state) {
    (void)state;
    struct parse p;
    parse_well(&p, ""); /* there is none */
    done(&p);
    tree_directory(&home, "pitot/pitot.conf");
    parse(&p, "");
    assert_int_equal(p.rc, -EISDIR);
    assert_non_null(strstr(p.err.text, "cannot read "));
    done(&p);
}

static void wrong_values_are_refused_with_a_remedy(void **state) {
    (void)state;
    check_refused("-t soon", "--interval: 'soon' is not a duration (examples: 100ms, 1s, 5m, 2h)");
    check_refused("-t -5", "--interval: '-5' is not a duration (examples: 100ms, 1s, 5m, 2h)");
    check_refused("-t 5x", "--interval: '5x' has an unknown unit (use us, ms, s, m, h or d)");
    check_refused("-d 300000000000", "--duration: '300000000000' is too long");
    check_refused("-n 1.5", "--count: '1.5' is not a whole number");
    check_refused("-n 9223372036854775808", "--count: '9223372036854775808' is not a whole number");
    check_refused("--max-overhead 5%%",
                  "--max-overhead: '5%%' is not a percentage (examples: 5, 5%)");
    check_refused("--max-overhead inf",
                  "--max-overhead: 'inf' is not a percentage (examples: 5, 5%)");
    check_refused("--max-overhead -1",
                  "--max-overhead: '-1' is not a percentage (examples: 5, 5%)");
}

static void a_wrong_value_of_the_environment_names_the_variable(void **state) {
    (void)state;
    setenv("PITOT_MAX_OVERHEAD", "much", 1);
    check_refused("", "PITOT_MAX_OVERHEAD: 'much' is not a percentage (examples: 5, 5%)");
    unsetenv("PITOT_MAX_OVERHEAD");
    setenv("PITOT_QUIET", "perhaps", 1);
    check_refused("", "PITOT_QUIET: 'perhaps' is neither yes nor no");
}

static void an_unknown_option_gets_a_suggestion(void **state) {
    (void)state;
    check_refused("--intervall 5",
                  "unknown option --intervall, did you mean --interval; see pitot run --help");
    check_refused("--xyz", "unknown option --xyz; see pitot run --help");
    check_refused("--only-other", "unknown option --only-other; see pitot run --help");
    check_refused("-x", "unknown option -x; see pitot run --help");
    check_refused("-qx", "unknown option -x; see pitot run --help");
    check_refused("--no-output", "unknown option --no-output; see pitot run --help");
}

static void a_value_must_be_there_where_it_belongs(void **state) {
    (void)state;
    check_refused("--interval", "option --interval needs a value");
    check_refused("-qt", "option --interval needs a value");
    check_refused("--quiet=yes", "option --quiet takes no value");
    check_refused("--no-quiet=yes", "option --quiet takes no value");
}

static void check_operands(const char *line, int first_operand, bool has_dashes) {
    struct parse p;
    parse_well(&p, line);
    assert_int_equal(p.first_operand, first_operand);
    assert_int_equal(p.has_dashes, has_dashes);
    done(&p);
}

static void options_end_at_dashes_or_at_the_first_operand(void **state) {
    (void)state;
    check_operands("-q -- cmd -q", 3, true);
    check_operands("-- -x", 2, true);
    check_operands("--", 2, true);
    check_operands("-q cmd --unknown", 2, false);
    check_operands("cmd -- more", 1, false);
    check_operands("-o --", 3, false); /* here it is the value of -o */
    check_operands("-o -- --", 4, true);
}

static void options_may_follow_operands_where_no_command_is_run(void **state) {
    (void)state;
    struct parse p;
    table.ends_at_operand = false;
    parse_well(&p, "run -q -n 3");
    assert_true(p.values.is_quiet);
    assert_int_equal(p.values.count, 3);
    assert_int_equal(p.first_operand, 4);
    done(&p);
    check_operands("run -q -- -x", 3, true);
    table.ends_at_operand = true;
}

static void check_duration(const char *text, int64_t expected_ns) {
    struct pt_err err = { "" };
    int64_t ns = -1;
    if (pt_duration_parse(text, 1000000, &ns, &err))
        fail_msg("%s", err.text);
    assert_int_equal(ns, expected_ns);
}

static int64_t rate_of(const char *line, int first_operand) {
    struct parse p;
    parse_well(&p, line);
    assert_int_equal(p.first_operand, first_operand);
    int64_t rate = p.values.rate;
    done(&p);
    return rate;
}

static void an_option_may_stand_alone_where_a_value_is_implied(void **state) {
    (void)state;
    assert_int_equal(rate_of("", 1), 0);
    assert_int_equal(rate_of("--rate=7", 2), 7);
    assert_int_equal(rate_of("--rate -- cat", 3), 99);
    assert_int_equal(rate_of("--rate 7", 2), 99); /* 7 is an operand */
    put_config("rate = 11\n");
    assert_int_equal(rate_of("", 1), 11);
    assert_int_equal(rate_of("--rate", 2), 99);
    check_refused("--rate=", "--rate: '' is not a whole number");
}

static void durations_have_units(void **state) {
    (void)state;
    check_duration("0", 0);
    check_duration("250", 250000000);
    check_duration("7ns", 7);
    check_duration("250us", 250000);
    check_duration("100ms", 100000000);
    check_duration("1.5s", 1500000000);
    check_duration(".5s", 500000000);
    check_duration("2m", 120000000000);
    check_duration("2min", 120000000000);
    check_duration("1h", 3600000000000);
    check_duration("100d", 8640000000000000);
    const char *const wrong[] = { "",   "s",   "1e3", "0x10", "1..5s",         ".", " 1", "1 s",
                                  "1S", "inf", "nan", "-1s",  "1000000000000d" };
    for (size_t i = 0; i < PT_COUNT(wrong); i++) {
        struct pt_err err = { "" };
        int64_t ns = -1;
        if (pt_duration_parse(wrong[i], 1000000, &ns, &err) != -EINVAL)
            fail_msg("'%s' is not a duration", wrong[i]);
        assert_true(strlen(err.text) > 0);
    }
}

static void help_lists_the_options_of_the_command_and_their_choices(void **state) {
    (void)state;
    struct pt_out out;
    memory_open(&out);
    pt_options_help(&table, &out);
    char *text = memory_text(&out);
    assert_non_null(strstr(text, "  -o, --output DIR               where to [./out]\n"));
    assert_non_null(strstr(text, "  -f, --format LIST              formats: csv, parquet\n"));
    assert_non_null(strstr(text, "      --max-overhead PERCENT     at most [5]\n"));
    assert_null(strstr(text, "other"));
    assert_null(strstr(text, "where else"));
    pt_free(text);
}

static void the_variable_of_an_option_has_its_name(void **state) {
    (void)state;
    const struct pt_option dotted = { .name = "path.procfs-x" };
    char variable[64], small[10];
    pt_option_variable(&dotted, variable, sizeof variable);
    assert_string_equal(variable, "PITOT_PATH_PROCFS_X");
    pt_option_variable(&dotted, small, sizeof small);
    assert_string_equal(small, "PITOT_PAT");
}

#define OPTIONS_TEST(function, sentence) \
    { sentence, function, make_home, remove_home, NULL }

int main(void) {
    const struct CMUnitTest tests[] = {
        OPTIONS_TEST(defaults_hold_where_nothing_is_said, "defaults hold where nothing is said"),
        OPTIONS_TEST(short_and_long_forms_mean_the_same,
                     "C009: short and long forms mean the same"),
        OPTIONS_TEST(a_flag_can_be_taken_back, "a flag can be taken back with --no-"),
        OPTIONS_TEST(the_command_line_beats_the_environment_beats_the_file,
                     "the command line beats the environment beats the file beats the default"),
        OPTIONS_TEST(a_list_replaces_that_of_a_lower_layer,
                     "a list replaces that of a lower layer"),
        OPTIONS_TEST(a_section_holds_for_its_command_alone,
                     "a section holds for its command alone"),
        OPTIONS_TEST(a_wrong_line_of_the_file_is_named, "C011: a wrong line of the file is named"),
        OPTIONS_TEST(files_that_cannot_be_read_are_passed_over_or_named,
                     "a file that is not there is passed over, a broken one is named"),
        OPTIONS_TEST(wrong_values_are_refused_with_a_remedy,
                     "C011: wrong values are refused with a remedy"),
        OPTIONS_TEST(a_wrong_value_of_the_environment_names_the_variable,
                     "C011: a wrong value of the environment names the variable"),
        OPTIONS_TEST(an_unknown_option_gets_a_suggestion,
                     "C011: an unknown option gets a suggestion"),
        OPTIONS_TEST(a_value_must_be_there_where_it_belongs,
                     "C011: a value must be there where it belongs, and nowhere else"),
        OPTIONS_TEST(options_end_at_dashes_or_at_the_first_operand,
                     "C003: options end at -- or at the first operand"),
        OPTIONS_TEST(options_may_follow_operands_where_no_command_is_run,
                     "options may follow operands where no command is run"),
        OPTIONS_TEST(an_option_may_stand_alone_where_a_value_is_implied,
                     "an option may stand alone where a value is implied"),
        OPTIONS_TEST(durations_have_units, "C006: durations have units"),
        OPTIONS_TEST(help_lists_the_options_of_the_command_and_their_choices,
                     "C010: help lists the options of the command and their choices"),
        OPTIONS_TEST(the_variable_of_an_option_has_its_name,
                     "the variable of an option has its name"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
