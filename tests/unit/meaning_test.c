/* What columns mean: rules that every line of every table has to follow. A failure names the column
 * and what is wrong with it. */
#include "test.h"

#include "cmd/command.h"
#include "derive/bucket_rows.h"
#include "derive/field.h"
#include "model/sample.h"

#include <ctype.h>
#include <math.h>

#define TITLE_MAX     40
#define HEADLINES_MAX 8
#define HEADING_MAX   15

/* Calls `check` for every column of the schema. */
static void for_each_column(void (*check)(const struct pt_table *, const struct pt_column *)) {
    const struct pt_schema *schema = pt_known_schema();
    for (uint32_t t = 0; t < schema->table_count; t++)
        for (int c = 0; c < schema->tables[t]->column_count; c++)
            check(schema->tables[t], &schema->tables[t]->columns[c]);
}

static const struct pt_column *column_of(const char *table, const char *name) {
    const struct pt_schema *schema = pt_known_schema();
    int t = pt_schema_find(schema, table);
    int c = t < 0 ? -1 : pt_table_find(schema->tables[t], name);
    if (c < 0)
        fail_msg("no column %s.%s", table, name);
    return &schema->tables[t]->columns[c];
}

static bool is_same_text(const char *a, const char *b) {
    return a && b && strcmp(a, b) == 0;
}

static const char *base_of(const struct pt_column *c) {
    return pt_forms[pt_column_form(c)].base;
}

static void check_title(const struct pt_table *t, const struct pt_column *c) {
    char buffer[PT_TITLE_BYTES], other[PT_TITLE_BYTES];
    const char *title = pt_column_title(c, buffer);
    if (strlen(title) > TITLE_MAX)
        fail_msg("%s.%s: the title '%s' has more than %d characters", t->name, c->name, title,
                 TITLE_MAX);
    if (!isupper((unsigned char)title[0]))
        fail_msg("%s.%s: the title '%s' does not begin with a capital", t->name, c->name, title);
    for (const struct pt_column *next = c + 1; next < t->columns + t->column_count; next++)
        if (strcmp(title, pt_column_title(next, other)) == 0)
            fail_msg("%s: %s and %s have the title '%s'", t->name, c->name, next->name, title);
}

static void titles_are_short_and_differ_within_a_table(void **state) {
    (void)state;
    for_each_column(check_title);
}

/* Three reads: of groups and processes in turns of 5 s, frequencies of 10 s, smaps of 30 s. */
static void check_duration(const struct pt_table *t, const struct pt_column *c) {
    if (c->lasts_s && c->lasts_s != 15 && c->lasts_s != 30 && c->lasts_s != 90)
        fail_msg("%s.%s lasts %d s: nothing is read at that pace", t->name, c->name, c->lasts_s);
    const int64_t second_ns = INT64_C(1000000000),
                  own_ns = (c->lasts_s ? c->lasts_s : 3) * second_ns;
    assert_int_equal(pt_column_lasts_ns(c, second_ns), own_ns);
    assert_int_equal(pt_column_lasts_ns(c, 60 * second_ns), 180 * second_ns);
}

static void values_last_for_three_reads(void **state) {
    (void)state;
    for_each_column(check_duration);
}

/* Nobody can tell from a number that it is a percentile, of which there is no mean. */
static void check_percentile(const struct pt_table *t, const struct pt_column *c) {
    size_t length = strlen(c->name);
    const char *end = length > 3 ? c->name + length - 3 : c->name;
    bool is_named = tolower((unsigned char)end[0]) == 'p' && isdigit((unsigned char)end[1]) &&
                    isdigit((unsigned char)end[2]);
    if (is_named != (c->percentile > 0) || !c->percentile != !c->histogram)
        fail_msg("%s.%s: .percentile and .histogram say which one it is", t->name, c->name);
    if (!c->percentile)
        return;
    char table[64] = "";
    pt_str_copy(table, sizeof table, (struct pt_str){ c->histogram, strcspn(c->histogram, " ") });
    int found = pt_schema_find(pt_known_schema(), table);
    if (found < 0 || pt_bucket_rows_find(pt_known_schema()->tables[found]) < 0)
        fail_msg("%s.%s: '%s' is not a table of histograms", t->name, c->name, table);
    assert_int_equal(c->percentile, 10 * (end[1] - '0') + end[2] - '0');
    assert_int_equal(c->kind, PT_GAUGE);
}

