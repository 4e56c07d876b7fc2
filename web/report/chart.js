/* A chart of the report: curves of the run over the window that all charts share. */
class Chart extends LineChart {
    /* `lines`: { label, name, curve, color, dash, isLimit }, limits last; `isOnRequest`: only shown
     * if searched for. */
    constructor(model, view, options) {
        super(options);
        Object.assign(this, { model, view });
        this.measured = this.lines.filter(line => !line.isLimit).length;
        if (options.isOnRequest) {
            this.element.dataset.isOnRequest = '';
            this.element.hidden = true;
        }
    }

    show() {
        if (!this.plot) {
            this.columns = this.lines.map(line => this.model.line(line.curve));
            this.create([this.model.times, ...this.drawn()]);
        }
        if (this.shownFrom !== this.view.from || this.shownTo !== this.view.to)
            this.plot.setScale('x', { min: this.view.from, max: this.view.to });
        this.shownFrom = this.view.from;
        this.shownTo = this.view.to;
        this.describe(null);
    }

    /* The parts of a stack above each other; limits as they are. */
    drawn() {
        return this.isStacked ? [...stack(this.columns.slice(0, this.measured)),
            ...this.columns.slice(this.measured)] : this.columns;
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
            return UNKNOWN;
        };
        const texts = this.columns.map((column, i) =>
            index === null ? this.typical(i) : at(column));
        this.legendValues.forEach((value, i) => {
            value.textContent = texts[i];
        });
        if (this.measured !== 1) {
            this.summary.textContent = index !== null ? '' : this.hasPeaks(0) ? 'mean · peak' :
                this.isPercentile(0) ? 'of this time' : this.hasMean(0) ? 'mean' : 'peak';
            return;
        }
        const { low, mean, peak } = this.stats(0);
        this.summary.textContent = index !== null ? texts[0] :
            (this.lines[0].curve.is_peak ? '' :
                this.isPercentile(0) ? `${this.text(mean)} of this time · ` :
                    this.hasMean(0) ? `mean ${this.text(mean)} · ` : `low ${this.text(low)} · `) +
            `peak ${this.text(peak)}`;
    }

    /* Is it a percentile, of which there is one of any time? */
    isPercentile(column) {
        return Boolean(this.lines[column].curve.buckets);
    }

    /* Reduced data has extremes, but no mean; figures and the parts of a stack have. There is no
     * mean of percentiles. */
    hasMean(column) {
        const { curve } = this.lines[column];
        return this.isPercentile(column) || (curve.level === undefined &&
            (this.model.data.axis.is_whole || isConstant(curve) || curve.sums !== undefined ||
                curve.means !== undefined));
    }

    /* Are means drawn, which hide the peaks? */
    hasPeaks(column) {
        return this.lines[column].curve.means !== undefined;
    }

    typical(column) {
        const { mean, peak } = this.stats(column);
        const highest = () => this.text(this.model.peak(this.lines[column].curve,
            this.model.stretches(this.view.from, this.view.to)));
        return this.hasPeaks(column) ? `${this.text(mean)} · ${highest()}` :
            this.text(this.hasMean(column) ? mean : peak);
    }

    /* A figure has its own values, as on the cards. */
    statsOfFigure(figure) {
        const range = this.model.stretches(this.view.from, this.view.to);
        return { mean: this.model.mean(figure, range), peak: this.model.peak(figure, range) };
    }

    stats(column) {
        const { from, to } = this.view;
        const { curve } = this.lines[column];
        const key = from + ' ' + to;
        if (this.statsKey !== key) {
            this.statsKey = key;
            this.statsOf = [];
        }
        return this.statsOf[column] ||= curve.sums !== undefined || curve.buckets ?
            this.statsOfFigure(curve) :
            statistics(this.columns[column], this.model.times, from, to);
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
