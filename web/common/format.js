/* Formats numbers by their form: `base_unit` and `is_rate` of a column or figure of the schema. */
const THIN = '\u202f';
const UNKNOWN = '–';
const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

function digits(n) {
    const size = Math.abs(n);
    if (size === 0)
        return '0';
    if (size >= 1e15 || size < 1e-9)
        return n.toExponential(1);
    if (size >= 1000)
        return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, THIN);
    return Number(n.toPrecision(3)).toString();
}

function scaled(n, units, base, first) {
    let i = first || 0;
    while (Math.abs(n) >= base * 0.9995 && i < units.length - 1) {
        n /= base;
        i++;
    }
    return digits(n) + THIN + units[i];
}

function small(n, units) {
    let i = 0;
    while (n !== 0 && Math.abs(n) < 0.9995 && i < units.length - 1) {
        n *= 1000;
        i++;
    }
    return digits(n) + THIN + units[i];
}

function duration(s) {
    if (Math.abs(s) < 60)
        return small(s, ['s', 'ms', 'µs', 'ns']);
    if (Math.abs(s) < 7200)
        return digits(s / 60) + THIN + 'min';
    return digits(s / 3600) + THIN + 'h';
}

/* 1:30, 2:00:00, 12.5 s: since the start of the run. */
function elapsed(s, step) {
    const sign = s < 0 ? '-' : '';
    const size = Math.abs(s);
    if (size < 60 && step < 1)
        return sign + size.toFixed(step < 0.01 ? 3 : step < 0.1 ? 2 : 1) + THIN + 's';
    if (size < 60)
        return sign + Math.round(size) + THIN + 's';
    const two = n => String(n).padStart(2, '0');
    const tenth = step < 1 ? (size % 1).toFixed(step < 0.1 ? 2 : 1).slice(1) : '';
    const whole = tenth ? Math.floor(size) : Math.round(size);
    const minutes = Math.floor(whole / 60) % 60;
    const hours = Math.floor(whole / 3600);
    return sign + (hours ? hours + ':' + two(minutes) : minutes) + ':' + two(whole % 60) + tenth;
}

/* One line per form of src/model/table.h. There is none for seconds per second: a column says
 * whether they are cores, a share of one resource, or a mean number. */
const WRITE = {
    'bytes': n => scaled(n, BYTE_UNITS, 1024),
    'bytes/s': n => scaled(n, BYTE_UNITS, 1024) + '/s',
    'seconds': duration,
    'cores': n => digits(n) + THIN + (digits(n) === '1' ? 'core' : 'cores'),
    'ratio': n => digits(100 * n) + THIN + '%',
    'hertz': n => scaled(n, ['Hz', 'kHz', 'MHz', 'GHz'], 1000),
    'celsius': n => digits(n) + THIN + '°C',
    'watts': n => n < 1 ? small(n, ['W', 'mW', 'µW']) : scaled(n, ['W', 'kW', 'MW'], 1000),
    'joules': n => n < 1 ? small(n, ['J', 'mJ', 'µJ']) : scaled(n, ['J', 'kJ', 'MJ', 'GJ'], 1000),
    'grams': n => n < 1 ? small(n, ['g', 'mg', 'µg']) : scaled(n, ['g', 'kg', 't'], 1000),
    'money': n => digits(n),
    '': n => Math.abs(n) >= 1e6 ? scaled(n / 1e6, ['M', 'G', 'T'], 1000) : digits(n),
    '/s': n => WRITE[''](n) + '/s',
};

/* `full`: what is 100 %, if it is a constant. Counters of ticks seem to exceed it now and then. */
function write(n, unit, isRate, full) {
    if (n === null || n === undefined || !Number.isFinite(n))
        return UNKNOWN;
    if (typeof full === 'number' && n > full)
        n = full;
    const form = unit + (isRate ? '/s' : '');
    return WRITE[form] ? WRITE[form](n) : digits(n) + THIN + form;
}
