import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { startMock, type MockOptions } from '../mock/index.ts';
import { builtIn, depositPath, ids, userPath } from '../mock/testing/session.ts';
import { assertAccessible, useBrowser } from './testing/browser.ts';

const openPage = useBrowser();

/** Opens the page of a new mock whose clock is frozen. */
async function open(t: TestContext, options: MockOptions = {}, context: BrowserContextOptions = {}) {
  const opened = await openPage(t, context);
  const { page } = opened;
  const mock = await startMock({ clock: 'frozen', ...options });
  t.after(() => mock.close());
  await page.goto(`${mock.adminUrl}/`);
  return {
    ...opened,
    mock,
    /** Returns the status of a partner's request. */
    status: async (target: string, key = 'northwind-key') =>
      (await fetch(mock.url + target, { headers: { authorization: `Bearer ${key}` } })).status,
    press: (name: string) => page.getByRole('button', { name, exact: true }).click(),
    /** Waits until the row of a deposit, a key or a user shows a text. */
    shows: (id: string, text: string) => page.locator(`tr[data-key="${id}"]`).getByText(text).waitFor(),
    /** Waits for a text in the status line. */
    says: (words: string | RegExp) => page.getByRole('status').filter({ hasText: words }).waitFor(),
  };
}

/** Waits until the page shows the built-in fixture. */
async function loaded(page: Page): Promise<void> {
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByRole('row', { name: /11111111-1111-4111-8111-111111111111.*2024-02-29T/ }).waitFor();
}

async function openLoaded(...args: Parameters<typeof open>) {
  const opened = await open(...args);
  await loaded(opened.page);
  return opened;
}

for (const width of [390, 768, 1280])
  test(`at ${width} px, light and dark: nothing is cut off, and axe finds no problem`, async (t) => {
    const context = { viewport: { width, height: 844 }, hasTouch: width < 500 };
    const { page, status } = await openLoaded(t, {}, context);
    for (let count = 0; count < 61; count++) await status(userPath(ids.nobody));
    await status(depositPath(ids.afterPolls));
    await status(depositPath(ids.executed), 'northwind-key~checkout-test');
    await status(userPath(ids.member), 'northwind-revoked-key');
    await page.getByText('key revoked').waitFor();
    await page.getByText('limited, frees in').waitFor();
    await page.locator('#world option').getByText('checkout-test').waitFor({ state: 'attached' });
    await assertAccessible(page, `${width}`);
    const top = async (name: string) =>
      (await page.getByRole('heading', { name, exact: true }).boundingBox())!.y;
    assert.ok((await top('Journal')) < (await top('Deposits')), 'the journal comes before the lists');
  });

test('the page asks for the token and forgets it', async (t) => {
  const { page, press, says, complaints } = await open(t, { admin: { token: 'the-token' } });
  const field = page.getByLabel('Admin token');
  await field.waitFor();
  await assertAccessible(page, 'sign-in');
  assert.equal(await field.evaluate((element) => element === document.activeElement), true);
  await page.keyboard.type('a-wrong-one');
  await page.keyboard.press('Enter');
  const refusal = 'wrong admin token; use that of --admin-token, or the one that the mock printed';
  await page.getByRole('alert').filter({ hasText: refusal }).waitFor();
  await page.keyboard.type('the-token');
  await page.keyboard.press('Enter');
  await loaded(page);
  await press('1 min');
  await says('Clock advanced by 1 min');
  const kept = 'JSON.stringify([localStorage, sessionStorage, document.cookie, location.href])';
  assert.doesNotMatch((await page.evaluate<string>(kept)) + (await page.content()), /the-token/);
  await page.reload();
  await field.waitFor();
  assert.ok(complaints().every((complaint) => complaint.includes('401 (Unauthorized)')));
});

/** Presses Tab. Returns the name of the element with the focus; undefined at the end of the page. */
async function tab(page: Page): Promise<string | undefined> {
  await page.keyboard.press('Tab');
  const focused = await page.evaluate(() => {
    const element = document.activeElement as HTMLElement;
    const labelled = element.closest('label') ?? element;
    if (element === document.body) return undefined;
    const isVisible = [element, labelled].some((one) => getComputedStyle(one).outlineStyle !== 'none');
    return { isVisible, name: element.ariaLabel ?? (labelled.textContent?.trim() || element.id) };
  });
  assert.ok(focused?.isVisible !== false, `the focus of ${focused?.name} is invisible`);
  return focused?.name;
}

