/* Actions of keys, mouse and controls. */
Object.assign(FlameGraph.prototype, {
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
        if (this.liveCanvas)
            this.watchLive();
        this.onDocumentKey = event => this.onPageKey(event);
        document.addEventListener('keydown', this.onDocumentKey);
        this.onScheme = () => this.applyTheme(this.theme);
        matchMedia('(prefers-color-scheme: dark)').addEventListener('change', this.onScheme);
        addEventListener('beforeprint', this.beforePrint = () => this.print(true));
        addEventListener('afterprint', this.afterPrint = () => this.print(false));
    },

    unmount() {
        document.removeEventListener('keydown', this.onDocumentKey);
        matchMedia('(prefers-color-scheme: dark)').removeEventListener('change', this.onScheme);
        removeEventListener('beforeprint', this.beforePrint);
        removeEventListener('afterprint', this.afterPrint);
        this.host.replaceChildren();
    },

    /* At most once per animation frame. */
    later(work) {
        this.pending = work;
        if (this.isWaiting)
            return;
        this.isWaiting = true;
        requestAnimationFrame(() => {
            this.isWaiting = false;
            this.pending();
        });
    },

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
    },

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
    },

    onMove(event) {
        this.hover(this.boxAt(event.offsetX, event.offsetY), event);
    },

    onClick(event) {
        const box = this.boxAt(event.offsetX, event.offsetY);
        if (!box)
            return;
        this.select(box);
        this.zoomTo(box.part, box.node);
    },

    onDoubleClick(event) {
        const box = this.boxAt(event.offsetX, event.offsetY);
        if (box && this.labelAt(box) >= 0)
            this.sandwich(this.labelAt(box));
    },

    setView(view) {
        if (view === 'around' && this.focusLabel < 0)
            this.focusLabel = this.bestFocus();
        this.view = view;
        this.recompute();
    },

    /* The selected function, otherwise the one with the largest self value. */
    bestFocus() {
        if (this.selected && this.labelAt(this.selected) >= 0)
            return this.labelAt(this.selected);
        const best = this.rows.reduce((l, r) => !l || r.self > l.self ? r : l, null);
        return best ? best.label : -1;
    },

    sandwich(label) {
        if (label < 0 || label >= this.model.names.length)
            return;
        this.focusLabel = label;
        this.setView('around');
    },

    setType(type) {
        this.filter.type = type;
        if (this.typeList)
            this.typeList.value = type;
        this.recompute();
    },

    setGroup(by) {
        this.filter.groups = by ? this.groupsBy(by) : null;
        this.recompute();
    },

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
    },

    setColor(by) {
        this.colorBy = by;
        this.palette.cache.clear();
        this.draw();
    },

    setUpward(isUpward) {
        this.isUpward = isUpward;
        this.draw();
        this.scroller.scrollTop = isUpward ? this.scroller.scrollHeight : 0;
        this.draw();
    },

    setState(state, isOn) {
        this.filter.states[state] = isOn;
        this.recompute();
    },

    setGil(gil, isOn) {
        this.filter.gils[gil] = isOn;
        this.recompute();
    },

    setKind(kind, isOn) {
        this.filter.kinds[kind] = isOn;
        this.recompute();
    },

    /* `choose` returns true, false, or null for no change, for each thread index. */
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
    },

    setTime(from, to) {
        this.filter.from = Math.max(0, Math.min(from, to));
        this.filter.to = Math.min(this.model.end, Math.max(from, to));
        this.later(() => this.recompute());
    },

    setTimeSide(side, seconds) {
        const step = this.model.step / 1e9;
        if (side === 'from')
            this.setTime(seconds / step, this.filter.to);
        else
            this.setTime(this.filter.from, seconds / step);
    },

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
    },

    search(text) {
        this.searched = text;
        this.rowLimit = TABLE_STEP;
        this.findMatches();
        this.draw();
        this.fillTable();
    },

    searchFor(text) {
        this.searchBox.value = text;
        this.search(text);
    },

    back() {
        if (this.searched)
            this.searchFor('');
        else if (this.zoomed.node !== 0)
            this.zoomTo(this.zoomed.part, this.tree(this.zoomed.part).parent[this.zoomed.node]);
        else if (this.view !== 'root')
            this.setView('root');
    },

    zoomTo(part, node) {
        this.zoomed = { part, node };
        const tree = this.tree(part);
        this.aim(tree.x[node], tree.x[node] + tree.a[node]);
        this.showCrumbs();
    },

    /* Moves the visible range to [left, right], animated. */
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
    },

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
    },

    select(at) {
        this.selected = { part: at.part, node: at.node };
        this.showDetail();
        this.bringIntoView(at);
        this.draw();
    },

    bringIntoView({ part, node }) {
        const y = this.yOf(part, this.tree(part).depth[node]), top = this.scroller.scrollTop;
        const height = this.scroller.clientHeight;
        if (y < top)
            this.scroller.scrollTop = y;
        else if (y + ROW > top + height)
            this.scroller.scrollTop = y + ROW - height;
    },

    sortBy(by) {
        const isSame = this.order.by === by;
        this.order = { by, falling: isSame ? !this.order.falling : by !== 'name' };
        this.fillTable();
    },

    showMore() {
        this.rowLimit += TABLE_STEP * 2;
        this.fillTable();
    },
});
