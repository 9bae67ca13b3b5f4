import { join } from 'node:path';
import { root } from '../paths.ts';

/** Compiler options for it. */
export const strictTypes = {
  strict: true,
  exactOptionalPropertyTypes: true,
  skipLibCheck: false,
  target: 'es2023',
  lib: ['es2023'],
  resolveJsonModule: true,
  types: ['node'],
  typeRoots: [join(root, 'node_modules/@types')],
} as const;

/** A user's test in strict TypeScript: every entry point, and a suite as in the docs. */
export const consumer = `
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { loadFixture, Problem, Refusal, render, startMock, verify, version } from 'ib-conformance';
import type { Fixture, JournalEntry, RunRecord, VerifyResult } from 'ib-conformance';
import { startMock as start, type Mock, type MockOptions } from 'ib-conformance/mock';
import { conformance, type ConformanceOptions } from 'ib-conformance/node-test';
import manifest from 'ib-conformance/package.json' with { type: 'json' };
import schema from 'ib-conformance/schemas/fixture.schema.json' with { type: 'json' };

const options: MockOptions = { port: 0, host: '127.0.0.1' };
// @ts-expect-error -- a port is a number
export const wrong: MockOptions = { port: '0' };
const { limits, ...fixture }: Fixture = await loadFixture(undefined, {});
let mock: Mock;
before(async () => { mock = await start(options); });
after(() => mock.close());

const suite: ConformanceOptions = { url: () => mock.url, fixture, seed: 1, cases: 100, only: ['valid'] };
conformance(suite);

test('verify', async () => {
  const { record, exitCode }: VerifyResult = await verify({ url: new URL(mock.url), fixture, cases: 100, only: ['valid'] });
  const verdict: 'conformant' | 'nonconformant' | 'incomplete' = record.verdict;
  assert.deepEqual([verdict, exitCode], ['conformant', 0]);
  const written: RunRecord = JSON.parse(await render(record, 'json'));
  assert.equal(written.verdict, verdict);
});

test('a mock is controlled', () => {
  const all: readonly JournalEntry[] = mock.world().requests({ endpoint: 'user-status' });
  assert.deepEqual(all, []);
  assert.throws(() => mock.requests({ key: 'no-such-key' }), Refusal);
});

test('the other exports', async () => {
  assert.equal(startMock, start);
  assert.equal(version, manifest.version);
  assert.equal(schema.title, 'Fixture');
  await assert.rejects(loadFixture('no-such-file.json', {}), Problem);
});
`;

/** Uses the engine, the page and the built-in fixture. */
const script = `
(async () => {
  const mock = await startMock();
  const { limits, ...fixture } = await loadFixture(undefined, {});
  const { record, exitCode } = await verify({ url: mock.url, fixture, cases: 20, only: ['valid/user-status/member'] });
  const page = await (await fetch(mock.url + '/__admin/')).text();
  await mock.close();
  console.log(record.verdict, exitCode, page.includes('<html'), typeof conformance);
})();
`;

/** What that prints. */
export const OUTPUT = 'conformant 0 true function\n';

/** A user's CommonJS script. */
export const commonJsConsumer = `
const { loadFixture, verify } = require('ib-conformance');
const { startMock } = require('ib-conformance/mock');
const { conformance } = require('ib-conformance/node-test');
${script}`;

/** The same as a module. */
export const moduleConsumer = `
import { loadFixture, verify } from 'ib-conformance';
import { startMock } from 'ib-conformance/mock';
import { conformance } from 'ib-conformance/node-test';
${script}`;
