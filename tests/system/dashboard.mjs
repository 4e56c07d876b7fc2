/* See dashboard.sh. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { totalmem } from 'node:os';
import path from 'node:path';
import { launch, newPage, ok, runTests, screenshots, test } from './browser.mjs';
import { MadeUpServer } from './made_up_server.mjs';

const [pitot, directory, shots] = process.argv.slice(2);
const TOKEN = 'a-token-of-the-test';

async function freePort() {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address();
    server.close();
    await once(server, 'close');
    return port;
}

/* Programs that were started here; all are ended. */
const programs = new Set();

function run(...words) {
    const program = spawn(pitot, words, { stdio: ['ignore', 'ignore', 'inherit'] });
    programs.add(program);
    program.on('exit', () => programs.delete(program));
    return program;
}

async function end(program) {
    const ended = once(program, 'exit');
    program.kill('SIGINT');
    await ended;
}

async function answers(url) {
    for (let i = 0; i < 600; i++) {
        if (await fetch(url).then(response => response.ok, () => false))
            return;
        await new Promise(resolve => setTimeout(resolve, 100));
    }
    throw new Error(`${url} does not answer`);
}

const [enginePort, port, tokenPort] = [await freePort(), await freePort(), await freePort()];
const engine = run('demo', '--serve', '--self-load', '--seconds', '3600', '--threads', '1',
    '--concurrency', '4', '--listen', String(enginePort), '-q');
const serve = () => run('serve', '-q', '-p', '-t', '200ms', '--listen', String(port), '--engine',
    String(enginePort), '--runs', path.join(directory, 'runs'), '--state-dir',
    path.join(directory, 'state'), '--alerts', path.join(directory, 'rules'), '--token-file',
    path.join(directory, 'token'));
const origin = `http://127.0.0.1:${port}/`;
await answers(`http://127.0.0.1:${enginePort}/metrics`);
let server = serve();
await answers(origin + 'health/ready');

const browser = await launch('--enable-precise-memory-info');

async function open(url = origin, options = {}) {
    const page = await newPage(browser, options);
    page.setDefaultTimeout(60000);
    await page.goto(url);
    return page;
}

const samples = (page, count) => page.evaluate(() => window.pitotDashboard.store.sampleCount)
    .then(before => page.waitForFunction(wanted =>
        window.pitotDashboard.store.sampleCount >= wanted, before + count));

async function openLive(url, options) {
    const page = await open(url, options);
    await page.waitForFunction(() => window.pitotDashboard?.store.sampleCount >= 5);
    await page.waitForFunction(() => document.querySelector('.pr-chart:not([hidden])'));
    await page.locator('.pr-chart:visible').first().scrollIntoViewIfNeeded();
    await page.waitForFunction(() => document.querySelector('.pr-plot canvas'));
    await page.evaluate(() => window.scrollTo(0, 0));
    return page;
}

const shot = screenshots(shots, 'dashboard-');
const card = (page, title) => page.locator(`[data-card="${title}"]`);
const largeOf = (page, title) => card(page, title).locator('.pr-large b').textContent();
const state = page => page.locator('.pd-state').textContent();
/* Pixels that were drawn on the canvases of charts in view. */
const inked = page => page.evaluate(() => [...window.pitotDashboard.allCharts].filter(chart =>
    chart.isSeen && chart.plot).map(chart => {
    const canvas = chart.plot.ctx.canvas;
    const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
    let count = 0;
    for (let i = 3; i < data.length; i += 4)
        count += data[i] > 0;
    return count;
}));
const scaleOf = page => page.evaluate(() => {
    const chart = [...window.pitotDashboard.allCharts].find(one => one.isSeen && one.plot);
    return { min: chart.plot.scales.x.min, max: chart.plot.scales.x.max,
        points: chart.plot.data[0].length };
});

