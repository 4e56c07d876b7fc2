/* Decimal numbers, the text format of metrics endpoints, and the public conformance cases. */
#include "capture.h"

#include "base/buf.h"
#include "base/fs.h"
#include "source/engine/decimal.h"
#include "source/engine/promtext.h"
#include "support/promcheck.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

static double decimal(const char *text) {
    double value = NAN;
    assert_int_equal(pt_decimal_scan(pt_str_from(text), &value), strlen(text));
    return value;
}

static uint64_t bits_of(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

static void assert_same_as_library(const char *text) {
    double ours = 0, theirs = strtod(text, NULL);
    size_t taken = pt_decimal_scan(pt_str_from(text), &ours);
    if (isinf(theirs)) {
        assert_int_equal(taken, 0);
        return;
    }
    assert_int_equal(taken, strlen(text));
    if (bits_of(ours) != bits_of(theirs))
        fail_msg("%s: %.17g instead of %.17g", text, ours, theirs);
}

static void hard_decimals_are_rounded_correctly(void **state) {
    (void)state;
    assert_true(decimal("0.31326723098754883") == 0x1.40c92p-2);
    assert_true(decimal("9007199254740993") == 9007199254740992.0);   /* a tie, to even */
    assert_true(decimal("9007199254740995") == 9007199254740996.0);   /* a tie, to even */
    assert_true(decimal("9007199254740993.1") == 9007199254740994.0); /* just above it */
    static const char *const texts[] = {
        "0",
        "-0.0",
        "1",
        "123456789012345678",
        "9223372036854775808",
        "18446744073709551615",
        "9999999999999999999",
        "8.128902e+06",
        "1.7268398130168908e+09",
        "-8.452185437166741e-05",
        "7.689368882420941e-07",
        "1e22",
        "1e23",
        "8.5e22",
        "9007199254740993e3",
        "0.1",
        "0.30000000000000004",
        "123456789.12345678901234567890",
        "2.2250738585072011e-308",
        "4.9e-324",
        "1e-400",
        "1.7976931348623157e308",
        "1.7976931348623159e308",
        "1e400",
        ".5",
        "5.",
        "+1.5e+3",
        "0000000000000000000000000000000000000000001",
        "0.000000000000000000000000000000000000000000000000000000000001e60",
    };
    for (size_t i = 0; i < PT_COUNT(texts); i++)
        assert_same_as_library(texts[i]);
}

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void random_decimals_are_those_of_the_library(void **state) {
    (void)state;
    uint64_t seed = 88172645463325252u;
    char text[64];
    for (int i = 0; i < 200000; i++) {
        uint64_t digits = next_random(&seed) >> (next_random(&seed) % 64);
        int scale = (int)(next_random(&seed) % 50) - 25;
        snprintf(text, sizeof text, "%ju.%uE%d", (uintmax_t)(digits >> 8),
                 (unsigned)(next_random(&seed) % 1000), scale);
        assert_same_as_library(text);
        snprintf(text, sizeof text, "%.17g", (double)digits / (1 + (double)(digits & 0xffff)));
        assert_same_as_library(text);
    }
}

static void words_that_are_no_numbers_are_refused(void **state) {
    (void)state;
    static const char *const bad[] = { "",    ".",  "-",   "e5",  "1e", "1e+", "1.1.1",
                                       "1_0", "0x", "0x1", "nin", "in", "--1", "+-1",
                                       "1 ",  " 1", "0b1", "0O1", "1z", "+nan" };
    double value;
    for (size_t i = 0; i < PT_COUNT(bad); i++)
        if (pt_decimal_parse_go(pt_str_from(bad[i]), &value))
            fail_msg("\"%s\" taken as %g", bad[i], value);
    assert_false(pt_decimal_parse(PT_STR("0x1p-3"), &value));
    assert_true(pt_decimal_parse_go(PT_STR("0x1p-3"), &value));
    assert_true(value == 0.125);
    assert_true(pt_decimal_parse_go(PT_STR("-0X1.8P+1"), &value));
    assert_true(value == -3);
    assert_true(pt_decimal_parse_go(PT_STR("+0x1.8p1"), &value));
    assert_true(value == 3);
    assert_false(pt_decimal_parse_go(PT_STR("0x1p1024"), &value));
    assert_true(pt_decimal_parse(PT_STR("inf"), &value) && value == INFINITY);
    assert_true(pt_decimal_parse(PT_STR("-infinity"), &value) && value == -INFINITY);
    char digits[PT_DECIMAL_MAX + 2];
    memset(digits, '0', sizeof digits);
    digits[PT_DECIMAL_MAX - 1] = digits[PT_DECIMAL_MAX] = '7';
    assert_true(pt_decimal_parse((struct pt_str){ digits, PT_DECIMAL_MAX }, &value) && value == 7);
    assert_false(pt_decimal_parse((struct pt_str){ digits, PT_DECIMAL_MAX + 1 }, &value));
    assert_true(pt_decimal_parse(PT_STR("0e999999999999999999999"), &value) && value == 0);
    assert_true(pt_decimal_parse(PT_STR("1e-999999999999999999999"), &value) && value == 0);
    assert_false(pt_decimal_parse(PT_STR("1e999999999999999999999"), &value));
    assert_true(pt_decimal_parse(PT_STR("-iNf"), &value) && value == -INFINITY);
    assert_true(pt_decimal_parse(PT_STR("+Infinity"), &value) && value == INFINITY);
    assert_true(pt_decimal_parse(PT_STR("NaN"), &value) && isnan(value));
}

/* Takes the only item of a text; its labels last until the next call. */
static struct pt_promtext_item only_item(const char *text, bool is_openmetrics) {
    static struct pt_promtext p;
    pt_promtext_init(&p, pt_str_from(text), is_openmetrics, NULL);
    int rc = pt_promtext_next(&p);
    struct pt_promtext_item item = p.item;
    if (rc != 1)
        fail_msg("%s: %s at column %u", text, p.reason, p.error_column);
    assert_int_equal(pt_promtext_next(&p), 0);
    return item;
}

static void a_sample_has_name_labels_value_and_time(void **state) {
    (void)state;
    struct pt_promtext_item item = only_item(
        "vllm:x_total{engine=\"0\",path=\"a\\\"b\\\\c\\nd\"} 8.5e+06 1601830800123\n", false);
    char scratch[64];
    assert_str_eq(item.name, "vllm:x_total");
    assert_int_equal(item.label_count, 2);
    assert_str_eq(pt_promtext_label_name(&item, 0), "engine");
    assert_str_eq(pt_promtext_label_value(&item, 0), "0");
    assert_false(item.list->labels[0].value_is_escaped);
    assert_str_eq(pt_promtext_label_value(&item, 1), "a\\\"b\\\\c\\nd");
    assert_true(item.list->labels[1].value_is_escaped);
    assert_str_eq(pt_promtext_unescape(pt_promtext_label_value(&item, 1), scratch), "a\"b\\c\nd");
    assert_str_eq(item.label_text, "engine=\"0\",path=\"a\\\"b\\\\c\\nd\"");
    assert_true(item.value == 8.5e6);
    assert_true(item.has_timestamp && item.timestamp_s == 1601830800.123);
}

static void blanks_and_tabs_may_stand_between_tokens_of_0_0_4(void **state) {
    (void)state;
    struct pt_promtext_item item = only_item(
        "\n \t\n# any comment\n#\n  name2 { labelname = \"val1\"\t, b=\"\" , }\t-Inf \t\n", false);
    assert_str_eq(item.name, "name2");
    assert_int_equal(item.label_count, 2);
    assert_str_eq(pt_promtext_label_value(&item, 0), "val1");
    assert_str_eq(pt_promtext_label_value(&item, 1), "");
    assert_true(item.value == -INFINITY);
    assert_false(item.has_timestamp);
    assert_true(only_item("name{}0x1p-3", false).value == 0.125);
    assert_true(isnan(only_item("name nan", false).value));
    assert_true(only_item("name 1 -5", false).timestamp_s == -0.005);
}

static void names_in_quotes_may_have_any_character(void **state) {
    (void)state;
    for (int is_openmetrics = 0; is_openmetrics < 2; is_openmetrics++) {
        const char *end = is_openmetrics ? "# EOF\n" : "";
        char text[256];
        snprintf(text, sizeof text,
                 "{\"http.\xc3\xa9t\\\"\xc3\xa9\",code=\"200\",\"a b\"=\"x\"} 5\n%s", end);
        struct pt_promtext_item item = only_item(text, is_openmetrics);
        assert_str_eq(item.name, "http.\xc3\xa9t\\\"\xc3\xa9");
        assert_true(item.name_is_escaped);
        assert_int_equal(item.label_count, 2);
        assert_str_eq(pt_promtext_label_name(&item, 1), "a b");
        snprintf(text, sizeof text, "# TYPE \"a b\" gauge\n%s", end);
        item = only_item(text, is_openmetrics);
        assert_str_eq(item.name, "a b");
        assert_int_equal(item.type, PT_PROMTEXT_GAUGE);
    }
}

/* The lists of labels are used again. */
static void only_a_name_with_a_backslash_is_escaped(void **state) {
    (void)state;
    struct pt_promtext p;
    pt_promtext_init(&p,
                     PT_STR("a{\"x\\\"y\"=\"1\",plain=\"2\"} 1\n"
                            "b{\"x\\\"z\"=\"1\",plain=\"2\"} 1\n"
                            "c{plain=\"\\n\",\"q\"=\"\"} 2\n"
                            "d{plain=\"\\n\",\"q\"=\"\"} 2\n"),
                     false, NULL);
    for (int line = 0; line < 4; line++) {
        assert_int_equal(pt_promtext_next(&p), 1);
        const struct pt_promtext_label *labels = p.item.list->labels;
        assert_int_equal(labels[0].name_is_escaped, line < 2);
        assert_false(labels[1].name_is_escaped);
        assert_int_equal(labels[0].value_is_escaped, line >= 2);
        assert_false(labels[1].value_is_escaped);
    }
}

static void a_name_is_the_same_only_after_a_sample_that_has_it(void **state) {
    (void)state;
    static const bool expected[] = { false, true, true, false, false, false, false, true };
    struct pt_promtext p;
    pt_promtext_init(&p,
                     PT_STR("a{b=\"1\"} 1\na{b=\"2\"} 1\na 1\n{\"q\"} 1\na{b=\"3\"} 1\n"
                            "ab{b=\"3\"} 1\n# TYPE ab gauge\nab{b=\"3\"} 1\nab{b=\"4\"} 1\n"),
                     false, NULL);
    for (size_t i = 0; i < PT_COUNT(expected); i++) {
        do
            assert_int_equal(pt_promtext_next(&p), 1);
        while (p.item.kind != PT_PROMTEXT_SAMPLE);
        assert_int_equal(p.item.is_same_name, expected[i]);
    }
}

static void metadata_is_handed_out(void **state) {
    (void)state;
    struct pt_promtext_item item = only_item("# HELP  a\ttwo\\n lines, \\\\ and \"\n", false);
    assert_int_equal(item.kind, PT_PROMTEXT_HELP);
    assert_str_eq(item.text, "two\\n lines, \\\\ and \"");
    item = only_item("#TYPE a\thistogram \n", false);
    assert_int_equal(item.kind, PT_PROMTEXT_TYPE);
    assert_int_equal(item.type, PT_PROMTEXT_HISTOGRAM);
    item = only_item("# UNIT a_seconds seconds\n# EOF", true);
    assert_int_equal(item.kind, PT_PROMTEXT_UNIT);
    assert_str_eq(item.text, "seconds");
}

static void openmetrics_has_seconds_and_exemplars(void **state) {
    (void)state;
    struct pt_promtext_item item =
        only_item("a_bucket{le=\"1.0\"} 3 1.5 # {trace=\"x # y\",b=\"\"} 0.25 1e9\n# EOF\n", true);
    assert_true(item.value == 3 && item.timestamp_s == 1.5);
    assert_true(item.has_exemplar && item.exemplar_value == 0.25);
    assert_true(item.has_exemplar_timestamp && item.exemplar_timestamp_s == 1e9);
    assert_int_equal(item.label_count, 1);
    assert_int_equal(item.exemplar_label_count, 2);
    assert_str_eq(pt_promtext_label_value(&item, 1), "x # y");
}

static void a_failure_says_line_column_and_reason(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_openmetrics;
        uint32_t line, column;
        const char *reason;
    } cases[] = {
        { "a 1\nb{x=\"1} 2\n", false, 2, 10, "no closing quote" },
        { "a 1\r\n", false, 1, 4, "a carriage return: lines must end with a newline only" },
        { "a 1\n\r\n", false, 2, 1, "a carriage return: lines must end with a newline only" },
        { "a{x=\"1\"}\n", false, 1, 9, "no value" },
        { "a\n", false, 1, 2, "no value" },
        { "a-b 1\n", false, 1, 2, "a character not allowed in a name" },
        { "a 1 2.5\n", false, 1, 6, "a timestamp that is not a whole number" },
        { "a 1 99999999999999999999\n", false, 1, 5, "a timestamp beyond 64 bits" },
        { "a 1 2 3\n", false, 1, 7, "text after the end of the sample" },
        { "a 1 # {} 1\n", false, 1, 5, "a timestamp that is not a whole number" },
        { "a{x=\"\\t\"} 1\n", false, 1, 6, "an invalid escape (valid: \\\\ \\\" \\n)" },
        { "a{x=\"\xff\"} 1\n", false, 1, 6, "text that is not UTF-8" },
        { "a{x=\"1\",x=\"2\"} 1\n", false, 1, 9, "a duplicate label" },
        { "a{1x=\"1\"} 1\n", false, 1, 3, "a label must start with a letter or _" },
        { "a{,} 1\n", false, 1, 3, "a label must start with a letter or _" },
        { "a{x:y=\"1\"} 1\n", false, 1, 4, "no = after a label" },
        { "{x=\"1\"} 1\n", false, 1, 2, "no metric name" },
        { "{\"\"} 1\n", false, 1, 4, "an empty name" },
        { "a{\"b\"} 1\n", false, 1, 6, "a second metric name" },
        { "[{\"iter\": 1}]", false, 1, 1, "a name must start with a letter, _ or :" },
        { "{\"iter\": 1}", false, 1, 8, "no comma or closing brace after a label" },
        { "<html>", false, 1, 1, "a name must start with a letter, _ or :" },
        { "a 1_0\n", false, 1, 3, "not a number" },
        { "a 1\n\nb 1\n# EOF\n", true, 2, 1, "a blank line" },
        { "a 1\n", true, 2, 1, "no # EOF at the end" },
        { "a 1 \n# EOF\n", true, 1, 5, "no value" },
        { "a\t1\n# EOF\n", true, 1, 2, "a character not allowed in a name" },
        { "# EOF\n\n", true, 1, 7, "text after # EOF" },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_promtext p;
        int rc;
        pt_promtext_init(&p, pt_str_from(cases[i].text), cases[i].is_openmetrics, NULL);
        while ((rc = pt_promtext_next(&p)) > 0)
            ;
        assert_int_equal(rc, -EINVAL);
        assert_string_equal(p.reason, cases[i].reason);
        assert_int_equal(p.error_line, cases[i].line);
        assert_int_equal(p.error_column, cases[i].column);
        assert_int_equal(pt_promtext_next(&p), -EINVAL);
        struct pt_err err;
        assert_int_equal(pt_promtext_explain(&p, &err), -EINVAL);
        assert_non_null(strstr(err.text, cases[i].reason));
    }
}

