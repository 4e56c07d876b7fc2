/* What the tests of pages share: a Chromium whose pages keep what they complain of and ask for, and
 * tests that are run one after the other and told as TAP. PITOT_TEST chooses those with that text in
 * their names. */
import path from 'node:path';
import { chromium } from 'playwright-core';

const tests = [];
export const test = (name, run) => tests.push({ name, run });

export function ok(condition, message) {
    if (!condition)
        throw new Error(message);
}

export const launch = (...options) => chromium.launch({ executablePath: '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', ...options] });

/* A page in a context of its own, still empty. */
export async function newPage(browser, options = {}) {
    const page = await browser.newPage({ viewport: { width: 1400, height: 1000 },
        reducedMotion: 'reduce', ...options });
    page.complaints = [];
    page.on('console', message => {
        if (message.type() === 'error')
            page.complaints.push(message.text());
    });
    page.on('pageerror', error => page.complaints.push(error.message));
    page.asked = [];
    page.on('request', request => page.asked.push(request.url()));
    return page;
}

/* A function that keeps screenshots in the directory, if there is one. */
export const screenshots = (directory, prefix) => async (page, name) => {
    if (directory)
        await page.screenshot({ path: path.join(directory, `${prefix}${name}.png`) });
};

/* True if all went well. */
export async function runTests() {
    const chosen = tests.filter(({ name }) => name.includes(process.env.PITOT_TEST || ''));
    console.log(`1..${chosen.length}`);
    let failed = 0;
    for (const [i, { name, run }] of chosen.entries()) {
        try {
            await run();
            console.log(`ok ${i + 1} - ${name}`);
        } catch (error) {
            failed++;
            const words = String(error.message).split('\n').join('\n# ');
            console.log(`not ok ${i + 1} - ${name}\n# ${words}`);
        }
    }
    return failed === 0;
}
