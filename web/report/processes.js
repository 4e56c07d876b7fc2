/* The process tree, with the resource usage of each process. */
const INDENT = 14, INDENTS_MOST = 12;

function processSection(model) {
    const { columns, rows, seen } = model.data.processes;
    const lines = orderTree(rows).map(place => processLine(model, columns, place));
    const hasRecorded = rows.some(row => row.is_recorded);
    const only = make('input', { type: 'checkbox', onchange: () => filter() });
    const filter = () => lines.forEach(line => {
        line.element.hidden = only.checked && !line.row.is_recorded;
        line.indent(only.checked ? line.recordedDepth : line.depth);
    });
    only.checked = hasRecorded;
    filter();
    const number = label => make('th', { scope: 'col', class: 'pr-number' }, label);
    const head = make('tr', {}, make('th', { scope: 'col' }, 'Process'), number('PID'),
        columns.map(column => number(column.label)), make('th', { scope: 'col' }, 'Lifetime'));
    const label = make('label', { class: 'pr-check' }, only, 'recorded tree only');
    return section('processes', 'Process tree',
        seen > rows.length ? `the ${rows.length} busiest of ${seen}` : `${seen}`,
        hasRecorded ? label : null,
        make('div', { class: 'pr-scroll pr-tall', tabindex: 0 },
            make('table', { class: 'pr-processes' }, make('thead', {}, head),
                make('tbody', {}, lines.map(line => line.element)))));
}

function processLine(model, columns, place) {
    const { row } = place;
    const name = make('td', { title: row.command }, make('b', {}, row.name), ' ',
        make('span', { class: 'pr-command' }, row.command || ''));
    const bar = make('i', {});
    bar.style.setProperty('left', 100 * row.from / model.end + '%');
    bar.style.setProperty('width', Math.max(1, 100 * (row.to - row.from) / model.end) + '%');
    const element = make('tr', {}, name, make('td', { class: 'pr-number' }, row.id),
        row.values.map((value, i) => make('td', { class: 'pr-number' },
            write(value, columns[i].unit, false))),
        make('td', {}, make('span', { class: 'pr-life' }, bar)));
    const indent = depth => name.style.setProperty('padding-left',
        8 + INDENT * Math.min(depth, INDENTS_MOST) + 'px');
    return { ...place, element, indent };
}

/* Children follow their parent; if a pid was reused, its last process is the parent. Depths are
 * counted from the top, and from the top of the recorded tree. */
function orderTree(rows) {
    const byId = new Map(rows.map(row => [row.id, row]));
    const parentOf = row => byId.get(row.parent) !== row ? byId.get(row.parent) : undefined;
    const children = new Map();
    for (const row of rows)
        children.set(parentOf(row), [...children.get(parentOf(row)) || [], row]);
    const order = [], done = new Set();
    const visit = (row, depth, recordedDepth) => {
        if (done.has(row))
            return;
        done.add(row);
        order.push({ row, depth, recordedDepth });
        const below = row.is_recorded ? recordedDepth + 1 : recordedDepth;
        (children.get(row) || []).forEach(child => visit(child, depth + 1, below));
    };
    (children.get(undefined) || []).forEach(root => visit(root, 0, 0));
    rows.forEach(row => visit(row, 0, 0));
    return order;
}
