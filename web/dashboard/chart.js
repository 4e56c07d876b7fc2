/* A live chart: lines of rows or columns of a table, from the current frame. */
const GAP = 3.5; // times the usual spacing of values

/* As many steps may be without a value before a line has a gap. */
const widestGap = (page, frame) =>
    Math.ceil(GAP * Math.max(frame.spacing, page.store.interval) / frame.step);

class LiveChart extends LineChart {
    /* `choose()`: the lines as { table, key, place, label, name, color, dash }; limits as
     * { ..., isLimit }, of a constant { full, label, isLimit } */
    constructor(page, options, choose) {
        super({ ...options, lines: [] });
        Object.assign(this, { page, choose });
        this.words = this.element.dataset.words;
        this.chosenText = null;
        this.values = [[]]; // times, then those of each line
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
        const data = this.isStacked ? this.stacked() : this.values;
        if (!this.plot)
            this.create(data);
        this.plot.batch(() => {
            this.plot.setData(data, false);
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
        this.values = [[], ...lines.map(() => [])];
        this.element.dataset.words = (this.words + ' ' + text).toLowerCase();
        this.plot?.destroy();
        this.plot = null;
        this.index = null;
    }

    /* Steps without any value are left out; if many are missing, the lines have a gap. The arrays
     * are reused. */
    read(frame) {
        const rings = this.lines.map(line => line.full === undefined ?
            frame.ring(line.table, line.key, line.place) : { at: () => line.full });
        const measured = rings.filter((_, i) => !this.lines[i].isLimit);
        const [times, ...columns] = this.values;
        const first = frame.stepAt(frame.from), last = frame.stepAt(frame.to);
        const widest = widestGap(this.page, frame);
        let count = 0, before = null;
        const put = (step, valueOf) => {
            times[count] = step * frame.step / 1000;
            columns.forEach((column, i) => {
                column[count] = valueOf(i);
            });
            count++;
        };
        for (let step = first; step <= last; step++) {
            if (measured.every(ring => Number.isNaN(ring.at(step))))
                continue;
            if (before !== null && step - before > widest)
                put(before + 1, () => null);
            put(step, i => {
                const value = rings[i].at(step);
                return Number.isNaN(value) ? null : value;
            });
            before = step;
        }
        this.values.forEach(column => {
            column.length = count;
        });
    }

    /* Limits stay as they are. */
    stacked() {
        const isArea = (_, i) => !this.lines[i].isLimit;
        const [times, ...columns] = this.values;
        return [times, ...stack(columns.filter(isArea)),
            ...columns.filter((column, i) => !isArea(column, i))];
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

    /* Shows the values at the cursor; without a cursor, those of now or of the end of the part. */
    describe(index) {
        this.index = index;
        const { view, store } = this.page;
        const end = Math.min(index ?? Infinity, this.values[0].length - 1);
        const isNow = index === null && !view.fixed;
        const valueOf = (line, i) => line.full ?? (isNow ?
            store.value(line.table, line.key, line.place) : this.values[i + 1][end]);
        const texts = this.lines.map((line, i) => this.text(valueOf(line, i)));
        this.legendValues?.forEach((value, i) => setText(value, texts[i]));
        const when = index === null || end < 0 ? '' :
            clockText(this.values[0][end], view.frame.step / 1000);
        setText(this.summary, this.lines.length === 1 ?
            (when ? when + ' · ' : '') + texts[0] : when);
    }
}

/* Sets text only if it changed, to save the browser work. */
function setText(element, text) {
    if (element.textContent !== text)
        element.textContent = text;
}
