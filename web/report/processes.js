/* Who started whom, and what each used. */
function processSection(model) {
    const { columns, rows, seen } = model.data.processes;
    const tree = orderTree(rows);
    const body = make('tbody', {}, tree.map(({ row, depth }) => processRow(model, columns, row, depth)));
    const only = make('input', { type: 'checkbox', onchange: () => filter() });
    const hasRecorded = rows.some(row => row.is_recorded);
    const filter = () => {
        for (const line of body.rows)
            line.hidden = only.checked && line.dataset.recorded !== 'yes';
    };
    only.checked = hasRecorded;
    filter();
    const heads = ['Process', 'Id', ...columns.map(column => column.label), 'Alive'];
    return section('processes', 'Process tree',
        seen > rows.length ? `the ${rows.length} busiest of ${seen}` : `${seen}`,
        hasRecorded ? make('label', { class: 'pr-check' }, only, 'of the recorded tree only') : null,
        make('div', { class: 'pr-scroll pr-tall', tabindex: 0 }, make('table', { class: 'pr-processes' },
            make('thead', {}, make('tr', {}, heads.map((head, i) => make('th', { scope: 'col',
                class: i > 0 && i <= columns.length + 1 ? 'pr-number' : null }, head)))), body)));
}

function processRow(model, columns, row, depth) {
    const name = make('td', { title: row.command }, make('span', { class: 'pr-branch' }),
        make('b', {}, row.name), ' ', make('span', { class: 'pr-command' }, row.command || ''));
    name.style.setProperty('padding-left', 8 + 14 * Math.min(depth, 12) + 'px');
    const bar = make('i', {});
    bar.style.setProperty('left', 100 * row.from / model.end + '%');
    bar.style.setProperty('width', Math.max(1, 100 * (row.to - row.from) / model.end) + '%');
    return make('tr', { 'data-recorded': row.is_recorded ? 'yes' : null },
        name, make('td', { class: 'pr-number' }, row.id),
        row.values.map((value, i) => make('td', { class: 'pr-number' },
            write(value, columns[i].unit, false))),
        make('td', {}, make('span', { class: 'pr-life' }, bar)));
}

/* Children after their parent; ids may be used again, the later one is taken for a parent then. */
function orderTree(rows) {
    const byId = new Map(rows.map(row => [row.id, row]));
    const children = new Map();
    const roots = [];
    for (const row of rows) {
        const parent = byId.get(row.parent);
        if (parent && parent !== row)
            children.set(parent, [...children.get(parent) || [], row]);
        else
            roots.push(row);
    }
    const order = [], done = new Set();
    const visit = (row, depth) => {
        if (done.has(row))
            return;
        done.add(row);
        order.push({ row, depth });
        (children.get(row) || []).forEach(child => visit(child, depth + 1));
    };
    roots.forEach(root => visit(root, 0));
    rows.forEach(row => visit(row, 0));
    return order;
}
