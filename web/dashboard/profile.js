/* A CPU profile of a process, started from this page and drawn as a flame graph. */
const POLL_MS = 1000;

class Profile {
    constructor() {
        const number = (label, value, most) => make('input', { type: 'number', min: 1, max: most,
            value, 'aria-label': label, required: true });
        this.pid = number('Process ID', null, 2 ** 31 - 1);
        this.seconds = number('Seconds', 10, 300);
        this.hz = number('Samples per second', 99, 999);
        this.button = make('button', { type: 'submit' }, 'Start');
        this.status = make('span', { class: 'pr-note', role: 'status' });
        this.graph = make('div', { class: 'pr-flame' });
        this.form = make('form', { class: 'pd-form', onsubmit: event => {
            event.preventDefault();
            this.start();
        } }, make('label', {}, 'Process', this.pid), make('label', {}, 'Seconds', this.seconds),
        make('label', {}, 'Hz', this.hz), this.button,
        make('button', { type: 'button', onclick: () => this.show() }, 'Show the latest'),
        this.status);
        this.element = section('profile', 'CPU profile', 'where a process spends its CPU time',
            this.form, this.graph);
    }

    choose(pid, name) {
        this.pid.value = pid;
        this.status.textContent = name || '';
        this.element.scrollIntoView();
        this.button.focus();
    }

    async start() {
        this.button.disabled = true;
        try {
            await ask(`api/profile/start?pid=${this.pid.value}&seconds=${this.seconds.value}` +
                `&hz=${this.hz.value}`, { method: 'POST', isAction: true });
            await this.wait();
            await this.show();
        } catch (error) {
            this.status.textContent = error.message;
        }
        this.button.disabled = false;
    }

    async wait() {
        for (;;) {
            const { is_running: isRunning, start, exit_code: code } = await askJson('api/profile');
            if (!isRunning && code !== 0)
                throw new Error(`the profile failed with code ${code} (see the log of the server)`);
            if (!isRunning)
                return;
            this.status.textContent =
                `running for ${Math.max(0, Math.round((Date.now() - start) / 1000))} s`;
            await new Promise(resolve => setTimeout(resolve, POLL_MS));
        }
    }

    /* The page of a flame graph contains its data. This page already has its scripts, and the
     * Content-Security-Policy forbids its style, so the page is not parsed as HTML. */
    async show() {
        try {
            const text = await (await ask('api/profile/latest?format=html')).text();
            const [, after] = text.split('<script id="flame-data" type="application/json">');
            const data = JSON.parse(after.slice(0, after.indexOf('</script>')));
            this.flame?.unmount();
            this.flame = window.pitotFlame.mount(this.graph, data);
            this.status.textContent = data.meta.command || '';
        } catch (error) {
            this.status.textContent = error.message;
        }
    }

    restyle() {
        this.flame?.applyTheme(theme.read());
    }
}
