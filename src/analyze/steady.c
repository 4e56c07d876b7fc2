#include "analyze/steady.h"

#include <math.h>
#include <stdint.h>

#define RESAMPLES     400
#define CUT_TOLERANCE 1.25
#define SEED          UINT64_C(0x9e3779b97f4a7c15)

static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The squared error that the mean of values[cut..count) would have if they were independent. */
struct tail {
    double sum, squares, n;
};

static double tail_score(struct tail *t, double value) {
    t->sum += value;
    t->squares += value * value;
    t->n++;
    return (t->squares - t->sum * t->sum / t->n) / (t->n * t->n);
}

/* At most half is cut: what settles later never does. Of cuts that are about as good the shortest
 * is taken, as chance alone makes some rest look calmer. */
static size_t find_cut(const double *values, size_t count) {
    double best = INFINITY;
    struct tail tail = { 0 };
    size_t cut = 0;
    for (size_t i = count; i-- > 0;) {
        double score = tail_score(&tail, values[i]);
        if (i <= count / 2)
            best = fmin(best, score);
    }
    tail = (struct tail){ 0 };
    for (size_t i = count; i-- > 0;)
        if (tail_score(&tail, values[i]) <= CUT_TOLERANCE * best && i <= count / 2)
            cut = i;
    return cut;
}

static double mean_of(const double *values, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += values[i];
    return sum / (double)count;
}

/* How many neighbours a value resembles: 1 + 2 * sum of autocorrelations up to the first that is
 * not positive. */
static double resemblance(const double *values, size_t count, double mean) {
    double variance = 0, sum = 1;
    for (size_t i = 0; i < count; i++)
        variance += (values[i] - mean) * (values[i] - mean);
    if (!(variance > 0))
        return 1;
    for (size_t lag = 1; lag < count / 4; lag++) {
        double together = 0;
        for (size_t i = 0; i + lag < count; i++)
            together += (values[i] - mean) * (values[i + lag] - mean);
        if (together <= 0)
            break;
        sum += 2 * together / variance;
    }
    return sum;
}

/* The same error from variance and resemblance: the larger of the two is believed, as both tend to
 * be too small for short series. */
static double direct_error(const double *values, size_t count, double mean, double resembling) {
    double variance = 0, n = (double)count;
    for (size_t i = 0; i < count; i++)
        variance += (values[i] - mean) * (values[i] - mean);
    return sqrt(variance / fmax(1, n - resembling) * resembling / n);
}

static size_t choose_block(size_t count, double resembling) {
    double wanted = fmax(cbrt((double)count), 2 * resembling);
    size_t most = count / 4 > 0 ? count / 4 : 1;
    return wanted > (double)most ? most : (size_t)ceil(wanted);
}

/* Means of series put together from blocks that begin anywhere and go round at the end. */
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
    size_t cut = count >= 2 * PT_STEADY_MIN ? find_cut(values, count) : 0;
    *steady = (struct pt_steady){ .cut = cut, .count = count - cut };
    if (steady->count < PT_STEADY_MIN)
        return false;
    values += cut;
    steady->mean = mean_of(values, steady->count);
    double resembling = resemblance(values, steady->count, steady->mean);
    steady->block = choose_block(steady->count, resembling);
    double blocks = (double)steady->count / (double)steady->block;
    steady->freedom = fmax(1, blocks - 1);
    /* drawn blocks vary less than true ones by as much as their own mean was fitted */
    double drawn = bootstrap_error(values, steady->count, steady->block);
    steady->error = fmax(drawn * sqrt(blocks / steady->freedom),
                         direct_error(values, steady->count, steady->mean, resembling));
    return true;
}

/* Wallace's normal approximation of Student's distribution, and its inverse. */
double pt_student_p(double t, double freedom) {
    double z = (8 * freedom + 1) / (8 * freedom + 3) * sqrt(freedom * log1p(t * t / freedom));
    return erfc(z / sqrt(2));
}

double pt_student_95(double freedom) {
    double z = 1.959964 * (8 * freedom + 3) / (8 * freedom + 1);
    return sqrt(freedom * expm1(z * z / freedom));
}
