/* inside/region/histogram.h -- base-2 exponential buckets of scale 5: part of the layout of a
 * region.
 *
 * An octave has 32 buckets, each 2^(1/32) = 1.022 times as wide as the previous one, so that the
 * middle of a bucket is within 1.1 % of every value in it. Bucket 0 begins at 2^-32 and also holds
 * smaller values; the last one ends at 2^48 and also holds larger values. */
#ifndef PT_INSIDE_REGION_HISTOGRAM_H
#define PT_INSIDE_REGION_HISTOGRAM_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define PT_BUCKETS_PER_OCTAVE 32
#define PT_MIN_EXPONENT       (-32)
#define PT_MAX_EXPONENT       48
#define PT_OCTAVE_COUNT       (PT_MAX_EXPONENT - PT_MIN_EXPONENT)
#define PT_BUCKET_COUNT       (PT_OCTAVE_COUNT * PT_BUCKETS_PER_OCTAVE)

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

/* Indexed by the first six bits of a mantissa: after the addition, the bits above its 52 bits are
 * the bucket. Such a 64th of an octave begins in bucket b and contains at most one bound m: b *
 * 2^52 + 2^52 - m. */
static const uint64_t pt_bucket_offsets[64] = {
    0x000fa64f2cea7a8c, 0x000fa64f2cea7a8c, 0x001f4aa7930676f1, 0x002eecfe2feda4af,
    0x002eecfe2feda4af, 0x003e8d47c382ae85, 0x004e2b78ce974656, 0x004e2b78ce974656,
    0x005dc785918a9dc8, 0x006d61620ae0211f, 0x006d61620ae0211f, 0x007cf901f5ce48eb,
    0x007cf901f5ce48eb, 0x008c8e58c8c55635, 0x009c2159b3edcbde, 0x009c2159b3edcbde,
    0x00abb1f79f9e76d3, 0x00abb1f79f9e76d3, 0x00bb40252ac9d5d9, 0x00cacbd4a962b07e,
    0x00cacbd4a962b07e, 0x00da54f822b7abd7, 0x00da54f822b7abd7, 0x00e9db814fc5aa7b,
    0x00e9db814fc5aa7b, 0x00f95f619980c433, 0x00f95f619980c433, 0x0108e08a1713a08c,
    0x0108e08a1713a08c, 0x01185eeb8c14fe79, 0x01185eeb8c14fe79, 0x0127da7666b331ed,
    0x0127da7666b331ed, 0x0137531abdd55f25, 0x0137531abdd55f25, 0x0146c8c84f323a1b,
    0x0146c8c84f323a1b, 0x01563b6e7d5c0f70, 0x01563b6e7d5c0f70, 0x01563b6e7d5c0f70,
    0x0165aafc4dc1daa3, 0x0165aafc4dc1daa3, 0x0175176066a52c53, 0x0175176066a52c53,
    0x018480890d04a1b9, 0x018480890d04a1b9, 0x0193e664227aad64, 0x0193e664227aad64,
    0x0193e664227aad64, 0x01a348df23106f97, 0x01a348df23106f97, 0x01b2a7e723045b79,
    0x01b2a7e723045b79, 0x01b2a7e723045b79, 0x01c20368cc8464a1, 0x01c20368cc8464a1,
    0x01d15b505d5b6f26, 0x01d15b505d5b6f26, 0x01d15b505d5b6f26, 0x01e0af89a491bac0,
    0x01e0af89a491bac0, 0x01e0af89a491bac0, 0x01f0000000000000, 0x01f0000000000000,
};

static inline uint64_t pt_bucket_bits(double value) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* Bits of 2^-32, and the distance to those of 2^48. Positive doubles are ordered as their bits;
 * zero, negative ones, NAN and infinity are outside. */
#define PT_BUCKET_FIRST_BITS ((uint64_t)(1023 + PT_MIN_EXPONENT) << 52)
#define PT_BUCKET_RANGE_BITS ((uint64_t)(PT_MAX_EXPONENT - PT_MIN_EXPONENT) << 52)

/* For a value in the range. */
static inline uint32_t pt_bucket_of_bits(uint64_t bits) {
    uint64_t octave = (bits - PT_BUCKET_FIRST_BITS) >> 52;
    uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
    uint64_t bucket = (mantissa + pt_bucket_offsets[mantissa >> 46]) >> 52;
    return (uint32_t)(octave * PT_BUCKETS_PER_OCTAVE + bucket);
}

/* For a value that is not NAN. */
static inline uint32_t pt_bucket_of(double value) {
    uint64_t bits = pt_bucket_bits(value);
    if (__builtin_expect(bits - PT_BUCKET_FIRST_BITS >= PT_BUCKET_RANGE_BITS, 0))
        return value < 1 ? 0 : PT_BUCKET_COUNT - 1;
    return pt_bucket_of_bits(bits);
}

static inline double pt_bucket_lower(uint32_t bucket) {
    return ldexp(pt_bucket_bounds[bucket % PT_BUCKETS_PER_OCTAVE],
                 (int)(bucket / PT_BUCKETS_PER_OCTAVE) + PT_MIN_EXPONENT);
}

/* Range of buckets that may be nonzero. {0}: none. */
struct pt_bucket_range {
    uint32_t first, end;
};
static const struct pt_bucket_range pt_all_buckets = { 0, PT_BUCKET_COUNT };

/* The q-quantile: the middle, by ratio, of the bucket it is in. NAN without values. */
static inline double pt_bucket_quantile(const uint64_t counts[PT_BUCKET_COUNT],
                                        struct pt_bucket_range used, double q) {
    uint64_t total = 0, seen = 0;
    for (uint32_t i = used.first; i < used.end; i++)
        total += counts[i];
    if (total == 0)
        return (double)NAN;
    double rank = q * (double)total;
    for (uint32_t i = used.first; i < used.end; i++) {
        seen += counts[i];
        if (seen > 0 && (double)seen >= rank)
            return pt_bucket_lower(i) * 0x1.02c9a3e778061p+0; /* 2^(1/64) */
    }
    return pt_bucket_lower(PT_BUCKET_COUNT - 1);
}

#endif
