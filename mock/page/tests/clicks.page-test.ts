import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { builtIn } from '../../testing/probes.ts';
import { depositPath, ids, userPath } from '../../testing/session.ts';
import type { MockOptions } from '../../server.ts';
import { openBrowser, openPage, row, said, shown, type Browser } from './browser.ts';

let browser: Browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

async function openFor(t: TestContext, options: MockOptions = { clock: 'frozen' }) {
  const opened = await openPage(t, browser, options);
  await shown(opened.page);
  return opened;
}

test('a deposit is executed, and the service says so', async (t) => {
  const { page, status } = await openFor(t);
  assert.equal(await status(depositPath(ids.pending)), 404);
  await page.getByRole('button', { name: `Execute deposit ${ids.pending}` }).click();
  await row(page, ids.pending).getByText('EXECUTED').waitFor();
  await said(page, `Deposit ${ids.pending} executed.`);
  assert.equal(await status(depositPath(ids.pending)), 200);
  assert.equal(await row(page, ids.pending).getByRole('button').count(), 0);
});

test('a deposit fails', async (t) => {
  const { page } = await openFor(t);
  await page.getByRole('button', { name: `Fail deposit ${ids.afterPolls}` }).click();
  await row(page, ids.afterPolls).getByText('failed').waitFor();
});

test('the clock moves on, and the page says what fell due', async (t) => {
  const { page, status } = await openFor(t);
  const atFirst = await page.locator('#time').textContent();
  await row(page, ids.afterSeconds).getByText('in 5 s').waitFor();
  await page.getByRole('button', { name: '1 min' }).click();
  await said(page, 'Clock moved on by 1 min: 1 deposit executed, 1 key expired.');
  await row(page, ids.afterSeconds).getByText('EXECUTED').waitFor();
  await row(page, '<key fabrikam/active/2>').getByText('expired').waitFor();
  assert.equal(await status(depositPath(ids.afterSeconds)), 200);
  assert.equal(await status(userPath(ids.member), 'fabrikam-expiring-key'), 401);
  assert.notEqual(await page.locator('#time').textContent(), atFirst);
  await page.getByRole('button', { name: 'Reset clock' }).click();
  await row(page, ids.afterSeconds).getByText('in 5 s').waitFor();
  await page.waitForFunction((text) => document.querySelector('#time')?.textContent === text, atFirst);
});

test('the clock moves on by any time, runs faster, and is frozen', async (t) => {
  const { page, mock } = await openFor(t);
  const start = mock.clock.now();
  await page.getByRole('spinbutton', { name: 'Seconds to advance by' }).fill('1.5');
  await page.getByRole('button', { name: 'Advance', exact: true }).click();
  await said(page, /^Clock moved on by 2 s/);
  assert.equal(mock.clock.now(), start + 1500);
  await page.getByRole('radio', { name: '3600×' }).check();
  await said(page, 'Clock runs at 3600×');
  await page.getByText('running 3600 times as fast').waitFor();
  // Falls due by itself; the mock says nothing of it.
  await row(page, ids.afterSeconds).getByText('EXECUTED').waitFor();
  await page.getByRole('radio', { name: 'Frozen' }).check();
  await page.getByText(', frozen').waitFor();
});

test('a key is revoked, and the service says so', async (t) => {
  const { page, status } = await openFor(t);
  assert.equal(await status(userPath(ids.member)), 200);
  await page.getByRole('button', { name: 'Revoke <key northwind/active>', exact: true }).click();
  await row(page, '<key northwind/active>').getByText('revoked').waitFor();
  assert.equal(await status(userPath(ids.member)), 401);
  await page.getByRole('button', { name: 'Expire <key northwind/active/2>' }).click();
  await row(page, '<key northwind/active/2>').getByText('expired').waitFor();
  assert.equal(await status(userPath(ids.member), 'northwind-spare-key'), 401);
});

test('a limiter fills, is full, and lets go', async (t) => {
  const { page, status } = await openFor(t);
  const meter = page.getByRole('meter', { name: 'user-status <key northwind/active>' });
  const words = page.locator('.gauges .number');
  for (let count = 0; count < 15; count++) await status(userPath(ids.nobody));
  await words.getByText('15 of 60').waitFor();
  assert.equal(await meter.evaluate((element) => (element as HTMLMeterElement).value), 15);
  for (let count = 15; count < 60; count++) await status(userPath(ids.nobody));
  await words.getByText('limited, frees in 3 s').waitFor();
  assert.equal(await status(userPath(ids.nobody)), 429);
  await page.getByRole('button', { name: '10 s', exact: true }).click();
  await said(page, /1 limiter let go/);
  await meter.waitFor({ state: 'detached' });
});

test('a request stands in the journal as it happens, with its reason, and goes with the rest', async (t) => {
  const { page, status } = await openFor(t);
  await page.getByText('nothing yet').waitFor();
  await status(userPath(ids.member), 'northwind-revoked-key');
  const entry = page.getByRole('listitem').filter({ hasText: 'key revoked' });
  await entry.waitFor();
  assert.match(
    (await entry.textContent()) ?? '',
    /^401key revoked\d\d:\d\d:\d\d\.\d{3}GET \/api\/ib\/user-status/,
  );
  await page.getByRole('button', { name: 'Clear' }).click();
  await entry.waitFor({ state: 'detached' });
});

