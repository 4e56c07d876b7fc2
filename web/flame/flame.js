/* An interactive flame graph, without dependencies.
 *
 *     const graph = pitotFlame.mount(element, data);
 *
 * docs/PROFILES.md describes `data`. A profile is samples; each has a node of the tree of calls, a
 * time, a thread and a state. Every filter adds the samples up anew, so that a graph of one second
 * of one thread is as exact as that of the whole. */
(function () {
    'use strict';

    const ROW = 20; // height of a box, in pixels
    const FONT = '12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
    const NARROWEST = 0.5; // a narrower box is not drawn
    const TABLE_STEP = 50;
    const PRINT_ROWS = 120;

    /* ---- data ---- */

    const ARRAYS = { u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, i32: Int32Array,
        f64: Float64Array };

    function column(c) {
        if (c.data === undefined)
            return new Float64Array(c.count).fill(c.value);
        const text = atob(c.data);
        const bytes = new Uint8Array(text.length);
        for (let i = 0; i < text.length; i++)
            bytes[i] = text.charCodeAt(i);
        return new ARRAYS[c.type](bytes.buffer);
    }

    function decode(data) {
        if (data.format !== 'pitot-flame' || data.version !== 1)
            throw new Error('this is no flame graph of version 1');
        const model = {
            data, meta: data.meta, types: data.types, kinds: data.kinds, states: data.states,
            threads: data.threads, names: data.labels.names, isDiff: data.diff === true,
            kind: column(data.labels.kind), module: column(data.labels.module),
            file: column(data.labels.file), line: column(data.labels.line),
            parent: column(data.nodes.parent), label: column(data.nodes.label),
            time: column(data.samples.time), thread: column(data.samples.thread),
            state: column(data.samples.state), node: column(data.samples.node),
            values: data.samples.values.map(column),
        };
        model.sampleCount = model.node.length;
        model.isTopmost = findTopmost(model);
        model.end = model.time.reduce((most, t) => Math.max(most, t), 0);
        model.step = data.samples.time_step_ns;
        return model;
    }

    /* Of the nodes of one function on a path only the first counts for its total. */
    function findTopmost(model) {
        const { parent, label } = model;
        const topmost = new Uint8Array(parent.length);
        for (let i = 0; i < parent.length; i++) {
            let above = parent[i];
            while (above >= 0 && label[above] !== label[i])
                above = parent[above];
            topmost[i] = above < 0 ? 1 : 0;
        }
        return topmost;
    }

    /* ---- numbers for people ---- */

    function grouped(n) {
        return Math.round(n).toString().replace(/\B(?=(\d{3})+$)/g, '\u202f');
    }

    function scaled(n, units, base) {
        let i = 0;
        while (Math.abs(n) >= base && i < units.length - 1) {
            n /= base;
            i++;
        }
        const digits = i === 0 || Math.abs(n) >= 100 ? 0 : Math.abs(n) >= 10 ? 1 : 2;
        return n.toFixed(digits) + '\u202f' + units[i];
    }

    const WRITE = {
        samples: n => grouped(n) + (n === 1 ? ' sample' : ' samples'),
        nanoseconds: n => n < 1e9 ? scaled(n, ['ns', 'µs', 'ms', 's'], 1000)
            : (n / 1e9).toFixed(2) + '\u202fs',
        bytes: n => scaled(n, ['B', 'KiB', 'MiB', 'GiB', 'TiB'], 1024),
    };

    function percent(part, whole) {
        if (!(whole > 0))
            return '–';
        const share = 100 * part / whole;
        const digits = Math.abs(share) >= 10 || share === 0 ? 1 : 2;
        return share.toFixed(digits) + '\u202f%';
    }

    function signed(text, value) {
        return value > 0 ? '+' + text : text;
    }

    function baseName(path) {
        return path.slice(path.lastIndexOf('/') + 1);
    }

    /* ---- trees ---- */

    /* A tree that grows by walking: child(node, label) finds or makes. Node 0 is the root. Nodes
     * have two values in a difference: `a` is what widths show, `b` the other. */
    class Tree {
        constructor(rootLabel, labelSpace) {
            this.space = labelSpace;
            this.index = new Map();
            this.parent = [-1];
            this.label = [rootLabel];
            this.a = [0];
            this.b = [0];
            this.selfA = null;
        }

        child(node, label) {
            const key = node * this.space + label;
            let found = this.index.get(key);
            if (found === undefined) {
                found = this.parent.length;
                this.index.set(key, found);
                this.parent.push(node);
                this.label.push(label);
                this.a.push(0);
                this.b.push(0);
            }
            return found;
        }

        /* Values so far are those of the nodes themselves: adds children to parents and places
         * all: heavy ones left. */
        finish() {
            const count = this.parent.length;
            this.selfA = this.a.slice();
            for (let i = count - 1; i > 0; i--) {
                this.a[this.parent[i]] += this.a[i];
                this.b[this.parent[i]] += this.b[i];
            }
            this.children = Array.from({ length: count }, () => []);
            for (let i = 1; i < count; i++)
                this.children[this.parent[i]].push(i);
            this.x = new Float64Array(count);
            this.depth = new Int32Array(count);
            this.height = 1;
            for (let i = 0; i < count; i++)
                this.place(i);
            return this;
        }

        place(node) {
            const children = this.children[node];
            children.sort((l, r) => this.a[r] - this.a[l] || this.label[l] - this.label[r]);
            let x = this.x[node];
            for (const child of children) {
                this.x[child] = x;
                this.depth[child] = this.depth[node] + 1;
                x += this.a[child];
            }
            if (children.length > 0 && this.a[node] > 0)
                this.height = Math.max(this.height, this.depth[node] + 2);
        }

        path(node) {
            const path = [];
            for (; node >= 0; node = this.parent[node])
                path.unshift(node);
            return path;
        }
    }

    /* What passes the filters, added up by group and node: { group, node, a, b }. */
    function addUp(model, filter, group) {
        const a = model.values[filter.type];
        const b = model.isDiff ? model.values[1 - filter.type] : null;
        const sums = new Map();
        for (let i = 0; i < model.sampleCount; i++) {
            if (!passes(model, filter, i))
                continue;
            const thread = model.thread[i];
            const key = (group ? group[thread + 1] : 0) * (model.parent.length + 1) +
                model.node[i] + 1;
            let sum = sums.get(key);
            if (!sum)
                sums.set(key, sum = { group: group ? group[thread + 1] : 0, node: model.node[i],
                    a: 0, b: 0 });
            sum.a += a[i];
            if (b)
                sum.b += b[i];
        }
        return [...sums.values()];
    }

    function passes(model, filter, i) {
        return filter.states[model.state[i]] && filter.threads[model.thread[i] + 1] &&
            model.time[i] >= filter.from && model.time[i] <= filter.to;
    }

    function isShown(model, filter, node) {
        return filter.kinds[model.kind[model.label[node]]];
    }

    /* From the root down. */
    function treeFromRoot(model, filter, sums, space) {
        const tree = new Tree(-1, space);
        const mapped = new Map(); // node of the model -> node of the tree, within a group
        let lastGroup = null;
        sums.sort((l, r) => l.group - r.group);
        for (const sum of sums) {
            if (sum.group !== lastGroup)
                mapped.clear();
            lastGroup = sum.group;
            const top = filter.groups ? tree.child(0, model.names.length + sum.group) : 0;
            const at = mapNode(model, filter, tree, mapped, sum.node, top);
            tree.a[at] += sum.a;
            tree.b[at] += sum.b;
        }
        return tree.finish();
    }

    function mapNode(model, filter, tree, mapped, node, top) {
        const waiting = [];
        while (node >= 0 && !mapped.has(node)) {
            waiting.push(node);
            node = model.parent[node];
        }
        let at = node >= 0 ? mapped.get(node) : top;
        while (waiting.length > 0) {
            node = waiting.pop();
            if (isShown(model, filter, node))
                at = tree.child(at, model.label[node]);
            mapped.set(node, at);
        }
        return at;
    }

    /* From the leaf up: what was running, below it who called it. */
    function treeFromLeaf(model, filter, sums, space) {
        const tree = new Tree(-1, space);
        for (const sum of sums) {
            let at = filter.groups ? tree.child(0, model.names.length + sum.group) : 0;
            for (let node = sum.node; node >= 0; node = model.parent[node])
                if (isShown(model, filter, node))
                    at = tree.child(at, model.label[node]);
            tree.a[at] += sum.a;
            tree.b[at] += sum.b;
        }
        return tree.finish();
    }

    /* The callers and the callees of one function, wherever it was called from. */
    function treesAround(model, filter, sums, space, label) {
        const callers = new Tree(label, space), callees = new Tree(label, space);
        for (const sum of sums) {
            const below = [];
            let top = -1;
            for (let node = sum.node; node >= 0; node = model.parent[node])
                if (model.label[node] === label)
                    top = node;
            if (top < 0)
                continue;
            for (let node = sum.node; node !== top; node = model.parent[node])
                below.push(node);
            let at = 0;
            while (below.length > 0) {
                const node = below.pop();
                if (isShown(model, filter, node))
                    at = callees.child(at, model.label[node]);
            }
            callees.a[at] += sum.a;
            callees.b[at] += sum.b;
            at = 0;
            for (let node = model.parent[top]; node >= 0; node = model.parent[node])
                if (isShown(model, filter, node))
                    at = callers.child(at, model.label[node]);
            callers.a[at] += sum.a;
            callers.b[at] += sum.b;
        }
        return { callers: callers.finish(), callees: callees.finish() };
    }

    /* Self and total of every function. What a hidden frame has itself is its caller's. */
    function functionsOf(model, filter, sums) {
        const count = model.parent.length;
        const a = new Float64Array(count), b = new Float64Array(count);
        const rows = model.names.map((name, label) =>
            ({ label, self: 0, total: 0, selfB: 0, totalB: 0 }));
        for (const sum of sums) {
            let node = sum.node;
            while (node >= 0 && !isShown(model, filter, node))
                node = model.parent[node];
            if (node < 0)
                continue;
            a[node] += sum.a;
            b[node] += sum.b;
            rows[model.label[node]].self += sum.a;
            rows[model.label[node]].selfB += sum.b;
        }
        for (let i = count - 1; i >= 0; i--) {
            if (model.parent[i] >= 0) {
                a[model.parent[i]] += a[i];
                b[model.parent[i]] += b[i];
            }
            if (model.isTopmost[i]) {
                rows[model.label[i]].total += a[i];
                rows[model.label[i]].totalB += b[i];
            }
        }
        return rows.filter(row => (row.total !== 0 || row.totalB !== 0) &&
            filter.kinds[model.kind[row.label]]);
    }

    /* ---- search ---- */

    /* Text, or a regular expression between slashes. Null: nothing is looked for. */
    function matcher(text) {
        const expression = /^\/(.+)\/$/.exec(text);
        if (!text)
            return null;
        if (expression) {
            try {
                const regex = new RegExp(expression[1], 'i');
                return name => regex.test(name);
            } catch {
                return () => false;
            }
        }
        const wanted = text.toLowerCase();
        return name => name.toLowerCase().includes(wanted);
    }

    /* How much runs in or below a function that matches, counted once. */
    function matchedShare(model, sums, isMatch) {
        const below = new Uint8Array(model.parent.length);
        for (let i = 0; i < below.length; i++)
            below[i] = isMatch[model.label[i]] ||
                (model.parent[i] >= 0 && below[model.parent[i]]) ? 1 : 0;
        let matched = 0, all = 0;
        for (const sum of sums) {
            all += sum.a;
            if (sum.node >= 0 && below[sum.node])
                matched += sum.a;
        }
        return { matched, all };
    }

    /* ---- elements ---- */

    function make(tag, properties, ...children) {
        const element = document.createElement(tag);
        for (const [key, value] of Object.entries(properties || {})) {
            if (key.startsWith('on'))
                element.addEventListener(key.slice(2), value);
            else if (key === 'class')
                element.className = value;
            else if (value !== null && value !== undefined && value !== false)
                element.setAttribute(key, value === true ? '' : value);
        }
        element.append(...children.filter(child => child !== null && child !== undefined));
        return element;
    }

    function select(label, options, onchange) {
        const list = make('select', { onchange: () => onchange(list.value), 'aria-label': label });
        for (const [value, text] of options)
            list.append(make('option', { value }, text));
        return { list, field: make('label', { class: 'pf-field' }, make('span', {}, label), list) };
    }

    function chip(text, color, onchange) {
        const box = make('input', { type: 'checkbox', checked: true,
            onchange: () => onchange(box.checked) });
        const swatch = make('i', { class: 'pf-swatch', 'aria-hidden': 'true' });
        swatch.style.setProperty('background', color);
        return make('label', { class: 'pf-chip' }, box, swatch, text);
    }

    /* ---- colours ---- */

    function hash(text) {
        let h = 2166136261;
        for (let i = 0; i < text.length; i++)
            h = Math.imul(h ^ text.charCodeAt(i), 16777619);
        return (h >>> 0) / 4294967296;
    }

    class Palette {
        constructor(root, model) {
            const style = getComputedStyle(root);
            const value = name => style.getPropertyValue('--pf-' + name).trim();
            const hsl = name => value(name).split(/[\s%]+/).slice(0, 3).map(Number);
            this.model = model;
            this.kinds = model.kinds.map(kind => hsl('kind-' + kind));
            this.states = model.states.map(state => value('state-' + state));
            this.more = hsl('more');
            this.less = hsl('less');
            this.same = hsl('same');
            this.group = hsl('kind-marker');
            this.text = value('box-text');
            this.muted = value('muted');
            this.line = value('line');
            this.match = value('match');
            this.matchText = value('match-text');
            this.selected = value('accent');
            this.ground = value('ground');
            this.cache = new Map();
        }

        /* Neighbours of one kind differ a little, by the hash of what tells them apart. */
        shade([h, s, l], key) {
            const t = hash(key) - 0.5;
            return `hsl(${(h + 14 * t).toFixed(1)} ${s}% ${(l + 7 * t).toFixed(1)}%)`;
        }

        ofLabel(label, by) {
            let color = this.cache.get(label);
            if (color)
                return color;
            const model = this.model;
            if (label < 0 || label >= model.names.length) {
                color = this.shade(this.group, 'all');
            } else if (by === 'module') {
                const module = model.module[label];
                const name = module >= 0 ? model.data.modules[module] : model.names[label];
                const l = this.kinds[1][2];
                color = `hsl(${Math.round(360 * hash(name))} 45% ${l}%)`;
            } else {
                color = this.shade(this.kinds[model.kind[label]], model.names[label]);
            }
            this.cache.set(label, color);
            return color;
        }

        /* From -1 (less than before) over 0 to 1 (more). */
        ofChange(t) {
            const end = t > 0 ? this.more : this.less;
            const k = Math.sqrt(Math.min(1, Math.abs(t)));
            const mix = i => this.same[i] + (end[i] - this.same[i]) * k;
            return `hsl(${end[0]} ${mix(1).toFixed(1)}% ${mix(2).toFixed(1)}%)`;
        }
    }

    /* ---- the component ---- */

    class FlameGraph {
        constructor(host, data) {
            this.model = decode(data);
            this.host = host;
            this.view = 'root';
            this.colorBy = 'kind';
            this.isUpward = false;
            this.searched = '';
            this.focusLabel = -1;
            this.zoomed = { part: 0, node: 0 };
            this.selected = null;
            this.hovered = null;
            this.boxes = [];
            this.order = { by: this.model.isDiff ? 'change' : 'self', falling: true };
            this.rowLimit = TABLE_STEP;
            this.filter = this.newFilter();
            this.build();
            this.applyTheme(readTheme());
            this.recompute();
            this.watch();
        }

        newFilter() {
            const model = this.model;
            return {
                type: model.isDiff ? 1 : 0, groups: null, from: 0, to: model.end,
                states: model.states.map(() => true), kinds: model.kinds.map(() => true),
                threads: new Array(model.threads.length + 1).fill(true),
            };
        }

        /* -- building -- */

        build() {
            this.root = make('div', { class: 'pf' });
            this.root.append(this.buildHeader(), this.buildToolbar(), this.buildFilters());
            if (this.model.end > 0)
                this.root.append(this.buildTimeline());
            this.crumbs = make('nav', { class: 'pf-crumbs', 'aria-label': 'Zoom path' });
            this.root.append(this.crumbs, this.buildGraph(), this.buildDetail(),
                this.buildTable());
            this.host.replaceChildren(this.root);
        }

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
        }

        facts() {
            const meta = this.model.meta, facts = [];
            const share = (part, whole) => whole > 0 && part >= 0 ? percent(part, whole) : null;
            const add = (name, value, isBad) => value !== null && facts.push([name, value, isBad]);
            add('Way', meta.way || null);
            add('Rate', meta.rate_hz > 0 ? meta.rate_hz + '\u202fHz' : null);
            add('Duration', meta.duration_ns > 0 ? WRITE.nanoseconds(meta.duration_ns) : null);
            add('Samples', this.model.isDiff ? null : grouped(meta.samples));
            const threads = this.model.threads.length;
            add('Threads', threads > 0 ? grouped(threads) : null);
            add('Lost', meta.lost === null ? null : grouped(meta.lost),
                meta.lost > meta.samples / 100);
            add('Not kept', meta.dropped > 0 ? grouped(meta.dropped) : null, true);
            add('Stacks to the root', share(meta.rooted, meta.unwound),
                meta.rooted < 0.9 * meta.unwound);
            add('Cut short', meta.truncated > 0 ? share(meta.truncated, meta.unwound) : null);
            add('Python matched', share(meta.python_matched, meta.python_wanted),
                meta.python_matched < 0.9 * meta.python_wanted);
            return facts;
        }

        buildToolbar() {
            const model = this.model;
            this.searchBox = make('input', { type: 'search', class: 'pf-search',
                placeholder: 'Search, or /regex/', 'aria-label': 'Search functions',
                spellcheck: 'false', oninput: () => this.search(this.searchBox.value) });
            this.searchResult = make('output', { class: 'pf-result', 'aria-live': 'polite' });
            const views = [['root', 'Callees', 'From the root down to what it calls'],
                ['leaf', 'Reverse', 'From what ran to who called it'],
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
        }

        buildFilters() {
            const line = make('div', { class: 'pf-filters' });
            this.addThreadMenu(line);
            const states = this.model.states.map((name, i) => i).filter(i => this.hasState(i));
            if (states.length > 1)
                line.append(this.chips('State', states, this.model.states, 'state-',
                    (i, on) => this.setState(i, on)));
            const kinds = this.model.kinds.map((name, i) => i)
                .filter(i => this.model.kind.includes(i));
            if (this.model.isDiff)
                line.append(this.diffLegend());
            else if (kinds.length > 0)
                line.append(this.chips('Frames', kinds, this.model.kinds, 'kind-',
                    (i, on) => this.setKind(i, on)));
            /* Open where there is room; the summary shows on narrow screens only. */
            return make('details', { class: 'pf-fold', open: innerWidth > 700 },
                make('summary', {}, 'Filters'), line);
        }

        chips(title, numbers, names, prefix, change) {
            const group = make('div', { class: 'pf-chips', role: 'group', 'aria-label': title },
                make('span', { class: 'pf-chips-title' }, title));
            for (const i of numbers) {
                const name = `var(--pf-${prefix}${names[i]})`;
                group.append(chip(names[i], prefix === 'kind-' ? `hsl(${name})` : name,
                    on => change(i, on)));
            }
            return group;
        }

        diffLegend() {
            const legend = make('div', { class: 'pf-legend' });
            for (const [color, text] of [['less', 'less than before'], ['same', 'as before'],
                ['more', 'more than before']]) {
                const swatch = make('i', { class: 'pf-swatch' });
                swatch.style.setProperty('background', `hsl(var(--pf-${color}))`);
                legend.append(make('span', {}, swatch, text));
            }
            legend.append(make('span', { class: 'pf-note' },
                'of the whole; what is gone shows with width: before'));
            return legend;
        }

        hasState(state) {
            return this.model.state.includes(state);
        }

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
        }

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
            this.timeNote = make('span', { class: 'pf-note' }, 'drag over the time line to choose');
            return make('section', { class: 'pf-time', 'aria-label': 'Time filter' },
                this.timeCanvas, make('div', { class: 'pf-time-fields' },
                    make('label', {}, 'from ', this.fromBox, ' s'),
                    make('label', {}, 'to ', this.toBox, ' s'), this.wholeButton, this.timeNote));
        }

        buildGraph() {
            this.canvas = make('canvas', { 'aria-hidden': 'true' });
            this.spacer = make('div', { class: 'pf-spacer' }, this.canvas);
            this.scroller = make('div', { class: 'pf-graph', tabindex: 0, role: 'application',
                'aria-roledescription': 'flame graph', 'aria-describedby': 'pf-keys',
                'aria-label': 'Flame graph' }, this.spacer);
            this.empty = make('p', { class: 'pf-empty', hidden: true });
            this.tip = make('div', { class: 'pf-tip', hidden: true });
            return make('section', { class: 'pf-frame', 'aria-label': 'Graph' }, this.scroller,
                this.empty, this.tip);
        }

        buildDetail() {
            this.detailText = make('div', { class: 'pf-detail-text', 'aria-live': 'polite' });
            const action = (text, act) => make('button', { type: 'button', class: 'pf-button',
                onclick: () => this.selected && act(this.selected) }, text);
            this.detailButtons = make('div', { class: 'pf-detail-buttons', hidden: true },
                action('Zoom', at => this.zoomTo(at.part, at.node)),
                action('Callers and callees', at => this.sandwich(this.labelAt(at))),
                action('Search', at => this.searchFor(this.nameOf(this.labelAt(at)))));
            return make('div', { class: 'pf-detail' }, this.detailText, this.detailButtons,
                make('p', { class: 'pf-keys', id: 'pf-keys' },
                    'Click or Enter zooms, Escape goes back, arrows walk, / searches, ' +
                    'r reverses, s shows callers and callees'));
        }

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
        }

        /* -- events -- */

        watch() {
            const { canvas, scroller } = this;
            new ResizeObserver(() => this.later(() => this.draw())).observe(scroller);
            scroller.addEventListener('scroll', () => this.later(() => this.draw()));
            scroller.addEventListener('keydown', event => this.onKey(event));
            canvas.addEventListener('mousemove', event => this.onMove(event));
            canvas.addEventListener('mouseleave', () => this.hover(null));
            canvas.addEventListener('click', event => this.onClick(event));
            canvas.addEventListener('dblclick', event => this.onDoubleClick(event));
            if (this.timeCanvas)
                this.watchTimeline();
            this.onDocumentKey = event => this.onPageKey(event);
            document.addEventListener('keydown', this.onDocumentKey);
            this.onScheme = () => this.applyTheme(this.theme);
            matchMedia('(prefers-color-scheme: dark)').addEventListener('change', this.onScheme);
            addEventListener('beforeprint', this.beforePrint = () => this.print(true));
            addEventListener('afterprint', this.afterPrint = () => this.print(false));
        }

        unmount() {
            document.removeEventListener('keydown', this.onDocumentKey);
            matchMedia('(prefers-color-scheme: dark)').removeEventListener('change', this.onScheme);
            removeEventListener('beforeprint', this.beforePrint);
            removeEventListener('afterprint', this.afterPrint);
            this.host.replaceChildren();
        }

        /* At most once a frame. */
        later(work) {
            this.pending = work;
            if (this.isWaiting)
                return;
            this.isWaiting = true;
            requestAnimationFrame(() => {
                this.isWaiting = false;
                this.pending();
            });
        }

        onPageKey(event) {
            const isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName);
            if (event.key === '/' && !isTyping) {
                event.preventDefault();
                this.searchBox.focus();
                this.searchBox.select();
            } else if (event.key === 'Escape' && event.target === this.searchBox) {
                this.searchFor('');
                this.scroller.focus();
            }
        }

        onKey(event) {
            const keys = {
                ArrowDown: () => this.walk(this.isUpward ? 'parent' : 'child'),
                ArrowUp: () => this.walk(this.isUpward ? 'child' : 'parent'),
                ArrowLeft: () => this.walk('previous'), ArrowRight: () => this.walk('next'),
                Enter: () => this.selected && this.zoomTo(this.selected.part, this.selected.node),
                Escape: () => this.back(), Home: () => this.zoomTo(0, 0),
                r: () => this.setView(this.view === 'leaf' ? 'root' : 'leaf'),
                s: () => this.selected && this.sandwich(this.labelAt(this.selected)),
            };
            if (!keys[event.key] || event.ctrlKey || event.metaKey || event.altKey)
                return;
            event.preventDefault();
            keys[event.key]();
        }

        onMove(event) {
            this.hover(this.boxAt(event.offsetX, event.offsetY), event);
        }

        onClick(event) {
            const box = this.boxAt(event.offsetX, event.offsetY);
            if (!box)
                return;
            this.select(box);
            this.zoomTo(box.part, box.node);
        }

        onDoubleClick(event) {
            const box = this.boxAt(event.offsetX, event.offsetY);
            if (box && this.labelAt(box) >= 0)
                this.sandwich(this.labelAt(box));
        }

        /* -- what the controls do -- */

        setView(view) {
            if (view === 'around' && this.focusLabel < 0)
                this.focusLabel = this.bestFocus();
            this.view = view;
            this.recompute();
        }

        /* The selected function, else the one with most of its own. */
        bestFocus() {
            if (this.selected && this.labelAt(this.selected) >= 0)
                return this.labelAt(this.selected);
            const best = this.rows.reduce((l, r) => !l || r.self > l.self ? r : l, null);
            return best ? best.label : -1;
        }

        sandwich(label) {
            if (label < 0 || label >= this.model.names.length)
                return;
            this.focusLabel = label;
            this.setView('around');
        }

        setType(type) {
            this.filter.type = type;
            if (this.typeList)
                this.typeList.value = type;
            this.recompute();
        }

        setGroup(by) {
            this.filter.groups = by ? this.groupsBy(by) : null;
            this.recompute();
        }

        groupsBy(by) {
            const names = ['[no thread]'], numbers = new Map(), of = [0];
            for (const t of this.model.threads) {
                const name = by === 'process' ? `${t.process || t.name} (${t.pid})`
                    : `${t.name} (${t.tid})`;
                if (!numbers.has(name)) {
                    numbers.set(name, names.length);
                    names.push(name);
                }
                of.push(numbers.get(name));
            }
            return { names, of };
        }

        setColor(by) {
            this.colorBy = by;
            this.palette.cache.clear();
            this.draw();
        }

        setUpward(isUpward) {
            this.isUpward = isUpward;
            this.draw();
            this.scroller.scrollTop = isUpward ? this.scroller.scrollHeight : 0;
            this.draw();
        }

        setState(state, isOn) {
            this.filter.states[state] = isOn;
            this.recompute();
        }

        setKind(kind, isOn) {
            this.filter.kinds[kind] = isOn;
            this.recompute();
        }

        /* `choose` says true, false, or null for no change, for the number of each thread. */
        setThreads(choose) {
            this.model.threads.forEach((thread, i) => {
                const isOn = choose(i);
                if (isOn !== null)
                    this.filter.threads[i + 1] = isOn;
                if (this.threadBoxes)
                    this.threadBoxes.get(i).checked = this.filter.threads[i + 1];
            });
            this.filter.threads[0] = this.filter.threads.slice(1).every(isOn => isOn);
            this.recompute();
        }

        setTime(from, to) {
            this.filter.from = Math.max(0, Math.min(from, to));
            this.filter.to = Math.min(this.model.end, Math.max(from, to));
            this.later(() => this.recompute());
        }

        setTimeSide(side, seconds) {
            const step = this.model.step / 1e9;
            if (side === 'from')
                this.setTime(seconds / step, this.filter.to);
            else
                this.setTime(this.filter.from, seconds / step);
        }

        reset() {
            const groups = this.filter.groups;
            this.filter = this.newFilter();
            this.filter.groups = groups;
            this.root.querySelectorAll('.pf-chip input').forEach(box => (box.checked = true));
            if (this.typeList)
                this.typeList.value = this.filter.type;
            this.view = 'root';
            this.focusLabel = -1;
            this.searched = this.searchBox.value = '';
            this.setThreads(() => true);
        }

        search(text) {
            this.searched = text;
            this.rowLimit = TABLE_STEP;
            this.findMatches();
            this.draw();
            this.fillTable();
        }

        searchFor(text) {
            this.searchBox.value = text;
            this.search(text);
        }

        back() {
            if (this.searched)
                this.searchFor('');
            else if (this.zoomed.node !== 0)
                this.zoomTo(this.zoomed.part, this.tree(this.zoomed.part).parent[this.zoomed.node]);
            else if (this.view !== 'root')
                this.setView('root');
        }

        zoomTo(part, node) {
            this.zoomed = { part, node };
            const tree = this.tree(part);
            this.aim(tree.x[node], tree.x[node] + tree.a[node]);
            this.showCrumbs();
        }

        /* Moves what is in view to [left, right], in steps that the eye can follow. */
        aim(left, right) {
            const still = matchMedia('(prefers-reduced-motion: reduce)').matches ||
                document.hidden || !this.window;
            const from = this.window, start = performance.now();
            this.target = { left, right };
            const step = now => {
                if (this.target.left !== left || this.target.right !== right)
                    return;
                const t = still ? 1 : Math.min(1, (now - start) / 180);
                const k = t * (2 - t);
                this.window = still || t === 1 ? { left, right }
                    : { left: from.left + (left - from.left) * k,
                        right: from.right + (right - from.right) * k };
                this.draw();
                if (t < 1)
                    requestAnimationFrame(step);
            };
            if (still)
                step(start);
            else
                requestAnimationFrame(step);
        }

        walk(where) {
            if (!this.selected)
                return this.select({ part: this.zoomed.part, node: this.zoomed.node });
            const { part, node } = this.selected, tree = this.tree(part);
            const parent = tree.parent[node];
            const siblings = parent >= 0 ? tree.children[parent] : [node];
            const place = siblings.indexOf(node);
            const next = { child: tree.children[node][0], parent,
                previous: siblings[place - 1], next: siblings[place + 1] }[where];
            if (next === undefined || next < 0 || tree.a[next] === 0)
                return;
            this.select({ part, node: next });
        }

        select(at) {
            this.selected = { part: at.part, node: at.node };
            this.showDetail();
            this.bringIntoView(at);
            this.draw();
        }

        bringIntoView({ part, node }) {
            const y = this.yOf(part, this.tree(part).depth[node]), top = this.scroller.scrollTop;
            const height = this.scroller.clientHeight;
            if (y < top)
                this.scroller.scrollTop = y;
            else if (y + ROW > top + height)
                this.scroller.scrollTop = y + ROW - height;
        }

        sortBy(by) {
            const isSame = this.order.by === by;
            this.order = { by, falling: isSame ? !this.order.falling : by !== 'name' };
            this.fillTable();
        }

        showMore() {
            this.rowLimit += TABLE_STEP * 2;
            this.fillTable();
        }

        /* -- computing -- */

        recompute() {
            const { model, filter } = this;
            this.sums = addUp(model, filter, filter.groups && filter.groups.of);
            const space = model.names.length + (filter.groups ? filter.groups.names.length : 0) + 1;
            const sums = this.sums;
            if (this.view === 'around') {
                const { callers, callees } =
                    treesAround(model, filter, sums, space, this.focusLabel);
                this.parts = [{ tree: callees, isAbove: false }, { tree: callers, isAbove: true }];
            } else {
                const grow = this.view === 'leaf' ? treeFromLeaf : treeFromRoot;
                this.parts = [{ tree: grow(model, filter, sums, space), isAbove: false }];
            }
            this.whole = sums.reduce((sum, s) => sum + s.a, 0);
            this.wholeB = sums.reduce((sum, s) => sum + s.b, 0);
            this.rows = functionsOf(model, filter, sums);
            this.largestChange = this.findLargestChange();
            this.zoomed = { part: 0, node: 0 };
            this.selected = null;
            this.window = { left: 0, right: this.parts[0].tree.a[0] };
            this.target = this.window;
            this.findMatches();
            this.refresh();
        }

        refresh() {
            for (const button of this.viewButtons)
                button.setAttribute('aria-pressed', button.dataset.view === this.view);
            if (this.threadSummary) {
                const on = this.filter.threads.slice(1).filter(isOn => isOn).length;
                const all = this.model.threads.length;
                this.threadSummary.textContent = on === all ? `Threads: all ${all}`
                    : `Threads: ${on} of ${all}`;
            }
            this.showCrumbs();
            this.showDetail();
            this.draw();
            this.drawTimeline();
            this.fillTable();
        }

        findMatches() {
            const isMatch = matcher(this.searched);
            this.matches = null;
            this.searchResult.textContent = '';
            if (!isMatch)
                return;
            this.matches = this.model.names.map((name, label) =>
                this.filter.kinds[this.model.kind[label]] && isMatch(name));
            const { matched, all } = matchedShare(this.model, this.sums, this.matches);
            const count = this.rows.filter(row => this.matches[row.label]).length;
            this.searchResult.textContent =
                `${percent(matched, all)} in ${grouped(count)} function${count === 1 ? '' : 's'}`;
        }

        findLargestChange() {
            if (!this.model.isDiff)
                return 0;
            let largest = 0;
            for (const { tree } of this.parts)
                for (let i = 1; i < tree.a.length; i++)
                    largest = Math.max(largest, Math.abs(this.changeAt(tree, i)));
            return largest;
        }

        /* Of the share, from before to after. */
        changeAt(tree, node) {
            const share = tree.a[node] / this.whole, other = tree.b[node] / this.wholeB;
            const change = (share || 0) - (other || 0);
            return this.filter.type === 1 ? change : -change;
        }

        tree(part) {
            return this.parts[part].tree;
        }

        labelAt(at) {
            return this.tree(at.part).label[at.node];
        }

        nameOf(label) {
            const names = this.model.names;
            if (label < 0)
                return 'all';
            return label < names.length ? names[label]
                : this.filter.groups.names[label - names.length];
        }

        write(value) {
            return WRITE[this.model.types[this.filter.type].unit](value);
        }

        /* -- drawing -- */

        rowCount() {
            const above = this.parts[1] ? this.parts[1].tree.height - 1 : 0;
            return above + this.parts[0].tree.height;
        }

        /* From the top of the graph. */
        yOf(part, depth) {
            const above = this.parts[1] ? this.parts[1].tree.height - 1 : 0;
            const row = this.parts[part].isAbove ? above - depth : above + depth;
            return this.isUpward ? (this.rowCount() - 1 - row) * ROW : row * ROW;
        }

        draw() {
            const width = this.scroller.clientWidth;
            if (width === 0)
                return;
            const rows = this.isPrinting ? Math.min(PRINT_ROWS, this.rowCount()) : this.rowCount();
            this.spacer.style.height = rows * ROW + 'px';
            const height = this.isPrinting ? rows * ROW
                : Math.min(this.scroller.clientHeight, rows * ROW);
            const context = fit(this.canvas, width, height);
            context.font = FONT;
            context.textBaseline = 'middle';
            this.boxes = [];
            const isEmpty = !(this.parts[0].tree.a[0] > 0);
            this.empty.hidden = !isEmpty;
            this.empty.textContent = 'No samples pass the filters.';
            if (isEmpty)
                return;
            const view = { context, width, height, top: this.scroller.scrollTop,
                scale: width / (this.window.right - this.window.left) };
            this.parts.forEach((part, number) => this.drawPart(number, view));
        }

        /* Children stand from left to right and get narrower: the rest of them needs no look once
         * one is too narrow or beyond the right end. */
        drawPart(number, view) {
            const tree = this.tree(number), stack = [0];
            while (stack.length > 0) {
                const node = stack.pop();
                if (node !== 0 || number === 0)
                    this.drawBox(number, node, view);
                for (const child of tree.children[node]) {
                    const x = (tree.x[child] - this.window.left) * view.scale;
                    const width = tree.a[child] * view.scale;
                    if (width < NARROWEST || x > view.width)
                        break;
                    if (x + width >= 0)
                        stack.push(child);
                }
            }
        }

        drawBox(part, node, view) {
            const tree = this.tree(part), label = tree.label[node], { context } = view;
            let x = (tree.x[node] - this.window.left) * view.scale;
            let width = tree.a[node] * view.scale;
            const y = this.yOf(part, tree.depth[node]) - view.top;
            if (x < 0) {
                width += x;
                x = 0;
            }
            width = Math.min(width, view.width - x);
            if (width < NARROWEST)
                return;
            this.boxes.push({ part, node, label, x, y, width, depth: tree.depth[node] });
            if (y < -ROW || y > view.height)
                return;
            const isMatch = this.matches && label >= 0 && this.matches[label];
            context.globalAlpha = this.alphaOf(part, node, isMatch);
            context.fillStyle = this.colorOf(tree, node, label, isMatch);
            context.fillRect(x, y, Math.max(width - (width > 3 ? 1 : 0), NARROWEST), ROW - 1);
            context.globalAlpha = 1;
            if (this.isSame(this.selected, part, node) || this.isSame(this.hovered, part, node) ||
                (this.view === 'around' && node === 0)) {
                context.strokeStyle = this.palette.selected;
                context.lineWidth = 2;
                context.strokeRect(x + 1, y + 1, Math.max(width - 3, 1), ROW - 3);
            }
            if (width > 24)
                this.drawName(context, label, x, y, width, isMatch);
        }

        isSame(at, part, node) {
            return at !== null && at.part === part && at.node === node;
        }

        /* What only leads to the zoomed box is pale, and so is what a search does not match. */
        alphaOf(part, node, isMatch) {
            if (this.matches)
                return isMatch ? 1 : 0.35;
            const isAncestor = part === this.zoomed.part && node !== this.zoomed.node &&
                this.tree(part).depth[node] < this.tree(part).depth[this.zoomed.node];
            return isAncestor ? 0.55 : 1;
        }

        colorOf(tree, node, label, isMatch) {
            if (isMatch)
                return this.palette.match;
            if (this.model.isDiff && node !== 0)
                return this.palette.ofChange(this.changeAt(tree, node) / this.largestChange);
            return this.palette.ofLabel(label, this.colorBy);
        }

        drawName(context, label, x, y, width, isMatch) {
            const name = label === -1 ? 'all, ' + this.write(this.whole) : this.nameOf(label);
            const room = width - 9;
            let wide = this.nameWidths.get(name);
            if (wide === undefined)
                this.nameWidths.set(name, wide = context.measureText(name).width);
            let text = name;
            if (wide > room) {
                text = this.shortened(context, name, Math.floor(name.length * room / wide), room);
                if (!text)
                    return;
            }
            const isPale = this.matches && !isMatch;
            context.fillStyle = isMatch ? this.palette.matchText
                : isPale ? this.palette.muted : this.palette.text;
            context.fillText(text, x + 4, y + ROW / 2);
        }

        /* Letters differ in width: the estimate is only where to start. */
        shortened(context, name, count, room) {
            while (--count >= 2) {
                const text = name.slice(0, count) + '…';
                if (context.measureText(text).width <= room)
                    return text;
            }
            return '';
        }

        boxAt(x, y) {
            return this.boxes.find(box => x >= box.x && x < box.x + box.width && y >= box.y &&
                y < box.y + ROW) || null;
        }

        hover(box, event) {
            const isNew = !box !== !this.hovered ||
                (box && !this.isSame(this.hovered, box.part, box.node));
            this.hovered = box;
            this.tip.hidden = !box;
            this.canvas.style.cursor = box ? 'pointer' : 'default';
            if (isNew) {
                if (box)
                    this.tip.replaceChildren(...this.describe(box));
                this.draw();
            }
            if (box)
                this.placeTip(event);
        }

        placeTip(event) {
            const frame = this.tip.parentElement.getBoundingClientRect();
            const x = event.clientX - frame.left, y = event.clientY - frame.top;
            const left = Math.max(4, Math.min(x + 14, frame.width - this.tip.offsetWidth - 4));
            const isLow = event.clientY + 20 + this.tip.offsetHeight > innerHeight;
            this.tip.style.left = left + 'px';
            this.tip.style.top = (isLow ? y - this.tip.offsetHeight - 10 : y + 18) + 'px';
        }

        describe({ part, node }) {
            const tree = this.tree(part), label = tree.label[node], model = this.model;
            const total = tree.a[node], self = tree.selfA[node];
            const lines = [make('strong', {}, this.nameOf(label))];
            const numbers = [`${this.write(total)}, ${percent(total, this.whole)} of all`];
            if (this.zoomed.node !== 0)
                numbers.push(percent(total, this.tree(this.zoomed.part).a[this.zoomed.node]) +
                    ' of what is zoomed');
            if (self > 0)
                numbers.push(`${percent(self, this.whole)} ` +
                    (this.view === 'root' ? 'itself' : 'ends here'));
            if (model.isDiff && node !== 0) {
                const change = this.changeAt(tree, node);
                numbers.push(signed(percent(change, 1), change) + ' of the whole since before');
            }
            lines.push(make('span', {}, numbers.join(' · ')));
            if (label >= 0 && label < model.names.length)
                lines.push(make('small', {}, this.placeOf(label)));
            return lines;
        }

        placeOf(label) {
            const { model } = this, words = [model.kinds[model.kind[label]]];
            const file = model.file[label], module = model.module[label], line = model.line[label];
            if (module >= 0)
                words.push(model.data.modules[module]);
            if (file >= 0)
                words.push(model.data.files[file] + (line > 0 ? ':' + line : ''));
            return words.join(' · ');
        }

        showDetail() {
            this.detailButtons.hidden = !this.selected;
            this.detailText.replaceChildren(...(this.selected ? this.describe(this.selected) : []));
        }

        showCrumbs() {
            const { part, node } = this.zoomed, tree = this.tree(part);
            const path = node === 0 ? [] : tree.path(node);
            this.crumbs.hidden = path.length === 0;
            this.crumbs.replaceChildren(...path.flatMap((at, i) => {
                const isLast = i === path.length - 1;
                const button = make('button', { type: 'button', title: this.nameOf(tree.label[at]),
                    'aria-current': isLast ? 'true' : null,
                    onclick: () => this.zoomTo(part, at) }, this.nameOf(tree.label[at]));
                return i === 0 ? [button]
                    : [make('span', { 'aria-hidden': 'true' }, '›'), button];
            }));
            this.crumbs.scrollLeft = this.crumbs.scrollWidth;
        }

        /* -- time line -- */

        watchTimeline() {
            let start = null;
            const canvas = this.timeCanvas;
            const timeAt = event => {
                const box = canvas.getBoundingClientRect();
                const share = Math.max(0, Math.min(1, (event.clientX - box.left) / box.width));
                return share * this.model.end;
            };
            canvas.addEventListener('pointerdown', event => {
                start = timeAt(event);
                canvas.setPointerCapture(event.pointerId);
            });
            canvas.addEventListener('pointermove', event => {
                if (start !== null && Math.abs(timeAt(event) - start) > this.model.end / 500)
                    this.setTime(start, timeAt(event));
            });
            canvas.addEventListener('pointerup', event => {
                if (start !== null && Math.abs(timeAt(event) - start) <= this.model.end / 500)
                    this.setTime(0, this.model.end);
                start = null;
            });
            new ResizeObserver(() => this.drawTimeline()).observe(canvas);
        }

        /* Samples by time and state, of the threads and states that are chosen. */
        timeBuckets(count) {
            const { model, filter } = this;
            const buckets = model.states.map(() => new Float64Array(count));
            const width = (model.end + 1) / count, values = model.values[filter.type];
            for (let i = 0; i < model.sampleCount; i++)
                if (filter.states[model.state[i]] && filter.threads[model.thread[i] + 1])
                    buckets[model.state[i]][Math.floor(model.time[i] / width)] += values[i];
            return buckets;
        }

        drawTimeline() {
            if (!this.timeCanvas || this.timeCanvas.clientWidth === 0)
                return;
            const width = this.timeCanvas.clientWidth, height = 56, axis = 14;
            const context = fit(this.timeCanvas, width, height);
            const count = Math.max(1, Math.min(Math.floor(width / 3), 400));
            const buckets = this.timeBuckets(count), bar = width / count;
            let highest = 0;
            for (let i = 0; i < count; i++)
                highest = Math.max(highest, buckets.reduce((sum, state) => sum + state[i], 0));
            for (let i = 0; i < count && highest > 0; i++) {
                let y = height - axis;
                buckets.forEach((state, number) => {
                    const h = state[i] / highest * (height - axis - 2);
                    context.fillStyle = this.palette.states[number];
                    context.fillRect(i * bar, y -= h, Math.max(bar - 0.5, 1), h);
                });
            }
            this.drawAxis(context, width, height, axis);
            this.drawBrush(context, width, height - axis);
            this.showTime();
        }

        drawAxis(context, width, height, axis) {
            const seconds = this.model.end * this.model.step / 1e9, rough = seconds / (width / 90);
            const power = 10 ** Math.floor(Math.log10(rough));
            const step = [1, 2, 5, 10].find(k => k * power >= rough) * power;
            context.font = '11px system-ui, "DejaVu Sans", sans-serif';
            context.fillStyle = this.palette.muted;
            context.fillRect(0, height - axis, width, 1);
            context.textBaseline = 'bottom';
            const digits = Math.max(0, -Math.floor(Math.log10(step)));
            for (let k = 0; k * step <= seconds; k++) {
                const text = (k * step).toFixed(digits) + '\u202fs', x = k * step / seconds * width;
                context.fillText(text, Math.min(x + 2, width - context.measureText(text).width),
                    height);
                context.fillRect(x, height - axis, 1, 4);
            }
        }

        drawBrush(context, width, height) {
            const { from, to } = this.filter, { end } = this.model;
            if (from <= 0 && to >= end)
                return;
            const left = from / end * width, right = to / end * width;
            context.fillStyle = this.palette.ground;
            context.globalAlpha = 0.75;
            context.fillRect(0, 0, left, height);
            context.fillRect(right, 0, width - right, height);
            context.globalAlpha = 1;
            context.strokeStyle = this.palette.selected;
            context.lineWidth = 2;
            context.strokeRect(left + 1, 1, Math.max(right - left - 2, 1), height - 2);
        }

        showTime() {
            const step = this.model.step / 1e9, { from, to } = this.filter;
            const isWhole = from <= 0 && to >= this.model.end;
            this.fromBox.value = (from * step).toFixed(3);
            this.toBox.value = (to * step).toFixed(3);
            this.wholeButton.hidden = isWhole;
            this.timeNote.hidden = !isWhole;
        }

        /* -- table -- */

        fillTable() {
            const rows = this.sortedRows(), shown = rows.slice(0, this.rowLimit);
            for (const header of this.headers) {
                const isKey = header.dataset.by === this.order.by;
                header.setAttribute('aria-sort',
                    !isKey ? 'none' : this.order.falling ? 'descending' : 'ascending');
            }
            this.tableBody.replaceChildren(...shown.map(row => this.tableRow(row)));
            this.moreButton.hidden = shown.length === rows.length;
            this.tableTitle.textContent = `Functions (${grouped(rows.length)})`;
        }

        /* `a` is the column that widths show; before and after have fixed places. */
        sides(row) {
            const isAfter = this.filter.type === 1;
            const share = (value, whole) => whole > 0 ? value / whole : 0;
            const a = share(row.total, this.whole), b = share(row.totalB, this.wholeB);
            const selfA = share(row.self, this.whole), selfB = share(row.selfB, this.wholeB);
            return isAfter ? { before: b, after: a, change: a - b, selfChange: selfA - selfB }
                : { before: a, after: b, change: b - a, selfChange: selfB - selfA };
        }

        sortedRows() {
            const { by, falling } = this.order, names = this.model.names;
            const key = by.replace('Share', '');
            const isSearched = row => !this.matches || this.matches[row.label];
            const value = row => key === 'name' ? names[row.label]
                : this.model.isDiff ? this.sides(row)[key] : row[key];
            const isChange = key === 'change' || key === 'selfChange';
            const size = row => isChange ? Math.abs(value(row)) : value(row);
            const compare = (l, r) => {
                const x = size(l), y = size(r);
                return (x < y ? -1 : x > y ? 1 : 0) * (falling ? -1 : 1) || l.label - r.label;
            };
            return this.rows.filter(isSearched).sort(compare);
        }

        tableRow(row) {
            const model = this.model, swatch = make('i', { class: 'pf-swatch',
                title: model.kinds[model.kind[row.label]] });
            swatch.style.setProperty('background',
                `hsl(var(--pf-kind-${model.kinds[model.kind[row.label]]}))`);
            const module = model.module[row.label], file = model.file[row.label];
            const place = file >= 0 ? baseName(model.data.files[file])
                : module >= 0 ? baseName(model.data.modules[module]) : '';
            const name = make('th', { scope: 'row' }, make('div', { class: 'pf-name' }, swatch,
                make('button', { type: 'button', title: this.placeOf(row.label),
                    onclick: () => this.sandwich(row.label) }, model.names[row.label]),
                make('small', {}, place)));
            return make('tr', {}, name,
                ...(model.isDiff ? this.diffCells(row) : this.valueCells(row)));
        }

        valueCells(row) {
            const bar = (value, className) => {
                const cell = make('td', { class: 'pf-share ' + className },
                    percent(value, this.whole));
                cell.style.setProperty('--share', 100 * value / this.whole + '%');
                return cell;
            };
            const number = value => make('td', {}, this.write(value).replace(/ samples?$/, ''));
            return [number(row.self), bar(row.self, 'pf-self'), number(row.total),
                bar(row.total, 'pf-total')];
        }

        diffCells(row) {
            const { before, after, change, selfChange } = this.sides(row);
            const className = value => value > 0 ? 'pf-more' : value < 0 ? 'pf-less' : '';
            const changed = value => make('td', { class: className(value) },
                signed(percent(value, 1), value));
            return [make('td', {}, percent(before, 1)), make('td', {}, percent(after, 1)),
                changed(change), changed(selfChange)];
        }

        /* -- theme and print -- */

        nextTheme() {
            const order = ['auto', 'light', 'dark'];
            const theme = order[(order.indexOf(this.theme) + 1) % order.length];
            keepTheme(theme);
            this.applyTheme(theme);
        }

        applyTheme(theme) {
            const isDark = theme === 'dark' ||
                (theme === 'auto' && matchMedia('(prefers-color-scheme: dark)').matches);
            this.theme = theme;
            document.documentElement.dataset.theme = isDark ? 'dark' : 'light';
            this.themeButton.textContent = 'Theme: ' + theme;
            this.palette = new Palette(this.root, this.model);
            this.nameWidths = new Map();
            if (this.parts) {
                this.draw();
                this.drawTimeline();
            }
        }

        print(isStarting) {
            this.isPrinting = isStarting;
            this.root.classList.toggle('pf-printing', isStarting);
            document.documentElement.dataset.theme = 'light';
            this.palette = new Palette(this.root, this.model);
            this.draw();
            this.drawTimeline();
            if (!isStarting)
                this.applyTheme(this.theme);
        }

        /* -- for tests and for pages that embed this -- */

        visibleFrames() {
            return this.boxes.map(box => ({ name: this.nameOf(box.label), depth: box.depth,
                part: box.part, x: box.x, y: box.y, width: box.width,
                share: this.tree(box.part).a[box.node] / this.whole }));
        }
    }

    /* Sizes a canvas for sharp lines on every display. */
    function fit(canvas, width, height) {
        const ratio = window.devicePixelRatio || 1;
        if (canvas.width !== Math.round(width * ratio) ||
            canvas.height !== Math.round(height * ratio)) {
            canvas.width = Math.round(width * ratio);
            canvas.height = Math.round(height * ratio);
            canvas.style.height = height + 'px';
        }
        const context = canvas.getContext('2d');
        context.setTransform(ratio, 0, 0, ratio, 0, 0);
        context.clearRect(0, 0, width, height);
        return context;
    }

    /* Pages from disk may have no storage. */
    function readTheme() {
        try {
            return localStorage.getItem('pitot-theme') || 'auto';
        } catch {
            return 'auto';
        }
    }

    function keepTheme(theme) {
        try {
            localStorage.setItem('pitot-theme', theme);
        } catch {
            /* then it holds for this page only */
        }
    }

    const api = {
        mount(element, data) {
            api.last = new FlameGraph(element, data);
            return api.last;
        },
        last: null,
        visibleFrames: () => api.last.visibleFrames(),
    };
    window.pitotFlame = api;
})();
