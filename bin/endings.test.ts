import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { Server } from 'node:net';
import { test } from 'node:test';
import { reference } from '../mock/server/handler.ts';
import { faults } from '../mock/deviations/faults.ts';
import { startMock } from '../mock/index.ts';
import { withoutLimits } from '../mock/control/options.ts';
import { endpointNames, messageOf } from '../schemas/endpoints.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { matchesSnapshot } from '../schemas/testing/snapshot.ts';
import { serverFor } from '../suites/testing/against.ts';
import { builtInFixture } from './dev/paths.ts';
import { loadFixture } from './input-files.ts';
import { flaky } from './dev/testing/hostile-servers.ts';
import { fitting, readers } from './dev/testing/exit-code-in.ts';
import { runCli } from './dev/testing/run-cli.ts';
import { temporaryFolder } from './dev/testing/temporary-folder.ts';

const { folder, fileOf } = temporaryFolder();
// Without limits, and with deposits that change soon, the runs are short.
const unlimited = withoutLimits(
  JSON.parse(readFileSync(builtInFixture, 'utf8').replaceAll(/("afterSeconds": *)5/g, '$10.1')) as Fixture,
);
const file = fileOf('f.json', unlimited);
const otherKeys = fileOf('other.json', {
  ...unlimited,
  apiKeys: unlimited.apiKeys!.map((one, at) => ({ ...one, key: `other-${at}` })),
});
const soonUsedUp = { 'deposit-check': { requests: 40, windowSeconds: 1 } };
const limited = fileOf('limited.json', { ...unlimited, limits: soonUsedUp });

/** Without a key of another partner, some requirements cannot be judged. */
const ownOnly = fileOf('own.json', {
  ...unlimited,
  apiKeys: unlimited.apiKeys!.filter(({ partner }) => partner === 'northwind'),
});

const baselineOf = (id: string) => {
  const known = [{ id, reason: 'ticket 1' }];
  return fileOf(`baseline-${id.replaceAll('/', '-')}.json`, { format: 'ib-conformance/baseline/1', known });
};

/** A fault for each suite. */
const faultOf: Readonly<Record<string, string>> = {
  valid: 'member-denied',
  'invalid-uuid': 'any-letter-accepted',
  'foreign-ib': 'foreign-user-is-member',
  pending: 'pending-with-200',
  auth: 'key-case-ignored',
};

/** Throws what nobody expects. */
const brokenSignal = Object.defineProperty(new AbortController().signal, 'aborted', {
  get: () => {
    throw new TypeError('a mistake of ours');
  },
});

const answerAlways = (status: number) =>
  createServer(({ url = '' }, response) => {
    const endpoint = endpointNames.find((name) => url.includes(name))!;
    const error = messageOf(endpoint, status === 404 ? 0 : status) ?? 'Not found';
    response.writeHead(status, { 'retry-after': '600' }).end(JSON.stringify({ error }));
  });

/** Servers that always answer with one status: the message of the interface, or another one. One dies. */
const servers: Readonly<Record<string, () => Server>> = {
  refusing: () => answerAlways(401),
  limiting: () => answerAlways(429),
  other: () => answerAlways(404),
  dying: () => flaky(unlimited, (nth, socket) => nth > 259 && socket.resetAndDestroy() !== undefined),
};

const ofFile = `verify URL --fixture ${file}`;
const ownForeign = `verify URL --fixture ${ownOnly} --only foreign-ib --cases 100`;
const known = `--baseline ${baselineOf('auth/deposit-check/unknown-key')}`;
const passing = `--baseline ${baselineOf('pending/deposit-check/pending')}`;
const limiter = `--fixture ${limited} --only rate-limit/deposit-check/requests`;
const [crashing, anyKey] = ['unknown-parameter-crashes', 'any-key-on-deposit-check'];
const invalid = fileOf('bad.json', { users: [{ user_id: 'x' }] });

