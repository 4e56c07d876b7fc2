/* All tables of the schema: families of columns that change as charts, constant ones as a list, and
 * the rows of tables that have several. */

/* "python 4711", "sda", "CPU 3" */
const keyName = (table, key, frame) => {
    const texts = table.rows.get(key)?.texts || frame.texts.get(table.name)?.get(key);
    const name = String(texts?.[columnOfRole(table, 'name')] ?? '');
    const id = key.replace(/\/\d{13}$/, '');
    const isNumber = /^\d+$/.test(id) && (name === id || name === '');
    const kind = isNumber ? table.allColumns.find(column => column.kind === 'key').title : name;
    return [kind === id ? null : kind, id].filter(Boolean).join(' ') || table.help;
};

/* The name of the column that says this of a row. */
function columnOfRole(table, role) {
    return table.allColumns.find(column => column.role === role)?.name;
}

/* The columns of a group as lines of some rows, without those that have no values. */
function groupLines(table, places, keys, frame) {
    const isOne = keys.length === 1;
    const isOnlyColumns = isOne && (places.length > 1 || !table.hasKeys);
    const labels = columnLabels(places.map(place => table.columns[place]), !isOne);
    const hasValues = ({ key, place }) => (table.rows.get(key)?.values[place] ?? null) !== null ||
        frame.ring(table.name, key, place).hasValues;
    return keys.flatMap((key, row) => places.map((place, i) => ({ table: table.name, key, place,
        name: table.columns[place].name, ...lineLook(keys.length, row, i),
        label: [isOnlyColumns ? null : keyName(table, key, frame),
            isOnlyColumns || places.length > 1 ? labels[i] : null].filter(Boolean).join(' · '),
    }))).filter(hasValues);
}

/* What is 100 % of the group: a constant, or a column outside of it. Equal limits of several rows
 * are one line. */
function limitLines(store, table, places, keys, frame) {
    const limits = new Map();
    for (const place of places) {
        const { limit, full } = table.columns[place];
        const limitPlace = table.places.get(limit);
        if (typeof full === 'number')
            limits.set('full', { full, label: 'limit', isLimit: true });
        for (const key of limitPlace === undefined || places.includes(limitPlace) ? [] : keys) {
            const value = store.value(table.name, key, limitPlace);
            const { title, name } = table.columns[limitPlace];
            const id = limit + ' ' + value;
            if (!Number.isNaN(value) && !limits.has(id))
                limits.set(id, { table: table.name, key, place: limitPlace, name, title,
                    isLimit: true });
        }
    }
    const ofRows = [...limits.values()].filter(limit => limit.title);
    for (const limit of ofRows)
        limit.label = ofRows.some(other => other !== limit && other.title === limit.title) ?
            `${limit.title} · ${keyName(table, limit.key, frame)}` : limit.title;
    return [...limits.values()];
}

class TableSection {
    constructor(page, table) {
        Object.assign(this, { page, table });
        this.charts = new Map(); // by group and, if it is of one row, key
        this.place = make('div', { class: 'pr-charts' });
        this.stillText = make('summary', {});
        this.stillRows = make('tbody', {});
        this.still = make('details', { class: 'pr-more', ontoggle: () => this.showStill() },
            this.stillText, make('div', { class: 'pr-scroll' }, make('table', {}, this.stillRows)));
        this.list = hasList(table) ? new RowList(page, table) : null;
        this.element = section('table-' + table.name, table.help, table.name,
            this.list?.element, this.place, this.still);
        this.element.hidden = true;
    }

    /* Tables without rows and columns without values are not shown. */
    update() {
        this.element.hidden = this.table.rows.size === 0 && this.charts.size === 0;
        if (this.element.hidden)
            return;
        const wanted = new Map(this.wantedCharts().map(spec => [spec.id, spec]));
        for (const [id, chart] of this.charts)
            if (!wanted.has(id))
                this.removeChart(id, chart); // of a row that is gone
        for (const spec of wanted.values())
            if (!this.charts.has(spec.id))
                this.addChart(spec);
        this.showRequested();
        this.showStill();
    }

    knownPlaces(group) {
        return group.places.filter(place => this.table.isKnown[place]);
    }

