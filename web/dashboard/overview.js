/* Engines are scraped less often than samples are taken: rates are means of the last seconds. */
const RECENT_MS = 5000;

/* The key figures of a machine that serves a model. A card is shown if the machine has its first
 * part. `how` combines several rows: sum, mean or max. `of` is the total of the value: a column of
 * the same table, or the number of rows of another table. `also`: columns to add. */
const OVERVIEW = [
    { title: 'Tokens generated', parts: [
        { table: 'engine', column: 'tokens_generation_total' },
        { label: 'read', table: 'engine', column: 'tokens_prompt_total' },
        { label: 'requests finished', table: 'engine', column: 'requests_finished_total' }] },
    { title: 'Time to first token', parts: [
        { label: 'median', table: 'engine', column: 'latency_ttft_s_p50' },
        { label: '95th percentile', table: 'engine', column: 'latency_ttft_s_p95' },
        { label: 'each token', table: 'engine', column: 'latency_inter_token_s_p50' }] },
    { title: 'Queue', parts: [
        { label: 'waiting', table: 'engine', column: 'system_requests_waiting' },
        { label: 'running', table: 'engine', column: 'system_requests_running' },
        { label: 'preempted', table: 'engine', column: 'system_preemptions_total' }] },
    { title: 'KV cache', parts: [
        { table: 'engine', column: 'cache_kv_usage_percent' },
        { label: 'prefix hits', table: 'engine', column: 'cache_prefix_hits' }] },
    { title: 'GPU', parts: [
        { table: 'gpu', column: 'gUtilizationGpu', how: 'mean' },
        { label: 'power', table: 'gpu', column: 'gPowerDrawW', how: 'sum' },
        { label: 'hottest', table: 'gpu', column: 'gTemperatureC', how: 'max' }] },
    { title: 'GPU memory', parts: [
        { table: 'gpu', column: 'gMemoryUsedMb', how: 'sum', of: { column: 'gMemoryTotalMb' } }] },
    { title: 'CPU', parts: [
        { table: 'cpu', column: 'vCpuTime', of: { rows: 'core' },
            also: ['vCpuNice', 'vCpuTimeIntSrvc', 'vCpuTimeSoftIntSrvc', 'vCpuSteal'] },
        { label: 'kernel', table: 'cpu', column: 'vCpuTimeKernelMode', of: { rows: 'core' } },
        { label: 'load', table: 'cpu', column: 'vLoadAvg' }] },
    { title: 'Memory', parts: [
        { table: 'mem', column: 'vMemoryUsed', of: { column: 'vMemoryTotal' } },
        { label: 'swap', table: 'mem', column: 'vSwapUsed' },
        { label: 'major faults', table: 'mem', column: 'vMajorPageFault' }] },
    { title: 'Disks', parts: [
        { label: 'read', table: 'disk', column: 'vDiskReadBytes' },
        { label: 'written', table: 'disk', column: 'vDiskWriteBytes' }] },
    { title: 'Network', parts: [
        { label: 'received', table: 'net', column: 'vNetworkBytesRecvd' },
        { label: 'sent', table: 'net', column: 'vNetworkBytesSent' }] },
];

const AGGREGATES = {
    sum: values => values.reduce((sum, value) => sum + value, 0),
    mean: values => AGGREGATES.sum(values) / values.length,
    max: values => values.reduce((most, value) => Math.max(most, value)),
};

/* A figure of a card; null if the schema does not have it. */
function figureOf(store, part) {
    const table = store.tables.get(part.table);
    const place = table?.places.get(part.column);
    return place === undefined ? null :
        { ...part, table, place, column: table.columns[place], recent: [],
            places: [place, ...(part.also || []).map(name => table.places.get(name))
                .filter(other => other !== undefined)],
            aggregate: AGGREGATES[part.how || 'sum'] };
}

/* Over all rows; null: no row has a value in the first column. */
function currentValue({ table, aggregate }, places) {
    const values = [];
    for (const row of table.rows.values()) {
        const [first, ...others] = places.map(place => row.values[place] ?? null);
        if (first !== null)
            values.push(others.reduce((sum, value) => sum + (value ?? 0), first));
    }
    return values.length > 0 ? aggregate(values) : null;
}

/* For a rate, the mean of the last seconds. */
function shownValue({ recent, column, ...figure }) {
    if (!column.is_rate)
        return currentValue(figure, figure.places);
    return recent.length > 0 ? AGGREGATES.mean(recent.map(one => one.value)) : null;
}

