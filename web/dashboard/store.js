/* Current state: tables from /api/schema, rows from /api/stream. */
class Table {
    constructor(schema) {
        Object.assign(this, { name: schema.name, help: schema.help, kind: schema.rows });
        this.allColumns = schema.columns;
        this.columns = schema.columns.filter(column => 'base_unit' in column);
        this.places = new Map(this.columns.map((column, place) => [column.name, place]));
        this.groups = groupsOf(this.columns);
        this.hasKeys = schema.columns.some(column => column.kind === 'key');
        this.question = { table: schema.name, limit: linesOf(this) };
        this.isKnown = new Array(this.columns.length).fill(false);
        this.hasMoved = new Array(this.columns.length).fill(false);
        this.clear();
    }

    clear() {
        this.rows = new Map(); // key -> { key, texts, values }
        this.byNumber = new Map();
    }

    addRow([number, key, texts, values]) {
        const row = { key, texts, values };
        this.rows.set(key, row);
        this.byNumber.set(number, row);
        values.forEach((value, place) => {
            this.isKnown[place] ||= value !== null;
        });
    }

    changeRow([number, ...pairs]) {
        const row = this.byNumber.get(number);
        for (let i = 0; row && i < pairs.length; i += 2) {
            const [place, value] = [pairs[i], pairs[i + 1]];
            this.hasMoved[place] ||= row.values[place] !== null && value !== null;
            this.isKnown[place] ||= value !== null;
            row.values[place] = value;
        }
    }

    removeRow(number) {
        const row = this.byNumber.get(number);
        this.byNumber.delete(number);
        if (row && this.rows.get(row.key) === row)
            this.rows.delete(row.key);
    }

    /* Numbers may be reused at once, so removed rows are handled first. */
    take({ rows, changes, gone }) {
        gone?.forEach(number => this.removeRow(number));
        rows?.forEach(row => this.addRow(row));
        changes?.forEach(change => this.changeRow(change));
    }
}

/* The text of a value of a column. */
function columnText(value, { base_unit: unit, is_rate: isRate, full }) {
    return write(value, unit, isRate, full);
}

/* The figures of the catalogue that everybody wants to see. */
class Figures {
    constructor(figures = []) {
        this.name = 'figures';
        this.all = new Map(figures.map(figure => [figure.name, figure]));
        this.headlines = figures.filter(figure => figure.importance === 'headline');
        this.question = { figure: this.headlines.map(figure => figure.name).join() };
        this.values = new Map();
        this.rows = new Map(); // as those of a table: figures have none
    }

    take(values) {
        Object.entries(values || {}).forEach(([name, value]) => this.values.set(name, value));
    }
}

/* As pt_column_lasts_ns(): how long values are true without a newer sample. */
const LASTS_MS = 3000, LASTS_INTERVALS = 3;

class Store {
    constructor(schema) {
        this.tables = new Map(schema.tables.map(one => [one.name, new Table(one)]));
        this.figures = new Figures(schema.figures);
        this.time = null;
        this.interval = 0;
        this.sampleCount = 0;
        this.takenAt = -Infinity;
    }

    /* Without newer samples, values are unknown. */
    get isCurrent() {
        return performance.now() - this.takenAt <
            Math.max(LASTS_MS, LASTS_INTERVALS * this.interval);
    }

    take(sample) {
        if (sample.is_whole) {
            this.tables.forEach(table => table.clear());
            this.figures.values.clear();
        }
        if (!sample.is_whole && this.time !== null)
            this.interval = this.interval === 0 ? sample.time - this.time :
                0.8 * this.interval + 0.2 * (sample.time - this.time);
        for (const [name, news] of Object.entries(sample.tables))
            this.tables.get(name)?.take(news);
        this.figures.take(sample.figures);
        this.time = sample.time;
        this.takenAt = performance.now();
        this.sampleCount++;
    }

    /* NaN: unknown. The place of a figure is its name. */
    value(table, key, place) {
        if (!this.isCurrent)
            return NaN;
        return (table === this.figures.name ? this.figures.values.get(place) :
            this.tables.get(table).rows.get(key)?.values[place]) ?? NaN;
    }
}
