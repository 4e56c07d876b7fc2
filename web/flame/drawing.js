/* Draws the boxes and the details of the box at the pointer. */
const ROW = 20; // height of a box, in pixels
const FONT = '12px system-ui, "Segoe UI", "DejaVu Sans", sans-serif';
const NARROWEST = 0.5; // a narrower box is not drawn
const PRINT_ROWS = 120;

Object.assign(FlameGraph.prototype, {
    rowCount() {
        const above = this.parts[1] ? this.parts[1].tree.height - 1 : 0;
        return above + this.parts[0].tree.height;
    },

    /* From the top of the graph. */
    yOf(part, depth) {
        const above = this.parts[1] ? this.parts[1].tree.height - 1 : 0;
        const row = this.parts[part].isAbove ? above - depth : above + depth;
        return this.isUpward ? (this.rowCount() - 1 - row) * ROW : row * ROW;
    },

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
    },

    /* Children are ordered from left to right by decreasing width: once one is too narrow or beyond
     * the right edge, the rest is skipped. */
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
    },

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
    },

    isSame(at, part, node) {
        return at !== null && at.part === part && at.node === node;
    },

    /* Ancestors of the zoomed box and boxes that do not match the search are pale. */
    alphaOf(part, node, isMatch) {
        if (this.matches)
            return isMatch ? 1 : 0.35;
        const isAncestor = part === this.zoomed.part && node !== this.zoomed.node &&
            this.tree(part).depth[node] < this.tree(part).depth[this.zoomed.node];
        return isAncestor ? 0.55 : 1;
    },

    colorOf(tree, node, label, isMatch) {
        if (isMatch)
            return this.palette.match;
        if (this.model.isDiff && node !== 0)
            return this.palette.ofChange(this.changeAt(tree, node) / this.largestChange);
        return this.palette.ofLabel(label, this.colorBy);
    },

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
    },

    /* Letters differ in width: the estimate is only a starting point. */
    shortened(context, name, count, room) {
        while (--count >= 2) {
            const text = name.slice(0, count) + '…';
            if (context.measureText(text).width <= room)
                return text;
        }
        return '';
    },

    boxAt(x, y) {
        return this.boxes.find(box => x >= box.x && x < box.x + box.width && y >= box.y &&
            y < box.y + ROW) || null;
    },

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
    },

    placeTip(event) {
        const frame = this.tip.parentElement.getBoundingClientRect();
        const x = event.clientX - frame.left, y = event.clientY - frame.top;
        const left = Math.max(4, Math.min(x + 14, frame.width - this.tip.offsetWidth - 4));
        const isLow = event.clientY + 20 + this.tip.offsetHeight > innerHeight;
        this.tip.style.left = left + 'px';
        this.tip.style.top = (isLow ? y - this.tip.offsetHeight - 10 : y + 18) + 'px';
    },

    describe({ part, node }) {
        const tree = this.tree(part), label = tree.label[node], model = this.model;
        const total = tree.a[node], self = tree.selfA[node];
        const lines = [make('strong', {}, this.nameOf(label))];
        const numbers = [`${this.write(total)}, ${percent(total, this.whole)} of all`];
        if (this.zoomed.node !== 0)
            numbers.push(percent(total, this.tree(this.zoomed.part).a[this.zoomed.node]) +
                ' of the zoomed box');
        if (self > 0)
            numbers.push(`${percent(self, this.whole)} ` +
                (this.view === 'root' ? 'self' : 'ends here'));
        if (model.isDiff && node !== 0) {
            const change = this.changeAt(tree, node);
            numbers.push(signed(percent(change, 1), change) + ' of the total since before');
        }
        lines.push(make('span', {}, numbers.join(' · ')));
        if (label >= 0 && label < model.names.length)
            lines.push(make('small', {}, this.placeOf(label)));
        return lines;
    },

    placeOf(label) {
        const { model } = this, words = [model.kinds[model.kind[label]]];
        const file = model.file[label], module = model.module[label], line = model.line[label];
        if (module >= 0)
            words.push(model.data.modules[module]);
        if (file >= 0)
            words.push(model.data.files[file] + (line > 0 ? ':' + line : ''));
        return words.join(' · ');
    },

    showDetail() {
        this.detailButtons.hidden = !this.selected;
        this.detailText.replaceChildren(...(this.selected ? this.describe(this.selected) : []));
    },

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
    },
});

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
