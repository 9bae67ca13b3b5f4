import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Answer } from '../answer.ts';
import { endpoints } from '../../schemas/endpoints.ts';
import { foreignIb } from '../requirements/foreign-ib.ts';
import { compareAnswers } from './indistinguishable.ts';
import { pending } from '../requirements/pending.ts';
import type { Request } from '../request.ts';
import type { Scenario } from '../rules/requirement.ts';
import { answerOf, runScenario, sampleKnown as known } from '../testing/samples.ts';
import type { Verdict } from '../rules/verdict.ts';

const short = (verdict: Verdict) => (verdict.kind === 'failed' ? verdict.aspect : verdict.kind);
const notFound = { error: endpoints['deposit-check'].messages[404] };
const plain = answerOf(404, notFound);
const headed = (headers: Readonly<Record<string, string>>) => answerOf(404, notFound, headers);
/** One answer for each value of a header. */
const headedEach = (name: string, values: string) =>
  values.split(' ').map((value) => headed({ [name]: value }));

/** By header: its values for hidden and for unknown ids, and the difference found. */
const headers = [
  ['random request ids', 'x-request-id', '5f1 c02 9aa', '77b 013 e4d', 'passed'],
  ['a ticking Date', 'date', '1 1 2', '1 2 2', 'passed'],
  ['a Date that ticks once', 'date', '1 1 1', '1 1 2', 'passed'],
  ['a counter', 'x-remaining', '9 7 5', '8 6 4', 'passed'],
  ['the id repeated', 'x-id', 'one one one', 'a b c', 'passed'],
  ['machines behind a load balancer', 'x-served-by', 'a b a', 'b b b', 'passed'],
  ['another length', 'content-length', '30 30', '29 29', 'header content-length'],
] as const;
const twice = (answer: Answer) => [answer, answer];
const plains = twice(plain);
const answersOf = (status: number, ...bodies: readonly (string | object)[]) =>
  bodies.map((body) => answerOf(status, body));
const missed = headed({ 'x-miss': '1' });

/** Answers to hidden and to unknown ids, and the difference found. Faults of the mock have simpler ones. */
const comparisons: readonly (readonly [string, readonly Answer[], readonly Answer[], string])[] = [
  ...headers.map(
    ([what, name, hidden, unknown, expected]) =>
      [what, headedEach(name, hidden), headedEach(name, unknown), expected] as const,
  ),
  ['equal answers', plains, plains, 'passed'],
  [
    'times that tell',
    twice(headed({ date: '1', age: '0', expires: '9' })),
    twice(headed({ date: '2', age: '5', expires: '4' })),
    'passed',
  ],
  ['bodies that repeat the id', answersOf(404, 'no one', 'no one'), answersOf(404, 'no a', 'no b'), 'passed'],
  ['a header on some of both sides', [missed, plain], [plain, missed], 'passed'],
  ['a header in another order', [headed({ a: '1', b: '2' })], [headed({ b: '2', a: '1' })], 'passed'],
  ['another status', answersOf(403, notFound, notFound), plains, 'status'],
  ['various other statuses', [answerOf(403, notFound), answerOf(410, notFound)], plains, 'status'],
  ['another body', answersOf(404, { error: 'x' }), [plain], 'body'],
  ['various other bodies', answersOf(404, 'no 1', 'no 2'), plains, 'body'],
  ['a header more that varies', headedEach('etag', 'one two'), plains, 'presence of the header etag'],
];

describe('a difference between hidden and unknown ids', () => {
  for (const [what, hidden, unknown, expected] of comparisons)
    test(`${what}: ${expected}`, () => assert.equal(short(compareAnswers(hidden, unknown)), expected));

  test('it is reported with expected and actual', () => {
    assert.deepEqual(compareAnswers([answerOf(404, 'gone')], [plain]), {
      kind: 'failed',
      aspect: 'body',
      expected: `as for an unknown id: body ${plain.text}`,
      actual: '404 gone',
    });
    assert.deepEqual(compareAnswers([headed({ 'x-owner': 'them' })], [plain]), {
      kind: 'failed',
      aspect: 'presence of the header x-owner',
      expected: 'as for an unknown id: presence of the header x-owner absent',
      actual: 'presence of the header x-owner present',
    });
  });
});

