/* The data of docs/PROFILES.md as arrays, and number formats. */
const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array,
    f64: Float64Array };

function column(c) {
    if (c.data === undefined)
        return new Float64Array(c.count).fill(c.value);
    const text = atob(c.data);
    const bytes = new Uint8Array(text.length);
    for (let i = 0; i < text.length; i++)
        bytes[i] = text.charCodeAt(i);
    return new ARRAYS[c.type](bytes.buffer);
}

/* States of the GIL in a sample. */
const GILS = ['unknown', 'released', 'held', 'contended'];

function gilOf(bits) {
    if (!(bits & 1))
        return 0;
    return bits & 2 ? (bits & 4 ? 3 : 2) : 1;
}

function decode(data) {
    if (data.format !== 'pitot-flame' || data.version !== 1)
        throw new Error('the data is not a flame graph of version 1');
    const model = {
        data, meta: data.meta, types: data.types, kinds: data.kinds, states: data.states,
        threads: data.threads, names: data.labels.names, isDiff: data.diff === true,
        kind: column(data.labels.kind), module: column(data.labels.module),
        file: column(data.labels.file), line: column(data.labels.line),
        parent: column(data.nodes.parent), label: column(data.nodes.label),
        time: column(data.samples.time), thread: column(data.samples.thread),
        state: column(data.samples.state), node: column(data.samples.node),
        values: data.samples.values.map(column),
    };
    model.gil = data.samples.gil ? column(data.samples.gil).map(gilOf)
        : new Uint8Array(model.node.length);
    model.sampleCount = model.node.length;
    model.isTopmost = findTopmost(model);
    model.end = model.time.reduce((most, t) => Math.max(most, t), 0);
    model.step = data.samples.time_step_ns;
    model.timeline = data.timeline ? { step: data.timeline.step_ns,
        values: column(data.timeline.values) } : null;
    model.growth = data.growth || [];
    return model;
}

/* The first column that is not empty: a program that frees everything has no live bytes. */
function firstType(model) {
    const found = model.values.findIndex(values => values.some(value => value > 0));
    return Math.max(0, found);
}

/* If a function occurs several times on a path, only its first node counts for its total. */
function findTopmost(model) {
    const { parent, label } = model;
    const topmost = new Uint8Array(parent.length);
    for (let i = 0; i < parent.length; i++) {
        let above = parent[i];
        while (above >= 0 && label[above] !== label[i])
            above = parent[above];
        topmost[i] = above < 0 ? 1 : 0;
    }
    return topmost;
}

function grouped(n) {
    return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, '\u202f');
}

function scaled(n, units, base) {
    let i = 0;
    while (Math.abs(n) >= base && i < units.length - 1) {
        n /= base;
        i++;
    }
    const digits = i === 0 || Math.abs(n) >= 100 ? 0 : Math.abs(n) >= 10 ? 1 : 2;
    return n.toFixed(digits) + '\u202f' + units[i];
}

const WRITE = {
    samples: n => grouped(n) + (n === 1 ? ' sample' : ' samples'),
    nanoseconds: n => n < 1e9 ? scaled(n, ['ns', 'µs', 'ms', 's'], 1000)
        : (n / 1e9).toFixed(2) + '\u202fs',
    bytes: n => scaled(n, ['B', 'KiB', 'MiB', 'GiB', 'TiB'], 1024),
};

function percent(part, whole) {
    if (!(whole > 0))
        return '–';
    const share = 100 * part / whole;
    const digits = Math.abs(share) >= 10 || share === 0 ? 1 : 2;
    return share.toFixed(digits) + '\u202f%';
}

function signed(text, value) {
    return value > 0 ? '+' + text : text;
}

function baseName(path) {
    return path.slice(path.lastIndexOf('/') + 1);
}