/* The first sample of the stream, read here. */
async function wholeSample() {
    const response = await fetch(origin + 'api/stream');
    let text = '';
    for await (const bytes of response.body) {
        text += Buffer.from(bytes).toString();
        const data = /^data: (.*)\n\n/m.exec(text);
        if (data)
            return JSON.parse(data[1]);
    }
    throw new Error('the stream ended');
}

const page = await openLive();

test('the dashboard asks its server only, by a strict policy, without a complaint', async () => {
    ok(page.asked.every(url => url.startsWith(origin) || url.startsWith('data:')), page.asked.join());
    const policy = (await fetch(origin)).headers.get('content-security-policy');
    ok(/default-src 'none'/.test(policy) && !/unsafe/.test(policy), policy);
    await page.waitForFunction(() => document.querySelector('[data-card="Tokens generated"]:not([hidden])'));
    ok(await state(page) === 'live', await state(page));
    ok(page.complaints.length === 0, page.complaints.join('; '));
});

const schema = await (await fetch(origin + 'api/schema')).json();
const headlines = schema.figures.filter(figure => figure.importance === 'headline');

/* The titles of charts, without the small names behind them. */
const titlesOf = charts => charts.locator('.pr-title').evaluateAll(all =>
    all.map(element => element.firstChild.textContent));

test('C317: the overview has the headline figures that have data, the workload first', async () => {
    await page.waitForFunction(() => document.querySelector('[data-figure="engine.tokens"]:not([hidden])'));
    const { figures } = await wholeSample();
    const shown = await page.locator('[data-figure]:visible').evaluateAll(all =>
        all.map(element => element.dataset.figure));
    const has = owner => headlines.some(({ name, whose }) => whose === owner && figures[name] !== null);
    for (const { name } of headlines.filter(one => ['engine', 'cpu', 'mem'].includes(one.whose)))
        ok(shown.includes(name), `${name} is not among ${shown}`);
    ok(shown.some(name => name.startsWith('gpu.')) === has('gpu'), 'GPU: ' + shown);
    ok(shown.some(name => name.startsWith('own.')) === has('own'), 'command: ' + shown);
    ok(shown.lastIndexOf('engine.kv_cache') < shown.indexOf('cpu.busy'), shown.join());
    const note = await page.locator('[data-figure="mem.used"] .pr-large span').textContent();
    const [, total] = /^of ([\d.]+)\u202fGiB$/.exec(note) || [];
    ok(Math.abs(total * 2 ** 30 / totalmem() - 1) < 0.01, note);
    await card(page, 'Alerts').waitFor({ state: 'visible' });
});

const FACTORS = { '%': 0.01, KiB: 2 ** 10, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, ms: 1e-3, 'µs': 1e-6,
    min: 60, mW: 1e-3, kW: 1e3, M: 1e6 };

/* What a text such as "23.5 MiB/s" says. */
function numberIn(text) {
    const [, digits, unit] = /^([\d.\u202f]+?)\u202f?([^\d.\u202f]*)$/.exec(text.replace(/\/s$/, ''));
    return Number(digits.replaceAll('\u202f', '')) * (FACTORS[unit] ?? 1);
}

test('C315: a card shows the figure of the stream, which is that of the history', async () => {
    const seen = await page.evaluate(async names => {
        const { store, view } = window.pitotDashboard;
        const one = [];
        for (let i = 0; i < 10; i++) {
            const { sampleCount } = store;
            while (store.sampleCount === sampleCount)
                await new Promise(resolve => setTimeout(resolve, 10));
            window.pitotDashboard.draw();
            one.push({ time: store.time, isFixed: Boolean(view.fixed), figures: names.map(name => ({ name,
                value: store.figures.values.get(name) ?? null, text: document.querySelector(
                    `[data-figure="${name}"] .pr-large b`).textContent })) });
        }
        return one;
    }, headlines.map(figure => figure.name));
    await samples(page, 2);
    const answer = await (await fetch(`${origin}api/history?figure=${headlines.map(one => one.name)}` +
        `&from=${seen[0].time}&to=${seen.at(-1).time + 1}&step=1`)).json();
    let compared = 0;
    for (const { time, figures } of seen)
        for (const { name, value, text } of figures) {
            const known = answer.figures[name].mean[Math.floor((time - answer.from) / answer.step)];
            if (value === null)
                continue;
            ok(Math.abs(numberIn(text) - value) <= 0.006 * Math.abs(value), `${name}: ${value} is ${text}`);
            if (known === null) // not read again at this sample
                continue;
            /* a journal has times in microseconds */
            ok(Math.abs(known - value) <= 2e-5 * Math.abs(value), `${name}: ${value}, history ${known}`);
            compared++;
        }
    ok(compared >= 50, `${compared} values were compared`);
});