/* By a word of the reason: each place that can fail, and what is just allowed. */
static void every_rule_of_the_grammar_is_kept(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool is_openmetrics;
        uint32_t column; /* of the failure; 0: it is fine */
        const char *word;
    } cases[] = {
        { "a{x=1} 1\n", false, 5, "quote" },
        { "a{x=\"1\" y=\"2\"} 1\n", false, 9, "comma" },
        { "a{x=\"1\",} 1\n", false, 0, "" },
        { "a{x=\"1\",} 1\n# EOF\n", true, 9, "label" },
        { "a{ x=\"1\"} 1\n# EOF\n", true, 3, "label" },
        { "a {x=\"1\"} 1\n# EOF\n", true, 3, "number" },
        { "a{x=\"1\"}1\n# EOF\n", true, 9, "blank" },
        { "a{x=\"1\"}  1\n# EOF\n", true, 10, "value" },
        { "a{x=\"\\t\"} 1\n# EOF\n", true, 0, "" },
        { "a{x=\"\\\n\"} 1\n# EOF\n", true, 6, "escape" },
        { "a{x=\"\\\\\",y=\"\\n\",z=\"\\\"\"} 1\n", false, 0, "" },
        { "a{b=\"1\",\"c\"} 1\n", false, 12, "=" },
        { "{\"a\",\"b\"} 1\n", false, 9, "second metric name" },
        { "{a} 1\n", false, 3, "=" },
        { "a 1 -\n", false, 5, "whole number" },
        { "a 1 +\n", false, 5, "whole number" },
        { "a 1 5:\n", false, 6, "whole number" },
        { "a 1 5/\n", false, 6, "whole number" },
        { "a 1 +5\n", false, 0, "" },
        { "a 1 9223372036854775807\n", false, 0, "" },
        { "a 1 9223372036854775808\n", false, 5, "64 bits" },
        { "a 1 nan\n# EOF\n", true, 5, "finite" },
        { "a 1 1.5 2\n# EOF\n", true, 9, "text after" },
        { "a 1 #{} 1\n# EOF\n", true, 6, "exemplar" },
        { "a 1 # x\n# EOF\n", true, 6, "exemplar" },
        { "a 1 # {}1\n# EOF\n", true, 9, "exemplar" },
        { "a 1 # {} x\n# EOF\n", true, 10, "number" },
        { "a 1 # {} 1 +Inf\n# EOF\n", true, 12, "finite" },
        { "a 1 # {} 1 1 1\n# EOF\n", true, 13, "text after" },
        { "a{x=\"1\"} 1 # {x=\"2\"} 1\n# EOF\n", true, 0, "" },
        { "a{x=\"1\"} 1 # {y=\"2\",y=\"2\"} 1\n# EOF\n", true, 21, "label" },
        { "# HELP a \\t\n", false, 10, "escape" },
        { "# HELP a x\\\n", false, 10, "escape" },
        { "# HELP a \\\\\\x\n", false, 10, "escape" },
        { "# HELP a \\\\t \\n\n", false, 0, "" },
        { "# HELP a \\\"\n", false, 10, "escape" },
        { "# HELP a \\t\n# EOF\n", true, 0, "" },
        { "# HELP a b\xff\n", false, 10, "UTF-8" },
        { "# HELP a \xc3\xa9\n", false, 0, "" },
        { "# HELP a-b c\n", false, 9, "blank" },
        { "# HELP\ta\tb\n", false, 0, "" },
        { "# HELP a\tb\n# EOF\n", true, 9, "blank" },
        { "# HELP a\n# EOF\n", true, 9, "blank" },
        { "# HELP\n", false, 0, "" },
        { "# HELP\n# EOF\n", true, 7, "name" },
        { "# TYPE 1 gauge\n", false, 8, "start with" },
        { "# UNIT a b c\n", false, 0, "" },
        { "#HELP a b\n# EOF\n", true, 2, "comment" },
        { "# NOTE a b\n# EOF\n", true, 3, "comment" },
        { "# EOFx\n", true, 6, "text after" },
        { "# EOF\na 1\n", true, 7, "text after" },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_promtext p;
        int rc;
        pt_promtext_init(&p, pt_str_from(cases[i].text), cases[i].is_openmetrics, NULL);
        while ((rc = pt_promtext_next(&p)) > 0)
            ;
        if (rc != (cases[i].column ? -EINVAL : 0) ||
            (rc && (p.error_line != 1 || p.error_column != cases[i].column ||
                    !strstr(p.reason, cases[i].word))))
            fail_msg("%s: %d, line %u, column %u: %s", cases[i].text, rc, p.error_line,
                     p.error_column, p.reason ? p.reason : "");
    }
}

