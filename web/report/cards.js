/* The share of values that are at most `x` (a cumulative distribution). Quantiles at some levels
 * are known and interpolated linearly; below the first, the slope to the second one is used. */
function partBelow(x, values, levels) {
    let value = Math.max(0, 2 * values[0] - values[1]), level = 0;
    if (x < value)
        return 0;
    for (let i = 0; i < values.length; i++) {
        if (x < values[i])
            return level + (levels[i] - level) * (x - value) / (values[i] - value);
        value = Math.max(value, values[i]);
        level = levels[i];
    }
    return 1;
}

/* The quantile of several distributions combined: a mean of their quantiles would be wrong. */
function mixedQuantile(parts, levels, wanted) {
    const count = parts.reduce((sum, part) => sum + part.count, 0);
    let low = 0, high = Math.max(0, ...parts.map(part => part.values.at(-1)));
    if (count === 0)
        return null;
    for (let step = 0; step < 60 && high - low > 1e-12; step++) {
        const middle = (low + high) / 2;
        const below = parts.reduce((sum, part) =>
            sum + part.count * partBelow(middle, part.values, levels), 0);
        if (below < wanted * count)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* The key figures at the top, for the selected window. */
class Cards {
    constructor(model, view) {
        this.model = model;
        this.view = view;
        this.figures = model.data.figures;
        this.cards = model.data.cards.map(card => this.make(card));
        this.element = make('div', { class: 'pr-cards', 'aria-live': 'polite' },
            this.cards.map(card => card.element));
        view.on('window', () => this.update());
        new ResizeObserver(() => this.drawCurves()).observe(this.element);
        this.update();
    }

    make(card) {
        const values = card.parts.map(() => make('b', {}));
        const canvas = make('canvas', { class: 'pr-spark', 'aria-hidden': 'true' });
        const rest = card.parts.slice(1).map((part, i) =>
            make('li', {}, make('span', {}, part.label), values[i + 1]));
        const element = make('article', { class: 'pr-card', 'data-card': card.title },
            make('h3', {}, card.title),
            make('p', { class: 'pr-large' }, values[0], make('span', {}, card.parts[0].label)),
            canvas, make('ul', {}, rest),
            card.note ? make('p', { class: 'pr-note' }, card.note) : null);
        return { ...card, values, canvas, element };
    }

    curve(figure) {
        return figure.values ||= this.model.values(figure);
    }

    /* A quantile over a part of the run, from the quantiles of its time slots. */
    quantile({ latency, level }, [first, end]) {
        const known = this.figures.filter(figure => figure.latency === latency);
        const levels = known.map(figure => figure.level);
        const parts = [];
        for (let i = first; i < end; i++) {
            const overs = known.map(figure => this.model.over(figure, [i, i + 1]));
            if (overs.every(over => over.weight > 0))
                parts.push({ count: overs[0].weight, values: overs.map(over => over.mean) });
        }
        return mixedQuantile(parts, levels, level);
    }

    reduce(part, [first, end]) {
        const figure = this.figures[part.figure];
        const { sum, weight, mean } = this.model.over(figure, [first, end]);
        if (part.reduction === 'quantile')
            return this.quantile(figure, [first, end]);
        if (part.reduction === 'peak')
            return this.peak(figure, [first, end]);
        return weight === 0 ? null : part.reduction === 'total' ? sum : mean;
    }

    peak(figure, [first, end]) {
        const values = this.curve(figure), per = this.model.perStretch;
        let peak = null;
        for (let i = first * per; i < end * per; i++)
            peak = values[i] > peak || (peak === null && !Number.isNaN(values[i])) ?
                values[i] : peak;
        return peak;
    }

    text(part, value) {
        const figure = this.figures[part.figure];
        const isCounted = part.reduction === 'total';
        const isWholeNumber = isCounted && figure.unit === '' && value !== null;
        const text = write(isWholeNumber ? Math.round(value) : value, figure.unit,
            figure.is_rate && !isCounted);
        const currency = this.model.data.run.currency;
        const isMoney = figure.unit === 'money' && currency && value !== null;
        return isMoney ? text + THIN + currency : text;
    }

    update() {
        const range = this.model.stretches(this.view.from, this.view.to);
        for (const card of this.cards)
            card.parts.forEach((part, i) => {
                card.values[i].textContent = this.text(part, this.reduce(part, range));
            });
        this.drawCurves();
    }

    drawCurves() {
        for (const card of this.cards)
            this.drawCurve(card);
    }

    drawCurve({ parts, canvas }) {
        const width = canvas.clientWidth, height = 30;
        if (width === 0)
            return;
        const context = prepare(canvas, width, height);
        const values = this.curve(this.figures[parts[0].figure]);
        const { from, to } = this.view;
        const points = [];
        let top = 0;
        for (let i = 0; i < values.length; i++) {
            const time = this.model.times[i];
            if (time < from || time > to || Number.isNaN(values[i]))
                continue;
            points.push([(time - from) / (to - from) * width, values[i]]);
            top = Math.max(top, values[i]);
        }
        context.beginPath();
        points.forEach(([x, v]) =>
            context.lineTo(x, height - 2 - (top ? v / top : 0) * (height - 4)));
        context.strokeStyle = color('accent');
        context.lineWidth = 1.2;
        context.stroke();
        if (points.length < 2)
            return;
        context.lineTo(points.at(-1)[0], height);
        context.lineTo(points[0][0], height);
        context.fillStyle = color('fill');
        context.fill();
    }
}