    /* A stack is of one row, and so are metrics of programs: then each row has a chart. */
    wantedCharts() {
        const { table } = this;
        const keys = keysShown(table, this.page.view.frame);
        return table.groups.flatMap((group, at) => {
            if (this.knownPlaces(group).length === 0)
                return [];
            if (!isByKey(table) && !group.isStacked)
                return [{ id: group.title, group, rank: at }];
            return keys.slice(0, isByKey(table) ? KEYS_MOST : STACKS_MOST)
                .map((key, i) => ({ id: group.title + '\n' + key, group, key,
                    rank: isByKey(table) ? i + at / table.groups.length : at + i / KEYS_MOST }))
                .filter(spec => this.charts.has(spec.id) || this.hasValue(group, spec.key));
        });
    }

    hasValue(group, key) {
        const row = this.table.rows.get(key);
        return !row || group.places.some(place => row.values[place] !== null);
    }

    addChart(spec) {
        const chart = this.groupChart(spec);
        Object.assign(chart, { table: this.table, group: spec.group, rank: spec.rank });
        const after = [...this.charts.values()].filter(other => other.rank > spec.rank)
            .reduce((least, other) => other.rank < (least?.rank ?? Infinity) ? other : least, null);
        this.charts.set(spec.id, chart);
        this.place.insertBefore(chart.element, after?.element || null);
        this.page.onchart();
    }

    groupChart({ group, key }) {
        const { table, page } = this;
        const columns = group.places.map(place => table.columns[place]);
        const keysOf = frame => key !== undefined ? [key] : keysShown(table, frame)
            .slice(0, Math.max(1, Math.floor(FAMILY_LINES_MOST / columns.length)));
        const isAlone = columns.length === 1;
        return new LiveChart(page, { title: this.titleOf(group, key),
            name: isAlone ? columns[0].name : null, isStacked: group.isStacked,
            help: isAlone ? columns[0].help : null,
            words: columns.flatMap(({ title, name, words, help }) => [title, name, words, help])
                .filter(Boolean).join(' '),
            unit: columns[0].base_unit, isRate: columns[0].is_rate, full: columns[0].full },
        frame => {
            const keys = keysOf(frame), places = this.knownPlaces(group);
            return [...groupLines(table, places, keys, frame),
                ...limitLines(page.store, table, places, keys, frame)];
        });
    }

    titleOf(group, key) {
        const name = key !== undefined && this.table.hasKeys ?
            keyName(this.table, key, this.page.view.frame) : null;
        return [isByKey(this.table) ? name : null, group.title, isByKey(this.table) ? null : name]
            .filter(Boolean).join(' · ');
    }

    removeChart(id, chart) {
        this.charts.delete(id);
        chart.remove();
    }

    /* Charts of what did not change or is for programs are there for those who search. */
    showRequested() {
        for (const { group, element } of this.charts.values()) {
            const isOnRequest = group.isRaw ||
                !group.places.some(place => this.table.hasMoved[place]);
            if (isOnRequest === 'isOnRequest' in element.dataset)
                continue;
            if (isOnRequest)
                element.dataset.isOnRequest = '';
            else
                delete element.dataset.isOnRequest;
            this.page.onchart();
        }
    }

    showStill() {
        const { table, page } = this;
        const places = table.groups.filter(group => !group.isRaw &&
            !group.places.some(place => table.hasMoved[place]))
            .flatMap(group => this.knownPlaces(group));
        this.still.hidden = places.length === 0 || isByKey(table);
        setText(this.stillText, places.length === 1 ? '1 column that did not change' :
            `${places.length} columns that did not change`);
        if (!this.still.open || this.still.hidden)
            return;
        this.stillRows.replaceChildren(...places.map(place => {
            const column = table.columns[place];
            const values = [...new Set([...table.rows.keys()].map(key =>
                columnText(page.store.value(table.name, key, place), column)))];
            return make('tr', {}, make('td', {}, column.title,
                make('small', { class: 'pr-name' }, column.name)),
            make('td', {}, values.slice(0, 6).join(', ') + (values.length > 6 ? ', …' : '')),
            make('td', {}, column.help));
        }));
    }
}