/* A list of labels of which mostly one value changes, and now and then anything. */
static void random_line(uint64_t *seed, char *into, size_t size) {
    static const char *const names[] = { "vllm:time_to_first_token_seconds_bucket", "vllm:a",
                                         "vllm:ab", "b" };
    static const char *const values[] = {
        "",         "1", "0.25", "12345678",        "+Inf", "123456789", "x\\\"y",
        "\xc3\xa9", "}", ",a=",  "Qwen/Qwen3-0.6B", "a b"
    };
    static const char *const numbers[] = {
        "1",  "1.0",    "8.128902e+06",    "NaN", "12345678901234567",
        "-3", "0x1p-3", "7 1601830800000", " 5",  "5 "
    };
    static unsigned which[4];
    which[next_random(seed) % 4] = (unsigned)(next_random(seed) >> 20);
    if (next_random(seed) % 5 == 0)
        which[next_random(seed) % 4] = (unsigned)(next_random(seed) >> 20);
    unsigned style = next_random(seed) % 8 ? 0 : (unsigned)(next_random(seed) >> 20) % 5;
    const char *name = names[which[3] % PT_COUNT(names)];
    const char *number = numbers[next_random(seed) % 3 ? 0 : next_random(seed) % PT_COUNT(numbers)];
    const char *x = values[which[0] % PT_COUNT(values)], *y = values[which[1] % PT_COUNT(values)],
               *z = values[which[2] % PT_COUNT(values)];
    if (style == 0)
        snprintf(into, size, "%s{engine=\"%s\",le=\"%s\",model_name=\"%s\"} %s\n", name, x, y, z,
                 number);
    else if (style == 1)
        snprintf(into, size, "%s %s\n", name, number);
    else if (style == 2)
        snprintf(into, size, "%s { engine = \"%s\" , model_name=\"%s\", } %s\n", name, x, z,
                 number);
    else if (style == 3)
        snprintf(into, size, "{\"%s\",engine=\"%s\",le=\"%s\"} %s\n", name, x, y, number);
    else
        snprintf(into, size, "# TYPE %s gauge\n", name);
}

