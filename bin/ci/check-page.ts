import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { parse } from 'yaml';
import { reference } from '../../mock/behaviour.ts';
import { faults } from '../../mock/faults.ts';
import { startMock } from '../../mock/server.ts';
import type { RunRecord } from '../../schemas/generated/types.ts';
import { builtInFixture } from '../fixture-file.ts';
import { blocksOf } from '../docs/markdown.ts';
import { root } from '../dev/paths.ts';
import { version } from '../version.ts';
import { runBash, type CompositeAction } from './composite-action.ts';

const page = readFileSync(join(root, 'docs', 'ci.md'), 'utf8');
const blocks = (name: string) =>
  blocksOf(page).flatMap(({ language, text }) => (language === name ? [text] : []));

const [github, gitlab] = blocks('yaml').map((text) => parse(text) as unknown) as [
  { readonly jobs: Readonly<Record<string, { readonly steps: readonly GithubStep[] }>> },
  { readonly conformance: GitlabJob },
];
const action = parse(readFileSync(join(root, 'action.yml'), 'utf8')) as CompositeAction;

interface GithubStep {
  readonly if?: string;
  readonly uses?: string;
  readonly with?: Readonly<Record<string, string>>;
}

interface GitlabJob {
  readonly script: readonly string[];
  readonly allow_failure: { readonly exit_codes: number };
  readonly artifacts: {
    readonly when: string;
    readonly paths: readonly string[];
    readonly reports: { readonly junit: string };
  };
}

test('the page lists every input and output of the action, and no other', () => {
  const listed = (what: string) => {
    const [, table = ''] = new RegExp(`^\\| ${what} .*\\n\\| -.*\\n((?:\\|.*\\n)+)`, 'm').exec(page) ?? [];
    return table
      .split('\n')
      .flatMap((row) => [...(row.split('|')[1]?.matchAll(/`([\w-]+)`/g) ?? [])].map(([, name]) => name!));
  };
  assert.deepEqual(listed('input'), Object.keys(action.inputs));
  assert.deepEqual(listed('output'), Object.keys(action.outputs));
});

test('the workflow of the page gives the action what it takes', () => {
  const steps = github.jobs['conformance']!.steps;
  const own = steps.find(({ uses }) => uses?.includes('ib-conformance'))!;
  for (const name of Object.keys(own.with!)) assert.ok(Object.hasOwn(action.inputs, name), name);
  assert.ok('url' in own.with!);
  for (const [, name] of page.matchAll(/steps\.conformance\.outputs\.([\w-]+)/g))
    assert.ok(Object.hasOwn(action.outputs, name!), name);
});

test('reports are kept where the run fails, too', () => {
  for (const { uses = '', if: condition } of github.jobs['conformance']!.steps)
    if (uses.startsWith('actions/upload-artifact@')) assert.equal(condition, 'always()');
  assert.equal(gitlab.conformance.artifacts.when, 'always');
});

test('the page names the version that there is', () => {
  const versions = [...page.matchAll(/ib-conformance@(\d[\w.-]*)/g)].map(([, name]) => name);
  assert.deepEqual(versions, [version, version]);
});

/** A project with the package installed, so that npx takes it from there, and with a fixture. */
function projectFor(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 'ib-conformance-ci-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const programs = join(folder, 'node_modules', '.bin');
  mkdirSync(programs, { recursive: true });
  symlinkSync(root, join(folder, 'node_modules', 'ib-conformance'));
  symlinkSync(join(root, 'bin', 'ib-conformance.mjs'), join(programs, 'ib-conformance'));
  cpSync(builtInFixture, join(folder, 'fixture.json'));
  return folder;
}

/** Runs lines of the page in a project; one small suite, so that they take no time. */
async function runLines(lines: readonly string[], folder: string, url: string) {
  const text = lines.join('\n').replaceAll('--fixture', '--suite valid --cases 1 --no-canary --fixture');
  const env = { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, HOME: folder, IB_URL: url };
  return await runBash(text, { cwd: folder, env: { ...env, npm_config_offline: 'true' }, temp: folder });
}

test('the GitLab job keeps its reports and ends as verify does, also where only a warning comes of it', async (t) => {
  const { script, artifacts, allow_failure } = gitlab.conformance;
  assert.equal(allow_failure.exit_codes, 3);
  for (const [options, expected] of [
    [{}, 0],
    [{ behaviour: faults['date-day-and-month-swapped']!.change(reference) }, 1],
  ] as const) {
    const folder = projectFor(t);
    await using mock = await startMock(options);
    const { code, stderr } = await runLines(script, folder, mock.url);
    assert.equal(code, expected, stderr);
    assert.match(readFileSync(join(folder, artifacts.reports.junit), 'utf8'), /<testsuites/);
    assert.ok(artifacts.paths.some((path) => artifacts.reports.junit.startsWith(path)));
    const record = readFileSync(join(folder, artifacts.paths[0]!, 'run.json'), 'utf8');
    assert.equal((JSON.parse(record) as RunRecord).target, `${mock.url}/`);
  }
});

test('the line for every other CI does the same, and refuses a URL that is empty', async (t) => {
  const lines = blocks('sh');
  assert.equal(lines.length, 1);
  const folder = projectFor(t);
  await using mock = await startMock();
  assert.equal((await runLines(lines, folder, mock.url)).code, 0);
  for (const file of ['run.json', 'junit.xml', 'report.html']) readFileSync(join(folder, file));
  const { code, stderr } = await runLines(lines, projectFor(t), '');
  assert.equal(code, 2);
  assert.match(stderr, /the URL is empty/);
});
