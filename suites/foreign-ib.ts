import * as fc from 'fast-check';
import type { Endpoint } from '../schemas/endpoints.ts';
import { repeatedNames, summary, type Answer } from './answer.ts';
import { errorAnswer, fieldsOf, saysExecuted, saysMember, saysNotMember } from './expectations.ts';
import { indistinguishable } from './indistinguishable.ts';
import { oneOf } from './inputs/one-of.ts';
import { stranger, unknownUuid } from './inputs/uuids.ts';
import type { Known, KnownKey } from './known.ts';
import { property } from './property.ts';
import { depositCheck, userStatus, type Changes } from './request.ts';
import type { Requirement } from './requirement.ts';
import { timing } from './timing.ts';
import { each, failed, held, type Expectation } from './verdict.ts';

const lacksForeigners = ({ foreigners }: Known) =>
  foreigners.length === 0 ? 'user outside the IB under test' : undefined;
const lacksForeignDeposits = ({ foreignDeposits }: Known) =>
  foreignDeposits.length === 0 ? 'deposit of a user outside the IB under test' : undefined;

const notFound = errorAnswer('deposit-check', 404);

const isNotMember: Expectation = (answer) => {
  const verdict = saysNotMember(answer);
  if (verdict.kind !== 'held') return verdict;
  const date = fieldsOf(answer)?.['date_joined'];
  // A missing date is spoken of by the shape.
  return date === undefined || date === null
    ? held
    : failed('value', '200 with "is_under_ib": false, "date_joined": null', summary(answer));
};

const exactlyTwoFields = ([answer]: readonly Answer[]) => {
  if (saysNotMember(answer!).kind !== 'held')
    return {
      kind: 'unjudged',
      reason: 'depends',
      words: 'nothing to compare: see foreign-ib/user-status/other-ib and unknown',
    } as const;
  const names = Object.keys(fieldsOf(answer!) ?? {}).toSorted();
  return names.join() === 'date_joined,is_under_ib' && repeatedNames(answer!.text).length === 0
    ? held
    : failed(
        'shape',
        '200 {"is_under_ib":false,"date_joined":null}, exactly these two fields',
        summary(answer!),
      );
};

/** An entity of another partner that has an active key, with that key and something of ours. */
interface Pairing<Theirs, Ours> {
  readonly key: KnownKey;
  readonly theirs: Theirs;
  readonly ours: Ours;
}

/** Pairings for each key of another partner. */
const MOST_PAIRINGS = 20;

/** What the other partners have that have an active key, each with one of ours. */
function pairings<Theirs extends { readonly user_id: string }, Ours>(
  known: Known,
  theirs: readonly Theirs[],
  ours: readonly Ours[],
): readonly Pairing<Theirs, Ours>[] {
  const byPartner = new Map(known.otherKeys.map(({ partner }): [string | null, Theirs[]] => [partner, []]));
  for (const one of theirs) {
    const owned = byPartner.get(known.userById.get(one.user_id.toLowerCase())?.partner ?? null);
    if (owned !== undefined && owned.length < MOST_PAIRINGS) owned.push(one);
  }
  return known.otherKeys.flatMap((key) => {
    const owned = byPartner.get(key.partner)!;
    const length = Math.min(
      MOST_PAIRINGS,
      owned.length === 0 || ours.length === 0 ? 0 : Math.max(owned.length, ours.length),
    );
    return Array.from({ length }, (_, nth) => ({
      key,
      theirs: owned[nth % owned.length]!,
      ours: ours[nth % ours.length]!,
    }));
  });
}

const foreignExecuted = ({ foreignDeposits }: Known) =>
  foreignDeposits.filter((deposit) => deposit.state === 'EXECUTED');
/** Found is what it must not be; how else it is answered is spoken of by the other requirements. */
const isNot =
  (found: Expectation, expected: string): Expectation =>
  (answer) =>
    found(answer).kind === 'held' ? failed('value', expected, summary(answer)) : held;

const as = (key: KnownKey): Changes => ({ credential: { as: 'key', key } });

/** What must look like an unknown id. */
const foreignIds = (endpoint: Endpoint) =>
  endpoint === 'user-status'
    ? { lacks: lacksForeigners, hidden: (known: Known) => known.foreigners.map(({ user_id }) => user_id) }
    : {
        lacks: lacksForeignDeposits,
        hidden: (known: Known) => known.foreignDeposits.map(({ reference_id }) => reference_id),
      };