static void assert_same_str(struct pt_str a, struct pt_str b, const char *line) {
    if (!pt_str_eq(a, b))
        fail_msg("%s: '%.*s' instead of '%.*s'", line, (int)a.len, a.at, (int)b.len, b.at);
}

static void assert_same_item(const struct pt_promtext_item *a, const struct pt_promtext_item *b,
                             const char *line) {
    assert_int_equal(a->kind, b->kind);
    assert_same_str(a->name, b->name, line);
    if (a->kind != PT_PROMTEXT_SAMPLE)
        return;
    assert_same_str(a->label_text, b->label_text, line);
    assert_int_equal(bits_of(a->value), bits_of(b->value));
    assert_int_equal(a->has_timestamp, b->has_timestamp);
    assert_int_equal(a->label_count, b->label_count);
    for (int i = 0; i < a->label_count; i++) {
        assert_same_str(pt_promtext_label_name(a, i), pt_promtext_label_name(b, i), line);
        assert_same_str(pt_promtext_label_value(a, i), pt_promtext_label_value(b, i), line);
        assert_int_equal(a->list->labels[i].value_is_escaped, b->list->labels[i].value_is_escaped);
    }
}

/* What a line says does not depend on the lines before it, which it is compared with. */
static void a_line_says_the_same_alone_and_among_others(void **state) {
    (void)state;
    uint64_t seed = 2463534242u;
    for (int round = 0; round < 400; round++) {
        struct pt_buf text = { 0 };
        char line[512];
        size_t starts[101] = { 0 };
        for (int i = 0; i < 100; i++) {
            random_line(&seed, line, sizeof line);
            pt_buf_str(&text, pt_str_from(line));
            starts[i + 1] = text.len;
        }
        struct pt_promtext all, alone;
        uint32_t samples = 0;
        pt_promtext_init(&all, pt_buf_as_str(&text), false, NULL);
        for (int i = 0; i < 100; i++) {
            struct pt_str one = { (char *)text.at + starts[i], starts[i + 1] - starts[i] };
            pt_str_copy(line, sizeof line, one);
            pt_promtext_init(&alone, one, false, NULL);
            if (pt_promtext_next(&all) != 1 || pt_promtext_next(&alone) != 1)
                fail_msg("%s: %s, %s", line, all.reason, alone.reason);
            assert_same_item(&all.item, &alone.item, line);
            samples += alone.sample_count;
            assert_int_equal(all.line, i + 1);
        }
        assert_int_equal(pt_promtext_next(&all), 0);
        assert_int_equal(all.sample_count, samples);
        pt_buf_release(&text);
    }
}

