/**
 * Runs `sweep` with the tests of clients that have a planted bug, and of correct ones in several styles
 * (`npm run test:clients`).
 */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Sweep } from '../../../schemas/generated/types.ts';
import { waitForExit } from '../../testing/child-process.ts';
import { root } from '../paths.ts';
import { skipWithout } from '../skip-without.ts';

const folder = join(import.meta.dirname, 'planted');
const clients = {
  javascript: { tool: 'node', command: ['node', '--test', 'client.mjs'] },
  python: { tool: 'python3', command: ['python3', '-m', 'unittest', 'client'] },
} as const;
const probes =
  'limited-twice limited-until-date limited-thrice 503-thrice refused-once invalid-once pending-longer redirected';

/** Returns the broken rules and failed states, and the exit code. */
async function sweep(
  client: keyof typeof clients,
  only: string,
  variables: Readonly<Record<string, string>>,
  flags: readonly string[] = [],
) {
  const states = only.split(' ').flatMap((id) => ['--only', id]);
  const program = join(root, 'bin/ib-conformance.mjs');
  const argv = [program, 'sweep', '--report', 'json', ...flags, ...states, '--', ...clients[client].command];
  const { BUG: _, STYLE: __, NODE_TEST_CONTEXT: ___, ...env } = process.env;
  const child = spawn(process.execPath, argv, { cwd: folder, env: { ...env, ...variables } });
  const { code, stdout, stderr } = await waitForExit(child);
  assert.ok(stdout.startsWith('{'), stderr);
  const { rules, states: swept } = JSON.parse(stdout) as Sweep;
  const broken = rules.flatMap(({ rule, outcome }) => (outcome === 'broken' ? rule : []));
  const failed = swept.flatMap(({ id, outcome }) => (outcome === 'failed' ? id : []));
  return { code, found: [...broken, ...failed] };
}

/** Bugs by client: what sweep must name, the states to run, and whether it must exit with 1. */
type Row = readonly [bug: string, named: string, states: string, fails?: 'fails'];
const limits = 'limited-twice limited-thrice';
const bugs: Readonly<Record<keyof typeof clients, readonly Row[]>> = {
  javascript: [
    ['no-wait', 'wait', limits, 'fails'],
    ['no-wait-429', 'wait', limits, 'fails'],
    ['date-unread', 'wait', 'limited-until-date', 'fails'],
    ['retry-after-as-ms', 'wait', 'limited-twice', 'fails'],
    ['ignores-retry-after', 'retry-after', 'limited-twice'],
    ['even', 'back-off', 'limited-thrice'],
    ['even-5xx', 'server-errors', '503-thrice'],
    ['immediate-5xx', 'server-errors', '503-thrice'],
    ['many-503', 'server-errors', '503-thrice'],
    ['no-retry-429', 'retry', 'limited-twice'],
    ['poll-no-pause', 'poll-pace', 'pending-longer'],
    ['polls-on', 'polling', 'pending-longer'],
    ['few-polls', 'more-polls', 'more-polls', 'fails'],
    ['key-in-url', 'key-out-of-url', '503-thrice', 'fails'],
    ['debug-log', 'key-out-of-output', '503-thrice', 'fails'],
    ['log-on-error', 'key-out-of-output', '503-thrice', 'fails'],
    ['error-with-key', 'key-out-of-output', 'refused-once', 'fails'],
    ['header-lost', 'authorization', '503-thrice', 'fails'],
    ['post-after-error', 'get-only', '503-thrice'],
    ['redirect-with-key', 'key-for-origin', 'redirected', 'fails'],
    ['retries-401', 'refused-key', 'refused-once'],
    ['retries-401-once', 'refused-key', 'refused-once'],
    ['retries-400', 'refused-request', 'invalid-once'],
    ['retries-all', 'refused-key', 'refused-once'],
    ['unencoded', 'encoding', '503-thrice'],
    ['html-crash', '502-html', '502-html'],
    ['no-retry-lost', 'reset', 'reset'],
    ['no-retry-5xx', '503', '503'],
  ],
  python: [
    ['no-wait', 'wait', limits, 'fails'],
    ['own-pace', 'retry-after', 'limited-twice'],
    ['fixed', 'back-off', 'limited-thrice'],
    ['immediate-5xx', 'server-errors', '503-thrice'],
    ['no-retry', 'retry', 'limited-twice'],
    ['poll-fast', 'poll-pace', 'pending-longer'],
    ['poll-on', 'polling', 'pending-longer'],
    ['key-in-url', 'key-out-of-url', '503-thrice', 'fails'],
    ['print-headers', 'key-out-of-output', '503-thrice', 'fails'],
    ['redirect', 'key-for-origin', 'redirected', 'fails'],
    ['retry-everything', 'refused-request', 'invalid-once'],
    ['retry-401', 'refused-key', 'refused-once'],
    ['retry-400', 'refused-request', 'invalid-once'],
    ['unencoded', 'encoding', '503-thrice'],
    ['no-retry-lost', 'reset', 'reset'],
  ],
};

for (const [client, rows] of Object.entries(bugs) as [keyof typeof clients, readonly Row[]][])
  describe(`bugs in ${client}`, () => {
    for (const [bug, named, states, fails] of rows)
      test(`${bug}: ${named}`, async (t) => {
        const { tool } = clients[client];
        if (spawnSync(tool, ['--version']).status !== 0) return skipWithout(t, tool);
        const { code, found } = await sweep(client, states, { BUG: bug, STYLE: 'plain' });
        assert.ok(found.includes(named), found.join(' '));
        assert.equal(code === 1, fails === 'fails');
      });
  });

const correct: readonly (readonly [
  style: string,
  client: keyof typeof clients,
  flags?: readonly string[],
])[] = [
  ['plain', 'javascript'],
  ['shared', 'javascript'],
  ['parallel', 'javascript'],
  ['jitter', 'javascript'],
  ['cache', 'javascript'],
  ['never', 'javascript', ['--allow', 'retry']],
  ['plain', 'python'],
  ['never', 'python', ['--allow', 'retry']],
];

describe('correct clients are never accused', () => {
  for (const [style, client, flags] of correct)
    test(`${client}, ${style}`, async (t) => {
      const { tool } = clients[client];
      if (spawnSync(tool, ['--version']).status !== 0) return skipWithout(t, tool);
      const { code, found } = await sweep(
        client,
        `${probes} limited amount-in-cents`,
        { STYLE: style },
        flags,
      );
      assert.deepEqual([found, code], [[], 0]);
    });
});
