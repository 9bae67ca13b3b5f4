import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import type { Answer } from '../answer.ts';
import { catalogue } from '../catalogue.ts';
import { plainLevels, type Levels } from '../model/factors.ts';
import { neighbours } from '../inputs/uuids.ts';
import { knownFrom } from '../known.ts';
import { parameterOf } from '../model/lookup.ts';
import { expectedOf, type Outcome } from '../model/model.ts';
import type { Request } from '../request.ts';
import type { Rule } from '../requirement.ts';
import { answerOf } from '../testing/samples.ts';
import type { Fixture } from '../../schemas/generated/types.ts';
import { explain } from './explain.ts';
import { createJudge } from './judge.ts';
import { drawAt, pathOf } from '../model/path.ts';

const fixture = new URL('../../schemas/built-in.fixture.json', import.meta.url);
const known = knownFrom(JSON.parse(readFileSync(fixture, 'utf8')) as Fixture);
const rules = catalogue.filter((one): one is Rule => one.kind === 'rule');
const seed = 7;

/** The exact messages of the interface. */
function right(request: Request): Answer {
  const { correct, user, deposit } = expectedOf(known, request)!;
  const isUser = request.endpoint === 'user-status';
  const answers: Readonly<Record<Outcome, () => Answer>> = {
    member: () => answerOf(200, { is_under_ib: true, date_joined: user!.date_joined }),
    'not-member': () => answerOf(200, { is_under_ib: false, date_joined: null }),
    executed: () => {
      assert.ok(deposit?.state === 'EXECUTED');
      const { state, amountInUsd, executedAt } = deposit;
      return answerOf(200, { status: state, amountInUsd, executedAt });
    },
    'not-found': () => answerOf(404, { error: 'Deposit not found' }),
    invalid: () => answerOf(400, { error: `Invalid ${isUser ? 'user_id' : 'reference_id'} format` }),
    unauthorized: () => answerOf(401, { error: isUser ? 'Unauthorized' : 'UNAUTHORIZED' }),
  };
  return answers[correct[0]!.outcome]();
}

/** Explains the first failure of a target with some wrong answers, and counts the requests. */
async function explained(
  id: string,
  levels: Partial<Levels>,
  wrong: (request: Request, nth: number) => Answer | undefined,
  at: Parameters<typeof pathOf>[2] = { draw: 0 },
) {
  const endpoint = id.split('/')[1] as 'user-status' | 'deposit-check';
  const judge = createJudge(rules, known);
  const path = pathOf(endpoint, { ...plainLevels(endpoint), ...levels }, at);
  let sent = 0;
  const send = (request: Request, isAgain = true) => {
    const reply = wrong(request, sent++) ?? right(request);
    judge.add(request, reply, path, isAgain);
    return Promise.resolve({ request, reply });
  };
  await send(drawAt(path, known, seed), false);
  const [failure] = judge.failures(id);
  assert.ok(failure !== undefined);
  const found = await explain(id, failure, { known, seed, judge, send, isOver: () => false });
  return { ...found, sent };
}

const idIn = (request: Request) => {
  const parameter = parameterOf(request.endpoint, request.target);
  return parameter !== undefined && 'id' in parameter ? parameter.id : undefined;
};
const depositIn = (request: Request) => known.depositById.get(idIn(request) ?? '');
const isForeign = (request: Request) =>
  expectedOf(known, request)?.correct[0]?.id === 'foreign-ib/deposit-check/other-ib';
const executed = answerOf(200, { status: 'EXECUTED', amountInUsd: 1, executedAt: 1 });
const otherText = answerOf(404, { error: 'not found' });
const otherRefusal = answerOf(401, { error: 'Unauthorized' });
const isPlainBearer = ({ credential }: Request) =>
  credential.as === 'caller' || (credential.as === 'key' && (credential.scheme ?? 'Bearer') === 'Bearer');
const isUpper = ({ target }: Request) => /=[0-9A-F-]*[A-F][0-9A-F-]*(?:&|$)/.test(target);

describe('`where` lists exactly the conditions of a failure', () => {
  for (const [name, id, levels, wrong, where] of [
    [
      'an own pending deposit, in upper case, is shown',
      'pending/deposit-check/pending',
      { situation: 'own, pending', 'id spelling': 'upper case', query: 'extra parameter after' },
      (request) =>
        isUpper(request) && depositIn(request)?.state === 'pending' && !isForeign(request)
          ? executed
          : undefined,
      ['situation: own, pending', 'id spelling: upper case'],
    ],
    [
      'the date of one user is wrong, not in lower case',
      'valid/user-status/date-joined',
      { 'id spelling': 'upper case', query: 'extra parameter after' },
      (request) =>
        isUpper(request) && idIn(request)?.startsWith('aaaaaaaa') === true
          ? answerOf(200, { is_under_ib: true, date_joined: '2001-01-01T00:00:00Z' })
          : undefined,
      ['entity: some, not all', 'id spelling: upper case'],
    ],
    [
      'own EXECUTED deposits with a whole amount are not found, which is correct in percent-encoding',
      'valid/deposit-check/executed',
      { data: 'whole amount' },
      (request) => {
        const deposit = depositIn(request);
        const isHit = deposit?.state === 'EXECUTED' && Number.isInteger(deposit.amountInUsd);
        return isHit && expectedOf(known, request)!.isFound
          ? answerOf(404, { error: 'Deposit not found' })
          : undefined;
      },
      ['data: whole amount'],
    ],
    [
      'another text for an unknown id of version 6',
      'foreign-ib/deposit-check/unknown',
      { situation: 'unknown', 'id version': '6', load: 'alone' },
      (request) => (depositIn(request) === undefined && idIn(request)?.[14] === '6' ? otherText : undefined),
      ['id version: 6', 'situation: unknown'],
    ],
    [
      'a revoked key is accepted with bearer',
      'auth/user-status/revoked',
      { key: 'revoked', header: 'bearer', situation: 'unknown' },
      ({ credential }) =>
        credential.as === 'key' && credential.key.state === 'revoked' && credential.scheme === 'bearer'
          ? answerOf(200, { is_under_ib: false, date_joined: null })
          : undefined,
      ['key: revoked', 'header: bearer'],
    ],
    [
      'another text for each malformed header, which bearer is too',
      'auth/deposit-check/malformed',
      { header: 'bearer' },
      (request) => (isPlainBearer(request) ? undefined : otherRefusal),
      [],
    ],
    [
      'another text for each malformed header, and bearer is accepted',
      'auth/deposit-check/malformed',
      { header: 'no scheme' },
      (request) => (isPlainBearer(request) || expectedOf(known, request)!.isFound ? undefined : otherRefusal),
      [],
    ],
  ] as readonly (readonly [
    string,
    string,
    Partial<Levels>,
    (request: Request) => Answer | undefined,
    readonly string[],
  ])[])
    test(name, async () => {
      const found = await explained(id, levels, wrong);
      assert.deepEqual(found.where, where);
      assert.equal(found.intermittent, undefined);
    });
});

