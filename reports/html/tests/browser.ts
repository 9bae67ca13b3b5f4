import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';

export type { Browser, Page };

/** Where Debian has it; CHROMIUM names another. */
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/** A browser for the tests of one file. */
export function openBrowser(): Promise<Browser> {
  return chromium.launch({ executablePath, args: ['--no-sandbox'] });
}

/** Opens a page from a file, as a reader would, and holds at the end that it complained of nothing. */
export async function openFile(
  t: TestContext,
  browser: Browser,
  html: string,
  options: BrowserContextOptions = {},
): Promise<Page> {
  const folder = await mkdtemp(join(tmpdir(), 'ib-conformance-'));
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 }, ...options });
  const complaints: string[] = [];
  page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`));
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => {
    if (!request.url().startsWith('file:')) complaints.push(`asked for ${request.url()}`);
  });
  t.after(async () => {
    await page.close();
    await rm(folder, { recursive: true });
    if (complaints.length > 0) throw new Error(`the page complained: ${complaints.join('; ')}`);
  });
  const file = join(folder, 'run.html');
  await writeFile(file, html);
  await page.goto(pathToFileURL(file).href);
  return page;
}