test('C314: titles are for people, and no share exceeds what is 100 % of it', async () => {
    await samples(page, 3);
    const names = new Set(schema.tables.flatMap(table => table.columns.map(column => column.name)));
    /* how many there are depends on the machine, and charts are drawn when their time has come */
    const found = await page.waitForFunction(() => {
        const texts = {
            titles: [...document.querySelectorAll('.pr-card h3, .pr-title, .pr-legend span, .pd-sort')]
                .map(element => element.firstChild?.textContent ?? ''),
            values: [...document.querySelectorAll('.pr-legend b, .pr-summary, .pd-list td, .pr-large b')]
                .map(element => element.textContent).filter(text => text.endsWith('%')) };
        return texts.titles.length > 20 && texts.values.length > 0 ? texts : null;
    });
    const texts = await found.jsonValue();
    const raw = texts.titles.filter(title => names.has(title) || title === '');
    ok(raw.length === 0, raw.join());
    const above = texts.values.filter(text => numberIn(text.split(' · ').at(-1)) > 1);
    ok(above.length === 0, above.join());
});

test('what is in view is drawn', async () => {
    const counts = await inked(page);
    ok(counts.length >= 2 && counts.every(count => count > 300), 'pixels: ' + counts);
});

test('values move', async () => {
    const [tokens, { max }] = [await largeOf(page, 'Tokens generated'), await scaleOf(page)];
    await page.waitForFunction(before => document.querySelector('[data-card="Tokens generated"] .pr-large b')
        .textContent !== before, tokens);
    await page.waitForFunction(before => [...window.pitotDashboard.allCharts].find(one => one.isSeen &&
        one.plot).plot.scales.x.max > before, max);
});

test('C314: every column that has a value is found; a family is one chart, raw columns are hidden', async () => {
    const { tables } = await wholeSample();
    await samples(page, 3);
    for (const table of schema.tables.filter(one => tables[one.name]?.rows.length > 0)) {
        const charts = await page.locator(`#table-${table.name} .pr-chart`).evaluateAll(all =>
            all.map(({ dataset, hidden, chart }) => ({ words: ` ${dataset.words} `, hidden,
                title: chart.group.title })));
        const drawn = table.columns.filter(column => 'base_unit' in column);
        const known = drawn.filter((column, place) => tables[table.name].rows.some(row =>
            row[3][place] !== null));
        for (const { name, title, family, importance } of known) {
            const own = charts.filter(({ words }) => words.includes(` ${name.toLowerCase()} `));
            ok(own.length > 0 && own.every(chart => chart.title === (family ?? title)),
                `${table.name}.${name}: ${own.map(chart => chart.title)}`);
            const members = drawn.filter(other => other.family && other.family === family);
            ok(importance !== 'raw' || members.some(other => other.importance !== 'raw') ||
                own.every(({ hidden }) => hidden), `${name} is shown without being asked for`);
        }
    }
});

