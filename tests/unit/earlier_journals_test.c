/* Journals of earlier versions (tests/fixtures/journal-0.1): they have no meaning of columns, and
 * quantiles of latencies instead of histograms. Expected numbers were computed from the CSV files
 * that the version of the journal wrote. */
#include "capture.h"
#include "json_text.h"

#include "cmd/command.h"
#include "report/summary.h"
#include "store/journal.h"

#include <math.h>

#define TOLERANCE 1e-3 /* CSV files have read times in milliseconds */

struct expected {
    enum pt_figure_id id;
    double value, peak; /* NAN: unknown; peak NAN: not checked */
};

static void check(const char *name, uint64_t sample_count, const struct expected *expected,
                  size_t count) {
    char path[PATH_MAX];
    struct pt_journal_reader reader;
    struct pt_sample sample;
    struct pt_err err = { "" };
    struct pt_summary *s = pt_calloc(1, sizeof *s);
    find_capture(name, path);
    assert_int_equal(pt_journal_open(&reader, path, &err), 0);
    pt_summary_init(s, &reader.schema);
    pt_sample_init(&sample, &reader.schema);
    while (pt_journal_next(&reader, &sample) > 0)
        pt_summary_add(s, &sample);
    assert_true(reader.is_complete);
    assert_int_equal(s->sample_count, sample_count);
    for (size_t i = 0; i < count; i++) {
        const struct expected *e = &expected[i];
        double value = pt_figure_totals_value(&s->totals, e->id), peak = s->totals.sums[e->id].peak;
        if (isnan(value) != isnan(e->value) || fabs(value - e->value) > TOLERANCE * fabs(e->value))
            fail_msg("%s is %.9g, expected %.9g", pt_figures[e->id].name, value, e->value);
        if (fabs(peak - e->peak) > 1e-9 * fabs(e->peak))
            fail_msg("peak of %s is %.9g, expected %.9g", pt_figures[e->id].name, peak, e->peak);
    }
    pt_sample_release(&sample);
    pt_summary_release(s);
    pt_free(s);
    pt_journal_reader_close(&reader);
}

#define CHECK(name, samples, ...)                                                               \
    check(OURS "journal-0.1/" name ".pitot", samples, (const struct expected[]){ __VA_ARGS__ }, \
          PT_COUNT(((const struct expected[]){ __VA_ARGS__ })))

static void a_machine_of_an_earlier_journal_has_its_figures(void **state) {
    (void)state;
    CHECK("plain", 12, { PT_FIGURE_CPU_BUSY, 1, 1 },
          { PT_FIGURE_MEM_USED, 1104807447.8676934, 1180020736 },
          { PT_FIGURE_CPU_LOAD, 18.33, 18.33 }, { PT_FIGURE_DISK_READ, 106496 / 1.016, NAN },
          { PT_FIGURE_ENGINE_TOKENS, NAN, NAN }, { PT_FIGURE_ENGINE_GOODPUT, NAN, NAN });
}

static void a_command_of_an_earlier_journal_has_its_figures(void **state) {
    (void)state;
    CHECK("processes", 5, { PT_FIGURE_CPU_BUSY, 0.9931506849315068, NAN },
          { PT_FIGURE_OWN_CPU, 0.144521 / 0.728, NAN },
          { PT_FIGURE_OWN_RSS, 2306533.38225157, 3313664 },
          { PT_FIGURE_OWN_PEAK_MEMORY, 3313664, 3313664 });
}

/* A mean of percentiles says nothing: the worst scrape counts. */
static void quantiles_of_an_earlier_journal_are_those_it_recorded(void **state) {
    (void)state;
    CHECK("engine", 12, { PT_FIGURE_ENGINE_TTFT_P50, 0.625, 0.625 },
          { PT_FIGURE_ENGINE_INTER_TOKEN_P99, 0.0995, 0.0995 }, { PT_FIGURE_ENGINE_RUNNING, 4, 4 },
          { PT_FIGURE_ENGINE_GOODPUT, NAN, NAN });
}

int main(void) {
    pt_schema_install(pt_known_schema());
    const struct CMUnitTest tests[] = {
        PT_TEST(a_machine_of_an_earlier_journal_has_its_figures,
                "C316: the machine of a journal of 0.1 has its figures"),
        PT_TEST(a_command_of_an_earlier_journal_has_its_figures,
                "C316: the command of a journal of 0.1 has its figures"),
        PT_TEST(quantiles_of_an_earlier_journal_are_those_it_recorded,
                "C316: without histograms, quantiles are the worst that were recorded"),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