test('a busy mock does not drown the page', async (t) => {
  const { page, status } = await openFor(t);
  for (let count = 0; count < 300; count++) await status(userPath(ids.member));
  await status(userPath('the-last-one'));
  await page.getByText('user_id=the-last-one').waitFor();
  assert.equal(await page.locator('#journal li').count(), 100);
});

test('a line is copied that asks for what it says', async (t) => {
  const { page, mock } = await openFor(t);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy the line for 404, pending' }).click();
  await said(page, 'Copied the line for 404, pending.');
  assert.equal(
    await page.evaluate(() => navigator.clipboard.readText()),
    `curl -i -H 'Authorization: Bearer northwind-key' '${mock.url}${depositPath(ids.pending)}'`,
  );
});

test('a line names the service where the admin API has a port of its own', async (t) => {
  const { page, mock } = await openFor(t, { admin: { port: 0 }, basePath: '/gateway' });
  assert.notEqual(new URL(mock.adminUrl ?? '').port, `${mock.port}`);
  await page
    .getByText(`'${mock.url}${userPath(ids.member)}'`)
    .first()
    .waitFor();
});

test('worlds are seen when they are made, shown one at a time, and reset', async (t) => {
  const { page, mock, status } = await openFor(t);
  await status(depositPath(ids.pending), 'northwind-key~mine');
  await page.getByRole('button', { name: 'Open world mine' }).click();
  await said(page, 'Showing the world mine.');
  await page.getByRole('listitem').filter({ hasText: 'deposit pending' }).waitFor();
  await page.getByText(`Bearer northwind-key~mine`).first().waitFor();
  await page.getByRole('button', { name: `Execute deposit ${ids.pending}` }).click();
  await row(page, ids.pending).getByText('EXECUTED').waitFor();
  assert.equal(mock.deposits.get(ids.pending).state, 'pending');
  assert.equal(mock.world('mine').deposits.get(ids.pending).state, 'EXECUTED');
  await page.getByRole('combobox', { name: 'World' }).selectOption('main');
  await row(page, ids.pending).getByText('pending').waitFor();
  await page.getByRole('button', { name: 'Reset world mine' }).click();
  await said(page, 'The world mine is as the fixture has it.');
  assert.equal(mock.world('mine').deposits.get(ids.pending).state, 'pending');
});

test('one reset for all worlds, after a question', async (t) => {
  const { page, mock } = await openFor(t);
  mock.world('mine').deposits.execute(ids.pending);
  mock.deposits.execute(ids.pending);
  const questions: string[] = [];
  page.on('dialog', (dialog) => {
    questions.push(dialog.message());
    void dialog.accept();
  });
  await page.getByRole('button', { name: 'Reset all worlds' }).click();
  await said(page, /Showing the world main/);
  await row(page, ids.pending).getByText('pending').waitFor();
  assert.equal(questions.length, 1);
  assert.equal(mock.world('mine').deposits.get(ids.pending).state, 'pending');
});

test('a world is opened by its name, and the address shows it', async (t) => {
  const { page } = await openFor(t);
  await page.getByRole('textbox', { name: 'Name of the world to open' }).fill('checkout-test');
  await page.getByRole('textbox', { name: 'Name of the world to open' }).press('Enter');
  await said(page, 'Showing the world checkout-test.');
  await page.reload();
  await shown(page);
  assert.equal(await page.getByRole('combobox', { name: 'World' }).inputValue(), 'checkout-test');
  await page.waitForFunction(() => document.title.startsWith('checkout-test'));
});

test('of many gauges the fullest are shown', async (t) => {
  const apiKeys = Array.from({ length: 20 }, (_, index) => ({
    key: `key-of-${index}`,
    partner: `partner-${index}`,
    state: 'active' as const,
  }));
  const partners = [...(builtIn.partners ?? []), ...apiKeys.map(({ partner }) => ({ id: partner }))];
  const fixture = { ...builtIn, partners, apiKeys: [...(builtIn.apiKeys ?? []), ...apiKeys] };
  const { page, status } = await openFor(t, { fixture, clock: 'frozen' });
  for (const { key } of apiKeys) await status(userPath(ids.nobody), key);
  await status(userPath(ids.nobody), 'key-of-19');
  await page.getByText('the fullest 12 of 20').waitFor();
  await page.locator('.gauges li').first().locator('.number').getByText('2 of 60').waitFor();
  await page.getByText('first 25 of 28').waitFor();
});

test('lists are filtered', async (t) => {
  const { page } = await openFor(t);
  await page.getByRole('searchbox', { name: 'Filter the deposits' }).fill('contoso');
  await page.getByText('2 that fit').waitFor();
  assert.equal(await page.locator('#deposits-table tbody tr').count(), 2);
});

test('what the mock refuses is told in its own words', async (t) => {
  const { page, mock, complaints } = await openFor(t);
  // It fails at the very moment that somebody executes it.
  await page.route('**/execute?*', (route) => {
    mock.deposits.fail(ids.pending);
    return route.continue();
  });
  await page.getByRole('button', { name: `Execute deposit ${ids.pending}` }).click();
  await said(page, 'the deposit is failed, which is final; a reset begins anew');
  await row(page, ids.pending).getByText('failed').waitFor();
  assert.deepEqual(
    complaints().filter((complaint) => !complaint.includes('409 (Conflict)')),
    [],
  );
});
