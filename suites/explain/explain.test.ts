import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { trouble, type Answer, type Reply } from '../answer.ts';
import { table } from '../requirements/catalogue.ts';
import { addAnswer, createTally, failuresOf } from '../judging/tally.ts';
import { forms, tokenOf } from '../inputs/credentials.ts';
import { neighbours } from '../inputs/uuids.ts';
import { plainLevels } from '../plan/factors.ts';
import type { Levels } from '../rules/requirement.ts';
import { lookupAt, lookupOfPath, pathOf, type Place } from '../plan/lookup.ts';
import { fingerprint, idOf, type Request } from '../request.ts';
import { answerOf } from '../testing/samples.ts';
import { explain } from './explain.ts';
import { countBy, failingRun, known, readingOf, rowOf, rows, seed } from './testing/fake-target.ts';

/** Explains the first failure of a target with some wrong answers, and counts the requests. */
async function explained(
  id: string,
  levels: Partial<Levels>,
  wrong: (request: Request, nth: number) => Reply | undefined,
  at: Place = { draw: 0 },
  others: Parameters<typeof failingRun>[4] = [],
) {
  const { failure, context, sent } = failingRun(id, levels, wrong, at, others);
  const found = await explain(rowOf(id), failure, context);
  return { ...found, sent: sent() };
}

const idIn = ({ target }: Request) =>
  /(?:user|reference)_id=([^&]*)/.exec(decodeURIComponent(target))?.[1]?.toLowerCase();
const depositIn = (request: Request) => known.depositById.get(idIn(request) ?? '');
const isForeign = (request: Request) => readingOf(request).row.id === 'foreign-ib/deposit-check/other-ib';
const executed = answerOf(200, { status: 'EXECUTED', amountInUsd: 1, executedAt: 1 });
const otherShape = answerOf(200, { unexpected: true });
const otherText = answerOf(404, { error: 'not found' });
const otherRefusal = answerOf(401, { error: 'Unauthorized' });
const isPlainBearer = ({ credential }: Request) =>
  credential.as === 'caller' || (credential.as === 'key' && (credential.scheme ?? 'Bearer') === 'Bearer');
const isBearer = ({ credential }: Request) =>
  credential.as === 'header' ? /^bearer +\S+$/i.test(credential.value) : credential.as !== 'none';
const isUpper = ({ target }: Request) => /=[0-9A-F-]*[A-F][0-9A-F-]*(?:&|$)/.test(target);

