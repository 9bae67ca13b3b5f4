import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import axe from 'axe-core';
import type { RunRecord } from '../../../schemas/generated/types.ts';
import { renderHtml } from '../page.ts';
import { openBrowser, openFile, type Browser, type Page } from './browser.ts';
import { sampleRecord } from '../../testing/records.ts';

let browser: Browser;
before(async () => (browser = await openBrowser()));
after(() => browser.close());

/** Where screenshots go, for whoever wants to look; nowhere unless asked. */
const screenshots = process.env['SCREENSHOTS'];

/** Words without an end, where a target or a fixture may put them. */
const long = 'x<'.repeat(1000);
const hostile: RunRecord = {
  ...sampleRecord,
  target: `http://${long}`,
  partner: long,
  notes: [long],
  diagnosis: [{ fault: long, what: long, fit: 1 }],
  requirements: sampleRecord.requirements.map((result) => ({
    ...result,
    id: long,
    title: long,
    clause: long,
  })),
  traffic: {
    timeline: { stepMs: 1e9, steps: [{ answers: 1e9, limited: 1e9, troubles: 1e9 }] },
    endpoints: sampleRecord.traffic!.endpoints.map((endpoint) => ({
      ...endpoint,
      endpoint: long,
      answers: 1e9,
      maxMs: 1e8,
    })),
  },
};
const { traffic: _, diagnosis: _diagnosis, rerun: _rerun, ...rest } = sampleRecord;
const records: Readonly<Record<string, RunRecord>> = {
  sample: sampleRecord,
  hostile,
  'conformant-and-bare': {
    ...rest,
    verdict: 'conformant',
    requirements: sampleRecord.requirements.filter(({ outcome }) => outcome === 'passed'),
  },
  incomplete: { ...rest, verdict: 'incomplete', requirements: [] },
};

for (const [name, record] of Object.entries(records))
  for (const width of [360, 1280])
    for (const colorScheme of ['light', 'dark'] as const)
      test(`${name} at ${width} px, ${colorScheme}: nothing is cut off, and axe finds nothing`, async (t) => {
        const page = await openFile(t, browser, renderHtml(record), {
          viewport: { width, height: width < 500 ? 740 : 900 },
          colorScheme,
        });
        await picture(page, `report-${name}-${width}-${colorScheme}`);
        await page.evaluate(
          "for (const details of document.querySelectorAll('details')) details.open = true",
        );
        assert.deepEqual(await violationsOf(page), []);
        const room = await page.evaluate<readonly number[]>(
          '[document.documentElement.scrollWidth, innerWidth]',
        );
        assert.equal(room[0], room[1], 'the page scrolls sideways');
      });

test('on paper it is dark on white, without what can be clicked, and findings are open', async (t) => {
  const page = await openFile(t, browser, renderHtml(sampleRecord), { colorScheme: 'dark' });
  const [finding, row] = [page.locator('details.finding').first(), page.locator('details.row').first()];
  await finding.locator('summary').click();
  assert.equal(await finding.getByText('Differs in').isVisible(), false);
  await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
  await picture(page, 'report-print');
  assert.equal(
    await page.evaluate('getComputedStyle(document.documentElement).backgroundColor'),
    'rgb(255, 255, 255)',
  );
  assert.equal(await finding.getByText('Differs in').isVisible(), true);
  assert.equal(await row.getByText('Clause').isVisible(), false);
  for (const name of ['nav', '.filter']) assert.equal(await page.locator(name).isVisible(), false);
});

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
    nodes.map(({ html, failureSummary }) => `${id}: ${html.slice(0, 300)} ${failureSummary}`),
  );
}

async function picture(page: Page, name: string): Promise<void> {
  if (screenshots === undefined) return;
  await mkdir(screenshots, { recursive: true });
  await page.screenshot({ path: `${screenshots}/${name}.png`, fullPage: true });
}
