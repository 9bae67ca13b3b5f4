import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import axe from 'axe-core';
import { depositPath, ids, userPath } from '../../testing/session.ts';
import { openBrowser, openPage, row, said, shown, type Browser, type Page } from './browser.ts';

let browser: Browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

/** Folder for screenshots, if somebody wants to look. */
const screenshots = process.env['SCREENSHOTS'];

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** What axe finds wrong with the accessibility of a page. */
async function violationsOf(page: Page): Promise<readonly string[]> {
  // This goes over the debugger's protocol, which the policy of the page does not restrict.
  await page.evaluate(axe.source);
  const violations = await page.evaluate<readonly Violation[]>(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
      .then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

for (const [width, colorScheme] of [
  [390, 'light'],
  [390, 'dark'],
  [768, 'light'],
  [1280, 'light'],
  [1280, 'dark'],
] as const)
  test(`at ${width} px, ${colorScheme}: nothing is cut off, and axe finds nothing`, async (t) => {
    const context = { viewport: { width, height: 844 }, colorScheme, hasTouch: width < 500 };
    const { page, status } = await openPage(t, browser, { clock: 'frozen' }, context);
    await shown(page);
    for (let count = 0; count < 61; count++) await status(userPath(ids.nobody));
    await status(depositPath(ids.afterPolls));
    await status(depositPath(ids.executed), 'northwind-key~checkout-test');
    await status(userPath(ids.member), 'northwind-revoked-key');
    await page.getByText('key revoked').waitFor();
    await page.getByText('limited, frees in').waitFor();
    await page.getByRole('button', { name: 'Open world checkout-test' }).waitFor();
    assert.deepEqual(await violationsOf(page), []);
    const room = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
    assert.equal(room[0], room[1], 'the page scrolls sideways');
    if (screenshots === undefined) return;
    await mkdir(screenshots, { recursive: true });
    await page.screenshot({ path: `${screenshots}/${width}-${colorScheme}.png` });
    await page.screenshot({ path: `${screenshots}/${width}-${colorScheme}-whole.png`, fullPage: true });
  });

test('axe finds nothing on the page that asks for the token', async (t) => {
  const { page, complaints } = await openPage(t, browser, { admin: { token: 'the-token' } });
  await page.getByLabel('Admin token').waitFor();
  assert.deepEqual(await violationsOf(page), []);
  if (screenshots !== undefined) await page.screenshot({ path: `${screenshots}/sign-in.png` });
  // Chromium writes every 401 to its console.
  assert.ok(complaints().every((complaint) => complaint.includes('401 (Unauthorized)')));
});

/** The focused element: its name, and whether its focus is visible. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement: element } = document;
    if (!(element instanceof HTMLElement) || element === document.body) return undefined;
    const outlined = [element, ...(element.closest('.segments label') ? [element.closest('label')!] : [])];
    return {
      name: element.ariaLabel ?? ((element.closest('label') ?? element).textContent?.trim() || element.id),
      isVisible: outlined.some((one) => getComputedStyle(one).outlineStyle !== 'none'),
    };
  });

async function tabTo(page: Page, name: string): Promise<void> {
  for (let step = 0; step < 200; step++) {
    await page.keyboard.press('Tab');
    if ((await focused(page))?.name === name) return;
  }
  assert.fail(`Tab does not lead to ${name}`);
}

test('Tab leads to everything that can be used, in the order of the page, with a visible focus', async (t) => {
  const { page } = await openPage(t, browser, { clock: 'frozen' });
  await shown(page);
  const names: string[] = [];
  for (let step = 0; step < 200; step++) {
    await page.keyboard.press('Tab');
    const now = await focused(page);
    if (now === undefined || now.name === names[0]) break;
    assert.ok(now.isVisible, `the focus of ${now.name} is invisible`);
    names.push(now.name);
  }
  const usable = await page
    .locator('a:visible, button:visible, input:not([type=radio]):visible, select:visible')
    .count();
  // One of the speeds, and the column that scrolls.
  assert.equal(names.length, usable + 2);
  const order = [
    'Skip to the deposits',
    'Set',
    'Filter the deposits',
    'Filter the users',
    'What happens',
    'Clear',
  ];
  assert.deepEqual(
    names.filter((name) => order.includes(name)),
    order,
  );
});

test('the keyboard skips to the deposits, executes one and changes the clock, and the focus stays', async (t) => {
  const { page, mock, status } = await openPage(t, browser, { clock: 'frozen' });
  await shown(page);
  await tabTo(page, 'Skip to the deposits');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'deposits');
  await tabTo(page, `Execute deposit ${ids.pending}`);
  await page.keyboard.press('Enter');
  await row(page, ids.pending).getByText('EXECUTED').waitFor();
  await page.waitForFunction(
    (id) => (document.activeElement as HTMLElement).dataset['key'] === id,
    ids.pending,
  );
  await tabTo(page, `Fail deposit ${ids.afterPolls}`);
  mock.clock.advance(60_000);
  await status(userPath(ids.member));
  await row(page, ids.afterSeconds).getByText('EXECUTED').waitFor();
  await page.getByText('member of the IB').waitFor();
  assert.equal((await focused(page))?.name, `Fail deposit ${ids.afterPolls}`);
  await tabTo(page, 'Frozen');
  await page.keyboard.press('ArrowRight');
  await said(page, 'Clock runs at 1×');
  await page.keyboard.press('ArrowLeft');
  await said(page, 'Clock frozen');
  await tabTo(page, 'Seconds to advance by');
  await page.keyboard.type('3600');
  await page.keyboard.press('Enter');
  await said(page, /^Clock moved on by 1 h/);
  assert.equal((await focused(page))?.name, 'Seconds to advance by');
});
