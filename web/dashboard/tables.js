/* All tables of the schema: columns that change as charts, constant ones as a list, and for some
 * tables their rows. */
const keyName = (table, key, frame) => {
    const texts = table.rows.get(key)?.texts || frame.texts.get(table.name)?.get(key);
    const name = texts && nameColumn(table);
    return [name && texts[name], key.replace(/\/\d{13}$/, '')].filter(Boolean).join(' ') ||
        table.help;
};

/* The name of a row with a numeric key. */
function nameColumn(table) {
    return table.allColumns.find(column => column.kind === 'info' &&
        column.short === 'name')?.name;
}

class TableSection {
    constructor(page, table) {
        Object.assign(this, { page, table });
        this.charts = new Map(); // by place, or by key and unit
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
        if (isByKey(this.table))
            this.addKeyCharts();
        else
            this.table.columns.forEach((column, place) => {
                if (this.table.hasMoved[place] && !this.charts.has(place))
                    this.addChart(place, this.columnChart(column, place));
            });
        this.showStill();
    }

    addChart(id, chart) {
        chart.table = this.table;
        this.charts.set(id, chart);
        const after = [...this.charts.keys()].filter(other => other > id)
            .reduce((least, other) => least === null || other < least ? other : least, null);
        this.place.insertBefore(chart.element, this.charts.get(after)?.element || null);
        this.page.onchart();
    }

    columnChart(column, place) {
        const { table } = this;
        return new LiveChart(this.page, { title: column.name, help: column.help,
            unit: column.base_unit, isRate: column.is_rate },
        frame => keysShown(table, frame).map((key, i) =>
            ({ table: table.name, key, place, label: keyName(table, key, frame), color: i })));
    }

    addKeyCharts() {
        const { table } = this;
        const keys = keysShown(table, this.page.view.frame);
        for (const key of keys)
            for (const [unit, places] of this.unitsOf(key)) {
                const id = key + ' ' + unit;
                if (!this.charts.has(id))
                    this.addChart(id, this.keyChart(key, places));
            }
        for (const [id, chart] of this.charts) // of entities that no longer exist
            if (!keys.some(key => id.startsWith(key + ' ')))
                this.removeChart(id, chart);
    }

    unitsOf(key) {
        const values = this.table.rows.get(key)?.values || [];
        const units = new Map();
        this.table.columns.forEach((column, place) => {
            const unit = column.base_unit + (column.is_rate ? '/s' : '');
            if (values[place] !== null && values[place] !== undefined)
                units.set(unit, [...units.get(unit) || [], place]);
        });
        return units;
    }

    keyChart(key, places) {
        const { table } = this;
        const columns = places.map(place => table.columns[place]);
        return new LiveChart(this.page, { title: keyName(table, key, this.page.view.frame),
            help: columns.map(column => column.help).join(' · '), unit: columns[0].base_unit,
            isRate: columns[0].is_rate },
        () => places.map((place, i) =>
            ({ table: table.name, key, place, label: table.columns[place].name, color: i })));
    }

    removeChart(id, chart) {
        this.charts.delete(id);
        chart.remove();
    }

    showStill() {
        const { table } = this;
        const places = table.columns.map((_, place) => place).filter(place =>
            table.isKnown[place] && !table.hasMoved[place]);
        this.still.hidden = places.length === 0 || isByKey(table);
        setText(this.stillText, `${places.length} columns that did not change`);
        if (!this.still.open || this.still.hidden)
            return;
        this.stillRows.replaceChildren(...places.map(place => {
            const column = table.columns[place];
            const values = [...new Set([...table.rows.values()].map(row =>
                write(row.values[place], column.base_unit, column.is_rate)))];
            return make('tr', {}, make('td', {}, column.name),
                make('td', {}, values.slice(0, 6).join(', ') + (values.length > 6 ? ', …' : '')),
                make('td', {}, column.help));
        }));
    }
}
