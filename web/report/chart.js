/* A chart of the report: curves of the run over the window that all charts share. */
class Chart extends LineChart {
    /* `lines`: { label, curve, color, isLimit } */
    constructor(model, view, options) {
        super(options);
        Object.assign(this, { model, view });
    }

    show() {
        if (!this.plot) {
            this.columns = this.lines.map(line => this.model.line(line.curve));
            this.create([this.model.times, ...this.columns]);
        }
        if (this.shownFrom !== this.view.from || this.shownTo !== this.view.to)
            this.plot.setScale('x', { min: this.view.from, max: this.view.to });
        this.shownFrom = this.view.from;
        this.shownTo = this.view.to;
        this.describe(null);
    }

    timeText(time, step) {
        return elapsed(time, step);
    }

    select(from, to) {
        this.view.set(from, to);
    }

    reset() {
        this.view.reset();
    }

    follow(time) {
        this.view.point(time);
    }

    eventsShown(from, to) {
        return this.model.data.events.filter(event => event.time >= from && event.time <= to);
    }

    /* Shows the values at the cursor; without a cursor, those of the window. */
    describe(index) {
        const at = column => {
            for (let i = index; i >= Math.max(0, index - 3); i--)
                if (column[i] !== null && column[i] !== undefined)
                    return this.text(column[i]);
            return '–';
        };
        /* reduced data has extremes, but no mean */
        const isWhole = this.model.data.axis.is_whole;
        if (this.lines.length === 1) {
            const { low, mean, peak, isExact } = this.stats(0);
            this.summary.textContent = index !== null ? at(this.columns[0]) :
                (isWhole || isExact ? `mean ${this.text(mean)}` : `low ${this.text(low)}`) +
                ` · peak ${this.text(peak)}`;
            return;
        }
        const typical = i => isWhole ? this.stats(i).mean : this.stats(i).peak;
        this.legendValues.forEach((value, i) => {
            value.textContent = index === null ? this.text(typical(i)) : at(this.columns[i]);
        });
        this.summary.textContent = index !== null ? '' : isWhole ? 'mean' : 'peak';
    }

    /* The mean of a key figure is exact, also in a reduced run. */
    figureMean(column) {
        const { curve } = this.lines[column], { from, to } = this.view;
        return curve.sums === undefined ? {} :
            { mean: this.model.over(curve, this.model.stretches(from, to)).mean, isExact: true };
    }

    stats(column) {
        const { from, to } = this.view;
        const key = from + ' ' + to;
        if (this.statsKey !== key) {
            this.statsKey = key;
            this.statsOf = [];
        }
        return this.statsOf[column] ||= {
            ...statistics(this.columns[column], this.model.times, from, to),
            ...this.figureMean(column),
        };
    }
}

/* A value covers the time since the previous one, or since the end of a gap. */
function statistics(values, times, from, to) {
    let sum = 0, seconds = 0, low = null, peak = null, before = times[0];
    for (let i = 0; i < values.length; i++) {
        const value = values[i];
        if (value === undefined)
            continue;
        if (value !== null && times[i] >= from && times[i] <= to) {
            sum += value * (times[i] - before);
            seconds += times[i] - before;
            low = low === null || value < low ? value : low;
            peak = peak === null || value > peak ? value : peak;
        }
        before = times[i];
    }
    return { low, mean: seconds > 0 ? sum / seconds : peak, peak };
}