test('a fault of one example has no other conditions', async () => {
  const isAccepted = ({ credential }: Request) =>
    credential.as === 'header' && credential.value.startsWith('Bearer-');
  const member = answerOf(200, { is_under_ib: true, date_joined: '2024-02-29T23:59:59.999Z' });
  const found = await explained(
    'auth/user-status/malformed',
    { header: 'another scheme' },
    (request) => (isAccepted(request) ? member : undefined),
    { pick: 17 },
  );
  assert.deepEqual(found.where, ['header: another scheme']);
});

test('an id close to a known one is kept while other factors move', async () => {
  const close = neighbours('deposit-check', known, '4')[0]!;
  const levels = { situation: 'unknown', 'id spelling': 'upper case', query: 'extra parameter after' };
  const found = await explained(
    'foreign-ib/deposit-check/unknown',
    levels,
    (request) =>
      idIn(request)?.slice(0, -1) === close.slice(0, -1) && depositIn(request) === undefined
        ? executed
        : undefined,
    { pick: 0 },
  );
  assert.deepEqual(found.where, ['id version: 4', 'situation: unknown']);
  assert.equal(found.path, 'deposit-check;situation=unknown#0');
  assert.equal(found.evidence?.request?.target, drawAt(found.path, known, seed).target);
});

test('what is only advised against is no condition of a required row', async () => {
  const isRead = ({ target }: Request) =>
    /^[\da-f]{32}$/i.test(
      new URLSearchParams(target.split('?')[1]).get('user_id')?.replaceAll('-', '') ?? '',
    );
  const found = await explained(
    'invalid-uuid/user-status/malformed',
    { malformation: 'a hyphen moved' },
    (request) =>
      isRead(request) && expectedOf(known, request)!.correct[0]!.outcome === 'invalid'
        ? answerOf(200, { is_under_ib: false, date_joined: null })
        : undefined,
  );
  assert.deepEqual(found.where, ['malformation: a hyphen moved']);
});

test('a failure in another aspect is no right answer', async () => {
  const found = await explained('auth/user-status/malformed', { header: 'no scheme' }, (request) => {
    if (isPlainBearer(request)) return undefined;
    return isUpper(request) ? answerOf(401, { error: 'no' }) : answerOf(500, '');
  });
  assert.deepEqual(found.where, []);
});

test('an intermittent failure says how often it failed', async () => {
  const found = await explained('valid/user-status/member', {}, (_, nth) =>
    nth % 3 === 0 ? answerOf(200, { is_under_ib: false, date_joined: null }) : undefined,
  );
  assert.deepEqual(found.intermittent, { failed: 4, of: 11 });
  const once = await explained('valid/user-status/member', {}, (_, nth) =>
    nth === 0 ? answerOf(500, '') : undefined,
  );
  assert.deepEqual([once.intermittent, once.where], [{ failed: 1, of: 11 }, undefined]);
  assert.equal(once.sent, 11);
});

test('the counterexample has the fewest odd levels and the smallest value, and its path replays it', async () => {
  const found = await explained(
    'invalid-uuid/deposit-check/malformed',
    { malformation: 'a long value', query: 'extra parameter after' },
    ({ target }) =>
      /=0{100,}(?:&|$)/.test(target) || /=.{200,}/.test(target) ? answerOf(500, '') : undefined,
  );
  assert.match(found.path!, /^deposit-check;malformation=a long value@/);
  assert.deepEqual(drawAt(found.path!, known, seed).target, found.evidence!.request.target);
  assert.doesNotMatch(found.evidence!.request.target, /&/);
  assert.deepEqual(found.where, ['malformation: a long value']);
});

test('nothing is sent after the end of the run', async () => {
  const judge = createJudge(rules, known);
  const path = pathOf('user-status', plainLevels('user-status'), { draw: 0 });
  const request = drawAt(path, known, seed);
  judge.add(request, answerOf(500, ''), path);
  const [failure] = judge.failures('valid/user-status/member');
  const context = { known, seed, judge, send: () => assert.fail('over'), isOver: () => true };
  assert.deepEqual(await explain('valid/user-status/member', failure!, context), {});
});
