import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import * as fc from 'fast-check';
import { endpoints, type Endpoint } from '../../schemas/endpoints.ts';
import { requestsOf } from './drawing.ts';
import { factors, plainLevels } from './factors.ts';
import type { Levels } from '../rules/requirement.ts';
import { isFeasible, missingLevels } from './lookup-levels.ts';
import { factsWith } from './lookup.ts';
import { table } from '../requirements/catalogue.ts';
import type { Facts } from '../rules/facts.ts';
import { factsOf } from '../rules/facts-of-request.ts';
import { malformations } from '../inputs/malformations.ts';
import { knownFrom } from '../known.ts';
import type { Request } from '../request.ts';
import { sampleFixture, sampleKnown } from '../testing/samples.ts';

/** The sample fixture with a deposit of each owner, state and kind of amount. */
const [ours, theirs, nobodys] = ['1a', '2c', '3d'].map(
  (start) => sampleFixture.users!.find(({ user_id }) => user_id.toLowerCase().startsWith(start))!.user_id,
) as [string, string, string];
const known = knownFrom({
  ...sampleFixture,
  deposits: [ours, theirs, nobodys].flatMap((user_id, owner) =>
    [0.5, 250.5, 300, 12_000, 'pending', 'failed'].flatMap((kind, nth) =>
      [...'12345678'].map((version) => ({
        reference_id: `${owner}${nth}ab0000-0000-${version}000-8000-0000000000cd`,
        user_id,
        ...(typeof kind === 'number'
          ? { state: 'EXECUTED' as const, amountInUsd: kind, executedAt: 1_705_314_600_000 }
          : { state: kind as 'pending' | 'failed' }),
      })),
    ),
  ),
});

const both = Object.keys(endpoints) as readonly Endpoint[];
const isUser = (endpoint: Endpoint) => endpoint === 'user-status';

/** Answer and requirement of the plain reading of a lookup. */
function readingOf(facts: Facts): string {
  const { answer, row } = table.coverOf(facts).right[0]!;
  return `${answer.name} ${row.id.split('/').at(-1)}`;
}

const plainReading = { 'user-status': 'member member', 'deposit-check': 'EXECUTED executed' } as const;
const hidden = (endpoint: Endpoint, why: string) =>
  `${isUser(endpoint) ? 'not a member' : 'not found'} ${why}`;

