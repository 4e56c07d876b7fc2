/* The flame graph of a CPU profile of the run, for the selected window. */
class Flame {
    constructor(model, view) {
        this.model = model;
        this.view = view;
        this.place = make('div', { class: 'pr-flame' });
        this.element = section('flame', 'Flame graph', 'CPU time by call stack', this.place);
        view.on('window', () => this.follow());
    }

    /* It measures its element, which must be on the page. */
    mount() {
        this.graph = window.pitotFlame.mount(this.place, this.model.data.flame.data);
    }

    follow() {
        const { offset } = this.model.data.flame;
        const stepsPerSecond = 1e9 / this.graph.model.step, { end } = this.graph.model;
        const at = time => Math.max(0, Math.min((time - offset) * stepsPerSecond, end));
        if (this.view.isWhole)
            this.graph.setTime(0, end);
        else
            this.graph.setTime(at(this.view.from), at(this.view.to));
    }

    restyle() {
        this.graph?.applyTheme(theme.read());
    }
}

/* The heap profile: of the whole run, independent of the selected window. */
class Heap {
    constructor(model) {
        this.data = model.data.heap.data;
        this.place = make('div', { class: 'pr-flame' });
        this.element = section('heap', 'Heap', 'Memory by call stack, whole run',
            this.place);
    }

    mount() {
        this.graph = window.pitotFlame.mount(this.place, this.data);
    }

    restyle() {
        this.graph?.applyTheme(theme.read());
    }
}
