/* Recorded runs, with their reports. */
class Runs {
    constructor() {
        this.body = make('div', {});
        this.element = section('runs', 'Recorded runs', null, this.body);
    }

    async load() {
        try {
            this.show(await askJson('api/runs'));
        } catch (error) {
            this.body.replaceChildren(make('p', { class: 'pr-note' }, error.message));
        }
    }

    show({ runs, count, note: why }) {
        const note = count > runs.length ? make('p', { class: 'pr-note' },
            `The newest ${runs.length} of ${count}.`) : '';
        this.body.replaceChildren(runs.length === 0 ?
            make('p', { class: 'pr-note' }, why ?? 'No runs yet.') :
            table([{ label: 'Start' }, { label: 'Command' }, { label: 'Host' },
                { label: 'Size', isNumber: true }, { label: 'Report' }], runs.map(run =>
                [new Date(run.start ?? run.modified).toLocaleString(), run.command, run.host,
                    write(run.bytes, 'bytes', false), this.link(run)])), note);
    }

    /* A link cannot carry a token: with a token the page is fetched and saved. */
    link(run) {
        const address = 'api/report?run=' + encodeURIComponent(run.id);
        if (!token.value)
            return make('a', { href: address, target: '_blank', rel: 'noopener' }, 'open');
        const button = make('button', { type: 'button', class: 'pr-link', onclick: async () => {
            try {
                save(await (await ask(address)).blob(), run.id + '.html');
            } catch (error) {
                button.replaceWith(error.message);
            }
        } }, 'save');
        return button;
    }
}

function save(blob, name) {
    const address = URL.createObjectURL(blob);
    make('a', { href: address, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(address), 60000);
}
