/* The timeline of samples, and the selection of a part of it. */
Object.assign(FlameGraph.prototype, {
    watchTimeline() {
        let start = null;
        const canvas = this.timeCanvas;
        const timeAt = event => {
            const box = canvas.getBoundingClientRect();
            const share = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
            return share * this.model.end;
        };
        canvas.addEventListener('pointerdown', event => {
            start = timeAt(event);
            canvas.setPointerCapture(event.pointerId);
        });
        canvas.addEventListener('pointermove', event => {
            if (start !== null && Math.abs(timeAt(event) - start) > this.model.end / 500)
                this.setTime(start, timeAt(event));
        });
        canvas.addEventListener('pointerup', event => {
            if (start !== null && Math.abs(timeAt(event) - start) <= this.model.end / 500)
                this.setTime(0, this.model.end);
            start = null;
        });
        new ResizeObserver(() => this.drawTimeline()).observe(canvas);
    },

    /* Samples by time and state, for the selected threads and states. */
    timeBuckets(count) {
        const { model, filter } = this;
        const buckets = model.states.map(() => new Float64Array(count));
        const width = (model.end + 1) / count, values = model.values[filter.type];
        for (let i = 0; i < model.sampleCount; i++)
            if (filter.states[model.state[i]] && filter.gils[model.gil[i]] &&
                filter.threads[model.thread[i] + 1])
                buckets[model.state[i]][Math.floor(model.time[i] / width)] += values[i];
        return buckets;
    },

    drawTimeline() {
        if (!this.timeCanvas || this.timeCanvas.clientWidth === 0)
            return;
        const width = this.timeCanvas.clientWidth, height = 56, axis = 14;
        const context = fit(this.timeCanvas, width, height);
        const count = Math.max(1, Math.min(Math.floor(width / 3), 400));
        const buckets = this.timeBuckets(count), bar = width / count;
        let highest = 0;
        for (let i = 0; i < count; i++)
            highest = Math.max(highest, buckets.reduce((sum, state) => sum + state[i], 0));
        for (let i = 0; i < count && highest > 0; i++) {
            let y = height - axis;
            buckets.forEach((state, number) => {
                const h = state[i] / highest * (height - axis - 2);
                context.fillStyle = this.palette.states[number];
                context.fillRect(i * bar, y -= h, Math.max(bar - 0.5, 1), h);
            });
        }
        this.drawAxis(context, width, height, axis, this.model.end * this.model.step / 1e9);
        this.drawBrush(context, width, height - axis);
        this.showTime();
    },

    drawAxis(context, width, height, axis, seconds) {
        const rough = seconds / (width / 90);
        const power = 10 ** Math.floor(Math.log10(rough));
        const step = [1, 2, 5, 10].find(k => k * power >= rough) * power;
        context.font = '11px system-ui, "DejaVu Sans", sans-serif';
        context.fillStyle = this.palette.muted;
        context.fillRect(0, height - axis, width, 1);
        context.textBaseline = 'bottom';
        const digits = Math.max(0, -Math.floor(Math.log10(step)));
        for (let k = 0; k * step <= seconds; k++) {
            const text = (k * step).toFixed(digits) + '\u202fs', x = k * step / seconds * width;
            context.fillText(text, Math.min(x + 2, width - context.measureText(text).width),
                height);
            context.fillRect(x, height - axis, 1, 4);
        }
    },

    drawBrush(context, width, height) {
        const { from, to } = this.filter, { end } = this.model;
        if (from <= 0 && to >= end)
            return;
        const left = from / end * width, right = to / end * width;
        context.fillStyle = this.palette.ground;
        context.globalAlpha = 0.75;
        context.fillRect(0, 0, left, height);
        context.fillRect(right, 0, width - right, height);
        context.globalAlpha = 1;
        context.strokeStyle = this.palette.selected;
        context.lineWidth = 2;
        context.strokeRect(left + 1, 1, Math.max(right - left - 2, 1), height - 2);
    },

    showTime() {
        const step = this.model.step / 1e9, { from, to } = this.filter;
        const isWhole = from <= 0 && to >= this.model.end;
        this.fromBox.value = (from * step).toFixed(3);
        this.toBox.value = (to * step).toFixed(3);
        this.wholeButton.hidden = isWhole;
        this.timeNote.hidden = !isWhole;
    },
});