describe('`where` lists exactly the conditions of a failure', () => {
  for (const [name, id, levels, wrong, where] of [
    [
      'an own pending deposit, in upper case, is shown',
      'pending/deposit-check/pending',
      { situation: 'own pending', 'id spelling': 'upper case', query: 'extra parameter after' },
      (request) =>
        isUpper(request) && depositIn(request)?.state === 'pending' && !isForeign(request)
          ? executed
          : undefined,
      ['situation: own pending', 'id spelling: upper case'],
    ],
    [
      'the date of one user is wrong, not in lower case',
      'valid/user-status/date-joined',
      { 'id spelling': 'upper case', query: 'extra parameter after' },
      (request) =>
        isUpper(request) && idIn(request)?.startsWith('aaaaaaaa') === true
          ? answerOf(200, { is_under_ib: true, date_joined: '2001-01-01T00:00:00Z' })
          : undefined,
      ['id spelling: upper case', '1 of 6 ids'],
    ],
    [
      'own EXECUTED deposits with a whole amount are not found, which is correct in percent-encoding',
      'valid/deposit-check/executed',
      { data: 'whole amount' },
      (request) => {
        const deposit = depositIn(request);
        const isHit = deposit?.state === 'EXECUTED' && Number.isInteger(deposit.amountInUsd);
        return isHit && readingOf(request).answer.shows === 'entity'
          ? answerOf(404, { error: 'Deposit not found' })
          : undefined;
      },
      ['data: whole amount'],
    ],
    [
      'a date has an offset, which nobody sees with the other key',
      'valid/user-status/date-joined-format',
      {},
      ({ credential }) =>
        credential.as === 'key' && credential.key === known.callerKeys[1]
          ? otherRefusal
          : answerOf(200, { is_under_ib: true, date_joined: '2024-02-29T23:59:59.999+05:30' }),
      [],
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
      'another status for EXECUTED deposits in upper case, with bearer too',
      'auth/deposit-check/malformed',
      { header: 'bearer', 'id spelling': 'upper case' },
      (request) =>
        isUpper(request) &&
        depositIn(request)?.state === 'EXECUTED' &&
        !isForeign(request) &&
        isBearer(request)
          ? answerOf(403, { error: 'Forbidden' })
          : undefined,
      ['header: bearer or BEARER or extra spaces', 'id spelling: upper case'],
    ],
    [
      'own EXECUTED deposits of two versions get another shape',
      'valid/deposit-check/shape',
      { 'id version': '1' },
      (request) =>
        depositIn(request)?.state === 'EXECUTED' && /[17]/.test(idIn(request)![14]!) && !isForeign(request)
          ? otherShape
          : undefined,
      ['id version: 1 or 7'],
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
      (request) =>
        isPlainBearer(request) || readingOf(request).answer.shows === 'entity' ? undefined : otherRefusal,
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

test('if the levels of a failure have one entity only, others show that its value matters', async () => {
  const found = await explained(
    'valid/deposit-check/shape',
    { 'id version': '2', data: 'whole amount', query: 'extra parameter before' },
    (request) => {
      const isHit = depositIn(request)?.state === 'EXECUTED' && /&reference_id=/.test(request.target);
      return isHit && !isForeign(request) && /[c-f]$/.test(idIn(request)!) ? otherShape : undefined;
    },
  );
  // The levels of the one entity may explain it, or its id: nobody knows.
  assert.deepEqual(found.where, ['query: extra parameter before']);
  const { failing, passing } = found.separation!.ids!;
  assert.deepEqual([failing.length, passing.length], [1, 4]);
  assert.match(failing[0]!, /^[-\da-f]{35}[c-f] \(\d{4}-\d\d-\d\dT[\d:.]+Z, \d+ USD\)$/);
});

test('if some ids of the same levels pass, no levels that other ids have are named', async () => {
  const { where = [] } = await explained(
    'foreign-ib/deposit-check/other-ib',
    { situation: "third partner's EXECUTED", 'id spelling': 'upper case', 'id version': '6' },
    (request) => {
      const entity = depositIn(request);
      const isHit = isUpper(request) && entity !== undefined && isForeign(request);
      return isHit && /[13579bdf]$/.test(idIn(request)!) ? otherText : undefined;
    },
  );
  assert.doesNotMatch(where.join('; '), /version|data|situation/);
  assert.match(where.at(-1) ?? '', /^\d+ of \d+ ids$/);
});

test('a lookup with another gate, which fails for its own reason, hides no condition', async () => {
  const found = await explained(
    'auth/deposit-check/expired',
    { key: 'expired', situation: 'unknown', query: 'extra parameter after' },
    ({ credential, target }) =>
      credential.as === 'key' && credential.key.state === 'expired' && /_id=[^&]*&/.test(target)
        ? otherRefusal
        : undefined,
    { draw: 0 },
    // `reference_id=&other=1`
    [[{ key: 'expired', malformation: 'an empty value' }, 1]],
  );
  assert.deepEqual(found.where, ['key: expired', 'query: extra parameter after']);
});

for (const [what, nameOf] of [
  ['an id is asked for', idOf],
  ['the same URL is asked for', ({ target }: Request) => target],
  ['the same request is sent', fingerprint],
] as const)
  test(`a fault from the second time on that ${what}`, async () => {
    const timesOf = countBy(nameOf);
    const found = await explained('valid/deposit-check/repeatable', { situation: 'unknown' }, (request) =>
      timesOf(request) > 1 ? otherText : undefined,
    );
    assert.deepEqual(found.where, ['repetition: three times']);
  });

test('if some keys fail, it is not said of ids', async () => {
  let rest: number | undefined;
  const found = await explained(
    'auth/deposit-check/unknown-key',
    { key: 'unknown', situation: 'unknown' },
    (request) => {
      const { credential } = request;
      if (credential.as !== 'header') return undefined;
      const isHit = credential.value.length % 2 === (rest ??= credential.value.length % 2);
      return isHit && readingOf(request).row.id === 'auth/deposit-check/unknown-key'
        ? otherRefusal
        : undefined;
    },
  );
  assert.match(found.where?.at(-1) ?? '', /^\d+ of \d+ keys or their forms$/);
  // They stand side by side as they were sent, without the key.
  const { failing = [], passing = [] } = found.separation?.ids ?? {};
  for (const one of [...failing, ...passing]) assert.match(one, /^Bearer \S/);
  assert.ok(failing.length > 0 && passing.length > 0);
});

test('a key of which too few entities show that it matters is not named', async () => {
  const found = await explained(
    'pending/deposit-check/failed',
    { key: "another partner's", situation: "another partner's failed", 'id version': '5' },
    (request) => {
      const isSeen = readingOf(request).row.id === 'pending/deposit-check/failed';
      const isOther = request.credential.as === 'key' && request.credential.key.partner === 'contoso';
      return isSeen && isOther && idIn(request)?.[14] === '5' ? otherText : undefined;
    },
  );
  assert.deepEqual(found.where, ['id version: 5', "situation: another partner's failed"]);
});

test('a fault of one example has no other conditions', async () => {
  const isAccepted = ({ credential }: Request) =>
    credential.as === 'header' && credential.value.startsWith('Bearer-');
  const member = answerOf(200, { is_under_ib: true, date_joined: '2024-02-29T23:59:59.999Z' });
  const token = tokenOf(known.callerKeys[0]!);
  const pick = forms['another scheme'].findIndex((form) => {
    const { credential } = form(token).changes;
    return credential?.as === 'header' && credential.value.startsWith('Bearer-');
  });
  const found = await explained(
    'auth/user-status/malformed',
    { header: 'another scheme' },
    (request) => (isAccepted(request) ? member : undefined),
    { pick },
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
  assert.equal(pathOf(found.lookup!), 'deposit-check;situation=unknown#0');
  assert.equal(found.evidence?.request?.target, found.lookup!.request.target);
});

test('what is only advised against is no condition of a required row', async () => {
  const isRead = ({ target }: Request) =>
    /^[\da-f-]{36}$/i.test(new URLSearchParams(target.split('?')[1]).get('user_id')?.trim() ?? '');
  const found = await explained(
    'invalid-uuid/user-status/malformed',
    { malformation: 'a line feed after' },
    (request) =>
      isRead(request) && readingOf(request).row.id === 'invalid-uuid/user-status/malformed'
        ? answerOf(200, { is_under_ib: false, date_joined: null })
        : undefined,
  );
  assert.deepEqual(found.where, ['malformation: a line feed after']);
});

test('a failure in another aspect is no right answer', async () => {
  const found = await explained('auth/user-status/malformed', { header: 'no scheme' }, (request) => {
    if (isPlainBearer(request)) return undefined;
    return isUpper(request) ? answerOf(401, { error: 'no' }) : answerOf(500, '');
  });
  assert.deepEqual(found.where, []);
  assert.deepEqual([found.repeats, found.intermittent], [{ failed: 11, of: 11 }, undefined]);
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
  // It may fail only the first time, which new lookups would show.
  assert.equal(once.sent, 14);
});

test('the counterexample has the fewest odd levels and the smallest value, and its path replays it', async () => {
  const found = await explained(
    'invalid-uuid/deposit-check/malformed',
    { malformation: 'a long value', query: 'extra parameter after' },
    ({ target }) =>
      /=0{100,}(?:&|$)/.test(target) || /=.{200,}/.test(target) ? answerOf(500, '') : undefined,
  );
  const path = pathOf(found.lookup!);
  assert.match(path, /^deposit-check;malformation=a long value@/);
  assert.deepEqual(lookupOfPath(path, known, seed).request.target, found.evidence!.request.target);
  assert.doesNotMatch(found.evidence!.request.target, /&/);
  assert.deepEqual(found.where, ['malformation: a long value']);
});

test('nothing is sent after the end of the run', async () => {
  const tally = createTally(rows, known, table);
  const lookup = lookupAt('user-status', plainLevels('user-status'), { draw: 0 }, { known, seed });
  addAnswer(tally, lookup.request, answerOf(500, ''), lookup);
  const [failure] = failuresOf(tally, rowOf('valid/user-status/member'));
  const context = { known, seed, tally, send: () => assert.fail('over'), isOver: () => true };
  assert.deepEqual(await explain(rowOf('valid/user-status/member'), failure!, context), {});
});

/** What comes between the answers, and shows nothing. */
const weather: Readonly<Record<string, (nth: number) => Reply | undefined>> = {
  'no other answers': () => undefined,
  'a lost answer in between': (nth) => (nth % 5 === 3 ? trouble('network', 'reset') : undefined),
  'a limiter in between': (nth) =>
    nth % 5 === 3 ? answerOf(429, { error: 'TOO_MANY_REQUESTS' }) : undefined,
};

describe('a fault in upper case', () => {
  for (const [between, other] of Object.entries(weather)) {
    const explainedWith = (isHit: (request: Request) => boolean, row = 'foreign-ib/deposit-check/unknown') =>
      explained(
        row,
        { situation: 'unknown', 'id spelling': 'upper case', query: 'extra parameter after' },
        (request, nth) => other(nth) ?? (isUpper(request) && isHit(request) ? otherText : undefined),
      );

    test(`each time, with ${between}`, async () => {
      const found = await explainedWith(() => true);
      assert.deepEqual(found.where, ['id spelling: upper case']);
      assert.equal(found.intermittent, undefined);
      assert.equal(found.separation?.with?.failed, found.separation?.with?.of);
      assert.deepEqual(
        found.separation?.without?.map(({ failed }) => failed),
        [0],
      );
    });

    test(`from the second time on, with ${between}`, async () => {
      const timesOf = countBy();
      const found = await explainedWith((request) => timesOf(request) > 1, 'valid/deposit-check/repeatable');
      assert.deepEqual(found.where, ['id spelling: upper case', 'repetition: three times']);
    });

    for (const share of [2, 4, 9])
      test(`of one id in ${share}, with ${between}`, async () => {
        let first: number | undefined;
        const rest = (id: string) => Number.parseInt(id.at(-1)!, 16) % share;
        const isHit = (request: Request) => rest(idOf(request)) === (first ??= rest(idOf(request)));
        const found = await explainedWith(isHit);
        assert.equal(found.where?.[0], 'id spelling: upper case');
        const [, failed, of] = /^(\d+) of (\d+) ids$/.exec(found.where?.[1] ?? '') ?? [];
        assert.ok(Math.abs(Number(failed) / Number(of) - 1 / share) < 0.15, `${failed} of ${of}`);
        assert.equal(found.where?.length, 2);
        assert.ok(found.separation!.ids!.failing.every((id) => rest(id) === first));
      });
  }
});
