// Checks flame graphs in Chromium. The collapsed stacks of the same profile say what must be drawn.
//     node flame.mjs DIRECTORY [SCREENSHOT_DIRECTORY]
// Prints TAP.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { launch, newPage, ok, runTests, screenshots, test } from './browser.mjs';

const [directory, shots] = process.argv.slice(2);
function near(actual, expected, what) {
    ok(Math.abs(actual - expected) < 1e-4 + Math.abs(expected) * 1e-3,
        `${what}: ${actual}, expected ${expected}`);
}

/* Lines of "process;root;...;leaf value"; places without a symbol go by their module. */
function readFolded(name) {
    return readFileSync(path.join(directory, name), 'utf8').trimEnd().split('\n').map(line => {
        const blank = line.lastIndexOf(' ');
        const frames = line.slice(0, blank).split(';').slice(1)
            .map(frame => frame.replace(/^(.+)\+0x[0-9a-f]+$/, '[$1]'));
        return { frames, value: Number(line.slice(blank + 1)) };
    });
}

const stacks = readFolded('train.folded');
const whole = stacks.reduce((sum, stack) => sum + stack.value, 0);
const shareOf = passes => stacks.filter(passes).reduce((sum, s) => sum + s.value, 0) / whole;

const browser = await launch();

async function open(file, options = {}) {
    const page = await newPage(browser, { viewport: { width: 1280, height: 900 }, ...options });
    page.on('requestfailed', request => page.complaints.push('failed: ' + request.url()));
    await page.goto('file://' + path.resolve(directory, file));
    return page;
}

const frames = page => page.evaluate(() => window.pitotFlame.visibleFrames());
const frame = async (page, name) => (await frames(page)).find(f => f.name === name);
const shot = screenshots(shots, '');

async function clickFrame(page, name) {
    const found = await frame(page, name);
    ok(found, `${name} is not drawn`);
    const box = await page.locator('.pf-graph canvas').boundingBox();
    await page.mouse.click(box.x + found.x + found.width / 2, box.y + found.y + 8);
}

const page = await open('train.html');
const reset = () => page.getByRole('button', { name: 'Reset' }).click();

test('C241: the graph opens from disk and asks for nothing else', async () => {
    ok((await frames(page)).length > 50, 'too few boxes');
    ok(page.asked.every(url => /^(file|data):/.test(url)), 'asked for ' + page.asked);
    await shot(page, 'light');
});

test('C241: every box is as wide as the collapsed stacks say', async () => {
    let seen = 0;
    for (const f of await frames(page)) {
        if (f.depth === 0 || f.width < 3)
            continue;
        const shares = shareOf(s => s.frames[f.depth - 1] === f.name);
        ok(f.share <= shares * 1.001, `${f.name} at ${f.depth}: ${f.share} of ${shares}`);
        seen++;
    }
    near((await frame(page, 'Trainer.fit')).share,
        shareOf(s => s.frames.includes('Trainer.fit')), 'Trainer.fit');
    near((await frame(page, 'clone3')).share, shareOf(s => s.frames[0] === 'clone3'), 'clone3');
    ok(seen > 50, 'too few boxes were compared');
});

test('C241: a search says how much matches, each stack counted once', async () => {
    await page.keyboard.press('/');
    await page.keyboard.type('softmax');
    const text = await page.locator('.pf-result').textContent();
    near(parseFloat(text) / 100, shareOf(s => s.frames.some(f => f.includes('softmax'))), text);
    ok(/in 3 functions/.test(text), text);
    await page.locator('.pf-search').fill('/softmax_last.*[lt]/');
    ok(/in 2 functions/.test(await page.locator('.pf-result').textContent()), 'regex');
    await shot(page, 'search');
    await reset();
});