static void percentiles_say_of_which_histogram(void **state) {
    (void)state;
    for_each_column(check_percentile);
}

static void check_headline(const struct pt_table *t, const struct pt_column *c) {
    if (c->importance == PT_HEADLINE && !c->title)
        fail_msg("%s.%s is a headline without a title", t->name, c->name);
    if (c->importance == PT_HEADLINE && !pt_column_is_drawn(c))
        fail_msg("%s.%s is a headline that cannot be drawn", t->name, c->name);
}

static void headlines_have_titles_and_are_few(void **state) {
    (void)state;
    const struct pt_schema *schema = pt_known_schema();
    for_each_column(check_headline);
    for (uint32_t i = 0; i < schema->table_count; i++) {
        const struct pt_table *t = schema->tables[i];
        int headlines = 0, drawn = 0;
        for (int c = 0; c < t->column_count; c++) {
            headlines += t->columns[c].importance == PT_HEADLINE;
            drawn += pt_column_is_drawn(&t->columns[c]);
        }
        bool has_headlines = t->rows == PT_ROWS_THINGS || t->rows == PT_ROWS_PROCESSES;
        if (headlines > HEADLINES_MAX || (has_headlines && drawn > 0 && headlines == 0))
            fail_msg("%s has %d headlines", t->name, headlines);
    }
}

static void check_family(const struct pt_table *t, const struct pt_column *c) {
    int members = 0;
    if (c->is_stacked && !c->family)
        fail_msg("%s.%s is stacked without a family", t->name, c->name);
    if (!c->family)
        return;
    for (const struct pt_column *o = t->columns; o < t->columns + t->column_count; o++)
        if (!o->family && pt_column_is_drawn(o) && is_same_text(o->title, c->family))
            fail_msg("%s: family '%s' has the title of %s", t->name, c->family, o->name);
    if (!pt_column_is_drawn(c))
        fail_msg("%s.%s has a family but cannot be drawn", t->name, c->name);
    for (const struct pt_column *o = t->columns; o < t->columns + t->column_count; o++) {
        if (!is_same_text(c->family, o->family))
            continue;
        members++;
        if (pt_column_form(c) != pt_column_form(o))
            fail_msg("%s: %s and %s of family '%s' differ in form", t->name, c->name, o->name,
                     c->family);
        if (c->is_stacked != o->is_stacked)
            fail_msg("%s: only one of %s and %s of family '%s' is stacked", t->name, c->name,
                     o->name, c->family);
    }
    if (members < 2)
        fail_msg("%s.%s is alone in family '%s'", t->name, c->name, c->family);
}

static void a_family_has_one_form_and_is_stacked_as_a_whole(void **state) {
    (void)state;
    for_each_column(check_family);
}

static void check_heading(const struct pt_table *t, const struct pt_column *c) {
    if (c->heading && strlen(c->heading) > HEADING_MAX)
        fail_msg("%s.%s: the heading '%s' is not narrow", t->name, c->name, c->heading);
    for (const struct pt_column *next = c + 1; next < t->columns + t->column_count; next++)
        if (is_same_text(c->heading, next->heading))
            fail_msg("%s: %s and %s have the heading '%s'", t->name, c->name, next->name,
                     c->heading);
    bool is_listed = *t->file && t->rows != PT_ROWS_EVENTS;
    if (is_listed && c->importance == PT_HEADLINE && !c->heading)
        fail_msg("%s.%s is a headline of a list without a heading", t->name, c->name);
}

static void headings_are_narrow_and_differ_within_a_table(void **state) {
    (void)state;
    for_each_column(check_heading);
}

static void check_parts(const struct pt_table *t, const struct pt_column *c) {
    int members = 0;
    for (const struct pt_column *o = t->columns; c->parts && o < t->columns + t->column_count;
         o++) {
        if (!is_same_text(c->parts, o->family))
            continue;
        members++;
        if (pt_column_form(c) != pt_column_form(o))
            fail_msg("%s: %s and its part %s differ in form", t->name, c->name, o->name);
    }
    if (c->parts && members < 2)
        fail_msg("%s.%s: '%s' is not a family", t->name, c->name, c->parts);
}

