import type { FixtureUser } from '../../schemas/generated/types.ts';
import type { Known, KnownKey } from '../known.ts';

/** Something that a fixture may hold for the suites to judge more. */
export interface Supply {
  /** The part of the fixture that it goes into. */
  readonly part: 'apiKeys' | 'users' | 'deposits';
  /** What it looks like there. */
  readonly example: string;
  /** The knowledge, with one of it more. */
  readonly give: (known: Known) => Known;
}

const OURS = 'the partner under test';

/** A partner with which a key and data of somebody else fit together. */
const abroad = ({ otherKeys, foreigners }: Known): string =>
  [...otherKeys, ...foreigners].find(({ partner }) => partner !== null)?.partner ?? 'another';

const keyOf = (partner: string | null): KnownKey => ({ key: 'supplied', partner, name: '<key supplied>' });
const date_joined = '2024-02-29T23:59:59.999Z';
const member: FixtureUser = { user_id: 'abcdefab-cdef-4bcd-8def-abcdefabcdef', partner: OURS, date_joined };
const foreigner = { user_id: 'bcdefabc-defa-4cde-8fab-cdefabcdefab', date_joined };

/** Knowledge of a user of somebody else. The other users are of no matter where this one suffices. */
const withForeigner = (known: Known): Known => ({
  ...known,
  partnerOfUser: new Map([[foreigner.user_id, abroad(known)]]),
});

const depositOf = ({ user_id }: Pick<FixtureUser, 'user_id'>) => ({
  reference_id: 'cdefabcd-efab-4def-8abc-defabcdefabc',
  user_id,
});
const executedOf = (user: Pick<FixtureUser, 'user_id'>) =>
  ({ ...depositOf(user), state: 'EXECUTED', amountInUsd: 250.5, executedAt: 1_705_314_600_000 }) as const;

/** Everything that a requirement may lack, the plainest last: what is named first is given up first. */
export const supplies: readonly Supply[] = [
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
      foreigners: [...known.foreigners, { ...foreigner, partner: abroad(known) }],
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
    give: (known) => ({ ...known, otherKeys: [...known.otherKeys, keyOf(abroad(known))] }),
  },
  {
    part: 'apiKeys',
    example: '{ "key": "…", "partner": "…", "state": "active" }',
    give: (known) => ({ ...known, callerKeys: [...known.callerKeys, keyOf(OURS)] }),
  },
];
