import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { table } from '../requirements/catalogue.ts';
import { factsOf } from './facts-of-request.ts';
import { depositCheck, lookup, userStatus, type Credential, type Request } from '../request.ts';
import { answerOf, sampleKnown as known } from '../testing/samples.ts';

const idOf = (start: string) =>
  [...known.userById.keys(), ...known.depositById.keys()].find((id) => id.startsWith(start))!;
const [member, foreigner] = [idOf('1a'), idOf('2c')];
const unknown = '0badc0de-0000-4000-8000-000000000000';
const version = (id: string, digit: string) => id.slice(0, 14) + digit + id.slice(15);
const variant = (id: string) => `${id.slice(0, 19)}c${id.slice(20)}`;
const nil = '00000000-0000-0000-0000-000000000000';
const keyOf = (name: string, scheme?: string): { readonly credential: Credential } => ({
  credential: {
    as: 'key',
    key: known.everyKey.find((one) => one.name === `<key ${name}>`)!,
    ...(scheme === undefined ? {} : { scheme }),
  },
});
const none: { readonly credential: Credential } = { credential: { as: 'none' } };
const theirs = keyOf('contoso/active');
const bearer = keyOf('northwind/active', 'bearer');
const revoked = keyOf('northwind/revoked');
const user = (query: string | undefined, changes = {}) => lookup('user-status', query, changes);
const deposit = (query: string | undefined, changes = {}) => lookup('deposit-check', query, changes);

function short(id: string, { endpoint }: Request): string {
  assert.equal(id.split('/')[1], endpoint);
  return id.replace(`/${endpoint}/`, '/');
}

const spelled = 'invalid invalid-uuid/alternative-spelling';
const unknownUser = 'not a member foreign-ib/unknown';

/** Every correct answer with its requirement, the plain reading first. `factors.test.ts` has plain lookups. */
const correct: Readonly<Record<string, readonly (readonly [string, Request, ...string[]])[]>> = {
  'GET user-status, 400': [
    ['braces', userStatus(`{${member}}`), spelled, 'member valid/member', unknownUser],
    ['other variant bits', userStatus(variant(member)), spelled, unknownUser],
  ],
  'GET deposit-check, 200 and 404; States': [
    [
      'pending, and becomes EXECUTED',
      depositCheck(idOf('4d')),
      'not found pending/pending',
      'EXECUTED valid/executed',
    ],
    ['of another IB, becoming', depositCheck(idOf('5c')), 'not found foreign-ib/other-ib'],
    ['a user', depositCheck(member), 'not found foreign-ib/unknown'],
    ['a deposit, asked for as a user', userStatus(idOf('4a')), unknownUser],
  ],
  'spellings that a server may read or refuse': [
    ...[nil, version(unknown, '0'), variant(unknown)].map(
      (id) =>
        [id, depositCheck(id), 'not found foreign-ib/unknown', 'invalid invalid-uuid/malformed'] as const,
    ),
    [
      'a percent-encoded digit',
      user(`user_id=%31${member.slice(1)}`),
      'member valid/member',
      'member valid/percent-encoding',
      'invalid invalid-uuid/malformed',
      unknownUser,
    ],
    [
      'another parameter beside it',
      deposit(`x=1&reference_id=${idOf('4a')}`),
      'EXECUTED valid/executed',
      'invalid invalid-uuid/malformed',
    ],
  ],
  Authentication: [
    [
      'and no UUID: either comes first',
      userStatus('x', revoked),
      'unauthorized auth/revoked',
      'invalid invalid-uuid/malformed',
    ],
    ['bearer', userStatus(member, bearer), 'member valid/member', 'unauthorized auth/malformed'],
    [
      'bearer lets no revoked key in',
      userStatus(member, keyOf('northwind/revoked', 'bearer')),
      'unauthorized auth/revoked',
    ],
  ],
  "another partner's key": [
    ['its user', userStatus(foreigner, theirs), 'member foreign-ib/follows-key'],
    [
      'our user',
      userStatus(member, theirs),
      'not a member foreign-ib/other-ib',
      'not a member foreign-ib/follows-key',
    ],
    ['its deposit', depositCheck(idOf('5a'), theirs), 'EXECUTED foreign-ib/follows-key'],
    [
      'our deposit',
      depositCheck(idOf('4a'), theirs),
      'not found foreign-ib/other-ib',
      'not found foreign-ib/follows-key',
    ],
  ],
  'what the interface does not speak of': [
    ['HEAD', userStatus(member, { method: 'HEAD' })],
    ['the parameter twice', user(`user_id=${member}&user_id=${member}`)],
    ['another letter case of its name', user(`USER_ID=${member}`)],
  ],
};

