import assert from 'node:assert/strict';
import { after, before, test, type TestContext } from 'node:test';
import { ids, userPath } from '../../testing/session.ts';
import { openBrowser, openPage, row, said, shown, type Browser, type Page } from './browser.ts';

let browser: Browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

async function openFor(t: TestContext) {
  const opened = await openPage(t, browser, { clock: 'frozen' });
  await shown(opened.page);
  return opened;
}

/** What has the focus: its text or label, and whether the eye can see that it has it. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const { activeElement: element } = document;
    if (!(element instanceof HTMLElement) || element === document.body) return undefined;
    const { outlineStyle } = getComputedStyle(element);
    const around = element.closest('.segments label');
    return {
      name: element.ariaLabel ?? ((element.closest('label') ?? element).textContent?.trim() || element.id),
      isSeen:
        outlineStyle !== 'none' || (around !== null && getComputedStyle(around).outlineStyle !== 'none'),
    };
  });

async function tabTo(page: Page, name: string): Promise<void> {
  for (let step = 0; step < 200; step++) {
    await page.keyboard.press('Tab');
    if ((await focused(page))?.name === name) return;
  }
  assert.fail(`Tab does not lead to ${name}`);
}

test('Tab leads to all that can be used, in the order of the page, and the eye can follow', async (t) => {
  const { page } = await openFor(t);
  const names: string[] = [];
  for (let step = 0; step < 200; step++) {
    await page.keyboard.press('Tab');
    const now = await focused(page);
    if (now === undefined || now.name === names[0]) break;
    assert.ok(now.isSeen, `nobody sees that ${now.name} has the focus`);
    names.push(now.name);
  }
  const reachable = await page.evaluate(
    () =>
      [...document.querySelectorAll<HTMLElement>('a, button, input, select')].filter(
        (element) =>
          element.checkVisibility() && !(element instanceof HTMLInputElement && element.type === 'radio'),
      ).length,
  );
  // One of the speeds, and the column that scrolls.
  assert.equal(names.length, reachable + 2);
  const order = [
    'Skip to the deposits',
    'Reset clock',
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

test('the way past the clock leads to the deposits', async (t) => {
  const { page } = await openFor(t);
  await tabTo(page, 'Skip to the deposits');
  await page.keyboard.press('Enter');
  assert.equal(await page.evaluate(() => document.activeElement?.id), 'deposits');
});

test('a deposit is executed, and the focus stays in its row', async (t) => {
  const { page, mock } = await openFor(t);
  await tabTo(page, `Execute deposit ${ids.pending}`);
  await page.keyboard.press('Enter');
  await row(page, ids.pending).getByText('EXECUTED').waitFor();
  assert.equal(mock.deposits.get(ids.pending).state, 'EXECUTED');
  assert.equal(
    await page.evaluate(() => (document.activeElement as HTMLElement).dataset['key']),
    ids.pending,
  );
  await page.keyboard.press('Tab');
  assert.equal((await focused(page))?.name, `Execute deposit ${ids.afterPolls}`);
});

test('the focus stays where it is, whatever happens in the mock', async (t) => {
  const { page, mock, status } = await openFor(t);
  await tabTo(page, `Fail deposit ${ids.afterPolls}`);
  mock.deposits.execute(ids.pending);
  mock.clock.advance(60_000);
  await status(userPath(ids.member));
  await row(page, ids.afterSeconds).getByText('EXECUTED').waitFor();
  await page.getByText('member of the IB').waitFor();
  assert.equal((await focused(page))?.name, `Fail deposit ${ids.afterPolls}`);
});

test('the clock moves on and changes its speed', async (t) => {
  const { page, mock } = await openFor(t);
  const start = mock.clock.now();
  await tabTo(page, 'Frozen');
  await page.keyboard.press('ArrowRight');
  await said(page, 'Clock runs at 1×');
  await page.keyboard.press('ArrowLeft');
  await said(page, 'Clock frozen');
  await tabTo(page, 'seconds');
  await page.keyboard.type('3600');
  await page.keyboard.press('Enter');
  await said(page, /^Clock moved on by 1 h/);
  assert.ok(mock.clock.now() >= start + 3_600_000);
  assert.equal((await focused(page))?.name, 'seconds');
});
