/* Loads the server's history into the frames of visible charts, one table at a time. */
const LINES_MOST = 8, KEYS_MOST = 32, CHOOSE_AGAIN_MS = 60000;

class History {
    constructor(store, view) {
        Object.assign(this, { store, view });
        this.waiting = new Set();
        this.isBusy = false;
    }

    /* Requests each frame once; tables with more rows than lines again from time to time, because
     * other rows may be busiest by then. */
    want(table) {
        const { frame, hasHistory } = this.view;
        const asked = frame.asked.get(table.name);
        const isOld = frame.isLive && table.rows.size > linesOf(table) &&
            asked < Date.now() - CHOOSE_AGAIN_MS;
        if (asked !== undefined && !isOld)
            return;
        frame.asked.set(table.name, Date.now());
        if (frame.isLive && table.rows.size > linesOf(table) && (!hasHistory || !isOld))
            frame.chosen.set(table.name, busiestNow(table));
        if (!hasHistory)
            return;
        this.waiting.add(table);
        if (!this.isBusy)
            this.work();
    }

    /* After a lost connection, requests everything again. */
    renew() {
        this.view.frame?.asked.clear();
    }

    async work() {
        this.isBusy = true;
        for (const table of this.waiting) {
            this.waiting.delete(table);
            const { frame } = this.view;
            frame.asked.set(table.name, Date.now());
            try {
                this.fill(table, frame, await askJson(this.address(table, frame)));
            } catch (error) {
                this.view.hasHistory &&= !/no history/.test(error.message);
            }
        }
        this.isBusy = false;
    }

    address(table, frame) {
        const words = new URLSearchParams({ table: table.name, from: Math.floor(frame.from),
            step: frame.step, limit: linesOf(table) });
        if (!frame.isLive)
            words.set('to', Math.ceil(frame.to));
        return 'api/history?' + words;
    }

    fill(table, frame, answer) {
        frame.chosen.set(table.name, answer.things.map(thing => thing.key));
        frame.texts.set(table.name, new Map(answer.things.map(({ key, texts }) => [key, texts])));
        if (answer.things.length > 0)
            frame.spacing = Math.max(frame.spacing, answer.step);
        for (const thing of answer.things)
            for (const [name, { mean }] of Object.entries(thing.columns))
                this.fillSeries(table, frame, answer, thing.key, table.places.get(name), mean);
        this.view.tell();
    }

    fillSeries(table, frame, answer, key, place, values) {
        if (place === undefined)
            return;
        const ring = frame.ring(table.name, key, place);
        let first = null;
        values.forEach((value, i) => {
            if (value === null)
                return;
            const time = answer.from + i * answer.step;
            ring.fill(frame.stepAt(time), value);
            this.view.earliest = Math.min(this.view.earliest, time);
            first ??= value;
            table.hasMoved[place] ||= value !== first;
            table.isKnown[place] = true;
        });
    }
}

/* Each metric or series of a program has its own chart. */
const isByKey = table => table.kind === 'series' || table.kind === 'metrics';
const linesOf = table => isByKey(table) ? KEYS_MOST : LINES_MOST;

/* Order of rows until the history has the busiest: by the sort column, or by the first rate. */
function busiestNow(table) {
    const place = table.places.get(LISTS[table.name]?.sort) ??
        Math.max(0, table.columns.findIndex(column => column.is_rate));
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
