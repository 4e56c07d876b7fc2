/* region/histogram.h -- base-2 exponential buckets of scale 5: part of the layout of a region.
 *
 * An octave has 32 buckets, each 2^(1/32) = 1.022 times as wide as the one before, so that the
 * middle of a bucket is within 1.1 % of every value in it. Bucket 0 begins at 2^-32 and holds all
 * that is below; the last one ends at 2^48 and holds all that is above. */
#ifndef PT_REGION_HISTOGRAM_H
#define PT_REGION_HISTOGRAM_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define PT_BUCKETS_PER_OCTAVE 32
#define PT_MIN_EXPONENT       (-32)
#define PT_MAX_EXPONENT       48
#define PT_BUCKET_COUNT       ((PT_MAX_EXPONENT - PT_MIN_EXPONENT) * PT_BUCKETS_PER_OCTAVE)

/* 2^(i/32) */
static const double pt_bucket_bounds[PT_BUCKETS_PER_OCTAVE + 1] = {
    0x1.0000000000000p+0, 0x1.059b0d3158574p+0, 0x1.0b5586cf9890fp+0,
    0x1.11301d0125b51p+0, 0x1.172b83c7d517bp+0, 0x1.1d4873168b9aap+0,
    0x1.2387a6e756238p+0, 0x1.29e9df51fdee1p+0, 0x1.306fe0a31b715p+0,
    0x1.371a7373aa9cbp+0, 0x1.3dea64c123422p+0, 0x1.44e086061892dp+0,
    0x1.4bfdad5362a27p+0, 0x1.5342b569d4f82p+0, 0x1.5ab07dd485429p+0,
    0x1.6247eb03a5585p+0, 0x1.6a09e667f3bcdp+0, 0x1.71f75e8ec5f74p+0,
    0x1.7a11473eb0187p+0, 0x1.82589994cce13p+0, 0x1.8ace5422aa0dbp+0,
    0x1.93737b0cdc5e5p+0, 0x1.9c49182a3f090p+0, 0x1.a5503b23e255dp+0,
    0x1.ae89f995ad3adp+0, 0x1.b7f76f2fb5e47p+0, 0x1.c199bdd85529cp+0,
    0x1.cb720dcef9069p+0, 0x1.d5818dcfba487p+0, 0x1.dfc97337b9b5fp+0,
    0x1.ea4afa2a490dap+0, 0x1.f50765b6e4540p+0, 0x1p+1
};

/* Of the first six bits of a mantissa: the bucket that its smallest value is in. At most one bound
 * lies in such a 64th. */
static const uint8_t pt_bucket_starts[64] = { 0,  0,  1,  2,  2,  3,  4,  4,  5,  6,  6,  7,  7,
                                              8,  9,  9,  10, 10, 11, 12, 12, 13, 13, 14, 14, 15,
                                              15, 16, 16, 17, 17, 18, 18, 19, 19, 20, 20, 21, 21,
                                              21, 22, 22, 23, 23, 24, 24, 25, 25, 25, 26, 26, 27,
                                              27, 27, 28, 28, 29, 29, 29, 30, 30, 30, 31, 31 };

static inline uint64_t pt_bucket_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Of a value that is not NAN. Positive doubles are in the order of their bits. */
static inline uint32_t pt_bucket_of(double value) {
    const uint64_t first = (uint64_t)(1023 + PT_MIN_EXPONENT) << 52;
    const uint64_t range = (uint64_t)(PT_MAX_EXPONENT - PT_MIN_EXPONENT) << 52;
    uint64_t bits = pt_bucket_bits(value);
    if (__builtin_expect(bits - first >= range, 0))
        return value < 1 ? 0 : PT_BUCKET_COUNT - 1;
    uint32_t octave = (uint32_t)((bits - first) >> 52);
    uint32_t start = pt_bucket_starts[bits >> 46 & 63];
    uint64_t mantissa = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
    return octave * PT_BUCKETS_PER_OCTAVE + start +
           (mantissa >= pt_bucket_bits(pt_bucket_bounds[start + 1]));
}

static inline double pt_bucket_lower(uint32_t bucket) {
    return ldexp(pt_bucket_bounds[bucket % PT_BUCKETS_PER_OCTAVE],
                 (int)(bucket / PT_BUCKETS_PER_OCTAVE) + PT_MIN_EXPONENT);
}

/* The q-quantile: the middle, by ratio, of the bucket it is in. NAN without values. */
static inline double pt_bucket_quantile(const uint64_t counts[PT_BUCKET_COUNT], double q) {
    uint64_t total = 0, seen = 0;
    for (uint32_t i = 0; i < PT_BUCKET_COUNT; i++)
        total += counts[i];
    if (total == 0)
        return (double)NAN;
    double rank = q * (double)total;
    for (uint32_t i = 0; i < PT_BUCKET_COUNT; i++) {
        seen += counts[i];
        if (seen > 0 && (double)seen >= rank)
            return pt_bucket_lower(i) * 0x1.02c9a3e778061p+0; /* 2^(1/64) */
    }
    return pt_bucket_lower(PT_BUCKET_COUNT - 1);
}

#endif