test('a chart has the values of the history', async () => {
    const title = 'Memory by use';
    await page.locator('#table-mem').scrollIntoViewIfNeeded();
    await page.waitForFunction(wanted => [...window.pitotDashboard.allCharts].some(one =>
        one.title === wanted && one.plot?.data[0].length > 8), title);
    const { times, values, stack } = await page.evaluate(wanted => {
        const chart = [...window.pitotDashboard.allCharts].find(one => one.title === wanted);
        const at = 1 + chart.lines.findIndex(line => line.name === 'vMemoryUsed');
        return { times: [...chart.values[0]], values: [...chart.values[at]],
            stack: chart.lines.flatMap((line, i) => line.isLimit ? [] :
                [{ value: chart.values[i + 1].at(-1), top: chart.plot.data[i + 1].at(-1) }]) };
    }, title);
    const step = 500;
    const answer = await (await fetch(`${origin}api/history?table=mem&columns=vMemoryUsed&step=${step}` +
        `&from=${Math.floor(times[0] * 1000)}`)).json();
    const { mean } = answer.things[0].columns.vMemoryUsed;
    const at = time => mean[Math.round((time * 1000 - answer.from) / step)];
    /* the first and last step may have been seen in part */
    const differing = times.slice(1, -1).filter((time, i) =>
        Math.abs(values[i + 1] / at(time) - 1) > 0.02);
    ok(times.length > 6 && differing.length <= times.length / 10,
        `${differing.length} of ${times.length} differ`);
    let sum = 0;
    for (const { value, top } of stack)
        ok(Math.abs((sum += value) - top) < 1, `the stack is at ${top}, not ${sum}`);
});

test('processes are filtered and sorted', async () => {
    const list = page.locator('#table-process .pd-list');
    await list.scrollIntoViewIfNeeded();
    await list.locator('input[type=search]').fill(String(engine.pid) + ' demo');
    const names = await list.locator('tbody tr').allTextContents();
    ok(names.length >= 1 && names.every(name => name.includes('demo')), names.join('; '));
    await shot(page, 'processes');
    await list.locator('input[type=search]').fill('');
    await page.keyboard.press('Tab');
    await list.getByRole('button', { name: 'Process id' }).click();
    const ids = async () => (await list.locator('tbody tr td:nth-child(2)').allTextContents()).map(Number);
    const falling = await ids();
    ok(falling.length > 3 && falling.every((id, i) => i === 0 || id <= falling[i - 1]), falling.join());
    await list.getByRole('button', { name: 'Process id' }).click();
    const rising = await ids();
    ok(rising.every((id, i) => i === 0 || id >= rising[i - 1]), rising.join());
    ok(await list.locator('th[aria-sort=ascending]').textContent() === 'Process id', 'aria-sort');
    await page.evaluate(() => window.scrollTo(0, 0));
});

test('C314: the filter finds charts by titles, names and words, also those that are hidden', async () => {
    const field = page.locator('.pd-bar input[type=search]');
    const found = async text => {
        await field.fill(text);
        return titlesOf(page.locator('.pr-chart:visible'));
    };
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('/');
    await page.keyboard.type('context switches');
    const titles = await titlesOf(page.locator('.pr-chart:visible'));
    ok(titles.includes('Context switches') && titles.length < 12, titles.join());
    ok((await found('vcpucontextswitches')).join() === 'Context switches', 'by name');
    ok((await found('hypervisor')).includes('CPU time by mode, cores'), 'by words');
    ok((await found('sectors')).includes('Disk sectors'), 'raw columns');
    await field.fill('');
    ok(!(await titlesOf(page.locator('.pr-chart:visible'))).includes('Disk sectors'), 'raw columns stay');
    await page.evaluate(() => document.activeElement.blur());
});

