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

    /* What the run has cost Pitot is known as a whole: most of it can be after the last sample. */
    reduce(part, range) {
        if (part.cost && this.model.data.cost)
            return this.model.data.cost[part.cost];
        const figure = this.figures[part.figure];
        if (part.reduction === 'peak')
            return this.model.peak(figure, range);
        if (part.reduction === 'mean')
            return this.model.mean(figure, range);
        const { sum, weight } = this.model.over(figure, range);
        return weight === 0 ? null : sum;
    }

    text(part, value) {
        const isWholeNumber = part.reduction === 'total' && part.unit === '' && value !== null;
        const text = write(isWholeNumber ? Math.round(value) : value, part.unit, part.is_rate);
        const currency = this.model.data.run.currency;
        return part.unit === 'money' && currency && value !== null ? text + THIN + currency : text;
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
        const values = this.model.curve(this.figures[parts[0].figure]);
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