static int drain(struct pt_str body, const struct pt_promtext_limits *limits) {
    struct pt_promtext p;
    int rc;
    pt_promtext_init(&p, body, false, limits);
    while ((rc = pt_promtext_next(&p)) > 0)
        ;
    return rc;
}

/* A sample with `count` labels. */
static int drain_labels(int count) {
    struct pt_buf text = { 0 };
    pt_buf_str(&text, PT_STR("a{"));
    for (int i = 0; i < count; i++) {
        char label[32];
        snprintf(label, sizeof label, "l%d=\"\",", i);
        pt_buf_str(&text, pt_str_from(label));
    }
    pt_buf_str(&text, PT_STR("} 1\n"));
    int rc = drain(pt_buf_as_str(&text), NULL);
    pt_buf_release(&text);
    return rc;
}

static int drain_repeated(const char *before, char c, size_t count, const char *after) {
    struct pt_buf text = { 0 };
    pt_buf_str(&text, pt_str_from(before));
    memset(pt_buf_reserve(&text, count), c, count);
    text.len += count;
    pt_buf_str(&text, pt_str_from(after));
    int rc = drain(pt_buf_as_str(&text), NULL);
    pt_buf_release(&text);
    return rc;
}

static void what_is_too_long_is_refused(void **state) {
    (void)state;
    struct pt_promtext_limits limits = { .line_bytes = 20, .label_bytes = 4, .sample_count = 2 };
    assert_int_equal(drain(PT_STR("a{x=\"1234\"} 1\nb 2\n"), &limits), 0);
    assert_int_equal(drain(PT_STR("a{x=\"12345\"} 1\n"), &limits), -E2BIG);
    assert_int_equal(drain(PT_STR("a 1\nb 2\nc 3\n"), &limits), -E2BIG);
    assert_int_equal(drain(PT_STR("# a comment of more than twenty bytes\n"), &limits), -E2BIG);
    assert_int_equal(drain(PT_STR("# 345678901234567890\n"), &limits), 0);
    assert_int_equal(drain(PT_STR("# 3456789012345678901\n"), &limits), -E2BIG);
    /* lines that resemble the one before have the same limits */
    limits.line_bytes = 100;
    assert_int_equal(drain(PT_STR("abc{x=\"1\"} 1\nabc{x=\"1234\"} 1\n"
                                  "# a comment of more than thirty-two bytes\n"),
                           &limits),
                     0);
    assert_int_equal(drain(PT_STR("abc{x=\"1\"} 1\nabc{x=\"12345\"} 1\n"
                                  "# a comment of more than thirty-two bytes\n"),
                           &limits),
                     -E2BIG);
    assert_int_equal(drain(PT_STR("abc{x=\"1\"} 1\nabc{x=\"2\"} 1\nabc{x=\"3\"} 1\n"
                                  "# a comment of more than thirty-two bytes\n"),
                           &limits),
                     -E2BIG);
    assert_int_equal(drain_labels(PT_PROMTEXT_LABELS), 0);
    assert_int_equal(drain_labels(PT_PROMTEXT_LABELS + 1), -E2BIG);
    /* the limits by default */
    assert_int_equal(drain_repeated("a{x=\"", 'x', 16384, "\"} 1\n"), 0);
    assert_int_equal(drain_repeated("a{x=\"", 'x', 16385, "\"} 1\n"), -E2BIG);
    assert_int_equal(drain_repeated("", '#', 65536, "\na 1\n"), 0);
    assert_int_equal(drain_repeated("", '#', 65537, "\na 1\n"), -E2BIG);
}

