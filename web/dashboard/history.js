/* Loads the server's history into the frames of visible charts and of the overview, one table at a
 * time. */
const LINES_MOST = 8, KEYS_MOST = 32, ASK_AGAIN_MS = 60000;

class History {
    constructor(store, view) {
        Object.assign(this, { store, view });
        this.waiting = new Set();
        this.isBusy = false;
    }

    /* Requests each frame once. Again from time to time: tables with more rows than lines, because
     * other rows may be busiest by then, and frames whose steps have several samples, because the
     * live values of a step are only its last. */
    want(source) {
        const { frame, hasHistory } = this.view;
        const asked = frame.asked.get(source.name);
        const hasMoreRows = source.rows.size > linesOf(source);
        const isOld = frame.isLive && (hasMoreRows || frame.step > this.store.interval) &&
            asked < Date.now() - Math.max(ASK_AGAIN_MS, frame.step);
        if (asked !== undefined && !isOld)
            return;
        frame.asked.set(source.name, Date.now());
        if (frame.isLive && hasMoreRows && (!hasHistory || !isOld))
            frame.chosen.set(source.name, busiestNow(source));
        if (!hasHistory)
            return;
        this.waiting.add(source);
        if (!this.isBusy)
            this.work();
    }

    /* After a lost connection, requests everything again. */
    renew() {
        this.view.frame?.asked.clear();
    }

    async work() {
        this.isBusy = true;
        for (const source of this.waiting) {
            this.waiting.delete(source);
            const { frame } = this.view;
            frame.asked.set(source.name, Date.now());
            try {
                this.fill(source, frame, await askJson(this.address(source, frame)));
            } catch (error) {
                this.view.hasHistory &&= !/no history/.test(error.message);
            }
        }
        this.isBusy = false;
    }

    address(source, frame) {
        const words = new URLSearchParams({ ...source.question, from: Math.floor(frame.from),
            step: frame.step });
        if (!frame.isLive)
            words.set('to', Math.ceil(frame.to));
        return 'api/history?' + words;
    }

    fill(source, frame, answer) {
        if (answer.figures)
            this.fillFigures(source, frame, answer);
        else
            this.fillTable(source, frame, answer);
        this.view.tell();
    }

    fillFigures(figures, frame, answer) {
        for (const [name, { mean }] of Object.entries(answer.figures))
            this.fillSeries(frame, answer, frame.ring(figures.name, '', name), mean);
    }

    fillTable(table, frame, answer) {
        frame.chosen.set(table.name, answer.things.map(thing => thing.key));
        frame.texts.set(table.name, new Map(answer.things.map(({ key, texts }) => [key, texts])));
        if (answer.things.length > 0)
            frame.spacing = Math.max(frame.spacing, answer.step);
        for (const thing of answer.things)
            for (const [name, { mean }] of Object.entries(thing.columns)) {
                const place = table.places.get(name);
                if (place === undefined)
                    continue;
                const known = this.fillSeries(frame, answer,
                    frame.ring(table.name, thing.key, place), mean);
                table.isKnown[place] ||= known.length > 0;
                table.hasMoved[place] ||= known.some(value => value !== known[0]);
            }
    }

    /* Returns the known values. */
    fillSeries(frame, answer, ring, values) {
        values.forEach((value, i) => {
            if (value === null)
                return;
            const time = answer.from + i * answer.step;
            ring.fill(frame.stepAt(time), value, true);
            this.view.earliest = Math.min(this.view.earliest, time);
        });
        return values.filter(value => value !== null);
    }
}

/* Each metric or series of a program has its own chart. */
const isByKey = table => table.kind === 'series' || table.kind === 'metrics';
const linesOf = table => isByKey(table) ? KEYS_MOST : LINES_MOST;

/* The column that says how busy a row is: its first headline. */
const busyPlace = table =>
    Math.max(0, table.columns.findIndex(column => column.importance === 'headline'));

/* Order of rows until the history has the busiest. */
function busiestNow(table) {
    const place = busyPlace(table);
    return [...table.rows.values()].sort((a, b) =>
        compare(a.values[place], b.values[place], -1)).slice(0, linesOf(table)).map(row => row.key);
}

/* Keys of a table to draw: the busiest, then others up to the limit. */
function keysShown(table, frame) {
    const keys = [...frame.chosen.get(table.name) || []];
    const most = linesOf(table);
    if (frame.isLive || keys.length === 0)
        for (const key of table.rows.keys()) {
            if (keys.length >= most)
                break;
            if (!keys.includes(key))
                keys.push(key);
        }
    return keys;
}
