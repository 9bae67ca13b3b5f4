import { mkdtemp, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium } from 'playwright-core';
import { reference } from '../../../mock/behaviour.ts';
import { faults } from '../../../mock/faults.ts';
import { startMock } from '../../../mock/index.ts';
import { depositPath, ids, userPath } from '../../../mock/testing/session.ts';
import { renderHtml } from '../../../reports/html/page.ts';
import { verifyMock } from '../../canary.ts';
import { loadFixture } from '../../fixture-file.ts';
import { root } from '../paths.ts';

/** Takes the two screenshots of the README: `screenshots.ts [folder]`, by default into `docs/`. */
const [folder = join(root, 'docs')] = process.argv.slice(2);
const executablePath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1100, height: 760 } });

const fixture = await loadFixture(undefined, {});
const swapped = faults['date-day-and-month-swapped']!.change(reference);
// The clock is virtual, so waits are not shown.
const rateLimited = { answers: 0, waitedMs: 0, endpoints: [] };
const record = { ...(await verifyMock(swapped, { fixture, seed: 7, cases: 1500 })), rateLimited };
const report = join(await mkdtemp(join(tmpdir(), 'ib-conformance-')), 'report.html');
await writeFile(report, renderHtml({ ...record, target: 'http://localhost:8080/' }));
await page.goto(pathToFileURL(report).href);
await page.screenshot({ path: join(folder, 'report.png') });

const mock = await startMock({ clock: 'frozen' });
const headers = { authorization: 'Bearer northwind-key' };
for (const path of [userPath(ids.member), userPath(ids.nobody), depositPath(ids.executed), depositPath('x')])
  await fetch(mock.url + path, { headers });
await page.goto(`${mock.adminUrl}/`);
await page.getByText('Live', { exact: true }).waitFor();
await page.screenshot({ path: join(folder, 'mock-page.png') });

await mock.close();
await browser.close();
