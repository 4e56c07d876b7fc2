/* The selected part of the run, and the time at the pointer. */
class TimeWindow {
    constructor(end) {
        this.end = end;
        this.from = 0;
        this.to = end;
        this.watchers = { window: [], cursor: [] };
        this.cursor = null;
    }

    on(what, watcher) {
        this.watchers[what].push(watcher);
    }

    get isWhole() {
        return this.from <= 0 && this.to >= this.end;
    }

    set(from, to) {
        const least = this.end / 1e5;
        from = Math.max(0, Math.min(from, this.end - least));
        to = Math.min(this.end, Math.max(to, from + least));
        if (from === this.from && to === this.to)
            return;
        this.from = from;
        this.to = to;
        this.watchers.window.forEach(watcher => watcher(this));
    }

    reset() {
        this.set(0, this.end);
    }

    move(parts) {
        const width = this.to - this.from;
        const from = Math.max(0, Math.min(this.from + parts * width, this.end - width));
        this.set(from, from + width);
    }

    zoom(factor) {
        const middle = (this.from + this.to) / 2;
        const half = (this.to - this.from) / 2 * factor;
        this.set(middle - half, middle + half);
    }

    point(time) {
        if (time === this.cursor)
            return;
        this.cursor = time;
        this.watchers.cursor.forEach(watcher => watcher(time));
    }

    key(event) {
        const actions = {
            ArrowLeft: () => this.move(-0.25), ArrowRight: () => this.move(0.25),
            '+': () => this.zoom(0.5), '=': () => this.zoom(0.5), '-': () => this.zoom(2),
            Home: () => this.reset(), Escape: () => this.reset(),
        };
        const action = !event.ctrlKey && !event.metaKey && !event.altKey && actions[event.key];
        if (!action)
            return;
        action();
        event.preventDefault();
    }
}

/* Turns drags on an element into times. `timeAt` converts a position on it to a time. */
function brushable(element, timeAt, onselect, onclick) {
    let start = null;
    const shade = make('div', { class: 'pr-shade' });
    element.append(shade);
    const positionOf = event => event.clientX - element.getBoundingClientRect().left;
    const show = (a, b) => {
        shade.style.setProperty('left', Math.min(a, b) + 'px');
        shade.style.setProperty('width', Math.abs(a - b) + 'px');
    };
    element.addEventListener('pointerdown', event => {
        if (event.button !== 0)
            return;
        start = positionOf(event);
        element.setPointerCapture(event.pointerId);
    });
    element.addEventListener('pointermove', event => {
        if (start !== null)
            show(start, positionOf(event));
    });
    element.addEventListener('pointerup', event => {
        const end = positionOf(event);
        if (start !== null && Math.abs(end - start) > 3)
            onselect(timeAt(Math.min(start, end)), timeAt(Math.max(start, end)));
        else if (start !== null && onclick)
            onclick(timeAt(end), end, event);
        start = null;
        show(0, 0);
    });
    element.addEventListener('pointercancel', () => {
        start = null;
        show(0, 0);
    });
}

/* The strip at the top: the whole run with the selected window. */
class TimeBar {
    constructor(model, view) {
        this.model = model;
        this.view = view;
        this.canvas = make('canvas', {});
        this.strip = make('div', { class: 'pr-strip', tabindex: 0, role: 'slider',
            'aria-label': 'Selected part of the run; arrow keys move it, + and - zoom, Escape ' +
                'shows the whole run',
            'aria-valuemin': 0, 'aria-valuemax': Math.round(model.end),
            onkeydown: event => view.key(event) }, this.canvas);
        this.text = make('output', { class: 'pr-window-text' });
        this.pointer = make('span', { class: 'pr-pointer' });
        this.button = make('button', { type: 'button', onclick: () => view.reset() },
            'Whole run');
        this.element = make('div', { class: 'pr-timebar' },
            make('div', { class: 'pr-timebar-text' }, this.text, this.pointer, this.button),
            this.strip);
        brushable(this.strip, x => x / this.strip.clientWidth * model.end,
            (from, to) => view.set(from, to), () => view.reset());
        view.on('window', () => this.draw());
        view.on('cursor', time => this.point(time));
        new ResizeObserver(() => this.draw()).observe(this.strip);
    }

    clock(time) {
        return new Date((this.model.data.run.start + time) * 1000).toLocaleTimeString();
    }

    point(time) {
        this.pointer.textContent = time === null ? '' :
            `at ${elapsed(time, this.model.end / 1000)} (${this.clock(time)})`;
    }

    draw() {
        const { from, to, isWhole } = this.view;
        const step = (to - from) / 10;
        this.text.textContent = isWhole ? `Whole run, ${duration(this.model.end)}` :
            `${elapsed(from, step)} to ${elapsed(to, step)} (${duration(to - from)})`;
        this.button.hidden = isWhole;
        this.strip.setAttribute('aria-valuenow', Math.round(from));
        this.strip.setAttribute('aria-valuetext', this.text.textContent);
        const width = this.strip.clientWidth, height = 44;
        const context = prepare(this.canvas, width, height);
        const x = time => time / this.model.end * width;
        this.drawCurve(context, width, height);
        drawEvents(context, this.model.data.events, x, height);
        context.fillStyle = color('veil');
        context.fillRect(0, 0, x(from), height);
        context.fillRect(x(to), 0, width - x(to), height);
        context.strokeStyle = color('accent');
        context.strokeRect(x(from) + 0.5, 0.5, Math.max(1, x(to) - x(from) - 1), height - 1);
    }

    drawCurve(context, width, height) {
        const figure = this.model.data.figures[0];
        if (!figure)
            return;
        const values = this.model.curve(figure);
        const top = values.reduce((most, v) => v > most ? v : most, 0) || 1;
        const known = Array.from(values.keys()).filter(i => !Number.isNaN(values[i]));
        const x = i => this.model.times[i] / this.model.end * width;
        if (known.length === 0)
            return;
        context.fillStyle = color('strip');
        context.beginPath();
        context.moveTo(x(known[0]), height);
        known.forEach(i => context.lineTo(x(i), height - values[i] / top * (height - 6)));
        context.lineTo(x(known.at(-1)), height);
        context.fill();
    }
}
