/* The page of `pitot serve`. Tables, columns, figures and their meaning come from /api/schema. */
const DRAWS_A_SECOND = 5, SLOW_MS = 30000, AGE_CHECK_MS = 1000;

class Page {
    constructor(schemaText) {
        this.schemaText = schemaText;
        this.store = new Store(JSON.parse(schemaText));
        this.view = new View();
        this.history = new History(this.store, this.view);
        this.alerts = new Alerts(this.store);
        this.runs = new Runs();
        this.profile = new Profile();
        this.overview = new Overview(this);
        this.tables = [...this.store.tables.values()]
            .filter(table => table.columns.length > 0 && table.kind !== 'events')
            .map(table => new TableSection(this, table));
        this.allCharts = allCharts;
        this.drawnAt = 0;
        this.drawCount = 0;
        this.isDrawing = false;
        this.hasNewCharts = false;
        this.view.on(() => this.wantDraw());
    }

    build(root) {
        this.help = helpDialog();
        this.search = search(root);
        this.themeButton = themeButton(() => this.restyle());
        this.bar = new Bar(this);
        this.sections = [...this.tables.map(one => one.element), this.profile.element,
            this.alerts.element, this.runs.element];
        this.nav = navigation(this.sections);
        root.replaceChildren(this.bar.element, this.overview.element, this.nav, ...this.sections);
        this.showNavigation();
        watchKeys(this);
        new ResizeObserver(() => allCharts.forEach(chart => chart.resize())).observe(root);
    }

    restyle() {
        allCharts.forEach(chart => chart.restyle());
        this.profile.restyle();
        this.wantDraw();
    }

    showNavigation() {
        this.sections.forEach((one, i) => {
            this.nav.children[i].hidden = one.hidden;
        });
    }

    /* A chart is new or has to be searched for: the filter applies to it, once per drawing. */
    onchart() {
        this.hasNewCharts = true;
    }

    filterCharts() {
        if (this.hasNewCharts)
            this.search.dispatchEvent(new Event('input'));
        this.hasNewCharts = false;
    }

    /* Values that no sample has confirmed for too long are not shown as those of now. */
    checkAge() {
        if (this.isCurrent !== this.store.isCurrent)
            this.wantDraw();
        this.isCurrent = this.store.isCurrent;
    }

    take(name, text) {
        if (name === 'alert')
            this.alerts.load();
        if (name !== 'sample')
            return;
        this.store.take(JSON.parse(text));
        this.view.add(this.store);
        this.bar.say('live', 'live');
        if (!this.view.fixed)
            this.wantDraw();
    }

    /* Limits the rate, and draws only while the page is visible. */
    wantDraw() {
        if (this.isDrawing || !this.view.frame)
            return;
        this.isDrawing = true;
        const wait = Math.max(0, this.drawnAt + 1000 / DRAWS_A_SECOND - performance.now());
        setTimeout(() => requestAnimationFrame(now => {
            this.isDrawing = false;
            this.drawnAt = now;
            this.draw();
        }), wait);
    }

    draw() {
        this.drawCount++;
        this.overview.update();
        for (const one of this.tables) {
            one.update();
            if (one.list?.isSeen && !this.view.isPaused)
                one.list.show();
        }
        this.filterCharts();
        this.showNavigation();
        allCharts.forEach(chart => chart.isSeen && chart.show());
    }

    goTo(direction) {
        const places = [this.overview.element, ...this.sections.filter(one => !one.hidden)];
        const edge = this.bar.element.offsetHeight + 40;
        const at = places.findLastIndex(one => one.getBoundingClientRect().top <= edge);
        places[Math.max(0, Math.min(places.length - 1, at + direction))]?.scrollIntoView();
    }

    /* After a restart the server may have another version than this page. */
    async check() {
        const text = await (await ask('api/schema')).text();
        if (text !== this.schemaText)
            location.reload();
        this.history.renew();
        await this.loadLists();
    }

    loadLists() {
        return Promise.all([this.alerts.load(), this.runs.load()]);
    }
}

async function start() {
    theme.apply(theme.read());
    const root = document.getElementById('dashboard');
    if (typeof uPlot === 'undefined')
        throw new Error('this pitot was built without the chart library');
    const page = new Page(await (await ask('api/schema')).text());
    page.build(root);
    window.pitotDashboard = page;
    setInterval(() => document.hidden || page.loadLists(), SLOW_MS);
    setInterval(() => page.checkAge(), AGE_CHECK_MS);
    await new Stream('api/stream', {
        onopen: () => page.check(),
        onevent: (name, text) => page.take(name, text),
        onlost: seconds => page.bar.say('lost', `no connection, retrying in ${seconds} s`),
    }).run();
}

start().catch(error => {
    document.getElementById('dashboard').textContent =
        'The dashboard cannot start: ' + error.message;
});
