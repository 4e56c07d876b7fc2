/* Values over a period in steps of equal length: the last minutes, updated live, or a selected
 * part. Only series used by charts are kept, up to a limit. */
const STEPS_SHOWN = 600, STEPS_KEPT = 720, RINGS_MOST = 4000;

class Ring {
    constructor() {
        this.values = new Float64Array(STEPS_KEPT).fill(NaN);
        this.newest = -1; // number of the step since 1970
        this.hasValues = false;
    }

    set(step, value) {
        this.values[step % STEPS_KEPT] = value;
        this.hasValues = true;
    }

    advance(step) {
        if (step - this.newest >= STEPS_KEPT)
            this.values.fill(NaN);
        else
            for (let i = this.newest + 1; i <= step; i++)
                this.values[i % STEPS_KEPT] = NaN;
        this.newest = step;
    }

    /* Takes a live value. A step shows its last one until the history has that of all of it. */
    add(step, value) {
        if (step > this.newest)
            this.advance(step);
        if (step === this.newest && !Number.isNaN(value))
            this.set(step, value);
    }

    /* Sets an earlier value, unless there is one; those of the history replace others. */
    fill(step, value, isOfHistory) {
        if (step > this.newest)
            this.advance(step);
        const isMissing = Number.isNaN(this.values[step % STEPS_KEPT]);
        if (step > this.newest - STEPS_KEPT && !Number.isNaN(value) &&
            (isMissing || (isOfHistory && step < this.newest)))
            this.set(step, value);
    }

    at(step) {
        return step <= this.newest && step > this.newest - STEPS_KEPT ?
            this.values[step % STEPS_KEPT] : NaN;
    }
}

class Frame {
    constructor(from, to, isLive) {
        this.isLive = isLive;
        this.span = to - from; // milliseconds
        this.step = Math.max(1, Math.ceil(this.span / STEPS_SHOWN));
        this.to = to;
        this.spacing = this.step; // of its values
        this.rings = new Map();
        this.chosen = new Map(); // table -> busiest keys
        this.texts = new Map(); // table -> key -> texts of its row, which may no longer exist
        this.asked = new Map(); // table -> when its history was requested
    }

    get from() {
        return this.to - this.span;
    }

    stepAt(time) {
        return Math.floor(time / this.step);
    }

    ring(table, key, place) {
        const id = table + '\n' + key + '\n' + place;
        let one = this.rings.get(id);
        if (one) {
            this.rings.delete(id); // the most recently used one is the last
        } else {
            one = { table, key, place, ring: new Ring() };
            if (this.rings.size >= RINGS_MOST)
                this.rings.delete(this.rings.keys().next().value);
        }
        this.rings.set(id, one);
        return one.ring;
    }

    /* Adds a live sample. */
    add(store, time) {
        const step = this.stepAt(time);
        this.to = time;
        for (const { table, key, place, ring } of this.rings.values())
            ring.add(step, store.value(table, key, place));
    }

    /* Copies what another frame has of this period. */
    copy(other) {
        const first = Math.max(other.stepAt(this.from), other.stepAt(other.to) - STEPS_KEPT + 1);
        const last = other.stepAt(Math.min(this.to, other.to));
        this.spacing = Math.max(this.spacing, other.spacing);
        for (const { table, key, place, ring } of other.rings.values()) {
            const own = this.ring(table, key, place);
            for (let step = first; step <= last; step++)
                own.fill(this.stepAt(step * other.step), ring.at(step));
        }
        other.chosen.forEach((keys, table) => this.chosen.set(table, keys));
        other.texts.forEach((texts, table) => this.texts.set(table, texts));
    }
}
