#include "analyze/steady.h"

#include <math.h>
#include <stdint.h>

#define RESAMPLES      400
#define MSER_TOLERANCE 1.25
#define SEED           UINT64_C(0x9e3779b97f4a7c15)

static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Sums over values[cut..count). */
struct tail {
    double sum, squares, n;
};

/* The squared standard error of the mean, if the values were independent: what MSER minimizes. */
static double mser_statistic(struct tail *t, double value) {
    t->sum += value;
    t->squares += value * value;
    t->n++;
    return (t->squares - t->sum * t->sum / t->n) / (t->n * t->n);
}

/* Truncates at most half. Of cuts that are about equally good the shortest wins, because the
 * variance of some tail is smaller by chance alone. */
static size_t find_warmup(const double *values, size_t count) {
    double best = INFINITY;
    struct tail tail = { 0 };
    size_t cut = 0;
    for (size_t i = count; i-- > 0;) {
        double statistic = mser_statistic(&tail, values[i]);
        if (i <= count / 2)
            best = fmin(best, statistic);
    }
    tail = (struct tail){ 0 };
    for (size_t i = count; i-- > 0;)
        if (mser_statistic(&tail, values[i]) <= MSER_TOLERANCE * best && i <= count / 2)
            cut = i;
    return cut;
}

/* Integrated autocorrelation time: 1 + 2 * sum of autocorrelations up to the first that is not
 * positive. count / time is the effective sample size. */
static double autocorrelation_time(const double *values, size_t count, double mean) {
    double variance = 0, sum = 1;
    for (size_t i = 0; i < count; i++)
        variance += (values[i] - mean) * (values[i] - mean);
    if (!(variance > 0))
        return 1;
    for (size_t lag = 1; lag < count / 4; lag++) {
        double covariance = 0;
        for (size_t i = 0; i + lag < count; i++)
            covariance += (values[i] - mean) * (values[i + lag] - mean);
        if (covariance <= 0)
            break;
        sum += 2 * covariance / variance;
    }
    return sum;
}

/* The standard error by the effective sample size. The larger of this and the bootstrap's is used:
 * both tend to be too small for short series. */
static double effective_size_error(const double *values, size_t count, double mean,
                                   double correlation_time) {
    double variance = 0, n = (double)count;
    for (size_t i = 0; i < count; i++)
        variance += (values[i] - mean) * (values[i] - mean);
    return sqrt(variance / fmax(1, n - correlation_time) * correlation_time / n);
}

/* Circular block bootstrap: blocks start anywhere and wrap around at the end. */
static double bootstrap_error(const double *values, size_t count, size_t block) {
    uint64_t random = SEED;
    double sum = 0, squares = 0;
    for (int r = 0; r < RESAMPLES; r++) {
        double total = 0;
        for (size_t filled = 0; filled < count; filled += block) {
            size_t start = (size_t)(next_random(&random) % count);
            for (size_t i = 0; i < block && filled + i < count; i++)
                total += values[(start + i) % count];
        }
        double mean = total / (double)count;
        sum += mean;
        squares += mean * mean;
    }
    double variance = (squares - sum * sum / RESAMPLES) / (RESAMPLES - 1);
    return variance > 0 ? sqrt(variance) : 0;
}

bool pt_steady_find(const double *values, size_t count, struct pt_steady *steady) {
    size_t warmup = count >= 2 * PT_STEADY_MIN ? find_warmup(values, count) : 0;
    *steady = (struct pt_steady){ .warmup_count = warmup, .count = count - warmup };
    if (steady->count < PT_STEADY_MIN)
        return false;
    values += warmup;
    for (size_t i = 0; i < steady->count; i++)
        steady->mean += values[i];
    steady->mean /= (double)steady->count;
    double correlation_time = autocorrelation_time(values, steady->count, steady->mean);
    double wanted = fmax(cbrt((double)steady->count), 2 * correlation_time);
    size_t longest = steady->count / 4 > 0 ? steady->count / 4 : 1;
    steady->block_length = wanted > (double)longest ? longest : (size_t)ceil(wanted);
    double blocks = (double)steady->count / (double)steady->block_length;
    steady->degrees_of_freedom = fmax(1, blocks - 1);
    /* Bessel's correction: blocks are drawn around their own mean */
    double bootstrap = bootstrap_error(values, steady->count, steady->block_length) *
                       sqrt(blocks / steady->degrees_of_freedom);
    steady->standard_error = fmax(
        bootstrap, effective_size_error(values, steady->count, steady->mean, correlation_time));
    return true;
}

/* Wallace's normal approximation of Student's distribution, and its inverse. */
double pt_student_p_value(double t, double degrees_of_freedom) {
    double df = degrees_of_freedom;
    double z = (8 * df + 1) / (8 * df + 3) * sqrt(df * log1p(t * t / df));
    return erfc(z / sqrt(2));
}

double pt_student_critical_95(double degrees_of_freedom) {
    double df = degrees_of_freedom;
    double z = 1.959964 * (8 * df + 3) / (8 * df + 1);
    return sqrt(df * expm1(z * z / df));
}