type Ending = readonly [what: string, code: number, words: string, fault?: string];
/** Each ending: its exit code and command. URL is the mock, or a server by its name. */
const endings: readonly Ending[] = [
  ['the mock, conformant', 0, 'verify mock'],
  ['narrowed, conformant', 0, `${ofFile} --only pending`],
  ...Object.entries(faultOf).map(([suite, fault]): Ending => [
    `nonconformant in ${suite}`,
    1,
    `${ofFile} --only ${suite} --cases 100`,
    fault,
  ]),
  ['nonconformant in rate-limit', 1, `verify URL ${limiter}`, 'deposit-check-503-for-429'],
  ['only a warning', 0, `${ofFile} --only robustness`, crashing],
  ['only a warning, with --strict', 1, `${ofFile} --only robustness --strict`, crashing],
  ['a known failure', 0, `${ofFile} --only auth/deposit-check --cases 20 ${known}`, anyKey],
  ['a wrong baseline', 1, `${ofFile} --only pending ${passing}`],
  ['incomplete', 3, ownForeign],
  ['incomplete, with --allow-incomplete', 0, `${ownForeign} --allow-incomplete`],
  ['the target dies, with --allow-incomplete', 3, `verify dying --fixture ${file} --allow-incomplete`],
  ['out of requests', 3, `${ofFile} --max-requests 20`],
  ['out of time', 3, `${ofFile} --max-duration 500ms --rate 20`],
  ['limited from the start', 3, `verify limiting --fixture ${file} --max-duration 1s`],
  ['a wrong key', 1, `verify URL --fixture ${otherKeys} --cases 20`],
  ['no fixture at all', 2, 'verify refusing'],
  ['a missing fixture', 2, 'verify URL --fixture none.json'],
  ['a bad fixture', 2, `verify URL --fixture ${invalid}`],
  ['an empty fixture', 3, `verify URL --fixture ${fileOf('empty.json', {})}`],
  ['a wrong path', 4, `verify URL/elsewhere --fixture ${file}`],
  ['another service', 4, `verify other --fixture ${file}`],
  ['unreachable', 4, `verify http://127.0.0.1:9 --fixture ${file}`],
  ['interrupted', 130, ofFile],
  ['a bug of ours', 70, ofFile],
];

/** Removes what differs between runs: ports, paths of files, inputs, and numbers. */
const stable = (text: string) =>
  text
    .replaceAll(folder, 'DIR')
    .replaceAll(/127\.0\.0\.1:(?!9\b)\d+/g, 'HOST')
    .replaceAll(/--replay '.*'$/gm, "--replay '…'")
    .replaceAll(/\b\d[\d,.]*(?= of | required| recommended| verified| levels| requests?\b|[smh]\b)/g, '#')
    .replaceAll(/# request\b/g, '# requests')
    .replaceAll(/--max-requests \d+/g, '--max-requests #')
    .replaceAll(/--max-duration #[smh]/g, '--max-duration #m');

const formats = ['json', 'junit', 'markdown', 'html', 'github'] as const;

test('every ending says what to do next, and all outputs agree with its exit code', async (t) => {
  const shown: string[] = [];
  for (const [at, [what, expected, words, fault]] of endings.entries()) {
    const fileOfFormat = (name: (typeof formats)[number]) => `${folder}/${at}.${name}`;
    const behaviour = fault === undefined ? reference : faults[fault]!.change(reference);
    const fixture = await loadFixture(words.includes(limited) ? limited : file, {});
    const stop = new AbortController();
    await using mock = await startMock({
      fixture,
      behaviour,
      onExchange: () => (what === 'interrupted' ? stop.abort() : undefined),
    });
    const [, target = ''] = words.split(' ');
    const url = servers[target] === undefined ? target : await serverFor(t, servers[target]());
    const line = words.replace(target, url).replace('URL', mock.url);
    const reports = formats.map((name) => `--report ${name}=${fileOfFormat(name)}`).join(' ');
    const { code, output, error } = await runCli(`${line} --seed 1 ${reports} --report console`, {
      signal: what === 'a bug of ours' ? brokenSignal : stop.signal,
      terminal: { color: false, width: 200 },
    });
    const said = Object.entries(readers).map(([name, read]) => {
      const place = fileOfFormat(name as (typeof formats)[number]);
      const text = name === 'console' ? output : existsSync(place) ? readFileSync(place, 'utf8') : '';
      return [name, text === '' ? 'nothing' : fitting(read(text))];
    });
    const isSilent = (name: string) => code === 2 || (error !== '' && ['console', 'json'].includes(name));
    const wanted = Object.keys(readers).map((name) => [name, isSilent(name) ? 'nothing' : [expected]]);
    assert.deepEqual([code, said], [expected, wanted], what);
    const [verdict = '', ...rest] = output.slice(output.lastIndexOf('\n\n') + 2).split('\n');
    const last = [verdict, ...rest.filter((one) => one.startsWith('next: '))];
    const text = error === '' ? last.join('\n') : error.replaceAll(/\n +at .*/g, '');
    shown.push(`${what}: exit ${code}\n${text.replaceAll(/^/gm, '  ')}\n`);
  }
  matchesSnapshot(new URL('endings.golden.txt', import.meta.url), stable(shown.join('')));
});
