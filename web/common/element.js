/* Elements of the page. */
function section(id, title, about, ...children) {
    return make('section', { id, class: 'pr-section', 'aria-label': title },
        make('h2', {}, title, about ? make('small', {}, about) : null), ...children);
}

function navigation(sections) {
    return make('nav', { class: 'pr-nav', 'aria-label': 'Sections' }, sections.map(one =>
        make('a', { href: '#' + one.id }, one.getAttribute('aria-label'))));
}

/* Rows of cells; a cell is text, an element or null. Numbers are aligned by their class. */
function table(heads, rows, className) {
    const cell = (content, i) => make('td', { class: heads[i]?.isNumber ? 'pr-number' : null },
        content ?? UNKNOWN);
    return make('div', { class: 'pr-scroll', tabindex: 0 }, make('table', { class: className },
        make('thead', {}, make('tr', {}, heads.map(head =>
            make('th', { scope: 'col', class: head.isNumber ? 'pr-number' : null }, head.label)))),
        make('tbody', {}, rows.map(row => make('tr', {}, row.map(cell))))));
}

/* `dash`: as in the line it stands for */
function swatch(color, dash) {
    const element = make('i', { class: 'pr-swatch', 'aria-hidden': 'true' });
    element.style.setProperty('background', dash ?
        `repeating-linear-gradient(90deg, ${color} 0 3px, transparent 3px 5px)` : color);
    return element;
}

/* Sizes a canvas to the resolution of the screen; returns a context in pixels of the page. */
function prepare(canvas, width, height) {
    const ratio = window.devicePixelRatio || 1;
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
    canvas.style.setProperty('height', height + 'px');
    const context = canvas.getContext('2d');
    context.scale(ratio, ratio);
    return context;
}

/* Colours of the style sheet for this theme, cached: querying it takes longer than drawing. */
const colors = { theme: null, known: new Map() };

function color(name) {
    const root = document.documentElement;
    if (colors.theme !== root.dataset.theme) {
        colors.theme = root.dataset.theme;
        colors.known.clear();
    }
    if (!colors.known.has(name))
        colors.known.set(name, getComputedStyle(root).getPropertyValue('--pr-' + name).trim());
    return colors.known.get(name);
}

const LINE_COLORS = 8;
const lineColor = i => color('line-' + i % LINE_COLORS);
const lineVariable = i => `var(--pr-line-${i % LINE_COLORS})`;
