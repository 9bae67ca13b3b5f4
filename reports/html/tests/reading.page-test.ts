import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { renderHtml } from '../page.ts';
import { openBrowser, openFile, type Browser, type Page } from './browser.ts';
import { sampleRecord } from '../../testing/records.ts';

let browser: Browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const page = renderHtml(sampleRecord);
const withoutScript = { javaScriptEnabled: false };

/** Outcomes of the rows that are seen. */
async function outcomesSeen(opened: Page): Promise<readonly string[]> {
  const rows = await opened.locator('.row:visible').all();
  const outcomes = await Promise.all(rows.map((row) => row.getAttribute('data-outcome')));
  return [...new Set(outcomes.map(String))];
}

test('one outcome is shown, and all again, without a script', async (t) => {
  const opened = await openFile(t, browser, page, withoutScript);
  const all = await opened.locator('.row:visible').count();
  assert.equal(all, sampleRecord.requirements.length);
  for (const outcome of ['passed', 'failed', 'inconclusive', 'observed', 'excluded', 'broken']) {
    const number = sampleRecord.requirements.filter((result) => result.outcome === outcome).length;
    await opened.getByRole('radio', { name: `${outcome} ${number}`, exact: true }).check();
    assert.deepEqual(await outcomesSeen(opened), [outcome]);
    assert.equal(await opened.locator('.row:visible').count(), number);
    // No heading stands over nothing.
    for (const suite of await opened.locator('.suite:visible').all())
      assert.ok((await suite.locator('.row:visible').count()) > 0);
    const isObserved = await opened.locator('#observed .row:visible').count();
    assert.equal(await opened.locator('#observed').isVisible(), isObserved > 0, outcome);
  }
  await opened.getByRole('radio', { name: `all ${all}` }).check();
  assert.equal(await opened.locator('.row:visible').count(), all);
});

test('the keyboard chooses what is shown', async (t) => {
  const opened = await openFile(t, browser, page, withoutScript);
  await opened.getByRole('radio', { name: /^all/ }).focus();
  await opened.keyboard.press('ArrowRight');
  assert.deepEqual(await outcomesSeen(opened), ['passed']);
});

test('links lead to requirements, also to those that are not shown', async (t) => {
  const opened = await openFile(t, browser, page, withoutScript);
  await opened.getByRole('radio', { name: /^failed/ }).check();
  const row = opened.locator('[id="auth/user-status/revocation"]');
  assert.equal(await row.isVisible(), false);
  await opened.getByRole('link', { name: 'auth/user-status/revocation: excluded' }).click();
  assert.ok(opened.url().endsWith('#auth/user-status/revocation'));
  await row.and(opened.locator(':visible')).waitFor();
  assert.ok((await row.boundingBox())!.y < 900);
  await opened.getByRole('link', { name: 'No Authorization field' }).first().click();
  const finding = opened.locator('[id="auth/user-status/missing"]');
  assert.ok((await finding.boundingBox())!.y < 100);
});

test('a click on a command selects all of it, as it was sent', async (t) => {
  const opened = await openFile(t, browser, page);
  const { counterexample } = sampleRecord.requirements.find(
    ({ id }) => id === 'auth/deposit-check/revoked',
  ) as {
    readonly counterexample: { readonly curl: string };
  };
  await opened.locator('[id="auth/deposit-check/revoked"] .command .block').first().click();
  assert.equal(await opened.evaluate<string>('getSelection().toString()'), counterexample.curl);
});

test('what differs is marked, and a letter that only looks the same is named', async (t) => {
  const opened = await openFile(t, browser, page);
  const finding = opened.locator('[id="auth/user-status/missing"]');
  assert.deepEqual(await finding.locator('mark').allTextContents(), ['a', '\u0430']);
  assert.ok(await finding.getByText('U+0430 where U+0061 is expected').isVisible());
});
