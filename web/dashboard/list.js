/* Current rows of a table, sortable and filterable: processes, containers, devices. */
const ROWS_MOST = 200, FIRST_COLUMNS = 8;

const hasList = table => table.hasKeys && (table.kind === 'processes' || table.kind === 'things');

/* Columns for people: who it is, what matters of it, what else is known of it. */
const COLUMN_ORDER = [column => column.kind === 'key', column => column.role === 'name',
    column => column.importance === 'headline',
    column => column.kind === 'info' && column.type !== 'string',
    column => column.kind === 'info', () => true];

/* Those with a heading, but not how rows hang together; in a table without headings, the first. */
function listColumns(table) {
    const chosen = table.allColumns.filter(column => column.heading && column.role !== 'parent');
    const rank = column => COLUMN_ORDER.findIndex(isIt => isIt(column));
    return chosen.length > 0 ? chosen.sort((a, b) => rank(a) - rank(b)) :
        table.allColumns.slice(0, FIRST_COLUMNS);
}

class RowList {
    constructor(page, table) {
        Object.assign(this, { page, table });
        this.isUp = false;
        this.sort = table.columns[busyPlace(table)].name;
        this.idColumn = table.kind === 'processes' ? columnOfRole(table, 'process') : undefined;
        this.nameColumn = columnOfRole(table, 'name');
        this.filter = make('input', { type: 'search', placeholder: 'Filter rows',
            'aria-label': `Filter rows of ${table.help}`, oninput: () => this.show() });
        this.all = make('input', { type: 'checkbox', onchange: () => this.build() });
        this.count = make('span', { class: 'pr-note', role: 'status' });
        this.head = make('tr', {});
        this.body = make('tbody', {});
        this.element = make('div', { class: 'pd-list' },
            make('div', { class: 'pd-list-tools' }, this.filter,
                make('label', { class: 'pd-check' }, this.all, 'all columns'), this.count),
            make('div', { class: 'pr-scroll pr-tall', tabindex: 0 }, make('table', {},
                make('thead', {}, this.head), this.body)));
        this.element.list = this;
        this.build();
        seenLists.observe(this.element);
    }

    build() {
        const { table } = this;
        this.columns = (this.all.checked ? table.allColumns : listColumns(table))
            .map(column => this.describe(column));
        if (!this.columns.some(column => column.name === this.sort))
            this.sort = this.columns[0].name;
        this.head.replaceChildren(...this.columns.map(column => column.head));
        if (this.idColumn)
            this.head.prepend(make('th', { scope: 'col' }, ''));
        this.body.replaceChildren();
        this.lines = [];
        this.show();
    }

    describe(column) {
        const place = this.table.places.get(column.name);
        const isNumber = column.type !== 'string';
        const button = make('button', { type: 'button', class: 'pd-sort',
            title: `${column.help} · ${column.name}`, onclick: () => this.sortBy(column.name) },
        column.title);
        return { name: column.name, column, place, isNumber,
            head: make('th', { scope: 'col', class: isNumber ? 'pr-number' : null }, button) };
    }

    sortBy(name) {
        this.isUp = this.sort === name ? !this.isUp : false;
        this.sort = name;
        this.show();
    }

    /* null: unknown, or no longer true */
    valueOf(row, { place, name }) {
        const { isCurrent } = this.page.store;
        return (place === undefined ? row.texts[name] : isCurrent ? row.values[place] : null) ??
            null;
    }

    textOf(row, described) {
        const value = this.valueOf(row, described);
        if (value === null)
            return UNKNOWN;
        const { column, place } = described;
        if (column.role === 'start' && column.unit === 'ms')
            return new Date(value).toLocaleString();
        return place === undefined ? String(value) : columnText(value, column);
    }

    chosenRows() {
        const words = this.filter.value.toLowerCase().split(/\s+/).filter(Boolean);
        const by = this.columns.find(column => column.name === this.sort);
        const rows = [...this.table.rows.values()].filter(row => {
            const text = (row.key + ' ' + Object.values(row.texts).join(' ')).toLowerCase();
            return words.every(word => text.includes(word));
        });
        const direction = this.isUp ? 1 : -1;
        return rows.sort((a, b) => compare(this.valueOf(a, by), this.valueOf(b, by), direction));
    }

    show() {
        const rows = this.chosenRows();
        const shown = rows.slice(0, ROWS_MOST);
        setText(this.count, `${shown.length} of ${this.table.rows.size}`);
        for (const { name, head } of this.columns)
            head.setAttribute('aria-sort', name !== this.sort ? 'none' :
                this.isUp ? 'ascending' : 'descending');
        while (this.lines.length < shown.length)
            this.addLine();
        while (this.lines.length > shown.length)
            this.lines.pop().element.remove();
        shown.forEach((row, i) => this.fillLine(this.lines[i], row));
    }

    addLine() {
        const cells = this.columns.map(({ isNumber }) =>
            make('td', { class: isNumber ? 'pr-number' : null }));
        const line = { cells, element: make('tr', {}, cells), row: null };
        if (this.idColumn)
            line.element.prepend(make('td', {}, make('button', { type: 'button', class: 'pr-link',
                onclick: () => this.profile(line.row.texts) }, 'profile')));
        this.lines.push(line);
        this.body.append(line.element);
    }

    profile(texts) {
        this.page.profile.choose(texts[this.idColumn], texts[this.nameColumn]);
    }

    fillLine(line, row) {
        line.row = row;
        this.columns.forEach((described, i) => {
            const text = this.textOf(row, described);
            setText(line.cells[i], text);
            if (!described.isNumber && text.length > 40)
                line.cells[i].title = text;
        });
    }
}

/* Unknown values come last in both directions. */
function compare(a, b, direction) {
    if (a === null || b === null)
        return (a === null) - (b === null);
    return direction * (typeof a === 'string' || typeof b === 'string' ?
        String(a).localeCompare(String(b)) : a - b);
}

const seenLists = new IntersectionObserver(entries => {
    for (const { target, isIntersecting } of entries)
        target.list.isSeen = isIntersecting;
});