/* Any piece of a text ends somewhere: nothing behind its end may be looked at. ASan watches. */
static void every_prefix_of_a_text_is_parsed_within_its_bounds(void **state) {
    (void)state;
    static const char text[] =
        "# HELP a \\\\ x\n# TYPE a counter\na{b=\"c\\n\xc3\xa9\",d=\"e\"} "
        "0x1p-3 5\na 12345.678e-3\na +Inf\n{\"q\",x=\"y\"} 1 1 # {z=\"\"} 1\n# EOF\n";
    for (size_t n = 0; n < sizeof text; n++)
        for (int is_openmetrics = 0; is_openmetrics < 2; is_openmetrics++) {
            char *exact = malloc(n ? n : 1);
            assert_non_null(exact);
            memcpy(exact, text, n);
            struct pt_err err;
            int rc = pt_promcheck_text((struct pt_str){ exact, n }, is_openmetrics, &err);
            assert_true(rc <= 0);
            free(exact);
        }
}

static void the_content_type_or_the_last_line_says_openmetrics(void **state) {
    (void)state;
    struct pt_str none = PT_STR(""), plain = PT_STR("text/plain; version=0.0.4");
    assert_true(pt_promtext_is_openmetrics(
        PT_STR("application/openmetrics-text; version=1.0.0; charset=utf-8"), PT_STR("a 1\n")));
    assert_true(pt_promtext_is_openmetrics(none, PT_STR("a 1\n# EOF\n")));
    assert_true(pt_promtext_is_openmetrics(plain, PT_STR("# EOF")));
    assert_false(pt_promtext_is_openmetrics(plain, PT_STR("a 1\n")));
    assert_false(pt_promtext_is_openmetrics(none, PT_STR("# EOF\na 1\n")));
}

