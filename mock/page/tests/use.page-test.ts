import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test, type TestContext } from 'node:test';
import type { Fixture } from '../../../schemas/generated/types.ts';
import { depositPath, ids, userPath } from '../../testing/session.ts';
import { startMock, type MockOptions } from '../../server.ts';
import { builtIn } from '../../testing/probes.ts';
import { openBrowser, openPage, row, said, shown, type Browser } from './browser.ts';

let browser: Browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

async function openFor(t: TestContext, options: MockOptions = { clock: 'frozen' }) {
  const opened = await openPage(t, browser, options);
  await shown(opened.page);
  return opened;
}

test('deposits are executed and failed, and a refusal of the mock is shown in its words', async (t) => {
  const { page, mock, status, complaints } = await openFor(t);
  await page.getByRole('button', { name: `Execute deposit ${ids.pending}` }).click();
  await row(page, ids.pending).getByText('EXECUTED').waitFor();
  await said(page, `Deposit ${ids.pending} executed.`);
  assert.equal(await status(depositPath(ids.pending)), 200);
  assert.equal(await row(page, ids.pending).getByRole('button').count(), 0);
  await page.getByRole('button', { name: `Fail deposit ${ids.afterPolls}` }).click();
  await row(page, ids.afterPolls).getByText('failed').waitFor();
  // It fails at the moment when somebody executes it.
  await page.route('**/execute?*', (route) => {
    mock.deposits.fail(ids.afterSeconds);
    return route.continue();
  });
  await page.getByRole('button', { name: `Execute deposit ${ids.afterSeconds}` }).click();
  await said(page, 'the deposit is failed, which is final');
  await row(page, ids.afterSeconds).getByText('failed').waitFor();
  assert.ok(complaints().every((complaint) => complaint.includes('409 (Conflict)')));
});

test('the clock is advanced and set, and the page says what fell due', async (t) => {
  const { page, mock } = await openFor(t);
  const start = mock.clock.now();
  await row(page, ids.afterSeconds).getByText('in 5 s').waitFor();
  await page.getByRole('button', { name: '1 min' }).click();
  await said(page, 'Clock moved on by 1 min: 1 deposit executed, 1 key expired.');
  await row(page, ids.afterSeconds).getByText('EXECUTED').waitFor();
  await row(page, '<key fabrikam/active/2>').getByText('expired').waitFor();
  await page.getByRole('spinbutton', { name: 'Seconds to advance by' }).fill('1.5');
  await page.getByRole('button', { name: 'Advance', exact: true }).click();
  await said(page, /^Clock moved on by 2 s/);
  assert.equal(mock.clock.now(), start + 61_500);
  await page.getByRole('textbox', { name: 'Time to set the clock to' }).fill('2030-01-31T04:05:06Z');
  await page.getByRole('button', { name: 'Set', exact: true }).click();
  await page.getByText(/^Thursday,? 31 January 2030, frozen$/).waitFor();
  assert.equal(await page.locator('#time').textContent(), '04:05:06');
});

test('the clock runs faster and stops; what falls due then is shown without an event', async (t) => {
  const { page } = await openFor(t);
  await page.getByRole('radio', { name: '3600×' }).check();
  await said(page, 'Clock runs at 3600×');
  await page.getByText('running 3600 times as fast').waitFor();
  await row(page, ids.afterSeconds).getByText('EXECUTED').waitFor();
  await page.getByRole('radio', { name: 'Frozen' }).check();
  await page.getByText(', frozen').waitFor();
});

test('keys are revoked and expire', async (t) => {
  const { page, status } = await openFor(t);
  await page.getByRole('button', { name: 'Revoke <key northwind/active>', exact: true }).click();
  await row(page, '<key northwind/active>').getByText('revoked').waitFor();
  assert.equal(await status(userPath(ids.member)), 401);
  await page.getByRole('button', { name: 'Expire <key northwind/active/2>' }).click();
  await row(page, '<key northwind/active/2>').getByText('expired').waitFor();
  assert.equal(await status(userPath(ids.member), 'northwind-spare-key'), 401);
});