/**
 * The result of a requirement for a target.
 *
 * @param othersBefore number of requests of others before the nth pair
 */
async function outcomeOn(
  id: string,
  target: (request: Request, nth: number) => Answer,
  othersBefore = (_pair: number) => 0,
): Promise<string> {
  const requirement = [...pending, ...foreignIb].find((candidate) => candidate.id === id) as Scenario;
  let [nth, pairs] = [0, 0];
  const send = (...requests: readonly Request[]) =>
    Promise.resolve(requests.map((request) => target(request, nth++)));
  const sendAtOnce = (...requests: readonly Request[]) => {
    nth += othersBefore(pairs++);
    return send(...requests);
  };
  const finding = await runScenario(requirement, { send, sendAtOnce, wait: () => Promise.resolve() });
  return finding.kind === 'observed' ? finding.kind : short(finding);
}

for (const id of [
  'pending/deposit-check/indistinguishable',
  'foreign-ib/deposit-check/indistinguishable',
  'foreign-ib/user-status/indistinguishable',
])
  test(`${id} holds for equal answers, and if machines, ids, numbers and times differ`, async () => {
    assert.equal(await outcomeOn(id, () => plain), 'passed');
    for (const count of [2, 3, 4])
      // Before each of the first eight pairs, one request of others or none.
      for (let others = 0; others < 2 ** 8; others++) {
        const balanced = (_: Request, nth: number) => headed({ 'x-served-by': String(nth % count) });
        const outcome = await outcomeOn(id, balanced, (pair) => (others >> pair) & 1);
        assert.equal(outcome, 'passed', `${count} machines, ${others.toString(2)}`);
      }
    const hits = new Map<string, number>();
    const cached = ({ target }: Request) => {
      const before = hits.get(target) ?? (hits.size > 4 ? 9 : 0);
      hits.set(target, before + 1);
      return headed({ 'x-hits': before > 2 ? 'many' : 'few' });
    };
    assert.equal(await outcomeOn(id, cached), 'passed');
    // A sender that may choose the key takes another one in the end. A limiter separates the first pair.
    const times = new Map<string, number>();
    const countedByKey = ({ target, credential }: Request, nth: number) => {
      const name = `${credential.as === 'key' ? credential.key.key : nth < 16} ${target}`;
      times.set(name, (times.get(name) ?? 0) + 1);
      return { ...headed({ 'x-hits': `${times.get(name)}` }), sentAt: nth === 5 ? 0 : 5000 };
    };
    assert.equal(await outcomeOn(id, countedByKey), 'passed');
    const counted = ({ target }: Request, nth: number) =>
      headed({ 'x-for': target, 'x-count': String(nth), date: String(Math.floor(nth / 3)) });
    assert.equal(await outcomeOn(id, counted), 'passed');
  });

const hiddenIds = known.foreigners.map(({ user_id }) => user_id);
const isForeign = ({ target }: Request) => hiddenIds.some((id) => target.endsWith(id));
for (const [what, expected, fieldOf, step] of [
  ['a difference that recurs', 'header x-a', () => 'x-a', 1],
  ['a difference that does not', 'passed', (nth) => (nth % 26 < 13 ? 'x-a' : 'x-b'), 1],
  ['a difference seconds apart', 'inconclusive', () => 'x-a', 1000],
  ['a difference half a second apart', 'header x-a', () => 'x-a', 500],
] as const satisfies readonly (readonly [string, string, (nth: number) => string, number])[])
  test(`${what} is ${expected}`, async () => {
    const outcome = await outcomeOn('foreign-ib/user-status/indistinguishable', (request, nth) => ({
      ...headed({ 'x-a': '', 'x-b': '', [fieldOf(nth)]: String(isForeign(request)) }),
      sentAt: nth * step,
    }));
    assert.equal(outcome, expected);
  });