static void a_steady_parse_allocates_nothing(void **state) {
    (void)state;
    uint64_t before = pt_mem_allocation_count();
    assert_int_equal(drain(PT_STR("a{b=\"c\"} 1\na{b=\"d\"} 2\n# TYPE e gauge\ne 3\n"), NULL), 0);
    assert_true(pt_mem_allocation_count() == before);
}

/* Cases of ours and of others. */

/* The directory of a capture, or -1 for one of others that is not there. */
static int open_captured(const char *name) {
    char path[PATH_MAX];
    if (!find_capture(name, path))
        return -1;
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    assert_true(fd >= 0);
    return fd;
}

static struct pt_str read_captured(int directory, const char *path, struct pt_text *into) {
    struct pt_scan text;
    assert_int_equal(pt_fs_read(directory, path, into, &text), 0);
    return pt_scan_rest(&text);
}

/* Returns how many cases the index has. */
static int check_openmetrics_cases(int directory) {
    struct pt_text index_memory = { 0 }, memory = { 0 };
    struct pt_scan index =
                       pt_scan_of(read_captured(directory, "openmetrics-index.tsv", &index_memory)),
                   line;
    int wrong = 0, cases = 0;
    assert_true(pt_scan_line(&index, &line));
    while (pt_scan_line(&index, &line)) {
        struct pt_str name = pt_scan_word(&line), verdict = pt_scan_word(&line);
        char *path = pt_asprintf("openmetrics/%.*s.om", (int)name.len, name.at);
        struct pt_err err = { "" };
        int rc = pt_promcheck_text(read_captured(directory, path, &memory), true, &err);
        if ((rc == 0) != pt_str_eq(verdict, PT_STR("yes"))) {
            print_error("%s: %s\n", path, rc ? err.text : "taken, but must not be");
            wrong++;
        }
        cases++;
        pt_free(path);
    }
    pt_text_release(&index_memory);
    pt_text_release(&memory);
    close(directory);
    assert_int_equal(wrong, 0);
    return cases;
}

static void openmetrics_cases_get_their_published_verdict(void **state) {
    (void)state;
    assert_int_equal(check_openmetrics_cases(open_captured(OURS "promtext")), 64);
    int theirs = open_captured(THEIRS "promtext");
    if (theirs >= 0)
        assert_int_equal(check_openmetrics_cases(theirs), 106);
}

/* Files whose name says "_error_" must be refused. Returns how many files there are. */
static int check_text_cases(int fd) {
    DIR *directory = fdopendir(fd);
    struct pt_text memory = { 0 };
    int cases = 0, wrong = 0;
    for (struct dirent *entry; (entry = readdir(directory));) {
        if (entry->d_name[0] == '.')
            continue;
        struct pt_err err = { "" };
        struct pt_str body = read_captured(dirfd(directory), entry->d_name, &memory);
        int rc = pt_promcheck_text(body, false, &err);
        if ((rc == 0) != !strstr(entry->d_name, "_error_")) {
            print_error("%s: %s\n", entry->d_name, rc ? err.text : "taken, but must not be");
            wrong++;
        }
        cases++;
    }
    closedir(directory);
    pt_text_release(&memory);
    assert_int_equal(wrong, 0);
    return cases;
}

static void text_cases_get_their_verdict(void **state) {
    (void)state;
    assert_int_equal(check_text_cases(open_captured(OURS "promtext/text-cases")), 24);
    int theirs = open_captured(THEIRS "promtext/expfmt-fuzz");
    if (theirs >= 0)
        assert_int_equal(check_text_cases(theirs), 13);
}

/* Deviation: alltypes has a _sum beside buckets with negative edges. Prometheus lets it pass, the
 * specification ("MUST NOT") does not, and neither does the check here; its grammar is fine. */
static const struct whole_exposition {
    const char *path;
    uint32_t sample_count;
    const char *complaint;
} our_expositions[] = {
    { "demo-idle.prom", 177, NULL },     { "demo-loaded.prom", 177, NULL },
    { "node-exporter.prom", 39, NULL },  { "prometheus.prom", 273, NULL },
    { "python-client.prom", 23, NULL },  { "python-client.om", 23, NULL },
}, their_expositions[] = {
        { "expfmt-text.prom", 248, NULL },
        { "beats-naninf.prom", 26, NULL },
        { "telegraf-benchmark.prom", 2, NULL },
        { "telegraf-default_tags.prom", 1, NULL },
        { "telegraf-ignore_timestamp.prom", 1, NULL },
        { "telegraf-metric_with_timestamp.prom", 1, NULL },
        { "telegraf-valid_counter.prom", 1, NULL },
        { "telegraf-valid_gauge.prom", 1, NULL },
        { "telegraf-valid_histogram.prom", 10, NULL },
        { "telegraf-valid_summary.prom", 5, NULL },
        { "textparse-1histogram.om", 42, NULL },
        { "textparse-alltypes-5mfs.om", 53, "a counter below zero" },
};

