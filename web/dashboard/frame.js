/* Values over a stretch of time in steps of one length: those of the last minutes, which go on, or
 * those of a part that was chosen. Only what charts asked for is kept, and not without bound. */
const STEPS_SHOWN = 600, STEPS_KEPT = 720, RINGS_MOST = 4000;

class Ring {
    constructor() {
        this.values = new Float32Array(STEPS_KEPT).fill(NaN);
        this.newest = -1; // number of the step since 1970
        this.sum = this.count = 0;
    }

    advance(step) {
        if (step - this.newest >= STEPS_KEPT)
            this.values.fill(NaN);
        else
            for (let i = this.newest + 1; i <= step; i++)
                this.values[i % STEPS_KEPT] = NaN;
        this.newest = step;
        this.sum = this.count = 0;
    }

    /* One of perhaps several values of the newest step: the mean is kept. */
    add(step, value) {
        if (step > this.newest)
            this.advance(step);
        if (step < this.newest || Number.isNaN(value))
            return;
        this.sum += value;
        this.count++;
        this.values[step % STEPS_KEPT] = this.sum / this.count;
    }

    /* A value of before, unless there is one. */
    fill(step, value) {
        if (step > this.newest)
            this.advance(step);
        if (step > this.newest - STEPS_KEPT && Number.isNaN(this.values[step % STEPS_KEPT]))
            this.values[step % STEPS_KEPT] = value;
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
        this.spacing = this.step; // of the values that are in it
        this.rings = new Map();
        this.chosen = new Map(); // table -> keys that did most
        this.texts = new Map(); // table -> key -> texts of its row, which may be gone
        this.asked = new Map(); // table -> when its history was asked for
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
            this.rings.delete(id); // the last is the one that was read last
        } else {
            one = { table, key, place, ring: new Ring() };
            if (this.rings.size >= RINGS_MOST)
                this.rings.delete(this.rings.keys().next().value);
        }
        this.rings.set(id, one);
        return one.ring;
    }

    /* A sample of now. */
    add(store, time) {
        const step = this.stepAt(time);
        this.to = time;
        for (const { table, key, place, ring } of this.rings.values())
            ring.add(step, store.value(table, key, place));
    }

    /* What another frame knows of this time. */
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
