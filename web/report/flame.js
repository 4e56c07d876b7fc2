/* The flame graph of a profile that was taken meanwhile, of the window that is shown. */
class Flame {
    constructor(model, view) {
        this.model = model;
        this.view = view;
        this.place = make('div', { class: 'pr-flame' });
        this.element = section('flame', 'Flame graph', 'CPU time by stack of calls', this.place);
        view.on('window', () => this.follow());
    }

    /* It measures the place where it is drawn, which must be on the page. */
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

/* What was allocated: of the whole run, whatever part of it is shown. */
class Heap {
    constructor(model) {
        this.data = model.data.heap.data;
        this.place = make('div', { class: 'pr-flame' });
        this.element = section('heap', 'Heap', 'Memory by stack of calls, of the whole run',
            this.place);
    }

    mount() {
        this.graph = window.pitotFlame.mount(this.place, this.data);
    }

    restyle() {
        this.graph?.applyTheme(theme.read());
    }
}