test('a limiter fills, limits and lets go; of many the fullest are shown', async (t) => {
  const apiKeys = Array.from({ length: 20 }, (_, index) => ({
    key: `key-of-${index}`,
    partner: 'northwind',
    state: 'active' as const,
  }));
  const fixture = { ...builtIn, apiKeys: [...(builtIn.apiKeys ?? []), ...apiKeys] };
  const { page, status } = await openFor(t, { fixture, clock: 'frozen' });
  for (const { key } of apiKeys) await status(userPath(ids.nobody), key);
  await page.getByText('the fullest 12 of 20').waitFor();
  await page.getByText('first 25 of 28').waitFor();
  for (let count = 0; count < 60; count++) await status(userPath(ids.nobody));
  const meter = page.getByRole('meter', { name: 'user-status <key northwind/active>' });
  await page.locator('.gauges li').first().getByText('limited, frees in 3 s').waitFor();
  assert.equal(await meter.evaluate((element) => (element as HTMLMeterElement).value), 60);
  await page.getByRole('button', { name: '10 s', exact: true }).click();
  await said(page, /1 limiter let go/);
  await meter.waitFor({ state: 'detached' });
});

test('the journal shows the last 100 requests with their reasons, newest first, and is cleared', async (t) => {
  const { page, status } = await openFor(t);
  await page.getByText('nothing yet').waitFor();
  for (let count = 0; count < 120; count++) await status(userPath(ids.member));
  await status(userPath(ids.member), 'northwind-revoked-key');
  const first = page.locator('.journal li').first();
  await first.getByText('key revoked').waitFor();
  assert.match(
    (await first.textContent())!,
    /^401key revoked\d\d:\d\d:\d\d\.\d{3}GET \/api\/ib\/user-status/,
  );
  assert.equal(await page.locator('.journal li').count(), 100);
  await page.getByRole('button', { name: 'Clear' }).click();
  await first.waitFor({ state: 'detached' });
});

test('a curl line is copied; it names the service where the admin API has its own port', async (t) => {
  const { page, mock } = await openFor(t, { admin: { port: 0 }, basePath: '/gateway' });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.getByRole('button', { name: 'Copy the line for 404, pending' }).click();
  await said(page, 'Copied the line for 404, pending.');
  const line = `curl -i -H 'Authorization: Bearer northwind-key' '${mock.url}${depositPath(ids.pending)}'`;
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), line);
});

test('worlds appear, are shown one at a time, and are reset', async (t) => {
  const { page, mock, status } = await openFor(t);
  await status(depositPath(ids.pending), 'northwind-key~mine');
  await page.getByRole('button', { name: 'Open world mine' }).click();
  await said(page, 'Showing the world mine.');
  await page.getByRole('listitem').filter({ hasText: 'deposit pending' }).waitFor();
  await page.getByText(`Bearer northwind-key~mine`).first().waitFor();
  await page.getByRole('button', { name: `Execute deposit ${ids.pending}` }).click();
  await row(page, ids.pending).getByText('EXECUTED').waitFor();
  assert.equal(mock.deposits.get(ids.pending).state, 'pending');
  await page.reload();
  await row(page, ids.pending).getByText('EXECUTED').waitFor();
  await page.waitForFunction(() => document.title.startsWith('mine'));
  await page.getByRole('combobox', { name: 'World' }).selectOption('main');
  await row(page, ids.pending).getByText('pending').waitFor();
  await page.getByRole('button', { name: 'Reset world mine' }).click();
  await said(page, 'The world mine is as the fixture has it.');
  assert.equal(mock.world('mine').deposits.get(ids.pending).state, 'pending');
  mock.world('mine').deposits.execute(ids.pending);
  mock.deposits.execute(ids.pending);
  page.once('dialog', (dialog) => void dialog.accept());
  await page.getByRole('button', { name: 'Reset all worlds' }).click();
  await said(page, 'All worlds are as the fixture has them.');
  await row(page, ids.pending).getByText('pending').waitFor();
  assert.equal(mock.world('mine').deposits.get(ids.pending).state, 'pending');
  await page.getByRole('textbox', { name: 'Name of the world to open' }).fill('new');
  await page.getByRole('textbox', { name: 'Name of the world to open' }).press('Enter');
  await said(page, 'Showing the world new.');
});

