/* A CPU profile of a process, started from here and drawn as a flame graph. */
const POLL_MS = 1000;

class Profile {
    constructor() {
        const number = (label, value, most) => make('input', { type: 'number', min: 1, max: most,
            value, 'aria-label': label, required: true });
        this.pid = number('Process id', null, 2 ** 31 - 1);
        this.seconds = number('Seconds', 10, 300);
        this.hz = number('Samples a second', 99, 999);
        this.button = make('button', { type: 'submit' }, 'Start');
        this.status = make('span', { class: 'pr-note', role: 'status' });
        this.graph = make('div', { class: 'pr-flame' });
        this.form = make('form', { class: 'pd-form', onsubmit: event => {
            event.preventDefault();
            this.start();
        } }, make('label', {}, 'Process', this.pid), make('label', {}, 'Seconds', this.seconds),
        make('label', {}, 'Hz', this.hz), this.button,
        make('button', { type: 'button', onclick: () => this.show() }, 'Show the last one'),
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
                throw new Error(`it failed with code ${code}; the log of the server says why`);
            if (!isRunning)
                return;
            this.status.textContent =
                `running for ${Math.max(0, Math.round((Date.now() - start) / 1000))} s`;
            await new Promise(resolve => setTimeout(resolve, POLL_MS));
        }
    }

    /* The page of a flame graph has its data in it; its scripts are in this page already, and its
     * style would be against the policy of this page, so it is not parsed as a page. */
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
