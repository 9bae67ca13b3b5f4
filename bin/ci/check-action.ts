import assert from 'node:assert/strict';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { validateAction } from '@action-validator/core';
import { parse } from 'yaml';
import { reference } from '../../mock/behaviour.ts';
import { faults } from '../../mock/faults.ts';
import { startMock, type MockOptions } from '../../mock/server.ts';
import type { Fixture, RunRecord } from '../../schemas/generated/types.ts';
import { runComposite, type CompositeAction, type Ending, type Job } from './composite-action.ts';
import { builtInFixture } from '../fixture-file.ts';
import { root } from '../dev/paths.ts';

const text = readFileSync(join(root, 'action.yml'), 'utf8');
const action = parse(text) as CompositeAction;
const builtIn = JSON.parse(readFileSync(builtInFixture, 'utf8')) as Fixture;

/** One small suite, so that a run takes no time. */
const small = { suites: 'valid', cases: '1', args: '--no-canary\n--seed=7' };
const swapped = { behaviour: faults['date-day-and-month-swapped']!.change(reference) };
const nobody = 'http://127.0.0.1:9';

/** Folders of a job, gone with the test: what is checked out, what the runner keeps, programs that stand in for others. */
function foldersFor(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-action-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const folders = {
    workspace: join(folder, 'work'),
    temp: join(folder, 'temp'),
    programs: join(folder, 'bin'),
  };
  for (const one of Object.values(folders)) mkdirSync(one);
  return folders;
}

