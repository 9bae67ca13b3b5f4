import type { FixtureUser, Gap } from '../../schemas/generated/types.ts';
import type { Known, KnownKey } from '../known.ts';
import type { Requirement } from '../requirement.ts';

/** An entry that a fixture may lack. */
export interface Supply {
  /** The list of the fixture that the entry belongs to. */
  readonly part: 'apiKeys' | 'users' | 'deposits';
  readonly example: string;
  /** Adds such an entry. */
  readonly give: (known: Known) => Known;
}

const OURS = 'the partner under test';

/** A foreign partner to which added keys and users belong together. */
const foreignPartner = ({ otherKeys, foreigners }: Known): string =>
  [...otherKeys, ...foreigners].find(({ partner }) => partner !== null)?.partner ?? 'another';

const keyOf = (partner: string | null): KnownKey => ({
  key: 'supplied',
  partner,
  state: 'active',
  name: '<key supplied>',
});
const date_joined = '2024-02-29T23:59:59.999Z';
const member: FixtureUser = { user_id: 'abcdefab-cdef-4bcd-8def-abcdefabcdef', partner: OURS, date_joined };
const foreigner = { user_id: 'bcdefabc-defa-4cde-8fab-cdefabcdefab', date_joined };

/** The added user alone suffices, so other users are dropped. */
const withForeigner = (known: Known): Known => ({
  ...known,
  userById: new Map([[foreigner.user_id, { ...foreigner, partner: foreignPartner(known) }]]),
});

const depositOf = ({ user_id }: Pick<FixtureUser, 'user_id'>) => ({
  reference_id: 'cdefabcd-efab-4def-8abc-defabcdefabc',
  user_id,
});
const executedOf = (user: Pick<FixtureUser, 'user_id'>) =>
  ({ ...depositOf(user), state: 'EXECUTED', amountInUsd: 250.5, executedAt: 1_705_314_600_000 }) as const;

/** In this order, `enough` tries to do without each of them. */
const supplies: readonly Supply[] = [
  {
    part: 'deposits',
    example: '{ "reference_id": "…", "user_id": "…", "state": "failed" }, of a user of the IB',
    give: (known) => ({ ...known, failed: [...known.failed, { ...depositOf(member), state: 'failed' }] }),
  },
  {
    part: 'deposits',
    example: '{ "reference_id": "…", "user_id": "…", "state": "pending" }, of a user of the IB',
    give: (known) => ({ ...known, pending: [...known.pending, { ...depositOf(member), state: 'pending' }] }),
  },
  {
    part: 'deposits',
    example: 'an EXECUTED one of a user of another partner',
    give: (known) => ({
      ...withForeigner(known),
      foreignDeposits: [...known.foreignDeposits, executedOf(foreigner)],
    }),
  },
  {
    part: 'deposits',
    example:
      '{ "reference_id": "…", "user_id": "…", "state": "EXECUTED", "amountInUsd": 250.5, "executedAt": 1705314600000 }, of a user of the IB, with a letter in its reference_id',
    give: (known) => ({ ...known, executed: [...known.executed, executedOf(member)] }),
  },
  {
    part: 'users',
    example:
      '{ "user_id": "…", "partner": "another one, or null", "date_joined": "2024-02-29T23:59:59.999Z" }',
    give: (known) => ({
      ...withForeigner(known),
      foreigners: [...known.foreigners, { ...foreigner, partner: foreignPartner(known) }],
    }),
  },
  {
    part: 'users',
    example:
      '{ "user_id": "…", "partner": "that of the key", "date_joined": "2024-02-29T23:59:59.999Z" }, with a letter in its user_id',
    give: (known) => ({ ...known, members: [...known.members, member] }),
  },
  {
    part: 'apiKeys',
    example: '{ "key": "…", "partner": null, "state": "active" }',
    give: (known) => ({ ...known, nonPartnerKeys: [...known.nonPartnerKeys, keyOf(null)] }),
  },
  {
    part: 'apiKeys',
    example: '{ "key": "…", "partner": "…", "state": "expired" }',
    give: (known) => ({ ...known, expiredKeys: [...known.expiredKeys, keyOf(OURS)] }),
  },
  {
    part: 'apiKeys',
    example: '{ "key": "…", "partner": "…", "state": "revoked" }',
    give: (known) => ({ ...known, revokedKeys: [...known.revokedKeys, keyOf(OURS)] }),
  },
  {
    part: 'apiKeys',
    example: '{ "key": "…", "partner": "another one", "state": "active" }',
    give: (known) => ({ ...known, otherKeys: [...known.otherKeys, keyOf(foreignPartner(known))] }),
  },
  {
    part: 'apiKeys',
    example: '{ "key": "…", "partner": "…", "state": "active" }',
    give: (known) => ({ ...known, callerKeys: [...known.callerKeys, keyOf(OURS)] }),
  },
];

type Reason = Omit<Gap, 'requirements'>;

const hookMissing: Reason = {
  reason: 'no-state-hook',
  words: 'no state hook was given: nobody but the target can tell',
  mend: 'Give --state-url, a URL that changes the state of the target on request.',
};

const transitionMissing: Reason = {
  reason: 'no-state-hook',
  words: 'no state hook was given, and no pending deposit of the IB becomes EXECUTED by itself',
  mend: 'Give --state-url, or to deposits add one of a user of the IB such as { "reference_id": "…", "user_id": "…", "state": "pending", "becomes": { "state": "EXECUTED", "amountInUsd": 10, "afterSeconds": 5 } }, if your system does so by itself',
};

/** The requirements that a run cannot judge with this fixture, by reason. Asks the target nothing. */
export function gapsOf(
  requirements: readonly Requirement[],
  known: Known,
  hasStateHook: boolean,
): readonly Gap[] {
  const gaps = new Map<string, Gap>();
  for (const requirement of requirements) {
    const reason = gapOf(requirement, known, hasStateHook);
    if (reason === undefined) continue;
    const { requirements: others } = gaps.get(reason.words) ?? { requirements: [] };
    gaps.set(reason.words, { ...reason, requirements: [...others, requirement.id] });
  }
  return [...gaps.values()];
}

function gapOf(requirement: Requirement, known: Known, hasStateHook: boolean): Reason | undefined {
  if (requirement.kind === 'monitor') return undefined;
  if (requirement.kind === 'scenario' && requirement.needsStateHook && !hasStateHook) return hookMissing;
  const lack = requirement.lacks(known);
  if (lack?.kind === 'unjudged') {
    const lines = enough(requirement, known).map(
      ({ part, example }) => `To ${part} add one such as ${example}`,
    );
    return { reason: lack.reason, words: lack.words, mend: lines.join('; ') };
  }
  // Without a hook, a deposit of the fixture that becomes EXECUTED by itself suffices here.
  const isStill = !hasStateHook && known.becoming.length === 0;
  return requirement.id === 'pending/deposit-check/becomes-executed' && isStill
    ? transitionMissing
    : undefined;
}

/** A smallest set of supplies that a requirement needs: drops one after the other until all are necessary. */
export function enough(
  requirement: Exclude<Requirement, { kind: 'monitor' }>,
  known: Known,
  given: readonly Supply[] = supplies,
): readonly Supply[] {
  const suffices = (some: readonly Supply[]) =>
    requirement.lacks(some.reduce((richer, { give }) => give(richer), known)) === undefined;
  let needed = given;
  for (const supply of given) {
    const fewer = needed.filter((other) => other !== supply);
    if (suffices(fewer)) needed = fewer;
  }
  return needed.length === given.length ? needed : enough(requirement, known, needed);
}
