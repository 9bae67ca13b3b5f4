import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { renderDiffConsole } from '../reports/diff-reports.ts';
import { compare, reports, type ReportOptions } from '../reports/index.ts';
import { earlierRecord, sampleRecord } from '../reports/testing/records.ts';
import type { RunRecord } from '../schemas/generated/types.ts';
import { runCli } from './testing/run-cli.ts';
import { temporaryFolder } from './testing/temporary-folder.ts';
import { version } from './version.ts';

const { folder, place, fileOf: write } = temporaryFolder();
const terminal: ReportOptions = { color: false, width: 100 };

/** Writes a record to a file, as verify does. */
const fileOf = (name: string, record: RunRecord) => write(name, reports.json(record));

const sample = fileOf('sample.json', sampleRecord);
const earlier = fileOf('earlier.json', earlierRecord);
const whole: RunRecord = {
  ...sampleRecord,
  verdict: 'conformant',
  selection: { whole: true, skip: [] },
  requirements: sampleRecord.requirements.filter(({ outcome }) => outcome === 'passed'),
};

describe('report', () => {
  for (const [format, render] of Object.entries(reports))
    test(`renders ${format}`, async () => {
      const file = fileOf('whole.json', whole);
      const expected = render(whole, terminal);
      const report = `report ${file} --format ${format}`;
      assert.deepEqual(await runCli(report), { code: 0, output: expected, stderr: '', error: '' });
      assert.equal((await runCli(`${report}=${place('out')}`)).output, '');
      assert.equal(readFileSync(place('out'), 'utf8'), expected);
    });

  test('without a format, it prints the console report; several formats are possible', async () => {
    const { output } = await runCli(`report ${sample} --format console --format junit=${place('x.xml')}`);
    assert.equal(output, reports.console(sampleRecord, terminal));
    assert.equal((await runCli(['report', sample])).output, output);
    assert.match(readFileSync(place('x.xml'), 'utf8'), /^<\?xml /);
  });

  test('a file that cannot be read or written gives exit code 2 and leaves no file', async () => {
    writeFileSync(place('bad.json'), '{"format":"ib-conformance/run/2"}');
    const before = readdirSync(folder).length;
    for (const [argv, pattern] of [
      [place('no.json'), /no\.json: there is no such file; `verify --report json=file` writes/],
      [folder, /is a folder, not a run record/],
      [place('bad.json'), /has the format ib-conformance\/run\/2/],
      [`${sample} --format jnit`, /--format jnit: there is no format jnit; did you mean junit/],
      [`${sample} --format junit --format json`, /two outputs have the same destination, standard output/],
      [`${sample} --format junit=${place('no/x')} --format json=${place('y')}`, /its folder does not exist/],
      [`${sample} --format badge=${place('b')}`, /a badge needs a complete run, but/],
      ['', /an argument is missing: ib-conformance /],
    ] as const) {
      const { code, output, stderr } = await runCli(`report ${argv}`);
      assert.deepEqual([code, output], [2, ''], argv);
      assert.match(stderr, pattern);
    }
    assert.equal(readdirSync(folder).length, before);
  });
});

describe('diff', () => {
  const lost = fileOf('lost.json', {
    ...sampleRecord,
    requirements: sampleRecord.requirements.filter(({ id }) => id !== 'valid/user-status/member'),
  });
  for (const [argv, expected] of [
    [[earlier, sample], 1],
    [[sample, sample], 0],
    [[sample, lost], 3],
    [[sample, lost, '--allow-incomplete'], 0],
    [[earlier, sample, '--allow-incomplete'], 1],
    [[sample, place('no.json')], 2],
    [[place('no.json'), sample], 2],
    [[sample, sample, '--format', 'junit'], 2],
    [[sample], 2],
  ] as const)
    test(`${argv.join(' ').replaceAll(`${folder}/`, '')} ends with ${expected}`, async () => {
      const { code, output, stderr } = await runCli(['diff', ...argv]);
      assert.equal(code, expected, stderr);
      assert.equal(output === '', expected === 2);
    });

  test('the default format is console', async () => {
    const comparison = compare(earlierRecord, sampleRecord);
    const { output } = await runCli(`diff ${earlier} ${sample} --format console --format json=${place('d')}`);
    assert.equal(output, renderDiffConsole(comparison, terminal));
    assert.match(
      readFileSync(place('d'), 'utf8'),
      /^\{\n {2}"format": "ib-conformance\/diff\/1",\n {2}"tendency": "regression"/,
    );
  });
});

describe('verify', () => {
  const verify = 'verify --seed 1 --cases 100';
  const badge = place('badge.json');

  test('the badge of a complete run has the digest of its json report, and can be made from it later', async () => {
    const json = place('run.json');
    const { code, stderr } = await runCli(`${verify} --report badge=${badge} --report json=${json}`);
    assert.equal(code, 0, stderr);
    const text = readFileSync(badge, 'utf8');
    const digest = createHash('sha256').update(readFileSync(json)).digest('hex');
    assert.ok(text.includes(`sha256:${digest}<`));
    assert.equal((await runCli(['report', json, '--format', 'badge'])).output, text);
    assert.equal((JSON.parse(readFileSync(json, 'utf8')) as RunRecord).version, version);
    rmSync(badge);
  });

  for (const [flags, why] of [
    ['--only auth/user-status/missing', /--suite or --only/],
    ['--only auth/user-status/missing --replay 0', /--replay/],
  ] as const)
    test(`no badge with ${flags}: rejected before anything is sent`, async () => {
      const { code, output, stderr } = await runCli(`${verify} ${flags} --report badge=${badge}`);
      assert.deepEqual([code, output], [2, '']);
      assert.match(stderr, why);
      assert.ok(!existsSync(badge));
    });

  test('an interrupted run writes no badge and has the same exit code', async () => {
    const stop = new AbortController();
    const json = place('interrupted.json');
    const running = runCli(`${verify} --report badge=${badge} --report json=${json}`, {
      signal: stop.signal,
    });
    stop.abort();
    const { code, stderr } = await running;
    assert.equal(code, 130);
    assert.match(stderr, /--report badge: a badge needs a complete run, but this one was interrupted/);
    assert.deepEqual([existsSync(badge), existsSync(json)], [false, true]);
  });

  test('on GitHub Actions, the step gets annotations and a summary', async () => {
    const summary = place('summary.md');
    const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary };
    const { output } = await runCli(`${verify} --only auth/user-status/missing`, { env });
    assert.match(
      output,
      /^::stop-commands::(\S+)\n[^]*\n::\1::\n::notice title=ib-conformance%3A conformant/,
    );
    assert.match(readFileSync(summary, 'utf8'), /^## ✅ conformant/);
  });
});
