import type { TestContext } from 'node:test';
import { chromium, type Browser, type BrowserContextOptions, type Locator, type Page } from 'playwright-core';
import { startMock, type Mock, type MockOptions } from '../../server.ts';

export type { Browser, Page };

/** Where Debian has it; CHROMIUM names another. */
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** A browser for the tests of one file. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** The page of a mock of its own, with what it complained of. */
export interface OpenPage {
  readonly mock: Mock;
  readonly page: Page;
  /** Takes what the page complained of: errors, refusals of its policy, whatever stood in the console. */
  readonly complaints: () => readonly string[];
  /** Status of a request of a partner. */
  readonly status: (target: string, key?: string) => Promise<number>;
}

/** Opens the page of a new mock, and holds at the end that it complained of nothing that no test took. */
export async function openPage(
  t: TestContext,
  browser: Browser,
  options: MockOptions = {},
  context: BrowserContextOptions = {},
): Promise<OpenPage> {
  const mock = await startMock(options);
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...context });
  const seen: string[] = [];
  page.on('console', (message) => seen.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => seen.push(error.message));
  t.after(async () => {
    const left = seen.splice(0);
    await page.close();
    await mock.close();
    if (left.length > 0) throw new Error(`the page complained: ${left.join('; ')}`);
  });
  await page.goto(`${mock.adminUrl}/`);
  return {
    mock,
    page,
    complaints: () => seen.splice(0),
    status: async (target, key = 'northwind-key') => {
      const headers = { authorization: `Bearer ${key}` };
      return (await fetch(mock.url + target, { headers })).status;
    },
  };
}

/** What the page said last. */
export const said = (page: Page, words: string | RegExp): Promise<void> =>
  page.getByRole('status').filter({ hasText: words }).waitFor();

/** The row of a deposit, a key or a user. */
export const row = (page: Page, id: string): Locator => page.locator(`tr[data-key="${id}"]`);

/** Waits until the page shows the data of the mock. */
export async function shown(page: Page): Promise<void> {
  await page.getByText('Live', { exact: true }).waitFor();
  await page.getByRole('row', { name: /11111111-1111-4111-8111-111111111111.*2024-02-29T/ }).waitFor();
}