function remember(figure, time) {
    const value = currentValue(figure, figure.places);
    if (value !== null)
        figure.recent.push({ time, value });
    while (figure.recent.length > 0 && figure.recent[0].time <= time - RECENT_MS)
        figure.recent.shift();
}

/* The total of a figure, or null. */
function wholeOf(store, figure) {
    if (figure.of?.rows)
        return store.tables.get(figure.of.rows)?.rows.size || null;
    const place = figure.table.places.get(figure.of?.column);
    return place === undefined ? null : currentValue(figure, [place]);
}

function figureText(store, figure) {
    const value = shownValue(figure);
    const { base_unit: unit, is_rate: isRate } = figure.column;
    const whole = wholeOf(store, figure);
    if (value === null || !(whole > 0))
        return { text: write(value, unit, isRate), note: '' };
    return figure.of.rows ? { text: write(value / whole, 'ratio'), note: `of ${whole} CPUs` } :
        { text: write(value, unit, isRate),
            note: `${write(value / whole, 'ratio')} of ${write(whole, unit, isRate)}` };
}

class Card {
    constructor(page, { title, parts }) {
        this.page = page;
        this.first = figureOf(page.store, parts[0]);
        this.figures = [this.first, ...parts.slice(1).map(part => figureOf(page.store, part))]
            .filter(Boolean);
        this.large = make('b', {});
        this.note = make('span', {});
        this.canvas = make('canvas', { class: 'pr-spark', 'aria-hidden': 'true' });
        this.others = this.figures.filter(figure => figure !== this.first)
            .map(figure => ({ figure, value: make('b', {}) }));
        for (const other of this.others)
            other.line = make('li', {}, make('span', {}, other.figure.label), other.value);
        this.element = make('a', { class: 'pr-card', 'data-card': title,
            href: '#table-' + (this.first?.table.name || '') },
        make('h3', {}, title), make('div', { class: 'pr-large' }, this.large, this.note),
        this.canvas, make('ul', {}, this.others.map(other => other.line)));
        this.element.hidden = true;
    }

    take(time) {
        this.figures.forEach(figure => remember(figure, time));
    }

    update() {
        if (!this.first || !this.first.table.isKnown[this.first.place])
            return;
        const { store, history } = this.page;
        this.element.hidden = false;
        history.want(this.first.table);
        const { text, note } = figureText(store, this.first);
        setText(this.large, text);
        setText(this.note, [this.first.label, note].filter(Boolean).join(', '));
        for (const { figure, value, line } of this.others) {
            line.hidden = !figure.table.isKnown[figure.place];
            setText(value, figureText(store, figure).text);
        }
        this.draw();
    }

    draw() {
        const { view } = this.page, { frame } = view;
        const width = this.canvas.clientWidth, height = 30;
        if (!frame || width === 0)
            return;
        const points = this.read(frame);
        const most = points.reduce((top, { value }) => Math.max(top, value), 0) || 1;
        const context = prepare(this.canvas, width, height);
        const x = step => (step * frame.step - view.from) / (frame.to - view.from) * width;
        const y = value => height - 1 - Math.max(0, value) / most * (height - 3);
        context.strokeStyle = color('line-0');
        context.lineWidth = 1.2;
        context.beginPath();
        points.forEach(({ step, value }) => context.lineTo(x(step), y(value)));
        context.stroke();
        if (points.length === 0)
            return;
        context.lineTo(x(points.at(-1).step), height);
        context.lineTo(x(points[0].step), height);
        context.fillStyle = color('fill');
        context.fill();
    }

    read(frame) {
        const { table, places, aggregate } = this.first;
        const rows = keysShown(table, frame).map(key =>
            places.map(place => frame.ring(table.name, key, place)));
        const at = (ring, step) => ring?.at(step) ?? NaN;
        const points = [];
        for (let step = frame.stepAt(frame.from); step <= frame.stepAt(frame.to); step++) {
            const values = rows.map(([first, ...others]) => others.reduce(
                (sum, ring) => sum + (at(ring, step) || 0), at(first, step)))
                .filter(value => !Number.isNaN(value));
            if (values.length > 0)
                points.push({ step, value: aggregate(values) });
        }
        return points;
    }
}

class Overview {
    constructor(page) {
        this.cards = OVERVIEW.map(card => new Card(page, card));
        this.element = make('section', { id: 'overview', class: 'pr-cards',
            'aria-label': 'Overview' }, this.cards.map(card => card.element), page.alerts.card);
    }

    take(time) {
        this.cards.forEach(card => card.take(time));
    }

    update() {
        this.cards.forEach(card => card.update());
    }
}
