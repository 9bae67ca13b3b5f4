/** Runs `sweep` with tests of a client that has a planted bug, and of a correct one in several styles (`npm test sweep`). */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { describe, test, type TestContext } from 'node:test';
import type { Sweep } from '../../../schemas/generated/types.ts';
import { serverFor } from '../../../suites/testing/against.ts';
import { runCli } from '../testing/run-cli.ts';

const client = ['node', join(import.meta.dirname, 'planted-client.mjs')];
const probes =
  'limited-until-date limited-thrice limited-for-an-hour 503-thrice refused-once invalid-once pending-longer redirected';

/** Returns the broken rules and failed states, and the exit code. Only the client's waits move the clock. */
async function sweep(
  t: TestContext,
  only: string,
  variables: NodeJS.ProcessEnv,
  flags: readonly string[] = [],
) {
  let time = Date.UTC(2026, 0, 15, 12, 0, 0, 300);
  const server = createServer(({ url = '' }, response) => {
    time += Number(url.slice(1));
    response.end(`${time}`);
  });
  const states = only.split(' ').flatMap((id) => ['--only', id]);
  const argv = ['sweep', '--parallel', '1', '--report', 'json', ...flags, ...states, '--', ...client];
  const own = { ...variables, CLOCK_URL: await serverFor(t, server), NODE_TEST_CONTEXT: undefined };
  const env = { ...process.env, BUG: '', ...own };
  const { code, output, stderr } = await runCli(argv, { env, clock: { now: () => time } });
  assert.ok(output.startsWith('{'), stderr);
  const { rules, states: swept } = JSON.parse(output) as Sweep;
  const broken = rules.flatMap(({ rule, outcome }) => (outcome === 'broken' ? rule : []));
  const failed = swept.flatMap(({ id, outcome }) => (outcome === 'failed' ? id : []));
  return { code, found: [...broken, ...failed] };
}

const concurrency = availableParallelism();

/** Bugs: what sweep must name, the states to run, and whether it must exit with 1. */
type Row = readonly [bug: string, named: string, states: string, fails?: 'fails'];
const bugs: readonly Row[] = [
  ['no-wait', 'wait', 'limited-thrice', 'fails'],
  ['no-wait-429', 'wait', 'limited-thrice', 'fails'],
  ['date-unread', 'repeat', 'limited-until-date', 'fails'],
  ['retry-after-as-ms', 'limited', 'limited', 'fails'],
  ['ignores-retry-after', 'back-off', 'limited'],
  ['even', 'back-off', 'limited-thrice'],
  ['shorter', 'back-off', 'limited-thrice'],
  ['even-5xx', 'back-off', '503-thrice'],
  ['immediate-5xx', 'back-off', '503-thrice'],
  ['many-503', 'back-off', '503-thrice'],
  ['no-retry-429', 'repeat', 'limited', 'fails'],
  ['no-retry-deposit-check', '503', '503'],
  ['poll-no-pause', 'poll-pace', 'pending-longer limited'],
  ['polls-on', 'polling', 'more-polls', 'fails'],
  ['few-polls', 'more-polls', 'more-polls'],
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

/** Bugs that only a test with a world of its own shows: there, its polls get 429, too. */
const inWorlds = new Set(['poll-no-pause']);
/** Bugs that never end a run. */
const endless = new Set(['polls-for-ever', 'no-timeout']);

describe('bugs', { concurrency }, () => {
  for (const [bug, named, states, fails] of bugs)
    test(`${bug}: ${named}`, async (t) => {
      const flags = endless.has(bug) ? ['--max-duration', '12s'] : [];
      const { code, found } = await sweep(
        t,
        states,
        { BUG: bug, STYLE: inWorlds.has(bug) ? 'worlds' : 'plain' },
        flags,
      );
      assert.ok(found.includes(named), found.join(' '));
      assert.equal(code === 1, fails === 'fails');
    });
});

describe('correct clients are never accused', { concurrency }, () => {
  for (const style of ['plain', 'shared', 'parallel', 'worlds', 'jitter', 'full-jitter', 'cache', 'never'])
    test(style, async (t) => {
      const flags = style === 'never' ? ['--allow', 'repeat'] : [];
      const { code, found } = await sweep(
        t,
        `${probes} limited other-not-found wrong-path`,
        { STYLE: style },
        flags,
      );
      assert.deepEqual([found, code], [[], 0]);
    });
});
