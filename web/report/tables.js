/* The tables of a run: families of columns that changed as charts, constant ones as a list. */
const isConstant = series => series.value !== undefined && series.value !== null;
const isStill = column => column.series.every(isConstant);

function keyLabel(tableData, key) {
    return tableData.keys[key]?.label || tableData.help;
}

/* With its columns. */
function groupsOfTable({ columns }) {
    return groupsOf(columns).map(group =>
        ({ ...group, columns: group.places.map(place => columns[place]) }));
}

/* Series that are always zero would hide the others; the parts of a stack are all shown. */
function isLively(group, column, series) {
    return group.isStacked || series.value !== 0 ||
        group.columns.every(other => other.series.every(one => one.value === 0));
}

function groupLines(tableData, group, keys) {
    const isOneRow = keys.length === 1, isOneColumn = group.columns.length === 1;
    const labels = columnLabels(group.columns, !isOneRow);
    return keys.flatMap((key, row) => group.columns.flatMap((column, i) => {
        const series = column.series.find(one => one.key === key);
        if (!series || !isLively(group, column, series))
            return [];
        const name = tableData.keys[key].label;
        const isNamed = name && (isOneColumn || !isOneRow);
        return [{ label: [isNamed ? name : null, isNamed && isOneColumn ? null : labels[i]]
            .filter(Boolean).join(' · '), name: column.name, curve: series,
        ...lineLook(keys.length, row, i) }];
    }));
}

function peakOf(model, series) {
    return isConstant(series) ? series.value :
        model.values(series).reduce((most, v) => v > most ? v : most, 0);
}

/* What is 100 % of the group: a constant, or a column outside of it. Equal limits of several rows
 * are one line. A limit that is far away would flatten the lines: it is a note. */
function limitLines(model, tableData, group, keys, lines) {
    const limits = new Map();
    for (const column of group.columns) {
        if (column.full !== undefined)
            limits.set('full', { label: 'limit', curve: { value: column.full } });
        const other = tableData.columns.find(one => one.name === column.limit);
        for (const series of other && !group.columns.includes(other) ? other.series : [])
            if (keys.includes(series.key) && peakOf(model, series) > 0)
                limits.set(isConstant(series) ? series.value : series, { key: series.key,
                    label: other.title, name: other.name, curve: series });
    }
    const sameLabel = ({ label }) => [...limits.values()].filter(one => one.label === label).length;
    const drawn = [...limits.values()].map(limit => ({ ...limit, isLimit: true, label:
        limit.key !== undefined && sameLabel(limit) > 1 ?
            `${limit.label} · ${keyLabel(tableData, limit.key)}` : limit.label }));
    const most = group.isStacked ? lines.reduce((sum, line) => sum + peakOf(model, line.curve), 0) :
        Math.max(0, ...lines.map(line => peakOf(model, line.curve)));
    const isFar = limit => peakOf(model, limit.curve) > NEAR_LIMIT * most;
    return { near: drawn.filter(limit => !isFar(limit)),
        far: drawn.filter(limit => isFar(limit) && limit.key !== undefined) };
}

function groupChart(model, view, tableData, group, title, keys) {
    const { columns, isStacked } = group;
    const { unit, is_rate: isRate, full } = columns[0];
    const isAlone = columns.length === 1;
    const lines = groupLines(tableData, group, keys);
    const { near, far } = limitLines(model, tableData, group, keys, lines);
    const note = far.map(limit =>
        `${limit.label}: ${write(peakOf(model, limit.curve), unit, isRate)}`).join(', ');
    return new Chart(model, view, { unit, isRate, full, isStacked, lines: [...lines, ...near],
        /* a family of which one column has values */
        title: isAlone || lines.length > 1 ? title : `${title} · ${lines[0].label}`,
        name: isAlone ? columns[0].name : null, help: isAlone ? columns[0].help : null,
        words: columns.flatMap(column => [column.title, column.name, column.words, column.help])
            .filter(Boolean).join(' '),
        notes: note ? make('p', { class: 'pr-note' }, note) : null, isOnRequest: group.isRaw });
}

