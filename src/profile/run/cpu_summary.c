#include "profile/run/cpu_summary.h"

#include "base/clock.h"
#include "profile/model/by_function.h"

#include <errno.h>
#include <inttypes.h>

#define COVERAGE_MIN_NS  (300 * PT_NS_PER_MS)
#define COVERAGE_PERCENT 75

static double percent(int64_t part, int64_t whole) {
    return whole > 0 ? 100.0 * (double)part / (double)whole : 0;
}

/* Prints time by thread state, unless all of it is on the CPU. */
static void print_states(const struct pt_profile *p, struct pt_out *out) {
    int64_t sums[PT_STATE_COUNT] = { 0 }, all = 0;
    for (size_t i = 0; i < p->samples.count; i++) {
        sums[p->samples.at[i].state] += pt_profile_value(p, i, 0);
        all += pt_profile_value(p, i, 0);
    }
    if (sums[PT_STATE_ON_CPU] == all)
        return;
    pt_out_text(out, "time:");
    for (int i = 0; i < PT_STATE_COUNT; i++)
        if (sums[i] > 0)
            pt_out_printf(out, " %s %.1f %%", pt_profile_state_name((enum pt_profile_state)i),
                          percent(sums[i], all));
    pt_out_char(out, '\n');
}

#define WORTH_A_WORD    5  /* percent */
#define SAMPLES_BETWEEN 20 /* each thread ends between two samples */

/* A virtual machine does not always run: its timers fire late, and part of the CPU time it counts
 * gets no samples. */
static void print_late(const struct pt_profile *p, struct pt_out *out) {
    const struct pt_profile_meta *m = &p->meta;
    /* numbers of another process: not as integers, which could overflow */
    double period_ns = (double)m->period_ns, counted_ns = (double)m->counted_ns;
    double samples = (double)p->samples.count + (double)m->lost + (double)m->dropped;
    double late_ns = counted_ns - samples * period_ns;
    double late = counted_ns > 0 ? 100 * late_ns / counted_ns : 0;
    if (period_ns > 0 && late >= WORTH_A_WORD && late_ns >= SAMPLES_BETWEEN * period_ns)
        pt_out_printf(out,
                      "without samples: %.1f %% of %.3g s of CPU time, because timers fired late "
                      "(steal)\n",
                      late, counted_ns / 1e9);
}

void pt_cpu_summary_print(const struct pt_profile *p, struct pt_out *out) {
    const struct pt_profile_meta *m = &p->meta;
    pt_out_printf(out, "%s: %s", m->title, m->method);
    if (m->rate_hz > 0)
        pt_out_printf(out, ", %" PRId64 " Hz", m->rate_hz);
    pt_out_printf(out, "\nsamples: %zu, lost %" PRId64, p->samples.count, m->lost);
    if (m->unwound > 0)
        pt_out_printf(out, "; %.1f %% of %" PRId64 " stacks reach the root, %" PRId64 " cut short",
                      percent(m->rooted, m->unwound), m->unwound, m->truncated);
    pt_out_char(out, '\n');
    pt_out_printf(out, "overhead: %.1f ms of CPU time, %.1f us per sample\n",
                  (double)m->own_cpu_ns / 1e6,
                  p->samples.count ? (double)m->own_cpu_ns / 1e3 / (double)p->samples.count : 0);
    print_late(p, out);
    if (m->dropped > 0)
        pt_out_printf(out, "not kept: %" PRId64 " samples beyond %u\n", m->dropped,
                      PT_PROFILE_SAMPLES_MAX);
    if (m->python_wanted > 0)
        pt_out_printf(out, "python: %.1f %% of %" PRId64 " samples are %s\n",
                      percent(m->python_matched, m->python_wanted), m->python_wanted,
                      m->unwound > 0 ? "merged with certainty" : "certain (two reads agree)");
    pt_top_print_gil(p, out);
    print_states(p, out);
}

/* Timers are not in every program: the kernel's CPU time shows how much was missed. */
int pt_cpu_summary_check(const struct pt_profile *p, int64_t used_ns, bool is_off_cpu,
                         struct pt_err *err) {
    size_t count = p->samples.count;
    if (used_ns >= COVERAGE_MIN_NS) {
        int64_t sampled_ns = 0;
        for (size_t i = 0; i < count; i++)
            sampled_ns += pt_profile_value(p, i, 1);
        double sampled = percent(sampled_ns, used_ns);
        if (sampled < COVERAGE_PERCENT)
            return pt_fail(err, count ? 0 : -ENODATA,
                           "only %.0f %% of the command's CPU time was sampled (not sampled: "
                           "programs that are static or setuid or use the timer's signal "
                           "themselves, and very short threads)",
                           sampled);
    }
    if (count > 0)
        return 0;
    if (p->meta.lost > 0)
        return pt_fail(err, -EIO, "all samples were lost (use a lower --rate or --stack)");
    return pt_fail(err, 0, "no samples: %s",
                   is_off_cpu ? "no thread waited" : "the target used almost no CPU time");
}
