/* The data of docs/REPORT.md as arrays. */
async function unpack(text) {
    const packed = atob(text);
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i++)
        bytes[i] = packed.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
    return new Uint8Array(await new Response(stream).arrayBuffer());
}

class Model {
    constructor(data, bytes) {
        if (data.format !== 'pitot-report' || data.version !== 2)
            throw new Error('the page is not a report of version 2');
        this.data = data;
        this.bytes = bytes;
        this.end = Math.max(data.run.seconds, 1e-3);
        this.times = this.readTimes(data.axis);
        /* floats are rounded: the last sample must be within the run */
        this.end = Math.max(this.end, this.times.at(-1));
        this.perStretch = data.axis.is_whole ? 1 : 2;
        this.static = parseOrNull(data.static);
        this.linkHistograms(data);
    }

    /* Percentiles come from histograms: of figures, and of the rows of tables. */
    linkHistograms({ figures, latencies, tables }) {
        for (const figure of figures)
            figure.buckets = latencies[figure.latency];
        for (const { columns, histograms } of tables)
            for (const { level, series } of columns.filter(column => column.level !== undefined))
                for (const one of series)
                    Object.assign(one, { level, buckets: histograms[one.histogram] });
    }

    /* Four runs of bytes, the highest first. */
    floats(at, count) {
        const from = this.bytes.subarray(at * 4, (at + count) * 4);
        const bits = new Uint32Array(count);
        for (let i = 0; i < count; i++)
            bits[i] = from[i] << 24 | from[count + i] << 16 | from[2 * count + i] << 8 |
                from[3 * count + i];
        return new Float32Array(bits.buffer);
    }

    readTimes(axis) {
        if (axis.is_whole)
            return Float64Array.from(this.floats(axis.times, axis.count));
        const times = new Float64Array(2 * axis.count);
        for (let i = 0; i < times.length; i++)
            times[i] = (i / 2 + 0.25) * this.end / axis.count;
        return times;
    }

    /* The time slots that end in a window: [first, after the last). */
    stretches(from, to) {
        const at = i => this.times[i * this.perStretch];
        const count = this.data.axis.count;
        let first = 0, end = count;
        while (first < count && at(first) < from)
            first++;
        while (end > first && at(end - 1) > to)
            end--;
        return [first, end];
    }

    /* A figure over a part of the run: the sum over its time slots, and their weight. */
    over(figure, [first, end]) {
        figure.sumOf ||= this.floats(figure.sums, this.data.axis.count);
        figure.weightOf ||= this.floats(figure.weights, this.data.axis.count);
        let sum = 0, weight = 0, peak = null;
        for (let i = first; i < end; i++) {
            sum += figure.sumOf[i];
            weight += figure.weightOf[i];
            if (figure.weightOf[i] > 0)
                peak = Math.max(peak, figure.sumOf[i] / figure.weightOf[i]);
        }
        return { sum, weight, peak };
    }

    /* The value of a figure over a part of the run. */
    mean(figure, range) {
        if (figure.buckets)
            return this.quantile(figure, range);
        const { sum, weight, peak } = this.over(figure, range);
        return weight > 0 ? (figure.is_peak ? peak : sum / weight) : null;
    }

    quantile({ buckets, level }, [first, end]) {
        const parts = buckets.map(bucket => {
            bucket.slotOf ||= this.floats(bucket.slots, bucket.count);
            bucket.countOf ||= this.floats(bucket.counts, bucket.count);
            let count = 0;
            for (let i = 0; i < bucket.count; i++)
                if (bucket.slotOf[i] >= first && bucket.slotOf[i] < end)
                    count += bucket.countOf[i];
            return { above: bucket.above, le: bucket.le, count };
        });
        return quantileOf(parts.filter(({ count }) => count !== 0), level);
    }

    /* Curves are rounded, so that of the whole run comes with the figure. */
    peak(figure, [first, end]) {
        if (first === 0 && end === this.data.axis.count && figure.peak !== undefined)
            return figure.peak;
        const values = this.curve(figure), per = this.perStretch;
        let peak = null;
        for (let i = first * per; i < end * per; i++)
            peak = values[i] > peak || (peak === null && !Number.isNaN(values[i])) ?
                values[i] : peak;
        return peak;
    }

    curve(figure) {
        return figure.values ||= this.values(figure);
    }

    /* The mean of each time slot, where the data has one: a part of a stack. */
    means(curve) {
        const means = this.floats(curve.means, this.data.axis.count);
        return Float64Array.from(this.times, (_, i) => means[Math.floor(i / 2)] + curve.base);
    }

    /* One number per time; NaN is unknown. */
    values(curve) {
        const values = new Float64Array(this.times.length);
        if (curve.at === undefined)
            return values.fill(curve.value);
        const floats = this.floats(curve.at, values.length);
        for (let i = 0; i < values.length; i++)
            values[i] = floats[i] + curve.base;
        return values;
    }

    /* The same for the chart library: null is a gap, undefined is drawn over. Values that are read
     * rarely do not cause gaps. */
    line(curve) {
        const values = curve.means === undefined ? this.values(curve) : this.means(curve);
        const line = Array.from(values, v => Number.isNaN(v) ? undefined : v);
        const known = line.reduce((n, v) => n + (v !== undefined), 0);
        const first = line.findIndex(v => v !== undefined);
        const last = line.findLastIndex(v => v !== undefined);
        const longest = Math.max(4, 3 * (last - first + 1) / Math.max(known, 1));
        for (let i = 0, start = 0; i <= line.length; i++) {
            if (i < line.length && line[i] === undefined)
                continue;
            if (start === 0 || i === line.length || i - start > longest)
                line.fill(null, start, i);
            start = i + 1;
        }
        return line;
    }
}

function parseOrNull(text) {
    try {
        return JSON.parse(text);
    } catch {
        return null;
    }
}

async function readReport() {
    const text = id => document.getElementById(id).textContent;
    const data = JSON.parse(text('report-data'));
    return new Model(data, await unpack(text('report-numbers').trim()));
}