static void parts_are_a_family_of_the_same_form(void **state) {
    (void)state;
    for_each_column(check_parts);
}

static void check_limit(const struct pt_table *t, const struct pt_column *c) {
    if (!c->limit)
        return;
    int index = pt_table_find(t, c->limit);
    if (index < 0)
        fail_msg("%s.%s: there is no column %s", t->name, c->name, c->limit);
    const struct pt_column *limit = &t->columns[index];
    if (limit == c || limit->type == PT_STRING)
        fail_msg("%s.%s cannot have the limit %s", t->name, c->name, c->limit);
    if (strcmp(base_of(c), base_of(limit)) != 0 ||
        pt_forms[pt_column_form(c)].is_rate != pt_forms[pt_column_form(limit)].is_rate)
        fail_msg("%s.%s and its limit %s differ in unit", t->name, c->name, c->limit);
    if (c->full > 0)
        fail_msg("%s.%s has both a column and a constant as its limit", t->name, c->name);
}

static void a_limit_is_a_number_of_the_same_row_and_unit(void **state) {
    (void)state;
    for_each_column(check_limit);
}

/* Time per second is a share only if it is the time of one resource: totals of the machine add up
 * those of several, and so does a sum over rows. */
static void check_share(const struct pt_table *t, const struct pt_column *c) {
    if (!pt_column_is_drawn(c) || pt_column_form(c) != PT_FORM_SHARE)
        return;
    if (c->kind == PT_COUNTER && strcmp(pt_unit_base(c->unit), "seconds") != 0)
        fail_msg("%s.%s: the rate of a counter of %s is not a share", t->name, c->name,
                 pt_units[c->unit].name);
    if (c->kind == PT_COUNTER && *t->file == 0)
        fail_msg("%s.%s: a total over the machine can exceed 100 %%", t->name, c->name);
    if (strstr(c->help, "summed"))
        fail_msg("%s.%s: a sum of times can exceed 100 %%", t->name, c->name);
    if (pt_column_combine(c) == PT_COMBINE_SUM)
        fail_msg("%s.%s: shares are not added", t->name, c->name);
}

static void no_share_can_exceed_100_percent(void **state) {
    (void)state;
    static const struct {
        const char *table, *column;
        enum pt_form form;
    } known[] = {
        { "cpu", "vCpuTime", PT_FORM_CORES },
        { "core", "cpuTime", PT_FORM_SHARE },
        { "disk", "vDiskIOTime", PT_FORM_NUMBER },
        { "disk", "vDiskWeightedIOTime", PT_FORM_NUMBER },
        { "drive", "dIOTime", PT_FORM_SHARE },
        { "drive", "dWeightedIOTime", PT_FORM_NUMBER },
        { "drive", "dReadTime", PT_FORM_NUMBER },
        { "pressure", "psiSomeTotal", PT_FORM_SHARE },
        { "container", "cCpuTime", PT_FORM_CORES },
        { "container", "cCpuThrottledTime", PT_FORM_CORES },
        { "container", "cIoPressureFull", PT_FORM_SHARE },
        { "process", "pCpuTimeNs", PT_FORM_CORES },
        { "process_totals", "pTreeCpuTime", PT_FORM_CORES },
        { "gpu", "gViolationPower", PT_FORM_SHARE },
        { "gpu", "gEnergyMj", PT_FORM_WATTS },
        { "gpu_process", "gComputeTime", PT_FORM_NUMBER },
        { "engine", "latency_ttft_s_sum", PT_FORM_NUMBER },
        { "collector", "colCpuTime", PT_FORM_CORES },
        { "energy", "eEnergyUj", PT_FORM_WATTS },
    };
    for_each_column(check_share);
    for (size_t i = 0; i < PT_COUNT(known); i++)
        if (pt_column_form(column_of(known[i].table, known[i].column)) != known[i].form)
            fail_msg("%s.%s is not in %s", known[i].table, known[i].column,
                     pt_forms[known[i].form].name);
}