test('C241: a click zooms, the path leads back', async () => {
    const before = await frame(page, 'Attention.forward');
    await clickFrame(page, 'Attention.forward');
    const after = await frame(page, 'Attention.forward');
    ok(after.width > 1200 && before.width < 400, `width ${before.width}, then ${after.width}`);
    near(after.share, before.share, 'a zoom changes no share');
    ok(!(await frame(page, 'clone3')), 'what is outside of the zoom is drawn');
    const crumbs = page.locator('.pf-crumbs button');
    ok(await crumbs.last().textContent() === 'Attention.forward', 'the last of the path');
    await shot(page, 'zoom');
    await crumbs.first().click();
    near((await frame(page, 'Attention.forward')).width, before.width, 'width after going back');
});

test('C241: reversed, the first row is what ran itself', async () => {
    await page.getByRole('button', { name: 'Reverse' }).click();
    const rows = (await frames(page)).filter(f => f.depth === 1);
    for (const f of rows)
        near(f.share, shareOf(s => s.frames.at(-1) === f.name), f.name);
    ok(rows.length > 10, 'too few leaves');
    await reset();
});

test('C241: callers and callees of one function', async () => {
    await page.locator('.pf-name button', { hasText: 'cblas_sgemm' }).first().click();
    const all = await frames(page);
    const callers = all.filter(f => f.part === 1 && f.depth === 1);
    const focus = all.find(f => f.part === 0 && f.depth === 0).name;
    near(callers.reduce((sum, f) => sum + f.share, 0), shareOf(s => s.frames.includes(focus)),
        'callers of ' + focus);
    await shot(page, 'sandwich');
    await reset();
});

test('C241: the thread filter leaves one thread', async () => {
    await page.locator('.pf-menu summary').click();
    await page.locator('.pf-thread', { hasText: 'loader-worker' }).getByRole('button').click();
    near((await frame(page, '_worker_loop')).share, 1, '_worker_loop');
    ok(!(await frame(page, 'clone3')), 'another thread is drawn');
    await page.locator('.pf-menu summary').click();
    await reset();
});

const count = () => page.evaluate(() => window.pitotFlame.last.whole);

test('C241: the time filter counts only samples of that time', async () => {
    await page.getByLabel('Value', { exact: true }).selectOption('1');
    const box = await page.locator('.pf-time-canvas').boundingBox();
    ok(await count() === 30000, 'all samples');
    await page.mouse.move(box.x + box.width / 2, box.y + 20);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.75, box.y + 20, { steps: 5 });
    await page.mouse.up();
    await page.waitForFunction(() => window.pitotFlame.last.whole < 30000);
    ok(Math.abs(await count() - 7500) < 60, `${await count()} samples in a quarter of the time`);
    await shot(page, 'time');
    await page.getByLabel('First second').fill('0');
    await page.getByLabel('First second').press('Enter');
    await page.waitForFunction(() => window.pitotFlame.last.whole > 20000);
    ok(Math.abs(await count() - 22500) < 60, `${await count()} samples in three quarters`);
    await page.mouse.click(box.x + 5, box.y + 20);
    await page.waitForFunction(() => window.pitotFlame.last.whole === 30000);
    await reset();
});

test('C241: waiting can be taken out, and so can a kind of frames', async () => {
    await page.locator('.pf-chip', { hasText: 'gpu' }).locator('input').uncheck();
    ok(!(await frame(page, 'Tensor.item')), 'the wait for the GPU is drawn');
    for (const kind of ['native', 'kernel', 'jit'])
        await page.locator('.pf-chip', { hasText: kind }).locator('input').uncheck();
    const first = (await frames(page)).filter(f => f.depth === 1).map(f => f.name);
    ok(first.includes('<module>') && !first.includes('_start'), 'Python only: ' + first);
    await shot(page, 'python');
    await reset();
    ok(await frame(page, 'Tensor.item'), 'reset brings it back');
});