async function tabTo(page: Page, name: string): Promise<void> {
  for (let step = 0; step < 200; step++) if ((await tab(page)) === name) return;
  assert.fail(`Tab does not lead to ${name}`);
}

test('Tab reaches every control in page order, with a visible focus', async (t) => {
  const { page } = await openLoaded(t);
  const names: string[] = [];
  for (let name = await tab(page); name !== undefined && name !== names[0]; name = await tab(page))
    names.push(name);
  const controls = page.locator('a:visible, button:visible, input:not([type=radio]):visible, select:visible');
  // The other two are one of the speeds and the scrolling column.
  assert.equal(names.length, (await controls.count()) + 2);
  const order = ['Deposits', 'Set', 'Filter the deposits', 'Filter the users', 'Clear'];
  assert.deepEqual(
    names.filter((name) => order.includes(name)),
    order,
  );
});

test('a keyboard user can execute a deposit and change the clock, and keeps the focus', async (t) => {
  const { page, mock, status, shows, says } = await openLoaded(t);
  const waitForFocus = (text: string) =>
    page.waitForFunction(
      (part) => (document.activeElement!.cloneNode(false) as Element).outerHTML.includes(part),
      text,
    );
  await tabTo(page, 'Deposits');
  await page.keyboard.press('Enter');
  await waitForFocus('<section id="deposits"');
  await tabTo(page, `Execute deposit ${ids.pending}`);
  await page.keyboard.press('Enter');
  await shows(ids.pending, 'EXECUTED');
  await waitForFocus(`data-key="${ids.pending}"`);
  await tabTo(page, `Fail deposit ${ids.afterPolls}`);
  mock.clock.advance(60_000);
  await status(userPath(ids.member));
  await shows(ids.afterSeconds, 'EXECUTED');
  await page.getByText('member of the IB').waitFor();
  await waitForFocus(`"Fail deposit ${ids.afterPolls}"`);
  await tabTo(page, 'Frozen');
  await page.keyboard.press('ArrowRight');
  await says('Clock runs at 1×');
  await page.keyboard.press('ArrowLeft');
  await says('Clock frozen');
  await tabTo(page, 'Seconds to advance by');
  await page.keyboard.type('3600');
  await page.keyboard.press('Enter');
  await says(/^Clock advanced by 1 h/);
  await waitForFocus('aria-label="Seconds to advance by"');
});

test("deposits are executed and failed, and the mock's error message is shown", async (t) => {
  const { page, mock, status, press, shows, says, complaints } = await openLoaded(t);
  await press(`Execute deposit ${ids.pending}`);
  await shows(ids.pending, 'EXECUTED');
  await says(`Deposit ${ids.pending} executed.`);
  assert.equal(await status(depositPath(ids.pending)), 200);
  assert.equal(await page.locator(`tr[data-key="${ids.pending}"] button`).count(), 0);
  await press(`Fail deposit ${ids.afterPolls}`);
  await shows(ids.afterPolls, 'failed');
  // It fails just before the page executes it.
  await page.route('**/execute?*', (route) => {
    mock.deposits.fail(ids.afterSeconds);
    return route.continue();
  });
  await press(`Execute deposit ${ids.afterSeconds}`);
  await says('the deposit is failed, which is final');
  await shows(ids.afterSeconds, 'failed');
  assert.ok(complaints().every((complaint) => complaint.includes('409 (Conflict)')));
});

test('keys are revoked and expire', async (t) => {
  const { status, press, shows } = await openLoaded(t);
  await press('Revoke <key northwind/active>');
  await shows('<key northwind/active>', 'revoked');
  assert.equal(await status(userPath(ids.member)), 401);
  await press('Expire <key northwind/active/2>');
  await shows('<key northwind/active/2>', 'expired');
  assert.equal(await status(userPath(ids.member), 'northwind-spare-key'), 401);
});

test('the clock is advanced, set and sped up, and the page shows what became due', async (t) => {
  const { page, mock, press, shows, says } = await openLoaded(t);
  const start = mock.clock.now();
  await page.getByRole('radio', { name: '3600×' }).check();
  await says('Clock runs at 3600×');
  await page.getByText('running 3600 times as fast').waitFor();
  await shows(ids.afterSeconds, 'EXECUTED');
  await page.getByRole('radio', { name: 'Frozen' }).check();
  await page.getByText(', frozen').waitFor();
  mock.reset();
  mock.clock.set(start);
  await shows(ids.afterSeconds, 'in 5 s');
  await press('1 min');
  await says('Clock advanced by 1 min: 1 deposit executed, 1 key expired.');
  await shows(ids.afterSeconds, 'EXECUTED');
  await shows('<key fabrikam/active/2>', 'expired');
  await page.getByRole('spinbutton', { name: 'Seconds to advance by' }).fill('1.5');
  await press('Advance');
  await says(/^Clock advanced by 2 s/);
  assert.equal(mock.clock.now(), start + 61_500);
  await page.getByRole('textbox', { name: 'Time to set the clock to' }).fill('2030-01-31T04:05:06Z');
  await press('Set');
  await page.getByText(/^Thursday,? 31 January 2030, frozen$/).waitFor();
  assert.equal(await page.locator('#time').textContent(), '04:05:06');
});

