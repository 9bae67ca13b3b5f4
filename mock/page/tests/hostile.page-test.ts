import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import { after, before, test } from 'node:test';
import type { Fixture } from '../../../schemas/generated/types.ts';
import { builtIn } from '../../testing/probes.ts';
import { ids, userPath } from '../../testing/session.ts';
import { openBrowser, openPage, shown, type Browser } from './browser.ts';

let browser: Browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

const attacks = [
  '/<img/src=x/onerror=alert(1)>',
  '/</script><script>alert(1)</script>',
  '/"onmouseover="alert(1)',
  "/javascript:alert(1)//'${alert(1)}{{7*7}}",
  '/&lt;b&gt;&#60;',
];

/** Sends a target just as it is, which no client library would. */
async function send(port: number, target: string, key = 'northwind-key'): Promise<void> {
  const head = `GET ${target} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nConnection: close\r\n\r\n`;
  const socket = connect(port, '127.0.0.1').resume();
  socket.write(head, 'latin1');
  await once(socket, 'close');
}

test('what clients send is text, and nothing else', async (t) => {
  const { page, mock } = await openPage(t, browser);
  await shown(page);
  for (const attack of attacks) await send(mock.port, attack);
  for (const attack of attacks) await page.getByText(`GET ${attack}`, { exact: true }).waitFor();
  assert.equal(await page.locator('main :is(img, script, b, [onmouseover])').count(), 0);
});

test('a target of 60,000 characters is cut off, and one with a key in it shows its name', async (t) => {
  const { page, mock } = await openPage(t, browser);
  await shown(page);
  await send(mock.port, `/${'x'.repeat(60_000)}`);
  await page.getByText('… (59,601 more)').waitFor();
  await send(mock.port, '/?%6eorthwind-key%E2%80%AEx%00y');
  await page.getByText('GET /?<key northwind/active>%E2%80%AEx%00y').waitFor();
});

test('the policy lets nothing run that is not in the file', async (t) => {
  const { page, complaints } = await openPage(t, browser);
  await shown(page);
  const attempts = [
    "document.body.setAttribute('onclick', 'window.hasRun = true')",
    "document.body.innerHTML += '<b>markup</b>'",
    "document.body.append(Object.assign(document.createElement('script'), { text: 'window.hasRun = true' }))",
    "setTimeout('window.hasRun = true')",
  ];
  for (const attempt of attempts)
    await assert.rejects(page.evaluate(attempt), /TypeError: .*Trusted/, attempt);
  await page.evaluate(
    "document.body.append(Object.assign(document.createElement('img'), { src: '/x.png' }))",
  );
  assert.equal(await page.evaluate('window.hasRun'), undefined);
  const words = complaints().join(' ');
  for (const directive of ['img-src', 'TrustedHTML', 'TrustedScript'])
    assert.ok(words.includes(directive), words);
});

test('so are names of worlds and what a fixture says', async (t) => {
  const partner = '<img src=x onerror=alert(1)>';
  const fixture: Fixture = {
    ...builtIn,
    partners: [...(builtIn.partners ?? []), { id: partner }],
    apiKeys: [...(builtIn.apiKeys ?? []), { key: 'a-hostile-key', partner, state: 'active' }],
    users: [...(builtIn.users ?? []), { user_id: ids.nobody, partner, date_joined: '2024-01-01T00:00:00Z' }],
  };
  const { page, mock } = await openPage(t, browser, { fixture });
  await shown(page);
  const world = `"><img/src=x/onerror=alert(1)>'$(id)\``;
  await send(mock.port, userPath(ids.member), `northwind-key~${world}`);
  await page.getByRole('button', { name: `Open world ${world}` }).click();
  await page
    .getByRole('status')
    .filter({ hasText: `Showing the world ${world}.` })
    .waitFor();
  await page
    .getByText(`"Authorization: Bearer $IB_API_KEY"'~${world.replace("'", `'\\''`)}'`)
    .first()
    .waitFor();
  await page.getByRole('button', { name: `Revoke <key ${partner}/active>` }).click();
  await page
    .getByRole('status')
    .filter({ hasText: `<key ${partner}/active> revoked.` })
    .waitFor();
  assert.equal(await page.locator('main :is(img, script)').count(), 0);
});
