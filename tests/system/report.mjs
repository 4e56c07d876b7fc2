// Checks reports in Chromium. The CSV of the same run says what cards and charts must show.
//     node report.mjs DIRECTORY [SCREENSHOT_DIRECTORY]
// Prints TAP.
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { launch, newPage, ok, runTests, screenshots, test } from './browser.mjs';

const [directory, shots] = process.argv.slice(2);
/* Cards show three digits. */
function near(actual, expected, what) {
    ok(Math.abs(actual - expected) <= Math.abs(expected) * 0.006, `${what}: ${actual}, expected ${expected}`);
}

/* Columns of the main CSV; times in seconds since the first row. None of its cells has a comma. */
function readMain(run) {
    const name = readdirSync(path.join(directory, run)).find(file => /^[^.]+\.csv$/.test(file));
    const [head, ...lines] = readFileSync(path.join(directory, run, name), 'utf8').trim().split('\n');
    const names = head.split(',');
    const columns = Object.fromEntries(names.map(column => [column, []]));
    for (const line of lines)
        line.split(',').forEach((cell, i) => columns[names[i]].push(cell === '' ? NaN : Number(cell)));
    columns.seconds = columns.monotonic_ns.map(ns => (ns - columns.monotonic_ns[0]) / 1e9);
    return columns;
}

const csv = readMain('run');
const within = (column, from, to) => csv[column].filter((value, i) =>
    csv.seconds[i] >= from && csv.seconds[i] <= to && !Number.isNaN(value));

const SCALE = { B: 1, KiB: 1024, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, ms: 1e-3, s: 1, 'µs': 1e-6,
    '%': 0.01, mW: 1e-3, kW: 1e3, mJ: 1e-3, kJ: 1e3, mg: 1e-3, kg: 1e3, M: 1e6 };

/* The number of a text in base units, and half of its last digit. */
function printed(text) {
    const [, number, unit] = /^(-?[\d.\u202f]+)[\u202f ]?([^\d]*)$/.exec(text) || [];
    const digits = number?.replaceAll('\u202f', '') ?? '';
    const scale = SCALE[unit?.replace(/\/s$/, '')] ?? 1;
    return { value: Number(digits) * scale, half: 0.5 * scale / 10 ** (digits.split('.')[1] ?? '').length };
}

const parse = text => printed(text).value;

/* Two texts of one number agree to the last digit of the one with fewer. */
function same(a, b, what) {
    const [one, other] = [printed(a), printed(b)];
    const slack = Math.max(one.half, other.half) * (1 + 1e-9) + Math.min(one.half, other.half);
    ok(Math.abs(one.value - other.value) <= slack, `${what}: ${a} and ${b}`);
}

const browser = await launch();

async function scriptSeconds(page) {
    const { metrics } = await page.session.send('Performance.getMetrics');
    return metrics.find(metric => metric.name === 'ScriptDuration').value;
}

async function open(file, options = {}) {
    const page = await newPage(browser, options);
    page.session = await page.context().newCDPSession(page);
    await page.session.send('Performance.enable');
    await page.goto('file://' + path.resolve(directory, file));
    await page.waitForFunction(() => window.pitotReport?.isReady);
    page.scriptSeconds = await scriptSeconds(page);
    await page.locator('#figures').scrollIntoViewIfNeeded();
    await page.waitForFunction(() => document.querySelector('.uplot canvas'));
    await page.evaluate(() => window.scrollTo(0, 0));
    return page;
}

const shot = screenshots(shots, 'report-');
const card = (page, title, label) => page.evaluate(([wanted, part]) => {
    const element = document.querySelector(`[data-card="${wanted}"]`);
    const rows = [...element.querySelectorAll('li'), element.querySelector('.pr-large')];
    return rows.find(row => row.querySelector('span').textContent === part).querySelector('b').textContent;
}, [title, label]);
const setWindow = (page, from, to) => page.evaluate(([a, b]) => window.pitotReport.view.set(a, b), [from, to]);
const getWindow = page => page.evaluate(() => {
    const { from, to, end } = window.pitotReport.view;
    return { from, to, end };
});
/* Pixels that were drawn on the canvases of charts in view. */
const inked = page => page.evaluate(() => [...document.querySelectorAll('.uplot canvas')].map(canvas => {
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 3; i < data.length; i += 4)
        count += data[i] > 0;
    return count;
}));

