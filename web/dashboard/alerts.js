/* Alert rules, their current state, and the latest changes. */
class Alerts {
    constructor(store) {
        this.store = store;
        this.events = []; // lines in the charts: { time in seconds, kind }
        this.on = make('b', {});
        this.onText = make('span', {});
        this.names = make('ul', {});
        this.card = make('a', { class: 'pr-card', 'data-card': 'Alerts', href: '#alerts' },
            make('h3', {}, 'Alerts'), make('div', { class: 'pr-large' }, this.on, this.onText),
            this.names);
        this.body = make('div', {});
        this.element = section('alerts', 'Alerts', null, this.body);
    }

    /* A lost connection is reported elsewhere. */
    async load() {
        const answer = await askJson('api/alerts').catch(() => null);
        if (answer)
            this.show(answer);
    }

    show({ rules, states, changes }) {
        const on = states.filter(state => state.is_on);
        this.on.textContent = on.length === 0 ? 'none' : String(on.length);
        this.onText.textContent = on.length === 0 ? `of ${rules.length} rules` : 'active';
        this.card.classList.toggle('pd-alarm', on.length > 0);
        this.names.replaceChildren(...on.slice(0, 3).map(state => make('li', {},
            make('span', {}, state.rule), make('b', {}, state.entity || ''))));
        this.events = changes.map(change => ({ time: change.time / 1000, kind: 'alert' }));
        this.body.replaceChildren(this.ruleTable(rules, states), this.changeTable(changes));
    }

    ruleTable(rules, states) {
        if (rules.length === 0)
            return make('p', { class: 'pr-note' },
                'No rules (set them with pitot serve --alerts FILE).');
        const stateText = rule => {
            const own = states.filter(state => state.rule === rule.name);
            const on = own.filter(state => state.is_on);
            if (on.length === 0)
                return own.length === 0 ? 'no data' : 'off';
            return make('span', { class: 'pr-kind pr-kind-alert' }, 'on' + on.map(state =>
                state.entity ? ' ' + state.entity : '').join(','));
        };
        const heads = ['Rule', 'Metric', 'Limit', 'State'].map(label => ({ label }));
        return table(heads, rules.map(rule => [rule.name, this.metric(rule),
            limitText(rule, this.unit(rule)), stateText(rule)]));
    }

    column(tableName, name) {
        return this.store.tables.get(tableName)?.allColumns.find(one => one.name === name);
    }

    metric(rule) {
        const title = name => this.column(rule.table, name)?.title ?? name;
        return [title(rule.column) + (rule.of ? ', of ' + title(rule.of) : ''),
            make('small', { class: 'pr-name' }, rule.table + '.' + rule.column)];
    }

    /* Limits are in the unit of the recorded column, or percent of another. */
    unit({ table: tableName, column: name, of }) {
        const column = this.column(tableName, name);
        return of ? '%' : (column?.unit ?? '') + (column?.kind === 'counter' ? '/s' : '');
    }

    changeTable(changes) {
        if (changes.length === 0)
            return make('p', { class: 'pr-note' },
                'No alert has fired or cleared since the server started.');
        return table([{ label: 'Time' }, { label: 'Rule' }, { label: 'Entity' }, { label: 'State' },
            { label: 'Value', isNumber: true }], changes.map(change =>
            [new Date(change.time).toLocaleString(), change.rule, change.entity, change.state,
                change.value === null ? null : digits(change.value)]));
    }
}

function limitText(rule, unit) {
    const side = ['above', 'below'].filter(name => name in rule)
        .map(name => `${name} ${digits(rule[name])}${unit && THIN}${unit}`).join(' or ');
    return side + (rule.for_seconds ? ` for ${digits(rule.for_seconds)} s` : '');
}