test('a pause stands still while samples come, and goes on', async () => {
    await page.evaluate(() => window.scrollTo(0, 0));
    await page.keyboard.press('p');
    await page.waitForFunction(() => [...window.pitotDashboard.allCharts].find(one => one.isSeen &&
        one.plot).plot.scales.x.max === window.pitotDashboard.view.fixed.to / 1000);
    const cards = () => page.evaluate(() => {
        window.pitotDashboard.draw();
        return [...document.querySelectorAll('[data-figure] .pr-large b')].map(one => one.textContent);
    });
    /* the history of the part that stands still comes a little later, once */
    let texts = await cards(), settled = false;
    for (let tries = 0; tries < 10 && !settled; tries++) {
        await samples(page, 5);
        const now = await cards();
        settled = now.join() === texts.join();
        texts = now;
    }
    ok(settled, 'the cards do not stand still');
    const before = await scaleOf(page);
    await samples(page, 5);
    const after = await scaleOf(page);
    ok((await cards()).join() === texts.join(), 'the cards go on');
    ok(before.max === after.max && before.min === after.min, JSON.stringify([before, after]));
    ok(/Resume/.test(await page.locator('.pd-pause').textContent()), 'the button');
    await page.locator('.pd-pause').click();
    await page.waitForFunction(max => [...window.pitotDashboard.allCharts].find(one => one.isSeen &&
        one.plot).plot.scales.x.max > max, after.max);
});

test('ranges, a brush over a chart, and back to now', async () => {
    const shown = () => page.evaluate(() => window.pitotDashboard.view.frame.span);
    await page.getByRole('button', { name: '1 h' }).click();
    ok(await shown() === 3600e3, 'an hour');
    await page.keyboard.press('1');
    ok(await shown() === 300e3, 'five minutes');
    await samples(page, 2);
    const over = page.locator('#table-cpu .u-over').first();
    await over.scrollIntoViewIfNeeded();
    const box = await over.boundingBox();
    await page.mouse.move(box.x + box.width * 0.5, box.y + 40);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + 40, { steps: 5 });
    const { min, max } = await scaleOf(page);
    await page.mouse.up();
    const span = await page.evaluate(() => window.pitotDashboard.view.fixed?.span);
    ok(Math.abs(span / (max - min) / 250 - 1) < 0.1, `${span} ms of ${max - min} s are shown`);
    ok(/ – /.test(await page.locator('.pd-part').textContent()), 'the bar does not say which part');
    await page.keyboard.press('Escape');
    ok(await page.evaluate(() => window.pitotDashboard.view.fixed) === null, 'Escape');
});

test('the keys are listed', async () => {
    await page.keyboard.press('?');
    const text = await page.locator('dialog[open]').textContent();
    ok(/pause/.test(text) && /filter/.test(text), text);
    await shot(page, 'keys');
    await page.keyboard.press('Escape');
    ok(await page.locator('dialog[open]').count() === 0, 'it stays');
});

test('alerts that are on', async () => {
    ok(await largeOf(page, 'Alerts') === '1', await largeOf(page, 'Alerts'));
    const rows = await page.locator('#alerts table').first().locator('tbody tr').allTextContents();
    ok(rows.some(row => /memory-is-used.*on$/.test(row)) && rows.some(row => /never.*off$/.test(row)),
        rows.join('; '));
});

test('a recorded run opens as its report', async () => {
    const link = page.locator('#runs a', { hasText: 'open' });
    let report = null;
    while (!report) { // the list may be drawn again just when it is clicked
        const opening = page.context().waitForEvent('page', { timeout: 5000 }).catch(() => null);
        await link.first().click();
        report = await opening;
    }
    await report.waitForFunction(() => window.pitotReport?.isReady);
    await report.close();
});

test('a reload shows what was before', async () => {
    const again = await openLive();
    await again.waitForFunction(() => [...window.pitotDashboard.allCharts].some(chart =>
        chart.isSeen && chart.plot?.data[0].length > 20));
    await samples(again, 25);
    await shot(again, 'light');
    ok(again.complaints.length === 0, again.complaints.join('; '));
    await again.context().close();
});