/** The expected reading of a lookup with one level that is not plain. */
function expectedReading(endpoint: Endpoint, name: string, level: string): string {
  const notV4 = isUser(endpoint) ? 'invalid not-v4' : 'not found unknown';
  const named: Readonly<Record<string, readonly string[]>> = {
    [hidden(endpoint, 'other-ib')]: ["another partner's", 'no partner'],
    'unauthorized unknown-key': ['near miss', 'unknown'],
    'unauthorized missing': ['none'],
    'unauthorized revoked': ['revoked'],
    'unauthorized expired': ['expired'],
    'unauthorized non-partner': ['non-Partner'],
    'unauthorized malformed': ['no scheme', 'another scheme', 'two parts', 'no token'],
    'invalid missing': ['no parameter'],
    'invalid empty': ['an empty value'],
    'invalid alternative-spelling': [
      'braces or parentheses',
      'urn:uuid:',
      'other hyphens',
      'white space around',
    ],
    [notV4]: ['the nil UUID', 'the max UUID', 'no known version', 'other variant bits'],
    'refused, by anybody hostile': ['broken percent-encoding', 'brackets or a strange name', '8 KiB'],
    'not found pending': ['own pending'],
    'not found failed': ['own failed'],
  };
  if (level === 'other variant bits' && isUser(endpoint)) return 'invalid alternative-spelling';
  if (name === 'situation' && level === 'unknown') return hidden(endpoint, 'unknown');
  if (name === 'situation' && /^(?:another|third) partner's/.test(level)) return hidden(endpoint, 'other-ib');
  if (name === 'id version' && isUser(endpoint) && level !== '4') return 'invalid not-v4';
  if (name === 'header' && level.startsWith('in ')) return 'refused header-only';
  const isNamed =
    (name === 'malformation' && level !== 'none') ||
    name === 'key' ||
    name === 'header' ||
    name === 'situation';
  const found = Object.entries(named).find(([, levels]) => isNamed && levels.includes(level));
  if (found !== undefined) return found[0];
  const isMalformed = name === 'malformation' && Object.hasOwn(malformations, level);
  return isMalformed ? 'invalid malformed' : plainReading[endpoint];
}

for (const endpoint of both)
  describe(`each level of ${endpoint} has the right reading, the same for all its requests`, () => {
    const plain = plainLevels(endpoint);
    for (const { name, names } of factors[endpoint])
      for (const level of names) {
        const row: Levels = { ...plain, [name]: level };
        if (!isFeasible(endpoint, row, known)) continue;
        const reading = expectedReading(endpoint, name, level);
        test(`${name}: ${level}: ${reading}`, () => {
          const facts = factsWith(endpoint, row, known)!;
          assert.equal(readingOf(facts), reading);
          for (const request of fc.sample(requestsOf(endpoint, row, known), { numRuns: 30, seed: 1 }))
            assert.equal(kindOf(factsOf(known, request)!), kindOf(facts), request.target);
        });
      }
  });

/** A hostile query may also hold a valid id in an unusual place. An id in another notation may be another one. */
const kindOf = ({ kind, parameter }: Facts) => {
  if (parameter === 'hostile') return kind.replace(/ open$/, '');
  return parameter === 'alternative-spelling' ? kind.split(' ').slice(0, 3).join(' ') : kind;
};

test('all requests with the same levels have the same facts', () => {
  for (const endpoint of both) {
    const levels = factors[endpoint].map(({ names }) => fc.constantFrom(...names));
    const rows = fc
      .tuple(...levels)
      .map(
        (row) => Object.fromEntries(row.map((level, at) => [factors[endpoint][at]!.name, level])) as Levels,
      )
      .filter((row) => isFeasible(endpoint, row, known));
    const requests = rows.chain((row) =>
      requestsOf(endpoint, row, known).map((request) => ({ row, request })),
    );
    fc.assert(
      fc.property(requests, ({ row, request }) => {
        const facts = factsOf(known, request)!;
        assert.equal(kindOf(facts), kindOf(factsWith(endpoint, row, known)!), request.target);
      }),
      { numRuns: 2000 },
    );
  }
});

test('values have the spelling of their level', () => {
  const shapes: Readonly<Record<string, RegExp>> = {
    'id spelling=lower case': /^[^A-Z]*$/,
    'id spelling=upper case': /=[^a-z]*$/,
    'id spelling=mixed case': /=(?=.*[a-f])(?=.*[A-F])/,
    'id spelling=percent-encoded': /=.*%[0-9A-F]{2}/,
    'id version=7': /=.{14}7/,
    'query=extra parameter before': /\?.+&reference_id=/,
    'query=extra parameter after': /\?reference_id=[^&]+&./,
  };
  for (const [level, shape] of Object.entries(shapes)) {
    const [name, value] = level.split('=') as [string, string];
    const row: Levels = { ...plainLevels('deposit-check'), [name]: value };
    for (const { target } of fc.sample(requestsOf('deposit-check', row, known), { numRuns: 30, seed: 1 }))
      assert.match(target, shape, level);
  }
});

test('amounts match their level', () => {
  const amounts: Readonly<Record<string, number>> = {
    'amount with cents': 250.5,
    'whole amount': 300,
    'amount below 1': 0.5,
    'amount of 10000 or more': 12_000,
  };
  for (const [data, amount] of Object.entries(amounts)) {
    const row: Levels = { ...plainLevels('deposit-check'), data };
    const [{ target }] = fc.sample(requestsOf('deposit-check', row, known), { numRuns: 1, seed: 1 }) as [
      Request,
    ];
    const deposit = known.depositById.get(target.split('=')[1]!);
    assert.ok(deposit?.state === 'EXECUTED' && deposit.amountInUsd === amount, data);
  }
});

test('levels that the fixture cannot supply are named', () => {
  assert.deepEqual(missingLevels('user-status', sampleKnown), ["situation: third partner's"]);
  assert.deepEqual(missingLevels('user-status', knownFrom({ ...sampleFixture, users: [] })).toSorted(), [
    'data: whole seconds',
    "situation: another partner's",
    'situation: no partner',
    'situation: own',
    "situation: third partner's",
  ]);
  const apiKeys = sampleFixture.apiKeys!.slice(2, 3);
  assert.deepEqual(
    missingLevels('deposit-check', {
      ...known,
      ...knownFrom({ ...sampleFixture, apiKeys }),
      depositById: known.depositById,
      userById: known.userById,
    })
      .filter((name) => name.includes('key'))
      .toSorted(),
    ['active key: second', "key: another partner's", 'key: expired', 'key: non-Partner', 'key: revoked'],
  );
});

test('infeasible: a header form without a key, and another letter case without letters', () => {
  const plain = plainLevels('user-status');
  assert.equal(isFeasible('user-status', { ...plain, key: 'none', header: 'bearer' }, known), false);
  assert.equal(isFeasible('user-status', { ...plain, key: 'revoked', header: 'bearer' }, known), true);
  const digits = knownFrom({
    ...sampleFixture,
    users: [{ ...sampleFixture.users![0]!, user_id: '11111111-1111-4111-8111-111111111111' }],
  });
  assert.equal(isFeasible('user-status', { ...plain, 'id spelling': 'upper case' }, digits), false);
  assert.equal(
    isFeasible('user-status', { ...plain, situation: 'unknown', 'id spelling': 'upper case' }, digits),
    true,
  );
});

test('header fields are those of their level, and do not replace those that carry a key', () => {
  const sent = (changes: Partial<Levels>) =>
    fc.sample(requestsOf('user-status', { ...plainLevels('user-status'), ...changes }, known), 1)[0]!;
  assert.deepEqual(sent({}).headers, {});
  assert.deepEqual(sent({ fields: 'Accept: */*' }).headers, { accept: '*/*' });
  assert.equal(sent({ fields: 'names in upper case' }).fieldNames, 'upper case');
  const joined = sent({ fields: 'Cache-Control: no-cache', header: 'in another header' }).headers;
  assert.equal(joined['cache-control'], 'no-cache');
  assert.equal(Object.keys(joined).length, 3);
});

test('no name of a level has a comma or semicolon, which separate names in a condition', () => {
  for (const { name, names } of both.flatMap((endpoint) => factors[endpoint]))
    for (const level of names) assert.doesNotMatch(level, /[,;]/, name);
});
