/* The tables of a run: columns that changed as charts, constant ones as a list. */
const isConstant = series => series.value !== undefined && series.value !== null;

function keyLabel(tableData, key) {
    return tableData.keys[key]?.label || tableData.help;
}

/* Limits from other columns, if they are near enough not to flatten the line. */
function limitLines(model, tableData, column) {
    const limit = tableData.columns.find(other => other.name === column.limit);
    if (!limit)
        return { lines: [], notes: null };
    const peaks = new Map(column.series.map(series => [series.key, peakOf(model, series)]));
    const most = Math.max(0, ...peaks.values());
    const lines = [], far = [];
    for (const series of limit.series) {
        const peak = peakOf(model, series);
        if (!peaks.has(series.key) || !(peak > 0))
            continue;
        const label = tableData.keys.length > 1 ?
            'limit of ' + keyLabel(tableData, series.key) : 'limit';
        if (peak <= 4 * most)
            lines.push({ label, curve: series, isLimit: true });
        else
            far.push(`${label}: ${write(peak, column.unit, column.is_rate)}`);
    }
    return { lines, notes: far.length ? make('p', { class: 'pr-note' }, far.join(', ')) : null };
}

function peakOf(model, series) {
    return isConstant(series) ? series.value :
        model.values(series).reduce((most, v) => v > most ? v : most, 0);
}

/* Leaves out series that are always zero: they would hide the others. */
function livelySeries(column) {
    const lively = column.series.filter(series => series.value !== 0);
    return lively.length > 0 ? lively : column.series;
}

function columnChart(model, view, tableData, column) {
    const { lines, notes } = limitLines(model, tableData, column);
    return new Chart(model, view, {
        title: column.name, help: column.help, unit: column.unit, isRate: column.is_rate, notes,
        lines: [...livelySeries(column).map(series => ({ label: keyLabel(tableData, series.key),
            curve: series, color: series.key })), ...lines],
    });
}

/* A table of metrics: one chart per key and unit. */
function keyCharts(model, view, tableData) {
    const charts = [];
    tableData.keys.forEach((key, number) => {
        const groups = new Map();
        for (const column of tableData.columns) {
            const series = column.series.find(one => one.key === number);
            const group = column.unit + (column.is_rate ? '/s' : '');
            if (series && !isConstant(series))
                groups.set(group, [...groups.get(group) || [], { column, series }]);
        }
        for (const parts of groups.values())
            charts.push(new Chart(model, view, {
                title: key.label, help: parts.map(part => part.column.help).join(' · '),
                unit: parts[0].column.unit, isRate: parts[0].column.is_rate,
                lines: parts.map(part => ({ label: part.column.name, curve: part.series })),
            }));
    });
    return charts;
}

function constantList(tableData, columns) {
    if (columns.length === 0)
        return null;
    const rows = columns.map(column => {
        const values = [...new Set(column.series.map(series =>
            write(series.value, column.unit, column.is_rate)))];
        return [column.name, values.slice(0, 6).join(', ') + (values.length > 6 ? ', …' : ''),
            column.help];
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

function tableSection(model, view, tableData) {
    const moving = tableData.columns.filter(column => !column.series.every(isConstant));
    const still = tableData.columns.filter(column => column.series.every(isConstant));
    const charts = tableData.is_by_key ? keyCharts(model, view, tableData) :
        moving.map(column => columnChart(model, view, tableData, column));
    const shown = tableData.keys.length;
    const about = tableData.key_count > shown ?
        `${tableData.name} · the ${shown} busiest of ${tableData.key_count}` : tableData.name;
    return section('table-' + tableData.name, tableData.help, about,
        make('div', { class: 'pr-charts' }, charts.map(chart => chart.element)),
        constantList(tableData, still), keyList(tableData));
}

function figureSection(model, view) {
    const charts = model.data.figures.filter(figure => !figure.is_hidden && !isConstant(figure))
        .map(figure => new Chart(model, view, {
            title: figure.label, unit: figure.unit, isRate: figure.is_rate,
            lines: [{ label: figure.label, curve: figure }],
        }));
    return section('figures', 'Key figures over time', null,
        make('div', { class: 'pr-charts' }, charts.map(chart => chart.element)));
}