const page = await open('demo.html');

test('the report opens from disk and asks for nothing else', async () => {
    ok(page.asked.every(url => /^(file|data):/.test(url)), 'asked for ' + page.asked);
    ok(page.complaints.length === 0, page.complaints.join('; '));
    ok(await page.title() !== 'Report – pitot', 'it has no title');
    await shot(page, 'light');
});

test('what is in view is drawn', async () => {
    const counts = await inked(page);
    ok(counts.length >= 3 && counts.every(count => count > 500), 'pixels: ' + counts);
});

test('cards say what the CSV says', async () => {
    near(parse(await card(page, 'Memory', 'peak')), Math.max(...within('vMemoryUsed', 0, 1e9)), 'memory');
    const requests = within('requests_finished_total', 0, 1e9);
    ok(parse(await card(page, 'Requests', 'finished')) === requests.at(-1) - requests[0], 'requests');
    const tokens = within('tokens_generation_total', 0, 1e9);
    ok(parse(await card(page, 'Tokens generated', 'while scraped')) === tokens.at(-1) - tokens[0], 'tokens');
});

/* Rows of a file with keys. Command lines have commas, quotes and line breaks. */
function readRows(run, suffix) {
    const name = readdirSync(path.join(directory, run)).find(file => file.endsWith(`.${suffix}.csv`));
    const rows = [[]];
    for (const [, quoted, plain, end] of readFileSync(path.join(directory, run, name), 'utf8')
        .matchAll(/(?:"((?:[^"]|"")*)"|([^",\n]*))(,|\n)/g)) {
        rows.at(-1).push(quoted?.replaceAll('""', '"') ?? plain);
        if (end === '\n')
            rows.push([]);
    }
    const [head, ...cells] = rows.slice(0, -1);
    return cells.map(row => Object.fromEntries(row.map((cell, i) => [head[i], cell])));
}

/* histogram_quantile() of what was counted in a part of the run. */
function quantile(latency, level, from, to) {
    const counts = new Map();
    for (const row of readRows('run', 'engine_histograms')) {
        const time = (Number(row.monotonic_ns) - csv.monotonic_ns[0]) / 1e9;
        if (row.hName === latency && time >= from && time <= to)
            counts.set(Number(row.hLe), { above: Number(row.hAbove), count: Number(row.hCount) +
                (counts.get(Number(row.hLe))?.count ?? 0) });
    }
    const buckets = [...counts].sort(([a], [b]) => a - b);
    const rank = level * buckets.reduce((sum, [, { count }]) => sum + count, 0);
    let below = 0;
    for (const [le, { above, count }] of buckets) {
        if (below + count >= rank)
            return above + (le - above) * (rank - below) / count;
        below += count;
    }
    return NaN;
}

async function checkLatencies(from, to) {
    for (const [title, latency] of [['Time to first token', 'ttft'], ['Between tokens', 'inter_token']])
        for (const level of [50, 95, 99]) {
            const shown = printed(await card(page, title, 'p' + level));
            const expected = quantile(latency, level / 100, from, to);
            ok(Math.abs(shown.value - expected) <= shown.half * (1 + 1e-6),
                `${title}, p${level}: ${shown.value}, ${expected}`);
        }
    const lines = await page.evaluate(() => [...window.pitotReport.charts].flatMap(chart => {
        const isPercentile = line => /^latency_\w+_s_p\d+$/.test(line.name);
        if (!chart.lines.some(isPercentile))
            return [];
        chart.show();
        return chart.lines.filter(isPercentile).map(({ name }, i) => ({ name, summary: chart.summary.textContent,
            text: chart.legendValues[i].textContent }));
    }));
    ok(lines.length >= 2 * 6 * 4, `${lines.length} lines of percentiles`); // of all engines, and of each
    for (const { name, text, summary } of lines) {
        const [, latency, level] = /^latency_(\w+)_s_p(\d+)$/.exec(name);
        const expected = quantile(latency, level / 100, from, to), shown = printed(text);
        ok(Math.abs(shown.value - expected) <= shown.half * (1 + 1e-6), `${name}: ${text}, ${expected}`);
        ok(summary === 'of this time', `${name}: ${summary}`);
    }
}

