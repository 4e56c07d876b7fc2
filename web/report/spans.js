/* Spans by thread, and the total time of each name. */
const LANE = 15, LANES_MOST = 8, THREAD_GAP = 20;

class SpanTimeline {
    constructor(model, view) {
        this.model = model;
        this.view = view;
        this.spans = model.data.spans;
        const read = name => model.floats(this.spans[name], this.spans.count);
        const rest = read('rest');
        this.start = Float64Array.from(read('start'), (second, i) => second + rest[i]);
        this.duration = read('duration');
        this.name = read('name');
        this.thread = read('thread');
        this.arrange();
        this.byTime = this.spans.totals.map((total, i) => i)
            .sort((a, b) => this.spans.totals[b][1] - this.spans.totals[a][1]);
        this.colorOf = new Map(this.byTime.map((name, i) => [name, i]));
        this.build();
    }

    build() {
        this.canvas = make('canvas', {});
        this.tip = make('div', { class: 'pr-tip', hidden: true });
        this.area = make('div', { class: 'pr-spans', tabindex: 0, role: 'img',
            'aria-label': 'Timeline of spans', onkeydown: event => this.view.key(event),
            onpointermove: event => this.hover(event),
            onpointerleave: () => { this.tip.hidden = true; } }, this.canvas, this.tip);
        this.list = make('div', {});
        const { seen, count } = this.spans;
        const kept = seen > count ? `the ${digits(count)} longest of ${digits(seen)}` :
            `${digits(seen)} in total`;
        this.element = section('spans', 'Spans', kept, this.area, this.list);
        brushable(this.area, x => this.timeAt(x), (from, to) => this.view.set(from, to));
        this.view.on('window', () => this.draw());
        this.view.on('cursor', () => this.draw());
        new ResizeObserver(() => this.draw()).observe(this.area);
    }

    /* Lanes: a span is below the open spans of its thread. */
    arrange() {
        const { threads, count } = this.spans;
        const open = threads.map(() => []);
        this.lane = new Uint8Array(count);
        this.lanes = threads.map(() => 1);
        for (let i = 0; i < count; i++) {
            const ends = open[this.thread[i]];
            while (ends.length && ends.at(-1) <= this.start[i] + 1e-9)
                ends.pop();
            this.lane[i] = Math.min(ends.length, LANES_MOST - 1);
            this.lanes[this.thread[i]] = Math.max(this.lanes[this.thread[i]], this.lane[i] + 1);
            ends.push(this.start[i] + this.duration[i]);
        }
        let y = 0;
        this.top = this.lanes.map(lanes => {
            const top = y + THREAD_GAP;
            y = top + lanes * LANE + 4;
            return top;
        });
        this.height = y + 4;
    }

    timeAt(x) {
        return this.view.from + x / this.area.clientWidth * (this.view.to - this.view.from);
    }

    draw() {
        if (this.isWaiting)
            return;
        this.isWaiting = true;
        requestAnimationFrame(() => {
            this.isWaiting = false;
            this.paint();
            this.fillList();
        });
    }

    paint() {
        const width = this.area.clientWidth;
        const context = prepare(this.canvas, width, this.height);
        const { from, to } = this.view;
        const x = time => (time - from) / (to - from) * width;
        const colors = Array.from({ length: LINE_COLORS }, (_, i) => lineColor(i));
        context.font = '11px system-ui, sans-serif';
        context.textBaseline = 'middle';
        context.fillStyle = color('muted');
        this.spans.threads.forEach((thread, i) => context.fillText(thread, 4, this.top[i] - 9));
        for (let i = 0; i < this.spans.count; i++) {
            const left = x(this.start[i]), right = x(this.start[i] + this.duration[i]);
            if (right < 0 || left > width)
                continue;
            const shown = Math.max(0, left), wide = Math.max(1, Math.min(width, right) - shown);
            const top = this.top[this.thread[i]] + this.lane[i] * LANE;
            context.fillStyle = colors[this.colorOf.get(this.name[i]) % LINE_COLORS];
            context.fillRect(shown, top, wide > 3 ? wide - 0.5 : wide, LANE - 2);
            if (wide > 40)
                this.label(context, this.spans.names[this.name[i]], shown, top, wide);
        }
        drawEvents(context, this.model.data.events, x, this.height);
        if (this.view.cursor !== null) {
            context.fillStyle = color('muted');
            context.fillRect(x(this.view.cursor), 0, 1, this.height);
        }
    }

    label(context, name, left, top, wide) {
        context.save();
        context.beginPath();
        context.rect(left, top, wide - 3, LANE);
        context.clip();
        context.fillStyle = color('on-line');
        context.fillText(name, left + 3, top + LANE / 2 - 1);
        context.restore();
    }

    at(event) {
        const box = this.area.getBoundingClientRect();
        const time = this.timeAt(event.clientX - box.left);
        const slack = 2 / box.width * (this.view.to - this.view.from);
        const y = event.clientY - box.top;
        for (let i = this.spans.count - 1; i >= 0; i--) {
            const top = this.top[this.thread[i]] + this.lane[i] * LANE;
            if (y >= top && y < top + LANE && time >= this.start[i] - slack &&
                time <= this.start[i] + this.duration[i] + slack)
                return i;
        }
        return -1;
    }

    hover(event) {
        const i = this.at(event);
        const box = this.area.getBoundingClientRect();
        this.tip.hidden = i < 0;
        if (i < 0)
            return;
        this.tip.textContent = `${this.spans.names[this.name[i]]}: ${duration(this.duration[i])} ` +
            `at ${elapsed(this.start[i], 0.001)}`;
        const left = Math.min(event.clientX - box.left + 12, box.width - this.tip.offsetWidth - 4);
        this.tip.style.setProperty('left', Math.max(0, left) + 'px');
        this.tip.style.setProperty('top', event.clientY - box.top + 14 + 'px');
    }

    /* For the whole run all spans count; for a part of it, those that are drawn. */
    totals() {
        if (this.view.isWhole)
            return this.spans.totals;
        const totals = this.spans.names.map(() => [0, 0, 0]);
        for (let i = 0; i < this.spans.count; i++) {
            if (this.start[i] > this.view.to || this.start[i] + this.duration[i] < this.view.from)
                continue;
            const total = totals[this.name[i]];
            total[0]++;
            total[1] += this.duration[i];
            total[2] = Math.max(total[2], this.duration[i]);
        }
        return totals;
    }

    fillList() {
        const totals = this.totals();
        const rows = this.byTime.filter(name => totals[name][0] > 0).slice(0, 15).map(name => {
            const [count, sum, longest] = totals[name];
            const label = make('span', {}, swatch(lineVariable(this.colorOf.get(name))),
                this.spans.names[name]);
            return [label, digits(count), duration(sum), duration(sum / count), duration(longest)];
        });
        const number = label => ({ label, isNumber: true });
        this.list.replaceChildren(table([{ label: 'Name' }, number('Count'), number('Total'),
            number('Mean'), number('Longest')], rows));
    }
}
