import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import type { BrowserContextOptions } from 'playwright-core';
import type { RunRecord } from '../schemas/generated/types.ts';
import { reports } from '../reports/index.ts';
import { sampleRecord } from '../reports/testing/records.ts';
import { assertAccessible, screenshot, useBrowser } from './dev/testing/browser.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

const openPage = useBrowser();
const withoutScript = { javaScriptEnabled: false };

/** Opens a report from a file. The test fails at its end if the report requests anything else. */
async function openReport(t: TestContext, options: BrowserContextOptions = {}, record = sampleRecord) {
  const { page } = await openPage(t, options);
  const requests: string[] = [];
  page.on('request', (request) => requests.push(request.url()));
  const url = pathToFileURL(
    temporaryFolder(t).fileOf('run.html', reports.html(record, { color: false, width: 100 })),
  ).href;
  t.after(() => assert.ok(requests.every((one) => one.replace(/#.*/, '') === url)));
  await page.goto(url);
  return page;
}

/** Long text without spaces, in every place that a target or a fixture can fill. */
const long = 'x<'.repeat(1000);
const { rerun: _rerun, ...bare } = sampleRecord;
const records: Readonly<Record<string, RunRecord>> = {
  sample: sampleRecord,
  hostile: {
    ...sampleRecord,
    target: `http://${long}`,
    partner: long,
    notes: [long],
    requirements: sampleRecord.requirements.map((result) => ({
      ...result,
      id: long,
      title: long,
      clause: long,
    })),
  },
  'conformant-and-bare': {
    ...bare,
    verdict: 'conformant',
    requirements: bare.requirements.filter(({ outcome }) => outcome === 'passed'),
  },
  incomplete: { ...bare, verdict: 'incomplete', requirements: [] },
};

for (const [name, record] of Object.entries(records))
  test(`${name}, narrow and wide, light and dark: nothing is cut off, and axe finds no problem`, async (t) => {
    const page = await openReport(t, {}, record);
    await page.evaluate(() => document.querySelectorAll('details').forEach((one) => (one.open = true)));
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await assertAccessible(page, `report-${name}-${width}`);
    }
  });

test('in print, text is dark on white, controls are hidden, and findings are open', async (t) => {
  const page = await openReport(t);
  const finding = page.locator('details.of-bad').first();
  await finding.locator('summary').click();
  assert.equal(await finding.getByText('Expected').isVisible(), false);
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await screenshot(page, 'report-print');
  const background = await page.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  assert.equal(background, 'rgb(255, 255, 255)');
  assert.equal(await finding.getByText('Expected').isVisible(), true);
  assert.equal(await page.locator('nav').isVisible(), false);
});

test('entries of the matrix and names of rows link to findings, and to rows that are folded', async (t) => {
  const page = await openReport(t, withoutScript);
  const matrix = page.locator('.matrix');
  await matrix.getByRole('link', { name: 'missing' }).click();
  assert.ok(page.url().endsWith('#auth/user-status/missing'));
  const finding = page.locator('[id="auth/user-status/missing"]');
  assert.ok((await finding.boundingBox())!.y < 900);
  assert.equal(await page.getByRole('link', { name: 'auth/user-status/missing', exact: true }).count(), 1);
  const row = page.locator('.passed', { hasText: 'valid/user-status/member' }).locator('li').first();
  assert.equal(await row.isVisible(), false);
  await matrix.getByRole('link', { name: 'member' }).click();
  await row.waitFor({ state: 'visible' });
});

test('the first failure is in sight, on a screen and on a phone', async (t) => {
  for (const viewport of [
    { width: 1280, height: 900 },
    { width: 390, height: 844 },
  ]) {
    const page = await openReport(t, { viewport });
    const { y } = (await page.locator('.finding').first().boundingBox())!;
    assert.ok(y < 0.75 * viewport.height, String(y));
  }
});

test('a clause links to its text, which opens', async (t) => {
  const page = await openReport(t, withoutScript);
  const text = page.getByText('Only Partner accounts get API keys.');
  assert.equal(await text.isVisible(), false);
  await page.getByRole('link', { name: 'Authentication: partner keys' }).first().click();
  await text.waitFor({ state: 'visible' });
});

test('a click on a command selects all of it, and differing characters are marked and named', async (t) => {
  const page = await openReport(t);
  const failed = sampleRecord.requirements.find(({ id }) => id === 'auth/deposit-check/revoked')!;
  await page.locator(`[id="${failed.id}"] .command .block`).first().click();
  const selected = await page.evaluate(() => String(getSelection()));
  assert.ok('counterexample' in failed);
  assert.equal(selected, failed.counterexample!.curl);
  const finding = page.locator('[id="auth/user-status/missing"]');
  assert.deepEqual(await finding.locator('mark').allTextContents(), ['a', '\u0430']);
  assert.ok(await finding.getByText('U+0430 instead of U+0061').isVisible());
});
