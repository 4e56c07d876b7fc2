/* The headline figures, as the server derives them and in the order of the catalogue: the workload
 * first. A figure without data has no card. */

/* Runs of points with nothing missing between them. */
function withoutGaps(points, widest) {
    const parts = [];
    points.forEach((point, i) => {
        if (i === 0 || point.step - points[i - 1].step > widest)
            parts.push([]);
        parts.at(-1).push(point);
    });
    return parts;
}

class Card {
    constructor(page, figure) {
        Object.assign(this, { page, figure });
        this.limit = page.store.figures.all.get(figure.limit);
        this.large = make('b', {});
        this.note = make('span', {});
        this.canvas = make('canvas', { class: 'pr-spark', 'aria-hidden': 'true' });
        this.element = make('a', { class: 'pr-card', 'data-card': figure.title,
            'data-figure': figure.name, title: `${figure.help} · ${figure.name}`,
            href: page.store.tables.has(figure.whose) ? '#table-' + figure.whose : null },
        make('h3', {}, figure.title), make('div', { class: 'pr-large' }, this.large, this.note),
        this.canvas);
        this.element.hidden = true;
    }

    current(figure) {
        const { store } = this.page;
        return store.value(store.figures.name, '', figure.name);
    }

    /* Of a fixed part, the value of its last whole step: samples still come into the one after. */
    update() {
        const { view } = this.page, { figure, limit } = this;
        const points = this.read(view.frame);
        const isWhole = ({ step }) => (step + 1) * view.frame.step <= view.frame.to;
        const value = view.fixed ? points.findLast(isWhole)?.value ?? NaN : this.current(figure);
        this.element.hidden = Number.isNaN(value) && points.length === 0;
        if (this.element.hidden)
            return;
        const most = limit ? this.current(limit) : NaN;
        setText(this.large, write(value, figure.base_unit, figure.is_rate));
        setText(this.note, Number.isNaN(most) ? '' :
            'of ' + write(most, limit.base_unit, limit.is_rate));
        this.draw(points);
    }

    draw(points) {
        const { view } = this.page, { frame } = view;
        const width = this.canvas.clientWidth, height = 30;
        if (width === 0)
            return;
        const most = points.reduce((top, { value }) => Math.max(top, value), 0) || 1;
        const context = prepare(this.canvas, width, height);
        const x = step => (step * frame.step - view.from) / (frame.to - view.from) * width;
        const y = value => height - 1 - Math.max(0, value) / most * (height - 3);
        context.strokeStyle = color('line-0');
        context.fillStyle = color('fill');
        context.lineWidth = 1.2;
        for (const part of withoutGaps(points, widestGap(this.page, frame))) {
            context.beginPath();
            part.forEach(({ step, value }) => context.lineTo(x(step), y(value)));
            context.stroke();
            context.lineTo(x(part.at(-1).step), height);
            context.lineTo(x(part[0].step), height);
            context.fill();
        }
    }

    read(frame) {
        const ring = frame.ring(this.page.store.figures.name, '', this.figure.name);
        const points = [];
        for (let step = frame.stepAt(frame.from); step <= frame.stepAt(frame.to); step++)
            if (!Number.isNaN(ring.at(step)))
                points.push({ step, value: ring.at(step) });
        return points;
    }
}

class Overview {
    constructor(page) {
        this.page = page;
        this.cards = page.store.figures.headlines.map(figure => new Card(page, figure));
        this.element = make('section', { id: 'overview', class: 'pr-cards',
            'aria-label': 'Overview' }, this.cards.map(card => card.element), page.alerts.card);
    }

    update() {
        const { store, history } = this.page;
        if (this.cards.length > 0)
            history.want(store.figures);
        this.cards.forEach(card => card.update());
    }
}
