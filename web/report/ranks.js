/* A merged run: its ranks, how their clocks are aligned, and the stragglers. */
function clockText(clock) {
    if (clock.method === 'reference')
        return 'reference: the others are aligned to it';
    if (clock.method === 'same boot')
        return 'the same clock';
    return clock.error_ns === null ? 'by wall clocks, error unknown' :
        `by ${clock.events} events, within ${digits(clock.error_ns / 1e6)}${THIN}ms`;
}

function rankTable(runs) {
    return table([{ label: 'Rank' }, { label: 'Host' }, { label: 'Samples', isNumber: true },
        { label: 'Time', isNumber: true }, { label: 'Clock' }],
    runs.map(run => [run.label, run.host, digits(run.samples), duration(run.seconds),
        clockText(run.clock)]));
}

function stragglerTable(list) {
    if (list.length === 0)
        return make('p', { class: 'pr-note' },
            'No span occurs in several ranks, so their steps cannot be compared.');
    const columns = [{ label: 'Span' }, { label: 'Steps', isNumber: true },
        { label: 'Median', isNumber: true }, { label: 'Slowest rank' },
        { label: 'Of steps', isNumber: true }, { label: 'Pace', isNumber: true },
        { label: 'Lost', isNumber: true }, { label: '' }];
    const rows = list.map(one => [one.name + (one.is_collective ? ' (collective)' : ''),
        digits(one.steps), write(one.median, 'seconds', false), one.rank,
        `${digits(100 * one.slowest_share)}${THIN}%`, one.pace.toFixed(2),
        write(one.lost, 'seconds', false), one.is_straggler ?
            make('span', { class: 'pr-kind' }, 'straggler') : null]);
    return make('div', {}, table(columns, rows), make('p', { class: 'pr-note' },
        'Pace is the time of the slowest rank divided by the median of the others. In a ' +
        'collective operation the slowest rank is the one that waits least, and its pace is ' +
        'below 1. Lost is the total time by which the slowest rank of each step was behind.'));
}

function rankSection(model) {
    const { merge, stragglers } = model.data;
    if (!merge)
        return null;
    const { runs } = JSON.parse(merge);
    const machines = new Set(runs.map(run => run.boot_id ?? run.host ?? run.label)).size;
    const about = `${runs.length} runs on ${machines} machine${machines === 1 ? '' : 's'}; cards ` +
        'and key figures cover all of them, with each machine counted once';
    return section('ranks', 'Ranks', about, rankTable(runs), make('h3', {}, 'Stragglers'),
        stragglerTable(stragglers));
}
