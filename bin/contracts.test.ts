/**
 * The contracts that users depend on: command line, exit codes, admin routes, schemas, run record.
 * This test runs the packaged program and imports no sources, so a refactoring cannot change a contract unnoticed.
 * The snapshot lists what must exist. You may add names, but not rename or remove any.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { statSync } from 'node:fs';
import { test, type TestContext } from 'node:test';
import catalogue from '../suites/requirements/catalogue.snapshot.json' with { type: 'json' };
import frozen from './contracts.snapshot.json' with { type: 'json' };
import { readJson, root } from './dev/paths.ts';
import { waitForExit, waitForLine } from './dev/testing/child-process.ts';
import { packagedMain, packagedProgram } from './dev/testing/packaged.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

/** Runs the program until it exits. */
function run(...args: readonly string[]) {
  const { IB_CONFORMANCE_URL: _, CI: __, ...env } = process.env;
  return waitForExit(spawn(process.execPath, [packagedProgram, ...args], { env }));
}

/** Runs the program with several command lines in one process, as each start takes longer than most of them. */
async function runAll(lines: readonly (readonly string[])[]) {
  const { IB_CONFORMANCE_URL: _, CI: __, ...env } = process.env;
  const script = `
    const { main } = await import(${JSON.stringify(packagedMain)});
    for (const line of ${JSON.stringify(lines)}) console.log('\\u0000' + await main(line) + '\\u0000');`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { env });
  const { code, stdout, stderr } = await waitForExit(child);
  assert.equal(code, 0, stderr);
  const parts = stdout.split('\0');
  return lines.map((line, at) => ({ line, stdout: parts[2 * at]!, code: Number(parts[2 * at + 1]) }));
}

function assertHolds(found: readonly string[], expected: readonly string[], what: string): void {
  const missing = expected.filter((one) => !found.includes(one));
  assert.deepEqual(missing, [], `${what}: missing`);
}

test('every command has its flags', async () => {
  const commands = Object.entries(frozen.commands);
  const helps = await runAll(commands.map(([command]) => [...command.split(' '), '--help']));
  for (const [at, { code, stdout }] of helps.entries()) {
    const [command, flags] = commands[at]!;
    assert.equal(code, 0, command);
    const found = [...stdout.matchAll(/^ +(?:-\w, )?--([a-z-]+)/gm)].map(([, name]) => name!);
    assertHolds(found, flags, command);
  }
});

test('exit codes', async () => {
  const [help, usage, unreachable, incomplete] = await runAll([
    ['--help'],
    ['verify', '--no-such-flag'],
    ['verify', 'http://127.0.0.1:1'],
    ['verify', '--seed', '7', '--max-requests', '1'],
  ]);
  for (const code of [0, 1, 2, 3, 4, 70, 130]) assert.match(help!.stdout, new RegExp(`^ +${code}  \\S`, 'm'));
  assert.deepEqual([usage!.code, unreachable!.code, incomplete!.code], [2, 4, 3]);
});

/** Returns the path and type of every part of a schema: `properties/apiKeys/items/properties/key: string`. */
function placesOf(schema: unknown, at = ''): readonly string[] {
  if (typeof schema !== 'object' || schema === null) return [];
  return Object.entries(schema).flatMap(([name, value]: [string, unknown]) => {
    const place = `${at}/${name}`;
    if (name === 'description' || name === 'title' || name === 'examples') return [];
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return placesOf(value, place);
    if (Array.isArray(value))
      return value.flatMap((one: unknown, index) =>
        typeof one === 'object' ? placesOf(one, `${place}/${index}`) : [`${place}: ${one as string}`],
      );
    return [`${place}: ${String(value)}`];
  });
}

for (const [what, schema, published] of [
  ['fixture', 'fixture', frozen.fixturePaths],
  ['run record', 'run-record', frozen.runRecordPaths],
] as const)
  test(`the ${what} has every published field`, () =>
    assertHolds(placesOf(readJson(`${root}schemas/${schema}.schema.json`)), published, what));

interface RunRecord {
  readonly verdict: string;
  readonly requirements: readonly { readonly id: string; readonly outcome: string }[];
}

const { place } = temporaryFolder();

async function recorded(...args: readonly string[]) {
  const file = place('json');
  const ended = await run('verify', ...args, '--seed', '7', '--report', `json=${file}`);
  return { ended, record: readJson<RunRecord>(file) };
}

const rowFieldsOf = (record: RunRecord) => record.requirements.flatMap((row) => Object.keys(row));

test('the golden run: verdict, exit code, fields, outcomes, and every report format', async () => {
  const formats = ['console', 'junit', 'html', 'markdown', 'github'];
  const files = formats.map((format) => [format, place(format)] as const);
  const { ended, record } = await recorded(
    ...files.flatMap(([format, file]) => ['--report', `${format}=${file}`]),
  );
  const { verdict, exitCode, fields, rowFields } = frozen.goldenRecord;
  assert.deepEqual([record.verdict, ended.code], [verdict, exitCode]);
  assertHolds(Object.keys(record), fields, 'record');
  assertHolds(rowFieldsOf(record), rowFields, 'row');
  for (const { id, level } of catalogue) {
    const settled = level === 'observed' ? 'observed' : 'passed';
    const found = record.requirements.find((one) => one.id === id)?.outcome;
    assert.equal(found, settled, id);
  }
  for (const [format, file] of files) assert.ok(statSync(file).size > 0, format);
});

test('the golden failure: a mock with a fault, over HTTP', async (t) => {
  const mock = await startedMock(t, '--fault', 'date-day-and-month-swapped', '--limits', 'off');
  const { ended, record } = await recorded(mock.url, '--only', 'valid', '--cases', '300');
  const { verdict, exitCode, failed, rowFields } = frozen.goldenFailure;
  assert.deepEqual([record.verdict, ended.code], [verdict, exitCode]);
  // The report is in a file.
  assert.match(ended.stdout, /^nonconformant/m);
  const failing = record.requirements.flatMap(({ id, outcome }) => (outcome === 'failed' ? [id] : []));
  assert.deepEqual(failing, failed);
  assertHolds(rowFieldsOf(record), rowFields, 'row');
});

async function startedMock(t: TestContext, ...flags: readonly string[]) {
  const child = spawn(process.execPath, [packagedProgram, 'mock', '--port', '0', ...flags]);
  t.after(() => child.kill('SIGKILL'));
  const { line } = await waitForLine(child);
  return { child, line, url: line.replace('listening on ', '') };
}

test('the mock: its first line, its admin routes, its end', async (t) => {
  const { child, line, url } = await startedMock(t);
  assert.match(line, /^listening on http:\/\/127\.0\.0\.1:\d+$/);
  // The answer to an unknown path lists all calls.
  const { calls } = (await (await fetch(`${url}/__admin/unknown`)).json()) as { readonly calls: string[] };
  assertHolds(calls, frozen.adminRoutes, 'admin API');
  child.kill('SIGTERM');
  assert.deepEqual(await once(child, 'exit'), [0, null]);
});

test('faults and variants are listed', async () => {
  const kinds = ['fault', 'variant'] as const;
  const lists = await runAll(kinds.map((kind) => ['mock', `--${kind}`, 'list', '--all']));
  for (const [at, { code, stdout }] of lists.entries()) {
    assert.equal(code, 0);
    const found = [...stdout.matchAll(/^ *([a-z\d-]+)/gm)].map(([, id]) => id!);
    assertHolds(found, frozen[`${kinds[at]!}s`], kinds[at]!);
  }
});