for (const [clause, rows] of Object.entries(correct))
  describe(clause, () => {
    for (const [name, request, ...answers] of rows)
      test(`${name}: ${answers[0] ?? 'nothing'}`, () => {
        const facts = factsOf(known, request);
        const right = facts === undefined ? [] : table.coverOf(facts).right;
        const names = right.map(({ answer, row }) => `${answer.name} ${short(row.id, request)}`);
        assert.deepEqual(names, answers);
      });
  });

/** The exact answers of the interface. */
const is = {
  member: answerOf(200, '{"is_under_ib":true,"date_joined":"2024-02-29T23:59:59.999Z"}'),
  notMember: answerOf(200, '{"is_under_ib":false,"date_joined":null}'),
  notFound: answerOf(404, '{"error":"Deposit not found"}'),
  invalidUser: answerOf(400, '{"error":"Invalid user_id format"}'),
  invalidDeposit: answerOf(400, '{"error":"Invalid reference_id format"}'),
  noUser: answerOf(401, '{"error":"Unauthorized"}'),
  forbidden: answerOf(403, '{"error":"Forbidden"}'),
} as const;

const misplaced = { ...none, misplaced: known.callerKeys[0]! };
const encoded = user(`user_id=%31${member.slice(1)}`);
const refused = (error: string) => answerOf(400, { error });

const findingsOf = (request: Request, answer: ReturnType<typeof answerOf>) =>
  table.judge(factsOf(known, request)!, answer, known);

/** Answers, and what they fail: requirement and aspect. Faults of the mock show others. */
const judged: readonly (readonly [string, Request, ReturnType<typeof answerOf>, ...string[]])[] = [
  ['bearer refused', userStatus(member, bearer), is.noUser],
  ['bearer refused with 403', userStatus(member, bearer), is.forbidden, 'auth/malformed status'],
  ['a foreigner refused with 403', userStatus(foreigner, bearer), is.forbidden, 'foreign-ib/other-ib status'],
  ['400 before 401', userStatus('x', revoked), is.invalidUser],
  ['400 with the words of 401', userStatus('x', revoked), refused('Unauthorized'), 'auth/revoked status'],
  ['400 in other words', userStatus('x', revoked), refused('no'), 'invalid-uuid/malformed message'],
  ["another's user denied", userStatus(foreigner, theirs), is.notMember, 'foreign-ib/follows-key value'],
  ['percent-encoding read', encoded, is.member],
  ['percent-encoding refused in other words', encoded, answerOf(400, {}), 'invalid-uuid/malformed shape'],
  ['braces refused', userStatus(`{${member}}`), is.invalidUser],
  ['nil read', depositCheck(nil), is.notFound],
  ['nil refused', depositCheck(nil), is.invalidDeposit],
  ['a misplaced key refused with any message', user(`user_id=${member}`, misplaced), answerOf(403, 'no')],
  ['a misplaced key read', deposit('reference_id=x', misplaced), is.notFound, 'auth/header-only status'],
  ['a broken query refused', user('user_id=%zz'), answerOf(414, '')],
  ['a broken query let in', user('user_id=%zz'), is.notMember, 'invalid-uuid/hostile status'],
  ['an array read', user(`user_id[]=${member}`), is.member],
];

describe('the requirement that a wrong answer breaks', () => {
  for (const [name, request, answer, ...fails] of judged)
    test(`${name}: ${fails.join() || 'none'}`, () => {
      const failures = findingsOf(request, answer).flatMap(({ row, verdict }) =>
        verdict.kind === 'failed' && row.kind !== 'property'
          ? [`${short(row.id, request)} ${verdict.aspect}`]
          : [],
      );
      assert.deepEqual(failures, fails);
    });
});

test('a correct answer counts for every requirement of the lookup', () => {
  for (const [request, answer, ids] of [
    [userStatus(member.toUpperCase()), is.member, ['valid/member', 'valid/uuid-case']],
    [encoded, is.member, ['valid/member', 'valid/percent-encoding']],
    [userStatus(member, theirs), is.notMember, ['foreign-ib/other-ib', 'foreign-ib/follows-key']],
    [depositCheck(version(unknown, '7')), is.notFound, ['foreign-ib/unknown', 'valid/any-uuid-version']],
  ] as const) {
    const findings = findingsOf(request, answer).filter(({ row }) => row.kind !== 'property');
    const kinds = findings.map(({ row, verdict }) => [short(row.id, request), verdict.kind]);
    assert.deepEqual(
      kinds,
      ids.map((id) => [id, 'passed']),
    );
  }
});