test('a limiter fills, limits and recovers; of many, the fullest are shown', async (t) => {
  const apiKeys = Array.from({ length: 20 }, (_, index) => ({
    key: `key-of-${index}`,
    partner: 'northwind',
    state: 'active' as const,
  }));
  const fixture = { ...builtIn, apiKeys: [...(builtIn.apiKeys ?? []), ...apiKeys] };
  const { page, status, press, says } = await openLoaded(t, { fixture });
  for (const { key } of apiKeys) await status(userPath(ids.nobody), key);
  await page.getByText('the fullest 12 of 20').waitFor();
  await page.getByText('first 25 of 28').waitFor();
  for (let count = 0; count < 60; count++) await status(userPath(ids.nobody));
  const meter = page.getByRole('meter', { name: 'user-status <key northwind/active>' });
  await page.locator('.gauges li').first().getByText('limited, frees in 3 s').waitFor();
  assert.equal(await meter.evaluate((element) => (element as HTMLMeterElement).value), 60);
  await press('10 s');
  await says(/1 rate limit ended/);
  await meter.waitFor({ state: 'detached' });
});

test('the journal shows the last 100 requests with reasons, newest first, and can be cleared', async (t) => {
  const { page, status, press } = await openLoaded(t);
  await page.getByText('nothing yet').waitFor();
  for (let count = 0; count < 120; count++) await status(userPath(ids.member));
  await status(userPath(ids.member), 'northwind-revoked-key');
  const first = page.locator('.journal li').first();
  await first.getByText('key revoked').waitFor();
  const text = (await first.textContent())!;
  assert.match(text, /^401key revoked\d\d:\d\d:\d\d\.\d{3}GET \/api\/ib\/user-status/);
  assert.equal(await page.locator('.journal li').count(), 100);
  await page.getByLabel('Headers and body of request 121').click();
  await first.getByText('authorization: Bearer <key northwind/revoked>').waitFor();
  assert.match(
    (await first.locator('pre').textContent())!,
    /\n401\nDate: [^]*\n\n\{"error":"Unauthorized"\}$/,
  );
  await press('Clear');
  await first.waitFor({ state: 'detached' });
});

test('a curl command can be copied', async (t) => {
  const { page, mock, press, says } = await openLoaded(t, { basePath: '/gateway' });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  await press('Copy the line for 404, pending');
  await says('Copied the line for 404, pending.');
  const line = `curl -i -H "Authorization: Bearer northwind-key" "${mock.url}${depositPath(ids.pending)}"`;
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), line);
});

test('worlds appear, are shown one at a time, and can be reset', async (t) => {
  const { page, mock, status, press, shows, says } = await openLoaded(t);
  const stateInMine = () => mock.world('mine').deposits.get(ids.pending).state;
  await status(depositPath(ids.pending), 'northwind-key~mine');
  const world = page.getByRole('combobox', { name: 'World' });
  await world.selectOption('mine');
  await says('Showing the world mine.');
  await page.getByRole('listitem').filter({ hasText: 'deposit pending' }).waitFor();
  await page.getByText(`Bearer northwind-key~mine`).first().waitFor();
  await press(`Execute deposit ${ids.pending}`);
  await shows(ids.pending, 'EXECUTED');
  assert.equal(mock.deposits.get(ids.pending).state, 'pending');
  await page.reload();
  await shows(ids.pending, 'EXECUTED');
  await page.waitForFunction(() => document.title.startsWith('mine'));
  await press('Reset this world');
  await says('The world mine was reset to the fixture.');
  assert.equal(stateInMine(), 'pending');
  await world.selectOption('main');
  await shows(ids.pending, 'pending');
  mock.world('mine').deposits.execute(ids.pending);
  mock.deposits.execute(ids.pending);
  page.once('dialog', (dialog) => void dialog.accept());
  await press('Reset all worlds');
  await says('All worlds were reset to the fixture.');
  await shows(ids.pending, 'pending');
  assert.equal(stateInMine(), 'pending');
  await page.getByRole('textbox', { name: 'Name of the world to open' }).fill('new');
  await page.keyboard.press('Enter');
  await says('Showing the world new.');
});

