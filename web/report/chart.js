/* One chart: lines over time, the same window and cursor as all others. Drawn when it is seen. */
const TIME_STEPS = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 15, 30, 60,
    120, 300, 600, 900, 1800, 3600, 7200, 10800, 21600, 43200, 86400, 172800, 604800];
const BYTE_STEPS = Array.from({ length: 60 }, (_, i) => 2 ** i);

const allCharts = new Set();
const seen = new IntersectionObserver(entries => {
    for (const entry of entries) {
        entry.target.chart.isSeen = entry.isIntersecting;
        if (entry.isIntersecting)
            entry.target.chart.show();
    }
}, { rootMargin: '200px' });

class Chart {
    /* `lines`: { label, curve, color, isLimit } */
    constructor(model, view, { title, help, unit, isRate, lines, notes }) {
        Object.assign(this, { model, view, title, unit, isRate, lines });
        this.plot = null;
        this.isSeen = false;
        this.place = make('div', { class: 'pr-plot' });
        this.summary = make('span', { class: 'pr-summary' });
        this.legend = lines.length > 1 ? make('ul', { class: 'pr-legend' }) : null;
        this.element = make('figure', { class: 'pr-chart', 'data-words':
            [title, help, ...lines.map(line => line.label)].join(' ').toLowerCase() },
            make('figcaption', { title: help || null },
                make('span', { class: 'pr-title' }, title), this.summary),
            help && help !== title ? make('p', { class: 'pr-help' }, help) : null, this.place,
            this.legend, notes);
        this.element.chart = this;
        allCharts.add(this);
        seen.observe(this.element);
    }

    read() {
        this.columns ||= this.lines.map(line => this.model.line(line.curve));
        return this.columns;
    }

    /* Draws it, or brings it up to the window. */
    show() {
        if (!this.plot)
            this.create();
        else if (this.shownFrom !== this.view.from || this.shownTo !== this.view.to)
            this.plot.setScale('x', { min: this.view.from, max: this.view.to });
        this.shownFrom = this.view.from;
        this.shownTo = this.view.to;
        this.describe(null);
    }

    create() {
        const columns = this.read();
        this.fillLegend();
        const width = this.place.clientWidth;
        this.plot = new uPlot(this.options(width), [this.model.times, ...columns], this.place);
        this.plot.setScale('x', { min: this.view.from, max: this.view.to });
    }

    options(width) {
        const text = () => color('muted'), line = () => color('grid');
        return {
            width, height: 150, padding: [8, 8, 0, 0],
            legend: { show: false },
            cursor: {
                sync: { key: 'pitot', scales: ['x', null], setSeries: false },
                drag: { x: true, y: false, setScale: false },
                points: { size: 5 },
                bind: { dblclick: () => () => this.view.reset() },
            },
            scales: {
                x: { time: false, range: (u, min, max) => [min, max] },
                y: { range: (u, min, max) => valueRange(min, max, this.unit) },
            },
            axes: [
                { stroke: text, grid: { stroke: line, width: 1 }, ticks: { show: false }, size: 24,
                    incrs: TIME_STEPS, space: 64, font: '11px system-ui, sans-serif',
                    values: (u, splits, axis, space, step) =>
                        splits.map(split => elapsed(split, step)) },
                { stroke: text, grid: { stroke: line, width: 1 }, ticks: { show: false }, size: 64,
                    space: 28, font: '11px system-ui, sans-serif',
                    incrs: this.unit === 'bytes' ? BYTE_STEPS : undefined,
                    values: (u, splits) =>
                        splits.map(split => write(split, this.unit, this.isRate)) },
            ],
            series: [{}, ...this.lines.map((one, i) => this.seriesOptions(one, i))],
            hooks: {
                setSelect: [u => this.select(u)],
                setCursor: [u => this.follow(u)],
                draw: [u => this.drawEvents(u)],
            },
        };
    }

    seriesOptions(one, i) {
        const isAlone = this.lines.length === 1;
        return {
            label: one.label, width: one.isLimit ? 1 : 1.4,
            stroke: () => one.isLimit ? color('limit') : lineColor(one.color ?? i),
            fill: isAlone ? () => color('fill') : undefined,
            dash: one.isLimit ? [6, 4] : undefined,
            points: { show: (u, series, first, last) => this.isSparse(series - 1, first, last),
                size: 4 },
        };
    }

