/* The time range of all charts: the last minutes, or a fixed part. */
const RANGES = [{ label: '5 min', ms: 300e3 }, { label: '1 h', ms: 3600e3 },
    { label: '24 h', ms: 86400e3 }];
const LEAST_MS = 30e3, PART_LEAST_MS = 1e3;

class View {
    constructor() {
        this.range = RANGES[0].ms;
        this.live = null; // until the first sample
        this.fixed = null;
        this.isPaused = false;
        this.earliest = Infinity; // of all known data
        this.hasHistory = true;
        this.watchers = [];
    }

    get frame() {
        return this.fixed || this.live;
    }

    /* If a range begins before the history, only the part in the history. */
    get from() {
        const { frame } = this;
        return frame.isLive ? Math.max(frame.from, Math.min(this.earliest, frame.to - LEAST_MS)) :
            frame.from;
    }

    on(watcher) {
        this.watchers.push(watcher);
    }

    tell() {
        this.watchers.forEach(watcher => watcher(this));
    }

    add(store) {
        this.live ||= new Frame(store.time - this.range, store.time, true);
        this.live.add(store, store.time);
        this.earliest = Math.min(this.earliest, store.time);
    }

    setRange(ms) {
        const before = this.live;
        this.range = ms;
        if (before) {
            this.live = new Frame(before.to - ms, before.to, true);
            this.takeOver(this.live, before);
        }
        this.resume();
    }

    /* A fixed part, in Unix milliseconds. */
    setPart(from, to, isPaused) {
        if (!this.live)
            return;
        const part = new Frame(from, Math.max(to, from + PART_LEAST_MS), false);
        this.takeOver(part, this.live);
        this.fixed = part;
        this.isPaused = Boolean(isPaused);
        this.tell();
    }

    /* Uses longer steps only if there is nothing better. */
    takeOver(frame, before) {
        if (before.step <= frame.step || !this.hasHistory)
            frame.copy(before);
    }

    pause() {
        if (this.live)
            this.setPart(this.from, this.frame.to, true);
    }

    resume() {
        this.fixed = null;
        this.isPaused = false;
        this.tell();
    }

    toggle() {
        if (this.fixed)
            this.resume();
        else
            this.pause();
    }

    move(parts) {
        if (!this.live)
            return;
        const shift = parts * (this.frame.to - this.from);
        this.setPart(this.from + shift, this.frame.to + shift);
    }

    zoom(factor) {
        if (!this.live)
            return;
        const half = (this.frame.to - this.from) / 2, middle = this.from + half;
        this.setPart(middle - half * factor, middle + half * factor);
    }
}

/* 13:05:30; with the date if a chart shows more than one day. */
function clockText(seconds, step, hasDay) {
    const date = new Date(seconds * 1000);
    const time = date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit',
        second: step < 60 ? '2-digit' : undefined, hour12: false });
    const part = step < 1 ? (seconds % 1).toFixed(step < 0.1 ? 2 : 1).slice(1) : '';
    const day = hasDay ? date.toLocaleDateString([], { day: 'numeric', month: 'short' }) + ' ' : '';
    return day + time + part;
}

function partText({ from, to, span }) {
    const step = span / 1000 / 100;
    const isSameDay = new Date(from).toDateString() === new Date().toDateString();
    return [from, to].map(time => clockText(time / 1000, step, !isSameDay)).join(' – ');
}
