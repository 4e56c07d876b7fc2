/* A live chart: lines of rows or columns of a table, from the current frame. */
const GAP = 3.5; // times the usual spacing of values

class LiveChart extends LineChart {
    /* `choose()`: the lines as { table, key, place, label, color } */
    constructor(page, options, choose) {
        super({ ...options, lines: [] });
        Object.assign(this, { page, choose });
        this.words = this.element.dataset.words;
        this.chosenText = null;
        this.data = [[]];
        this.index = null;
    }

    show() {
        const { view } = this.page, { frame } = view;
        if (!frame)
            return;
        this.page.history.want(this.table);
        this.takeLines(this.choose(frame));
        this.read(frame);
        const scale = { min: view.from / 1000, max: frame.to / 1000 };
        if (!this.plot)
            this.create(this.data);
        this.plot.batch(() => {
            this.plot.setData(this.data, false);
            this.plot.setScale('x', scale);
        });
        this.describe(this.index);
    }

    /* Different lines need a new plot. */
    takeLines(lines) {
        const text = lines.map(line => line.label).join('\n');
        if (text === this.chosenText)
            return;
        this.chosenText = text;
        this.lines = lines;
        this.data = [[], ...lines.map(() => [])];
        this.element.dataset.words = (this.words + ' ' + text).toLowerCase();
        this.plot?.destroy();
        this.plot = null;
        this.index = null;
    }

    /* Steps without any value are left out; if many are missing, the lines have a gap. The arrays
     * are reused. */
    read(frame) {
        const rings = this.lines.map(line => frame.ring(line.table, line.key, line.place));
        const [times, ...columns] = this.data;
        const first = frame.stepAt(frame.from), last = frame.stepAt(frame.to);
        const widest = Math.ceil(GAP *
            Math.max(frame.spacing, this.page.store.interval) / frame.step);
        let count = 0, before = null;
        const put = (step, valueOf) => {
            times[count] = step * frame.step / 1000;
            columns.forEach((column, i) => {
                column[count] = valueOf(i);
            });
            count++;
        };
        for (let step = first; step <= last; step++) {
            if (rings.every(ring => Number.isNaN(ring.at(step))))
                continue;
            if (before !== null && step - before > widest)
                put(before + 1, () => null);
            put(step, i => {
                const value = rings[i].at(step);
                return Number.isNaN(value) ? null : value;
            });
            before = step;
        }
        this.data.forEach(column => {
            column.length = count;
        });
    }

    timeText(time, step) {
        return clockText(time, step, step >= 43200);
    }

    select(from, to) {
        this.page.view.setPart(from * 1000, to * 1000);
    }

    reset() {
        this.page.view.resume();
    }

    follow() {
        /* the shared cursor of the charts does this */
    }

    eventsShown(from, to) {
        return this.page.alerts.events.filter(event => event.time >= from && event.time <= to);
    }

    /* Shows the values at the cursor; without a cursor, the newest. */
    describe(index) {
        this.index = index;
        const end = Math.min(index ?? Infinity, this.data[0].length - 1);
        const text = column => {
            for (let i = end; i >= Math.max(0, end - 3); i--)
                if (column[i] !== null && column[i] !== undefined)
                    return this.text(column[i]);
            return '–';
        };
        this.legendValues?.forEach((value, i) => setText(value, text(this.data[i + 1])));
        const when = index === null || end < 0 ? '' :
            clockText(this.data[0][end], this.page.view.frame.step / 1000);
        setText(this.summary, this.lines.length === 1 ?
            (when ? when + ' · ' : '') + text(this.data[1]) : when);
    }
}

/* Sets text only if it changed, to save the browser work. */
function setText(element, text) {
    if (element.textContent !== text)
        element.textContent = text;
}