    /* A value between two gaps is no line: it needs a point. */
    isSparse(column, first, last) {
        const values = this.columns[column];
        let known = 0;
        for (let i = first; i <= last; i++)
            known += values[i] !== null && values[i] !== undefined;
        return known > 0 && known <= 12;
    }

    select(u) {
        const { left, width } = u.select;
        if (width < 4)
            return;
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        this.view.set(u.posToVal(left, 'x'), u.posToVal(left + width, 'x'));
    }

    follow(u) {
        const isIn = u.cursor.left >= 0 && u.cursor.idx !== null && u.cursor.idx !== undefined;
        this.describe(isIn ? u.cursor.idx : null);
        if (u.cursor.event)
            this.view.point(isIn ? u.posToVal(u.cursor.left, 'x') : null);
    }

    drawEvents(u) {
        const { left, top, width, height } = u.bbox;
        const events = this.model.data.events.filter(event =>
            event.time >= this.view.from && event.time <= this.view.to);
        if (events.length === 0 || events.length > 200)
            return;
        u.ctx.save();
        u.ctx.translate(0, top);
        drawEvents(u.ctx, events, time => left +
            (time - this.view.from) / (this.view.to - this.view.from) * width, height);
        u.ctx.restore();
    }

    fillLegend() {
        if (!this.legend || this.legendValues)
            return;
        this.legendValues = this.lines.map(() => make('b', {}));
        this.legend.append(...this.lines.map((line, i) => make('li', { title: line.label },
            swatch(line.isLimit ? 'var(--pr-limit)' : lineVariable(line.color ?? i)),
            make('span', {}, line.label), this.legendValues[i])));
    }

    /* Values at the cursor; without one those of the window. */
    describe(index) {
        const text = value => write(value, this.unit, this.isRate);
        const at = column => {
            for (let i = index; i >= Math.max(0, index - 3); i--)
                if (column[i] !== null && column[i] !== undefined)
                    return text(column[i]);
            return '–';
        };
        /* what was thinned out has its extremes, but no mean */
        const isWhole = this.model.data.axis.is_whole;
        const typical = i => isWhole ? this.stats(i).mean : this.stats(i).peak;
        this.legendValues?.forEach((value, i) => {
            value.textContent = index === null ? text(typical(i)) : at(this.columns[i]);
        });
        if (this.legendValues) {
            this.summary.textContent = index !== null ? '' : isWhole ? 'mean' : 'peak';
            return;
        }
        const { low, mean, peak } = this.stats(0);
        this.summary.textContent = index !== null ? at(this.columns[0]) :
            (isWhole ? `mean ${text(mean)}` : `low ${text(low)}`) + ` · peak ${text(peak)}`;
    }

    stats(column) {
        const { from, to } = this.view;
        const key = from + ' ' + to;
        if (this.statsKey !== key) {
            this.statsKey = key;
            this.statsOf = [];
        }
        return this.statsOf[column] ||=
            statistics(this.columns[column], this.model.times, from, to);
    }

    resize() {
        const width = this.place.clientWidth;
        if (this.plot && width > 0 && width !== this.plot.width)
            this.plot.setSize({ width, height: this.plot.height });
    }

    restyle() {
        this.plot?.redraw(false);
    }
}

function statistics(values, times, from, to) {
    let sum = 0, count = 0, low = null, peak = null;
    for (let i = 0; i < values.length; i++) {
        const value = values[i];
        if (value === null || value === undefined || times[i] < from || times[i] > to)
            continue;
        sum += value;
        count++;
        low = low === null || value < low ? value : low;
        peak = peak === null || value > peak ? value : peak;
    }
    return { low, mean: count ? sum / count : null, peak };
}

/* From zero, unless that would make a flat line of it. */
function valueRange(min, max, unit) {
    if (min === null || min === undefined || !Number.isFinite(min))
        return [0, 1];
    if (min >= 0 && (min < max * 0.6 || min === max))
        min = 0;
    if (min === max)
        max = min + (min === 0 ? (unit === 'ratio' ? 0.01 : 1) : Math.abs(min) * 0.1);
    const room = (max - min) * 0.08;
    return [min === 0 ? 0 : min - room, max + room];
}
