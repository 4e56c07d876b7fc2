/* Heap profiles: live bytes over time, and growing call stacks. */
const LIVE_HEIGHT = 72, LIVE_AXIS = 14;

Object.assign(FlameGraph.prototype, {
    buildLive() {
        const { values, step } = this.model.timeline;
        const most = values.reduce((highest, v) => Math.max(highest, v), 0);
        const seconds = values.length * step / 1e9;
        this.liveCanvas = make('canvas', { class: 'pf-live-canvas', role: 'img',
            'aria-label': `Live bytes over ${seconds.toFixed(2)} seconds: ` +
                `${WRITE.bytes(most)} at most, ${WRITE.bytes(values[values.length - 1])} at ` +
                'the end' });
        this.liveNote = make('output', { class: 'pf-note' });
        this.liveMost = most;
        this.showLive(-1);
        return make('section', { class: 'pf-live', 'aria-label': 'Live bytes over time' },
            this.liveCanvas, this.liveNote);
    },

    /* Live bytes at a step; without a step, the maximum. */
    showLive(index) {
        const { values, step } = this.model.timeline;
        this.liveAt = index;
        this.liveNote.textContent = index < 0 ? `live bytes, ${WRITE.bytes(this.liveMost)} at most`
            : `${WRITE.bytes(values[index])} live after ${((index + 1) * step / 1e9).toFixed(2)}` +
                '\u202fs';
    },

    watchLive() {
        const canvas = this.liveCanvas, { values } = this.model.timeline;
        canvas.addEventListener('pointermove', event => {
            const box = canvas.getBoundingClientRect();
            const index = Math.floor((event.clientX - box.left) / box.width * values.length);
            this.showLive(Math.max(0, Math.min(values.length - 1, index)));
            this.drawLive();
        });
        canvas.addEventListener('pointerleave', () => {
            this.showLive(-1);
            this.drawLive();
        });
        new ResizeObserver(() => this.drawLive()).observe(canvas);
    },

    drawLive() {
        if (!this.liveCanvas || this.liveCanvas.clientWidth === 0)
            return;
        const width = this.liveCanvas.clientWidth, floor = LIVE_HEIGHT - LIVE_AXIS;
        const context = fit(this.liveCanvas, width, LIVE_HEIGHT);
        const { values, step } = this.model.timeline, bar = width / values.length;
        const y = value => floor - value / (this.liveMost || 1) * (floor - 4);
        context.fillStyle = this.palette.states[0];
        context.beginPath();
        context.moveTo(0, floor);
        values.forEach((value, i) => {
            context.lineTo(i * bar, y(value));
            context.lineTo((i + 1) * bar, y(value));
        });
        context.lineTo(width, floor);
        context.fill();
        if (this.liveAt >= 0) {
            context.fillStyle = this.palette.selected;
            context.fillRect(this.liveAt * bar, 0, Math.max(bar, 1), floor);
        }
        this.drawAxis(context, width, LIVE_HEIGHT, LIVE_AXIS, values.length * step / 1e9);
    },

    /* The functions of a node, from leaf to root; of callers only Python's if there are any. */
    namesOf(node) {
        const { parent, label, names, kind, kinds } = this.model, python = kinds.indexOf('python');
        const path = [];
        for (let at = node; at >= 0; at = parent[at])
            path.push(label[at]);
        const hasPython = path.some(one => kind[one] === python);
        return path.filter((one, i) => i === 0 || !hasPython || kind[one] === python)
            .map(one => names[one]);
    },

    growthRow(one) {
        const names = this.namesOf(one.node);
        const button = make('button', { type: 'button', title: names.join('\n'),
            onclick: () => this.sandwich(this.model.label[one.node]) },
        names.slice(0, 5).join(' ← '));
        return make('tr', {},
            make('th', { scope: 'row' }, make('div', { class: 'pf-name' }, button)),
            make('td', {}, `${WRITE.bytes(one.slope)}/s`),
            make('td', {}, `±\u202f${WRITE.bytes(one.slope_error)}/s`),
            make('td', {}, WRITE.bytes(one.bytes)), make('td', {}, grouped(one.count)));
    },

    buildGrowth() {
        const columns = ['Allocated by', 'Growth', 'Error', 'Live', 'Blocks'];
        const rows = this.model.growth.slice(0, TABLE_STEP);
        return make('section', { class: 'pf-table pf-growth', 'aria-label': 'Growing stacks' },
            make('h2', {}, 'Live bytes that grow throughout the run'),
            make('table', {}, make('thead', {}, make('tr', {},
                ...columns.map(text => make('th', { scope: 'col' }, text)))),
            make('tbody', {}, ...rows.map(one => this.growthRow(one)))));
    },
});
