import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { startMock } from '../../server.ts';
import { openBrowser, openPage, shown, type Browser } from './browser.ts';

let browser: Browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

test('the page asks for the token, and keeps it no longer than itself', async (t) => {
  const { page, complaints } = await openPage(t, browser, { admin: { token: 'the-token' } });
  const field = page.getByRole('textbox', { name: 'Admin token' });
  await field.waitFor();
  assert.ok(await page.locator('#main').isHidden());
  assert.equal(await field.evaluate((element) => element === document.activeElement), true);
  await page.keyboard.type('a-wrong-one');
  await page.keyboard.press('Enter');
  await page
    .getByRole('alert')
    .filter({ hasText: 'needs Authorization: Bearer and the admin token' })
    .waitFor();
  await page.keyboard.type('the-token');
  await page.keyboard.press('Enter');
  await shown(page);
  await page.getByRole('button', { name: '1 min' }).click();
  await page.getByRole('status').filter({ hasText: 'Clock moved on by 1 min' }).waitFor();
  const kept = await page.evaluate(() =>
    JSON.stringify([localStorage, sessionStorage, document.cookie, location.href]),
  );
  assert.doesNotMatch(kept, /the-token/);
  assert.doesNotMatch(await page.content(), /the-token/);
  await page.reload();
  await field.waitFor();
  assert.deepEqual(
    complaints().filter((complaint) => !complaint.includes('401 (Unauthorized)')),
    [],
  );
});

test('the page finds its mock again, or the one that took its place', async (t) => {
  const { page, mock, complaints } = await openPage(t, browser, { clock: 'frozen' });
  await shown(page);
  await mock.close();
  await page.getByText('Not connected, trying again').waitFor();
  const next = await startMock({
    port: mock.port,
    clock: { now: () => Date.UTC(2030, 0, 1), mode: 'frozen' },
  });
  t.after(() => next.close());
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByText('Tuesday, 1 January 2030, frozen').waitFor();
  complaints();
});