test('dark and narrow screens', async () => {
    const dark = await openLive(origin, { colorScheme: 'dark' });
    const ground = () => dark.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
    const first = await ground();
    await samples(dark, 5);
    await shot(dark, 'dark');
    await dark.getByRole('button', { name: 'Theme' }).click();
    ok(first !== await ground(), 'the theme button changes nothing');
    const narrow = await openLive(origin, { viewport: { width: 390, height: 844 } });
    await samples(narrow, 5);
    const width = await narrow.evaluate(() => document.documentElement.scrollWidth);
    ok(width <= 390, `the page is ${width} pixels wide`);
    await shot(narrow, 'phone');
    await narrow.locator('#table-process .pd-list').scrollIntoViewIfNeeded();
    await samples(narrow, 5);
    await shot(narrow, 'phone-processes');
    ok(dark.complaints.length + narrow.complaints.length === 0, 'complaints');
    const [, kilobytes] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'));
    console.log(`# with three pages open the server has ${(kilobytes / 1024).toFixed(1)} MB`);
    await dark.context().close();
    await narrow.context().close();
});

test('a profile is started with the token and drawn', async () => {
    await page.locator('#profile input').first().fill(String(engine.pid));
    await page.locator('#profile input').nth(1).fill('1');
    await page.locator('#profile button[type=submit]').click();
    await page.locator('dialog[open] input').fill(TOKEN);
    await page.locator('dialog[open] button[type=submit]').click();
    await page.waitForFunction(() => document.querySelector('#profile .pr-flame canvas') ||
        /failed|not/.test(document.querySelector('#profile .pr-note').textContent));
    if (await page.locator('#profile .pr-flame canvas').count() === 0) {
        console.log('# no profile: ' + await page.locator('#profile .pr-note').textContent());
        return;
    }
    await page.locator('#profile').scrollIntoViewIfNeeded();
    ok(await page.evaluate(() => window.pitotFlame.last.whole) > 0, 'it is empty');
    await shot(page, 'profile');
    ok(page.complaints.length === 0, page.complaints.join('; '));
});

test('elsewhere than on this machine the token is asked for, until it is right', async () => {
    const other = run('serve', '-q', '-t', '200ms', '--listen', `0.0.0.0:${tokenPort}`, '--history', '0',
        '--state-dir', path.join(directory, 'other'), '--token-file', path.join(directory, 'token'));
    await answers(`http://127.0.0.1:${tokenPort}/health/ready`);
    const guarded = await open(`http://127.0.0.1:${tokenPort}/`);
    const give = async text => {
        await guarded.locator('dialog[open] input').fill(text);
        await guarded.locator('dialog[open] button[type=submit]').click();
    };
    await give('wrong');
    await guarded.getByText('The token is wrong').waitFor();
    await give(TOKEN);
    await guarded.waitForFunction(() => window.pitotDashboard?.store.sampleCount >= 3);
    await guarded.context().close();
    await end(other);
});

test('after a restart of the server the page goes on, and says so meanwhile', async () => {
    const lost = await openLive();
    await end(server);
    await lost.waitForFunction(() => /no connection/.test(document.querySelector('.pd-state').textContent));
    await shot(lost, 'lost');
    /* C318: what nobody confirms is not shown as the value of now */
    await lost.waitForFunction(() => [...document.querySelectorAll('[data-figure]:not([hidden]) .pr-large b')]
        .every(element => element.textContent === '–'));
    const values = await lost.evaluate(() => {
        const { tables } = window.pitotDashboard;
        const { list } = tables.find(one => one.table.name === 'core');
        list.show();
        return [...list.body.querySelectorAll('td.pr-number')].map(cell => cell.textContent);
    });
    ok(values.length > 2 && values.every(text => text === '–' || /^\d+$/.test(text)), values.join());
    const before = await lost.evaluate(() => window.pitotDashboard.store.sampleCount);
    server = serve();
    await lost.waitForFunction(count => document.querySelector('.pd-state').textContent === 'live' &&
        window.pitotDashboard.store.sampleCount > count + 3, before);
    ok((await inked(lost)).every(count => count > 300), 'nothing is drawn');
    await lost.context().close();
});

const COLUMN = { kind: 'gauge', type: 'float64', timed: false, source: 'the test', prometheus: null,
    heading: null, family: null, is_stacked: false, limit: null, full: null, importance: 'detail',
    words: null, role: null };
