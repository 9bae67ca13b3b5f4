import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { answerRequest } from './answer-request.ts';
import { drawChaos, chaosName, parseChaos, parseQueuedChaos } from './chaos.ts';
import type { ChaosAction, ChaosPlan } from './chaos.ts';
import { worldControls } from './controls.ts';
import { shownFaults } from './controls/faults.ts';
import type { JournalEntry } from './journal.ts';
import { resetAll, resetWorld, getSandbox } from './session.ts';
import { ids, testSession, userPath } from './testing/session.ts';

const DRAWS = 20_000;
const numbers = Array.from({ length: DRAWS }, (_, index) => index + 1);
const drawAll = (plan: ChaosPlan, seed: number, key = 'northwind') =>
  numbers.map((number) => drawChaos(plan, seed, key, number));
const shareOf = (actions: readonly (ChaosAction | undefined)[], kind: ChaosAction['kind']) =>
  actions.filter((action) => action?.kind === kind).length / actions.length;

/** Allows five standard deviations. The seeds are fixed, so the result never changes. */
function near(actual: number, rate: number): void {
  const bound = 5 * Math.sqrt((rate * (1 - rate)) / DRAWS);
  assert.ok(Math.abs(actual - rate) <= bound, `${actual} for ${rate}`);
}

describe('rates', () => {
  test('one kind hits at its rate', () => {
    for (const seed of [1, 2 ** 40])
      for (const rate of [0.02, 0.5, 0.97])
        near(shareOf(drawAll(parseChaos([`reset:${rate}`]), seed), 'reset'), rate);
    assert.equal(shareOf(drawAll(parseChaos(['reset:0']), 7), 'reset'), 0);
    for (const spec of ['reset', 'reset:1.0'])
      assert.equal(shareOf(drawAll(parseChaos([spec]), 7), 'reset'), 1);
  });
  test('each of several kinds hits at its rate among the requests that earlier kinds do not hit', () => {
    const specs = ['slow:1s:0.5', 'truncate:0.3', '503:0.2', 'timeout:0.1', 'reset:0.2'];
    const actions = drawAll(parseChaos(specs), 7);
    near(shareOf(actions, 'reset'), 0.2);
    near(shareOf(actions, 'timeout'), 0.8 * 0.1);
    near(shareOf(actions, 'status'), 0.8 * 0.9 * 0.2);
    near(shareOf(actions, 'truncate'), 0.8 * 0.9 * 0.8 * 0.3);
    near(shareOf(actions, 'slow'), 0.8 * 0.9 * 0.8 * 0.7 * 0.5);
  });
  test('delays are whole ms between their limits, at any rate', () => {
    const delays = (spec: string) =>
      drawAll(parseChaos([spec]), 7).flatMap((action) => (action?.kind === 'slow' ? [action.delayMs] : []));
    const all = delays('slow:200ms..2s');
    assert.ok(all.every((delay) => Number.isInteger(delay) && delay >= 200 && delay <= 2000));
    assert.ok(Math.min(...all) < 210 && Math.max(...all) > 1990);
    near(all.filter((delay) => delay < 1100).length / DRAWS, 0.5);
    assert.ok(Math.max(...delays('slow:0ms..1000ms:0.1')) > 950);
  });
});

const plan = parseChaos(['500:0.2', '429:0.2', 'reset:0.1', 'slow:10ms..9s:0.3']);

describe('replay', () => {
  test('the same seed gives the same chaos in every version', () => {
    const names = numbers.slice(0, 12).map((number) => {
      const action = drawChaos(plan, 7, 'northwind', number);
      return action === undefined ? '-' : chaosName(action);
    });
    assert.equal(names.join(' '), '500 - slow:5284ms 500 - - 500 - 429 reset - -');
  });
  test('other rules do not change the draws of a rule, and a higher rate keeps the hits of a lower one', () => {
    const alone = drawAll(parseChaos(['reset:0.1']), 7);
    const combined = drawAll(parseChaos(['500:0.5', 'reset:0.1', 'slow:1s']), 7);
    const more = drawAll(parseChaos(['reset:0.3']), 7);
    alone.forEach((action, index) => {
      assert.equal(combined[index]?.kind === 'reset', action !== undefined);
      if (action !== undefined) assert.deepEqual(more[index], action);
    });
  });
});

