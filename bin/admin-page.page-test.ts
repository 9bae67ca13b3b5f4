import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { test, type TestContext } from 'node:test';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { startMock, type MockOptions } from '../mock/index.ts';
import { builtIn, depositPath, ids, userPath } from '../mock/testing/session.ts';
import { assertAccessible, useBrowser } from './dev/testing/browser.ts';

const openPage = useBrowser();

/** Opens the page of a new mock whose clock is frozen. */
async function open(t: TestContext, options: MockOptions = {}, context: BrowserContextOptions = {}) {
  const opened = await openPage(t, context);
  const { page } = opened;
  const mock = await startMock({ clock: 'frozen', ...options });
  t.after(() => mock.close());
  await page.goto(`${mock.adminUrl}/`);
  const fill = async (name: string, value: string) => {
    await page.getByLabel(name, { exact: true }).and(page.locator('input')).fill(value);
    await page.keyboard.press('Enter');
  };
  return {
    ...opened,
    mock,
    fill,
    /** Returns the status of a partner's request. */
    status: async (target: string, key = 'northwind-key') =>
      (await fetch(mock.url + target, { headers: { authorization: `Bearer ${key}` } })).status,
    press: (name: string) => page.getByRole('button', { name, exact: true }).click(),
    /** Waits until the row of an item shows a text. */
    shows: (id: string, text: string) => page.locator(`[data-key="${id}"]`).getByText(text).waitFor(),
    /** Waits until a section shows a text. */
    contains: (section: string, text: string) =>
      page.getByRole('region', { name: section }).getByText(text).first().waitFor(),
    /** Waits for a text in the status line. */
    says: (words: string) => page.getByRole('status').filter({ hasText: words }).waitFor(),
  };
}

/** Waits until the page shows what the mock has. */
const loaded = (page: Page) => page.getByText('Live', { exact: true }).waitFor();

async function openLoaded(...args: Parameters<typeof open>) {
  const opened = await open(...args);
  await loaded(opened.page);
  return opened;
}

for (const width of [400, 1200])
  test(`at ${width} px, light and dark: nothing is cut off, and axe finds no problem`, async (t) => {
    const { page, mock, status, contains } = await openLoaded(t, {}, { viewport: { width, height: 850 } });
    for (let count = 0; count < 61; count++) await status(userPath(ids.nobody));
    await status(depositPath(ids.executed), 'northwind-key~checkout-test');
    await status(userPath(ids.member), 'northwind-revoked-key');
    mock.setFault({ fault: 'member-denied' });
    await contains('Requests', '401: key revoked');
    await contains('Limits', 'limited, frees in 3 s');
    await contains('Fault', 'member-denied: A member gets is_under_ib false.');
    await page.locator('#world option').getByText('checkout-test').waitFor({ state: 'attached' });
    await assertAccessible(page, `${width}`);
  });

test('the page asks for the token and forgets it', async (t) => {
  const { page, press, says, complaints } = await open(t, { admin: { token: 'the-token' } });
  const field = page.getByLabel('Admin token');
  await field.waitFor();
  await assertAccessible(page, 'sign-in');
  await page.keyboard.type('a-wrong-one');
  await page.keyboard.press('Enter');
  await page.getByRole('alert').filter({ hasText: 'wrong admin token; use that of' }).waitFor();
  await field.fill('the-token');
  await page.keyboard.press('Enter');
  await loaded(page);
  await press('+1m');
  await says('Advance by 1m: done.');
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
    if (element === document.body) return undefined;
    const isVisible = getComputedStyle(element).outlineStyle !== 'none';
    return { isVisible, name: element.ariaLabel ?? (element.textContent?.trim() || element.id) };
  });
  assert.ok(focused?.isVisible !== false, `the focus of ${focused?.name} is invisible`);
  return focused?.name;
}

test('Tab reaches every control with a visible focus, which stays where it was', async (t) => {
  const { page, mock, shows, says } = await openLoaded(t);
  const names: string[] = [];
  for (let name = await tab(page); name !== undefined && name !== names[0]; name = await tab(page))
    names.push(name);
  const controls = page.locator('button:visible, input:visible, select:visible, summary:visible');
  assert.equal(names.length, await controls.count());
  const isFocused = (part: string) =>
    page.waitForFunction(
      (text) => (document.activeElement!.cloneNode(false) as Element).outerHTML.includes(text),
      part,
    );
  await page.getByRole('button', { name: `Execute deposit ${ids.pending}` }).focus();
  await page.keyboard.press('Enter');
  await shows(ids.pending, 'EXECUTED');
  await isFocused(`data-key="${ids.pending}"`);
  assert.equal(await tab(page), `Execute deposit ${ids.afterPolls}`);
  mock.setClock({ advance: '60s' });
  await shows(ids.afterSeconds, 'EXECUTED');
  await isFocused(`Execute deposit ${ids.afterPolls}`);
  await page.getByRole('textbox', { name: 'Advance' }).focus();
  await page.keyboard.type('1h');
  await page.keyboard.press('Enter');
  await says('Advance by 1h: done.');
  await isFocused('aria-label="Advance"');
});

