import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import axe from 'axe-core';
import { depositPath, ids, userPath } from '../../testing/session.ts';
import { openBrowser, openPage, shown, type Browser, type Page } from './browser.ts';

let browser: Browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

/** Where screenshots go, for whoever wants to look; nowhere unless asked. */
const screenshots = process.env['SCREENSHOTS'];

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** What axe finds wrong with the accessibility of a page. */
async function violationsOf(page: Page): Promise<readonly string[]> {
  // Evaluated over the debugger's protocol, which the page's policy does not concern.
  await page.evaluate(axe.source);
  const violations = await page.evaluate<readonly Violation[]>(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
      .then(({ violations }) => violations)`,
  );
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

for (const width of [360, 768, 1280, 1920])
  for (const colorScheme of ['light', 'dark'] as const)
    test(`at ${width} px, ${colorScheme}: nothing is cut off, and axe finds nothing`, async (t) => {
      const viewport = { width, height: width < 500 ? 740 : 900 };
      const options = { clock: 'frozen' } as const;
      const { page, status } = await openPage(t, browser, options, {
        viewport,
        colorScheme,
        reducedMotion: 'reduce',
      });
      await shown(page);
      for (let count = 0; count < 60; count++) await status(userPath(ids.nobody));
      await status(userPath(ids.nobody));
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

test('the page that asks for the token', async (t) => {
  const { page, complaints } = await openPage(t, browser, { admin: { token: 'the-token' } });
  await page.getByRole('textbox', { name: 'Admin token' }).waitFor();
  assert.deepEqual(await violationsOf(page), []);
  if (screenshots !== undefined) await page.screenshot({ path: `${screenshots}/sign-in.png` });
  // Chromium writes every 401 into its console.
  assert.deepEqual(
    complaints().filter((complaint) => !complaint.includes('401 (Unauthorized)')),
    [],
  );
});
