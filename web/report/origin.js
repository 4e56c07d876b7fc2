/* Measured, modelled and missing figures. */
function estimates(energy) {
    if (!energy)
        return [];
    const named = Object.entries(energy.figures).map(([key, figure]) =>
        ({ name: key.replaceAll('_', ' '), ...figure }));
    return [...energy.sources, ...named].filter(figure => figure.value !== null &&
        figure.value !== undefined);
}

function estimateTable(list) {
    const number = value => digits(value);
    const rows = list.map(one => [one.name, number(one.value) + THIN + one.unit,
        one.low === one.high ? null : `${number(one.low)} to ${number(one.high)}`,
        make('span', { class: 'pr-origin pr-origin-' + one.provenance }, one.provenance),
        one.method]);
    return table([{ label: 'Figure' }, { label: 'Value', isNumber: true },
        { label: 'Range', isNumber: true }, { label: 'Origin' }, { label: 'How' }], rows);
}

function measuredTable(tables) {
    const rows = tables.filter(one => one.rows > 0).map(one => {
        const sources = [...new Set(one.columns.map(column => column.source).filter(Boolean))];
        return [one.help, digits(one.rows), digits(one.columns.length), sources.join(', ')];
    });
    return table([{ label: 'Table' }, { label: 'Rows', isNumber: true },
        { label: 'Columns', isNumber: true }, { label: 'Read from' }], rows);
}

/* Entities that report their own problems. */
function problems(tables) {
    return tables.flatMap(one => one.keys.flatMap(key => Object.entries(key.texts)
        .filter(([name, text]) => /problem$/i.test(name) && text)
        .map(([, text]) => `${one.help}, ${key.label}: ${text}`)));
}

function missingList(model) {
    const { run, tables, axis } = model.data;
    const items = [];
    const empty = tables.filter(one => one.rows === 0);
    if (!run.is_complete)
        items.push('The run was still recording when this page was made, or it was cut off.');
    if (run.lost_samples > 0)
        items.push(`${digits(run.lost_samples)} samples could not be written.`);
    if (run.skipped_samples > 0 || run.skipped_bytes > 0)
        items.push(`${digits(run.skipped_bytes)} bytes of the journal are damaged; ` +
            `${digits(run.skipped_samples)} samples were lost.`);
    items.push(...problems(tables));
    if (empty.length > 0)
        items.push('Nothing was recorded for: ' + empty.map(one => one.help).join('; ') + '.');
    for (const one of tables.filter(other => other.absent.length > 0))
        items.push([`${one.help}: no value for `, ...one.absent.flatMap(({ name, title }, i) =>
            [i > 0 ? ', ' : '', make('span', { title: name }, title)]), '.']);
    items.push(axis.is_whole ? 'Charts show every sample.' :
        'Charts show the lowest and the highest value of each ' +
        duration(model.end / axis.count) +
        ', of the parts of a stack the mean; means on cards cover all samples. The journal has ' +
        'everything.');
    return make('ul', { class: 'pr-missing' }, items.map(item => make('li', {}, item)));
}

function originSection(model) {
    const list = estimates(model.data.energy);
    const modelled = list.filter(one => one.provenance !== 'measured');
    const measured = list.filter(one => one.provenance === 'measured');
    return section('origin', 'Measured, modelled, missing', null,
        make('h3', {}, 'Measured'), measuredTable(model.data.tables),
        measured.length ? estimateTable(measured) : null,
        make('h3', {}, 'Modelled and assumed'),
        modelled.length ? estimateTable(modelled) : make('p', {}, 'Nothing.'),
        make('p', { class: 'pr-note' }, 'Latency percentiles come from the buckets of the ' +
            'engine, estimated as Prometheus does; those of a card are of all requests in the ' +
            'selected time.'),
        model.data.merge ? make('p', { class: 'pr-note' }, 'Energy is that of the first rank.') :
            null,
        make('h3', {}, 'Missing'), missingList(model));
}

/* Flattens any value to lines "a.b.c: value". */
function flatten(value, path, into) {
    if (value === null || typeof value !== 'object')
        into.push([path, value === null ? null : String(value)]);
    else if (Array.isArray(value) && value.every(item => item === null || typeof item !== 'object'))
        into.push([path, value.join(' ')]);
    else
        Object.entries(value).forEach(([key, item]) =>
            flatten(item, path ? path + '.' + key : key, into));
    return into;
}

function machineSection(model) {
    if (!model.static)
        return null;
    const rows = flatten(model.static, '', [])
        .filter(([, value]) => value !== null && value !== '');
    return section('machine', 'Machine and settings', null, make('details', { class: 'pr-more' },
        make('summary', {}, `${rows.length} values`),
        table([{ label: 'Name' }, { label: 'Value' }], rows)));
}
