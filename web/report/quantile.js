/* Buckets with common bounds: where bounds differ, the observations of a bucket are spread evenly
 * over it. `parts` are { above, le, count }; null: without a bound. */
function mergeBuckets(parts) {
    const bounds = [...new Set(parts.flatMap(({ above, le }) => [above ?? -Infinity,
        le ?? Infinity]))].filter(bound => bound !== -Infinity).sort((a, b) => a - b);
    const buckets = bounds.map((le, i) => ({ above: i > 0 ? bounds[i - 1] : -Infinity, le,
        count: 0 }));
    for (const part of parts) {
        const above = part.above ?? -Infinity, le = part.le ?? Infinity;
        if (above === -Infinity || le === Infinity) {
            buckets[le === Infinity ? buckets.length - 1 : 0].count += part.count;
            continue;
        }
        for (const bucket of buckets)
            if (bucket.above >= above && bucket.le <= le)
                bucket.count += part.count * (bucket.le - bucket.above) / (le - above);
    }
    return buckets;
}

/* The number of observations up to each bound. It never falls from one bound to the next: a bucket
 * that was read before the one below it may count fewer. */
function cumulativeCounts(buckets) {
    let sum = 0, most = 0;
    return buckets.map(({ count }) => {
        sum += count;
        most = Math.max(most, sum);
        return most;
    });
}

/* As histogram_quantile() of Prometheus, and as derive/classic_histogram.c. */
function quantileOf(parts, level) {
    const buckets = mergeBuckets(parts);
    const counts = cumulativeCounts(buckets);
    const rank = level * (counts.at(-1) ?? 0);
    const i = counts.findIndex(count => count > 0 && count >= rank);
    if (i < 0)
        return null;
    const { above, le } = buckets[i];
    const below = i > 0 ? counts[i - 1] : 0;
    if (le === Infinity)
        return above === -Infinity ? null : above;
    return above === -Infinity ? le : above + (le - above) * (rank - below) / (counts[i] - below);
}