test('deposits are executed and fail, keys are revoked and expire', async (t) => {
  const { page, mock, status, press, shows, says } = await openLoaded(t);
  await press(`Execute deposit ${ids.pending}`);
  await says(`Execute deposit ${ids.pending}: done.`);
  await shows(ids.pending, 'EXECUTED');
  assert.equal(await status(depositPath(ids.pending)), 200);
  assert.equal(await page.locator(`[data-key="${ids.pending}"] button`).count(), 0);
  await press(`Fail deposit ${ids.afterPolls}`);
  await shows(ids.afterPolls, 'failed');
  await press('Revoke <key northwind/active>');
  await shows('<key northwind/active>', 'revoked');
  await press('Expire <key northwind/active/2>');
  await shows('<key northwind/active/2>', 'expired');
  const keys = ['northwind-key', 'northwind-spare-key'];
  assert.deepEqual(await Promise.all(keys.map((key) => status(userPath(ids.member), key))), [401, 401]);
  mock.setDeposit(ids.afterSeconds, { state: 'failed' });
  await shows(ids.afterSeconds, 'failed');
});

test('long lists are cut, and the filter finds the last entry', async (t) => {
  const deposits = Array.from({ length: 100_000 }, (_, index) => ({
    reference_id: `${index.toString(16).padStart(8, '0')}-0000-4000-8000-000000000000`,
    user_id: ids.member,
    state: 'pending' as const,
  }));
  const { page, mock, press, shows, contains } = await openLoaded(t, { fixture: { ...builtIn, deposits } });
  await contains('Deposits', '10 of 100,000');
  await press('Show more Deposits');
  await contains('Deposits', '60 of 100,000');
  const last = deposits.at(-1)!.reference_id;
  await page.getByRole('searchbox').fill(last);
  await press(`Execute deposit ${last}`);
  await shows(last, 'EXECUTED');
  assert.equal(mock.data({ contains: last }).deposits[0]?.state, 'EXECUTED');
});

test('the clock is advanced, set and sped up, and a limiter frees its key', async (t) => {
  const { page, mock, status, press, fill, shows, says, contains, complaints } = await openLoaded(t);
  const start = mock.clock().now;
  await shows(ids.afterSeconds, 'in 5 s');
  for (let count = 0; count < 61; count++) await status(userPath(ids.nobody));
  const limiter = 'user-status<key northwind/active>';
  await shows(limiter, '60 of 60');
  await press('+1m');
  await shows(ids.afterSeconds, 'EXECUTED');
  await shows('<key fabrikam/active/2>', 'expired');
  await page.locator(`[data-key="${limiter}"]`).waitFor({ state: 'detached' });
  await fill('Advance', '1.5s');
  await says('Advance by 1.5s: done.');
  assert.equal(mock.clock().now, start + 61_500);
  await fill('Set', '2030-01-31T04:05:06Z');
  await contains('Clock', '2030-01-31 04:05:06');
  await fill('Set', 'tomorrow');
  await says('now is not Unix ms, or a text such as "2026-01-01T00:00:00Z"');
  assert.match(complaints().join(), /400 \(Bad Request\)/);
  await press('3600× clock');
  await contains('Clock', 'speed 3600');
  await press('Stop clock');
  await contains('Clock', 'stopped');
});

test('faults and next answers are set, and the requests show them', async (t) => {
  const { page, mock, status, press, fill, says, contains } = await openLoaded(t);
  await contains('Requests', 'none yet');
  await page.getByLabel('Set fault').selectOption('member-denied');
  await contains('Fault', 'member-denied: A member gets is_under_ib false.');
  assert.equal(mock.fault().fault, 'member-denied');
  await press('Switch off fault');
  await contains('Fault', 'none');
  await press('503 as next answer');
  await says('503 as next answer: done.');
  await fill('Queue', '{"status": 502, "headers": {"X-Gateway": "gateway-1"}, "body": "<p>Bad Gateway</p>"}');
  await says('Queue answer: done.');
  assert.deepEqual([await status(userPath(ids.member)), await status(userPath(ids.member))], [503, 502]);
  const first = page.getByRole('region', { name: 'Requests' }).getByRole('listitem').first();
  await first.getByText(/^502: /).waitFor();
  await first.getByText('<key northwind/active>: headers and body').click();
  const text = (await first.locator('pre').textContent())!;
  assert.match(text, /^GET \/api\/ib\/user-status[^]*\nauthorization: Bearer <key northwind\/active>\n/);
  assert.match(text, /\n\n502: set by next\n[^]*X-Gateway: gateway-1[^]*\n\n<p>Bad Gateway<\/p>$/);
  await press('Clear requests');
  await contains('Requests', 'none yet');
});