test('C315: latencies are those of all requests, not means of quantiles', async () => {
    await checkLatencies(0, 1e9);
    const { end } = await getWindow(page);
    await setWindow(page, end * 0.4, end * 0.8);
    await checkLatencies(end * 0.4, end * 0.8);
    await setWindow(page, 0, end);
});

/* Peak memory of the command at each sample: of its processes together, or of the one whose peak the
 * kernel has just raised. */
function peaks(run, { monotonic_ns, pTreeResidentSetSize }) {
    const raised = new Map();
    for (const row of readRows(run, 'processes').filter(row => row.pIsRecorded === '1'))
        raised.set(Number(row.monotonic_ns), Math.max(raised.get(Number(row.monotonic_ns)) ?? 0,
            Number(row.pPeakResidentSetSize)));
    let highest = 0;
    return monotonic_ns.map((ns, i) => {
        const mark = raised.get(ns) ?? 0;
        const bytes = mark > highest ? Math.max(mark, pTreeResidentSetSize[i]) : pTreeResidentSetSize[i];
        highest = Math.max(highest, mark);
        return { ns, bytes };
    });
}

if (existsSync(path.join(directory, 'merged.html')))
    test('a merged report adds its ranks, and counts their machine once', async () => {
        const merged = await open('merged.html');
        const ranks = ['rank0', 'rank1'].map(readMain);
        const samples = ['rank0', 'rank1'].flatMap((run, of) => peaks(run, ranks[of])
            .map(({ ns, bytes }) => ({ ns, of, bytes }))).sort((a, b) => a.ns - b.ns);
        const last = [0, 0];
        let both = 0;
        for (const { of, bytes } of samples.filter(sample => !Number.isNaN(sample.bytes))) {
            last[of] = bytes;
            both = Math.max(both, last[0] + last[1]);
        }
        near(parse(await card(merged, 'Memory', 'peak')), Math.max(...ranks[0].vMemoryUsed), 'memory');
        near(parse(await card(merged, 'Memory', 'command, peak')), both, 'memory of both');
        ok((await merged.locator('#ranks').textContent()).includes('2 runs on 1 machine'), 'who was merged');
        ok(merged.complaints.length === 0, merged.complaints.join('; '));
        await shot(merged, 'merged');
        await merged.close();
    });

test('a brush over the time bar changes the figures to those of its part', async () => {
    const before = await card(page, 'Tokens generated', 'while scraped');
    const box = await page.locator('.pr-strip').boundingBox();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + 20, { steps: 5 });
    await page.mouse.up();
    const { from, to, end } = await getWindow(page);
    ok(Math.abs(from / end - 0.5) < 0.01 && Math.abs(to / end - 0.75) < 0.01, `${from} to ${to}`);
    ok(await card(page, 'Tokens generated', 'while scraped') !== before, 'tokens did not change');
    near(parse(await card(page, 'Memory', 'peak')), Math.max(...within('vMemoryUsed', from, to)), 'memory');
    const running = within('system_requests_running', from, to);
    near(parse(await card(page, 'Requests', 'running, mean')),
        running.reduce((sum, n) => sum + n, 0) / running.length, 'requests running');
    await shot(page, 'window');
});

test('all charts show the window, and Escape shows all again', async () => {
    const { from, to, end } = await getWindow(page);
    const shown = await page.evaluate(() => [...window.pitotReport.charts].filter(chart => chart.isSeen)
        .map(chart => [chart.plot.scales.x.min, chart.plot.scales.x.max]));
    ok(shown.length >= 3 && shown.every(([min, max]) => min === from && max === to), JSON.stringify(shown));
    await page.keyboard.press('Escape');
    const after = await getWindow(page);
    ok(after.from === 0 && after.to === end, 'Escape');
});

test('a drag over a chart is a brush as well, a double click ends it', async () => {
    const over = page.locator('.u-over').first();
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    await page.mouse.move(box.x + box.width * 0.25, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 40, { steps: 5 });
    await page.mouse.up();
    const { from, to, end } = await getWindow(page);
    ok(Math.abs(from / end - 0.25) < 0.02 && Math.abs(to / end - 0.5) < 0.02, `${from} to ${to}`);
    await page.mouse.dblclick(box.x + 50, box.y + 40);
    ok((await getWindow(page)).to === end, 'the double click');
});

