/* An interactive flame graph, without dependencies.
 *
 *     const graph = pitotFlame.mount(element, data);
 *
 * docs/PROFILES.md describes `data`. A profile consists of samples; each has a node of the call
 * tree, a time, a thread and a state. Every filter sums the samples again, so the graph of one
 * second of one thread is as exact as that of the whole profile. Other files add further methods to
 * FlameGraph. */
class FlameGraph {
    static count = 0; // graphs on this page, for element ids

    constructor(host, data) {
        this.model = decode(data);
        this.host = host;
        this.keysId = 'pf-keys-' + FlameGraph.count++;
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
            type: model.isDiff ? 1 : firstType(model), groups: null, from: 0, to: model.end,
            states: model.states.map(() => true), kinds: model.kinds.map(() => true),
            gils: GILS.map(() => true),
            threads: new Array(model.threads.length + 1).fill(true),
        };
    }

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
        this.drawLive();
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

    /* Change of the share, from before to after. */
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

    visibleFrames() {
        return this.boxes.map(box => ({ name: this.nameOf(box.label), depth: box.depth,
            part: box.part, x: box.x, y: box.y, width: box.width,
            share: this.tree(box.part).a[box.node] / this.whole }));
    }
}