const kinds = '(kinds: 200, 400, 401, 404, 429, 500 to 599, reset, timeout, slow, truncate)';
const usage = (message: string) => ({ name: 'Problem', code: 'usage', message });

describe('a spec', () => {
  for (const [spec, rate, action, spreadMs = 0] of [
    ['500:0.1', 0.1, { kind: 'status', status: 500 }],
    ['reset:.02', 0.02, { kind: 'reset' }],
    ['timeout', 1, { kind: 'timeout' }],
    ['slow:200ms..2s', 1, { kind: 'slow', delayMs: 200 }, 1800],
    ['slow:1.5s', 1, { kind: 'slow', delayMs: 1500 }, 0],
    ['slow:0ms..10m', 1, { kind: 'slow', delayMs: 0 }, 600_000],
  ] as const)
    test(spec, () =>
      assert.deepEqual(parseChaos([spec]), [{ name: spec.split(':')[0], rate, action, spreadMs }]),
    );

  const rate = 'the rate must be a number from 0 to 1, such as 0.1 for one request in ten';
  const time = 'needs one or two times of at most 10m, such as slow:200ms or slow:200ms..2s';
  for (const [specs, message] of Object.entries({
    'rest:0.1': `chaos rest:0.1: there is no such kind; did you mean reset? ${kinds}`,
    '403:0.1': `chaos 403:0.1: there is no such kind ${kinds}`,
    '500:2': `chaos 500:2: ${rate}`,
    '500:10%': `chaos 500:10%: ${rate}`,
    '500:0.1:0.2': `chaos 500:0.1:0.2: ${rate}`,
    slow: `chaos slow: ${time}`,
    'slow:200': `chaos slow:200: ${time}`,
    'slow:11m': `chaos slow:11m: ${time}`,
    'slow:2s..1s': 'chaos slow:2s..1s: the shorter time comes first, as in slow:200ms..2s',
    'reset:0.1 reset:0.2': 'chaos reset: is given twice; give each kind once',
  }))
    test(`${specs} is refused`, () => assert.throws(() => parseChaos(specs.split(' ')), usage(message)));
});

test('wrong chaos for the next requests is refused', () => {
  for (const [kind, count, message] of [
    ['503:0.5', 1, 'chaos 503:0.5: the next requests have no rate; remove it'],
    ['slow:1s..2s', 1, 'chaos slow:1s..2s: the next requests need a single time, such as slow:2s'],
    ['503', 0, 'chaos 503: count must be a whole number from 1 to 1000000: 0'],
  ] as const)
    assert.throws(() => parseQueuedChaos(kind, count), usage(message));
});

const NAME = '<key northwind/active>';

describe('a status by chaos', () => {
  test('skips the lookup and does not count', () => {
    const { faults, user, deposit, entries } = testSession();
    faults.next('500', 300);
    for (let count = 0; count < 150; count++)
      assert.deepEqual([deposit(ids.afterPolls).status, user(ids.nobody).status], [500, 500]);
    const polls = [1, 2, 3, 4].map(() => deposit(ids.afterPolls).status);
    assert.deepEqual([...polls, user(ids.nobody).status], [404, 404, 404, 200, 200]);
    assert.equal(entries()[0]?.reason, '500: by chaos');
  });
  test('comes before the limiter', () => {
    const { faults, user } = testSession();
    for (let count = 0; count < 61; count++) user(ids.nobody);
    faults.next('502');
    assert.deepEqual([user(ids.member).status, user(ids.member).status], [502, 429]);
  });
});

test('chaos hits only requests with an accepted key', () => {
  const { session, faults, get, user } = testSession({ chaos: ['503'] });
  faults.next('500');
  for (const key of [null, 'nope', 'northwind-revoked-key', 'jane-personal-key'])
    assert.equal(user(ids.member, key).status, 401);
  assert.equal(get('/').status, 404);
  const headers = { authorization: 'Bearer northwind-key' };
  const post = { method: 'POST', target: userPath('x'), headers };
  assert.equal(answerRequest(session, post).response.status, 405);
  assert.deepEqual([user(ids.member).status, user(ids.member).status], [500, 503]);
});

