/** Tests of `action.yml`, `action/`, docs/ci.md and the project's own workflows. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { accessSync, constants, cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { parse } from 'yaml';
import { reference } from '../../mock/server/handler.ts';
import { faults } from '../../mock/deviations/faults.ts';
import { startMock } from '../../mock/server/server.ts';
import { waitForExit } from './testing/child-process.ts';
import { packagedFolder, packagedProgram } from './testing/packaged.ts';
import { temporaryFolder } from './testing/temporary-folder.ts';
import { version } from '../version.ts';
import { builtInFixture, root } from './paths.ts';

const text = readFileSync(join(root, 'action.yml'), 'utf8');
const page = readFileSync(join(root, 'docs/ci.md'), 'utf8');
const action = parse(text) as {
  readonly inputs: Readonly<Record<string, { readonly default?: string }>>;
  readonly outputs: Readonly<Record<string, { readonly value: string }>>;
  readonly runs: { readonly steps: readonly Step[] };
};
interface Step {
  readonly id?: string;
  readonly if?: string;
  readonly run?: string;
  readonly uses?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly 'working-directory'?: string;
}
const unused = 'http://127.0.0.1:9';
const swapped = { behaviour: faults['date-day-and-month-swapped']!.change(reference) };
const folderFor = (t: TestContext) => temporaryFolder(t).folder;
const variable = (name: string) => `INPUT_${name.toUpperCase().replaceAll('-', '_')}`;

/** Copies the action and replaces its program. Its `dist` says that it needs no installation. */
function checkoutWith(program: string, t: TestContext): string {
  const checkout = folderFor(t);
  for (const name of ['action', 'package.json'])
    cpSync(join(root, name), join(checkout, name), { recursive: true });
  for (const name of ['bin', 'dist']) mkdirSync(join(checkout, name));
  writeFileSync(join(checkout, 'dist/main.mjs'), '');
  writeFileSync(join(checkout, 'bin/ib-conformance.mjs'), program);
  return checkout;
}

/**
 * Runs the steps of `action.yml` as a runner does. `results` are the values of the outputs.
 *
 * @param checkout by default the package: like the commit of a release, it has `dist` and no installation
 */
async function run(
  folder: string,
  inputs: Readonly<Record<string, string>>,
  checkout = packagedFolder,
  signal?: NodeJS.Signals,
) {
  const values = new Map(Object.entries(inputs).map(([name, value]) => [`inputs.${name}`, value]));
  for (const [name, { default: value = '' }] of Object.entries(action.inputs))
    if (!Object.hasOwn(inputs, name)) values.set(`inputs.${name}`, value);
  const evaluate = (template = '') =>
    template.replace(/\$\{\{ (.*?) \}\}/g, (_, name: string) => values.get(name) ?? '');
  const GITHUB_OUTPUT = join(folder, 'output');
  const { PATH } = process.env;
  const runner = {
    PATH,
    GITHUB_ACTIONS: 'true',
    GITHUB_ACTION_PATH: checkout,
    GITHUB_OUTPUT,
    RUNNER_TEMP: folder,
  };
  let last: Awaited<ReturnType<typeof waitForExit>> = { code: 0, stdout: '', stderr: '' };
  for (const { id, if: condition, run: script = '', env = {}, ...step } of action.runs.steps) {
    const isNeeded = condition === undefined || values.get('steps.node.outputs.usable') !== 'true';
    assert.equal(isNeeded, step.uses === undefined, 'this Node needs no other');
    if (!isNeeded) continue;
    writeFileSync(GITHUB_OUTPUT, '');
    const variables = Object.entries(env).map(([name, value]) => [name, evaluate(value)]);
    const cwd = join(folder, evaluate(step['working-directory']));
    const argv = ['--noprofile', '--norc', '-eo', 'pipefail', '-c', script];
    const child = spawn('bash', argv, { cwd, env: { ...runner, ...Object.fromEntries(variables) } });
    if (signal !== undefined) child.stdout.once('readable', () => child.kill(signal));
    last = await waitForExit(child);
    const lines = readFileSync(GITHUB_OUTPUT, 'utf8').matchAll(/^([\w-]+)(?:<<(.+)\n([^]*?)\n?^\2|=(.*))$/gm);
    for (const [, name, , long, short] of lines) values.set(`steps.${id}.outputs.${name}`, long ?? short!);
    if (last.code !== 0) break;
  }
  const outputs = Object.values(action.outputs).map(({ value }) => evaluate(value));
  assert.equal(outputs[1], String(last.code));
  return { ...last, results: outputs.join() };
}

