/* A line chart over time; all charts share one cursor. It is drawn when it becomes visible. A
 * subclass provides:
 *     show()                  draws or updates the chart
 *     timeText(time, step)    label of the time axis
 *     select(from, to)        called after a drag; reset() after a double click
 *     follow(time)            called when the pointer moves; null: it left the chart
 *     describe(index)         shows the values at an index; null: those of the window
 *     eventsShown(from, to)   the events drawn as vertical lines */
const TIME_STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60,
    120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];
const BYTE_STEPS = Array.from({ length: 60 }, (_, i) => 2 ** i);
const CHART_FONT = '11px system-ui, sans-serif';

const allCharts = new Set();
const seen = new IntersectionObserver(entries => {
    for (const entry of entries) {
        entry.target.chart.isSeen = entry.isIntersecting;
        if (entry.isIntersecting)
            entry.target.chart.show();
    }
}, { rootMargin: '200px' });

const NEAR_LIMIT = 4; // times the largest value: a limit beyond it would flatten the lines

class LineChart {
    /* `lines`: { label, name, color, dash, isLimit }. `name` and those of the lines: what programs
     * call it; `words`: to find it by; `full`: the constant that is 100 %; `isStacked`: the lines
     * before the limits add up, and the data are the sums of stack(). */
    constructor({ title, name, help, words, unit, isRate, full, isStacked, lines, notes }) {
        Object.assign(this, { title, unit, isRate, full, isStacked, lines });
        this.plot = null;
        this.isSeen = false;
        this.place = make('div', { class: 'pr-plot' });
        this.summary = make('span', { class: 'pr-summary' });
        this.legend = make('ul', { class: 'pr-legend' });
        this.element = make('figure', { class: 'pr-chart', 'data-words':
            [title, name, help, words, ...lines.map(line => line.label)].filter(Boolean)
                .join(' ').toLowerCase() },
            make('figcaption', { title: [help, name].filter(Boolean).join(' · ') || null },
                make('span', { class: 'pr-title' }, title,
                    name ? make('small', { class: 'pr-name' }, name) : null), this.summary),
            help && help !== title ? make('p', { class: 'pr-help' }, help) : null, this.place,
            this.legend, notes);
        this.element.chart = this;
        allCharts.add(this);
        seen.observe(this.element);
    }

    create(data) {
        this.fillLegend();
        this.plot = new uPlot(this.options(this.place.clientWidth), data, this.place);
    }

    text(value) {
        return write(value, this.unit, this.isRate, this.full);
    }

    options(width) {
        return {
            width, height: 150, padding: [8, 8, 0, 0],
            legend: { show: false },
            cursor: {
                sync: { key: 'pitot', scales: ['x', null], setSeries: false },
                drag: { x: true, y: false, setScale: false },
                points: { size: 5 },
                bind: { dblclick: () => () => this.reset() },
            },
            scales: {
                x: { time: false, range: (u, min, max) => [min, max] },
                y: { range: (u, min, max) =>
                    valueRange(this.isStacked ? 0 : min, this.withLimits(u, max), this.unit) },
            },
            axes: this.axes(),
            series: [{}, ...this.lines.map((one, i) => this.seriesOptions(one, i))],
            bands: this.bands(),
            hooks: {
                setSelect: [u => this.drag(u)],
                setCursor: [u => this.point(u)],
                draw: [u => this.drawEvents(u)],
            },
        };
    }

    axes() {
        const look = { stroke: () => color('muted'),
            grid: { stroke: () => color('grid'), width: 1 },
            ticks: { show: false }, font: CHART_FONT };
        return [
            { ...look, size: 24, incrs: TIME_STEPS, space: 64,
                values: (u, splits, axis, space, step) =>
                    splits.map(split => this.timeText(split, step)) },
            { ...look, size: 64, space: 28,
                incrs: this.unit === 'bytes' ? BYTE_STEPS : undefined,
                values: (u, splits) => splits.map(split =>
                    split > (this.full ?? Infinity) ? '' : this.text(split)) },
        ];
    }

    /* The largest value or limit to show. */
    withLimits(u, max) {
        const limits = this.lines.map((line, i) => line.isLimit ?
            u.data[i + 1].findLast(value => value !== null && value !== undefined) : undefined)
            .filter(limit => limit <= NEAR_LIMIT * max);
        return Math.max(max, ...limits);
    }

    /* The areas of a stack between one line and the next. */
    bands() {
        const count = this.isStacked ? this.lines.filter(line => !line.isLimit).length : 0;
        return Array.from({ length: Math.max(0, count - 1) }, (_, i) =>
            ({ series: [i + 2, i + 1], fill: () => this.areaColor(i + 1) }));
    }