/* A counter of time that keeps the default form is shown as a bare number: somebody has to have
 * decided what it is. */
static void check_time(const struct pt_table *t, const struct pt_column *c) {
    bool is_time = c->kind == PT_COUNTER && strcmp(pt_unit_base(c->unit), "seconds") == 0;
    if (is_time && c->form == PT_FORM_DEFAULT)
        fail_msg("%s.%s: time per second is cores, a share or a number?", t->name, c->name);
    bool says_cores =
        (c->title && strstr(c->title, "cores")) || (c->family && strstr(c->family, "cores"));
    if (c->form == PT_FORM_CORES && !says_cores)
        fail_msg("%s.%s: neither title nor family has the word 'cores'", t->name, c->name);
    if (c->form == PT_FORM_CORES && c->heading && !strstr(c->heading, "CORES"))
        fail_msg("%s.%s: the heading '%s' does not say 'CORES'", t->name, c->name, c->heading);
}

static void two_units_of_cpu_time_are_told_apart(void **state) {
    (void)state;
    for_each_column(check_time);
}

static void fields_are_columns_of_the_schema(void **state) {
    (void)state;
    for (int i = 0; i < PT_FIELD_COUNT; i++) {
        column_of(pt_fields[i].table, pt_fields[i].column);
        for (int k = 0; k < i; k++)
            if (strcmp(pt_fields[i].table, pt_fields[k].table) == 0 &&
                strcmp(pt_fields[i].column, pt_fields[k].column) == 0)
                fail_msg("%s.%s has two names", pt_fields[i].table, pt_fields[i].column);
    }
}

static void rows_have_a_name(void **state) {
    (void)state;
    const struct pt_schema *schema = pt_known_schema();
    for (uint32_t i = 0; i < schema->table_count; i++) {
        const struct pt_table *t = schema->tables[i];
        int roles[PT_ROLE_COUNT] = { 0 };
        for (int c = 0; c < t->column_count; c++)
            roles[t->columns[c].role]++;
        if (*t->file && roles[PT_ROLE_NAME] == 0)
            fail_msg("rows of %s have no name", t->name);
        for (int role = PT_ROLE_RECORDED; role < PT_ROLE_COUNT; role++)
            if (roles[role] > 1)
                fail_msg("%s: several columns have the role '%s'", t->name,
                         pt_role_name((enum pt_role)role));
    }
}

static void check_direction(const struct pt_table *t, const struct pt_column *c) {
    bool is_judged = c->better != PT_NO_DIRECTION || c->combine == PT_COMBINE_WORST;
    if (is_judged && !pt_column_is_drawn(c))
        fail_msg("%s.%s has a direction but is not a number that changes", t->name, c->name);
    if (c->combine == PT_COMBINE_WORST && c->better == PT_NO_DIRECTION)
        fail_msg("%s.%s: the worst row needs a direction", t->name, c->name);
}

static void only_numbers_have_a_direction(void **state) {
    (void)state;
    for_each_column(check_direction);
}

static void directions_are_those_an_engineer_expects(void **state) {
    (void)state;
    static const struct {
        const char *table, *column;
        enum pt_direction better;
    } known[] = {
        { "mem", "vMemoryUsed", PT_LOWER_IS_BETTER },
        { "mem", "vMemoryFree", PT_HIGHER_IS_BETTER },
        { "mem", "vMemoryUnused", PT_HIGHER_IS_BETTER },
        { "mem", "vSwapFree", PT_HIGHER_IS_BETTER },
        { "mem", "vSwapUsed", PT_LOWER_IS_BETTER },
        { "gpu", "gMemoryUsedMb", PT_LOWER_IS_BETTER },
        { "gpu", "gMemoryFreeMb", PT_HIGHER_IS_BETTER },
        { "gpu", "gUtilizationGpu", PT_HIGHER_IS_BETTER },
        { "engine", "tokens_generation_total", PT_HIGHER_IS_BETTER },
        { "engine", "cache_prefix_hits", PT_HIGHER_IS_BETTER },
        { "engine", "cache_prefix_queries", PT_NO_DIRECTION },
        { "engine", "latency_ttft_s_p99", PT_LOWER_IS_BETTER },
        { "net", "vNetworkErrorsSent", PT_LOWER_IS_BETTER },
        { "net", "vNetworkBytesSent", PT_NO_DIRECTION },
        { "container", "cMemoryTightestLimit", PT_NO_DIRECTION },
    };
    for (size_t i = 0; i < PT_COUNT(known); i++)
        if (column_of(known[i].table, known[i].column)->better != known[i].better)
            fail_msg("%s.%s: %s is better?", known[i].table, known[i].column,
                     pt_direction_name(column_of(known[i].table, known[i].column)->better));
}

