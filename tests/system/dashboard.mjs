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
    await page.waitForFunction(() => document.querySelector('.pr-plot canvas'));
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

test('the overview has what the machine has', async () => {
    for (const title of ['Tokens generated', 'Time to first token', 'Queue', 'KV cache', 'CPU', 'Memory',
        'Alerts'])
        await card(page, title).waitFor({ state: 'visible' });
    const { tables } = await wholeSample();
    ok(await card(page, 'GPU').isVisible() === Boolean(tables.gpu?.rows.length), 'GPU');
    const [, percent, total] = /^([\d.]+)\u202f% of ([\d.]+)\u202fGiB$/.exec(
        await card(page, 'Memory').locator('.pr-large span').textContent()) || [];
    ok(Math.abs(total * 2 ** 30 / totalmem() - 1) < 0.01 && percent > 0 && percent < 100,
        `${percent} % of ${total} GiB`);
});

/* Of all CPUs together, as the card adds it up: with nice programs, interrupts and what was stolen. */
const cpuTimes = page => page.evaluate(() => {
    const { overview, store } = window.pitotDashboard;
    const { first } = overview.cards.find(one => one.element.dataset.card === 'CPU');
    const [row] = first.table.rows.values();
    const idle = ['vCpuIdleTime', 'vCpuTimeIOWait'].map(name => first.table.places.get(name));
    const sum = places => places.reduce((all, place) => all + (row.values[place] ?? 0), 0);
    return { busy: sum(first.places), idle: sum(idle), count: store.tables.get('core').rows.size };
});

test('time in use and idle time of the CPUs are all of their time', async () => {
    const { busy, idle, count } = await cpuTimes(page);
    ok(Math.abs((busy + idle) / count - 1) < 0.1, `${busy} in use, ${idle} idle, of ${count} CPUs`);
});

test('what is in view is drawn', async () => {
    const counts = await inked(page);
    ok(counts.length >= 2 && counts.every(count => count > 300), 'pixels: ' + counts);
});

test('values move', async () => {
    const [cpu, { max }] = [await largeOf(page, 'CPU'), await scaleOf(page)];
    await page.waitForFunction(before => document.querySelector('[data-card="CPU"] .pr-large b')
        .textContent !== before, cpu);
    await page.waitForFunction(before => [...window.pitotDashboard.allCharts].find(one => one.isSeen &&
        one.plot).plot.scales.x.max > before, max);
});

test('every column that has a value is a chart or in a list', async () => {
    const schema = await (await fetch(origin + 'api/schema')).json();
    const { tables } = await wholeSample();
    await samples(page, 3);
    await page.evaluate(() => document.querySelectorAll('details').forEach(element => {
        element.open = true;
    }));
    await samples(page, 3);
    await page.waitForFunction(() => window.pitotDashboard.drawCount > 0);
    for (const table of schema.tables.filter(one => tables[one.name]?.rows.length > 0)) {
        const text = await page.locator('#table-' + table.name).textContent();
        const drawn = table.columns.filter(column => 'base_unit' in column);
        const missing = drawn.filter((column, place) => tables[table.name].rows.some(row =>
            row[3][place] !== null) && !text.includes(column.name));
        ok(missing.length === 0, `${table.name}: ${missing.map(column => column.name)}`);
    }
});

test('a chart has the values of the history', async () => {
    await page.locator('#table-mem').scrollIntoViewIfNeeded();
    const read = () => page.evaluate(() => {
        const chart = [...window.pitotDashboard.allCharts].find(one => one.title === 'vMemoryUsed');
        return chart?.plot ? chart.plot.data.map(column => [...column]) : null;
    });
    await page.waitForFunction(() => [...window.pitotDashboard.allCharts].some(one =>
        one.title === 'vMemoryUsed' && one.plot?.data[0].length > 8));
    const [times, values] = await read();
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
    await list.getByRole('button', { name: 'pId' }).click();
    const ids = async () => (await list.locator('tbody tr td:first-child').allTextContents()).map(Number);
    const falling = await ids();
    ok(falling.length > 3 && falling.every((id, i) => i === 0 || id <= falling[i - 1]), falling.join());
    await list.getByRole('button', { name: 'pId' }).click();
    const rising = await ids();
    ok(rising.every((id, i) => i === 0 || id >= rising[i - 1]), rising.join());
    ok(await list.locator('th[aria-sort=ascending]').textContent() === 'pId', 'aria-sort');
    await page.evaluate(() => window.scrollTo(0, 0));
});

test('the filter leaves charts that have its words', async () => {
    await page.evaluate(() => document.activeElement.blur());
    await page.keyboard.press('/');
    await page.keyboard.type('context switches');
    const titles = await page.locator('.pr-chart:visible .pr-title').allTextContents();
    ok(titles.includes('vCpuContextSwitches') && titles.length < 12, titles.join());
    await page.locator('.pd-bar input[type=search]').fill('');
    await page.evaluate(() => document.activeElement.blur());
});

test('a pause stands still while samples come, and goes on', async () => {
    await page.evaluate(() => window.scrollTo(0, 0));
    await page.keyboard.press('p');
    await page.waitForFunction(() => [...window.pitotDashboard.allCharts].find(one => one.isSeen &&
        one.plot).plot.scales.x.max === window.pitotDashboard.view.fixed.to / 1000);
    const before = await scaleOf(page);
    await samples(page, 5);
    const after = await scaleOf(page);
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
    const opening = page.context().waitForEvent('page');
    await link.first().click();
    const report = await opening;
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
    const before = await lost.evaluate(() => window.pitotDashboard.store.sampleCount);
    server = serve();
    await lost.waitForFunction(count => document.querySelector('.pd-state').textContent === 'live' &&
        window.pitotDashboard.store.sampleCount > count + 3, before);
    ok((await inked(lost)).every(count => count > 300), 'nothing is drawn');
    await lost.context().close();
});

const COLUMN = { kind: 'gauge', type: 'float64', timed: false, source: 'the test', prometheus: null };
function madeUpTable(name, columnCount) {
    const columns = Array.from({ length: columnCount }, (_, i) => ({ ...COLUMN, name: `${name}Value${i}`,
        short: `value${i}`, unit: 'furlongs', base_unit: i === 0 ? 'furlongs' : 'bytes',
        is_rate: i % 2 === 1, help: `Made up, number ${i}` }));
    return { name, file: name, section: null, rows: 'things', help: `Table of ${name}`, columns: [
        { ...COLUMN, kind: 'key', type: 'string', name: name + 'Key', short: 'key', unit: '', help: 'Key' },
        ...columns] };
}

test('tables, columns and units that no Pitot has are shown', async () => {
    const made = new MadeUpServer(origin, [madeUpTable('unheardOf', 3)]);
    const strange = await open(await made.listen());
    let count = 0;
    const timer = setInterval(() => made.publish(1000, 2, (table, row, place) => row + place + ++count % 7),
        50);
    await strange.waitForFunction(() => document.querySelectorAll('#table-unheardOf .uplot').length === 3);
    const text = await strange.locator('#table-unheardOf').textContent();
    ok(/unheardOfValue2/.test(text) && /Made up, number 1/.test(text) && /thing1/.test(text), text);
    await strange.waitForFunction(() => /furlongs/.test(document.querySelector(
        '#table-unheardOf .pr-legend').textContent));
    clearInterval(timer);
    ok(strange.complaints.length === 0, strange.complaints.join('; '));
    await strange.context().close();
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