/** Writes a program of this name that does what the script says. */
function standIn(folder: string, name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/usr/bin/env bash\n${script}\n`);
  chmodSync(join(folder, name), 0o755);
}

const run = (
  folders: ReturnType<typeof foldersFor>,
  inputs: Job['inputs'],
  more: Partial<Pick<Job, 'action' | 'env' | 'use' | 'onStep'>> = {},
): Promise<Ending> =>
  runComposite(action, {
    action: root,
    use: (name) => assert.fail(`${name} is not needed`),
    inputs: { ...small, ...inputs },
    ...folders,
    ...more,
    env: { PATH: `${folders.programs}:${process.env['PATH']}`, HOME: folders.temp, ...more.env },
  });

async function mockFor(t: TestContext, options: MockOptions = {}): Promise<string> {
  const mock = await startMock(options);
  t.after(() => mock.close({ force: true }));
  return mock.url;
}

const noCounts = { passed: '', failed: '', inconclusive: '', reports: '' };

test('action.yml is one by its schema, and the schema can refuse one', () => {
  assert.deepEqual(validateAction(text).errors, []);
  assert.notDeepEqual(validateAction(text.replace('shell: bash', 'shel: bash')).errors, []);
});

test('no shell reads an input: what is run holds no expression, and every input is used', () => {
  const { steps } = action.runs;
  for (const { run: script = '' } of steps) assert.doesNotMatch(script, /\$\{\{/);
  const used = [...text.matchAll(/\$\{\{ inputs\.([\w-]+) \}\}/g)].map(([, name]) => name);
  assert.deepEqual(new Set(used), new Set(Object.keys(action.inputs)));
  for (const { uses } of steps) if (uses !== undefined) assert.match(uses, /@v\d+$/);
});

test('a conformant server passes: reports in their folder, keys from the environment', async (t) => {
  const folders = foldersFor(t);
  const [key, ...rest] = builtIn.apiKeys!;
  const fixture = JSON.stringify({ ...builtIn, apiKeys: [{ ...key, key: '${IB_KEY}' }, ...rest] });
  writeFileSync(join(folders.workspace, 'fixture.json'), fixture.replace('"./fixture.schema.json"', '""'));
  const url = await mockFor(t);
  const { code, outputs, summary, stderr, stdout } = await run(
    folders,
    { url, fixture: 'fixture.json' },
    { env: { IB_KEY: key!.key } },
  );
  const { passed, ...others } = outputs;
  const files = ['run.json', 'junit.xml', 'report.html'].map((name) =>
    join(folders.workspace, 'ib-conformance', name),
  );
  assert.deepEqual(
    others,
    { verdict: 'conformant', 'exit-code': '0', failed: '0', inconclusive: '0', reports: files.join('\n') },
    stderr,
  );
  assert.equal(code, 0);
  const { counts } = JSON.parse(readFileSync(files[0]!, 'utf8')) as RunRecord;
  assert.equal(passed, String(counts.required.passed));
  assert.ok(Number(passed) > 5);
  assert.match(summary, /conformant/);
  assert.match(stdout, /conformant: 14 of 14 required verified/);
  for (const file of files) assert.ok(existsSync(file), file);
  const left = readdirSync(folders.temp).filter((name) => name.startsWith('ib-conformance-'));
  assert.deepEqual(left, [], 'the record for the outputs is gone');
});

test('a nonconformant one fails the step with 1, with outputs, annotations and one summary', async (t) => {
  const folders = foldersFor(t);
  const url = await mockFor(t, swapped);
  const { code, outputs, summary, stdout } = await run(folders, { url, reports: 'junit=x.xml' });
  assert.equal(code, 1);
  assert.deepEqual(
    [outputs['verdict'], outputs['exit-code'], outputs['failed'], outputs['inconclusive']],
    ['nonconformant', '1', '1', '0'],
  );
  assert.equal(outputs['reports'], join(folders.workspace, 'x.xml'));
  assert.equal(stdout.match(/^::error .*valid\/user-status\/date-joined/gm)?.length, 1);
  assert.equal(summary.match(/^#+ .*nonconformant/gm)?.length, 1, summary);
});

test('a baseline lets the step pass, and the verdict stays what it is', async (t) => {
  const folders = foldersFor(t);
  const known = [{ id: 'valid/user-status/date-joined', reason: 'day and month are swapped' }];
  const baseline = JSON.stringify({ format: 'ib-conformance/baseline/1', known });
  writeFileSync(join(folders.workspace, 'known.json'), baseline);
  const url = await mockFor(t, swapped);
  const { code, outputs } = await run(folders, { url, baseline: 'known.json' });
  assert.deepEqual([code, outputs['exit-code'], outputs['verdict']], [0, '0', 'nonconformant']);
});

test('a recommended requirement that fails does not fail the step, unless it is strict', async (t) => {
  const url = await mockFor(t, { behaviour: faults['date-basic-format']!.change(reference) });
  for (const [strict, expected] of [
    ['false', 0],
    ['true', 1],
  ] as const) {
    const { code, outputs } = await run(foldersFor(t), { url, strict });
    assert.deepEqual([code, outputs['exit-code'], outputs['failed']], [expected, String(expected), '0']);
  }
});

test('an incomplete run fails the step with 3, unless that is allowed, or the input is left to a config file', async (t) => {
  const url = await mockFor(t);
  const args = `${small.args}\n--max-requests=3`;
  for (const [allowed, configured, expected] of [
    ['false', false, 3],
    ['true', false, 0],
    ['false', true, 3],
    ['', true, 0],
    ['', false, 3],
  ] as const) {
    const folders = foldersFor(t);
    writeFileSync(
      join(folders.workspace, 'ib-conformance.config.json'),
      JSON.stringify({ verify: { 'allow-incomplete': configured } }),
    );
    const { code, outputs } = await run(folders, { url, args, 'allow-incomplete': allowed });
    assert.deepEqual([code, outputs['exit-code']], [expected, String(expected)]);
    assert.equal(outputs['verdict'], 'incomplete');
    assert.ok(Number(outputs['inconclusive']) > 0);
  }
});

test('where nothing listens the step fails with 4, and reports of an earlier run are not handed on', async (t) => {
  const folders = foldersFor(t);
  writeFileSync(join(folders.workspace, 'old.xml'), '');
  const { code, outputs } = await run(folders, { url: nobody, reports: 'junit=old.xml' });
  assert.equal(code, 4);
  assert.deepEqual(outputs, { ...noCounts, verdict: '', 'exit-code': '4' });
});

test('a step that verified nothing does not pass', async (t) => {
  for (const flag of ['--plan', '--help']) {
    const { code, outputs, stderr } = await run(foldersFor(t), { url: nobody, args: flag });
    assert.deepEqual([code, outputs['exit-code'], outputs['verdict']], [2, '2', ''], flag);
    assert.match(stderr, /nothing was verified/);
  }
});

const hostile = `$(touch pwned) \`touch pwned\` "'; touch pwned; #`;

test('files and folders may be called what a shell would act on', async (t) => {
  const folders = foldersFor(t);
  const inside = join(folders.workspace, hostile);
  mkdirSync(inside);
  cpSync(builtInFixture, join(inside, `${hostile}.json`));
  const url = await mockFor(t);
  const { code, outputs, stderr } = await run(folders, {
    url,
    fixture: `${hostile}.json`,
    'working-directory': hostile,
    reports: `json=${hostile}/x=y.json\n\n  junit=${hostile}/x.xml  \n`,
  });
  assert.equal(code, 0, stderr);
  assert.deepEqual(outputs['reports']?.split('\n'), [
    join(inside, hostile, 'x=y.json'),
    join(inside, hostile, 'x.xml'),
  ]);
  assertUntouched(folders.workspace);
});

const forged = `x${hostile}\n::error::forged\n--update-baseline`;
for (const [name, value] of [
  ['url', ''],
  ['url', '--strict'],
  ['url', `${nobody}/${forged}`],
  ['fixture', forged],
  ['fixture', '--strict'],
  ['partner', forged],
  ['suites', forged],
  ['cases', forged],
  ['max-duration', forged],
  ['strict', forged],
  ['strict', 'yes'],
  ['baseline', forged],
  ['state-url', forged],
  ['reports', forged],
  ['reports', 'html'],
  ['args', forged],
  ['args', '--'],
  ['args', '--header\nx: y'],
] as const)
  test(`${name} ${JSON.stringify(value)} is wrong usage, and nothing else happens`, async (t) => {
    const folders = foldersFor(t);
    const { code, outputs, stdout, stderr } = await run(folders, { url: nobody, [name]: value });
    assert.equal(code, 2, stderr);
    assert.deepEqual(outputs, { ...noCounts, verdict: '', 'exit-code': '2' });
    assert.doesNotMatch(stdout + stderr, /^\s*::/m);
    assertUntouched(folders.workspace);
  });

function assertUntouched(folder: string): void {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  assert.deepEqual(
    names.filter((name) => name.split('/').includes('pwned')),
    [],
  );
}

test('a step that is cancelled ends the run, with what it found', async (t) => {
  let cancel = () => {};
  const url = await mockFor(t, { onExchange: () => cancel() });
  const { code, outputs } = await run(
    foldersFor(t),
    { url, args: `${small.args}\n--rate=1` },
    { onStep: (signal) => (cancel = () => signal('SIGINT')) },
  );
  assert.deepEqual([code, outputs['exit-code'], outputs['verdict']], [130, '130', 'incomplete']);
  assert.ok(outputs['reports']?.includes('junit.xml'));
});

test('a runner whose Node is too old, or that has none, gets one', async (t) => {
  const folders = foldersFor(t);
  standIn(folders.programs, 'node', 'exit 1');
  const asked: string[] = [];
  const { code } = await run(
    folders,
    { url: nobody },
    {
      use: (name, env) => {
        asked.push(name);
        return { ...env, PATH: process.env['PATH']! };
      },
    },
  );
  assert.deepEqual([code, asked], [4, ['actions/setup-node@v6']]);
});

/** A checkout of the action without what it needs. */
function checkoutIn({ temp }: ReturnType<typeof foldersFor>): string {
  const checkout = join(temp, 'checkout');
  cpSync(join(root, 'action'), join(checkout, 'action'), { recursive: true });
  cpSync(join(root, 'package.json'), join(checkout, 'package.json'));
  return checkout;
}

test('half a record is a bug, and no verdict', async (t) => {
  const folders = foldersFor(t);
  const checkout = checkoutIn(folders);
  mkdirSync(join(checkout, 'bin'));
  const program = `import { writeFileSync } from 'node:fs';
    writeFileSync(process.argv.at(-1).replace('--report=json=', ''), '{"verdict": "conf');`;
  writeFileSync(join(checkout, 'bin', 'ib-conformance.mjs'), program);
  standIn(folders.programs, 'npm', '');
  const { code, outputs, stderr } = await run(folders, { url: nobody }, { action: checkout });
  assert.deepEqual([code, outputs], [70, { ...noCounts, verdict: '', 'exit-code': '70' }], stderr);
});

test('what cannot start is a bug, and no verdict; what is not installed is installed', async (t) => {
  const folders = foldersFor(t);
  const broken = checkoutIn(folders);
  standIn(folders.programs, 'npm', `printf '%s\\n' "$@" > ${folders.temp}/npm`);
  const { code, outputs } = await run(folders, { url: nobody }, { action: broken });
  assert.deepEqual([code, outputs['exit-code'], outputs['verdict']], [70, '70', '']);
  const asked = readFileSync(join(folders.temp, 'npm'), 'utf8').split('\n');
  const flags = ['--include=dev', '--ignore-scripts', '--no-audit', '--no-fund'];
  assert.deepEqual(asked, ['ci', '--prefix', broken, ...flags, '']);
});
