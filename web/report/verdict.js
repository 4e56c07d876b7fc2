/* The bottleneck of the run, if one was found. */
const STATUS_WORDS = {
    nothing: 'No bottleneck found.',
    inconclusive: 'Inconclusive',
};

function verdictItem(view, verdict) {
    const [first] = verdict.signals;
    const where = first && make('button', { type: 'button', class: 'pr-link', onclick: () =>
        view.set(first.from, first.to) }, 'show in charts');
    const numbers = verdict.signals.map(signal => make('li', {}, make('b', {}, signal.text),
        ` ${signal.what} `, make('code', {}, signal.metric)));
    const share = verdict.is_event ? '' : `${digits(100 * verdict.share)}${THIN}% of the run, `;
    return make('li', {}, make('b', {}, verdict.title), ' ',
        make('span', { class: 'pr-kind' }, verdict.id),
        verdict.entity ? ' ' + verdict.entity : null,
        make('p', {}, `${share}confidence ${digits(100 * verdict.confidence)}${THIN}%. `, where),
        make('ul', {}, numbers),
        verdict.against.length ? make('p', {}, 'Against: ' + verdict.against.join('; ') + '.') :
            null,
        verdict.where ? make('p', {}, 'Where: ', make('code', {}, verdict.where)) : null,
        make('p', {}, verdict.advice));
}

function verdictPanel(model, view) {
    const explanation = model.data.explanation;
    if (!explanation)
        return null;
    const { status, because, verdicts } = explanation;
    const words = status === 'bound' ? verdicts[0].title :
        STATUS_WORDS[status] + (because ? `: ${because}` : '');
    return make('section', { class: 'pr-verdict', 'aria-label': 'Verdict' },
        make('h2', {}, words),
        verdicts.length ? make('details', {}, make('summary', {}, 'Why, and what to do'),
            make('ol', {}, verdicts.map(verdict => verdictItem(view, verdict)))) : null);
}