static void what_a_line_leaves_out_follows_from_kind_and_unit(void **state) {
    (void)state;
    char title[PT_TITLE_BYTES];
    const struct pt_column bytes = { "x", "major_faults", PT_COUNTER, PT_I64, PT_BYTES, 0, "" };
    const struct pt_column percent = { "y", "busy", PT_GAUGE, PT_F64, PT_PERCENT, 0, "" };
    const struct pt_column share = { .kind = PT_COUNTER,
                                     .unit = PT_SECONDS,
                                     .form = PT_FORM_SHARE };
    const struct pt_column part = { .kind = PT_GAUGE, .unit = PT_RATIO, .limit = "x" };
    assert_string_equal(pt_column_title(&bytes, title), "Major faults");
    assert_int_equal(pt_column_form(&bytes), PT_FORM_BYTES_PER_S);
    assert_int_equal(pt_column_combine(&bytes), PT_COMBINE_SUM);
    assert_true(isnan(pt_column_full(&bytes)));
    assert_int_equal(pt_column_form(&percent), PT_FORM_SHARE);
    assert_int_equal(pt_column_combine(&percent), PT_COMBINE_MEAN);
    assert_true(pt_column_full(&percent) == 1);
    assert_int_equal(pt_column_combine(&share), PT_COMBINE_MEAN);
    assert_true(isnan(pt_column_full(&part)));
    assert_int_equal(pt_column_lasts_ns(&percent, INT64_C(100000000)), INT64_C(3000000000));
    assert_int_equal(pt_column_lasts_ns(&percent, INT64_C(2000000000)), INT64_C(6000000000));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        PT_TEST(titles_are_short_and_differ_within_a_table,
                "C314: titles are short, begin with a capital and differ within a table"),
        PT_TEST(headlines_have_titles_and_are_few,
                "C314: headlines have titles, and a table has few of them"),
        PT_TEST(a_family_has_one_form_and_is_stacked_as_a_whole,
                "C314: a family has one form and is stacked as a whole or not at all"),
        PT_TEST(headings_are_narrow_and_differ_within_a_table,
                "C314: headings are narrow and differ; headlines of lists have one"),
        PT_TEST(parts_are_a_family_of_the_same_form,
                "C314: the parts of a column are a family of the same form"),
        PT_TEST(a_limit_is_a_number_of_the_same_row_and_unit,
                "C314: a limit is a number of the same row and in the same unit"),
        PT_TEST(no_share_can_exceed_100_percent, "C314: no share can exceed 100 %"),
        PT_TEST(two_units_of_cpu_time_are_told_apart,
                "C314: columns in cores say so, and no time per second is left undecided"),
        PT_TEST(fields_are_columns_of_the_schema,
                "C314: every column that code reads by name exists and is named once"),
        PT_TEST(percentiles_say_of_which_histogram,
                "C316: percentiles say of which histogram they are"),
        PT_TEST(values_last_for_three_reads, "C314: a value lasts for three reads"),
        PT_TEST(rows_have_a_name, "C314: rows of every file have a name"),
        PT_TEST(only_numbers_have_a_direction, "C314: only numbers that change have a direction"),
        PT_TEST(directions_are_those_an_engineer_expects,
                "C314: less free memory is worse, more prefix hits are better"),
        PT_TEST(what_a_line_leaves_out_follows_from_kind_and_unit,
                "C314: what a line leaves out follows from kind and unit"),
    };
    return cmocka_run_group_tests_name("meaning", tests, NULL, NULL);
}