test('the npm scripts and files that workflows run exist', () => {
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    readonly scripts: Readonly<Record<string, string>>;
  };
  const folder = join(root, '.github/workflows');
  const files = readdirSync(folder);
  assert.deepEqual(files, ['checks.yml', 'release.yml']);
  for (const file of files) {
    const workflow = readFileSync(join(folder, file), 'utf8');
    const lines = [...workflow.matchAll(/ run: (.*)/g)].map(([, line = '']) => line);
    for (const line of lines) {
      const [, named] = /^npm (?:run )?(\w+)/.exec(line) ?? [];
      const known = [...Object.keys(scripts), 'ci', 'install', 'publish'];
      if (named !== undefined) assert.ok(known.includes(named), line);
      if (line.startsWith('.')) accessSync(join(root, line), constants.X_OK);
    }
    assert.ok(lines.length > 1, file);
  }
});

test('actions are pinned by commit, in docs/ci.md as in the workflows', () => {
  const folder = join(root, '.github/workflows');
  const texts = readdirSync(folder).map((file) => readFileSync(join(folder, file), 'utf8'));
  const used = [text, page, ...texts].flatMap((one) => [...one.matchAll(/ uses: (?!OWNER\/)(\S+)@(.*)$/gm)]);
  const pins = new Map(used.map(([, name, pin]) => [name, pin]));
  assert.ok(pins.size > 2);
  for (const [, name, pin] of used) {
    assert.match(pin!, /^[\da-f]{40} # v\d+\.\d+\.\d+$/);
    assert.equal(pins.get(name), pin);
  }
});

test('scripts get inputs only as variables; docs/ci.md lists all inputs, outputs and, like the README, the version', () => {
  for (const [, script = ''] of text.matchAll(/ run: (.*\n(?: {8}.*\n)*)/g))
    assert.ok(!script.includes('${{'));
  const names = Object.keys(action.inputs);
  for (const name of names) {
    const target = name === 'working-directory' ? name : variable(name);
    assert.ok(text.includes(`      ${target}: \${{ inputs.${name} }}\n`), name);
  }
  const rows = [...page.matchAll(/^\|([^|]*`[^|]*)\|/gm)].flatMap(([, cell = '']) => cell.match(/[\w-]+/g));
  assert.deepEqual(rows, [...names, ...Object.keys(action.outputs)]);
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const versions = [...(page + readme).matchAll(/(?:download\/|#)v(\d[\w.]*\d)/g)].map(([, named]) => named);
  assert.deepEqual(versions, Array.from({ length: 4 }).fill(version));
});

test('the program gets every input as one argument, with any characters', async (t) => {
  const folder = folderFor(t);
  const checkout = checkoutWith('process.stdout.write(JSON.stringify(process.argv.slice(2, -1)));', t);
  const value = `$(touch pwned) \`touch pwned\` "'; touch pwned; #\n::error::forged\n--update-baseline`;
  const names = ['fixture', 'partner', 'cases', 'max-duration', 'baseline', 'state-url'];
  const inputs = Object.fromEntries(names.map((name) => [name, value]));
  const rest = { url: unused, strict: 'false', suites: 'a,\nb', args: '--seed=7\n', reports: 'junit=o/x=y' };
  const { stdout, results } = await run(folder, { ...inputs, ...rest }, checkout);
  const flags = ['strict=false', 'only=a', 'only=b', 'report=console', 'report=junit=o/x=y', 'seed=7'];
  const expected = [...names.map((name) => `${name}=${value}`), ...flags].map((flag) => `--${flag}`);
  assert.deepEqual(JSON.parse(stdout), ['verify', unused, ...expected]);
  assert.equal(results, ',2,,,,', 'without a record it does not pass');
  assert.deepEqual(readdirSync(folder).toSorted(), ['o', 'output']);
});

test('an ambiguous or wrong input is wrong usage', async (t) => {
  const folder = folderFor(t);
  const booleans = ['strict', 'allow-incomplete'].flatMap((name) =>
    ['yes', '1', 'TRUE'].map((form) => `${name}=${form}`),
  );
  const wrong = [...booleans, 'url=', 'url=--strict', 'reports=html', 'args=--', 'args=--header\nx: y'];
  for (const input of wrong) {
    const [name = '', value = ''] = input.split('=');
    const { results, stderr } = await run(folder, { url: unused, [name]: value });
    assert.equal(results, ',2,,,,', input);
    assert.match(stderr, new RegExp(`^ib-conformance: ${name}: needs `));
  }
});

test('a runner gets every exit code and the reports of this run, without an installation', async (t) => {
  const folder = folderFor(t);
  await using good = await startMock();
  await using bad = await startMock(swapped);
  const small = { suites: 'valid', cases: '100', args: '--seed=1' };
  const all = ['run.json', 'junit.xml', 'report.html'];
  for (const [inputs, results, files, annotations] of [
    [{ ...small, url: good.url }, /^conformant,0,[1-9]\d*,0,0,/, all, 0],
    [{ ...small, url: bad.url }, /^nonconformant,1,\d+,1,0,/, all, 1],
    [{ url: unused, strict: 'yes' }, /^,2,,,,/, [], 0],
    [{ url: good.url, args: '--max-requests=20' }, /^incomplete,3,\d+,0,\d+,/, all, 0],
    // Nothing listens there: there is no record.
    [{ url: unused }, /^,4,,,,/, ['junit.xml', 'report.html'], 0],
  ] as const) {
    const found = await run(folder, inputs);
    assert.match(found.results, results);
    const paths = files.map((file) => join(folder, 'ib-conformance', file));
    assert.equal(found.results.replace(results, ''), paths.join('\n'));
    assert.equal(
      found.stdout.match(/^::error .*valid\/user-status\/date-joined/gm)?.length ?? 0,
      annotations,
    );
  }
  assert.ok(!readdirSync(packagedFolder).includes('node_modules'));
});

test('a program that cannot start or writes half a record gives no verdict', async (t) => {
  const half = `import { writeFileSync } from 'node:fs'; writeFileSync(process.argv.at(-1).slice(14), '{"verd');`;
  for (const program of ['import "nothing";', half])
    assert.equal((await run(folderFor(t), { url: unused }, checkoutWith(program, t))).results, ',70,,,,');
});

test('a cancelled step forwards the signal and exits like verify', async (t) => {
  const program = `process.on('SIGINT', () => process.exit(130)); setInterval(() => {}, 1e6); console.log('on');`;
  const { results } = await run(folderFor(t), { url: unused }, checkoutWith(program, t), 'SIGINT');
  assert.equal(results, ',130,,,,');
});

test('the commands of docs/ci.md for other CI servers use existing flags and refuse an empty URL', async (t) => {
  const folder = folderFor(t);
  cpSync(builtInFixture, join(folder, 'fixture.json'));
  mkdirSync(join(folder, 'ib-conformance'));
  const lines = page.match(/npx --yes h.*/g) ?? [];
  assert.equal(lines.length, 2);
  const npx = `npx() { shift 2; "${process.execPath}" "${packagedProgram}" "$@"; }`;
  for (const line of lines)
    for (const IB_CONFORMANCE_URL of [unused, '']) {
      const command = line.replace('--wait 30s', '--wait 10ms');
      const child = spawn('bash', ['-ec', `${npx}\n${command}`], {
        cwd: folder,
        env: { IB_CONFORMANCE_URL },
      });
      // Nothing listens at the other URL.
      assert.equal((await waitForExit(child)).code, IB_CONFORMANCE_URL === '' ? 2 : 4);
    }
});
