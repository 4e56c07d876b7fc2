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

const SCALE = { B: 1, KiB: 1024, MiB: 2 ** 20, GiB: 2 ** 30, TiB: 2 ** 40, ms: 1e-3, s: 1, 'µs': 1e-6 };
function parse(text) {
    const [, number, unit] = /^([\d.\u202f]+)\u202f?([^\d]*)$/.exec(text) || [];
    return Number(number?.replaceAll('\u202f', '')) * (SCALE[unit] ?? 1);
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

/* Every scrape gives as many values as it saw requests, spread as its quantiles say. */
function pooled(latency) {
    const levels = [0.5, 0.9, 0.95, 0.99];
    const columns = levels.map(level => csv[`latency_${latency}_s_p${Math.round(level * 100)}`]);
    const counts = csv[`latency_${latency}_s_count`];
    const pool = [];
    let before = NaN;
    for (let i = 0; i < counts.length; i++) {
        if (Number.isNaN(counts[i]) || counts[i] === before)
            continue;
        const points = columns.map(column => column[i]);
        for (let k = 0; k < 100 * (counts[i] - before) && !points.some(Number.isNaN); k++) {
            const level = (k + 0.5) / (100 * (counts[i] - before));
            const next = levels.findIndex(one => level < one);
            const [low, lowLevel] = next > 0 ? [points[next - 1], levels[next - 1]] :
                [Math.max(0, 2 * points[0] - points[1]), 0];
            pool.push(next < 0 ? points[3] :
                low + (points[next] - low) * (level - lowLevel) / (levels[next] - lowLevel));
        }
        before = counts[i];
    }
    return pool.sort((a, b) => a - b);
}

test('latencies are those of all requests, not means of quantiles', async () => {
    for (const [title, latency] of [['Time to first token', 'ttft'], ['Between tokens', 'inter_token']]) {
        const pool = pooled(latency);
        ok(pool.length > 1000, `${latency}: ${pool.length} values`);
        for (const level of [50, 95, 99]) {
            const shown = parse(await card(page, title, 'p' + level));
            const expected = pool[Math.floor(pool.length * level / 100)];
            ok(Math.abs(shown - expected) <= 0.02 * expected, `${title}, p${level}: ${shown}, ${expected}`);
        }
    }
});

if (existsSync(path.join(directory, 'merged.html')))
    test('a merged report adds its ranks, and counts their machine once', async () => {
        const merged = await open('merged.html');
        const ranks = ['rank0', 'rank1'].map(readMain);
        const samples = ranks.flatMap((rank, of) => rank.monotonic_ns.map((ns, i) =>
            ({ ns, of, bytes: rank.pTreeResidentSetSize[i] }))).sort((a, b) => a.ns - b.ns);
        const last = [0, 0];
        let both = 0;
        for (const { of, bytes } of samples.filter(sample => !Number.isNaN(sample.bytes))) {
            last[of] = bytes;
            both = Math.max(both, last[0] + last[1]);
        }
        near(parse(await card(merged, 'Memory', 'peak')), Math.max(...ranks[0].vMemoryUsed), 'memory');
        near(parse(await card(merged, 'Memory', 'recorded tree, peak')), both, 'memory of both');
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

test('every column that was recorded is on the page', async () => {
    const missing = await page.evaluate(() => {
        const { tables } = window.pitotReport.model.data;
        const text = document.body.textContent;
        return tables.flatMap(table => [...table.columns.map(column => column.name), ...table.absent])
            .filter(name => !text.includes(name));
    });
    ok(missing.length === 0, missing.join());
    const columns = Object.keys(csv).filter(name => /^v/.test(name) && !/T$/.test(name));
    const text = await page.evaluate(() => document.body.textContent);
    ok(columns.every(name => text.includes(name)), 'a column of the CSV');
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
    ok(titles.includes('vCpuContextSwitches') && titles.length < 12, titles.join());
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
    ok(/limit of/.test(await day.locator('#table-container').textContent()), 'no limit is drawn');
    await shot(day, 'containers');
    ok(day.complaints.length === 0, day.complaints.join('; '));
});

const passed = await runTests();
await browser.close();
process.exit(passed ? 0 : 1);
