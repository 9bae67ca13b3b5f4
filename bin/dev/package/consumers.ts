/** Every entry, from JavaScript. */
export const use = `
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadFixture, Problem, startMock, verify, version } from 'ib-conformance';
import { startMock as sameStartMock } from 'ib-conformance/mock';
import { conformance } from 'ib-conformance/node-test';
import manifest from 'ib-conformance/package.json' with { type: 'json' };

assert.equal(version, manifest.version);
assert.equal(startMock, sameStartMock);
assert.equal(typeof conformance, 'function');
for (const name of ['fixture', 'run-record', 'membership-result', 'executed-deposit-result', 'error-body'])
  JSON.parse(readFileSync(fileURLToPath(import.meta.resolve(\`ib-conformance/schemas/\${name}.schema.json\`)), 'utf8'));
await assert.rejects(loadFixture('no-such-file.json', {}), Problem);

const mock = await startMock();
const fixture = await loadFixture(undefined, {});
const { limits, ...unlimited } = fixture;
const record = await verify({ url: mock.url, fixture: unlimited, suite: ['valid'], cases: 100, seed: 1 });
console.log(record.verdict);
await mock.close();
`;

/** The same under the eyes of the compiler. */
export const typedUse = `
import { loadFixture, startMock, verify, type Fixture, type RunRecord } from 'ib-conformance';
import { startMock as start, type Mock, type MockOptions } from 'ib-conformance/mock';
import { conformance, type ConformanceOptions } from 'ib-conformance/node-test';
import schema from 'ib-conformance/schemas/fixture.schema.json' with { type: 'json' };

const options: MockOptions = { port: 0, host: '127.0.0.1' };
const mock: Mock = await start(options);
const url: string = mock.url;
const fixture: Fixture = await loadFixture(undefined, {});
const record: RunRecord = await verify({ url, fixture, cases: 1 });
const verdict: 'conformant' | 'nonconformant' | 'incomplete' = record.verdict;
const suite: ConformanceOptions = { url: () => url, fixture };
conformance(suite);
export const title: string = schema.title + verdict;
export const another: Promise<Mock> = startMock({ fixture });
// @ts-expect-error -- a port is a number
export const wrong = start({ port: '0' });
`;

/** A suite as the README shows it. */
export const suite = `
import { after, before } from 'node:test';
import { loadFixture } from 'ib-conformance';
import { startMock } from 'ib-conformance/mock';
import { conformance } from 'ib-conformance/node-test';

let mock;
before(async () => { mock = await startMock(); });
after(() => mock.close());
conformance({ url: () => mock.url, fixture: await loadFixture(undefined, {}), seed: 1, cases: 100, suite: ['valid'] });
`;
