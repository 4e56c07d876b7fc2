/* Requests to the server, and its stream. */
const BACK_OFF_MOST_MS = 15000, SILENCE_MOST_MS = 25000; // the server sends something every 10 s

/* Kept until the tab is closed. */
const token = {
    value: readStored('pitot-token'),
    keep(value) {
        this.value = value;
        try {
            sessionStorage.setItem('pitot-token', value);
        } catch {
            /* the token then applies to this page only */
        }
    },
};

function readStored(name) {
    try {
        return sessionStorage.getItem(name) || '';
    } catch {
        return '';
    }
}

/* Asks for the token in a dialog; null: cancelled. */
function askForToken(reason) {
    const field = make('input', { type: 'password', autocomplete: 'off', required: true,
        'aria-label': 'Token' });
    const dialog = make('dialog', { class: 'pd-dialog' }, make('form', { method: 'dialog' },
        make('h2', {}, 'Token'), make('p', {}, reason), field,
        make('div', { class: 'pd-buttons' },
            make('button', { type: 'button', onclick: () => dialog.close() }, 'Cancel'),
            make('button', { type: 'submit', value: 'ok' }, 'OK'))));
    document.body.append(dialog);
    dialog.showModal();
    return new Promise(resolve => dialog.addEventListener('close', () => {
        dialog.remove();
        resolve(dialog.returnValue === 'ok' ? field.value : null);
    }));
}

let tokenQuestion = null; // several requests may need it at once; the user is asked once

async function obtainToken(reason) {
    tokenQuestion ||= askForToken(reason).finally(() => {
        tokenQuestion = null;
    });
    const given = await tokenQuestion;
    if (given === null)
        throw new Error('a token is needed');
    token.keep(given);
}

/* The response, or an error with the server's message. `isAction`: always needs a token. */
async function ask(path, { isAction, ...options } = {}) {
    if (isAction && !token.value)
        await obtainToken('Starting an action needs the token in the --token-file of the server.');
    for (;;) {
        const headers = token.value ? { Authorization: 'Bearer ' + token.value } : {};
        const response = await fetch(path, { ...options, headers, cache: 'no-store' });
        if (response.ok)
            return response;
        if (response.status !== 401)
            throw new Error(await errorOf(response));
        await obtainToken(token.value ? 'The token is wrong.' :
            'The server needs the token in its --token-file.');
    }
}

async function errorOf(response) {
    const text = await response.text();
    try {
        return JSON.parse(text).error;
    } catch {
        return text.trim() || response.statusText;
    }
}

const askJson = async (path, options) => (await ask(path, options)).json();

/* Server-sent events by fetch(), because EventSource cannot send a token. Reconnects after 1, 2, 4,
 * ... seconds.
 * `onevent(name, text)`; `onopen()` before the first; `onlost(seconds until the next try)`. */
class Stream {
    constructor(path, { onevent, onopen, onlost }) {
        Object.assign(this, { path, onevent, onopen, onlost });
        this.waitMs = 0;
        window.addEventListener('online', () => this.wake?.());
    }

    async run() {
        for (;;) {
            try {
                await this.connect();
            } catch (error) {
                this.error = error;
            }
            this.waitMs = Math.min(BACK_OFF_MOST_MS, this.waitMs * 2 || 1000);
            this.onlost(Math.round(this.waitMs / 1000));
            await new Promise(resolve => {
                this.wake = resolve;
                setTimeout(resolve, this.waitMs);
            });
        }
    }

    async connect() {
        const stop = new AbortController();
        const watch = { timer: 0 };
        try {
            const response = await ask(this.path, { signal: stop.signal });
            await this.onopen();
            await this.read(response.body.getReader(), () => {
                clearTimeout(watch.timer);
                watch.timer = setTimeout(() => stop.abort(), SILENCE_MOST_MS);
            });
        } finally {
            clearTimeout(watch.timer);
            stop.abort();
        }
    }

    async read(reader, onbytes) {
        const decoder = new TextDecoder();
        let text = '';
        for (;;) {
            onbytes();
            const { done, value } = await reader.read();
            if (done)
                return;
            text += decoder.decode(value, { stream: true });
            const messages = text.split('\n\n');
            text = messages.pop();
            messages.forEach(message => this.take(message));
        }
    }

    take(message) {
        let name = 'message', data = '';
        for (const line of message.split('\n')) {
            if (line.startsWith('event: '))
                name = line.slice(7);
            else if (line.startsWith('data: '))
                data += line.slice(6);
        }
        if (data === '')
            return;
        this.waitMs = 0;
        this.onevent(name, data);
    }
}