    areaColor(i) {
        return lineColor(this.lines[i].color ?? i) + 'a0';
    }

    seriesOptions(one, i) {
        const isAlone = this.lines.filter(line => !line.isLimit).length === 1;
        const isArea = this.isStacked && !one.isLimit;
        return {
            label: one.label, width: one.isLimit ? 1 : 1.4, auto: !one.isLimit,
            stroke: () => one.isLimit ? color('limit') : lineColor(one.color ?? i),
            /* a filled area shows an amount, so only if the axis starts at zero */
            fill: isArea ? () => this.areaColor(i) : isAlone && !one.isLimit ?
                u => u.scales.y.min === 0 ? color('fill') : null : undefined,
            dash: one.isLimit ? [6, 4] : one.dash,
            points: { show: (u, series, first, last) => isSparse(u.data[series], first, last),
                size: 4 },
        };
    }

    drag(u) {
        const { left, width } = u.select;
        if (width < 4)
            return;
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        this.select(u.posToVal(left, 'x'), u.posToVal(left + width, 'x'));
    }

    point(u) {
        const isIn = u.cursor.left >= 0 && u.cursor.idx !== null && u.cursor.idx !== undefined;
        this.describe(isIn ? u.cursor.idx : null);
        if (u.cursor.event)
            this.follow(isIn ? u.posToVal(u.cursor.left, 'x') : null);
    }

    drawEvents(u) {
        const { left, top, width, height } = u.bbox;
        const { min, max } = u.scales.x;
        const events = this.eventsShown(min, max);
        if (events.length === 0 || events.length > 200)
            return;
        u.ctx.save();
        u.ctx.translate(0, top);
        drawEvents(u.ctx, events, time => left + (time - min) / (max - min) * width, height);
        u.ctx.restore();
    }

    fillLegend() {
        this.legend.hidden = this.lines.length < 2;
        this.legendValues = this.lines.map(() => make('b', {}));
        this.legend.replaceChildren(...this.lines.map((line, i) => make('li',
            { title: [line.label, line.name].filter(Boolean).join(' · ') },
            swatch(line.isLimit ? 'var(--pr-limit)' : lineVariable(line.color ?? i), line.dash),
            make('span', {}, line.label), this.legendValues[i])));
    }

    resize() {
        const width = this.place.clientWidth;
        if (this.plot && width > 0 && width !== this.plot.width)
            this.plot.setSize({ width, height: this.plot.height });
    }

    restyle() {
        this.plot?.redraw(false);
    }

    remove() {
        seen.unobserve(this.element);
        allCharts.delete(this);
        this.plot?.destroy();
        this.element.remove();
    }
}

/* The sums of each column and those before it. An unknown value adds nothing; where all are
 * unknown, so are the sums: null is a gap, undefined is drawn over. */
function stack(columns) {
    const sums = [];
    columns.forEach((column, i) => {
        sums.push(Array.from(column, (value, at) => {
            const isKnown = value !== null && value !== undefined;
            const below = i > 0 ? sums[i - 1][at] : isKnown ? 0 : value;
            return isKnown ? (below ?? 0) + value : below;
        }));
    });
    return sums;
}

/* A single value between two gaps is not a line: it needs a point. */
function isSparse(values, first, last) {
    let known = 0;
    for (let i = first; i <= last; i++)
        known += values[i] !== null && values[i] !== undefined;
    return known > 0 && known <= 12;
}

/* From zero, unless that would flatten the line; shares always start at zero. */
function valueRange(min, max, unit) {
    if (min === null || min === undefined || !Number.isFinite(min))
        return [0, 1];
    const isShare = unit === 'ratio' || unit === 'cores';
    if (isShare)
        max = Math.max(max, 0.01); // less is noise
    if (min >= 0 && (isShare || min < max * 0.6 || min === max))
        min = 0;
    if (min === max)
        max = min + (min === 0 ? 1 : Math.abs(min) * 0.1);
    /* a range below a twentieth is noise, and too small for three digits on the axis */
    const least = Math.max(Math.abs(min), Math.abs(max)) / 20;
    if (max - min < least) {
        const middle = (min + max) / 2;
        [min, max] = [middle - least / 2, middle + least / 2];
    }
    const margin = (max - min) * 0.08;
    return [min === 0 ? 0 : min - margin, max + margin];
}

function drawEvents(context, events, x, height) {
    context.save();
    context.lineWidth = 1;
    for (const event of events) {
        const at = Math.round(x(event.time)) + 0.5;
        context.strokeStyle = color('event-' + event.kind);
        context.setLineDash(event.kind === 'mark' ? [] : [3, 2]);
        context.beginPath();
        context.moveTo(at, 0);
        context.lineTo(at, height);
        context.stroke();
    }
    context.restore();
}