/* A stack is of one row, and so are metrics of programs: then each row has a chart. */
function groupCharts(model, view, tableData, group) {
    const keys = tableData.keys.map((_, key) => key).filter(key => group.columns.some(column =>
        column.series.some(series => series.key === key)));
    const { is_by_key: isByKey } = tableData;
    if (isByKey || (group.isStacked && keys.length > 1))
        return keys.slice(0, isByKey ? keys.length : STACKS_MOST).map(key => {
            const names = [keyLabel(tableData, key), group.title];
            return groupChart(model, view, tableData, group,
                (isByKey ? names : names.reverse()).join(' · '), [key]);
        });
    const most = Math.max(1, Math.floor(FAMILY_LINES_MOST / group.columns.length));
    return [groupChart(model, view, tableData, group, group.title, keys.slice(0, most))];
}

function columnName(column) {
    return make('span', {}, column.title, make('small', { class: 'pr-name' }, column.name));
}

function constantList(columns) {
    if (columns.length === 0)
        return null;
    const rows = columns.map(column => {
        const values = [...new Set(column.series.map(series =>
            write(series.value, column.unit, column.is_rate)))];
        return [columnName(column),
            values.slice(0, 6).join(', ') + (values.length > 6 ? ', …' : ''), column.help];
    });
    return make('details', { class: 'pr-more' },
        make('summary', {}, `${columns.length} columns that did not change`),
        table([{ label: 'Column' }, { label: 'Value' }, { label: 'Description' }], rows));
}

function keyList(tableData) {
    const names = [...new Set(tableData.keys.flatMap(key => Object.keys(key.texts)))];
    if (names.length < 2 || tableData.keys.length === 0)
        return null;
    const rows = tableData.keys.map((key, i) => [
        make('span', {}, swatch(lineVariable(i))),
        ...names.map(name => key.texts[name])]);
    return make('details', { class: 'pr-more' }, make('summary', {}, 'Legend'),
        table([{ label: '' }, ...names.map(label => ({ label }))], rows));
}

/* Charts for programs are shown to those who ask. */
function requestButton(charts) {
    const hidden = charts.filter(chart => 'isOnRequest' in chart.element.dataset);
    if (hidden.length === 0)
        return null;
    const button = make('button', { type: 'button', class: 'pr-link', onclick: () => {
        for (const { element } of hidden) {
            delete element.dataset.isOnRequest;
            element.hidden = false;
        }
        button.remove();
    } }, `Show ${hidden.length} more, for programs`);
    return button;
}

function tableSection(model, view, tableData) {
    const groups = groupsOfTable(tableData);
    const moving = groups.filter(group => !group.columns.every(isStill));
    const still = groups.filter(group => group.columns.every(isStill));
    const charts = moving.flatMap(group => groupCharts(model, view, tableData, group));
    const shown = tableData.keys.length;
    const about = tableData.key_count > shown ?
        `${tableData.name} · the ${shown} busiest of ${tableData.key_count}` : tableData.name;
    return section('table-' + tableData.name, tableData.help, about,
        make('div', { class: 'pr-charts' }, charts.map(chart => chart.element)),
        requestButton(charts), constantList(still.flatMap(group => group.columns)),
        keyList(tableData));
}

function figureSection(model, view) {
    const charts = model.data.figures.filter(figure => !figure.is_hidden && !isConstant(figure))
        .map(figure => new Chart(model, view, {
            title: figure.label, name: figure.name, help: figure.help, unit: figure.unit,
            isRate: figure.is_rate, lines: [{ label: figure.label, curve: figure }],
        }));
    return section('figures', 'Key figures over time', null,
        make('div', { class: 'pr-charts' }, charts.map(chart => chart.element)));
}
