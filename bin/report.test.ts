import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { reports } from '../reports/index.ts';
import type { RunRecord } from '../schemas/generated/types.ts';
import { endsSaying, quietContext, runCli } from './dev/testing/run-cli.ts';
import { builtInFixture, readJson } from './dev/paths.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';
import { version } from './version.ts';

const { folder, place } = temporaryFolder();
const verify = 'verify --seed 1 --only auth/user-status/missing --cases 10';

describe('the reports of a run', () => {
  test('are rendered from its record, in every format', async () => {
    const files = Object.keys(reports).map((format) => `--report ${format}=${place(format)}`);
    const { output } = await endsSaying(`${verify} --report console ${files.join(' ')}`, 0);
    const record = readJson<RunRecord>(place('json'));
    assert.equal(record.version, version);
    const { terminal } = quietContext;
    assert.equal(output, reports.console(record, terminal));
    for (const [format, render] of Object.entries(reports))
      assert.equal(readFileSync(place(format), 'utf8'), render(record, terminal), format);
  });

  test('that cannot be written are refused before the run, and no file is left', async () => {
    const before = readdirSync(folder);
    for (const [flags, pattern] of [
      ['--report jnit', /--report jnit: there is no format jnit; did you mean junit/],
      ['--report junit --report json', /two outputs have the same destination, standard output/],
      [`--report junit=${builtInFixture}/no/x --report json=${place('y')}`, /a part of its path is a file/],
    ] as const) {
      assert.equal((await endsSaying(`${verify} ${flags}`, 2, pattern)).output, '');
    }
    assert.deepEqual(readdirSync(folder), before);
  });

  test('on GitHub Actions, the step gets annotations and a summary', async () => {
    const summary = place('summary.md');
    const env = { GITHUB_ACTIONS: 'true', GITHUB_STEP_SUMMARY: summary };
    const { output } = await runCli(verify, { env });
    assert.match(output, /^::stop-commands::(\S+)\n[^]*\n::\1::\n::notice title=ib-conformance%3A conform/);
    assert.match(readFileSync(summary, 'utf8'), /^## ✅ conformant/);
    await runCli(`${verify} --report markdown=${summary}`, { env });
    assert.equal(readFileSync(summary, 'utf8').match(/^## ✅ conformant/gm)?.length, 2, 'it is appended');
  });
});