const KEY = { ...COLUMN, kind: 'key', type: 'string', unit: '', help: 'Key', role: 'name' };
function madeUpTable(name, columnCount) {
    const columns = Array.from({ length: columnCount }, (_, i) => ({ ...COLUMN, name: `${name}Value${i}`,
        short: `value${i}`, title: `Value ${i}`, unit: 'furlongs',
        base_unit: i === 0 ? 'furlongs' : 'bytes', is_rate: i % 2 === 1, help: `Made up, number ${i}` }));
    return { name, file: name, section: null, rows: 'things', help: `Table of ${name}`, columns: [
        { ...KEY, name: name + 'Key', short: 'key', title: 'Thing' }, ...columns] };
}

test('tables, columns and units that no Pitot has are shown', async () => {
    const made = new MadeUpServer(origin, [madeUpTable('unheardOf', 3)]);
    const strange = await open(await made.listen());
    let count = 0;
    const timer = setInterval(() => made.publish(1000, 2, (table, row, place) => row + place + ++count % 7),
        50);
    await strange.waitForFunction(() => document.querySelectorAll('#table-unheardOf .uplot').length === 3);
    const text = await strange.locator('#table-unheardOf').textContent();
    ok(/Value 2unheardOfValue2/.test(text) && /Made up, number 1/.test(text) && /thing1/.test(text), text);
    await strange.waitForFunction(() => /furlongs/.test(document.querySelector(
        '#table-unheardOf .pr-legend').textContent));
    clearInterval(timer);
    ok(strange.complaints.length === 0, strange.complaints.join('; '));
    await strange.context().close();
    made.close();
});

test('C314: values are written by their form, families share a chart, and limits are drawn', async () => {
    const column = (name, more) => ({ ...COLUMN, name, short: name, title: name + ' title', unit: '',
        help: 'Made up', is_rate: false, base_unit: '', ...more });
    const table = { name: 'forms', file: 'forms', section: null, rows: 'things', help: 'Forms', columns: [
        { ...KEY, name: 'formKey', short: 'key', title: 'Thing' },
        column('share', { base_unit: 'ratio', full: 1 }), column('cores', { base_unit: 'cores' }),
        column('used', { base_unit: 'bytes', family: 'Space', is_stacked: true, limit: 'most' }),
        column('cached', { base_unit: 'bytes', family: 'Space', is_stacked: true }),
        column('most', { base_unit: 'bytes' }), column('secret', { importance: 'raw' })] };
    const made = new MadeUpServer(origin, [table]);
    const forms = await open(await made.listen());
    let count = 0;
    const timer = setInterval(() => {
        const isOdd = ++count % 2;
        made.publish(1000, 1, (_, row, place) =>
            [7.76, 7.76 + isOdd / 100, 2 ** 20 * (1 + isOdd), 2 ** 20, 2 ** 22, count][place]);
    }, 50);
    await forms.waitForFunction(() => [...window.pitotDashboard.allCharts].filter(chart =>
        chart.plot?.data[0].length > 3).length === 4);
    await forms.waitForFunction(() => /cores/.test(document.querySelector('#table-forms .pd-list')?.textContent) &&
        [...window.pitotDashboard.allCharts].some(chart => /cached title/.test(chart.legend?.textContent)));
    const charts = () => forms.evaluate(() => Object.fromEntries([...window.pitotDashboard.allCharts]
        .filter(chart => chart.plot).map(chart => [chart.title, {
            legend: chart.legend.textContent, top: chart.plot.data[2]?.at(-1),
            limit: chart.lines.find(line => line.isLimit)?.label, height: chart.plot.scales.y.max,
            isHidden: chart.element.hidden }])));
    const drawn = await charts();
    const text = await forms.locator('#table-forms .pd-list').textContent();
    ok(/100\u202f%/.test(text) && !/776/.test(text) && /7\.7[67]\u202fcores/.test(text), text);
    const stack = drawn['Space · thing0'];
    ok(/used title/.test(stack?.legend) && /cached title/.test(stack?.legend), JSON.stringify(drawn));
    ok(stack.limit === 'most title' && stack.height >= 2 ** 22, JSON.stringify(stack));
    ok([2, 3].includes(stack.top / 2 ** 20), `the stack is ${stack.top} high`);
    ok(!('secret title' in drawn), 'a raw column is drawn');
    await forms.locator('.pd-bar input[type=search]').fill('secret');
    await forms.waitForFunction(() => [...window.pitotDashboard.allCharts].some(chart =>
        chart.title === 'secret title' && chart.plot && !chart.element.hidden));
    clearInterval(timer);
    ok(forms.complaints.length === 0, forms.complaints.join('; '));
    await forms.context().close();
    made.close();
});