test('of long lists a page is shown, more on request, and the filter finds the last entry', async (t) => {
  const idOf = (index: number) => `${index.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`;
  const many = Array.from({ length: 100_000 }, (_, index) => idOf(index));
  const fixture: Fixture = {
    partners: [{ id: 'northwind' }],
    apiKeys: [{ key: 'a-key', partner: 'northwind', state: 'active' }],
    users: many.map((user_id) => ({
      user_id,
      partner: 'northwind',
      date_joined: '2024-01-01T00:00:00.000Z',
    })),
    deposits: many.map((id) => ({ reference_id: id, user_id: id, state: 'pending' })),
  };
  const { page, mock } = await openPage(t, browser, { fixture, clock: 'frozen' });
  await page.getByText('first 25 of 100,000').first().waitFor();
  const rows = page.locator('#deposits tbody tr');
  assert.equal(await rows.count(), 25);
  await page.locator('#deposits').getByRole('button', { name: 'Show more' }).click();
  await page.getByText('first 50 of 100,000').waitFor();
  assert.equal(await rows.count(), 50);
  const last = many.at(-1)!;
  await page.getByRole('searchbox', { name: 'Filter the deposits' }).fill(last);
  await page.getByText('1 that fit', { exact: true }).waitFor();
  await page.getByRole('button', { name: `Execute deposit ${last}` }).click();
  await row(page, last).getByText('EXECUTED').waitFor();
  assert.equal(mock.deposits.get(last).state, 'EXECUTED');
});

test('the page asks for the token and forgets it', async (t) => {
  const { page, complaints } = await openPage(t, browser, { admin: { token: 'the-token' } });
  const field = page.getByLabel('Admin token');
  await field.waitFor();
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
  await said(page, 'Clock moved on by 1 min');
  const kept = 'JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])';
  assert.doesNotMatch((await page.evaluate<string>(kept)) + (await page.content()), /the-token/);
  await page.reload();
  await field.waitFor();
  assert.ok(complaints().every((complaint) => complaint.includes('401 (Unauthorized)')));
});

test('the page reconnects, also to another mock in the same place', async (t) => {
  const { page, mock, complaints } = await openFor(t);
  await mock.close();
  await page.getByText('Not connected, trying again').waitFor();
  const next = await startMock({
    port: mock.port,
    clock: { now: () => Date.UTC(2030, 0, 1), mode: 'frozen' },
  });
  t.after(() => next.close());
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByText(/^Tuesday,? 1 January 2030, frozen$/).waitFor();
  complaints();
});

/** Sends a target as it is, which no client library would. */
async function send(port: number, target: string, key = 'northwind-key'): Promise<void> {
  const socket = connect(port, '127.0.0.1').resume();
  socket.write(
    `GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`,
  );
  await once(socket, 'close');
}

test('what clients, world names and fixtures say is only ever text', async (t) => {
  const partner = '<img src=x onerror=alert(1)>';
  const apiKeys = [...(builtIn.apiKeys ?? []), { key: 'a-hostile-key', partner, state: 'active' as const }];
  const fixture = { ...builtIn, partners: [...(builtIn.partners ?? []), { id: partner }], apiKeys };
  const { page, mock } = await openFor(t, { fixture });
  const attacks = ['/<img/src=x/onerror=alert(1)>', '/</script><script>alert(1)</script>', '/&lt;b&gt;&#60;'];
  for (const attack of attacks) await send(mock.port, attack);
  for (const attack of attacks) await page.getByText(`GET ${attack}`, { exact: true }).waitFor();
  await send(mock.port, `/${'x'.repeat(60_000)}`);
  await page.getByText(/^GET \/x{399}… \([\d,]+ more\)$/).waitFor();
  await send(mock.port, '/?%6eorthwind-key%E2%80%AEx%00y');
  await page.getByText('GET /?<key northwind/active>%E2%80%AEx%00y').waitFor();
  const world = `"><img/src=x/onerror=alert(1)>'$(id)\``;
  await send(mock.port, userPath(ids.member), `northwind-key~${world}`);
  await page.getByRole('button', { name: `Open world ${world}` }).click();
  await said(page, `Showing the world ${world}.`);
  const shellWord = `"Authorization: Bearer $IB_API_KEY"'~${world.replace("'", `'\\''`)}'`;
  await page.getByText(shellWord).first().waitFor();
  await page.getByRole('button', { name: `Revoke <key ${partner}/active>` }).click();
  await said(page, `<key ${partner}/active> revoked.`);
  assert.equal(await page.locator('main :is(img, script, b)').count(), 0);
});

test('the policy lets nothing run that is not in the file', async (t) => {
  const { page, complaints } = await openFor(t);
  const attempts = ["setAttribute('onclick', 'x()')", "innerHTML += '<b>markup</b>'"].map(
    (end) => `document.body.${end}`,
  );
  for (const attempt of [...attempts, "setTimeout('window.hasRun = true')"])
    await assert.rejects(page.evaluate(attempt), /TypeError: .*Trusted/, attempt);
  assert.equal(await page.evaluate('window.hasRun'), undefined);
  assert.match(complaints().join(' '), /TrustedHTML/);
});
