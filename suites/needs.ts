import type { FixtureUser, Gap } from '../schemas/generated/types.ts';
import { hasLetters } from './inputs/uuids.ts';
import type { Known } from './known.ts';
import type { Reason } from './verdict.ts';

/** Data that a requirement needs: how to find it, and what to add if it is missing. */
type Need = readonly [found: (known: Known) => readonly unknown[], fix: string];

const add = (part: string, example: string) => `Add one to ${part}, such as ${example}`;
const key = (partner: string, state: string) =>
  add('apiKeys', `{ "key": "…", "partner": ${partner}, "state": "${state}" }`);
const user = (partner: string, more = '') =>
  add(
    'users',
    `{ "user_id": "…", "partner": "${partner}", "date_joined": "2024-02-29T23:59:59.999Z" }${more}`,
  );
const deposit = (state: string) =>
  add('deposits', `{ "reference_id": "…", "user_id": "…", "state": "${state}" } of a user of the IB`);
const member = user('the partner of the key', ', with a letter in user_id');
const executed = add(
  'deposits',
  '{ "reference_id": "…", "user_id": "…", "state": "EXECUTED", "amountInUsd": 250.5, "executedAt": 1705314600000 } of a user of the IB, with a letter in reference_id',
);

const CALLER = 'active key of a partner';
const SECOND_KEY = 'active key of another partner';

/** Whether an active key of another partner finds a user. */
const isOfOtherKey = (one: FixtureUser | undefined, { otherKeys }: Known) =>
  otherKeys.some(({ partner }) => partner === one?.partner);

/** Needs of requirements. Their names complete "the fixture has no …". */
const needs = {
  [CALLER]: [(known) => known.callerKeys, key('"…"', 'active')],
  [SECOND_KEY]: [(known) => known.otherKeys, key('"another partner"', 'active')],
  'revoked key': [(known) => known.revokedKeys, key('"…"', 'revoked')],
  'expired key': [(known) => known.expiredKeys, key('"…"', 'expired')],
  'key of a non-Partner account (partner null)': [(known) => known.nonPartnerKeys, key('null', 'active')],
  'user of the IB under test': [(known) => known.members, member],
  'user of the IB with a letter in its id': [
    (known) => known.members.filter(({ user_id }) => hasLetters(user_id)),
    member,
  ],
  'user outside the IB under test': [(known) => known.foreigners, user('another partner, or null')],
  'EXECUTED deposit of a user under the IB': [(known) => known.executed, executed],
  'EXECUTED deposit under the IB with a letter in its id': [
    (known) => known.executed.filter(({ reference_id }) => hasLetters(reference_id)),
    executed,
  ],
  'two members or EXECUTED deposits': [
    ({ members, executed: deposits }) => [...members, ...deposits].slice(1),
    member,
  ],
  'pending deposit of a user under the IB': [
    ({ pending, becoming }) => [...pending, ...becoming],
    deposit('pending'),
  ],
  'failed deposit of a user under the IB': [(known) => known.failed, deposit('failed')],
  'failed or permanently pending deposit of a user under the IB': [
    ({ pending, failed }) => [...pending, ...failed],
    deposit('pending'),
  ],
  'user of the IB, and none of another partner with an active key': [
    (known) => [...known.members, ...known.foreigners.filter((one) => isOfOtherKey(one, known))],
    member,
  ],
  'deposit of the IB, and no EXECUTED one of another partner with an active key': [
    (known) => [
      ...[known.executed, known.pending, known.becoming, known.failed].flat(),
      ...known.foreignDeposits.filter(
        ({ state, user_id }) =>
          state === 'EXECUTED' && isOfOtherKey(known.userById.get(user_id.toLowerCase()), known),
      ),
    ],
    executed,
  ],
  'deposit of a user outside the IB under test': [
    (known) => known.foreignDeposits,
    add('deposits', 'an EXECUTED deposit of a user of another partner'),
  ],
} as const satisfies Record<string, Need>;

type NeedName = keyof typeof needs;

/** What a requirement needs from the fixture, besides an active key. */
export interface FixtureNeeds {
  readonly needs?: NeedName | readonly NeedName[];
}

/** Why a requirement cannot be judged, and how to fix it. */
type Lack = Omit<Gap, 'requirements'> & { readonly reason: Reason | 'no-state-hook' };

const noHook: Lack = {
  reason: 'no-state-hook',
  words: 'no state hook was given (--state-url), so no key or deposit can change during the run',
  fix: 'Give --state-url, a URL that changes data of the target on request.',
};

const noTransition: Lack = {
  reason: 'no-state-hook',
  words: 'no state hook was given (--state-url), and the fixture has no deposit of the IB with "becomes"',
  fix: 'Give --state-url. If pending deposits become EXECUTED by themselves on your server, add one to deposits, such as { "reference_id": "…", "user_id": "…", "state": "pending", "becomes": { "state": "EXECUTED", "amountInUsd": 10, "afterSeconds": 5 } } of a user of the IB',
};

type Checked = FixtureNeeds & { readonly kind: string; readonly needsStateHook?: true };

/** Why a requirement cannot be judged with a fixture; undefined if it can. */
export function lackOf(
  { kind, needs: own = CALLER, needsStateHook }: Checked,
  known: Known,
  hasStateHook = true,
): Lack | undefined {
  if (needsStateHook === true && !hasStateHook) return noHook;
  const names = ([CALLER] as readonly NeedName[]).concat(own);
  const lack = names.find((name) => needs[name][0](known).length === 0);
  if (kind === 'monitor' || lack === undefined) return undefined;
  const reason = lack === SECOND_KEY ? 'no-second-key' : 'no-fixture';
  return { reason, words: `the fixture has no ${lack}`, fix: needs[lack][1] };
}

/** The requirements that cannot be judged with this fixture, by reason. Sends no request. */
export function gapsOf(
  requirements: readonly (Checked & { readonly id: string })[],
  known: Known,
  hasStateHook: boolean,
): readonly Gap[] {
  const gaps = new Map<string, Gap>();
  for (const requirement of requirements) {
    const { id } = requirement;
    // Without a hook, a fixture deposit with `becomes` suffices.
    const needsTransition = id.endsWith('/becomes-executed') && !hasStateHook && known.becoming.length === 0;
    const lack = lackOf(requirement, known, hasStateHook) ?? (needsTransition ? noTransition : undefined);
    if (lack === undefined) continue;
    const others = gaps.get(lack.words)?.requirements ?? [];
    gaps.set(lack.words, { ...lack, requirements: [...others, id] });
  }
  return [...gaps.values()];
}