test('one cursor on all charts', async () => {
    const box = await page.locator('.u-over').first().boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + 40);
    const places = await page.evaluate(() => [...window.pitotReport.charts].filter(chart => chart.plot &&
        chart.isSeen).map(chart => chart.plot.posToVal(chart.plot.cursor.left, 'x')));
    ok(places.length >= 3 && Math.max(...places) - Math.min(...places) < 0.1, places.join());
    ok(/^at /.test(await page.locator('.pr-pointer').textContent()), 'the time bar does not say when');
});

test('the keyboard zooms and moves the window', async () => {
    await page.locator('.pr-strip').focus();
    await page.keyboard.press('+');
    const zoomed = await getWindow(page);
    near(zoomed.to - zoomed.from, zoomed.end / 2, 'zoom');
    await page.keyboard.press('ArrowRight');
    ok((await getWindow(page)).from > zoomed.from, 'arrow');
    await page.keyboard.press('Home');
    ok((await getWindow(page)).from === 0, 'Home');
});

/* By its title; its name is a detail. */
test('C314: every column that was recorded is on the page', async () => {
    const missing = await page.evaluate(() => {
        const { tables } = window.pitotReport.model.data;
        return tables.flatMap(table => {
            const place = document.getElementById('table-' + table.name);
            const words = [...place?.querySelectorAll('.pr-chart') ?? []].map(chart => chart.dataset.words);
            const text = [place?.textContent, ...words, document.getElementById('origin').textContent]
                .join(' ').toLowerCase();
            return [...table.columns, ...table.absent].filter(column =>
                !text.includes(column.title.toLowerCase())).map(column => column.name);
        });
    });
    ok(missing.length === 0, missing.join());
    const names = await page.evaluate(() => window.pitotReport.model.data.tables.flatMap(table =>
        [...table.columns, ...table.absent].map(column => column.name)));
    const columns = Object.keys(csv).filter(name => /^v/.test(name) && !/T$/.test(name));
    ok(columns.every(name => names.includes(name)), 'a column of the CSV');
});

/* Shows every chart, so that each has drawn its axes; gives what it says. */
const readCharts = () => page.evaluate(() => [...window.pitotReport.charts].map(chart => {
    chart.element.hidden = false;
    chart.show();
    const axis = chart.plot.axes[1];
    const said = { title: chart.title, isStacked: Boolean(chart.isStacked), unit: chart.unit,
        lines: chart.lines.map(line => ({ label: line.label, name: line.name, isLimit: Boolean(line.isLimit) })),
        ticks: axis.values(chart.plot, [0, 0.5, 1, 7.76]), summary: chart.summary.textContent,
        isOnRequest: 'isOnRequest' in chart.element.dataset };
    chart.element.hidden = said.isOnRequest;
    return said;
}));

test('C314: a chart is a family, with titles in place of names', async () => {
    const charts = await readCharts();
    const columns = await page.evaluate(() => window.pitotReport.model.data.tables.flatMap(table =>
        table.columns.map(column => ({ ...column, table: table.name, series: undefined }))));
    const names = new Set(columns.map(column => column.name));
    ok(charts.every(chart => !names.has(chart.title)), 'a title is a name');
    ok(charts.every(chart => chart.lines.every(line => !names.has(line.label))), 'a label is a name');
    const modes = charts.find(chart => chart.title === 'CPU time by mode, cores');
    const expected = columns.filter(column => column.table === 'cpu' && column.family === modes.title);
    ok(modes.isStacked && expected.length >= 7 && modes.lines.filter(line => !line.isLimit).length ===
        expected.length, JSON.stringify(modes));
    ok(modes.lines.some(line => line.label === 'user'), 'what the titles have in common is left out');
    const titles = charts.map(chart => chart.title);
    ok(titles.filter(title => title === 'Disk throughput').length === 2, 'of all disks, and of each');
    ok(!titles.includes('Disk read · Disk throughput'), 'a column of a family has no chart of its own');
});

