/* The page: its parts in order, and their shared state. */
function eventList(model, view) {
    const { events, events_left_out: leftOut } = model.data;
    if (events.length === 0)
        return null;
    const rows = events.slice(0, 200).map(event => [
        make('button', { type: 'button', class: 'pr-link', onclick: () =>
            view.set(event.time - model.end / 20, event.time + model.end / 20) },
        elapsed(event.time, model.end / 1000)),
        make('span', { class: 'pr-kind pr-kind-' + event.kind }, event.kind), event.text]);
    const hidden = events.length - rows.length + leftOut;
    return section('events', 'Marks and events', hidden ? `${hidden} more are not listed` : null,
        table([{ label: 'Time' }, { label: 'Kind' }, { label: 'Text' }], rows));
}

function heading(model) {
    const { run, pitot } = model.data;
    const argv = model.static?.command?.argv;
    const isMachine = !run.subject || run.subject === 'the machine';
    const subject = isMachine ? 'the whole machine' : run.subject;
    const title = argv ? argv.join(' ') : subject[0].toUpperCase() + subject.slice(1);
    const host = model.static?.host?.hostname;
    const end = run.end || (run.is_complete ? null : 'still recording, or cut off');
    const facts = [host, new Date(run.start * 1000).toLocaleString(), duration(run.seconds),
        digits(run.samples) + ' samples', end, 'pitot ' + pitot].filter(Boolean);
    document.title = title.slice(0, 80) + ' – pitot';
    return make('header', { class: 'pr-header' }, make('div', {},
        make('h1', { title }, title), make('p', {}, facts.join(' · ')),
        make('p', { class: 'pr-uuid' }, run.uuid)));
}

async function start() {
    const root = document.getElementById('report');
    const model = await readReport();
    const view = new TimeWindow(model.end);
    const bar = new TimeBar(model, view);
    theme.apply(theme.read());
    const cards = new Cards(model, view);
    const flame = model.data.flame ? new Flame(model, view) : null;
    const heap = model.data.heap ? new Heap(model) : null;
    const spans = model.data.spans ? new SpanTimeline(model, view) : null;
    const sections = [
        rankSection(model), figureSection(model, view), eventList(model, view),
        flame?.element, heap?.element, spans?.element,
        ...model.data.tables.filter(one => one.columns.length > 0)
            .map(one => tableSection(model, view, one)),
        model.data.processes ? processSection(model) : null,
        originSection(model), machineSection(model),
    ].filter(Boolean);
    const restyle = () => {
        allCharts.forEach(chart => chart.restyle());
        bar.draw();
        cards.drawCurves();
        spans?.draw();
        flame?.restyle();
        heap?.restyle();
    };
    const head = heading(model);
    head.append(make('div', { class: 'pr-tools' }, search(root), themeButton(restyle)));
    root.replaceChildren(head, verdictPanel(model, view) || '', cards.element, bar.element,
        navigation(sections), ...sections);
    heap?.mount();
    flame?.mount();
    view.on('window', () => allCharts.forEach(chart => chart.isSeen && chart.show()));
    document.addEventListener('keydown', event => {
        if (event.key === 'Escape' && !event.target.closest?.('.pr-flame'))
            view.reset();
    });
    new ResizeObserver(() => allCharts.forEach(chart => chart.resize())).observe(root);
    window.pitotReport = { model, view, charts: allCharts, isReady: true };
}

start().catch(error => {
    document.getElementById('report').textContent = 'This report cannot be shown: ' + error.message;
    throw error;
});