test('long lists have pages, and the filter finds the last entry', async (t) => {
  const deposits = Array.from({ length: 100_000 }, (_, index) => ({
    reference_id: `${index.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`,
    user_id: ids.member,
    state: 'pending' as const,
  }));
  const { page, mock, press, shows } = await openLoaded(t, { fixture: { ...builtIn, deposits } });
  const rows = page.locator('#deposits tbody tr');
  await page.getByText('first 25 of 100,000').waitFor();
  assert.equal(await rows.count(), 25);
  await press('Show more');
  await page.getByText('first 50 of 100,000').waitFor();
  assert.equal(await rows.count(), 50);
  const last = deposits.at(-1)!.reference_id;
  await page.getByRole('searchbox', { name: 'Filter the deposits' }).fill(last);
  await page.getByText('1 matching', { exact: true }).waitFor();
  await press(`Execute deposit ${last}`);
  await shows(last, 'EXECUTED');
  assert.equal(mock.deposits.get(last).state, 'EXECUTED');
});

test('the page reconnects, also to a new mock at the same address', async (t) => {
  const { page, mock, complaints } = await openLoaded(t);
  await mock.close();
  await page.getByText('Not connected, retrying').waitFor();
  const clock = { now: () => Date.UTC(2030, 0, 1), mode: 'frozen' as const };
  const next = await startMock({ port: mock.port, clock });
  t.after(() => next.close());
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByText(/^Tuesday,? 1 January 2030, frozen$/).waitFor();
  complaints();
});

/** Sends an exact request target, which client libraries would normalize. */
async function send(port: number, target: string, key = 'northwind-key'): Promise<void> {
  const socket = connect(port, '127.0.0.1').resume();
  const authorization = `Authorization: Bearer ${key}`;
  socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\n${authorization}\r\nConnection: close\r\n\r\n`);
  await once(socket, 'close');
}

test('text from clients, world names and fixtures is never markup', async (t) => {
  const partner = '<img src=x onerror=alert(1)>';
  const apiKeys = [...(builtIn.apiKeys ?? []), { key: 'a-hostile-key', partner, state: 'active' as const }];
  const fixture = { ...builtIn, partners: [...(builtIn.partners ?? []), { id: partner }], apiKeys };
  const { page, mock, press, says } = await openLoaded(t, { fixture });
  const attacks = ['/<img/src=x/onerror=alert(1)>', '/</script><script>alert(1)</script>', '/&lt;b&gt;&#60;'];
  for (const attack of attacks) await send(mock.port, attack);
  for (const attack of attacks) await page.getByText(`GET ${attack}`, { exact: true }).waitFor();
  await send(mock.port, `/${'x'.repeat(60_000)}`);
  await page.getByText(/^GET \/x{399}… \([\d,]+ more\)$/).waitFor();
  await send(mock.port, '/?%6eorthwind-key%E2%80%AEx%00y');
  await page.getByText('GET /?<key northwind/active>%E2%80%AEx%00y', { exact: true }).first().waitFor();
  const world = `"><img/src=x/onerror=alert(1)>'$(id)\``;
  await send(mock.port, userPath(ids.member), `northwind-key~${world}`);
  await page.getByRole('combobox', { name: 'World' }).selectOption(world);
  await says(`Showing the world ${world}.`);
  const shellWord = `"Authorization: Bearer $IB_API_KEY"'~${world.replace("'", `'\\''`)}'`;
  await page.getByText(shellWord).first().waitFor();
  await press(`Revoke <key ${partner}/active>`);
  await says(`<key ${partner}/active> revoked.`);
  assert.equal(await page.locator('main :is(img, script, b)').count(), 0);
});

test('the policy blocks scripts that are not in the file', async (t) => {
  const { page, complaints } = await openLoaded(t);
  const attempts = [
    `document.body.setAttribute('onclick', 'x()')`,
    `document.body.innerHTML += '<b>markup</b>'`,
    `setTimeout('window.hasRun = true')`,
  ];
  for (const attempt of attempts)
    await assert.rejects(page.evaluate(attempt), /TypeError: .*Trusted/, attempt);
  assert.equal(await page.evaluate('window.hasRun'), undefined);
  assert.match(complaints().join(' '), /TrustedHTML/);
});