test('C314: a stack has gaps where its parts have', async () => {
    const stacks = await page.evaluate(() => [...window.pitotReport.charts].filter(chart => chart.isStacked)
        .map(chart => {
            chart.show();
            const [, ...drawn] = chart.plot.data;
            const isKnown = value => value !== null && value !== undefined;
            const wrong = drawn[0].findIndex((_, at) => {
                const parts = chart.columns.slice(0, chart.measured).map(column => column[at]);
                const top = drawn[chart.measured - 1][at];
                return parts.some(isKnown) ? Math.abs(parts.reduce((sum, v) => sum + (v ?? 0), 0) - top) >
                    1e-6 * Math.abs(top) : isKnown(top) || (parts.includes(undefined) && top === null);
            });
            return { title: chart.title, wrong };
        }));
    ok(stacks.length >= 3 && stacks.every(({ wrong }) => wrong < 0), JSON.stringify(stacks));
});

test('C314: values and axes have the form of their column', async () => {
    const charts = await readCharts();
    const suffix = { cores: / ?cores?$/, ratio: /%$/, bytes: /B(\/s)?$/, watts: /W$/, celsius: /°C$/ };
    for (const chart of charts) {
        const isRight = text => !suffix[chart.unit] || suffix[chart.unit].test(text);
        ok(chart.ticks.filter(Boolean).every(isRight), `${chart.title}: ${chart.ticks}`);
        ok(chart.unit === 'ratio' || !/%/.test(chart.summary + chart.ticks), `${chart.title} is not a share`);
    }
    const cpu = charts.filter(chart => /\bCPU\b/.test(chart.title) && ['cores', 'ratio'].includes(chart.unit));
    ok(cpu.length >= 5, 'charts of CPU time');
    const sections = await page.evaluate(() => Object.fromEntries([...document.querySelectorAll('.pr-chart')]
        .map(one => [one.chart.title, one.closest('.pr-section').getAttribute('aria-label')])));
    for (const chart of cpu.filter(({ unit }) => unit === 'cores'))
        ok(/cores|Command/.test(chart.title), `${chart.title} does not say that it is in cores`);
    for (const chart of cpu.filter(({ unit }) => unit === 'ratio'))
        ok(/of the machine|of one CPU|pressure/i.test(chart.title) || sections[chart.title] === 'Each CPU',
            `${chart.title} does not say of what it is a share`);
});

test('C314: columns for programs are drawn for those who ask', async () => {
    const hidden = () => page.evaluate(() => [...window.pitotReport.charts]
        .filter(chart => chart.element.hidden).map(chart => chart.title));
    const before = await hidden();
    const raw = (await readCharts()).filter(chart => chart.isOnRequest).map(chart => chart.title);
    ok(raw.length > 0 && raw.join() === before.join(), `${before}; raw: ${raw}`);
    await page.locator('input[type=search]').fill(raw[0]);
    ok(!(await hidden()).includes(raw[0]), 'the search does not find it');
    await page.locator('input[type=search]').fill('');
    ok((await hidden()).join() === before.join(), 'it stays after the search');
});