test('C241: samples in which others wanted the GIL can be looked at alone', async () => {
    const facts = await page.locator('.pf-facts').textContent();
    ok(/held in 100.*wanted by other threads in 25/.test(facts), facts);
    await page.getByLabel('Value', { exact: true }).selectOption('1');
    await page.locator('.pf-chip', { hasText: 'held' }).locator('input').uncheck();
    await page.waitForFunction(() => window.pitotFlame.last.whole < 30000);
    ok(await count() === 7500, `${await count()} samples are contended`);
    await shot(page, 'gil');
    await reset();
});

test('C241: the keyboard walks, zooms and goes back', async () => {
    await page.locator('.pf-graph').focus();
    for (const key of ['ArrowDown', 'ArrowDown', 'ArrowRight'])
        await page.keyboard.press(key);
    ok((await page.locator('.pf-detail-text').textContent()).startsWith('clone3'), 'selected');
    await page.keyboard.press('Enter');
    ok((await frame(page, 'clone3')).width > 1200, 'Enter zooms');
    await page.keyboard.press('Escape');
    ok((await frame(page, 'clone3')).width < 600, 'Escape goes back');
    await page.keyboard.press('r');
    ok(!(await frames(page)).some(f => f.depth === 1 && f.name === '_start'), 'r reverses');
    await reset();
});

test('C243: the table has the self and total of the collapsed stacks', async () => {
    const row = page.locator('.pf-table tbody tr', { hasText: 'cblas_sgemmlibtorch' });
    const cells = await row.locator('td').allTextContents();
    const total = 100 * shareOf(s => s.frames.includes('cblas_sgemm'));
    ok(cells[3] === total.toFixed(1) + '\u202f%', `${cells[3]}, expected ${total}`);
    const sorts = await page.locator('thead th[aria-sort="descending"]').allTextContents();
    ok(sorts.join() === 'Self', 'sorted by ' + sorts);
});

test('C243: a function that calls itself counts once', async () => {
    const expected = shareOf(s => s.frames.includes('flatten'));
    const row = page.locator('.pf-table tbody tr', { hasText: 'flattenmodel.py' });
    const cells = await row.locator('td').allTextContents();
    const digits = expected >= 0.1 ? 1 : 2;
    ok(cells[3] === (100 * expected).toFixed(digits) + '\u202f%', `${cells[3]} of ${expected}`);
    await row.getByRole('button').click();
    const all = await frames(page);
    near(all.find(f => f.part === 0 && f.depth === 0).share, expected, 'flatten');
    ok(all.filter(f => f.part === 0 && f.name === 'flatten').length === 3, 'it calls itself');
    await reset();
});

test('C241: groups put the threads below the root', async () => {
    await page.getByLabel('Group').selectOption('thread');
    const first = (await frames(page)).filter(f => f.depth === 1).map(f => f.name);
    ok(first.length === 4 && first.includes('loader-worker (4300)'), first.join());
    await page.getByLabel('Group').selectOption('');
});

test('C241: it prints, and nothing so far made the console complain', async () => {
    const pdf = await page.pdf();
    ok(pdf.length > 20000, 'the print is empty');
    ok(page.complaints.length === 0, page.complaints.join('; '));
});

test('C241: dark and narrow screens', async () => {
    const dark = await open('train.html', { colorScheme: 'dark' });
    const ground = () => dark.evaluate(() =>
        getComputedStyle(document.documentElement).backgroundColor);
    const first = await ground();
    await shot(dark, 'dark');
    await dark.getByRole('button', { name: 'Theme' }).click();
    ok(first !== await ground(), 'the theme button changes nothing');
    const narrow = await open('train.html', { viewport: { width: 400, height: 800 } });
    const width = await narrow.evaluate(() => document.documentElement.scrollWidth);
    ok(width <= 400, `the page is ${width} pixels wide`);
    await shot(narrow, 'narrow');
    ok(dark.complaints.length + narrow.complaints.length === 0, 'complaints');
});