test('worlds are shown one at a time and can be reset, and a curl line is copied', async (t) => {
  const { page, mock, status, press, shows, says } = await openLoaded(t, { basePath: '/gateway' });
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const world = page.getByRole('combobox', { name: 'World' });
  const states = () =>
    [mock, mock.world('mine')].map((one) => one.data({ contains: ids.pending }).deposits[0]?.state);
  await status(depositPath(ids.pending), 'northwind-key~mine');
  await world.selectOption('mine');
  await says('Showing the world mine.');
  await press('Copy 404, pending');
  const line = `curl -i -H "Authorization: Bearer northwind-key~mine" "${mock.url}${depositPath(ids.pending)}"`;
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()), line);
  await press(`Execute deposit ${ids.pending}`);
  await shows(ids.pending, 'EXECUTED');
  assert.deepEqual(states(), ['pending', 'EXECUTED']);
  await page.reload();
  await shows(ids.pending, 'EXECUTED');
  await press('Reset this world');
  await shows(ids.pending, 'pending');
  for (const one of [mock, mock.world('mine')]) one.setDeposit(ids.pending, { state: 'EXECUTED' });
  page.once('dialog', (dialog) => void dialog.accept());
  await press('Reset all worlds');
  await says('Reset all worlds: done.');
  assert.deepEqual(states(), ['pending', 'pending']);
});

test('the page stops while hidden, and reconnects to a new mock at the same address', async (t) => {
  const { page, mock, contains, complaints } = await openLoaded(t);
  await page.clock.install();
  await page.reload();
  await loaded(page);
  let count = 0;
  page.on('request', () => (count += 1));
  const hide = (isHidden: boolean) =>
    page.evaluate((value) => {
      Object.defineProperty(document, 'hidden', { value, configurable: true });
      document.dispatchEvent(new Event('visibilitychange'));
    }, isHidden);
  await hide(true);
  await page.clock.runFor(10_000);
  assert.equal(count, 0);
  mock.setClock({ now: '2029-01-01T00:00:00Z' });
  await hide(false);
  await contains('Clock', '2029-01-01 00:00:00');
  await page.clock.resume();
  await mock.close();
  await page.getByText('Not connected, retrying').waitFor();
  const clock = { now: () => Date.UTC(2030, 0, 1), mode: 'frozen' as const };
  const next = await startMock({ port: mock.port, clock });
  t.after(() => next.close());
  await loaded(page);
  await contains('Clock', '2030-01-01 00:00:00');
  complaints();
});

/** Sends an exact request target, which client libraries would normalize. */
async function send(port: number, target: string, key = 'northwind-key'): Promise<void> {
  const socket = connect(port, '127.0.0.1').resume();
  const authorization = `Authorization: Bearer ${key}`;
  socket.write(`GET ${target} HTTP/1.1\r\nHost: x\r\n${authorization}\r\nConnection: close\r\n\r\n`);
  await once(socket, 'close');
}

test('hostile text is never markup, and the policy blocks scripts', async (t) => {
  const partner = '<img src=x onerror=alert(1)>';
  const apiKeys = [...(builtIn.apiKeys ?? []), { key: 'a-hostile-key', partner, state: 'active' as const }];
  const fixture = { ...builtIn, partners: [...(builtIn.partners ?? []), { id: partner }], apiKeys };
  const { page, mock, press, says, complaints } = await openLoaded(t, { fixture });
  const attacks = ['/<img/src=x/onerror=alert(1)>', '/</script><script>alert(1)</script>', '/&lt;b&gt;&#60;'];
  for (const attack of attacks) await send(mock.port, attack);
  for (const attack of attacks) await page.getByText(`GET ${attack}`, { exact: true }).waitFor();
  mock.next({ status: 200, headers: { 'X-Text': '\u00ad' } });
  await send(mock.port, userPath(ids.member));
  await page.getByText('X-Text: \\u{ad}').waitFor({ state: 'attached' });
  const world = `"><img/src=x/onerror=alert(1)>'$(id)\``;
  await send(mock.port, userPath(ids.member), `northwind-key~${world}`);
  await page.getByRole('combobox', { name: 'World' }).selectOption(world);
  await says(`Showing the world ${world}.`);
  await press(`Revoke <key ${partner}/active>`);
  await says(`Revoke <key ${partner}/active>: done.`);
  assert.equal(await page.locator('main :is(img, script, b)').count(), 0);
  await assert.rejects(page.evaluate(`document.body.innerHTML += '<b>markup</b>'`), /TypeError: .*Trusted/);
  await assert.rejects(page.evaluate(`document.body.setAttribute('onclick', 'x()')`), /TypeError: .*Trusted/);
  assert.match(complaints().join(' '), /TrustedHTML/);
});