export const foreignIb: readonly Requirement[] = [
  property({
    id: 'foreign-ib/user-status/other-ib',
    level: 'required',
    clause: 'GET user-status, 200: not an error',
    title: 'A user of another IB, or of none: 200, false, null',
    lacks: lacksForeigners,
    every: (known) => known.foreigners,
    ask: ({ user_id }) => [userStatus(user_id)],
    holds: ([answer]) => isNotMember(answer!),
  }),
  property({
    id: 'foreign-ib/user-status/unknown',
    level: 'required',
    clause: 'GET user-status, 200: not an error',
    title: 'A UUID of version 4 that nobody has: 200, false, null',
    every: (known) => [stranger(known)],
    given: unknownUuid,
    ask: (user_id) => [userStatus(user_id)],
    holds: ([answer]) => isNotMember(answer!),
  }),
  property({
    id: 'foreign-ib/user-status/shape',
    level: 'required',
    clause: 'IB membership result',
    title: 'Exactly the two fields; date_joined is present and null',
    every: (known) => [...known.foreigners.map(({ user_id }) => user_id), stranger(known)],
    given: unknownUuid,
    ask: (user_id) => [userStatus(user_id)],
    holds: exactlyTwoFields,
  }),
  indistinguishable({
    id: 'foreign-ib/user-status/indistinguishable',
    clause: 'What the service does: cannot look up users outside the IB',
    title: 'Nothing tells a foreign user from an unknown one',
    endpoint: 'user-status',
    ...foreignIds('user-status'),
  }),
  property<Pairing<{ user_id: string }, { user_id: string }>>({
    id: 'foreign-ib/user-status/follows-key',
    level: 'required',
    clause: 'What the service does: scoped to the calling partner',
    title: "With the other partner's key the same user is a member, and ours is not",
    needsSecondKey: true,
    every: (known) => pairings(known, known.foreigners, known.members),
    ask: ({ key, theirs, ours }) => [userStatus(theirs.user_id, as(key)), userStatus(ours.user_id, as(key))],
    holds: (answers) =>
      each(answers, saysMember, isNot(saysMember, '"is_under_ib": false for a user of the first partner')),
  }),
  property({
    id: 'foreign-ib/deposit-check/other-ib',
    level: 'required',
    clause: 'GET deposit-check, 404',
    title: "A deposit of another IB's user, EXECUTED or not: 404 with its exact body",
    lacks: lacksForeignDeposits,
    every: (known) => known.foreignDeposits,
    ask: ({ reference_id }) => [depositCheck(reference_id)],
    holds: ([answer]) => notFound(answer!),
  }),
  property({
    id: 'foreign-ib/deposit-check/unknown',
    level: 'required',
    clause: 'GET deposit-check, 404',
    title: 'A UUID that no deposit has: 404 with its exact body',
    every: (known) => [stranger(known)],
    given: (known) =>
      fc
        .oneof(unknownUuid(known), oneOf([...known.members.map(({ user_id }) => user_id), stranger(known)]))
        .filter((id) => !known.depositById.has(id.toLowerCase())),
    ask: (reference_id) => [depositCheck(reference_id)],
    holds: ([answer]) => notFound(answer!),
  }),
  indistinguishable({
    id: 'foreign-ib/deposit-check/indistinguishable',
    clause: 'What the service does: cannot look up users outside the IB',
    title: 'Nothing tells a foreign deposit from an unknown one',
    endpoint: 'deposit-check',
    ...foreignIds('deposit-check'),
  }),
  property<Pairing<ReturnType<typeof foreignExecuted>[number], Known['executed'][number]>>({
    id: 'foreign-ib/deposit-check/follows-key',
    level: 'required',
    clause: 'What the service does: scoped to the calling partner',
    title: "With the other partner's key the same deposit is found, and ours is not",
    needsSecondKey: true,
    every: (known) => pairings(known, foreignExecuted(known), known.executed),
    ask: ({ key, theirs, ours }) => [
      depositCheck(theirs.reference_id, as(key)),
      depositCheck(ours.reference_id, as(key)),
    ],
    holds: (answers) =>
      each(answers, saysExecuted, isNot(saysExecuted, '404 for a deposit of the first partner')),
  }),
  timing('user-status', foreignIds('user-status')),
  timing('deposit-check', foreignIds('deposit-check')),
];