test('a transport fault does not change the response, counts the poll and is in the journal', () => {
  const { faults, deposit, user, entries } = testSession();
  const plain = user(ids.member);
  for (const [kind, expected] of [
    ['reset', { transportFault: 'reset' }],
    ['timeout', { transportFault: 'timeout' }],
    ['truncate', { transportFault: 'truncate' }],
    ['slow:2s', { delayMs: 2000 }],
  ] as const) {
    faults.next(kind);
    assert.deepEqual(user(ids.member), { ...plain, ...expected });
  }
  faults.next('reset', 3);
  const polls = [1, 2, 3, 4].map(() => deposit(ids.afterPolls).status);
  assert.deepEqual(polls, [404, 404, 404, 200]);
  const [, reset, , , slow, lost] = entries();
  assert.deepEqual([reset?.chaos, reset?.status], ['reset', 200]);
  assert.equal(reset?.reason, '200: member of the IB (chaos: reset)');
  assert.equal(slow?.chaos, 'slow:2000ms');
  assert.equal(lost?.reason, '404: deposit pending (chaos: reset)');
});

describe('the draws of a session', () => {
  const specs = ['500:0.3', '429:0.2', 'reset:0.2'];
  const shownSpecs = ['reset:0.2', '500:0.3', '429:0.2'];
  const drawn = (name: string, seed: number, count = 40) =>
    Array.from({ length: count }, (_, index) => {
      const action = drawChaos(parseChaos(specs), seed, name, index + 1);
      return action && chaosName(action);
    });
  const start = () => testSession({ chaos: specs, chaosSeed: 7 });
  const chaosOf = (entries: readonly JournalEntry[]) => entries.map(({ chaos }) => chaos);
  const ask = ({ user }: ReturnType<typeof testSession>, key?: string, count = 40) => {
    for (let nth = 0; nth < count; nth++) user(ids.member, key);
  };

  test('depend only on the name of the key and its requests', () => {
    const mock = start();
    for (let nth = 0; nth < 40; nth++) {
      ask(mock, 'contoso-key', 1 + (nth % 3));
      ask(mock, 'northwind-key', 1);
    }
    const own = mock.entries().filter(({ key }) => key === NAME);
    assert.deepEqual(chaosOf(own), drawn(NAME, 7));
  });
  test('restart with a reset, separately in each world', () => {
    const mock = start();
    const { session } = mock;
    for (const [world, suffix] of Object.entries({ '': '', a: '~a' })) {
      const { faults } = worldControls(session, world);
      ask(mock, `northwind-key${suffix}`, 3);
      faults.next('timeout', 5);
      faults.set({ chaos: ['502'], seed: 8 });
      if (world === '') resetAll(session);
      else resetWorld(session, world);
      const shown = shownFaults(getSandbox(session, world));
      assert.deepEqual(shown, { fault: null, chaos: shownSpecs, seed: 7, next: [] });
      ask(mock, `northwind-key${suffix}`);
      assert.deepEqual(chaosOf(mock.entries(world)), drawn(NAME + suffix, 7));
    }
  });
  test('restart when chaos is set; the queue comes first and does not change them', () => {
    const mock = testSession();
    const { faults, entries } = mock;
    ask(mock, 'northwind-key', 5);
    faults.next('truncate', 2);
    const next = [{ kind: 'truncate', count: 2 }];
    assert.deepEqual(faults.set({ chaos: specs, seed: 9 }), {
      fault: null,
      chaos: shownSpecs,
      seed: 9,
      next,
    });
    ask(mock, 'northwind-key', 10);
    assert.deepEqual(chaosOf(entries()).slice(5), ['truncate', 'truncate', ...drawn(NAME, 9, 8)]);
    faults.set({ chaos: [] });
    ask(mock, 'northwind-key', 3);
    assert.deepEqual(chaosOf(entries()).slice(15), [undefined, undefined, undefined]);
  });
});
