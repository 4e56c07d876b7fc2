/* Current rows of a table, sortable and filterable: processes and containers. */
const ROWS_MOST = 200;

/* Columns shown by default, and the sort column; columns that do not exist are left out. Other
 * tables of processes show their first columns. */
const LISTS = {
    process: { sort: 'pCpuTimeNs', columns: ['pId', 'pName', 'pCpuTimeNs', 'pResidentSetSize',
        'pNumThreads', 'pReadBytes', 'pWriteBytes', 'pState', 'pCmdline'] },
    container: { sort: 'cCpuTime', columns: ['cName', 'cId', 'cRuntime', 'cCpuTime',
        'cMemoryUsed', 'cMemoryLimit', 'cDiskReadBytes', 'cDiskWriteBytes', 'cNetworkBytesRecvd',
        'cNetworkBytesSent', 'cNumProcesses', 'cCpuThrottledTime'] },
    gpu_process: { sort: 'gUsedMemoryMb', columns: ['gGpuIndex', 'pId', 'pName', 'gType',
        'gUsedMemoryMb', 'gSmUtil', 'gMemUtil'] },
};
const FIRST_COLUMNS = 8;

const hasList = table => table.kind === 'processes' || table.name in LISTS;

class RowList {
    constructor(page, table) {
        Object.assign(this, { page, table });
        this.preset = LISTS[table.name] ||
            { columns: table.allColumns.slice(0, FIRST_COLUMNS).map(column => column.name) };
        this.isUp = false;
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
        const { table, preset } = this;
        this.columns = table.allColumns.filter(column => this.all.checked ||
            preset.columns.includes(column.name)).map(column => this.describe(column));
        if (!this.all.checked)
            this.columns.sort((a, b) =>
                preset.columns.indexOf(a.name) - preset.columns.indexOf(b.name));
        if (!this.columns.some(column => column.name === this.sort))
            this.sort = this.columns.some(column => column.name === preset.sort) ? preset.sort :
                this.columns[0].name;
        this.head.replaceChildren(...this.columns.map(column => column.head));
        if (this.canProfile)
            this.head.append(make('th', { scope: 'col' }, ''));
        this.body.replaceChildren();
        this.lines = [];
        this.show();
    }

    get canProfile() {
        return this.table.allColumns.some(column => column.name === 'pId');
    }

    describe(column) {
        const place = this.table.places.get(column.name);
        const isNumber = column.type !== 'string';
        const button = make('button', { type: 'button', class: 'pd-sort', title: column.help,
            onclick: () => this.sortBy(column.name) }, column.name);
        return { name: column.name, column, place, isNumber,
            head: make('th', { scope: 'col', class: isNumber ? 'pr-number' : null }, button) };
    }

    sortBy(name) {
        this.isUp = this.sort === name ? !this.isUp : false;
        this.sort = name;
        this.show();
    }

    valueOf(row, { place, name }) {
        return (place === undefined ? row.texts[name] : row.values[place]) ?? null;
    }

    textOf(row, described) {
        const value = this.valueOf(row, described);
        if (value === null)
            return '–';
        const { column, place } = described;
        if (column.kind === 'key' && column.unit === 'ms')
            return new Date(value).toLocaleString();
        return place === undefined ? String(value) :
            write(value, column.base_unit, column.is_rate);
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
        if (this.canProfile)
            line.element.append(make('td', {}, make('button', { type: 'button', class: 'pr-link',
                onclick: () => this.page.profile.choose(line.row.texts.pId, line.row.texts.pName) },
            'profile')));
        this.lines.push(line);
        this.body.append(line.element);
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
