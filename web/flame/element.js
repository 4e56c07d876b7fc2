/* Elements of the page, and the colours of boxes. */
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

    /* Neighbours of the same kind differ slightly in colour, by a hash of their name. */
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

    /* From -1 (less than before) through 0 to 1 (more). */
    ofChange(t) {
        const end = t > 0 ? this.more : this.less;
        const k = Math.sqrt(Math.min(1, Math.abs(t)));
        const mix = i => this.same[i] + (end[i] - this.same[i]) * k;
        return `hsl(${end[0]} ${mix(1).toFixed(1)}% ${mix(2).toFixed(1)}%)`;
    }
}
