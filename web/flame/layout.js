/* The parts of the page around the graph. */
Object.assign(FlameGraph.prototype, {
    build() {
        this.root = make('div', { class: 'pf' });
        this.root.append(this.buildHeader(), this.buildToolbar(), this.buildFilters());
        if (this.model.end > 0)
            this.root.append(this.buildTimeline());
        if (this.model.timeline)
            this.root.append(this.buildLive());
        this.crumbs = make('nav', { class: 'pf-crumbs', 'aria-label': 'Zoom path' });
        this.root.append(this.crumbs, this.buildGraph(), this.buildDetail());
        if (this.model.growth.length > 0)
            this.root.append(this.buildGrowth());
        this.root.append(this.buildTable());
        this.host.replaceChildren(this.root);
    },

    buildHeader() {
        const meta = this.model.meta;
        const title = this.model.isDiff ? 'Difference of two profiles'
            : (this.model.data.title || 'cpu').replace(/^cpu$/, 'CPU') + ' profile';
        this.themeButton = make('button', { type: 'button', class: 'pf-button',
            onclick: () => this.nextTheme() });
        const facts = make('dl', { class: 'pf-facts' });
        for (const [name, value, isBad] of this.facts())
            facts.append(make('div', { class: isBad ? 'pf-bad' : '' }, make('dt', {}, name),
                make('dd', {}, value)));
        return make('header', { class: 'pf-header' },
            make('div', { class: 'pf-title' },
                make('h1', {}, title.charAt(0).toUpperCase() + title.slice(1)),
                this.themeButton),
            meta.command ? make('p', { class: 'pf-command' }, meta.command) : null, facts);
    },

    facts() {
        const meta = this.model.meta, facts = [];
        const share = (part, whole) => whole > 0 && part >= 0 ? percent(part, whole) : null;
        const add = (name, value, isBad) => value !== null && facts.push([name, value, isBad]);
        add('Method', meta.way || null);
        add('Rate', meta.rate_hz > 0 ? meta.rate_hz + '\u202fHz' : null);
        add('Duration', meta.duration_ns > 0 ? WRITE.nanoseconds(meta.duration_ns) : null);
        add('Samples', this.model.end > 0 ? grouped(meta.samples) : null);
        const threads = this.model.threads.length;
        add('Threads', threads > 0 ? grouped(threads) : null);
        add('Lost', meta.lost === null ? null : grouped(meta.lost),
            meta.lost > meta.samples / 100);
        add('Dropped', meta.dropped > 0 ? grouped(meta.dropped) : null, true);
        add('Complete stacks', share(meta.rooted, meta.unwound),
            meta.rooted < 0.9 * meta.unwound);
        add('Truncated stacks', meta.truncated > 0 ? share(meta.truncated, meta.unwound) : null);
        add('Python matched', share(meta.python_matched, meta.python_wanted),
            meta.python_matched < 0.9 * meta.python_wanted);
        if (meta.gil_known > 0)
            add('GIL', 'held in ' + share(meta.gil_held, meta.gil_known) +
                ' of samples inside Python, wanted by other threads in ' +
                share(meta.gil_contended, meta.gil_known));
        return facts;
    },

    buildToolbar() {
        const model = this.model;
        this.searchBox = make('input', { type: 'search', class: 'pf-search',
            placeholder: 'Search, or /regex/', 'aria-label': 'Search functions',
            spellcheck: 'false', oninput: () => this.search(this.searchBox.value) });
        this.searchResult = make('output', { class: 'pf-result', 'aria-live': 'polite' });
        const views = [['root', 'Callees', 'From the root down to the called functions'],
            ['leaf', 'Reverse', 'From the running functions up to their callers'],
            ['around', 'Sandwich', 'Callers and callees of one function']];
        this.viewButtons = views.map(([view, text, title]) => make('button', {
            type: 'button', title, 'data-view': view,
            onclick: () => this.setView(view) }, text));
        const tools = make('div', { class: 'pf-tools', role: 'toolbar',
            'aria-label': 'Flame graph' },
        make('div', { class: 'pf-searching' }, this.searchBox, this.searchResult),
        make('div', { class: 'pf-segments', role: 'group', 'aria-label': 'View' },
            ...this.viewButtons));
        if (model.types.length > 1) {
            const options = model.types.map((type, i) => [i, type.name]);
            const types = select(model.isDiff ? 'Width' : 'Value', options,
                value => this.setType(Number(value)));
            types.list.value = this.filter.type;
            this.typeList = types.list;
            tools.append(types.field);
        }
        if (model.threads.length > 1)
            tools.append(select('Group', [['', 'nothing'], ['process', 'process'],
                ['thread', 'thread']], value => this.setGroup(value)).field);
        if (!model.isDiff)
            tools.append(select('Colour', [['kind', 'kind'], ['module', 'module']],
                value => this.setColor(value)).field);
        tools.append(select('Root', [['', 'top'], ['up', 'bottom']],
            value => this.setUpward(value === 'up')).field,
        make('button', { type: 'button', class: 'pf-button', onclick: () => this.reset() },
            'Reset'));
        return tools;
    },

    buildFilters() {
        const line = make('div', { class: 'pf-filters' });
        this.addThreadMenu(line);
        const states = this.model.states.map((name, i) => i).filter(i => this.hasState(i));
        if (states.length > 1)
            line.append(this.chips('State', states, this.model.states, 'state-',
                (i, on) => this.setState(i, on)));
        const gils = GILS.map((name, i) => i).filter(i => this.model.gil.includes(i));
        if (gils.length > 1)
            line.append(this.chips('GIL', gils, GILS, 'gil-', (i, on) => this.setGil(i, on)));
        const kinds = this.model.kinds.map((name, i) => i)
            .filter(i => this.model.kind.includes(i));
        if (this.model.isDiff)
            line.append(this.diffLegend());
        else if (kinds.length > 0)
            line.append(this.chips('Frames', kinds, this.model.kinds, 'kind-',
                (i, on) => this.setKind(i, on)));
        /* Open on wide screens; the summary is visible on narrow screens only. */
        return make('details', { class: 'pf-fold', open: innerWidth > 700 },
            make('summary', {}, 'Filters'), line);
    },

    chips(title, numbers, names, prefix, change) {
        const group = make('div', { class: 'pf-chips', role: 'group', 'aria-label': title },
            make('span', { class: 'pf-chips-title' }, title));
        for (const i of numbers) {
            const name = `var(--pf-${prefix}${names[i]})`;
            group.append(chip(names[i], prefix === 'kind-' ? `hsl(${name})` : name,
                on => change(i, on)));
        }
        return group;
    },

    diffLegend() {
        const legend = make('div', { class: 'pf-legend' });
        for (const [color, text] of [['less', 'less than before'], ['same', 'as before'],
            ['more', 'more than before']]) {
            const swatch = make('i', { class: 'pf-swatch' });
            swatch.style.setProperty('background', `hsl(var(--pf-${color}))`);
            legend.append(make('span', {}, swatch, text));
        }
        legend.append(make('span', { class: 'pf-note' },
            'of the total; select width: before to see removed functions'));
        return legend;
    },

    hasState(state) {
        return this.model.state.includes(state);
    },

    addThreadMenu(line) {
        const { threads, thread } = this.model;
        if (threads.length < 2)
            return;
        const counts = new Array(threads.length).fill(0);
        thread.forEach(t => t >= 0 && counts[t]++);
        const rows = threads.map((t, i) => i).sort((l, r) => counts[r] - counts[l]);
        this.threadBoxes = new Map();
        const list = make('div', { class: 'pf-threads' });
        for (const i of rows) {
            const box = make('input', { type: 'checkbox', checked: true,
                onchange: () => this.setThreads(n => n === i ? box.checked : null) });
            this.threadBoxes.set(i, box);
            list.append(make('div', { class: 'pf-thread' },
                make('label', {}, box, make('span', {}, threads[i].name || '[unnamed]'),
                    make('small', {}, `${threads[i].pid}/${threads[i].tid}`),
                    make('small', {}, percent(counts[i], this.model.sampleCount))),
                make('button', { type: 'button', class: 'pf-only',
                    onclick: () => this.setThreads(n => n === i) }, 'only')));
        }
        this.threadSummary = make('summary', {}, 'Threads');
        line.append(make('details', { class: 'pf-menu' }, this.threadSummary,
            make('div', { class: 'pf-menu-body' },
                make('div', { class: 'pf-menu-buttons' },
                    make('button', { type: 'button', class: 'pf-button',
                        onclick: () => this.setThreads(() => true) }, 'All'),
                    make('button', { type: 'button', class: 'pf-button',
                        onclick: () => this.setThreads(() => false) }, 'None')), list)));
    },

    buildTimeline() {
        this.timeCanvas = make('canvas', { class: 'pf-time-canvas', 'aria-hidden': 'true' });
        const field = (text, side) => {
            const input = make('input', { type: 'number', step: 'any', min: 0,
                'aria-label': text + ' second',
                onchange: () => this.setTimeSide(side, Number(input.value)) });
            return input;
        };
        this.fromBox = field('First', 'from');
        this.toBox = field('Last', 'to');
        this.wholeButton = make('button', { type: 'button', class: 'pf-button',
            onclick: () => this.setTime(0, this.model.end) }, 'Whole time');
        this.timeNote = make('span', { class: 'pf-note' }, 'drag over the timeline to select');
        return make('section', { class: 'pf-time', 'aria-label': 'Time filter' },
            this.timeCanvas, make('div', { class: 'pf-time-fields' },
                make('label', {}, 'from ', this.fromBox, ' s'),
                make('label', {}, 'to ', this.toBox, ' s'), this.wholeButton, this.timeNote));
    },

    buildGraph() {
        this.canvas = make('canvas', { 'aria-hidden': 'true' });
        this.spacer = make('div', { class: 'pf-spacer' }, this.canvas);
        this.scroller = make('div', { class: 'pf-graph', tabindex: 0, role: 'application',
            'aria-roledescription': 'flame graph', 'aria-describedby': this.keysId,
            'aria-label': 'Flame graph' }, this.spacer);
        this.empty = make('p', { class: 'pf-empty', hidden: true });
        this.tip = make('div', { class: 'pf-tip', hidden: true });
        return make('section', { class: 'pf-frame', 'aria-label': 'Graph' }, this.scroller,
            this.empty, this.tip);
    },

    buildDetail() {
        this.detailText = make('div', { class: 'pf-detail-text', 'aria-live': 'polite' });
        const action = (text, act) => make('button', { type: 'button', class: 'pf-button',
            onclick: () => this.selected && act(this.selected) }, text);
        this.detailButtons = make('div', { class: 'pf-detail-buttons', hidden: true },
            action('Zoom', at => this.zoomTo(at.part, at.node)),
            action('Callers and callees', at => this.sandwich(this.labelAt(at))),
            action('Search', at => this.searchFor(this.nameOf(this.labelAt(at)))));
        return make('div', { class: 'pf-detail' }, this.detailText, this.detailButtons,
            make('p', { class: 'pf-keys', id: this.keysId },
                'Click or Enter zooms, Escape goes back, arrows move, / searches, ' +
                'r reverses, s shows callers and callees'));
    },

    buildTable() {
        const columns = this.model.isDiff
            ? [['name', 'Function'], ['before', 'Before'], ['after', 'After'],
                ['change', 'Change'], ['selfChange', 'Self change']]
            : [['name', 'Function'], ['self', 'Self'], ['selfShare', '%'], ['total', 'Total'],
                ['totalShare', '%']];
        this.headers = columns.map(([by, text]) => {
            const percentOf = by === 'selfShare' ? 'Self' : 'Total';
            const label = text === '%' ? percentOf + ' percent' : text;
            return make('th', { scope: 'col', 'data-by': by }, make('button', { type: 'button',
                'aria-label': 'Sort by ' + label, onclick: () => this.sortBy(by) }, text));
        });
        this.tableBody = make('tbody');
        this.moreButton = make('button', { type: 'button', class: 'pf-button',
            onclick: () => this.showMore() }, 'Show more');
        this.tableTitle = make('h2', {}, 'Functions');
        return make('section', { class: 'pf-table', 'aria-label': 'Functions' },
            this.tableTitle, make('table', { class: this.model.isDiff ? '' : 'pf-values' },
                make('thead', {}, make('tr', {},
                ...this.headers)), this.tableBody), this.moreButton);
    },
});
