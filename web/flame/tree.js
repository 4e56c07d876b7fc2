/* Sums samples into trees, and finds search matches. */
/* A tree that grows on access: child(node, label) finds or adds a node. Node 0 is the root. In a
 * difference nodes have two values: `a` is shown by widths, `b` is the other. */
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

    /* Turns self values into totals, and positions the nodes: heavy ones left. */
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

/* Samples that pass the filters, summed by group and node: { group, node, a, b }. */
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
    return filter.states[model.state[i]] && filter.gils[model.gil[i]] &&
        filter.threads[model.thread[i] + 1] &&
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

/* From the leaf up: the running function, with its callers below. */
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

/* Callers and callees of one function, for all its call paths. */
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

/* Self and total of each function. The self value of a hidden frame goes to its caller. */
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

/* Text, or a regular expression between slashes. Null: no search. */
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

/* The share that runs in or below a matching function, counted once. */
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
