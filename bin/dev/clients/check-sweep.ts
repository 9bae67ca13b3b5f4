/** Runs `sweep` with tests of a client that has a planted bug, and of a correct one in several styles (`npm test sweep`). */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import type { Sweep } from '../../../schemas/generated/types.ts';
import { waitForExit } from '../../testing/child-process.ts';
import { root } from '../paths.ts';

const client = ['node', '--test', join(import.meta.dirname, 'planted-client.mjs')];
const probes =
  'limited-until-date limited-thrice 503-thrice refused-once invalid-once pending-longer redirected';

/** Returns the broken rules and failed states, and the exit code. */
async function sweep(only: string, variables: NodeJS.ProcessEnv, flags: readonly string[] = []) {
  const states = only.split(' ').flatMap((id) => ['--only', id]);
  const program = join(root, 'bin/ib-conformance.mjs');
  const argv = [program, 'sweep', '--report', 'json', ...flags, ...states, '--', ...client];
  const { BUG: _, STYLE: __, NODE_TEST_CONTEXT: ___, ...env } = process.env;
  const child = spawn(process.execPath, argv, { env: { ...env, ...variables } });
  const { code, stdout, stderr } = await waitForExit(child);
  assert.ok(stdout.startsWith('{'), stderr);
  const { rules, states: swept } = JSON.parse(stdout) as Sweep;
  const broken = rules.flatMap(({ rule, outcome }) => (outcome === 'broken' ? rule : []));
  const failed = swept.flatMap(({ id, outcome }) => (outcome === 'failed' ? id : []));
  return { code, found: [...broken, ...failed] };
}

/** Bugs: what sweep must name, the states to run, and whether it must exit with 1. */
type Row = readonly [bug: string, named: string, states: string, fails?: 'fails'];
const bugs: readonly Row[] = [
  ['no-wait', 'wait', 'limited-thrice', 'fails'],
  ['no-wait-429', 'wait', 'limited-thrice', 'fails'],
  ['date-unread', 'wait', 'limited-until-date', 'fails'],
  ['retry-after-as-ms', 'limited', 'limited', 'fails'],
  ['ignores-retry-after', 'back-off', 'limited'],
  ['even', 'back-off', 'limited-thrice'],
  ['shorter', 'back-off', 'limited-thrice'],
  ['even-5xx', 'back-off', '503-thrice'],
  ['immediate-5xx', 'back-off', '503-thrice'],
  ['many-503', 'back-off', '503-thrice'],
  ['no-retry-429', 'limited', 'limited', 'fails'],
  ['no-retry-deposit-check', '503', '503'],
  ['poll-no-pause', 'poll-pace', 'pending-longer'],
  ['polls-on', 'polling', 'more-polls', 'fails'],
  ['few-polls', 'more-polls', 'more-polls', 'fails'],
  ['any-404', 'other-not-found', 'other-not-found'],
  ['polls-for-ever', 'wrong-path', 'wrong-path', 'fails'],
  ['key-in-url', 'key-out-of-url', '503-thrice', 'fails'],
  ['key-in-field', 'key-out-of-url', '503-thrice', 'fails'],
  ['debug-log', 'key-out-of-output', '503-thrice', 'fails'],
  ['log-on-error', 'key-out-of-output', '503-thrice', 'fails'],
  ['log-base64', 'key-out-of-output', '503-thrice', 'fails'],
  ['error-with-key', 'key-out-of-output', 'refused-once', 'fails'],
  ['header-lost', '503', '503'],
  ['redirect-with-key', 'key-for-origin', 'redirected', 'fails'],
  ['retries-401', 'refused-request', 'refused-once', 'fails'],
  ['retries-401-once', 'refused-request', 'refused-once', 'fails'],
  ['retries-400', 'refused-request', 'invalid-once', 'fails'],
  ['retries-all', 'refused-request', 'refused-once', 'fails'],
  ['html-crash', '502-html', '502-html'],
  ['html-crash', '200-html', '200-html'],
  ['no-timeout', 'timeout', 'timeout'],
  ['no-retry-lost', 'reset', 'reset'],
  ['no-retry-5xx', '503', '503'],
];

describe('bugs', () => {
  for (const [bug, named, states, fails] of bugs)
    test(`${bug}: ${named}`, async () => {
      const { code, found } = await sweep(states, { BUG: bug, STYLE: 'plain' }, ['--max-duration', '12s']);
      assert.ok(found.includes(named), found.join(' '));
      assert.equal(code === 1, fails === 'fails');
    });
});

describe('correct clients are never accused', () => {
  for (const style of ['plain', 'shared', 'parallel', 'worlds', 'jitter', 'full-jitter', 'cache', 'never'])
    test(style, async () => {
      const flags = style === 'never' ? ['--allow', 'limited'] : ['--strict'];
      const { code, found } = await sweep(
        `${probes} limited other-not-found wrong-path`,
        { STYLE: style },
        flags,
      );
      assert.deepEqual([found, code], [[], 0]);
    });
});
