import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { reference } from '../mock/behaviour.ts';
import { faults } from '../mock/faults.ts';
import { startMock } from '../mock/index.ts';
import { endpointNames, messageOf } from '../schemas/endpoints.ts';
import type { Fixture } from '../schemas/generated/types.ts';
import { matchesSnapshot } from '../schemas/testing/snapshot.ts';
import { serverFor } from '../suites/testing/against.ts';
import { builtInFixture, loadFixture } from './fixture-file.ts';
import { runCli } from './testing/run-cli.ts';
import { temporaryFolder } from './testing/temporary-folder.ts';

const { folder, fileOf } = temporaryFolder();
// Without limits, and with deposits that change soon, the runs are short.
const { limits: _limits, ...unlimited } = JSON.parse(
  readFileSync(builtInFixture, 'utf8').replaceAll(/("afterSeconds": *)5/g, '$10.1'),
) as Fixture;
const file = fileOf('f.json', unlimited);
const otherKeys = fileOf('other.json', {
  ...unlimited,
  apiKeys: unlimited.apiKeys!.map((one, at) => ({ ...one, key: `other-${at}` })),
});
const limited = fileOf('limited.json', {
  ...unlimited,
  limits: { 'deposit-check': { requests: 40, windowSeconds: 1 } },
});

/** A fault for each suite. */
const faultOf: Readonly<Record<string, string>> = {
  valid: 'member-denied',
  'invalid-uuid': 'any-letter-accepted',
  'foreign-ib': 'foreign-user-is-member',
  pending: 'pending-with-200',
  auth: 'key-case-ignored',
};

/** Servers that always answer with one status: the message of the interface, or another one. */
const statusOf: Readonly<Record<string, number>> = { refusing: 401, limiting: 429, other: 404 };

const answerAlways = (status: number) =>
  createServer(({ url = '' }, response) => {
    const endpoint = endpointNames.find((name) => url.includes(name))!;
    const error = messageOf(endpoint, status === 404 ? 0 : status) ?? 'Not found';
    response.writeHead(status, { 'retry-after': '600' }).end(JSON.stringify({ error }));
  });

/** The command of each ending. URL is the mock, or a server by its name. */
const endings: readonly (readonly [what: string, words: string, fault?: string])[] = [
  ['the mock, conformant', 'verify mock'],
  ['narrowed, conformant', `verify URL --fixture ${file} --only pending`],
  ...Object.entries(faultOf).map(
    ([suite, fault]) =>
      [
        `nonconformant in ${suite}`,
        `verify URL --fixture ${file} --only ${suite} --cases 20`,
        fault,
      ] as const,
  ),
  [
    'nonconformant in rate-limit',
    `verify URL --fixture ${limited} --only rate-limit/deposit-check/requests`,
    'deposit-check-503-for-429',
  ],
  ['only a warning', `verify URL --fixture ${file} --only robustness`, 'unknown-parameter-crashes'],
  ['out of requests', `verify URL --fixture ${file} --max-requests 20`],
  ['out of time', `verify URL --fixture ${file} --max-duration 500ms --rate 20`],
  ['limited from the start', `verify limiting --fixture ${file} --max-duration 1s`],
  ['a wrong key', `verify URL --fixture ${otherKeys} --cases 20`],
  ['no fixture at all', 'verify refusing'],
  ['a missing fixture', 'verify URL --fixture none.json'],
  ['an empty fixture', `verify URL --fixture ${fileOf('empty.json', {})}`],
  ['a wrong path', `verify URL/elsewhere --fixture ${file}`],
  ['another service', `verify other --fixture ${file}`],
  ['unreachable', `verify http://127.0.0.1:9 --fixture ${file}`],
  ['interrupted', `verify URL --fixture ${file}`],
];

/** Removes what differs between runs: ports, paths of files, inputs, and numbers. */
const stable = (text: string) =>
  text
    .replaceAll(folder, 'DIR')
    .replaceAll(/127\.0\.0\.1:(?!9\b)\d+/g, 'HOST')
    .replaceAll(/--replay '.*'$/gm, "--replay '…'")
    .replaceAll(/\b\d[\d,.]*(?= of | required| recommended| verified| requests?\b|[smh]\b)/g, '#')
    .replaceAll(/# request\b/g, '# requests')
    .replaceAll(/--max-requests \d+/g, '--max-requests #')
    .replaceAll(/--max-duration #[smh]/g, '--max-duration #m');

test('every ending says what to do next', async (t) => {
  const shown: string[] = [];
  for (const [what, words, fault] of endings) {
    const behaviour = fault === undefined ? reference : faults[fault]!.change(reference);
    const fixture = await loadFixture(words.includes(limited) ? limited : file, {});
    const stop = new AbortController();
    await using mock = await startMock({
      fixture,
      behaviour,
      onExchange: () => (what === 'interrupted' ? stop.abort() : undefined),
    });
    const [, target = ''] = words.split(' ');
    const status = statusOf[target];
    const url = status === undefined ? target : await serverFor(t, answerAlways(status));
    const line = words.replace(target, url).replace('URL', mock.url);
    const { code, output, error } = await runCli(`${line} --seed 1`, {
      signal: stop.signal,
      terminal: { color: false, width: 200 },
    });
    const [verdict = '', ...rest] = output.slice(output.lastIndexOf('\n\n') + 2).split('\n');
    const last = [verdict, ...rest.filter((one) => one.startsWith('next: '))];
    const text = error === '' ? last.join('\n') : error;
    shown.push(`${what}: exit ${code}\n${text.replaceAll(/^/gm, '  ')}\n`);
  }
  matchesSnapshot(new URL('endings.golden.txt', import.meta.url), stable(shown.join('')));
});