test('C241: a difference shows what grew', async () => {
    const diff = await open('diff.html');
    const first = await diff.locator('.pf-table tbody tr').first().textContent();
    ok(/^Attention\.forward.*\+\d/.test(first), first);
    const after = (await frame(diff, 'Attention.forward')).share;
    await diff.getByLabel('Width').selectOption('before');
    const before = (await frame(diff, 'Attention.forward')).share;
    near(before, shareOf(s => s.frames.includes('Attention.forward')), 'before');
    ok(after > before * 1.3, `${before}, then ${after}`);
    await shot(diff, 'diff');
    ok(diff.complaints.length === 0, diff.complaints.join('; '));
});

test('C244: a profile of memory shows live bytes over time, and what grows', async () => {
    const heap = await open('heap.html');
    near((await frame(heap, 'remember')).share, 0.75, 'remember');
    const canvas = heap.locator('.pf-live-canvas');
    const label = await canvas.getAttribute('aria-label');
    ok(label === 'Live bytes over 4.00 seconds: 4.00\u202fMiB at most, 4.00\u202fMiB at the end',
        label);
    const box = await canvas.boundingBox();
    await heap.mouse.move(box.x + box.width * 0.3, box.y + 30);
    const note = await heap.locator('.pf-live output').textContent();
    ok(/^1\.[23]\d\u202fMiB live after 1\.[23]\d?0?\u202fs$/.test(note), note);
    const filled = await canvas.evaluate(one => {
        const height = one.height, context = one.getContext('2d');
        return [0.25, 0.75].map(share => {
            const pixels = context.getImageData(one.width * share, 0, 1, height).data;
            let count = 0;
            for (let i = 3; i < pixels.length; i += 4)
                count += pixels[i] > 0;
            return count;
        });
    });
    ok(filled[1] > 2 * filled[0], `it does not rise: ${filled}`);
    const row = heap.locator('.pf-growth tbody tr');
    ok(await row.count() === 1, 'one stack grows');
    ok((await row.textContent()) ===
        'remember ← main1.00\u202fMiB/s±\u202f2.00\u202fKiB/s3.00\u202fMiB30',
    await row.textContent());
    await shot(heap, 'heap');
    ok(!(await page.locator('.pf-live-canvas').count()), 'a CPU profile has no live bytes');
    ok(heap.complaints.length === 0, heap.complaints.join('; '));
});

test('C241: the picture is drawn without a script', async () => {
    for (const file of ['train.svg', 'diff.svg']) {
        const picture = await open(file, { javaScriptEnabled: false });
        const box = await picture.locator('rect').nth(1).boundingBox();
        ok(box.width > 500, `${file}: the first box is ${box.width} wide`);
        const titles = await picture.locator('g > title').allTextContents();
        const share = /([\d.]+) %/.exec(titles.find(t => t.startsWith('Trainer.fit')))[1];
        if (file === 'train.svg')
            near(share / 100, shareOf(s => s.frames.includes('Trainer.fit')), 'Trainer.fit');
        await shot(picture, file);
        ok(picture.complaints.length === 0, picture.complaints.join('; '));
    }
});

test('C241: speedscope itself opens its file', async () => {
    const here = path.dirname(fileURLToPath(import.meta.url));
    const release = path.join(here, 'node_modules/speedscope/dist/release/index.html');
    const app = await browser.newPage();
    const text = readFileSync(path.join(directory, 'train.speedscope.json')).toString('base64');
    const script = path.join(directory, 'speedscope.js');
    writeFileSync(script, `speedscope.loadFileFromBase64('train.json', '${text}')`);
    await app.goto(`file://${release}#localProfilePath=${script.slice(1)}`);
    await app.waitForFunction(() => document.title.includes('python3'), null, { timeout: 20000 });
    await shot(app, 'speedscope');
    ok(/python3 \(4242\/4242\)/.test(await app.evaluate(() => document.body.innerText)),
        'the first thread is not shown');
});

const passed = await runTests();
await browser.close();
process.exit(passed ? 0 : 1);
