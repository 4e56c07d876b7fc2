/* The bar that stays on top: connection state, time range, filter. */
class Bar {
    constructor(page) {
        this.page = page;
        this.state = make('span', { class: 'pd-state', role: 'status' }, 'connecting');
        this.part = make('output', { class: 'pd-part' });
        this.pause = make('button', { type: 'button', class: 'pd-pause',
            onclick: () => page.view.toggle() });
        this.ranges = RANGES.map(range => ({ ...range, button: make('button', { type: 'button',
            onclick: () => page.view.setRange(range.ms) }, range.label) }));
        this.element = make('div', { class: 'pd-bar' }, this.state,
            make('div', { class: 'pd-ranges', role: 'group', 'aria-label': 'Time range' },
                this.ranges.map(range => range.button)), this.pause, this.part,
            make('div', { class: 'pr-tools' }, page.search, page.themeButton,
                make('button', { type: 'button', 'aria-label': 'Keys',
                    onclick: () => page.help.showModal() }, '?')));
        page.view.on(() => this.show());
        this.show();
    }

    show() {
        const { view } = this.page;
        this.pause.textContent = view.fixed ? 'Resume' : 'Pause';
        this.part.textContent = view.fixed ? partText(view.fixed) : '';
        for (const { ms, button } of this.ranges)
            button.setAttribute('aria-pressed', String(!view.fixed && ms === view.range));
    }

    say(name, text) {
        this.state.dataset.state = name;
        setText(this.state, text);
    }
}