static void check_whole_expositions(int directory, const struct whole_exposition *cases,
                                    size_t count) {
    struct pt_text memory = { 0 };
    for (size_t i = 0; i < count; i++) {
        struct pt_str body = read_captured(directory, cases[i].path, &memory);
        bool is_openmetrics = pt_promtext_is_openmetrics(PT_STR(""), body);
        assert_int_equal(is_openmetrics, strstr(cases[i].path, ".om") != NULL);
        struct pt_promtext p;
        int rc;
        pt_promtext_init(&p, body, is_openmetrics, NULL);
        while ((rc = pt_promtext_next(&p)) > 0)
            ;
        assert_int_equal(rc, 0);
        if (p.sample_count != cases[i].sample_count)
            fail_msg("%s: %u samples", cases[i].path, p.sample_count);
        struct pt_err err = { "" };
        rc = pt_promcheck_text(body, is_openmetrics, &err);
        if ((rc != 0) != (cases[i].complaint != NULL) ||
            (rc && !strstr(err.text, cases[i].complaint)))
            fail_msg("%s: %s", cases[i].path, err.text);
    }
    pt_text_release(&memory);
    close(directory);
}

static void whole_expositions_are_taken(void **state) {
    (void)state;
    check_whole_expositions(open_captured(OURS "promtext"), our_expositions,
                            PT_COUNT(our_expositions));
    int theirs = open_captured(THEIRS "promtext");
    if (theirs >= 0)
        check_whole_expositions(theirs, their_expositions, PT_COUNT(their_expositions));
}

static void families_of_0_0_4_are_checked(void **state) {
    (void)state;
    static const struct {
        const char *text, *complaint;
    } cases[] = {
        { "# TYPE a counter\n# HELP a x\na 1\n", NULL },
        { "a 1\na 1\n", NULL }, /* ingestion of duplicates is undefined, not forbidden */
        { "a 1\n# TYPE a counter\n", "TYPE after samples" },
        { "# TYPE a histogram\na_sum 1\n# TYPE a histogram\n", "TYPE after samples" },
        { "# TYPE a counter\n# TYPE a counter\n", "a second TYPE" },
        { "# HELP a x\n# HELP a x\n", "a second HELP" },
        { "# TYPE a percentage\n", "an unknown type" },
        { "# TYPE a histogram\na_bucket{le=\"x\"} 1\n", "le is not a number" },
        { "# TYPE a summary\na{quantile=\"x\"} 1\n", "quantile is not a number" },
        { "a{__name__=\"b\"} 1\n", "a label called __name__" },
    };
    for (size_t i = 0; i < PT_COUNT(cases); i++) {
        struct pt_err err = { "" };
        int rc = pt_promcheck_text(pt_str_from(cases[i].text), false, &err);
        assert_int_equal(rc, cases[i].complaint ? -EINVAL : 0);
        if (cases[i].complaint && !strstr(err.text, cases[i].complaint))
            fail_msg("%s: %s", cases[i].text, err.text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(hard_decimals_are_rounded_correctly, "C125: hard decimals are rounded correctly"),
        PT_TEST(random_decimals_are_those_of_the_library,
                "C125: 400,000 random decimals are those of strtod"),
        PT_TEST(words_that_are_no_numbers_are_refused,
                "C125: words that are not numbers are refused"),
        PT_TEST(a_sample_has_name_labels_value_and_time,
                "C125: a sample has name, labels, value and time"),
        PT_TEST(blanks_and_tabs_may_stand_between_tokens_of_0_0_4,
                "C125: blanks and tabs may stand between the tokens of 0.0.4"),
        PT_TEST(names_in_quotes_may_have_any_character,
                "C125: names in quotes may have any character"),
        PT_TEST(only_a_name_with_a_backslash_is_escaped,
                "C125: of labels only a name with a backslash is escaped"),
        PT_TEST(a_name_is_the_same_only_after_a_sample_that_has_it,
                "C125: a name is the same only after a sample that has it"),
        PT_TEST(metadata_is_handed_out, "C125: HELP, TYPE and UNIT are handed out"),
        PT_TEST(openmetrics_has_seconds_and_exemplars,
                "C125: OpenMetrics has times in seconds, and exemplars"),
        PT_TEST(a_failure_says_line_column_and_reason,
                "C125: a failure says line, column and reason"),
        PT_TEST(every_rule_of_the_grammar_is_kept, "C125: every rule of the grammar is kept"),
        PT_TEST(a_line_says_the_same_alone_and_among_others,
                "C125: a line says the same alone and among others that resemble it"),
        PT_TEST(what_is_too_long_is_refused, "C125: what is too long or too much is refused"),
        PT_TEST(every_prefix_of_a_text_is_parsed_within_its_bounds,
                "C125: every prefix of a text is parsed within its bounds"),
        PT_TEST(the_content_type_or_the_last_line_says_openmetrics,
                "C125: the content type or the last line says OpenMetrics"),
        PT_TEST(a_steady_parse_allocates_nothing, "C125: parsing allocates nothing"),
        PT_TEST(families_of_0_0_4_are_checked, "C125: families of 0.0.4 are checked"),
        PT_TEST(openmetrics_cases_get_their_published_verdict,
                "C125: the OpenMetrics cases get their published verdict"),
        PT_TEST(text_cases_get_their_verdict, "C125: cases of the text format get their verdict"),
        PT_TEST(whole_expositions_are_taken, "C125: whole expositions of other programs are taken"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