/* "Disk read   5.8 MiB/s  576 MiB/s  ▁▁█" of the text at the end of the run */
function readSummary() {
    const lines = readFileSync(path.join(directory, 'summary.txt'), 'utf8').split('\n');
    const from = lines.findIndex(line => /^ +whole run +peak$/.test(line)) + 1;
    return lines.slice(from).map(line => [line.slice(0, 20).trim(), line.slice(20, 31).trim(),
        line.slice(31, 42).trim()]).filter(([title]) => title !== '')
        .filter(([title, mean]) => /^[\d.]/.test(mean) && !/\(/.test(mean) && !title.startsWith('Files:'));
}

test('C315: summary, chart, card and JSON print one number', async () => {
    const summary = readSummary().filter(([title]) => title !== 'Energy' && !/^Pitot used/.test(title));
    const explained = JSON.parse(readFileSync(path.join(directory, 'explained.json'), 'utf8'));
    const charts = await page.evaluate(() => window.pitotReport.model.data.figures.map(figure => {
        const { model, view, charts: all } = window.pitotReport;
        const range = model.stretches(view.from, view.to);
        const chart = [...all].find(one => one.lines[0].curve === figure);
        chart?.show();
        return { name: figure.name, label: figure.label, unit: figure.unit, summary: chart?.summary.textContent,
            mean: model.mean(figure, range), peak: model.peak(figure, range) };
    }));
    ok(summary.length >= 12, `${summary.length} lines in the summary`);
    for (const [title, mean, peak] of summary) {
        const figure = charts.find(one => one.label === title);
        ok(figure, `${title} is not in the report`);
        const exact = value => ({ value, text: String(value) });
        for (const [text, value, what] of [[mean, figure.mean, 'mean'], [peak, figure.peak, 'peak']]) {
            const { value: number, half } = printed(text);
            ok(Math.abs(number - exact(value).value) <= half * (1 + 1e-6) + 1e-7 * Math.abs(value),
                `${title}, ${what}: ${text} and ${value}`);
        }
        const [, shownMean, shownPeak] = /^(?:mean )?(.*?)(?: of this time)? · peak (.*)$/.exec(figure.summary ?? '') ?? [];
        if (shownMean) {
            same(shownMean, mean, `mean of ${title} above its chart`);
            same(shownPeak, peak, `peak of ${title} above its chart`);
        }
        const told = explained.figures?.[figure.name];
        ok(told === undefined || Math.abs(told - figure.mean) <= 1e-6 * Math.abs(told),
            `${title} in JSON: ${told} and ${figure.mean}`);
    }
    const of = title => summary.find(([one]) => one === title) ?? [];
    same(await card(page, 'Time to first token', 'p50'), of('First token, p50')[1], 'time to first token');
    same(await card(page, 'Between tokens', 'p99'), of('Inter-token, p99')[1], 'between tokens');
    same(await card(page, 'Tokens generated', 'mean'), of('Tokens generated')[1], 'tokens');
    same(await card(page, 'CPU', 'of the machine, mean'), of('CPU, of the machine')[1], 'CPU');
    same(await card(page, 'CPU', 'command, mean'), of('Command: CPU')[1], 'CPU of the command');
    same(await card(page, 'Memory', 'peak'), of('Memory used')[2], 'memory');
});

test('C315: energy, carbon and cost are those of pitot energy', async () => {
    const { figures } = JSON.parse(readFileSync(path.join(directory, 'energy.json'), 'utf8'));
    for (const [label, key] of [['energy', 'energy'], ['power, mean', 'power'], ['CO2e', 'co2e']]) {
        const { value, half } = printed(await card(page, 'Energy and cost', label));
        ok(Math.abs(value - figures[key].value) <= half * (1 + 1e-6), `${label}: ${value} and ${figures[key].value}`);
    }
});

test('a chart has the values of the CSV', async () => {
    const drawn = await page.evaluate(() => {
        const { model } = window.pitotReport;
        const column = model.data.tables.flatMap(table => table.columns)
            .find(one => one.name === 'vMemoryUsed');
        return [...model.values(column.series[0])].filter(value => !Number.isNaN(value));
    });
    const expected = within('vMemoryUsed', 0, 1e9);
    ok(drawn.length === expected.length, `${drawn.length} values`);
    const range = Math.max(...expected) - Math.min(...expected);
    ok(drawn.every((value, i) => Math.abs(value - expected[i]) <= range / 4096), 'values');
});

test('spans, processes, marks and where figures come from', async () => {
    ok(await page.locator('#spans tbody tr').count() >= 2, 'names of spans');
    ok(await page.locator('#events', { hasText: 'first mark' }).count() === 1, 'the mark');
    ok(await page.locator('#processes tbody tr:not([hidden])').count() >= 1, 'processes');
    ok(/modelled/.test(await page.locator('#origin').textContent()), 'what is modelled');
    await page.locator('#spans').scrollIntoViewIfNeeded();
    await shot(page, 'spans');
    await page.locator('#processes').scrollIntoViewIfNeeded();
    await shot(page, 'processes');
});

test('the filter leaves what has its words', async () => {
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('/');
    await page.keyboard.type('context switches');
    const titles = await page.locator('.pr-chart:not([hidden]) .pr-title').allTextContents();
    ok(titles.some(title => /^Context switches/.test(title)) && titles.length < 12, titles.join());
    await page.locator('input[type=search]').fill('');
});

test('it prints', async () => {
    ok((await page.pdf()).length > 20000, 'the print is empty');
    ok(page.complaints.length === 0, page.complaints.join('; '));
});

test('dark and narrow screens', async () => {
    const dark = await open('demo.html', { colorScheme: 'dark' });
    const ground = () => dark.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const first = await ground();
    await shot(dark, 'dark');
    await dark.getByRole('button', { name: 'Theme' }).click();
    ok(first !== await ground(), 'the theme button changes nothing');
    const narrow = await open('demo.html', { viewport: { width: 390, height: 844 } });
    const width = await narrow.evaluate(() => document.documentElement.scrollWidth);
    ok(width <= 390, `the page is ${width} pixels wide`);
    await shot(narrow, 'phone');
    ok(dark.complaints.length + narrow.complaints.length === 0, 'complaints');
});

test('a brush changes the flame graph to the samples of its part', async () => {
    if (!existsSync(path.join(directory, 'profiled.html'))) {
        console.log('# no profile: perf events are not allowed here');
        return;
    }
    const profiled = await open('profiled.html');
    const { end } = await getWindow(profiled);
    const whole = () => profiled.evaluate(() => window.pitotFlame.last.whole);
    const all = await whole();
    const expected = await profiled.evaluate(([from, to]) => {
        const { model, filter } = window.pitotFlame.last;
        const { offset } = window.pitotReport.model.data.flame;
        return model.values[filter.type].reduce((sum, value, i) => {
            const time = model.time[i] * model.step / 1e9 + offset;
            return time >= from && time <= to ? sum + value : sum;
        }, 0);
    }, [end * 0.4, end * 0.8]);
    ok(expected > 0 && expected < all, `${expected} of ${all} are in the part`);
    await setWindow(profiled, end * 0.4, end * 0.8);
    await profiled.waitForFunction(before => window.pitotFlame.last.whole !== before, all);
    near(await whole(), expected, 'time in the graph');
    await profiled.locator('#flame').scrollIntoViewIfNeeded();
    await shot(profiled, 'flame');
    await profiled.keyboard.press('Escape');
    await profiled.waitForFunction(before => window.pitotFlame.last.whole === before, all);
    ok(profiled.complaints.length === 0, profiled.complaints.join('; '));
});

test('C244: a run with a profile of memory shows it, of the whole run', async () => {
    const heap = await open('heap.html');
    const { end } = await getWindow(heap);
    const lines = readFileSync(path.join(directory, 'heap.folded'), 'utf8').trimEnd().split('\n');
    const peak = lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
    const whole = () => heap.evaluate(() => window.pitotFlame.last.whole);
    await heap.locator('#heap').getByLabel('Value', { exact: true }).selectOption('peak');
    ok(peak > 1 << 20, `${peak} bytes`);
    near(await whole(), peak, 'bytes at the peak');
    ok(await heap.locator('#heap .pf-live-canvas').count() === 1, 'live bytes over time');
    await setWindow(heap, end * 0.4, end * 0.8);
    near(await whole(), peak, 'the part that is shown changes nothing');
    await heap.locator('#heap').scrollIntoViewIfNeeded();
    await shot(heap, 'heap');
    ok(heap.complaints.length === 0, heap.complaints.join('; '));
});

test('a day of samples is a small page and shows a peak of one second', async () => {
    const size = statSync(path.join(directory, 'day.html')).size;
    ok(size < 5e6, `${size} bytes`);
    const day = await open('day.html');
    console.log(`# ${size} bytes; until it was ready scripts ran for ${day.scriptSeconds.toFixed(2)} s`);
    const peak = await day.evaluate(() => {
        const { model } = window.pitotReport;
        const column = model.data.tables.flatMap(table => table.columns).find(one => one.name === 'vMemoryUsed');
        return Math.max(...model.values(column.series[0]));
    });
    near(peak, 1e7, 'the peak');
    near(parse(await card(day, 'Memory', 'peak')), 1e7, 'the peak on its card');
    await setWindow(day, 0, 3600);
    ok(parse(await card(day, 'Memory', 'peak')) < 3e6, 'the first hour has no peak');
    ok((await inked(day)).every(count => count > 500), 'nothing is drawn');
    await setWindow(day, 0, 86400);
    await shot(day, 'day');
    await day.locator('#table-container').scrollIntoViewIfNeeded();
    await day.waitForFunction(() => document.querySelector('#table-container .uplot'));
    ok(/limit/i.test(await day.locator('#table-container').textContent()), 'no limit is drawn');
    await shot(day, 'containers');
    ok(day.complaints.length === 0, day.complaints.join('; '));
});

const passed = await runTests();
await browser.close();
process.exit(passed ? 0 : 1);
