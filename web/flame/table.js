/* The table of functions: the content of the graph as text, also for screen readers. */
const TABLE_STEP = 50; // rows shown at first

Object.assign(FlameGraph.prototype, {
    fillTable() {
        const rows = this.sortedRows(), shown = rows.slice(0, this.rowLimit);
        for (const header of this.headers) {
            const isKey = header.dataset.by === this.order.by;
            header.setAttribute('aria-sort',
                !isKey ? 'none' : this.order.falling ? 'descending' : 'ascending');
        }
        this.tableBody.replaceChildren(...shown.map(row => this.tableRow(row)));
        this.moreButton.hidden = shown.length === rows.length;
        this.tableTitle.textContent = `Functions (${grouped(rows.length)})`;
    },

    /* `a` is the column shown by widths; before and after have fixed positions. */
    sides(row) {
        const isAfter = this.filter.type === 1;
        const share = (value, whole) => whole > 0 ? value / whole : 0;
        const a = share(row.total, this.whole), b = share(row.totalB, this.wholeB);
        const selfA = share(row.self, this.whole), selfB = share(row.selfB, this.wholeB);
        return isAfter ? { before: b, after: a, change: a - b, selfChange: selfA - selfB }
            : { before: a, after: b, change: b - a, selfChange: selfB - selfA };
    },

    sortedRows() {
        const { by, falling } = this.order, names = this.model.names;
        const key = by.replace('Share', '');
        const isSearched = row => !this.matches || this.matches[row.label];
        const value = row => key === 'name' ? names[row.label]
            : this.model.isDiff ? this.sides(row)[key] : row[key];
        const isChange = key === 'change' || key === 'selfChange';
        const size = row => isChange ? Math.abs(value(row)) : value(row);
        const compare = (l, r) => {
            const x = size(l), y = size(r);
            return (x < y ? -1 : x > y ? 1 : 0) * (falling ? -1 : 1) || l.label - r.label;
        };
        return this.rows.filter(isSearched).sort(compare);
    },

    tableRow(row) {
        const model = this.model, swatch = make('i', { class: 'pf-swatch',
            title: model.kinds[model.kind[row.label]] });
        swatch.style.setProperty('background',
            `hsl(var(--pf-kind-${model.kinds[model.kind[row.label]]}))`);
        const module = model.module[row.label], file = model.file[row.label];
        const place = file >= 0 ? baseName(model.data.files[file])
            : module >= 0 ? baseName(model.data.modules[module]) : '';
        const name = make('th', { scope: 'row' }, make('div', { class: 'pf-name' }, swatch,
            make('button', { type: 'button', title: this.placeOf(row.label),
                onclick: () => this.sandwich(row.label) }, model.names[row.label]),
            make('small', {}, place)));
        return make('tr', {}, name,
            ...(model.isDiff ? this.diffCells(row) : this.valueCells(row)));
    },

    valueCells(row) {
        const bar = (value, className) => {
            const cell = make('td', { class: 'pf-share ' + className },
                percent(value, this.whole));
            cell.style.setProperty('--share', 100 * value / this.whole + '%');
            return cell;
        };
        const number = value => make('td', {}, this.write(value).replace(/ samples?$/, ''));
        return [number(row.self), bar(row.self, 'pf-self'), number(row.total),
            bar(row.total, 'pf-total')];
    },

    diffCells(row) {
        const { before, after, change, selfChange } = this.sides(row);
        const className = value => value > 0 ? 'pf-more' : value < 0 ? 'pf-less' : '';
        const changed = value => make('td', { class: className(value) },
            signed(percent(value, 1), value));
        return [make('td', {}, percent(before, 1)), make('td', {}, percent(after, 1)),
            changed(change), changed(selfChange)];
    },
});
