#include "libpitot/leak_check.h"

#include <math.h>

#define QUARTERS            4
#define STANDARD_ERRORS     3
#define PART_OF_RISE        0.1
#define DYING               (1.0 / 3)
#define FLOOR_MB            1
#define FLOOR_PART          0.01
#define AUTOCORRELATION_MAX 0.95 /* r = 1 would make the error infinite */

struct regression {
    double mean_x, mean_y, slope, standard_error;
};

static double mean_of(const double *v, size_t n) {
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += v[i];
    return sum / (double)n;
}

/* Of the slope, widened for the lag-1 autocorrelation of the residuals. */
static double standard_error_of(const struct regression *l, const double *x, const double *y,
                                size_t n, double square_x) {
    double squares = 0, products = 0, before = 0;
    for (size_t i = 0; i < n; i++) {
        double r = y[i] - l->mean_y - l->slope * (x[i] - l->mean_x);
        squares += r * r;
        products += r * before;
        before = r;
    }
    double r1 = squares > 0 ? fmin(fmax(products / squares, 0), AUTOCORRELATION_MAX) : 0;
    return sqrt(squares / (double)(n - 2) / square_x) * sqrt((1 + r1) / (1 - r1));
}

static struct regression least_squares(const double *x, const double *y, size_t n) {
    struct regression l = { mean_of(x, n), mean_of(y, n), 0, 0 };
    double square_x = 0, product = 0;
    for (size_t i = 0; i < n; i++) {
        square_x += (x[i] - l.mean_x) * (x[i] - l.mean_x);
        product += (x[i] - l.mean_x) * (y[i] - l.mean_y);
    }
    if (square_x > 0) {
        l.slope = product / square_x;
        l.standard_error = standard_error_of(&l, x, y, n, square_x);
    }
    return l;
}

static double lowest(const double *v, size_t from, size_t to) {
    double low = v[from];
    for (size_t i = from; i < to; i++)
        low = fmin(low, v[i]);
    return low;
}

static bool keeps_rising(const double *y, size_t n, double mean) {
    double low[QUARTERS];
    for (size_t i = 0; i < QUARTERS; i++)
        low[i] = lowest(y, n * i / QUARTERS, n * (i + 1) / QUARTERS);
    double rise = low[QUARTERS - 1] - low[0];
    if (rise < FLOOR_MB || rise < FLOOR_PART * mean)
        return false;
    for (int i = 1; i < QUARTERS; i++)
        if (low[i] - low[i - 1] < PART_OF_RISE * rise)
            return false;
    return low[3] - low[2] >= DYING * (low[1] - low[0]);
}

struct pt_leak_result pt_leak_test(const double *x, const double *mb, size_t count) {
    size_t from = count / 3, n = count - from;
    if (n < PT_LEAK_VALUES)
        return (struct pt_leak_result){ PT_LEAK_UNKNOWN, NAN, NAN };
    struct regression l = least_squares(x + from, mb + from, n);
    bool leaks =
        l.slope > STANDARD_ERRORS * l.standard_error && keeps_rising(mb + from, n, l.mean_y);
    return (struct pt_leak_result){ leaks ? PT_LEAK_YES : PT_LEAK_NO, l.slope, l.standard_error };
}
