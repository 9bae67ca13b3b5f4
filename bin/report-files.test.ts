import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import { reportFormats } from '../reports/document.ts';
import { reports } from '../reports/index.ts';
import { sampleRecord } from '../reports/testing/records.ts';
import { annotateStep, parseReports, printerFor } from './report-files.ts';
import { quietContext } from './dev/testing/run-cli.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

const { place } = temporaryFolder();

/** Returns what a run with these reports prints and adds to an existing summary. */
async function runWith(requested: readonly string[], env: Record<string, string> = {}, before = 'before\n') {
  const summary = place('summary.md');
  writeFileSync(summary, before);
  let [output, stderr] = ['', ''];
  const requests = parseReports('report', reportFormats, requested);
  const context = {
    ...quietContext,
    env: { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary, ...env },
    print: async (text: string) => void (output += text),
    writeError: (text: string) => void (stderr += text),
  };
  await printerFor(requests, context)('the report\n::error::of a target\n');
  await annotateStep(requests, (format) => reports[format](sampleRecord, context.terminal), context);
  return { output, stderr, summary: readFileSync(summary, 'utf8') };
}

const annotations = reports.github(sampleRecord, quietContext.terminal);
const markdown = reports.markdown(sampleRecord, quietContext.terminal);
const plain = 'the report\n::error::of a target\n';

test('a console report is followed by annotations, and the summary is extended', async () => {
  const { output, summary, stderr } = await runWith(['console', 'json=run.json']);
  assert.ok(output.endsWith(annotations));
  assert.equal(summary, `before\n${markdown}`);
  assert.equal(stderr, '');
});

test('no line of the console report is a workflow command', async () => {
  const { output } = await runWith(['console']);
  const [, token, inner] = /^::stop-commands::([\da-f-]{36})\n([^]*)::\1::\n::error /.exec(output) ?? [];
  assert.equal(inner, plain);
  const again = await runWith(['console']);
  assert.ok(token !== undefined && !again.output.includes(token), 'the token is random');
});

for (const [requested, printed] of Object.entries({
  json: plain,
  github: plain,
  'json=run.json': plain + annotations,
}))
  test(`${requested}: ${printed === plain ? 'no ' : ''}annotations`, async () =>
    assert.equal((await runWith([requested])).output, printed));

test('annotations that have a file are only there', async () => {
  assert.doesNotMatch((await runWith(['console', 'github=annotations.txt'])).output, /^::error /m);
});

test('a requested Markdown report is not also added to the summary', async () => {
  assert.equal((await runWith(['markdown=x.md'])).summary, 'before\n');
});

test('outside GitHub Actions, nothing is added', async () => {
  for (const env of [{ GITHUB_ACTIONS: '' }, { GITHUB_ACTIONS: 'false' }])
    assert.deepEqual(await runWith(['console'], env), { output: plain, stderr: '', summary: 'before\n' });
});

test('a summary that cannot be written is reported and fails nothing', async () => {
  const { stderr } = await runWith(['console'], { GITHUB_STEP_SUMMARY: place('no/x') });
  assert.match(stderr, /^ib-conformance: the summary of the step was not written: ENOENT/);
  assert.equal((await runWith(['console'], { GITHUB_STEP_SUMMARY: '' })).stderr, '');
});

test('a full summary stays unchanged, because GitHub would show none of it', async () => {
  const before = 'x'.repeat(2 ** 20 - 10);
  const { stderr, summary } = await runWith(['console'], {}, before);
  assert.match(stderr, /exceed the 1 MiB/);
  assert.equal(summary, before);
});
