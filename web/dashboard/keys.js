/* Keyboard shortcuts; `?` shows this list. */
const KEYS = [
    { keys: ['?'], text: 'show the keys', act: page => page.help.showModal() },
    { keys: ['/'], text: 'filter charts' }, // web/common/search.js
    { keys: [' ', 'p'], name: 'Space, p', text: 'pause, resume', act: page => page.view.toggle() },
    ...RANGES.map((range, i) => ({ keys: [String(i + 1)], text: 'show the last ' + range.label,
        act: page => page.view.setRange(range.ms) })),
    { keys: ['ArrowLeft'], name: '←', text: 'earlier', act: page => page.view.move(-0.25) },
    { keys: ['ArrowRight'], name: '→', text: 'later', act: page => page.view.move(0.25) },
    { keys: ['+', '='], name: '+', text: 'shorter range', act: page => page.view.zoom(0.5) },
    { keys: ['-'], text: 'longer range', act: page => page.view.zoom(2) },
    { keys: ['Escape'], name: 'Esc', text: 'back to now', act: page => page.view.resume() },
    { keys: [']'], text: 'next section', act: page => page.goTo(1) },
    { keys: ['['], text: 'previous section', act: page => page.goTo(-1) },
    { keys: ['t'], text: 'theme', act: page => page.themeButton.click() },
];

function helpDialog() {
    const dialog = make('dialog', { class: 'pd-dialog', 'aria-label': 'Keys' },
        make('h2', {}, 'Keys'),
        make('table', {}, KEYS.map(({ keys, name, text }) => make('tr', {},
            make('td', {}, make('kbd', {}, name || keys[0])), make('td', {}, text)))),
        make('p', { class: 'pr-note' },
            'Drag over a chart to select a time range; double-click to return to now.'),
        make('form', { method: 'dialog', class: 'pd-buttons' }, make('button', {}, 'Close')));
    document.body.append(dialog);
    return dialog;
}

function watchKeys(page) {
    document.addEventListener('keydown', event => {
        const isElsewhere = event.target.closest?.('input, select, dialog, .pr-flame') ||
            event.ctrlKey || event.metaKey || event.altKey;
        const isButton = event.key === ' ' && event.target.closest?.('button, a, summary');
        const key = KEYS.find(one => one.keys.includes(event.key));
        if (isElsewhere || isButton || !key?.act)
            return;
        key.act(page);
        event.preventDefault();
    });
}
