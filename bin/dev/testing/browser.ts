import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { after, before, type TestContext } from 'node:test';
import axe from 'axe-core';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const screenshots = process.env['SCREENSHOTS'];

/**
 * Starts a browser for the tests of one file.
 *
 * @returns a function that opens an empty page; messages of the page that no test takes fail the test
 */
export function useBrowser() {
  let browser: Browser;
  before(async () => {
    browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
  });
  after(() => browser.close());
  return async (t: TestContext, options: BrowserContextOptions = {}) => {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
    const seen: string[] = [];
    page.on('console', (message) => seen.push(`${message.type()}: ${message.text()}`));
    page.on('pageerror', (error) => seen.push(error.message));
    t.after(async () => {
      const left = seen.splice(0);
      await page.close();
      assert.deepEqual(left, [], 'the page complained');
    });
    /** Returns and clears the errors, policy violations and console messages of the page. */
    const complaints = (): readonly string[] => seen.splice(0);
    return { page, complaints };
  };
}

/**
 * Fails if axe finds an accessibility problem or if the page scrolls sideways, in light and dark mode.
 *
 * @param name of the screenshots
 */
export async function assertAccessible(page: Page, name: string): Promise<void> {
  // The page's policy does not apply, because the debugger evaluates this.
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(axe.source);
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    await screenshot(page, `${name}-${colorScheme}`);
    assert.deepEqual(await problemsOf(page), [], colorScheme);
  }
  const room = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
  assert.equal(room[0], room[1], 'the page scrolls sideways');
}

const problemsOf = (page: Page) =>
  page.evaluate<readonly string[]>(
    `axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice'] })
      .then(({ violations }) => violations.flatMap(({ id, nodes }) =>
        nodes.map(({ html, failureSummary }) => id + ': ' + html.slice(0, 300) + ' ' + failureSummary)))`,
  );

/** Writes a screenshot of the whole page to the folder in SCREENSHOTS, if that is set. */
export async function screenshot(page: Page, name: string): Promise<void> {
  if (screenshots === undefined) return;
  await mkdir(screenshots, { recursive: true });
  await page.screenshot({ path: `${screenshots}/${name}.png`, fullPage: true });
}