test('C318: a figure that became unknown is empty, and one that never was known has no card', async () => {
    const figure = (name, title) => ({ name, whose: 'test', title, form: 'number', base_unit: '',
        is_rate: false, better: 'neither', importance: 'headline', limit: null, help: title });
    const made = new MadeUpServer(origin, [], [figure('test.known', 'Known'), figure('test.never', 'Never')]);
    const one = await open(await made.listen());
    let value = 5;
    const timer = setInterval(() => made.publish(1000, 0, () => null,
        { 'test.known': value, 'test.never': null }), 50);
    await one.waitForFunction(() => document.querySelector('[data-card=Known] b').textContent === '5');
    await samples(one, 10); // a curve of it is in view
    value = null;
    await one.waitForFunction(() => document.querySelector('[data-card=Known] b').textContent === '–');
    ok(await card(one, 'Never').isHidden() && await card(one, 'Known').isVisible(), 'cards');
    clearInterval(timer);
    ok(one.complaints.length === 0, one.complaints.join('; '));
    await one.context().close();
    made.close();
});

test('500 series at 10 Hz for more than a quarter of an hour do not grow the heap', async () => {
    const tables = Array.from({ length: 5 }, (_, i) => madeUpTable('load' + i, 10));
    const made = new MadeUpServer(origin, tables);
    const heavy = await open(await made.listen());
    const session = await heavy.context().newCDPSession(heavy);
    await session.send('HeapProfiler.enable');
    const heap = async () => {
        await session.send('HeapProfiler.collectGarbage');
        return (await session.send('Runtime.getHeapUsage')).usedSize;
    };
    let sent = 0;
    /* ten rows of fifty columns; as fast as the page takes them */
    const publish = async count => {
        for (let i = 0; i < count; i++) {
            made.publish(100, 10, () => Math.random() * 1e9);
            sent++;
            if (i % 50 === 49)
                await heavy.waitForFunction(wanted =>
                    window.pitotDashboard.store.sampleCount >= wanted, sent - 20);
        }
    };
    await heavy.waitForFunction(() => window.pitotDashboard);
    while (made.readers.size === 0)
        await new Promise(resolve => setTimeout(resolve, 20));
    await publish(200);
    for (let i = 0; i < 5; i++) // every chart has been seen
        await heavy.locator('#table-load' + i).scrollIntoViewIfNeeded();
    await publish(3800); // longer than what is shown: all rings are full
    const before = await heap();
    await publish(6000);
    const after = await heap();
    const { seen, drawn } = await heavy.evaluate(() => ({ drawn: window.pitotDashboard.drawCount,
        seen: [...window.pitotDashboard.allCharts].filter(chart => chart.isSeen).length }));
    const text = bytes => (bytes / 1e6).toFixed(1) + ' MB';
    console.log(`# ${sent} samples: heap ${text(before)}, then ${text(after)}; ` +
        `${drawn} times drawn, ${seen} charts in view`);
    ok(after < before * 1.1 + 1e6, `the heap grew from ${before} to ${after} bytes`);
    ok(seen < 50, 'all charts are drawn, seen or not');
    ok(heavy.complaints.length === 0, heavy.complaints.join('; '));
    await heavy.context().close();
    made.close();
});

const passed = await runTests();
await browser.close();
await Promise.all([...programs].map(end));
process.exit(passed ? 0 : 1);
